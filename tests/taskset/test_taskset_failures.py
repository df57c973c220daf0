# SPDX-License-Identifier: MIT OR GPL-2.0
"""Failures of nvtaskset, and systems with other C libraries."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from desk import (ALL, FAILED, LIBRARY, NOT_KEPT, PROGRAM, PROGRAM_WORD, ROOT, TARGETS, TOOL, TOOL_WORD, TOO_LARGE,
                  UNSUPPORTED, USAGE, as_nobody, build, sms_in, sms_of)
from throwaway_root import needs_root


# --- other systems ---

def run_in_debian(suite, folder, *command):
    """Runs a command in a bare Debian, which has the folder as /mnt."""
    root = subprocess.run([ROOT / "vm/fetch", "debian", suite], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()
    script = 'mount --bind "$1" "$2/mnt"; shift; root=$1; shift; exec chroot "$root" "$@"'
    return subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, "sh", folder, root,
                           *command], capture_output=True, text=True, check=False)


def load_in_debian(suite, library):
    """Returns the errors of Debian's loader, which looks up each symbol of the library at once."""
    return run_in_debian(suite, library.parent, "env", "LD_BIND_NOW=1", f"LD_PRELOAD=/mnt/{library.name}",
                         "/bin/true").stderr


@pytest.mark.ci
def test_an_older_c_library(tmp_path):
    """The library loads in Debian 11, with C library 2.31 as in Ubuntu 20.04."""
    needs_root()
    build(*TARGETS)
    assert not load_in_debian("bullseye", LIBRARY)
    newer = tmp_path / "libnewer.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", newer], check=True, text=True,
                   input="unsigned arc4random(void); unsigned use(void) { return arc4random(); }")
    assert "GLIBC_2.36" in load_in_debian("bullseye", newer)


@pytest.mark.ci
def test_the_static_tool_in_an_older_system(tmp_path):
    needs_root()
    if not os.environ.get("NVDEBUG_NO_BUILD"):
        subprocess.run(["make", "-s", "vm-tool"], cwd=ROOT, check=True, stdout=sys.stderr)
    shutil.copy(ROOT / "build/vm/nvdebugctl", tmp_path / "nvdebugctl")
    shutil.copy(ROOT / "tests/hardware/h200-580.159.04/capture-idle", tmp_path / "capture")
    done = run_in_debian("bullseye", tmp_path, "/mnt/nvdebugctl", "--from", "/mnt/capture", "gpu", "list")
    assert done.returncode == 0 and "GH100" in done.stdout and not done.stderr, done


@pytest.mark.parametrize("source, name", (
    ("unsigned arc4random(void); unsigned use(void) { return arc4random(); }", "arc4random"),
    ("int dlclose(void *); int use(void) { return dlclose(0); }", "dlclose")))
def test_a_build_that_needs_a_newer_c_library_fails(tmp_path, source, name):
    library = tmp_path / "libneeds.so"
    make = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library]
    check = [ROOT / "tools/nvtaskset/check-symbols", "2.28", library]
    subprocess.run(make, check=True, text=True, input="int use(void) { return 0; }")
    subprocess.run(check, check=True)
    subprocess.run(make, check=True, text=True, input=source)
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and name in done.stderr and not library.exists()


# --- failures ---

def test_callbacks_that_cuda_refuses(desk):
    """A library that fails after it has subscribed stays loaded, because CUDA may call it."""
    desk.done("--list")
    result = desk.run("-t 0", "launch", STAND_IN_REFUSES="652")
    assert result.status == NOT_KEPT and "CUDA refuses the callback of a function" in result.err
    result = desk.run("--best-effort -t 0", "launch", "attribute 16", STAND_IN_REFUSES="652")
    assert result.status == 0 and sms_in(result.answers[0]) == list(ALL) and result.answers[1] == "132"


def test_a_graph_for_which_there_is_no_memory(desk):
    """The graph runs on the whole GPU, which is counted, and no exception passes through CUDA."""
    program = desk.start("-t 0-3", STAND_IN_NODES=str(1 << 59))
    assert program.ask("graph") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == list(ALL)
    assert program.launch() == sms_of(*range(4))
    assert "1 NOT (of an unknown kind)" in desk.told(program.pid)
    assert "CUDA graphs that cannot be checked" in program.err.read_text()


