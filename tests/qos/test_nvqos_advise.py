# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos advise: goals for tasks that were recorded, or that run now over the stand-in for the driver."""

import gzip
import json
import os
import re
import shlex
import stat
import subprocess

import jsonschema
import pytest
from building import ROOT, built
from waiting import PATIENCE_S

pytest_plugins = ["qos_machine"]

HARDWARE = ROOT / "tests/hardware"
RECORDINGS = [HARDWARE / f"{gpu}-580.159.04/recording.ndjson" for gpu in ("h100", "h200")]
SCHEMA = json.loads((ROOT / "tools/nvqos/schema/nvqos.advice.json").read_text(encoding="utf-8"))
MS = 1_000_000


def run(*words, stdin=subprocess.DEVNULL):
    return subprocess.run([built("bin/nvqos"), *map(str, words)], cwd=ROOT, capture_output=True, check=False, text=True,
                          stdin=stdin, timeout=PATIENCE_S)


def checked(text):
    found = json.loads(text)
    jsonschema.validate(found, SCHEMA, jsonschema.Draft202012Validator)
    return found


def advice(path, *words):
    done = run("advise", "-j", "--from", path, *words)
    assert done.returncode == 0 and not done.stderr and done.stdout.count("\n") == 1, done.stderr
    return checked(done.stdout)


def simulated(scenario):
    """Returns the parts of the jobs as they are, by name and GPU."""
    done = run("simulate", "-j", "--none", scenario)
    assert done.returncode == 0, done.stderr
    return {(job["name"], one["gpu"]): one["got"] for job in json.loads(done.stdout)["jobs"] for one in job["gpus"]}


class Recording:
    """A recording of version 1 that is written turn by turn. Times are in ms."""

    def __init__(self, chip="GH100", gpus=(0,), products=None):
        self.gpus = gpus
        self.lines = [{"kind": "recording", "version": "1.0", "tool": "nvdebugctl 0.1.0", "time": "2026-11-23T09:20:38.233Z",
                       "source": "driver", "period_ns": 0,
                       "gpus": [{"gpu": gpu, "chip": chip, "pci_address": None} for gpu in gpus]}]
        for gpu, product in zip(self.lines[0]["gpus"], products or ()):
            gpu["product"] = product
        self.ends = {}

    def process(self, pid, command, timeslice_ms=None, gpu=0):
        self.lines.append({"kind": "process", "gpu": gpu, "pid": pid, "process": command, "cgroup": None, "container": None,
                           "channels": 1, "tsgs": [{"runlist": 0, "tsg": pid, "timeslice_ns": timeslice_ms and int(timeslice_ms * MS)}]})

    def turn(self, pid, begin, end, gpu=0, whole=True, **other):
        last = self.ends.get(gpu)
        gap = None if last is None else int(begin * MS) - last
        self.ends[gpu] = int(end * MS)
        self.lines.append({"kind": "turn", "gpu": gpu, "engine": "GR0", "begin_ns": int(begin * MS), "end_ns": int(end * MS),
                           "whole": whole, "gap_ns": gap, "pid": pid, "process": None, "context": pid, "runlist": None,
                           "tsg": None, "channel": None} | other)

    def write(self, path, ends=True):
        lines = list(self.lines)
        if ends:
            lines += [{"kind": "engine", "gpu": gpu, "engine": "GR0", "by": "switches", "begin_ns": None, "end_ns": None,
                       "samples": 0, "missed_samples": 0, "known_ns": 0} for gpu in self.ends]
            lines.append({"kind": "summary", "summary": {}})
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path


def alternating(recording, count=200, first=1.1, second=2.15, gpu=0, pids=(11, 12)):
    at = 0.0
    for _ in range(count):
        for pid, length in zip(pids, (first, second)):
            recording.turn(pid, at, at + length, gpu)
            at += length + 0.084
    return recording


def two_tasks(**of):
    recording = Recording(**of)
    recording.process(11, "serve", 1.024)
    recording.process(12, "train", 2.048)
    return alternating(recording)


