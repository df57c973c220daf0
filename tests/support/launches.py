# SPDX-License-Identifier: MIT OR GPL-2.0
"""Files of launches, as `nvtaskset --kernels` writes them."""

import json


def lines_of(path):
    """Returns the whole lines of a file, which a process may be writing."""
    text = path.read_text(encoding="ascii")
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


def noted(path):
    """Returns the launches of a file, each with its name; that of a graph is "graph"."""
    names, launches = {}, []
    for line in lines_of(path):
        if line["kind"] == "kernel":
            names[line["kernel"]] = line["name"]
        elif line["kind"] == "launch":
            launches.append(line | {"name": names[line["kernel"]] if "kernel" in line else "graph"})
    return launches


def write(path, pid, boottime_ns, realtime_ns, *lines, head=None):
    """Writes a file of process PID. Its times are since a moment by both clocks. HEAD replaces keys of the first line."""
    first = {"kind": "launches", "version": "1.0", "pid": pid, "process": "load", "monotonic_ns": str(boottime_ns),
             "realtime_ns": str(realtime_ns), "boottime_ns": str(boottime_ns)} | (head or {})
    path.write_text("".join(json.dumps(line) + "\n" for line in (first, *lines)), encoding="ascii")


def kernel(number, name):
    return {"kind": "kernel", "kernel": number, "name": name}


def launch(number, begin_ns, took_ns=5000, thread=1, **more):
    return {"kind": "launch", "ns": begin_ns, "took_ns": took_ns, "thread": thread, "context": 4096, "stream": 0,
            "kernel": number, "grid": [8, 4, 2], "block": [256, 1, 1]} | more


def graph_launch(handle, begin_ns, took_ns=5000, thread=1):
    return {"kind": "launch", "ns": begin_ns, "took_ns": took_ns, "thread": thread, "context": 4096, "stream": 7, "graph": handle}
