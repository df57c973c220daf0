# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvstgm on task sets in files: its forms, exit statuses and sentences. No GPU, no VM."""

import bz2
import csv
import gzip
import io
import json
import lzma
import pathlib
import random
import re
import subprocess

import building
import devices
import jsonschema
import pytest
import stgm_equations
import stgm_others
import terminals
from stgm import PATIENCE_S, ROOT, SCHEMAS, check, check_names_of_curves, document, nvstgm, responses

SETS = pathlib.Path(__file__).parents[1] / "data/stgm"
ANALYSES = ("stgm", "stgm-tight", "stgm-printed", "mpcp", "fmlp", "server", "federated", "timeslice")


def sets():
    return sorted(path.stem for path in SETS.glob("*.json"))


def a_set(name="ce1"):
    return json.loads((SETS / f"{name}.json").read_text(encoding="utf-8"))


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
    """Compares with the equations as evaluated in Python, from their text."""
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


@pytest.mark.parametrize("waiting, copy_wait", stgm_equations.WAITS)
@pytest.mark.parametrize("analysis", stgm_others.ANALYSES)
def test_bounds_of_other_systems_are_those_of_the_page(analysis, waiting, copy_wait):
    generator = random.Random(f"{analysis} {waiting} {copy_wait}")
    with_bound = without = 0
    for _ in range(20):
        taskset = stgm_equations.random_set(generator)
        if analysis == "federated" and (waiting == "busy" or generator.random() < .7):
            taskset["sms"] = len(taskset["tasks"])
            for n, task in enumerate(taskset["tasks"]):
                task.update({"sms": [n]} if "sms" in task else {})
        words, of_system = ("--waiting", waiting, "--copy-wait", copy_wait), {}
        if analysis == "server":
            of_system = {"overhead": generator.randint(0, 2), "server_core": generator.randrange(taskset["cores"])}
            words += ("--server-overhead", of_system["overhead"], "--server-core", of_system["server_core"])
        if analysis == "timeslice":
            of_system = {"timeslice": generator.randint(1, 5)}
            words += ("--timeslice", of_system["timeslice"])
        expected = stgm_others.System(taskset, analysis, waiting == "busy", copy_wait == "spin", **of_system).responses()
        tasks = document(check(taskset, "-j", "-a", analysis, *words))["tasks"]
        assert [task["name"] for task in tasks] == [task["name"] for task in taskset["tasks"]]
        for task, bound in zip(tasks, expected):
            # A bound that counts on the deadline of a task without a bound is withdrawn.
            withdrawn = analysis in ("mpcp", "server") and task["response"] is None and None in expected
            assert task["response"] == bound or withdrawn, json.dumps(taskset)
            assert all(isinstance(time, int) and time >= 0 for time in task["blocking"].values())
            with_bound += task["response"] is not None
            without += task["response"] is None
    assert with_bound > 10 and without > 2


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
    assert result.status == 1 and "task 'lo' has no 'sms'" in json.loads(result.out)["error"]["message"]
    assert "task 'lo' has no 'sms'" in result.err
    # Systems that serialise kernels let each kernel have all SMs.
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
    (("check", "a", "-a", "stgm", "-a", "stgm"), "--analysis is given twice"),
    (("check", "a", "--svg"), "no option --svg"),
    (("check", "a", "--csv=1"), "takes no value"),
    (("check", "/nonexistent.json"), "/nonexistent.json cannot be read: No such file"),
    (("check", "/"), "cannot be read"),
    (("check", SETS / "ce1.json", "--timeslice", "0"), "--timeslice takes a whole number of ticks, at least 1, not '0'"),
    (("check", SETS / "ce1.json", "--server-core", "1"), "--server-core takes a whole number from 0 to 0"),
))
def test_words_that_make_no_sense(words, sentence):
    result = nvstgm(*words)
    assert (result.status, result.out) == (1, "")
    assert sentence in result.err
    assert result.err.count("\n") == 1