@pytest.mark.parametrize("recording", RECORDINGS, ids=("h100", "h200"))
def test_the_scenario_of_a_hardware_recording_has_its_parts(recording, tmp_path):
    scenario = tmp_path / "scenario.json"
    found = advice(recording, "-o", scenario)
    parts = simulated(scenario)
    summary = json.loads(recording.read_text(encoding="utf-8").splitlines()[-1])["summary"]
    engine, = [one for one in summary["engines"] if one["engine"] == "GR0"]
    assert len(parts) == len(engine["holders"]) == 3
    for row in engine["holders"]:
        part = 100 * parts[row["name"], 0]
        assert part == pytest.approx(row["share_percent"], abs=3), "without the time for saving"
        assert part == pytest.approx(100 * row["held_us"] / engine["recorded_us"], abs=3), "with it"
    assert {(one["name"], one["gpu"]): one["simulated"] for one in found["tasks"]} == parts
    assert [one["timeslice_us"] for one in found["tasks"]] == [4096, 2048, 1024] and not found["notes"]
    assert 80 < found["switch_us"] < 90 and 95 < found["late_us"] < 110, "those of the recording"


@pytest.mark.parametrize("recording", RECORDINGS, ids=("h100", "h200"))
def test_proposals_are_what_their_scenario_gives(recording, tmp_path):
    """The goals of a proposal, written into the scenario, give the parts that the proposal has."""
    path = tmp_path / "scenario.json"
    found = advice(recording, "-o", path)
    assert found["proposals"][0]["name"] == "as it is" and len(found["proposals"]) >= 3
    for proposal in found["proposals"][1:]:
        scenario = json.loads(path.read_text(encoding="utf-8"))
        scenario["control"] = "goals"
        for job, one in zip(scenario["jobs"], proposal["jobs"]):
            assert job["name"] == one["name"]
            job["goal"] = one["goal"]
        (tmp_path / "with.json").write_text(json.dumps(scenario), encoding="utf-8")
        done = run("simulate", "-j", tmp_path / "with.json")
        assert done.returncode in (0, 4), "advice is not refused"
        assert [job["got"] for job in json.loads(done.stdout)["jobs"]] == [one["got"] for one in proposal["jobs"]]


def test_commands_of_proposals_name_the_tasks(tmp_path):
    found = advice(two_tasks().write(tmp_path / "run.ndjson"))
    assert {one["who"] for one in found["tasks"]} == {"command:serve", "command:train"}
    equal = next(one for one in found["proposals"] if one["name"] == "an equal share for each")
    words = shlex.split(equal["command"])
    assert words[:2] == ["sudo", "nvqos"] and len(words) == 4
    assert all(re.fullmatch(r"command:(serve|train)=share:\d+%", word) for word in words[2:])
    assert equal["all_kept"] is True
    done = run("--dry-run", *words[2:])
    assert done.returncode != 1, "nvqos reads the words"


def test_a_command_with_odd_characters_is_named_by_its_pid(tmp_path):
    """Its line can be pasted into a shell."""
    recording = Recording()
    recording.process(11, "a b;c", 1.024)
    recording.process(12, "train", 2.048)
    found = advice(alternating(recording).write(tmp_path / "run.ndjson"))
    assert {one["who"] for one in found["tasks"]} == {"11", "command:train"}


def test_the_text_says_that_it_is_a_simulation(tmp_path):
    done = run("advise", "--from", two_tasks().write(tmp_path / "run.ndjson"))
    assert done.returncode == 0 and not done.stderr
    for words in ("simulation", "why tasks pause", "MPS", "as it is:", "an equal share for each:", "  sudo nvqos command:"):
        assert words in " ".join(done.stdout.split("\n")) + done.stdout, words
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if not line.startswith("  sudo") and str(tmp_path) not in line)


