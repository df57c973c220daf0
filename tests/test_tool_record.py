# SPDX-License-Identifier: MIT OR GPL-2.0
"""`record`, `recording show` and `top`: every form, and what goes wrong, on folders that look like /proc."""

import contextlib
import csv
import io
import json
import os
import pty
import resource
import signal
import subprocess
import threading
import time

import pytest
from ctl import ROOT, Started, ctl, tool, validate, validator, write_capture, write_tree

DEADLINE_S = 30
FORMS = {"pftrace": "perfetto", "ndjson": "ndjson", "csv": "csv", "html": "html"}


@pytest.fixture
def proc(tmp_path):
    return write_tree(tmp_path / "proc", ("h200", "fig6"))


@contextlib.contextmanager
def changing(folder, every_s=0.02):
    """TSGs 0, 1 and 2 take turns on GR0."""
    path = folder / "gpu0/engines"
    text = path.read_text()
    over = threading.Event()

    def change():
        number = 0
        while not over.wait(every_s):
            fresh = folder / "fresh"
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


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def recorded(proc, tmp_path):
    """A recording in NDJSON of a second, and what `record` said."""
    path = tmp_path / "run.ndjson"
    with changing(proc):
        result = ctl(f"record --for 500ms --rate 500 -o {path} --summary -j", proc)
    assert (result.status, result.err) == (0, "")
    return path, result


def test_lines_and_summary(recorded):
    path, result = recorded
    told = lines(path)
    for line in told:
        validator("recording.line").validate(line)
    assert [told[0]["kind"], told[-1]["kind"]] == ["recording", "summary"]
    turns = [one for one in told if one["kind"] == "turn" and one["engine"] == "GR0"]
    assert {turn["tsg"] for turn in turns} == {0, 1, 2}
    assert turns == sorted(turns, key=lambda turn: turn["begin_ns"])
    gr0, = [engine for engine in result.data["engines"] if engine["engine"] == "GR0"]
    assert gr0["by"] == "samples" and {row["name"] for row in gr0["holders"]} == {
        f"TSG {tsg} of runlist 0" for tsg in range(3)}
    assert sum(row["share_percent"] for row in gr0["holders"]) == pytest.approx(gr0["held_percent"], abs=0.01)
    assert told[-1]["summary"] == result.data
    assert path.stat().st_mode & 0o777 == 0o600, "it names processes"


def test_show_adds_up_the_same(recorded):
    path, result = recorded
    again = ctl(f"recording show {path} -j")
    assert (again.status, again.err) == (0, "")
    assert again.data == result.data | {"cost_percent": None}
    rows = list(csv.DictReader(io.StringIO(ctl(f"recording show {path} --csv").out)))
    assert len(rows) == sum(len(engine["holders"]) for engine in result.data["engines"])
    text = ctl(f"recording show {path}").out
    assert "GR0" in text and "TSG 1 of runlist 0" in text


@pytest.mark.parametrize("card", ("h100-580.159.04", "h200-580.159.04"))
def test_shares_on_hardware_are_what_tasks_counted(card):
    """A replay: a second of three tasks, of whose turns the ends are saving."""
    folder = ROOT / "tests/hardware" / card
    *_, told = json.loads((folder / "recording.json").read_text(encoding="utf-8"))["three"]
    result = ctl(f"recording show {folder / 'recording.ndjson'} -j")
    assert (result.status, result.err) == (0, "")
    gr0, = [engine for engine in result.data["engines"] if engine["engine"] == "GR0"]
    shares = {row["timeslice_us"][0]: row["share_percent"] for row in gr0["holders"] if row["process"] == "load"}
    assert set(shares) == {1024, 2048, 4096}
    for timeslice, counted, raw in zip(sorted(shares), told["counted_percent"], told["with_saving_percent"]):
        share = 100 * shares[timeslice] / sum(shares.values())
        assert share == pytest.approx(counted, abs=1), timeslice
        assert timeslice == 2048 or abs(share - counted) < abs(raw - counted)
    assert 95 < gr0["saving_median_us"] < 115 and 80 < gr0["switch_median_us"] < 90
    assert gr0["held_percent"] + gr0["switching_percent"] == pytest.approx(100, abs=0.5)
    assert gr0["lost_switches"] == 0


