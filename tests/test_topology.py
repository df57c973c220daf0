# SPDX-License-Identifier: MIT OR GPL-2.0
"""GPCs, TPCs, SMs, memory size and clock: what the files say is what the board file says."""

import time

import pytest
from boards import BOARDS, GENERATION, before, facts, since
from nvdvm import paths
from text import pairs, table

# Where the work distributor's tables are known, and hold all TPCs.
WORK_DISTRIBUTOR = tuple(board for board in since("maxwell-gm20x")
                         if GENERATION[board] not in ("ada", "blackwell-gb20x"))
PARTITIONS = tuple(board for board in WORK_DISTRIBUTOR
                   if board in since("volta") and board in before("blackwell-gb10x"))
SMS_PER_TPC = {board: 2 if board in since("volta") else 1 for board in BOARDS}


def integer(value):
    return int(value, 0) if isinstance(value, str) else value


def single(bench, board, name):
    """As libsmctrl reads it: at most 18 bytes, hexadecimal."""
    text = bench.read(board, name)
    assert len(text) <= 18 and text.endswith("\n")
    return int(text, 16)


@pytest.mark.parametrize("board", BOARDS)
def test_design_and_masks(bench, board):
    geometry = facts(board, "geometry")
    for name in ("num_gpcs", "num_tpc_per_gpc", "num_ces", "num_fbps"):
        assert single(bench, board, name) == geometry[name]
    if board in since("maxwell-gm20x"):
        assert single(bench, board, "num_ltcs") == geometry["num_ltcs"]
    else:
        assert bench.run(f"[ -e {bench.proc(board, 'num_ltcs')} ]").status == 1
    gpcs = geometry["num_gpcs"]
    assert single(bench, board, "gpc_mask") == integer(geometry["gpc_disabled"])
    for gpc in range(gpcs):
        off = integer(geometry["gpc_disabled"]) >> gpc & 1
        expected = (1 << geometry["num_tpc_per_gpc"]) - 1 if off else \
            integer(geometry["tpc_disabled"][gpc])
        assert single(bench, board, f"gpc{gpc}_tpc_mask") == expected
    assert bench.run(f"[ -e {bench.proc(board, f'gpc{gpcs}_tpc_mask')} ]").status == 1


def test_the_h200_s_masks_are_the_captured_ones(bench):
    enabled = [0x1ff & ~single(bench, "h200", f"gpc{gpc}_tpc_mask") for gpc in range(8)]
    assert enabled == [0x1ff, 0x1bf, 0x1bf, 0x1bf, 0x1fb, 0x1ff, 0x1ef, 0x1bf]


def test_the_h200_s_runlists_are_the_captured_ones(bench):
    rows = {row["engine"] + row["inst"]: row for row in table(bench.read("h200", "device_info"))}
    captured = {"GR0": (0, 0xc00000), "LCE0": (0, 0xc00000), "LCE1": (0, 0xc00000),
                "LCE2": (1, 0xc00400), "LCE3": (3, 0xc00800), "LCE4": (10, 0xc00c00),
                "NVDEC1": (6, 0xc04400), "SEC0": (25, 0xc08400), "OFA0": (8, 0xc08000)}
    for engine, (runlist, base) in captured.items():
        row = rows[engine]
        assert (int(row["runlist"]), int(row["runlist_base"], 16)) == (runlist, base)
    info = dict(pairs(bench.read("h200", "info")))
    assert int(info["bar1_size"]) > 0 and int(info["bar2_size"]) > 0, "resources 2 and 4"


def live(board):
    geometry = facts(board, "geometry")
    return [bin(~integer(off) & (1 << geometry["num_tpc_per_gpc"]) - 1).count("1")
            for gpc, off in enumerate(geometry["tpc_disabled"])
            if not integer(geometry["gpc_disabled"]) >> gpc & 1]


@pytest.mark.parametrize("board", WORK_DISTRIBUTOR)
def test_sm_map_has_every_sm_once(bench, board):
    tpcs = live(board)
    rows = table(bench.read(board, "sm_map"))
    assert [int(row["sm"]) for row in rows] == list(range(sum(tpcs) * SMS_PER_TPC[board]))
    places = [(int(row["gpc"]), int(row["tpc"])) for row in rows]
    counts = [sum(gpc == here for here, _ in set(places)) for gpc in range(len(tpcs))]
    # on an H200 fuses count physical GPCs, and the work distributor logical ones
    assert (sorted(counts) == sorted(tpcs)) if board == "h200" else counts == tpcs
    expected = [(gpc, tpc) for gpc, count in enumerate(counts) for tpc in range(count)]
    assert sorted(set(places)) == expected
    assert all(places.count(place) == SMS_PER_TPC[board] for place in set(places))


