#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Prints where the time goes that an engine leaves and its neighbour does not use.

    loss.py FOLDER
    loss.py RECORD

FOLDER is that of a call of tests/hardware/qos_llm.py with --nvdebugctl: it has the record qos_llm.json, and for each cell a
recording of all turns on the GPU. The time without requests goes from the end of a busy period to the next request. The time
that the neighbour lost is this time, less its steps times the length of a step alone. Its parts add up to it:

    late     from the end of a busy period to the neighbour's first turn: it is still paused, or has no work
    engine   other programs' turns behind that, such as a step of the engine after its last token
    nobody   no turn behind that: switches
    slower   the neighbour's turns, less its steps times the length of a step alone: it waits for its processor, or its clocks are low
    busy     the neighbour's turns in busy periods, which it gains

A turn goes on until another program's turn begins, also without work. Probes are runs of the neighbour's turns in a busy period, at
most 2 ms apart, from 4 ms behind its begin on (nvqos looks first after 5 ms): how many a period has, and how long the engine waits
for one, without the first and the last switch. Of a RECORD alone (qos_llm.json or qos_llm.json.xz) it
prints how long those of the neighbour's steps took that met no request: they differ only if the neighbour itself does.
"""

import argparse
import collections
import itertools
import json
import lzma
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))

# pylint: disable=wrong-import-position
from nvdlab.llm import figures, table  # noqa: E402

PARTS = ("late", "engine", "nobody", "slower", "busy")
COLUMNS = ("row", "beside", "load", "without requests (s)", "times without", "lost (ms each)", "late (p50, p99)", *PARTS[1:-1],
           "gained while busy", "probes (number, ms of one)")
PROBES_FROM_US, APART_US = 4000, 2000


def file_of(key):
    """Returns the name of a cell's recording."""
    return f"turns-{key.replace('/', '-')}.ndjson"


def turns_of(lines):
    """Returns {pid: [[begin, end] …]} of the turns on GR0, in microseconds of CLOCK_MONOTONIC, of the GPU with the most turns.

    @param lines are those of a recording of nvdebugctl (docs/nvdebugctl.md#recordings). Between two readings of the clocks
    the GPU's clock may drift by some 20 us.
    """
    origins, later, found = {}, {}, collections.defaultdict(lambda: collections.defaultdict(list))
    for line in map(json.loads, lines):
        gpu = line.get("gpu")
        if line["kind"] == "origin":
            if line["monotonic_ns"] is None:
                raise table.Wrong("the recording does not have the machine's clock, so that its turns fit to no request")
            origins[gpu] = int(line["monotonic_ns"])
        elif line["kind"] == "clock":
            later[gpu] = line["monotonic_ns"] - line["gpu_ns"]
        elif line["kind"] == "turn" and line["engine"] == "GR0":
            at = origins[gpu] + later.get(gpu, 0)
            found[gpu][line["pid"]].append([(at + line["begin_ns"]) / 1000, (at + line["end_ns"]) / 1000])
    if not found:
        raise table.Wrong("the recording has no turns of GR0; nvdebugctl needs root")
    return dict(max(found.values(), key=lambda each: sum(map(len, each.values()))))


def between(periods, begin, end):
    """Returns the parts of [begin, end] that are in no period."""
    edges = [begin, *itertools.chain.from_iterable(figures.cut(periods, begin, end)), end]
    return [[first, last] for first, last in zip(edges[::2], edges[1::2]) if last > first]


def probes_of(mine, others, periods):
    """Returns how long each probe of the neighbour's turns MINE kept the others waiting, in microseconds."""
    runs = []
    for begin, end in periods:
        for first, last in figures.cut(mine, begin + PROBES_FROM_US, end):
            if runs and first - runs[-1][1] <= APART_US:
                runs[-1][1] = last
            else:
                runs.append([first, last])
    return [last - first - figures.length(figures.cut(others, first, last)) for first, last in runs]


