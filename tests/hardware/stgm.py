#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Task sets of nvstgm on a real GPU: largest responses beside their bounds, and bounds that are known to be too small.

    stgm.py NVSTGM NVTASKSET LOAD FOLDER

On a GPU that nobody else uses, with NVIDIA's driver and 9 CPUs or more; as root, for SCHED_FIFO. LOAD is load.cpp,
built. Writes FOLDER/stgm.json and prints what it found; ends with 1 if a response is above a sound bound, or a control
is not noticed. nvtaskset's MPS server is started, and ended again. Takes five minutes. SECONDS_EACH: of a set.
"""

import json
import os
import pathlib
import subprocess
import sys

from common import show, write

NVSTGM, NVTASKSET, LOAD, FOLDER = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
SECONDS = int(os.environ.get("SECONDS_EACH", "15"))
CONTROL_SECONDS = min(SECONDS, 6)
FAILED = []


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
    return {"schema": "nvstgm/taskset", "schema_version": "1.0", "time_unit": "us", "cores": 8, "sms": 32,
            "tasks": list(tasks)}


# Periods have no common divisor, so that releases come in all phases.
ONE_GROUP = taskset(
    task("a", 0, 41, cpu(2), gpu(1, 6, 1), tpcs=range(4)),
    task("b", 1, 53, gpu(1, 8, 1), cpu(2), tpcs=range(4)),
    task("c", 2, 67, cpu(1), gpu(1, 9, 1), cpu(1), tpcs=range(4)))
TWO_GROUPS = taskset(
    task("a", 0, 43, cpu(2), gpu(1, 5, 1), tpcs=range(8)),
    task("b", 0, 71, gpu(2, 6, 1), cpu(3), tpcs=range(8, 16)),
    task("c", 1, 59, cpu(2), gpu(1, 9, 1), cpu(2), tpcs=range(8)),
    task("d", 1, 101, gpu(1, 6, 1), gpu(1, 5, 1), tpcs=range(8, 16)),
    task("e", 2, 37, cpu(6)))
EIGHT = taskset(
    task("a", 0, 61, cpu(3), gpu(1, 5, 1), tpcs=range(4)),
    task("b", 1, 67, cpu(3), gpu(1, 6, 1), tpcs=range(4)),
    task("c", 2, 71, cpu(2), gpu(1, 7, 1), tpcs=range(4, 12)),
    task("d", 3, 73, gpu(1, 8, 1), cpu(2), tpcs=range(4, 12)),
    task("e", 0, 127, cpu(4), gpu(1, 6, 1), tpcs=range(12, 20)),
    task("f", 1, 131, cpu(4), gpu(1, 6, 1), tpcs=range(12, 20)),
    task("g", 2, 137, gpu(2, 9, 2), cpu(4), tpcs=range(20, 32)),
    task("h", 3, 47, cpu(5)))
OVERLAP = taskset(
    task("a", 0, 89, gpu(1, 6, 1), tpcs=range(4)),
    task("b", 1, 97, gpu(1, 7, 1), tpcs=range(8)),
    task("c", 2, 103, gpu(1, 9, 1), tpcs=range(4, 8)))
BUSY = taskset(
    task("a", 0, 79, cpu(2), gpu(1, 5, 1), tpcs=range(8)),
    task("b", 0, 151, gpu(2, 6, 1), cpu(3), tpcs=range(8)),
    task("c", 1, 83, cpu(2), gpu(1, 7, 1), tpcs=range(8)),
    task("d", 2, 109, cpu(5), gpu(1, 6, 1), tpcs=range(8, 16)))
FIVE_APART = taskset(
    task("a", 0, 61, cpu(3), gpu(1, 5, 1), tpcs=range(4)),
    task("b", 1, 67, cpu(3), gpu(1, 6, 1), tpcs=range(4)),
    task("c", 2, 71, cpu(2), gpu(1, 7, 1), gpu(1, 5, 1), tpcs=range(4, 12)),
    task("d", 3, 73, gpu(1, 8, 1), cpu(2), tpcs=range(4, 12)),
    task("e", 4, 47, cpu(9)))
EIGHT_APART = taskset(*(task(name, core, period, cpu(2), gpu(1, kernel, 1), tpcs=range(first, first + 8))
                        for core, (name, period, kernel, first) in enumerate((
                            ("a", 71, 5, 0), ("b", 73, 6, 0), ("c", 79, 7, 8), ("d", 83, 8, 8), ("e", 89, 9, 16),
                            ("f", 97, 10, 16), ("g", 101, 11, 24), ("h", 103, 12, 24)))))
BUSY_APART = taskset(
    task("a", 0, 79, cpu(2), gpu(1, 5, 1), tpcs=range(8)),
    task("b", 1, 151, gpu(2, 6, 1), cpu(3), tpcs=range(8)),
    task("c", 2, 83, cpu(2), gpu(1, 7, 1), tpcs=range(8)),
    task("d", 3, 109, cpu(5), gpu(1, 6, 1), tpcs=range(8, 16)))
# One tick: half a millisecond.
CE2C = taskset(task("A", 0, 300, gpu(.5, 12, .5), tpcs=[0], priority=3),
               task("B", 1, 300, gpu(.5, 15, .5), tpcs=[0, 1], priority=2),
               task("C", 2, 300, gpu(.5, 30, .5), tpcs=[1], priority=1))
CE1 = taskset(task("hi", 0, 200, cpu(4), priority=2), task("lo", 0, 200, gpu(2, 2, 2), tpcs=[0], priority=1))
CE4 = taskset(task("lo", 0, 300, cpu(10), priority=1), task("hi", 0, 150, gpu(0, 10, 0), tpcs=[0], priority=2),
              task("other", 1, 100, gpu(0, 20, 0), tpcs=[0], priority=3))
CE5 = taskset(task("hi", 0, 100, cpu(10), priority=3), task("lo", 0, 150, gpu(0, 10, 0), tpcs=[0], priority=2),
              task("other", 1, 200, gpu(0, 20, 0), tpcs=[0], priority=1))

# A core for each task: what is left of the protocol is the order of copies and kernels.
APART = (("one group of TPCs", ONE_GROUP, ()),
         ("two groups", FIVE_APART, ()),
         ("two groups, copies spin", FIVE_APART, ("--copy-wait", "spin")),
         ("four groups", EIGHT_APART, ()),
         ("sets of TPCs that overlap", OVERLAP, ()),
         ("busy", BUSY_APART, ("--waiting", "busy")))
# Tasks that share cores: priorities, which take SCHED_FIFO.
SHARED = (("cores are shared", TWO_GROUPS, ()),
          ("cores are shared, copies spin", TWO_GROUPS, ("--copy-wait", "spin")),
          ("cores are shared, eight tasks", EIGHT, ()),
          ("cores are shared, busy", BUSY, ("--waiting", "busy")))
MARGIN = 20  # percent; chosen before the run


def nvstgm(*words, stdin):
    return subprocess.run([NVSTGM, *map(str, words)], input=json.dumps(stdin), capture_output=True, text=True,
                          timeout=120, check=False)


def run(name, what, *words, seconds=SECONDS):
    done = nvstgm("run", "-", "--nvtaskset", NVTASKSET, "--for", seconds, "--margin", MARGIN, "-j", *words, stdin=what)
    if not done.stdout:
        FAILED.append(name)
        print(f"{name}: {done.stderr}")
        return
    if done.stderr:
        print(f"  {done.stderr.strip()}")
    data = json.loads(done.stdout)["data"]
    for row in data["tasks"]:
        yield {"set": name, "seconds": seconds, "status": done.returncode, "analysis": data["analysis"],
               "waiting": data["waiting"], "copy_wait": data["copy_wait"], "mps": data["mps"], "fifo": data["fifo"],
               "margin": data["margin"], "stretch": data["stretch"]} | row


def expect(name, condition):
    print(f"  {'ok  ' if condition else 'FAIL'}  {name}")
    if not condition:
        FAILED.append(name)


def above(rows):
    return [row for row in rows if row["response"] is not None and row["bound"] is not None and
            row["response"] > row["bound"]]


def sound(sets):
    for name, what, words in sets:
        checked = nvstgm("check", "-", *words, stdin=what)
        if checked.returncode:
            sys.exit(f"{name}: {checked.stdout}{checked.stderr}")
        yield from run(name, what, *words)


def has_fifo():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


def printed():
    """Schedules that exceed the paper's printed equations."""
    busy = ("--waiting", "busy")
    apart = (("CE2c", CE2C, ("--offset", "B=1000", "--offset", "A=2000")),)
    shared = (("CE1", CE1, ("--offset", "hi=200")),
              ("CE4", CE4, (*busy, "--offset", "hi=1000", "--offset", "lo=500")),
              ("CE5", CE5, (*busy, "--offset", "lo=1000", "--offset", "hi=2000")))
    for name, what, words in apart + (shared if has_fifo() else ()):
        for analysis in ("stgm-printed", "stgm"):
            yield from run(name, what, *words, "--analysis", analysis, seconds=CONTROL_SECONDS)


