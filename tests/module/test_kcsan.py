# SPDX-License-Identifier: MIT OR GPL-2.0
"""A kernel that searches for data races finds one in a module.

Collected if NVDEBUG_KERNEL is kcsan (make check-debug).
"""

import pytest
from nvdvm import kernel, paths
from nvdvm.errors import KernelTrouble
from nvdvm.machine import Machine


def test_a_data_race_ends_the_run(built):
    mistakes = paths.BUILD / "test-modules" / kernel.find().release / "mistakes.ko"
    with Machine([], extra_files={"/lib/mistakes.ko": mistakes}) as machine:
        with pytest.raises(KernelTrouble, match="BUG: KCSAN: data-race in count"):
            machine.check("insmod /lib/mistakes.ko commit=race")
