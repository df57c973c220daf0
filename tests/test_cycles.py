# SPDX-License-Identifier: MIT OR GPL-2.0
"""Page tables that lead back to themselves: walks and searches end, and cost no more than others."""

import pytest
from boards import BOARDS
from costs import MEMORY, PER_WALK, counts, since_reset, total
from layouts import number
from page_tables import ask_all, directory, expect, fill_with, options, tables

pytestmark = pytest.mark.sample

CODE = {"vid": 1, "coh": 2, "ncoh": 3}
ADDRESSES = (0x0, 0x10000, 0x8000000, 0x12345678, 0x345678000)
# Entries of BAR1's and BAR2's tables that a session may read (access/bar.c), each at most twice: two words of
# a dual entry go together, and what is read ahead may be more than is wanted.
SEARCH = {"auto": 160, "never": 32768}
WORDS = 4  # of an entry, at most


def pointer(version, at):
    """Words of an entry that leads to the table `at`; of a dual one, one half."""
    address, code = number(at["address"]), CODE[at["aperture"]]
    if version == 1:
        return [address >> 8 | code] * 2
    entry = (address >> 4 if version == 2 else address) | code << 1
    return [entry & 0xffffffff, entry >> 32]


def fill(model, table, version, leads_to):
    """Every entry of a table leads to that other one."""
    fill_with(model, table, pointer(version, leads_to))


def lead_back(model, layout, cycle):
    """Page directories of which each entry is a table: that same one, or the next space's directory."""
    by_version = {}
    for space in layout["address_spaces"]:
        by_version.setdefault(tables(layout, space)[0], []).append(space["page_directory"])
    for version, directories in by_version.items():
        others = directories if cycle == "itself" else directories[1:] + directories[:1]
        for table, leads_to in zip(directories, others, strict=True):
            fill(model, table, version, leads_to)


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("cycle", ["itself", "each other"])
def test_a_walk_ends_as_the_model_s_does(bench, board, cycle):
    """In video and in system memory, and from one into the other."""
    bench.restart(board, "page-tables")
    model = bench.model(board)
    layout = model.request("layout")
    lead_back(model, layout, cycle)
    requests, replies = [], []
    for space in layout["address_spaces"]:
        version, big_page = tables(layout, space)
        at = space["page_directory"]
        for va in ADDRESSES:
            requests.append(f"{directory(space)} {va:#x} {options(layout, space, board)}")
            replies.append(model.request("translate", at["address"], at["aperture"], f"v{version}",
                                         hex(va), *(["128k"] if big_page == 128 else [])))
    model.request("stats", "reset")
    answers = ask_all(bench, board, requests)
    assert 0 < total(since_reset(model), "read_bytes", MEMORY) / 4 <= PER_WALK * len(requests)
    for request, said, reply in zip(requests, answers, replies, strict=True):
        expect(said, reply, request)


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("workload", ["fig6", "sysmem"])
def test_contexts_behind_them_are_said_to_be_unreadable(bench, board, workload):
    bench.restart(board, workload)
    files = f"cat {bench.proc(board, 'runlist0')} {bench.proc(board, 'contexts')}"
    was = total(counts(bench, board, files), "reads", MEMORY)
    model = bench.model(board)
    layout = model.request("layout")
    lead_back(model, layout, "itself")
    now = total(counts(bench, board, files), "reads", MEMORY)
    assert now <= was + PER_WALK * 2 * len(layout["channels"])
    channels = sum(entry["runlist"] == 0 for entry in layout["channels"])
    text = bench.read(board, "runlist0")
    assert text.count("Channel Info") == channels
    assert text.count("Compute Preemption") == 0 and text.count("Instance Block -") == channels


def lead_bars_back(bench, board):
    bench.restart(board, "bars")
    model = bench.model(board)
    layout = model.request("layout")
    version = tables(layout, layout["address_spaces"][0])[0]
    for bar in layout["bars"]:
        fill(model, bar["page_directory"], version, bar["page_directory"])


def searched(bench, board, status):
    """Words read by a read of runlist 0 that ends like this, and what it said."""
    model = bench.model(board)
    model.request("stats", "reset")
    result = bench.run(f"cat {bench.proc(board, 'runlist0')}", timeout_s=60)
    assert result.status == status, result.err
    bars = model.request("stats")["bars"].values()
    return sum(bar["read_bytes"] for bar in bars) / 4, result


@pytest.mark.parametrize("board", BOARDS)
def test_the_search_of_bars_ends(bench, board):
    """Nothing is found through BAR1 and BAR2, and the window shows it all the same."""
    bench.restart(board, "fig6")
    words, _ = searched(bench, board, 0)
    lead_bars_back(bench, board)
    again, result = searched(bench, board, 0)
    assert again <= words + 2 * WORDS * SEARCH["auto"]
    assert b"Compute Preemption" in result.out or b"Context" in result.out


def test_the_search_of_bars_ends_without_the_window(bench, reloaded):
    reloaded("pram_window=never")
    for board in BOARDS:
        lead_bars_back(bench, board)
        words, result = searched(bench, board, 1)
        assert "not supported" in result.err.decode()
        assert 0 < words <= 2 * WORDS * SEARCH["never"]
