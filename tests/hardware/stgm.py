#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Calibrates task sets of nvstgm on one run and validates them on another, with controls that must fail.

    stgm.py NVSTGM NVTASKSET FOLDER [--gpu N] [--budget SECONDS] [--seconds SECONDS] [--long SECONDS] [--order SEED]
            [--profile LOAD]

It needs an otherwise idle GPU with NVIDIA's driver, and more CPUs than a set has tasks (8 at most). Without rights for
SCHED_FIFO, tasks hand their cores to each other, and stalls of the machine are counted. It starts an MPS server of its own and
ends it again. Beside other work on the machine, --gpu picks the GPU, and `taskset -c 16-31 stgm.py …` the CPUs.

The controls come first, then 20 sets in random order. A set first runs with the lengths that were drawn. Its largest times,
and 20 % more, become its lengths; if it is not schedulable with these, its periods become longer. Then it runs again with the
same work, for --seconds, or for --long in three of the sets. Five sets also run without management, under MPS and by time
slices, the first set at once and the other four at the end.

Prints its rows, and writes FOLDER/stgm.json after each part. On a machine that is lent for less time, --budget ends the program
early: no part begins that would end later. Call it again, with the same folder and options, until it does not end with 3. It
goes on with the parts that the file does not have. Ends with 1 if an undisturbed job took longer than a sound bound, if a
control did not fail, or if a program failed.
"""

import argparse
import contextlib
import copy
import dataclasses
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import typing

from common import begun, bounded, kind, machine, record, run

SETS, LONG, COMPARED = 20, 3, 5
DRAWN = 1  # the seed of the sets
CONTROL_SECONDS, CALIBRATION_SECONDS, COMPARISON_SECONDS = 3, 3, 3
AROUND_A_RUN_S = 8.0  # the first estimate; later the time of earlier runs
AGAIN = 3  # the exit status if parts are left
MEASURE_MARGIN = 20  # percent; chosen before the first run
LONGER, MOST_LONGER = 1.3, 8  # periods of a set that is not schedulable, and how often they may become longer
PROFILED = "1,2,4,8,16,33,66"
CLOCKS = ("clocks.sm", "clocks.mem", "temperature.gpu", "clocks_event_reasons.active")


def task(name, core, period_ms, *segments, tpcs=(), priority=None):
    found = {"name": name, "period": int(1000 * period_ms), "deadline": int(1000 * period_ms),
             "segments": list(segments), "core": core, "sms": list(tpcs)}
    return found | ({} if priority is None else {"priority": priority})


def cpu(ms):
    return {"cpu": int(1000 * ms)}


def gpu(to_device, kernel, from_device):
    return {"gpu": {"to_device": int(1000 * to_device), "kernel": int(1000 * kernel),
                    "from_device": int(1000 * from_device)}}


def taskset(*tasks):
    return {"schema": "nvstgm/taskset", "schema_version": "1.0", "time_unit": "us", "cores": 8, "sms": 66,
            "tasks": list(tasks)}


# The counterexamples in milliseconds. Their lengths make the terms large that the printed equations leave out. The work is
# 10 % shorter than these lengths, and still exceeds the printed bound.
BUSY = ("--waiting", "busy")
CONTROLS = {
    "CE1": (taskset(task("hi", 0, 60, cpu(8), priority=2), task("lo", 0, 60, gpu(9, 3, 9), tpcs=[0], priority=1)),
            ("--copy-wait", "spin", "--offset", "hi=500"), "hi"),
    "CE2c": (taskset(task("A", 0, 300, gpu(.5, 12, .5), tpcs=[0], priority=3),
                     task("B", 1, 300, gpu(.5, 15, .5), tpcs=[0, 1], priority=2),
                     task("C", 2, 300, gpu(.5, 30, .5), tpcs=[1], priority=1)),
             ("--offset", "B=1000", "--offset", "A=2000"), "A"),
    "CE4": (taskset(task("lo", 0, 120, cpu(10), priority=1), task("hi", 0, 120, gpu(0, 10, 0), tpcs=[0], priority=2),
                    task("other", 1, 120, gpu(0, 20, 0), tpcs=[0], priority=3)),
            (*BUSY, "--offset", "hi=1000", "--offset", "lo=500"), "lo"),
    "CE5": (taskset(task("hi", 0, 120, cpu(10), priority=3), task("lo", 0, 120, gpu(0, 10, 0), tpcs=[0], priority=2),
                    task("other", 1, 120, gpu(0, 20, 0), tpcs=[0], priority=1)),
            (*BUSY, "--offset", "lo=1000", "--offset", "hi=2000"), "hi")}
# Copies and kernels take twice the lengths of this set.
HALVED = taskset(task("a", 0, 90, cpu(2), gpu(1, 6, 1), tpcs=range(4)), task("b", 1, 90, gpu(1, 8, 1), cpu(2), tpcs=range(4)),
                 task("c", 2, 90, cpu(1), gpu(1, 9, 1), cpu(1), tpcs=range(4)))
MODES = ((), ("--copy-wait", "spin"), BUSY)


def ms_of(draw, least, most):
    """Draws a number of milliseconds with one digit behind the point."""
    return draw.randint(10 * least, 10 * most) / 10


def drawn(number, fits):
    """Draws a set of 3 to 8 tasks that leaves the GPU idle now and then. Returns the set, and the words for its way to wait
    and for its offsets."""
    draw = random.Random(f"{DRAWN} {number}")
    count, cores, mode = 3 + number % 6, draw.randint(2, 4), MODES[number % 3]
    groups = draw.choice(([range(8)], [range(8), range(8, 16)], [range(4), range(2, 8), range(8, 24)],
                          [range(4), range(4, 12), range(12, 28)]))
    tasks = []
    for n in range(count):
        segments = []
        for _ in range(draw.choice((1, 1, 2))):
            segments.append(gpu(ms_of(draw, 1, 2), ms_of(draw, 3, 8), ms_of(draw, 1, 2)))
        if draw.random() < .7:
            segments.insert(draw.randint(0, len(segments)), cpu(ms_of(draw, 1, 4)))
        if draw.random() < .2:
            segments = [cpu(ms_of(draw, 3, 8))]
        on_gpu = any("gpu" in segment for segment in segments)
        tasks.append(task("abcdefgh"[n], draw.randrange(cores), 100, *segments, tpcs=draw.choice(groups) if on_gpu else ()))
    # Either all tasks are released together, or in all phases to each other.
    together = number % 2 == 0
    found, offsets = taskset(*tasks), [draw.randint(0, 6000 if together else 60_000) for _ in tasks]
    stretch = [1 if together else draw.uniform(1, 1.6) for _ in tasks]
    period = 100
    while True:
        for one, factor in zip(tasks, stretch):
            one["period"] = one["deadline"] = int(1000 * period * factor)
        if fits(longer(found, 1.5), mode):
            return found, mode, [word for one, offset in zip(tasks, offsets) for word in ("--offset", f"{one['name']}={offset}")]
        period *= LONGER


def longer(what, factor):
    """Returns the set with longer segments, as calibration may find them."""
    found = copy.deepcopy(what)
    for segment in (segment for one in found["tasks"] for segment in one["segments"]):
        times = segment.get("gpu", segment)
        times |= {key: int(factor * value) for key, value in times.items()}
    return found


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of the measurement, which is made as a whole: its rows go into the list `into` of the file, and it runs sets for
    `seconds` each."""

    what: str
    into: str
    seconds: tuple
    rows: typing.Callable


