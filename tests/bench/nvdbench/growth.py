# SPDX-License-Identifier: MIT OR GPL-2.0
"""The growth of accesses with the number of channels."""

import pathlib
import tempfile

from . import boards, counts, table, workload
from .vm import machine_of

TITLE = "Growth with channels, half of them for GR0, half for LCE2 (lists: both of them)"
SIZES = (10, 100, 1000, 4000)


def measure():
    with tempfile.TemporaryDirectory() as folder, machine_of(boards.FORMS) as machine:
        files = {size: workload.write(pathlib.Path(folder), size) for size in SIZES}
        return [row for index, board in enumerate(boards.FORMS)
                for row in of_board(machine, index, index, board, files)]


def of_board(machine, slot, number, board, files):
    """Returns the rows of the GPU in a slot, which is /proc/gpuNUMBER. `files` has the workloads by size."""
    folder, rows = f"/proc/gpu{number}", []
    for size, path in files.items():
        machine.models[slot].request("restart", path)
        lists = [entry["id"] for entry in machine.models[slot].request("layout")["runlists"]
                 if entry["entries"]]
        for file, names in (("runlistY_brief", [f"runlist{one}_brief" for one in lists]),
                            ("runlistY", [f"runlist{one}" for one in lists]),
                            ("contexts", ["contexts"])):
            command = "cat " + " ".join(f"{folder}/{name}" for name in names) + " >/dev/null"
            counted = counts.of_each(machine, command)[slot]
            rows.append({"board": board, "file": file, "channels": size,
                         "accesses": counts.accesses(counted), "bytes": counted["bytes"],
                         "accesses_per_channel": counts.accesses(counted) / size})
    return sorted(rows, key=lambda row: row["file"])


def text(rows):
    return table.text(rows)
