#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks goals over the socket of nvqos, as nvdebug's plugin of Slurm asks for them, and their ends.

    qos_socket.py NVQOS NVDEBUGCTL LOAD FOLDER

It needs root, an otherwise idle GPU, NVIDIA's driver, no module, and half a minute. LOAD is the program of load.cpp. It
changes only tasks that it started itself. Writes FOLDER/qos_socket.json. Ends with 1 if a check fails.
"""

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

from common import bounded, checks, record, rm, run, words
from qos_looks import most_of_a_second, part, slices, timeslices

NVQOS, TOOL, LOAD, FOLDER = words(__doc__, "nvqos", "nvdebugctl", "load", "folder")
PATIENCE_S = 10


class Desk:
    """nvqos, and connections to its socket."""

    def __init__(self, folder):
        self.path = f"{folder}/qos.sock"
        self.process = subprocess.Popen([NVQOS, f"--socket={self.path}"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        if not comes_true(lambda: os.path.exists(self.path) or self.process.poll() is not None) or self.process.poll() is not None:
            self.process.kill()
            sys.exit(f"nvqos --socket: {self.process.stderr.read()}")

    def ask(self, line):
        with socket.socket(socket.AF_UNIX) as to:
            to.settimeout(PATIENCE_S)
            to.connect(self.path)
            to.sendall(f"{line}\n".encode())
            with to.makefile() as answers:
                return answers.readline().strip()

    def end(self, how):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(20)


def comes_true(condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


@contextlib.contextmanager
def scene():
    """Yields a desk, the pids of two tasks that always have work, and their timeslices before the desk started."""
    with tempfile.TemporaryDirectory() as folder, bounded.loads(LOAD, *[("queue", "60")] * 2) as tasks:
        os.chmod(folder, 0o700)
        pids = [task.pid for task in tasks]
        before = timeslices(TOOL, pids)
        desk = Desk(folder)
        try:
            yield desk, pids, before
        finally:
            desk.end(signal.SIGKILL)


def rows(ours):
    with scene() as (desk, pids, before):
        yield {"check": "mode of the socket", "good": stat.S_IMODE(os.stat(desk.path).st_mode) == 0o600}
        yield {"check": "nothing is held, nothing is changed", "good": timeslices(TOOL, pids) == before}

        answer = desk.ask(f"hold job:17.0 share:70% pid={pids[0]} gpu=0")
        time.sleep(1)
        got = round(part(slices(ours, 3), pids[0]), 2)
        yield {"check": "share of 70 %", "good": answer == "ok" and abs(got - 70) <= 1, "answer": answer, "got": got}

        answer = desk.ask(f"hold job:18.0 share:60% pid={pids[1]} gpu=0")
        yield {"check": "130 % is refused", "good": answer.startswith("refused ") and "130" in answer, "answer": answer}

        answer = desk.ask("list")
        yield {"check": "list", "good": answer.startswith("ok ") and [row["name"] for row in json.loads(answer[3:])] == ["job:17.0"],
               "answer": answer}

        answer = desk.ask("release job:17.0")
        back = comes_true(lambda: timeslices(TOOL, pids) == before)
        yield {"check": "release puts timeslices back", "good": answer.startswith("ok asked share 70 %") and back,
               "answer": answer}

        holder = subprocess.Popen(["sleep", "60"])
        answer = desk.ask(f"hold job:19.0 timeslice:500us pid={pids[0]} holder={holder.pid} gpu=0")
        changed = comes_true(lambda: timeslices(TOOL, pids) != before)
        holder.kill()
        holder.wait()
        back = comes_true(lambda: timeslices(TOOL, pids) == before)
        yield {"check": "a killed holder's tenant ends", "good": answer == "ok" and changed and back, "answer": answer}

        answer = desk.ask(f"hold job:20.0 cap:30% pid={pids[1]} gpu=0")
        time.sleep(1.5)
        got = round(most_of_a_second(slices(ours, 3), pids[1]), 2)
        desk.end(signal.SIGKILL)
        back = comes_true(lambda: timeslices(TOOL, pids) == before)
        time.sleep(0.5)
        then = round(part(slices(ours, 2), pids[1]), 2)
        yield {"check": "a cap, and kill -9 of nvqos", "good": answer == "ok" and got <= 31 and back and abs(then - 50) <= 3,
               "answer": answer, "got": got, "then": then}


def main():
    # If anything hangs, this program ends; tasks end by their own alarms, and nvqos' keepers put timeslices back.
    signal.alarm(120)
    found = checks.show("socket", rows(rm.Ours()))
    record.write(FOLDER / "qos_socket.json", {"socket": found})
    good = sum(row["good"] for row in found)
    print(f"\n{good} of {len(found)} checks passed")
    return good != len(found)


if __name__ == "__main__":
    run(main)
