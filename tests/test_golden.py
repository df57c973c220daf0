# SPDX-License-Identifier: MIT OR GPL-2.0
"""Every file that can be read, on every board, frozen. A difference is a change of interface."""

import pytest
from conftest import BOARDS

WORKLOADS = ("idle", "three-tasks", "sysmem", "mixed")


def names(bench, board, only_runlists):
    listed = bench.check(f"find {bench.proc(board)} -type f -perm /444").split()
    found = [path.rpartition("/")[2] for path in listed]
    wanted = [name for name in found if name.startswith("runlist") == only_runlists]
    return sorted(wanted, key=lambda name: (name.rstrip("0123456789"), len(name), name))


def printed(bench, board, name):
    """A heading, then what reading gives: the text, or the errno of open as cat words it."""
    result = bench.run(f"cat {bench.proc(board, name)}")
    text = result.err.decode() if result.status else result.text
    return f"==> {name}\n{text.replace(bench.proc(board), '')}"


def everything(bench, board, only_runlists):
    return "".join(printed(bench, board, name) for name in names(bench, board, only_runlists))


@pytest.mark.parametrize("board", BOARDS)
def test_topology(bench, golden, board):
    golden(f"{board}/topology", everything(bench, board, only_runlists=False))


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("board", BOARDS)
def test_runlists(bench, golden, board, workload):
    bench.restart(board, workload)
    bench.model(board).request("advance", 5000)
    golden(f"{board}/{workload}", everything(bench, board, only_runlists=True))


@pytest.mark.parametrize("board", BOARDS)
def test_modes(bench, golden, board):
    golden(f"{board}/modes", bench.check(f"cd {bench.proc(board)} && stat -c '%a %U:%G %n' *"))
