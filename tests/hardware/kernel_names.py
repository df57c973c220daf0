#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures what noting launches costs (nvtaskset --kernels), and checks names, times and the trace.

    kernel_names.py NVTASKSET LOAD FOLDER [NVDEBUGCTL] [--launches N]

It needs an otherwise idle GPU with NVIDIA's driver, and 50 s; with NVDEBUGCTL root, too, and no module. LOAD is the program of
load.cpp. The program queues empty kernels alone, under nvtaskset, and with its launches noted; PyTorch, if it is installed, adds
numbers in the last two ways. With NVDEBUGCTL, a program that launches each 10 ms runs beside one that always has work: no turn of the former may
begin before the launch that it is for. Writes FOLDER/kernel_names.json. Ends with 1 if a check fails.
"""

import argparse
import bisect
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from common import bounded, checks, kind, record, run

PATIENCE_S = 40
MOST_US = 1.0          # that a launch may take longer; for an empty kernel in the middle of three comparisons
CLOCKS_NS = 20_000     # by which two clocks may be apart: twice the bound that traces have on one GPU
STAYS_NS = 1_000_000
TORCH = """
import json, time, torch
x, took = torch.zeros(256, device="cuda"), []
for n in range({launches}):
    begin = time.perf_counter_ns()
    x.add_(1)
    took.append(time.perf_counter_ns() - begin)
    if n % 100 == 99:
        torch.cuda.synchronize()
