# SPDX-License-Identifier: MIT OR GPL-2.0
"""tests/hardware/turn_costs.py, which computes what turns cost from recordings, on made-up recordings with known costs."""

import json
import subprocess
import sys

import pytest
from building import ROOT
from waiting import PATIENCE_S

US, MS = 1000, 1_000_000
GAP, LATE, LOST, WORK = 85 * US, 100 * US, 150 * US, 30 * MS
EPOCH, EPOCHS = 100 * MS, 30
ORIGIN = 1_000_000_000_000
# Each row has two pairs, for even and for odd epochs. A pair has the timeslice that nvqos asks for, and the length that the
# driver gives it. Both are in microseconds of 1,024 ns, and the driver keeps eight bits.
TIMESLICES = {"served-10": ((700.9, 700), (751, 748)), "served-40": ((1500, 1496), (1550, 1544)),
              "train-30": ((16000, 16000), (20000, 19968))}
# All runs are of the same time, on three GPUs.
PIDS = {"served-10": (11, 12), "served-40": (21, 22), "train-30": (31, 32)}


def written(path, objects):
    path.write_text("".join(json.dumps(each) + "\n" for each in objects), encoding="utf-8")


def training_turn(number, timeslice, whole):
    """Returns the length of a turn. Some turns end by themselves, before the end of a timeslice or after it."""
    return {3: 150 * US, 7: whole * timeslice + 400 * US}.get(number % 14, whole * timeslice + LATE)


def made(folder, row, timeslices, whole=1):
    """Writes a run and its recording, and returns the run's row. A training's turn has `whole` timeslices."""
    loop, training = PIDS[row]
    lines = [{"begin_ns": ORIGIN + n * EPOCH, "end_ns": ORIGIN + (n + 1) * EPOCH,
              "tenants": [{"name": str(loop), "timeslice_us": 16000},
                          {"name": str(training), "timeslice_us": timeslices[(n + 1) % 2][0]}]}
             for n in range(EPOCHS)]
    at, found, spent, count = -20 * MS, [], 0, 0

    def add(pid, begin, length):
        found.append({"kind": "turn", "engine": "GR0", "begin_ns": begin, "end_ns": begin + length, "pid": pid})
        return begin + length

    number = 0
    while at < EPOCH * EPOCHS + 20 * MS:
        at = add(loop, at, 2 * MS)
        if number % 4 == 0:
            at = add(loop, at + MS, MS)
        # The first turns of an epoch still have the last timeslice.
        begin = at + GAP
        length = training_turn(number, 1024 * timeslices[(begin - 25 * MS) // EPOCH % 2][1], whole)
        at = add(training, begin, length) + GAP
        if begin >= 0 and begin + length <= EPOCH * EPOCHS:
            spent += length
            count += 1
        number += 1
    # In long turns a training waits for launches.
    work = WORK + 3 * MS if row == "train-30" else WORK
    written(folder / f"{row}-0.ndjson", lines)
    written(folder / f"{row}-turns.ndjson", [{"kind": "recording"}, {"kind": "origin", "gpu_ns": str(ORIGIN)}, *found])
    return {"row": row, "run": 0, "per_s": [100, (spent - LOST * count) / work / (EPOCH * EPOCHS / 1e9)]}


def run(folder, *recordings):
    return subprocess.run([sys.executable, ROOT / "tests/hardware/turn_costs.py", folder, *recordings], capture_output=True,
                          text=True, timeout=PATIENCE_S, check=False)


def write_runs(folder, runs):
    (folder / "qos_thinking.json").write_text(json.dumps({"program": "0123abcd", "gpu": "A GPU", "runs": runs}), encoding="utf-8")


def recordings(folder):
    return sorted(folder.glob("*-turns.ndjson"))


@pytest.mark.parametrize("whole", (1, 2))
def test_costs_are_those_of_the_recordings(tmp_path, whole):
    write_runs(tmp_path, [made(tmp_path, row, lengths, whole) for row, lengths in TIMESLICES.items()])
    done = run(tmp_path, *recordings(tmp_path))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "turn_costs.json").read_text(encoding="utf-8"))
    costs = found["costs"]
    assert found["program"] == "0123abcd" and found["gpu"] == "A GPU"
    assert (costs["gap_us"], costs["late_us"], costs["fitted_runs"]) == (85, 100, 2)
    assert costs["lost_us"] == pytest.approx(150, abs=2) and costs["step_ms"] == pytest.approx(30, abs=0.05) and costs["off_us"] < 1
    for row in found["runs"][:2]:
        decode, training = row["tenants"]
        assert row["gap_us"] == [85, 85, 85] and training["late_us"] == [100, 100, 100]
        assert list(training["turns_of_timeslices"]) == [str(whole)] and training["turns_of_timeslices"][str(whole)] > 200
        assert decode["late_us"] is None and decode["turns_of_timeslices"] == {}


def test_runs_that_are_not_recorded_from_begin_to_end_are_left_out(tmp_path):
    runs = [made(tmp_path, row, lengths) for row, lengths in TIMESLICES.items()]
    write_runs(tmp_path, runs)
    first, second, _ = recordings(tmp_path)
    second.write_text("".join(second.read_text(encoding="utf-8").splitlines(True)[:-20]), encoding="utf-8")
    done = run(tmp_path, first, second)
    assert done.returncode == 1 and "two runs with at least" in done.stderr
    done = run(tmp_path, second)
    assert done.returncode == 1 and "no recording has a whole run of" in done.stderr


def test_one_kind_of_run_is_too_few(tmp_path):
    write_runs(tmp_path, [made(tmp_path, *list(TIMESLICES.items())[0])])
    done = run(tmp_path, *recordings(tmp_path))
    assert done.returncode == 1 and "two runs with at least 4 turns for a step of the training are needed" in done.stderr
    assert not (tmp_path / "turn_costs.json").exists()


@pytest.mark.parametrize("content, sentence", (('{"kind": "recording"}\n', "has no turns"), ('{"kind": "turn"', "is damaged: "),
                                               (None, "No such file")))
def test_a_recording_that_cannot_be_used_is_a_sentence(tmp_path, content, sentence):
    write_runs(tmp_path, [made(tmp_path, *list(TIMESLICES.items())[0])])
    path = tmp_path / "x.ndjson"
    if content:
        path.write_text(content, encoding="utf-8")
    done = run(tmp_path, path)
    assert done.returncode == 1 and sentence in done.stderr and str(path) in done.stderr and done.stderr.count("\n") == 1
