# SPDX-License-Identifier: MIT OR GPL-2.0
"""Kernels that read or write the host's memory may slow down copies, also those of other tasks."""

from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Copies",)
TITLE = "Kernels that reach the host's memory"
PAPER = "none"
MS, BYTES = 300, 64 << 20
COPIES = {"to the GPU": "h2d", "to the host": "d2h"}
# The direction of a copy for each kind of kernel.
KERNELS = {"reads": "h2d", "writes": "d2h"}
BLOCKS = (4, 16, 64, 264)
MODEL = Model(absent="kernels of the model's programs reach no memory of the host")


def copies(kind, blocks=0):
    return ("copies", {"ms": MS, "kind": kind, "bytes": BYTES, "depth": 2, "blocks": blocks})


def rate(found):
    """Returns the rate of copies in GB/s."""
    ends = [end for _, end in found["spans"]]
    return BYTES * (len(ends) - 1) / (ends[-1] - ends[0])


def measure(bench):
    def alone(task):
        name, options = task
        return rate(bench.alone(name, **options))

    found = {"alone": {copy: alone(copies(kind)) for copy, kind in COPIES.items()}, "kernels": []}
    for what, way in KERNELS.items():
        for blocks in BLOCKS:
            row = {"kernel": what, "blocks": blocks, "alone": alone(copies(way, blocks)), "beside": {}}
            for copy, kind in COPIES.items():
                row["beside"][copy] = [rate(one) for one in bench.together(copies(kind), copies(way, blocks))]
            found["kernels"].append(row)
    return found


def left(data):
    """Returns the part of its rate alone that a copy keeps, by (kernel, blocks, copy)."""
    return {(row["kernel"], row["blocks"], copy): copied / data["alone"][copy]
            for row in data["kernels"] for copy, (copied, _) in row["beside"].items()}


def conclude(data):
    rows = {(row["kernel"], row["blocks"]): row for row in data["kernels"]}
    part = left(data)
    few, many = min(BLOCKS), max(BLOCKS)

    def beside(what, blocks):
        return " and ".join(f"{rows[what, blocks]['beside'][copy][0]:.1f} GB/s {copy}" for copy in COPIES)

    return [
        Claim("writes", f"a kernel of {few} blocks that writes {rows['writes', few]['alone']:.1f} GB/s into the host's "
              f"memory leaves to another task's copies {beside('writes', few)}, of "
              f"{data['alone']['to the GPU']:.1f} and {data['alone']['to the host']:.1f} that they have alone",
              part["writes", few, "to the host"] < 0.3 and part["writes", few, "to the GPU"] < 0.7),
        Claim("more", f"of {many} blocks, which write no faster ({rows['writes', many]['alone']:.1f} GB/s): "
              f"{beside('writes', many)}", max(part["writes", many, copy] for copy in COPIES) < 0.1),
        Claim("reads", f"one of {many} blocks that reads {rows['reads', many]['alone']:.1f} GB/s: "
              f"{beside('reads', many)}: in the other direction, too",
              max(part["reads", many, copy] for copy in COPIES) < 0.7),
        Claim("few_reads", f"one of {few} blocks that reads {rows['reads', few]['alone']:.1f} GB/s: "
              f"{beside('reads', few)}", min(part["reads", few, copy] for copy in COPIES) > 0.8),
    ]


def picture(data):
    part = left(data)
    rows = [f"{what}, {blocks} blocks, beside a copy {copy}" for what, blocks, copy in part]
    panel = Panel("What a copy keeps of its rate beside another task's kernel that reaches the host's memory", (0, 1.1),
                  "part of its rate alone", rows=rows)
    for row, ((_, _, copy), kept) in enumerate(part.items()):
        panel.bar(0, kept, row, list(COPIES).index(copy))
        panel.words(kept, row, f"{kept:.2f}")
    return [panel]
