#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Makes tables, in Markdown, of files that qos_reach.py wrote.

    reach_summary.py FILE [FILE ...]

A file whose name ends with .xz is decompressed.

*Reach* is the part of the cases in which the first kernel had its goal. Goals are in percent of the mean of the kernel's
rates alone before and after the case. A case counts strictly, and if it has 0.99 or 0.98 of the goal. *Overshoot* is how
far the rate is above the goal, over the cases reached at 0.99. *Throughput* is the second kernel's rate in percent of its
rate alone: over the cases that a way itself reached, and over the common cases, which all ways reached. A refused case
counts as not reached. A failed case is not counted, but listed. A second table has only the cases in which all rates alone
of the first kernel are within 2 %.
"""

import json
import lzma
import pathlib
import sys

AT = 0.99
KNOWN = 0.02
TOLERANCES = (1, AT, 0.98)


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def percent(value, digits=1):
    return "–" if value is None else f"{100 * value:.{digits}f}"


def alone(found, kind, at_s):
    """The mean of the last rate before and the first one after, as far as they are there."""
    rows = [row for row in found["alone"] if row["kind"] == kind]
    before, after = [row for row in rows if row["at_s"] <= at_s], [row for row in rows if row["at_s"] > at_s]
    return mean(row["rate"] for row in before[-1:] + after[:1])


def is_known(found, kind):
    """Did all rates alone of a kind agree? Else a goal, which is a part of them, is not known as exactly as it is compared."""
    rates = [row["rate"] for name in ("alone", "alone_prepared", "alone_busy") for row in found.get(name, ()) if row["kind"] == kind]
    return max(rates) - min(rates) <= KNOWN * mean(rates)


def cases(found, source):
    """Each way × pair × goal that has a result; runs without a goal are a case of each goal."""
    for run in found["runs"]:
        if "failed" in run:
            continue
        for goal in [run["goal"]] if run["goal"] is not None else found["goals"]:
            case = {"way": run["way"], "case": (source, *run["pair"], goal), "pair": run["pair"], "goal": goal,
                    "is_known": is_known(found, run["pair"][0]), "refused": "refused" in run, "of_goal": 0, "beside": None,
                    "slowest": None}
            if not case["refused"]:
                base = [alone(found, kind, run["at_s"]) for kind in run["pair"]]
                case |= {"of_goal": run["rates"][0] / base[0] / (goal / 100), "beside": run["rates"][1] / base[1],
                         "slowest": run["slowest"][0] / base[0] / (goal / 100)}
            yield case


def is_reached(case, tolerance=AT):
    return not case["refused"] and case["of_goal"] >= tolerance


def common(found):
    """Cases that every way has a result of, and reached."""
    ways = {case["way"] for case in found}
    reached = {}
    for case in found:
        if is_reached(case):
            reached.setdefault(case["case"], set()).add(case["way"])
    return {case for case, by in reached.items() if by == ways}


def row(name, found, shared):
    if not found:
        return [name, "0"] + ["–"] * 7
    reached = [case for case in found if is_reached(case)]
    return [name, str(len(found)), *(percent(mean(is_reached(case, at) for case in found)) for at in TOLERANCES),
            percent(mean(case["of_goal"] - 1 for case in reached)),
            percent(mean(case["beside"] for case in reached)),
            percent(mean(case["beside"] for case in reached if case["case"] in shared)),
            percent(mean(case["slowest"] for case in reached))]


HEADER = ["", "cases", "reach, strict %", "at 0.99 %", "at 0.98 %", "overshoot %", "throughput %, own", "common",
          "slowest 0.1 s, % of goal"]


def table(first, rows):
    lines = [[first, *HEADER[1:]], ["---"] * len(HEADER), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def ordered(values, order):
    return sorted(set(values), key=lambda value: (order.index(value) if value in order else len(order), value))


def summary(files):
    """@returns the page's text"""
    found, text, missing, failed = [], [], [], []
    ways, kinds = [], []
    for path, one in files:
        found += cases(one, path.name if len(files) == 1 else str(path))
        missing += one["not_run"]
        failed += [run for run in one["runs"] if "failed" in run]
        ways += [way for way in one["ways"] if way not in ways]
        kinds += [kind for kind in one["kinds"] if kind not in kinds]
        text.append(f"{one['gpu']}; seed {one['seed']}, {one['seconds']:g} s a run, {len(one['runs'])} runs of "
                    f"{len(one['runs']) + len(one['not_run'])}.\n")
    shared = common(found)
    text.append(table("way", [row(way, [case for case in found if case["way"] == way], shared) for way in ways]))
    text.append(f"Common cases: {len(shared)}.\n")
    known = [case for case in found if case["is_known"]]
    if known and len(known) < len(found):
        text.append(f"Where the first kernel's speed alone is known to {percent(KNOWN, 0)} %\n\n" + table("way", [
            row(way, [case for case in known if case["way"] == way], common(known)) for way in ways]))
    for goal in sorted({case["goal"] for case in found}):
        text.append(f"Goal {goal} %\n\n" + table("way", [
            row(way, [case for case in found if case["way"] == way and case["goal"] == goal], shared) for way in ways]))
    for place, name in ((0, "with the goal"), (1, "beside it")):
        rows = [row(f"{kind}, {way}", [case for case in found if case["way"] == way and case["pair"][place] == kind], shared)
                for kind in ordered((case["pair"][place] for case in found), kinds) for way in ways]
        text.append(f"By the kernel {name}\n\n" + table("kernel, way", [cells for cells in rows if cells[1] != "0"]))
    drift = list(drifts(files))
    if drift:
        text.append(f"Rates alone, from one to the next of the same kernel: {percent(min(drift))} to {percent(max(drift))} %.\n")
    for name, what in (("alone_prepared", "that nvtaskset starts at an MPS server"), ("alone_busy", "with a busy processor beside")):
        rates = [row["rate"] / alone(one, row["kind"], row["at_s"]) - 1 for _, one in files for row in one.get(name, ())]
        if rates:
            text.append(f"Rates alone {what}, beside those without: {percent(min(rates))} to {percent(max(rates))} %.\n")
    for title, rows in (("Failed", [(run, run["failed"]) for run in failed]),
                        ("Refused", [(run, run["refused"]) for _, one in files for run in one["runs"] if "refused" in run]),
                        ("Not run", [(run, run["why"]) for run in missing])):
        counts = {}
        for run, why in rows:
            counts.setdefault(why, []).append(f"{' beside '.join(run['pair'])}, {run['way']}"
                                              + (f", {run['goal']} %" if run["goal"] else ""))
        text.append(f"{title}: {len(rows)}\n" + "".join(
            f"* {why}: {len(which)}: {'; '.join(which)}\n" for why, which in counts.items()))
    return "\n".join(text)


def drifts(files):
    for _, one in files:
        for kind in one["kinds"]:
            rates = [row["rate"] for row in one["alone"] if row["kind"] == kind]
            yield from (after / before - 1 for before, after in zip(rates, rates[1:]) if before)


def load(path):
    try:
        data = path.read_bytes()
        return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
    except (OSError, ValueError, lzma.LZMAError) as error:
        sys.exit(f"reach_summary: {path} cannot be read: {error}")


def main():
    if len(sys.argv) < 2:
        sys.exit("reach_summary: name one or more files that qos_reach.py wrote")
    print(summary([(path, load(path)) for path in map(pathlib.Path, sys.argv[1:])]))


if __name__ == "__main__":
    main()