NO_SETS = {
    "deep": ("[" * (10 << 20), "standard input: line 1, column 17: "),
    "syntax": ("{\"tasks\": [}", "standard input: line 1, column 12: "),
    "escape": ("\x1b[2J", "standard input: line 1, column 1: "),
    "escape in a key": ("{\"\x1b[2J\": 1}", "standard input: line 1, column "),
    "escaped escape": ("{\"\\u001b[2J\": 1}", "standard input: the file: "),
}


@pytest.mark.parametrize("text, place", NO_SETS.values(), ids=NO_SETS)
def test_text_that_is_no_task_set(text, place):
    result = nvstgm("check", "-", "-j", stdin=text)
    assert result.status == 1 and json.loads(result.out)["error"]["message"].startswith(place)
    assert result.err.startswith("nvstgm: " + place)
    assert result.err.count("\n") == 1 and "\x1b" not in result.err


@pytest.mark.parametrize("packer", (gzip, bz2, lzma), ids=lambda packer: packer.__name__)
def test_a_packed_file(tmp_path, packer):
    path = tmp_path / "set"
    path.write_bytes(packer.compress((SETS / "ce1.json").read_bytes()))
    result = nvstgm("check", path)
    program = {gzip: "gzip", bz2: "bzip2", lzma: "xz"}[packer]
    assert (result.status, result.out) == (1, "")
    assert result.err == f"nvstgm: {path}: the file is packed by {program}: unpack it, and give '-' to read it from a pipe\n"


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


@pytest.mark.parametrize("change, sentence", (
    ({"period": 33_333.5}, "is not a whole number"),
    ({"period": 10 ** 20}, "1e+20 is more than 1000000000000000"),
    ({"period": 1e20}, "1e+20 is more than 1000000000000000"),
    ({"period": -3.0}, "-3.0 is less than 1"),
    ({"affinity": 0}, "there is no field 'affinity' here; there are name, period, deadline, priority, segments, core, sms"),
    ({"perod": 1}, "and perhaps 'period' is meant"),
))
def test_a_number_or_a_field_that_is_wrong_has_its_reason(change, sentence):
    taskset = a_set("ce1")
    taskset["tasks"][0] |= change
    result = check(taskset)
    assert result.status == 1 and sentence in result.err


def test_whole_numbers_may_have_a_point():
    """pandas, jq and JavaScript may write whole numbers with a point."""
    taskset = a_set("ce1")
    plain = check(taskset, "-j").out
    for task in taskset["tasks"]:
        task |= {"period": float(task["period"]), "deadline": float(task["deadline"])}
    assert check(taskset, "-j").out == plain
    taskset["time_unit"] = "\u00b5s"
    assert "'\u00b5s'" in check(taskset).err


# --- allocate ---

def allocated(name, *words):
    result = nvstgm("allocate", SETS / f"{name}.json" if isinstance(name, str) else "-", *words,
                    stdin="" if isinstance(name, str) else json.dumps(name))
    return result


def a_cpu_task(name, cpu, period=10_000, deadline=10_000):
    return {"name": name, "period": period, "deadline": deadline, "segments": [{"cpu": cpu}]}


@pytest.mark.parametrize("tasks, sentence", (
    ([a_cpu_task(str(n), 9_000) for n in range(3)] + [a_cpu_task("s", 1_000)], "the tasks need 2.8 cores, and there are 2"),
    ([a_cpu_task(str(n), 6_667) for n in range(3)] + [a_cpu_task("s", 1)], "the tasks need 2.0002 cores, and there are 2"),
    ([a_cpu_task("long", 9_000, deadline=8_000)], "task 'long' takes 9000 ticks by itself, and its deadline is 8000 ticks"),
    ([a_cpu_task(str(n), 6_000) for n in range(3)], "the tasks need 1.8 of 2 cores and 0 of 4 SMs, and wait for each other besides"),
    ([{**a_cpu_task(str(n), 1), "segments": [{"gpu": {"to_device": 0, "kernel": [36_000, 18_000, 12_000, 9_000], "from_device": 0}}]}
      for n in range(2)], "the tasks need 7.2 SMs all the time, and there are 4"),
))
def test_a_refusal_has_the_number_that_decides(tasks, sentence):
    taskset = a_set("ce1") | {"cores": 2, "sms": 4, "tasks": tasks}
    result = allocated(taskset)
    assert result.status == 2 and sentence in result.err


