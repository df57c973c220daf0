# SPDX-License-Identifier: MIT OR GPL-2.0
"""Recognises the messages of a guest's kernel that report trouble, from any of its checkers."""

import re

# Bits of /proc/sys/kernel/tainted that every out-of-tree, unsigned module sets.
_EXPECTED_TAINT = 1 << 12 | 1 << 13

_SPLAT = re.compile(
    r"Kernel panic|kernel BUG at|\bBUG: |\bWARNING: |\bOops\b|general protection fault|"
    r"unable to handle|invalid opcode|double fault|stack guard page was hit|"
    # Sanitizers, slabs and checkers of objects
    r"KASAN: |KFENCE: |UBSAN: |KCSAN: |KMSAN: |ODEBUG: |\bBUG \S+ \(|refcount_t: |"
    r"list_(?:add|del) corruption|memory leak detector disabled|"
    # Lock debugging; most of it also logs WARNING or BUG
    r"possible (?:recursive locking|circular locking|irq lock inversion|deadlock)|"
    r"inconsistent lock state|bad unlock balance|held lock freed|lock held when returning|"
    r"sleeping function called|scheduling while atomic|suspicious RCU|non-static key|"
    r"lockdep is turned off|leaked (?:lock|atomic)|"
    # Hangs
    r"blocked for more than|soft lockup|hard LOCKUP|"
    r"rcu.*(?:self-detected stall|detected stalls|detected expedited stalls)|"
    # Files that exist already
    r"cannot create duplicate")

# Prints the state that complaint() checks.
STATE = ("grep -hsE '^[0-9]+$|debug_locks:' /proc/sys/kernel/tainted /proc/lockdep_stats"
         ' || true')


def find_splat(console):
    """Returns the console's text from the line of the first splat on, or None."""
    found = _SPLAT.search(console)
    if not found:
        return None
    return console[console.rfind("\n", 0, found.start()) + 1:][:4000]


def complaint(state):
    """Returns why the state that STATE printed is bad, or None."""
    taint, _, locks = state.partition("\n")
    if int(taint) & ~_EXPECTED_TAINT:
        return f"the guest's kernel is tainted: {int(taint):#x}"
    # lockdep sets it to 0 with its first report.
    if locks and locks.split()[-1] != "1":
        return "the guest's kernel has turned lock debugging off"
    return None
