# SPDX-License-Identifier: MIT OR GPL-2.0
"""The figures of the paper on quotas: what is in the repository comes from the engine as it is, a run that was
interrupted goes on, and verdicts change with the numbers. The engine itself: tests/qos. No GPU, no VM."""

import copy
import io
import json
import lzma
import os
import pathlib
import signal
import subprocess
import sys
import time

import building
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))

# pylint: disable=wrong-import-position
from nvdlab.quotas import engine, page, pictures, plan, results, shapes  # noqa: E402

SHORT = plan.FORMS["short"]
KEPT = {"short": ROOT / "lab/quotas/short.jsonl", "full": ROOT / "lab/quotas/full.jsonl.xz"}
PATIENCE_S = 600
# A form of seconds.
TINY = plan.Form("tiny", 2, (50,), (3,), (), (), (), (), epoch=200)


def program():
    return building.built("lab/quotas/quota-engine")


def outcome_of(scenarios):
    """What the program prints for lines of stdin, or (status, sentence)."""
    done = subprocess.run([program()], input="".join(f"{line}\n" for line in scenarios), check=False,
                          capture_output=True, text=True, timeout=PATIENCE_S)
    return (done.returncode, done.stderr) if done.returncode else [json.loads(line) for line in done.stdout.splitlines()]


# --- what is in the repository ---

@pytest.fixture(name="form", params=plan.FORMS.values(), ids=plan.FORMS)
def _form(request):
    return request.param


def test_all_of_a_form_is_kept(form):
    kept = engine.outcomes(KEPT[form.name])
    assert set(kept) == {run.id(form) for run in plan.alone() + plan.shared(form)}


def test_the_engine_still_does_the_same(form):
    kept = engine.outcomes(KEPT[form.name])
    speeds = engine.speeds_alone(form, kept)
    shared = plan.shared(form)
    some = plan.alone()[::7] + shared[::max(53, len(shared) // 6)]
    for run, found in zip(some, outcome_of([json.dumps(run.scenario(form, speeds)) for run in some])):
        assert found == kept[run.id(form)]


def test_page_and_pictures_are_of_what_is_kept(form):
    found = results.Results(form, engine.outcomes(KEPT[form.name]))
    folder = ROOT / "docs" / page.FOLDERS[form.name]
    text = folder.with_suffix(".md").read_text(encoding="utf-8")
    assert page.replaced(text, page.text(found)) == text, "lab/quotas/figures makes it anew"
    drawn = pictures.all_of(found, results.of_mean)
    assert {path.stem for path in folder.glob("*.svg")} == set(drawn)
    for name, picture in drawn.items():
        assert (folder / f"{name}.svg").read_text(encoding="utf-8") == picture


# --- runs ---

def test_kernels_have_each_role_equally_often(form):
    runs = [run for run in plan.shared(form) if (run.kind, run.gpu, run.scheme) == ("pair", "16", "rollover")]
    for place in (0, 1):
        often = [sum(run.kernels[place][0] == name for run in runs) for name in plan.KERNELS]
        assert len(set(often)) == 1 and often[0] == len(form.goals) * len(form.shifts)
    ids = [run.id(form) for run in plan.alone() + plan.shared(form)]
    assert len(set(ids)) == len(ids)


def test_a_run_that_was_interrupted_goes_on(tmp_path):
    path = tmp_path / "outcomes.jsonl"
    whole = engine.run_all(TINY, program(), path, 2)
    assert len(whole) == 20 + 10 * len(plan.OF_PAIRS)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:40]) + lines[40][:-20])
    before = path.stat().st_mtime_ns
    assert engine.run_all(TINY, program(), path, 1) == whole
    assert path.stat().st_mtime_ns != before
    again = path.read_bytes()
    assert again.startswith(b"".join(lines[:40])) and engine.run_all(TINY, program(), path, 3) == whole
    assert path.read_bytes() == again, "nothing is run twice"


def test_a_compressed_file_is_continued_in_an_unfinished_one(tmp_path):
    kept, unfinished = tmp_path / "kept.jsonl.xz", tmp_path / "build/unfinished.jsonl"
    whole = engine.run_kept(TINY, program(), kept, unfinished, 2)
    assert not unfinished.exists() and engine.outcomes(kept) == whole and len(whole) == 20 + 10 * len(plan.OF_PAIRS)
    some = dict(list(whole.items())[:40])
    engine.write_sorted(kept, some)
    lines = lzma.decompress(kept.read_bytes()).splitlines(keepends=True)
    assert len(lines) == 40 and lines == sorted(lines, key=lambda line: json.loads(line)["id"])
    with pytest.raises(engine.Failed):
        engine.run_kept(TINY, "/bin/true", kept, unfinished, 1)
    assert engine.outcomes(kept) == some == engine.outcomes(unfinished), "a run that fails keeps both files"
    assert engine.run_kept(TINY, program(), kept, unfinished, 1) == whole == engine.outcomes(kept)
    assert not unfinished.exists()