def test_the_page_shows_what_its_command_prints():
    page = (ROOT / "docs/advise.md").read_text(encoding="utf-8")
    (words, text), = re.findall(r"^```\n\$ nvqos advise (.*?)\n(.*?)^\[…\]\n```", page, re.M | re.S)
    assert run("advise", *words.split()).stdout.startswith(text) and text.endswith("=share:30%\n")
    assert page.count("](simulate.md)") and "](advise.md)" in (ROOT / "docs/simulate.md").read_text(encoding="utf-8")


def test_a_task_that_pauses_is_proposed_as_a_service(tmp_path):
    recording = Recording()
    recording.process(11, "serve", 2.048)
    recording.process(12, "train", 2.048)
    at = 0.0
    for _ in range(50):
        recording.turn(11, at, at + 0.5)
        recording.turn(12, at + 0.584, at + 0.584 + 5 * 2.048 + 0.1)
        at += 0.584 + 5 * 2.048 + 0.1 + 0.084
    found = advice(recording.write(tmp_path / "run.ndjson"))
    serve, = [one for one in found["tasks"] if one["name"] == "serve[11]"]
    assert serve["work_us"] == pytest.approx(500, abs=1) and serve["bounded_pauses"] == 0
    assert serve["pause_us"] == pytest.approx(9300, rel=0.25), "its wish ended the fifth timeslice"
    assert serve["simulated"] == pytest.approx(serve["had"], abs=0.03)
    alone = {job["name"]: job["gpus"][0]["got_alone"] for job in found["proposals"][0]["jobs"]}
    assert alone["serve[11]"] < 0.1 and alone["train[12]"] > 0.95
    demand, = [one for one in found["proposals"] if "what it would use alone" in one["name"]]
    goals = {job["name"]: int(re.fullmatch(r"share:(\d+)%", job["goal"])[1]) for job in demand["jobs"]}
    assert goals["serve[11]"] == int(100 * alone["serve[11]"]) and goals["train[12]"] > 70, "steps are 1 % below 10 %"
    service, = [one for one in found["proposals"] if "served first" in one["name"]]
    assert service["jobs"][[job["name"] for job in service["jobs"]].index("serve[11]")]["goal"].startswith("latency,cap:")
    before, after = ([job for job in one["jobs"] if job["name"] == "serve[11]"][0]["wait_ms"]["p50"]
                     for one in (found["proposals"][0], service))
    assert after <= before


def test_tasks_of_several_gpus(tmp_path):
    recording = Recording(gpus=(0, 1))
    for gpu in (0, 1):
        recording.process(11, "wide", 1.024, gpu)
        recording.process(12 + gpu, "narrow", 2.048, gpu)
        alternating(recording, gpu=gpu, pids=(11, 12 + gpu))
    path = tmp_path / "scenario.json"
    found = advice(recording.write(tmp_path / "run.ndjson"), "-o", path)
    assert sorted((one["name"], one["gpu"]) for one in found["tasks"]) == [
        ("narrow[12]", 0), ("narrow[13]", 1), ("wide[11]", 0), ("wide[11]", 1)]
    assert {one["name"]: one["who"] for one in found["tasks"]} == {
        "narrow[12]": "12", "narrow[13]": "13", "wide[11]": "command:wide"}, "two commands have one name"
    for one in found["tasks"]:
        assert simulated(path)[one["name"], one["gpu"]] == pytest.approx(one["had"], abs=0.03)


def test_a_gpu_with_one_task_is_left_out(tmp_path):
    recording = Recording(gpus=(0, 1))
    alternating(recording, gpu=1)
    recording.turn(99, 0, 500, gpu=0)
    found = advice(recording.write(tmp_path / "run.ndjson"))
    assert {one["gpu"] for one in found["tasks"]} == {1}
    assert found["notes"] == ["gpu0 is left out, as no two tasks had turns there"]


