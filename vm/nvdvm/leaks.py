# SPDX-License-Identifier: MIT OR GPL-2.0
"""Finds lost memory, which nothing refers to any more, in a kernel with kmemleak."""

import re

FILE = "/sys/kernel/debug/kmemleak"

# Prints the modules' symbols, then unloads the modules and prints every lost object. kmemleak wants an object
# to be 5 s old, and two scans to find it unchanged. A kernel that is locked down allows no scan.
COLLECT = f"""
[ -e {FILE} ] || exit 0
! grep -qs '^none' /sys/kernel/security/lockdown || exit 0
grep '\\[' /proc/kallsyms
for module in $(cut -d' ' -f1 /proc/modules); do rmmod $module; done 2>/dev/null
sleep 6
echo scan >{FILE} && echo scan >{FILE} || exit
echo ====
cat {FILE}
"""

_OBJECT = re.compile(r"^unreferenced object ", re.MULTILINE)
# A frame has an address instead of a name if its module is gone by then.
_FRAME = re.compile(r"^( +\[<.*>\]) 0x([0-9a-f]+)$", re.MULTILINE)


def find(collected):
    """Splits the output of COLLECT into one text for each lost object, with the names of its callers."""
    symbols, _, objects = collected.partition("====\n")
    table = sorted((int(address, 16), name) for address, _, name, *_ in
                   (line.split() for line in symbols.splitlines()))
    return [_FRAME.sub(lambda frame: _named(frame, table), "unreferenced object " + text).strip()
            for text in _OBJECT.split(objects)[1:]]


def _named(frame, table):
    address = int(frame[2], 16)
    below = [entry for entry in table if entry[0] <= address]
    if not below:
        return frame[0]
    return f"{frame[1]} {below[-1][1]}+{address - below[-1][0]:#x} [unloaded]"
