# SPDX-License-Identifier: MIT OR GPL-2.0
"""A small copy waits for the larger copies that were queued before it on the same engine."""

import math

from nvdlab import spans
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Copies",)
TITLE = "A small copy behind large ones"
PAPER = "none; users report 51 KB that wait for 12 ms"
MS = 300
BIG = 64 << 20
WAYS = {
    "alone": {},
    "1 queued": {"depth": 1}, "2 queued": {"depth": 2}, "4 queued": {"depth": 4}, "8 queued": {"depth": 8},
    "4 queued, urgent stream": {"depth": 4, "priority": 5},
    "4 queued, of 1 MiB each": {"depth": 4, "queue_bytes": 1 << 20},
    "4 queued the other way": {"depth": 4, "queue_kind": "d2h"},
    "4 queued on the GPU": {"depth": 4, "queue_kind": "d2d", "queue_bytes": 16 * BIG},
    "4 queued, by a kernel": {"depth": 4, "kind": "kernel"},
}
OTHER = "4 queued by another process"
# No more copies are queued after MS and a second, so that each experiment ends.
PATIENCE_US = 1e6
MODEL = Model(breaks={"copy_queues": ["one", "starves", "priority", "pieces"]},
              numbers={"one": "a small copy takes as long there as on the H100's machine",
                       "pieces": "there is always a piece in the queue there",
                       "other_ways": "copies by different engines share no memory there"})


def took(found):
    return [(end - begin) / 1000 for begin, end in found["spans"]]


def measure(bench):
    found = {name: took(bench.alone("behind", ms=MS, pause_us=500, **how)) for name, how in WAYS.items()}
    found[OTHER] = took(bench.together(("behind", {"ms": MS, "pause_us": 500}),
                                       ("copies", {"ms": MS + 100, "bytes": BIG, "depth": 4}))[0])
    large = took(bench.alone("copies", ms=MS, bytes=BIG))
    return {"bytes": 51_200, "large_bytes": BIG, "large_us": large, "small_us": found}


def conclude(data):
    middle = {name: spans.median(all_of) for name, all_of in data["small_us"].items()}
    large = spans.median(data["large_us"])
    starved = [f"{n} queued" for n in (2, 4, 8)]
    others = ("4 queued the other way", "4 queued on the GPU", "4 queued, by a kernel")
    return [
        Claim("one", f"a copy of 51,200 bytes takes {middle['alone']:.0f} us; {middle['1 queued']:.0f} us if another "
              f"stream of the process starts a copy of 64 MiB ({large:.0f} us) whenever one has ended: it gets in "
              "between",
              10 * middle["alone"] < middle["1 queued"] < 1.5 * large),
        Claim("starves", "if 2, 4 or 8 of them are queued at all times it does not run at all: it ended "
              + ", ".join(f"{middle[name] / 1e6:.2f}" for name in starved) + " s later, when no more were queued",
              all(middle[name] > PATIENCE_US for name in starved)),
        Claim("priority", f"an urgent stream does not help: {middle['4 queued, urgent stream'] / 1e6:.2f} s",
              middle["4 queued, urgent stream"] > PATIENCE_US),
        Claim("pieces", f"nor do pieces of 1 MiB: {middle['4 queued, of 1 MiB each'] / 1e6:.2f} s",
              middle["4 queued, of 1 MiB each"] > 10 * large),
        Claim("other_ways", "what helps: another engine. Behind copies to the host {:.0f} us, on the GPU {:.0f} us, by "
              "a kernel in place of a copy {:.0f} us".format(*(middle[name] for name in others)),
              max(middle[name] for name in others) < 10 * middle["alone"]),
        Claim("process", f"or another process: behind 4 copies queued by that {middle[OTHER]:.0f} us, as it has its "
                         f"timeslices",
              middle[OTHER] < large),
    ]


def picture(data):
    rows = list(data["small_us"])
    panel = Panel("A copy of 51,200 bytes to the GPU, from its call to its end (logarithmic)", (0.5, 6.5), "",
                  rows=rows)
    panel.xticks = [(power, f"{10 ** power:,} us" if power < 4 else f"{10 ** (power - 3):,} ms")
                    for power in range(1, 7)]
    for row, name in enumerate(rows):
        panel.dots([(math.log10(us), row + 0.5) for us in data["small_us"][name]], 0)
    return [panel]
