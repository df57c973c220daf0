# SPDX-License-Identifier: MIT OR GPL-2.0
"""Completion: what the tool offers, and what bash makes of it."""

import subprocess

import pytest
from ctl import ROOT, ctl, tool, write_capture, write_tree

SCRIPT = ROOT / "tools/completion/nvdebugctl.bash"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_tree(tmp_path_factory.mktemp("proc") / "two", ("a100", "fig7"),
                      ("gtx1060-3gb", "mixed"))


def offered(words, from_=None):
    """What the tool offers for the last of the words."""
    before = ["--from", str(from_)] if from_ else []
    result = ctl(["__complete", "--", *before, *words])
    assert (result.status, result.err) == (0, "")
    return result.out.split()


@pytest.mark.parametrize("line, expected", [
    ("runlist show |", [str(runlist) for runlist in range(24)]),
    ("runlist show 2|", ["2", "20", "21", "22", "23"]),
    ("-g 1 runlist show |", ["0", "1", "2", "3", "5", "6"]),
    ("runlist show -g 1 |", ["0", "1", "2", "3", "5", "6"]),
    ("runlist show --gpu gp106 |", ["0", "1", "2", "3", "5", "6"]),
    ("runlist show 0 |", []),
    ("channel show 0:|", [f"0:{channel}" for channel in range(7)]),
    ("-g 1 channel show 6:|", ["6:70", "6:71", "6:72", "6:73"]),
    ("tsg show 0:|", ["0:0", "0:1"]),
    ("engine shared LCE1|", ["LCE1"]),
    ("engine shared GR0 LCE9|", ["LCE9"]),
    ("-g |", ["0", "0000:00:0a.0", "1", "0000:00:06.0"]),
    ("gpu show -g 0000:00:06|", ["0000:00:06.0"]),
    ("-g 7 runlist show |", []),
    ("memory translate 0:1 0x1000 v|", ["v1", "v2"]),
    ("engine list --columns engine,ru|", ["engine,runlist", "engine,runlist_base"]),
    ("engine list --color a|", ["auto", "always"]),
    ("ru|", ["runlist"]),
    ("runlist sh|", ["show"]),
    ("bogus |", []),
    ("runlist bogus |", []),
])
def test_offered(tree, line, expected):
    words = line.removesuffix("|").split(" ")
    found = offered(words, tree)
    if line == "bogus |":
        assert "gpu" in found
    elif line == "runlist bogus |":
        assert "show" in found
    else:
        assert found == expected


def test_nothing_is_known_without_a_gpu(tmp_path):
    for words in (["runlist", "show", ""], ["channel", "show", "0"], ["-g", ""],
                  ["engine", "shared", ""]):
        assert offered(words, tmp_path) == []
        assert offered(words, tmp_path / "nothing") == []
        (tmp_path / "junk").write_text("junk")
        assert offered(words, tmp_path / "junk") == []


def test_lists_that_cannot_be_read_are_left_out(tree, tmp_path):
    capture = write_capture(tmp_path / "capture", tree, {"gpu0/runlist0_brief": "EACCES"})
    assert offered(["channel", "show", ""], capture) == ["1:0"]


def in_bash(line, setup="", folder=None):
    """What bash would offer with the cursor at the end of the line."""
    script = f"""
        {setup}
        source {SCRIPT}
        COMP_LINE="$1" COMP_POINT=${{#1}}
        _nvdebugctl
        [ "${{#COMPREPLY[@]}}" -eq 0 ] || printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", f"{tool()} {line}"], cwd=folder,
                          capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash(tree, tmp_path):
    assert in_bash("runl") == ["runlist"]
    assert in_bash(f"--from {tree} runlist show 2") == ["2", "20", "21", "22", "23"]
    assert in_bash(f"--from {tree} engine shared GR0 LCE9") == ["LCE9"]
    assert in_bash("gpu show bogus") == []
    (tmp_path / "afile").touch()
    assert in_bash("--from af", folder=tmp_path) == ["afile"]


def test_bash_and_colons(tree):
    """Where bash splits words at colons, only what follows the last one is to be put in."""
    line = f"--from {tree} tsg show 0:"
    assert in_bash(line, 'COMP_WORDBREAKS=" :="') == ["0", "1"]
    assert in_bash(line, 'COMP_WORDBREAKS=" ="') == ["0:0", "0:1"]
    assert in_bash(f"--from {tree} -g 0000:00:", 'COMP_WORDBREAKS=":"') == ["0a.0", "06.0"]


def test_the_tool_prints_the_script_that_is_installed():
    assert ctl("completion bash").out == SCRIPT.read_text(encoding="utf-8")
    subprocess.run(["bash", "-n", SCRIPT], check=True)
    done = subprocess.run(["bash", "--norc", "-c", f"source <({tool()} completion bash) && "
                           "complete -p nvdebugctl"], capture_output=True, text=True, check=True)
    assert "_nvdebugctl" in done.stdout


def test_completion_is_hidden():
    assert "__complete" not in ctl("--help").out + ctl("help -j").out
