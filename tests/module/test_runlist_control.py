# SPDX-License-Identifier: MIT OR GPL-2.0
"""Controls of TSGs and runlists, as far as they need a kernel. tests/module/core/requests_test.cpp has the requests
that they refuse, and tests/module/core/tasks_test.cpp their effects on every board."""

import re

import pytest
from boards import BOARDS, GENERATION, before, since
from costs import accesses
from runlist import location
from stall import stalled
from tasks import even
from text import boxes
from tracepoints import events, trace

pytestmark = pytest.mark.sample

# Requests that succeed in the workload three-tasks.
FINE = {"preempt_tsg": "0:1", "switch_to_tsg": "0:1", "set_timeslice": "0:1 3000",
        "preempt_runlist": "0", "resubmit_runlist": "0", "scheduling": "0 off"}
# These boards have the two registers that move the window into video memory.
WINDOWS = ("gtx1060-3gb", "h200")
# Up to Turing one register has the gates of all runlists. Later each runlist's block has a register.
SCHED_DISABLE = 0x2630


@pytest.mark.parametrize("board", WINDOWS)
def test_opening_for_writing_reads_no_register(bench, board):
    path = bench.proc(board, "scheduling")
    bench.model(board).request("stats", "reset")
    bench.check(f"exec 3> {path}")
    bench.check(f"dd if=/dev/null of={path} bs=1 seek=5 conv=notrunc")  # this also seeks
    assert accesses(bench, board) == 0


@pytest.mark.parametrize("board", BOARDS)
def test_unloading_brings_the_list_back(bench, board):
    where = location(bench, board)
    bench.write_ok(board, "switch_to_tsg", "0:1")
    bench.check("rmmod nvdebug")
    assert even(bench, board)
    assert bench.machine.load_module().status == 0
    assert location(bench, board) == where


@pytest.mark.parametrize("board", BOARDS)
def test_a_gpu_that_is_removed_gets_its_list_back(bench, board):
    where = location(bench, board)
    bench.write_ok(board, "switch_to_tsg", "0:1")
    bench.check(f"echo 1 > /sys/bus/pci/devices/{bench.address(board)}/remove")
    try:
        assert even(bench, board)
    finally:
        bench.rescan(board)
    assert location(bench, board) == where


@pytest.mark.parametrize("board", BOARDS)
def test_bus_mastering_is_borrowed(bench, board):
    def command():
        config = f"/sys/bus/pci/devices/{bench.address(board)}/config"
        return int(bench.check(f"od -An -tx1 -j4 -N1 {config}"), 16)

    # Tests before this one may have left override lists, which end here.
    info = dict(line.split(": ", 1) for line in bench.read(board, "info").splitlines())
    bench.write_ok(board, "resubmit_runlist", info["runlists"])
    was = command()
    assert not was & 4, "nobody has turned it on"
    bench.write_ok(board, "switch_to_tsg", "0:1")
    assert command() == was | 4
    bench.write_ok(board, "resubmit_runlist", "0")
    assert command() == was


# A writer that is killed

def killed_while_it_waits(bench, command):
    """Kills the writer while it waits. The writer has looked at least once, and would go on looking."""
    with stalled(bench, command, "nvdebug_await") as writer:
        bench.check("kill -9 $(cat /sys/module/stall/parameters/pid)")
    assert writer.status == 128 + 9


@pytest.mark.parametrize("name", ["preempt_tsg", "switch_to_tsg"])
def test_a_killed_writer_leaves_nothing_behind(bench, name):
    """The engine goes on showing TSG 2, and both requests wait until it leaves."""
    board = "titan-v"
    where = location(bench, board)
    text = {"preempt_tsg": "0:2", "switch_to_tsg": "0:1"}[name]
    bench.model(board).request("fault", "read 0x2640 0x80003002")
    killed_while_it_waits(bench, f"echo {text} > {bench.proc(board, name)}")
    bench.model(board).request("fault", "none")
    assert "failed to restore" not in bench.module_log(3)
    assert bench.peek(board, SCHED_DISABLE) == 0
    assert location(bench, board) == where
    assert even(bench, board)


@pytest.mark.parametrize("workload", ["fig6", "sysmem"])
def test_a_killed_set_timeslice_leaves_nothing_behind(bench, start, workload):
    """The list stays pending, so the writer waits with new words in the headers."""
    board = "titan-v"
    start(board, workload)
    before_it = tsgs_with_timeslices(bench, board)
    bench.model(board).request("fault", "read 0x2284 0x00100009")
    killed_while_it_waits(bench, f"echo 0:0 500 > {bench.proc(board, 'set_timeslice')}")
    bench.model(board).request("fault", "none")
    assert "failed to restore" not in bench.module_log(3)
    assert tsgs_with_timeslices(bench, board) == before_it


def tsgs_with_timeslices(bench, board):
    return [(box.number, box.fields["Timeslice (us)"])
            for box in boxes(bench.read(board, "runlist0_brief")) if box.kind == "TSG Entry"]


# All controls

@pytest.mark.parametrize("board", BOARDS)
def test_every_write_raises_a_tracepoint(bench, board):
    generation = GENERATION[board]
    words = 2 if board in before("turing") else 3
    submit = ["runlist_submit"] * words
    gate = ["scheduling"] if board in since("volta") else []
    expected = {
        "preempt_tsg": gate + ["preempt"] + gate,
        "switch_to_tsg": submit,
        "resubmit_runlist": submit,
        "set_timeslice": ["timeslice"] + submit,
        "preempt_runlist": ["preempt"] if gate else submit,
        "scheduling": ["scheduling"],
    }
    for name, kinds in expected.items():
        with trace(bench) as lines:
            bench.write_ok(board, name, FINE[name])
        assert events(lines) == kinds, (generation, name)
        for line in lines:
            fields = re.search(rf" {bench.address(board)} runlist=0 tsg=(-?\d+) where=0x([0-9a-f]+) "
                               r"old=0x([0-9a-f]{8}) new=0x([0-9a-f]{8})$", line)
            assert fields, line
            if name in ("preempt_tsg", "set_timeslice") and " scheduling: " not in line \
                    and " runlist_submit: " not in line:
                assert fields[1] == "1"
    # The old and the new word are the gate's, which is closed last.
    assert int(fields[3], 16) ^ int(fields[4], 16) == 1


def test_the_log_says_what_was_done(bench):
    """tests/module/core tests the texts of each request."""
    bench.write_ok("titan-v", "switch_to_tsg", FINE["switch_to_tsg"])
    assert "nvdebug: switched to 1 TSG: 0:1 (by uid 0)" in bench.module_log(2)


def test_read_only_writes_nothing(bench, reloaded):
    reloaded("read_only=1")
    with trace(bench) as lines:
        for name, text in {**FINE, "disable_channel": "0:2"}.items():
            bench.refused("titan-v", name, text, "not permitted")
            bench.refused("titan-v", name, f"lease {text}", "not permitted")
    assert not lines
