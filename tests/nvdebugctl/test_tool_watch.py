# SPDX-License-Identifier: MIT OR GPL-2.0
"""`watch` prints lines that never break. Its live view fits the terminal, and restores it at the end."""

import contextlib
import csv
import fcntl
import io
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pyte
import pytest
from boards import BOARDS
from ctl import Started, ctl, validate, write_capture, write_tree
from trees import Opens
from waiting import PATIENCE_S


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
    result = ctl("watch -j -n 3 -s 10", source)
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
            assert engine["residency"] == [{"who": engine["current"], "processes": [], "resident_percent": 100.0}]
        else:
            assert engine["residency"] == []
    lists = {row["runlist"]: row for row in ctl("-j runlist list", source).data}
    for runlist in first["data"]["runlists"]:
        row = lists[runlist["runlist"]]
        assert (runlist["tsgs"], runlist["channels"]) == (row["tsgs"], row["channels"])


COLUMNS = ["time", "sample", "engine", "runlist", "status", "current", "processes", "next", "busy", "faulted",
           "busy_percent", "who", "resident_percent"]


@pytest.mark.parametrize("board", BOARDS)
def test_csv_has_a_row_for_each_engine_and_sample(tmp_path, board):
    source = write_tree(tmp_path / "proc", (board, "mixed"))
    result = ctl("watch --csv -n 2 -s 10", source)
    assert (result.status, result.err) == (0, "")
    header, *rows = csv.reader(io.StringIO(result.out))
    assert header == COLUMNS
    rows = [dict(zip(header, row, strict=True)) for row in rows]
    engines = samples(ctl("watch -j", source).out)[0]["data"]["engines"]
    assert [(row["sample"], row["engine"]) for row in rows] == [
        (sample, engine["engine"]) for sample in "12" for engine in engines]
    for row, engine in zip(rows, engines * 2, strict=True):
        assert row["current"] == (engine["current"] or "")
        known = row["sample"] == "2" and engine["status"]
        assert row["who"] == (engine["current"] or "" if known else "")
        assert row["resident_percent"] == ("100.0" if row["who"] else "")


