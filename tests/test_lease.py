# SPDX-License-Identifier: MIT OR GPL-2.0
"""Requests that are undone when the file is closed: what the GPU does when their holder is killed."""

import re

import pytest
from boards import BOARDS, before, since
from leases import HOLDER, LEASES, held, hold, kill, leases_of
from nvdvm.machine import Gpu, Machine
from runlist import enabled, location, mode, slice_of
from tasks import SLICE_US, TSGS, even, gained, gained_by_channel, only, shares
from tracepoints import events, trace

pytestmark = pytest.mark.sample

# Of each way to move the window into video memory. On every board, without a kernel: tests/core/tasks_test.cpp.
WINDOWS = ("gtx1060-3gb", "h200")
# The register with the instance block of channel 2, up to Turing.
INST_2 = 0x800010
# What the GPU does


@pytest.mark.parametrize("board", WINDOWS)
def test_disabled_channels_run_again(bench, board):
    window = 60 * SLICE_US
    with held(bench, board, "disable_channel"):
        bench.model(board).request("advance", 3 * SLICE_US)
        assert gained(bench, board, window)[0, 1] == 0
    bench.model(board).request("advance", 3 * SLICE_US)
    after = gained(bench, board, window)
    assert [after[0, tsg] for tsg in TSGS] == pytest.approx([window / 3] * 3, rel=0.05)


@pytest.mark.parametrize("board", WINDOWS)
def test_a_runlist_that_fell_asleep_wakes_up(bench, board):
    with held(bench, board, disable_channel=" ".join(f"0:{channel}" for channel in range(6))):
        bench.model(board).request("advance", 3 * SLICE_US)
        assert set(gained_by_channel(bench, board, 10 * SLICE_US).values()) == {0}
    assert all(gained_by_channel(bench, board, 10 * SLICE_US).values())


@pytest.mark.parametrize("board", WINDOWS)
def test_enabled_channels_stop_again(bench, board):
    bench.write_ok(board, "disable_channel", "0:2 0:3")
    with held(bench, board, enable_channel="0:2 0:3"):
        assert gained(bench, board, 10 * SLICE_US)[0, 1] > 0
    bench.model(board).request("advance", 3 * SLICE_US)
    assert gained(bench, board, 10 * SLICE_US)[0, 1] == 0


@pytest.mark.parametrize("board", WINDOWS)
def test_a_timeslice_is_the_old_one(bench, board):
    where = location(bench, board)
    with held(bench, board, "set_timeslice"):
        assert slice_of(bench, board, 1) == ["3997.696"]
        assert shares(bench, board, [SLICE_US, 2 * SLICE_US, SLICE_US]) == \
            pytest.approx([1 / 4, 1 / 2, 1 / 4], rel=0.02)
    assert slice_of(bench, board, 1) == ["1998.848"]
    assert location(bench, board) == where
    assert even(bench, board)


@pytest.mark.parametrize("board", WINDOWS)
def test_timeslices_in_system_memory_and_of_several_headers(bench, board):
    for workload, tsg in (("sysmem", 2), ("mixed", 10)):
        bench.restart(board, workload)
        old = slice_of(bench, board, tsg)
        with held(bench, board, set_timeslice=f"0:{tsg} 5000"):
            assert slice_of(bench, board, tsg) == ["4980.736"] * len(old)
        assert slice_of(bench, board, tsg) == old


@pytest.mark.parametrize("board", WINDOWS)
def test_the_list_comes_back(bench, board):
    where = location(bench, board)
    with held(bench, board, "switch_to_tsg"):
        assert only(bench, board, 1)
    assert location(bench, board) == where
    assert even(bench, board)


@pytest.mark.parametrize("board", WINDOWS)
def test_scheduling_goes_on(bench, board):
    with held(bench, board, "scheduling"):
        bench.model(board).request("advance", 3 * SLICE_US)
        gain = gained(bench, board, 30 * SLICE_US)
        assert sum(gain[0, tsg] > 0 for tsg in TSGS) <= 1
    assert "off" not in bench.read(board, "scheduling")
    assert even(bench, board)


