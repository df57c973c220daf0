# SPDX-License-Identifier: MIT OR GPL-2.0
"""A machine with GPUs, in a folder: nvtaskset and programs over stand-ins for CUDA and NVIDIA's driver."""

import contextlib
import ctypes
import dataclasses
import itertools
import json
import mmap
import os
import pathlib
import re
import secrets
import select
import shlex
import signal
import subprocess
import time

import jsonschema
import pytest
from building import FOLDER, ROOT, build
from users import NAMELESS, as_user, copy_for_all, open_folder

STAND_INS = FOLDER / "tests/taskset"
TOOL, LIBRARY = FOLDER / "bin/nvtaskset", FOLDER / "bin/libnvtaskset.so"
PROGRAM = STAND_INS / "program"
# The paths as words of a shell's script, because the clone's path may have blanks.
TOOL_WORD, PROGRAM_WORD = shlex.quote(str(TOOL)), shlex.quote(str(PROGRAM))
TARGETS = ("nvtaskset", "cuda_stand_in", "rm_stand_in", "taskset_program")
# The exit status of a process that cannot be kept to its partition, and of the stand-in when a launch hangs a GPU.
NOT_KEPT, HUNG = 125, 99
# The functions that launch.
LAUNCHES = ("cuLaunchKernel", "cuLaunchKernel_ptsz", "cuLaunchKernelEx", "cuLaunchKernelEx_ptsz",
            "cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz", "cuGraphLaunch", "cuGraphLaunch_ptsz")
# The place of the first GPU's lease in a task's page (lib/partition/state.hpp).
LEASE = 4152
# So many looks that a launch of the stand-in never ends.
NEVER = str(10 ** 12)
# The exit statuses are nvdebugctl's.
USAGE, REFUSED, UNSUPPORTED, PARTIAL, FAILED = 1, 2, 3, 4, 5
TOO_LARGE = "error 720 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"
PATIENCE_S = 120


def first_sms():
    """Returns the first SM of each TPC of the H100, in the tool's order: by GPC, then by bit of the mask."""
    sizes, tpcs = (4, 8, 8, 8, 8, 8, 9, 9), []
    # The stand-in numbers SMs round robin, and GPCs from the last to the first.
    for tpc in range(max(sizes)):
        tpcs += [(7 - gpc, 9 * gpc + tpc) for gpc, size in enumerate(sizes) if tpc < size]
    tpcs += [(7, bit) for bit in (75, 78, 81, 83)]
    return [2 * tpcs.index(tpc) for tpc in sorted(tpcs)]


FIRST_SMS = first_sms()
ALL = range(132)
GPC_TPCS = {0: range(9), 1: range(9, 18), 2: range(18, 26), 7: range(58, 66)}


def sms_of(*tpcs):
    return sorted(sm for tpc in tpcs for sm in (FIRST_SMS[tpc], FIRST_SMS[tpc] + 1))


def numbers(text):
    """Returns the numbers in a text such as `0-3,8`."""
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def sms_in(answer):
    """Returns the SMs that a launch got."""
    count, _, ids = answer.partition(" ")
    sms = numbers(ids)
    assert len(sms) == int(count)
    return sms


@dataclasses.dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def answers(self):
        return self.out.splitlines()


class Running:
    """A program that runs and waits for its next action."""

    def __init__(self, words, env, err):
        self.err, self.heard = err, b""
        with open(err, "wb") as to:
            self.process = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=to, bufsize=0, start_new_session=True)
        self.pid = self.process.pid

    def say(self, line):
        self.process.stdin.write(f"{line}\n".encode())

    def answers(self):
        """Returns whether it has printed something since the last answer."""
        return bool(self.heard) or bool(select.select([self.process.stdout], [], [], 0)[0])

    def hear(self):
        while b"\n" not in self.heard:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
            more = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            assert more, f"no answer: {self.err.read_text()}"
            self.heard += more
        line, _, self.heard = self.heard.partition(b"\n")
        return line.decode()

    def ask(self, line):
        self.say(line)
        return self.hear()

    def launch(self):
        return sms_in(self.ask("launch"))

    def end(self):
        """Ends the program and returns its exit status."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)

    def kill(self):
        """Kills the program with its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_S)


