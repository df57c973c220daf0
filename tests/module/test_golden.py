# SPDX-License-Identifier: MIT OR GPL-2.0
"""Each file that can be read, on each board, frozen. A difference is a change of interface.

tests/module/core/golden_test.cpp makes all of them but `info` in one process, too.
"""

import pytest
from boards import BOARDS, since
from files import everything, is_state, not_empty


def start_again(bench, start, board, workload):
    """Restarts the workload after each file has been opened once. The module remembers what a BAR shows from one open
    to the next, and finding that out takes the GPU's time. So the result does not depend on earlier tests."""
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
