# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvtaskset's limit of launches in flight. In the stand-in a launch ends when its event was queried a number of times."""

import ctypes
import json
import os
import subprocess
import time

import pytest
from desk import (LAUNCHES, LEASE, NEVER, PROGRAM, REFUSED, ROOT, TOOL, USAGE, attach_earlier_library, desk_of, document, gate,
                  most_in_flight, page_of, prepared)
from waiting import until

LOOKS = "50"


@pytest.mark.parametrize("limit", (1, 3))
@pytest.mark.parametrize("call", LAUNCHES)
def test_each_kind_of_launch_is_limited(desk, call, limit):
    program = prepared(desk)
    desk.change(program.pid, f"--in-flight {limit}")
    assert program.ask(f"burst 1 12 {call}") == "ok"
    assert most_in_flight(desk) == limit
    found = gate(desk, program)
    assert found["limit"] == limit and found["leased_limit"] is None
    assert found["launches"] == 12 and 0 < found["waited"] <= 12 - limit
    assert not found["overdue"] and not found["unlimited"]
    assert 0 < 12 - found["ended"] <= limit
    assert f"at most {limit} launch{'es' if limit > 1 else ''} in flight: of 12, {found['waited']} waited" in desk.told(program.pid)


def test_all_threads_and_streams_have_one_limit(desk):
    program = prepared(desk, "7")
    desk.change(program.pid, "--in-flight 2")
    assert program.ask("burst 6 20 cuLaunchKernel") == "ok"
    assert most_in_flight(desk) == 2
    assert gate(desk, program)["launches"] == 120


def test_a_launch_that_cuda_makes_by_another_function_is_one(desk):
    program = prepared(desk, STAND_IN_NESTS="1")
    desk.change(program.pid, "--in-flight 2")
    assert program.ask("burst 1 40 cuLaunchKernel") == "ok"
    assert most_in_flight(desk) == 2
    found = gate(desk, program)
    assert found["launches"] == 40 and not found["overdue"]


def test_without_a_limit_no_launch_waits_or_is_counted(desk):
    program = prepared(desk)
    assert program.ask("burst 1 12 cuLaunchKernel") == "ok"
    assert gate(desk, program) is None
    desk.change(program.pid, "--in-flight 2")
    assert program.ask("burst 1 3 cuLaunchKernel") == "ok"
    desk.change(program.pid, "--in-flight 0")
    assert program.ask("burst 1 20 cuLaunchKernel") == "ok"
    found = gate(desk, program)
    assert found["limit"] is None and found["launches"] == 3 and found["waited"] == 1
    assert "no limit of launches in flight: of 3, 1 waited" in desk.told(program.pid)


def test_beside_a_partition(desk):
    program = desk.start("-t 0-3", STAND_IN_LOOKS=LOOKS)
    desk.change(program.pid, "--in-flight 2")
    assert program.ask("burst 1 8 cuLaunchKernel") == "ok"
    assert most_in_flight(desk) == 2
    desk.change(program.pid, "-t 5")
    assert program.ask("burst 1 8 cuLaunchKernel") == "ok"
    row = document(desk.done("-j", "-p", program.pid))["gpus"][0]["tasks"][0]
    assert row["partition"]["tpcs"] == [5] and row["in_flight"]["launches"] == 16


def test_a_launch_that_never_ends_stops_nothing_for_good(desk):
    """A launch that never ends is waited for once and then counts no more, as it may wait for a later launch itself."""
    program = prepared(desk, NEVER)
    desk.change(program.pid, "--in-flight 1")
    assert program.ask("burst 1 3 cuLaunchKernel") == "ok"
    found = gate(desk, program)
    assert found["launches"] == 3 and found["waited"] == found["overdue"] == 2
    assert "2 waited" in desk.told(program.pid) and "2 in vain" in desk.told(program.pid)


def test_a_wait_ends_with_the_limit(desk):
    """Launches stop waiting when the limit is removed. With the limit, all waits together would take minutes."""
    program = prepared(desk, NEVER)
    desk.change(program.pid, "--in-flight 1")
    program.say("burst 1 1000 cuLaunchKernel")
    until(lambda: gate(desk, program)["waited"])
    desk.change(program.pid, "--in-flight 0")
    assert program.hear() == "ok"
    assert gate(desk, program)["overdue"] < 999


def test_graphs_that_are_captured(desk):
    """Launches on a captured stream do not count, and no event of the library ends the capture."""
    program = prepared(desk)
    desk.change(program.pid, "--in-flight 2")
    assert program.ask("capture 8") == "ok"
    found = gate(desk, program)
    assert found["launches"] == 8 and 0 < found["waited"] <= 6


