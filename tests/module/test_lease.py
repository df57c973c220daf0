# SPDX-License-Identifier: MIT OR GPL-2.0
"""Requests that are undone when the file is closed because their holder is killed. The undo uses the kernel's ways to
memory. tests/module/core/lease_*_test.cpp and tasks_test.cpp have the changes that it restores or leaves alone."""

import re

import pytest
from boards import BOARDS, before
from leases import HOLDER, LEASES, held, hold, kill, leases_of
from nvdvm.machine import Gpu, Machine
from runlist import location, slice_of
from tasks import SLICE_US, even
from tracepoints import events, trace

pytestmark = pytest.mark.sample


@pytest.mark.parametrize("board", BOARDS)
def test_all_leases_of_a_killed_holder_are_undone(bench, board):
    """The words are written through the kernel's ways to memory."""
    where, old = location(bench, board), slice_of(bench, board, 1)
    with held(bench, board, *leases_of(board)):
        assert location(bench, board) != where
        bench.model(board).request("advance", 5 * SLICE_US)
    assert location(bench, board) == where
    assert slice_of(bench, board, 1) == old
    assert even(bench, board)


# Failures

@pytest.mark.parametrize("board", BOARDS)
def test_leases_of_a_gpu_off_the_bus_are_logged(bench, board):
    hold(bench, [(bench.proc(board, name), text) for name, text in leases_of(board).items()])
    bench.model(board).request("fault", "all-ones")
    bench.check("dmesg -c > /dev/null")
    kill(bench)
    bench.model(board).request("fault", "none")
    # With the next line, the kernel counts the lines that it has left out.
    lines = [line for line in bench.module_log().splitlines() if "callbacks suppressed" not in line]
    assert len(lines) == len(leases_of(board)) and "failed to restore" not in " ".join(lines)
    assert all("1 lease is over, but the GPU sleeps, has gone or gets another driver: nothing is put back (-19)" in line
               for line in lines)
    bench.check("rmmod nvdebug")
    assert bench.machine.load_module().status == 0


# The log

@pytest.mark.parametrize("board", BOARDS)
def test_an_undo_raises_tracepoints_and_is_logged(bench, board):
    words = 2 if board in before("turing") else 3
    submit = ["runlist_submit"] * words
    expected = {
        "disable_channel": (["channel_enable"] * 2, "enabled 2 channels: "),
        "set_timeslice": (["timeslice"] + submit, "set the timeslice of 1 TSG: 0:1 1998.848 us"),
        "scheduling": (["scheduling"], "set scheduling of 1 runlist: 0 on"),
        "switch_to_tsg": (submit, "resubmitted 1 runlist: 0"),
        "preemption_mode": (["preemption_mode"],
                            "set the preemption mode of 1 channel: 0:2 cta"),
    }
    for name, text in leases_of(board).items():
        hold(bench, [(bench.proc(board, name), text)])
        pid = bench.check(f"cat {HOLDER}").strip()
        with trace(bench) as lines:
            kill(bench)
        kinds, said = expected[name]
        assert events(lines) == kinds
        assert all(line.split()[0] == f"sleep-{pid}" for line in lines)
        assert f"nvdebug: lease over: {said}" in bench.module_log(1)


def test_lockdown_does_not_prevent_the_undo_of_leases(module):
    """The undo reaches video memory behind the window, too. Lockdown lasts until a reboot."""
    boards = ("gtx1060-3gb", "rtx6000-ada")
    with Machine([Gpu(board) for board in boards], module=module) as machine:
        for index in range(len(boards)):
            hold(machine, [(f"/proc/gpu{index}/{name}", text) for name, text in LEASES.items()])
            machine.check(f"mv {HOLDER} {HOLDER}{index}")
        machine.check("echo integrity > /sys/kernel/security/lockdown; dmesg -c > /dev/null")
        for index in range(len(boards)):
            machine.check(f"mv {HOLDER}{index} {HOLDER}")
            kill(machine)
        lines = machine.check("dmesg | grep 'lease\\|failed to restore\\|may still'").splitlines()
        assert len(lines) == len(LEASES) * len(boards)
        assert all(re.search(r"lease over: [a-z ]* [12] (channels?|TSG|runlist): ", line)
                   for line in lines)
        machine.check_taint()
