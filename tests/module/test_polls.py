# SPDX-License-Identifier: MIT OR GPL-2.0
"""Waits of the module (the calls of nvdebug_await) for events that never come. The request fails after its deadline
of a second, and changes that must not stay are undone."""

import pytest
from boards import BOARDS, before, since
from leases import LEASES, hold, kill
from registers import (engine_status, list_pending, runlist_preempt_pending, stick,
                       tsg_preempt_pending)
from runlist import location, slice_of
from sample import EVERYTHING
from tasks import TSGS, even, on_engine
from tracepoints import events, trace


def some(boards, *everyday):
    """Returns all boards in long runs. Each test waits for seconds, so one board of each kind has to do every day."""
    return boards if EVERYTHING else everyday


def running(bench, board):
    """Returns a TSG that is on the engine, well before the end of its timeslice."""
    bench.model(board).request("advance", 500)
    return on_engine(bench, board).pop()


def times_out(bench, board, name, text):
    """Writes a request that times out. Returns the tracepoints that it raised."""
    with trace(bench) as lines:
        bench.refused(board, name, text, "timed out")
    bench.model(board).request("fault", "none")
    return events(lines)


def as_before(bench, board, where):
    bench.model(board).request("advance", 1000)
    assert location(bench, board) == where
    assert "off" not in bench.read(board, "scheduling")
    assert even(bench, board)


# preempt.c

def test_another_preempt_of_a_tsg_that_does_not_end(bench):
    for board in some(before("volta") + since("ampere-ga100"), "gtx980", "a100"):
        where = location(bench, board)
        stick(bench.model(board), tsg_preempt_pending(board))
        assert "preempt" not in times_out(bench, board, "preempt_tsg", "0:1")
        as_before(bench, board, where)


def test_another_preempt_of_the_runlist_that_does_not_end(bench):
    for board in some(since("volta"), "titan-v"):
        where = location(bench, board)
        stick(bench.model(board), runlist_preempt_pending(board))
        assert "preempt" not in times_out(bench, board, "preempt_runlist", "0")
        as_before(bench, board, where)


def test_a_tsg_that_does_not_leave(bench):
    for board in some(since("volta"), "titan-v", "h200"):
        where, tsg = location(bench, board), running(bench, board)
        bench.model(board).request("fault", "freeze-after", 0)
        said = times_out(bench, board, "preempt_tsg", f"0:{tsg}")
        assert said == ["scheduling", "preempt", "scheduling"]
        as_before(bench, board, where)


def test_a_preempt_of_a_tsg_that_does_not_end(bench):
    for board in some(before("volta"), "gtx1060-3gb"):
        where, tsg = location(bench, board), running(bench, board)
        bench.model(board).request("fault", "freeze-after", 0)
        assert times_out(bench, board, "preempt_tsg", f"0:{tsg}") == ["preempt"]
        as_before(bench, board, where)


def test_a_preempt_of_the_runlist_that_does_not_end(bench):
    for board in some(since("volta"), "rtx2080ti"):
        where = location(bench, board)
        running(bench, board)
        bench.model(board).request("fault", "freeze-after", 0)
        assert times_out(bench, board, "preempt_runlist", "0") == ["preempt"]
        as_before(bench, board, where)


# submit.c

@pytest.mark.parametrize("name, text", [("resubmit_runlist", "0"), ("switch_to_tsg", "0:1"),
                                        ("set_timeslice", "0:1 9000")])
def test_a_list_of_the_driver_s_that_stays_pending(bench, name, text):
    for board in some(BOARDS, "gtx1060-3gb", "a100"):
        where, slices = location(bench, board), slice_of(bench, board, 1)
        stick(bench.model(board), list_pending(board))
        assert "runlist_submit" not in times_out(bench, board, name, text)
        assert slice_of(bench, board, 1) == slices
        as_before(bench, board, where)


@pytest.mark.parametrize("name, text, said", [
    ("resubmit_runlist", "0", None),
    ("switch_to_tsg", "0:1", "runlist 0: failed to restore the list (-110)"),
    ("set_timeslice", "0:1 9000", "may still have the new timeslice of TSG 1 (-110)")])
def test_a_list_of_ours_that_stays_pending(bench, name, text, said):
    """Host takes neither the list nor the list that would restore the former state."""
    for board in some(BOARDS, "b200"):
        where, slices = location(bench, board), slice_of(bench, board, 1)
        bench.check("dmesg -c > /dev/null")
        bench.model(board).request("fault", "freeze-after", 0)
        assert "runlist_submit" in times_out(bench, board, name, text)
        lines = bench.module_log()
        assert said in lines if said else "did not" not in lines
        assert slice_of(bench, board, 1) == slices
        bench.model(board).request("advance", 1000)
        bench.write_ok(board, "resubmit_runlist", "0")
        as_before(bench, board, where)


@pytest.mark.parametrize("name, said", [
    ("switch_to_tsg", "may still be one TSG's alone (-110)"),
    ("set_timeslice", "may still have the new timeslice of TSG 1 (-110)")])
def test_a_list_at_the_end_of_a_lease_that_stays_pending(bench, name, said):
    for board in some(BOARDS, "rtx2080ti", "rtx5090"):
        where = location(bench, board)
        hold(bench, [(bench.proc(board, name), LEASES[name])])
        stick(bench.model(board), list_pending(board))
        kill(bench)
        bench.model(board).request("fault", "none")
        assert said in bench.module_log(3)
        bench.write_ok(board, "resubmit_runlist", "0")
        as_before(bench, board, where)


# override_list.c

def test_a_switch_that_leaves_another_on_the_engine(bench):
    for board in some(BOARDS, "rtx2080ti", "a100"):
        where = location(bench, board)
        kind = 0x1000 if board in before("ampere-ga100") else 0
        other = TSGS[2]
        bench.model(board).request("fault", "read", hex(engine_status(board)),
                                   hex(0x80002000 | kind | other))
        assert "runlist_submit" in times_out(bench, board, "switch_to_tsg", "0:1")
        as_before(bench, board, where)
