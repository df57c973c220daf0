# SPDX-License-Identifier: MIT OR GPL-2.0
"""Registers of runlist 0 that tests let the model lie about, from NVIDIA's manuals (not from the module)."""

from boards import GENERATION, before, facts

TARGET = {"vid": 0, "coh": 2, "ncoh": 3}


def runlist_base(board):
    """Of the block of runlist 0, Ampere and newer."""
    row = next(row for row in facts(board, "runlists")["rows"] if row["id"] == 0)
    return int(str(row["base"]), 0)


def pram_window(board):
    """The register with the place that PRAMIN shows."""
    return 0x1700 if board in before("hopper") else 0x10fd40


def _list_block(board):
    """Where BASE_LO, BASE_HI, SUBMIT and SUBMIT_INFO follow each other, from Turing on."""
    if board in before("ampere-ga100"):
        return 0x2b00
    return runlist_base(board) + (0 if GENERATION[board] == "blackwell-gb20x" else 0x80)


def list_place(board, address, aperture):
    """{register: value} of a list at that address."""
    if board in before("turing"):
        return {0x2280: address >> 12 | TARGET[aperture] << 28}
    block = _list_block(board)
    return {block: address & 0xfffff000 | TARGET[aperture], block + 4: address >> 32}


def list_length(board, entries):
    """The same of its length, with nothing pending."""
    if board in before("turing"):
        return {0x2284: entries}
    return {_list_block(board) + 8: entries}


def list_pending(board):
    """(register, mask) that is set until Host has taken it."""
    if board in before("turing"):
        return 0x2284, 1 << 20
    return _list_block(board) + 0xc, 1 << 15


def tsg_preempt_pending(board):
    """(register, mask) that is set while the preempt of a TSG is under way."""
    if board in before("ampere-ga100"):
        return 0x2634, 1 << 20
    return _preempt(board), 1 << 20


def runlist_preempt_pending(board):
    """The same of the runlist's, Volta and newer."""
    if board in before("ampere-ga100"):
        return 0x2638, 1
    return _preempt(board), 1 << 21


def _preempt(board):
    return runlist_base(board) + (0x14 if GENERATION[board] == "blackwell-gb20x" else 0x98)


def engine_status(board):
    """The status of the runlist's first engine."""
    if board in before("ampere-ga100"):
        return 0x2640
    return runlist_base(board) + (0x90 if GENERATION[board] == "blackwell-gb20x" else 0x200)


def device_table(board):
    """The rows of the table of engines, of both dies if there are two."""
    if board in before("ampere-ga100"):
        return [0x22700 + 4 * row for row in range(64)]
    rows = range(facts(board, "ptop")["rows"])
    return [die + 0x800 + 4 * row for die in _device_tables(board) for row in rows]


def _device_tables(board):
    dies = {row.get("die", 0) for row in facts(board, "engines")["rows"]}
    return [0x22000 + 0x10000 * die for die in sorted(dies)]


def lie(model, values):
    """The model's registers read as these values until its faults are over."""
    for register, value in values.items():
        model.request("fault", "read", hex(register), hex(value))


def stick(model, bit):
    """A (register, mask) that reads as set until the model's faults are over."""
    register, mask = bit
    model.request("fault", "set", hex(register), hex(mask))
