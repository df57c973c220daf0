#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks nvtaskset's limit of launches in flight, and measures its cost.

    in_flight_check.py NVTASKSET LOAD [FOLDER] [--seconds N] [--launches N]

It needs an otherwise idle GPU with NVIDIA's driver, a minute, and no root. LOAD is the program of load.cpp. It runs kernels
of 200 us, of which 16 to 32 are queued without a limit, under limits of 1 to 16; then launches and a CUDA graph; and it
measures how long queuing an empty kernel takes. Prints a line for each check, which FOLDER/in-flight-check.txt gets, too.
Ends with 1 if a check fails.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

from common import bounded, checks, counts, kind, run

PATIENCE_S = 60
DONE = checks.Checks()
report = DONE.say


def tool(asked, *words):
    return subprocess.run([asked.nvtaskset, "-q", *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_S)


def limit(asked, process, number):
    """Sets the limit of a process, also if nvtaskset has yet to start its program."""
    end = time.monotonic() + PATIENCE_S
    while (done := tool(asked, "-p", process.pid, "--in-flight", number)).returncode:
        if process.poll() is not None or time.monotonic() > end:
            sys.exit(f"in_flight_check: {done.stderr.strip()}")


def gates(asked, process):
    """Returns the counters of a process' launches, summed over all GPUs."""
    done = tool(asked, "-j", "-p", process.pid)
    found = [task["in_flight"] for gpu in json.loads(done.stdout)["gpus"] for task in gpu["tasks"] if task["in_flight"]]
    return {key: sum(gate[key] for gate in found) for key in ("launches", "ended", "waited", "overdue", "unlimited")}


def rate(task, begin, end):
    """Returns the kernels per second, or None if the program ended early."""
    try:
        return round(counts.rate(task.wait_past(end), begin, end))
    except bounded.Late:
        return None


def limits(asked):
    """Checks one program under one limit after another."""
    with bounded.loads(asked.nvtaskset, ("--no-mps", "--prepare", asked.load, "counted", "300")) as (process,):
        process.wait_past(0)
        for number in (0, 1, 2, 4, 16, 0):
            limit(asked, process, number)
            time.sleep(0.2)
            before, begin = gates(asked, process), time.monotonic_ns()
            time.sleep(asked.seconds)
            now, end = gates(asked, process), time.monotonic_ns()
            grown = {key: now[key] - before[key] for key in now}
            found = rate(process, begin, end)
            good = found is not None and not now["overdue"] and not now["unlimited"]
            good = good and (grown["launches"] > 0 and grown["waited"] > 0 and now["launches"] - now["ended"] <= number + 1
                             if number else grown["launches"] == 0)
            report(f"at most {number} in flight" if number else "no limit", good,
                   f"{found} kernels a second; {grown}")


def started(asked, number, *words):
    """Runs a program with a limit from its start, or without nvtaskset for None. Returns its lines and its status."""
    by = [] if number is None else [asked.nvtaskset, "--no-mps", "--prepare"]
    with subprocess.Popen([*by, asked.load, *map(str, words)], env=bounded.without_mps(),
                          stdout=subprocess.PIPE, text=True) as process:
        if number:
            limit(asked, process, number)
        out, _ = process.communicate(timeout=PATIENCE_S)
        return [json.loads(line) for line in out.splitlines()], process.returncode


def graphs(asked):
    lines, status = started(asked, 1, "follow", 3)
    report("launches and a CUDA graph, one in flight", not status and len(lines) == 1 and lines[0]["launch"] == lines[0]["graph"],
           f"{lines}, status {status}")


def costs(asked):
    for number, what in 2 * ((None, "as it is"), (0, "no limit"), (1024, "at most 1024 in flight")):
        lines, status = started(asked, number, "launch", asked.launches)
        report("queuing an empty kernel", not status, f"{what}: median {lines[0]['median']} us, 99th percentile {lines[0]['p99']} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nvtaskset", type=kind("nvtaskset"))
    parser.add_argument("load", type=kind("load"))
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=2, help="of each limit (default: 2)")
    parser.add_argument("--launches", type=int, default=20_000, help="number of launches whose cost is measured (default: 20000)")
    asked = parser.parse_args()
    limits(asked)
    graphs(asked)
    costs(asked)
    DONE.end(asked.folder and asked.folder / "in-flight-check.txt")


if __name__ == "__main__":
    run(main)
