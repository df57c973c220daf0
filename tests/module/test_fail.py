# SPDX-License-Identifier: MIT OR GPL-2.0
"""Each allocation fails in turn, and each copy to or from user space: in opening, reading, controls, leases and their
ends, in loading and unloading, and while GPUs go and come.

Collected if NVDEBUG_KERNEL is debug (make check-debug).
"""

import pytest
from nvdvm import paths
from nvdvm.machine import Gpu, Machine
from programs import SKIPPED

# These boards have short entries on a shared port, a block of registers for each runlist, and neither video memory
# nor PCI.
BOARDS = ("gtx1060-3gb", "h200", "jetson-orin")
COMMANDS = ("proc_failnth read", "proc_failnth translate", "proc_failwrite control", "proc_failwrite lease",
            "proc_failwrite end", "proc_failwrite often", "proc_failload --every 2 load",
            "proc_failload unload", "proc_failload remove", "proc_failload find")


@pytest.fixture(scope="module", params=BOARDS)
def machine(request, module, kselftests):
    with Machine([Gpu(request.param)], module=module, extra_files=kselftests,
                 logs=paths.BUILD / "logs" / "fail" / request.param) as running:
        yield running


@pytest.mark.parametrize("command", COMMANDS)
def test_each_failure_in_turn(machine, command):
    result = machine.run(f"/root/{command}", timeout_s=900)
    text = result.text + result.err.decode()
    assert result.status == 0 and not SKIPPED.search(text), text
    machine.check_taint()
    print(text)