def test_hidden_processes_are_tasks_by_their_contexts(tmp_path):
    """No goal can name them, so there is no command line."""
    recording = Recording()
    at = 0.0
    for n in range(200):
        recording.turn(0, at, at + 1.1 + n % 2, context=7 + n % 2)
        at += 1.1 + n % 2 + 0.084
    found = advice(recording.write(tmp_path / "run.ndjson"))
    assert [(one["name"], one["who"]) for one in found["tasks"]] == [("hidden (2)", None), ("hidden", None)]
    assert [one["had"] for one in found["tasks"]] == pytest.approx([0.623, 0.326], abs=0.01)
    assert all(one["command"] is None for one in found["proposals"]) and found["proposals"][1]["all_kept"] is not None


def test_a_pid_that_comes_again_is_another_task(tmp_path):
    recording = Recording()
    recording.lines[0]["version"] = "2.0"
    recording.lines.append({"kind": "origin", "gpu": 0, "gpu_ns": "0", "monotonic_ns": None, "realtime_ns": None, "boottime_ns": None})
    for started in (1, 2):
        recording.process(11, "serve", 1.024)
        recording.lines[-1]["started"] = started
        if started == 1:
            recording.process(12, "train", 2.048)
            recording.lines[-1]["started"] = 3
        at = recording.ends.get(0, 0) / MS
        for _ in range(100):
            for pid, length in ((11, 1.1), (12, 2.15)):
                recording.turn(pid, at, at + length)
                at += length + 0.084
    found = advice(recording.write(tmp_path / "run.ndjson"))
    assert {one["name"]: one["who"] for one in found["tasks"]} == {
        "train[12]": "command:train", "serve[11]": "11", "serve[11] (2)": "11"}


def test_tasks_with_next_to_nothing_are_left_out(tmp_path):
    recording = two_tasks()
    end = recording.ends[0] / MS
    recording.turn(13, end + 0.084, end + 0.584)
    recording.turn(11, end + 0.668, end + 1.768)
    found = advice(recording.write(tmp_path / "run.ndjson"))
    assert {one["name"] for one in found["tasks"]} == {"serve[11]", "train[12]"}
    assert found["notes"] == ["1 task with less than 0.1 % of a GPU is left out"]


def many_tasks(tmp_path, count, gpus=(0,)):
    recording = Recording(gpus=gpus)
    for gpu in gpus:
        at = 0.0
        for n in range(5 * count):
            pid = 100 * gpu + n % count + 1
            recording.turn(pid, at, at + 1.1 + 0.01 * (n % count), gpu)
            at += 2
    return recording.write(tmp_path / "run.ndjson")


def test_forty_tasks_are_simulated(tmp_path):
    found = advice(many_tasks(tmp_path, 42))
    assert len(found["tasks"]) == 40 and {one["name"] for one in found["tasks"]} == {f"pid {n}" for n in range(3, 43)}
    assert found["notes"] == ["2 tasks beyond the 40 with the most time are left out"]


def test_more_than_forty_tasks_on_all_gpus_are_refused(tmp_path):
    done = run("advise", "--from", many_tasks(tmp_path, 21, gpus=(0, 1)))
    assert done.returncode == 1 and "42 tasks had turns in " in done.stderr and "'nvdebugctl record'" in done.stderr


def test_a_gpu_beyond_those_of_scenarios_is_refused(tmp_path):
    recording = alternating(Recording(gpus=(16,)), gpu=16)
    done = run("advise", "--from", recording.write(tmp_path / "run.ndjson"))
    assert done.returncode == 1 and "are of gpu16, and only gpu0 to gpu15 are taken" in done.stderr and not done.stdout


def test_a_task_that_was_alone_for_long_is_noted(tmp_path):
    recording = two_tasks()
    end = recording.ends[0] / MS
    recording.turn(12, end + 0.084, end + 500)
    found = advice(recording.write(tmp_path / "run.ndjson"))
    note, = found["notes"]
    assert note.startswith("train[12] had gpu0 for 4") and "while no other task wanted it" in note
    unasked = {one["name"]: one["unasked"] for one in found["tasks"]}
    assert unasked["serve[11]"] == 0 and unasked["train[12]"] == pytest.approx(497.9 / 1197, abs=0.01)


