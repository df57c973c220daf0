#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures which ways to share a GPU give a kernel a part of its speed alone (the QoSreach of the ISCA 2017 paper).

    qos_reach.py NVQOS NVTASKSET KERNELS FOLDER [--budget SECONDS] [--seconds N] [--settle SECONDS] [--seed N]
                 [--kinds A,B] [--pairs A/B,C/D] [--goals N,N] [--ways A,B]

It needs root, an otherwise idle GPU, NVIDIA's driver, and no module. KERNELS is the program of kernels.cpp. Each pair of
kinds is tried in each way: as it is, MPS, fixed masks (goal : rest of the SMs), Spart by masks (a hill climb, 0.5 s a
step), nvqos by time (a speed), nvqos by launches (a speed at an MPS server), nvqos by TPCs (the same with --tpcs). Spart
and nvqos by TPCs search for some seconds. --settle says how long these two ways run before anything counts; the other ways
settle for 1 s. The order is shuffled by the seed, which is printed. Pairs that do not fit into the budget are listed, and
so are failures.

The kinds of a pair also run alone, before and after the pair. Before it they run alone as nvtaskset starts them at an MPS
server, too, and beside a program that keeps a processor busy, because kernels of some microseconds are as fast as their
launches. Writes FOLDER/qos_reach.json after each run; reach_summary.py makes tables of it. Ends with 1 if a run failed.
"""

import argparse
import contextlib
import itertools
import json
import random
import signal
import subprocess
import sys
import time

from common import bounded, counts, kind as kind_of, machine, record, run

KINDS = ("compute", "latency", "divergent", "bandwidth", "short", "barrier")
WAYS = ("as it is", "MPS", "fixed masks", "Spart by masks", "nvqos by time", "nvqos by launches", "nvqos by TPCs")
WITHOUT_GOAL = ("as it is", "MPS")  # these ways are the same for every goal, and run once
SEARCHING = ("Spart by masks", "nvqos by TPCs")
PREPARED = ("nvqos by launches", "nvqos by TPCs")
SETTLE_S, STEP_S, START_S = 1, 0.5, 2.0  # START_S is for the start and the end of a run, when planning
VERSION = 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("nvqos", "nvtaskset", "kernels", "folder"):
        parser.add_argument(name, type=kind_of(name))
    parser.add_argument("--budget", type=float, default=3600, help="seconds for all runs (default: 3600)")
    parser.add_argument("--seconds", type=float, default=5, help="seconds that count of each run (default: 5)")
    parser.add_argument("--settle", type=float, default=1, help="seconds before them, in ways that search (default: 1)")
    parser.add_argument("--seed", type=int, default=None, help="of the order (default: another one each time)")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS))
    parser.add_argument("--pairs", type=lambda text: [tuple(pair.split("/")) for pair in text.split(",")], default=None,
                        help="instead of all pairs of --kinds")
    parser.add_argument("--goals", type=lambda text: [int(word) for word in text.split(",")], default=[50, 70, 90])
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    return parser.parse_args()


class Reach:
    def __init__(self, asked):
        self.asked = asked
        self.begin = time.monotonic()
        self.seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1 << 32)
        self.found = {"version": VERSION, "program": machine.program(), "seed": self.seed, "budget_s": asked.budget,
                      "seconds": asked.seconds, "settle_s": asked.settle, "kinds": asked.kinds, "goals": asked.goals, "ways": asked.ways,
                      "gpu": machine.gpu(*machine.CLOCKS), "alone": [], "alone_prepared": [], "alone_busy": [],
                      "runs": [], "not_run": []}

    # --- one run ---

    def command(self, kind, prefix=()):
        return [*prefix, self.asked.kernels, kind, "110"]

    def settle_s(self, searches):
        return self.asked.settle if searches else SETTLE_S

    def measure(self, tasks, step=None, searches=False):
        """Returns the rates of tasks over the seconds that count. Calls `step` every STEP_S until their end."""
        begin = time.monotonic_ns() + int(self.settle_s(searches) * 1e9)
        end = begin + int(self.asked.seconds * 1e9)
        while (left := (end - time.monotonic_ns()) / 1e9) > 0:
            time.sleep(min(left, STEP_S))
            if step:
                step()
        counted = [task.wait_past(end) for task in tasks]
        return [{"rate": round(counts.rate(lines, begin, end), 2),
                 "slowest": round(counts.slowest(lines, begin, end) or 0, 2)} for lines in counted]

    def alone(self, kind):
        with bounded.tasks((self.command(kind), bounded.without_mps())) as tasks:
            (found,) = self.measure(tasks)
        self.add_alone("alone", kind, found)

    def alone_prepared(self, kind):
        """Measures a kind alone as nvqos sees it when it keeps a speed by launches: nvtaskset and the server take time, too."""
        with bounded.mps() as (server, _), bounded.tasks((self.command(kind, self.prepare()), server)) as tasks:
            (found,) = self.measure(tasks)
        self.add_alone("alone_prepared", kind, found)

    def alone_busy(self, kind):
        """Measures a kind beside a program that keeps a processor busy, as a second kernel's program would."""
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            with bounded.tasks((self.command(kind), bounded.without_mps())) as tasks:
                (found,) = self.measure(tasks)
        finally:
            busy.kill()
            busy.wait()
        self.add_alone("alone_busy", kind, found)

    def add_alone(self, name, kind, found):
        self.found[name].append({"at_s": self.now(), "kind": kind} | found)
        self.write()
        print(f"{self.now():7.1f} s  {kind} {name.replace('_', ', ')}: {found['rate']} a second", flush=True)

    def prepare(self):
        return (self.asked.nvtaskset, "-q", "--prepare")

    def pair(self, commands, step_of=None):
        with bounded.tasks(*commands) as tasks:
            return self.measure(tasks, step_of(tasks) if step_of else None, bool(step_of)), {}

    def as_it_is(self, kinds, _goal):
        return self.pair([(self.command(kind), bounded.without_mps()) for kind in kinds])

    def by_mps(self, kinds, _goal):
        with bounded.mps() as (server, _):
            return self.pair([(self.command(kind), server) for kind in kinds])

    def masks(self, *words):
        """Returns the words that start a kernel with masks. --whole-count keeps its number of blocks as without masks."""
        return (self.asked.nvtaskset, "-q", "--whole-count", *words)

    def tpcs(self):
        listed = json.loads(bounded.ask(self.asked.nvtaskset, "--list", "--json"))
        return len(listed["gpus"][0]["tpcs"])

    def fixed_masks(self, kinds, goal):
        tpcs = self.tpcs()
        first = max(1, min(tpcs - 1, round(tpcs * goal / 100)))
        parts = (f"0-{first - 1}", f"{first}-{tpcs - 1}")
        with bounded.mps() as (server, _):
            rates, more = self.pair([(self.command(kind, self.masks("-t", part)), server)
                                     for kind, part in zip(kinds, parts)])
        return rates, more | {"tpcs": [first, tpcs - first]}

    def spart(self, kinds, goal):
        """Searches for a number of TPCs: one more while the rate is below the goal, one less if the goal would still be kept."""
        tpcs, alone = self.tpcs(), self.rate_alone(kinds[0])
        wanted, first = alone * goal / 100, tpcs // 2
        parts = []

        def step_of(tasks):
            begin = time.monotonic_ns()

            def step():
                nonlocal first
                lines = tasks[0].lines()
                if len(lines) < 3 or lines[-1][0] - lines[0][0] < STEP_S * 1e9:
                    return
                now = lines[-1][0] - 1
                since = max(lines[0][0], now - int(STEP_S * 1e9))
                history, last = counts.rate(lines, max(lines[0][0], begin), now), counts.rate(lines, since, now)
                change = 1 if history < wanted else -1 if last * (first - 1) / first >= wanted else 0
                if change and 1 <= first + change <= tpcs - 1:
                    first += change
                    for task, part in zip(tasks, (f"0-{first - 1}", f"{first}-{tpcs - 1}")):
                        bounded.ask(self.asked.nvtaskset, "-q", "-t", part, "-p", task.pid)
                parts.append(first)
            return step
        halves = (f"0-{first - 1}", f"{first}-{tpcs - 1}")
        with bounded.mps() as (server, _):
            rates, more = self.pair([(self.command(kind, self.masks("-t", half)), server)
                                     for kind, half in zip(kinds, halves)], step_of)
        return rates, more | {"tpcs": [first, tpcs - first], "tpcs_of_first": parts}

    def by_time(self, kinds, goal):
        return self.keep([(self.command(kind), bounded.without_mps()) for kind in kinds], goal)

    def by_launches(self, kinds, goal, *options):
        with bounded.mps() as (server, _):
            return self.keep([(self.command(kind, self.prepare()), server) for kind in kinds], goal, *options)

    def by_tpcs(self, kinds, goal):
        self.tpcs()  # nvtaskset --list finds the TPCs and keeps them in a file, which nvqos reads
        return self.by_launches(kinds, goal, "--tpcs")

    def keep(self, commands, goal, *options):
        """Measures a pair while nvqos keeps a speed of the first kernel."""
        searches = "--tpcs" in options
        with bounded.tasks(*commands) as tasks:
            keeping = bounded.Keeping(self.asked.nvqos, *options, f"{tasks[0].pid}=speed:{goal}%")
            try:
                if keeping.refused is not None:
                    return None, {"refused": keeping.refused}
                cost_s, began = -keeping.processor_s(), time.monotonic()
                rates = self.measure(tasks, searches=searches)
                cost_s, took_s = cost_s + keeping.processor_s(), time.monotonic() - began
                epochs = [tenants[0] for tenants in keeping.tenants()]
                first, tpcs = epochs[-1], [epoch["tpcs"] for epoch in epochs]
            finally:
                status = keeping.end()
        found = {"nvqos_status": status, "nvqos_core_percent": round(100 * cost_s / took_s, 2),
                 "nvqos_got_percent": first["got_percent"], "nvqos_wait_p99_us": first.get("wait_p99_us"),
                 "nvqos_speed_percent": first["speed_percent"], "nvqos_alone_per_s": first["launches_alone_per_s"]}
        if searches:  # [TPCs of the first kernel, number of epochs in a row]
            found["tpcs_of_first"] = [[own, len(list(same))] for own, same in itertools.groupby(tpcs)]
        return rates, found

    # --- the whole plan ---

    def now(self):
        return round(time.monotonic() - self.begin, 2)

    def rate_alone(self, kind):
        return next(row["rate"] for row in reversed(self.found["alone"]) if row["kind"] == kind)

    def write(self):
        record.write(self.asked.folder / "qos_reach.json", self.found)

    def leave_out(self, why, pair, way, goal):
        self.found["not_run"].append({"pair": list(pair), "way": way, "goal": goal, "why": why})

    def one(self, pair, way, goal):
        row = {"at_s": self.now(), "pair": list(pair), "way": way, "goal": goal}
        measure = {"as it is": self.as_it_is, "MPS": self.by_mps, "fixed masks": self.fixed_masks,
                   "Spart by masks": self.spart, "nvqos by time": self.by_time, "nvqos by launches": self.by_launches,
                   "nvqos by TPCs": self.by_tpcs}[way]
        try:
            rates, more = measure(pair, goal)
            row |= more | ({"rates": [one["rate"] for one in rates], "slowest": [one["slowest"] for one in rates]}
                           if rates else {})
        except (bounded.Late, subprocess.SubprocessError, OSError) as error:
            row["failed"] = str(error)
        self.found["runs"].append(row)
        print(f"{self.now():7.1f} s  {' beside '.join(pair)}, {way}" + (f", {goal} %" if goal else "") + ": "
              + str(row.get("failed") or row.get("refused") or row["rates"]), flush=True)
        self.write()

    def all(self):
        """Runs the pairs that fit into the budget. Returns false if a run failed."""
        asked = self.asked
        print(f"seed {self.seed}, at most {asked.budget:g} s", flush=True)
        order = random.Random(self.seed)
        pairs = list(asked.pairs or itertools.product(asked.kinds, repeat=2))
        order.shuffle(pairs)
        one = asked.seconds + START_S
        for number, pair in enumerate(pairs):
            cases = [(way, goal) for way in asked.ways
                     for goal in ([None] if way in WITHOUT_GOAL else asked.goals)]
            order.shuffle(cases)
            kinds = sorted(set(pair))
            are_prepared = any(way in PREPARED for way in asked.ways)
            alone_s = (2 + 2 * are_prepared) * len(kinds) * (one + SETTLE_S)
            if self.now() + alone_s + sum(one + self.settle_s(way in SEARCHING) for way, _ in cases) > asked.budget:
                for way, goal in cases:
                    self.leave_out("the budget was used up", pair, way, goal)
                continue
            print(f"pair {number + 1} of {len(pairs)}", flush=True)
            try:
                for kind in kinds:
                    self.alone(kind)
                    if are_prepared:
                        self.alone_prepared(kind)
                        self.alone_busy(kind)
            except (bounded.Late, subprocess.SubprocessError, OSError) as error:
                for way, goal in cases:
                    self.leave_out(f"a kind did not run alone: {error}", pair, way, goal)
                self.write()
                continue
            for way, goal in cases:
                self.one(pair, way, goal)
            with contextlib.suppress(bounded.Late):  # the rate from before the pair is enough
                for kind in kinds:
                    self.alone(kind)
        self.found["took_s"] = self.now()
        self.write()
        missed = [row for row in self.found["not_run"] if row["why"].startswith("a kind")]
        return not missed and not any("failed" in row for row in self.found["runs"])


def main():
    asked = arguments()
    if unknown := [way for way in asked.ways if way not in WAYS]:
        sys.exit(f"qos_reach: there is no way {unknown[0]!r}; there are {', '.join(WAYS)}")
    if asked.pairs and any(len(pair) != 2 for pair in asked.pairs):
        sys.exit("qos_reach: a pair is two kinds with / between them")
    if unknown := [kind for kind in [*asked.kinds, *itertools.chain(*(asked.pairs or ()))] if kind not in KINDS]:
        sys.exit(f"qos_reach: there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    # If anything hangs, this program ends; tasks end by their own alarms, and nvqos' keepers put timeslices back.
    signal.alarm(int(asked.budget) + 120)
    reach = Reach(asked)
    good = reach.all()
    print(f"{len(reach.found['runs'])} runs, {len(reach.found['not_run'])} not run: all in {asked.folder}/qos_reach.json")
    return not good


if __name__ == "__main__":
    run(main)
