# SPDX-License-Identifier: MIT OR GPL-2.0
"""The demands of nvqos's leases: launches are held, they are counted, or requests are shown. In the stand-in a launch ends
when its event was queried a number of times, or when the program has waited for it."""

import ctypes
import time

import pytest
from desk import LAUNCHES, LEASE, NEVER, gate, page_of, prepared
from waiting import until

COUNT, WATCH, HOLD = 0xfffd, 0xfffe, 0xffff  # lib/partition/gate.hpp
GATE, WORK = 4144, 5176  # offsets for the first GPU in the task's page (lib/partition/state.hpp)
LONG_S = 3000


def ask(program, demand, until_s=LONG_S):
    with page_of(program) as page:
        lease = ctypes.c_uint64.from_buffer(page, LEASE)
        lease.value = demand << 48 | time.monotonic_ns() // 1000 + int(until_s * 1_000_000) if demand else 0
        limits = ctypes.c_uint32.from_buffer(page, 4140)
        limits.value = 1
        del lease, limits


def requests(program):
    """Returns how many requests have begun and finished, and how long each took in microseconds, or 0 if that is unknown."""
    with page_of(program) as page:
        begun, finished = (int.from_bytes(page[WORK + at:WORK + at + 4], "little") for at in (0, 4))
        took = [int.from_bytes(page[WORK + 16 + 4 * n:WORK + 20 + 4 * n], "little") for n in range(finished)]
    return begun, finished, took


def unmarked(program):
    """Returns the number of launches that no event follows so far."""
    with page_of(program) as page:
        return int.from_bytes(page[GATE + 4:GATE + 8], "little")


def started(desk, looks="0", **env):
    """Starts a program with a page that has a slot for the GPU."""
    program = prepared(desk, looks, **env)
    desk.change(program.pid, "--in-flight 1")
    desk.change(program.pid, "--in-flight 0")
    return program


@pytest.mark.parametrize("call", LAUNCHES)
def test_launches_are_held_until_they_are_let_go(desk, call):
    program = started(desk)
    ask(program, HOLD)
    before = len(desk.launches())
    program.say(f"burst 1 3 {call}")
    until(lambda: gate(desk, program)["waited"])
    time.sleep(0.3)  # a launch waits less than this for a limit
    assert len(desk.launches()) == before and not gate(desk, program)["overdue"]
    assert gate(desk, program)["demand"] == "hold" and "held (by nvqos)" in desk.told(program.pid)
    ask(program, 0)
    assert program.hear() == "ok"
    assert len(desk.launches()) == before + 3 and gate(desk, program)["demand"] is None


def test_launches_are_held_no_longer_than_the_lease(desk):
    program = started(desk)
    ask(program, HOLD)
    program.say("burst 1 3 cuLaunchKernel")
    until(lambda: gate(desk, program)["waited"] == 1)
    ask(program, HOLD, 0.05)
    assert program.hear() == "ok"
    assert gate(desk, program)["demand"] is None


def test_launches_of_all_threads_are_held(desk):
    program = started(desk)
    ask(program, HOLD)
    program.say("burst 5 2 cuLaunchKernel")
    until(lambda: gate(desk, program)["waited"] == 5)
    ask(program, 0)
    assert program.hear() == "ok"


def test_launches_are_counted_and_none_waits(desk):
    program = started(desk, "2")
    ask(program, COUNT)
    assert program.ask("burst 1 500 cuLaunchKernel") == "ok"
    found = gate(desk, program)
    assert found["launches"] == 500 and not found["waited"] and found["demand"] == "count"
    assert unmarked(program) <= 500 - found["ended"]
    # A launch that is held puts an event behind earlier launches, and queries it.
    ask(program, HOLD)
    program.say("burst 1 1 cuLaunchKernel")
    until(lambda: gate(desk, program)["ended"] == 500)
    assert not unmarked(program)
    ask(program, 0)
    assert program.hear() == "ok"


