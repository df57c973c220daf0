#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""What partitions of a real GPU cost, and how well they keep: the figures of ECRTS 2025, section 6, on this GPU.

    partitions.py NVTASKSET LOAD FOLDER

On an otherwise idle GPU, with NVIDIA's driver. LOAD is load.cpp, built. Writes FOLDER/partitions.json and
prints what it found. MPS servers are started, and ended again. Takes three minutes.
"""

import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from common import environment, mps, show, write

NVTASKSET, LOAD, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
SECONDS = float(os.environ.get("SECONDS_EACH", "1"))
STARTS = 15


def answer(words, env, prefix=()):
    done = subprocess.run([*prefix, LOAD, *map(str, words)], env=env, capture_output=True, text=True, timeout=100,
                          check=False)
    if done.returncode or not done.stdout:
        sys.exit(f"{' '.join([*prefix, LOAD, *map(str, words)])}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


@contextlib.contextmanager
def neighbour(kind, env, prefix=()):
    """A task that is there meanwhile; kind None: none."""
    if kind is None:
        yield
        return
    with subprocess.Popen([*prefix, LOAD, kind, "60"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        try:
            for line in process.stderr:
                if line == "ready\n":
                    break
            yield
        finally:
            process.kill()


def keep(*words):
    return (NVTASKSET, "-q", *words)


def overheads():
    """Fig. 11: the start of a program, and a launch. One after the other each time, so that drift is everybody's."""
    with mps() as server:
        ways = (("as it is", environment(), ()),
                ("prepared", environment(), keep("--no-mps", "--prepare")),
                ("nvtaskset, no MPS", environment(), keep("--no-mps", "-t", "0-15")),
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
    """Fig. 12: a task in a partition of 57 %, beside another in the rest."""
    rest = f"{tpcs}-{all_sms // 2 - 1}"
    percent = round(100 * sms / all_sms)
    for task in ("compute", "memory"):
        for other in (None, "compute", "memory"):
            with mps() as server:
                ways = (
                    ("time slices", environment(), (), ()),
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
                    ("green", sms, task, other, SECONDS), environment())


def granularity(all_sms):
    """Fig. 13: the same work on each number of TPCs."""
    with mps() as server:
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
    all_sms = answer(("launch", 100), environment())["sms"]
    # whole GPCs of more than half of the GPU: those from 0 on
    gpcs, tpcs = 0, 0
    while tpcs < 0.57 * all_sms / 2 - 1:
        tpcs = int(words[gpcs].split("-")[-1]) + 1
        gpcs += 1
    found = {
        "gpu": listed.splitlines()[0],
        "driver": pathlib.Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").splitlines()[0],
        "overheads": show("start and launch", overheads()),
        "enforcement": show(f"a task in GPCs 0-{gpcs - 1} ({2 * tpcs} of {all_sms} SMs), and another in the rest; us",
                            enforcement(f"0-{gpcs - 1}", tpcs, 2 * tpcs, all_sms)),
        "granularity": show("the same work on so many TPCs; us", granularity(all_sms)),
    }
    write(FOLDER / "partitions.json", found)


main()
