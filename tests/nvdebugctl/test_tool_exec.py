# SPDX-License-Identifier: MIT OR GPL-2.0
"""`nvdebugctl exec` becomes nvtaskset, and undoes what the tool changed in its own process."""

import os
import shlex
import shutil
import signal
import subprocess
import sys

import pytest
from ctl import tool


@pytest.fixture
def path(tmp_path):
    """Returns a folder with an nvtaskset that only writes down that it was started."""
    program = tmp_path / "nvtaskset"
    program.write_text(f'#!/bin/sh\necho "$0 $*" > {tmp_path}/started\n')
    program.chmod(0o755)
    return tmp_path


def start(path, words, before=(), streams=""):
    """Starts a copy of the tool, away from the real nvtaskset."""
    alone = path / "bin/nvdebugctl"
    if not alone.exists():
        alone.parent.mkdir()
        shutil.copy2(tool(), alone)
    line = shlex.join([*before, str(alone), *words])
    libraries = f"{tool().parents[1] / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "LD_LIBRARY_PATH": libraries}
    return subprocess.run(["sh", "-c", f"exec {line} {streams}"], env=environment, check=False, capture_output=True, text=True,
                          timeout=60)


@pytest.mark.parametrize("ignored", ((), (signal.SIGPIPE,), (signal.SIGCHLD,), (signal.SIGPIPE, signal.SIGCHLD, signal.SIGUSR1)))
def test_signals_are_given_back(path, ignored):
    script = "import os, signal, sys; [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGPIPE, signal.SIGCHLD)]; " \
             f"[signal.signal(n, signal.SIG_IGN) for n in {[int(number) for number in ignored]}]; os.execvp(sys.argv[1], sys.argv[1:])"
    # A shell would change the signals again, so grep takes nvtaskset's place.
    (path / "nvtaskset").unlink()
    (path / "nvtaskset").symlink_to(shutil.which("grep"))
    result = start(path, ["exec", "SigIgn", "/proc/self/status"], (sys.executable, "-c", script))
    mask = int(result.stdout.split()[1], 16)
    for number in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGUSR1):
        assert bool(mask >> (number - 1) & 1) == (number in ignored)


@pytest.mark.parametrize("closed", (0, 1, 2))
def test_closed_streams_are_given_back(path, closed):
    program = path / "nvtaskset"
    program.write_text(f'#!{sys.executable}\nimport os\nfound = []\nfor n in range(3):\n    try:\n        os.fstat(n)\n'
                       '        found.append(n)\n    except OSError:\n        pass\n'
                       f'open("{path}/open", "w").write(repr((found, os.sys.stdin is None, os.sys.stdout is None, os.sys.stderr is None)))\n')
    start(path, ["exec", "x"], streams=f"{closed}{'<' if closed == 0 else '>'}&-")
    assert eval((path / "open").read_text())[1 + closed], "Python has no stream where none was open"


@pytest.mark.parametrize("stream", (">&-", "> /dev/full"))
def test_output_that_cannot_be_written(stream):
    done = subprocess.run(["sh", "-c", f"exec {tool()} help {stream}"], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 5 and "write" in done.stderr


@pytest.mark.parametrize("words", (["e"], ["ex", "x"], ["exe", "x"], ["run", "x"], ["run", "sh", "0"], ["r"], ["ru", "--help"]))
def test_no_word_cut_short_starts_a_program(path, words):
    start(path, words)
    assert not (path / "started").exists()
    start(path, ["exec", *words])
    assert (path / "started").exists() or words[-1] == "--help"
