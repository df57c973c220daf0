# SPDX-License-Identifier: MIT OR GPL-2.0
"""`record` and `recording show` in every form, with their errors, on folders that look like /proc."""

import contextlib
import csv
import gzip
import io
import json
import os
import re
import resource
import signal
import subprocess

import devices
import pytest
import terminals
from building import ROOT
from ctl import Started, ctl, tool, validator, write_capture
from trees import Opens, changing, record_until
from typist import Typist
from waiting import PATIENCE_S, until


FORMS = {"pftrace": "perfetto", "ndjson": "ndjson", "csv": "csv", "html": "html"}


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def recorded(proc, tmp_path):
    """Records a dozen turns as NDJSON. Returns the path, and the output of `record`."""
    path = tmp_path / "run.ndjson"
    with changing(proc) as turns:
        result = record_until(lambda: turns.count >= 12, proc, "--rate", 500, "-o", path, "--summary", "-j")
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
        f"TSG 0:{tsg}" for tsg in range(3)}
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
    assert "GR0" in text and "TSG 0:1" in text


@pytest.mark.parametrize("card", ("h100-580.159.04", "h200-580.159.04"))
def test_shares_on_hardware_are_what_tasks_counted(card):
    """Replays a second of three tasks that was recorded on hardware. The ends of their turns are saving."""
    folder = ROOT / "tests/hardware" / card
    assert "GR1" not in ctl(f"recording show {folder / 'recording.ndjson'}").out, "of GR0's runlist it can have nobody"
    *_, told = json.loads((folder / "recording.json").read_text(encoding="utf-8"))["three"]
    result = ctl(f"recording show {folder / 'recording.ndjson'} -j")
    assert (result.status, result.err) == (0, "")
    gr0, = [engine for engine in result.data["engines"] if engine["engine"] == "GR0"]
    assert gr0["held_percent"] + gr0["switching_percent"] + gr0["nobody_percent"] < 100.01, "it begins when it begins"
    shares = {row["timeslice_us"][0]: row["share_percent"] for row in gr0["holders"] if row["process"] == "load"}
    assert set(shares) == {1024, 2048, 4096}
    for timeslice, counted, raw in zip(sorted(shares), told["counted_percent"], told["with_saving_percent"]):
        share = 100 * shares[timeslice] / sum(shares.values())
        assert share == pytest.approx(counted, abs=1), timeslice
        assert timeslice == 2048 or abs(share - counted) < abs(raw - counted)
    assert 95 < gr0["saving_median_us"] < 115 and 80 < gr0["switch_median_us"] < 90
    assert gr0["held_percent"] + gr0["switching_percent"] == pytest.approx(100, abs=0.5)
    assert gr0["lost_switches"] == 0


def test_a_terminal_of_80_columns_shows_timeslices():
    shown = terminals.printed([tool(), "recording", "show", RECORDING], 80, NO_COLOR="1")
    heads = [line for line in shown.splitlines() if line.startswith("NAME ")]
    assert heads and all("TIMESLICE" in line and "SHARE" in line for line in heads), shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_a_page_has_both_schemes_of_colours(recorded, tmp_path):
    """Each colour of a rule comes from one of the two schemes. The empty box for the mouse's turn has a hint."""
    made = tmp_path / "run.html"
    assert ctl(f"recording show {recorded[0]} -o {made}").status == 0
    style = re.search(r"<style>(.*?)</style>", made.read_text(encoding="utf-8"), re.DOTALL)[1]
    light = dict(re.findall(r"--(\w+): (#\w+)", style.partition("@media")[0]))
    dark = dict(re.findall(r"--(\w+): (#\w+)", style.partition("prefers-color-scheme: dark")[2]))
    assert set(light) == set(dark) == set(re.findall(r"var\(--(\w+)\)", style)) and light["paper"] != dark["paper"]
    assert re.search(r"#tip:empty::before \{ content: \"\w+", style)


