# SPDX-License-Identifier: MIT OR GPL-2.0
"""Addresses without memory or with memory that may not be read, and lengths past the end of memory.
tests/module/core/outside_test.cpp shows on every board what each structure with such an address prints."""

import contextlib
import re

import pytest
from boards import BOARDS, before, facts
from driver import bind, driver
from registers import lie, list_length, list_place

pytestmark = pytest.mark.sample

KINDS = ("beyond video memory", "end of video addresses", "VGA", "firmware", "interrupt controller",
         "its own registers", "its own BAR1", "another GPU's registers", "beyond RAM")
LONGEST = 0xffff
# On these boards no published register has the size of video memory. Addresses beyond its end are read, the bus
# answers with errors, and the model records the accesses.
UNSIZED = before("pascal")
# Boards with their BARs as the resources 0, 2 and 4.
PAIRED_BARS = ("h200", "b200")


def resource(bench, board, number_of_bar):
    """Returns the address of a BAR for the CPU."""
    path = f"/sys/bus/pci/devices/{bench.address(board)}/resource"
    return int(bench.check(f"sed -n {number_of_bar + 1}p {path}").split()[0], 16)


def nowhere(bench, board, kind):
    """Returns (address, aperture) of that kind."""
    other = BOARDS[BOARDS.index(board) - 1]
    return {
        "beyond video memory": lambda: (facts(board, "memory")["video_mib"] << 20, "vid"),
        "end of video addresses": lambda: (0xfffffff000, "vid"),
        "VGA": lambda: (0xa0000, "coh"),
        "firmware": lambda: (0xf0000, "ncoh"),
        "interrupt controller": lambda: (0xfee00000, "coh"),
        "its own registers": lambda: (resource(bench, board, 0), "coh"),
        "its own BAR1": lambda: (resource(bench, board, 2 if board in PAIRED_BARS else 1), "ncoh"),
        "another GPU's registers": lambda: (resource(bench, other, 0), "coh"),
        "beyond RAM": lambda: (0xfffffff000, "coh"),
    }[kind]()


def expect_unreadable(bench, board, aperture):
    """Checks the errors of files while the list is where no memory is."""
    is_error = board in UNSIZED and aperture == "vid"
    error = "Input/output error" if is_error else "Bad address"
    for name in ("runlist0", "runlist0_brief", *(() if is_error else ("contexts",))):
        result = bench.run(f"cat {bench.proc(board, name)}")
        assert result.out == b"" and error in result.err.decode(), name
    if is_error:  # the other runlists are shown
        assert "\n0 - - - - - - - unreadable\n" in bench.read(board, "contexts")


def reads_since_reset(bench, board):
    return sum(bar["reads"] for bar in bench.model(board).request("stats")["bars"].values())


@pytest.fixture(autouse=True)
def asked_beyond_memory(bench):
    yield
    for board in UNSIZED:
        model = bench.model(board)
        assert all(one["why"] == "memory" for one in model.request("violations")["violations"])
        model.request("violations", "reset")


def expect_request_error(bench, board, name, text, errors):
    result = bench.write(board, name, text)
    assert result.status != 0 and re.search(errors, result.err.decode()), name


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("kind", KINDS)
def test_lists_outside_of_memory_are_errors(bench, board, kind):
    was = bench.read(board, "runlist0_brief")
    model = bench.model(board)
    address, aperture = nowhere(bench, board, kind)
    with contextlib.ExitStack() as bound:
        if aperture != "vid":  # system memory is read only with a driver
            bound.enter_context(driver(bench))
            assert bind(bench, board).status == 0
        lie(model, list_place(board, address, aperture))
        model.request("stats", "reset")
        expect_unreadable(bench, board, aperture)
        for name, text in (("switch_to_tsg", "0:0"), ("set_timeslice", "0:0 1000"),
                           ("preempt_tsg", "0:0")):
            expect_request_error(bench, board, name, text, "Bad address|Input/output error")
        assert reads_since_reset(bench, board) <= 300
        model.request("fault", "none")
    assert bench.read(board, "runlist0_brief").count("Channel Info") == was.count("Channel Info") > 0


@pytest.mark.parametrize("board", BOARDS)
def test_a_length_past_the_end_of_memory_is_an_error(bench, board):
    model = bench.model(board)
    end = facts(board, "memory")["video_mib"] << 20
    entries = 1024 if board in UNSIZED else LONGEST
    lie(model, list_place(board, end - 4096, "vid") | list_length(board, entries))
    model.request("stats", "reset")
    expect_unreadable(bench, board, "vid")
    words = 3 * 2 * entries if board in UNSIZED else 0
    assert reads_since_reset(bench, board) <= words + 200