@pytest.mark.parametrize("algorithm", ("mended", "paper", "disjoint"))
@pytest.mark.parametrize("waiting", ("suspend", "busy"))
@pytest.mark.parametrize("analysis", ANALYSES)
@pytest.mark.parametrize("name", sets())
def test_allocate(name, analysis, waiting, algorithm):
    words = ("--analysis", analysis, "--waiting", waiting)
    result = allocated(name, *words, "--algorithm", algorithm, "-j")
    data = document(result)
    assert result.status == (0 if data["schedulable"] else 2)
    for task in data["tasks"]:
        assert (task["core"] is None) == (task["sms"] is None) == (not data["schedulable"])
        assert data["schedulable"] or task["response"] is None
    written = allocated(name, *words, "--algorithm", algorithm)
    assert written.status == result.status
    if not data["schedulable"]:
        assert written.out == "" and "no allocation was found" in written.err
        assert re.search(r"need \d[\d.]* (of \d+ )?(cores|SMs)|takes (\d+) (us|ticks) by itself, and its deadline is \d+ \2", written.err)
        return
    placed = json.loads(written.out)
    assert [(task["core"], task["sms"]) for task in placed["tasks"]] == \
        [(task["core"], task["sms"]) for task in data["tasks"]]
    if (analysis, algorithm) != ("stgm-printed", "paper"):
        checked = document(check(placed, *words, "-j"))
        assert checked["schedulable"]
        assert [(task["response"], task["blocking"]) for task in checked["tasks"]] == \
            [(task["response"], task["blocking"]) for task in data["tasks"]]


def test_the_papers_algorithm_accepts_what_check_refuses():
    printed = allocated("a16", "-a", "stgm-printed", "--algorithm", "paper", "-j")
    assert printed.status == 0 and document(printed)["schedulable"]
    assert "'check' refuses this allocation" in printed.err
    sound = allocated("a16", "--algorithm", "paper", "-j")
    assert sound.status == 2 and not document(sound)["schedulable"]
    assert "accepts an allocation that the analysis refuses" in sound.err


