# SPDX-License-Identifier: MIT OR GPL-2.0
"""Every file that can be read, on every board, frozen. A difference is a change of interface."""

import re

import pytest
from boards import BOARDS, facts, since
from nvdvm import arch as archs, qemu

# They say something only when asked.
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


def printed(bench, board, name):
    """A heading, then what reading gives: the text, or the errno of open as cat words it."""
    result = bench.run(f"cat {bench.proc(board, name)}")
    text = result.err.decode() if result.status else without_clock(name, result.text)
    text = as_modelled(board, text) if name == "info" and bench.real_bars else text
    # Words in which a number for each TPC is packed may look like addresses.
    text = text if name == "work_distributor" else as_on_x86(bench.machine.arch, text)
    return f"==> {name}\n{text.replace(bench.proc(board), '')}"


def everything(bench, board, wanted):
    return "".join(printed(bench, board, name) for name in names(bench, board) if wanted(name))


def not_empty(bench, board, suffix):
    """The runlists that have entries: the others' text is in the golden file of `idle`."""
    return {f"runlist{entry['id']}{suffix}"
            for entry in bench.model(board).request("layout")["runlists"] if entry["entries"]}


@pytest.mark.parametrize("board", BOARDS)
def test_topology(bench, golden, board):
    golden(f"{board}/topology", everything(bench, board, lambda name: not is_state(name)))


@pytest.mark.parametrize("board", BOARDS)
def test_idle(bench, golden, board):
    bench.restart(board, "idle")
    bench.model(board).request("advance", 5000)
    golden(f"{board}/idle", everything(
        bench, board, lambda name: is_state(name) and not name.endswith("_brief")))


@pytest.mark.parametrize("workload", ("mixed", "sysmem"))
@pytest.mark.parametrize("board", BOARDS)
def test_lists(bench, golden, board, workload):
    bench.restart(board, workload)
    bench.model(board).request("advance", 5000)
    lists = not_empty(bench, board, "_brief")
    golden(f"{board}/{workload}", everything(
        bench, board, lambda name: name in lists or name in ("contexts", "engines")))


@pytest.mark.parametrize("board, workload", [
    *((board, "fig6") for board in BOARDS), *((board, "fig7") for board in since("volta")),
    *((board, "preemption") for board in since("pascal"))])
def test_contexts(bench, golden, board, workload):
    bench.restart(board, workload)
    bench.model(board).request("advance", 5000)
    lists = not_empty(bench, board, "")
    golden(f"{board}/{workload}", everything(
        bench, board, lambda name: name in lists or name in ("contexts", "engines")))


@pytest.mark.parametrize("board", BOARDS)
def test_modes(bench, golden, board):
    golden(f"{board}/modes", bench.check(f"cd {bench.proc(board)} && stat -c '%a %U:%G %n' *"))
