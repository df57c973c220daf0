#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Calibrates task sets of nvstgm on one run and validates them on another, with controls that must fail.

    stgm.py NVSTGM NVTASKSET FOLDER [--budget SECONDS] [--seconds SECONDS] [--order SEED] [--profile LOAD]

It needs an otherwise idle GPU with NVIDIA's driver, and more CPUs than a set has tasks (8 at most). Without rights for
SCHED_FIFO, tasks hand their cores to each other, and stalls of the machine are counted. Prints its rows and writes
FOLDER/stgm.json. Ends with 1 if an undisturbed job took longer than a sound bound, or if a control did not fail. It starts
nvtaskset's MPS server and ends it again.

The controls come first, then 20 sets in random order. A set first runs with the lengths that were drawn. Its largest times,
and 20 % more, become its lengths. Then it runs again with the same work, for 20 s, or for 60 s in three of the sets. Five sets
also run without management, under MPS and by time slices, the first set at once and the other four at the end. Runs that do
not fit into --budget are left out and listed.
"""

import argparse
import copy
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from common import checks, machine, record, run

SETS, LONG, COMPARED = 20, 3, 5
DRAWN = 1  # the seed of the sets
CONTROL_SECONDS, CALIBRATION_SECONDS, COMPARISON_SECONDS = 3, 3, 3
AROUND_A_RUN_S = 6.0  # the first estimate; later the time of earlier runs
MEASURE_MARGIN = 20  # percent; chosen before the first run


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
    "CE1": (taskset(task("hi", 0, 60, cpu(3), priority=2), task("lo", 0, 60, gpu(6, 2, 6), tpcs=[0], priority=1)),
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
        period *= 1.3


def longer(what, factor):
    """Returns the set with longer segments, as calibration may find them."""
    found = copy.deepcopy(what)
    for segment in (segment for one in found["tasks"] for segment in one["segments"]):
        times = segment.get("gpu", segment)
        times |= {key: int(factor * value) for key, value in times.items()}
    return found


class Left(Exception):
    """No time is left for a run."""


class Bench:
    def __init__(self, typed):
        self.typed, self.begin, self.around = typed, time.monotonic(), AROUND_A_RUN_S
        self.failed, self.not_run = [], []

    def remaining(self):
        return self.typed.budget - (time.monotonic() - self.begin)

    def nvstgm(self, *words, stdin, patience=30):
        return subprocess.run([self.typed.nvstgm, *map(str, words)], input=json.dumps(stdin), capture_output=True, text=True,
                              timeout=patience, check=False)

    def fits(self, what, words):
        return self.nvstgm("check", "-", *words, stdin=what).returncode == 0

    def bounds(self, what, words, analysis):
        words = [word for n, word in enumerate(words) if "--offset" not in (word, words[n - 1] if n else "")]
        found = self.nvstgm("check", "-", "-j", "-a", analysis, *words, stdin=what)
        return {row["name"]: row["response"] for row in json.loads(found.stdout)["data"]["tasks"]}

    def need(self, *seconds):
        """Raises Left unless there is time for runs of so many seconds."""
        if sum(seconds) + len(seconds) * self.around > self.remaining():
            raise Left

    def run(self, name, what, *words, seconds):
        """Runs a set, and returns a row for each task."""
        where = ("--without-gpu",) if self.typed.without_gpu else ("--nvtaskset", self.typed.nvtaskset)
        begin = time.monotonic()
        try:
            done = self.nvstgm("run", "-", *where, "--for", seconds, "-j", *words, stdin=what, patience=seconds + 60)
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

    # --- the runs ---

    def control(self, name):
        what, words, victim = CONTROLS[name]
        self.need(CONTROL_SECONDS)
        rows = self.run(name, what, *words, seconds=CONTROL_SECONDS)
        printed = self.bounds(what, words, "stgm-printed")
        for row in rows:
            yield row | {"printed": printed[row["name"]]}
        seen = {row["name"]: row["undisturbed"]["response"] for row in rows}.get(victim)
        self.expect(f"{name}: an undisturbed job of {victim} takes longer ({seen} us) than its printed bound "
                    f"({printed[victim]} us)", bool(seen) and seen > printed[victim])
        self.expect(f"{name}: none takes longer than its sound bound", not sum(row["undisturbed"]["above"] for row in rows))

    def halved(self):
        self.need(CONTROL_SECONDS)
        rows = self.run("halved", HALVED, "--stretch", 200, seconds=CONTROL_SECONDS)
        yield from rows
        self.expect("halved: each task has more overruns than jobs", bool(rows) and all(row["overruns"] > row["jobs"] for row in rows))
        self.expect("halved: a response is above its bound", any(row["response"] > row["bound"] for row in rows))

    def calibrated(self, number, seconds):
        """Runs a set twice. Returns the set with measured lengths, and the rows of the second run."""
        name = f"set {number}"
        what, mode, offsets = drawn(number, self.fits)
        self.need(CALIBRATION_SECONDS, seconds)
        with tempfile.TemporaryDirectory() as folder:
            drawn_set, measured = pathlib.Path(folder) / "drawn.json", pathlib.Path(folder) / "measured.json"
            drawn_set.write_text(json.dumps(what), encoding="utf-8")
            first = self.run(f"{name}, calibration", what, *mode, *offsets, "--margin", 0, "--measure", measured,
                             "--measure-margin", MEASURE_MARGIN, seconds=CALIBRATION_SECONDS)
            if not first:
                return None, []
            found = json.loads(measured.read_text(encoding="utf-8"))
            if not self.fits(found, mode):
                self.expect(f"{name}: schedulable with its measured lengths", False)
                return found, []
            rows = self.run(name, found, *mode, *offsets, "--margin", 0, "--work", drawn_set, seconds=seconds)
        self.expect(f"{name}: no undisturbed job takes longer than its bound",
                    bool(rows) and not sum(row["undisturbed"]["above"] for row in rows))
        return found, rows

    def compared(self, number):
        what, mode, offsets = drawn(number, self.fits)
        for name, words in (("unmanaged MPS", ("--unmanaged",)), ("time slices", ("--unmanaged", "--no-mps"))):
            self.need(COMPARISON_SECONDS)
            yield from self.run(f"set {number}, {name}", what, *mode, *offsets, *words, seconds=COMPARISON_SECONDS)

    def beside(self, number):
        name = f"set {number} without management"
        return listed(name, self.rows(name, self.compared(number)))

    def profile(self):
        self.need(40)
        largest = rf"""{self.typed.profile} compute 0.3 2>/dev/null | sed -n 's/.*"max": \([0-9.]*\).*/\1/p' | awk '{{print $1 / 1000}}'"""
        done = self.nvstgm("profile", "--nvtaskset", self.typed.nvtaskset, "-n", 2, "--tpcs", "1,2,4,8,16,33,66", "-j", "--",
                           "sh", "-c", largest, stdin="", patience=120)
        self.expect(f"profile {done.stderr.strip()}", not done.returncode)
        if not done.returncode:
            data = json.loads(done.stdout)["data"]
            yield from ({"margin": data["margin"]} | row for row in data["rows"])

    def rows(self, name, rows):
        """Yields rows as long as there is time, and notes NAME as not run if there is none."""
        try:
            yield from rows
        except Left:
            print(f"  not run: {name}", flush=True)
            self.not_run.append({"what": name})


def clocks():
    return machine.gpu("clocks.sm", "clocks.mem", "temperature.gpu", "clocks_event_reasons.active")


def brief(row):
    good = row["undisturbed"]
    return (f"{row['set']:24} {row['name']:6} jobs {row['jobs']:4}  response {row['response']}  bound {row['bound']}  misses "
            f"{row['misses']}  overruns {row['overruns']}  stalls {row['stalls']}; undisturbed: {good['jobs']}, "
            f"{good['response']}, ratio {good['ratio']}, above {good['above']}")


def listed(title, rows):
    print(f"\n{title}", flush=True)
    found = []
    for row in rows:
        print("  " + brief(row), flush=True)
        found.append(row)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nvstgm")
    parser.add_argument("nvtaskset")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=3600, help="seconds for all runs (default: 3600)")
    parser.add_argument("--seconds", type=int, default=20, help="of a set; three sets: three times that (default: 20)")
    parser.add_argument("--order", type=int, default=random.SystemRandom().randrange(10_000), help="seed of the sets' order")
    parser.add_argument("--profile", metavar="LOAD", help="load.cpp, built: its kernel is profiled, too")
    parser.add_argument("--without-gpu", action="store_true", help="to try this program")
    typed = parser.parse_args()
    bench = Bench(typed)
    order = list(range(SETS))
    random.Random(typed.order).shuffle(order)
    found = {"before": clocks(), "kernel": os.uname().release, "order": str(typed.order), "budget": str(typed.budget),
             "measure_margin": str(MEASURE_MARGIN)}
    print(f"order {typed.order}: sets {order}")
    if not typed.without_gpu:
        subprocess.run([typed.nvtaskset, "--list"], capture_output=True, check=True)
    found["controls"], found["halved"], found["sets"], found["measured"], found["unmanaged"] = [], [], [], [], []
    try:
        for name in CONTROLS:
            found["controls"] += listed(name, bench.rows(name, bench.control(name)))
        found["halved"] = listed("kernels and copies take twice what the file has", bench.rows("halved", bench.halved()))
        for place, number in enumerate(order):
            seconds = typed.seconds * (3 if number < LONG else 1)
            try:
                measured, rows = bench.calibrated(number, seconds)
            except Left:
                print(f"  not run: set {number}, {seconds} s", flush=True)
                bench.not_run.append({"what": f"set {number}", "seconds": seconds})
                continue
            found["sets"] += listed(f"set {number}", rows)
            found["measured"].append({"set": f"set {number}", "taskset": measured})
            if not place:
                found["unmanaged"] += bench.beside(number)
        for number in order[1:COMPARED]:
            found["unmanaged"] += bench.beside(number)
        if typed.profile:
            found["profile"] = checks.show("profile of load.cpp's kernels (us)", bench.rows("profile", bench.profile()))
    finally:
        found["not_run"] = bench.not_run
        found["failed"] = [{"what": name} for name in bench.failed]
        found["after"] = clocks()
        if not typed.without_gpu:
            subprocess.run([typed.nvtaskset, "--quit-mps"], check=False)
        record.write(typed.folder / "stgm.json", found)
        print(f"\n{time.monotonic() - bench.begin:.0f} s; not run: {len(bench.not_run)}")
    if bench.failed:
        sys.exit(f"failed: {'; '.join(bench.failed)}")


run(main)
