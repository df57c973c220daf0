# SPDX-License-Identifier: MIT OR GPL-2.0
"""Writes the "newc" archives that a kernel unpacks as its first file system."""

import stat


class Archive:
    """An archive in memory. An added file also adds its parents."""

    def __init__(self):
        self._chunks = []
        self._names = set()

    def directory(self, name, mode=0o755):
        self._parents(name)
        self._entry(name, stat.S_IFDIR | mode, b"")

    def file(self, name, data, mode=0o644):
        self._parents(name)
        self._entry(name, stat.S_IFREG | mode, data)

    def symlink(self, name, target):
        self._parents(name)
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name, major, minor, mode=0o600):
        self._parents(name)
        self._entry(name, stat.S_IFCHR | mode, b"", major, minor)

    def bytes(self):
        chunks, names = list(self._chunks), set(self._names)
        self._entry("TRAILER!!!", 0, b"")
        result = b"".join(self._chunks)
        self._chunks, self._names = chunks, names
        return result

    def _parents(self, name):
        parts = name.split("/")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            if parent not in self._names:
                self._entry(parent, stat.S_IFDIR | 0o755, b"")

    def _entry(self, name, mode, data, major=0, minor=0):
        encoded = name.encode() + b"\0"
        fields = (len(self._chunks) + 1, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor,
                  len(encoded), 0)
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        self._names.add(name)
        self._chunks.append(_pad(header + encoded) + _pad(data))


def _pad(data):
    return data + b"\0" * (-len(data) % 4)
