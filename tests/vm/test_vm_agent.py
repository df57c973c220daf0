# SPDX-License-Identifier: MIT OR GPL-2.0
"""The host's end of the guest agent's port, with a guest that may send anything."""

import socket
import struct
import threading
import time

import pytest
from nvdvm import agent
from nvdvm.errors import VmError


def run_with(tmp_path, answer):
    """Runs a command in a guest that sends these bytes."""
    host = agent.Agent(tmp_path / "port")

    def guest():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as port:
            port.connect(str(tmp_path / "port"))
            port.sendall(struct.pack("<cI", b"R", 0))
            port.recv(4096)
            port.sendall(answer)
            port.recv(1)
    thread = threading.Thread(target=guest, daemon=True)
    thread.start()
    try:
        host.wait_ready(time.monotonic() + 60, lambda: None)
        return host.run("true", 60)
    finally:
        host.close()
        thread.join()


def frame(kind, data):
    return struct.pack("<cI", kind, len(data)) + data


def test_output_and_status_are_returned(tmp_path):
    result = run_with(tmp_path, frame(b"O", b"out") + frame(b"E", b"err") + frame(b"X", struct.pack("<i", 3)))
    assert (result.status, result.out, result.err) == (3, b"out", b"err")


def test_a_frame_has_a_limit(tmp_path):
    with pytest.raises(VmError, match="a frame of 4294967295 bytes"):
        run_with(tmp_path, struct.pack("<cI", b"O", 0xffffffff))


def test_output_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(agent, "_OUTPUT_MAX", 1000)
    with pytest.raises(VmError, match="printed more"):
        run_with(tmp_path, 11 * frame(b"O", 100 * b"x"))
