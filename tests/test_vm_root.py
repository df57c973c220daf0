# SPDX-License-Identifier: MIT OR GPL-2.0
"""vm/run --root: programs of this machine, with their libraries, on the guest's /proc/gpuX."""

import pathlib
import subprocess

import pytest
from nvdvm import paths

PROGRAM = """
import os, sys
print(os.getcwd(), os.path.isdir("/proc/gpu0"))
print(next(line for line in open("/proc/gpu0/info")), end="")
open("written", "w").write("in the guest")
print(open("written").read())
sys.exit(7)
"""


@pytest.fixture(scope="module", autouse=True)
def everything_is_built(module):
    pass


def vm_run(root, *command, cwd=None):
    return subprocess.run([paths.ROOT / "vm" / "run", "--no-build", "--board", "a100", "--root", root, "--", *command],
                          capture_output=True, text=True, timeout=300, check=False, cwd=cwd)


def test_a_program_of_this_machine(tmp_path):
    """In our folder; what it writes stays in the guest."""
    (tmp_path / "program.py").write_text(PROGRAM)
    done = vm_run("/", "/usr/bin/python3", "program.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.splitlines() == [f"{tmp_path} True", "chip: GA100", "in the guest"]
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


def test_the_tools_of_the_guest():
    done = vm_run("/", "nvdebugctl --csv gpu list; model 0 advance 10")
    assert done.returncode == 0, done.stderr
    assert "GA100" in done.stdout and '{"ok":true' in done.stdout


def test_a_folder_without_a_system(tmp_path):
    done = vm_run(tmp_path, "true")
    assert done.returncode == 253
    assert f"--root {tmp_path}: no program bin/sh in it" in done.stderr


def test_a_folder_that_is_not_ours(tmp_path):
    """Where we are is not in it: the command starts at its top."""
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "sh").write_bytes(pathlib.Path("/bin/busybox").read_bytes())
    (root / "bin" / "sh").chmod(0o755)
    (root / "here").write_text("")
    done = vm_run(root, "pwd; ls; ls /proc/gpu0/info", cwd="/usr")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "/" and "here" in done.stdout
    assert done.stdout.splitlines()[-1] == "/proc/gpu0/info"