took.sort()
print(json.dumps({{"median": took[len(took) // 2] / 1e3, "p99": took[len(took) * 99 // 100] / 1e3}}))
"""
DONE = checks.Checks()
check = DONE.row


def output_of(*words):
    """Returns what a program printed. Raises bounded.Failed."""
    done = subprocess.run(list(map(str, words)), env=bounded.without_mps(), capture_output=True, text=True, check=False,
                          timeout=PATIENCE_S)
    if done.returncode:
        raise bounded.Failed(f"{' '.join(map(str, words))[:200]} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def noted(folder):
    """Returns the launches in the files of a folder, each with its name and CLOCK_MONOTONIC, and how many were lost."""
    launches, lost = [], 0
    for path in sorted(folder.glob("*.launches")):
        names, origin = {}, 0
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if line["kind"] == "launches":
                origin = int(line["monotonic_ns"])
            elif line["kind"] == "kernel":
                names[line["kernel"]] = line["name"]
            elif line["kind"] == "launch":
                launches.append(line | {"at": origin + line["ns"], "name": names[line["kernel"]] if "kernel" in line else "graph"})
            elif line["kind"] == "lost":
                lost += line["launches"]
    return launches, lost


def of_names(launches, most=8):
    """Returns how often each name was launched, the most frequent ones first."""
    counted = {}
    for launch in launches:
        counted[launch["name"]] = counted.get(launch["name"], 0) + 1
    return dict(sorted(counted.items(), key=lambda item: -item[1])[:most])


def compared(asked, work, *words, ways=("alone", "under nvtaskset", "noted")):
    """Runs a program in several ways. Returns its figures in each, and the launches that were noted and lost."""
    folder = work / f"noted-{len(list(work.iterdir()))}"
    by = {"alone": (), "under nvtaskset": (asked.nvtaskset, "-q", "--no-mps", "--prepare"),
          "noted": (asked.nvtaskset, "-q", "--kernels", folder)}
    figures = {way: json.loads(output_of(*by[way], *words)) for way in ways}
    return figures, *noted(folder)


def costs(asked, work):
    """Compares the call that queues an empty kernel three times. The middle of the differences counts, because a program's median
    itself differs by half a microsecond between two runs."""
    more, us = [], []
    for _ in range(3):
        figures, launches, lost = compared(asked, work, asked.load, "launch", asked.launches)
        more.append(round(figures["noted"]["median"] - figures["under nvtaskset"]["median"], 3))
        us.append({way: [each["median"], each["p99"]] for way, each in figures.items()})
        good = len(launches) >= asked.launches and not lost and set(of_names(launches)) == {"compute"}
        yield check("its launches", good, launches=len(launches), lost=lost, names=of_names(launches))
    yield check("an empty kernel", statistics.median(more) < MOST_US, more_us=more, us=us)


def graphs(asked, work):
    folder = work / "graphs"
    output_of(asked.nvtaskset, "-q", "--kernels", folder, asked.load, "follow", 1)
    launches, lost = noted(folder)
    names = of_names(launches)
    yield check("launches and a CUDA graph", not lost and {"graph", "where"} <= set(names), names=names, lost=lost)


def pytorch(asked, work):
    """Measures a small operation of PyTorch."""
    if not importlib.util.find_spec("torch"):
        print("  PyTorch is not installed: no figures of it")
        return
    figures, launches, lost = compared(asked, work, sys.executable, "-c", TORCH.format(launches=asked.launches),
                                       ways=("under nvtaskset", "noted"))
    more = figures["noted"]["median"] - figures["under nvtaskset"]["median"]
    names = of_names(launches)
    yield check("PyTorch's x.add_(1)", more < MOST_US and not lost and any("at::native" in name for name in names),
                more_us=round(more, 3), us={way: [each["median"], each["p99"]] for way, each in figures.items()},
                launches=len(launches), lost=lost, names={name[:160]: count for name, count in names.items()})


def turns_of(path, pid):
    """Returns the begins and ends of a process' turns on GR0 by CLOCK_MONOTONIC, on the line between readings of clocks."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    origin = [int(line["monotonic_ns"]) for line in lines if line["kind"] == "origin" and line["monotonic_ns"]][-1]
    clocks = [(line["gpu_ns"], line["monotonic_ns"]) for line in lines if line["kind"] == "clock"]

    def monotonic(ns):
        after = min(max(bisect.bisect([gpu for gpu, _ in clocks], ns), 1), len(clocks) - 1)
        (gpu, own), (next_gpu, next_own) = clocks[after - 1:after + 1]
        return origin + own + (ns - gpu) * (next_own - own) / (next_gpu - gpu)
    return [(monotonic(line["begin_ns"]), monotonic(line["end_ns"])) for line in lines
            if line["kind"] == "turn" and line["pid"] == pid and line["engine"] == "GR0"]


def trace(asked, work):
    """Checks the times of launches against the driver's record of switches."""
    if not asked.nvdebugctl:
        print("  no NVDEBUGCTL is given: no trace")
        return
    folder, recording, shown = work / "trace", work / "run.ndjson", work / "run.pftrace"
    with bounded.tasks(((asked.nvtaskset, "-q", "--kernels", folder, asked.load, "small", 12), bounded.without_mps()),
                       ((asked.load, "queue", 12), bounded.without_mps())) as (small, _):
        time.sleep(1)
        output_of(asked.nvdebugctl, "record", "--for", "3s", "-o", recording)
        output_of(asked.nvdebugctl, "record", "--for", "1s", "-o", work / "second.pftrace", "--kernels", folder)
    told = output_of(asked.nvdebugctl, "recording", "show", recording, "-o", shown, "--kernels", folder)
    launches, lost = noted(folder)
    turns = turns_of(recording, small.pid)
    late, waits = 0, []
    for launch in launches:
        # The turn in which the kernel ran is the first one that ends after the launch.
        turn = next((turn for turn in turns if turn[1] > launch["at"]), None)
        # A program that still has the GPU since its previous kernel shows nothing about clocks.
        if turn and turns[0][1] < launch["at"] < turn[0] + STAYS_NS:
            waits.append((turn[0] - launch["at"]) / 1e3)
            late += turn[0] - launch["at"] < -CLOCKS_NS
    waits.sort()
    good = len(waits) > 100 and not late and not lost
    yield check("turns begin after launches", good, launches=len(launches), turns=len(turns), compared=len(waits), earlier=late,
                wait_us=[round(waits[len(waits) * part // 100]) for part in (0, 1, 50, 99)] if waits else None)
    for path in (shown, work / "second.pftrace"):
        text = path.read_bytes()
        yield check("the trace", b"launches of thread" in text and b"compute" in text, file=path.name, bytes=len(text),
                    told=told.strip() if path == shown else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvtaskset", type=kind("nvtaskset"))
    parser.add_argument("load", type=kind("load"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("nvdebugctl", type=kind("nvdebugctl"), nargs="?")
    parser.add_argument("--launches", type=int, default=20_000, help="of each program (default: 20000)")
    asked = parser.parse_args()
    rows = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            for part in (costs, graphs, trace, pytorch):
                rows += checks.show(part.__name__, part(asked, work))
    finally:
        record.write(asked.folder / "kernel_names.json", {"launches": asked.launches, "rows": rows})
    DONE.end()


if __name__ == "__main__":
    run(main)
