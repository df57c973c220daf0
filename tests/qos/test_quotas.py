# SPDX-License-Identifier: MIT OR GPL-2.0
"""The quota machine through lab/quotas/replay: against a second one, on examples worked out by hand, and on files that
are no cases. The machine's properties: tests/qos. No GPU, no VM."""

import copy
import json
import os
import pathlib
import random
import re
import subprocess

import building
import ctl
import pytest
import quota_machine
from quota_cases import READINGS, SCHEMES, some_case, values

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 300
TABLES = ("quota", "C_start", "C_end", "issued", "refused", "used", "refills")
# Random cases of each scheme and seed.
CASES = 100
SEEDS = range(60 if os.environ.get("NVDEBUG_LONG") else 8)


def replay(text, **options):
    """The program on what is in stdin."""
    program = building.built("lab/quotas/quota-replay")
    done = subprocess.run([program, "-"], input=text, check=False, capture_output=True, text=True,
                          timeout=PATIENCE_S, **options)
    return ctl.Result(done.returncode, done.stdout, done.stderr)


def answers(cases):
    result = replay(json.dumps(cases))
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    assert [one["id"] for one in found] == [case["id"] for case in cases]
    return found


def expect_agreement(cases):
    for case, found in zip(cases, answers(cases)):
        assert found["epochs"] == quota_machine.replay(case), json.dumps(case)


# --- a second machine ---

@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_another_machine_does_the_same(scheme, seed):
    rng = random.Random(f"{scheme} {seed}")
    expect_agreement([some_case(rng, n, scheme) for n in range(CASES)])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_with_each_reading_alone(scheme):
    rng = random.Random(scheme)
    late = {"charge": "complete"}
    expect_agreement([some_case(rng, f"{name} {value} {n}", scheme,
                                {name: value, **(late if name == "latency" else {})})
                      for name, value in values() for n in range(5)])


def test_each_reading_matters():
    """Else the comparisons above would show nothing of it."""
    rng = random.Random("matters")
    plain = [some_case(rng, n, SCHEMES[n % len(SCHEMES)], {}) for n in range(250)]
    before = [one["epochs"] for one in answers(plain)]
    late = copy.deepcopy(plain)
    for case in late:
        case["readings"] = {"charge": "complete"}
    before_late = [one["epochs"] for one in answers(late)]
    for name, all_of in READINGS.items():
        for value in all_of[1:]:
            cases = copy.deepcopy(late if name == "latency" else plain)
            for case in cases:
                case["readings"][name] = value
            found = [one["epochs"] for one in answers(cases)]
            if (name, value) != ("charge", "complete"):  # after no cycles: as at issue
                assert found != (before_late if name == "latency" else before), (name, value)


def test_again_is_the_same():
    rng = random.Random("again")
    text = json.dumps([some_case(rng, n) for n in range(200)])
    assert replay(text) == replay(text)


# --- by hand ---

def two_kernels(offers, epochs=2, scheme="naive", **readings):
    """The paper's Figure 4: a QoS kernel with a quota of 100, and one that begins with 50. One SM."""
    return {"id": "figure 4", "scheme": scheme, "readings": {"init_ipc": "5/2", **readings},
            "input": {"S": 1, "W": 2, "T": 20, "kernels": [{"qos": True, "goal": "5"}, {"qos": False}],
                      "epochs": [{"offers": offers}] + [{}] * (epochs - 1)}}


def rule(kernel, lanes, to=20, **more):
    return {"sm": "all", "k": kernel, "to": to, "lanes": lanes, **more}


# K0 uses its 100 up in four cycles; K1 overdraws its 50 by 3 in two, by a warp of 21 lanes.
BOTH_USE_UP = [rule(0, [32, 32, 32, 4]), rule(1, [32, 21], to=2)]
# K0 leaves 40 of its 100, K1 18 of its 50.
BOTH_LEAVE = [rule(0, [32, 28], to=2), rule(1, 32, to=1)]


def epochs_of(case):
    return answers([case])[0]["epochs"]