def parts_of(cell, per_s_alone, turns):
    """Returns the parts of the lost time in ms, by name, the length of each wait (`waits`) and of each probe (`probes`), the
    number of busy `periods`, and `free` and `lost`.

    @param cell has its times from `begin_us` on, and `neighbour_pid`
    @param turns of turns_of()
    """
    begin, end = figures.window(cell["requests"])
    periods = figures.busy(cell["requests"])
    mine, others = [], []
    for pid, spans in turns.items():
        shifted = [[first - cell["begin_us"], last - cell["begin_us"]] for first, last in spans]
        (mine if pid == cell["neighbour_pid"] else others).extend(shifted)
    mine, others = sorted(mine), sorted(others)
    free = between(periods, begin, end)
    made = figures.progress(cell["steps"], begin, end) * 1e6 / per_s_alone
    sums, waits = dict.fromkeys(PARTS, 0), []
    for first, last in free:
        here = figures.cut(mine, first, last)
        came = here[0][0] if here else last
        waits.append(came - first)
        others_later = figures.length(figures.cut(others, came, last))
        sums["late"] += came - first
        sums["engine"] += others_later
        sums["nobody"] += last - came - figures.length(here) - others_later
    taken = figures.cut(periods, begin, end)
    sums["busy"] = sum(figures.length(figures.cut(mine, *period)) for period in taken)
    sums["slower"] = figures.length(figures.cut(mine, begin, end)) - made
    return {name: us / 1000 for name, us in sums.items()} | {
        "waits": [us / 1000 for us in waits], "probes": [us / 1000 for us in probes_of(mine, others, taken)], "periods": len(taken),
        "free": figures.length(free) / 1000, "lost": (figures.length(free) - made) / 1000}


def read(path):
    """Returns the turns of a recording, which may be compressed by xz. Raises Wrong."""
    packed = path.with_name(path.name + ".xz")
    try:
        with lzma.open(packed, "rt") if packed.exists() else open(path, encoding="utf-8") as file:
            return turns_of(file)
    except (OSError, ValueError, KeyError, lzma.LZMAError) as error:
        raise table.Wrong(f"{path} cannot be read as a recording: {error!r}") from None


def line_of(key, found):
    """Returns a line of the table from the parts of some cells."""
    count = sum(len(each["waits"]) for each in found)
    waits = [wait for each in found for wait in each["waits"]]

    def mean(name):
        return f"{sum(each[name] for each in found) / count:.1f}"
    late = f"{mean('late')} ({table.number(figures.percentile(waits, 0.5))}, {table.number(figures.percentile(waits, 0.99))})"
    probes = [probe for each in found for probe in each["probes"]]
    asked = f"{len(probes) / sum(each['periods'] for each in found):.1f}, {table.number(table.mean(probes))}"
    return "| " + " | ".join((*key, f"{sum(each['free'] for each in found) / 1000:.1f}", str(count), mean("lost"), late,
                              *map(mean, PARTS[1:]), asked)) + " |"


def markdown(record, folder):
    """Returns the table of a record, a line for each row, neighbour, load and kind of arrivals. Raises Wrong."""
    found = collections.defaultdict(list)
    for cell in record["cells"]:
        if "neighbour_pid" in cell and not cell.get("crash"):
            key = (cell["row"], cell["neighbour"], f"{cell['load']} %" + (", bursts" if cell["arrivals"] == "bursts" else ""))
            per_s = cell.get("alone_per_s") or record["neighbours"][cell["neighbour"]]["per_s"]
            found[key].append(parts_of(cell, per_s, read(folder / file_of(cell["key"]))))
    if not found:
        raise table.Wrong("the record has no cell with a recording; give qos_llm.py --nvdebugctl")
    lines = [line_of(key, some) for key, some in found.items() if any(each["waits"] for each in some)]
    return "\n".join([f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|", *lines]) + "\n"


def alone_ms(cell):
    """Returns the lengths of the neighbour's steps between the first and the last busy period of a cell that met no request."""
    periods = figures.busy(cell["requests"])
    return [(end - begin) / 1000 for begin, end in zip(cell["steps"], cell["steps"][1:])
            if periods[0][1] <= begin and end <= periods[-1][1] and not figures.cut(periods, begin, end)]


def steps(record):
    """Returns a table of the neighbour's steps that met no request, a line for each cell with three of them."""
    found = [(cell, alone_ms(cell)) for cell in record["cells"] if cell["steps"] and cell["requests"] and cell["neighbour"] != "none"]
    lines = [f"| {cell['key']} | {len(lengths)} | " + ", ".join(f"{figures.percentile(lengths, part):.1f}" for part in (0.1, 0.5, 0.9)) + " |"
             for cell, lengths in found if len(lengths) > 2]
    return "\n".join(["| cell | steps without a request | p10, p50, p90 (ms) |", "|---|---|---|", *lines]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", metavar="FOLDER|RECORD", type=pathlib.Path)
    place = parser.parse_args().place
    try:
        print(markdown(table.load(place / "qos_llm.json"), place) if place.is_dir() else steps(table.load(place)), end="")
    except (table.Wrong, OSError) as error:
        sys.exit(f"loss.py: {error}")


if __name__ == "__main__":
    main()
