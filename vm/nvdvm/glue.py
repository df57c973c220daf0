# SPDX-License-Identifier: MIT OR GPL-2.0
"""Loads the guest's module that shows GPUs of SoCs, which QEMU attaches through PCI, as platform devices."""

import json
import pathlib

from . import paths
from .errors import VmError

MODULE = "/lib/platformgpu.ko"
# The target of make that builds the module.
TARGET = "vm-glue"


def is_needed(boards):
    return any(_bus(board) == "platform" for board in boards)


def module_for(release):
    module = paths.BUILD / "vm-modules" / release / "platformgpu.ko"
    if not module.is_file():
        raise VmError(f"no {module.name} for kernel {release} at {module}; run 'make {TARGET}'")
    return module


def _bus(board):
    path = pathlib.Path(board)
    if not path.is_file():
        path = paths.BOARDS / f"{board}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8")).get("bus", "pci")
    except (OSError, ValueError):
        return "pci"  # the model reports the fault of the board
