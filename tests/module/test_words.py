# SPDX-License-Identifier: MIT OR GPL-2.0
"""Words by which the register bus reports that it has no answer, through the kernel's ways to registers and memory.
tests/module/core/words_test.cpp has every such word in every place on every board."""

import pytest
from boards import WIDE_ENTRIES
from driver import bind, driver
from layouts import entry_of
from page_tables import ask, directory, expect, fill_with, options, tables
from text import boxes, pairs

# One word of each kind, and a word that is nearly an error.
ERRORS = (0xbad00200, 0xbadf5040)
NO_ERROR = 0xbacfffff
BOARDS = ("gtx1060-3gb", "h200")


def expect_errors(bench, board, names):
    paths = " ".join(bench.proc(board, name) for name in names)
    result = bench.run(f"for file in {paths}; do cat $file; done")
    said = result.err.decode().splitlines()
    assert result.out == b"" and len(said) == len(names)
    assert all("Input/output error" in line for line in said)


@pytest.mark.parametrize("board", BOARDS)
def test_errors_in_every_register_fail_the_files(bench, board):
    runlists = bench.read(board, "scheduling").count(" on\n")
    for word in ERRORS:
        bench.model(board).request("fault", "pri-error", hex(word))
        expect_errors(bench, board, ("runlist0_brief", "engines", "ptimer"))
        assert bench.read(board, "scheduling").count(" unreadable\n") == runlists


@pytest.mark.parametrize("board", BOARDS)
def test_an_error_in_an_entry_fails_the_list(bench, board):
    """The error word is in the high word of an address, or in a channel's id."""
    model = bench.model(board)
    if board in WIDE_ENTRIES:
        at, aperture, words = entry_of(model, 1)
        at += 12
    else:
        place = next(one for one in model.request("layout")["runlists"] if one["id"] == 0)
        at, aperture = int(place["address"], 16), place["aperture"]
    shown = len(boxes(bench.read(board, "runlist0_brief")))
    for word in ERRORS:
        model.request("poke", aperture, hex(at), hex(word))
        expect_errors(bench, board, ("runlist0_brief",))
    model.request("poke", aperture, hex(at), hex(NO_ERROR))
    assert len(boxes(bench.read(board, "runlist0_brief"))) == shown


def asked(bench, board, at, request):
    """Asks for a translation: with a driver for a table in system memory, and without a driver for a table behind the
    window."""
    if at["aperture"] == "vid":
        return ask(bench, board, request)
    with driver(bench):
        assert bind(bench, board).status == 0
        return ask(bench, board, request)


@pytest.mark.parametrize("board", BOARDS)
def test_errors_in_entries_of_page_tables(bench, board):
    """The low word of an entry is data, as the model's MMU takes it. If both words are errors, the bus did not
    answer. System memory is not read over the bus."""
    bench.restart(board, "page-tables")
    model = bench.model(board)
    layout = model.request("layout")
    seen = set()
    for space in layout["address_spaces"]:
        at = space["page_directory"]
        if at["aperture"] in seen:
            continue
        seen.add(at["aperture"])
        version, big_page = tables(layout, space)
        request = f"{directory(space)} 0x10000 {options(layout, space, board)}"
        fill_with(model, at, [ERRORS[0], 0])
        text, error = asked(bench, board, at, request)
        assert text is not None, error
        expect(dict(pairs(text)), model.request(
            "translate", at["address"], at["aperture"], f"v{version}", "0x10000",
            *(["128k"] if big_page == 128 else [])), request)
        fill_with(model, at, [ERRORS[0]] * 2)
        text, error = asked(bench, board, at, request)
        if at["aperture"] == "vid":
            assert text is None and "Input/output error" in error, request
        else:
            assert text is not None, request
    assert len(seen) > 1, "video and system memory"


def list_words(bench, board):
    at = next(one for one in bench.model(board).request("layout")["runlists"] if one["id"] == 0)
    return bench.model(board).request("peek", at["aperture"], at["address"],
                                      4 * at["entries"])["words"]


@pytest.mark.parametrize("board", ["h200"])
def test_an_error_before_a_write_is_never_restored(bench, board):
    """No word is overwritten, and no error word is written in place of the word that was read."""
    cost = bench.cost(board, f"echo 0:0 78.848 > {bench.proc(board, 'set_timeslice')}")
    refused = 0
    for access in range(sum(block["reads"] for block in cost.values())):
        bench.restart(board)
        before = list_words(bench, board)
        bench.model(board).request("fault", "wrong-after", str(access), "0xbad00200")
        result = bench.write(board, "set_timeslice", "0:0 78.848")
        bench.model(board).request("fault", "none")
        refused += result.status != 0
        assert (list_words(bench, board) == before) == (result.status != 0), access
    assert refused
