# SPDX-License-Identifier: MIT OR GPL-2.0
"""Every file that can be read, on every board, frozen. A difference is a change of interface.

All of them but `info` are made in one process, too: tests/module/core/golden_test.cpp.
"""

import pytest
from boards import BOARDS, since
from files import everything, is_state, not_empty


def start_again(bench, start, board, workload):
    """Where a BAR shows what, the module remembers from one open to the next; looking for it takes
    the GPU's time. So each file was opened once before, whatever ran before this test."""
    start(board, workload)
    everything(bench, board, is_state)
    bench.restart(board, workload)
    bench.model(board).request("advance", 5000)


@pytest.mark.parametrize("board", BOARDS)
def test_topology(bench, golden, board):
    golden(f"{board}/topology", everything(bench, board, lambda name: not is_state(name)))


@pytest.mark.sample
@pytest.mark.parametrize("board", BOARDS)
def test_idle(bench, golden, board):
    bench.restart(board, "idle")
    bench.model(board).request("advance", 5000)
    golden(f"{board}/idle", everything(
        bench, board, lambda name: is_state(name) and not name.endswith("_brief")))


@pytest.mark.sample
@pytest.mark.parametrize("workload", ("mixed", "sysmem"))
@pytest.mark.parametrize("board", BOARDS)
def test_lists(bench, start, golden, board, workload):
    start_again(bench, start, board, workload)
    lists = not_empty(bench, board, "_brief")
    golden(f"{board}/{workload}", everything(
        bench, board, lambda name: name in lists or name in ("contexts", "engines")))


@pytest.mark.sample
@pytest.mark.parametrize("board, workload", [
    *((board, "fig6") for board in BOARDS), *((board, "fig7") for board in since("volta")),
    *((board, "preemption") for board in since("pascal"))])
def test_contexts(bench, start, golden, board, workload):
    start_again(bench, start, board, workload)
    lists = not_empty(bench, board, "")
    golden(f"{board}/{workload}", everything(
        bench, board, lambda name: name in lists or name in ("contexts", "engines")))


@pytest.mark.parametrize("board", BOARDS)
def test_modes(bench, golden, board):
    golden(f"{board}/modes", bench.check(f"cd {bench.proc(board)} && stat -c '%a %U:%G %n' *"))
