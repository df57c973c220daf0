# SPDX-License-Identifier: MIT OR GPL-2.0
"""The files of a GPU's folder, and their text as tests/golden has it."""

import re

from boards import facts
from costs import accesses
from nvdvm import arch as archs, qemu

# They have text only after a request.
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
    """BARs of the sizes that a product has, as vfio-user shows them, are written as QEMU's proxy
    shows them, so that one file serves both."""
    memory = facts(board, "memory")
    for bar in range(3):
        real, modelled = memory[f"bar{bar}_mib"] << 20, memory[f"bar{bar}_modelled_mib"] << 20
        text = text.replace(f"\nbar{bar}_size: {real}\n", f"\nbar{bar}_size: {modelled}\n")
    return text


def as_on_x86(arch, text):
    """Addresses of what workloads keep in system memory, which is not in one place everywhere."""
    def moved(match):
        address = int(match[0], 16) - arch.sysmem_base
        if not 0 <= address < qemu.SYSMEM_SIZE:
            return match[0]
        return f"0x{address + archs.X86_64.sysmem_base:0{len(match[0]) - 2}x}"

    return re.sub(r"\b0x[0-9a-f]+\b", moved, text)


def printed(bench, board, name, text):
    """A heading, then what reading gave."""
    text = without_clock(name, text)
    text = as_modelled(board, text) if name == "info" and bench.real_bars else text
    # Words in which a number for each TPC is packed may look like addresses.
    text = text if name == "work_distributor" else as_on_x86(bench.machine.arch, text)
    return f"==> {name}\n{text}"


def everything(bench, board, wanted):
    """The text of each file, or the errno of open as cat words it."""
    chosen = [name for name in names(bench, board) if wanted(name)]
    said = bench.check(f"cd {bench.proc(board)}; for name in {' '.join(chosen)}; do "
                       "echo \"==> $name\"; cat $name 2>&1; done; true")
    texts = re.split(r"^==> .*\n", said, flags=re.MULTILINE)[1:]
    return "".join(printed(bench, board, name, text) for name, text in zip(chosen, texts, strict=True))


def not_empty(bench, board, suffix):
    """The runlists that have entries: the others' text is in the golden file of `idle`."""
    return {f"runlist{entry['id']}{suffix}"
            for entry in bench.model(board).request("layout")["runlists"] if entry["entries"]}


def shown_again(bench, board):
    """Waits for the files of a GPU of which there was only info: root's opening that has it looked at again."""
    bench.check(f"timeout 60 sh -c 'while cat {bench.proc(board, 'info')} > /dev/null 2>&1; "
                f"! [ -e {bench.proc(board, 'device_info')} ] || ! [ -e {bench.proc(board, 'info')} ]; do usleep 50000; done'")


def expect_errors(bench, board, error):
    """Every file but `info` gives that, and the GPU is not touched."""
    bench.model(board).request("stats", "reset")
    shown = set(names(bench, board)) - {"info"}
    lines = bench.run(f"cd {bench.proc(board)} && cat {' '.join(shown)}").err.decode().splitlines()
    assert len(lines) == len(shown) and all(line.endswith(error) for line in lines)
    for name, text in (("disable_channel", "0:2"), ("translate", "0:2 0"), ("scheduling", "0 off")):
        result = bench.write(board, name, text)
        assert result.status and error in result.err.decode(), name
    assert accesses(bench, board) == 0
