#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures the cost of partitions, and how well they keep tasks apart: the figures of ECRTS 2025, section 6.

    partitions.py NVTASKSET LOAD FOLDER

It needs an otherwise idle GPU with NVIDIA's driver, and three minutes. LOAD is the program of load.cpp. It starts MPS
servers and ends them again. Prints its rows and writes FOLDER/partitions.json.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time

from common import bounded, checks, record, run, words

NVTASKSET, LOAD, FOLDER = words(__doc__, "nvtaskset", "load", "folder")
SECONDS = float(os.environ.get("SECONDS_EACH", "1"))
STARTS = 15


def answer(words, env, prefix=()):
    """Returns what `load WORDS` prints, run under PREFIX."""
    done = subprocess.run([*prefix, LOAD, *map(str, words)], env=env, capture_output=True, text=True, timeout=100,
                          check=False)
    if done.returncode or not done.stdout:
        sys.exit(f"{' '.join(map(str, [*prefix, LOAD, *words]))}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


@contextlib.contextmanager
def neighbour(kind, env, prefix=()):
    """Runs a task of a kind beside the caller's, or none for None."""
    with bounded.tasks(*[([*prefix, LOAD, kind, "60"], env)] * (kind is not None)):
        yield


def keep(*words):
    return (NVTASKSET, "-q", *words)


def overheads():
    """Measures Fig. 11, the start of a program and a launch. The ways take turns, so that drift affects all of them."""
    with bounded.mps() as (server, _):
        ways = (("as it is", bounded.without_mps(), ()),
                ("prepared", bounded.without_mps(), keep("--no-mps", "--prepare")),
                ("nvtaskset, no MPS", bounded.without_mps(), keep("--no-mps", "-t", "0-15")),
                ("MPS", server, ()),
                ("MPS, 8 connections", server | {"CUDA_DEVICE_MAX_CONNECTIONS": "8"}, ()),
                ("nvtaskset, MPS", server, keep("-t", "0-15")))
        starts, launches = {name: [] for name, _, _ in ways}, {name: [] for name, _, _ in ways}
        for turn in range(STARTS):
            for name, env, prefix in ways:
                begin = time.monotonic()
                subprocess.run([*prefix, LOAD, "start"], env=env, check=True)
                starts[name].append((time.monotonic() - begin) * 1000)
                if turn % 2:
                    launches[name].append(answer(("launch", 20000), env, prefix)["median"])
        for name, _, _ in ways:
            yield {"what": name, "start_ms": round(statistics.median(starts[name]), 1),
                   "start_ms_min": round(min(starts[name]), 1), "start_ms_max": round(max(starts[name]), 1),
                   "launch_us": round(statistics.median(launches[name]), 3),
                   "launch_us_min": min(launches[name]), "launch_us_max": max(launches[name])}


def enforcement(gpcs, tpcs, sms, all_sms):
    """Measures Fig. 12, a task in a partition of 57 % beside another task in the rest."""
    rest = f"{tpcs}-{all_sms // 2 - 1}"
    percent = round(100 * sms / all_sms)
    for task in ("compute", "memory"):
        for other in (None, "compute", "memory"):
            with bounded.mps() as (server, _):
                ways = (
                    ("time slices", bounded.without_mps(), (), ()),
                    ("MPS", server, (), ()),
                    ("MPS percentage", server, ("env", f"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={percent}"),
                     ("env", f"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={100 - percent}")),
                    ("nvtaskset", server, keep("-g", gpcs), keep("-t", rest)))
                for name, env, prefix, beside in ways:
                    with neighbour(other, env, beside):
                        found = answer((task, SECONDS), env, prefix)
                    yield {"task": task, "neighbour": other, "way": name} | found
            if other:
                yield {"task": task, "neighbour": other, "way": "green contexts"} | answer(
                    ("green", sms, task, other, SECONDS), bounded.without_mps())


def granularity(all_sms):
    """Measures Fig. 13, the same work on each number of TPCs."""
    with bounded.mps() as (server, _):
        for tpcs in range(1, all_sms // 2 + 1):
            yield {"tpcs": tpcs, "way": "nvtaskset"} | answer(("compute", 0.2), server, keep("-s", str(2 * tpcs)))
            if tpcs % 3 == 0:
                share = str(100 * 2 * tpcs / all_sms)
                yield {"tpcs": tpcs, "way": "MPS percentage"} | answer(
                    ("compute", 0.2), server, ("env", f"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={share}"))


def main():
    listed = subprocess.run([NVTASKSET, "--list"], capture_output=True, text=True, check=True).stdout
    print(listed)
    words = [line.split()[3] for line in listed.splitlines() if line.startswith("  GPC")]
    all_sms = answer(("launch", 100), bounded.without_mps())["sms"]
    # The partition has whole GPCs, from GPC 0 on, until it is larger than half of the GPU.
    gpcs, tpcs = 0, 0
    while tpcs < 0.57 * all_sms / 2 - 1:
        tpcs = int(words[gpcs].split("-")[-1]) + 1
        gpcs += 1
    found = {
        "overheads": checks.show("start and launch", overheads()),
        "enforcement": checks.show(f"a task in GPCs 0-{gpcs - 1} ({2 * tpcs} of {all_sms} SMs), and another in the rest; us",
                                   enforcement(f"0-{gpcs - 1}", tpcs, 2 * tpcs, all_sms)),
        "granularity": checks.show("the same work on so many TPCs; us", granularity(all_sms)),
    }
    record.write(FOLDER / "partitions.json", found)


run(main)
