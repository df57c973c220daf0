# SPDX-License-Identifier: MIT OR GPL-2.0
"""A machine with a GPU: the instruments, nvdebugctl on them, and MPS."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 60


class Failed(Exception):
    """With a sentence."""


def without_mps(**more):
    """An environment without an MPS server, whatever the user has."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CUDA_")}
    return kept | {"CUDA_MPS_PIPE_DIRECTORY": "/nonexistent"} | more


class Instrument:
    """A running one, which waits for go(). Times of what it finds are microseconds of the host's clock."""

    def __init__(self, program, name, options, env):
        self.name = f"{name} {' '.join(f'{key}={value}' for key, value in options.items())}"
        self.process = subprocess.Popen([program, name, *(f"{key}={value}" for key, value in options.items())],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=env)
        self.pid = self.process.pid

    def wait_until_ready(self):
        line = self.process.stderr.readline()
        if line != "ready\n":
            raise Failed(f"instrument {self.name}: {line or 'it ended'}{self.process.stderr.read()}".strip())

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
    """A time of the GPU's clock as one of the host's, in us; FOUND has both clocks at one moment."""
    clock = found["clock"]
    return (nanoseconds - clock["gpu"] + clock["host"]) / 1000


def now_us():
    return time.monotonic_ns() / 1000


class Bench:
    def __init__(self, instrument, tool):
        self.instrument, self.nvdebugctl = instrument, tool

    # --- instruments ---

    @contextlib.contextmanager
    def ready(self, *wanted):
        """Instruments that wait for go(), each ("exec", {"ms": 500}) or with an environment as third; ended at last."""
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
        """What instruments that start at once found, one after the other."""
        with self.ready(*wanted) as running:
            for each in running:
                each.go()
            return [each.finish() for each in running]

    def alone(self, name, env=None, **options):
        return self.together((name, options, env or without_mps()))[0]

    # --- nvdebugctl ---

    def tool(self, *words):
        done = subprocess.run([self.nvdebugctl, "--from", "driver", *map(str, words)], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        if done.returncode not in (0, 4):
            raise Failed(f"nvdebugctl {' '.join(map(str, words))}: {done.stderr.strip()}")
        return done.stdout

    def data(self, *words):
        return json.loads(self.tool(*words, "--json").splitlines()[0])["data"]

    def samples(self, count, ms=10):
        """COUNT looks at the engines: of each that somebody was on, how often [somebody was on it, it was busy]."""
        found = {}
        for line in filter(None, self.tool("watch", "--json", "-n", count, "-s", ms).split("\n")):
            for row in json.loads(line)["data"]["engines"]:
                if row["current"]:
                    one = found.setdefault(row["engine"], [0, 0])
                    one[0] += 1
                    one[1] += bool(row["busy"])
        return found

    def channels(self, pid):
        """What lists hold of a process now."""
        return [channel for channel in self.data("channel", "list")
                if channel["process"] and channel["process"]["pid"] == pid]

    def tsgs(self):
        """All TSGs that lists hold now, whoever made them."""
        engines = {}
        for each in self.data("engine", "list"):
            engines.setdefault(each["runlist"], []).append(each["engine"])
        return {(tsg["runlist"], tsg["tsg"]): {"runlist": tsg["runlist"], "engines": engines[tsg["runlist"]],
                                              "timeslice_us": tsg["timeslice_us"]} for tsg in self.data("tsg", "list")}

    # --- MPS ---

    @contextlib.contextmanager
    def mps(self):
        """An MPS server of NVIDIA's, as it is; yields what its clients have in their environment, and its control."""
        if not shutil.which("nvidia-cuda-mps-control"):
            raise Failed("there is no nvidia-cuda-mps-control, NVIDIA's MPS server, which comes with its driver")
        with tempfile.TemporaryDirectory() as folder:
            place = without_mps(CUDA_MPS_PIPE_DIRECTORY=folder, CUDA_MPS_LOG_DIRECTORY=folder)

            def control(command):
                done = subprocess.run(["nvidia-cuda-mps-control"], env=place, input=command + "\n", text=True,
                                      capture_output=True, check=True, timeout=PATIENCE_S)
                return done.stdout.strip()

            subprocess.run(["nvidia-cuda-mps-control", "-d"], env=place, check=True, timeout=PATIENCE_S)
            try:
                yield place, control
            finally:
                control("quit")
