# SPDX-License-Identifier: MIT OR GPL-2.0
"""Folders that look like /proc of one GPU and of two, one that changes, and how nvdebugctl fails on them."""

import contextlib
import re
import subprocess
import threading

import pytest
from ctl import tool, write_tree

DEADLINE_S = 30


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """Two GPUs: an A100 under the workload with the most to show, and a GTX 1060."""
    return write_tree(tmp_path_factory.mktemp("proc") / "two", ("a100", "mixed"),
                      ("gtx1060-3gb", "fig6"))


@pytest.fixture
def one(tmp_path):
    """One GPU, for a test to damage."""
    return write_tree(tmp_path / "proc", ("a100", "fig7"))


def fails(result, status, *words):
    """One sentence on stderr, nothing else anywhere (but the same in JSON)."""
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


@contextlib.contextmanager
def changing(folder, every_s=0.02, gpu=0):
    """TSGs 0, 1 and 2 take turns on GR0."""
    path = folder / f"gpu{gpu}/engines"
    text = path.read_text()
    over = threading.Event()

    def change():
        number = 0
        while not over.wait(every_s):
            fresh = folder / f"fresh{gpu}"
            fresh.write_text(text.replace("tsg:2", f"tsg:{number % 3}"))
            fresh.rename(path)
            number += 1
    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
