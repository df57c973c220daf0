# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos simulate -o: the turns of a simulation as a trace for Perfetto. Takes no GPU, no driver and no rights."""

import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess

import pytest
from building import ROOT, built
from perfetto_trace import trace
from waiting import PATIENCE_S

DECODE = ROOT / "docs/examples/simulate/decode.json"


def run(*words):
    return subprocess.run([built("bin/nvqos"), "simulate", *map(str, words)], cwd=ROOT, capture_output=True, check=False,
                          text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S)


def turns_of_engine(path):
    names, turns, _ = trace(path)
    engine, = [track for track, name in names.items() if name == "GR0"]
    return turns[engine]


def test_the_trace_has_the_turns_of_the_table(tmp_path):
    path = tmp_path / "run.pftrace"
    done = run("-j", "--none", "-o", path, DECODE)
    assert done.returncode == 0 and not done.stderr
    names, _, marks = trace(path)
    assert "gpu0 simulated decode beside training" in names.values() and not marks
    assert {"decode", "train"} <= set(names.values())
    turns = turns_of_engine(path)
    for (_, end, name, _), (begin, _, after, _) in zip(turns, turns[1:]):
        assert begin >= end + 80_000 and name != after, "a switch takes 80 us"
    for job in json.loads(done.stdout)["jobs"]:
        ended = [one for one in turns if one[2].startswith(job["name"] + "[") and one[1] >= 3_000_000_000
                 and one[3] == "turn"]
        assert len(ended) == job["gpus"][0]["turns"]
    assert turns[-1][1] == 10_000_000_000 and turns[-1][3] == "turn,cut", "the run ended before its last turn"


def test_goals_are_marks_and_leave_turns_whole(tmp_path):
    path = tmp_path / "run.pftrace"
    assert run("-o", path, DECODE).returncode in (0, 4)
    _, _, marks = trace(path)
    assert any(text.startswith("decode: timeslice ") for _, text in marks)
    turns = turns_of_engine(path)
    for (_, end, name, _), (begin, _, after, _) in zip(turns, turns[1:]):
        assert begin > end or name != after, "nvqos reads parts of turns, and the trace has the whole"


def test_ranks_have_tracks_below_their_job(tmp_path):
    path = tmp_path / "run.pftrace"
    assert run("-o", path, ROOT / "docs/examples/simulate/two-gangs.json").returncode in (0, 4)
    names, turns, _ = trace(path)
    assert {f"gpu{n} GR0 TSG 0:{n}" for n in range(4)} <= set(names.values())
    assert {name for track in turns.values() for _, _, name, _ in track} >= {"big[1]"}


def test_picture_of_gangs_shows_what_is_simulated():
    """If this fails because the simulation has changed, `docs/pictures/make-gangs build/cmake/bin/nvqos` draws it anew."""
    script = ROOT / "docs/pictures/make-gangs"
    loader = importlib.machinery.SourceFileLoader("make_gangs", str(script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_gangs", loader))
    loader.exec_module(module)
    drawn = module.picture(built("bin/nvqos"))
    assert drawn == (script.parent / "gangs.svg").read_text(encoding="utf-8")
    parts = [int(part) for part in re.findall(r"one training for (\d+)% of the time", drawn)]
    page = (ROOT / "docs/gangs.md").read_text(encoding="utf-8")
    assert "all GPUs at once for {} % of the time, and with windows for {} %".format(*parts) in page


def test_output_is_the_same_with_and_without_a_trace(tmp_path):
    assert run("-j", "-o", tmp_path / "run.pftrace", DECODE).stdout == run("-j", DECODE).stdout


def test_an_older_file_is_replaced_at_once(tmp_path):
    path = tmp_path / "run.pftrace"
    path.write_text("old")
    run("-o", path, DECODE)
    assert path.read_bytes() != b"old" and [one.name for one in tmp_path.iterdir()] == ["run.pftrace"]


@pytest.mark.parametrize("name", ("run.json", "run.ndjson", "run.pftrace.gz", "run", "-"))
def test_other_suffixes_are_refused(tmp_path, name):
    path = name if name == "-" else tmp_path / name
    done = run("-o", path, DECODE)
    assert done.returncode == 1 and "'.pftrace'" in done.stderr and not done.stdout and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name, status, says", (("missing/run.pftrace", 1, "No such file or directory"),
                                                ("folder.pftrace", 1, "Is a directory")))
def test_a_file_that_cannot_be_written_is_named(tmp_path, name, status, says):
    (tmp_path / "folder.pftrace").mkdir()
    done = run("-o", tmp_path / name, DECODE)
    assert done.returncode == status and f"cannot write {tmp_path / name}: {says}" in done.stderr and not done.stdout


def test_a_pipe_is_not_replaced(tmp_path):
    pipe = tmp_path / "run.pftrace"
    os.mkfifo(pipe)
    done = run("-o", pipe, DECODE)
    assert done.returncode == 1 and "it is a pipe or a device" in done.stderr and not done.stdout and pipe.is_fifo()


def test_a_full_disk_leaves_nothing(tmp_path):
    """The limit of a file's size stands for the disk."""
    done = subprocess.run(["sh", "-c", 'trap "" XFSZ; ulimit -f 8; exec "$@"', "sh", built("bin/nvqos"), "simulate", "-o",
                           tmp_path / "run.pftrace", DECODE], capture_output=True, check=False, text=True,
                          timeout=PATIENCE_S)
    assert done.returncode == 5 and "File too large" in done.stderr and not done.stdout
    assert not os.listdir(tmp_path)


def test_refused_goals_leave_the_file_as_it_is(tmp_path):
    scenario = json.loads(DECODE.read_text(encoding="utf-8"))
    for job in scenario["jobs"]:
        job["goal"] = "share:90%"
    (tmp_path / "scenario.json").write_text(json.dumps(scenario))
    path = tmp_path / "run.pftrace"
    path.write_text("old")
    assert run("-o", path, tmp_path / "scenario.json").returncode == 2 and path.read_text() == "old"
