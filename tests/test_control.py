# SPDX-License-Identifier: MIT OR GPL-2.0
"""Disabling and enabling channels: what the file says, and what the GPU does."""

import pytest
from boards import BOARDS, IDS_PER_RUNLIST
from runlist import copy_runlist
from tasks import SLICE_US, TSGS, gained, gained_by_channel
from text import channels

pytestmark = pytest.mark.sample


@pytest.mark.parametrize("board", BOARDS)
def test_a_disabled_task_stops_and_the_others_gain(bench, board):
    window = 60 * SLICE_US
    before = gained(bench, board, window)
    assert bench.write(board, "disable_channel", "2 3\n").status == 0
    bench.model(board).request("advance", 3 * SLICE_US)  # what was on the engine runs out
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


@pytest.mark.parametrize("board", BOARDS)
def test_a_runlist_that_fell_asleep_wakes_up(bench, board):
    """With all channels disabled the list goes idle, and Host does not look at it again by itself."""
    everyone = " ".join(f"0:{channel}" for channel in range(6))
    assert bench.write(board, "disable_channel", everyone).status == 0
    bench.model(board).request("advance", 3 * SLICE_US)
    assert set(gained_by_channel(bench, board, 10 * SLICE_US).values()) == {0}
    assert bench.write(board, "enable_channel", everyone).status == 0
    assert all(gained_by_channel(bench, board, 10 * SLICE_US).values())


@pytest.mark.parametrize("board", IDS_PER_RUNLIST)
def test_a_runlist_names_its_own_channel(bench, board):
    """Where ids are per runlist, runlist 1's channel 2 exists, listed or not, and is not runlist 0's."""
    assert bench.write(board, "disable_channel", "1:2").status == 0
    assert channels(bench.read(board, "runlist0"))[2]["Enabled"] == "1"


@pytest.mark.parametrize("board", IDS_PER_RUNLIST)
def test_a_bare_id_that_two_runlists_hold_is_refused(bench, board):
    bench.restart(board, "same-ids")
    result = bench.write(board, "disable_channel", "2")
    assert result.status != 0 and "Invalid argument" in result.err.decode()
    copies = copy_runlist(bench, board)
    for runlist in (0, copies):
        assert channels(bench.read(board, f"runlist{runlist}"))[2]["Enabled"] == "1"
    assert bench.write(board, "disable_channel", f"{copies}:2").status == 0
    assert channels(bench.read(board, "runlist0"))[2]["Enabled"] == "1"
    assert channels(bench.read(board, f"runlist{copies}"))[2]["Enabled"] == "0"


def test_a_write_never_acknowledges_a_fault(bench):
    for board in ("titan-v", "rtx2080ti"):
        bench.restart(board, "mixed")
        faulted = [number for runlist in bench.check(f"ls {bench.proc(board)}").split()
                   if runlist.startswith("runlist")
                   for number, fields in channels(bench.read(board, runlist)).items()
                   if fields["PBDMA Faulted"] == "1" or fields["ENG Faulted"] == "1"]
        assert faulted, "the workload has a faulted channel"
        for number in faulted:
            for control in ("disable_channel", "enable_channel"):
                assert bench.write(board, control, f"{number}").status == 0
        still = [number for runlist in bench.check(f"ls {bench.proc(board)}").split()
                 if runlist.startswith("runlist")
                 for number, fields in channels(bench.read(board, runlist)).items()
                 if fields["PBDMA Faulted"] == "1" or fields["ENG Faulted"] == "1"]
        assert still == faulted


def test_the_log_says_what_was_done(bench):
    assert bench.write("gtx1060-3gb", "disable_channel", "2 3").status == 0
    assert bench.write("gtx1060-3gb", "enable_channel", "2 3").status == 0
    lines = [line for line in bench.check("dmesg | tail -n 2").splitlines() if "nvdebug" in line]
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
