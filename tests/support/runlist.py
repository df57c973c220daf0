# SPDX-License-Identifier: MIT OR GPL-2.0
"""What runlist0 shows: where the list is, its timeslices, its channels."""

from text import boxes, channels


def location(bench, board):
    fields = boxes(bench.read(board, "runlist0"))[0].fields
    return fields["Address"], fields["Aperture"], fields["Entries"]


def slice_of(bench, board, tsg):
    """In each of its headers."""
    return [box.fields["Timeslice (us)"] for box in boxes(bench.read(board, "runlist0"))
            if box.kind == "TSG Entry" and box.number == tsg]


def enabled(bench, board):
    """The channels that are."""
    return {number for number, fields in channels(bench.read(board, "runlist0")).items()
            if fields["Enabled"] == "1"}


def mode(bench, board):
    """The preemption mode of channel 2."""
    text = bench.read(board, "runlist0")
    return text[text.index("Channel Info 2 -"):].split("Compute Preemption:")[1].split()[0]