def test_the_worked_example(bench):
    """Round robin over GPCs, as drivers number up to Pascal (five and four TPCs)."""
    assert [(row["gpc"], row["tpc"]) for row in table(bench.read("gtx1060-3gb", "sm_map"))] == [
        ("0", "0"), ("1", "0"), ("0", "1"), ("1", "1"), ("0", "2"), ("1", "2"), ("0", "3"),
        ("1", "3"), ("0", "4")]


@pytest.mark.parametrize("board", WORK_DISTRIBUTOR)
def test_work_distributor(bench, board):
    shown = dict(pairs(bench.read(board, "work_distributor")))
    assert int(shown["gpcs"]) == len(live(board)) and int(shown["tpcs"]) == sum(live(board))
    assert shown["partitioning"] == ("none" if board in PARTITIONS else "-")
    words = 6 if GENERATION[board] == "maxwell-gm20x" else 16
    expected = (words, words) if board in before("ada") else (-(-sum(live(board)) // 4), 24)
    assert (len(shown["gpc_tpc_id"].split()), len(shown["sm_id"].split())) == expected


def test_sms_of_an_h200(bench):
    """In the order that NVIDIA's driver told of a real one."""
    captured = (paths.ROOT / "tests/data/h200-driver.txt").read_text(encoding="utf-8").splitlines()
    tpcs = [line.split()[1:] for line in captured if line.startswith("tpc ")]
    rows = table(bench.read("h200", "sm_map"))
    assert [(row["gpc"], row["tpc"]) for row in rows] == \
        [(gpc, virtual) for _, gpc, _, virtual, *_ in tpcs for _ in range(2)]


@pytest.mark.parametrize("board", ("gtx1060-3gb", "h200"))
def test_two_tpcs_in_one_place(bench, board):
    """As before a driver has filled the table in."""
    table_at = 0x405000 if board == "h200" else 0x405B60
    bench.model(board).request("fault", "read", table_at, 0)
    result = bench.run(f"cat {bench.proc(board, 'sm_map')}")
    assert result.status != 0 and "error" in result.err.decode()


@pytest.mark.parametrize("board", PARTITIONS)
def test_partitioning_is_shown(bench, board):
    bench.model(board).request("fault", "read", 0x405B2C, 0x01050006)
    shown = dict(pairs(bench.read(board, "work_distributor")))
    assert (shown["partitioning"], shown["table"], shown["veid_offset"], shown["table_offset"]) \
        == ("dynamic", "enable", "5", "1")


@pytest.mark.parametrize("board", sorted(set(BOARDS) - set(WORK_DISTRIBUTOR)))
def test_no_map_where_no_register_is_public(bench, board):
    for name in ("sm_map", "work_distributor"):
        assert bench.run(f"[ -e {bench.proc(board, name)} ]").status == 1
    info = dict(pairs(bench.read(board, "info")))
    assert info["feature work_distributor"].startswith("no (")


@pytest.mark.parametrize("board", BOARDS)
def test_local_memory(bench, board):
    info = dict(pairs(bench.read(board, "info")))
    if bench.run(f"[ -e {bench.proc(board, 'local_memory')} ]").status:
        assert info["video_memory"] == "-"
        return
    size = int(bench.read(board, "local_memory"))
    assert size == facts(board, "memory")["video_mib"] << 20
    assert info["video_memory"] == str(size)


def test_local_memory_is_there_where_its_register_is_public(bench):
    for board in BOARDS:
        if GENERATION[board] in ("pascal", "volta", "turing", "ampere-ga100", "ampere-ga10x"):
            bench.check(f"[ -e {bench.proc(board, 'local_memory')} ]")


@pytest.mark.parametrize("board", BOARDS)
def test_the_clock_follows_the_gpu_s_time(bench, board):
    first = int(bench.read(board, "ptimer"))
    bench.model(board).request("advance", 5_000_000)
    passed = int(bench.read(board, "ptimer")) - first
    assert 5_000_000_000 <= passed < 5_001_000_000
    # the modelled driver sets it to 2025
    assert time.gmtime(first // 10**9).tm_year == 2025


@pytest.mark.parametrize("board", BOARDS)
def test_reading_topology_writes_nothing(bench, board):
    listed = bench.check(f"find {bench.proc(board)} -type f -perm -444").split()
    model = bench.model(board)
    model.request("stats", "reset")
    bench.run(f"cat {' '.join(listed)} > /dev/null 2>&1")
    blocks = model.request("stats")["bars"].get("0", {}).get("blocks", {})
    assert sum(block["writes"] for block in blocks.values()) == 0
