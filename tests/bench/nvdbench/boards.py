# SPDX-License-Identifier: MIT OR GPL-2.0
"""The modelled boards."""

import json

from nvdvm import paths
from nvdvm.errors import VmError

# These boards have the three forms of runlists and channel registers.
FORMS = ("gtx1060-3gb", "titan-v", "a100")


def every_one():
    """Returns the boards in the order in which the module numbers them: PCI devices first, and older chips first."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in paths.BOARDS.glob("*.json")]
    files.sort(key=lambda board: (board.get("bus", "pci") != "pci", _chip_id(board)))
    return [board["name"] for board in files]


def expect(machine, index, board):
    """Raises VmError if /proc/gpuINDEX is another board."""
    wanted = json.loads((paths.BOARDS / f"{board}.json").read_text(encoding="utf-8"))["chip"]["name"]
    found = machine.check(f"sed -n 's/^chip: //p' /proc/gpu{index}/info").strip()
    if found != wanted:
        raise VmError(f"/proc/gpu{index} is a {found}, not the {wanted} of {board}")


def _chip_id(board):
    return int(str(board["chip"]["boot_0"]), 0) >> 20
