# SPDX-License-Identifier: MIT OR GPL-2.0
"""Folders that look like /proc of one GPU or of two, a folder that changes, and checks of nvdebugctl's failures."""

import collections
import contextlib
import ctypes
import os
import re
import select
import signal
import struct
import subprocess
import threading

import pytest
from ctl import Result, Started, tool, write_tree
from waiting import PATIENCE_S, until


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """Makes a folder with two GPUs: an A100 under the workload that has the most to show, and a GTX 1060."""
    return write_tree(tmp_path_factory.mktemp("proc") / "two", ("a100", "mixed"),
                      ("gtx1060-3gb", "fig6"))


@pytest.fixture
def one(tmp_path):
    """Makes a folder with one GPU, which the test may damage."""
    return write_tree(tmp_path / "proc", ("a100", "fig7"))


def fails(result, status, *words):
    """Asserts that the tool prints one sentence on stderr and nothing else, except the same sentence in JSON."""
    assert result.status == status, (result.status, result.err)
    assert result.out == "" or result.json["error"]["message"] in result.err
    assert result.err.startswith("nvdebugctl: ") and result.err.count("\n") == 1, result.err
    for word in words:
        assert word in result.err, result.err


def edit(path, pattern, replacement):
    old = path.read_text()
    new = re.sub(pattern, replacement, old)
    assert new != old, f"{pattern} is not in {path}"
    path.write_text(new)


def piped(words, **options):
    return subprocess.run([tool(), *words], capture_output=True, check=False, timeout=60, **options)


@pytest.fixture
def proc(tmp_path):
    return write_tree(tmp_path / "proc", ("h200", "fig6"))


class Opens:
    """Counts how often each file of a folder is opened, from the kernel's notes."""

    def __init__(self, folder):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.notes = self.libc.inotify_init1(os.O_NONBLOCK)
        # The kernel drops a note that equals the previous one. Notes of IN_CLOSE between them prevent this.
        self.open, close = 0x20, 0x10
        assert self.libc.inotify_add_watch(self.notes, os.fsencode(folder), self.open | close) > 0

    def take(self):
        """Returns {name: opens} since the last call."""
        names, head = collections.Counter(), struct.Struct("iIII")
        with contextlib.suppress(BlockingIOError):
            while notes := os.read(self.notes, 1 << 16):
                while notes:
                    _, kind, _, length = head.unpack_from(notes)
                    name = notes[head.size:head.size + length].rstrip(b"\0").decode()
                    names[name] += bool(kind & self.open)
                    notes = notes[head.size + length:]
        return +names

    def wait(self, seconds):
        """Waits until a file is opened, or that time has passed."""
        select.select([self.notes], [], [], seconds)

    def close(self):
        os.close(self.notes)


class Turns:
    """The number of turns so far."""
    count = 0


@contextlib.contextmanager
def changing(folder, gpu=0):
    """Lets TSGs 0, 1 and 2 take turns on GR0. Each turn lasts until the file was read twice."""
    path = folder / f"gpu{gpu}/engines"
    text, turns, over = path.read_text(), Turns(), threading.Event()
    opens = Opens(path.parent)

    def change():
        while not over.is_set():
            fresh = folder / f"fresh{gpu}"
            fresh.write_text(text.replace("tsg:2", f"tsg:{turns.count % 3}"))
            fresh.rename(path)
            opens.take()
            looks = 0
            while looks < 2 and not over.is_set():
                opens.wait(0.05)
                looks += opens.take()["engines"]
            turns.count += 1
    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield turns
    finally:
        over.set()
        thread.join()
        opens.close()


def record_until(condition, source, *words):
    """Runs `record`, and ends it by Ctrl-C once the condition holds."""
    with Started(source, "record", *map(str, words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 text=True) as recording:
        until(lambda: recording.poll() is not None or condition())
        recording.send_signal(signal.SIGINT)
        out, err = recording.communicate(timeout=PATIENCE_S)
    return Result(recording.returncode, out, err)
