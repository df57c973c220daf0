# SPDX-License-Identifier: MIT OR GPL-2.0
"""Compares the measurements in docs/stgm-measured.md with the rows that tests/hardware/stgm.py wrote on two GPUs, and those
rows with the bounds of the present nvstgm."""

import collections
import json
import re

import pytest
import stgm

GPUS = ("H200", "H100")
WAYS = {("suspend", "suspend"): "suspend", ("suspend", "spin"): "copies spin", ("busy", "spin"): "busy"}
CONTROLS = {"CE1": ("7", "hi"), "CE2c": ("5", "A"), "CE4": ("9", "lo"), "CE5": ("11", "hi")}
EXCEEDED = {"H200": {"CE1", "CE2c", "CE5"}, "H100": {"CE2c", "CE4", "CE5"}}
RATIOS = (0, .25, .5, .75, 1)
SETS = 20


def data(gpu, name="stgm"):
    path = stgm.ROOT / f"tests/hardware/{gpu.lower()}-580.159.04/{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def section():
    page = (stgm.ROOT / "docs/stgm-measured.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^## Measured\n(.*?)^## Figures", page, re.M | re.S)
    return " ".join(found.split()), found


def table(header):
    """Returns the rows of the table with a header that begins with the text."""
    (found,) = re.findall(rf"^\| {re.escape(header)}.*\n\|[-|]+\n((?:\|.*\n)+)", section()[1], re.M)
    return [line.strip("|").strip().split(" | ") for line in found.splitlines()]


def by_set(rows):
    """Returns the rows of each set, by its number."""
    found = collections.defaultdict(list)
    for row in rows:
        found[int(row["set"].split()[1].strip(","))].append(row)
    return found


def of(rows, key):
    return sum(row["undisturbed"][key] for row in rows)


def jobs(rows):
    return sum(row["jobs"] for row in rows)


def ratios(rows):
    return [row["undisturbed"]["ratio"] for row in rows if row["undisturbed"]["ratio"] is not None]


def undisturbed(rows):
    return f"{of(rows, 'jobs'):,} of {jobs(rows):,}"


def ms(value):
    return "–" if value is None else f"{value / 1000:.1f}"


def above(rows):
    """Returns the tasks that had a response above their bound."""
    return [row for row in rows if row["response"] > row["bound"]]


def names(words):
    return f"{', '.join(words[:-1])} and {words[-1]}"


def cells_of_runs(gpu):
    found = data(gpu)
    rows = found["sets"]
    return [found.get("program", "unknown"), f"{len(by_set(rows))} of {SETS}", str(len(rows)), f"{jobs(rows):,}",
            f"{of(rows, 'jobs'):,}", str(of(rows, "above")), str(sum(row["misses"] for row in rows))]


def cells_of_set(rows):
    return [undisturbed(rows), f"{max(ratios(rows)):.2f}", f"{max(row['ratio'] for row in rows):.2f}"] if rows else ["–"] * 3


def cells_of_ratios(gpu):
    found = ratios(data(gpu)["sets"])
    counts = [sum(least <= ratio < most for ratio in found) for least, most in zip(RATIOS, RATIOS[1:])]
    return [gpu, *map(str, counts), str(sum(ratio >= 1 for ratio in found))]


def cells_of_control(gpu, name):
    (row,) = (row for row in data(gpu)["controls"] if (row["set"], row["name"]) == (name, CONTROLS[name][1]))
    return [ms(row["printed"]), ms(row["bound"]), undisturbed([row]), ms(row["undisturbed"]["response"])]


def cells_of_comparison(gpu, rows):
    ways = [[row for row in rows if row["set"].endswith(way)] for way in ("unmanaged MPS", "time slices")]
    return [gpu, rows[0]["set"].split()[1].strip(","), str(len(ways[0])), *(str(jobs(way)) for way in ways[:1]),
            *(f"{max(row['ratio'] for row in way):.2f}" for way in ways)]


