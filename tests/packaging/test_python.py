# SPDX-License-Identifier: MIT OR GPL-2.0
"""The Python module of the wheel reads recordings and captures: the same as nvdebugctl finds in them, or an error with a
sentence. Its examples in docs/python.md print what the page shows."""

import csv
import doctest
import gzip
import importlib
import io
import json
import lzma
import subprocess
import sys
import types

import pytest
from building import ROOT
from ctl import ctl, tool, write_tree
from waiting import PATIENCE_S

sys.path.insert(0, str(ROOT / "packaging/wheel"))
nvdebugctl = importlib.import_module("nvdebugctl")

HOPPER = ROOT / "tests/hardware/h100-580.159.04/recording.ndjson"
TWO_GPUS = ROOT / "docs/examples/two-gpus.ndjson"
OWNERS = ROOT / "tests/hardware/h100-580.159.04/capture-owners"
PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


def made(recording, path):
    """Lets nvdebugctl write the recording in the form of the path's ending."""
    assert ctl(["recording", "show", str(recording), "-o", str(path)]).status == 0
    return path


@pytest.fixture(scope="module", params=("pftrace", "ndjson"))
def form(request):
    return request.param


def test_the_page_shows_what_its_examples_print(monkeypatch):
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
    assert result.failed == 0 and result.attempted > 10


@pytest.mark.parametrize("source", (HOPPER, TWO_GPUS), ids=("h100", "two-gpus"))
@pytest.mark.parametrize("packed", PACK)
def test_turns_are_those_of_the_tool(tmp_path, form, source, packed):
    """Compares with the rows of the tool's CSV: the same turns, with the same lengths by each GPU's clock."""
    path = made(source, tmp_path / f"run.{form}")
    path.write_bytes(PACK[packed](path.read_bytes()))
    run = nvdebugctl.read_recording(path)
    rows = list(csv.DictReader(io.StringIO(made(source, tmp_path / "run.csv").read_text(encoding="utf-8"))))
    origins = {row["gpu"]: int(row["begin_ns"]) for row in rows if row["kind"] == "origin"}
    turns = [row for row in rows if row["kind"] == "turn"]
    assert run.complete and len(run.turns) == len(turns) > 40

    def facts(gpu, engine, whole, *ids):
        return (int(gpu), engine, whole in (True, "true"), *(-1 if one in ("", None) else int(one) for one in ids))
    expected = sorted(facts(row["gpu"], row["engine"], row["whole"], row["pid"], row["context"] if not row["tsg"] or form == "ndjson" else "",
                            row["tsg"]) for row in turns)
    assert sorted(facts(turn.gpu, turn.engine, turn.whole, turn.pid, turn.context, turn.tsg) for turn in run.turns) == expected
    if form == "ndjson":
        assert [(turn.gpu_begin_ns - origins[str(turn.gpu)], turn.gpu_end_ns - origins[str(turn.gpu)]) for turn in run.turns] == [
            (int(row["begin_ns"]), int(row["end_ns"])) for row in turns]
    assert {turn.process for turn in run.turns} == {row["process"] or None for row in turns}


def test_both_forms_have_the_same_times_and_the_same_error(tmp_path):
    """The trace is converted by the program and NDJSON by the module, by the same readings."""
    lines, trace = (nvdebugctl.read_recording(made(TWO_GPUS, tmp_path / f"run.{ending}")) for ending in ("ndjson", "pftrace"))
    assert [gpu.error_ns for gpu in lines.gpus] == [gpu.error_ns for gpu in trace.gpus] and lines.gpus[0].error_ns < 10_000

    def times(run):
        return sorted((turn.gpu, turn.begin_ns, turn.end_ns) for turn in run.turns)
    for one, other in zip(times(lines), times(trace)):
        assert one[0] == other[0] and max(abs(one[1] - other[1]), abs(one[2] - other[2])) <= 1, "both round to whole ns"


