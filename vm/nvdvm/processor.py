# SPDX-License-Identifier: MIT OR GPL-2.0
"""Chooses the processor of this machine that an emulated guest runs on.

QEMU, one thread of it, and the models take turns, twice for each access to a GPU. On one processor that
takes half as long as on two, where one processor has to wake up the other.
"""

import os
import socket

from .errors import VmError

NAME = "nvdebug-vm-processor"


class Processor:
    """The first processor that no other VM has claimed, or the one that NVDEBUG_CPU names. `number` is None if
    there is none; the VM may then run on any."""

    def __init__(self):
        self._claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.number = self._find()

    def _find(self):
        allowed = sorted(os.sched_getaffinity(0))
        named = os.environ.get("NVDEBUG_CPU")
        if named:
            if named not in map(str, allowed):
                raise VmError(f"NVDEBUG_CPU={named}: no processor that this program may run on; "
                              f"those are {', '.join(map(str, allowed))}")
            return int(named)
        for number in allowed:
            try:
                # The process that holds the name has the processor, for as long as it lives.
                self._claim.bind(f"\0{NAME}-{number}")
                return number
            except OSError:
                continue
        return None

    def close(self):
        self._claim.close()