@pytest.mark.parametrize("ending", FORMS)
def test_forms(recorded, tmp_path, ending):
    path, _ = recorded
    made = tmp_path / f"again.{ending}"
    result = ctl(f"recording show {path} -o {made}")
    assert (result.status, result.out, result.err) == (0, "", "")
    said = subprocess.run([tool(), "recording", "show", path, "-o", "-", "--format", FORMS[ending]],
                          capture_output=True, check=True, timeout=DEADLINE_S)
    assert said.stdout == made.read_bytes() and said.stderr == b""
    turns = [one for one in lines(path) if one["kind"] == "turn"]
    if ending == "ndjson":
        assert lines(made)[:-1] == lines(path)[:-1]
    elif ending == "csv":
        rows = [row for row in csv.DictReader(made.open(encoding="utf-8")) if row["kind"] == "turn"]
        assert [(int(row["begin_ns"]), int(row["end_ns"])) for row in rows] == [
            (turn["begin_ns"], turn["end_ns"]) for turn in turns]
    elif ending == "html":
        text = made.read_text(encoding="utf-8")
        assert text.count('"kind":"turn"') == len(turns) and "//" not in text.replace("// ", "")
    else:
        # Each packet of a trace: field 1, its length, and that many bytes.
        data, at, packets = made.read_bytes(), 0, 0
        while at < len(data):
            assert data[at] == 0x0a
            length, shift, at = 0, 0, at + 1
            while True:
                length |= (data[at] & 0x7f) << shift
                shift, at = shift + 7, at + 1
                if data[at - 1] < 0x80:
                    break
            packets, at = packets + 1, at + length
        assert at == len(data) and packets >= 4 * len(turns)


def test_a_recording_that_was_cut_is_shown(recorded, tmp_path):
    path, _ = recorded
    cut = tmp_path / "cut.ndjson"
    cut.write_bytes(path.read_bytes()[:-100])
    result = ctl(f"recording show {cut} -j")
    assert result.status == 0 and "was cut off" in result.err and result.data["turns"] > 0
    (tmp_path / "other").write_text("{}\n")
    result = ctl(f"recording show {tmp_path / 'other'}")
    assert result.status == 2 and "line 1 of" in result.err
    assert "cannot open" in ctl("recording show /nonexistent").err


@pytest.mark.parametrize("words, sentence", [
    ("--for x", "a time is 10"), ("--for 0", "a time is 10"), ("--rate x", "samples a second"),
    ("--rate 100001", "samples a second"), ("-o x.bin", "does not tell which form"),
    ("--format csv", "say with -o where it goes"), ("-o - --summary", "name a file"),
    ("-o - -j", "name a file"), ("-o x.csv --format xml", "xml")])
def test_usage(proc, words, sentence):
    result = ctl(f"record {words}", proc)
    assert result.status == 1 and sentence in result.err
    assert "turn" not in result.out


def test_there_has_to_be_something_to_record(proc, tmp_path):
    result = ctl("record --rate 0 --for 1", proc)
    assert result.status == 3 and "nothing is left" in result.err
    capture = write_capture(tmp_path / "capture", proc)
    for verb in ("record --for 1", "top -n 1"):
        result = ctl(verb, capture)
        assert result.status == 3 and "does not change" in result.err
    kept = tmp_path / "kept.csv"
    kept.write_text("before")
    (proc / "gpu0/engines").unlink()
    result = ctl(f"record --for 1 -o {kept}", proc)
    assert result.status == 2 and "engines" in result.err
    assert kept.read_text() == "before", "what fails at once leaves the file as it was"


