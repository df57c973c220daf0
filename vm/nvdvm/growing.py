# SPDX-License-Identifier: MIT OR GPL-2.0
"""Reads a log while another program writes it."""

import pathlib


class GrowingLog:
    def __init__(self, path):
        self._path = pathlib.Path(path)
        self._seen = 0

    def unseen(self):
        """Returns the text since the last call. A line that had no end then is returned once more."""
        data = self._rest()
        self._seen += data.rfind(b"\n") + 1
        return data.decode(errors="replace")

    def skip(self):
        """Skips the text that the log has by now."""
        self._seen += len(self._rest())

    def _rest(self):
        if not self._path.exists():
            return b""
        with open(self._path, "rb") as log:
            log.seek(self._seen)
            return log.read()