@pytest.mark.parametrize("pids", ((10, 11), (20, 21), (10,), (99,)))
def test_together_is_that_of_the_tool(tmp_path, form, pids):
    run = nvdebugctl.read_recording(made(TWO_GPUS, tmp_path / f"run.{form}"))
    jobs = ctl(["recording", "show", str(TWO_GPUS), "-j"]).data["jobs"]
    told = {tuple(process["pid"] for process in job["processes"]): job["together_percent"] for job in jobs}
    alone = {(10,): 100.0, (99,): None}
    expected = told.get(pids, alone.get(pids))
    assert run.together(pids) == (None if expected is None else pytest.approx(expected / 100, abs=1e-4))


def test_waits_are_the_gaps_between_turns_and_leave_out_losses(tmp_path):
    run = nvdebugctl.read_recording(HOPPER)
    before = run.waits(1211)
    told, = [engine for engine in ctl(["recording", "show", str(HOPPER), "-j"]).data["engines"] if engine["engine"] == "GR0"]
    row, = [row for row in told["holders"] if row["pid"] == 1211]
    assert max(before) / 1e3 == pytest.approx(row["away_max_us"], abs=1)
    text = HOPPER.read_text(encoding="utf-8").splitlines()
    ends = [json.loads(line)["end_ns"] for line in text if '"kind":"turn"' in line and '"pid":1211' in line]
    text.insert(-1, json.dumps({"kind": "lost", "gpu": 0, "engine": "GR0", "after_ns": ends[50] + 1, "switches": 3}))
    path = tmp_path / "lost.ndjson"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    assert len(nvdebugctl.read_recording(path).waits(1211)) == len(before) - 1


@pytest.mark.parametrize("packed", PACK)
def test_a_recording_that_was_cut_is_read_up_to_there(tmp_path, form, packed):
    whole = made(HOPPER, tmp_path / f"run.{form}").read_bytes()
    path = tmp_path / "cut"
    for part in (0.5, 0.9):
        data = PACK[packed](whole)
        path.write_bytes(data[:int(len(data) * part)])
        try:
            run = nvdebugctl.read_recording(path)
        except nvdebugctl.RecordingError as error:
            # xz compresses in blocks, and a small file is one block.
            assert packed == ".xz" and ("cut off" in str(error) or "is empty" in str(error)), error
            continue
        # The last tenth of the lines is the summary.
        assert not run.complete and len(run.turns) < (399 if part == 0.5 else 400)
        assert run.turns or packed == ".xz"


@pytest.mark.parametrize("data, sentence", [
    (b"", "is empty"), (b"text\n", "it is no JSON"), (b"[1]\n", "it is no object"), (b"{}\n", "a key is missing"),
    (b'{"kind":"turn"}\n', "its first line is of another kind"),
    (b'{"kind":"recording","version":"2.3","tool":"","time":"","source":"","period_ns":0,'
     b'"gpus":[{"gpu":[],"chip":null,"pci_address":null}]}\n', "'gpu' is no number"),
    (b'{"kind":"recording","version":"3.0"}\n', "it is of version 3.0, and this module reads 1 and 2: use a newer one"),
    (b"\x1f\x8b\x08", "was cut off"), (b"\x1f\x8bx" + b"y" * 40, "is damaged"),
    (b"\x0a\xff\xff\xff\xff\xff\x01", "its length has more than five bytes"), (b"\x0a\x80\x80\x80\x01", "less than a MiB"),
    (b"\x0a\x02\x0a\x7f", "a field is longer than its message"), (b"\x0a\x01\x80", "a number is cut off"),
    (b"\x0a\x01\x03", "wire type 3"), (b"\x0a\x00\x12", "byte 2"), (b"\x0a\x00", "has no GPU")])
def test_files_that_are_no_recordings_are_refused_with_a_sentence(tmp_path, data, sentence):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(nvdebugctl.RecordingError) as error:
        nvdebugctl.read_recording(path)
    assert sentence in str(error.value) and str(path) in str(error.value)
    with pytest.raises(OSError):
        nvdebugctl.read_recording(tmp_path / "none")


