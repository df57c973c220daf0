# SPDX-License-Identifier: MIT OR GPL-2.0
"""What taking the GPU from a task costs, by the driver's own record of switches: the parts of a switch, by the state that
tasks hold and by their number, and the time from a request to the other task's first kernel."""

import time

from nvdlab import machine, spans
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Atlas",)
TITLE = "What taking a GPU away costs"
PAPER = ("none of these; docs/atlas.md has figures of other systems: XSched's 32 us on a GV100, under 40 us of GPreempt on an "
         "A100, and 250 to 356 us for the driver's PREEMPT call on an RTX 5090")
MODEL = Model(absent="it has no record of switches by NVIDIA's driver")

MS, LOOKING = 600, 12
# What both tasks hold of each SM, which has 65,536 registers of 4 bytes.
STATES = {
    "one warp": {"blocks": "1", "threads": 32},
    "one warp on each SM": {"blocks": "1x", "threads": 32},
    "1,024 threads on each SM": {"blocks": "1x", "threads": 1024},
    "2,048 threads": {"blocks": "2x", "threads": 1024},
    "256 threads, all registers": {"blocks": "1x", "threads": 256, "kernel": "log_wide"},
    "224 KiB of shared memory": {"blocks": "1x", "threads": 32, "shared": 224 << 10},
    "2,048 threads that write memory": {"blocks": "2x", "threads": 1024, "kernel": "log_writes"},
    "2,048 threads, tensor cores": {"blocks": "2x", "threads": 1024, "kernel": "log_tensor"},
}
SMALL = "one warp"
COUNTS = (2, 3, 4, 8)
# The holder's timeslice, and that of the task that waits, in us. A request comes in the middle of the holder's turn.
HOLDER_US, WAITER_US, ROUNDS = 50_000, 1_000, 12
SLICES_US = (200, 1_000, 2_000, 8_000)
BETWEEN_S = 2.4e-6 * HOLDER_US
REQUESTS = ("a new timeslice", "channels disabled", "preempt")


def turns(records, pids):
    """Returns (pid, begin, end) of each whole turn of these processes, in us of the GPU's clock."""
    found, began = [], {}
    for ns, starts, context, pid in records:
        if pid not in pids:
            continue
        if starts:
            began[context] = ns
        elif context in began:
            found.append((pid, began.pop(context) / 1000, ns / 1000))
    return sorted(found, key=lambda turn: turn[1])


def costs(records, pids):
    """Returns the gaps between turns of different tasks, and the lengths of turns between two others, in us."""
    all_of = turns(records, pids)
    return {"gap_us": [b[1] - a[2] for a, b in zip(all_of, all_of[1:]) if a[0] != b[0]],
            "turn_us": [b[2] - b[1] for a, b, c in zip(all_of, all_of[1:], all_of[2:]) if a[0] != b[0] != c[0]]}


def switches_of(bench, count, how):
    """Returns the costs of switches between COUNT equal tasks at work."""
    with bench.ready(*[("exec", {"ms": MS, "looking": LOOKING, **how})] * count) as running:
        def work():
            for each in running:
                each.go()
            return [each.finish() for each in running]
        found, records = bench.switches(work)
    return {"registers": found[0]["registers"], "sms": found[0]["sms"]} | costs(records, {each.pid for each in running})


def compute_tsg(theirs):
    """Returns the TSG with the longest timeslice: the driver gives compute 2 ms, and copies 1 ms."""
    return max(theirs.tsgs, key=theirs.timeslice)


def ask(kind, theirs, tsg):
    if kind == "a new timeslice":
        theirs.timeslice(tsg, WAITER_US)
    elif kind == "channels disabled":
        theirs.set_enabled(list(theirs.channels.values()), False)
    else:
        theirs.preempt(tsg)


def undo(kind, theirs, tsg):
    if kind == "a new timeslice":
        theirs.timeslice(tsg, HOLDER_US)
    elif kind == "channels disabled":
        theirs.set_enabled(list(theirs.channels.values()), True)


def requests(bench, kind):
    """Asks for a change in turns of the holder. Returns the times until the driver's answer, and until the waiter ran."""
    length_ms = int(1000 * 2 * (ROUNDS + 2) * BETWEEN_S)
    options = {"ms": length_ms, "blocks": "4", "looking": 1}
    asked = []
    with bench.ready(("exec", options), ("exec", options)) as (holder, waiter):
        held, other = bench.theirs(holder.pid), bench.theirs(waiter.pid)
        tsg = compute_tsg(held)
        other.timeslice(compute_tsg(other), WAITER_US)
        held.timeslice(tsg, HOLDER_US)

        def work():
            for each in (holder, waiter):
                each.go()
            for _ in range(ROUNDS):
                time.sleep(BETWEEN_S)
                begin = time.monotonic_ns()
                ask(kind, held, tsg)
                end = time.monotonic_ns()
                time.sleep(BETWEEN_S / 4)
                undo(kind, held, tsg)
                asked.append((begin, end))
            return holder.finish(), waiter.finish()
        (found, _), records = bench.switches(work)
        all_of = turns(records, {holder.pid, waiter.pid})
    clock = found["clock"]
    rows = []
    for begin, end in asked:
        at = (begin - clock["host"] + clock["gpu"]) / 1000
        if any(pid == holder.pid and start <= at < stop for pid, start, stop in all_of):
            after = [start - at for pid, start, _ in all_of if pid == waiter.pid and start > at]
            if after:
                rows.append(((end - begin) / 1000, min(after)))
    return {"request_us": [row[0] for row in rows], "until_us": [row[1] for row in rows],
            "clock_error_us": clock["error"] / 1000}


