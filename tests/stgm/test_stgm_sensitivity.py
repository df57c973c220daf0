# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvstgm sensitivity: its forms, and its answers held against check. No GPU, no VM."""

import csv
import io
import json
import random

import pytest
import stgm_equations
from stgm import ROOT, check, document, nvstgm

ROBOT = ROOT / "docs/examples/robot.json"
PARTS = ("cpu", "to_device", "kernel", "from_device")


def sensitivity(taskset, *words):
    return nvstgm("sensitivity", "-", *words, stdin=json.dumps(taskset))


@pytest.fixture(scope="module", name="robot")
def placed_robot():
    return json.loads(nvstgm("allocate", ROBOT).out)


def changed(taskset, row, time):
    found = json.loads(json.dumps(taskset))
    (task,) = (task for task in found["tasks"] if task["name"] == row["name"])
    segment = task["segments"][row["segment"]]
    if row["part"] == "cpu":
        segment["cpu"] = time
    else:
        segment["gpu"][row["part"]] = time
    return found


@pytest.mark.parametrize("words", ((), ("-a", "stgm-tight", "--waiting", "busy"), ("-a", "mpcp"), ("-a", "timeslice")))
def test_check_accepts_the_longest_time_and_refuses_a_longer_one(robot, words):
    result = sensitivity(robot, "-j", *words)
    data = document(result)
    assert [(row["name"], row["segment"]) for row in data["parts"] if row["part"] in ("cpu", "kernel")] == [
        (task["name"], n) for task in robot["tasks"] for n in range(len(task["segments"]))]
    verdict = check(robot, *words).status
    assert result.status == verdict == (0 if data["schedulable"] else 2) and data["schedulable"] == (data["factor"] >= 1)
    for row in data["parts"]:
        if row["most"] is None:
            assert row["room"] is None and check(changed(robot, row, 0), *words).status == 2
            continue
        assert row["room"] == row["most"] - row["length"] and (row["room"] >= 0) == data["schedulable"]
        assert check(changed(robot, row, row["most"]), *words).status == 0
        longer = check(changed(robot, row, row["most"] + 1), "-j", *words)
        assert longer.status == 2
        assert next(task["name"] for task in document(longer)["tasks"] if task["response"] is None) == row["first"]


def test_all_segments_together(robot):
    def times(factor):
        found = json.loads(json.dumps(robot))
        for segment in (segment for task in found["tasks"] for segment in task["segments"]):
            where = segment.get("gpu", segment)
            for part in where:
                one = where[part] if isinstance(where[part], list) else [where[part]]
                where[part] = [-(-time * factor // 1000) for time in one] if part == "kernel" else -(-one[0] * factor // 1000)
        return check(found).status
    factor = round(1000 * document(sensitivity(robot, "-j"))["factor"])
    assert factor > 1000 and times(factor) == 0 and times(factor + 1) == 2


def test_sets_at_random_have_room_if_they_are_schedulable():
    generator = random.Random("sensitivity")
    seen = set()
    for _ in range(20):
        taskset = stgm_equations.random_set(generator)
        data = document(sensitivity(taskset, "-j"))
        assert (check(taskset).status == 0) == data["schedulable"]
        assert all(row["most"] is not None and row["room"] >= 0 for row in data["parts"]) == data["schedulable"] or not data["parts"]
        seen.add(data["schedulable"])
    assert seen == {True, False}


def test_one_task_and_all_forms(robot):
    data = document(sensitivity(robot, "-j"))
    one = document(sensitivity(robot, "-j", "--task", "camera"))
    assert one["parts"] == [row for row in data["parts"] if row["name"] == "camera"] and one["factor"] == data["factor"]
    rows = list(csv.DictReader(io.StringIO(sensitivity(robot, "--csv").out)))
    assert [(row["name"], row["part"], row["most"]) for row in rows] == [
        (row["name"], row["part"], str(row["most"])) for row in data["parts"]]
    text = sensitivity(robot).out
    assert text.splitlines()[0].split() == ["task", "segment", "part", "length", "most", "room", "%", "fails", "first"]
    assert f"schedulable: all segments together may take {data['factor']:.3f} times as long (stgm; times in us)" in text


def test_wrong_words_are_refused(robot):
    result = sensitivity(robot, "--task", "radar")
    assert result.status == 1 and "--task: there is no task 'radar'" in result.err and not result.out
    result = nvstgm("sensitivity", ROBOT)
    assert result.status == 1 and "'nvstgm allocate' finds cores and SMs" in result.err
    many = robot | {"tasks": [{"name": f"t{n}", "period": 10 ** 6, "segments": [{"cpu": 1}] * 1000, "core": 0} for n in range(5)]}
    result = sensitivity(many)
    assert result.status == 1 and "5000 parts, and 4096 are examined at most: choose tasks with --task" in result.err
    result = sensitivity(robot, "-a", "stgm-printed")
    assert "NOT safe" in result.err
