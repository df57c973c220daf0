# SPDX-License-Identifier: MIT OR GPL-2.0
"""A machine with a GPU: the instruments, nvdebugctl on them, and MPS."""

import contextlib
import functools
import json
import struct
import subprocess
import time

from nvdlab import bounded, rm
from nvdlab.bounded import Failed, without_mps

PATIENCE_S = 60
# ctrla06c.h, ctrla06fgpfifo.h: *_CTRL_CMD_GPFIFO_SCHEDULE; bEnable not set: "disabled and removed from runlist"
SCHEDULE = {"of each TSG": 0xa06c0101, "of each channel": 0xa06f0103}


class Instrument:
    """A running instrument, which waits for go(). It answers with times of the host's clock, in microseconds."""

    def __init__(self, program, name, options, env):
        self.name = f"{name} {' '.join(f'{key}={value}' for key, value in options.items())}"
        self.process = subprocess.Popen([program, name, *(f"{key}={value}" for key, value in options.items())],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=env)
        self.pid = self.process.pid

    def wait_until_ready(self):
        bounded.wait_until_ready(self.process, f"instrument {self.name}")

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def finish(self):
        out, err = self.process.communicate(timeout=PATIENCE_S)
        if self.process.returncode:
            raise Failed(f"instrument {self.name}: {err.strip()}")
        found = json.loads(out)
        if any(block["cut"] for block in found.get("blocks", ())):
            raise Failed(f"instrument {self.name}: its blocks were interrupted more often than they can write down")
        return found

    def end(self):
        self.process.kill()
        self.process.wait()


def on_host(found, nanoseconds):
    """Converts a time of the GPU's clock to the host's clock, in us. FOUND has both clocks at one moment."""
    clock = found["clock"]
    return (nanoseconds - clock["gpu"] + clock["host"]) / 1000


class Bench:
    """A machine's first GPU."""

    has_grce_program = False  # no program was seen to copy by a GRCE

    def __init__(self, instrument, tool):
        self.instrument, self.nvdebugctl = instrument, tool

    # --- time ---

    def now_us(self):
        return time.monotonic_ns() / 1000

    def sleep(self, seconds):
        time.sleep(seconds)

    # --- instruments ---

    @contextlib.contextmanager
    def ready(self, *wanted):
        """Starts instruments, each ("exec", {"ms": 500}) or with an environment as third item, and ends them at last.

        Yields them once all wait for go().
        """
        running = []
        try:
            for name, options, *env in wanted:
                running.append(Instrument(self.instrument, name, options, env[0] if env else without_mps()))
            for each in running:
                each.wait_until_ready()
            yield running
        finally:
            for each in running:
                each.end()

    def together(self, *wanted):
        """Runs instruments that start at the same time, and returns the answer of each."""
        with self.ready(*wanted) as running:
            for each in running:
                each.go()
            return [each.finish() for each in running]

    def alone(self, name, env=None, **options):
        return self.together((name, options, env or without_mps()))[0]

    # --- nvdebugctl ---

    def tool(self, *words):
        return self._tool_on("driver", *map(str, words))

    def _tool_on(self, source, *words):
        done = subprocess.run([self.nvdebugctl, "--from", source, *words], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        if done.returncode not in (0, 4):
            raise Failed(f"nvdebugctl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def data(self, *words):
        return json.loads(self.tool(*words, "--json").splitlines()[0])["data"]

    def samples(self, count, ms=10):
        """Looks COUNT times at the engines. Returns for each engine how often [a task was on it, it was busy]."""
        found = {}
        for line in filter(None, self.tool("watch", "--json", "-n", count, "-s", ms).split("\n")):
            for row in json.loads(line)["data"]["engines"]:
                if row["current"]:
                    one = found.setdefault(row["engine"], [0, 0])
                    one[0] += 1
                    one[1] += bool(row["busy"])
        return found

    def channels(self, pid):
        """Returns the channels of a process that are in lists now."""
        return [channel for channel in self.data("channel", "list")
                if channel["process"] and channel["process"]["pid"] == pid]

    def tsgs(self):
        """Returns all TSGs that are in lists now, of every process, by (runlist, TSG)."""
        engines = {}
        for each in self.data("engine", "list"):
            engines.setdefault(each["runlist"], []).append(each["engine"])
        return {(tsg["runlist"], tsg["tsg"]): {"runlist": tsg["runlist"], "engines": engines[tsg["runlist"]],
                                               "timeslice_us": tsg["timeslice_us"]} for tsg in self.data("tsg", "list")}

    # --- the driver itself ---

    @functools.cached_property
    def _ours(self):
        return rm.Ours()

    def registers(self, *offsets):
        return self._ours.registers(*offsets)

    def switches(self, meanwhile):
        """Returns the result of MEANWHILE() and the driver's record of switches in that time; see rm.Ours.switches()."""
        return self._ours.switches(meanwhile)

    def theirs(self, pid):
        """Returns a process' TSGs and channels, for requests through its own descriptor."""
        return rm.Theirs(pid, rm.Ours().client)

    def scheduling(self, pid):
        """Returns a function ask(HOW, ENABLED), which asks the driver to put a process' objects on their lists or off.

        It uses the process' own descriptor. HOW is a key of SCHEDULE. ask() returns the driver's status for each object.
        """
        theirs = self.theirs(pid)
        objects = {"of each TSG": [tsg[:3] for tsg in theirs.tsgs], "of each channel": list(theirs.channels.values())}

        def status(one, client, handle, request, enabled):
            try:
                one.control(client, handle, request, struct.pack("<BBB", enabled, 0, 0))
                return 0
            except rm.Refused as refused:
                return refused.status

        return lambda how, enabled: [status(*each, SCHEDULE[how], enabled) for each in objects[how]]

    # --- MPS ---

    def mps(self):
        """Starts NVIDIA's MPS server; see bounded.mps()."""
        return bounded.mps()
