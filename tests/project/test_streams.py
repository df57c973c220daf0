# SPDX-License-Identifier: MIT OR GPL-2.0
"""Each program ends with a sentence and an exit status other than 0 if its output cannot be written, or its input is closed."""

import contextlib
import json
import os
import resource
import signal
import subprocess

import devices
import pytest
from building import ROOT, built
from ctl import exporter, table, tool, write_tree

RECORDING = ROOT / "tests/hardware/h100-580.159.04/recording.ndjson"
SETS = sorted((ROOT / "tests/data/stgm").glob("*.json"))
PATIENCE_S = 60
GENERAL = ("--help", "--version")


def limited():
    """Limits files to no byte. The signal that comes with the limit has its default action, as in a shell."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@contextlib.contextmanager
def sink(kind, folder):
    """Yields options of a process that cannot write its standard output, and the reason in words."""
    if kind == "closed":
        yield {"preexec_fn": lambda: os.close(1)}, os.strerror(9)
    elif kind == "full":
        with open("/dev/full", "wb") as full:
            yield {"stdout": full}, "No space left on device"
    elif kind == "limit":
        with open(folder / "output", "wb") as output:
            yield {"stdout": output, "preexec_fn": limited}, "File too large"
        assert (folder / "output").stat().st_size == 0
    else:
        read, write = os.pipe()
        os.close(read)
        try:
            yield {"stdout": write}, None
        finally:
            os.close(write)


def fails(words, kind, folder):
    """Checks that the program fails. It needs no message only for a pipe without a reader."""
    with sink(kind, folder) as (options, why):
        done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              check=False, timeout=PATIENCE_S, **options)
    assert done.returncode, words
    assert kind == "pipe" or why in done.stderr, (words, done.stderr)
    assert "terminate" not in done.stderr and "Traceback" not in done.stderr


KINDS = ("closed", "full", "limit", "pipe")


@pytest.fixture(scope="module")
def proc(tmp_path_factory):
    return write_tree(tmp_path_factory.mktemp("streams") / "proc", ("h200", "mixed"))


@pytest.mark.parametrize("kind", KINDS)
def test_nvdebugctl_fails(proc, tmp_path, kind):
    forms = ("", "-j", "--csv")
    lists = [f"--from {proc} {verb} {form}" for verb in (
        "gpu list", "engine list", "runlist list", "tsg list", "channel list", "copy show", "watch -n 1") for form in forms]
    lines = [*GENERAL, "help", "help --json", "help gpu", *lists, f"--from {proc} gpu show", f"--from {proc} check",
             f"--from {proc} runlist tree", f"--from {proc} runlist tree --svg", f"--from {proc} capture -",
             f"--from {proc} gpu show -j --pretty", f"--from {proc} top -n 1 -s 100 -j", "doctor",
             f"--from {proc} record --for 100ms", f"--from {proc} record --for 100ms -o -", f"recording show {RECORDING}",
             *(f"completion {shell}" for shell in ("bash", "zsh", "fish")),
             *(f"recording show {RECORDING} -o - --format {form}" for form in ("ndjson", "csv", "html", "perfetto"))]
    for command in table():
        name = " ".join(filter(None, (command["object"], command["verb"])))
        lines += [f"help {name}", f"{name} --help"]
        if command["columns"]:
            lines.append(f"{name} --columns help")
    for line in lines:
        fails([tool(), *line.split()], kind, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_other_programs_fail(tmp_path, kind):
    nvstgm, taskset = built("bin/nvstgm"), built("bin/nvtaskset")
    for program in (taskset, exporter(), nvstgm, built("bin/nvqos")):
        for option in GENERAL:
            fails([program, option], kind, tmp_path)
    verbs = subprocess.run([nvstgm, "__complete", ""], capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    names = [line.partition("\t")[0] for line in verbs.stdout.splitlines()]
    assert SETS and "check" in names
    for verb in names:
        if not verb.startswith("-"):
            fails([nvstgm, verb, "--help"], kind, tmp_path)
    for form in ((), ("-j",), ("--csv",)):
        fails([nvstgm, "check", *form, SETS[0]], kind, tmp_path)


def test_a_file_that_cannot_be_written_is_named(proc, tmp_path, tmp_path_factory):
    """The file of -o FILE is a device that is full, stands in a folder that is missing, or is a folder."""
    full = devices.full(tmp_path_factory.mktemp("devices"))
    for form in ("ndjson", "csv", "html", "perfetto"):
        for path, why in ((full, "No space left"), (tmp_path / "none/x", "No such file"), (tmp_path, "directory")):
            done = subprocess.run([tool(), "recording", "show", RECORDING, "--format", form, "-o", path], check=False,
                                  capture_output=True, text=True, timeout=PATIENCE_S)
            assert done.returncode == (5 if path == full else 1)
            assert done.stdout == "" and why in done.stderr and str(path) in done.stderr
    for path in (full, tmp_path / "none/x", tmp_path):
        done = subprocess.run([tool(), "--from", proc, "-j", "capture", path], check=False, capture_output=True, text=True,
                              timeout=PATIENCE_S)
        assert done.returncode == (5 if path == full else 1) and str(path) in done.stderr
        assert str(path) in json.loads(done.stdout)["error"]["message"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("program, words", (
    ("nvdebugctl", "--from - gpu list"), ("nvdebugctl", "recording show -"), ("nvqos", "advise --from -"), ("nvqos", "simulate -"),
    ("nvstgm", "profile --from -"), ("nvstgm", "check -")))
def test_standard_input_that_is_closed_is_a_wrong_command_line(program, words):
    """A later try would be the same, so the exit status is not 5."""
    done = subprocess.run([built(f"bin/{program}"), *words.split()], preexec_fn=lambda: os.close(0), capture_output=True, text=True,
                          check=False, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (1, "") and "standard input" in done.stderr
