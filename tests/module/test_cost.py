# SPDX-License-Identifier: MIT OR GPL-2.0
"""BAR accesses of a read, counted by the model, for each of the kernel's ways to memory.
tests/module/core/cost_test.cpp and walks_test.cpp count registers and words of memory on every board."""

import math

import pytest
from boards import BOARDS, WIDE_ENTRIES
from costs import MEMORY, PER_WALK, counts, total
from layouts import by_channel, place
from text import boxes

# These boards have two registers that move the window, and two sizes of entries.
WINDOWS = ("gtx1060-3gb", "titan-v", "h200")
ENTRY_BYTES = {board: 16 if board in WIDE_ENTRIES else 8 for board in BOARDS}
# The bytes that the module reads of a channel's entry. It leaves out USERD's address and, if a register has the
# instance pointer, that pointer.
CHANNEL_BYTES = {"gtx1060-3gb": 4, "titan-v": 8, "h200": 12}
CHANNEL_BLOCKS = ("PCCSR", "CHRAM")
PER_INSTANCE = 12
# The words for each page of a BAR: its entry, as 64 bits, twice if both sizes of pages are possible, and now and then
# the entries that lead to it.
PER_PAGE = 2 * 4 + 4
PER_CHAIN = 40
PER_SUBCONTEXT = 4
PER_CONTEXT = 24
WALKS_PER_CHANNEL = 1  # the engine pointer is looked up in each address space
WALKS_PER_CONTEXT = 2  # the image behind a header is looked up, too
BUDGET_REST = 32
BURST = 256  # words
# The number of reads that depend on each other: list, instance block, subcontexts, two walks, header and image.
CHAIN = 20

# The cases have lists behind the window, in system memory and behind BARs, and many channels of one context.
CASES = (("gtx1060-3gb", "bars"), ("titan-v", "sysmem"), ("h200", "bars"), ("h200", "mps-many"))


@pytest.mark.parametrize("board", WINDOWS)
def test_a_list_is_read_once_in_bursts(bench, board):
    bench.restart(board, "many")
    blocks = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')} > /tmp/runlist")
    entries = [box for box in boxes(bench.check("cat /tmp/runlist")) if box.kind != "Runlist"]
    channels = [box for box in entries if box.kind == "Channel Info"]
    list_bytes = (len(entries) - len(channels)) * ENTRY_BYTES[board] + \
        len(channels) * CHANNEL_BYTES[board]

    assert blocks["PRAMIN"]["reads"] <= list_bytes / 4
    assert blocks["PRAMIN"]["read_bytes"] == list_bytes
    assert blocks["PRAMIN"]["reread_bytes"] == 0
    bursts = math.ceil(list_bytes / 4 / BURST) + 1  # one more if the list crosses a border of a MiB
    window = blocks["PBUS_WINDOW"]
    assert window["writes"] <= 2 * bursts and window["reads"] <= 2 * bursts + 1
    assert total(blocks, "writes") == window["writes"]
    rest = [name for name in blocks if name not in (*CHANNEL_BLOCKS, "PRAMIN", "PBUS_WINDOW")]
    assert total(blocks, "reads", rest) <= BUDGET_REST


@pytest.mark.parametrize("board", ["gtx1060-3gb", "a100", "h200", "b200"])
def test_info_costs_nothing_but_modes(bench, board):
    blocks = bench.cost(board, f"cat {bench.proc(board, 'info')}")
    modes = 2 if board in ("a100", "h200", "b200") else 0
    assert total(blocks, "reads") == modes and total(blocks, "writes") == 0


@pytest.mark.parametrize("board, workload", CASES)
def test_a_list_with_contexts_is_read_once(bench, start, board, workload):
    start(board, workload)
    layout = bench.model(board).request("layout")
    channels = [entry for entry in by_channel(layout).values() if entry["runlist"] == 0]
    entries = next(entry["entries"] for entry in layout["runlists"] if entry["id"] == 0)
    instances = {place(entry["instance"]) for entry in channels}
    subcontexts = sum(len(entry["subcontexts"] or ()) for entry in channels)
    contexts = {place(entry["context"]["image"]) for entry in channels if entry["context"]}
    headers = {place(entry["context"]["header"]) for entry in channels if entry["context"]}

    # After this read, the module remembers BARs of this workload.
    bench.read(board, "runlist0")
    blocks = counts(bench, board, f"cat {bench.proc(board, 'runlist0')}")
    walks = len(channels) * WALKS_PER_CHANNEL + len(contexts) * WALKS_PER_CONTEXT
    bound = entries * ENTRY_BYTES[board] / 4 + PER_INSTANCE * len(instances) + \
        PER_SUBCONTEXT * subcontexts + PER_CONTEXT * len(contexts | headers) + PER_WALK * walks
    read = total(blocks, "read_bytes", MEMORY) / 4
    print(f"{read:.0f} words of memory, at most {bound:.0f} allowed")
    pages = of_bars = 0
    # The number of times that the entries leading to the pages were read again, which also depends on time.
    chains = total(blocks, "reads", ("BAR_BLOCK",))
    if total(blocks, "reads", ("BAR1", "BAR2")):
        pages = len(instances | contexts | headers) + 1
        of_bars = PER_PAGE * pages + PER_CHAIN * chains
    assert read <= bound + of_bars
    assert total(blocks, "reads", MEMORY) <= read, "in 32 bits at least"
    assert total(blocks, "reread_bytes", MEMORY) <= 4 * of_bars
    moves = total(blocks, "writes", ("PBUS_WINDOW",))
    pramin = blocks.get("PRAMIN", {"reads": 0, "read_mib": 0})
    bursts = CHAIN * pramin["read_mib"] + pramin["reads"] // BURST
    assert moves <= 2 * bursts
    rest = [name for name in blocks if name not in (*MEMORY, *CHANNEL_BLOCKS, "BAR_BLOCK")]
    looks = total(blocks, "reads", ("PBUS_WINDOW",))
    assert total(blocks, "reads", rest) - looks + total(blocks, "writes", rest) - moves \
        <= BUDGET_REST
    assert looks <= BUDGET_REST + 2 * bursts + 4 * (pages + chains)
