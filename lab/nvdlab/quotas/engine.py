# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs scenarios in several processes of quota-engine. Outcomes are appended to a file, a line each, so that an
interrupted run can go on."""

import contextlib
import fractions
import json
import lzma
import queue
import random
import subprocess
import sys
import threading
import time

from nvdlab.quotas import plan


class Failed(Exception):
    """A sentence on what failed."""


def outcomes(path):
    """Returns the outcomes in a file, by id. If the last line was not written whole, it is removed from the file.

    A file with a name that ends with .xz is decompressed. Such a file is written at once, and all of its lines are whole.
    """
    if not path.exists():
        return {}
    if path.suffix == ".xz":
        try:
            whole = lzma.decompress(path.read_bytes())
        except lzma.LZMAError as error:
            raise Failed(f"{path} cannot be decompressed ({error}); git checkout brings the committed file back") from error
    else:
        data = path.read_bytes()
        whole = data[:data.rfind(b"\n") + 1]
        if whole != data:
            with open(path, "r+b") as file:
                file.truncate(len(whole))
    try:
        return {one["id"]: one for one in map(json.loads, whole.splitlines())}
    except (ValueError, KeyError, TypeError) as error:
        raise Failed(f"{path} has a line that is no outcome of the engine ({error}); remove that line, or the file") from error


def line(outcome):
    return json.dumps(outcome, separators=(",", ":")) + "\n"


def write_sorted(path, found):
    """Writes outcomes, a line each, sorted by their ids; compressed if the name of the file ends with .xz."""
    data = "".join(line(found[name]) for name in sorted(found)).encode()
    path.write_bytes(lzma.compress(data, preset=9) if path.suffix == ".xz" else data)


def speeds_alone(form, found):
    """Returns the speed of each kernel alone by (GPU, name), as an exact fraction of instructions per cycle."""
    speeds = {}
    for run in plan.alone():
        if run.id(form) not in found:
            raise Failed(f"there is no outcome of {run.id(form)}, which goals depend on; run the same form first")
        one = found[run.id(form)]
        speeds[run.gpu, run.kernels[0][0]] = fractions.Fraction(one["instructions"][0], one["cycles"])
    return speeds


class Workers:
    """Processes of the engine, each with one scenario at a time."""

    def __init__(self, program, path, jobs, progress=sys.stderr):
        self.program, self.path, self.jobs, self.progress = program, path, jobs, progress
        self.lock, self.failure = threading.Lock(), None
        self.done, self.all, self.begin, self.shown = 0, 0, 0, 0

    def run(self, scenarios, what):
        todo = queue.SimpleQueue()
        for one in scenarios:
            todo.put(one)
        self.done, self.all, self.begin, self.shown = 0, len(scenarios), time.monotonic(), 0
        with open(self.path, "a", encoding="utf-8") as file:
            threads = [threading.Thread(target=self._work, args=(todo, file, what)) for _ in range(self.jobs)]
            for each in threads:
                each.start()
            try:
                for each in threads:
                    each.join()
            except KeyboardInterrupt:
                self.failure = self.failure or f"interrupted; the same command goes on from {self.path}"
                for each in threads:
                    each.join()
        if self.failure:
            raise Failed(self.failure)

    def _work(self, todo, file, what):
        # Each process has a session of its own, so that it finishes its present run after Ctrl-C.
        with subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              start_new_session=True) as process:
            while not self.failure:
                try:
                    scenario = todo.get_nowait()
                except queue.Empty:
                    break
                try:
                    process.stdin.write(json.dumps(scenario) + "\n")
                    process.stdin.flush()
                    answer = process.stdout.readline()
                except BrokenPipeError:
                    answer = ""
                if not answer.endswith("\n"):
                    self.failure = self.failure or f"{self.program} ended while it ran {scenario['id']}; see above"
                    break
                self._finish(file, answer, what)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()

    def _finish(self, file, answer, what):
        with self.lock:
            file.write(answer)
            file.flush()
            self.done += 1
            now = time.monotonic()
            if now - self.shown < 1 and self.done < self.all:
                return
            self.shown = now
            left = (now - self.begin) / self.done * (self.all - self.done)
            end = "\r" if self.progress.isatty() and self.done < self.all else "\n"
            if end == "\r" or self.done == self.all or self.done % max(1, self.all // 20) < self.jobs:
                print(f"{what}: {self.done} of {self.all} runs, about {left:.0f} s left ", end=end, file=self.progress,
                      flush=True)


def run_all(form, program, path, jobs):
    """Runs the scenarios that have no outcome in the file yet, and appends theirs. Returns all outcomes by id."""
    workers = Workers(program, path, jobs)
    found = outcomes(path)
    missing = [run.scenario(form, {}) for run in plan.alone() if run.id(form) not in found]
    workers.run(missing, "kernels alone")
    found = outcomes(path)
    speeds = speeds_alone(form, found)
    missing = [run.scenario(form, speeds) for run in plan.shared(form) if run.id(form) not in found]
    # The order is random, so that the outcomes of an interrupted run are a fair sample of all.
    random.Random(form.name).shuffle(missing)
    workers.run(missing, "kernels that share")
    return outcomes(path)


def run_kept(form, program, kept, unfinished, jobs):
    """Runs the scenarios that have no outcome in KEPT or UNFINISHED, and returns all outcomes by id.

    Lines cannot be appended to KEPT, which is compressed. So they go to UNFINISHED until all are there; then KEPT is
    written and UNFINISHED removed. After an interruption, the same call goes on from UNFINISHED.
    """
    if not unfinished.exists():
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        write_sorted(unfinished, outcomes(kept))
    found = run_all(form, program, unfinished, jobs)
    write_sorted(kept, found)
    unfinished.unlink()
    return found
