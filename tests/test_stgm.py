# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvstgm on task sets in files: its forms, exit statuses and sentences. No GPU, no VM."""

import csv
import io
import json
import pathlib
import random
import re
import subprocess

import ctl
import jsonschema
import pytest
import stgm_equations

ROOT = pathlib.Path(__file__).resolve().parents[1]
SETS = pathlib.Path(__file__).parent / "data/stgm"
SCHEMAS = ROOT / "tools/nvstgm/schema"
ANALYSES = ("stgm", "stgm-tight", "stgm-printed", "mpcp", "fmlp", "server", "federated", "timeslice")
PATIENCE_S = 60


def nvstgm(*words, stdin=""):
    done = subprocess.run([ctl.built("tool", "tools/nvstgm"), *map(str, words)], input=stdin, check=False,
                          capture_output=True, text=True, timeout=PATIENCE_S)
    return ctl.Result(done.returncode, done.stdout, done.stderr)


def document(result):
    """The document, held against its schema."""
    found = json.loads(result.out)
    schema = json.loads((SCHEMAS / (found["schema"].replace("/", ".") + ".json")).read_text(encoding="utf-8"))
    jsonschema.validate(found, schema, jsonschema.Draft202012Validator)
    return found["data"]


def responses(result):
    return {task["name"]: task["response"] for task in document(result)["tasks"]}


def sets():
    return sorted(path.stem for path in SETS.glob("*.json"))


def a_set(name="ce1"):
    return json.loads((SETS / f"{name}.json").read_text(encoding="utf-8"))


def check(taskset, *words):
    return nvstgm("check", "-", *words, stdin=json.dumps(taskset))


@pytest.mark.parametrize("name", sets())
def test_sets_are_as_their_schema_says(name):
    schema = json.loads((SCHEMAS / "nvstgm.taskset.json").read_text(encoding="utf-8"))
    jsonschema.validate(a_set(name), schema, jsonschema.Draft202012Validator)


@pytest.mark.parametrize("copy_wait", ("suspend", "spin"))
@pytest.mark.parametrize("waiting", ("suspend", "busy"))
@pytest.mark.parametrize("analysis", ANALYSES)
@pytest.mark.parametrize("name", sets())
def test_check(name, analysis, waiting, copy_wait):
    result = nvstgm("check", SETS / f"{name}.json", "--analysis", analysis, "--waiting", waiting,
                    "--copy-wait", copy_wait, "-j")
    data = document(result)
    assert [task["name"] for task in data["tasks"]] == [task["name"] for task in a_set(name)["tasks"]]
    found = [task["response"] for task in data["tasks"]]
    assert data["schedulable"] == (None not in found)
    assert result.status == (0 if data["schedulable"] else 2)
    for task in data["tasks"]:
        assert task["slack"] == (None if task["response"] is None else task["deadline"] - task["response"])
        assert task["slack"] is None or task["slack"] >= 0
    warned = analysis == "stgm-printed" or (analysis == "federated" and "None" in str(found) and name != "a16")
    assert bool(result.err) == warned


@pytest.mark.parametrize("waiting, copy_wait", stgm_equations.WAITS)
@pytest.mark.parametrize("analysis", ("stgm", "stgm-printed"))
def test_bounds_are_those_of_the_equations(analysis, waiting, copy_wait):
    """Evaluated once more, in Python, by the text alone."""
    generator = random.Random(f"{analysis} {waiting} {copy_wait}")
    with_bound = without = 0
    for _ in range(30):
        taskset = stgm_equations.random_set(generator)
        data = document(check(taskset, "-j", "-a", analysis, "--waiting", waiting, "--copy-wait", copy_wait))
        found = [(task["response"], *task["blocking"].values()) for task in data["tasks"]]
        expected = stgm_equations.bounds(taskset, analysis == "stgm-printed", waiting, copy_wait)
        assert found == expected, json.dumps(taskset)
        with_bound += sum(bound is not None for bound, *_ in expected)
        without += sum(bound is None for bound, *_ in expected)
    assert with_bound > 10 and without > 10


def test_the_default_is_the_sound_analysis_of_tasks_that_suspend():
    assert responses(nvstgm("check", SETS / "ce1.json", "-j")) == {"hi": 4, "lo": 5}


