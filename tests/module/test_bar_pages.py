# SPDX-License-Identifier: MIT OR GPL-2.0
"""A driver takes pages out of BAR2 while the module uses them. The module accesses them no more."""

import pytest
import stall
from conftest import Bench
from driver import bind, driver, unbind
from nvdvm import kernel, paths
from nvdvm.machine import Gpu, Machine
from page_tables import fill_with
from stall import stalled

BOARDS = ("titan-v", "h200")
WORKLOAD = "bars"


@pytest.fixture(scope="module")
def bench(module):
    modules = paths.BUILD / "test-modules" / kernel.find().release
    files = {**stall.files(), "/lib/pcigpu.ko": modules / "pcigpu.ko"}
    with Machine([Gpu(board) for board in BOARDS], module=module, extra_files=files,
                 logs=paths.BUILD / "logs" / "bar-pages") as machine:
        yield Bench(machine, BOARDS)


def take_away(bench, board):
    """Removes all pages of both BARs from their page directories."""
    model = bench.model(board)
    for bar in model.request("layout")["bars"]:
        fill_with(model, bar["page_directory"], [0, 0])


def faults(bench, board):
    """Returns the accesses where nothing is mapped."""
    return [one for one in bench.model(board).request("violations")["violations"]
            if one["bar"] in (1, 2)]


def with_driver(bench, board, command, function, calls, after, first=None):
    """Runs a command that loses its pages in `function`. Returns the finished command and its accesses where nothing
    is mapped. `first` runs before, so that an earlier command has found the pages."""
    bench.restart(board, WORKLOAD)
    with driver(bench):
        assert bind(bench, board).status == 0
        try:
            if first:
                bench.check(first)
            bench.model(board).request("violations", "reset")
            with stalled(bench, command, function, calls, after) as done:
                take_away(bench, board)
            return done, faults(bench, board)
        finally:
            bench.check(unbind(bench, board))


@pytest.mark.parametrize("again", (False, True), ids=("first", "again"))
@pytest.mark.parametrize("file, calls", (("runlist0_brief", 1), ("runlist0", 1), ("runlist0", 5),
                                         ("contexts", 1), ("contexts", 2), ("contexts", 5)))
@pytest.mark.parametrize("board", BOARDS)
def test_reading_ends_with_the_pages(bench, board, file, calls, again):
    command = f"cat {bench.proc(board, file)}"
    done, unmapped = with_driver(bench, board, f"exec {command}", "nvdebug_bar_find", calls, True,
                                 command if again else None)
    assert not unmapped, done.out[-200:]


@pytest.mark.parametrize("function, after", (("nvdebug_mem_write", False), ("nvdebug_bar_find", True)))
@pytest.mark.parametrize("board", BOARDS)
def test_writing_ends_with_the_pages(bench, board, function, after):
    command = f"echo 0:1 9000 > {bench.proc(board, 'set_timeslice')}"
    done, unmapped = with_driver(bench, board, command, function, 1, after)
    assert done.status != 0
    assert not unmapped
