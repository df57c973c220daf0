# SPDX-License-Identifier: MIT OR GPL-2.0
"""Words by which the register bus says that it has no answer: errors in registers, data in memory
where an address may look like that."""

import pytest
from boards import BOARDS, IDS_PER_RUNLIST, WIDE_ENTRIES
from layouts import entry_of, number
from page_tables import ask, ask_all, directory, expect, fill_with, options, tables
from text import channels, entries, instances

# Where each is described: docs/trust.md.
ERRORS = (0xbad00100, 0xbad00200, 0xbad00f00, 0xbad0ac00, 0xbad0b000, 0xbad0da00, 0xbad0fb00,
          0xbadf0000, 0xbadf0200, 0xbadf1002, 0xbadf1100, 0xbadf1201, 0xbadf1301, 0xbadf2001,
          0xbadf3000, 0xbadf4101, 0xbadf5040, 0xbadf5101, 0xbadf6000)
ONES = 0xffffffff
# Nearly such words, which are none.
NO_ERRORS = (0xbacfffff, 0xbae00000, 0xfffffffe)
QUICK = ("gtx1060-3gb", "titan-v", "h200")
FORMATS = ("gtx1060-3gb", "titan-v", "a100", "h200", "b200")


def expect_errors(bench, board, names, fault):
    bench.model(board).request("fault", *fault)
    paths = " ".join(bench.proc(board, name) for name in names)
    result = bench.run(f"for file in {paths}; do cat $file; done")
    said = result.err.decode().splitlines()
    assert result.out == b"" and len(said) == len(names), fault
    assert all("Input/output error" in line for line in said), fault


@pytest.mark.parametrize("board", QUICK)
def test_in_every_register(bench, board):
    """All ones in every register are a GPU that has gone: that is proc_hostile's vanish."""
    for word in ERRORS:
        expect_errors(bench, board, ("runlist0_brief", "engines", "scheduling", "ptimer"),
                      ("pri-error", hex(word)))


@pytest.mark.parametrize("board", QUICK)
def test_in_the_state_of_channels(bench, board):
    block = "CHRAM" if board in IDS_PER_RUNLIST else "PCCSR"
    for word in ERRORS:
        expect_errors(bench, board, ("runlist0",), ("pri-error", block, hex(word)))
    expect_errors(bench, board, ("runlist0",), ("all-ones", block))


@pytest.mark.parametrize("board", [board for board in WIDE_ENTRIES if board in FORMATS])
def test_in_an_entry_of_a_list(bench, board):
    """Words 0 and 2 have low words of addresses, words 1 and 3 no such high ones."""
    bench.restart(board)
    at, aperture, was = entry_of(bench.model(board), 1)

    def put(words):
        bench.model(board).request("poke", aperture, hex(at), *map(hex, words))

    for word in (*ERRORS, ONES, *NO_ERRORS):
        put([was[0], was[1], word & ~0xfff | 1, was[3]])
        shown = channels(bench.read(board, "runlist0_brief"))[1]
        if board in IDS_PER_RUNLIST:
            assert int(shown["Instance Block"], 16) == was[3] << 32 | word & ~0xfff
        put([was[0], was[1], was[2], word])
        result = bench.run(f"cat {bench.proc(board, 'runlist0_brief')}")
        assert result.status == (word in ERRORS), hex(word)
        if word in ERRORS:
            assert result.out == b"" and "Input/output error" in result.err.decode(), hex(word)
        put(was)


@pytest.mark.parametrize("board", [board for board in BOARDS if board not in WIDE_ENTRIES])
def test_in_a_short_entry_of_a_list(bench, board):
    at = next(one for one in bench.model(board).request("layout")["runlists"] if one["id"] == 0)
    for word in ERRORS:
        bench.model(board).request("poke", at["aperture"], at["address"], hex(word))
        result = bench.run(f"cat {bench.proc(board, 'runlist0_brief')}")
        assert result.out == b"" and "Input/output error" in result.err.decode(), hex(word)
    for word in (*NO_ERRORS, ONES):
        bench.model(board).request("poke", at["aperture"], at["address"], hex(word))
        assert len(entries(bench.read(board, "runlist0_brief"))) == 1 + at["entries"], hex(word)


@pytest.mark.parametrize("board", FORMATS)
def test_in_the_low_word_of_an_entry_of_page_tables(bench, board):
    """It is data, as the model's MMU takes it, in video and in system memory."""
    bench.restart(board, "page-tables")
    model = bench.model(board)
    layout = model.request("layout")
    for word in (*ERRORS, ONES, *NO_ERRORS):
        requests, replies = [], []
        for space in layout["address_spaces"]:
            version, big_page = tables(layout, space)
            at = space["page_directory"]
            fill_with(model, at, [word, 0])
            requests.append(f"{directory(space)} 0x10000 {options(layout, space, board)}")
            replies.append(model.request("translate", at["address"], at["aperture"], f"v{version}",
                                         "0x10000", *(["128k"] if big_page == 128 else [])))
        for request, said, reply in zip(requests, ask_all(bench, board, requests), replies,
                                        strict=True):
            expect(said, reply, (hex(word), request))


@pytest.mark.parametrize("board", FORMATS)
def test_in_both_words_of_one(bench, board):
    """Over the bus that is no answer. System memory is not read over it."""
    bench.restart(board, "page-tables")
    model = bench.model(board)
    layout = model.request("layout")
    for space in layout["address_spaces"]:
        at = space["page_directory"]
        request = f"{directory(space)} 0x10000 {options(layout, space, board)}"
        for word in (*ERRORS, ONES):
            fill_with(model, at, [word, word])
            text, error = ask(bench, board, request)
            if at["aperture"] == "vid":
                assert text is None and "Input/output error" in error, (hex(word), request)
            else:
                assert text is not None, (hex(word), request)


@pytest.mark.parametrize("board", FORMATS)
def test_in_an_instance_block(bench, board):
    """The high word of the page directory's address: no memory is that large."""
    bench.restart(board, "fig6")
    first = next(iter(channels(bench.read(board, "runlist0"))))
    block = next(one for one in bench.model(board).request("layout")["channels"]
                 if (one["runlist"], one["channel"]) == (0, first))["instance"]
    high = hex(number(block["address"]) + 4 * 129)
    for word in (*ERRORS, ONES):
        bench.model(board).request("poke", block["aperture"], high, hex(word))
        found = {one.channel: one for one in instances(bench.read(board, "runlist0"))}
        assert found[first].fields == {"Error": "unreadable"}, hex(word)


def list_words(bench, board):
    at = next(one for one in bench.model(board).request("layout")["runlists"] if one["id"] == 0)
    return bench.model(board).request("peek", at["aperture"], at["address"],
                                      4 * at["entries"])["words"]


@pytest.mark.parametrize("board", QUICK)
def test_once_before_a_word_is_written(bench, board):
    """Nothing is written over, and no such word is put back for what was there."""
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
