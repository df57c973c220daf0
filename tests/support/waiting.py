# SPDX-License-Identifier: MIT OR GPL-2.0
"""Waits for events in other processes, and finds ports that no other test uses."""

import contextlib
import pathlib
import random
import socket
import time

# The time is long enough for any machine. A test that passes does not wait so long.
PATIENCE_S = 60


def comes_true(condition, seconds=PATIENCE_S):
    """Returns whether the condition held within that time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(0.01)
    return True


def until(what, seconds=PATIENCE_S):
    """Waits until `what` returns something that is true, and returns it."""
    found = None

    def answers():
        nonlocal found
        found = what()
        return bool(found)

    assert comes_true(answers, seconds), f"it did not come about in {seconds} s"
    return found


# Sockets with names that lock ports. They end with this process.
CLAIMS = []


def free_port():
    """Returns a port of 127.0.0.1 and ::1 that no other test takes, and that the kernel does not give to a client."""
    first_of_kernel = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    while True:
        port = random.SystemRandom().randrange(10000, max(first_of_kernel, 20000))
        claim = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError), socket.socket() as listener:
            claim.bind(f"\0nvdebug-test-port-{port}")
            listener.bind(("127.0.0.1", port))
            CLAIMS.append(claim)
            return port
        claim.close()