def test_an_allocation_as_commands(tmp_path):
    out = tmp_path / "placed.json"
    result = nvstgm("allocate", ROOT / "docs/examples/robot.json", "--algorithm", "disjoint", "-o", out)
    assert result.status == 0
    placed = json.loads(out.read_text(encoding="utf-8"))
    by_name = {task["name"]: task for task in placed["tasks"]}
    for name in ("camera", "lidar"):
        masks = re.search(rf"^ *taskset -c (\d+) nvtaskset -t (\S+) COMMAND +# {name}$", result.out, re.M)
        assert int(masks[1]) == by_name[name]["core"]
        sms = by_name[name]["sms"]
        assert masks[2] in (f"{sms[0]}-{sms[-1]}", str(sms[0]))
        share = re.search(rf"^ *CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=(\d+) COMMAND +# {name}$", result.out, re.M)
        assert int(share[1]) == -(-100 * len(sms) // placed["sms"])
        context = re.search(rf"^ *(\d+) SMs; (\d+) of them on compute capability 8.x, (\d+) from 9.0 on +# {name}$", result.out, re.M)
        assert int(context[1]) == 2 * len(sms) and int(context[2]) == max(4, 2 * len(sms))
        assert int(context[3]) == -(-2 * len(sms) // 8) * 8
        chunks = re.search(rf"^ *sm_partition add GPU (\d+) +# {name}; (\d+) before compute", result.out, re.M)
        assert int(chunks[1]) == -(-2 * len(sms) // 8) and int(chunks[2]) == -(-2 * len(sms) // 4)
    assert "planner" not in result.out.split("With nvtaskset")[1]
    assert nvstgm("check", out).status == 0


def of_gpu_tasks(sms, *counts):
    """Returns a set of tasks that need the given numbers of SMs to meet their deadlines."""
    tasks = [{"name": f"task{n}", "period": 100 + n,
              "segments": [{"gpu": {"kernel": [1000 * left + 10 for left in reversed(range(count))]}}]}
             for n, count in enumerate(counts)]
    return {"schema": "nvstgm/taskset", "schema_version": "1.0", "time_unit": "us", "cores": 4, "sms": sms,
            "tasks": tasks}


@pytest.mark.parametrize("taskset, algorithm, lines", (
    # Tasks with equal SMs share a partition, and with more tasks than SMs some have to.
    (of_gpu_tasks(1, 1, 1), "disjoint", ["sm_partition add GPU 1  # task0, task1; 1 before compute capability 9.0",
                                         "1 chunks of 8 SMs, of which 2 SMs have 0: too many"]),
    (of_gpu_tasks(9, 5, 4), "mended", ["sm_partition add GPU 2  # task0; 3 before compute capability 9.0",
                                       "sm_partition add GPU 1  # task1; 2 before compute capability 9.0",
                                       "3 chunks of 8 SMs, of which 18 SMs have 2: too many"]),
    (of_gpu_tasks(8, 5, 5), "mended", ["none: some tasks share a part of their SMs; '--algorithm disjoint' avoids that"]),
))
def test_an_allocation_as_mps_partitions(taskset, algorithm, lines):
    result = allocated(taskset, "--algorithm", algorithm)
    assert result.status == 0
    found = re.search(r"^With MPS's static .*\n((?:  .*\n)+)With MPS alone", result.err, re.M)[1]
    assert [line.strip() for line in found.splitlines()] == lines


# --- simulate ---

@pytest.mark.parametrize("name, words, task, response", (
    ("ce1", (), "hi", 4),
    ("ce2", (), "A", 4),
    ("ce3", (), "mid", 19),
    ("ce4", ("--waiting", "busy"), "lo", 4),
    ("ce5", ("--waiting", "busy"), "hi", 4),
    ("ce6", ("--copy-wait", "spin"), "lo", 5),
))
def test_the_search_finds_the_counterexamples(name, words, task, response):
    path = SETS / f"{name}.json"
    found = responses(nvstgm("simulate", path, "--search", 3000, *words, "-j"))
    assert found[task] == response
    printed = responses(nvstgm("check", path, "-a", "stgm-printed", *words, "-j"))
    sound = responses(nvstgm("check", path, *words, "-j"))
    assert printed[task] < found[task]
    assert all(found[each] <= sound[each] for each in found)


def test_a_schedule_by_its_offsets():
    words = ("--offset", "A=1", "--offset", "B=1", "--duration", "900")
    result = nvstgm("simulate", SETS / "ce2c.json", *words, "-j")
    data = document(result)
    # B is before A only in schedules of the search.
    assert (result.status, data["schedules"], data["jobs"]) == (0, 1, 3)
    assert data["nearest"] in responses(result)
    assert max(document(nvstgm("simulate", SETS / "ce2c.json", "-n", 20000, "-j"))["tasks"][0]["response"], 0) >= 115


def test_a_missed_deadline():
    taskset = a_set("a16")
    result = nvstgm("simulate", "-", stdin=json.dumps(taskset))
    assert result.status == 2
    assert re.search(r"\d+ deadlines missed", result.out)


def test_a_bound_that_is_exceeded_is_shown():
    words = ("simulate", SETS / "ce1.json", "-n", 3000)
    assert "most above its bound: hi" in nvstgm(*words, "-a", "stgm-printed").out
    assert "nearest to its bound" in nvstgm(*words).out


@pytest.mark.parametrize("analysis", ANALYSES)
def test_bounds_of_another_system_are_named_as_such(analysis):
    result = nvstgm("simulate", SETS / "ce1.json", "-a", analysis)
    assert ("another system" in result.err) == (analysis in ("mpcp", "fmlp", "server", "timeslice"))


@pytest.mark.parametrize("period, time, words, sentence", (
    (10**15, 10**15, (), "a schedule may last"),
    (1, 0, ("--duration", 10**15), "jobs are too many"),
))
def test_schedules_that_do_not_end(period, time, words, sentence):
    """Sums over thousands of tasks do not overflow."""
    taskset = {**a_set(), "tasks": [
        {"name": f"task{n}", "period": period, "core": 0, "segments": [{"cpu": time}] * 10} for n in range(10_000)]}
    result = nvstgm("simulate", "-", *words, stdin=json.dumps(taskset))
    assert (result.status, result.out) == (1, "")
    assert sentence in result.err and result.err.count("\n") == 1


def test_simulations_are_the_same_for_the_same_seed():
    words = ("simulate", SETS / "ce3.json", "-n", 200, "-j")
    assert nvstgm(*words).out == nvstgm(*words).out
    assert nvstgm(*words, "--seed", 2).out != nvstgm(*words).out


def test_what_happened_as_text(tmp_path):
    trace = tmp_path / "trace"
    assert nvstgm("simulate", SETS / "ce1.json", "--offset", "hi=1", "--duration", 2, "-o", trace).status == 0
    lines = trace.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "0 lo#0: release"
    assert "3 hi#0: stop (segment 0)" not in lines
    assert lines[-1] == "4 hi#0: finish"


def perfetto_fields(data):
    """Yields the number and the value of each field in a message of protobuf."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                return value, at
    at = 0
    while at < len(data):
        key, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        else:
            assert key & 7 == 2
            length, at = varint(at)
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def test_what_happened_for_perfetto(tmp_path):
    trace = tmp_path / "trace.pftrace"
    assert nvstgm("simulate", SETS / "ce1.json", "--duration", 1, "-o", trace).status == 0
    names, depth = set(), {}
    for number, packet in perfetto_fields(trace.read_bytes()):
        assert number == 1
        for field, value in perfetto_fields(packet):
            if field == 60:
                names |= {text.decode() for key, text in perfetto_fields(value) if key == 2}
            if field == 11:
                event = dict(perfetto_fields(value))
                if event[9] in (1, 2):
                    depth[event[11]] = depth.get(event[11], 0) + (1 if event[9] == 1 else -1)
                    assert depth[event[11]] in (0, 1)
    assert {"core 0", "copy engine", "SMs 0", "controls"} <= names
    assert not any(depth.values())


@pytest.mark.parametrize("line", (("check",), ("simulate", "--analysis", "mpcp")))
def test_sentences_are_broken_at_words_on_a_terminal(tmp_path, line):
    placed = tmp_path / "placed.json"
    placed.write_text(nvstgm("allocate", ROOT / "docs/examples/robot.json").out, encoding="utf-8")
    words = [*line, placed]
    shown = terminals.printed([building.built("bin/nvstgm"), *map(str, words)], 40)
    sentence = shown.rpartition("\n\n")[2].splitlines()
    assert len(sentence) > 1 and max(map(len, sentence)) <= 40
    assert " ".join(sentence) == nvstgm(*words).out.splitlines()[-1]


# --- generate, figures ---

def test_generated_sets_are_read_again():
    made = nvstgm("generate", "--seed", 7, "--tasks", 9, "--cores", 3, "--sms", 6)
    assert made.err == "nvstgm: seed 7\n"
    taskset = json.loads(made.out)
    assert (len(taskset["tasks"]), taskset["cores"], taskset["sms"]) == (9, 3, 6)
    assert allocated(taskset, "-j").status in (0, 2)
    assert nvstgm("generate", "--seed", 7, "--tasks", 9, "--cores", 3, "--sms", 6).out == made.out
    assert "seed" in nvstgm("generate").err


def test_a_utilisation_that_cannot_be():
    result = nvstgm("generate", "--tasks", 4, "--utilisation", 3)
    assert (result.status, result.out) == (1, "")
    assert nvstgm("generate", "--utilisation", "x").status == 1
    assert nvstgm("generate", "--tasks", 99).status == 1


def test_figures(tmp_path):
    result = nvstgm("figures", "--sets", 4, "--seed", 3, "--output", tmp_path / "new", "-j")
    data = document(result)
    assert "of 104 sets" in result.err
    for figure in (4, 5):
        rows = list(csv.DictReader((tmp_path / f"new/figure{figure}.csv").open(encoding="utf-8")))
        points = [point for point in data["points"] if point["figure"] == figure]
        assert len(rows) == len(points) > 13 * 8
        for row, point in zip(rows, points):
            assert (row["analysis"], float(row["part"])) == (point["analysis"], point["part"])
            assert point["low"] <= point["part"] <= point["high"]
            assert point["weighted_low"] <= point["weighted"] <= point["weighted_high"]
        for kind in ("full", "full-weighted", "one", "one-weighted"):
            picture = (tmp_path / f"new/figure{figure}-{kind}.svg").read_text(encoding="utf-8")
            assert picture.startswith("<?xml") and "STGM, suspending" in picture and "seed 3" in picture
            check_names_of_curves(picture)


def test_a_folder_that_is_none(tmp_path):
    (tmp_path / "file").touch()
    result = nvstgm("figures", "--sets", 1, "-o", tmp_path / "file")
    assert result.status == 2 and "no folder" in result.err


# --- output ---

WAYS_OUT = (("check", SETS / "ce1.json"), ("check", SETS / "ce1.json", "-j"), ("check", SETS / "a16.json", "--csv"),
            ("allocate", ROOT / "docs/examples/robot.json"), ("allocate", SETS / "a16.json", "-j"),
            ("simulate", SETS / "ce1.json"), ("generate",), ("--help",), ("check", "--help"), ("--version",))


# The pipe's reader is gone before anything is written.
@pytest.mark.parametrize("line", ('"$@" >/dev/full', '"$@" >&-', 'exec 3> >(exec true); wait $!; "$@" >&3'),
                         ids=("full", "closed", "pipe"))
@pytest.mark.parametrize("words", WAYS_OUT, ids=lambda words: " ".join(pathlib.Path(word).name for word in words))
def test_what_cannot_be_written_is_an_error(words, line):
    done = subprocess.run(["bash", "-c", line, "bash", building.built("bin/nvstgm"), *map(str, words)],
                          check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (5, "")
    # No error is printed if the reader of the help closes the pipe.
    is_silent = "exec true" in line and words[-1] in ("--help", "--version")
    assert ("nvstgm: cannot write to stdout: " in done.stderr) != is_silent


@pytest.mark.parametrize("command", ("allocate", "simulate"))
def test_a_file_does_not_become_a_closed_stream(tmp_path, command):
    placed = tmp_path / "placed.json"
    placed.write_text(nvstgm("allocate", ROOT / "docs/examples/robot.json").out, encoding="utf-8")
    outputs = []
    for way in ("", ">&-", "2>&-", "<&- >&- 2>&-"):
        out = tmp_path / f"out{len(outputs)}"
        done = subprocess.run(["bash", "-c", f'"$@" {way}', "bash", building.built("bin/nvstgm"), command, placed,
                               "-o", out], check=False, capture_output=True, timeout=PATIENCE_S)
        assert done.returncode == (5 if ">&-" in way.replace("2>&-", "") else 0)
        outputs.append(out.read_text(encoding="utf-8"))
    assert len(set(outputs)) == 1 and outputs[0]


@pytest.mark.parametrize("words", (("allocate", ROOT / "docs/examples/robot.json"), ("simulate", SETS / "ce1.json")),
                         ids=("allocate", "simulate"))
def test_a_file_that_cannot_be_written(tmp_path, words):
    full = devices.full(tmp_path)
    for path in (full, tmp_path / "no/folder", tmp_path):
        result = nvstgm(*words, "-o", path)
        assert (result.status, result.out) == (5 if path == full else 1, "")
        assert f"nvstgm: {path} cannot be written: " in result.err
    part = tmp_path / "part"
    done = subprocess.run(["bash", "-c", 'trap "" XFSZ; ulimit -f 0; "$@"', "bash", building.built("bin/nvstgm"),
                           *map(str, words), "-o", part], check=False, capture_output=True, text=True,
                          timeout=PATIENCE_S)
    assert done.returncode == 5 and "cannot be written: File too large" in done.stderr
    assert not part.exists()


@pytest.mark.parametrize("stdin, sentence", (("</dev/null", "the file is empty"), ("<&-", "cannot be read")))
def test_nothing_on_stdin(stdin, sentence):
    done = subprocess.run(["bash", "-c", f'"$@" {stdin}', "bash", building.built("bin/nvstgm"), "check", "-"],
                          check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (1, "")
    assert sentence in done.stderr


def test_a_file_without_end():
    assert "/dev/zero cannot be read: it has more than 67108864 bytes" in nvstgm("check", "/dev/zero").err
