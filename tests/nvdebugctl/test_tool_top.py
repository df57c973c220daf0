# SPDX-License-Identifier: MIT OR GPL-2.0
"""`top`, as text, as JSON and on a terminal, on folders that look like /proc."""

import contextlib
import csv
import io
import itertools
import json
import os
import pty
import subprocess

import pytest
from ctl import Started, ctl, tool, validate, write_tree
from trees import changing
from typist import ScreenTypist
from waiting import PATIENCE_S


# --- top ---

def test_top(proc):
    with changing(proc):
        result = ctl("top -n 3 -s 100 -j", proc)
        assert (result.status, result.err, result.out.count("\n")) == (0, "", 3)
        found, samples = set(), []
        with Started(proc, "top", "-s", "200", "-j", stdout=subprocess.PIPE, text=True) as live:
            for line in live.stdout:
                document = json.loads(line)
                validate(document)
                gr0, = [engine for engine in document["data"]["engines"] if engine["engine"] == "GR0"]
                found |= {row["tsgs"][0] for row in gr0["holders"]}
                samples.append(gr0["samples"])
                assert sum(row["share_percent"] for row in gr0["holders"]) < 100.01
                # On a busy machine an interval may have few samples. They count for this interval, and not for the
                # whole time so far.
                if found == {"0:0", "0:1", "0:2"} and any(after <= before for before, after in itertools.pairwise(samples)):
                    break
                assert len(samples) < 300
            live.terminate()
        rows = list(csv.DictReader(io.StringIO(ctl("top -n 2 -s 200 --csv", proc).out)))
    assert len({row["time"] for row in rows}) == 2 and {row["engine"] for row in rows} >= {"GR0"}
    for words in ("-s 99", "-n 0"):
        assert ctl(f"top {words}", proc).status == 1


def test_engines_have_one_order(tmp_path):
    """Engines are sorted by number, and not by their first turn."""
    source = write_tree(tmp_path / "proc", ("b200", "mixed"), ("gtx1060-3gb", "mixed"))
    for document in ctl("top -n 2 -s 100 -j", source).out.splitlines():
        names = [(engine["gpu"], engine["engine"]) for engine in json.loads(document)["data"]["engines"]]
        assert len(names) > 5 and names == sorted(
            names, key=lambda name: (name[0], name[1].rstrip("0123456789"), len(name[1]), name[1]))


def test_top_on_a_terminal(proc):
    master, slave = pty.openpty()
    text = b""
    with Started(proc, "top", "-s", "100", stdin=slave, stdout=slave, stderr=slave,
                 env={**os.environ, "TERM": "xterm"}) as live:
        os.close(slave)
        while b"TSG 0:2" not in text:
            text += os.read(master, 4096)
        os.write(master, b"q")
        with contextlib.suppress(OSError):
            while True:
                text += os.read(master, 4096)
        assert live.wait(PATIENCE_S) == 0
    os.close(master)
    assert b"nvdebugctl top" in text and b"SHARE" in text


# --- top on a terminal ---

class Live(ScreenTypist):
    def __init__(self, source, rows, columns):
        super().__init__([tool(), "--from", source, "top", "-s", "300ms"], rows, columns)
        self.wait_until(lambda: self.lines[-1].startswith("q quit") and self.header())

    def header(self):
        return next((line for line in self.lines if line.startswith("ENGINE")), "")

    def shown(self):
        at = self.lines.index(self.header())
        return [line for line in self.lines[at + 1:-1] if line]


@pytest.fixture
def three(tmp_path):
    """Makes a folder with three GPUs, each with several tasks."""
    return write_tree(tmp_path / "three", *[("h200", "mixed")] * 3)


@pytest.mark.parametrize("columns", (40, 80, 200))
def test_top_shows_whole_columns_and_says_what_is_below(three, columns):
    live = Live(three, 10, columns)
    titles = "ENGINE WHO SHARE TURNS SLICE 99_% AWAY TIMESLICE TSGS".split()
    seen = live.header().replace("99 %", "99_%").split()
    assert seen == titles[:len(seen)] and len(seen) >= 2 and (columns < 200 or seen == titles)
    live.wait_until(lambda: " of " in live.lines[-1])
    if columns >= 80:
        assert "arrows 1-" in live.lines[-1] and "s order: engine" in live.lines[-1]
    first = live.shown()[0]
    # On a busy machine an interval without a turn has one line, and then the position of scrolling is lost.
    live.wait_until(lambda: any(line.startswith("gpu2") for line in live.shown()) or live.type(b"\x1bOF"))
    live.wait_until(lambda: live.shown()[0].split()[:2] == first.split()[:2] or live.type(b"\x1bOH"))
    live.type(b"h")
    live.wait_until(lambda: any(line.startswith("q ") and "Ctrl-C" in line for line in live.lines))
    live.type(b"h")
    live.wait_until(live.header)
    live.type(b"q")
    assert live.end() == (0, True)
    live.close()


def test_top_sorts_and_keeps_the_order_of_gpus(three):
    live = Live(three, 60, 160)
    for _ in range(3):
        live.watch(0.25)
        names = [line.split()[0] for line in live.shown()]
        assert names == sorted(names) and {"gpu0", "gpu1", "gpu2"} == set(names)
    live.type(b"sss")
    live.wait_until(lambda: "order: name" in live.lines[-1])
    who = [line.split()[2:4] for line in live.shown()]
    assert who == sorted(who)
    live.type(b" ")
    live.wait_until(lambda: "PAUSED" in live.lines[0])
    live.type(b"q")
    assert live.end() == (0, True)
    live.close()