class Bench:
    def __init__(self, typed, mps, alone):
        """MPS and ALONE are the environments of programs at the MPS server and without one."""
        self.typed, self.mps, self.alone, self.around = typed, mps, alone, AROUND_A_RUN_S
        self.failed, self.measured = [], []

    def nvstgm(self, *words, stdin, patience=30, env=None):
        return subprocess.run([self.typed.nvstgm, *map(str, words)], input=json.dumps(stdin), capture_output=True, text=True,
                              timeout=patience, check=False, env=env)

    def fits(self, what, words):
        return self.nvstgm("check", "-", *words, stdin=what).returncode == 0

    def bounds(self, what, words, analysis):
        words = [word for n, word in enumerate(words) if "--offset" not in (word, words[n - 1] if n else "")]
        found = self.nvstgm("check", "-", "-j", "-a", analysis, *words, stdin=what)
        return {row["name"]: row["response"] for row in json.loads(found.stdout)["data"]["tasks"]}

    def usual_s(self, part):
        """Returns how long a part takes, unless a program is late."""
        return sum(part.seconds) + len(part.seconds) * self.around

    def run(self, name, what, *words, seconds):
        """Runs a set, and returns a row for each task."""
        where = ("--without-gpu",) if self.typed.without_gpu else ("--nvtaskset", self.typed.nvtaskset, "--gpu", self.typed.uuid)
        begin = time.monotonic()
        try:
            done = self.nvstgm("run", "-", *where, "--for", seconds, "-j", *words, stdin=what, patience=seconds + 60,
                               env=self.alone if "--no-mps" in words else self.mps)
        except subprocess.TimeoutExpired:
            self.expect(f"{name}: ends within {seconds + 60} s", False)
            return []
        self.around = .5 * self.around + .5 * (time.monotonic() - begin - seconds)
        document = json.loads(done.stdout) if done.stdout else {}
        if "data" not in document:
            self.expect(f"{name}: runs ({document.get('error', {}).get('message') or done.stderr.strip()})", False)
            return []
        data = document["data"]
        return [{"set": name, "seconds": seconds, "status": done.returncode} |
                {key: data[key] for key in ("analysis", "waiting", "copy_wait", "mps", "managed", "priorities", "fifo",
                                            "own_cpus", "margin", "stretch")} | row for row in data["tasks"]]

    def expect(self, name, condition):
        print(f"  {'ok  ' if condition else 'FAIL'}  {name}", flush=True)
        if not condition:
            self.failed.append(name)

    # --- the parts ---

    def control(self, name):
        what, words, victim = CONTROLS[name]
        rows = self.run(name, what, *words, seconds=CONTROL_SECONDS)
        printed = self.bounds(what, words, "stgm-printed")
        for row in rows:
            yield row | {"printed": printed[row["name"]]}
        seen = {row["name"]: row["undisturbed"]["response"] for row in rows}.get(victim)
        self.expect(f"{name}: an undisturbed job of {victim} takes longer ({seen} us) than its printed bound "
                    f"({printed[victim]} us)", bool(seen) and seen > printed[victim])
        self.expect(f"{name}: none takes longer than its sound bound", not sum(row["undisturbed"]["above"] for row in rows))

    def halved(self):
        rows = self.run("halved", HALVED, "--stretch", 200, seconds=CONTROL_SECONDS)
        yield from rows
        self.expect("halved: each task has more overruns than jobs", bool(rows) and all(row["overruns"] > row["jobs"] for row in rows))
        self.expect("halved: a response is above its bound", any(row["response"] > row["bound"] for row in rows))

    def calibrated(self, number, seconds):
        """Runs a set twice, keeps the set with measured lengths, and yields the rows of the second run."""
        name = f"set {number}"
        what, mode, offsets = drawn(number, self.fits)
        with tempfile.TemporaryDirectory() as folder:
            drawn_set, measured = pathlib.Path(folder) / "drawn.json", pathlib.Path(folder) / "measured.json"
            drawn_set.write_text(json.dumps(what), encoding="utf-8")
            first = self.run(f"{name}, calibration", what, *mode, *offsets, "--margin", 0, "--measure", measured,
                             "--measure-margin", MEASURE_MARGIN, seconds=CALIBRATION_SECONDS)
            if not first:
                return
            found, times = json.loads(measured.read_text(encoding="utf-8")), 0
            while not self.fits(found, mode) and times < MOST_LONGER:
                slower(found["tasks"])
                times += 1
            self.measured.append({"set": name, "longer_periods": times, "taskset": found})
            if not self.fits(found, mode):
                self.expect(f"{name}: schedulable with its measured lengths", False)
                return
            rows = self.run(name, found, *mode, *offsets, "--margin", 0, "--work", drawn_set, seconds=seconds)
        yield from rows
        self.expect(f"{name}: no undisturbed job takes longer than its bound",
                    bool(rows) and not sum(row["undisturbed"]["above"] for row in rows))

    def compared(self, number):
        what, mode, offsets = drawn(number, self.fits)
        for name, words in (("unmanaged MPS", ("--unmanaged",)), ("time slices", ("--unmanaged", "--no-mps"))):
            yield from self.run(f"set {number}, {name}", what, *mode, *offsets, *words, seconds=COMPARISON_SECONDS)

    def profile(self):
        largest = rf"""{self.typed.profile} compute 0.3 2>/dev/null | sed -n 's/.*"max": \([0-9.]*\).*/\1/p' | awk '{{print $1 / 1000}}'"""
        done = self.nvstgm("profile", "--nvtaskset", self.typed.nvtaskset, "--gpu", self.typed.uuid, "-n", 2, "--tpcs", PROFILED, "-j",
                           "--", "sh", "-c", largest, stdin="", patience=120, env=self.mps)
        self.expect(f"profile {done.stderr.strip()}", not done.returncode)
        if not done.returncode:
            data = json.loads(done.stdout)["data"]
            yield from ({"margin": data["margin"]} | row for row in data["rows"])

    def parts(self, order):
        """Returns all parts in the order in which they are made."""
        controls = [Part(name, "controls", (CONTROL_SECONDS,), lambda name=name: self.control(name)) for name in CONTROLS]
        halved = Part("halved", "halved", (CONTROL_SECONDS,), self.halved)
        sets, compared = [], []
        for number in order:
            seconds = self.typed.long if number < LONG else self.typed.seconds
            sets.append(Part(f"set {number}", "sets", (CALIBRATION_SECONDS, seconds),
                             lambda number=number, seconds=seconds: self.calibrated(number, seconds)))
            compared.append(Part(f"set {number} without management", "unmanaged", (COMPARISON_SECONDS,) * 2,
                                 lambda number=number: self.compared(number)))
        profile = [Part("profile", "profile", (40,), self.profile)] if self.typed.profile else []
        return [*controls, halved, sets[0], compared[0], *sets[1:], *compared[1:COMPARED], *profile]