@pytest.mark.parametrize("waiting", ("suspend", "busy"))
def test_printed_names_the_equations_that_do_not_hold(waiting):
    result = nvstgm("check", SETS / "ce1.json", "-a", "stgm-printed", "--waiting", waiting)
    assert "NOT safe" in result.err
    named = set(re.findall(r"\d+", result.err))
    assert named == ({"5", "6", "9", "11", "12"} if waiting == "busy" else {"1", "3", "5", "6", "7", "8"})


def test_text_and_csv_have_what_json_has():
    data = document(nvstgm("check", SETS / "ce3.json", "-j"))
    rows = list(csv.DictReader(io.StringIO(nvstgm("check", SETS / "ce3.json", "--csv").out)))
    assert [row["name"] for row in rows] == [task["name"] for task in data["tasks"]]
    for row, task in zip(rows, data["tasks"]):
        assert int(row["response"]) == task["response"]
        assert int(row["blocking_inversion"]) == task["blocking"]["inversion"]
        assert row["largest"] == task["largest"]
    text = nvstgm("check", SETS / "ce3.json").out
    assert "schedulable: each response is within its deadline" in text
    for task in data["tasks"]:
        assert re.search(rf"^{task['name']} +{task['response']} ", text, re.M)


def test_what_has_no_bound_is_told_in_words():
    result = nvstgm("check", SETS / "a16.json")
    assert result.status == 2
    assert "NOT schedulable: 1 of 2 tasks has no bound" in result.out


def test_no_allocation_is_no_answer():
    taskset = a_set()
    del taskset["tasks"][1]["sms"]
    result = check(taskset, "-j")
    assert (result.status, result.out) == (1, "")
    assert "task 'lo' has no 'sms'" in result.err
    # What serialises kernels lets each have all SMs.
    assert check(taskset, "-a", "mpcp").status == 0
    del taskset["tasks"][0]["core"]
    assert "task 'hi' has no 'core'" in check(taskset, "-a", "mpcp").err


@pytest.mark.parametrize("words, sentence", (
    ((), "a command is missing"),
    (("chek",), "there is no command 'chek'"),
    (("check",), "'check' takes SET"),
    (("check", "a", "b"), "'check' does not take 'b'"),
    (("check", "a", "--analysis", "edf"), "--analysis is one of stgm, stgm-tight"),
    (("check", "a", "--waiting=spin"), "--waiting is one of suspend, busy"),
    (("check", "a", "--copy-wait"), "--copy-wait takes a value"),
    (("check", "a", "--csv", "-j"), "exclude each other"),
    (("check", "a", "-j", "-j"), "there twice"),
    (("check", "a", "--svg"), "no option --svg"),
    (("check", "a", "--json=1"), "takes no value"),
    (("check", "/nonexistent.json"), "/nonexistent.json cannot be read: No such file"),
    (("check", "/"), "cannot be read"),
    (("check", SETS / "ce1.json", "--timeslice", "0"), "--timeslice takes a whole number from 1"),
    (("check", SETS / "ce1.json", "--server-core", "1"), "--server-core takes a whole number from 0 to 0"),
))
def test_words_that_make_no_sense(words, sentence):
    result = nvstgm(*words)
    assert (result.status, result.out) == (1, "")
    assert sentence in result.err
    assert result.err.count("\n") == 1


NO_SETS = {
    "deep": ("[" * (10 << 20), "-: line 1, column 17: "),
    "syntax": ("{\"tasks\": [}", "-: line 1, column 12: "),
    "escape": ("\x1b[2J", "-: line 1, column 1: "),
    "escape in a key": ("{\"\x1b[2J\": 1}", "-: line 1, column "),
    "escaped escape": ("{\"\\u001b[2J\": 1}", "-: the file: "),
}


@pytest.mark.parametrize("text, place", NO_SETS.values(), ids=NO_SETS)
def test_text_that_is_no_task_set(text, place):
    result = nvstgm("check", "-", "-j", stdin=text)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("nvstgm: " + place)
    assert result.err.count("\n") == 1 and "\x1b" not in result.err


def test_a_thousand_tasks():
    taskset = a_set("ce3")
    taskset["cores"], taskset["sms"] = 8, 64
    model = taskset["tasks"][1]
    del model["priority"]
    taskset["tasks"] = [{**model, "name": f"task {n}", "core": n % 8, "sms": [n % 64, (n + 1) % 64],
                         "period": 1_000_000 + n, "deadline": 1_000_000 + n} for n in range(1000)]
    for analysis in ANALYSES:
        for waiting in ("suspend", "busy"):
            data = document(check(taskset, "-a", analysis, "--waiting", waiting, "-j"))
            assert len(data["tasks"]) == 1000
