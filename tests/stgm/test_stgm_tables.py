# SPDX-License-Identifier: MIT OR GPL-2.0
"""Tables of nvstgm on terminals, the verdict below a table, and the suffixes of files. No GPU, no VM."""

import json
import pathlib

import building
import pytest
import terminals
from stgm import nvstgm

SETS = pathlib.Path(__file__).parents[1] / "data/stgm"


@pytest.mark.parametrize("output", ("", "-o"))
def test_allocate_prints_a_verdict_with_the_unit(tmp_path, output):
    words = (output, tmp_path / "placed.json") if output else ()
    for unit, shown in (("us", "us"), ("tick", "ticks")):
        path = tmp_path / f"{unit}.json"
        taskset = json.loads((SETS / "ce1.json").read_text(encoding="utf-8")) | {"time_unit": unit}
        path.write_text(json.dumps(taskset), encoding="utf-8")
        result = nvstgm("allocate", path, *words)
        table = result.out if output else result.err
        assert f"\n\nschedulable: each response is within its deadline (stgm; times in {shown})\n" in table, table


@pytest.mark.parametrize("words", (("check", SETS / "a16.json"), ("check", SETS / "a16.json", "--analysis", "timeslice"),
                                   ("simulate", SETS / "a16.json", "--search", 2),
                                   ("allocate", SETS / "ce1.json", "-o")), ids=lambda words: words[0])
@pytest.mark.parametrize("columns", (40, 60, 80, 200))
def test_tables_fit_the_terminal(tmp_path, words, columns):
    if words[-1] == "-o":
        words += (tmp_path / "placed.json",)
    whole = nvstgm(*words)
    shown = terminals.printed([building.built("bin/nvstgm"), *map(str, words)], columns, whole.status)
    # The commands of allocate, which begin with two blanks, are not broken.
    assert all(len(line) <= columns for line in shown.splitlines() if not line.startswith("  ")), shown
    table = whole.out.partition("\n\n")[0].splitlines()
    left_out = set(table[0].split()) - set(shown.splitlines()[0].split())
    is_wide = max(map(len, table)) > columns
    assert bool(left_out) == is_wide == (f"{columns} columns have no room for" in " ".join(shown.split()))
    assert "response" in shown.splitlines()[0]


@pytest.mark.parametrize("words, option, known", (
    (("simulate", SETS / "ce1.json"), "-o", (".pftrace", ".perfetto-trace", ".txt", "")),
    (("run", SETS / "ce1.json", "--without-gpu"), "-o", (".pftrace", ".txt")),
    (("run", SETS / "ce1.json", "--without-gpu"), "--measure", (".json",)),
    (("allocate", SETS / "ce1.json"), "-o", (".json", "")),
    (("profile", "true"), "-o", (".json",)),
), ids=("simulate", "run", "run-measure", "allocate", "profile"))
def test_a_suffix_without_a_form_is_refused(tmp_path, words, option, known):
    path = tmp_path / "x.foo"
    at = len(words) - (words[0] == "profile")
    result = nvstgm(*words[:at], option, path, *words[at:])
    assert (result.status, result.out) == (1, "") and not path.exists()
    assert f"{path}: there is no form for '.foo'" in result.err
    assert all(f"FILE{suffix}" in result.err for suffix in known)
    if words[0] in ("simulate", "allocate"):
        for suffix in known:
            assert nvstgm(*words, option, tmp_path / f"good{suffix}").status in (0, 2)
