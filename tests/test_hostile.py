# SPDX-License-Identifier: MIT OR GPL-2.0
"""Hardware that lies, hangs and goes away: what proc_hostile sweeps in the guest, lists where no
memory is, and a log that stays bounded."""

import re

import pytest
from boards import BOARDS
from nvdvm.machine import Gpu, Machine

# What is quick; `make hostile` does all of it, at every access and on all boards.
QUICK = "vanish return errors words lost addresses"


def test_every_way_at_some_accesses(module, kselftests):
    with Machine([Gpu("titan-v")], module=module, extra_files=kselftests) as machine:
        result = machine.run(f"/root/proc_hostile --points 2 {QUICK}", timeout_s=300)
        text = result.text + result.err.decode()
        assert result.status == 0, text
        assert "not ok" not in text and "# SKIP" not in text
        machine.check_taint()


# Lists where no memory is (NV_PFIFO_ENG_RUNLIST_BASE of runlist 0, up to Volta)

LIST_BASE = 0x2280
SYSTEM = 3 << 28
NOWHERE = {"beyond video memory": 0x0fffffff, "VGA": SYSTEM | 0xa0, "firmware": SYSTEM | 0xf0,
           "interrupt controller": SYSTEM | 0xfee00, "BAR": SYSTEM | 0xfe000,
           "beyond RAM": SYSTEM | 0x0fffffff}


@pytest.mark.parametrize("where", NOWHERE)
@pytest.mark.parametrize("board", ("gtx1060-3gb", "titan-v"))
def test_lists_where_no_memory_is(bench, board, where):
    before = bench.read(board, "runlist0_brief")
    model = bench.model(board)
    model.request("fault", "read", LIST_BASE, hex(NOWHERE[where]))
    for name in ("runlist0", "runlist0_brief", "contexts"):
        result = bench.run(f"cat {bench.proc(board, name)}")
        assert b"Channel Info" not in result.out, name
        assert "Bad address" in result.err.decode(), name
    for name, text in (("switch_to_tsg", "0:0"), ("set_timeslice", "0:0 1000"),
                       ("preempt_tsg", "0:0")):
        result = bench.write(board, name, text)
        assert re.search("Bad address|Input/output error", result.err.decode()), name
    model.request("fault", "none")
    assert bench.read(board, "runlist0_brief").count("Channel Info") == \
        before.count("Channel Info") > 0


# The log

REQUESTS = 10_000


@pytest.mark.parametrize("text, complaint", (("0:1", "cannot disable channel"),
                                             ("0:0 0:1", "disabled 2 channels")))
def test_the_log_stays_bounded(bench, text, complaint):
    """100 lines of each kind in 5 seconds, whoever asks how often."""
    board = "titan-v"
    bench.check("dmesg -c > /dev/null")
    if complaint.startswith("cannot"):
        bench.model(board).request("fault", "pri-error", "PCCSR", "0xbadf1100")
    took = bench.check(
        "start=$(cut -d. -f1 /proc/uptime); i=0; "
        f"while [ $i -lt {REQUESTS} ]; do echo {text} > {bench.proc(board, 'disable_channel')}; "
        "i=$((i + 1)); done 2> /dev/null; echo $(($(cut -d. -f1 /proc/uptime) - start))",
        timeout_s=300)
    lines = [line for line in bench.check("dmesg").splitlines() if "nvdebug" in line]
    assert any(complaint in line for line in lines)
    assert len(lines) <= 200 * (int(took) / 5 + 2)
    assert len(lines) < REQUESTS / 2
    bench.model(board).request("fault", "none")
    bench.check("sleep 5")


@pytest.mark.parametrize("board", BOARDS)
def test_what_reads_say_stays_out_of_the_log(bench, board):
    bench.check("dmesg -c > /dev/null")
    bench.model(board).request("fault", "pri-error")
    bench.run(f"for i in 1 2 3 4 5; do cat {bench.proc(board, '*')}; done > /dev/null 2>&1")
    assert "nvdebug" not in bench.check("dmesg")
