# SPDX-License-Identifier: MIT OR GPL-2.0
"""Whether a task is preempted in the middle of a kernel, and how long another one waits, by preemption mode."""

from nvdlab import spans
from nvdlab.bench import on_host
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Preemption",)
TITLE = "Preemption in the middle of a kernel, by mode"
PAPER = "none of these; RTAS 2024, Fig. 6 shows kernels of both tasks interrupted on a Pascal GPU"
# A kernel has WAVES waves of blocks, and each wave takes the whole GPU for BLOCK_US.
BLOCK_US, WAVES, KERNELS, MS = 12_000, 4, 8, 350
KERNEL_US = WAVES * BLOCK_US
MODES = ("as it is", "cilp", "cta", "wfi")
MODEL = Model(breaks={"preemption_modes": ["cta", "wfi"]})


def measure(bench):
    found = {}
    for mode in MODES:
        heavy = ("exec", {"kernel_us": BLOCK_US, "kernels": KERNELS, "blocks": f"{2 * WAVES}x", "threads": 1024,
                          "looking": WAVES})
        with bench.ready(heavy, ("ops", {"ms": MS, "kind": "launch", "pause_us": 3300})) as (one, other):
            if mode != "as it is":
                bench.tool("task", "set", one.pid, "--preemption", mode)
            one.go()
            bench.sleep(0.01)
            other.go()
            small, large = other.finish(), one.finish()
        origin = large["launched"] / 1000
        found[mode] = {
            "waits_us": [(end - begin) / 1000 for begin, end in small["spans"]],
            # The first block of each wave of each kernel.
            "blocks": [[(on_host(large, begin) - origin, on_host(large, end) - origin) for begin, end in block["ran"]]
                       for block in large["blocks"]],
        }
    return found


def pieces(one):
    return [len(block) for block in one["blocks"]]


def conclude(data):
    default = data["as it is"]
    waits = {mode: spans.median(one["waits_us"]) for mode, one in data.items()}
    longest = {mode: max(one["waits_us"]) for mode, one in data.items()}
    cuts = {mode: sum(pieces(one)) - len(one["blocks"]) for mode, one in data.items()}
    return [
        Claim("mid_kernel", f"blocks of {BLOCK_US / 1000:.0f} ms are interrupted {cuts['as it is']} times in "
              f"{len(default['blocks'])} blocks", cuts["as it is"] > len(default["blocks"])),
        Claim("bounded", f"a small kernel of another task waits {waits['as it is'] / 1000:.2f} ms (median; at most "
              f"{longest['as it is'] / 1000:.2f}), neither for a block's end nor for the kernel's",
              longest["as it is"] < BLOCK_US / 2),
        Claim("cilp", f"so it is with CILP: {waits['cilp'] / 1000:.2f} ms (at most {longest['cilp'] / 1000:.2f}), "
              f"{cuts['cilp']} interruptions",
              longest["cilp"] < BLOCK_US / 2 and cuts["cilp"] > len(default["blocks"])),
        Claim("cta", f"with CTA no block is interrupted ({cuts['cta']} times), and it waits {waits['cta'] / 1000:.2f} "
              f"ms (at most {longest['cta'] / 1000:.2f}): for the rest of blocks of {BLOCK_US / 1000:.0f} ms",
              not cuts["cta"] and BLOCK_US / 2 < longest["cta"] < 1.5 * BLOCK_US),
        Claim("wfi", f"with WFI no block is ({cuts['wfi']} times), and it waits {waits['wfi'] / 1000:.2f} ms (at most "
              f"{longest['wfi'] / 1000:.2f}): for the rest of kernels of {KERNEL_US / 1000:.0f} ms",
              not cuts["wfi"] and longest["wfi"] > 0.75 * KERNEL_US),
    ]


def picture(data):
    most = max(max(one["waits_us"]) for one in data.values()) / 1000
    panel = Panel("A small kernel beside kernels of 48 ms: from its launch to its end", (0, most * 1.02), "ms",
                  rows=list(data))
    for row, one in enumerate(data.values()):
        panel.dots([(us / 1000, row + 0.5) for us in one["waits_us"]], row)
    shown = Panel("When one block of each wave of the large kernels executes", (0, 150), "ms", rows=list(data))
    for row, one in enumerate(data.values()):
        for block in one["blocks"]:
            for begin, end in block:
                shown.bar(begin / 1000, end / 1000, row, row)
    return [panel, shown]
