# SPDX-License-Identifier: MIT OR GPL-2.0
"""A log that another program writes meanwhile."""

import pathlib


class GrowingLog:
    def __init__(self, path):
        self._path = pathlib.Path(path)
        self._seen = 0

    def unseen(self):
        """Its text since the last call, with that line once more that had no end then."""
        data = self._rest()
        self._seen += data.rfind(b"\n") + 1
        return data.decode(errors="replace")

    def skip(self):
        """Skips the text that is there by now."""
        self._seen += len(self._rest())

    def _rest(self):
        if not self._path.exists():
            return b""
        with open(self._path, "rb") as log:
            log.seek(self._seen)
            return log.read()
