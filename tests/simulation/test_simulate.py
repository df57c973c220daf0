# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos simulate: the command, its output and its page. Takes no GPU, no driver and no rights."""

import json
import re
import subprocess

import jsonschema
import pytest
from building import ROOT, built
from waiting import PATIENCE_S

EXAMPLES = ROOT / "docs/examples/simulate"
SCHEMA = json.loads((ROOT / "tools/nvqos/schema/nvqos.simulation.json").read_text(encoding="utf-8"))


def run(*words):
    return subprocess.run([built("bin/nvqos"), "simulate", *words], cwd=ROOT, capture_output=True, check=False,
                          text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S)


def result(*words, exit_status=0):
    done = run("-j", *words)
    assert done.returncode == exit_status and not done.stderr, done.stderr
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA, jsonschema.Draft202012Validator)
    return found


def example(name):
    return json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def written(tmp_path):
    def write(scenario):
        path = tmp_path / "scenario.json"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        return path
    return write


def test_a_decode_loop_beside_training():
    found = result(EXAMPLES / "decode.json")
    decode, train = found["jobs"]
    assert (decode["goal"], decode["gang"], train["goal"]) == ("share:50%", False, "best-effort")
    assert 0.49 < decode["got"] < 0.53 and decode["kept"] is True and decode["number"] == decode["got"]
    assert decode["seconds"] == {"n": 7, "kept": 7, "why_not": {}} and train["seconds"] is None
    assert decode["gpus"][0]["got_alone"] == pytest.approx(9000 / 9900, abs=0.001)
    assert decode["alone_per_s"] == pytest.approx(101, abs=0.2)
    assert decode["speed"] == pytest.approx(decode["per_s"] / decode["alone_per_s"], abs=1e-5)
    assert decode["request_ms"]["n"] == pytest.approx(7 * decode["per_s"], abs=1)
    assert decode["together"] is None and train["kept"] is True and train["number"] is None
    assert found["gpus"] == [{"gpu": 0, "busy": pytest.approx(decode["got"] + train["got"], abs=3e-6)}]


def test_seconds_without_work_have_their_reason(written):
    """A job that comes after 5 s has no demand before. A job that is always there has none later, and neither has a cap."""
    program = [{"kernel_us": 2000}]
    jobs = [{"name": "late", "gpus": [0], "goal": "share:40%", "start_ms": 5000, "program": program},
            {"name": "share", "gpus": [0], "goal": "share:30%", "program": program},
            {"name": "cap", "gpus": [0], "goal": "cap:20%", "start_ms": 5000, "program": program},
            {"name": "rest", "gpus": [0], "program": program}]
    path = written({"version": 1, "duration_ms": 10000, "warmup_ms": 1000, "gpus": {"count": 1}, "jobs": jobs})
    found = json.loads(run("-j", path).stdout)
    jsonschema.validate(found, SCHEMA, jsonschema.Draft202012Validator)
    late, share, cap, rest = (job["seconds"] for job in found["jobs"])
    assert late["n"] == 9 and late["why_not"] == {"no demand": 4} and late["kept"] >= 4
    assert share["why_not"] == cap["why_not"] == {} and rest is None


def test_two_gangs_and_a_service_and_a_kill():
    found = result(EXAMPLES / "two-gangs.json")
    big, small, answers = found["jobs"]
    assert big["kept"] is True and all(one["got"] >= 0.49 for one in big["gpus"])
    assert small["kept"] is None and [one["gpu"] for one in small["gpus"]] == [0, 1, 2, 3]
    # Rank 2 was killed after 15 of 20 s, and its peers spin.
    assert small["gpus"][2]["got"] < small["gpus"][0]["got"] - 0.05
    assert answers["request_ms"]["p99"] < 12 and answers["speed"] == 1
    # Without windows it is 0.27 and 0.11.
    assert small["together"] > 0.6 and big["together"] > 0.8
    assert found["requests_per_s"] > 0 and answers["gang"] is False and answers["gang_why"] is None
    for job in (big, small):
        assert job["gang"] is True and job["gang_why"].startswith("a gang, with windows on ")
        assert job["most_in_a_second"] >= max(one["got"] for one in job["gpus"])