def test_cannot_open_the_file(proc):
    result = ctl("record --for 1 -o /nonexistent/run.csv", proc)
    assert result.status == 2 and "cannot open /nonexistent/run.csv" in result.err


def test_full_disk(proc, tmp_path):
    result = ctl("record --for 5 --format ndjson --summary -o /dev/full", proc)
    assert result.status == 2 and "No space left on device" in result.err
    assert "recorded" in result.out, "the summary is there all the same"

    # A file that can grow no more, in the middle of a line.
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
    path = tmp_path / "run.ndjson"
    with changing(proc):
        done = subprocess.run([tool(), "--from", proc, "record", "--for", "20", "--rate", "1000", "-o", path],
                              preexec_fn=limit, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 2 and "what was written until then can be read" in done.stderr
    assert path.read_bytes().endswith(b"\n") and all("kind" in one for one in lines(path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_its_summary(proc, tmp_path, number):
    path = tmp_path / "run.ndjson"
    with Started(proc, "record", "-o", path, "--summary", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 text=True) as recording:
        while not path.exists() or not path.stat().st_size:
            assert recording.poll() is None
            time.sleep(0.01)
        recording.send_signal(number)
        out, err = recording.communicate(timeout=DEADLINE_S)
    assert (recording.returncode, err) == (0, "") and "recorded" in out
    assert lines(path)[-1]["kind"] == "summary"


def test_a_reader_that_leaves_ends_it_quietly(proc):
    with changing(proc), Started(proc, "record", "-o", "-", "--rate", "500", stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) as recording:
        assert json.loads(recording.stdout.readline())["kind"] == "recording"
        recording.stdout.close()
        assert recording.stderr.read() == b""
        assert recording.wait(DEADLINE_S) == 2


def test_samples_that_fail_are_counted(proc):
    path = proc / "gpu0/engines"

    def spoil():
        time.sleep(0.2)
        path.rename(proc / "gone")
        time.sleep(0.2)
        (proc / "gone").rename(path)
    thread = threading.Thread(target=spoil)
    thread.start()
    result = ctl("record --for 800ms --rate 50 -j", proc)
    thread.join()
    gr0, = [engine for engine in result.data["engines"] if engine["engine"] == "GR0"]
    assert gr0["missed_samples"] >= 5 and gr0["unknown_percent"] > 5


def test_top(proc):
    with changing(proc):
        result = ctl("top -n 3 -s 200 -j", proc)
        assert (result.status, result.err) == (0, "")
        documents = [json.loads(line) for line in result.out.splitlines()]
        assert len(documents) == 3
        for document in documents:
            validate(document)
            gr0, = [engine for engine in document["data"]["engines"] if engine["engine"] == "GR0"]
            assert {row["tsgs"][0] for row in gr0["holders"]} <= {"0:0", "0:1", "0:2"}
        rows = list(csv.DictReader(io.StringIO(ctl("top -n 2 -s 200 --csv", proc).out)))
    assert len({row["time"] for row in rows}) == 2 and {row["engine"] for row in rows} >= {"GR0"}
    for words in ("-s 99", "-n 0"):
        assert ctl(f"top {words}", proc).status == 1


def test_top_on_a_terminal(proc):
    master, slave = pty.openpty()
    text = b""
    with Started(proc, "top", "-s", "100", stdin=slave, stdout=slave, stderr=slave,
                 env={**os.environ, "TERM": "xterm"}) as live:
        os.close(slave)
        while b"TSG 2 of runlist 0" not in text:
            text += os.read(master, 4096)
        os.write(master, b"q")
        with contextlib.suppress(OSError):
            while True:
                text += os.read(master, 4096)
        assert live.wait(DEADLINE_S) == 0
    os.close(master)
    assert b"nvdebugctl top" in text and b"SHARE" in text
