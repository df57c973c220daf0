# SPDX-License-Identifier: MIT OR GPL-2.0
"""Watches a folder as container daemons watch folders of CDI."""

import contextlib
import ctypes
import os
import struct

from waiting import comes_true

IN_MOVED_TO = 0x80
EVENT = struct.Struct("iIII")  # inotify(7): watch, mask, cookie, bytes of the name


class Watch:
    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.names = []

    def renamed(self):
        """Returns the names of all files that were renamed to one in the folder so far."""
        with contextlib.suppress(BlockingIOError):
            while events := os.read(self.descriptor, 65536):
                while events:
                    _, mask, _, bytes_ = EVENT.unpack_from(events)
                    if mask & IN_MOVED_TO:
                        self.names.append(events[EVENT.size:EVENT.size + bytes_].rstrip(b"\0").decode())
                    events = events[EVENT.size + bytes_:]
        return self.names

    def comes(self, name):
        return comes_true(lambda: name in self.renamed())


@contextlib.contextmanager
def watched(folder):
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        assert descriptor >= 0 and libc.inotify_add_watch(descriptor, bytes(folder), IN_MOVED_TO) >= 0, os.strerror(ctypes.get_errno())
        yield Watch(descriptor)
    finally:
        os.close(descriptor)
