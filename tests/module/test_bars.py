# SPDX-License-Identifier: MIT OR GPL-2.0
"""The module finds out how much BAR1 and BAR2 show, and reads no more through them."""

import json

import pytest
from costs import counts, total
from layouts import number
from nvdvm import paths
from registers import pram_window
from text import boxes

BARS = ("BAR1", "BAR2")
ENTRY_WORDS = 4  # words of an entry of the lowest directory, version 2


@pytest.fixture
def restart(bench, tmp_path):
    """restart(BOARD, WORKLOAD, KEY=VALUE…) restarts a workload with some of its keys replaced."""
    def make(board, workload, **keys):
        text = json.loads((paths.ROOT / f"model/workloads/{workload}.json").read_text(encoding="utf-8"))
        path = tmp_path / f"{workload}-made.json"
        path.write_text(json.dumps(text | {"name": f"{workload}-made"} | keys), encoding="utf-8")
        bench.restart(board, str(path))

    return make


def shape(text):
    return [(box.kind, box.number) for box in boxes(text)]


def read_list(bench, board):
    """Returns the accesses by block, and the shape of the list."""
    blocks = counts(bench, board, f"cat {bench.proc(board, 'runlist0_brief')} > /tmp/list")
    return blocks, shape(bench.check("cat /tmp/list"))


def through_the_window(bench, board, expected):
    blocks, listed = read_list(bench, board)
    assert listed == expected
    assert total(blocks, "reads", BARS) == 0
    assert blocks["PBUS_WINDOW"]["writes"] > 0


def lowest_directory(model, table):
    """Returns the table behind the first entries of the upper three directories of version 2."""
    for _ in range(3):
        low, high = (number(word) for word in model.request("peek", "vid", hex(table), 2)["words"])
        assert low >> 1 & 3 == 1, "not a table in video memory"
        table = ((low | high << 32) & ~0xff) << 4
    return table


@pytest.mark.parametrize("board", ("titan-v", "rtx2080ti", "a100", "rtx6000-ada"))
def test_the_upper_half_of_bar2_is_not_translated(bench, board):
    """BAR2 does not show what its tables map in its upper half, so the module does not use those entries."""
    bench.restart(board, "bars")
    blocks, expected = read_list(bench, board)
    assert total(blocks, "reads", BARS) > 0
    model = bench.model(board)
    bar2 = next(bar for bar in model.request("layout")["bars"] if bar["bar"] == 2)
    table = lowest_directory(model, number(bar2["page_directory"]["address"]))
    half = int(bench.check(f"grep bar2_size {bench.proc(board, 'info')}").split()[1]) // 2
    entries = half >> 21
    lower = model.request("peek", "vid", hex(table), ENTRY_WORDS * entries)["words"]
    model.request("poke", "vid", hex(table + 4 * ENTRY_WORDS * entries), *lower)
    model.request("poke", "vid", hex(table), *["0"] * ENTRY_WORDS * entries)
    through_the_window(bench, board, expected)


@pytest.mark.parametrize("board", ("titan-v", "h200"))
def test_a_list_of_several_pages_is_read_through_bar2(bench, board, restart):
    """The pages do not follow each other in BAR2."""
    restart(board, "many-500", bars="mapped")
    blocks, listed = read_list(bench, board)
    assert sum(kind == "Channel Info" for kind, _ in listed) == 500
    assert blocks["PBUS_WINDOW"]["writes"] == 0
    assert blocks["BAR2"]["read_bytes"] >= 16 * 500
    assert blocks["BAR2"]["reads"] <= blocks["BAR2"]["read_bytes"] / 8 + 32, "in 64 bits"


@pytest.mark.parametrize("board", ("titan-v", "h200"))
def test_a_gpu_that_goes_is_asked_for_no_more_words(bench, board, restart):
    restart(board, "many-500", bars="mapped")
    blocks, _ = read_list(bench, board)
    before = sum(block["reads"] for name, block in blocks.items() if name not in ("BAR2", "PCCSR", "CHRAM"))
    alive = before + 1100
    bench.model(board).request("fault", "none")
    bench.model(board).request("fault", "all-ones-after", alive)
    result = bench.run(f"cat {bench.proc(board, 'runlist0_brief')}")
    assert result.status != 0 and "No such device" in result.err.decode()
    assert alive < bench.model(board).request("fault", "none")["accesses"] <= alive + 8


@pytest.mark.parametrize("board", ("gtx1060-3gb", "titan-v"))
def test_a_bar_that_is_being_bound_is_not_used(bench, board):
    bench.restart(board, "bars")
    _, expected = read_list(bench, board)
    bench.model(board).request("fault", "set", "0x1710", "0xf")  # NV_PBUS_BIND_STATUS
    through_the_window(bench, board, expected)


@pytest.mark.parametrize("board", ("gtx1060-3gb", "titan-v", "h200"))
def test_memory_beyond_the_end_of_a_bar_is_read_through_the_window(bench, board, restart):
    """Both BARs show video memory from its start on, and lists are near its end."""
    restart(board, "three-tasks", bars="physical")
    through_the_window(bench, board, shape(bench.read(board, "runlist0_brief")))


# BAR2 is another resource if BAR0 has 64 bits.
@pytest.mark.parametrize("board, resource", (("titan-v", 3), ("h200", 4)))
def test_pages_beyond_the_end_of_a_smaller_bar_are_not_read_through_it(bench, board, resource):
    """Without a driver, root can resize a BAR (resourceN_resize). The end of the old one may then be another device's."""
    bench.restart(board, "bars")
    blocks, expected = read_list(bench, board)
    assert total(blocks, "reads", ("BAR2",)) > 0
    slot = int(bench.address(board)[8:10], 16)
    bench.check(f"insmod /lib/lostbar.ko slot={slot} resource={resource} left=4096")
    try:
        through_the_window(bench, board, expected)
    finally:
        bench.check("rmmod lostbar")
    blocks, listed = read_list(bench, board)
    assert listed == expected and total(blocks, "reads", ("BAR2",)) > 0


@pytest.mark.parametrize("board", ("gtx1060-3gb", "titan-v"))
def test_a_window_of_system_memory_is_not_taken_for_video_memory(bench, board):
    """The window stands at the list's address, but in another aperture."""
    _, expected = read_list(bench, board)
    runlist = next(entry for entry in bench.model(board).request("layout")["runlists"] if entry["id"] == 0)
    stands = number(runlist["address"]) >> 16 | 2 << 24  # NV_PBUS_BAR0_WINDOW_TARGET: coherent
    bench.poke(board, pram_window(board), stands)
    through_the_window(bench, board, expected)
    assert bench.peek(board, pram_window(board)) == stands