def test_a_compressed_file_can_be_replayed_but_not_continued(tmp_path):
    def figures(*words):
        return subprocess.run([ROOT / "lab/quotas/figures", *words], check=False, capture_output=True, text=True,
                              timeout=PATIENCE_S)
    done = figures("--full", "--replay", KEPT["full"])
    assert done.returncode == 0 and f"{len(plan.shared(plan.FORMS['full']))} runs" in done.stdout, done.stderr
    done = figures("--full", tmp_path / "some.jsonl.xz")
    assert done.returncode == 2 and "must not be compressed" in done.stderr and not list(tmp_path.iterdir())
    broken = tmp_path / "broken.jsonl.xz"
    broken.write_bytes(KEPT["full"].read_bytes()[:100])
    done = figures("--replay", broken)
    assert done.returncode == 1 and "cannot be decompressed" in done.stderr and "Traceback" not in done.stderr


def test_ctrl_c_keeps_what_is_done(tmp_path):
    path = tmp_path / "outcomes.jsonl"
    command = [ROOT / "lab/quotas/figures", "--full", path, "--jobs", "2", "--engine", program()]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        end = time.monotonic() + PATIENCE_S
        while not (path.exists() and path.stat().st_size) and time.monotonic() < end:
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1 and "interrupted; the same command goes on from" in said
    assert "ended while" not in said and "Traceback" not in said
    assert path.read_bytes().endswith(b"\n") and engine.outcomes(path)


def test_an_engine_that_ends_is_a_failure(tmp_path):
    workers = engine.Workers("/bin/true", tmp_path / "outcomes.jsonl", 2, io.StringIO())
    with pytest.raises(engine.Failed, match="/bin/true ended while it ran"):
        workers.run([run.scenario(TINY, {}) for run in plan.alone()], "kernels")


