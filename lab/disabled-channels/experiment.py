# SPDX-License-Identifier: MIT OR GPL-2.0
"""R1: whatever uses an engine goes through a channel; while a task's channels are disabled, all of it waits."""

from nvdlab import spans
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("R1",)
TITLE = "Disabled channels stop everything"
PAPER = ("RTAS 2024, Sec. V.B (no figure; nine GPUs): with all channels of a task disabled, no kernel, copy or "
         "allocation of memory that is mapped for the GPU completes until they are enabled again")
ENGINES = ("launch", "h2d", "d2h", "d2d", "set")     # operations that take an engine
MEMORY = ("alloc", "managed", "host")                # allocations: measured, but no outcome is asserted
NAMES = {"launch": "kernel", "h2d": "copy to the GPU", "d2h": "copy to the host",
         "d2d": "copy on the GPU", "set": "memset",
         "alloc": "cuMemAlloc", "managed": "cuMemAllocManaged", "host": "cuMemHostAlloc"}
# An operation that is under way when its channels are disabled may still end within this time.
SETTLED_US = 20_000
MODEL = Model(breaks={"disabled_stop": ["stops"]},
              numbers={"stops": "nvdebugctl takes no time there", "goes_on": "nvdebugctl takes no time there"})


def of(channel, pid):
    return bool(channel["process"]) and channel["process"]["pid"] == pid


def measure(bench):
    kinds = ENGINES + MEMORY
    with bench.ready(*(("ops", {"ms": 4000, "kind": kind, "pause_us": 4000}) for kind in kinds)) as running:
        pids = [each.pid for each in running]
        begin = bench.now_us()
        for each in running:
            each.go()
        bench.sleep(0.4)
        bench.tool("task", "pause", *pids)
        paused = bench.now_us()
        bench.sleep(0.5)
        channels = bench.data("channel", "list")
        resumes = bench.now_us()
        bench.tool("task", "resume", *pids)
        found = [each.finish() for each in running]
    return {
        "paused": [paused - begin, resumes - begin],
        # The task's channels by kind of operation: [enabled, in lists].
        "channels": {kind: [sum(channel["enabled"] for channel in channels if of(channel, pid)),
                            sum(of(channel, pid) for channel in channels)] for kind, pid in zip(kinds, pids)},
        "operations": {kind: [(start / 1000 - begin, end / 1000 - begin) for start, end in each["spans"]]
                       for kind, each in zip(kinds, found)},
    }


def over(data, kind, begin, end):
    return [op for op in data["operations"][kind] if begin <= op[1] < end]


def conclude(data):
    begin, end = data["paused"]
    meanwhile = {kind: len(over(data, kind, begin + SETTLED_US, end)) for kind in data["operations"]}
    around = {kind: min(len(over(data, kind, 0, begin)), len(over(data, kind, end, 1e12)))
              for kind in data["operations"]}
    waited = [kind for kind in MEMORY if not meanwhile[kind]]
    went_on = [kind for kind in MEMORY if meanwhile[kind]]
    return [
        Claim("off", f"meanwhile {sum(enabled for enabled, _ in data['channels'].values())} of their "
              f"{sum(listed for _, listed in data['channels'].values())} channels on lists are enabled",
              all(enabled == 0 < listed for enabled, listed in data["channels"].values())),
        Claim("stops", f"operations that ended in {(end - begin - SETTLED_US) / 1000:.0f} ms without channels: "
              + ", ".join(f"{NAMES[kind]} {meanwhile[kind]}" for kind in ENGINES),
              not any(meanwhile[kind] for kind in ENGINES)),
        Claim("goes_on", f"each kind ended at least {min(around[kind] for kind in ENGINES)} times before, and so often "
                         f"after",
              all(around[kind] for kind in ENGINES)),
        Claim("allocations", f"allocations that waited: {', '.join(NAMES[kind] for kind in waited) or 'none'}; that "
              f"went on: {', '.join(NAMES[kind] for kind in went_on) or 'none'} (in the paper, all of memory that is "
              "mapped for the GPU waited)", all(around[kind] for kind in MEMORY)),
    ]


def picture(data):
    begin, end = data["paused"]
    rows = list(data["operations"])
    last = end + begin
    panel = Panel("Operations, a process each; shaded: from the end of task pause to the begin of task resume",
                  (0, last / 1000), "ms",
                  rows=[NAMES[kind] for kind in rows])
    for row, kind in enumerate(rows):
        for start, stop in spans.merged(data["operations"][kind], gap=0):
            panel.bar(start / 1000, max(stop, start + 300) / 1000, row, 0 if kind in ENGINES else 2,
                      "takes an engine" if kind in ENGINES else "allocates")
    panel.shade(begin / 1000, end / 1000, 1)
    return [panel]
