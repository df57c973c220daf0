# SPDX-License-Identifier: MIT OR GPL-2.0
"""Starts child processes that never outlive this one."""

import ctypes
import os
import signal
import subprocess

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def start(command, processor=None, **options):
    """Starts a process. If `processor` is given, the process runs on the processor with this number only."""
    def prepare():
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if processor is not None:
            os.sched_setaffinity(0, {processor})

    return subprocess.Popen([str(word) for word in command], preexec_fn=prepare,
                            stdin=subprocess.DEVNULL, **options)