def test_jobs_of_several_nodes_have_windows_by_the_clock():
    found = result(EXAMPLES / "two-nodes.json")
    big, small = found["jobs"]
    assert all(one["got"] >= 0.59 for one in big["gpus"]) and big["kept"] is True and big["seconds"]["kept"] == 10
    assert big["gang"] is True and big["gang_why"] == "a gang, with windows by the clock on 16 GPUs of 2 nodes"
    assert big["together"] > 0.85 and small["together"] > 0.75
    before = result("--none", EXAMPLES / "two-nodes.json")
    assert sum(job["speed"] for job in before["jobs"]) < 0.45 < 0.97 < big["speed"] + small["speed"]


def test_an_engine_beside_fine_tuning():
    """With the goal no request is much slower than alone, and the fine-tuning has the time between the engine's periods."""
    found, before = result(EXAMPLES / "engine.json"), result("--none", EXAMPLES / "engine.json")
    engine, tune = found["jobs"]
    served = engine["engine"]
    assert served["attained"] == served["compared"] > 40 > before["jobs"][0]["engine"]["attained"]
    assert served["ttft_ms"]["p99"] < 1.05 * served["alone_ttft_ms"]["p99"]
    assert served["tpot_ms"]["p50"] < 1.02 * served["alone_tpot_ms"]["p50"]
    assert served["tpot_ms"]["p99"] < 1.04 * served["alone_tpot_ms"]["p99"]
    assert served["gap_ms"]["n"] > 50 * served["ttft_ms"]["n"]
    assert tune["got_while_free"] > 0.95 and "engine" not in tune and "got_while_free" not in engine
    table = run(EXAMPLES / "engine.json").stdout
    assert max(map(len, table.splitlines())) <= 80
    assert f"engine: {served['attained']} of {served['compared']} requests within 1.25 of alone\n" in table


@pytest.mark.parametrize("change, says", (
    ({"program": [{"kernel_us": 1}]}, "jobs[0].program: an engine has no program"),
    ({"arrivals": None}, "jobs[0].engine: an engine needs 'arrivals'"),
    ({"arrivals": {"mean_ms": 9, "cv": 11}}, "jobs[0].arrivals.cv: is neither 0 nor from 0.05 to 10"),
    ({"arrivals": {"mean_ms": 9, "cv": 0.04}}, "jobs[0].arrivals.cv: is neither 0 nor from 0.05 to 10"),
    ({"engine": {"decode_us": 1, "tokens": 1}}, "jobs[0].engine: the field 'prefill_us' is missing"),
    ({"engine": {"prefill_us": 1, "decode_us": 1, "tokens": 0}}, "jobs[0].engine.tokens: "),
    ({"engine": {"prefill_us": 0, "decode_us": 1, "tokens": 1, "pause_us": 0}}, "jobs[0].engine: a step takes less than 1 us"),
    ({"engine": {"prefill_us": 1, "decode_us": 1, "tokens": 1, "speed": 1}}, "jobs[0].engine: there is no field 'speed'")))
def test_an_engine_that_makes_no_sense(written, change, says):
    scenario = example("engine")
    scenario["gpus"]["count"] = 2
    scenario["jobs"][0] |= change
    scenario["jobs"][0] = {key: value for key, value in scenario["jobs"][0].items() if value is not None}
    path = written(scenario)
    done = run(path)
    assert done.returncode == 1 and done.stderr.startswith(f"nvqos: {path}: {says}"), done.stderr


def test_an_engine_on_two_gpus(written):
    """It is as fast as on one, and the fine-tuning on one of them has its time between periods."""
    scenario = example("engine") | {"duration_ms": 100_000}
    one = result(written(scenario))["jobs"][0]["engine"]
    scenario["gpus"]["count"] = 2
    scenario["jobs"][0]["gpus"] = [0, 1]
    engine, tune = result(written(scenario))["jobs"]
    assert engine["engine"]["compared"] == one["compared"] == engine["engine"]["attained"]
    assert engine["engine"]["alone_tpot_ms"]["p50"] < 1.01 * one["alone_tpot_ms"]["p50"]
    assert engine["engine"]["tpot_ms"]["p50"] < 1.02 * engine["engine"]["alone_tpot_ms"]["p50"]
    assert engine["gang_why"] == "left as it is, because those that are not served first share no GPU"
    assert tune["got_while_free"] > 0.95 and engine["gpus"][1]["got"] > 0.3


