# SPDX-License-Identifier: MIT OR GPL-2.0
"""The modelled boards, and what a test has to know of their generations."""

import json

from nvdvm import paths

# In the order of their slots in the VM.
BOARDS = ("quadro-k5000", "gtx980", "gtx1060-3gb", "gtx1080ti", "titan-v", "rtx2080ti", "a100",
          "rtx-a6000", "rtx6000-ada", "h200", "b200", "rtx5090")

_GENERATIONS = ("kepler", "maxwell-gm20x", "pascal", "volta", "turing", "ampere-ga100",
                "ampere-ga10x", "ada", "hopper", "blackwell-gb10x", "blackwell-gb20x")


def _chip(board):
    text = (paths.BOARDS / f"{board}.json").read_text(encoding="utf-8")
    return json.loads(text)["chip"]


CHIP = {board: _chip(board)["name"] for board in BOARDS}
GENERATION = {board: _chip(board)["generation"] for board in BOARDS}


def since(generation):
    """The boards of that generation and newer ones."""
    first = _GENERATIONS.index(generation)
    return tuple(board for board in BOARDS if _GENERATIONS.index(GENERATION[board]) >= first)


def before(generation):
    return tuple(board for board in BOARDS if board not in since(generation))


# Channel ids are those of a runlist there, and of the whole GPU elsewhere.
IDS_PER_RUNLIST = since("ampere-ga100")
# 16-byte runlist entries, fault bits, subcontexts.
WIDE_ENTRIES = since("volta")
# Logical copy engines and published registers that wire them.
COPY_WIRING = tuple(board for board in since("pascal") if board not in since("hopper"))
