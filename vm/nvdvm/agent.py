# SPDX-License-Identifier: MIT OR GPL-2.0
"""The host's end of the guest agent's port; the protocol is described in vm/guest/init.c."""

import dataclasses
import socket
import struct
import time

from .errors import Timeout, VmError

_HEADER = struct.Struct("<cI")
_STATUS = struct.Struct("<i")
_TERMINAL_SIZE = struct.Struct("<HH")
# The longest frame, and the most output of a command, that is accepted from a guest.
_FRAME_MAX, _OUTPUT_MAX = 1 << 24, 1 << 30
# The longest wait for the socket at once. A signal that arrives just before a wait does not end it, so a wait
# has to end soon by itself.
LONGEST_WAIT_S = 1


@dataclasses.dataclass(frozen=True)
class Result:
    status: int
    out: bytes
    err: bytes

    @property
    def text(self):
        return self.out.decode()


class GuestGone(VmError):
    """The guest stopped answering: it powered off, or its kernel died."""


class Agent:
    def __init__(self, path):
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(1)
        self._connection = None

    def wait_ready(self, deadline, still_alive):
        self._listener.settimeout(0.2)
        while self._connection is None:
            try:
                self._connection, _ = self._listener.accept()
            except socket.timeout:
                still_alive()
                _check(deadline, "the guest's boot")
        kind, _ = self._receive(deadline, "the guest's boot")
        if kind != b"R":
            raise VmError(f"the guest's agent began with {kind!r}")

    def run(self, command, timeout_s, on_output=None):
        """Runs a shell command. `on_output(stream, data)` gets output as it comes."""
        deadline = time.monotonic() + timeout_s
        payload = command.encode()
        self._connection.sendall(_HEADER.pack(b"C", len(payload)) + payload)
        output, size = {b"O": [], b"E": []}, 0
        while True:
            kind, data = self._receive(deadline, "the command")
            size += len(data)
            if size > _OUTPUT_MAX:
                raise VmError(f"the command printed more than {_OUTPUT_MAX >> 20} MiB")
            if kind == b"X":
                return Result(_STATUS.unpack(data)[0], b"".join(output[b"O"]),
                              b"".join(output[b"E"]))
            if kind not in output:
                raise VmError(f"the guest's agent sent {kind!r}")
            output[kind].append(data)
            if on_output:
                on_output(kind, data)

    def set_terminal_size(self, size):
        """Sets the size of the guest's terminal (an os.terminal_size), also while a command runs."""
        payload = _TERMINAL_SIZE.pack(size.lines, size.columns)
        self._connection.sendall(_HEADER.pack(b"W", len(payload)) + payload)

    def power_off(self):
        if self._connection is not None:
            try:
                self._connection.sendall(_HEADER.pack(b"Q", 0))
            except OSError:
                pass

    def close(self):
        self._listener.close()
        if self._connection is not None:
            self._connection.close()

    def _receive(self, deadline, what):
        kind, size = _HEADER.unpack(self._exactly(_HEADER.size, deadline, what))
        if size > _FRAME_MAX:
            raise VmError(f"the guest's agent sent a frame of {size} bytes")
        return kind, self._exactly(size, deadline, what)

    def _exactly(self, size, deadline, what):
        data = bytearray()
        while len(data) < size:
            _check(deadline, what)
            left = max(0.01, deadline - time.monotonic())
            self._connection.settimeout(min(left, LONGEST_WAIT_S))
            try:
                chunk = self._connection.recv(size - len(data))
            except socket.timeout:
                continue
            except ConnectionError:
                chunk = b""
            if not chunk:
                raise GuestGone(f"the guest went away during {what}")
            data += chunk
        return bytes(data)


def _check(deadline, what):
    if time.monotonic() > deadline:
        raise Timeout(f"{what} took too long")
