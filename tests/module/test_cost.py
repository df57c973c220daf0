# SPDX-License-Identifier: MIT OR GPL-2.0
"""What a read costs in BAR accesses, counted by the model: the ways to memory, which are the kernel's.
Registers and words of memory, on every board: tests/module/core/cost_test.cpp."""

import math

import pytest
from boards import BOARDS, WIDE_ENTRIES
from costs import total
from text import boxes

pytestmark = pytest.mark.sample

# Two registers that move the window, two sizes of entries.
WINDOWS = ("gtx1060-3gb", "titan-v", "h200")
ENTRY_BYTES = {board: 16 if board in WIDE_ENTRIES else 8 for board in BOARDS}
# Of a channel neither USERD's address nor, where a register has it, all of the instance pointer.
CHANNEL_BYTES = {"gtx1060-3gb": 4, "titan-v": 8, "h200": 12}
CHANNEL_BLOCKS = ("PCCSR", "CHRAM")
BUDGET_REST = 32
BURST = 256  # words


def runlist_cost(bench, board, workload):
    bench.restart(board, workload)
    blocks = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')} > /tmp/runlist")
    listed = boxes(bench.check("cat /tmp/runlist"))
    return blocks, listed


@pytest.mark.parametrize("workload", ("three-tasks", "many"))
@pytest.mark.parametrize("board", WINDOWS)
def test_runlist(bench, board, workload):
    blocks, listed = runlist_cost(bench, board, workload)
    entries = [box for box in listed if box.kind != "Runlist"]
    channels = [box for box in entries if box.kind == "Channel Info"]
    list_bytes = (len(entries) - len(channels)) * ENTRY_BYTES[board] + \
        len(channels) * CHANNEL_BYTES[board]

    assert listed[0].fields["Snapshot"] == "consistent"
    assert int(listed[0].fields["Entries"]) == len(entries)
    assert blocks["PRAMIN"]["reads"] <= list_bytes / 4
    assert blocks["PRAMIN"]["read_bytes"] == list_bytes
    assert total(blocks, "reads", CHANNEL_BLOCKS) <= 2 * len(channels)
    bursts = math.ceil(list_bytes / 4 / BURST) + 1  # one more where it lies across a MiB's border
    window = blocks["PBUS_WINDOW"]
    assert window["writes"] <= 2 * bursts and window["reads"] <= 2 * bursts + 1
    rest = [name for name in blocks if name not in (*CHANNEL_BLOCKS, "PRAMIN", "PBUS_WINDOW")]
    assert total(blocks, "reads", rest) <= BUDGET_REST
    assert total(blocks, "writes") == window["writes"]
    assert total(blocks, "reread_bytes", (*CHANNEL_BLOCKS, "PRAMIN")) == 0


@pytest.mark.parametrize("board", ["gtx1060-3gb", "a100", "h200", "b200"])
def test_info_costs_nothing_but_modes(bench, board):
    blocks = bench.cost(board, f"cat {bench.proc(board, 'info')}")
    modes = 2 if board in ("a100", "h200", "b200") else 0
    assert total(blocks, "reads") == modes and total(blocks, "writes") == 0
