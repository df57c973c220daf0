# SPDX-License-Identifier: MIT OR GPL-2.0
"""The cost of a context switch depends on the blocks, threads, registers and shared memory that it saves and loads."""

from nvdlab import spans
from nvdlab.bench import on_host
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Context switch",)
TITLE = "What a context switch costs, by size of the context"
PAPER = "none"
MS, LOOKING = 150, 12
# Blocks and threads of both tasks, by name. An SM has 65,536 registers of 4 bytes.
SIZES = {
    "1 block of 32 threads": {"blocks": "1", "threads": 32},
    "1 of 32 on each SM": {"blocks": "1x", "threads": 32},
    "1 of 1,024 on each SM": {"blocks": "1x", "threads": 1024},
    "2 of 1,024": {"blocks": "2x", "threads": 1024},
    "1 of 256, many registers": {"blocks": "1x", "threads": 256, "kernel": "log_wide"},
    "1 of 32, 224 KiB shared": {"blocks": "1x", "threads": 32, "shared": 224 << 10},
    "1 of 256, many reg., 224 KiB": {"blocks": "1x", "threads": 256, "kernel": "log_wide", "shared": 224 << 10},
}
SHARED = ("1 of 32, 224 KiB shared", "1 of 256, many reg., 224 KiB")
MODEL = Model(breaks={"switch_costs": ["grows", "threads"]})


def slices(found):
    """Returns (first begin, last begin, first end, last end) of a task's blocks in each slice, in us."""
    blocks = [[(on_host(found, begin), on_host(found, end)) for begin, end in block["ran"]]
              for block in found["blocks"]]
    when = spans.merged([span for block in blocks for span in block], gap=20)
    found, at = [], [0] * len(blocks)
    for begin, end in when:
        inside = []
        for number, block in enumerate(blocks):
            while at[number] < len(block) and block[at[number]][0] < end:
                if block[at[number]][0] >= begin:
                    inside.append(block[at[number]])
                at[number] += 1
        found.append((begin, max(one[0] for one in inside), min(one[1] for one in inside), end))
    return found


def measure(bench):
    found = {}
    for name, how in SIZES.items():
        both = bench.together(*[("exec", {"ms": MS, "looking": LOOKING, **how})] * 2)
        tasks = [slices(one) for one in both]
        origin = min(task[0][0] for task in tasks)
        found[name] = {"registers": both[0]["registers"], "sms": both[0]["sms"], **how,
                       "blocks": both[0]["all_blocks"],
                       "slices": [[[time - origin for time in one] for one in task] for task in tasks]}
    return found


def held_bytes(one):
    """Returns the bytes of registers and shared memory that the blocks of a task hold on all SMs."""
    return one["blocks"] * (one["threads"] * one["registers"] * 4 + one.get("shared", 0))


def switches(one):
    """Returns two lists of times, in us, with an item for each switch.

    The first list has the times without any block: from the last end in one task to the first begin in the other. The
    second has the times in which not all blocks run: from the first end in one task to the last begin in the other.
    """
    order = sorted((slice[0], slice, task) for task, all_of in enumerate(one["slices"]) for slice in all_of)
    pairs = [(a[1], b[1]) for a, b in zip(order, order[1:]) if a[2] != b[2]]
    return [b[0] - a[3] for a, b in pairs], [b[1] - a[2] for a, b in pairs]


def conclude(data):
    costs = {name: [spans.median(each) for each in switches(one)] for name, one in data.items()}
    sizes = {name: held_bytes(one) for name, one in data.items()}
    small, large = min(sizes, key=sizes.get), max(sizes, key=sizes.get)
    return [
        Claim("seen", f"at least {min(len(switches(one)[0]) for one in data.values())} switches of each size",
              min(len(switches(one)[0]) for one in data.values()) >= 10),
        Claim("small", f"{sizes[small] / 1024:.0f} KiB held: {costs[small][0]:.0f} us without any block, "
              f"{costs[small][1]:.0f} us without all", 0 < costs[small][0] < 200),
        Claim("grows", f"{sizes[large] / 2**20:.1f} MiB held: {costs[large][0]:.0f} us and {costs[large][1]:.0f} us",
              costs[large][1] > 1.2 * costs[small][1]),
        Claim("threads", "shared memory costs more where there are few threads: 224 KiB on each SM "
              f"{costs[SHARED[0]][0]:.0f} us with 32 threads, {costs[SHARED[1]][0]:.0f} us with 256 that have "
              "registers, too",
              costs[SHARED[0]][0] > 1.2 * costs[SHARED[1]][0]),
    ]


def picture(data):
    costs = {name: switches(one) for name, one in data.items()}
    most = max(spans.part(each, 0.95) for both in costs.values() for each in both)
    panel = Panel("A switch between two equal tasks, 95 % of them",
                  (0, most * 1.05), "us", rows=[name for name in costs], height=230)
    for row, both in enumerate(costs.values()):
        for number, each in enumerate(both):
            kept = [us for us in each if us <= spans.part(each, 0.95)]
            panel.dots([(us, row + 0.3 + 0.4 * number) for us in kept], number,
                       ("no block runs", "not all run")[number])
    return [panel]
