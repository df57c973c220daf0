# SPDX-License-Identifier: MIT OR GPL-2.0
"""The accesses that each file of each board costs: for loading, reading and writing."""

import re

from nvdvm.errors import VmError

from . import boards, counts, table
from .vm import machine_of

TITLE = "BAR accesses and bytes by file and board (three tasks of two channels each)"
WORKLOAD = "fig6"
# This workload has the same tasks, and the driver's memory for them is where BAR2 shows it.
MAPPED = "bars"
IN_MEMORY = ("runlist0_brief", "runlist0", "contexts")
REQUESTS = (("disable_channel", "0:0"), ("enable_channel", "0:0"), ("preempt_tsg", "0:0"),
            ("preempt_runlist", "0"), ("resubmit_runlist", "0"), ("switch_to_tsg", "0:0"),
            ("set_timeslice", "0:0 1000"), ("scheduling", "0 on"), ("preemption_mode", "0:0 wfi"))


def measure():
    wanted = boards.every_one()
    with machine_of(wanted, load=False) as machine:
        load = counts.of_each(machine, "insmod /lib/nvdebug.ko")
        rows = []
        for index, board in enumerate(wanted):
            boards.expect(machine, index, board)
            rows.append({"board": board, "file": "(load)", **load[index]})
            rows += _OfBoard(machine, index, board).rows()
        return rows


class _OfBoard:
    def __init__(self, machine, index, board):
        self._machine = machine
        self._model = machine.models[index]
        self._index = index
        self._board = board
        self._folder = f"/proc/gpu{index}"

    def rows(self):
        readable, writable = self._files()
        for name in readable:
            yield self._row(name, WORKLOAD, f"cat {self._folder}/{name} >/dev/null")
        yield self._row("translate", WORKLOAD, self._translation())
        for name, request in REQUESTS:
            if name in writable:
                yield self._row(f"{name} < {request}", WORKLOAD,
                                f"echo {request} >{self._folder}/{name}")
        if self._fits(MAPPED):
            for name in IN_MEMORY:
                yield self._row(f"{name}, mapped", MAPPED, f"cat {self._folder}/{name} >/dev/null")

    def _row(self, name, workload, command):
        self._model.request("restart", workload)
        return {"board": self._board, "file": name,
                **counts.of_each(self._machine, command)[self._index]}

    def _files(self):
        """Returns the files that have text, the first one of each kind, and the files that can be written."""
        guest, here = self._machine, f"cd {self._folder}; "
        readable = guest.check(here + "for i in *; do cat $i >/dev/null 2>&1 && echo $i; done; true")
        writable = guest.check(here + "find . -type f -perm -200 | cut -c3-")
        kinds = {}
        for name in sorted(readable.split(), key=lambda name: (len(name), name)):
            kinds.setdefault(re.sub(r"\d+", "Y", name), name)
        return sorted(kinds.values()), set(writable.split())

    def _translation(self):
        self._model.request("restart", WORKLOAD)
        space = self._model.request("layout")["address_spaces"][0]
        at, va = space["page_directory"], space["mappings"][0]["va"]
        return (f"exec 3<>{self._folder}/translate; "
                f"echo {at['address']}:{at['aperture']} {va} >&3; cat <&3 >/dev/null")

    def _fits(self, workload):
        try:
            self._model.request("restart", workload)
        except VmError:
            return False
        return True


def _is_free(row):
    return counts.accesses(row) == 0


def text(rows):
    free = {row["file"] for row in rows if _is_free(row)}
    free -= {row["file"] for row in rows if not _is_free(row)}
    return table.text(rows, _is_free) + \
        f"\nBytes are those of all accesses. Without any: {', '.join(sorted(free))}.\n"