def test_time_before_the_record_does_not_count(tmp_path):
    recording = two_tasks()
    path = recording.write(tmp_path / "run.ndjson")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    engine, = [line for line in lines if line["kind"] == "engine"]
    engine["begin_ns"], engine["end_ns"] = 300 * MS, recording.ends[0] + 100 * MS
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = advice(path)
    assert found["seconds"] == pytest.approx((recording.ends[0] / MS - 200) / 1000, abs=0.001)
    assert found["tasks"][0]["had"] == pytest.approx(0.629 * 0.79, abs=0.02), "nobody had the GPU in the last 100 ms"


def test_a_turn_that_began_before_the_record_gives_up_nothing(tmp_path):
    """The record begins in the middle of a turn of train. The rest of this turn is shorter than a timeslice."""
    recording = two_tasks()
    recording.lines.append({"kind": "engine", "gpu": 0, "engine": "GR0", "by": "switches", "begin_ns": 300 * MS, "end_ns": None,
                            "samples": 0, "missed_samples": 0, "known_ns": 0})
    path = recording.write(tmp_path / "run.ndjson", ends=False)
    assert [one["pause_us"] for one in advice(path)["tasks"]] == [None, None]


def test_a_task_has_the_timeslices_of_its_contexts_with_turns(tmp_path):
    recording = Recording()
    recording.process(11, "serve", 1.024)
    recording.lines[-1]["tsgs"] *= 3
    recording.process(12, "train", 2.048)
    found = advice(alternating(recording).write(tmp_path / "run.ndjson"))
    assert {one["name"]: one["timeslice_us"] for one in found["tasks"]} == {"serve[11]": 1024, "train[12]": 2048}


def overlapping():
    """Each turn of serve ends only when the turn of train after it does."""
    recording = two_tasks()
    for one, following in zip(recording.lines[3::2], recording.lines[4::2]):
        one["end_ns"] = following["end_ns"]
    return recording


def lost_before_turns():
    recording = two_tasks()
    recording.lines.insert(-200, {"kind": "lost", "gpu": 0, "engine": "GR0", "after_ns": 0, "switches": 9})
    return recording


def with_a_turn_of_a_year():
    recording = two_tasks()
    recording.lines[-200]["end_ns"] = 365 * 86400 * 10**9
    return recording


@pytest.mark.parametrize("made, parts", (
    (lost_before_turns, {"serve[11]": 0.322, "train[12]": 0.629}), (overlapping, None), (with_a_turn_of_a_year, None)))
def test_no_more_than_the_whole_time_is_given_away(tmp_path, made, parts):
    """Recordings contradict themselves if turns of an engine overlap, or stand where switches were lost."""
    done = run("advise", "-j", "--from", made().write(tmp_path / "run.ndjson"))
    if parts is None:
        assert done.returncode == 1 and "serve[11] was alone on gpu0" in done.stderr
    else:
        assert {one["name"]: one["had"] for one in checked(done.stdout)["tasks"]} == pytest.approx(parts, abs=0.01)


def test_turns_before_the_begin_of_the_record_are_none(tmp_path):
    recording = two_tasks()
    recording.lines.append({"kind": "engine", "gpu": 0, "engine": "GR0", "by": "switches", "begin_ns": 10**12, "end_ns": None,
                            "samples": 0, "missed_samples": 0, "known_ns": 0})
    done = run("advise", "--from", recording.write(tmp_path / "run.ndjson", ends=False))
    assert done.returncode == 1 and not done.stdout and done.stderr.count("\n") == 1


@pytest.mark.parametrize("ms", (8557, 2**63 / MS))
def test_a_timeslice_that_no_list_can_hold_is_unknown(tmp_path, ms):
    recording = Recording()
    recording.process(11, "serve", ms)
    recording.process(12, "train", ms)
    assert not any(one["timeslice_known"] for one in advice(alternating(recording).write(tmp_path / "run.ndjson"))["tasks"])


