# SPDX-License-Identifier: MIT OR GPL-2.0
"""The engine tables that the RTAS'24 paper prints, and the wiring that it concludes from them."""

import pytest
from nvdvm import paths
from text import engines_by_runlist

# Tables II and IV of the paper have these engines for each runlist.
GTX_1060_3GB = {
    0: {"GR0", "LCE0", "LCE1"}, 1: {"NVDEC0"}, 2: {"NVENC0"}, 3: {"SEC0"}, 5: {"LCE2"},
    6: {"LCE3"},
}
RTX_6000_ADA = {
    0: {"GR0", "LCE0", "LCE1"}, 1: {"LCE2"}, 2: {"LCE3"}, 3: {"LCE4"}, 4: {"NVDEC0"},
    5: {"NVDEC1"}, 6: {"NVDEC2"}, 8: {"NVENC0"}, 9: {"NVENC1"}, 10: {"NVENC2"}, 11: {"NVJPG0"},
    12: {"NVJPG1"}, 13: {"NVJPG2"}, 14: {"NVJPG3"}, 15: {"OFA0"}, 16: {"SEC0"},
}


def test_the_gtx_1060_has_table_ii(bench):
    assert engines_by_runlist(bench.read("gtx1060-3gb", "device_info")) == GTX_1060_3GB


def test_the_rtx_6000_ada_has_table_iv(bench):
    assert engines_by_runlist(bench.read("rtx6000-ada", "device_info")) == RTX_6000_ADA


def test_one_runlist_file_for_each_id_the_topology_names(bench):
    for board in ("gtx1060-3gb", "rtx6000-ada"):
        listed = bench.check(f"cd {bench.proc(board)} && echo runlist*").split()
        expected = engines_by_runlist(bench.read(board, "device_info"))
        assert set(listed) == {f"runlist{runlist}{form}" for runlist in expected
                               for form in ("", "_brief")}


def test_awk_says_who_shares_runlist_0(bench):
    answer = bench.check("awk '$3 == 0 {print $1 $2}' " + bench.proc("gtx1060-3gb", "device_info"))
    assert answer.split() == ["GR0", "LCE0", "LCE1"]


def test_the_script_of_the_manual_finds_shared_runlists(bench):
    """The script fails if two engines share a runlist, and only then."""
    manual = (paths.ROOT / "docs/proc.md").read_text(encoding="utf-8")
    script = next(line for line in manual.splitlines() if line.startswith("! awk"))
    script = script.replace("/proc/gpu0/", bench.proc("gtx1060-3gb"))
    assert bench.run(script).status == 0
    assert bench.run(script.replace("LCE2", "LCE1")).status == 1


def test_ada_graphics_copies_contend_with_async_copies(bench):
    """Fig. 11: on the RTX 6000 Ada both GRCEs borrow the PCE of another copy engine."""
    shared = [int(bench.read("rtx6000-ada", f"shared_lce_for_grce{grce}")) for grce in (0, 1)]
    runlists = engines_by_runlist(bench.read("rtx6000-ada", "device_info"))
    for lce in shared:
        assert f"LCE{lce}" not in runlists[0]


def copy_topology(bench, board):
    lines = bench.read(board, "copy_topology").splitlines()[1:]
    return {engine: (pces, shares) for engine, _, pces, shares in map(str.split, lines)}


def test_copy_engines_of_an_h200(bench):
    """The wiring is a captured one: LCE4 has twelve PCEs, and each GRCE borrows the two PCEs of another engine."""
    wiring = copy_topology(bench, "h200")
    assert bench.read("h200", "pce_map") == "0xffff\n"
    assert [wiring[f"LCE{lce}"] for lce in range(5)] == [
        ("-", "LCE2"), ("-", "LCE3"), ("0x5000", "-"), ("0xa000", "-"), ("0xfff", "-")]
    assert [bench.read("h200", f"lce_for_pce{pce}") for pce in range(16)] == \
        ["4\n"] * 12 + ["2\n", "3\n", "2\n", "3\n"]
    assert bench.run(f"[ -e {bench.proc('h200', 'lce_for_pce16')} ]").status == 1
    assert [bench.read("h200", f"shared_lce_for_grce{grce}") for grce in (0, 1)] == ["2\n", "3\n"]


def test_copy_engines_of_blackwell(bench):
    for board, pces in (("b200", 24), ("rtx5090", 4)):
        wiring = copy_topology(bench, board)
        names = [f"lce_for_pce{pce}" for pce in range(pces)]
        lces = [int(bench.read(board, name)) for name in names]
        assert bench.run(f"[ -e {bench.proc(board, f'lce_for_pce{pces}')} ]").status == 1
        for lce in set(lces):
            assert int(wiring[f"LCE{lce}"][0], 16) == \
                sum(1 << pce for pce, other in enumerate(lces) if other == lce)
    # Both boards have ten LCEs, but only the registers of the first ones are public.
    bench.model("b200").request("fault", "read", 0x104100, 10)
    assert set(copy_topology(bench, "b200")) == {f"LCE{lce}" for lce in range(10)}


def test_an_lce_may_own_several_pces(bench):
    """An H200's LCE4 has twelve PCEs. Here PCE 15 of the A100 is made to serve LCE2, too."""
    pce_15 = 0x104100 + 4 * 15
    bench.model("a100").request("fault", "read", pce_15, 2)
    assert copy_topology(bench, "a100")["LCE2"] == ("0x18000", "-")
    assert bench.read("a100", "lce_for_pce15") == "2\n"
    assert bench.read("a100", "lce_for_pce16") == "2\n"


def test_an_unconnected_pce_or_grce_says_so(bench):
    for name in ("lce_for_pce0", "shared_lce_for_grce0"):
        result = bench.run(f"cat {bench.proc('a100', name)}")
        assert result.status != 0 and "No such device" in result.err.decode()
    assert copy_topology(bench, "a100")["LCE9"] == ("-", "-")


def test_turing_grce_that_names_an_lce_without_sharing_it(bench):
    """If SHARED (bit 30) is clear, the number in SHARED_LCE has no meaning."""
    bench.model("rtx2080ti").request("fault", "read", 0x104034, 0x00000004)
    assert copy_topology(bench, "rtx2080ti")["LCE0"] == ("-", "-")


@pytest.mark.parametrize("board", ("h200", "b200"))
def test_the_address_of_a_runlist_has_more_than_40_bits(bench, board):
    """From Hopper on SUBMIT_BASE_HI has 20 bits of the address. Its bit 8 is far beyond the end of memory. If it were
    dropped, another list would be shown."""
    base_hi = 0xC00084
    high = bench.peek(board, base_hi)
    assert bench.run(f"cat {bench.proc(board, 'runlist0_brief')}").status == 0
    bench.model(board).request("fault", "read", base_hi, high | 0x100)
    result = bench.run(f"cat {bench.proc(board, 'runlist0_brief')}")
    assert result.status != 0
