# SPDX-License-Identifier: MIT OR GPL-2.0
"""The tasks of the workload three-tasks, and their parts of the GPU's time.

TSG t has the channels 2 t and 2 t + 1 and this timeslice. All TSGs are on runlist 0.
"""

import pytest

TSGS = (0, 1, 2)
SLICE_US = 1998.848


def _progress(bench, board, key):
    """Returns the engine time by `key` of a channel."""
    result = {}
    for entry in bench.model(board).request("progress")["channels"]:
        result[key(entry)] = result.get(key(entry), 0) + entry["progress_us"]
    return result


def _gained(bench, board, microseconds, key):
    before = _progress(bench, board, key)
    bench.model(board).request("advance", microseconds)
    after = _progress(bench, board, key)
    return {one: after[one] - before[one] for one in after}


def gained(bench, board, microseconds):
    """Returns the time that each (runlist, TSG) gets during the given time."""
    return _gained(bench, board, microseconds, lambda entry: (entry["runlist"], entry["tsg"]))


def gained_by_channel(bench, board, microseconds):
    return _gained(bench, board, microseconds, lambda entry: entry["channel"])


def on_engine(bench, board):
    """Returns the TSGs of runlist 0 that are on its engine."""
    return {entry["tsg"] for entry in bench.model(board).request("progress")["channels"]
            if entry["runlist"] == 0 and "ENG" in entry["state"]}


def shares(bench, board, slices):
    """Returns each TSG's part of runlist 0's time, over whole rounds in which TSG t has slices[t]."""
    window = 40 * sum(slices) + 1
    bench.model(board).request("advance", 2 * SLICE_US)
    gain = gained(bench, board, window)
    total = sum(gain[0, tsg] for tsg in TSGS)
    return [gain[0, tsg] / total for tsg in TSGS]


def even(bench, board):
    return shares(bench, board, [SLICE_US] * 3) == pytest.approx([1 / 3] * 3, rel=0.02)


def only(bench, board, tsg):
    """Returns whether only this TSG of runlist 0 gets time."""
    gain = gained(bench, board, 20 * SLICE_US)
    assert gain[0, tsg] == pytest.approx(20 * SLICE_US, rel=0.02)
    return all(not gain[0, other] for other in TSGS if other != tsg)