def arrivals(bench, slice_us):
    """Returns how long a small kernel of an idle task takes beside a task that always has work, and alone."""
    heavy = ("exec", {"ms": 2 * MS, "blocks": "2x", "threads": 1024, "looking": LOOKING})
    small = ("ops", {"ms": MS, "kind": "launch", "pause_us": 3300})
    with bench.ready(heavy, small) as (one, other):
        theirs = bench.theirs(one.pid)
        theirs.timeslice(compute_tsg(theirs), slice_us)
        one.go()
        bench.sleep(0.01)
        other.go()
        found = other.finish()
        one.finish()
    return [(end - begin) / 1000 for begin, end in found["spans"]]


def measure(bench):
    small = bench.alone("ops", ms=MS, kind="launch", pause_us=3300)
    return {
        "sm_clock_mhz": machine.ask_gpu("clocks.sm", "clocks.max.sm"),
        "states": {name: how | switches_of(bench, 2, how) for name, how in STATES.items()},
        "counts": {str(count): switches_of(bench, count, STATES[SMALL]) for count in COUNTS},
        "requests": {kind: requests(bench, kind) for kind in REQUESTS},
        "arrivals": {"alone": [(end - begin) / 1000 for begin, end in small["spans"]]} |
                    {str(us): arrivals(bench, us) for us in SLICES_US},
    }


def figures(data):
    """Returns the medians that docs/atlas.md shows, in us."""
    states = {name: {key: spans.median(one[key]) for key in ("gap_us", "turn_us")} for name, one in data["states"].items()}
    least = states[SMALL]["turn_us"]
    return {
        "gaps": {name: one["gap_us"] for name, one in states.items()},
        "saving": {name: one["turn_us"] - least for name, one in states.items()},
        "turn": least,
        "counts": {count: spans.median(one["gap_us"]) for count, one in data["counts"].items()},
        "requests": {kind: (spans.median(one["request_us"]), spans.median(one["until_us"]))
                     for kind, one in data["requests"].items()},
        "arrivals": {way: (spans.median(us), spans.part(us, 0.99)) for way, us in data["arrivals"].items()},
    }


def conclude(data):
    n = figures(data)
    gaps, saving = list(n["gaps"].values()), max(n["saving"].values())
    fewest = min(len(one["gap_us"]) for one in (*data["states"].values(), *data["counts"].values()))
    asked = min(len(one["until_us"]) for one in data["requests"].values())
    by_request = ", ".join(f"{until:.0f} us after {kind} (the driver took {took:.0f})"
                           for kind, (took, until) in n["requests"].items())
    by_slice = ", ".join(f"{n['arrivals'][str(us)][0] / 1000:.2f} ms beside timeslices of {us / 1000:g} ms"
                         for us in SLICES_US)
    return [
        Claim("seen", f"at least {fewest} switches of each kind, and {asked} requests in a turn of the holder",
              fewest >= 50 and asked >= ROUNDS / 2),
        Claim("gap", f"between two turns pass {min(gaps):.0f} to {max(gaps):.0f} us, whatever the tasks hold",
              0 < min(gaps) and max(gaps) < 1.25 * min(gaps)),
        Claim("saving", f"a turn of the same timeslice is up to {saving:.0f} us longer with more state, as saving it counts to "
              "the turn", 0 < saving < 200),
        Claim("counts", f"with {COUNTS[0]} tasks a gap is {n['counts'][str(COUNTS[0])]:.0f} us, with {COUNTS[-1]} "
              f"{n['counts'][str(COUNTS[-1])]:.0f} us",
              n["counts"][str(COUNTS[-1])] < 1.25 * n["counts"][str(COUNTS[0])]),
        Claim("requests", f"beside a holder with timeslices of {HOLDER_US / 1000:.0f} ms the other task runs {by_request}",
              all(until < HOLDER_US / 5 for _, until in n["requests"].values())),
        Claim("arrivals", f"a small kernel of an idle task takes {n['arrivals']['alone'][0] / 1000:.2f} ms alone, {by_slice} "
              "(medians)", n["arrivals"]["alone"][0] < n["arrivals"][str(SLICES_US[0])][0] < n["arrivals"][str(SLICES_US[-1])][0]),
    ]


def picture(data):
    names = list(data["states"])
    most = max(spans.part(one["gap_us"], 0.95) for one in data["states"].values())
    gap = Panel("From the end of a turn to the next one, 95 % of them", (0, most * 1.1), "us", rows=names)
    for row, one in enumerate(data["states"].values()):
        gap.dots([(us, row + 0.5) for us in sorted(one["gap_us"])[:int(0.95 * len(one["gap_us"]))]], 0)
    saving = figures(data)["saving"]
    longer = Panel("How much longer turns are than those of one warp", (0, max(1, *saving.values()) * 1.1), "us", rows=names)
    for row, us in enumerate(saving.values()):
        longer.bar(0, us, row, 1)
    latest = max(us for one in data["requests"].values() for us in one["until_us"] + one["request_us"])
    asked = Panel("From a request to the other task's first kernel", (0, latest * 1.05), "us", rows=list(data["requests"]))
    for row, one in enumerate(data["requests"].values()):
        asked.dots([(us, row + 0.35) for us in one["request_us"]], 2, "the driver's answer")
        asked.dots([(us, row + 0.65) for us in one["until_us"]], 0, "the first kernel")
    return [gap, longer, asked]