@pytest.mark.parametrize("ending", FORMS)
def test_forms(recorded, tmp_path, ending):
    path, _ = recorded
    made = tmp_path / f"again.{ending}"
    result = ctl(f"recording show {path} -o {made}")
    count = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["summary"]["turns"]
    assert (result.status, result.err) == (0, "") and f"{made}: {count} turns in " in result.out
    assert {"pftrace": "ui.perfetto.dev", "html": "browser", "ndjson": "recording show"}.get(ending, "") in result.out
    assert made.stat().st_mode & 0o777 == 0o600
    said = subprocess.run([tool(), "recording", "show", path, "-o", "-", "--format", FORMS[ending]],
                          capture_output=True, check=True, timeout=PATIENCE_S)
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
        # Each packet of a trace has field 1, its length, and that many bytes.
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
    assert result.status == 0 and "its end was cut off" in result.err and result.data["turns"] > 0
    (tmp_path / "other").write_text("{}\n")
    result = ctl(f"recording show {tmp_path / 'other'}")
    assert result.status == 1 and "line 1 of" in result.err
    assert "cannot open" in ctl("recording show /nonexistent").err


@pytest.mark.parametrize("words, sentence", [
    ("--for x", "--for takes a time"), ("--for 0", "--for takes a time"), ("--for 1d", "--for takes a time"), ("--rate x", "samples a second"),
    ("--rate 100001", "samples a second"), ("-o x.bin", "does not follow from its name"),
    ("--format csv", "name its file with -o"), ("-o - --summary", "name a file"),
    ("-o - -j", "name a file"), ("-o x.csv --format xml", "xml")])
def test_usage(proc, words, sentence):
    result = ctl(f"record {words}", proc)
    assert result.status == 1 and sentence in result.err
    assert "turn" not in result.out


def test_sources_with_nothing_to_record_are_refused(proc, tmp_path):
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
    assert result.status == 1 and "cannot open /nonexistent/run.csv" in result.err


