# SPDX-License-Identifier: MIT OR GPL-2.0
"""vm/run --interactive: the guest's shell on a terminal."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

import pytest
from nvdvm import paths

PATIENCE_S = 90
CTRL_C, CTRL_BRACKET = b"\x03", b"\x1d"
ROWS, COLUMNS = 41, 123


class Session:
    """vm/run on a terminal of its own, typed at and read as a person would."""

    def __init__(self, *words):
        self._terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", ROWS, COLUMNS, 0, 0))
        self._modes = termios.tcgetattr(theirs)
        self._theirs = theirs
        self._seen = b""
        self._process = subprocess.Popen(
            [paths.ROOT / "vm" / "run", "--no-build", "--interactive", *words],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color"})

    def type(self, keys):
        os.write(self._terminal, keys)

    def wait_for(self, text):
        """Waits until text is on the screen; what is up to there counts as seen."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self._seen:
            if time.monotonic() > deadline:
                pytest.fail(f"no {text!r} in {PATIENCE_S} s; seen: {self._seen!r}")
            if select.select([self._terminal], [], [], 0.5)[0]:
                self._seen += os.read(self._terminal, 1 << 16)
        self._seen = self._seen.partition(text)[2]

    def end(self):
        """The exit status, of a run that has put the terminal back as it was."""
        status = self._process.wait(PATIENCE_S)
        assert termios.tcgetattr(self._theirs) == self._modes
        return status

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)
        os.close(self._theirs)


@pytest.fixture
def session(built):
    started = []

    def start(*words):
        started.append(Session(*words))
        return started[-1]

    yield start
    for one in started:
        one.close()


def test_shell(session):
    shell = session("--board", "a100")
    shell.wait_for(b"guest# ")
    shell.type(b"stty size; echo $TERM; tty; grep -c GA100 /proc/gpu0/info\r")
    shell.wait_for(f"\r\n{ROWS} {COLUMNS}\r\nxterm-256color\r\n/dev/hvc0\r\n1\r\n".encode())
    shell.wait_for(b"guest# ")
    shell.type(b"echo still; sleep 1000\r")
    shell.wait_for(b"\r\nstill\r\n")
    shell.type(CTRL_C)
    shell.wait_for(b"guest# ")
    shell.type(b"exit 7\r")
    assert shell.end() == 7


def test_command_and_escape(session):
    command = session("--module", "none", "--", "echo up; trap '' INT; sleep 1000")
    command.wait_for(b"\nup\r\n")
    command.type(CTRL_C)
    command.type(CTRL_BRACKET)
    assert command.end() == 130


def test_needs_a_terminal():
    done = subprocess.run([paths.ROOT / "vm" / "run", "--no-build", "-i"], check=False, text=True,
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert done.returncode == 2 and "needs a terminal" in done.stderr
