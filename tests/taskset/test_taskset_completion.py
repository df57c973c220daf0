# SPDX-License-Identifier: MIT OR GPL-2.0
"""Completion of nvtaskset in shells."""

import os
import re
import subprocess

import desk
import pytest
import shells
from desk import ROOT


SCRIPT = ROOT / "tools/nvtaskset/completion/nvtaskset.bash"
BIN = ROOT / "build/cmake/bin"


@pytest.fixture(scope="module", autouse=True)
def built():
    desk.build(*desk.TARGETS)


def path(*first):
    return ":".join(map(str, (*first, BIN, os.environ["PATH"])))


def offered(words, **env):
    """Returns the words that bash offers for the last word."""
    script = f"{shells.sources([SCRIPT])}; COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _nvtaskset; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", "nvtaskset", *words], check=True, capture_output=True, text=True,
                          env={**os.environ, "PATH": path(), "COMP_WORDBREAKS": " \t\n\"'><=;|&(:", **env})
    assert not done.stderr
    return done.stdout.split()


def help_text():
    return subprocess.run([BIN / "nvtaskset", "--help"], check=True, capture_output=True, text=True).stdout


def test_manual_help_and_completion_have_the_same_options():
    listed = set(offered(("--",)))
    page = (ROOT / "tools/nvtaskset/nvtaskset.1.in").read_text(encoding="utf-8")
    assert len(listed) >= 20
    assert set(re.findall(r"^@option (--[a-z-]+)$", page, re.M)) == listed
    assert set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", help_text(), re.M)) == listed


def test_completion_skips_the_values_of_the_options_that_take_one():
    takes = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+) [A-Z]", help_text(), re.M))
    assert len(takes) == 10
    assert {name for name in offered(("--",)) if "nproc" not in offered((name, "npro"))} == takes


def test_completion_of_processes():
    assert str(os.getpid()) in offered(("-p", str(os.getpid())))


@pytest.mark.parametrize("gpus", (0, 1, 3, 11))
def test_completion_knows_the_gpus(tmp_path, gpus):
    for n in range(gpus):
        (tmp_path / f"gpus/0000:{n:02x}:00.0").mkdir(parents=True)
    numbers = [str(n) for n in range(gpus)]
    for words in (("-i", ""), ("--gpu", ""), ("--gpu", "="), ("--gpu", "=", ""), ("--tpcs", "=", "0", "--gpu", "=", "")):
        assert offered(words, NVTASKSET_DRIVER_FOLDER=str(tmp_path)) == ["all", *numbers]
    assert offered(("--gpu", "=", "a"), NVTASKSET_DRIVER_FOLDER=str(tmp_path)) == ["all"]


@pytest.mark.parametrize("before", (("--tpcs", "=", "0-3"), ("--tpcs", "0-3"), ("-t", "0", "--gpu", "=", "1"), ("-p", "1"), ("--spread",)))
def test_completion_goes_on_after_a_value(before):
    assert offered((*before, "--exc")) == ["--exclusive"]
    assert offered((*before, "--qui")) == ["--quit-mps", "--quiet"]
    assert not offered((*before, "--tpcs", "=", ""))
    assert offered((*before, "--turn", "=", "")) == [*"123456789"]
    assert "nproc" in offered((*before, "npro"))


BEHIND = ("-t 0 --gpu=0", "-xt 0", "-xt0", "-jqi 1 -t 0", "--turn 3 -x", "-x --")


@pytest.mark.parametrize("shell", shells.SHELLS)
@pytest.mark.parametrize("typed, whole", [(f"{before} quok", f"{before} quokka") for before in BEHIND] +
                         [("-xt 0 --spr", "-xt 0 --spread"), ("--spr", "--spread"), ("-xi ", "-xi all"),
                          ("--cdi a --cdi-folder /et", "--cdi a --cdi-folder /etc/")])
def test_completion_in_a_shell(tmp_path, monkeypatch, shell, typed, whole):
    shells.needs(shell)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/quokka").touch(mode=0o755)
    monkeypatch.setenv("PATH", path(tmp_path / "bin"))
    monkeypatch.setenv("NVTASKSET_DRIVER_FOLDER", str(tmp_path))
    script = SCRIPT.with_suffix(f".{shell}")
    if shell == "fish":
        assert shells.in_fish([script], f"nvtaskset {typed}", tmp_path) == [whole.split()[-1]]
    elif shell == "bash":
        assert shells.in_bash([script], f"nvtaskset {typed}", tmp_path).rstrip() == f"nvtaskset {whole}"
    else:
        assert shells.in_zsh([script], f"nvtaskset {typed}", tmp_path)[1].rstrip() == f"nvtaskset {whole}"
