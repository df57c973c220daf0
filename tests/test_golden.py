# SPDX-License-Identifier: MIT OR GPL-2.0
"""Every file that can be read, on every board, frozen. A difference is a change of interface."""

import re

import pytest
from boards import BOARDS, since

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


def printed(bench, board, name):
    """A heading, then what reading gives: the text, or the errno of open as cat words it."""
    result = bench.run(f"cat {bench.proc(board, name)}")
    text = result.err.decode() if result.status else without_clock(name, result.text)
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