@pytest.mark.parametrize("goal, kept", (("ttft:60ms,tpot:10ms", True), ("ttft:20ms", False), ("tpot:8ms@50", True), ("tpot:7ms", False)))
def test_goals_in_the_words_of_an_engine(written, goal, kept):
    scenario = example("engine")
    scenario["jobs"][0]["goal"] = goal
    engine = result(written(scenario), exit_status=0 if kept else 4)["jobs"][0]
    assert engine["kept"] is kept and engine["goal"] == goal
    latency = result(EXAMPLES / "engine.json")["jobs"][0]["engine"]
    assert engine["engine"] == latency, "it is served as with latency"
    if "@" not in goal:
        assert engine["number"] == engine["engine"]["ttft_ms" if "ttft" in goal else "tpot_ms"]["p99"]
    scenario["jobs"][1]["goal"] = goal
    assert "jobs[1].goal: ttft and tpot are goals of an 'engine'" in run(written(scenario)).stderr


def test_skew_of_one_node_changes_nothing(written):
    scenario = example("two-gangs") | {"duration_ms": 5000, "events": []}
    before = run("-j", written(scenario)).stdout
    scenario["gpus"] |= {"nodes": 1, "skew_us": 5000}
    assert run("-j", written(scenario)).stdout == before


def test_shares_of_gangs_that_clash_pair_by_pair_are_refused(written):
    train = [{"kernel_us": 9000}, {"collective_us": 100, "name": "g"}]
    scenario = {"version": 1, "gpus": {"count": 3}, "jobs": [
        {"name": name, "gpus": gpus, "goal": "share:40%", "program": train}
        for name, gpus in (("a", [0, 1]), ("b", [1, 2]), ("c", [2, 0]))]}
    refused = result(written(scenario), exit_status=2)["refused"]
    assert refused.startswith("each two of the jobs a, b, c share a GPU, ") and "add up to 120 %" in refused
    for job in scenario["jobs"]:
        job["goal"] = "share:30%"
    assert result(written(scenario))["refused"] is None
    # Ranks of replicas do not wait for each other: two of them are on each GPU, with 80 %.
    for job in scenario["jobs"]:
        job |= {"goal": "share:40%", "gang": False, "program": [{"kernel_us": 9000}]}
    assert result(written(scenario))["refused"] is None


def test_the_table_says_why_jobs_are_gangs_or_left_alone():
    assert "\nbig: a gang, with windows on 4 GPUs\n" in run(EXAMPLES / "two-gangs.json").stdout
    assert "gang" not in run("--none", EXAMPLES / "two-gangs.json").stdout.split("\n", 1)[1]
    assert all(job["gang"] is False for job in result("--none", EXAMPLES / "two-gangs.json")["jobs"])


def test_without_goals_nothing_is_asked_for_or_judged():
    found = result("--none", EXAMPLES / "decode.json")
    assert found["requests_per_s"] == 0 and [job["kept"] for job in found["jobs"]] == [None, None]
    assert found["jobs"][0]["got"] < result(EXAMPLES / "decode.json")["jobs"][0]["got"]


def test_control_of_the_file_is_the_option(written):
    scenario = example("decode") | {"control": "none"}
    assert run("-j", written(scenario)).stdout == run("-j", "--none", EXAMPLES / "decode.json").stdout


@pytest.mark.parametrize("words", ((), ("-j",), ("-j", "--none")))
def test_the_same_file_gives_the_same_bytes(words):
    first, second = (run(*words, EXAMPLES / "two-gangs.json").stdout for _ in range(2))
    assert first and first == second


def test_equal_jobs_share_their_run_alone(written):
    job = {"gpus": [0], "cpu_jitter": 0.3, "program": [{"kernel_us": 900}, {"think_us": 300}]}
    others = ({"goal": "share:30%"}, {"gpus": [1]}, {"start_ms": 1}, {"arrivals": {"mean_ms": 9}}, {"arrivals": {"mean_ms": 9}})
    jobs = [job | {"name": "first"}] + [job | {"name": f"job {n}"} | other for n, other in enumerate(others)]
    found = result(written({"version": 1, "gpus": {"count": 2}, "jobs": jobs}))
    alone = [(one["alone_per_s"], one["alone_request_ms"], one["gpus"][0]["got_alone"]) for one in found["jobs"]]
    assert alone[0] == alone[1] == alone[2] != alone[3] != alone[4] != alone[5]
    # Each service is compared with its own requests.
    assert alone[4][1]["n"] != alone[5][1]["n"]


