# SPDX-License-Identifier: MIT OR GPL-2.0
"""vm/run --root runs programs of this machine, with their libraries, on the guest's /proc/gpuX."""

import json
import pathlib
import re
import subprocess

import pytest
from ctl import tool
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


def test_a_program_of_this_machine_runs(tmp_path):
    """The program runs in our folder, beside the guest's tools. Files that it writes stay in the guest."""
    (tmp_path / "program.py").write_text(PROGRAM)
    done = vm_run("/", "nvdebugctl --csv --no-header --columns chip gpu list; /usr/bin/python3 program.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.splitlines() == ["GA100", f"{tmp_path} True", "chip: GA100", "in the guest"]
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


def test_a_folder_without_a_system_is_refused(tmp_path):
    done = vm_run(tmp_path, "true")
    assert done.returncode == 253
    assert f"--root {tmp_path}: no program bin/sh in it" in done.stderr


def test_a_command_starts_at_the_top_of_another_root(tmp_path):
    """The root does not have our folder, so the command starts at its top."""
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "sh").write_bytes(pathlib.Path("/bin/busybox").read_bytes())
    (root / "bin" / "sh").chmod(0o755)
    (root / "here").write_text("")
    done = vm_run(root, "pwd; ls; ls /proc/gpu0/info", cwd="/usr")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "/" and "here" in done.stdout
    assert done.stdout.splitlines()[-1] == "/proc/gpu0/info"


@pytest.mark.ci
def test_the_page_without_gpu_works(tmp_path):
    """The commands of docs/without-gpu.md that take the VM run as they stand there."""
    page = (paths.ROOT / "docs" / "without-gpu.md").read_text(encoding="utf-8").partition("## nvqos, live")[0]
    blocks = re.findall(r"^```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    assert tool().is_relative_to(paths.ROOT / "build")
    for name in ("vm", "build"):
        (tmp_path / name).symlink_to(paths.ROOT / name)
    blocks = [block.replace("vm/run ", "vm/run --no-build ") for block in blocks]
    outputs = [subprocess.run(["bash", "-euo", "pipefail", "-c", block], capture_output=True, text=True, timeout=300,
                              check=True, cwd=tmp_path).stdout for block in blocks]
    assert outputs[0].startswith("+---- Runlist 0 ") and (tmp_path / "sample" / "gpu1" / "info").stat().st_size
    assert (tmp_path / "sample" / "gpu0").stat().st_mode & 0o200, "who has no root can remove it again"
    assert [line.split()[1] for line in outputs[1].splitlines()[:3]] == ["CHIP", "GH100", "GA100"]
    assert re.search(r"^tsg,timeslice_us,share_percent\n\d+,[\d.]+,[\d.]+\n", outputs[1], re.MULTILINE)
    assert re.search(r"^\d+ channels\nindependent\n\Z", outputs[1], re.MULTILINE)
    assert outputs[2].startswith("GR0 is running tsg:")
    worked = [channel["progress_us"] > 0 for channel in json.loads(outputs[3])["channels"]]
    assert worked == [True, True, False, False, True, True]
    assert outputs[4].splitlines() == [
        "0,GR0 LCE0 LCE1", "1,NVDEC0", "2,NVENC0", "3,SEC0", "5,LCE2", "6,LCE3", "2,false", "3,false",
        "channel 0:2: disabled -> enabled", "channel 0:3: disabled -> enabled",
        "status 2: nvdebugctl: no runlist holds channel 99 now; runlist 0 holds channels 0-5",
        "status 1: nvdebugctl: 'x' is no channel: write ID or RUNLIST:ID, numbers decimal or 0x…, without a leading 0"]
