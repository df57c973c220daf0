# SPDX-License-Identifier: MIT OR GPL-2.0
"""The PRAMIN window is the driver's: moved only if allowed, put back, and its races seen."""

import pytest
from boards import BOARDS, since
from test_lease import mode
from test_runlist_control import refused
from text import boxes

pytestmark = pytest.mark.sample


@pytest.mark.parametrize("board", BOARDS)
def test_the_window_is_put_back(bench, board):
    blocks = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')}")
    assert blocks["PBUS_WINDOW"]["writes"] == 2
    again = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')}")
    assert again["PBUS_WINDOW"]["writes"] == 2, "had the first read left it, this were a hit"


def test_never(bench, reloaded):
    reloaded("pram_window=never")
    for board in BOARDS:
        result = bench.run(f"cat {bench.proc(board, 'runlist0_brief')}")
        assert result.status != 0 and "not supported" in result.err.decode()
        assert bench.run(f"cat {bench.proc(board, 'device_info')}").status == 0


def test_never_still_reads_what_needs_no_window(bench, reloaded):
    reloaded("pram_window=never")
    for board in BOARDS:
        bench.restart(board, "sysmem")
        assert boxes(bench.read(board, "runlist0_brief"))[0].fields["Aperture"] == "coh"


def test_what_bar2_shows_needs_no_window(bench, reloaded):
    """Lists, instance blocks and contexts, by searching BAR2's page tables."""
    for board in BOARDS:
        bench.restart(board, "bars")
        blocks = bench.cost(board, f"cat {bench.proc(board, 'runlist0')} > /tmp/runlist")
        assert blocks["PBUS_WINDOW"]["writes"] == 0
        assert "below" in bench.check("cat /tmp/runlist")
    reloaded("pram_window=never")
    for board in BOARDS:
        assert "below" in bench.read(board, "runlist0")


def test_a_bad_window_policy_is_refused(bench, reloaded):
    bench.check("rmmod nvdebug")
    assert bench.machine.load_module("pram_window=sometimes").status != 0
    assert bench.machine.load_module().status == 0


def words_of(bench, board, workload):
    """How many words of PRAMIN a copy of runlist 0 takes."""
    bench.restart(board, workload)
    return bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')}")["PRAMIN"]["reads"]


@pytest.mark.parametrize("board", BOARDS)
def test_a_list_that_moves_once_is_read_again(bench, board):
    words = words_of(bench, board, "many-500")
    bench.model(board).request("fault", "move-runlist", 0, words // 2, 1)
    text = bench.read(board, "runlist0_brief")
    assert boxes(text)[0].fields["Snapshot"] == "consistent"
    assert text.count("Channel Info") == 500


@pytest.mark.parametrize("board", BOARDS)
def test_a_list_that_moves_during_every_copy_is_marked_torn(bench, board):
    words = words_of(bench, board, "many-500")
    bench.model(board).request("fault", "move-runlist", 0, words - 50)
    assert boxes(bench.read(board, "runlist0_brief"))[0].fields["Snapshot"] == "torn"


@pytest.mark.parametrize("board", BOARDS)
def test_a_driver_that_moves_the_window_is_noticed(bench, board):
    """Either the right list or an error, never another place's bytes."""
    whole = bench.read(board, "runlist0_brief")
    shape = [(box.kind, box.number) for box in boxes(whole)]
    for every in (1, 3, 7, 20, 1000):
        bench.model(board).request("fault", "none")
        bench.model(board).request("fault", "move-window", every)
        result = bench.run(f"cat {bench.proc(board, 'runlist0_brief')}")
        if result.status == 0:
            assert [(box.kind, box.number) for box in boxes(result.text)] == shape
        else:
            assert "busy" in result.err.decode() or "unavailable" in result.err.decode()


@pytest.mark.parametrize("board", since("pascal"))
def test_a_mode_that_may_have_gone_elsewhere_is_put_back(bench, board):
    """The last read of PRAMIN is of the word that was written; right after it the window moves."""
    request = f"echo 0:2 wfi > {bench.proc(board, 'preemption_mode')}"
    reads = bench.cost(board, request)["PRAMIN"]["reads"]
    bench.restart(board)
    bench.model(board).request("fault", "move-window", reads)
    refused(bench, board, "preemption_mode", "0:2 wfi", "busy")
    assert bench.model(board).request("fault", "none")["hits"] == 1
    assert mode(bench, board) == "CTA"


def test_who_may_read_state(bench, reloaded):
    reloaded("state_gid=2000")
    listing = bench.check("stat -c '%a %u:%g' " + bench.proc("a100", "runlist0_brief"))
    assert listing.split() == ["440", "0:2000"]


def test_everyone_may_read_state_without_addresses(bench, reloaded):
    reloaded("state_all=1")
    as_root = bench.read("a100", "runlist0_brief")
    as_user = bench.check(f"su user -c 'cat {bench.proc('a100', 'runlist0_brief')}'")
    assert "hidden" not in as_root
    for root_box, user_box in zip(boxes(as_root), boxes(as_user)):
        for key, value in user_box.fields.items():
            if value == "hidden":
                assert root_box.fields[key].startswith("0x")
            else:
                assert not value.startswith("0x"), f"{key} shows an address"