def test_another_seed_gives_other_numbers(written):
    scenario = example("two-gangs")
    same, other = (run("-j", written(scenario | {"seed": seed})).stdout for seed in (3, 4))
    assert same == run("-j", EXAMPLES / "two-gangs.json").stdout != other


def test_goals_that_cannot_be_kept_are_refused(written):
    scenario = example("decode")
    scenario["jobs"][1]["goal"] = "share:60%"
    found = result(written(scenario), exit_status=2)
    assert found["jobs"] == [] and found["gpus"] == []
    assert "gpu0: shares and speeds add up to 110 %" in found["refused"]
    done = run(written(scenario))
    assert done.returncode == 2 and done.stdout.startswith("Refused: gpu0: shares and speeds add up to 110 %")
    assert max(map(len, done.stdout.splitlines())) <= 80
    # Without control they are ignored.
    result("--none", written(scenario))


@pytest.mark.parametrize("goal", ("share:30%,cap:40%", "latency:5ms", "latency,cap:30%", "best-effort:3", "cap:30%",
                                  "timeslice:4ms"))
def test_goals_are_those_of_the_command_line(written, goal):
    scenario = example("decode")
    scenario["jobs"][1]["goal"] = goal
    done = run("-j", written(scenario))
    assert done.returncode in (0, 4) and json.loads(done.stdout)["jobs"][1]["goal"] == goal


@pytest.mark.parametrize("field, value, says", (
    ("goal", "share:0.3", "jobs[1].goal: share takes a part as share:30%"),
    ("goal", "fast", "jobs[1].goal: 'fast' is no goal"),
    ("goal", "speed:30%", "jobs[1].goal: speed is not simulated"),
    ("gpus", [1], "jobs[1].gpus[0]: "),
    ("program", [{"kernel_us": "9"}], "jobs[1].program[0].kernel_us: is not a number"),
    ("colour", 1, "jobs[1]: there is no field 'colour'")))
def test_a_file_that_makes_no_sense(written, field, value, says):
    scenario = example("decode")
    scenario["jobs"][1][field] = value
    path = written(scenario)
    done = run(path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"nvqos: {path}: {says}") and done.stderr.count("\n") == 1
    assert run("-j", path).returncode == 1


def test_a_model_has_its_constants_and_says_where_they_are_from(written):
    scenario = example("decode")
    plain = result(written(scenario))
    scenario["gpus"]["model"] = "h100"
    found = result(written(scenario))
    assert found.pop("model") == {"name": "h100", "measured": "an H100 80GB HBM3 with driver 580.159.04"}
    assert found == plain  # the defaults are those of the H100
    for name, gpu in (("h200", "an H200"), ("h100", "an H100 80GB HBM3")):
        scenario["gpus"]["model"] = name
        assert run(written(scenario)).stdout.splitlines()[-1] == f"The model {name} was measured on {gpu} with driver 580.159.04"
    scenario["gpus"]["switch_us"] = 500
    assert result(written(scenario))["gpus"][0]["busy"] < found["gpus"][0]["busy"] - 0.02
    scenario["jobs"][1]["goal"] = "share:60%"
    assert result(written(scenario), exit_status=2)["model"]["name"] == "h100"


def test_an_unknown_model_is_refused_with_the_known_ones(written):
    scenario = example("decode")
    scenario["gpus"]["model"] = "h1000"
    done = run(written(scenario))
    assert done.returncode == 1 and "gpus.model: no model is called 'h1000'; those that are known: h100, h200" in done.stderr


@pytest.mark.parametrize("words", (("-",), ("/dev/stdin",)))
def test_a_scenario_from_a_pipe(words):
    scenario = (EXAMPLES / "decode.json").read_text(encoding="utf-8")
    done = subprocess.run([built("bin/nvqos"), "simulate", *words], input=scenario, capture_output=True, check=True, text=True,
                          timeout=PATIENCE_S)
    assert done.stdout == run(EXAMPLES / "decode.json").stdout
    cut = subprocess.run([built("bin/nvqos"), "simulate", *words], input=scenario[:100], capture_output=True, check=False,
                         text=True, timeout=PATIENCE_S)
    name = "standard input" if words == ("-",) else words[0]
    assert (cut.returncode, cut.stdout) == (1, "") and cut.stderr.startswith(f"nvqos: {name}: line ")


