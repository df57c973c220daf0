# SPDX-License-Identifier: MIT OR GPL-2.0
"""vm/run itself: its statuses, its output, its statistics, and options that it refuses."""

import json
import os
import subprocess

import pytest
from nvdvm import kernel, paths
from sample import EVERYTHING


def vm_run(*words, timeout=120, **environment):
    return subprocess.run([str(paths.ROOT / "vm" / "run"), "--no-build", *words],
                          capture_output=True, text=True, timeout=timeout, check=False,
                          env=os.environ | environment)


@pytest.fixture(scope="module", autouse=True)
def everything_is_built(module, kselftests):
    pass


def test_status_and_output(tmp_path):
    stats = tmp_path / "stats.json"
    file = tmp_path / "note"
    file.write_text("carried\n")
    done = vm_run("--board", "gtx1060-3gb", "--strict", "--stats", str(stats),
                  "--file", f"{file}:/root/carried", "--",
                  "cat /root/carried /proc/gpu0/runlist0_brief; model 0 info; echo oops >&2; exit 9",
                  NVDEBUG_BOOTS=str(tmp_path / "boots"))
    assert done.returncode == 9, done.stderr
    assert done.stderr == "oops\n"
    assert done.stdout.startswith("carried\n+---- Runlist 0 ")
    last = done.stdout.splitlines()[-1]
    assert last.startswith("{"), done.stdout
    assert json.loads(last)["board"] == "gtx1060-3gb"
    gpus = json.loads(stats.read_text())["gpus"]
    assert [gpu["board"] for gpu in gpus] == ["gtx1060-3gb"]
    seconds, release, count = (tmp_path / "boots").read_text().rstrip("\n").split("\t")
    assert float(seconds) > 0 and (release, count) == (kernel.find().release, "1")
    tsgs, channels = 3, 6  # the entry's word with USERD's address is not read
    assert gpus[0]["bars"]["0"]["blocks"]["PRAMIN"]["read_bytes"] == 8 * tsgs + 4 * channels


