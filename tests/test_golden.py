# SPDX-License-Identifier: MIT OR GPL-2.0
"""Every file that can be read, on every board, frozen. A difference is a change of interface."""

import pytest
from conftest import BOARDS

WORKLOADS = ("idle", "three-tasks", "sysmem", "mixed")


def printed(bench, board, name):
    """What reading a file gives: its text, or the errno of open as cat words it."""
    result = bench.run(f"cat {bench.proc(board, name)}")
    if result.status:
        return result.err.decode().replace(bench.proc(board), "")
    return result.text


def names(bench, board):
    listed = bench.check(f"find {bench.proc(board)} -type f -perm /444").split()
    return sorted(path.rpartition("/")[2] for path in listed)


@pytest.mark.parametrize("board", BOARDS)
def test_topology(bench, golden, board):
    for name in names(bench, board):
        if not name.startswith("runlist"):
            golden(f"{board}/{name}", printed(bench, board, name))


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("board", BOARDS)
def test_runlists(bench, golden, board, workload):
    bench.restart(board, workload)
    bench.model(board).request("advance", 5000)
    for name in names(bench, board):
        if name.startswith("runlist"):
            golden(f"{board}/{workload}/{name}", printed(bench, board, name))


@pytest.mark.parametrize("board", BOARDS)
def test_modes(bench, golden, board):
    listing = bench.check(f"cd {bench.proc(board)} && stat -c '%a %U:%G %n' *")
    golden(f"{board}/modes", listing)
