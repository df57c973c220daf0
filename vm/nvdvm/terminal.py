# SPDX-License-Identifier: MIT OR GPL-2.0
"""Connects the terminal of this program to the guest's /dev/hvc0 for a while."""

import contextlib
import os
import select
import shutil
import signal
import socket
import sys
import termios
import threading
import tty

from .initramfs import TERMINFO

DEVICE = "/dev/hvc0"
# Ctrl-], as in telnet. It also leaves a guest that does not answer.
ESCAPE = b"\x1d"
# Time that the guest's last output may take to arrive after its command ended.
SILENCE_S = 0.2


class Terminal:
    """QEMU connects to `path`. While it is shown(), keys go to the guest and its output to the screen."""

    def __init__(self, path):
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(1)
        self._stop = threading.Event()

    @contextlib.contextmanager
    def shown(self, tell_size):
        """Shows the terminal. `tell_size` gets the terminal's size whenever the size changes."""
        guest, _ = self._listener.accept()
        saved = termios.tcgetattr(sys.stdin)
        # A shell makes its background jobs ignore the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGWINCH, lambda *_: tell_size(os.get_terminal_size(sys.stdin.fileno())))
        tty.setraw(sys.stdin)
        relay = threading.Thread(target=self._forward, args=(guest,), daemon=True)
        relay.start()
        try:
            yield
        finally:
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)
            self._stop.set()
            relay.join()
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, saved)

    def close(self):
        self._listener.close()

    def _forward(self, guest):
        keys, screen = sys.stdin.fileno(), sys.stdout.fileno()
        with guest:
            while True:
                ready, _, _ = select.select([keys, guest], [], [], SILENCE_S)
                if guest in ready:
                    data = guest.recv(1 << 16)
                    if not data:
                        return
                    os.write(screen, data)
                if self._stop.is_set():
                    if guest not in ready:
                        return
                elif keys in ready:
                    data = os.read(keys, 1 << 10)
                    if not data or ESCAPE in data:
                        os.kill(os.getpid(), signal.SIGINT)
                        return
                    guest.sendall(data)


def shell_command(command):
    """Returns the command with which the guest's shell runs `command` (or a shell, if empty) on its end."""
    size = shutil.get_terminal_size()
    kind = os.environ.get("TERM", "dumb")
    if not (TERMINFO / kind[0] / kind).exists():
        kind = "xterm"
    return (f"exec <{DEVICE} >{DEVICE} 2>&1; stty sane rows {size.lines} cols {size.columns}; "
            f"export TERM={kind} PS1='guest# '; {command or 'exec sh'}")