def test_the_tables_have_each_set_and_each_control_of_the_data():
    runs = table("run | H200")
    assert [[row[column] for row in runs[1:]] for column in (1, 2)] == [cells_of_runs(gpu) for gpu in GPUS]
    both = [by_set(data(gpu)["sets"]) for gpu in GPUS]
    assert table("set | tasks") == [
        [str(number), str(len(rows)), WAYS[rows[0]["waiting"], rows[0]["copy_wait"]], *cells_of_set(rows),
         *cells_of_set(both[1].get(number))] for number, rows in sorted(both[0].items())]
    assert table("GPU | 0 to") == [cells_of_ratios(gpu) for gpu in GPUS]
    assert table("set | equation") == [
        [name, ", ".join(about), *(cell for gpu in GPUS for cell in cells_of_control(gpu, name))] for name, about in CONTROLS.items()]
    assert table("GPU | set") == [
        cells_of_comparison(gpu, rows) for gpu in GPUS for _, rows in sorted(by_set(data(gpu)["unmanaged"]).items())]


@pytest.mark.parametrize("gpu", GPUS)
def test_undisturbed_jobs_are_within_the_sound_bounds_and_not_within_the_printed_ones(gpu):
    found = data(gpu)
    for row in found["sets"] + found["controls"]:
        good = row["undisturbed"]
        assert not good["above"] and (good["response"] or 0) <= row["bound"]
        assert good["ratio"] is None or abs(good["ratio"] - good["response"] / row["bound"]) < 0.001
    exceeded = {(row["set"], row["name"]) for row in found["controls"] if (row["undisturbed"]["response"] or 0) > row["printed"]}
    assert exceeded == {(name, CONTROLS[name][1]) for name in EXCEEDED[gpu]}
    assert set.union(*EXCEEDED.values()) == set(CONTROLS)
    # Some responses are above their bounds, and each of them has a measured reason.
    assert above(found["sets"]) and all(row["overruns"] for row in above(found["sets"]))


@pytest.mark.parametrize("gpu", GPUS)
def test_no_run_missed_a_deadline(gpu):
    """The page says it of the sets, of the controls and of the runs without management."""
    found = data(gpu)
    assert not any(row["misses"] for into in ("sets", "controls", "halved", "unmanaged") for row in found[into])
    assert not any(row["fifo"] for row in found["sets"])


def test_the_sentences_have_the_numbers_of_the_data():
    text, both = section()[0], {gpu: data(gpu) for gpu in GPUS}
    parts = []
    for gpu, found in both.items():
        tasks = sorted((int(row["set"].split()[1]), row["name"]) for row in above(found["sets"]))
        parts.append(f"{names([f'{number}{name}' for number, name in tasks])} on the {gpu}")
        times = sorted(row["response"] / row["bound"] for row in found["halved"])
        assert f"{times[-2]:.2f} and {times[-1]:.2f} times their bounds on the {gpu}" in text and times[0] < 1
        assert {(row["overruns"], row["jobs"]) for row in found["halved"]} == {(136, 34)}
    assert "; ".join(parts) in text
    counts = [row["overruns"] for found in both.values() for row in above(found["sets"])]
    assert f"({min(counts)} to {max(counts)} overruns)" in text
    many = [(number, row) for number, rows in sorted(by_set(both["H200"]["sets"]).items()) for row in rows if row["overruns"] > 100]
    assert f"tasks {names([str(number) + row['name'] for number, row in many])} took longer" in text
    assert " times in ".join(names([str(row[key]) for _, row in many]) for key in ("overruns", "jobs")) in text
    lengths = collections.defaultdict(set)
    for row in both["H200"]["sets"]:
        lengths[row["seconds"]].add(int(row["set"].split()[1]))
    for each in both["H200"]["measured"]:
        assert (len({task["period"] for task in each["taskset"]["tasks"]}) == 1) == (int(each["set"].split()[1]) % 2 == 0)
    assert lengths[60] == {0, 1, 2} and len(lengths[10]) == 17 and {row["seconds"] for row in both["H100"]["sets"]} == {6}