def test_a_simulation_that_is_far_from_the_record_is_noted(tmp_path):
    """Both tasks always have work and timeslices of one length, but train has turns of two timeslices."""
    recording = Recording()
    recording.process(11, "serve", 1.024)
    recording.process(12, "train", 1.024)
    note, = [one for one in advice(alternating(recording).write(tmp_path / "run.ndjson"))["notes"] if "points from" in one]
    points = float(re.match(r"the simulation is up to ([0-9.]+) points from what was seen", note)[1])
    assert 10 < points < 20


def test_the_text_explains_pauses_that_are_bounded(tmp_path):
    recording = Recording()
    recording.process(11, "serve", 2.048)
    recording.process(12, "train", 2.048)
    text = run("advise", "--from", alternating(recording, first=0.5).write(tmp_path / "run.ndjson")).stdout
    assert re.search(r"^serve\[11\] .* 500 us +< 2\.2\d ms ", text, re.M), text
    assert "A pause with '<' is known only to be shorter" in " ".join(text.split())


def test_tasks_without_pauses_are_no_services(tmp_path):
    found = advice(two_tasks().write(tmp_path / "run.ndjson"))
    assert not any("served first" in one["name"] for one in found["proposals"])
    goals = [tuple(job["goal"] for job in one["jobs"]) for one in found["proposals"]]
    assert len(set(goals)) == len(goals), "no goals are proposed twice"


def test_lost_switches_are_left_out(tmp_path):
    whole, lossy = two_tasks(), Recording()
    lossy.process(11, "serve", 1.024)
    lossy.process(12, "train", 2.048)
    alternating(lossy, 100)
    end = lossy.ends[0] / MS
    lossy.lines.append({"kind": "lost", "gpu": 0, "engine": "GR0", "after_ns": lossy.ends[0], "switches": 4000})
    # Only the second task is seen for a while behind the loss.
    lossy.ends.clear()
    lossy.turn(12, end + 400, end + 402.15, gap_ns=None)
    at = end + 402.234
    for _ in range(100):
        for pid, length in ((11, 1.1), (12, 2.15)):
            lossy.turn(pid, at, at + length)
            at += length + 0.084
    parts = [{one["name"]: one["had"] for one in advice(each.write(tmp_path / "run.ndjson"))["tasks"]} for each in (whole, lossy)]
    assert parts[1] == pytest.approx(parts[0], abs=0.01)
    notes = advice(tmp_path / "run.ndjson")["notes"]
    assert notes == ["turns on gpu0 are missing in 1 place, and its 400 ms are left out"]


def test_turns_that_are_not_in_the_file_are_left_out(tmp_path):
    recording = two_tasks()
    turns = [n for n, line in enumerate(recording.lines) if line["kind"] == "turn"]
    del recording.lines[turns[100]:turns[200]]
    found = advice(recording.write(tmp_path / "run.ndjson"))
    assert len(found["notes"]) == 1 and "missing in 1 place" in found["notes"][0]
    assert {one["name"]: one["had"] for one in found["tasks"]} == pytest.approx({"serve[11]": 0.322, "train[12]": 0.629}, abs=0.01)


@pytest.mark.parametrize("chip, says", (("GA100", "gpu0 is GA100"), (None, "gpu0 is of an unknown chip")))
def test_another_chip_has_constants_of_an_h100(tmp_path, chip, says):
    note, = advice(two_tasks(chip=chip).write(tmp_path / "run.ndjson"))["notes"]
    assert note.startswith(says) and "H100" in note


REQUEST_US = {"H100": 750, "H200": 777}


@pytest.mark.parametrize("products, card, notes", (
    ((None, None), "H100", []),
    (("NVIDIA H200", "NVIDIA H200"), "H200", []),
    (("NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL"), "H100", []),
    (("NVIDIA H200 NVL", "NVIDIA H100 PCIe"), "H200", ["gpu1 is NVIDIA H100 PCIe: how long"]),
    (("NVIDIA GH200 480GB", "NVIDIA H200"), "H200", ["gpu0 is NVIDIA GH200 480GB, of which nothing was measured"])))
