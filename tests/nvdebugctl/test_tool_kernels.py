# SPDX-License-Identifier: MIT OR GPL-2.0
"""Launches of programs in traces for Perfetto: --kernels of `record` and `recording show`, with files of any kind."""

import gzip
import json
import os

import pytest
from building import ROOT
from ctl import ctl
from launches import graph_launch, kernel, launch, write
from perfetto_trace import facts_of, trace
from trees import changing, record_until

PARTIAL, USAGE = 4, 1
# A recording of processes 10 and 20 on two GPUs, and its first moment by both clocks.
RECORDING = ROOT / "docs/examples/two-gpus.ndjson"
BOOTTIME, REALTIME = 100_000_001_761, 1_795_000_100_000_001_761
SECOND = 1_000_000_000


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "kernels"
    made.mkdir()
    return made


def shown(folder, *options):
    """Returns the trace with the launches of a folder, and the messages."""
    made = folder.parent / "made.pftrace"
    result = ctl(f"recording show {RECORDING} -o {made} --kernels {folder} {' '.join(options)}")
    assert result.status == 0, result.err
    return trace(made), result.err


def refused(folder, sentence):
    made = folder.parent / "made.pftrace"
    result = ctl(f"recording show {RECORDING} -o {made} --kernels {folder}")
    assert result.status == USAGE and sentence in result.err and not made.exists()
    assert len(result.err.splitlines()) == 1


def launches_in(found):
    """Returns the launches of a trace by the name of their track."""
    names, turns, _ = found
    return {names[track]: turns[track] for track in turns if names[track].startswith("launches of")}


def test_each_thread_has_a_track_with_its_launches(folder):
    write(folder / "a.launches", 10, BOOTTIME, REALTIME, kernel(1, "void add<float>(float*, int)"),
          launch(1, SECOND, thread=10), launch(1, SECOND + 9000, thread=11), kernel(2, "gemm"),
          launch(2, 2 * SECOND, took_ns=7, thread=10), graph_launch(500, SECOND + 20_000, thread=11),
          graph_launch(400, SECOND + 40_000, thread=11), graph_launch(500, SECOND + 60_000, thread=11))
    found, told = shown(folder)
    at = BOOTTIME + SECOND
    assert not told and launches_in(found) == {
        "launches of thread 10": [(at, at + 5000, "void add<float>(float*, int)", "launch"),
                                  (at + SECOND, at + SECOND + 7, "gemm", "launch")],
        "launches of thread 11": [(at + 9000, at + 14_000, "void add<float>(float*, int)", "launch"),
                                  (at + 20_000, at + 25_000, "CUDA graph 1", "launch"),
                                  (at + 40_000, at + 45_000, "CUDA graph 2", "launch"),
                                  (at + 60_000, at + 65_000, "CUDA graph 1", "launch")]}
    facts = facts_of(folder.parent / "made.pftrace")
    assert facts["gemm"] == {"grid": "8 x 4 x 2", "block": "256 x 1 x 1", "stream": "0x0", "context": "0x1000"}
    assert facts["CUDA graph 1"] == {"stream": "0x7", "context": "0x1000"}


def test_the_rest_of_the_trace_stays(folder):
    without = folder.parent / "without.pftrace"
    assert ctl(f"recording show {RECORDING} -o {without}").status == 0
    write(folder / "a.launches", 10, BOOTTIME, REALTIME, kernel(1, "add"), launch(1, SECOND))
    names, turns, marks = shown(folder)[0]
    before = trace(without)
    assert {names[track]: turns[track] for track in turns} == {
        **{before[0][track]: before[1][track] for track in before[1]},
        "launches of thread 1": [(BOOTTIME + SECOND, BOOTTIME + SECOND + 5000, "add", "launch")]}
    assert marks == before[2]


def test_a_process_that_the_recording_lacks_has_its_own_tracks(folder):
    write(folder / "a.launches", 4711, BOOTTIME, REALTIME, kernel(1, "add"), launch(1, SECOND), head={"process": "train\u001b"})
    (names, _, _), _ = shown(folder)
    assert "train\ufffd" in names.values()


def test_only_launches_in_the_time_of_the_recording_are_shown(folder):
    """The file began a minute and a half before the recording."""
    before = 90 * SECOND
    write(folder / "a.launches", 10, BOOTTIME - before, REALTIME - before, kernel(1, "add"),
          *(launch(1, before + n * SECOND) for n in (-1, 1, 2, 600)))
    found, told = shown(folder)
    assert [one[0] for one in launches_in(found)["launches of thread 1"]] == [BOOTTIME + SECOND, BOOTTIME + 2 * SECOND]
    assert not told


def test_nothing_in_the_time_is_said(folder):
    write(folder / "a.launches", 10, BOOTTIME, REALTIME, kernel(1, "add"), launch(1, 60 * SECOND))
    found, told = shown(folder)
    assert not launches_in(found) and "no launch in" in told


def test_files_of_another_start_of_the_machine_are_left_out(folder):
    write(folder / "a.launches", 10, BOOTTIME, REALTIME - 100 * SECOND, kernel(1, "add"), launch(1, SECOND))
    write(folder / "b.launches", 10, BOOTTIME, REALTIME + 5 * SECOND, kernel(1, "gemm"), launch(1, SECOND))
    found, told = shown(folder)
    assert [one[2] for one in launches_in(found)["launches of thread 1"]] == ["gemm"], "the clock was set by 5 s"
    assert "1 file in" in told and "another start of the machine" in told


