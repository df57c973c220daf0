# SPDX-License-Identifier: MIT OR GPL-2.0
"""vm/run --interactive gives the guest's shell on a terminal."""

import signal
import subprocess

import pytest
from nvdvm import paths
from typist import Typist

VM_RUN = [paths.ROOT / "vm" / "run", "--no-build", "--interactive"]
CTRL_C, CTRL_BRACKET = b"\x03", b"\x1d"
ROWS, COLUMNS = 41, 123
PROMPT = b"guest# "


@pytest.fixture
def terminal(built):
    started = []

    def start(*words):
        started.append(Typist([*VM_RUN, *words], ROWS, COLUMNS))
        return started[-1]

    yield start
    for one in started:
        one.close()


def test_the_shell_has_the_terminal(terminal):
    shell = terminal("--board", "a100")
    shell.wait_for(PROMPT)
    shell.type(b"stty size; echo $TERM; tty; grep -c GA100 /proc/gpu0/info\r")
    shell.wait_for(f"\r\n{ROWS} {COLUMNS}\r\nxterm-256color\r\n/dev/hvc0\r\n1\r\n".encode())
    shell.wait_for(PROMPT)
    # Once the program has printed something, Ctrl-C goes to it and not to the shell.
    shell.type(b"sh -c 'trap \"echo caught; exit\" INT; echo up; while :; do sleep 1; done'\r")
    shell.wait_for(b"\r\nup\r\n")
    shell.type(CTRL_C)
    shell.wait_for(b"caught\r\n")
    shell.wait_for(PROMPT)
    # The trap is in a program and not in the shell, which holds this signal back while it reads a line.
    shell.type(b"sh -c 'trap \"stty size; exit\" WINCH; echo up; while :; do sleep 1; done'\r")
    shell.wait_for(b"\r\nup\r\n")
    shell.resize(17, 200)
    shell.wait_for(b"17 200\r\n")
    shell.wait_for(PROMPT)
    shell.type(b"exit 7\r")
    assert shell.end() == (7, True)


@pytest.mark.parametrize("ignored", [False, True])
def test_a_command_has_an_escape(terminal, ignored):
    """The escape works even if vm/run was started with SIGINT ignored, as background jobs are."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if ignored else None
    command = terminal("--module", "none", "--", "trap '' INT; echo up; sleep 1000")
    if ignored:
        signal.signal(signal.SIGINT, before)
    command.wait_for(b"\nup\r\n")
    command.type(CTRL_C)
    command.type(CTRL_BRACKET)
    assert command.end() == (130, True)


def test_needs_a_terminal():
    done = subprocess.run(VM_RUN, check=False, text=True, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    assert done.returncode == 2 and "needs a terminal" in done.stderr
