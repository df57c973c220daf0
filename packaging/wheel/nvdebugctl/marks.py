# SPDX-License-Identifier: MIT OR GPL-2.0
"""An engine marks when it has requests: two lines in its loop.

>>> import nvdebugctl
>>> nvdebugctl.mark("busy")   # a request came, and there was none
>>> nvdebugctl.mark("idle")   # the last request has ended

For the goals ttft and tpot: mark(f"request {n}"), mark(f"first {n}") and mark(f"end {n} {tokens}") in place of these.
It is the Python of include/nvdebug/engine_mark.h, which has more.
"""

import os
import socket
import time

USUAL_PATH = "/run/nvdebug/nvqos.sock.marks"

_PATH = os.environ.get("NVDEBUG_MARKS", USUAL_PATH)
_OWN = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
_OWN.setblocking(False)


def mark(text):
    """Sends a mark, and never waits. Returns False if no nvqos takes it now: none runs, or it is behind."""
    try:
        _OWN.sendto(f"{time.monotonic_ns()} - {text}".encode(), _PATH)
    except OSError:
        return False
    return True