def test_naive_adds_to_what_is_overdrawn():
    first, second = epochs_of(two_kernels(BOTH_USE_UP))
    assert first == {"first_cycle": 0, "length": 20, "alpha": ["1", "1"], "goal": ["5", "5/2"],
                     "quota": [[100, 50]], "C_start": [[100, 50]], "C_end": [[0, 47]],
                     "issued": [[4, 2]], "refused": [[16, 0]], "used": [[100, 53]], "refills": [[0, 1]]}
    # The other kernel achieved 53/20, and the QoS kernel was on its goal.
    assert second["goal"] == ["5", "53/20"]
    assert second["C_start"] == [[100, 53]]


def test_elastic_gives_all_a_new_quota():
    first = epochs_of(two_kernels(BOTH_USE_UP, scheme="elastic"))[0]
    # After the fourth cycle both have it; K0 goes on, uses it up at the eighth, and waits for K1's 47.
    assert first["refills"] == [[1, 1]]
    assert first["issued"] == [[8, 2]] and first["C_end"] == [[0, 47]]


def test_elastic_over_the_gpu_begins_an_epoch():
    found = epochs_of(two_kernels(BOTH_USE_UP, epochs=1, scheme="elastic", elastic_scope="gpu"))
    assert [(one["first_cycle"], one["length"]) for one in found] == [(0, 4), (4, 16)]
    assert found[0]["C_end"] == [[0, -3]] and found[0]["refills"] == [[0, 0]]
    # K0 had 25 per cycle of 5, K1 53/4: its goal is 53/4 * 5, and the debt is kept.
    assert found[1]["goal"] == ["5", "265/4"]
    assert found[1]["C_start"] == [[100, 20 * 64 - 3]], "a quota is bounded by what two slots can issue"


def test_rollover_keeps_the_rest_of_qos_kernels():
    second = epochs_of(two_kernels(BOTH_LEAVE, scheme="rollover"))[1]
    # 60 of 100: α is 5/3, K1's goal max(1, 8/5 * (3 / (5/3 * 5))).
    assert second["alpha"] == ["5/3", "1"] and second["goal"] == ["5", "1"]
    assert second["quota"] == [[167, 20]] and second["C_start"] == [[207, 20]]


@pytest.mark.parametrize("scheme, starts", (("naive", [100, 32]), ("history", [167, 20]), ("elastic", [167, 20])))
def test_others_drop_it(scheme, starts):
    """K1's goal is 8/5 * 3/5 in naive, less than 1: 20; the search divides by α elsewhere."""
    second = epochs_of(two_kernels(BOTH_LEAVE, scheme=scheme))[1]
    assert second["C_start"] == [[starts[0], 20]]


def test_rollover_time_lets_the_other_wait():
    offers = [rule(0, 32), rule(1, 32)]
    plain, gated = (epochs_of(two_kernels(offers, epochs=1, scheme=scheme))[0]
                    for scheme in ("rollover", "rollover_time"))
    # K0 is at -28 after the fourth cycle. K1 takes 50 in two cycles of the first four, or after them.
    assert plain["refused"] == [[16, 2]] and gated["refused"] == [[16, 4]]


def test_charged_when_complete():
    case = two_kernels([rule(0, 32, count=2)], epochs=2, charge="complete", latency=3)
    first, second = epochs_of(case)
    # Of 100, 64 are charged after cycle 3 and 64 after cycle 4; until then two issue in each cycle.
    assert first["issued"] == [[10, 0]] and first["used"] == [[320, 0]] and first["C_end"] == [[-220, 50]]
    assert second["C_start"][0][0] == 100
    case["input"]["epochs"][0]["offers"] = [rule(0, 32, **{"from": 19})]
    first, second = epochs_of(case)
    assert first["used"] == [[0, 0]] and second["used"] == [[32, 0]], "in the epoch in which it completes"


def test_a_kernel_that_left_keeps_nobody_from_a_refill():
    case = two_kernels([rule(1, 32)], epochs=1)
    stays = epochs_of(case)[0]
    assert stays["issued"] == [[0, 2]]
    case["input"]["epochs"][0]["exits"] = [{"sm": 0, "k": 0, "at": 5}]
    left = epochs_of(case)[0]
    # 50, 18, -14 after the second cycle; +50 after the sixth; then two cycles of three, as 36, 4, -28, 22, -10, ...
    assert left["quota"] == stays["quota"] and left["C_start"] == stays["C_start"]
    assert left["used"][0][1] > 300 and left["refills"][0][1] > 3
    case["readings"]["absent"] = "counts"
    assert epochs_of(case)[0]["issued"] == [[0, 2]]


