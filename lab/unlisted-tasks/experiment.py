# SPDX-License-Identifier: MIT OR GPL-2.0
"""R3: to be scheduled, a channel must be on a runlist."""

from nvdlab.bench import SCHEDULE
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("R3",)
TITLE = "Out of the list, out of turn"
PAPER = "RTAS 2024, Sec. V.C (no figure): NVIDIA's sources say so, and every enabled channel was seen on a runlist"
SETTLED_US = 20_000
# include/hw/runlist.h
CHANNEL_CONFIG, ENABLE = 0x004, 1 << 1
MODEL = Model(breaks={"unlisted_stop": ["channel"]},
              numbers={"enabled_are_listed": "the driver has fewer channels of its own there",
                       "tsg": "nvdebugctl takes no time there", "channel": "nvdebugctl takes no time there"})


def enabled_and_listed(bench):
    """Returns, for each runlist with entries, the channels enabled in the channel RAM, and the channels in the list."""
    bases = {engine["runlist"]: int(engine["runlist_base"], 16) for engine in bench.data("engine", "list")
             if engine["runlist"] is not None and engine["runlist_base"]}
    listed = {}
    for channel in bench.data("channel", "list"):
        listed.setdefault(channel["runlist"], set()).add(channel["channel"])
    found = []
    for runlist, channels in sorted(listed.items()):
        config, = bench.registers(bases[runlist] + CHANNEL_CONFIG)
        ram, count = config & 0xfffffff0, 1 << (config & 0xf)
        words = []
        for first in range(0, count, 100):
            words += bench.registers(*(ram + 4 * number for number in range(first, min(count, first + 100))))
        found.append({"runlist": runlist, "channels": count, "listed": sorted(channels),
                      "enabled": [number for number, word in enumerate(words) if word & ENABLE]})
    return found


def listed(bench, tsgs):
    """Returns how many of these TSGs are in lists now."""
    now = bench.tsgs()
    return sum(tsg in now for tsg in tsgs)


def measure(bench):
    with bench.ready(*[("ops", {"ms": 6000, "kind": "launch", "pause_us": 10_000})] * 2) as running:
        begin = bench.now_us()
        for each in running:
            each.go()
        bench.sleep(0.2)
        lists = enabled_and_listed(bench)
        # TSGs are found again by their ids. Owners would not do: this process duplicates the other's descriptor, and so
        # counts as an owner, too.
        tsgs = {(channel["runlist"], channel["tsg"]) for channel in bench.channels(running[0].pid)}
        ask = bench.scheduling(running[0].pid)
        attempts = []
        for how in SCHEDULE:
            before = listed(bench, tsgs)
            statuses = ask(how, False)
            out = bench.now_us() - begin
            try:
                bench.sleep(0.1)
                during = listed(bench, tsgs)
                bench.sleep(0.1)
            finally:
                back = bench.now_us() - begin
                ask(how, True)
            attempts.append({"how": how, "statuses": statuses, "listed": [before, during, listed(bench, tsgs)],
                             "window": [out, back]})
            bench.sleep(0.1)
        found = [each.finish() for each in running]
    return {"attempts": attempts, "lists": lists,
            "operations": [[(start / 1000 - begin, end / 1000 - begin) for start, end in each["spans"]]
                           for each in found]}


def ended(data, task, window):
    return sum(window[0] + SETTLED_US < end < window[1] for _, end in data["operations"][task])


def conclude(data):
    claims = []
    unlisted = {entry["runlist"]: sorted(set(entry["enabled"]) - set(entry["listed"])) for entry in data["lists"]}
    enabled = sum(len(entry["enabled"]) for entry in data["lists"])
    claims.append(Claim("enabled_are_listed", f"of {sum(entry['channels'] for entry in data['lists'])} channels of "
                        f"{len(data['lists'])} runlists {enabled} are enabled, and each of these is on its runlist",
                        enabled > 0 and not any(unlisted.values())))
    for attempt in data["attempts"]:
        counts = [ended(data, task, attempt["window"]) for task in (0, 1)]
        gone = attempt["listed"][1] == 0
        claims.append(Claim(
            "tsg" if "TSG" in attempt["how"] else "channel",
            f"the driver's request to leave the list, {attempt['how']} (status "
            f"{', '.join(sorted({hex(status) for status in attempt['statuses']}))}): {attempt['listed'][1]} of "
            f"{attempt['listed'][0]} TSGs are on lists then, {counts[0]} of the task's kernels end, and {counts[1]} of "
            f"another's",
            (counts[0] == 0) == gone and counts[1] > 0))
    return claims


def picture(data):
    last = max(attempt["window"][1] for attempt in data["attempts"]) + 300_000
    first = min(attempt["window"][0] for attempt in data["attempts"]) - 300_000
    panel = Panel("Kernels of two tasks; in the shaded time the first one has been asked off its lists",
                  (first / 1000, last / 1000), "ms", rows=["asked to leave", "the other"])
    for row, task in enumerate(data["operations"]):
        for start, stop in task:
            panel.bar(start / 1000, max(stop, start + 300) / 1000, row, row)
    for attempt in data["attempts"]:
        panel.shade(attempt["window"][0] / 1000, attempt["window"][1] / 1000, 1)
    return [panel]
