#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures timeslices: the shares that tasks get, the cost of a switch, and the waiting times of a small task.

    timeslices.py NVDEBUGCTL LOAD FOLDER

It needs root, an otherwise idle GPU, NVIDIA's driver, and no module. LOAD is the program of load.cpp. Shares come from the
driver's own record of context switches (class 0x90cd). Writes FOLDER/timeslices.json.
"""

import contextlib
import json
import statistics
import subprocess
import sys
import threading
import time

from common import bounded, checks, record, rm, run, words
from qos_looks import slices

TOOL, LOAD, FOLDER = words(__doc__, "nvdebugctl", "load", "folder")


def loads(count):
    return bounded.loads(LOAD, *[("queue", "80")] * count)


def task(*words):
    done = subprocess.run([TOOL, "--from", "driver", "task", *map(str, words)], capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode:
        sys.exit(f"task {' '.join(map(str, words))}: {done.stderr}")


def shares(ours, processes, seconds=0.8):
    found = slices(ours, seconds)
    pids = [process.pid for process in processes]
    took = {pid: [end - begin for who, begin, end in found if who == pid] for pid in pids}
    span = found[-1][2] - found[0][1]
    total = sum(map(sum, took.values()))
    between = [b[1] - a[2] for a, b in zip(found, found[1:]) if a[0] != b[0]]
    return {"share": [round(100 * sum(took[pid]) / total, 2) for pid in pids],
            "slice_us": [round(statistics.median(took[pid]) / 1000, 1) if took[pid] else None for pid in pids],
            "switch_us": round(statistics.median(between) / 1000, 1) if between else None,
            "lost": round(100 * (1 - total / span), 2)}


def sweep(ours):
    for lengths in ((300, 300), (500, 500), (1000, 1000), (2048, 2048), (4000, 4000), (16000, 16000), (500, 1500), (500, 4500),
                    (1000, 3000), (16000, 500), (300, 16000), (1000, 2000, 3000), (2048,) * 4,
                    (500, 1000, 1500, 2000, 2500, 3000), (1000,) * 8, tuple(500 * n for n in range(1, 9))):
        with loads(len(lengths)) as processes:
            for process, us in zip(processes, lengths):
                task("set", process.pid, "--timeslice", f"{us}us")
            found = shares(ours, processes)
        asked = [round(100 * us / sum(lengths), 2) for us in lengths]
        yield {"timeslices_us": lengths, "asked": asked} | found


def wished(ours):
    """Sets shares with `task set --share`, which chooses the timeslices."""
    for percent, others in ((25, 1), (10, 1), (5, 1), (50, 2), (40, 3), (10, 4), (30, 7)):
        with loads(others + 1) as processes:
            task("set", processes[0].pid, "--share", f"{percent}%")
            found = shares(ours, processes)
        yield {"asked": [percent] + [round((100 - percent) / others, 2)] * others} | found


def latency(ours):
    """Measures a kernel of 1 ms, launched now and then, beside a task that always has work queued."""
    @contextlib.contextmanager
    def as_it_is(_, __):
        yield {}

    def timeslices(of_small, of_heavy):
        @contextlib.contextmanager
        def way(small, heavy):
            task("set", small, "--timeslice", of_small)
            task("set", heavy, "--timeslice", of_heavy)
            yield {}
        return way

    @contextlib.contextmanager
    def preempted(_, heavy):
        theirs, over, found, began = rm.Theirs(heavy, ours.client), threading.Event(), {"preempts": 0}, time.monotonic()

        def preempt():
            while not over.wait(0.001):
                for tsg in theirs.tsgs:
                    theirs.preempt(tsg)
                found["preempts"] += 1
        thread = threading.Thread(target=preempt)
        thread.start()
        try:
            yield found
        finally:
            over.set()
            thread.join()
            found["preempts_per_s"] = round(found.pop("preempts") / (time.monotonic() - began))

    @contextlib.contextmanager
    def paused(_, heavy):
        task("pause", heavy)
        yield {}
        task("resume", heavy)

    with subprocess.Popen([LOAD, "small", "3"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as small:
        yield {"way": "alone"} | json.loads(small.stdout.readline())
    for name, way in (("as it is", as_it_is), ("16 ms : 500 us", timeslices("16ms", "500us")),
                      ("500 us : 16 ms", timeslices("500us", "16ms")), ("heavy one preempted each ms", preempted),
                      ("heavy one paused", paused)):
        with loads(1) as (heavy,), subprocess.Popen([LOAD, "small", "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                    text=True) as small:
            bounded.wait_until_ready(small, f"{LOAD} small 3")
            with way(small.pid, heavy.pid) as more:
                found = {"way": name} | json.loads(small.stdout.readline())
            yield found | more


def main():
    ours = rm.Ours()
    found = {
        "sweep": checks.show("timeslices, and shares by the driver's record (percent)", sweep(ours)),
        "latency": checks.show("a kernel of 1 ms each 10 ms beside a heavy task; us from queuing to its end", latency(ours)),
    }
    if "--share" in subprocess.run([TOOL, "task", "set", "--help"], capture_output=True, text=True, check=False).stdout:
        found["wished"] = checks.show("--share, and shares got (percent)", wished(ours))
    record.write(FOLDER / "timeslices.json", found)


run(main)
