#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks shares and caps of nvqos by the driver's own record of context switches, after kill -9 and SIGSTOP, too.

    qos.py NVQOS NVDEBUGCTL LOAD FOLDER [--parts A,B]

It needs root, an otherwise idle GPU, NVIDIA's driver, no module, and five minutes. LOAD is the program of load.cpp. It
changes only tasks that it started itself. Writes FOLDER/qos.json, also with the cost of nvqos. Ends with 1 if a check fails.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from common import bounded, checks, counts, kind as kind_of, record, rm, run
from qos_looks import mean_of_seconds, most_of_a_second, part, slices, timeslices

LEFT_S = 10  # keepers must have ended in this time


class Programs:
    """The programs that are checked, and the driver's record."""

    def __init__(self, asked):
        self.nvqos, self.tool, self.load, self.ours = asked.nvqos, asked.nvdebugctl, asked.load, rm.Ours()

    def keep(self, *words):
        keeping = bounded.Keeping(self.nvqos, *words)
        if keeping.refused is not None:
            sys.exit(f"nvqos {' '.join(words)}: {keeping.refused}")
        return keeping

    def loads(self, *how):
        return bounded.loads(self.load, *how)

    def slices(self, seconds):
        return slices(self.ours, seconds)

    def timeslices(self, pids):
        return timeslices(self.tool, pids)


done = checks.Checks()
check = done.row


def shares(programs):
    """Checks shares beside 1, 3 or 7 tasks, and shares of several tasks. If all tasks have goals, each gets at least its goal."""
    for count, goals in ((2, (5,)), (2, (30,)), (2, (70,)), (2, (90,)), (4, (10,)), (4, (40,)), (8, (50,)), (2, (30, 60)),
                         (4, (20, 30)), (8, (5, 10, 15, 20))):
        with programs.loads(*[("queue", "60")] * count) as tasks:
            pids = [task.pid for task in tasks]
            before = programs.timeslices(pids)
            keeping = programs.keep(*[f"{pid}=share:{goal}%" for pid, goal in zip(pids, goals)])
            time.sleep(1)
            found = programs.slices(4)
            told = [round(tenant["got_percent"], 2) for tenant in keeping.tenants()[-1]]
            status = keeping.end()
            got = [round(part(found, pid), 2) for pid in pids]
            yield check("shares", all(abs(a - b) <= 1 or (len(goals) == count and a > b) for a, b in zip(got, goals))
                        and status == 0 and programs.timeslices(pids) == before, asked=goals, got=got, told=told, status=status)


def idles_at_random(programs):
    """Checks a cap on a task that idles at random, which timeslices alone do not limit."""
    for way, word in (("timeslices alone", None), ("nvqos", "cap:30%")):
        with programs.loads(("bursts", "60"), ("queue", "60")) as tasks:
            pids = [task.pid for task in tasks]
            keeping = word and programs.keep(f"{pids[0]}={word}")
            if not keeping:
                subprocess.run([programs.tool, "--from", "driver", "task", "set", str(pids[0]), "--share", "30%"], check=True,
                               timeout=60, stdout=subprocess.DEVNULL)
            time.sleep(1.5)
            found = programs.slices(5)
            status = keeping.end() if keeping else None
            most = round(most_of_a_second(found, pids[0]), 2)
            # The row for timeslices alone is only for comparison.
            yield check("idles at random", not keeping or (most <= 31 and status == 0), way=way, most=most,
                        mean=round(mean_of_seconds(found, pids[0]), 2), status=status)


def caps(programs):
    for cap, count, kind in ((30, 1, "queue"), (30, 2, "queue"), (60, 1, "queue"), (30, 1, "graph"), (10, 2, "graph")):
        with programs.loads(*[(kind, "60")] * count) as tasks:
            pids = [task.pid for task in tasks]
            keeping = programs.keep(f"{pids[0]}=cap:{cap}%")
            time.sleep(1.5)
            cost = -keeping.processor_s()
            found = programs.slices(4)
            cost += keeping.processor_s()
            told = keeping.tenants()[-1]
            status = keeping.end()
            most, mean = most_of_a_second(found, pids[0]), mean_of_seconds(found, pids[0])
            yield check("cap", most <= cap + 1 and mean >= cap - 2 and status == 0, cap=cap, tasks=count, kind=kind,
                        most=round(most, 2), mean=round(mean, 2), told=told[0]["got_percent"],
                        core_percent=round(100 * cost / 4, 2), status=status)


def ends(programs):
    for how, wait in ((signal.SIGKILL, 0.5), (signal.SIGSTOP, 2.5)):
        with programs.loads(*[("queue", "60")] * 2) as tasks:
            pids = [task.pid for task in tasks]
            before = programs.timeslices(pids)
            keeping = programs.keep(f"{pids[0]}=cap:5%", f"{pids[1]}=share:60%")
            time.sleep(1)
            meanwhile = programs.timeslices(pids)
            keeping.process.send_signal(how)
            time.sleep(wait)
            found = programs.slices(1.5)
            got = [round(part(found, pid), 1) for pid in pids]
            yield check(how.name, programs.timeslices(pids) == before != meanwhile and abs(got[0] - got[1]) < 5, got=got)
            keeping.end(signal.SIGKILL)


