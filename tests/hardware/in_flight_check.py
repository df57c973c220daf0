#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvtaskset's limit of launches in flight on a real GPU: that it holds, and what it costs.

    in_flight_check.py NVTASKSET LOAD [FOLDER] [--seconds N] [--launches N]

On an otherwise idle GPU, with NVIDIA's driver; no root, in a minute. LOAD is load.cpp, built. Kernels of 200 us, of which
16 to 32 are queued where nothing limits them, with limits of 1 to 16 in turn; launches and a CUDA graph; what queuing an
empty kernel takes. Prints a line for each check, and ends with 1 if one fails; FOLDER gets them as in-flight-check.txt.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

from common import ended_by, environment, loads

PATIENCE_S = 60
LINES, FAILED = [], []


def report(name, good, text):
    line = f"{'ok  ' if good else 'FAIL'}  {name}: {text}"
    print(line, flush=True)
    LINES.append(line)
    if not good:
        FAILED.append(name)


def tool(asked, *words):
    return subprocess.run([asked.nvtaskset, "-q", *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_S)


def limit(asked, process, number):
    """Also of one that nvtaskset is about to start."""
    end = time.monotonic() + PATIENCE_S
    while (done := tool(asked, "-p", process.pid, "--in-flight", number)).returncode:
        if process.poll() is not None or time.monotonic() > end:
            sys.exit(f"in_flight_check: {done.stderr.strip()}")


def counts(asked, process):
    """Of all GPUs together."""
    done = tool(asked, "-j", "-p", process.pid)
    gates = [task["in_flight"] for gpu in json.loads(done.stdout)["gpus"] for task in gpu["tasks"] if task["in_flight"]]
    return {key: sum(gate[key] for gate in gates) for key in ("launches", "ended", "waited", "overdue", "unlimited")}


def counted(process, ns=0):
    """Returns the pairs of numbers that the process printed, one each 50 ms, up to one after `ns`. Returns nothing if the process
    ends before."""
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        process.told.seek(0)
        lines = [tuple(map(int, line.split())) for line in process.told.read().splitlines() if line.count(" ") == 1]
        if lines and lines[-1][0] > ns:
            return lines
        time.sleep(0.02)
    return []


def rate(process, begin, end):
    """Kernels a second. None: the program printed too little."""
    lines = counted(process, end)
    if not lines or lines[0][0] > begin:
        return None
    return round((ended_by(lines, end) - ended_by(lines, begin)) / (end - begin) * 1e9)


def limits(asked):
    """One program, with one limit after the other."""
    with loads(asked.nvtaskset, ("--no-mps", "--prepare", asked.load, "counted", "300")) as (process,):
        counted(process)
        for number in (0, 1, 2, 4, 16, 0):
            limit(asked, process, number)
            time.sleep(0.2)
            before, begin = counts(asked, process), time.monotonic_ns()
            time.sleep(asked.seconds)
            now, end = counts(asked, process), time.monotonic_ns()
            grown = {key: now[key] - before[key] for key in now}
            found = rate(process, begin, end)
            good = found is not None and not now["overdue"] and not now["unlimited"]
            good = good and (grown["launches"] > 0 and grown["waited"] > 0 and now["launches"] - now["ended"] <= number + 1
                             if number else grown["launches"] == 0)
            report(f"at most {number} in flight" if number else "no limit", good,
                   f"{found} kernels a second; {grown}")


def started(asked, number, *words):
    """A program with that limit from its start (None: without nvtaskset): its lines and its status."""
    by = [] if number is None else [asked.nvtaskset, "--no-mps", "--prepare"]
    with subprocess.Popen([*by, asked.load, *map(str, words)], env=environment(),
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
    parser.add_argument("nvtaskset", type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("load", type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=2, help="of each limit (default: 2)")
    parser.add_argument("--launches", type=int, default=20_000, help="of which the cost is measured (default: 20000)")
    asked = parser.parse_args()
    limits(asked)
    graphs(asked)
    costs(asked)
    if asked.folder:
        asked.folder.mkdir(parents=True, exist_ok=True)
        (asked.folder / "in-flight-check.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    sys.exit(bool(FAILED))


if __name__ == "__main__":
    main()
