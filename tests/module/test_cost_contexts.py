# SPDX-License-Identifier: MIT OR GPL-2.0
"""What instance blocks and contexts cost in accesses, counted by the model: by each way to memory. On
every board, and walks: tests/module/core/cost_test.cpp and walks_test.cpp."""

import pytest
from boards import WIDE_ENTRIES
from costs import MEMORY, PER_WALK, counts, total
from layouts import by_channel, place

PER_INSTANCE = 12
# For each page of a BAR: its entry, as 64 bits twice if both sizes of pages are possible, and what leads
# to it now and then.
PER_PAGE = 2 * 4 + 4
PER_CHAIN = 40
PER_SUBCONTEXT = 4
PER_CONTEXT = 24
WALKS_PER_CHANNEL = 1  # the engine pointer is looked up in each address space
WALKS_PER_CONTEXT = 2  # and the image behind a header
BUDGET_REST = 32
BURST = 256  # words
# Reads that depend on each other: list, instance block, subcontexts, two walks, header and image.
CHAIN = 20

CASES = [(board, workload) for board in ("gtx1060-3gb", "h200") for workload in ("fig6", "bars", "sysmem")] + \
    [("h200", "fig7"), ("h200", "mps-many")]


@pytest.mark.parametrize("board, workload", CASES)
def test_a_list_with_contexts(bench, board, workload):
    bench.restart(board, workload)
    layout = bench.model(board).request("layout")
    channels = [entry for entry in by_channel(layout).values() if entry["runlist"] == 0]
    entries = next(entry["entries"] for entry in layout["runlists"] if entry["id"] == 0)
    instances = {place(entry["instance"]) for entry in channels}
    subcontexts = sum(len(entry["subcontexts"] or ()) for entry in channels)
    contexts = {place(entry["context"]["image"]) for entry in channels if entry["context"]}
    headers = {place(entry["context"]["header"]) for entry in channels if entry["context"]}

    # what the module remembers of BARs is of this workload
    bench.read(board, "runlist0")
    blocks = counts(bench, board, f"cat {bench.proc(board, 'runlist0')}")
    list_words = entries * (4 if board in WIDE_ENTRIES else 2)
    walks = len(channels) * WALKS_PER_CHANNEL + len(contexts) * WALKS_PER_CONTEXT
    bound = list_words + PER_INSTANCE * len(instances) + PER_SUBCONTEXT * subcontexts + \
        PER_CONTEXT * len(contexts | headers) + PER_WALK * walks
    read = total(blocks, "read_bytes", MEMORY) / 4
    print(f"{read:.0f} words of memory, at most {bound} allowed")
    pages = of_bars = 0
    # how often what leads to the pages was read again, which is a matter of time, too
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
    rest = [name for name in blocks if name not in (*MEMORY, "PCCSR", "CHRAM", "BAR_BLOCK")]
    looks = total(blocks, "reads", ("PBUS_WINDOW",))
    assert total(blocks, "reads", rest) - looks + total(blocks, "writes", rest) - moves \
        <= BUDGET_REST
    assert looks <= BUDGET_REST + 2 * bursts + 4 * (pages + chains)


@pytest.mark.parametrize("file", ["contexts", "runlist0"])
@pytest.mark.parametrize("board", ["titan-v", "h200"])
def test_what_is_shared_is_not_read_twice(bench, board, file):
    """128 channels of one context: its image, its tables and its page directories once each."""
    bench.restart(board, "mps-many")
    blocks = counts(bench, board, f"cat {bench.proc(board, file)}")
    assert total(blocks, "reread_bytes", MEMORY) == 0