def tenant_killed(programs):
    """Kills a tenant. The other one then has the GPU alone; no switch shows that, so its own count is used."""
    with programs.loads(("queue", "60"), ("counted", "60")) as tasks:
        pids = [task.pid for task in tasks]
        before = programs.timeslices(pids)
        keeping = programs.keep(f"{tasks[0].pid}=cap:10%", f"{tasks[1].pid}=share:50%")
        time.sleep(1)
        tasks[0].kill()
        time.sleep(1)
        begin = time.monotonic_ns()
        time.sleep(1)
        status = keeping.end()
        after = programs.timeslices(pids)
        end = time.monotonic_ns()
        time.sleep(0.2)
        lines = tasks[1].lines()
        ended = round(counts.ended_by(lines, end) - counts.ended_by(lines, begin))
        # A kernel takes 200 us, so a second has up to 5,000 of them.
        yield check("tenant killed", ended > 4000 and status in (0, 4) and after == {pids[1]: before[pids[1]]},
                    kernels_in_a_second=round(ended * 1e9 / (end - begin)), status=status)


def keepers_go():
    """Returns the seconds until no keeper is left, or None. The driver takes 0.1 to 0.2 s to free the objects of one of ten
    processes, and its keeper waits for that."""
    begin = time.monotonic()
    while time.monotonic() - begin < LEFT_S:
        if subprocess.run(["pgrep", "-x", "nvdebug-keeper"], stdout=subprocess.DEVNULL, check=False).returncode == 1:
            return round(time.monotonic() - begin, 2)
        time.sleep(0.05)
    return None


def forks(programs):
    """Checks a tenant of a hundred processes, ten at a time. The task beside it keeps running, and has its timeslice at the end."""
    with programs.loads(("queue", "100")) as (beside,), tempfile.TemporaryDirectory() as folder:
        tenant = shutil.copy(programs.load, f"{folder}/forks")
        before = programs.timeslices([beside.pid])
        keeping = programs.keep("command:forks=share:30%")
        known = set()
        for _ in range(10):
            with bounded.loads(tenant, *[("queue", "60")] * 10) as ten:
                time.sleep(0.3)
                known |= programs.timeslices([one.pid for one in ten]).keys()
        runs = beside.runs()
        lines = keeping.lines()
        status = keeping.end()
        gone_s = keepers_go()
        # The time counts from the first unheld process of ten until all are held.
        held_s, since = [], None
        for line in lines:
            told = line["tenants"][0]
            if told["tasks"] > told["held_tasks"]:
                since = since or line["begin_ns"]
            elif since:
                held_s.append(round((line["end_ns"] - since) / 1e9, 2))
                since = None
        yield check("a hundred processes", runs and status in (0, 4) and len(known) == 100 and gone_s is not None
                    and programs.timeslices([beside.pid]) == before, seen=len(known), keepers_gone_s=gone_s, status=status,
                    violations=lines[-1]["tenants"][0]["violations"], held_after_s=held_s,
                    longest_epoch_s=round(max(line["end_ns"] - line["begin_ns"] for line in lines) / 1e9, 2))


def others_come_and_go(programs):
    """Checks that a cap holds while ten processes start, work and end beside the task."""
    def ten():
        with programs.loads(*[("queue", "60")] * 10):
            time.sleep(1)
    with programs.loads(("queue", "60")) as (capped,):
        keeping = programs.keep(f"{capped.pid}=cap:30%")
        time.sleep(1.5)
        others = threading.Thread(target=ten)
        others.start()
        found = programs.slices(5.5)
        others.join()
        lines, status = keeping.lines(), keeping.end()
        most = round(most_of_a_second(found, capped.pid), 2)
        # nvqos counts a pause from the driver's late confirmation on, so it may report more than the real use.
        yield check("others come and go", most <= 31 and status in (0, 4), cap=30, most=most,
                    told=max(line["tenants"][0]["got_percent"] or 0 for line in lines),
                    violations=lines[-1]["tenants"][0]["violations"],
                    tasks=max(line["tenants"][-1]["tasks"] for line in lines), status=status,
                    longest_epoch_s=round(max(line["end_ns"] - line["begin_ns"] for line in lines) / 1e9, 2))


PARTS = {"shares": shares, "caps": caps, "idles at random": idles_at_random, "ends": ends, "tenant killed": tenant_killed,
         "forks": forks, "others come and go": others_come_and_go}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("nvqos", "nvdebugctl", "load", "folder"):
        parser.add_argument(name, type=kind_of(name))
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    return parser.parse_args()


def main():
    asked = arguments()
    if unknown := [name for name in asked.parts if name not in PARTS]:
        sys.exit(f"qos: there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    # If anything hangs, this program ends; tasks end by their own alarms, and nvqos' keepers put timeslices back.
    signal.alarm(300)
    programs = Programs(asked)
    record.write(asked.folder / "qos.json", {name: checks.show(name, PARTS[name](programs)) for name in asked.parts})
    done.end()


run(main)
