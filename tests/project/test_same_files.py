# SPDX-License-Identifier: MIT OR GPL-2.0
"""No program writes its output over a file that it reads, or two outputs into one file."""

import os
import pathlib
import shutil
import subprocess

import pytest
from building import ROOT, built
from ctl import tool, write_capture, write_tree

PATIENCE_S = 60
RECORDING = ROOT / "tests/hardware/h100-580.159.04/recording.ndjson"
SET = ROOT / "tests/data/stgm/ce1.json"
SCENARIO = ROOT / "docs/examples/simulate/decode.json"
GOALS = ROOT / "docs/examples/service.toml"

# Each program with a file that it reads at the place of `IN`, and its output at that of `OUT`.
PROGRAMS = {
    "nvqos advise": (RECORDING, lambda: [built("bin/nvqos"), "advise", "--from", "IN", "-o", "OUT"], ".ndjson"),
    "nvqos simulate": (SCENARIO, lambda: [built("bin/nvqos"), "simulate", "IN", "-o", "OUT"], ".pftrace"),
    "nvqos --metrics": (GOALS, lambda: [built("bin/nvqos"), "-f", "IN", "--metrics", "OUT", "--dry-run"], ".toml"),
    "nvqos --decisions": (GOALS, lambda: [built("bin/nvqos"), "-f", "IN", "--decisions", "OUT"], ".toml"),
    "nvdebugctl recording": (RECORDING, lambda: [tool(), "recording", "show", "IN", "--format", "csv", "-o", "OUT"], ".ndjson"),
    "nvdebugctl capture": (None, lambda: [tool(), "--from", "IN", "capture", "OUT"], ""),
    "nvstgm profile": (RECORDING, lambda: [built("bin/nvstgm"), "profile", "--from", "IN", "-o", "OUT"], ".json"),
    "nvstgm allocate": (SET, lambda: [built("bin/nvstgm"), "allocate", "IN", "-o", "OUT"], ".json"),
    "nvstgm simulate": (SET, lambda: [built("bin/nvstgm"), "simulate", "IN", "-o", "OUT"], ""),
    "nvstgm run -o": (SET, lambda: [built("bin/nvstgm"), "run", "IN", "--without-gpu", "-o", "OUT"], ""),
    "nvstgm run --measure": (SET, lambda: [built("bin/nvstgm"), "run", "IN", "--without-gpu", "--measure", "OUT"], ".json"),
    "nvstgm run --work": (SET, lambda: [built("bin/nvstgm"), "run", SET, "--work", "IN", "--without-gpu", "--measure", "OUT"],
                          ".json"),
}


def other_name(path, way):
    """Returns another name of the file."""
    if way == "the same name":
        return path
    other = path.with_name("other" + path.suffix)
    if way == "symbolic link":
        other.symlink_to(path.name)
    elif way == "hard link":
        other.hardlink_to(path)
    else:
        folder = path.parent / "folder"
        folder.symlink_to(".")
        other = folder / path.name
    return other


def run(words, names, **options):
    return subprocess.run([str(names.get(word, word)) for word in words], check=False, capture_output=True, text=True,
                          timeout=PATIENCE_S, **{"stdin": subprocess.DEVNULL} | options)


def names_of(folder):
    return {path: os.lstat(path).st_ino for path in folder.iterdir()}


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture")
    write_capture(folder / "file", write_tree(folder / "proc", ("h200", "mixed")))
    return folder / "file"


def made_input(folder, program, capture):
    source, words, suffix = PROGRAMS[program]
    path = folder / f"input{suffix}"
    shutil.copy(source or capture, path)
    return path, words()


@pytest.mark.parametrize("way", ("the same name", "symbolic link", "hard link", "linked folder"))
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_input_is_not_replaced(tmp_path, capture, program, way):
    path, words = made_input(tmp_path, program, capture)
    output = other_name(path, way)
    before, files = path.read_bytes(), names_of(tmp_path)
    for names in ({"IN": path, "OUT": output}, {"IN": output, "OUT": path}):
        done = run(words, names)
        assert done.returncode == 1 and "is the same file as" in done.stderr, done.stderr
        assert str(names["OUT"]) in done.stderr and "name another file" in done.stderr
        assert path.read_bytes() == before and names_of(tmp_path) == files


@pytest.mark.parametrize("program", [name for name, (source, *_) in PROGRAMS.items() if source != GOALS and source != SCENARIO])
def test_standard_input_is_not_replaced(tmp_path, capture, program):
    path, words = made_input(tmp_path, program, capture)
    before = path.read_bytes()
    for name in ("-", "/dev/stdin", "/proc/self/fd/0"):
        with path.open("rb") as file:
            done = run(words, {"IN": name, "OUT": path}, stdin=file)
        assert done.returncode == 1 and "is the same file as" in done.stderr, done.stderr
        assert path.read_bytes() == before


def test_two_outputs_are_two_files(tmp_path):
    """They are refused before one of them is there, too."""
    path = tmp_path / "x.json"
    for words in ([built("bin/nvqos"), "others=cap:90%", "--metrics", path, "--decisions", tmp_path / "." / "x.json"],
                  [built("bin/nvstgm"), "run", SET, "--without-gpu", "-o", tmp_path / "x", "--measure", tmp_path / "x"]):
        done = run(words, {})
        assert done.returncode == 1 and "is the same file as" in done.stderr, done.stderr
        assert not list(tmp_path.iterdir())


def test_an_output_that_is_no_file_may_have_the_inputs_name(tmp_path):
    """A device or a pipe has no content that would be lost."""
    done = run([built("bin/nvstgm"), "allocate", "-", "-o", "/dev/fd/0"], {}, stdin=subprocess.DEVNULL)
    assert "is the same file as" not in done.stderr
    placed = tmp_path / "placed.json"
    done = run([built("bin/nvstgm"), "allocate", SET, "-o", placed], {})
    assert done.returncode == 0 and pathlib.Path(placed).stat().st_size, done.stderr