def test_launches_that_take_long_are_counted_one_by_one(desk):
    """After launches that took a millisecond each, nearly each launch of a burst gets an event of its own."""
    program = started(desk, NEVER)
    ask(program, COUNT)
    for _ in range(12):
        assert program.ask("burst 1 1 cuLaunchKernel") == "ok"
        time.sleep(0.001)
        assert program.ask("wait cuCtxSynchronize") == "ok"
    assert program.ask("burst 1 40 cuLaunchKernel") == "ok"
    assert program.ask("wait cuCtxSynchronize") == "ok"
    time.sleep(0.001)
    assert program.ask("burst 1 1 cuLaunchKernel") == "ok"
    found = gate(desk, program)
    assert found["launches"] == 53 and found["ended"] >= 50 and unmarked(program) <= 2


@pytest.mark.parametrize("wait", ("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize"))
def test_launches_have_ended_when_the_program_has_waited_for_them(desk, wait):
    program = started(desk, NEVER)
    ask(program, COUNT)
    for number in range(1, 4):
        # The sleep is longer than the shortest time between two events.
        time.sleep(0.001)
        assert program.ask("burst 1 1 cuLaunchKernel") == "ok"
        assert gate(desk, program)["ended"] == number - 1
        assert program.ask(f"wait {wait}") == "ok"
        assert gate(desk, program)["ended"] == gate(desk, program)["launches"] == number


def test_the_users_limit_holds_beside_a_count(desk):
    program = started(desk, "50")
    desk.change(program.pid, "--in-flight 2")
    ask(program, COUNT)
    assert program.ask("burst 1 12 cuLaunchKernel") == "ok"
    found = gate(desk, program)
    assert found["launches"] == 12 and found["waited"] and found["limit"] == 2 and found["leased_limit"] is None


@pytest.mark.parametrize("wait", ("cuCtxSynchronize", "cuStreamSynchronize", "cuStreamQuery", "cuEventSynchronize"))
def test_a_request_ends_when_the_program_has_waited_for_it(desk, wait):
    program = started(desk, NEVER)
    ask(program, WATCH)
    assert requests(program) == (0, 0, [])
    for number in range(1, 4):
        assert program.ask("burst 1 5 cuLaunchKernel") == "ok"
        assert requests(program)[:2] == (number, number - 1)
        assert program.ask(f"wait {wait}") == "ok"
        begun, finished, took = requests(program)
        assert begun == finished == number and all(took)
    assert gate(desk, program)["launches"] == gate(desk, program)["ended"] == 15
    assert program.ask(f"wait {wait}") == "ok"
    assert requests(program)[:2] == (3, 3)


def test_a_wait_that_is_not_seen_ends_a_request_with_the_next(desk):
    program = started(desk)
    ask(program, WATCH)
    for number in range(3):
        assert program.ask("burst 1 1 cuLaunchKernel") == "ok"
        assert requests(program) == (number + 1, number, [0] * number)
        time.sleep(0.01)


def test_work_that_has_not_ended_belongs_to_one_request(desk):
    program = started(desk, NEVER)
    ask(program, WATCH)
    for _ in range(3):
        assert program.ask("burst 2 5 cuLaunchKernel") == "ok"
        time.sleep(0.01)
    assert requests(program) == (1, 0, [])


def test_requests_are_not_shown_without_being_asked_for(desk):
    program = started(desk)
    ask(program, COUNT)
    assert program.ask("launch") != "" and program.ask("burst 1 5 cuLaunchKernel") == "ok"
    assert requests(program) == (0, 0, [])


def test_a_context_that_ends_in_a_request(desk):
    program = started(desk, NEVER)
    ask(program, WATCH)
    assert program.ask("context") == "ok"
    assert program.ask("burst 1 3 cuLaunchKernel") == "ok"
    assert program.ask("end-context") == "ok"
    assert program.ask("use 0") == "ok"
    time.sleep(0.01)
    assert program.ask("burst 1 3 cuLaunchKernel") == "ok"
    assert requests(program)[:2] == (2, 1)
    assert program.ask("wait cuCtxSynchronize") == "ok"
    assert requests(program)[:2] == (2, 2)
