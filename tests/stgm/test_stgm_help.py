# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvstgm's help, man page and completion. No GPU, no VM."""

import re
import subprocess

import building
import pytest
from stgm import ROOT, nvstgm


def commands():
    return re.findall(r"^  (\w+)  +\w", nvstgm("--help").out, re.M)


def options(command):
    return re.findall(r"^  (?:(-\w), |    )(--[\w-]+)", nvstgm(command, "--help").out, re.M)


def test_the_man_page_has_all_commands_and_options():
    prose = (ROOT / "tools/nvstgm/nvstgm.1.in").read_text(encoding="utf-8")
    made = nvstgm("__manual", stdin=prose).out
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=made, capture_output=True, text=True, check=False)
    assert not lint.stdout
    page = made.replace("Fl Fl ", "--")
    assert len(commands()) == 8
    for command in commands():
        assert re.search(rf"^\.It Cm {command}$", page, re.M)
        for short, long in options(command):
            if long not in ("--help",):
                assert long in page, f"{command} {long}"
            assert not short or short == "-h" or f"Fl {short[1:]}" in page


@pytest.mark.parametrize("typed, expected", (
    (("ch",), ["check"]),
    (("check", "--an"), ["--analysis"]),
    (("check", "--analysis", "stgm-"), ["stgm-tight", "stgm-printed"]),
    (("allocate", "--algorithm", ""), ["mended", "paper", "disjoint"]),
    (("check", "rob"), []),
    (("simulate", "--output", ""), []),
    (("nothing", "-"), []),
))
def test_completion(typed, expected):
    assert [line.split("\t")[0] for line in nvstgm("__complete", *typed).out.splitlines()] == expected


def test_completion_offers_every_option():
    for command in commands():
        assert {line.split("\t")[0] for line in nvstgm("__complete", command, "-").out.splitlines()} == {long for _, long in options(command)}


def test_bash_completes_what_the_program_lists():
    folder = building.built("bin/nvstgm").parent
    script = folder.parent / "tools/nvstgm/completion/nvstgm.bash"
    line = f"source {script}; COMP_LINE='nvstgm check --wai'; COMP_POINT=18; _nvstgm; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", f"PATH={folder}:$PATH; {line}"], check=True, capture_output=True, text=True)
    assert done.stdout == "--waiting\n"
