# SPDX-License-Identifier: MIT OR GPL-2.0
"""Counts of accesses to a GPU, from the model."""

# The blocks through which memory can be read.
MEMORY = ("PRAMIN", "BAR1", "BAR2")
# The longest walk of page tables reads eight 64-bit entries, one of which is dual.
PER_WALK = 18


def counts(bench, board, command):
    """Returns {block: counts} of all BARs. BAR1 and BAR2 are blocks of their own."""
    model = bench.model(board)
    model.request("stats", "reset")
    bench.check(command)
    return since_reset(model)


def since_reset(model):
    bars = model.request("stats")["bars"]
    return {name: block for bar in bars.values() for name, block in bar["blocks"].items()}


def total(blocks, what, among=None):
    return sum(block[what] for name, block in blocks.items() if among is None or name in among)


def accesses(bench, board):
    """Returns the number of all accesses since the statistics were reset."""
    bars = bench.model(board).request("stats")["bars"]
    return sum(bar["reads"] + bar["writes"] for bar in bars.values())