def test_a_line_that_is_no_outcome(tmp_path):
    path = tmp_path / "outcomes.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(engine.Failed, match="has a line that is no outcome"):
        engine.outcomes(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(engine.Failed, match="there is no outcome of 8x10000/alone/16"):
        results.Results(SHORT, engine.outcomes(path))


CHANGES = ({"adjustment": {"grows": False}}, {"adjustment": {"returns": False}}, {"adjustment": {"least": 2}},
           {"adjustment": {"throttled": True}}, {"hosted": "resident"}, {"readings": {"alpha": False}},
           {"readings": {"check": "serial"}}, {"readings": {"charge": "complete", "latency": 20}},
           {"scheme": "spart"}, {"scheme": "rollover_time"}, {"gpu": {"sms": 2, "sixteenths_of_line": 61}}, {"seed": 2})


def test_each_switch_matters():
    base = {"id": "x", "gpu": {"sms": 2, "sixteenths_of_line": 60}, "scheme": "history", "epoch": 4000, "epochs": 12}
    runs = [base | {"kernels": [{"name": one, "goal": goal}, {"name": other}]}
            for one, goal, other in (("mri-q", "200", "cutcp"), ("sgemm", "150", "lbm"))]
    plain = outcome_of(map(json.dumps, runs))
    for change in CHANGES:
        assert outcome_of(json.dumps(run | change) for run in runs) != plain, change
    hill = [run | {"scheme": "spart", "epochs": 30, "kernels": [{"name": "mri-q", "goal": "255"}, {"name": "lbm"}]}
            for run in runs]
    assert outcome_of(map(json.dumps, hill)) != outcome_of(json.dumps(run | {"spart_least": 1}) for run in hill)


GOOD = {"id": "x", "scheme": "naive", "epoch": 100, "epochs": 1, "kernels": [{"name": "lbm"}]}
BAD = {
    "no JSON": ("{", "line 2 of stdin: line 1, column"),
    "scheme": (json.dumps(GOOD | {"scheme": "best"}), "scheme: 'best' is none of alone, spart, naive"),
    "kernel": (json.dumps(GOOD | {"kernels": [{"name": "bfs"}]}), "kernels[0].name: 'bfs' is none of cutcp, histo"),
    "no kernels": (json.dumps(GOOD | {"kernels": []}), "kernels: is empty"),
    "goal": (json.dumps(GOOD | {"kernels": [{"name": "lbm", "goal": "0"}]}), "kernels[0].goal: a goal is more than 0"),
    "reading": (json.dumps(GOOD | {"readings": {"warps": 3}}), "there is no such reading"),
    "hosted": (json.dumps(GOOD | {"hosted": "here"}), "hosted: 'here' is none of allotted, resident"),
    "epoch": (json.dumps(GOOD | {"epoch": 99}), "epoch: 99 is not from 100"),
    "schedulers": (json.dumps(GOOD | {"gpu": {"schedulers": 0}}), "gpu.schedulers: 0 is not from 1"),
    "another key": (json.dumps(GOOD | {"speed": 1}), "there is no field 'speed' here"),
}


@pytest.mark.parametrize("line, sentence", BAD.values(), ids=BAD)
def test_what_is_no_scenario(line, sentence):
    status, said = outcome_of([json.dumps(GOOD), line])
    assert status == 1 and said.startswith("quota-engine: line 2 of stdin: ") and sentence in said
    assert said.count("\n") == 1


# --- verdicts ---

def altered(change):
    """What is kept, with instructions changed: CHANGE(run, instructions)."""
    kept = copy.deepcopy(engine.outcomes(KEPT["short"]))
    for run in plan.shared(SHORT):
        one = kept[run.id(SHORT)]
        one["instructions"] = change(run, one["instructions"])
    return results.Results(SHORT, kept)


def scaled(**factors):
    """By scheme: (factor of QoS kernels, factor of the others)."""
    def change(run, instructions):
        of_qos, of_others = factors.get(run.scheme, (1, 1))
        return [int(one * (of_others if goal is None else of_qos)) for one, (_, goal) in zip(instructions, run.kernels)]
    return change


def verdict(shape, found):
    return shapes.word(shape.tests(found))


BETTER = altered(scaled(rollover=(1000, 1), spart=(0.001, 1), spart1=(0.001, 1), history=(0.001, 1), elastic=(0.01, 1)))
WORSE = altered(scaled(rollover=(0.001, 1), spart=(1000, 1), spart1=(1000, 1), history=(1000, 1), elastic=(1000, 1)))


ON_REACH = [shape for shape in shapes.SHAPES if shape.sentence.startswith("rollover reaches more")
            or shape.figure in ("6b", "6c") and "with" in shape.sentence]


@pytest.mark.parametrize("shape", ON_REACH, ids=lambda shape: f"{shape.figure}: {shape.sentence}")
def test_verdicts_on_reach_follow_the_numbers(shape):
    assert (verdict(shape, BETTER), verdict(shape, WORSE)) == ("found", "not found")


def test_verdicts_on_speed_follow_the_numbers():
    every = dict.fromkeys(("rollover", "spart", "spart1", "rollover_time"), (1000, 1))
    faster = altered(scaled(**(every | {"rollover": (1000, 1e6)})))
    slower = altered(scaled(**(every | {"rollover": (1000, 0)})))
    some = [shape for shape in shapes.SHAPES if shape.figure in ("8a", "8b", "8c", "11", "13")
            and "that both reach" in shape.rule]
    assert len(some) == 5
    for shape in some:
        assert (verdict(shape, faster), verdict(shape, slower)) == ("found", "not found"), shape.sentence


def test_partly_is_between():
    assert shapes.word([(True, ""), (False, "")]) == "partly"
    assert shapes.word([(True, "")]) == "found" and shapes.word([(False, "")]) == "not found"


def test_a_goal_is_reached_to_the_instruction():
    def exactly(off):
        def change(run, instructions):
            if run.kind != "pair":
                return instructions
            alone = engine.speeds_alone(SHORT, engine.outcomes(KEPT["short"]))[run.gpu, run.kernels[0][0]]
            cycles = SHORT.epochs * SHORT.epoch
            goal = alone * cycles * run.goal() / 100
            return [-(-goal.numerator // goal.denominator) + off, *instructions[1:]]
        return altered(change)
    assert exactly(0).reach("pair", "rollover")[0] == 1 and exactly(-1).reach("pair", "rollover")[0] == 0


def test_intervals():
    # Wilson's of 8 of 10, and one of means: 1.96 / sqrt(2) around 2.
    assert [round(one, 3) for one in results.of_share(8, 10)] == [0.8, 0.49, 0.943]
    assert [round(one, 3) for one in results.of_mean([1, 3])] == [2, 0.04, 3.96]