def test_shares_by_blocks():
    case = {"id": 1, "scheme": "naive", "readings": {}, "input": {
        "S": 3, "W": 1, "T": 10, "kernels": [{"qos": True, "goal": "1/3", "tbs": [1, 2, 4]}],
        "epochs": [{}, {"tbs": [[0, 1, 1]]}, {}]}}
    # ceil(10/3) = 4: 4/7, 8/7 and 16/7.
    assert [one["quota"] for one in epochs_of(case)] == [[[1], [1], [2]], [[0], [2], [2]], [[0], [2], [2]]]


# --- forms ---

def test_numbers_in_other_forms():
    case = two_kernels(BOTH_LEAVE, scheme="rollover", init_ipc=2.5, hist="3", alpha_max=1.1)
    same = two_kernels(BOTH_LEAVE, scheme="rollover", init_ipc="5/2", hist=3, alpha_max="11/10")
    assert epochs_of(case) == epochs_of(same)
    assert epochs_of(case)[1]["alpha"] == ["11/10", "1"], "the decimal fraction that is written"


def test_the_answer_is_in_the_order_of_the_file():
    cases = [two_kernels(BOTH_LEAVE, scheme=scheme) | {"id": f"{scheme} é"} for scheme in reversed(SCHEMES)]
    found = answers(cases)
    assert [list(one) for one in found] == [["id", "scheme", "readings", "epochs"]] * 5
    for case, one in zip(cases, found):
        assert (one["scheme"], one["readings"]) == (case["scheme"], case["readings"])
        assert [list(epoch) for epoch in one["epochs"]] == [
            ["first_cycle", "length", "alpha", "goal", *TABLES]] * 2
    assert not answers([])


UNKNOWN = (
    ({"round": "odd"}, "round: 'odd' is none of largest"),
    ({"elastic_scope": "tpc"}, "elastic_scope: 'tpc' is none of sm, gpu"),
    ({"warps": 3}, "'warps': there is no such reading"),
    ({"\x1b[2J": True}, "'?[2J': there is no such reading"),
    ({"cap": "yes"}, "cap: is neither true nor false"),
    ({"hist": 0}, "hist: 0 is not from 1"),
    ({"hist": "3/2"}, "hist: is not a whole number"),
    ({"search_floor": -1}, "search_floor: '-1' is less than 0"),
    ({"init_ipc": "-1/2"}, "init_ipc: '-1/2' is less than 0"),
    ({"init_ipc": "1/0"}, "init_ipc: '1/0' is not a number"),
    ({"alpha_max": "1/2"}, "alpha_max: '1/2' is less than 1"),
    ({"alpha_max": "9" * 500}, "alpha_max: '999"),
    ({"latency": []}, "latency: is neither a number nor"),
    ({"round": 3}, "round: is not a text"),
)


@pytest.mark.parametrize("reading, sentence", UNKNOWN, ids=[text for _, text in UNKNOWN])
def test_what_is_not_known_is_null(reading, sentence):
    good = two_kernels(BOTH_LEAVE)
    result = replay(json.dumps([good, good | {"readings": reading}, good]))
    assert result.status == 0
    assert [one["epochs"] is None for one in json.loads(result.out)] == [False, True, False]
    assert result.err.startswith("replay: -: [1].readings." + sentence), result.err
    assert result.err.endswith("of this case are null\n")
    assert result.err.count("\n") == 1 and "\x1b" not in result.err


def test_numbers_that_leave_what_is_exact_are_null():
    """Two kernels on their goals double the third's in each epoch, and nothing bounds it."""
    case = {"id": 1, "scheme": "naive", "readings": {"search_op": "sum", "search_base": "goal", "cap": False}, "input": {
        "S": 1, "W": 4, "T": 10, "epochs": [{"offers": [rule(0, 32, 10), rule(1, 32, 10)]}] * 60,
        "kernels": [{"qos": True, "goal": 32}, {"qos": True, "goal": 32}, {"qos": False}]}}
    result = replay(json.dumps([case]))
    assert result.status == 0 and json.loads(result.out)[0]["epochs"] is None
    assert "larger than 9007199254740992" in result.err
    case["readings"]["cap"] = True
    assert len(epochs_of(case)) == 60