def test_plain_lines_have_one_header_and_keep_their_columns(mixed):
    result = ctl("watch -n 3 -s 10", mixed)
    assert (result.status, result.err) == (0, "")
    header, *lines = result.out.splitlines()
    assert header.split() == ["TIME", "ENGINE", "RUNLIST", "CURRENT", "BUSY%", "WHO", "RESIDENT"]
    assert len(lines) == 3 * 9
    start = header.index("ENGINE")
    for line in lines:
        assert re.match(r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z $", line[:start - 1])
        assert re.match(r"\S+ ", line[start:])
    assert sum("100.0%" in line for line in lines) == 2 * 3
    assert ctl("watch --no-header --columns engine,runlist", mixed).out.split()[:2] == ["GR0", "0"]


def test_a_sample_opens_few_files(mixed):
    """For lines, a sample reads one file. For documents, a sample also reads the lists, every five seconds. The lists
    of engines in use are read once, because an engine of an empty list has no task."""
    lists = {path.name for path in (mixed / "gpu0").glob("runlist*_brief")}
    opens = Opens(mixed / "gpu0")
    assert ctl("watch --csv -n 20 -s 10", mixed).status == 0
    files = opens.take()
    used = {f"runlist{engine['runlist']}_brief" for engine in json.loads(ctl("watch -j", mixed).out)["data"]["engines"]
            if engine["current"] or engine["busy"]}
    opens.take()
    assert used and files.pop("engines") == 20 and files == {"info": 2} | dict.fromkeys(used, 1)
    assert ctl("watch -j -n 11 -s 500", mixed).status == 0
    files = opens.take()
    # Each document has the name of its GPU, and the source is asked for processes once.
    assert files.pop("engines") == 11 and files.pop("info") == 1 + 1 + 2 + 11
    assert files == {name: 2 + (name in used) for name in lists}
    opens.close()


def run_watch(source, *words, **options):
    return Started(source, "watch", *words, **options)


def test_samples_show_what_changes(mixed):
    """Estimates come from the previous samples, and each line is written when it is made."""
    path = mixed / "gpu0/engines"
    with run_watch(mixed, "-j", "-s", "20", stdout=subprocess.PIPE, text=True) as watching:
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
        assert watching.wait(PATIENCE_S) == 5


def test_each_line_names_unreadable_files(mixed):
    (mixed / "gpu0/runlist8_brief").write_text("nonsense\n")
    result = ctl("watch -j -n 2 -s 10", mixed)
    assert result.status == 4
    for document in samples(result.out):
        assert len(document["missing"]) == 1
        bad = [each for each in document["data"]["runlists"] if each["error"]]
        assert [each["runlist"] for each in bad] == [8] and bad[0]["tsgs"] is None
    (mixed / "gpu0/info").unlink()
    result = ctl("watch -j -n 1 -s 10", mixed)
    assert result.status == 4 and samples(result.out)[0]["data"]["runlists"] == []
    (mixed / "gpu0/engines").unlink()
    for form in ("-j", "--csv"):
        result = ctl(f"watch {form} -n 2 -s 10", mixed)
        assert result.status == 2 and "engines" in result.err and "tsg" not in result.out


def test_lines_say_when_there_is_nothing_to_read(mixed):
    """The sentence is printed once, and not for each sample. Status 4 is about the last sample."""
    with run_watch(mixed, "-s", "10", "-n", "400", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                   text=True) as watching:
        watching.stdout.readline()
        (mixed / "gpu0/engines").rename(mixed / "gone")
        assert "gpu0/engines" in watching.stderr.readline()
        (mixed / "gone").rename(mixed / "gpu0/engines")
        watching.stdout.read()
        assert watching.stderr.read() == ""
        assert watching.wait(PATIENCE_S) == 0


def test_a_capture_has_one_sample(mixed, tmp_path):
    result = ctl("watch -j -s 10", write_capture(tmp_path / "capture", mixed))
    assert result.status == 0 and "there is one sample" in result.err
    assert len(samples(result.out)) == 1


def test_a_folder_has_one_sample_by_default(mixed):
    result = ctl("watch -j", mixed)
    assert result.status == 0 and "not live: there is one sample" in result.err
    assert len(samples(result.out)) == 1


@pytest.mark.parametrize("words", ("-n 0", "-n x", "-s 0", "-s 9", "-s 3600001", "-n", "extra",
                                   "--pretty", "-j --csv", "--columns bogus"))
def test_bad_usage(mixed, words):
    result = ctl(f"watch {words}", mixed)
    assert result.status == 1 and result.err.startswith("nvdebugctl: ")
    assert '"data"' not in result.out


class Live:
    """Runs the tool on a terminal of its own."""

    def __init__(self, source, *words, term="linux", rows=40, columns=120,
                 locale="C.UTF-8"):
        self.master, self.slave = pty.openpty()
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.sent = b""
        self.process = run_watch(source, *words, stdin=self.slave, stdout=self.slave,
                                 stderr=subprocess.PIPE, start_new_session=True,
                                 env={**os.environ, "TERM": term, "LC_ALL": locale})

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
        """Waits until all words are on the screen."""
        end = time.monotonic() + PATIENCE_S
        while not all(word in self.shown for word in words):
            assert time.monotonic() < end and self.process.poll() is None, self.shown
            self.read(0.1)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, self.shown
            self.read(0.1)
        while self.read(0):
            pass
        return self.process.returncode

    def is_restored(self):
        """Returns whether the terminal has its former modes, shows the cursor and, if it has two screens, shows the
        first one."""
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


UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END = (f"\x1b[{code}" for code in
                                           ("A", "B", "5~", "6~", "1~", "4~"))


def test_live_view_and_its_keys(mixed):
    with live(mixed, "-s", "50") as view:
        view.wait_for("TU102", "TSG 10 100%", "q quit", "NVDEC0  ")
        assert termios.tcgetattr(view.slave) != view.before
        view.press("i")
        view.wait_for("idle: LCE0, LCE1, LCE4, NVDEC0", "empty: 1-3, 10", "i unfold")
        view.press("i s")
        view.wait_for("PAUSED", "order: busy", "NVDEC0  ")
        for key in "h?":
            view.press(key)
            view.wait_for("pause, or continue", "PAUSED", "every 5 s")
            assert "NVDEC0" not in view.shown
            view.press("h")
            view.wait_for("NVDEC0")
        view.press("q")
        assert view.end() == 0
        assert view.is_restored()


@pytest.mark.parametrize("rows, columns", ((24, 80), (60, 200)))
@pytest.mark.parametrize("board", BOARDS)
def test_it_fits_and_leaves_nothing_out(tmp_path, board, rows, columns):
    source = write_tree(tmp_path / "proc", (board, "mixed"))
    data = samples(ctl("watch -j", source).out)[0]["data"]
    with live(source, "-s", "50", rows=rows, columns=columns) as view:
        view.wait_for(*(f"TSG {engine['current'].removeprefix('tsg:')} 100%"
                        for engine in data["engines"] if engine["current"]))
        view.press(" ")
        view.wait_for("PAUSED", "go on")
        title, *body, keys = view.shown.splitlines()
        assert title.startswith("nvdebugctl watch") and keys.startswith("q quit")
        assert "arrows" not in keys, "all fits"
        for engine in data["engines"]:
            assert re.search(rf"\b{engine['engine']}\b", view.shown), engine["engine"]
            if engine["current"]:
                [line] = [line for line in body if line.startswith(engine["engine"] + " ")]
                assert f"TSG {engine['current'].removeprefix('tsg:')} 100%" in line
        named = re.findall(r"^ *(\d+)  ", "\n".join(body), re.MULTILINE)
        for line in re.findall(r"^ empty: (.*)", "\n".join(body), re.MULTILINE):
            for part in line.split(", "):
                first, _, last = part.partition("-")
                named += map(str, range(int(first), int(last or first) + 1))
        assert sorted(map(int, named)) == [each["runlist"] for each in data["runlists"]]
        assert ("HISTORY" in view.shown) == (columns == 200)
        view.press("q")
        assert view.end() == 0


def test_it_scrolls(tmp_path):
    with live(write_tree(tmp_path / "proc", ("b200", "mixed")), "-s", "50", rows=24,
              columns=80) as view:
        view.wait_for("TSG 10 100%", "idle: ")
        view.press("i")
        view.wait_for("arrows 1-22 of 80")
        for keys, where in ((DOWN, "2-23"), (PAGE_DOWN, "24-45"), (UP, "23-44"), (END, "59-80"),
                            (PAGE_UP, "37-58"), (HOME, "1-22")):
            view.press(keys)
            view.wait_for(f"arrows {where} of 80")
        view.press(END)
        view.wait_for("     36     0 ")
        assert "GR0 " not in view.shown
        view.press("q")
        assert view.end() == 0


@pytest.fixture
def two(tmp_path):
    return write_tree(tmp_path / "proc", ("rtx2080ti", "mixed"), ("a100", "mixed"))


def test_all_gpus_have_a_block_each(two):
    with live(two, "-g", "all", "-s", "50", rows=60, columns=100) as view:
        view.wait_for("gpu0  TU102", "gpu1  GA100", "TSG 10 100%")
        view.press(" ")
        view.wait_for("PAUSED", "go on")  # this is the last line, so the whole screen has been drawn
        assert view.shown.index("gpu0") < view.shown.index("GR0 ") < view.shown.index("gpu1")
        assert view.shown.count("TSG 15 100%") == 2
        view.press("q")
        assert view.end() == 0


def test_lines_and_documents_of_all_gpus(two):
    documents = samples(ctl("-g all watch -j -n 2 -s 10", two).out)
    assert [(each["gpu"]["index"], each["data"]["sample"]) for each in documents] == [
        (0, 1), (1, 1), (0, 2), (1, 2)]
    header, *rows = csv.reader(io.StringIO(ctl("-g all watch --csv -n 1", two).out))
    assert header == ["gpu", *COLUMNS]
    assert [row[0] for row in rows] == [
        str(each["gpu"]["index"]) for each in documents[:2] for _ in each["data"]["engines"]]
    # A GPU that cannot be read is reported, and `watch` goes on.
    (two / "gpu0/engines").unlink()
    result = ctl("-g all watch -j -n 1", two)
    assert result.status == 4 and "gpu0/engines" in result.err
    assert [len(each["missing"]) for each in samples(result.out)] == [1, 0]
    (two / "gpu1/engines").unlink()
    assert ctl("-g all watch -j -n 1", two).status == 2


def asleep(pid):
    status = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    return status.rpartition(")")[2].split()[0] == "S"


def test_a_pause_reads_and_draws_nothing(mixed):
    with live(mixed, "-s", "10") as view:
        view.wait_for("TSG 10 100%")
        view.press(" ")
        view.wait_for("PAUSED")
        # The view's last output may come in parts. It is complete once the view waits for a key.
        while view.read(0.2) or not asleep(view.process.pid):
            pass
        opens = Opens(mixed / "gpu0")
        # The view sleeps each time the test looks.
        for _ in range(20):
            assert asleep(view.process.pid)
            assert not view.read(0.02)
        assert not opens.take()
        opens.close()
        # A new size is drawn at once, also during a pause.
        view.resize(50, 90)
        view.process.send_signal(signal.SIGWINCH)
        while not view.screen.display[49].startswith("q quit"):
            assert view.read(PATIENCE_S)
        view.press(" q")
        assert view.end() == 0


def test_marks_are_drawn_with_the_characters_of_the_locale(mixed):
    with live(mixed, "-s", "50") as view:
        view.wait_for("█ TSG 10 100%")
    with live(mixed, "-s", "50", locale="C") as view:
        view.wait_for("# TSG 10 100%")
        assert view.sent.isascii()


@pytest.mark.parametrize("words, colored", (((), True), (("--color", "never"), False)))
def test_colors(mixed, words, colored):
    with live(mixed, "-s", "50", *words) as view:
        view.wait_for("TSG 10 100%")
        row = next(row for row, line in enumerate(view.screen.display) if line.startswith("GR0 "))
        inks = {view.screen.buffer[row][x].fg for x in range(view.screen.columns)}
        assert inks == ({"default", "green"} if colored else {"default"})


@pytest.mark.parametrize("term", ("linux", "xterm"))
@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
                                    signal.SIGUSR1))
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
        assert "2 samples, one every 50 ms" in view.shown
        assert view.is_restored()