@pytest.mark.parametrize("old, new, sentence", [
    ('"end_ns":', '"ended":', "a key is missing"), ('"begin_ns":', '"begin_ns":null,"x":', "'begin_ns' is no time"),
    ('"gpu":0,"engine"', '"gpu":7,"engine"', "no gpu7"), ('"gpu_ns":', '"gpu_ns":"x","y":', ""),
    ('"error_us":', '"error_us":9e999,"x":', "of another type"),
    ('"begin_ns":', '"begin_ns":9e99,"x":', "'begin_ns' is no time"), ('"whole":', '"end_ns":-5,"whole":', "ends before it begins")])
def test_damaged_lines_are_named(tmp_path, old, new, sentence):
    path = made(HOPPER, tmp_path / "run.ndjson")
    lines = path.read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines) if old in line and n > 0)
    lines[number] = lines[number].replace(old, new, 1)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(nvdebugctl.RecordingError) as error:
        nvdebugctl.read_recording(path)
    assert str(error.value).startswith(f"line {number + 1} of {path} is not one of a recording") and sentence in str(error.value)


def test_any_damaged_byte_gives_a_recording_or_a_sentence(tmp_path, form):
    """No other exception, whatever byte is wrong."""
    whole = made(TWO_GPUS, tmp_path / f"run.{form}").read_bytes()
    path, read = tmp_path / "damaged", 0
    for at in range(0, min(len(whole), 6_000), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1:])
        try:
            nvdebugctl.read_recording(path)
            read += 1
        except nvdebugctl.RecordingError as error:
            assert str(path) in str(error)
    assert read > 10


def test_gpus_have_their_products_where_the_recording_has(tmp_path):
    named = tmp_path / "named.ndjson"
    named.write_text(TWO_GPUS.read_text(encoding="utf-8").replace('"0000:02:00.0"', '"0000:02:00.0","product":"NVIDIA H200"', 1),
                     encoding="utf-8")
    for path in (named, made(named, tmp_path / "again.ndjson")):
        assert [gpu.product for gpu in nvdebugctl.read_recording(path).gpus] == [None, "NVIDIA H200"]


def test_a_trace_of_a_simulation_has_its_turns_by_its_own_clock(tmp_path):
    """nvqos simulate writes traces by the same writer, in which no clock was read."""
    whole = tmp_path / "run.ndjson"
    lines = TWO_GPUS.read_text(encoding="utf-8").splitlines()
    whole.write_text("\n".join(line for line in lines if '"kind":"clock"' not in line and '"kind":"summary"' not in line) + "\n",
                     encoding="utf-8")
    run = nvdebugctl.read_recording(made(whole, tmp_path / "run.pftrace"))
    assert {gpu.clock for gpu in run.gpus} == {"gpu"} and len(run.turns) == 48
    assert run.together((10, 11)) is None, "times of GPUs whose clocks were not read are not compared"


def test_names_of_processes_in_a_trace_are_their_commands(tmp_path):
    """The tracks of a trace have container, pod or job behind the command; a command may have ` in ` itself."""
    lines = [json.loads(line) for line in TWO_GPUS.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line.get("pid") == 10:
            line["process"] = "a in b"
        if line["kind"] == "process" and line["pid"] == 10:
            line["container"] = "3f2a1b2c4d5e" + "0" * 52
        if line["kind"] == "process" and line["pid"] == 20:
            line["cgroup"] = "/system.slice/slurmstepd.scope/job_17/step_0/user/task_0"
    whole = tmp_path / "run.ndjson"
    whole.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    trace = made(whole, tmp_path / "run.pftrace")
    assert b"a in b in 3f2a1b2c4d5e" in trace.read_bytes() and b"serve in job 17.0" in trace.read_bytes()
    run = nvdebugctl.read_recording(trace)
    assert {(row.pid, row.process) for row in run.processes} == {(10, "a in b"), (11, "train"), (20, "serve"), (21, "serve")}
    assert {turn.process for turn in run.turns} == {"a in b", "train", "serve"}


def test_rows_and_data_frames_have_the_fields_as_columns(monkeypatch):
    run = nvdebugctl.read_recording(HOPPER)
    assert run.rows("processes")[0]["tsgs"][0] == {"runlist": 0, "tsg": 7, "timeslice_ns": 1024000}
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        run.to_pandas()
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=lambda rows: ("frame", rows)))
    assert run.to_pandas() == ("frame", run.rows()) and run.to_pandas("marks") == ("frame", [])
    assert nvdebugctl.to_pandas([{"a": 1}]) == ("frame", [{"a": 1}])


