# SPDX-License-Identifier: MIT OR GPL-2.0
"""`watch`: NDJSON that never breaks, and a live view that gives the terminal back."""

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte
import pytest
from boards import BOARDS
from ctl import ctl, tool, validate, write_capture, write_tree

DEADLINE_S = 30


@pytest.fixture
def mixed(tmp_path):
    return write_tree(tmp_path / "proc", ("rtx2080ti", "mixed"))


def samples(text):
    documents = [json.loads(line) for line in text.splitlines()]
    for document in documents:
        validate(document)
    return documents


@pytest.mark.parametrize("board", BOARDS)
def test_lines_are_whole_documents(tmp_path, board):
    source = write_tree(tmp_path / "proc", (board, "mixed"))
    result = ctl("watch -n 3 -s 10", source)
    assert (result.status, result.err) == (0, "")
    assert result.out.endswith("\n")
    first, *others = samples(result.out)
    assert [first["data"]["sample"]] + [each["data"]["sample"] for each in others] == [1, 2, 3]
    engines = {row["engine"]: row for row in ctl("-j engine list", source).data}
    for engine in first["data"]["engines"]:
        assert engine["residency"] is None and engine["busy_percent"] is None
        row = engines[engine["engine"]]
        assert (engine["status"], engine["current"]) == (row["status"], row["current"])
    for engine in others[-1]["data"]["engines"]:
        if engine["status"] is None:
            assert engine["residency"] is None
        elif engine["current"]:
            assert engine["residency"] == [{"who": engine["current"], "resident_percent": 100.0}]
        else:
            assert engine["residency"] == []
    lists = {row["runlist"]: row for row in ctl("-j runlist list", source).data}
    for runlist in first["data"]["runlists"]:
        row = lists[runlist["runlist"]]
        assert (runlist["tsgs"], runlist["channels"]) == (row["tsgs"], row["channels"])


def run_watch(source, *words, **options):
    return subprocess.Popen([tool(), "--from", source, "watch", *words], **options)


def test_samples_show_what_changes(mixed):
    """The estimate is of the samples before, and a line is written when it is made."""
    path = mixed / "gpu0/engines"
    with run_watch(mixed, "-s", "20", stdout=subprocess.PIPE, text=True) as watching:
        assert json.loads(watching.stdout.readline())["data"]["engines"][0]["current"] == "tsg:10"
        changed = mixed / "changed"
        changed.write_text(path.read_text().replace("tsg:10", "tsg:11"))
        changed.rename(path)
        for line in watching.stdout:
            engine = json.loads(line)["data"]["engines"][0]
            if engine["current"] == "tsg:11":
                break
        assert {each["who"] for each in engine["residency"]} == {"tsg:10", "tsg:11"}
        assert sum(each["resident_percent"] for each in engine["residency"]) == pytest.approx(100)
        watching.terminate()