def test_lost_launches_are_said(folder):
    write(folder / "a.launches", 10, BOOTTIME, REALTIME, kernel(1, "add"), launch(1, SECOND), {"kind": "lost", "launches": 30},
          {"kind": "lost", "launches": 12})
    assert "42 lost launches in" in shown(folder)[1]


def test_kinds_and_keys_of_later_versions_are_passed_over(folder):
    write(folder / "a.launches", 10, BOOTTIME, REALTIME, {"kind": "memory", "bytes": 1}, kernel(1, "add"),
          launch(1, SECOND, registers=40), head={"version": "1.7"})
    assert len(launches_in(shown(folder)[0])["launches of thread 1"]) == 1


def test_a_file_that_was_cut_off_or_packed(folder):
    """The writer was killed inside a line. Other files of the folder are none of launches."""
    write(folder / "a.launches", 10, BOOTTIME, REALTIME, kernel(1, "add"), launch(1, SECOND), launch(1, SECOND + 9000))
    text = (folder / "a.launches").read_bytes()
    (folder / "a.launches").write_bytes(text[:-20])
    (folder / "b.launches").write_bytes(gzip.compress(text))
    (folder / "notes.txt").write_text("mine")
    assert len(launches_in(shown(folder)[0])["launches of thread 1"]) == 3


@pytest.mark.parametrize("lines, sentence", (
    (["not json"], "line 2 of"),
    ([launch(1, SECOND) | {"grid": [1, 2]}], "'grid' is no list of three sizes"),
    ([launch(1, SECOND) | {"grid": [1, 2, -3]}], "'grid' is no list of three sizes"),
    ([launch(1, -5)], "'ns' is no number"),
    ([launch(1, 1) | {"thread": 1 << 40}], "'thread' is no number"),
    ([{"kind": "launch"}], "is missing"),
    ([{"kind": "launches", "version": "1.0"}], "another process begins there"),
    ([kernel(1, "x" * 20_000)], "more than 16384 characters"),
    ([kernel(n, "x") for n in range(33_000)], "more than 32768 kernels"),
    ([graph_launch(n, 1) for n in range(33_000)], "more than 32768 CUDA graphs"),
    ([launch(1, 1, thread=n) for n in range(17_000)], "more than 16384 threads"),
    ([[1, 2]], "no JSON object")))
def test_a_wrong_line_is_an_error_with_its_number(folder, lines, sentence):
    write(folder / "a.launches", 10, BOOTTIME, REALTIME)
    with open(folder / "a.launches", "a", encoding="ascii") as file:
        file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    refused(folder, sentence)


@pytest.mark.parametrize("head, sentence", (({"version": "2.0"}, "version 2.0"), ({"kind": "kernel"}, "its first line"),
                                            ({"pid": "10"}, "'pid' is no number"), ({"boottime_ns": "1e9"}, "number as text")))
def test_a_wrong_first_line_is_an_error(folder, head, sentence):
    write(folder / "a.launches", 10, BOOTTIME, REALTIME, head=head)
    refused(folder, sentence)


def test_files_of_others_are_not_followed(folder):
    """A link might lead to a secret of root's, and a pipe would never end."""
    (folder / "a.launches").symlink_to("/etc/passwd")
    refused(folder, "cannot open")
    (folder / "a.launches").unlink()
    os.mkfifo(folder / "a.launches")
    refused(folder, "is no regular file")


def test_a_folder_of_too_many_files(folder):
    for n in range(4097):
        (folder / f"{n}.launches").touch()
    refused(folder, "more than 4096 files")


@pytest.mark.parametrize("options, sentence", (
    ("-o {made}.ndjson --kernels {folder}", "name one with -o FILE.pftrace"),
    ("--kernels {folder}", "name one with -o FILE.pftrace"),
    ("-o {made}.pftrace --kernels {folder}/none", "No such file or directory; 'nvtaskset --kernels"),
    ("-o {made}.pftrace --kernels {recording}", "Not a directory")))
def test_what_was_typed_is_checked_first(proc, folder, options, sentence):
    words = options.format(made=folder.parent / "made", folder=folder, recording=RECORDING)
    for verb, tree in (("record --for 10m", proc), (f"recording show {RECORDING}", None)):
        result = ctl(f"{verb} {words}", from_=tree)
        assert result.status == USAGE and sentence in result.err, result.err
    assert not list(folder.parent.glob("made*"))


def test_record_keeps_a_recording_that_launches_cannot_join(proc, folder):
    """A folder with the files of a GPU has no clock that the machine shares with it."""
    made = folder.parent / "made.pftrace"
    write(folder / "a.launches", 10, BOOTTIME, REALTIME, kernel(1, "add"), launch(1, SECOND))
    with changing(proc) as turns:
        result = record_until(lambda: turns.count >= 4, proc, "--rate", 500, "-o", made, "--kernels", folder)
    assert result.status == PARTIAL and "without readings of the machine's clock" in result.err
    names, found, _ = trace(made)
    assert not launches_in((names, found, None)) and any("TSG" in name for name in names.values())
