# SPDX-License-Identifier: MIT OR GPL-2.0
"""Waits for what other processes do, and finds ports that no other test takes."""

import contextlib
import pathlib
import random
import socket
import time

# Long enough for any machine: a test that passes does not wait for it.
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
    """Returns its first answer that is not nothing."""
    found = None

    def answers():
        nonlocal found
        found = what()
        return bool(found)

    assert comes_true(answers, seconds), f"it did not come about in {seconds} s"
    return found


# Sockets of other names in the place of locks: they end with this process.
CLAIMS = []


def free_port():
    """Returns a port of 127.0.0.1 and ::1 that neither another test takes, nor the kernel for a client."""
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