def test_requests_take_as_long_as_on_the_card(tmp_path, products, card, notes):
    recording = Recording(gpus=(0, 1), products=products)
    for gpu in (0, 1):
        recording.process(11, "serve", 1.024, gpu)
        recording.process(12, "train", 2.048, gpu)
        alternating(recording, gpu=gpu)
    path, scenario = recording.write(tmp_path / "run.ndjson"), tmp_path / "scenario.json"
    done = run("advise", "--from", path, "-o", scenario)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert f"a request to the driver takes {REQUEST_US[card]} us, as on an {card}." in text
    assert text.count("Note: ") == len(notes) and all(f"Note: {note}" in text for note in notes)
    gpus = json.loads(scenario.read_text(encoding="utf-8"))["gpus"]
    assert gpus["request_us"] == REQUEST_US[card] and gpus.get("model") == (card.lower() if any(products) else None)
    assert run("simulate", scenario).returncode == 0


def test_a_recording_may_be_packed_cut_off_or_piped(tmp_path):
    plain = two_tasks().write(tmp_path / "run.ndjson")
    packed = tmp_path / "run.ndjson.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    cut = two_tasks().write(tmp_path / "cut.ndjson", ends=False)
    tasks = advice(plain)["tasks"]
    assert advice(packed)["tasks"] == tasks
    with plain.open(encoding="utf-8") as file:
        assert checked(run("advise", "-j", "--from", "-", stdin=file).stdout)["tasks"] == tasks
    assert advice(cut)["notes"] == [f"{cut} is incomplete: its end was cut off"]
    cut.write_text("".join(plain.read_text(encoding="utf-8").splitlines(True)[:3]), encoding="utf-8")
    done = run("advise", "--from", cut)
    assert done.returncode == 1 and done.stderr.endswith(f"; {cut} is incomplete: its end was cut off\n") and not done.stdout


def only_samples():
    recording = Recording()
    for n in range(20):
        recording.turn(None, 50 * n, 50 * n + 25, runlist=0, tsg=n % 2, context=None)
    return recording


def one_task():
    recording = Recording()
    recording.process(11, "serve", 1.024)
    recording.turn(11, 0, 1000, whole=False)
    return recording


@pytest.mark.parametrize("recording, says", (
    (Recording, "no task had a turn"), (only_samples, "samples alone"), (one_task, "serve[11] was alone on gpu0")))
def test_recordings_of_which_nothing_can_be_said(tmp_path, recording, says):
    path = recording().write(tmp_path / "run.ndjson")
    done = run("advise", "--from", path, "-o", tmp_path / "scenario.json")
    assert done.returncode == 1 and says in done.stderr and str(path) in done.stderr and not done.stdout
    assert done.stderr.count("\n") == 1 and not (tmp_path / "scenario.json").exists()


@pytest.mark.parametrize("text, says", (("", "is empty"), ("hello\n", "line 1 of"), ('{"version": 1}\n', "line 1 of"), ("{", "line 1 of")))
def test_files_that_are_no_recordings(tmp_path, text, says):
    path = tmp_path / "run.ndjson"
    path.write_text(text)
    done = run("advise", "--from", path)
    assert done.returncode == 1 and says in done.stderr and str(path) in done.stderr and not done.stdout


@pytest.mark.parametrize("words, status, says", (
    (("--from", "/nonexistent"), 1, "/nonexistent"), (("--from", "/"), 1, "Is a directory"),
    (("--from", RECORDINGS[0], "-o", "/nonexistent/x.json"), 1, "cannot write /nonexistent/x.json: No such file"),
    (("--from", RECORDINGS[0], "-o", "-"), 1, "the advice is on standard output"),
    (("--from", RECORDINGS[0], "--for", "5s"), 1, "--for has no effect with --from"),
    (("--from", RECORDINGS[0], "-g", "0"), 1, "--gpu has no effect with --from"),
    (("--for", "1us"), 1, "--for"), (("--for", "1h"), 1, "--for"), (("more",), 1, "does not take 'more'")))
