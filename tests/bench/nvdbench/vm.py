# SPDX-License-Identifier: MIT OR GPL-2.0
"""The VMs of this package."""

from nvdvm import kernel
from nvdvm.build import module_for
from nvdvm.machine import Gpu, Machine


def machine_of(boards, **options):
    return Machine([Gpu(board) for board in boards], module=module_for(kernel.find().release),
                   **options)