@pytest.mark.parametrize("path, says", (("/", "Is a directory"), ("/dev/zero", "it has more than ")))
def test_a_path_that_is_no_scenario(path, says):
    done = run(path)
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith(f"nvqos: {path} cannot be read: {says}")


def test_a_file_that_is_not_there():
    done = run("/nonexistent")
    assert done.returncode == 1 and "/nonexistent" in done.stderr


@pytest.mark.parametrize("words, says", (((), "takes SCENARIO"), (("a", "b"), "does not take 'b'"),
                                         (("--nnoe", "a"), "did you mean --none?")))
def test_words_that_make_no_sense(words, says):
    done = run(*words)
    assert done.returncode == 1 and says in done.stderr


def test_options_may_stand_before_the_verb():
    scenario = EXAMPLES / "decode.json"
    done = subprocess.run([built("bin/nvqos"), "-j", "simulate", "--none", scenario], capture_output=True, check=True,
                          text=True, timeout=PATIENCE_S)
    assert done.stdout == run("-j", "--none", scenario).stdout


def test_a_file_of_goals_may_have_the_name_of_the_verb():
    done = subprocess.run([built("bin/nvqos"), "--file", "simulate"], cwd="/", capture_output=True, check=False, text=True,
                          timeout=PATIENCE_S)
    assert done.returncode == 1 and "simulate" in done.stderr and "SCENARIO" not in done.stderr


def test_help_and_completion():
    program = built("bin/nvqos")

    def out(*words):
        return subprocess.run([program, *words], capture_output=True, check=True, text=True, timeout=PATIENCE_S).stdout
    assert out("help", "simulate") == out("simulate", "-h") == out("simulate", "--help")
    assert "--none" in out("simulate", "-h") and "\n  simulate  what goals would do" in out("--help")
    assert {line.split("\t")[0] for line in out("__complete", "simulate", "--").splitlines()} == {
        "--none", "--output", "--json", "--help", "--version"}
    assert out("__complete", "si").startswith("simulate\t")
    page = (ROOT / "tools/nvqos/nvqos.1.in").read_text(encoding="utf-8")
    assert "\n.Cm simulate\n" in page and "\n@option --none\n" in page


def test_the_pages_show_what_their_commands_print():
    page = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("simulate.md", "gangs.md", "qos-thinking.md"))
    shown = re.findall(r"^```\n\$ nvqos simulate (.*?)\n(.*?)^```", page, re.M | re.S)
    assert len(shown) == 7
    for words, text in shown:
        assert run(*words.split()).stdout == text
    for path in sorted(EXAMPLES.glob("*.json")):
        assert f"```json\n{path.read_text(encoding='utf-8')}```" in page


def test_rows_of_gangs_are_as_the_page_has_them():
    """The script simulates the jobs of qos_gangs.py. These rows are the ones that take the least time."""
    done = subprocess.run([ROOT / "tests/hardware/gangs_simulated.py", built("bin/nvqos"), "--rows", "train64-2,serve-2,train16-8"],
                          capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
    assert done.returncode == 0 and not done.stderr, done.stderr
    header, _, *rows = done.stdout.splitlines()
    assert header == "| row | as it is | nvqos | windows |" and len(rows) == 3
    page = (ROOT / "docs/gangs.md").read_text(encoding="utf-8")
    for row in rows:
        assert f"\n{row} " in page, row


def test_progress_of_short_bursts_is_as_the_page_has_it():
    done = subprocess.run([EXAMPLES / "short-bursts", built("bin/nvqos")], capture_output=True, check=False, text=True,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
    assert done.returncode == 0 and not done.stderr, done.stderr
    header, _, *rows = done.stdout.splitlines()
    assert len(rows) == 3
    page = (ROOT / "docs/qos-thinking.md").read_text(encoding="utf-8")
    for row in (header, *rows):
        assert f"\n{row} " in page, row
