# SPDX-License-Identifier: MIT OR GPL-2.0
"""Disabling and enabling channels. tests/module/core/tasks_test.cpp and targets_test.cpp do it on every board."""

import pytest
from tasks import SLICE_US, TSGS, gained

pytestmark = pytest.mark.sample


@pytest.mark.parametrize("board", ["gtx1060-3gb", "h200"])
def test_a_disabled_task_stops_and_the_others_gain(bench, board):
    window = 60 * SLICE_US
    before = gained(bench, board, window)
    assert bench.write(board, "disable_channel", "2 3\n").status == 0
    bench.model(board).request("advance", 3 * SLICE_US)  # the task on the engine finishes its timeslice
    during = gained(bench, board, window)
    assert bench.write(board, "enable_channel", "2\n3\n").status == 0
    bench.model(board).request("advance", 3 * SLICE_US)
    after = gained(bench, board, window)

    for tsg in TSGS:
        assert before[0, tsg] == pytest.approx(window / 3, rel=0.05)
        assert after[0, tsg] == pytest.approx(window / 3, rel=0.05)
    assert during[0, 1] == 0
    for tsg in (0, 2):
        assert during[0, tsg] == pytest.approx(window / 2, rel=0.05)


def test_the_log_says_what_was_done(bench):
    assert bench.write("gtx1060-3gb", "disable_channel", "2 3").status == 0
    assert bench.write("gtx1060-3gb", "enable_channel", "2 3").status == 0
    lines = bench.module_log(2).splitlines()
    assert len(lines) == 2
    assert "disable" in lines[0] and "enable" in lines[1]


def test_a_write_raises_a_tracepoint(bench):
    tracing = "/sys/kernel/tracing"
    bench.check(f"echo 1 > {tracing}/events/nvdebug/enable")
    try:
        assert bench.write("a100", "disable_channel", "0:2").status == 0
        trace = bench.check(f"grep -v '^#' {tracing}/trace")
        assert len(trace.splitlines()) == 1
    finally:
        bench.check(f"echo 0 > {tracing}/events/nvdebug/enable; echo > {tracing}/trace")
