# SPDX-License-Identifier: MIT OR GPL-2.0
"""The tool offers candidates, and bash, zsh and fish complete with them."""

import os
import pathlib
import subprocess

import pytest
import shells
from building import ROOT
from ctl import ctl, tool, write_capture, write_tree
from shells import needs

SCRIPTS = {shell: ROOT / f"tools/nvdebugctl/completion/nvdebugctl.{shell}" for shell in ("bash", "zsh", "fish")}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_tree(tmp_path_factory.mktemp("proc") / "two", ("a100", "fig7"),
                      ("gtx1060-3gb", "mixed"))


def offered(words, from_=None):
    """Returns the candidates that the tool offers for the last word."""
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
    ("engine list --color=a|", ["--color=auto", "--color=always"]),
    ("runlist show --gpu=1 |", ["0", "1", "2", "3", "5", "6"]),
    ("engine list --columns=engine,ru|", ["--columns=engine,runlist",
                                          "--columns=engine,runlist_base"]),
    ("runlist show --brief=|", []),
    ("--bogus=|", []),
    ("ru|", ["runlist"]),
    ("run sh|", ["show"]),
    ("ex|", ["exec"]),
    ("exe sh|", []),
    ("runlist sh|", ["show"]),
    ("bogus |", []),
    ("runlist bogus |", []),
])
def test_the_tool_offers_candidates(tree, line, expected):
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


