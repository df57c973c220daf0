# SPDX-License-Identifier: MIT OR GPL-2.0
"""What a read costs in BAR accesses, counted by the model."""

import math

import pytest
from boards import BOARDS, COPY_WIRING, IDS_PER_RUNLIST, WIDE_ENTRIES
from costs import total
from text import boxes

pytestmark = pytest.mark.sample

ENTRY_BYTES = {board: 16 if board in WIDE_ENTRIES else 8 for board in BOARDS}
CHANNEL_BLOCKS = ("PCCSR", "CHRAM")
BUDGET_REST = 32
BURST = 256  # words


def runlist_cost(bench, board, workload):
    bench.restart(board, workload)
    blocks = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')} > /tmp/runlist")
    listed = boxes(bench.check("cat /tmp/runlist"))
    return blocks, listed


@pytest.mark.parametrize("workload", ("three-tasks", "many-500", "many"))
@pytest.mark.parametrize("board", BOARDS)
def test_runlist(bench, board, workload):
    blocks, listed = runlist_cost(bench, board, workload)
    entries = [box for box in listed if box.kind != "Runlist"]
    channels = [box for box in entries if box.kind == "Channel Info"]
    list_bytes = len(entries) * ENTRY_BYTES[board]

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


@pytest.mark.parametrize("board", BOARDS)
def test_a_long_list_costs_in_proportion(bench, board):
    """500, 1,000 and 2,000 channels: accesses grow with the list, plus at most the fixed part."""
    accesses = {}
    for workload, channels in (("many-500", 500), ("many-1000", 1000), ("many", 2000)):
        blocks, listed = runlist_cost(bench, board, workload)
        assert sum(box.kind == "Channel Info" for box in listed) == channels
        accesses[channels] = total(blocks, "reads") + total(blocks, "writes")
    print({channels: f"{count} accesses, {count / channels:.2f} per channel"
           for channels, count in accesses.items()})
    assert accesses[1000] <= 2 * accesses[500]
    assert accesses[2000] <= 2 * accesses[1000]


@pytest.mark.parametrize("targets", (1, 6, 200))
@pytest.mark.parametrize("board", BOARDS)
def test_control(bench, board, targets):
    """Read, write and verify each channel; after enabling also ring its doorbell."""
    bench.restart(board, "many-500")
    prefix = "0:" if board in IDS_PER_RUNLIST else ""
    words = " ".join(f"{prefix}{channel}" for channel in range(targets))
    for control, each in (("disable_channel", 3), ("enable_channel", 4)):
        blocks = bench.cost(board, f"echo {words} > {bench.proc(board, control)}")
        assert total(blocks, "writes", CHANNEL_BLOCKS) == targets
        assert total(blocks, "reads") + total(blocks, "writes") <= each * targets + BUDGET_REST


@pytest.mark.parametrize("board", BOARDS)
def test_topology_read_at_probe_costs_nothing(bench, board):
    for name in ("info", "device_info"):
        blocks = bench.cost(board, f"cat {bench.proc(board, name)}")
        modes = 2 if name == "info" and board in ("a100", "h200", "b200") else 0
        assert total(blocks, "reads") == modes and total(blocks, "writes") == 0


@pytest.mark.parametrize("board", COPY_WIRING)
def test_reads_write_nothing(bench, board):
    """Topology and copy wiring are read without a single write."""
    blocks = bench.cost(board, f"cat {bench.proc(board, 'copy_topology')}")
    assert total(blocks, "writes") == 0
    assert total(blocks, "reads") <= BUDGET_REST
