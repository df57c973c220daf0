# SPDX-License-Identifier: MIT OR GPL-2.0
"""Tasks of nvtaskset: their owners, their children, and tasks in tasks."""

import ctypes
import os
import re
import shlex
import signal
import sys

import pytest
from desk import LIBRARY, PROGRAM, PROGRAM_WORD, REFUSED, Running, TOOL, TOOL_WORD, USAGE, as_nobody, document, sms_in, sms_of
from throwaway_root import needs_root


# --- owners of tasks ---

def test_no_such_process(desk):
    desk.refused("-t 0 -p 4000000", "there is no process 4000000", exit_status=USAGE)
    program = desk.start("-t 0")
    program.launch()
    os.kill(program.pid, signal.SIGKILL)
    program.process.wait()
    desk.refused(f"-t 0 -p {program.pid}", f"there is no process {program.pid}", exit_status=USAGE)
    assert "(program)" not in desk.done("--list")


def test_one_that_is_not_ours(open_desk):
    needs_root()
    desk = open_desk
    nobody, copy, env = as_nobody(desk)
    program = desk.start("-t 0-3")
    assert program.launch() == sms_of(*range(4))
    for options in (("-t", "0", "-p", program.pid), ("-p", program.pid)):
        result = desk.command(*nobody, *options, XDG_CACHE_HOME="/nonexistent", **env)
        assert result.status == REFUSED and f"process {program.pid} is not yours" in result.err
    result = desk.command(*nobody, "--no-mps", "-t", "5", copy, "launch", XDG_CACHE_HOME="/nonexistent",
                          STAND_IN_LOG="/dev/null", **env)
    assert sms_in(result.answers[0]) == sms_of(5)
    assert program.launch() == sms_of(*range(4))


def test_one_that_was_started_by_others(desk):
    desk.refused(f"-t 0 -p {os.getpid()}", f"process {os.getpid()} was not started by nvtaskset")


def test_children_belong_to_it(desk):
    program = desk.start("-t 0-3", "fork")
    assert program.launch() == sms_of(*range(4))
    desk.change(program.pid, "-t 9")
    assert program.launch() == sms_of(9)
    told = desk.told(program.pid)
    children = [int(pid) for pid in re.findall(r"process (\d+)", told)]
    assert len(children) == 2 and program.pid in children
    desk.change(max(children, key=lambda pid: pid != program.pid), "-t 8")
    assert program.launch() == sms_of(8)


def test_a_child_without_its_descriptors(desk):
    """A child without its parent's descriptors, as Python starts children, follows changes of the partition."""
    start = "import subprocess, sys; sys.exit(subprocess.run([sys.argv[1], '-'], close_fds=True).returncode)"
    program = desk.start_command("--no-mps -t 0-3", sys.executable, "-c", start, PROGRAM)
    assert program.launch() == sms_of(*range(4))
    desk.change(program.pid, "-t 9")
    assert program.launch() == sms_of(9)
    assert "2 launches" in desk.told(program.pid)


def test_a_child_that_is_left_alone(desk):
    """If no process has the page, the program keeps to the partition of its start."""
    script = f"exec {TOOL_WORD} --no-mps -t 4 bash -c 'for fd in /proc/$$/fd/*; do fd=${{fd##*/}}; " \
             "[ $fd -le 2 ] || eval \"exec $fd>&-\"; done; exec \"$0\" launch' " + PROGRAM_WORD
    result = desk.command("sh", "-c", script)
    assert sms_in(result.answers[-1]) == sms_of(4), result.err


# --- tasks in tasks, and disguises ---

def test_a_task_in_a_task(desk):
    """The inner task's partition holds. nvtaskset shows and changes it, and keeps other tasks from its TPCs."""
    outer = desk.start_command("--no-mps -t 0-31", TOOL, "--no-mps", "-t", "10-12", PROGRAM, "device 0", "-")
    assert outer.hear() == "ok"
    assert outer.launch() == sms_of(10, 11, 12)
    assert "TPCs 10-12 of 0-65, 6 SMs; 1 launch kept" in desk.told(outer.pid)
    assert f"{outer.pid} (program): TPCs 10-12" in desk.done("--list")
    desk.refused("--no-mps -x -t 11", "TPC 11 is of task", PROGRAM, "launch")
    desk.change(outer.pid, "-t 20-22")
    assert outer.launch() == sms_of(20, 21, 22)
    (gpu,) = document(desk.done("--list", "-j"))["gpus"]
    assert [(task["partition"]["tpcs"], task["partition"]["launches_kept"])
            for task in gpu["tasks"]] == [([20, 21, 22], 2)]