def test_a_reader_that_leaves_ends_it_quietly(mixed):
    with run_watch(mixed, "-s", "10", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
        watching.stdout.readline()
        watching.stdout.close()
        assert watching.stderr.read() == b""
        assert watching.wait(DEADLINE_S) == 2


def test_what_cannot_be_read_is_said_in_each_line(mixed):
    (mixed / "gpu0/runlist8_brief").write_text("nonsense\n")
    result = ctl("watch -n 2 -s 10", mixed)
    assert result.status == 4
    for document in samples(result.out):
        assert len(document["missing"]) == 1
        bad = [each for each in document["data"]["runlists"] if each["error"]]
        assert [each["runlist"] for each in bad] == [8] and bad[0]["tsgs"] is None
    (mixed / "gpu0/engines").unlink()
    result = ctl("watch -n 2 -s 10", mixed)
    assert (result.status, result.out) == (2, "") and "engines" in result.err


def test_of_a_capture_there_is_one_sample(mixed, tmp_path):
    result = ctl("watch -s 10", write_capture(tmp_path / "capture", mixed))
    assert result.status == 0 and "there is one sample" in result.err
    assert len(samples(result.out)) == 1


def test_of_a_folder_there_is_one_sample_unless_more_are_asked_for(mixed):
    result = ctl("watch", mixed)
    assert result.status == 0 and "not live: there is one sample" in result.err
    assert len(samples(result.out)) == 1


@pytest.mark.parametrize("words", ("-n 0", "-n x", "-s 0", "-s 9", "-s 3600001", "-n", "extra",
                                   "--pretty", "--csv"))
def test_bad_usage(mixed, words):
    result = ctl(f"watch {words}", mixed)
    assert result.status == 1 and result.err.startswith("nvdebugctl: ")
    assert '"data"' not in result.out


class Live:
    """The tool on a terminal of its own."""

    def __init__(self, source, *words, term="linux", rows=40, columns=120):
        self.master, self.slave = pty.openpty()
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.sent = b""
        self.process = run_watch(source, *words, stdin=self.slave, stdout=self.slave,
                                 stderr=subprocess.PIPE, start_new_session=True,
                                 env={**os.environ, "TERM": term, "LC_ALL": "C.UTF-8"})

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def read(self, timeout_s):
        if not select.select([self.master], [], [], timeout_s)[0]:
            return False
        sent = os.read(self.master, 65536)
        self.sent += sent
        self.stream.feed(sent)
        return True

    @property
    def shown(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, *words):
        """Waits until all of them are on the screen."""
        end = time.monotonic() + DEADLINE_S
        while not all(word in self.shown for word in words):
            assert time.monotonic() < end and self.process.poll() is None, self.shown
            self.read(0.1)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        end = time.monotonic() + DEADLINE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, self.shown
            self.read(0.1)
        while self.read(0):
            pass
        return self.process.returncode

    def is_restored(self):
        """Modes as before, the cursor shown, and, where there are two screens, back on the first."""
        return (termios.tcgetattr(self.slave) == self.before
                and self.sent.rfind(b"\x1b[?25h") > self.sent.rfind(b"\x1b[?25l")
                and self.sent.rfind(b"\x1b[?1049l") >= self.sent.rfind(b"\x1b[?1049h"))


@contextlib.contextmanager
def live(*args, **options):
    view = Live(*args, **options)
    try:
        yield view
    finally:
        view.process.kill()
        view.process.wait()
        view.process.stderr.close()
        os.close(view.master)
        os.close(view.slave)


def test_live_view_and_its_keys(mixed):
    with live(mixed, "-s", "50") as view:
        view.wait_for("TU102", "TSG 10 100%", "q quit")
        assert termios.tcgetattr(view.slave) != view.before
        view.press("e")
        view.wait_for("GR0,LCE0,LCE1", "e unfold")
        view.press("e s")
        view.wait_for("PAUSED", "busiest first", "e fold")
        view.press("h")
        view.wait_for("hold still", "PAUSED")
        assert "NVDEC0" not in view.shown
        view.press("h")
        view.wait_for("NVDEC0")
        view.press("q")
        assert view.end() == 0
        assert view.is_restored()


@pytest.mark.parametrize("term", ("linux", "xterm"))
@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT))
def test_a_signal_gives_the_terminal_back(mixed, number, term):
    with live(mixed, "-s", "50", term=term) as view:
        view.wait_for("TSG 10")
        view.process.send_signal(number)
        assert view.end() == -number
        assert view.is_restored()


def test_ctrl_c_quits(mixed):
    with live(mixed, "-s", "50") as view:
        view.wait_for("TSG 10")
        view.process.send_signal(signal.SIGINT)
        assert view.end() == 0
        assert view.is_restored()


def test_an_error_gives_the_terminal_back(mixed):
    (mixed / "gpu0/engines").unlink()
    with live(mixed, "-s", "50", term="xterm") as view:
        assert view.end() == 2
        assert view.is_restored()
        assert b"engines" in view.process.stderr.read()


def test_it_ends_after_count_samples(mixed):
    with live(mixed, "-s", "50", "-n", "2") as view:
        assert view.end() == 0
        assert "estimated from 2 samples, one every 50 ms" in view.shown
        assert view.is_restored()


def test_the_keys_stay_in_sight_and_a_new_size_is_used(mixed):
    with live(mixed, "-s", "50", rows=8, columns=60) as view:
        view.wait_for("q quit")
        assert "Runlists, as of" not in view.shown
        view.resize(40, 120)
        view.process.send_signal(signal.SIGWINCH)
        view.wait_for("Runlists, as of", "q quit")
        view.press("q")
        assert view.end() == 0


def test_a_capture_is_shown_and_said_to_be_one(mixed, tmp_path):
    with live(write_capture(tmp_path / "capture", mixed), "-s", "10") as view:
        view.wait_for("a capture, so one sample only", "TSG 10")
        view.press("q")
        assert view.end() == 0


@pytest.mark.parametrize("term", ("no-such-terminal", "dumb"))
def test_a_terminal_that_cannot_be_drawn_on_gets_lines(mixed, term):
    with live(mixed, "-s", "10", "-n", "2", term=term) as view:
        assert view.end() == 0
        assert len(samples(view.sent.decode())) == 2
        assert b"terminfo does not know how to draw" in view.process.stderr.read()


def test_json_on_a_terminal_is_lines(mixed):
    with live(mixed, "-s", "10", "-n", "2", "-j") as view:
        assert view.end() == 0
        assert len(samples(view.sent.decode())) == 2