@pytest.mark.parametrize("page", ("README.md", "docs/stgm.md", "docs/trust.md"))
def test_other_pages_have_the_number_of_undisturbed_jobs(page):
    text = (stgm.ROOT / page).read_text(encoding="utf-8")
    assert f"{of(data('H200')['sets'], 'jobs'):,}" in text and "stgm-measured.md" in text


def test_the_sentence_on_time_slices_has_the_numbers_of_the_data():
    text, found = section()[0], data("H200")
    (row,) = above(found["unmanaged"])
    (managed,) = (each for each in found["sets"] if each["set"] == "set 0" and each["name"] == row["name"])
    assert row["set"] == "set 0, time slices"
    assert (f"task 0{row['name']} took {ms(row['response'])} ms by time slices, and its bound is {ms(row['bound'])}. With "
            f"management it took at most {ms(managed['response'])} ms in 60 s") in text
    assert f"{row['overruns']} overruns in {row['jobs']} jobs" in text


def test_tasks_with_nothing_to_wait_for_are_named():
    """The bound of such a task is the length of its own work, which no undisturbed job exceeds by definition."""
    text, found = section()[0], data("H200")
    sets = {each["set"]: each["taskset"]["tasks"] for each in found["measured"]}
    lone, others = [], []
    for row in found["sets"]:
        (task,) = (task for task in sets[row["set"]] if task["name"] == row["name"])
        own = sum(segment["cpu"] for segment in task["segments"] if "cpu" in segment)
        is_lone = not any("gpu" in segment for segment in task["segments"]) and row["bound"] == own
        (lone if is_lone else others).append(row)
    named = sorted((int(row["set"].split()[1]), row["name"]) for row in lone)
    assert f"{len(lone)} of the {len(lone + others)} tasks ({names([f'{number}{name}' for number, name in named])})" in text
    near = [row["set"].split()[1] + row["name"] for row in found["sets"] if row["undisturbed"]["ratio"] >= .75]
    assert names(near) in text and {row["name"] for row in lone if row["set"] == "set 5"} >= {name[1:] for name in near}
    largest = max(others, key=lambda row: row["undisturbed"]["ratio"])
    assert f"{largest['undisturbed']['ratio']:.2f} ({largest['set'].split()[1]}{largest['name']})" in text


def test_the_page_names_what_was_not_run_on_the_h100():
    text, found = section()[0], data("H100")
    left = [row for row in found["not_run"] if "seconds" in row]
    refused = sorted(int(row["what"].split()[1].strip(":")) for row in found["failed"] if row["what"].startswith("set "))
    assert f"sets {names(list(map(str, refused)))} have no bound" in text
    assert f"another {('', 'ten', 'eleven', 'twelve')[len(left) - 9]}" in text
    assert len(left) + len(refused) + len(by_set(found["sets"])) == SETS
    shown = re.search(r"profile\.json\)\): ([\d.]+) ms on 1 TPC, (.*) and ([\d.]+) ms on 66", text)
    assert [shown[1], *shown[2].split(", "), shown[3]] == [ms(row["max"]) for row in data("H100", "stgm-profile")["profile"]]


@pytest.mark.parametrize("gpu, name", [(gpu, row["set"]) for gpu in GPUS for row in data(gpu)["measured"]])
def test_bounds_in_the_rows_are_those_of_the_measured_sets(gpu, name):
    found = data(gpu)
    (taskset,) = (row["taskset"] for row in found["measured"] if row["set"] == name)
    rows = [row for row in found["sets"] if row["set"] == name]
    if not rows:  # has no bound within the deadline: the second run was left out
        assert {"what": f"{name}: schedulable with its measured lengths"} in found["failed"]
        modes = ((), ("--copy-wait", "spin"), ("--waiting", "busy"))
        assert stgm.check(taskset, *modes[int(name.split()[1]) % len(modes)]).status == 2
        return
    words = ("--waiting", rows[0]["waiting"], "--copy-wait", rows[0]["copy_wait"], "-j")
    assert stgm.responses(stgm.check(taskset, *words)) == {row["name"]: row["bound"] for row in rows}