def test_words_that_make_no_sense(words, status, says):
    done = run("advise", *words)
    assert done.returncode == status and says in done.stderr and not done.stdout


def test_the_scenario_is_for_its_owner_or_keeps_the_mode_of_the_file(tmp_path):
    path, link = tmp_path / "run.json", tmp_path / "link.json"
    advice(RECORDINGS[0], "-o", path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600, "it names processes, like a recording"
    text = path.read_text(encoding="utf-8")
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    advice(RECORDINGS[0], "-o", link)
    assert link.is_symlink() and path.read_text(encoding="utf-8") == text, "the file behind the link is replaced"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 and len(list(tmp_path.iterdir())) == 2


def test_a_device_or_a_pipe_stays_and_is_written_to(tmp_path):
    """The device is a terminal, because nothing in /dev/pts can be replaced, whatever the program does."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        try:
            advice(RECORDINGS[0], "-o", pipe)
            assert pipe.is_fifo()
            text, _ = reader.communicate(timeout=PATIENCE_S)
        finally:
            reader.kill()
    assert json.loads(text)["control"] == "none"
    terminal, device = os.openpty()
    try:
        advice(RECORDINGS[0], "-o", os.ttyname(device))
        assert b'"control": "none"' in os.read(terminal, 4096)
    finally:
        os.close(terminal)
        os.close(device)


def test_a_full_disk_leaves_the_older_file(tmp_path):
    """The limit of a file's size stands for the disk."""
    path = tmp_path / "run.json"
    path.write_text("old", encoding="utf-8")
    done = subprocess.run(["sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh", built("bin/nvqos"), "advise", "--from",
                           RECORDINGS[0], "-o", path], capture_output=True, check=False, text=True, timeout=PATIENCE_S)
    assert done.returncode == 5 and f"cannot write {path}: File too large" in done.stderr and not done.stdout
    assert path.read_text(encoding="utf-8") == "old" and len(list(tmp_path.iterdir())) == 1


def test_tasks_that_run_are_watched(machine):
    pids = [machine.process().pid for _ in range(3)]
    done = machine.run("advise", "-j", "--for", "2s", "-o", machine.folder / "scenario.json")
    assert done.returncode == 0, done.stderr
    found = checked(done.stdout)
    assert sorted(one["name"] for one in found["tasks"]) == sorted(f"sleep[{pid}]" for pid in pids)
    for one in found["tasks"]:
        assert one["had"] == pytest.approx(0.32, abs=0.03) and one["simulated"] == pytest.approx(one["had"], abs=0.03)
        assert one["who"] in map(str, pids)
        assert one["timeslice_known"] and one["timeslice_us"] == pytest.approx(2000, abs=16), "as the list has it"
    assert len(simulated(machine.folder / "scenario.json")) == 3
    assert not any(machine.changes(pid) for pid in pids), "nothing is changed"


def test_gpus_that_are_named_are_watched(machine, monkeypatch):
    """All tasks run on the first of two GPUs."""
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    for _ in range(2):
        machine.process()
    first = machine.run("advise", "-j", "--for", "1s", "--gpu", "0")
    assert first.returncode == 0 and {one["gpu"] for one in checked(first.stdout)["tasks"]} == {0}, first.stderr
    second = machine.run("advise", "--for", "500ms", "--gpu", "1")
    assert second.returncode == 5 and "no task had a turn" in second.stderr and not second.stdout


def test_tasks_that_do_not_run_cannot_be_watched(machine):
    done = machine.run("advise", "--for", "200ms")
    assert done.returncode == 5 and "no task had a turn" in done.stderr and not done.stdout
    machine.process()
    done = machine.run("advise", "--for", "500ms")
    assert done.returncode == 5 and "was alone on gpu0" in done.stderr and not done.stdout
