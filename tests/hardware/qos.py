#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos on a real GPU: shares and a cap by the driver's own record of context switches, kill -9, SIGSTOP, and its cost.

    qos.py NVQOS NVDEBUGCTL LOAD FOLDER

As root, on an otherwise idle GPU, with NVIDIA's driver and without the module, in four minutes at most. LOAD is load.cpp, built.
Only tasks that it starts are changed. Writes FOLDER/qos.json; ends with 1 if a check fails.
"""

import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from bounded import Keeping
from common import ended_by, loads, show, what_it_counted, write
from qos_looks import mean_of_seconds, most_of_a_second, part, slices, timeslices
from rm import Ours

NVQOS, TOOL, LOAD, FOLDER = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
signal.alarm(240)  # whatever hangs: its tasks end by their own alarms, and nvqos' keepers put back what it had set


def keeping_of(*words):
    keeping = Keeping(NVQOS, *words)
    if keeping.refused is not None:
        sys.exit(f"nvqos {' '.join(words)}: {keeping.refused}")
    return keeping


checks = []


def check(name, good, **figures):
    checks.append(bool(good))
    return {"check": name, "good": bool(good)} | figures


def shares(ours):
    """Of 1, 3 or 7 tasks beside it, and of several with goals: those have at least theirs."""
    for count, goals in ((2, (5,)), (2, (30,)), (2, (70,)), (2, (90,)), (4, (10,)), (4, (40,)), (8, (50,)), (2, (30, 60)),
                         (4, (20, 30)), (8, (5, 10, 15, 20))):
        with loads(LOAD, *[("queue", "60")] * count) as tasks:
            pids = [task.pid for task in tasks]
            before = timeslices(TOOL, pids)
            keeping = keeping_of(*[f"{pid}=share:{goal}%" for pid, goal in zip(pids, goals)])
            time.sleep(1)
            found = slices(ours, 4)
            told = [round(tenant["got_percent"], 2) for tenant in keeping.tenants()[-1]]
            status = keeping.end()
            got = [round(part(found, pid), 2) for pid in pids]
            yield check("shares", all(abs(a - b) <= 1 or (len(goals) == count and a > b) for a, b in zip(got, goals))
                        and status == 0 and timeslices(TOOL, pids) == before, asked=goals, got=got, told=told, status=status)


def idles_at_random(ours):
    """A task that has work and none in turns: timeslices alone set no limit to it."""
    for way, word in (("timeslices alone", None), ("nvqos", "cap:30%")):
        with loads(LOAD, ("bursts", "60"), ("queue", "60")) as tasks:
            pids = [task.pid for task in tasks]
            keeping = word and keeping_of(f"{pids[0]}={word}")
            if not keeping:
                subprocess.run([TOOL, "--from", "driver", "task", "set", str(pids[0]), "--share", "30%"], check=True,
                               timeout=60, stdout=subprocess.DEVNULL)
            time.sleep(1.5)
            found = slices(ours, 5)
            status = keeping.end() if keeping else None
            most = round(most_of_a_second(found, pids[0]), 2)
            # Timeslices alone are there for comparison.
            yield check("idles at random", not keeping or (most <= 31 and status == 0), way=way, most=most,
                        mean=round(mean_of_seconds(found, pids[0]), 2), status=status)


def caps(ours):
    for cap, count, kind in ((30, 1, "queue"), (30, 2, "queue"), (60, 1, "queue"), (30, 1, "graph"), (10, 2, "graph")):
        with loads(LOAD, *[(kind, "60")] * count) as tasks:
            pids = [task.pid for task in tasks]
            keeping = keeping_of(f"{pids[0]}=cap:{cap}%")
            time.sleep(1.5)
            cost = -keeping.processor_s()
            found = slices(ours, 4)
            cost += keeping.processor_s()
            told = keeping.tenants()[-1]
            status = keeping.end()
            most, mean = most_of_a_second(found, pids[0]), mean_of_seconds(found, pids[0])
            yield check("cap", most <= cap + 1 and mean >= cap - 2 and status == 0, cap=cap, tasks=count, kind=kind,
                        most=round(most, 2), mean=round(mean, 2), told=told[0]["got_percent"],
                        core_percent=round(100 * cost / 4, 2), status=status)


def ends(ours):
    for how, wait in ((signal.SIGKILL, 0.5), (signal.SIGSTOP, 2.5)):
        with loads(LOAD, *[("queue", "60")] * 2) as tasks:
            pids = [task.pid for task in tasks]
            before = timeslices(TOOL, pids)
            keeping = keeping_of(f"{pids[0]}=cap:5%", f"{pids[1]}=share:60%")
            time.sleep(1)
            meanwhile = timeslices(TOOL, pids)
            keeping.process.send_signal(how)
            time.sleep(wait)
            found = slices(ours, 1.5)
            got = [round(part(found, pid), 1) for pid in pids]
            yield check(how.name, timeslices(TOOL, pids) == before != meanwhile and abs(got[0] - got[1]) < 5, got=got)
            keeping.end(signal.SIGKILL)


def tenant_killed():
    """The other has the GPU alone then, which no switch shows: what it counts itself does."""
    with loads(LOAD, ("queue", "60"), ("counted", "60")) as tasks:
        pids = [task.pid for task in tasks]
        before = timeslices(TOOL, pids)
        keeping = keeping_of(f"{tasks[0].pid}=cap:10%", f"{tasks[1].pid}=share:50%")
        time.sleep(1)
        tasks[0].kill()
        tasks[0].wait()
        time.sleep(1)
        begin = time.monotonic_ns()
        time.sleep(1)
        status = keeping.end()
        after = timeslices(TOOL, pids)
        end = time.monotonic_ns()
        time.sleep(0.2)
        counted = what_it_counted(tasks[1])
        ended = round(ended_by(counted, end) - ended_by(counted, begin))
        # Kernels of 200 us.
        yield check("tenant killed", ended > 4000 and status in (0, 4) and after == {pids[1]: before[pids[1]]},
                    kernels_in_a_second=round(ended * 1e9 / (end - begin)), status=status)


def forks():
    """A tenant of a hundred processes, ten at a time: the task beside it has what it had, and its timeslice in the end."""
    with loads(LOAD, ("queue", "100")) as (beside,), tempfile.TemporaryDirectory() as folder:
        tenant = shutil.copy(LOAD, f"{folder}/forks")
        before = timeslices(TOOL, [beside.pid])
        keeping = keeping_of("command:forks=share:30%")
        known = set()
        for _ in range(10):
            with loads(tenant, *[("queue", "60")] * 10) as ten:
                time.sleep(0.3)
                known |= timeslices(TOOL, [one.pid for one in ten]).keys()
        runs = beside.poll() is None
        told = keeping.tenants()[-1][0]
        status = keeping.end()
        left = subprocess.run(["pgrep", "-x", "nvdebug-keeper"], capture_output=True, text=True, check=False).stdout.split()
        yield check("a hundred processes", runs and status in (0, 4) and len(known) == 100 and not left
                    and timeslices(TOOL, [beside.pid]) == before, seen=len(known), keepers_left=len(left), status=status,
                    violations=told["violations"])


def main():
    ours = Ours()
    found = {"shares": show("shares", shares(ours)), "caps": show("caps", caps(ours)),
             "idles at random": show("idles at random", idles_at_random(ours)),
             "ends": show("ends", ends(ours)), "tenant killed": show("tenant killed", tenant_killed()), "forks": show("forks", forks())}
    write(FOLDER / "qos.json", found)
    print(f"\n{sum(checks)} of {len(checks)} checks passed")
    sys.exit(not all(checks))


main()