@pytest.mark.parametrize("board", BOARDS)
def test_all_at_once(bench, board):
    with held(bench, board, *leases_of(board)):
        bench.model(board).request("advance", 5 * SLICE_US)
    assert even(bench, board)


# What it leaves alone

@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("name", ["set_timeslice", "switch_to_tsg"])
def test_a_list_of_the_drivers_stays(bench, board, name):
    hold(bench, [(bench.proc(board, name), LEASES[name])])
    bench.model(board).request("submit", 0)
    bench.model(board).request("advance", 100)
    where = location(bench, board)
    with trace(bench) as lines:
        kill(bench)
    assert not lines
    assert location(bench, board) == where
    assert even(bench, board)


@pytest.mark.parametrize("board", before("ampere-ga100"))
@pytest.mark.parametrize("name", ["disable_channel", "enable_channel"])
def test_a_channel_that_is_somebody_elses_by_now(bench, board, name):
    """It has another instance block."""
    if name == "enable_channel":
        bench.write_ok(board, "disable_channel", "2")
    hold(bench, [(bench.proc(board, name), "2")])
    bench.model(board).request("fault", f"read {INST_2:#x} 0x80054321")
    with trace(bench) as lines:
        kill(bench)
    bench.model(board).request("fault", "none")
    assert not lines
    assert (2 in enabled(bench, board)) == (name == "enable_channel")


@pytest.mark.parametrize("board", BOARDS)
def test_what_was_changed_meanwhile(bench, board):
    """Left alone, not written once more."""
    with trace(bench) as lines:
        hold(bench, [(bench.proc(board, "disable_channel"), "0:2 0:3"),
                     (bench.proc(board, "scheduling"), "0 off")])
        bench.write_ok(board, "enable_channel", "0:2")
        bench.write_ok(board, "scheduling", "0 on")
        kill(bench)
    assert events(lines) == ["channel_enable", "channel_enable", "scheduling", "channel_enable",
                             "scheduling", "channel_enable"]
    assert "channel=3 enable" in lines[-1]


@pytest.mark.parametrize("board", since("pascal"))
def test_a_mode_that_was_changed_meanwhile(bench, board):
    hold(bench, [(bench.proc(board, "preemption_mode"), "0:2 wfi")])
    bench.write_ok(board, "preemption_mode", "0:2 cta")
    with trace(bench) as lines:
        kill(bench)
    assert not lines and mode(bench, board) == "CTA"


# What can go wrong

@pytest.mark.parametrize("board", BOARDS)
def test_a_gpu_off_the_bus(bench, board):
    hold(bench, [(bench.proc(board, name), text) for name, text in leases_of(board).items()])
    bench.model(board).request("fault", "all-ones")
    bench.check("dmesg -c > /dev/null")
    kill(bench)
    bench.model(board).request("fault", "none")
    lines = bench.module_log().splitlines()
    assert len(lines) == len(leases_of(board)) and "failed to restore" not in " ".join(lines)
    assert all("1 lease is over, but the GPU sleeps, has gone or gets another driver: nothing is put back (-19)" in line
               for line in lines)
    bench.check("rmmod nvdebug")
    assert bench.machine.load_module().status == 0


@pytest.mark.parametrize("board", before("ampere-ga100"))
def test_channels_that_do_not_follow(bench, board):
    hold(bench, [(bench.proc(board, "disable_channel"), "2 3")])
    bench.model(board).request("fault", "stuck 0x800014")
    kill(bench)
    bench.model(board).request("fault", "none")
    lines = bench.module_log(2)
    assert "failed to restore 1 channel, the last one channel 2 (-5)" in lines
    assert "lease over: enabled 1 channel: 3" in lines


# The log

@pytest.mark.parametrize("board", BOARDS)
def test_tracepoints_and_log(bench, board):
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


def test_lockdown_does_not_keep_what_was_leased(module):
    """Also what is in video memory that only the window reaches. Lasts until a reboot."""
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