GOOD = two_kernels(BOTH_LEAVE)


def changed(path, value):
    """The good case with a value in place of another."""
    case = copy.deepcopy(GOOD)
    at = case
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return json.dumps([GOOD, case])


BAD = {
    "no json": ("[{]", "line 1, column 3"),
    "nothing": ("", "line 1, column 1: the file is empty"),
    "deep": ("[" * (10 << 20), "line 1, column 13: "),
    "no list": (json.dumps(GOOD), "the file: is not a list"),
    "no case": ("[3]", "[0]: is not an object"),
    "a key twice": ('[{"id": 1, "id": 2}]', "[0].'id': is there twice"),
    "a field of none": (changed(("more",), 1), "[1]: there is no field 'more' here"),
    "a field of none deep": (changed(("input", "kernels", 1, "name"), 1), "[1].input.kernels[1]: there is no field"),
    "no scheme": (changed(("scheme",), "spart"), "[1].scheme: 'spart' is none of naive"),
    "scheme of a type": (changed(("scheme",), 4), "[1].scheme: is not a text"),
    "id": (changed(("id",), []), "[1].id: is neither"),
    "readings": (changed(("readings",), [1]), "[1].readings: is not an object"),
    "S": (changed(("input", "S"), 0), "[1].input.S: 0 is not from 1 to"),
    "negative T": (changed(("input", "T"), -5), "[1].input.T: -5 is not from 1 to"),
    "huge T": (changed(("input", "T"), 10 ** 15), "[1].input.T: 1000000000000000 is not from 1 to"),
    "no 64-bit T": (changed(("input", "T"), 10 ** 30), "[1].input.T: 1e+30 is more than"),
    "too large": ("[1e999]", "the file: a number is too large"),
    "W": (changed(("input", "W"), 1.5), "[1].input.W: is not a whole number"),
    "no kernels": (changed(("input", "kernels"), []), "[1].input.kernels: is empty"),
    "qos": (changed(("input", "kernels", 0, "qos"), 1), "[1].input.kernels[0].qos: is neither true nor false"),
    "goal": (changed(("input", "kernels", 0, "goal"), "5 per cent"), "[1].input.kernels[0].goal: '5 per cent' is not"),
    "goal of 0": (changed(("input", "kernels", 0, "goal"), "0/3"), "[1].input.kernels[0].goal: a goal is more than 0"),
    "no goal": (changed(("input", "kernels", 0), {"qos": True}), "[1].input.kernels[0]: the field 'goal' is missing"),
    "goal of another": (changed(("input", "kernels", 1, "goal"), "1"), "[1].input.kernels[1].goal: a kernel that is"),
    "blocks": (changed(("input", "kernels", 1, "tbs"), [1, 1]), "[1].input.kernels[1].tbs: has 2 entries"),
    "negative blocks": (changed(("input", "epochs", 1), {"tbs": [[1], [-1]]}), "[1].input.epochs[1].tbs[1][0]: -1"),
    "rows of blocks": (changed(("input", "epochs", 1), {"tbs": [[1]]}), "[1].input.epochs[1].tbs: has 1 entries"),
    "exit": (changed(("input", "epochs", 1), {"exits": [{"sm": 0, "k": 0, "at": 20}]}),
             "[1].input.epochs[1].exits[0].at: 20 is not from 0 to 19"),
    "sm": (changed(("input", "epochs", 0, "offers", 0, "sm"), 1), "[1].input.epochs[0].offers[0].sm: 1 is not from"),
    "all": (changed(("input", "epochs", 0, "offers", 0, "sm"), "every"), "[1].input.epochs[0].offers[0].sm: is neither"),
    "k": (changed(("input", "epochs", 0, "offers", 0, "k"), 2), "[1].input.epochs[0].offers[0].k: 2 is not from"),
    "to": (changed(("input", "epochs", 0, "offers", 0, "to"), 21), "[1].input.epochs[0].offers[0].to: 21 is not"),
    "every": (changed(("input", "epochs", 0, "offers", 0, "every"), 0), "[1].input.epochs[0].offers[0].every: 0"),
    "count": (changed(("input", "epochs", 0, "offers", 0, "count"), -1), "[1].input.epochs[0].offers[0].count: -1"),
    "lanes": (changed(("input", "epochs", 0, "offers", 0, "lanes"), 33), "[1].input.epochs[0].offers[0].lanes: 33"),
    "no lanes": (changed(("input", "epochs", 0, "offers", 0, "lanes"), []), "[1].input.epochs[0].offers[0].lanes: is"),
    "lanes of a list": (changed(("input", "epochs", 0, "offers", 0, "lanes"), [32, 0]),
                        "[1].input.epochs[0].offers[0].lanes[1]: 0 is not from 1 to 32"),
    "much work": (json.dumps([{"id": 1, "scheme": "naive", "readings": {}, "input": {
        "S": 1024, "W": 1, "T": 10 ** 9, "kernels": [{"qos": False}], "epochs": [{}]}}]), "[0].input: SMs, cycles"),
    "many offers": (json.dumps([{"id": 1, "scheme": "naive", "readings": {}, "input": {
        "S": 3, "W": 1, "T": 10 ** 9, "kernels": [{"qos": False}],
        "epochs": [{"offers": [{"sm": "all", "k": 0, "lanes": 1}]}]}}]), "[0].input: more than 2000000000 offers"),
}


