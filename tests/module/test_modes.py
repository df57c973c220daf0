# SPDX-License-Identifier: MIT OR GPL-2.0
"""GPUs that are partitioned (MIG) or closed to the CPU (confidential computing)."""

import pytest
from boards import BOARDS
from costs import accesses
from files import expect_errors, shown_again
from waiting import until

# The names of the modes in `info`, and its reason for each feature while a mode is on.
LINE = {"mig": "mig", "cc": "confidential_computing"}
WHY = {"mig": "MIG is on", "cc": "confidential computing is on"}
MODES = (("a100", "mig"), ("h200", "mig"), ("b200", "mig"), ("h200", "cc"), ("b200", "cc"))
REGISTER = {("a100", "mig"): 0x1404, ("h200", "mig"): 0xcc80, ("h200", "cc"): 0x1182cc, ("b200", "cc"): 0x590}


@pytest.fixture
def bench(bench):  # pylint: disable=redefined-outer-name
    yield bench
    for board, mode in MODES:
        bench.model(board).request("mode", mode, "0")
    bench.check("rmmod nvdebug")
    assert bench.machine.load_module().status == 0


def info(bench, board):
    return dict(line.split(": ", 1) for line in bench.read(board, "info").splitlines())


def features(lines):
    return {value for key, value in lines.items() if key.startswith("feature ")}


@pytest.mark.parametrize("board", BOARDS)
def test_info_shows_both_modes(bench, board):
    lines = info(bench, board)
    for mode, line in LINE.items():
        assert lines[line] == ("off" if (board, mode) in MODES else "-")


@pytest.mark.parametrize("board, mode", MODES)
def test_only_the_identity_is_shown_if_a_mode_is_on_at_load(bench, board, mode):
    files = bench.check(f"ls {bench.proc(board)}")
    bench.check("rmmod nvdebug")
    bench.model(board).request("mode", mode, "1")
    bench.model(board).request("stats", "reset")
    assert bench.machine.load_module().status == 0
    assert bench.check(f"ls {bench.proc(board)}").split() == ["info"]
    assert accesses(bench, board) <= 7, "BOOT_0, 1 and 42, and what tells the modes"
    lines = info(bench, board)
    assert features(lines) == {f"no ({WHY[mode]})"}
    assert lines["chip_id"] != "0x000" and lines[LINE[mode]] == "on"
    bench.model(board).request("mode", mode, "0")
    shown_again(bench, board)
    assert info(bench, board)[LINE[mode]] == "off"
    assert bench.check(f"ls {bench.proc(board)}") == files


@pytest.mark.parametrize("board, mode", MODES)
def test_a_gpu_is_left_alone_once_info_has_seen_a_mode(bench, board, mode):
    before = info(bench, board)
    bench.model(board).request("mode", mode, "1")
    lines = info(bench, board)
    assert lines[LINE[mode]] == "on" and features(lines) == {f"no ({WHY[mode]})"}
    expect_errors(bench, board, "Device or resource busy")
    bench.model(board).request("mode", mode, "0")
    assert info(bench, board) == before
    bench.read(board, "engines")


@pytest.mark.parametrize("board, mode", REGISTER)
def test_an_error_does_not_open_a_gpu_that_a_mode_has_closed(bench, board, mode):
    bench.model(board).request("mode", mode, "1")
    assert features(info(bench, board)) == {f"no ({WHY[mode]})"}
    bench.model(board).request("fault", "read", hex(REGISTER[board, mode]), "0xbadf5040")
    lines = info(bench, board)
    seen = "on" if board == "a100" else "unknown"  # an A100 has another register that shows it
    assert lines[LINE[mode]] == seen and features(lines) == {f"no ({WHY[mode]})"}
    expect_errors(bench, board, "Device or resource busy")
    bench.model(board).request("fault", "none")
    bench.model(board).request("mode", mode, "0")
    assert "yes" in features(info(bench, board))


@pytest.mark.parametrize("board, mode", [pair for pair in REGISTER if pair[0] != "a100"])
def test_an_error_does_not_show_a_gpu_that_a_mode_had_closed_at_load(bench, board, mode):
    bench.check("rmmod nvdebug")
    bench.model(board).request("mode", mode, "1")
    assert bench.machine.load_module().status == 0
    bench.model(board).request("fault", "read", hex(REGISTER[board, mode]), "0xbadf5040")
    usual = accesses(bench, board)
    info(bench, board)
    until(lambda: accesses(bench, board) != usual)  # it is probed again
    # The folder of a GPU that comes is made after that.
    bench.check(f"echo 1 > /sys/bus/pci/devices/{bench.address('titan-v')}/remove")
    bench.rescan("titan-v")
    assert bench.check(f"ls {bench.proc(board)}").split() == ["info"]
    bench.model(board).request("fault", "none")
    bench.model(board).request("mode", mode, "0")
    shown_again(bench, board)


@pytest.mark.parametrize("board, mode", REGISTER)
def test_an_error_shows_a_mode_as_unknown(bench, board, mode):
    bench.model(board).request("fault", "read", hex(REGISTER[board, mode]), "0xbadf5040")
    lines = info(bench, board)
    assert lines[LINE[mode]] == "unknown" and "yes" in features(lines)
    bench.model(board).request("fault", "none")
    assert info(bench, board)[LINE[mode]] == "off"
