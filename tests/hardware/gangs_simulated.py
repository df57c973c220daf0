#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Simulates the jobs of qos_gangs.py, on two, four and eight GPUs, as they are and with nvqos' windows.

    gangs_simulated.py NVQOS [--rows WORDS] [--write FOLDER]

It needs no GPU. The kernels of the jobs were fitted to measurements of two and four H100s (tests/simulation/trainings.hpp), and those
on eight GPUs are the same kernels. Prints a table in Markdown with the sum of speeds, each divided by the speed alone, and of a
service the 50th and 99th percentile of its requests. --write writes the scenarios, which `nvqos simulate` reads.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

from common import kind as kind_of, run
from qos_gangs import ROWS, picked

NAMES = ("train64", "train16", "three", "shares", "decode", "serve", "overlap", "reduce")
SIMULATED = sorted((each for each in ROWS if each["row"].split("-")[0] in NAMES),
                   key=lambda each: (NAMES.index(each["row"].split("-")[0]), each["gpus"]))


def repeated(number, *items):
    return {"repeat": number, "program": list(items)}


def training(forward_us, update_us):
    """Returns a training of 24 layers. Its backward kernels take twice as long as the forward ones."""
    return {"cpu_jitter": 0.2,
            "program": [{"think_us": 3000}, repeated(24, {"kernel_us": forward_us, "launch_us": 500}),
                        repeated(24, {"kernel_us": 2 * forward_us, "launch_us": 1000},
                                 {"collective_us": 150, "name": "gradient", "overlap": True}),
                        {"join": True}, {"kernel_us": update_us}]}


JOBS = {
    "train64": training(2550, 2000),
    "train16": training(400, 1000),
    "decode": {"program": [repeated(32, {"kernel_us": 30}, {"collective_us": 20, "name": "sum"}), {"think_us": 50}]},
    "serve": {"arrivals": {"mean_ms": 40},
              "program": [repeated(8, {"kernel_us": 1300}, {"collective_us": 300, "name": "sum"}, {"think_us": 50})]},
    "reduce256k": {"program": [{"collective_us": 30, "launch_us": 10, "name": "reduce"}]},
}


def scenario(each):
    """Returns the scenario of a row. Windows are tried until the fourth second."""
    jobs = [{"name": f"{kind}-{number}", "gpus": list(places), "goal": goal} | JOBS[kind]
            for number, (kind, places, goal) in enumerate(zip(each["kinds"], each["sets"], each["goals"]), 1)]
    return {"version": 1, "name": each["row"], "duration_ms": 34000, "warmup_ms": 4000, "seed": 1,
            "gpus": {"count": each["gpus"], "kernel_jitter": 0.03}, "jobs": jobs}


def simulated(nvqos, each, *words):
    """Returns the jobs of a row after a run."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
        json.dump(scenario(each), file)
        file.flush()
        done = subprocess.run([nvqos, "simulate", "-j", *words, file.name], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 4):
        raise SystemExit(f"gangs_simulated.py: nvqos simulate ended with {done.returncode} for the row {each['row']}")
    return json.loads(done.stdout)["jobs"]


def cell(jobs):
    """Returns the sum of speeds; of a service its percentiles and the speed of the others."""
    speeds = [one["speed"] for one in jobs]
    if not jobs[0]["name"].startswith("serve"):
        return f"{sum(speeds):.2f}"
    times = jobs[0]["request_ms"]
    return f"{times['p50']:.1f} and {times['p99']:.1f} ms; {sum(speeds[1:]):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvqos", type=kind_of("nvqos"))
    parser.add_argument("--rows", type=picked, default=SIMULATED)
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    print("| row | as it is | nvqos | windows |\n|---|---|---|---|")
    for each in options.rows:
        if options.write:
            options.write.mkdir(parents=True, exist_ok=True)
            (options.write / f"{each['row']}.json").write_text(json.dumps(scenario(each), indent=1) + "\n", encoding="utf-8")
        before, now = simulated(options.nvqos, each, "--none"), simulated(options.nvqos, each)
        print(f"| {each['row']} | {cell(before)} | {cell(now)} | {'yes' if any(one['gang'] for one in now) else 'no'} |", flush=True)


if __name__ == "__main__":
    run(main)