@pytest.mark.parametrize("text, place", BAD.values(), ids=BAD)
def test_what_is_no_list_of_cases(text, place):
    result = replay(text)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("replay: -: " + place), result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("path, why", (("/nonexistent.json", "No such file"), ("/", "Is a directory")))
def test_files_that_cannot_be_read(path, why):
    program = building.built("lab/quotas/quota-replay")
    done = subprocess.run([program, path], check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"replay: {path} cannot be read: {why}") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", ((), ("a", "b")))
def test_words_that_are_no_file(words):
    program = building.built("lab/quotas/quota-replay")
    done = subprocess.run([program, *words], check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (1, "") and "usage: lab/quotas/replay CASES.json" in done.stderr


@pytest.mark.parametrize("stdout, why", ((">&-", "Bad file descriptor"), (">/dev/full", "No space left"),
                                         ("| true", "Broken pipe")))
def test_stdout_that_takes_nothing(tmp_path, stdout, why):
    cases = tmp_path / "cases.json"
    # More than a pipe holds.
    cases.write_text(json.dumps([GOOD] * 500), encoding="utf-8")
    program = building.built("lab/quotas/quota-replay")
    done = subprocess.run(["bash", "-c", f"set -o pipefail; '{program}' '{cases}' {stdout}"], check=False,
                          capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1
    assert re.fullmatch(f"replay: stdout cannot be written: {why}.*\n", done.stderr)


def test_the_lab_s_command(tmp_path):
    """From anywhere, with nothing but JSON on stdout."""
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps([GOOD]), encoding="utf-8")
    building.built("lab/quotas/quota-replay")
    link = tmp_path / "link"
    link.symlink_to(ROOT / "lab/quotas/replay")
    for program in (ROOT / "lab/quotas/replay", link):
        done = subprocess.run([program, "cases.json"], cwd=tmp_path, check=True, capture_output=True, text=True,
                              timeout=PATIENCE_S)
        assert json.loads(done.stdout)[0]["epochs"] == quota_machine.replay(GOOD)


# --- docs ---

def test_docs_list_the_readings():
    """Each with its default first."""
    page = (ROOT / "docs/quotas.md").read_text(encoding="utf-8")
    section = page.split("\n## Readings\n")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \| `([^`]+)`", section, re.M)
    assert dict(listed) == {name: json.dumps(all_of[0]).strip('"') for name, all_of in READINGS.items()}


def test_docs_example():
    page = (ROOT / "docs/quotas.md").read_text(encoding="utf-8")
    case, answer = (json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", page, re.M | re.S))
    assert answers(case) == answer