class Desk:
    """GPUs, and the programs that use them."""

    def __init__(self, folder, gpus):
        self.folder, self.running = folder, []
        self.log_file = folder / "log"
        # LD_PRELOAD splits paths at blanks and colons, which the clone's path may have.
        stand_ins = folder / "stand-ins"
        stand_ins.symlink_to(STAND_INS)
        self.env = {**os.environ,
                    "LD_LIBRARY_PATH": str(stand_ins / "libcuda"),
                    "LD_PRELOAD": str(stand_ins / "librm_stand_in.so"),
                    "XDG_CACHE_HOME": str(folder / "cache"),
                    "NVTASKSET_DRIVER_FOLDER": str(folder / "driver"),
                    "STAND_IN_LOG": str(self.log_file),
                    "STAND_IN_GPUS": gpus,
                    "STAND_IN_SEED": str(secrets.randbits(32))}
        for name in ("CUDA_INJECTION64_PATH", "CUDA_VISIBLE_DEVICES", "STAND_IN_LIES"):
            self.env.pop(name, None)
        self.uuids = []
        self.describe_driver()

    def describe_driver(self):
        """Makes the files that /proc/driver/nvidia has."""
        (self.folder / "driver").mkdir()
        (self.folder / "driver/version").write_text(
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n")
        for minor, gpu in enumerate(self.command(PROGRAM, "gpus").out.strip().split(";")):
            address, uuid, name = gpu.split(" ", 2)
            self.uuids.append(uuid)
            place = self.folder / "driver/gpus" / address
            place.mkdir(parents=True)
            (place / "information").write_text(
                f"Model: \t\t {name}\nIRQ:   \t\t 0\nGPU UUID: \t {uuid}\nDevice Minor: \t {minor}\n")

    def kept(self, uuid=None):
        """Returns the file in which nvtaskset keeps what it has found out about a GPU. Without a UUID it is the first
        GPU's."""
        folder = self.folder / "cache/nvtaskset" if os.geteuid() else pathlib.Path("/run/nvtaskset")
        return folder / (uuid or self.uuids[0])

    def command(self, *words, **env):
        done = subprocess.run([str(word) for word in words], env={**self.env, **env}, check=False, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S)
        assert done.returncode != HUNG, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def tool(self, *options, **env):
        return self.command(TOOL, *options, **env)

    def done(self, *options, **env):
        """Runs the tool, which must succeed, and returns what it printed."""
        result = self.tool(*options, **env)
        assert result.status == 0, result.err
        return result.out

    def change(self, pid, options, **env):
        """Changes a running task. The tool must print nothing."""
        assert not self.done(*options.split(), "-p", pid, **env)

    def told(self, pid):
        return self.done("-p", pid)

    def run(self, options, *actions, **env):
        """Runs a program that performs all actions at once."""
        return self.tool("--no-mps", *options.split(), PROGRAM, *actions, **env)

    def refused(self, options, sentence, *actions, exit_status=REFUSED, **env):
        """Asserts that the tool refuses with one sentence, before anything happens."""
        launches = self.launches()
        result = self.tool(*options.split(), *actions, **env)
        assert result.status == exit_status and not result.out
        assert result.err.startswith("nvtaskset: ") and sentence in result.err
        assert len(result.err.splitlines()) == 1
        assert self.launches() == launches

    def start(self, options, *actions, **env):
        program = self.start_command(f"--no-mps {options}", PROGRAM, "device 0", *actions, "-", **env)
        assert program.hear() == "ok"  # the tool has finished
        return program

    def start_command(self, options, *words, **env):
        program = Running([str(word) for word in (TOOL, *options.split(), *words)], {**self.env, **env},
                          self.folder / f"err{len(self.running)}")
        self.running.append(program)
        return program

    def launches(self, command="program"):
        """Returns the logged launches of programs, or of the tool, which launches to find out a GPU's TPCs."""
        log = self.log_file.read_text() if self.log_file.exists() else ""
        return [line for line in log.splitlines() if f" command={command} " in line]

    def end(self):
        for program in self.running:
            program.kill()
        for uuid in self.uuids:
            self.kept(uuid).unlink(missing_ok=True)
        log = self.log_file.read_text() if self.log_file.exists() else ""
        assert not re.search("^(HANG|WRONG)", log, re.MULTILINE), log


@contextlib.contextmanager
def desk_of(folder, gpus="h100"):
    build(*TARGETS)
    made = Desk(folder, gpus)
    try:
        yield made
    finally:
        made.end()


@pytest.fixture
def desk(tmp_path):
    with desk_of(tmp_path) as made:
        yield made


@pytest.fixture
def open_desk():
    """Yields a desk in a folder that all users may read."""
    with open_folder() as folder, desk_of(folder) as made:
        yield made


def as_nobody(desk):
    """Returns how another user, without processes in other tests, runs the built programs: the words before the
    tool's options, the program, and the environment."""
    stand_ins = (STAND_INS / "librm_stand_in.so", STAND_INS / "libcuda")
    built = copy_for_all(desk.folder / "built", TOOL, LIBRARY, PROGRAM, *stand_ins)
    # Without this folder, nvtaskset makes one in /tmp.
    runtime = desk.folder / "runtime"
    runtime.mkdir(0o700, exist_ok=True)
    os.chown(runtime, NAMELESS, NAMELESS)
    return ((*as_user(built, NAMELESS), built / TOOL.name), built / PROGRAM.name,
            {"LD_LIBRARY_PATH": str(built / "libcuda"), "LD_PRELOAD": str(built / "librm_stand_in.so"),
             "XDG_RUNTIME_DIR": str(runtime)})


def answers_while_it_changes(desk, program, line, partitions, wanted):
    """Returns the first words of the program's answers while its partition changes, until all wanted words were
    seen."""
    seen, changes, end = set(), itertools.cycle(partitions), time.monotonic() + PATIENCE_S
    while not wanted <= seen and time.monotonic() < end:
        program.say(line)
        while not program.answers():
            desk.change(program.pid, next(changes))
        seen |= {answer.split()[0] for answer in program.hear().split(";")}
    return seen


def most_in_flight(desk, since=0):
    """Returns the most launches with an event that were in flight when another launch was made."""
    return max(int(re.search(" in_flight=([0-9]+)", line)[1]) for line in desk.launches()[since:])


def gate(desk, program):
    """Returns the entry of --json about the program's launches in flight, or None."""
    found = document(desk.done("-j", "-p", program.pid))["gpus"][0]["tasks"]
    return found[0]["in_flight"] if found else None


def link(path):
    """Returns the target of a link, or None if it no longer exists: a descriptor may have been closed."""
    with contextlib.suppress(FileNotFoundError):
        return os.readlink(path)
    return None


def page_of(program):
    """Returns the task's page (lib/partition/state.hpp), which can be changed."""
    folder = f"/proc/{program.pid}/fd"
    name, = (name for name in os.listdir(folder) if link(f"{folder}/{name}") == "/memfd:nvtaskset (deleted)")
    with open(f"{folder}/{name}", "r+b", buffering=0) as file:
        return mmap.mmap(file.fileno(), 8192)


def prepared(desk, looks="50", **env):
    """Starts a program with a graph. Its launches end when they were looked at so often."""
    program = desk.start("--prepare", STAND_IN_LOOKS=looks, **env)
    assert program.ask("graph") == "ok"
    return program


def attach_earlier_library(page):
    """Makes the page look as if another process had an earlier library, which does not count as one that limits
    launches."""
    attached = ctypes.c_uint32.from_buffer(page, 8)
    attached.value += 1


def document(text):
    """Returns the document, after a check against its schema."""
    found = json.loads(text)
    jsonschema.validate(found, json.loads((ROOT / "tools/nvtaskset/nvtaskset.json").read_text()))
    return found
