# SPDX-License-Identifier: MIT OR GPL-2.0
"""docs/papers.md is what lab/papers prints, and follows the data."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from building import ROOT

sys.path.insert(0, str(ROOT / "lab"))

# pylint: disable=wrong-import-position
from nvdlab import papers  # noqa: E402

PAGE = ROOT / "docs/papers.md"


def rows(text):
    return [[cell.strip() for cell in line.strip("|\n").split(" | ")] for line in text.splitlines() if line.startswith("| ")]


def test_the_page_is_what_the_command_prints():
    done = subprocess.run([ROOT / "lab/papers", "--print"], capture_output=True, text=True, check=True, timeout=60)
    assert PAGE.read_text(encoding="utf-8") == done.stdout, "'lab/papers' makes it anew"
    assert subprocess.run([ROOT / "lab/papers", "frob"], capture_output=True, text=True, check=False, timeout=60).returncode == 1


def test_each_paper_has_rows_and_each_row_has_data_that_exists():
    table = [row for row in rows(PAGE.read_text(encoding="utf-8")) if len(row) == 5 and row[0] in papers.REFERENCES]
    assert {row[0] for row in table} == set(papers.REFERENCES) and len(table) > 25
    for row in table:
        links = re.findall(r"\]\(([^)#]+)", row[4])
        assert links and all((PAGE.parent / link).exists() for link in links), row
        assert row[1].count("(") == row[1].count(")"), row


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the hardware's data, which the page is then made from."""
    for machine in ("h100-580.159.04", "h200-580.159.04"):
        shutil.copytree(ROOT / "tests/hardware" / machine, tmp_path / "tests/hardware" / machine,
                        ignore=lambda _, names: [name for name in names if not name.endswith(".json")])
    monkeypatch.setattr(papers, "HARDWARE", tmp_path / "tests/hardware")
    monkeypatch.setattr(papers, "ROOT", tmp_path)
    return tmp_path / "tests/hardware"


def test_rows_follow_their_data(copied):
    """Other data give another row: the page has no number that was typed."""
    path = copied / "h100-580.159.04/stgm.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    before = list(papers.rows_of_stgm())
    data["sets"][0]["undisturbed"]["above"] = 7
    for row in data["controls"]:
        if row["set"] == "CE4":
            row["printed"] = 10**9
    path.write_text(json.dumps(data), encoding="utf-8")
    after = list(papers.rows_of_stgm())
    (before_h100, h200), (after_h100, same) = (rows[0][2].split("<br>") for rows in (before, after))
    assert "none of them above" in before_h100 and "7 of them above" in after_h100
    assert h200 == same and h200.startswith("H200: 20 drawn sets")
    assert [rows[1][2].split("<br>")[0].rpartition(" of ")[2] for rows in (before, after)] == ["5, 9, 11", "5, 11"]
    path = copied / "h100-580.159.04/partitions.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    for row in data["enforcement"]:
        if (row["task"], row["neighbour"], row["way"]) == ("memory", "compute", "nvtaskset"):
            row["mean"] = 123456
    path.write_text(json.dumps(data), encoding="utf-8")
    assert "123,456 us" in papers.row_of_neighbours()[2]