@pytest.mark.parametrize("keeps", (True, False))
def test_a_task_beside_the_one_in_which_it_was_started(desk, keeps):
    """Both tasks keep their partitions, even if the inner one has the page of the outer one under a new descriptor."""
    dup = "exec 950<&$fd;" if keeps else ""
    script = f"fd=${{NVTASKSET_PAGE#*:}}; fd=${{fd%:*}}; {dup} {TOOL_WORD} --no-mps -t 10-11 {PROGRAM_WORD} launch - <&4 4<&- & " \
             f"exec {PROGRAM_WORD} launch -"
    outer = desk.start_command("--no-mps -t 0-31", "bash", "-c", f"exec 4<&0; {script}")
    answers = sorted((sms_in(outer.hear()), sms_in(outer.hear())), key=len)
    assert answers == [sms_of(10, 11), sms_of(*range(32))]
    (gpu,) = document(desk.done("--list", "-j"))["gpus"]
    found = {len(task["partition"]["tpcs"]): task for task in gpu["tasks"]}
    assert sorted(found) == [2, 32] and [found[2]["partition"]["launches_kept"],
                                         found[32]["partition"]["launches_kept"]] == [1, 1]


@pytest.mark.parametrize("closed", ("0 1 2", "0 1", "1 2", "0 2", "1"))
def test_standard_streams_are_closed(desk, closed):
    """The page takes no number of a standard stream, because the command's output would change it."""
    needed = desk.folder / "streams"
    script = f"for n in 0 1 2; do readlink /proc/$$/fd/$n >> {needed}; done; {PROGRAM_WORD} launch >/dev/null 2>&1 </dev/null; " \
             f"for n in 1 2 3 4 5 6 7 8 9; do echo '[server] request done in 12 ms, 200 OK: all is well'; done; " \
             f"{PROGRAM_WORD} launch >/dev/null 2>&1 </dev/null; exit 0"
    closing = " ".join(f"{n}>&-" for n in closed.split())
    desk.command("bash", "-c", f"exec {closing}; {TOOL_WORD} --no-mps -t 0-3 bash -c {shlex.quote(script)}; exit 0")
    assert [re.search("count=[0-9]*", line).group() for line in desk.launches()] == 2 * ["count=8"]
    assert "nvtaskset" not in needed.read_text() and len(needed.read_text().splitlines()) == 3 - len(closed.split())


@pytest.mark.parametrize("closed", ("1", "0 1 2"))
def test_a_page_of_the_process_own(desk, closed):
    """As in a container, the program has closed its streams, and only CUDA_INJECTION64_PATH is set."""
    desk.done("--list")
    desk.log_file.unlink(missing_ok=True)  # removes the launches of the probe
    fifo = desk.folder / "fifo"
    os.mkfifo(fifo)
    closing = " ".join(f"{n}>&-" for n in closed.split() if n != "0")
    script = f"exec 8<>{fifo}; {PROGRAM_WORD} launch - <&8 {closing} & until grep -q count= {desk.log_file}; do sleep 0.1; done 2>/dev/null; " \
             "ls -l /proc/$!/fd; kill $!"
    result = desk.command("bash", "-c", script, CUDA_INJECTION64_PATH=str(LIBRARY))
    (number,) = re.findall(r"(\d+) -> /memfd:nvtaskset", result.out)
    assert int(number) > 99


DISGUISES = {
    "file": "echo secret > {real}; chmod 600 {real}",
    "fifo": "mkfifo {real}",
    "device": "mknod {real} c 1 5",
}


@pytest.mark.parametrize("kind", DISGUISES)
def test_what_only_has_the_name_of_a_page_is_not_opened(open_desk, kind):
    """In a mount namespace of its own, a process can give any file the name of a page. Root's tools do not open such a file."""
    needs_root()
    desk = open_desk
    real, name = desk.folder / "real", "/memfd:nvtaskset (deleted)"
    desk.command("sh", "-c", DISGUISES[kind].format(real=real))
    holder = "import os,sys,time; os.open(sys.argv[1], os.O_PATH); print('ready', flush=True); time.sleep(600)"
    script = f"mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work /mnt/root && " \
             f"mount -t overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work overlay /mnt/root && " \
             f": > '/mnt/root{name}' && mount --bind {real} '/mnt/root{name}' && " \
             f"cd /mnt/root && mount -t proc proc proc && pivot_root . . && umount -l . && exec /usr/bin/python3 -c \"{holder}\" '{name}'"
    program = Running(["unshare", "--mount", "--propagation", "private",
                      "sh", "-c", script], desk.env, desk.folder / "held")
    desk.running.append(program)
    assert program.hear() == "ready"
    links = [os.readlink(f"/proc/{program.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{program.pid}/fd")]
    assert name in links
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert watch >= 0 and libc.inotify_add_watch(watch, str(real).encode(), 0x20) > 0  # IN_OPEN
    for words in (("--list",), ("-p", program.pid), ("-t", "0", "-p", program.pid), ("--no-mps", "-x", "-t", "0", "true")):
        desk.tool(*words)
    with pytest.raises(BlockingIOError):
        os.read(watch, 4096)
    os.close(os.open(real, os.O_RDONLY | os.O_NONBLOCK))
    assert os.read(watch, 4096), "what opens is seen"
    os.close(watch)
