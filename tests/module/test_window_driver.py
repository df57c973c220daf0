# SPDX-License-Identifier: MIT OR GPL-2.0
"""The PRAMIN window stays where it is while a driver is bound."""

import contextlib

import pytest
from costs import counts, total
from driver import bind, driver, unbind
from layouts import number
from leases import HOLDER, hold
from registers import pram_window
from runlist import mode
from stall import stalled
from text import boxes, channels

BOARDS = ("gtx1060-3gb", "h200")
pytestmark = pytest.mark.parametrize("board", BOARDS)


@contextlib.contextmanager
def bound(bench, board):
    """Binds a driver during a with-block."""
    with driver(bench):
        assert bind(bench, board).status == 0
        yield


def moves(bench, board, command):
    """Returns the writes to the register that moves the window."""
    return bench.cost(board, command)["PBUS_WINDOW"]["writes"]


def feature(bench, board):
    return bench.check(f"grep pram_window {bench.proc(board, 'info')}").split(": ")[1].strip()


def test_auto_moves_the_window_only_without_a_driver(bench, board):
    """The window is moved for no file, and again when the driver has gone."""
    everything = f"for f in {bench.proc(board, '*')}; do cat $f; done > /dev/null 2>&1 || true"
    listed = f"cat {bench.proc(board, 'runlist0_brief')} > /dev/null"
    assert feature(bench, board) == "yes"
    with bound(bench, board):
        assert feature(bench, board) == "no (a driver is bound)"
        assert moves(bench, board, everything) == 0
        for name in ("runlist0", "runlist0_brief"):
            result = bench.run(f"cat {bench.proc(board, name)}")
            assert result.status != 0 and "not supported" in result.err.decode()
        bench.check(unbind(bench, board))
        assert moves(bench, board, listed) == 2
    assert feature(bench, board) == "yes"


def test_lists_that_bars_show_are_read_and_written(bench, board):
    """BARs show the list, so it is read and written without the window."""
    bench.restart(board, "bars")
    was = set(channels(bench.read(board, "runlist0")))
    with bound(bench, board):
        read = f"cat {bench.proc(board, 'runlist0')} > /tmp/list"
        write = f"echo 0:1 4000 > {bench.proc(board, 'set_timeslice')}"
        assert moves(bench, board, read) == 0
        assert set(channels(bench.check("cat /tmp/list"))) == was
        assert moves(bench, board, write) == 0


def test_a_list_that_the_window_shows_is_read(bench, board):
    """The list is read, but not written, because the driver may move the window in between."""
    runlist = next(entry for entry in bench.model(board).request("layout")["runlists"] if entry["id"] == 0)
    shape = [(box.kind, box.number) for box in boxes(bench.read(board, "runlist0_brief"))]
    place = number(runlist["address"]) >> 16
    bench.poke(board, pram_window(board), place)
    with bound(bench, board):
        read = f"cat {bench.proc(board, 'runlist0_brief')} > /tmp/list"
        assert moves(bench, board, read) == 0
        assert [(box.kind, box.number) for box in boxes(bench.check("cat /tmp/list"))] == shape
        bench.refused(board, "set_timeslice", "0:1 4000", "not supported")
    bench.write_ok(board, "set_timeslice", "0:1 4000")
    assert bench.peek(board, pram_window(board)) == place


def test_a_window_that_the_driver_moves_is_not_moved_back(bench, board):
    """The driver moves the window between the read of its register and the burst."""
    model = bench.model(board)
    runlist = next(entry for entry in model.request("layout")["runlists"] if entry["id"] == 0)
    place = number(runlist["address"]) >> 16
    bench.poke(board, pram_window(board), place)
    with bound(bench, board):
        model.request("stats", "reset")
        with stalled(bench, f"exec cat {bench.proc(board, 'runlist0_brief')}",
                     "nvdebug_pramin_read") as command:
            bench.poke(board, pram_window(board), place ^ 0x100)
        assert model.request("stats")["bars"]["0"]["blocks"]["PBUS_WINDOW"]["writes"] == 1
        assert command.status != 0 and "not supported" in command.out
    assert bench.peek(board, pram_window(board)) == place ^ 0x100


@contextlib.contextmanager
def standing_at_the_list(bench, board):
    """Sets the window to runlist 0, as a driver may leave it."""
    runlist = next(entry for entry in bench.model(board).request("layout")["runlists"] if entry["id"] == 0)
    place = number(runlist["address"]) >> 16
    bench.poke(board, pram_window(board), place)
    with bound(bench, board):
        yield place


def shape(text):
    return [(box.kind, box.number) for box in boxes(text)]


# More accesses than there are from the list's first word on.
TAIL = 160


@pytest.mark.rows(1)
def test_memory_that_the_window_showed_for_a_moment_is_not_shown(bench, board):
    """The driver moves the window and moves it back during a burst, which its register does not show. Somewhere in
    the list a word of another place is read."""
    model, path = bench.model(board), bench.proc(board, "runlist0_brief")
    with standing_at_the_list(bench, board):
        expected = shape(bench.check(f"cat {path}"))
        blocks = counts(bench, board, f"cat {path} > /dev/null")
        reads = total(blocks, "reads")
        assert blocks["PRAMIN"]["reads"] > 8 and blocks["PBUS_WINDOW"]["writes"] == 0
        for after in range(max(reads - TAIL, 0), reads):
            model.request("fault", "none")
            model.request("fault", "wrong-after", after, "0x5a5a5a5a")
            result = bench.run(f"cat {path}")
            model.request("fault", "none")
            assert result.status != 0 or shape(result.text) == expected, f"access {after} of {reads}"


def test_leases_end_before_a_driver_is_bound(bench, board):
    """The leases end before a driver is bound, while the window may still be moved. Nothing is left to do
    afterwards."""
    before = mode(bench, board)
    assert before != "WFI"
    hold(bench, [(bench.proc(board, "preemption_mode"), "0:2 wfi"),
                 (bench.proc(board, "set_timeslice"), "0:1 4000")])
    bench.check("dmesg -c > /dev/null")
    with bound(bench, board):
        said = bench.module_log()
        assert "lease over: set the preemption mode of 1 channel: 0:2" in said
        assert "lease over: set the timeslice of 1 TSG: 0:1" in said
        assert moves(bench, board, f"kill -9 $(cat {HOLDER}); "
                                   f"while [ -e /proc/$(cat {HOLDER}) ]; do usleep 10000; done") == 0
        assert bench.module_log() == said
    assert mode(bench, board) == before
