# SPDX-License-Identifier: MIT OR GPL-2.0
"""Kernel lockdown, which lasts until a reboot and so has a VM of its own."""

from nvdvm.machine import Gpu, Machine


def test_lockdown(module, kselftests):
    with Machine([Gpu("gtx1060-3gb"), Gpu("rtx6000-ada")], module=module,
                 extra_files=kselftests) as machine:
        result = machine.run("/root/proc_lockdown --destructive")
        assert result.status == 0, result.text
        assert "# SKIP" not in result.text
        machine.check_taint()
