# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos on a terminal, over the stand-in for the driver: a table in place that fits, and blocks elsewhere."""

import contextlib
import os
import re
import signal
import subprocess

import pytest
from typist import ScreenTypist
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

GOALS = ("command:sleep=latency,cap:60%", "others=share:10%")


@contextlib.contextmanager
def terminal(machine, rows, columns, *words):
    command = machine.command(*words)
    typist = ScreenTypist(["env", f"NVQOS_STAND_IN={machine.folder}", *command], rows, columns)
    try:
        yield typist
    finally:
        typist.close()


@pytest.mark.parametrize("columns", (40, 80, 200))
def test_the_table_is_in_place_and_fits(machine, columns):
    machine.process()
    with terminal(machine, 24, columns, *GOALS) as typist:
        typist.wait_until(lambda: any("comm" in line and "%" in line for line in typist.lines))
        assert "rollover, epochs of 100 ms" in typist.lines[0] or columns == 40
        heading, first = typist.lines[1], typist.lines[2]
        assert heading.split()[:4] == ["GPU", "TENANT", "GOAL", "GOT"] or columns == 40
        assert "KEPT" in heading and (" yes" in first or " NO" in first)
        assert ("CREDIT" in heading) == (columns == 200) and ("VIOLATIONS" in heading) == (columns >= 80)
        assert ("have no room for" in " ".join(typist.lines)) == (columns != 200)
        time = typist.lines[0]
        typist.wait_until(lambda: typist.lines[0] != time)
        # In place: no second table, and nothing is broken over two lines.
        assert sum("TENANT" in line for line in typist.lines) == 1
        assert typist.lines[-1].startswith("q end") and typist.screen.cursor.hidden
        typist.type(b"h")
        typist.wait_until(lambda: any("arrows" in line for line in typist.lines))
        typist.type(b"h")
        typist.screen.resize(24, 200)
        typist.resize(24, 200)
        typist.wait_until(lambda: "CREDIT" in typist.lines[1])
        typist.type(b"q")
        status, is_as_before = typist.end()
        assert status in (0, 4) and is_as_before


def test_messages_do_not_break_the_view_and_are_printed_at_its_end(machine):
    with terminal(machine, 24, 80, "command:none=share:20%", f"--socket={machine.path}") as typist:
        typist.wait_until(lambda: typist.lines[-1].startswith("q end"))
        one, two = machine.process(), machine.process()
        assert machine.ask(f"hold b share:30% pid={two.pid}") == "ok"
        assert machine.ask(f"hold a latency pid={one.pid}").startswith("ok a is served first")
        typist.wait_until(lambda: any("a is served first" in line for line in typist.lines))
        shown = [line for line in typist.lines if line]
        assert all(len(line) <= 80 for line in shown) and shown[-1].startswith("q end")
        # Broken at words: put together again, it is the sentence.
        assert "has work for longer than that" in " ".join(shown)
        typist.interrupt()
        typist.wait_for(b"nvqos: a is served first")
        status, is_as_before = typist.end()
        assert status in (0, 4) and is_as_before


def test_a_terminal_that_cannot_be_drawn_on_gets_blocks(machine):
    machine.process()
    with terminal(machine, 24, 80, *GOALS) as typist:
        typist.wait_until(lambda: typist.lines[-1].startswith("q end"))
    command = ["env", f"NVQOS_STAND_IN={machine.folder}", "TERM=dumb", *machine.command(*GOALS)]
    typist = ScreenTypist(command, 24, 80)
    try:
        typist.wait_for(b"terminfo has no entry")
        typist.wait_for(b"TENANT")
        typist.wait_for(b"TENANT")
        typist.interrupt()
        assert typist.end()[0] in (0, 4)
    finally:
        typist.close()


def test_blocks_in_a_pipe_have_all_columns(machine):
    machine.process()
    nvqos = machine.start(*GOALS, "--interval", "100ms")
    text = b""
    while text.count(b"TENANT") < 3:
        text += nvqos.stdout.readline()
    nvqos.send_signal(signal.SIGINT)
    nvqos.stdout.read()
    nvqos.wait(PATIENCE_S)
    assert b"\033" not in text
    blocks = text.decode().split("\n\n")
    assert len(blocks) >= 3
    for block in blocks[:2]:
        lines = block.splitlines()
        assert re.match(r"\d{4}-\d\d-\d\dT\S+Z  rollover", lines[0])
        assert lines[1].split() == ["GPU", "TENANT", "GOAL", "GOT", "WANTS", "CREDIT", "LEVER", "TASKS", "KEPT", "VIOLATIONS"]


def test_in_the_background_it_does_not_read_the_terminal(machine):
    """A shell's background job that read or set it would be stopped, and its goals with it."""
    machine.process()
    (machine.folder / "out").touch()
    script = 'set -m; NVQOS_STAND_IN="$0" "$@" & echo $! >"$0/job"; wait'
    typist = ScreenTypist(["setsid", "--ctty", "sh", "-c", script, str(machine.folder), *map(str, machine.command(*GOALS))], 24, 80)
    try:
        typist.wait_for(b"TENANT")
        typist.wait_for(b"TENANT")
        pid = int((machine.folder / "job").read_text(encoding="utf-8"))
        state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
        assert state.strip() in ("S", "R", "D")
        os.kill(pid, signal.SIGINT)
        assert comes_true(lambda: not os.path.exists(f"/proc/{pid}"))
    finally:
        typist.close()