def slower(tasks):
    """Makes periods and deadlines longer."""
    for one in tasks:
        one["period"] = one["deadline"] = int(LONGER * one["period"])


def brief(row):
    if "undisturbed" not in row:
        return "  ".join(f"{key} {value}" for key, value in row.items())
    good = row["undisturbed"]
    return (f"{row['set']:24} {row['name']:6} jobs {row['jobs']:4}  response {row['response']}  bound {row['bound']}  misses "
            f"{row['misses']}  overruns {row['overruns']}  stalls {row['stalls']}; undisturbed: {good['jobs']}, "
            f"{good['response']}, ratio {good['ratio']}, above {good['above']}")


@contextlib.contextmanager
def environments(typed):
    """Yields the environments of programs at an MPS server of this program's own, and without one. Only the measured GPU is in
    both, by its UUID, as NVIDIA's documentation of MPS has it for servers and their clients."""
    if typed.without_gpu:
        yield None, None
        return
    (typed.uuid,) = machine.ask_gpu("uuid", number=typed.gpu)
    only = {"CUDA_VISIBLE_DEVICES": typed.uuid}
    with bounded.mps(**only) as (place, _):
        bounded.ask(typed.nvtaskset, "--list", "-i", typed.uuid, env=place)  # finds the TPCs once, before any task runs
        yield place, bounded.without_mps(**only)