def clocks():
    query = "name,driver_version,clocks.sm,clocks.mem,temperature.gpu,clocks_event_reasons.active"
    return subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True,
                          text=True, check=False).stdout.strip()


def profile():
    largest = rf"""{LOAD} compute 0.3 2>/dev/null | sed -n 's/.*"max": \([0-9.]*\).*/\1/p' | awk '{{print $1 / 1000}}'"""
    done = nvstgm("profile", "--nvtaskset", NVTASKSET, "-n", 2, "--tpcs", "1,2,4,8,16,33,66", "-j", "--",
                  "sh", "-c", largest, stdin="")
    if done.returncode:
        FAILED.append("profile")
        print(done.stderr)
        return
    data = json.loads(done.stdout)["data"]
    yield from ({"margin": data["margin"]} | row for row in data["rows"])


def main():
    found = {"before": clocks(), "kernel": os.uname().release, "fifo": str(has_fifo())}
    subprocess.run([NVTASKSET, "--list"], capture_output=True, check=True)
    found["sets"] = show("task sets, a core for each task", sound(APART))
    expect("no response is above its bound", not above(found["sets"]))
    found["shared"] = show("task sets that share cores", sound(SHARED))
    if has_fifo():
        expect("no response is above its bound", not above(found["shared"]))
    else:
        print("  SCHED_FIFO is refused here: nothing is expected of these")
    found["halved"] = show("kernels and copies take twice what the file says",
                           run("one group of TPCs", ONE_GROUP, "--stretch", 200, seconds=CONTROL_SECONDS))
    expect("that is noticed as copies and kernels that took longer", all(row["overruns"] for row in found["halved"]))
    expect("and as a response above its bound", above(found["halved"]))
    found["printed"] = show("the printed analysis, and the sound one", printed())
    for name in sorted({row["set"] for row in found["printed"]}):
        rows = [row for row in found["printed"] if row["set"] == name]
        expect(f"{name} exceeds the printed bound", above(row for row in rows if row["analysis"] == "stgm-printed"))
        expect(f"{name} does not exceed the sound one", not above(row for row in rows if row["analysis"] == "stgm"))
    found["turns"] = show("the same without MPS", run("one group of TPCs", ONE_GROUP, "--no-mps",
                                                      seconds=CONTROL_SECONDS))
    found["profile"] = show("profile of load.cpp's kernels (us)", profile())
    found["after"] = clocks()
    subprocess.run([NVTASKSET, "--quit-mps"], check=False)
    write(FOLDER / "stgm.json", found)
    if FAILED:
        sys.exit(f"failed: {', '.join(FAILED)}")


main()
