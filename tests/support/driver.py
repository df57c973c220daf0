# SPDX-License-Identifier: MIT OR GPL-2.0
"""A driver for GPUs that does nothing (tests/module/test_modules/pcigpu.c)."""

import contextlib

from nvdvm import kernel, paths

DRIVERS = "/sys/bus/pci/drivers"


def files():
    """Returns the files that a machine needs for the driver."""
    return {"/lib/pcigpu.ko": paths.BUILD / "test-modules" / kernel.find().release / "pcigpu.ko"}


def folder(bench, board):
    return f"/sys/bus/pci/devices/{bench.address(board)}"


@contextlib.contextmanager
def driver(bench, name="pcigpu", params=""):
    """Loads the driver for a with-block. At first it is bound to no GPU."""
    bench.check(f"insmod /lib/pcigpu.ko name={name} {params}")
    try:
        yield
    finally:
        bench.check("rmmod pcigpu; "
                    "for i in /sys/bus/pci/devices/*/driver_override; do echo > $i; done")


def bind(bench, board, name="pcigpu"):
    return bench.run(f"echo {name} > {folder(bench, board)}/driver_override && "
                     f"echo {bench.address(board)} > {DRIVERS}/{name}/bind")


def unbind(bench, board):
    """Returns the command that unbinds a board's driver."""
    return f"echo {bench.address(board)} > {folder(bench, board)}/driver/unbind"
