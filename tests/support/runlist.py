# SPDX-License-Identifier: MIT OR GPL-2.0
"""Reads the place of the list, its timeslices and its channels from runlist0."""

from text import boxes, channels


def location(bench, board):
    fields = boxes(bench.read(board, "runlist0"))[0].fields
    return fields["Address"], fields["Aperture"], fields["Entries"]


def slice_of(bench, board, tsg):
    """Returns the timeslice in each of the TSG's headers."""
    return [box.fields["Timeslice (us)"] for box in boxes(bench.read(board, "runlist0"))
            if box.kind == "TSG Entry" and box.number == tsg]


def enabled(bench, board):
    """Returns the channels that are enabled."""
    return {number for number, fields in channels(bench.read(board, "runlist0")).items()
            if fields["Enabled"] == "1"}


def mode(bench, board):
    """Returns the preemption mode of channel 2."""
    text = bench.read(board, "runlist0")
    return text[text.index("Channel Info 2 -"):].split("Compute Preemption:")[1].split()[0]
