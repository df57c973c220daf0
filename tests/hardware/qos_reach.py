#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Which ways to share a GPU give a kernel so many percent of its speed alone (the QoSreach of the ISCA 2017 paper).

    qos_reach.py NVQOS NVTASKSET KERNELS FOLDER [--budget SECONDS] [--seconds N] [--settle SECONDS] [--seed N]
                 [--kinds A,B] [--pairs A/B,C/D] [--goals N,N] [--ways A,B]

As root, on an otherwise idle GPU, with NVIDIA's driver and without the module. KERNELS is kernels.cpp, built. Each pair
of kinds is tried in each way: as it is, MPS, fixed masks (goal : rest of the SMs), Spart by masks (a hill climb, 0.5 s
a step), nvqos by time (a speed), nvqos by launches (the same at an MPS server), nvqos by TPCs (the same with --tpcs).
Spart's search and the last one's take some seconds: --settle is for how long these two run before anything counts; all
others 1 s. The order is shuffled by the seed, which is printed; pairs that do not fit into the budget are listed, and
so is what failed. A pair's kinds run alone before and after it, and before it as nvtaskset starts them at an MPS server,
and beside a program that keeps a processor busy, too: kernels of some microseconds are as fast as it launches. Writes
FOLDER/qos_reach.json after each run; reach_summary.py makes tables of it. Ends with 1 if something failed.
"""

import argparse
import contextlib
import itertools
import json
import pathlib
import random
import signal
import subprocess
import sys
import time

import bounded
from common import environment, mps, program, records

KINDS = ("compute", "latency", "divergent", "bandwidth", "short", "barrier")
WAYS = ("as it is", "MPS", "fixed masks", "Spart by masks", "nvqos by time", "nvqos by launches", "nvqos by TPCs")
WITHOUT_GOAL = ("as it is", "MPS")  # they are the same for every goal, and run once
SEARCHING = ("Spart by masks", "nvqos by TPCs")
PREPARED = ("nvqos by launches", "nvqos by TPCs")
SETTLE_S, STEP_S, START_S = 1, 0.5, 2.0  # the last: what the start and the end of a run take, to plan with
VERSION = 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("nvqos", "nvtaskset", "kernels", "folder"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=3600, help="seconds for all of it (default: 3600)")
    parser.add_argument("--seconds", type=float, default=5, help="seconds that count of each run (default: 5)")
    parser.add_argument("--settle", type=float, default=1, help="seconds before them in ways that search (default: 1)")
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
        self.found = {"version": VERSION, "program": program(), "seed": self.seed, "budget_s": asked.budget,
                      "seconds": asked.seconds, "settle_s": asked.settle, "kinds": asked.kinds, "goals": asked.goals, "ways": asked.ways,
                      "gpu": gpu(), "alone": [], "alone_prepared": [], "alone_busy": [],
                      "runs": [], "not_run": []}

    # --- one run ---

    def command(self, kind, prefix=()):
        return [*prefix, self.asked.kernels, kind, "110"]

    def settle_s(self, searches):
        return self.asked.settle if searches else SETTLE_S

    def measure(self, tasks, step=None, searches=False):
        """Rates of the tasks over the seconds that count; `step` is called meanwhile, now and then."""
        begin = time.monotonic_ns() + int(self.settle_s(searches) * 1e9)
        end = begin + int(self.asked.seconds * 1e9)
        while (left := (end - time.monotonic_ns()) / 1e9) > 0:
            time.sleep(min(left, STEP_S))
            if step:
                step()
        counted = [task.wait_past(end) for task in tasks]
        return [{"rate": round(bounded.rate(lines, begin, end), 2),
                 "slowest": round(bounded.slowest(lines, begin, end) or 0, 2)} for lines in counted]

    def alone(self, kind):
        with bounded.counting((self.command(kind), environment())) as tasks:
            (found,) = self.measure(tasks)
        self.add_alone("alone", kind, found)

    def alone_prepared(self, kind):
        """As nvqos has it to keep a speed by launches: a part of it is taken by nvtaskset and the server."""
        with mps() as server, bounded.counting((self.command(kind, self.prepare()), server)) as tasks:
            (found,) = self.measure(tasks)
        self.add_alone("alone_prepared", kind, found)

    def alone_busy(self, kind):
        """Without another kernel, but a program beside it that keeps a processor busy, as each of two does."""
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            with bounded.counting((self.command(kind), environment())) as tasks:
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
        with bounded.counting(*commands) as tasks:
            return self.measure(tasks, step_of(tasks) if step_of else None, bool(step_of)), {}

    def as_it_is(self, kinds, _goal):
        return self.pair([(self.command(kind), environment()) for kind in kinds])

    def by_mps(self, kinds, _goal):
        with mps() as server:
            return self.pair([(self.command(kind), server) for kind in kinds])

    def masks(self, *words):
        """The kernels are as large as without: they have as many blocks as the SMs that CUDA shows them allow."""
        return (self.asked.nvtaskset, "-q", "--whole-count", *words)

    def tpcs(self):
        listed = json.loads(bounded.ask(self.asked.nvtaskset, "--list", "--json"))
        return len(listed["gpus"][0]["tpcs"])

    def fixed_masks(self, kinds, goal):
        tpcs = self.tpcs()
        first = max(1, min(tpcs - 1, round(tpcs * goal / 100)))
        parts = (f"0-{first - 1}", f"{first}-{tpcs - 1}")
        with mps() as server:
            rates, more = self.pair([(self.command(kind, self.masks("-t", part)), server)
                                     for kind, part in zip(kinds, parts)])
        return rates, more | {"tpcs": [first, tpcs - first]}

    def spart(self, kinds, goal):
        """Whole TPCs; one more while the rate so far is below the goal, one less where that would still do."""
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
                history, last = bounded.rate(lines, max(lines[0][0], begin), now), bounded.rate(lines, since, now)
                change = 1 if history < wanted else -1 if last * (first - 1) / first >= wanted else 0
                if change and 1 <= first + change <= tpcs - 1:
                    first += change
                    for task, part in zip(tasks, (f"0-{first - 1}", f"{first}-{tpcs - 1}")):
                        bounded.ask(self.asked.nvtaskset, "-q", "-t", part, "-p", task.pid())
                parts.append(first)
            return step
        halves = (f"0-{first - 1}", f"{first}-{tpcs - 1}")
        with mps() as server:
            rates, more = self.pair([(self.command(kind, self.masks("-t", half)), server)
                                     for kind, half in zip(kinds, halves)], step_of)
        return rates, more | {"tpcs": [first, tpcs - first], "tpcs_of_first": parts}

    def by_time(self, kinds, goal):
        return self.keep([(self.command(kind), environment()) for kind in kinds], goal)

    def by_launches(self, kinds, goal, *options):
        with mps() as server:
            return self.keep([(self.command(kind, self.prepare()), server) for kind in kinds], goal, *options)

    def by_tpcs(self, kinds, goal):
        self.tpcs()  # nvqos takes them from what has been found out
        return self.by_launches(kinds, goal, "--tpcs")

    def keep(self, commands, goal, *options):
        """A speed of the first, by nvqos."""
        searches = "--tpcs" in options
        with bounded.counting(*commands) as tasks:
            keeping = bounded.Keeping(self.asked.nvqos, *options, f"{tasks[0].pid()}=speed:{goal}%")
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
        if searches:  # each with the number of epochs in which the first had it
            found["tpcs_of_first"] = [[own, len(list(same))] for own, same in itertools.groupby(tpcs)]
        return rates, found

    # --- all of them ---

    def now(self):
        return round(time.monotonic() - self.begin, 2)

    def rate_alone(self, kind):
        return next(row["rate"] for row in reversed(self.found["alone"]) if row["kind"] == kind)

    def write(self):
        self.asked.folder.mkdir(parents=True, exist_ok=True)
        path = self.asked.folder / "qos_reach.json"
        part = path.with_suffix(".part")
        part.write_text(records(self.found) + "\n", encoding="utf-8")
        part.replace(path)

    def leave_out(self, why, pair, way, goal):
        self.found["not_run"].append({"pair": list(pair), "way": way, "goal": goal, "why": why})

    def one(self, pair, way, goal):
        row = {"at_s": self.now(), "pair": list(pair), "way": way, "goal": goal}
        run = {"as it is": self.as_it_is, "MPS": self.by_mps, "fixed masks": self.fixed_masks,
               "Spart by masks": self.spart, "nvqos by time": self.by_time, "nvqos by launches": self.by_launches,
               "nvqos by TPCs": self.by_tpcs}[way]
        try:
            rates, more = run(pair, goal)
            row |= more | ({"rates": [one["rate"] for one in rates], "slowest": [one["slowest"] for one in rates]}
                           if rates else {})
        except (bounded.Late, subprocess.SubprocessError, OSError) as error:
            row["failed"] = str(error)
        self.found["runs"].append(row)
        print(f"{self.now():7.1f} s  {' beside '.join(pair)}, {way}" + (f", {goal} %" if goal else "") + ": "
              + str(row.get("failed") or row.get("refused") or row["rates"]), flush=True)
        self.write()

    def all(self):
        """Returns whether all that was begun came to its end."""
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
            with contextlib.suppress(bounded.Late):  # the rate before is there
                for kind in kinds:
                    self.alone(kind)
        self.found["took_s"] = self.now()
        self.write()
        missed = [row for row in self.found["not_run"] if row["why"].startswith("a kind")]
        return not missed and not any("failed" in row for row in self.found["runs"])


def gpu():
    """Its name, driver and clocks, or why they are not known."""
    try:
        return bounded.ask("nvidia-smi", "--id=0", "--query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm",
                           "--format=csv,noheader").strip()
    except (bounded.Late, OSError) as error:
        return f"not known: {error}"


def main():
    asked = arguments()
    if unknown := [way for way in asked.ways if way not in WAYS]:
        sys.exit(f"qos_reach: there is no way {unknown[0]!r}; there are {', '.join(WAYS)}")
    if asked.pairs and any(len(pair) != 2 for pair in asked.pairs):
        sys.exit("qos_reach: a pair is two kinds with / between them")
    if unknown := [kind for kind in [*asked.kinds, *itertools.chain(*(asked.pairs or ()))] if kind not in KINDS]:
        sys.exit(f"qos_reach: there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    # Whatever hangs: tasks end by their own alarms, and nvqos' keepers put back what it had set.
    signal.alarm(int(asked.budget) + 120)
    reach = Reach(asked)
    good = reach.all()
    print(f"{len(reach.found['runs'])} runs, {len(reach.found['not_run'])} not run: all in {asked.folder}/qos_reach.json")
    sys.exit(not good)


if __name__ == "__main__":
    main()