def test_graphs_end_with_their_context(desk):
    program = desk.start("-t 0-3", "launch", "context", "graph", "graph-launch 0")
    assert [program.hear() for _ in range(4)][1:3] == ["ok", "ok"]
    assert "1 CUDA graph\n" in desk.told(program.pid)
    assert [program.ask(line) for line in ("end-context", "use 0")] == ["ok", "ok"]
    assert "CUDA graph" not in desk.told(program.pid)


def test_the_gpus_own_count(desk):
    """--whole-count: the program sees all SMs, and its kernels run on the partition's."""
    sms, count, too_large = desk.run("--whole-count -t 0-3", "launch", "attribute 16", "cooperative 264").answers
    assert sms_in(sms) == sms_of(*range(4)) and count == "132" and too_large == TOO_LARGE
    desk.refused("--whole-count -t 0 -p 1", "--whole-count needs a COMMAND to start", exit_status=USAGE)


def test_another_has_cudas_callbacks(desk):
    result = desk.run("-t 0", "subscribe", "launch")
    assert result.status == NOT_KEPT and result.answers == ["ok"]
    assert "another library of the process has CUDA's callbacks" in result.err
    result = desk.run("--best-effort -t 0", "subscribe", "launch", "attribute 16")
    assert result.status == 0 and sms_in(result.answers[1]) == list(ALL) and result.answers[2] == "132"
    assert "is not kept to its partition" in result.err
    assert desk.run("-t 0", "launch", "subscribe").answers[1] == "error 210 CUDA_ERROR_ALREADY_ACQUIRED"


@pytest.mark.parametrize("value, status", ((None, NOT_KEPT), ("", NOT_KEPT), ("0", NOT_KEPT), ("no", NOT_KEPT),
                                           ("False", NOT_KEPT), ("1", 0), ("yes", 0)))
def test_best_effort_by_the_environment(desk, value, status):
    """An empty variable counts as unset, and 0 switches best effort off."""
    wanted = {} if value is None else {"NVTASKSET_BEST_EFFORT": value}
    assert desk.run("-t 0", "subscribe", "launch", **wanted).status == status


def test_another_library_is_to_be_loaded(desk):
    desk.refused("--no-mps -t 0", "CUDA loads a single library", PROGRAM, "launch",
                 CUDA_INJECTION64_PATH="/profiler.so")


def test_the_library_is_missing(desk, tmp_path):
    desk.done("--list")
    alone = tmp_path / "alone/bin"
    alone.mkdir(parents=True)
    shutil.copy(TOOL, alone)
    result = desk.command(alone / "nvtaskset", "--no-mps", "-t", "0", PROGRAM, "launch")
    assert result.status == UNSUPPORTED and not result.out
    assert "missing" in result.err and str(tmp_path / "alone/lib/nvtaskset/libnvtaskset.so") in result.err


@pytest.mark.parametrize("content", (b"", b"no library", b"\x7fELF" + bytes(60)))
def test_the_library_cannot_be_loaded(desk, tmp_path, content):
    """nvtaskset refuses, because CUDA would go on without the library, even if the map of TPCs is known already."""
    desk.done("--list")
    shutil.copy(TOOL, tmp_path)
    (tmp_path / "libnvtaskset.so").write_bytes(content)
    result = desk.command(tmp_path / "nvtaskset", "--no-mps", "-t", "0", PROGRAM, "launch")
    assert result.status == UNSUPPORTED and not result.out and "cannot be loaded" in result.err


@pytest.mark.parametrize("partitions", (True, False))
@pytest.mark.parametrize("limit", (0, 1, 4096))
def test_a_limit_for_the_size_of_files(desk, limit, partitions):
    """Where the limit allows no file for the task's page, the injected library takes the partition from the environment
    alone, as in a container: 4 TPCs of 2 SMs each, or all SMs without the variable. nvtaskset itself fails."""
    named = desk.command(TOOL, "--no-mps", "-t", "0-3", "sh", "-c", "echo $NVTASKSET_PARTITIONS").out.strip()
    env = {"CUDA_INJECTION64_PATH": str(LIBRARY)} | ({"NVTASKSET_PARTITIONS": named} if partitions else {})
    result = desk.command("prlimit", f"--fsize={limit}", PROGRAM, "launch", STAND_IN_LOG="/dev/null", **env)
    assert result.status == 0, result
    assert len(sms_in(result.answers[0])) == (8 if partitions else 132)
    result = desk.command("prlimit", f"--fsize={limit}", TOOL, "--no-mps", "-t", "0-3", PROGRAM, "launch",
                          STAND_IN_LOG="/dev/null")
    assert result.status == FAILED and "File too large" in result.err