def test_a_capture_has_the_files_and_the_owners(tmp_path, monkeypatch):
    capture = nvdebugctl.read_capture(OWNERS)
    told = ctl(["--from", str(OWNERS), "process", "list", "-j"]).data
    assert {row.pid for row in capture.owners()} == {row["pid"] for row in told}
    assert capture.files["gpu0/info"].startswith("+") or "chip" in capture.files["gpu0/info"].lower()
    monkeypatch.setattr(nvdebugctl, "program", tool)
    assert capture.data("tsg", "list", gpu=0) == ctl(["--from", str(OWNERS), "tsg", "list", "-j"]).data
    plain = tmp_path / "plain"
    plain.write_bytes(gzip.decompress(OWNERS.read_bytes()))
    assert nvdebugctl.read_capture(plain).files == capture.files
    escaped = json.loads(plain.read_text(encoding="utf-8"))
    escaped["files"]["gpu0/owners"] = "# pid command cgroup future\n7 a\\x20b\\xc3\\xa9 - 9\n"
    plain.write_text(json.dumps(escaped), encoding="utf-8")
    row, = nvdebugctl.read_capture(plain).owners("gpu0")
    assert (row.pid, row.command, row.cgroup) == (7, "a bé", None)
    assert not nvdebugctl.read_capture(plain).owners("gpu1")


@pytest.mark.parametrize("data, sentence", [
    (b"", "it is empty"), (b"{", "no JSON object, or was cut off"), (b"[]", "'format' is not"), (b"{}", "'format' is not"),
    (b'{"format":"nvdebug-capture","version":2}', "a capture of version 2, and this module reads 1: use a newer one"),
    (gzip.compress(b"{}" * 400, mtime=0)[:-20], "it is damaged, or was cut off")])
def test_files_that_are_no_captures_are_refused_with_a_sentence(tmp_path, data, sentence):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(nvdebugctl.CaptureError) as error:
        nvdebugctl.read_capture(path)
    assert sentence in str(error.value) and str(path) in str(error.value)


def test_the_picture_of_clocks_is_what_its_script_draws(tmp_path):
    for folder in ("examples", "pictures"):
        (tmp_path / folder).mkdir()
    subprocess.run([ROOT / "docs/pictures/make-clocks", tool(), tmp_path], check=True, timeout=PATIENCE_S)
    for name in ("examples/two-gpus.ndjson", "pictures/clocks.svg"):
        made_now, kept = ((folder / name).read_text(encoding="utf-8") for folder in (tmp_path, ROOT / "docs"))
        assert made_now == kept, f"'make pictures' makes {name}"


def test_lines_that_cannot_be_had_raise_an_error_with_its_document(monkeypatch):
    monkeypatch.setattr(nvdebugctl, "program", tool)
    with pytest.raises(nvdebugctl.Error) as error:
        next(nvdebugctl.lines("watch", source="/nonexistent"))
    found = error.value
    assert (found.status, found.code, found.errno) == (1, "not_found", "ENOENT")
    assert found.document["schema"] == "nvdebug/watch" and str(found) == found.document["error"]["message"]


def test_lines_from_which_something_is_missing_are_no_error(monkeypatch, tmp_path):
    """Each document has what is missing, as the one that document() returns."""
    monkeypatch.setattr(nvdebugctl, "program", tool)
    write_tree(tmp_path / "proc", ("h200", "mixed"), ("h200", "mixed"))
    (tmp_path / "proc/gpu1/engines").write_text("damaged\n", encoding="utf-8")
    (found,) = nvdebugctl.lines("top", "-n", "1", "-s", "100", source=tmp_path / "proc")
    assert found["schema"] == "nvdebug/top" and "gpu1/engines" in found["missing"][0]["message"]
