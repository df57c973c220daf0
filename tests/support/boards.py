# SPDX-License-Identifier: MIT OR GPL-2.0
"""The modelled boards, and facts about their generations that tests need."""

import json

from nvdvm import paths

# The boards in the order of their slots in the VM.
BOARDS = ("quadro-k5000", "gtx980", "gtx1060-3gb", "gtx1080ti", "titan-v", "rtx2080ti", "a100",
          "rtx-a6000", "rtx6000-ada", "h200", "b200", "rtx5090")

# The GPUs of SoCs. They are platform devices, in a VM of their own (test_jetson.py).
INTEGRATED = ("jetson-tx2", "jetson-xavier", "jetson-orin")

_GENERATIONS = ("kepler", "maxwell-gm20x", "pascal", "volta", "turing", "ampere-ga100",
                "ampere-ga10x", "ada", "hopper", "blackwell-gb10x", "blackwell-gb20x")


def facts(board, section):
    """Returns a section of the board's file, or None."""
    text = (paths.BOARDS / f"{board}.json").read_text(encoding="utf-8")
    return json.loads(text).get(section)


CHIP = {board: facts(board, "chip")["name"] for board in BOARDS + INTEGRATED}
GENERATION = {board: facts(board, "chip")["generation"] for board in BOARDS + INTEGRATED}


def since(generation):
    """Returns the boards of that generation and newer ones."""
    first = _GENERATIONS.index(generation)
    return tuple(board for board in BOARDS if _GENERATIONS.index(GENERATION[board]) >= first)


def before(generation):
    return tuple(board for board in BOARDS if board not in since(generation))


# Boards on which each runlist numbers its channels. On the others, a channel id belongs to the whole GPU.
IDS_PER_RUNLIST = since("ampere-ga100")
# Boards with 16-byte runlist entries, fault bits and subcontexts.
WIDE_ENTRIES = since("volta")
# Boards with logical copy engines, and registers that wire them.
COPY_WIRING = since("pascal")
# Names in `device_info` of the copy engines that workloads name, on boards without logical copy engines
# (docs/model.md): type and instance.
PHYSICAL_COPY_ENGINES = {"LCE0": "COPY20", "LCE2": "COPY00", "LCE3": "COPY10"}


def runlists_by_engine(board, engines):
    """Returns {name that a workload may use: runlist}, from {runlist: names} of `device_info`."""
    runlist_of = {name: runlist for runlist, names in engines.items() for name in names}
    if board in before("pascal"):
        runlist_of |= {name: runlist_of[copy] for name, copy in PHYSICAL_COPY_ENGINES.items()
                       if copy in runlist_of}
    runlist_of["first-async-lce"] = runlist_of[_first_async_lce(board, runlist_of)]
    return runlist_of


def _first_async_lce(board, runlist_of):
    """Returns the first copy engine that has a physical one and is not on a graphics engine's runlist."""
    if board in before("pascal"):
        return PHYSICAL_COPY_ENGINES["LCE2"]
    graphics = {runlist for name, runlist in runlist_of.items() if name.startswith("GR")}
    wired = sorted({lce for lce in facts(board, "copy")["pce_lce"] if lce is not None})
    return next(f"LCE{lce}" for lce in wired if runlist_of[f"LCE{lce}"] not in graphics)
