# SPDX-License-Identifier: MIT OR GPL-2.0
"""Reads workload files, independently of the model's own loader."""

import dataclasses
import json

from nvdvm import paths

DEFAULT_TIMESLICE = {"timeout": 128, "scale": 3}


@dataclasses.dataclass
class Channel:
    number: int
    enabled: bool
    runqueue: int


@dataclasses.dataclass
class Tsg:
    number: int
    timeout: int
    scale: int
    channels: list


def load(name):
    return json.loads((paths.WORKLOADS / f"{name}.json").read_text(encoding="utf-8"))


def runlists(workload, runlist_of, per_runlist, fault_bits):
    """Returns {runlist: [Tsg]} for a workload that consists of TSGs.

    Ids that the file leaves open count from 0, for the GPU or (`per_runlist`) for each runlist. If channels have no
    fault bits, a faulted channel is only disabled.
    """
    lists, by_task, spaces = {}, {}, {}
    for entry in workload["entries"]:
        if entry.get("kind") == "again":
            runlist, tsg = by_task[entry["task"]]
            lists[runlist].append(tsg)
            continue
        engine = entry["engine"]
        for n in range(entry.get("repeat", 1)):
            runlist = runlist_of[engine.replace("GRCE", "LCE")]
            space = runlist if per_runlist else None
            tsg = _tsg(entry, spaces.setdefault(space, {"tsg": 0, "channel": 0}), fault_bits)
            lists.setdefault(runlist, []).append(tsg)
            by_task[entry["task"].replace("{n}", str(n))] = runlist, tsg
    return lists


def _tsg(entry, ids, fault_bits):
    channels = []
    for wanted in entry["channels"]:
        enabled = wanted.get("enabled", True) and (fault_bits or "fault" not in wanted)
        for _ in range(wanted.get("repeat", 1)):
            channels.append(Channel(_number(wanted, ids, "channel"), enabled,
                                    wanted.get("runqueue", 0)))
    timeslice = entry.get("timeslice", DEFAULT_TIMESLICE)
    if "timeslice_us" in entry:
        timeslice = _encode(entry["timeslice_us"])
    return Tsg(_number(entry, ids, "tsg"), timeslice["timeout"], timeslice["scale"], channels)


def _number(entry, ids, kind):
    number = entry.get("id", ids[kind])
    ids[kind] = max(ids[kind], number) + 1
    return number


def _encode(microseconds):
    """Returns the longest timeslice of (timeout << scale) units of 1.024 us that does not exceed the time."""
    units, scale = int(microseconds / 1.024), 0
    while units > 255:
        units, scale = units >> 1, scale + 1
    return {"timeout": units, "scale": scale}