def test_the_keys_stay_in_sight_and_a_new_size_is_used(mixed):
    with live(mixed, "-s", "50", rows=8, columns=60) as view:
        view.wait_for("q quit")
        assert "RUNLIST  TSGS" not in view.shown
        view.resize(40, 120)
        view.process.send_signal(signal.SIGWINCH)
        view.wait_for("RUNLIST  TSGS", "q quit")
        view.press("q")
        assert view.end() == 0


def test_a_capture_is_shown_as_such(mixed, tmp_path):
    with live(write_capture(tmp_path / "capture", mixed), "-s", "10") as view:
        view.wait_for("one sample, of a capture", "TSG 10")
        view.press("q")
        assert view.end() == 0


@pytest.mark.parametrize("term", ("no-such-terminal", "dumb"))
def test_a_terminal_that_cannot_be_drawn_on_gets_lines(mixed, term):
    with live(mixed, "-s", "10", "-n", "2", term=term) as view:
        assert view.end() == 0
        assert view.sent.decode().count("TSG") + view.sent.decode().count("tsg:10") >= 2
        assert b"terminfo has no entry to draw" in view.process.stderr.read()


def test_json_on_a_terminal_is_lines(mixed):
    with live(mixed, "-s", "10", "-n", "2", "-j") as view:
        assert view.end() == 0
        assert len(samples(view.sent.decode())) == 2


def test_a_capture_has_the_time_when_it_was_made(tmp_path, mixed):
    capture = write_capture(tmp_path / "capture", mixed)
    assert json.loads(ctl("watch -j", capture).out)["data"]["time"] == "2026-01-31T12:00:00Z"
    assert "2026-01-31T12:00:00Z" in ctl("watch", capture).out
