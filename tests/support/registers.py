# SPDX-License-Identifier: MIT OR GPL-2.0
"""Registers of runlist 0 for which tests let the model return false values. They come from NVIDIA's manuals (not from
the module)."""

from boards import GENERATION, before, facts

TARGET = {"vid": 0, "coh": 2, "ncoh": 3}


def runlist_base(board):
    """Returns the base of runlist 0's block, on Ampere and newer."""
    row = next(row for row in facts(board, "runlists")["rows"] if row["id"] == 0)
    return int(str(row["base"]), 0)


def pram_window(board):
    """Returns the register that selects the memory that PRAMIN shows."""
    return 0x1700 if board in before("hopper") else 0x10fd40


def _list_block(board):
    """Returns the place where BASE_LO, BASE_HI, SUBMIT and SUBMIT_INFO follow each other, from Turing on."""
    if board in before("ampere-ga100"):
        return 0x2b00
    return runlist_base(board) + (0 if GENERATION[board] == "blackwell-gb20x" else 0x80)


def list_place(board, address, aperture):
    """Returns {register: value} of a list at that address."""
    if board in before("turing"):
        return {0x2280: address >> 12 | TARGET[aperture] << 28}
    block = _list_block(board)
    return {block: address & 0xfffff000 | TARGET[aperture], block + 4: address >> 32}


def list_length(board, entries):
    """Returns {register: value} of a list of that length, with no pending submit."""
    if board in before("turing"):
        return {0x2284: entries}
    return {_list_block(board) + 8: entries}


def list_pending(board):
    """Returns (register, mask) of the bit that is set until Host has taken the list."""
    if board in before("turing"):
        return 0x2284, 1 << 20
    return _list_block(board) + 0xc, 1 << 15


def tsg_preempt_pending(board):
    """Returns (register, mask) of the bit that is set while a TSG is being preempted."""
    if board in before("ampere-ga100"):
        return 0x2634, 1 << 20
    return _preempt(board), 1 << 20


def runlist_preempt_pending(board):
    """Returns (register, mask) of the bit that is set while the runlist is being preempted, on Volta and newer."""
    if board in before("ampere-ga100"):
        return 0x2638, 1
    return _preempt(board), 1 << 21


def _preempt(board):
    return runlist_base(board) + (0x14 if GENERATION[board] == "blackwell-gb20x" else 0x98)


def engine_status(board):
    """Returns the status register of the runlist's first engine."""
    if board in before("ampere-ga100"):
        return 0x2640
    return runlist_base(board) + (0x90 if GENERATION[board] == "blackwell-gb20x" else 0x200)


def device_table(board):
    """Returns the rows of the table of engines. If there are two dies, they include both dies' rows."""
    if board in before("ampere-ga100"):
        return [0x22700 + 4 * row for row in range(64)]
    rows = range(facts(board, "ptop")["rows"])
    return [die + 0x800 + 4 * row for die in _device_tables(board) for row in rows]


def _device_tables(board):
    dies = {row.get("die", 0) for row in facts(board, "engines")["rows"]}
    return [0x22000 + 0x10000 * die for die in sorted(dies)]


def lie(model, values):
    """Lets the model's registers read as these values, until its faults are cleared."""
    for register, value in values.items():
        model.request("fault", "read", hex(register), hex(value))


def stick(model, bit):
    """Lets the bit of (register, mask) read as set, until the model's faults are cleared."""
    register, mask = bit
    model.request("fault", "set", hex(register), hex(mask))
