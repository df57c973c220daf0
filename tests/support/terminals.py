# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs programs with a terminal as stdout."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios


def printed(command, columns=0, status=0, **env):
    """Runs the command, which must end with exit status STATUS, and returns what it printed. Without columns the
    terminal has no size."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    done = subprocess.run(command, stdout=end, env={**environment, **env}, check=False)
    os.close(end)
    output = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 65536):
            output += chunk
    os.close(terminal)
    assert done.returncode == status
    return output.decode().replace("\r\n", "\n")