def test_full_disk(proc, tmp_path):
    result = ctl(f"record --for 5 --format ndjson --summary -o {devices.full(tmp_path)}", proc)
    assert result.status == 5 and "No space left on device" in result.err
    assert "recorded" in result.out, "the summary is there all the same"

    # The file reaches its limit in the middle of a line.
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
    path = tmp_path / "run.ndjson"
    with changing(proc):
        done = subprocess.run([tool(), "--from", proc, "record", "--for", "20", "--rate", "1000", "-o", path],
                              preexec_fn=limit, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 5 and "the part written before can be read" in done.stderr
    assert path.read_bytes().endswith(b"\n") and all("kind" in one for one in lines(path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_its_summary(proc, tmp_path, number):
    path = tmp_path / "run.ndjson"
    with Started(proc, "record", "-o", path, "--summary", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 text=True) as recording:
        until(lambda: recording.poll() is not None or path.exists() and path.stat().st_size)
        recording.send_signal(number)
        out, err = recording.communicate(timeout=PATIENCE_S)
    assert (recording.returncode, err) == (0, "") and "recorded" in out
    assert lines(path)[-1]["kind"] == "summary"


def test_a_reader_that_leaves_ends_it_quietly(proc):
    with changing(proc), Started(proc, "record", "-o", "-", "--rate", "500", stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) as recording:
        assert json.loads(recording.stdout.readline())["kind"] == "recording"
        recording.stdout.close()
        assert recording.stderr.read() == b""
        assert recording.wait(PATIENCE_S) == 5


def test_samples_that_fail_are_counted(proc):
    path, opens = proc / "gpu0/engines", Opens(proc / "gpu0")

    def is_looked_at(times):
        opens.take()
        while times > 0:
            times -= until(lambda: opens.take()["engines"])
        return True

    def spoil():
        """A folder replaces the file: it can be opened, but not read."""
        is_looked_at(5)
        path.rename(proc / "gone")
        path.mkdir()
        is_looked_at(20)
        path.rmdir()
        (proc / "gone").rename(path)
        return is_looked_at(5)
    result = record_until(spoil, proc, "--rate", 50, "-j")
    opens.close()
    gr0, = [engine for engine in result.data["engines"] if engine["engine"] == "GR0"]
    assert gr0["missed_samples"] >= 5 and gr0["unknown_percent"] > 0


# --- streams and files ---

RECORDING = ROOT / "tests/hardware/h100-580.159.04/recording.ndjson"


def run(words, **options):
    return subprocess.run([tool(), *map(str, words)], capture_output=True, timeout=PATIENCE_S, check=False,
                          **({"stdin": subprocess.DEVNULL} | options))


def limited(size):
    """Returns a function that limits the size of files, with the default action of SIGXFSZ as in a shell."""
    def set_limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return set_limit


def test_earlier_standard_output_stays(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"somebody's line\n" * 1000)
    before = log.read_bytes()
    with log.open("ab") as out:
        done = subprocess.run([tool(), "recording", "show", RECORDING, "-o", "-"], stdout=out, stderr=subprocess.PIPE,
                              preexec_fn=limited(len(before) + 5000), timeout=PATIENCE_S, check=False)
    assert done.returncode == 5 and b"File too large" in done.stderr
    assert log.read_bytes().startswith(before)


@pytest.mark.parametrize("verb", ("capture", "show", "record"))
def test_a_limit_of_files_is_a_sentence_and_leaves_no_rest(proc, tmp_path, verb):
    folder = tmp_path / "out"
    folder.mkdir()
    words = {"capture": ["--from", proc, "capture", folder / "x.capture"],
             "show": ["recording", "show", RECORDING, "-o", folder / "x.ndjson"],
             "record": ["--from", proc, "record", "--rate", "1000", "--for", "20", "-o", folder / "x.ndjson"]}[verb]
    with changing(proc) if verb == "record" else contextlib.nullcontext():
        done = run(words, preexec_fn=limited(2048))
    assert (done.returncode, done.stdout) == (5, b"")
    assert b"File too large" in done.stderr
    # A recording cannot be repeated, so the part that was written is kept.
    assert [path.name for path in folder.iterdir()] == (["x.ndjson"] if verb == "record" else [])


@pytest.mark.parametrize("verb", ("capture", "show"))
def test_a_file_that_cannot_be_written_anew_stays(proc, tmp_path, verb):
    old = tmp_path / "old.ndjson"
    old.write_text("as it was")
    old.chmod(0o644)
    words = {"capture": ["--from", proc, "capture", old], "show": ["recording", "show", RECORDING, "-o", old]}[verb]
    assert run(words, preexec_fn=limited(2048)).returncode == 5
    assert old.read_text() == "as it was" and os.listdir(tmp_path).count("old.ndjson") == 1
    assert run(words).returncode == 0
    assert old.stat().st_mode & 0o777 == 0o600, "it names processes"


def test_a_recording_can_replace_itself(tmp_path):
    path = tmp_path / "run.ndjson"
    path.write_bytes(RECORDING.read_bytes())
    result = ctl(f"recording show {path} -o {path}")
    assert result.status == 0
    assert ctl(f"recording show {path} -j").data["turns"] == ctl(f"recording show {RECORDING} -j").data["turns"]


@pytest.mark.parametrize("words", ("--version", "help", "recording show {recording}", "--from {proc} gpu list",
                                   "--from {proc} -j gpu list", "--from {proc} capture -", "completion bash",
                                   "recording show {recording} -o -", "--from {proc} runlist tree --svg",
                                   "--from {proc} watch -n 1", "--from {proc} top -n 1 -s 100",
                                   "--from {proc} record --for 100ms -o -"))
@pytest.mark.parametrize("closed", ((1,), (0, 1), (1, 2), (0, 1, 2)))
def test_output_that_cannot_be_written_is_a_failure(proc, words, closed):
    line = words.format(proc=proc, recording=RECORDING).split()
    redirect = " ".join(f"{number}>&-" for number in closed)
    done = subprocess.run(["sh", "-c", f'"$0" "$@" {redirect}', tool(), *line], stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE_S, check=False)
    assert done.returncode == 5
    assert 2 in closed or b"Bad file descriptor" in done.stderr


def test_pipes_are_read_and_written(proc, tmp_path):
    def shell(line):
        done = subprocess.run(["bash", "-c", line], env={**os.environ, "N": str(tool()), "P": str(proc),
                                                         "R": str(RECORDING), "T": str(tmp_path)},
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        assert (done.returncode, done.stderr) == (0, ""), line
        return done.stdout
    shell('"$N" --from "$P" capture "$T/x.capture"')
    listed = shell('"$N" --from "$T/x.capture" gpu list')
    assert shell('"$N" --from <(cat "$T/x.capture") gpu list') == listed
    assert shell('"$N" --from <(zcat "$T/x.capture") gpu list') == listed
    assert shell('mkfifo "$T/p"; cat "$T/x.capture" > "$T/p" & "$N" --from "$T/p" gpu list; wait') == listed
    assert shell('"$N" --from "$P" capture /dev/stdout | "$N" --from - gpu list') == listed
    assert shell('"$N" --from "$P" capture /dev/stdout > "$T/y"; "$N" --from "$T/y" gpu list') == listed
    shell('"$N" --from "$P" capture >(cat > "$T/z"); wait $!; "$N" --from "$T/z" gpu list')
    shown = shell('"$N" recording show "$R"')
    assert shell('gzip -c "$R" | "$N" recording show -') == shown
    assert shell('"$N" recording show <(gzip -c "$R")') == shown
    assert shell('"$N" recording show "$R" -o /dev/stdout --format ndjson | "$N" recording show -') == shown
    # The recording is appended to the log, and no other file replaces the log.
    assert shell('echo before > "$T/log"; "$N" recording show "$R" -o /dev/stdout >> "$T/log"; head -1 "$T/log"'
                 ) == "before\n"


# --- the lines of a recording ---

def recorded_lines(version=2):
    text = RECORDING.read_bytes() if version == 1 else run(["recording", "show", RECORDING, "-o", "-"]).stdout
    return text.splitlines(keepends=True)


def changed(kind, **keys):
    """Returns a function that changes the first line of that kind: other values, and None to remove the key."""
    def change(told):
        at = next(n for n, line in enumerate(told) if json.loads(line)["kind"] == kind)
        line = json.loads(told[at])
        for key, value in keys.items():
            if value is None:
                del line[key]
            else:
                line[key] = value
        told[at] = json.dumps(line).encode() + b"\n"
        return at + 1
    return change


def second(told):
    told += told[:]
    return len(told) // 2 + 1


def goes_on(told):
    told.append(told[5])
    return len(told)


def in_the_middle(told):
    told.insert(20, told[-1])
    return 22


def other_boot(told):
    clock = json.loads(next(line for line in told if b'"kind":"clock"' in line))
    for key in ("monotonic_ns", "boottime_ns"):
        clock[key] -= 5_000_000_000 if clock[key] > 5_000_000_000 else 1
    told.insert(20, json.dumps(clock).encode() + b"\n")
    return 21


def other_origin(told):
    origin = {"kind": "origin", "gpu": 0, "gpu_ns": "7", "monotonic_ns": None, "realtime_ns": None, "boottime_ns": None}
    told[20:20] = [json.dumps(origin | {"gpu_ns": ns}).encode() + b"\n" for ns in ("7", "8")]
    return 21 if any(b'"kind":"origin"' in line for line in told[:20]) else 22


def other_gpu(told):
    told.insert(20, told[19].replace(b'"gpu":0', b'"gpu":3'))
    return 21


def ends_twice(told):
    told.insert(-1, next(line for line in told if b'"kind":"engine"' in line))
    return len(told) - 1


def garbled(told):
    told[30] = told[30][:40] + b"\0\xff{{" + told[30][60:]
    return 31


STRUCTURE = {"a second head": second, "behind the summary": goes_on, "summary in the middle": in_the_middle,
             "a clock of another boot": other_boot, "another origin": other_origin,
             "a GPU that the head lacks": other_gpu, "an end twice": ends_twice,
             "no JSON": garbled, "no number": changed("turn", end_ns="x"), "a key is missing": changed("turn", pid=None),
             "a number that is too high": changed("turn", pid=1 << 40), "a negative number": changed("turn", pid=-5),
             "an end before its beginning": changed("turn", begin_ns=1 << 62), "no list": changed("process", tsgs=7),
             "no head": lambda told: told.pop(0) and 1, "a later version": changed("recording", version="3.0"),
             "a line of another kind of value": lambda told: told.__setitem__(9, b"[1]\n") or 10,
             "no line": lambda told: told.__setitem__(slice(None), [b"hello"]) or 1,
             "random bytes": lambda told: told.__setitem__(slice(None), [bytes(range(11, 256)) * 9]) or 1,
             "a first line that was cut": lambda told: told.__setitem__(slice(None), [told[0][:100]]) or 1,
             "a first line without its end": lambda told: told.__setitem__(slice(None), [told[0][:-1]]) or 1,
             "only behind blank lines": lambda told: told.__setitem__(slice(None), [b"\n \n", told[0][:100]]) or 3}


@pytest.mark.parametrize("packed", (False, True))
@pytest.mark.parametrize("version", (1, 2))
@pytest.mark.parametrize("what", STRUCTURE)
def test_wrong_lines_of_a_recording_are_named(tmp_path, what, version, packed):
    told = recorded_lines(version)
    line = STRUCTURE[what](told)
    path = tmp_path / "run.ndjson"
    path.write_bytes(gzip.compress(b"".join(told), 1) if packed else b"".join(told))
    for more in ("", f"-o {tmp_path / 'made.csv'}"):
        result = ctl(f"recording show {path} {more}")
        assert (result.status, result.out) == (1, ""), result.err
        assert f"line {line} of {path}" in result.err
        assert "exception" not in result.err and "parse" not in result.err and len(result.err.splitlines()) == 1
    assert not (tmp_path / "made.csv").exists()


@pytest.mark.parametrize("content", (b"", b"\n", b" \n\r\n", b"\t"))
def test_an_empty_file_is_no_recording(tmp_path, content):
    path = tmp_path / "run.ndjson"
    path.write_bytes(content)
    result = ctl(f"recording show {path} -o {tmp_path / 'made.pftrace'}")
    assert (result.status, result.out) == (1, "") and f"{path} is empty" in result.err
    assert not (tmp_path / "made.pftrace").exists()


@pytest.mark.parametrize("blank", (b"\n", b"\r\n", b" \t\n", b"\n\n", b" "))
@pytest.mark.parametrize("at", (0, 5, None))
def test_blank_lines_are_skipped(tmp_path, at, blank):
    told = recorded_lines(1)
    told.insert(len(told) if at is None else at, blank)
    path = tmp_path / "run.ndjson"
    path.write_bytes(b"".join(told))
    result = ctl(f"recording show {path}")
    assert (result.status, result.err) == (0, "") and result.out == ctl(f"recording show {RECORDING}").out


def test_packed_recordings(tmp_path):
    packed = gzip.compress(RECORDING.read_bytes())
    path = tmp_path / "run.ndjson.gz"
    path.write_bytes(packed)
    assert ctl(f"recording show {path}").out == ctl(f"recording show {RECORDING}").out
    path.write_bytes(packed[:len(packed) // 2])
    result = ctl(f"recording show {path}")
    assert result.status == 0 and "its end was cut off" in result.err
    path.write_bytes(packed[:2000] + bytes(200) + packed[2200:])
    result = ctl(f"recording show {path}")
    assert result.status == 1 and str(path) in result.err and "line" in result.err


PACKED = {"zstd": b"\x28\xb5\x2f\xfd", "xz": b"\xfd7zXZ\0", "bzip2": b"BZh9", "zip": b"PK\3\4", "lz4": b"\x04\x22\x4d\x18",
          "lzma": b"]\0\0\x80\0", "lzip": b"LZIP\1", "lzop": b"\x89LZO\0", "compress": b"\x1f\x9d\x90",
          "7z": b"7z\xbc\xaf\x27\x1c", "rar": b"Rar!\x1a\7", "tar": b"run.json" + bytes(249) + b"ustar\0",
          "gzip": gzip.compress(gzip.compress(b"{}"))}


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("words", ("recording show {}", "--from {} gpu list"))
def test_files_packed_by_other_programs_are_refused(tmp_path, words, name):
    path = tmp_path / "a file"
    path.write_bytes(PACKED[name] + (b"" if name == "gzip" else bytes(100)))
    result = ctl([word.format(path) for word in words.split()])
    assert (result.status, result.out) == (1, "")
    assert result.err == f"nvdebugctl: {path} is packed by {name}: unpack it, and give '-' to read it from a pipe\n"


def test_an_old_recording_says_the_same_in_the_new_form():
    old, new = recorded_lines(1), recorded_lines(2)
    origin, = [json.loads(line) for line in new if b'"kind":"origin"' in line]
    first = json.loads(next(line for line in old if b'"kind":"clock"' in line))
    assert {key: int(origin[key]) for key in ("gpu_ns", "monotonic_ns", "realtime_ns", "boottime_ns")} == {
        key: first[key] for key in ("gpu_ns", "monotonic_ns", "realtime_ns", "boottime_ns")}
    turns = [[json.loads(line) for line in told if b'"kind":"turn"' in line] for told in (old, new)]
    turns[0] = [turn for turn in turns[0] if turn["engine"] != "GR1"]
    # Turns from before the begin of the recording are cut off.
    turns[0] = [turn for turn in turns[0] if turn["end_ns"] > int(origin["gpu_ns"])]
    assert turns[0][0]["begin_ns"] < int(origin["gpu_ns"])
    turns[0][0] |= {"begin_ns": int(origin["gpu_ns"]), "whole": False, "gap_ns": None}
    for turn in turns[1]:
        for key in ("begin_ns", "end_ns"):
            assert abs(turn[key]) < 1 << 53
            turn[key] += int(origin["gpu_ns"])
    assert turns[0] == turns[1]


# --- engines and their lists ---

def test_an_engine_without_list_has_nobody(proc):
    """The status words of a runlist's block are random if the runlist never had a list."""
    path = proc / "gpu0/engines"
    rows = [line.split() for line in path.read_text().splitlines()]
    empty, = [row for row in rows if row[0] == "GR1"]
    runlist, = [row for row in ctl("runlist list -j", proc).data if row["runlist"] == int(empty[1])]
    assert runlist["entries"] == 0
    empty[2:7] = ["valid", "tsg:9", "-", "1", "0"]
    path.write_text("\n".join(" ".join(row) for row in rows) + "\n")
    data = ctl("record --for 300ms --rate 50 -j", proc).data
    assert [row for engine in data["engines"] if engine["engine"] == "GR1" for row in engine["holders"]] == []
    data = json.loads(ctl("top -n 1 -s 300 -j", proc).out)["data"]
    assert [row for engine in data["engines"] if engine["engine"] == "GR1" for row in engine["holders"]] == []
    engines = json.loads(ctl("watch -j", proc).out)["data"]["engines"]
    seen, = [engine for engine in engines if engine["engine"] == "GR1"]
    assert (seen["status"], seen["current"], seen["busy"]) == ("invalid", None, False)
    listed, = [engine for engine in ctl("engine list -j", proc).data if engine["engine"] == "GR1"]
    assert listed["current"] is None


@pytest.mark.parametrize("length", ("0.18", "180ms", "0.003m", "0.003min", "0.00005h"))
def test_a_length_has_the_unit_that_it_names(proc, length):
    result = ctl(f"record --for {length} -j", proc)
    assert result.status == 0 and 0.17 < result.data["seconds"]


def test_progress_and_what_was_written(proc, tmp_path):
    """On a terminal, `record` shows how long it has recorded, and at its end what it wrote."""
    path = tmp_path / "run.pftrace"
    typist = Typist([tool(), "--from", proc, "record", "-o", path], 24, 200)
    typist.wait_for(b"recording: 0 s, ")
    typist.wait_for(b"\rrecording: ")  # a second later, or more
    typist.interrupt()
    typist.wait_for(f"{path}: ".encode())
    typist.wait_for(b"ui.perfetto.dev")
    assert typist.end()[0] == 0
    typist.close()
