# SPDX-License-Identifier: MIT OR GPL-2.0
"""The growth of accesses, files and text with the number of GPUs."""

from . import counts, table
from .vm import machine_of

TITLE = "Growth with GPUs (a100)"
BOARD = "a100"
NUMBERS = (1, 2, 4, 8)
READ = "cat /proc/gpu0/runlist0 >/dev/null"
# These files have text only after a request, so they are left out.
ALL_TEXT = "cd /proc; cat $(ls -d gpu*/* | grep -v -e translate -e set_timeslice) 2>/dev/null | wc -c"


def measure():
    return [_row(number) for number in NUMBERS]


def _row(number):
    with machine_of([BOARD] * number, load=False) as machine:
        load = [counts.accesses(one) for one in counts.of_each(machine, "insmod /lib/nvdebug.ko")]
        read = [counts.accesses(one) for one in counts.of_each(machine, READ)]
        return {"gpus": number, "load": sum(load), "load_per_gpu": sum(load) / number,
                "read_of_runlist0": read[0], "meanwhile_of_other_GPUs": sum(read[1:]),
                "files": int(machine.check("find /proc/gpu[0-9]* -type f | wc -l")),
                "bytes_of_text": int(machine.check(ALL_TEXT))}


def text(rows):
    return table.text(rows)
