#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Computes what turns of a GPU cost, from recordings of runs of qos_thinking.py. It needs no GPU.

    turn_costs.py FOLDER RECORDING [RECORDING ...]

FOLDER has what qos_thinking.py wrote. Each RECORDING is a file of `nvdebugctl record -o RECORDING` that was made during one or
more of its runs. Runs that no recording has from their begin to their end are left out. Writes FOLDER/turn_costs.json with
the percentiles 5, 50 and 95 of

    gap_us    the time from the end of a turn to the next turn
    late_us   how much longer a turn is than its timeslices. A turn has more than one timeslice if no other task has work when
              the first one ends. Turns that are more than 0.2 ms longer count as ended by the task itself

and with the medians of all runs. `turns_of_timeslices` has how many turns had one timeslice, two, and so on. `lost_us` is the
time of a turn in which the training makes no progress. The time on the GPU for a step is its work, `step_ms`, plus `lost_us` for
each turn. That line is fitted to the runs in which a step takes at least four turns: the processor then launches ahead, so that
turns do not wait for launches. `off_us` is the largest distance of a run from the line, for each turn.
"""

import argparse
import bisect
import collections
import json
import pathlib
import statistics

from common import bounded, record, run

MS, US = 1_000_000, 1000
SETTLED_NS = 30 * MS   # A turn that begins so late in an epoch has the timeslice that nvqos set at the epoch's begin.
LATEST_NS = 200 * US
TURNS_OF_A_STEP = 4    # at least, in the runs of the fit


def objects(path):
    """Returns the JSON objects of a file that has one on each line."""
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        raise bounded.Failed(f"{path} is damaged: {error}; record the run again") from None


def turns(path):
    """Returns the turns of a recording, (begin, end, pid), in ns of the GPU's clock."""
    origin, found = 0, []
    for each in objects(path):
        if each.get("kind") == "origin":
            origin = int(each["gpu_ns"])
        elif each.get("kind") == "turn" and each["engine"] == "GR0":
            found.append((origin + each["begin_ns"], origin + each["end_ns"], each["pid"]))
    if not found:
        raise bounded.Failed(f"{path} has no turns; record them with 'nvdebugctl record'")
    return found


def timeslice_ns(us):
    """Returns how long a timeslice is that nvqos asks for.

    The driver's microseconds have 1,024 ns, and its scale keeps eight bits (docs/hardware-measured.md).
    """
    shift = max(0, int(us).bit_length() - 8)
    return 1024 * (int(us) >> shift << shift)


def percentiles(values_ns):
    """Returns the percentiles 5, 50 and 95 in us, or None for less than 20 values."""
    if len(values_ns) < 20:
        return None
    cuts = statistics.quantiles(values_ns, n=20)
    return [round(cuts[n] / US, 1) for n in (0, 9, 18)]


def late(found, epochs, name):
    """Returns how late each turn of a tenant ended that a timeslice ended, and the number of its timeslices.

    nvqos writes an epoch at its end, with the timeslice of the next epoch.
    """
    begins = [epoch["begin_ns"] for epoch in epochs]
    for begin, end, pid in found:
        number = bisect.bisect(begins, begin) - 1
        if str(pid) != name or number < 1 or begin < begins[number] + SETTLED_NS or end > epochs[number]["end_ns"]:
            continue
        us = next(tenant["timeslice_us"] for tenant in epochs[number - 1]["tenants"] if tenant["name"] == name)
        whole, rest = divmod(end - begin, timeslice_ns(us))
        if whole >= 1 and rest <= LATEST_NS:
            yield rest, whole


def names(epochs):
    """Returns the names of a run's two tenants, which are their pids."""
    return [tenant["name"] for tenant in epochs[0]["tenants"][:2]]


def has_run(found, epochs):
    """Returns whether a recording has the turns of a run. One of another GPU has other processes."""
    return (found[0][0] <= epochs[0]["begin_ns"] and found[-1][1] >= epochs[-1]["end_ns"]
            and {str(pid) for _, _, pid in found}.issuperset(names(epochs)))


def costs_of(each, epochs, found):
    """Returns the row of a run, all its gaps, and how late all its turns ended."""
    found = [turn for turn in found if turn[0] >= epochs[0]["begin_ns"] and turn[1] <= epochs[-1]["end_ns"]]
    seconds = (epochs[-1]["end_ns"] - epochs[0]["begin_ns"]) / 1e9
    gaps = [after[0] - before[1] for before, after in zip(found, found[1:]) if after[2] != before[2]]
    tenants, all_late = [], []
    for per_s, name in zip(each["per_s"], names(epochs)):
        mine = [end - begin for begin, end, pid in found if str(pid) == name]
        cut = list(late(found, epochs, name))
        all_late += [rest for rest, _ in cut]
        tenants.append({"steps_per_s": per_s, "turns_per_s": round(len(mine) / seconds, 2),
                        "ms_per_s": round(sum(mine) / MS / seconds, 2),
                        "turns_of_timeslices": dict(sorted(collections.Counter(whole for _, whole in cut).items())),
                        "late_us": percentiles([rest for rest, _ in cut])})
    return {"row": each["row"], "run": each["run"], "gap_us": percentiles(gaps), "tenants": tenants}, gaps, all_late


def fitted(rows):
    """Returns the work of a training's step and what it loses in each turn."""
    trainings = [row["tenants"][1] for row in rows if not row["row"].startswith("loop")]
    points = [(one["turns_per_s"] / one["steps_per_s"], one["ms_per_s"] / one["steps_per_s"]) for one in trainings]
    points = [point for point in points if point[0] >= TURNS_OF_A_STEP]
    if len({turns_of_step for turns_of_step, _ in points}) < 2:
        raise bounded.Failed(f"two runs with at least {TURNS_OF_A_STEP} turns for a step of the training are needed; record the "
                             "rows 'served-10' and 'served-40' of qos_thinking.py")
    lost, work = statistics.linear_regression(*zip(*points))
    off = max(abs(ms - work - lost * count) / count for count, ms in points)
    return {"step_ms": round(work, 3), "lost_us": round(1000 * lost, 1), "off_us": round(1000 * off, 1), "fitted_runs": len(points)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("recordings", type=pathlib.Path, nargs="+", metavar="RECORDING")
    options = parser.parse_args()
    whole = json.loads((options.folder / "qos_thinking.json").read_text(encoding="utf-8"))
    recorded = [turns(path) for path in options.recordings]
    rows, gaps, all_late = [], [], []
    for each in whole["runs"]:
        epochs = objects(options.folder / f"{each['row']}-{each['run']}.ndjson")
        for found in recorded:
            if has_run(found, epochs):
                row, of_gaps, of_late = costs_of(each, epochs, found)
                rows.append(row)
                gaps += of_gaps
                all_late += of_late
    if not rows:
        raise bounded.Failed(f"no recording has a whole run of {options.folder}/qos_thinking.json")
    costs = {"gap_us": percentiles(gaps)[1], "late_us": percentiles(all_late)[1]} | fitted(rows)
    record.write(options.folder / "turn_costs.json", {"program": whole["program"], "gpu": whole["gpu"], "costs": costs, "runs": rows})


if __name__ == "__main__":
    run(main)
