# SPDX-License-Identifier: MIT OR GPL-2.0
"""The files of a GPU's folder, and their text in the form of tests/golden."""

import re

from boards import facts
from costs import accesses
from nvdvm import arch as archs, qemu

# Files that have text only after a request.
ANSWERS = {"translate", "set_timeslice"}
STATE = ("runlist", "contexts", "engines", "scheduling", "work_distributor")


def names(bench, board):
    listed = bench.check(f"find {bench.proc(board)} -type f -perm /444").split()
    found = {path.rpartition("/")[2] for path in listed} - ANSWERS
    return sorted(found, key=lambda name: (name.rstrip("0123456789"), len(name), name))


def is_state(name):
    return name.startswith(STATE)


def without_clock(name, text):
    return re.sub(r"\d", "N", text) if name == "ptimer" else text


def as_modelled(board, text):
    """Replaces the sizes of BARs that a product has, as vfio-user shows them, by the sizes that QEMU's proxy shows. So
    one golden file serves both."""
    memory = facts(board, "memory")
    for bar in range(3):
        real, modelled = memory[f"bar{bar}_mib"] << 20, memory[f"bar{bar}_modelled_mib"] << 20
        text = text.replace(f"\nbar{bar}_size: {real}\n", f"\nbar{bar}_size: {modelled}\n")
    return text


def as_on_x86(arch, text):
    """Moves the addresses of workloads' system memory to the place that it has on x86."""
    def moved(match):
        address = int(match[0], 16) - arch.sysmem_base
        if not 0 <= address < qemu.SYSMEM_SIZE:
            return match[0]
        return f"0x{address + archs.X86_64.sysmem_base:0{len(match[0]) - 2}x}"

    return re.sub(r"\b0x[0-9a-f]+\b", moved, text)


def printed(bench, board, name, text):
    """Returns a heading and the text of a file."""
    text = without_clock(name, text)
    text = as_modelled(board, text) if name == "info" and bench.real_bars else text
    # Words that pack a number for each TPC may look like addresses.
    text = text if name == "work_distributor" else as_on_x86(bench.machine.arch, text)
    return f"==> {name}\n{text}"


def everything(bench, board, wanted):
    """Returns the text of each file, or the errno of opening it in the words of cat."""
    chosen = [name for name in names(bench, board) if wanted(name)]
    said = bench.check(f"cd {bench.proc(board)}; for name in {' '.join(chosen)}; do "
                       "echo \"==> $name\"; cat $name 2>&1; done; true")
    texts = re.split(r"^==> .*\n", said, flags=re.MULTILINE)[1:]
    return "".join(printed(bench, board, name, text) for name, text in zip(chosen, texts, strict=True))


def not_empty(bench, board, suffix):
    """Returns the runlists that have entries. The golden file of `idle` has the text of the others."""
    return {f"runlist{entry['id']}{suffix}"
            for entry in bench.model(board).request("layout")["runlists"] if entry["entries"]}


def shown_again(bench, board):
    """Waits for the files of a GPU that only had `info`. When root opens `info`, the GPU is probed again."""
    bench.check(f"timeout 60 sh -c 'while cat {bench.proc(board, 'info')} > /dev/null 2>&1; "
                f"! [ -e {bench.proc(board, 'device_info')} ] || ! [ -e {bench.proc(board, 'info')} ]; do usleep 50000; done'")


def expect_errors(bench, board, error):
    """Asserts that every file but `info` fails with that error, and that the GPU is not accessed."""
    bench.model(board).request("stats", "reset")
    shown = set(names(bench, board)) - {"info"}
    lines = bench.run(f"cd {bench.proc(board)} && cat {' '.join(shown)}").err.decode().splitlines()
    assert len(lines) == len(shown) and all(line.endswith(error) for line in lines)
    for name, text in (("disable_channel", "0:2"), ("translate", "0:2 0"), ("scheduling", "0 off")):
        result = bench.write(board, name, text)
        assert result.status and error in result.err.decode(), name
    assert accesses(bench, board) == 0
