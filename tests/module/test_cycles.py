# SPDX-License-Identifier: MIT OR GPL-2.0
"""Page tables of BARs that lead back to themselves. Searches of them end, and cost no more than others.
tests/module/core/walks_test.cpp has walks of such tables."""

import pytest
from boards import BOARDS
from layouts import number
from page_tables import fill_with, tables

pytestmark = pytest.mark.sample

CODE = {"vid": 1, "coh": 2, "ncoh": 3}
# The number of entries of BAR1's and BAR2's tables that a session may read (access/bar.c). Each entry is read at most
# twice: the two words of a dual entry go together, and reading ahead may take more than is needed.
SEARCH = {"auto": 160, "never": 32768}
WORDS = 4  # words of an entry, at most


def pointer(version, at):
    """Returns the words of an entry that leads to the table `at`, or of one half of a dual entry."""
    address, code = number(at["address"]), CODE[at["aperture"]]
    if version == 1:
        return [address >> 8 | code] * 2
    entry = (address >> 4 if version == 2 else address) | code << 1
    return [entry & 0xffffffff, entry >> 32]


def fill(model, table, version, leads_to):
    """Makes each entry of a table lead to the other table."""
    fill_with(model, table, pointer(version, leads_to))


def lead_bars_back(bench, board):
    bench.restart(board, "bars")
    model = bench.model(board)
    layout = model.request("layout")
    version = tables(layout, layout["address_spaces"][0])[0]
    for bar in layout["bars"]:
        fill(model, bar["page_directory"], version, bar["page_directory"])


def searched(bench, board, status):
    """Reads runlist 0 and expects the exit status. Returns how many words the read took, and its result."""
    model = bench.model(board)
    model.request("stats", "reset")
    result = bench.run(f"cat {bench.proc(board, 'runlist0')}", timeout_s=60)
    assert result.status == status, result.err
    bars = model.request("stats")["bars"].values()
    return sum(bar["read_bytes"] for bar in bars) / 4, result


# These boards have each version of the tables, and each form of the BARs' registers.
@pytest.mark.parametrize("board", ["gtx980", "titan-v", "a100", "h200"])
def test_the_search_of_bars_ends(bench, board):
    """The search through BAR1 and BAR2 finds nothing, and the window shows the context all the same."""
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
