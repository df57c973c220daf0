# SPDX-License-Identifier: MIT OR GPL-2.0
"""A real GPU in place of a model: NVIDIA's driver has it, or a capture (docs/vm.md)."""

import pathlib

LIVE = "live"
# The target of make that builds the bridge.
TARGET = "vm-bridge"


def options(board):
    """Returns the bridge's options for `live`, `live:GPU` or a capture. None: the board is a model's."""
    if board == LIVE or board.startswith(f"{LIVE}:"):
        return ["--live", board.partition(":")[2] or "0"]
    return ["--capture", board] if _is_capture(pathlib.Path(board)) else None


def is_needed(boards):
    return any(options(board) is not None for board in boards)


def _is_capture(path):
    if not path.is_file():
        return False
    if path.suffix == ".capture":
        return True
    data = path.read_bytes()
    gzip = b"\x1f\x8b"
    return data.startswith(gzip) or b'"nvdebug-capture"' in data
