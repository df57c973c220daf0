#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Timeslices of a real GPU: shares asked for and shares got, what switching costs, and what a small task waits for.

    timeslices.py NVDEBUGCTL LOAD FOLDER

As root, on an otherwise idle GPU, with NVIDIA's driver and without the module. LOAD is load.cpp, built.
Shares are those of the driver's own record of context switches (class 0x90cd). Writes FOLDER/timeslices.json.
"""

import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time

from common import show, write
from rm import Ours, Theirs

TOOL, LOAD, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])


@contextlib.contextmanager
def loads(count, *how):
    processes = []
    try:
        for _ in range(count):
            processes.append(subprocess.Popen([LOAD, *(how or ("queue", "80"))], stdout=subprocess.DEVNULL,
                                              stderr=subprocess.PIPE, text=True))
        for process in processes:
            while process.stderr.readline() not in ("ready\n", ""):
                pass
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def task(*words):
    done = subprocess.run([TOOL, "--from", "driver", "task", *map(str, words)], capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode:
        sys.exit(f"task {' '.join(map(str, words))}: {done.stderr}")


def record(ours, seconds):
    """Each slice as (pid, begin, end), in ns."""
    _, switches = ours.switches(lambda: time.sleep(seconds))
    return [(a[3], a[0], b[0]) for a, b in zip(switches, switches[1:]) if a[1] and not b[1] and a[2:] == b[2:]]


def shares(ours, processes, seconds=0.8):
    slices = record(ours, seconds)
    pids = [process.pid for process in processes]
    took = {pid: [end - begin for who, begin, end in slices if who == pid] for pid in pids}
    span = slices[-1][2] - slices[0][1]
    total = sum(map(sum, took.values()))
    between = [b[1] - a[2] for a, b in zip(slices, slices[1:]) if a[0] != b[0]]
    return {"share": [round(100 * sum(took[pid]) / total, 2) for pid in pids],
            "slice_us": [round(statistics.median(took[pid]) / 1000, 1) if took[pid] else None for pid in pids],
            "switch_us": round(statistics.median(between) / 1000, 1) if between else None,
            "lost": round(100 * (1 - total / span), 2)}


def sweep(ours):
    for slices in ((300, 300), (500, 500), (1000, 1000), (2048, 2048), (4000, 4000), (16000, 16000), (500, 1500), (500, 4500),
                   (1000, 3000), (16000, 500), (300, 16000), (1000, 2000, 3000), (2048,) * 4,
                   (500, 1000, 1500, 2000, 2500, 3000), (1000,) * 8, tuple(500 * n for n in range(1, 9))):
        with loads(len(slices)) as processes:
            for process, us in zip(processes, slices):
                task("set", process.pid, "--timeslice", f"{us}us")
            found = shares(ours, processes)
        asked = [round(100 * us / sum(slices), 2) for us in slices]
        yield {"timeslices_us": slices, "asked": asked} | found


def wished(ours):
    """--share, by the tool alone."""
    for percent, others in ((25, 1), (10, 1), (5, 1), (50, 2), (40, 3), (10, 4), (30, 7)):
        with loads(others + 1) as processes:
            task("set", processes[0].pid, "--share", f"{percent}%")
            found = shares(ours, processes)
        yield {"asked": [percent] + [round((100 - percent) / others, 2)] * others} | found


def latency(ours):
    """A kernel of a millisecond now and then, beside a task with work queued at all times."""
    @contextlib.contextmanager
    def as_it_is(_, __):
        yield {}

    def slices(of_small, of_heavy):
        @contextlib.contextmanager
        def way(small, heavy):
            task("set", small, "--timeslice", of_small)
            task("set", heavy, "--timeslice", of_heavy)
            yield {}
        return way

    @contextlib.contextmanager
    def preempted(_, heavy):
        theirs, over, found, began = Theirs(heavy, ours.client), threading.Event(), {"preempts": 0}, time.monotonic()

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
    for name, way in (("as it is", as_it_is), ("16 ms : 500 us", slices("16ms", "500us")),
                      ("500 us : 16 ms", slices("500us", "16ms")), ("heavy one preempted each ms", preempted),
                      ("heavy one paused", paused)):
        with loads(1) as (heavy,), subprocess.Popen([LOAD, "small", "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                    text=True) as small:
            while small.stderr.readline() != "ready\n":
                pass
            with way(small.pid, heavy.pid) as more:
                found = {"way": name} | json.loads(small.stdout.readline())
            yield found | more


def main():
    ours = Ours()
    found = {
        "gpu": subprocess.run(["nvidia-smi", "--id=0", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True, check=True).stdout.strip(),
        "sweep": show("timeslices, and shares by the driver's record (percent)", sweep(ours)),
        "latency": show("a kernel of 1 ms each 10 ms beside a heavy task; us from queuing to its end", latency(ours)),
    }
    if "--share" in subprocess.run([TOOL, "task", "set", "--help"], capture_output=True, text=True, check=False).stdout:
        found["wished"] = show("--share, and shares got (percent)", wished(ours))
    write(FOLDER / "timeslices.json", found)


main()
