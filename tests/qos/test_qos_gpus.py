# SPDX-License-Identifier: MIT OR GPL-2.0
"""One GPU of several that is lost, cannot be opened or does not answer: the goals on the others are kept. The program over the
stand-in for the driver, with real processes as tasks. Takes root, as nvqos does."""

import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess

import pytest
from qos_machine import FIRST_US, PROGRAM
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

FAULTS = {"lost": "has fallen off the bus", "bad": "Input/output error", "hangs": "the driver does not answer"}


@pytest.fixture(name="two")
def fixture_two(machine, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    return machine


def metric(machine, name):
    """By label; nothing while the file is not there."""
    try:
        lines = (machine.folder / "qos.prom").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    return {line.split("{")[1].split("}")[0]: line.split()[-1] for line in lines if line.startswith(f"nvqos_{name}{{")}


def pauses(machine, pid, gpu=0):
    return machine.changes(pid, gpu).count(("channels", 0))


def is_up(machine, *gpus):
    return metric(machine, "up") == {f'gpu="{number}"': str(int(up)) for number, up in enumerate(gpus)}


def goals_go_on(machine, pid):
    before = pauses(machine, pid)
    return comes_true(lambda: pauses(machine, pid) >= before + 5)


def start(machine, *words):
    return machine.start("--quiet", f"--metrics={machine.folder}/qos.prom", *words)


def end(machine):
    machine.nvqos.send_signal(signal.SIGTERM)
    return machine.nvqos.wait(PATIENCE_S)


@pytest.mark.parametrize("fault", ("lost", "hangs"))
def test_a_gpu_that_fails_while_goals_are_kept(two, fault):
    one = two.process()
    start(two)
    assert two.ask(f"hold a cap:30% pid={one.pid}") == "ok"
    assert comes_true(lambda: pauses(two, one.pid) > 0) and comes_true(lambda: is_up(two, 1, 1))
    (two.folder / f"{fault}.1").touch()
    # What one GPU does not answer is found when it is asked for something.
    assert two.ask(f"hold b share:10% pid={two.process(gpu=False).pid}") == "ok"
    assert comes_true(lambda: is_up(two, 1, 0)) and two.nvqos.poll() is None
    assert goals_go_on(two, one.pid) and "gpu1: the" in two.errors() and FAULTS[fault] in two.errors()
    # Requests are answered, and new tasks found.
    more = two.process()
    assert two.ask(f"hold c cap:20% pid={more.pid} gpu=0") == "ok" and comes_true(lambda: pauses(two, more.pid) > 0)
    assert "GPU 1 is left out now: " in two.ask(f"hold d cap:20% pid={more.pid} gpu=1") and two.names() == ["a", "b", "c"]
    assert two.ask(f"hold e share:95% pid={more.pid}").startswith("refused GPU 0: shares and speeds add up")
    assert two.ask("release c").startswith("ok asked cap 20 %") and comes_true(lambda: two.is_enabled(more.pid))
    # It is tried again.
    (two.folder / f"{fault}.1").unlink()
    assert comes_true(lambda: is_up(two, 1, 1))
    assert two.ask(f"hold d cap:20% pid={more.pid} gpu=1") == "ok" and goals_go_on(two, one.pid)
    assert end(two) == 4 and "gpu1: was left out between " in two.errors() and "gpu0: was" not in two.errors()
    assert comes_true(lambda: two.is_enabled(one.pid))


def test_a_gpu_that_answers_again_has_the_goals_that_came_meanwhile(two):
    one, more = two.process(gpus=(0, 1)), two.process(gpus=(0, 1))
    start(two)
    assert two.ask(f"hold a share:10% pid={one.pid}") == "ok" and comes_true(lambda: two.changes(more.pid, gpu=1))
    (two.folder / "hangs.1").touch()
    assert two.ask(f"hold b share:10% pid={one.pid}") == "ok" and comes_true(lambda: is_up(two, 1, 0))
    assert two.ask(f"hold c cap:20% pid={more.pid}") == "ok" and comes_true(lambda: pauses(two, more.pid) > 0)
    (two.folder / "hangs.1").unlink()
    assert comes_true(lambda: is_up(two, 1, 1)) and comes_true(lambda: pauses(two, more.pid, gpu=1) > 0)
    assert end(two) == 4


@pytest.mark.parametrize("fault", FAULTS)
def test_a_gpu_that_is_left_out_from_the_start(two, fault):
    one = two.process()
    (two.folder / f"{fault}.1").touch()
    start(two, f"{one.pid}=cap:30%")
    assert goals_go_on(two, one.pid) and comes_true(lambda: is_up(two, 1, 0))
    assert "gpu1: " in two.errors() and FAULTS[fault] in two.errors()
    assert two.ask(f"hold a share:10% pid={one.pid}") == "ok"
    (two.folder / f"{fault}.1").unlink()
    assert comes_true(lambda: is_up(two, 1, 1)) and "gpu1: goals are kept on it now" in two.errors()
    assert end(two) == 4


def test_the_first_gpu_is_no_other_case(two):
    one = two.process()
    (two.folder / "lost.0").touch()
    start(two, "others=cap:30%")
    assert comes_true(lambda: is_up(two, 0, 1)) and pauses(two, one.pid) == 0 and "was left out" not in two.errors()
    (two.folder / "lost.0").unlink()
    assert goals_go_on(two, one.pid) and end(two) == 4


def test_a_gpu_that_is_left_out_to_the_end_is_why_nvqos_ends_with_4(two):
    one = two.process()
    (two.folder / "bad.1").touch()
    start(two, f"{one.pid}=cap:30%")
    assert goals_go_on(two, one.pid) and end(two) == 4
    last = two.errors().splitlines()[-1]
    assert "gpu1: was left out from 20" in last and FAULTS["bad"] in last.partition(" to the end: ")[2], two.errors()


def test_all_gpus_left_out_are_tried_again(two):
    one = two.process()
    for gpu in range(2):
        (two.folder / f"bad.{gpu}").touch()
    start(two, f"{one.pid}=cap:30%")
    assert comes_true(lambda: is_up(two, 0, 0)) and two.nvqos.poll() is None
    assert two.ask(f"hold a cap:20% pid={one.pid}").startswith("refused GPU 0 is left out now: ")
    for gpu in range(2):
        (two.folder / f"bad.{gpu}").unlink()
    assert goals_go_on(two, one.pid) and comes_true(lambda: is_up(two, 1, 1))
    assert end(two) == 4


def test_none_was_ever_there(two):
    for gpu in range(2):
        (two.folder / f"bad.{gpu}").touch()
    nvqos = two.start("--quiet", "command:none=cap:30%", "--for=300ms", wait=False)
    assert nvqos.wait(PATIENCE_S) == 5


@pytest.mark.parametrize("faults, status", ((("bad.1",), 4), (("hangs.0",), 4), (("lost.0", "lost.1"), 5), ((), 0)))
def test_a_dry_run(two, faults, status):
    one = two.process()
    for fault in faults:
        (two.folder / fault).touch()
    done = subprocess.run([PROGRAM, "--dry-run", f"{one.pid}=cap:30%"], env=os.environ | {"NVQOS_STAND_IN": str(two.folder)},
                          capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == status, done.stderr
    assert done.stdout.count("cap 30 %") == 2 - len(faults)
    assert done.stderr.count("; the GPU is left out") == len(faults)
    assert two.timeslice(one.pid) == FIRST_US and pauses(two, one.pid) == 0


def test_what_is_refused_is_refused_before_anything_is_changed(two):
    one = two.process()
    (two.folder / "bad.1").touch()
    nvqos = two.start("--quiet", f"{one.pid}=share:60%", "command:none=share:45%", wait=False)
    assert nvqos.wait(PATIENCE_S) == 2 and "add up to 105 %" in two.errors() and two.changes(one.pid) == []


def test_lines_that_cannot_be_written(machine):
    """A full disk ends no goal; metrics are the same case."""
    one = machine.process()
    with open("/dev/full", "wb") as full:
        machine.stdout = full
        machine.start("--json", f"{one.pid}=cap:30%")
    assert goals_go_on(machine, one.pid)
    assert machine.errors().count("No space left on device; goals are kept on") == 1
    assert end(machine) == 0


def test_lines_that_nobody_reads(machine):
    """A line has more bytes than the pipe takes, and the rest of nvqos does not wait for the reader."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    one = machine.process()
    with open(reader, encoding="utf-8") as lines:
        with open(writer, "wb") as machine.stdout:
            machine.start("--json", f"{one.pid}=cap:30%", *(f"command:none{number}=cap:90%" for number in range(20)))
            assert comes_true(lambda: not select.select([], [writer], [], 0)[1])
        assert goals_go_on(machine, one.pid) and machine.answers()
        reports = [json.loads(lines.readline())["data"] for _ in range(5)]
        assert [len(report["tenants"]) for report in reports] == 5 * [22]
        assert reports[0]["left_out"] == 0 < reports[1]["left_out"]
        machine.nvqos.send_signal(signal.SIGTERM)
        assert all(json.loads(line) for line in lines)
    assert machine.nvqos.wait(PATIENCE_S) == 0


def test_messages_that_nobody_reads(machine):
    one = machine.process()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writer, b"x" * 4096):
            continue
    os.set_blocking(writer, True)
    with open(reader, "rb") as messages, open(writer, "wb") as stderr:
        nvqos = subprocess.Popen(machine.command(f"--socket={machine.path}", "--quiet"), stdin=subprocess.DEVNULL, stderr=stderr,
                                 env=machine.environment())
        machine.started.append(nvqos)
        stderr.close()
        assert comes_true(machine.answers)
        for part in (99, 98):
            assert machine.ask(f"hold a share:60% pid={one.pid}") and machine.ask(f"hold b share:{part}% pid={one.pid}").startswith("refused ")
        assert machine.answers()
        nvqos.send_signal(signal.SIGTERM)
        text = messages.read().decode().lstrip("x")
    assert nvqos.wait(PATIENCE_S) == 0
    assert [line.partition(" is refused: ")[0] for line in text.splitlines()] == 2 * ["nvqos: b"]
