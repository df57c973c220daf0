# SPDX-License-Identifier: MIT OR GPL-2.0
"""The time that a read takes, relative to a bare loop of as many accesses of the same BAR."""

import pathlib
import statistics
import tempfile

from nvdvm import paths, qemu

from . import boards, counts, table, workload
from .vm import machine_of

TITLE = "Time of a read relative to a bare loop of as many reads of BAR0, in the VM"
CHANNELS = 1000
REPEATS = 7
PROGRAM = "/root/pace"
FILES = ("runlist0_brief", "runlist0", "contexts", "engines")


def measure():
    program = paths.BUILD / "bench" / "pace"
    with tempfile.TemporaryDirectory() as folder, \
            machine_of(boards.FORMS, extra_files={PROGRAM: program}) as machine:
        file = workload.write(pathlib.Path(folder), CHANNELS)
        return [row for slot, board in enumerate(boards.FORMS)
                for row in _of_board(machine, slot, board, file)]


def _of_board(machine, slot, board, file):
    machine.models[slot].request("restart", file)
    resource = f"/sys/bus/pci/devices/0000:00:{qemu.FIRST_GPU_SLOT + slot:02x}.0/resource0"
    for name in FILES:
        path = f"/proc/gpu{slot}/{name}"
        accesses = counts.accesses(counts.of_each(machine, f"cat {path} >/dev/null")[slot])
        printed = machine.check(f"{PROGRAM} {resource} {path} {accesses} {REPEATS}", timeout_s=600)
        times = [tuple(map(int, line.split())) for line in printed.splitlines()]
        ratios = [read / loop for read, loop in times]
        yield {"board": board, "file": name, "accesses": accesses,
               "relative_time": statistics.median(ratios), "lowest": min(ratios),
               "highest": max(ratios)}


def text(rows):
    return table.text(rows) + (f"\n{CHANNELS:,} channels; median, lowest and highest of {REPEATS} "
                               "reads, each with its own loop.\n")
