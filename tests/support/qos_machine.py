# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs nvqos with its socket over the stand-in for the driver. Real processes are its tasks. It needs root, as nvqos
does."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

import jsonschema
import pytest
from building import ROOT, build, built
from waiting import PATIENCE_S, comes_true

FIRST_US = 2000
PROGRAM = ROOT / "build/cmake/tests/qos/nvqos_stand_in"
SCHEMAS = ROOT / "tools/nvqos/schema"


def keepers(folder):
    """Returns the keepers that have this stand-in's folder in their environment."""
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "comm").read_text(encoding="utf-8").strip() == "nvdebug-keeper" and f"NVQOS_STAND_IN={folder}\0".encode() in (
                    path / "environ").read_bytes():
                found.add(int(path.name))
    return found


def rows(machine):
    """Returns the last epoch of each tenant: (GPU, tenant) to its keys."""
    answer = json.loads(machine.ask("status")[3:])
    return {(epoch["gpu"], tenant["name"]): tenant for epoch in answer["epochs"] for tenant in epoch["tenants"]}


def changes_go_on(machine, task, gpu, times=6):
    before = len(machine.changes(task.pid, gpu))
    return comes_true(lambda: len(machine.changes(task.pid, gpu)) >= before + times)


class Machine:
    """A GPU, tasks and nvqos, in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "run/nvqos.sock"
        (folder / "tasks").mkdir()
        (folder / "slash_run").mkdir()
        (folder / "refuse").mkdir()
        self.started = []
        self.variables = {}  # of nvqos
        self.nvqos = None
        self.stdout = subprocess.PIPE

    def command(self, *words):
        """Returns the words that run nvqos. All programs that are started here share a /run, which has nvtaskset's
        present maps of the GPUs."""
        script = ('rm -rf "$0/nvtaskset" && mkdir "$0/nvtaskset" && { cp /run/nvtaskset/GPU-* "$0/nvtaskset" 2>/dev/null || true; } && '
                  'mount --bind "$0" /run && exec "$@"')
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, self.folder / "slash_run", PROGRAM, *words]

    def environment(self):
        return os.environ | self.variables | {"NVQOS_STAND_IN": str(self.folder)}

    def run(self, *words):
        """Runs nvqos to its end."""
        return subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=PATIENCE_S, env=self.environment())

    def client(self, *words):
        """Runs nvqos as users do, to ask the nvqos that already runs. run() would empty the folder that this one has in
        /run."""
        return subprocess.run([built("bin/nvqos"), *words, f"--socket={self.path}"], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=PATIENCE_S)

    def start(self, *words, wait=True):
        with open(self.folder / "errors", "ab") as errors:
            self.nvqos = subprocess.Popen(self.command(f"--socket={self.path}", *words), stdin=subprocess.DEVNULL,
                                          stdout=self.stdout, stderr=errors, env=self.environment())
        self.started.append(self.nvqos)
        if wait:
            assert comes_true(lambda: self.answers() or self.nvqos.poll() is not None)
            assert self.nvqos.poll() is None, self.errors()
        return self.nvqos

    def errors(self):
        return (self.folder / "errors").read_text(encoding="utf-8")

    def answers(self):
        with contextlib.suppress(OSError):
            return self.ask("list").startswith("ok ")
        return False

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(PATIENCE_S)
        client.connect(str(self.path))
        return client

    def ask(self, line):
        return self.ask_bytes(line.encode() + b"\n")

    def ask_bytes(self, line):
        with self.connect() as client:
            client.sendall(line)
            return client.makefile(encoding="utf-8").readline().rstrip("\n")

    def process(self, *command, gpu=True, gpus=()):
        process = subprocess.Popen(command or ["sleep", "1000"], stdin=subprocess.DEVNULL)
        self.started.append(process)
        if gpu:
            self.use_gpu(process.pid, gpus)
        return process

    def written_down(self):
        """Returns the files in /run/nvdebug that list changes for the undo."""
        return sorted((self.folder / "slash_run/nvdebug").glob("changes-*"))

    def refuse(self, times):
        """Makes the stand-in refuse so many of the next requests that enable channels."""
        for number in range(times):
            (self.folder / "refuse" / str(number)).touch()

    def refusals_left(self):
        return len(list((self.folder / "refuse").iterdir()))

    def kill_with_keepers(self):
        """Kills nvqos and all keepers so that none of them can see the end of another."""
        self.nvqos.send_signal(signal.SIGSTOP)
        for pid in keepers(self.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.nvqos.kill()
        self.nvqos.wait(PATIENCE_S)

    def use_gpu(self, pid, gpus=()):
        # The stand-in does not find a file that has half of its numbers.
        part = self.folder / f"{pid}.part"
        part.write_text(" ".join(str(gpu) for gpu in gpus), encoding="utf-8")
        part.rename(self.folder / "tasks" / str(pid))

    def all_changes(self):
        """Returns the changes of all tasks in their order: process, GPU, what, value."""
        with contextlib.suppress(FileNotFoundError):
            lines = (self.folder / "changes").read_text(encoding="utf-8").splitlines()
            return [(int(who), int(*gpu or "0"), what, int(value)) for who, what, value, *gpu in (line.split() for line in lines)]
        return []

    def changes(self, pid, gpu=0):
        """Returns the changes of a task, in their order."""
        return [(what, value) for who, where, what, value in self.all_changes() if (who, where) == (pid, gpu)]

    def timeslice(self, pid, gpu=0):
        return ([value for what, value in self.changes(pid, gpu) if what == "timeslice"] or [FIRST_US])[-1]

    def is_enabled(self, pid, gpu=0):
        return [value for what, value in self.changes(pid, gpu) if what == "channels"][-1:] != [0]

    def list(self):
        answer = self.ask("list")
        assert answer.startswith("ok "), answer
        held = json.loads(answer[3:])
        jsonschema.validate(held, json.loads((SCHEMAS / "nvqos.held.json").read_text(encoding="utf-8")),
                            jsonschema.Draft202012Validator)
        return held

    def names(self):
        return [one["name"] for one in self.list()]

    def end(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait(PATIENCE_S)
            if process.stdout:
                process.stdout.close()


@contextlib.contextmanager
def running_machine():
    """Has a machine in a folder with a short name, because the path of a socket may have at most 107 bytes."""
    build("nvqos_stand_in")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="qos.", dir="/tmp"))
    machine = Machine(folder)
    try:
        yield machine
    finally:
        machine.end()
        left = not comes_true(lambda: not keepers(folder))
        shutil.rmtree(folder)
    assert not left, "a keeper is left"


@pytest.fixture(name="machine")
def fixture_machine():
    with running_machine() as machine:
        yield machine


@pytest.fixture(name="kept")
def fixture_kept(machine):
    machine.start("--quiet")
    return machine