def measure(typed, end):
    path = typed.folder / "stgm.json"
    found = begun(path, seconds=typed.seconds, long=typed.long)
    for key, fact in (("order", typed.order), ("kernel", os.uname().release), ("gpu", machine.gpu(number=typed.gpu)),
                      ("measure_margin", MEASURE_MARGIN)):
        found.setdefault(key, fact)
    order = list(range(SETS))
    random.Random(found["order"]).shuffle(order)
    print(f"order {found['order']}: sets {order}", flush=True)
    with environments(typed) as (mps, alone):
        bench = Bench(typed, mps, alone)
        done = {one["what"] for one in found["runs"]}
        left = [part for part in bench.parts(order) if part.what not in done]
        while left and time.monotonic() + bench.usual_s(left[0]) <= end:
            part, begin, bench.failed, bench.measured = left.pop(0), time.monotonic(), [], []
            print(f"\n{part.what}", flush=True)
            rows = []
            for row in part.rows():
                print("  " + brief(row), flush=True)
                rows.append(row)
            found[part.into] = found.get(part.into, []) + rows
            found["measured"] = found.get("measured", []) + bench.measured
            found["runs"].append({"what": part.what, "took_s": round(time.monotonic() - begin, 1), "failed": bench.failed,
                                  "gpu": machine.gpu(*CLOCKS, number=typed.gpu)})
            record.write(path, found)
    failed = [name for one in found["runs"] for name in one["failed"]]
    print(f"\n{len(found['runs'])} parts are made, {len(left)} are left" + ("; call this again" if left else ""))
    if failed:
        print(f"failed: {'; '.join(failed)}", file=sys.stderr)
    return AGAIN if left else int(bool(failed))


def main():
    end = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvstgm", type=kind("nvstgm"))
    parser.add_argument("nvtaskset", type=kind("nvtaskset"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gpu", type=int, default=0, help="nvidia-smi's number of the GPU (default: 0)")
    parser.add_argument("--budget", type=float, default=3600, help="seconds for this call (default: 3600)")
    parser.add_argument("--seconds", type=int, default=20, help="of a set (default: 20)")
    parser.add_argument("--long", type=int, help="of three of the sets (default: three times --seconds)")
    parser.add_argument("--order", type=int, default=random.SystemRandom().randrange(10_000), help="seed of the sets' order")
    parser.add_argument("--profile", metavar="LOAD", type=kind("load"), help="load.cpp, built: its kernel is profiled, too")
    parser.add_argument("--without-gpu", action="store_true", help="to try this program")
    typed = parser.parse_args()
    typed.long = typed.long or 3 * typed.seconds
    return measure(typed, end + typed.budget)


run(main)