def test_contexts_that_end(desk):
    program = prepared(desk, NEVER)
    desk.change(program.pid, "--in-flight 3")
    for _ in range(3):
        assert program.ask("primary 2") == "ok"
    assert program.ask("context") == "ok"
    assert program.ask("burst 1 3 cuLaunchKernel") == "ok"
    assert program.ask("end-context") == "ok"
    assert program.ask("use 0") == "ok"
    assert program.ask("burst 1 3 cuLaunchKernel") == "ok"
    found = gate(desk, program)
    assert found["launches"] == 12 and not found["waited"] and not found["unlimited"]
    assert found["ended"] == 9, "the launches of contexts that have ended"


def test_only_the_gpu_that_is_named(tmp_path):
    with desk_of(tmp_path, "h100,h100") as desk:
        program = desk.start_command("--no-mps --prepare", PROGRAM, "device 1", "-", STAND_IN_LOOKS=LOOKS)
        assert program.hear() == "ok"
        desk.change(program.pid, "-q --in-flight 1 -i 0")
        assert program.ask("burst 1 5 cuLaunchKernel") == "ok"
        assert most_in_flight(desk) == 1 and gate(desk, program)["launches"] == 0
        desk.change(program.pid, "--in-flight 2 -i 1")
        assert program.ask("burst 1 5 cuLaunchKernel") == "ok"
        assert most_in_flight(desk) == 2
        rows = document(desk.done("-j", "-p", program.pid))["gpus"]
        assert [row["tasks"][0]["in_flight"]["launches"] for row in rows] == [0, 5]


def test_a_library_of_an_earlier_version(desk):
    """A process with an earlier library counts as attached, but not as limiting launches."""
    program = prepared(desk)
    with page_of(program) as page:
        attach_earlier_library(page)
        desk.refused(f"--in-flight 2 -p {program.pid}", "does not limit launches: it has the library of an earlier")
    assert gate(desk, program) is None


def test_a_lease_holds_until_its_time(desk):
    """The smaller one of the user's limit and the lease's holds. A lease that has ended, or is too long, has no effect."""
    program = prepared(desk)
    for limit, leased, until_s, in_flight in ((0, 3, 3000, 3), (2, 3, 3000, 2), (4, 1, 3000, 1), (4, 1, -1, 4), (4, 1, 4000, 4)):
        desk.change(program.pid, f"--in-flight {limit}")
        with page_of(program) as page:
            lease = ctypes.c_uint64.from_buffer(page, LEASE)
            lease.value = leased << 48 | time.monotonic_ns() // 1000 + until_s * 1_000_000
            del lease
        before = len(desk.launches())
        assert program.ask("burst 1 12 cuLaunchKernel") == "ok"
        assert most_in_flight(desk, before) == in_flight
        assert gate(desk, program)["leased_limit"] == (leased if 0 < until_s <= 3600 else None)
        assert ("(by nvqos)" in desk.told(program.pid)) == (in_flight == leased)


@pytest.mark.parametrize("options, sentence", (
    ("--in-flight 2", "--in-flight changes a running task; name it with -p PID"),
    ("--in-flight 1025 -p 1", "a whole number from 0 to 1024, not '1025'; 0 is no limit"),
    ("--in-flight -1 -p 1", "from 0 to 1024, not '-1'"),
    ("--in-flight 2x -p 1", "not '2x'"),
    ("--in-flight 2 -t 0 -p 1", "exclude each other"),
    ("--in-flight 2 --whole -p 1", "exclude each other")))
def test_what_makes_no_sense(desk, options, sentence):
    desk.refused(options, sentence, exit_status=USAGE)


def test_a_change_is_not_shown_as_json(desk):
    result = desk.tool("--in-flight", "2", "-j", "-p", "1")
    sentence = "--json has an effect with --list, and with -p that shows a task"
    assert result.status == USAGE and sentence in result.err and sentence in json.loads(result.out)["error"]["message"]


def test_a_task_that_was_not_started_by_nvtaskset(desk):
    desk.refused(f"--in-flight 2 -p {os.getpid()}", "was not started by nvtaskset", exit_status=REFUSED)


@pytest.mark.ci
def test_the_check_for_hardware(desk):
    """Runs tests/hardware/in_flight_check.py over the stand-in."""
    load = desk.folder / "load"
    subprocess.run(["g++", "-std=c++20", "-O1", "-o", load, ROOT / "tests/hardware/load.cpp", "-ldl"], check=True)
    done = desk.command(ROOT / "tests/hardware/in_flight_check.py", TOOL, load, desk.folder / "out", "--seconds", "0.3",
                        "--launches", "200", STAND_IN_LOOKS="3", STAND_IN_LOG="")
    assert done.status == 0, done.out + done.err
    lines = (desk.folder / "out/in-flight-check.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 13 and done.out.splitlines() == [*lines, "13 of 13 checks passed"]