@pytest.mark.parametrize("option, variable", (("--best-effort", "NVTASKSET_BEST_EFFORT"),
                                              ("--whole-count", "NVTASKSET_WHOLE_COUNT")))
def test_options_are_of_one_task(desk, option, variable):
    """A task that is started inside another does not have the options of that task."""
    inside = (TOOL, "--no-mps", "-t", "10", "printenv", variable)
    assert desk.command(TOOL, "--no-mps", option, "-t", "0-3", *inside[-2:]).out == "1\n"
    assert not desk.command(TOOL, "--no-mps", option, "-t", "0-3", *inside).out


@pytest.mark.parametrize("first", (False, True))
def test_cuda_does_not_load_it(desk, tmp_path, first):
    """nvtaskset warns of a program that unsets the variable and uses the GPU, even as the first process of a container."""
    needs_root()
    uses, starts = tmp_path / "inside", "unshare -pf --kill-child --mount-proc" if first else ""
    uses.write_text(f"""
        set -e
        mount -t tmpfs tmpfs /dev
        mknod -m 666 /dev/null c 1 3
        : > /dev/nvidia-uvm
        export STAND_IN_DEVICE=/dev/nvidia-uvm
        mkfifo {tmp_path}/fifo
        exec 3<> {tmp_path}/fifo
        {starts} {TOOL_WORD} --no-mps -t 0 env -u CUDA_INJECTION64_PATH {PROGRAM_WORD} launch - <&3 2> {tmp_path}/told &
        n=0
        until [ -s {tmp_path}/told ] || [ $n = 600 ]; do sleep 0.1; n=$((n + 1)); done
        {TOOL_WORD} -p {"$(cat /proc/$!/task/$!/children)" if first else "$!"}
        kill -9 $!
        """)
    result = desk.command("unshare", "--mount", "sh", uses)
    assert result.status == 0, result.err
    told = (tmp_path / "told").read_text()
    assert "uses the GPU and is NOT kept to the partition: CUDA in it did not load" in told
    assert not first or "process 1 " in told
    assert "uses the GPU and is NOT kept" in result.out


def test_there_may_be_no_more_processes(open_desk):
    """If no watcher can be started, the command runs all the same."""
    needs_root()
    open_desk.done("--list")
    # The other user trusts this map, because it belongs to root.
    folder = open_desk.folder / "cache/nvtaskset"
    folder.mkdir(parents=True)
    shutil.copy(open_desk.kept(), folder)
    (folder / open_desk.uuids[0]).chmod(0o644)
    nobody, copy, env = as_nobody(open_desk)
    result = open_desk.command("prlimit", "--nproc=1", *nobody, "--no-mps", "-t", "5", copy, "launch",
                               STAND_IN_LOG="/dev/null", **env)
    assert result.status == 0 and sms_in(result.answers[0]) == sms_of(5)


def test_the_watcher_is_no_part_of_the_task(desk):
    """The watcher is never shown as a process of the task, not even at the start."""
    for _ in range(10):
        program = desk.start("--prepare")
        assert re.findall(r"process (\d+)", desk.told(program.pid)) == [str(program.pid)]


def test_no_driver(desk):
    desk.refused("--list", "NVIDIA's driver", NVTASKSET_DRIVER_FOLDER="/nonexistent", exit_status=UNSUPPORTED)
    shutil.rmtree(desk.folder / "driver/gpus")
    desk.refused("--no-mps -t 0", "has no GPU", PROGRAM, "launch", exit_status=UNSUPPORTED)


def test_no_cuda(desk):
    desk.refused("--no-mps -t 0", "CUDA (libcuda.so.1", PROGRAM, "launch", LD_LIBRARY_PATH="", exit_status=UNSUPPORTED)