def in_bash(line, folder, setup=""):
    """Returns the candidates of bash with the cursor at the end of the line."""
    script = f"""
        {setup}
        source {SCRIPTS["bash"]}
        COMP_LINE="$1" COMP_POINT=${{#1}}
        _nvdebugctl
        [ "${{#COMPREPLY[@]}}" -eq 0 ] || printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", f"{tool()} {line}"], cwd=folder,
                          capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def in_zsh(line, folder, autoload=False):
    found, typed = shells.in_zsh([SCRIPTS["zsh"]], f"{tool()} {line}", folder, autoload)
    return found, typed.removeprefix(f"{tool()} ")


def in_fish(line, folder):
    return shells.in_fish([SCRIPTS["fish"]], f"{tool()} {line}", folder)


ASK = {"bash": in_bash, "zsh": lambda *args: in_zsh(*args)[0], "fish": in_fish}


@pytest.mark.parametrize("shell", shells.SHELLS)
@pytest.mark.parametrize("line, expected", [
    ("runl", "runlist"),
    ("--from {} runlist show 2", "2 20 21 22 23"),
    ("--from={} -g 1 runlist show ", "0 1 2 3 5 6"),
    ("--from {} engine shared GR0 LCE9", "LCE9"),
    ("gpu show bogus", ""),
    ("engine list --columns engine,ru", "engine,runlist engine,runlist_base"),
    ("--from af", "afile"),
    ("--from ", "module driver afile"),
    ("capture a", "afile"),
])
def test_in_a_shell(tree, tmp_path, shell, line, expected):
    needs(shell)
    (tmp_path / "afile").touch()
    assert sorted(ASK[shell](line.format(tree), tmp_path)) == sorted(expected.split())


WHOLE = [("tsg show 0:", ["0:0", "0:1"]), ("-g 0000:00:", ["0000:00:06.0", "0000:00:0a.0"]),
         ("engine list --color=a", ["--color=always", "--color=auto"]),
         ("runlist list --from=af", ["--from=afile"])]


@pytest.mark.parametrize("line, expected", WHOLE)
@pytest.mark.parametrize("breaks", (" ", " :", " =", " :="))
def test_bash_inserts_the_part_after_the_last_break(tree, tmp_path, breaks, line, expected):
    (tmp_path / "afile").touch()
    offered_there = in_bash(f"--from {tree} {line}", tmp_path, f'COMP_WORDBREAKS="{breaks}"')
    word = line.split()[-1]
    cut = max((word.rfind(each) + 1 for each in breaks), default=0)
    assert sorted(offered_there) == [each[cut:] for each in expected]


@pytest.mark.ci
@pytest.mark.parametrize("line, expected", WHOLE)
def test_fish_offers_whole_words(tree, tmp_path, line, expected):
    needs("fish")
    (tmp_path / "afile").touch()
    assert sorted(in_fish(f"--from {tree} {line}", tmp_path)) == expected


@pytest.mark.ci
@pytest.mark.parametrize("autoload", (True, False))
@pytest.mark.parametrize("line, after", [
    ("runl", "runlist "), ("tsg show 0:", "tsg show 0:"), ("-g 0000:00:0a", "-g 0000:00:0a.0 "),
    ("engine list --color=al", "engine list --color=always "), ("check --from=af", "check --from=afile "),
    ("capture af", "capture afile "),
])
def test_zsh_inserts_the_missing_part(tree, tmp_path, line, after, autoload):
    """The script also works as a file of fpath, as it is installed."""
    needs("zsh")
    (tmp_path / "afile").touch()
    assert in_zsh(f"--from {tree} {line}", tmp_path, autoload)[1] == f"--from {tree} {after}"


@pytest.mark.parametrize("shell", shells.SHELLS)
def test_the_tool_prints_the_script_that_is_installed(shell, tmp_path):
    assert ctl(f"completion {shell}").out == SCRIPTS[shell].read_text(encoding="utf-8")
    needs(shell)
    ways = {"bash": ["bash", "--norc", "-c",
                     f"source <({tool()} completion bash) && complete -p nvdebugctl"],
            "zsh": ["zsh", "-f", "-c", "autoload -Uz compinit; compinit -D -u; "
                    f"source <({tool()} completion zsh) && print $_comps[nvdebugctl]"],
            "fish": ["fish", "--no-config", "-c",
                     f"{tool()} completion fish | source && complete -c nvdebugctl"]}
    done = subprocess.run(ways[shell], capture_output=True, text=True, check=True,
                          env={**os.environ, "HOME": str(tmp_path)})
    assert "_nvdebugctl" in done.stdout and done.stderr == ""


# --- exec ---

PASSED = {shell: [script, ROOT / f"tools/nvtaskset/completion/nvtaskset.{shell}"] for shell, script in SCRIPTS.items()}


@pytest.mark.parametrize("line, number", [
    ("exec |", 1), ("exec --tpcs=0-3 --sp|", 1), ("exec --sp|", 1), ("exec -t 0 ech|", 1), ("--from x exec -|", 3),
    ("--from=x exec --gpu |", 2), ("-g exec exec |", 3), ("exec --|", 1),
])
def test_exec_hands_over(line, number):
    assert offered(line.removesuffix("|").split(" ")) == [f"<nvtaskset>{number}"]


@pytest.mark.parametrize("shell", shells.SHELLS)
@pytest.mark.parametrize("line, after", [
    ("exec --spr", "exec --spread "), ("exec --tpcs=0-3 --spr", "exec --tpcs=0-3 --spread "),
    ("exec -xt 0 --spr", "exec -xt 0 --spread "), ("exec --tpcs 0 --gpu=0 quok", "exec --tpcs 0 --gpu=0 quokka "),
    ("--from=a:b=exec exec -t 0 quok", "--from=a:b=exec exec -t 0 quokka "), ("exec quok", "exec quokka "),
])
def test_exec_completes_as_nvtaskset(tmp_path, monkeypatch, shell, line, after):
    needs(shell)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/quokka").touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{pathlib.Path(tool()).parent}:{os.environ['PATH']}")
    typed = f"{tool()} {line}"
    if shell == "fish":
        assert shells.in_fish(PASSED[shell], typed, tmp_path) == [after.split()[-1]]
    elif shell == "bash":
        assert shells.in_bash(PASSED[shell], typed, tmp_path) == f"{tool()} {after}"
    else:
        assert shells.in_zsh(PASSED[shell], typed, tmp_path)[1] == f"{tool()} {after}"


def test_completion_is_hidden():
    assert "__complete" not in ctl("--help").out + ctl("help -j").out
