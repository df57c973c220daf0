# SPDX-License-Identifier: MIT OR GPL-2.0
"""Compares the figures on the pages about nvstgm with the numbers that nvstgm computes."""

import csv
import json
import pathlib
import re
import subprocess

import building
import pytest
from stgm import PATIENCE_S, ROOT, check_names_of_curves, nvstgm, responses

SETS = pathlib.Path(__file__).parents[1] / "data/stgm"


def sets():
    return sorted(path.stem for path in SETS.glob("*.json"))


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_walk_through_shows_what_its_commands_print(tmp_path):
    (section,) = re.findall(r"^## Quick start\n(.*?)^## ", page("stgm.md"), re.M | re.S)
    blocks = re.findall(r"^```\n(.*?)^```", section, re.M | re.S)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("nvstgm ")]
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    folder = building.built("bin/nvstgm").parent
    said = ""
    for line in commands:
        done = subprocess.run(["bash", "-c", f"PATH={folder}:$PATH; {line}"], cwd=tmp_path, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S)
        refusal = line.partition("#")[2].strip()
        assert bool(done.returncode) == bool(refusal) and refusal in done.stdout, line
        said += done.stdout
    shown = [block for block in blocks if block.startswith("task ")]
    assert len(commands) == 7 and len(shown) == 2
    assert all(block in said for block in shown)


def test_the_room_of_the_example_is_what_the_page_shows():
    (section,) = re.findall(r"^## Room to grow\n(.*?)^## ", page("stgm.md"), re.M | re.S)
    command, shown = re.findall(r"^```\n(.*?)^```", section, re.M | re.S)
    assert command == "nvstgm sensitivity placed.json\n"
    placed = nvstgm("allocate", ROOT / "docs/examples/robot.json").out
    assert nvstgm("sensitivity", "-", stdin=placed).out == shown


def test_the_set_of_a_whole_program_is_what_the_page_shows(tmp_path):
    (section,) = re.findall(r"^### A whole program\n(.*?)^## ", page("stgm.md"), re.M | re.S)
    commands, shown = re.findall(r"^```\n(.*?)^```", section, re.M | re.S)
    recording, *others = commands.splitlines()
    assert recording.endswith(" -o pipeline.ndjson") and len(others) == 2
    (tmp_path / "pipeline.ndjson").symlink_to(ROOT / "docs/examples/pipeline.ndjson")
    folder = building.built("bin/nvstgm").parent
    done = subprocess.run(["bash", "-ec", f"PATH={folder}:$PATH\n" + "\n".join(others)], cwd=tmp_path, check=True, capture_output=True,
                          text=True, timeout=PATIENCE_S)
    assert done.stdout == shown
    (task,) = json.loads((tmp_path / "pipeline.json").read_text(encoding="utf-8"))["tasks"]
    assert [next(iter(segment)) for segment in task["segments"]] == ["gpu", "cpu", "gpu"]
    assert "fill[9] had work all the time" in done.stderr


def test_the_counterexamples_have_the_bounds_that_the_page_gives():
    rows = re.findall(r"^\| (ce\w+)(?:, (busy|copies spin))? \| [\d, ]+ \| (\w+) \| (\d+) \| (\d+) \| (\d+) \|$",
                      page("stgm-design.md"), re.M)
    assert len(rows) == len(sets()) - 1
    for name, mode, task, response, printed, sound in rows:
        words = {"busy": ("--waiting", "busy"), "copies spin": ("--copy-wait", "spin"), "": ()}[mode]
        for analysis, bound in (("stgm", sound), ("stgm-printed", printed)):
            assert responses(nvstgm("check", SETS / f"{name}.json", "-a", analysis, *words, "-j"))[task] == int(bound)
        assert int(printed) < int(response) <= int(sound)


def test_the_pages_figures_are_those_of_its_data():
    with (ROOT / "docs/stgm/figure5.csv").open(encoding="utf-8") as file:
        parts = {(row["kernels"], row["analysis"], row["x"]): [float(row[key]) for key in ("part", "low", "high")]
                 for row in csv.DictReader(file)}
    shown = {tuple(f"{100 * one:.1f}" for one in parts[key]) for key in parts}
    (header,) = re.findall(r"^\| % of sets schedulable, SMs \| (.*) \|$", page("stgm-measured.md"), re.M)
    cells = re.findall(r"([\d.]+) \(([\d.]+)–([\d.]+)\)", page("stgm-measured.md"))
    assert header.split(" | ") == ["1", "4", "8", "13"] and len(cells) == 4 * 16
    assert set(cells) <= shown


@pytest.mark.parametrize("path", sorted((ROOT / "docs/stgm").glob("*.svg")), ids=lambda path: path.stem)
def test_names_of_curves_are_upon_nothing(path):
    check_names_of_curves(path.read_text(encoding="utf-8"))
