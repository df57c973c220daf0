# SPDX-License-Identifier: MIT OR GPL-2.0
"""Topology in the form that the kernel gives it. tests/module/core/topology_test.cpp has the text of the files on
every board."""

import pytest
from text import pairs

BOARDS = ("gtx1060-3gb", "h200")


@pytest.mark.parametrize("board", BOARDS)
def test_info_has_the_bars_of_its_resources(bench, board):
    """BAR2 is resource 3, or resource 4 if BARs are 64-bit."""
    info = dict(pairs(bench.read(board, "info")))
    assert int(info["bar1_size"]) > 0 and int(info["bar2_size"]) > 0


@pytest.mark.parametrize("board", BOARDS)
def test_the_clock_follows_the_gpu_s_time(bench, board):
    first = int(bench.read(board, "ptimer"))
    bench.model(board).request("advance", 5_000_000)
    passed = int(bench.read(board, "ptimer")) - first
    assert 5_000_000_000 <= passed < 5_001_000_000


@pytest.mark.parametrize("board", BOARDS)
def test_reading_topology_writes_nothing(bench, board):
    listed = bench.check(f"find {bench.proc(board)} -type f -perm -444").split()
    model = bench.model(board)
    model.request("stats", "reset")
    bench.run(f"cat {' '.join(listed)} > /dev/null 2>&1")
    blocks = model.request("stats")["bars"].get("0", {}).get("blocks", {})
    assert sum(block["writes"] for block in blocks.values()) == 0
