# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs a program on a terminal of its own. A test types and reads as a person would."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

PATIENCE_S = 300


class Typist:
    """Runs the program. `on_output` gets its output as a terminal would get it."""

    def __init__(self, command, rows, columns, on_output=lambda data: None):
        self._terminal, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
        self._modes = termios.tcgetattr(self._theirs)
        self._seen = b""
        self._on_output = on_output
        self._process = subprocess.Popen(
            command, stdin=self._theirs, stdout=self._theirs, stderr=self._theirs,
            start_new_session=True, env={**os.environ, "TERM": "xterm-256color"})

    def resize(self, rows, columns):
        """Changes the size and sends the signal that the kernel sends to processes with this controlling terminal."""
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
        self._process.send_signal(signal.SIGWINCH)

    def type(self, keys):
        os.write(self._terminal, keys)

    def interrupt(self):
        """Sends the signal of Ctrl-C. The terminal would not send it, because it does not control the program."""
        self._process.send_signal(signal.SIGINT)

    def wait_for(self, text):
        """Waits until the text is printed. The output up to it counts as seen."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self._seen:
            assert time.monotonic() < deadline, \
                f"no {text!r} in {PATIENCE_S} s; seen: {self._seen!r}"
            self._read(0.5)
        self._seen = self._seen.partition(text)[2]

    def watch(self, seconds):
        """Lets the program run for so many seconds, and reads its output."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read(deadline - time.monotonic())

    def end(self):
        """Waits for the end. Returns the exit status, and whether the terminal's modes are restored."""
        status = self._process.wait(PATIENCE_S)
        return status, termios.tcgetattr(self._theirs) == self._modes

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)
        os.close(self._theirs)

    def _read(self, timeout_s):
        if select.select([self._terminal], [], [], max(0, timeout_s))[0]:
            data = os.read(self._terminal, 1 << 16)
            self._seen += data
            self._on_output(data)


class ScreenTypist(Typist):
    """A typist that also knows the screen of the terminal."""

    def __init__(self, command, rows, columns):
        self.screen = pyte.Screen(columns, rows)
        super().__init__(command, rows, columns, pyte.ByteStream(self.screen).feed)

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def wait_until(self, is_so):
        """Lets the program go on until the condition is true."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline, "\n".join(self.lines)
            self.watch(0.05)