def test_board_and_workload_may_be_files(tmp_path):
    board, workload = tmp_path / "my-board.json", tmp_path / "my-workload.json"
    text = (paths.BOARDS / "a100.json").read_text()
    board.write_text(text.replace('"name": "a100"', '"name": "my-board"'))
    text = (paths.WORKLOADS / "idle.json").read_text()
    workload.write_text(text.replace('"name": "idle"', '"name": "my-workload"'))
    done = subprocess.run([str(paths.ROOT / "vm" / "run"), "--no-build", "--board", board.name,
                           "--workload", workload.name, "--", "model 0 info"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    info = json.loads(done.stdout)
    assert (info["board"], info["workload"]) == ("my-board", "my-workload")


@pytest.mark.parametrize("way", ["name", "file", "environment"])
def test_another_kernel_is_booted(tmp_path, way):
    """The other kernel is a copy of the usual one, with a release that no build has made modules for."""
    used, folder = kernel.find(), tmp_path / "kernels" / "mine"
    image = folder / "boot" / "vmlinuz-1.2.3-mine"
    image.parent.mkdir(parents=True)
    image.write_bytes(used.image.read_bytes())
    modules = folder / "lib" / "modules" / "1.2.3-mine"
    modules.mkdir(parents=True)
    (modules / "kernel").symlink_to(used.modules.resolve() / "kernel")
    words = {"name": ("--kernel", "mine"), "file": ("--kernel", str(image)), "environment": ()}
    environment = {"NVDEBUG_KERNEL": "mine"} if way == "environment" else {}
    environment["NVDEBUG_CACHE"] = str(tmp_path)
    if way == "file" or EVERYTHING:
        command = "--module", "none", "--", "cat /proc/cmdline"
        assert vm_run(*words[way], *command, **environment).returncode == 0
    done = vm_run(*words[way], "--", "true", **environment)
    assert done.returncode == 253 and "no module for kernel 1.2.3-mine" in done.stderr


def test_a_kernel_panic_is_its_own_failure():
    done = vm_run("--module", "none", "--", "echo c > /proc/sysrq-trigger")
    assert done.returncode == 252
    assert "sysrq triggered crash" in done.stderr


def test_the_tool_is_in_the_path():
    done = vm_run("--module", "none", "--", "nvdebugctl --version")
    version = (paths.ROOT / "VERSION").read_text().strip()
    assert (done.returncode, done.stdout) == (0, f"nvdebugctl {version}\n"), done.stderr


def test_without_a_gpu_there_is_no_folder():
    done = vm_run("--", "ls -d /proc/gpu*; dmesg | grep nvdebug")
    assert "/proc/gpu" not in done.stdout
    assert "no usable NVIDIA GPU" in done.stdout


def test_a_timeout_is_its_own_failure():
    done = vm_run("--module", "none", "--timeout", "1", "--", "sleep 1000")
    assert done.returncode == 251
    assert "took too long: more than 1 s; --timeout gives it more\n" in done.stderr


@pytest.mark.parametrize("words, said", [
    (("--board", "gtx9999", "--", "true"), "--board gtx9999: there is no such name or file"),
    (("--board", "a1000", "--", "true"), "(did you mean 'a100'?)"),
    (("--board", "a100", "--workload", "nonesuch", "--", "true"), "--workload nonesuch: there is no such name or file"),
])
def test_a_name_that_is_mistyped_is_found_before_anything_is_built(words, said):
    done = vm_run(*words)
    assert done.returncode == 2 and said in done.stderr


@pytest.mark.parametrize("words, said", [
    (("--module", "/nonexistent.ko", "--", "true"), "--module /nonexistent.ko: no such file"),
    (("--params", "read_only=1 pram_windw=never", "--", "true"), "the module has no parameter pram_windw;"),
    (("--kernel", "nonesuch", "--", "true"), "kernels/nonesuch"),
    (("--qemu", "/nonexistent", "--", "true"), "no program /nonexistent"),
    (("--qemu", "/bin/true", "--", "true"), "true has no transport for GPU models; is it a QEMU?"),
    (("--kernel", "/nonexistent/vmlinuz-1", "--", "true"), "/nonexistent/vmlinuz-1; give a file"),
    (("--stats", "/dev/full", "--", "true"), "cannot write --stats /dev/full: No space left on device"),
])
def test_a_vm_that_cannot_be_started_says_why(words, said):
    done = vm_run(*words)
    assert done.returncode == 253
    assert said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("device, said", [
    ("/dev/full", "vm/run: cannot write to stdout: No space left on device\n"), ("a pipe that nobody reads", "")])
def test_output_that_cannot_be_written_is_a_failure(device, said):
    if device == "/dev/full":
        stdout = os.open(device, os.O_WRONLY)
    else:
        end, stdout = os.pipe()
        os.close(end)
    done = subprocess.run([str(paths.ROOT / "vm" / "run"), "--no-build", "--module", "none", "--", "seq 100000"],
                          stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    os.close(stdout)
    assert (done.returncode, done.stderr) == (253, said)


def test_the_guest_has_what_shells_expect():
    done = vm_run("--module", "none", "--", "cat <(echo one) /dev/stdin <<END\ntwo\nEND\necho three >/dev/stderr")
    assert (done.returncode, done.stdout, done.stderr) == (0, "one\ntwo\n", "three\n")


@pytest.mark.parametrize("words", [
    (), ("--nonsense", "--", "true"), ("--file", "/nonexistent", "--", "true"),
    ("--board", "a100", "--fault", "7:all-ones", "--", "true"),
    ("--timeout", "-1", "--", "true"), ("--timeout", "nan", "--", "true"),
    ("--stats", "/nonexistent/x", "--", "true"), ("--logs", "/proc/x", "--", "true"),
    ("--board", "a100", "--workload", "idle", "--workload", "many", "--", "true"),
])
def test_wrong_options_print_the_usage(words):
    done = vm_run(*words)
    assert done.returncode == 2
    assert "usage: vm/run" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("crashes, status", [(1, 0), (2, 0), (3, 253)])
def test_a_qemu_that_crashes_in_the_boot_is_started_again(tmp_path, crashes, status):
    qemu = tmp_path / "qemu"
    qemu.write_text(f"""#!/bin/sh
case "$*" in *-kernel*)
    echo >> {tmp_path}/boots
    [ $(wc -l < {tmp_path}/boots) -gt {crashes} ] || kill -SEGV $$
esac
exec qemu-system-{kernel.find().arch.name} "$@"
""")
    qemu.chmod(0o755)
    done = vm_run("--qemu", str(qemu), "--board", "a100", "--", "ls /proc/gpu0/runlist0")
    assert (done.returncode, done.stdout) == (status, "" if status else "/proc/gpu0/runlist0\n")
    assert done.stderr.count("QEMU ended with status -11") == crashes
    assert done.stderr.count("booting again") == min(crashes, 2)
