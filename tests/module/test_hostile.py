# SPDX-License-Identifier: MIT OR GPL-2.0
"""Hardware that lies, hangs and goes away: the sweeps of proc_hostile in the guest, and a log that stays bounded."""

import driver
import pytest
from conftest import Bench
from nvdvm.machine import Gpu, Machine
from sample import EVERYTHING

# Each access of each file fails once.
pytestmark = pytest.mark.ci

# `make hostile` fails each access and takes all boards.
# With the workload "bars", memory is read through BAR2, and no window shows that the GPU has gone. With "sysmem", a
# word that was written into a list stays there after the GPU has gone.
QUICK = (((Gpu("gtx1060-3gb"),), "vanish return errors words lost addresses"),
         (((Gpu("titan-v"),) if EVERYTHING else ()) + (Gpu("a100", "bars"), Gpu("h200", "sysmem")), "vanish words"))
POINTS = 10 if EVERYTHING else 1


@pytest.mark.parametrize("gpus, ways", QUICK)
def test_every_way_at_some_accesses(module, kselftests, gpus, ways):
    with Machine(gpus, module=module, extra_files={**kselftests, **driver.files()}) as machine:
        bench = Bench(machine, gpus)
        # System memory is read only while a driver is bound.
        bench.check("insmod /lib/pcigpu.ko")
        for gpu in gpus:
            assert gpu.workload != "sysmem" or driver.bind(bench, gpu).status == 0
        result = machine.run(f"/root/proc_hostile --points {POINTS} {ways}", timeout_s=600)
        text = result.text + result.err.decode()
        assert result.status == 0, text
        assert "not ok" not in text and "# SKIP" not in text
        machine.check_taint()


# The log

LEAST = 10_000 if EVERYTHING else 300
# Writes LEAST requests, and at least 50 more than the log may have lines: 100 in each 5 seconds that have begun.
SCRIPT = """
read now rest < /proc/uptime; start=${{now%.*}}; i=0; exec 3> {file}
while :; do
    echo {text} >&3; i=$((i + 1))
    read now rest < /proc/uptime; allowed=$((100 * ((${{now%.*}} - start) / 5 + 2)))
    [ $i -lt {least} ] || [ $i -lt $((allowed + 50)) ] || break
done 2> /dev/null
echo $allowed
"""


@pytest.mark.parametrize("text, complaint", (("0:1", "cannot disable channel"),
                                             ("0:0 0:1", "disabled 2 channels")))
def test_the_log_stays_bounded(bench, start, text, complaint):
    """The log gets at most 100 lines of each kind in 5 seconds, however often anybody asks."""
    board = "titan-v"
    # System memory is read faster than memory behind a window, so more requests come in five seconds.
    start(board, "sysmem")
    bench.check("dmesg -c > /dev/null")
    if complaint.startswith("cannot"):
        bench.model(board).request("fault", "pri-error", "PCCSR", "0xbadf1100")
    allowed = int(bench.check(SCRIPT.format(file=bench.proc(board, "disable_channel"), text=text, least=LEAST), timeout_s=300))
    lines = [line for line in bench.module_log().splitlines() if "callbacks suppressed" not in line]
    assert any(complaint in line for line in lines)
    assert len(lines) <= allowed
    bench.model(board).request("fault", "none")
    # The module limits its lines, and the count ends with the module. After a reload, lines of later tests are not
    # held back.
    bench.check("rmmod nvdebug")
    assert bench.machine.load_module().status == 0


@pytest.mark.parametrize("board", ("gtx980", "h200"))
def test_failing_reads_stay_out_of_the_log(bench, board):
    bench.check("dmesg -c > /dev/null")
    bench.model(board).request("fault", "pri-error")
    bench.run(f"for i in 1 2 3 4 5; do cat {bench.proc(board, '*')}; done > /dev/null 2>&1")
    assert not bench.module_log()
