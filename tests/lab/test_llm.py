# SPDX-License-Identifier: MIT OR GPL-2.0
"""The benchmark of an LLM engine (docs/llm.md): its requests, its figures and its tables, on made-up times."""

import itertools
import json
import lzma
import math
import random
import statistics
import sys
import xml.etree.ElementTree

import jsonschema
import pytest
from building import ROOT

sys.path.insert(0, str(ROOT / "lab"))

# pylint: disable=wrong-import-position
from nvdlab.llm import cells, figures, loss, plans, table  # noqa: E402

SHAPE = {"prompt": 16, "output": (4, 8), "vocabulary": 5000}


# --- requests ---

@pytest.mark.parametrize("arrivals, variation", plans.ARRIVALS.items())
def test_times_between_requests_have_their_mean_and_variation(arrivals, variation):
    found = list(itertools.islice(plans.gaps(arrivals, 20, 3), 60_000))
    assert statistics.fmean(found) == pytest.approx(1 / 20, rel=0.05)
    assert statistics.stdev(found) / statistics.fmean(found) == pytest.approx(variation, rel=0.05)


@pytest.mark.parametrize("load", (0.2, 0.4, 0.8))
def test_the_rate_keeps_an_engine_with_requests_for_the_load(load):
    """The requests take equally long, however many there are."""
    took, busy, until, now = 0.05, 0.0, 0.0, 0.0
    for gap in itertools.islice(plans.gaps("poisson", plans.rate_for(load, took), 1), 20_000):
        now += gap
        busy += took - max(0, until - now)
        until = now + took
    assert busy / now == pytest.approx(load, abs=0.01)


def test_a_trial_corrects_the_rate_of_an_engine_whose_requests_take_longer_in_batches():
    first = plans.rate_for(0.4, 0.05)
    assert plans.corrected(0.4, first, 0.6) == pytest.approx(first)
    assert plans.corrected(0.4, first, 0.36) == pytest.approx(first / 2), "requests took twice as long"
    assert 0 < plans.corrected(0.4, first, 0) < first < plans.corrected(0.4, first, 1)


def test_a_plan_counts_requests_between_others_that_do_not_count():
    found = plans.plan("poisson", 50, 7, 40, 1.0, SHAPE)
    counts = [request["counted"] for request in found]
    assert sum(counts) == 40 and counts.index(True) > 20 and not any(counts[-4:]), "a tenth of them follow"
    assert sum(counts[counts.index(True):counts.index(True) + 40]) == 40, "the counted requests follow each other"
    assert all(request["counted"] == (1 <= request["due_s"]) for request in found[:-4])
    assert all(len(request["prompt"]) == 16 and 4 <= request["output"] <= 8 for request in found)
    assert len({tuple(request["prompt"]) for request in found}) == len(found), "a cache of prompts would not help"
    assert plans.plan("poisson", 50, 7, 40, 1.0, SHAPE) == found
    slower = plans.plan("poisson", 25, 7, 40, 1.0, SHAPE)
    assert [one["due_s"] for one in slower[:20]] == pytest.approx([2 * one["due_s"] for one in found[:20]])
    assert plans.plan("poisson", 50, 8, 40, 1.0, SHAPE)[0] != found[0]


# --- figures ---

def request(due, *tokens, sent=None, got=None, counted=True, error=None):
    return {"due": due, "sent": due if sent is None else sent, "tokens": list(tokens), "got": len(tokens) if got is None else got,
            "asked": max(1, len(tokens)), "counted": counted, "error": error, "ended": tokens[-1] if tokens else due + 5000}


def test_times_of_a_request_are_those_of_vllm_bench_serve():
    one = request(1000, 21_000, 31_000, 51_000, sent=1500)
    assert figures.ttft_ms(one) == 19.5 and figures.tpot_ms(one) == 15.0 and figures.gaps_ms(one) == [10.0, 20.0]
    assert figures.tpot_ms(one | {"got": 5}) == 7.5, "a message may bring several tokens"
    assert figures.tpot_ms(request(0, 7000)) is None
    failed = request(0, counted=True, error="no")
    assert figures.times([one, failed, one | {"counted": False}]) == {"ttft": [19.5], "tpot": [15.0], "gap": [10.0, 20.0]}


def test_percentiles_are_linear_between_ranks():
    """The values of numpy.percentile with its usual method."""
    values = [3.0, 1.0, 4.0, 1.5, 9.0]
    assert [figures.percentile(values, part) for part in (0, 0.5, 0.99, 1)] == pytest.approx([1.0, 3.0, 8.8, 9.0])
    assert figures.percentile([], 0.5) is None and figures.percentile([2], 0.99) == 2


def test_an_interval_has_the_percentile_as_often_as_it_promises():
    draw, inside = random.Random(5), 0
    true = -math.log(0.01)
    for _ in range(600):
        low, high = figures.interval([draw.expovariate(1) for _ in range(400)], 0.99)
        inside += low <= true <= high
    assert 0.87 <= inside / 600 <= 0.97


def test_an_interval_is_open_where_values_are_too_few():
    assert figures.interval(range(298), 0.99)[1] is None and figures.interval(range(299), 0.99)[1] == 298
    assert figures.interval([1.0], 0.99) == [1.0, None] and figures.interval([], 0.99) == [None, None]
    low, high = figures.interval(range(100), 0.5)
    assert (low, high) == (41, 58), "the tables of the sign test have the 42nd and the 59th of 100 values"


def test_attainment_counts_requests_that_keep_both_times():
    alone = {"ttft": [10.0], "tpot": [5.0]}
    asked = [request(0, 10_000, 15_000), request(0, 12_000, 17_000), request(0, 10_000, 17_000), request(0, error="late"),
             request(0, 40_000, 45_000, counted=False), request(0, 12_000)]
    assert figures.attainment(asked, alone) == {"1.1": 0.2, "1.25": 0.6, "1.5": 0.8, "2": 0.8}
    assert figures.attainment(asked, {"ttft": [], "tpot": []}) is None and figures.attained([], 1, 1) is None


def test_busy_periods_go_from_an_arrival_to_the_last_token():
    asked = [request(100, 300, 400), request(350, 900), request(1000, error="refused"), request(7000, 7100)]
    assert figures.busy(asked) == [[100, 900], [1000, 6000], [7000, 7100]]
    assert figures.cut(figures.busy(asked), 500, 7050) == [[500, 900], [1000, 6000], [7000, 7050]]


def test_the_neighbour_is_measured_outside_and_inside_of_busy_periods():
    """It makes a step each 10 ms, but in the busy period from 100 to 200 ms, where one step takes 40 ms."""
    steps = [*range(0, 101_000, 10_000), 140_000, 180_000, 190_000, 200_000, *range(210_000, 301_000, 10_000)]
    asked = [request(0, 1), request(100_000, 150_000, 200_000), request(300_000, 310_000)]
    found = figures.neighbour(steps, asked, 100)
    assert found == {"per_s": 80.0, "of_alone": 0.8, "outside": 1.0, "inside": 0.4, "idle": 0.6667}
    assert figures.progress(steps, 120_000, 140_000) == pytest.approx(0.5)
    always = [request(0, 300_000), request(300_000, 300_001)]
    assert figures.neighbour(steps, always, 100)["outside"] is None, "there is no time outside"


# --- where the time goes ---

ENGINE, TRAINING, OTHER = 11, 22, 33
LATE, BUSY = 7, 40  # ms, of the made-up cell


def made_up_cell():
    """Returns a cell with two busy periods of 40 ms, each followed by 60 ms without a request, and the turns on its GPU.

    Behind the first one the training comes after 7 ms, and behind the second one at once. Then the engine has a turn of 5 ms, and
    two switches take 1 ms each. In the second busy period the training has 3 ms. It makes a step in 16 ms of its time, which
    takes 10 ms alone.
    """
    asked = [request(0, 20_000, 40_000), request(100_000, 120_000, 140_000), request(200_000, 210_000)]
    turns = {ENGINE: [[0, 47], [80, 85], [99, 103], [106, 140], [199, 250]], TRAINING: [[47, 80], [86, 99], [103, 106], [140, 198]]}
    cell = {"row": "latency", "neighbour": "train", "load": 40, "arrivals": "poisson", "seed": 1, "key": "latency/train/40/poisson/1",
            "begin_us": 5_000_000, "neighbour_pid": TRAINING, "requests": asked, "rate": 1.0,
            "steps": [47_000, 63_000, 79_000, *range(95_000, 200_001, 21_000)]}
    return cell, {pid: [[5_000_000 + 1000 * begin, 5_000_000 + 1000 * end] for begin, end in spans] for pid, spans in turns.items()}


def test_the_parts_of_the_lost_time_add_up_to_it():
    cell, turns = made_up_cell()
    found = loss.parts_of(cell, 100, turns)
    assert found["waits"] == [LATE, 0] and found["late"] == LATE
    assert found["free"] == 2 * (100 - BUSY)
    assert found["engine"] == 5 + 1 + 1 and found["nobody"] == 1 + 1 and found["busy"] == 3
    own = (80 - 47) + (99 - 86) + 3 + (198 - 140)
    assert found["slower"] == pytest.approx(own - 10 * figures.progress(cell["steps"], 0, 200_000))
    assert found["lost"] == pytest.approx(sum(found[name] for name in ("late", "engine", "nobody", "slower")) - found["busy"])


def test_a_probe_is_a_run_of_the_neighbours_turns_in_a_busy_period():
    begin, later = 3000, 96_000  # the neighbour's turns at the begin of a period, and in the next period, are other ones
    mine = [[begin, begin + 500], [20_000, 20_300], [20_600, 20_700], [21_000, 21_200], [50_000, 50_400], [later, later + 700]]
    others = [[0, begin], [begin + 600, 20_000], [20_400, 20_500], [20_800, 20_900], [21_300, 50_000], [50_500, 90_000], [later + 800, 99_000]]
    assert loss.probes_of(mine, others, [[0, 90_000], [90_500, 99_000]]) == [1000, 400, 700]
    assert loss.probes_of(mine, others, [[0, 20_400], [20_500, 51_000]]) == [300, 400], "the first turns of a period are no probe"


def test_a_neighbour_that_never_comes_is_late_for_all_of_the_time():
    cell, turns = made_up_cell()
    found = loss.parts_of(cell | {"steps": []}, 100, {ENGINE: turns[ENGINE]})
    assert found["late"] == found["lost"] == found["free"] and not any(found[name] for name in loss.PARTS[1:])


def recording(origin_ns, turns, drift_ns=0):
    """Returns the lines of a recording of GPU 1 whose clock is the machine's plus 7 s, and gains DRIFT_NS in each second."""
    kept = [(begin, "turn", pid, end) for pid, spans in turns.items() for begin, end in spans]
    made = [{"kind": "recording", "version": "2.2"},
            {"kind": "origin", "gpu": 1, "gpu_ns": str(origin_ns + 7 * 10**9), "monotonic_ns": str(origin_ns), "realtime_ns": None}]
    second = 0
    for begin, _, pid, end in sorted(kept):
        ns = [round(1000 * us) - origin_ns for us in (begin, end)]
        while second * 10**9 <= ns[0]:
            made.append({"kind": "clock", "gpu": 1, "gpu_ns": second * (10**9 + drift_ns), "monotonic_ns": second * 10**9})
            second += 1
        made.append({"kind": "turn", "gpu": 1, "engine": "GR0", "pid": pid, "begin_ns": ns[0] + (second - 1) * drift_ns,
                     "end_ns": ns[1] + (second - 1) * drift_ns})
    made.append({"kind": "turn", "gpu": 0, "engine": "GR0", "pid": TRAINING, "begin_ns": 1, "end_ns": 2})
    made.append({"kind": "turn", "gpu": 1, "engine": "CE0", "pid": TRAINING, "begin_ns": 1, "end_ns": 2})
    made.insert(1, made[1] | {"gpu": 0})
    return [json.dumps(line) for line in made]


def test_turns_of_a_recording_are_in_the_machines_time():
    _, turns = made_up_cell()
    assert loss.turns_of(recording(1_000_000_000, turns, drift_ns=20_000)) == turns, "its clock is read each second"


@pytest.mark.parametrize("lines, sentence", (
    ([{"kind": "origin", "gpu": 0, "monotonic_ns": None}], "does not have the machine's clock"), ([], "has no turns of GR0")))
def test_a_recording_that_cannot_be_used_is_refused(lines, sentence):
    with pytest.raises(table.Wrong, match=sentence):
        loss.turns_of(map(json.dumps, lines))


@pytest.mark.parametrize("ending, opened", (("", open), (".xz", lzma.open)))
def test_the_table_of_lost_time_has_a_line_for_each_row(tmp_path, ending, opened):
    cell, turns = made_up_cell()
    for name in ("latency", "as-is"):
        with opened(tmp_path / (loss.file_of(f"{name}/train/40/poisson/1") + ending), "wt") as file:
            file.write("\n".join(recording(1_000_000_000, turns)))
    record = made_up_record() | {"neighbours": {"train": {"per_s": 50.0}}}
    record["cells"] = [cell | {"alone_per_s": 100.0}, cell | {"row": "as-is", "key": "as-is/train/40/poisson/1"}, record["cells"][0]]
    lines = loss.markdown(record, tmp_path).splitlines()
    assert len(lines) == 4 and lines[0].count("|") == lines[2].count("|")
    parts = loss.parts_of(cell, 100, turns)
    assert lines[2] == (f"| latency | train | 40 % | 0.1 | 2 | {parts['lost'] / 2:.1f} | 3.5 (3.5, 6.9) | 3.5 | 1.0 | {parts['slower'] / 2:.1f} "
                        "| 1.5 | 0.5, 2.0 |")
    assert lines[3].startswith(f"| as-is | train | 40 % | 0.1 | 2 | {loss.parts_of(cell, 50, turns)['lost'] / 2:.1f} | 3.5 ")
    with pytest.raises(table.Wrong, match="has no cell with a recording"):
        loss.markdown(made_up_record(), tmp_path)


def test_steps_that_met_a_request_say_nothing_about_the_neighbour():
    record = made_up_record()
    cell = made_up_cell()[0] | {"steps": [-500, 39_000, 41_000, 51_000, 62_000, 74_000, 99_000, 101_000, 141_000, 151_000, 199_000, 240_000]}
    record["cells"] = [cell, cell | {"steps": cell["steps"][:5]}, cell | {"neighbour": "none"}]
    assert loss.alone_ms(cell) == [10, 11, 12, 25, 10, 48]
    assert loss.steps(record).splitlines()[2:] == ["| latency/train/40/poisson/1 | 6 | 10.0, 11.5, 36.5 |"]


# --- cells ---

def test_the_main_table_needs_one_start_at_an_mps_server():
    found = cells.main_cells()
    assert len(found) == len({cell.key for cell in found}) == 4 * 3 * 6
    assert [cell.begins_with()[0] for cell in found] == [False] * 60 + [True] * 12
    assert {cell.seed for cell in found[:20]} == {1}, "a call that ends early has whole tables of few seeds"
    assert {cell.row for cell in cells.chosen(["more"], ["mps", "latency"])} == {"mps", "latency"}
    others = cells.other_cells()
    starts = [cell.begins_with() for cell in others]
    assert len(list(itertools.groupby(starts))) == len(set(starts)), "programs are started once for all cells that can share them"
    assert not {cell.key for cell in others + cells.crash_cells()} & {cell.key for cell in found}


# --- tables ---

def made_up_record():
    """Returns a record of a system that does not exist. Beside the neighbour each time to the first token is 2 ms longer."""
    def asked(longer):
        return [request(50_000 * number, 50_000 * number + 10_000 + longer + 10 * number, 50_000 * number + 15_000 + longer + 10 * number)
                for number in range(10)]

    def cell(row, neighbour, longer, **more):
        return {"row": row, "neighbour": neighbour, "load": 40, "arrivals": "poisson", "seed": 1, "rate": 20.0, "requests": asked(longer),
                "steps": [] if neighbour == "none" else list(range(0, 451_000, 10_000)), "bits": "ab" if not longer else "cd"} | more
    return {"schema": "nvdebug/llm", "schema_version": "1.0", "system": {"name": "made up", "version": "7", "source": "https://example.org"},
            "gpu": "A GPU, 1.2", "engine": {"engine": "an engine", "shape": "8b"}, "rows": {"theirs": "their way"},
            "options": {"prompt": 128, "output": [4, 8], "requests": 10, "settle_s": 1, "neighbour_shape": "1b"},
            "calibration": {"request_s": 0.03, "most_per_s": 100.0}, "neighbours": {"train": {"per_s": 125.0}},
            "cells": [cell("alone", "none", 0), cell("latency", "train", 0), cell("theirs", "train", 2000),
                      cell("short", "train", 0, refused="no such thing", requests=[], steps=[]),
                      cell("as-is", "train", 0, key="x", crash={"how": "kill", "at": 200_001, "engine": "goes on"})]}


@pytest.fixture
def file(tmp_path):
    def write(record):
        path = tmp_path / "record.json"
        path.write_text(json.dumps(record), encoding="utf-8")
        return path
    return write


def test_a_table_has_a_line_for_each_way(file):
    text = table.markdown(table.load(file(made_up_record())))
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert lines[0] == "| way | " + " | ".join(table.COLUMNS) + " |"
    times = "10.0, 10.1 (10.1 to –) | 5.0, 5.0 (5.0 to –) | 5.0 | 100.0, 100.0, 100.0, 100.0 %"
    assert lines[1] == f"| alone | {times} | 43 |  |  | – |"
    assert lines[2] == f"| timeslices of 200 us for both | refused: no such thing |{' |' * 7}"
    assert lines[3] == f"| nvqos, engine `latency` | {times} | 43 | 80.0 %, 114.4 % | 80.0 %, 80.0 % | equal |"
    assert lines[4].startswith("| their way | 12.0, 12.1 (12.1 to –) | 5.0, 5.0 (5.0 to –) | 5.0 | 0.0, 100.0, 100.0, 100.0 % | ")
    assert lines[4].endswith(" | different |")
    assert "Beside training (125.0 steps/s alone), load 40 % (30.1 % alone), 20.0 requests/s, 10 requests:" in text
    assert "made up** 7 (https://example.org)" in text
    assert lines[-1] == "| as it is (time slices of 2 ms) | the neighbour is killed (SIGKILL) | goes on | 5 of 5 | 10.1 |"


def test_a_neighbour_is_measured_by_the_speed_alone_of_its_own_process():
    record = made_up_record()
    record["cells"][1]["alone_per_s"] = 100.0
    assert dict(table.groups(record))["latency", "train", 40, "poisson"]["neighbour"]["of_alone"] == pytest.approx(1.0)


def test_seeds_are_taken_together():
    record = made_up_record()
    for cell in [cell for cell in record["cells"] if cell["row"] in ("alone", "latency")]:
        late = [one | {"tokens": [moment + 10_000 for moment in one["tokens"]]} for one in cell["requests"]]
        record["cells"].append(cell | {"seed": 2, "requests": late})
    found = dict(table.groups(record))["latency", "train", 40, "poisson"]
    assert found["seeds"] == 2 and found["counted"] == 20 and found["ttft"]["p50"] == pytest.approx(15.045)
    record["cells"].append(record["cells"][-2] | {"row": "alone", "neighbour": "none", "seed": 9})
    assert dict(table.groups(record))["latency", "train", 40, "poisson"] == found, "no other seed of the row alone counts"
    del record["cells"][0]
    alone = dict(table.groups(record))["latency", "train", 40, "poisson"]["attained"]
    assert alone["1.1"] == 1.0, "the row alone of the same seeds is the measure"


@pytest.mark.parametrize("key, wrong, sentence", (
    ("schema_version", "2.0", "at schema_version, '2.0' does not match"), ("system", {"name": "x"}, "at system, 'version' is a required"),
    ("neighbours", {"train": {"per_s": 0}}, "at neighbours/train/per_s, 0 is less than or equal"),
    ("cells", [{"row": "alone"}], "at cells/0, 'neighbour' is a required property")))
def test_a_record_that_breaks_the_schema_is_refused_with_the_place(file, key, wrong, sentence):
    with pytest.raises(table.Wrong, match=sentence):
        table.load(file(made_up_record() | {key: wrong}))


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(json.loads(table.SCHEMA.read_text(encoding="utf-8")))


def two_loads():
    """Returns the made-up record with more loads. At 60 % the row `theirs` takes thrice as long as alone, and its neighbour makes no step;
    at 80 % there is only the row alone."""
    record = made_up_record()
    again = [cell | {"load": 60} for cell in record["cells"][:3]]
    again[2] |= {"requests": [one | {"tokens": [one["due"] + 3 * (moment - one["due"]) for moment in one["tokens"]]}
                              for one in again[0]["requests"]], "steps": []}
    record["cells"] += [*again, record["cells"][3] | {"load": 60}, record["cells"][0] | {"load": 80}]
    return record


def test_the_answer_has_the_ways_that_were_measured_at_two_loads():
    lines = table.answer([made_up_record(), two_loads()]).splitlines()
    assert lines[2] == "| | goal | ≤ +5 | ≤ +2 | ≤ +4 | ≥ 99 | ≥ 95 |"
    kept = "**+0.0**, **+0.0**, –"
    assert lines[3] == ("| an engine, A GPU; loads of 40, 60, 80 % | nvqos, engine `latency` | " + f"{kept} | " * 3
                        + "**100.0**, **100.0**, – | **114.4**, **114.4**, – |")
    assert lines[4] == "|  | their way | +19.8, 3.0 ×, – | **+0.0**, 3.0 ×, – | **+0.0**, 3.0 ×, – | **100.0**, 0.0, – | **114.4**, 0.0, – |"
    assert len(lines) == 5, "a record with one load, and a row that was refused, are below"


@pytest.mark.parametrize("value, word", ((1.0499, "**+5.0**"), (1.0501, "+5.0"), (1.994, "+99.4"), (2.0, "2.0 ×"), (0.9999, "**+0.0**")))
def test_a_figure_that_keeps_its_goal_is_bold(value, word):
    assert table.TTFT.word(value) == word
    assert (table.OF_REST.word(0.95), table.OF_REST.word(0.9499), table.OF_REST.word(None)) == ("**95.0**", "95.0", "–")


def test_tables_take_their_place_on_a_page(file, monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    places = [f"<!-- {name} -->\n{{}}<!-- end of {name} -->\n" for name in ("answer", "figures")]
    page.write_text("before\n" + "between\n".join(place.format("old\n") for place in places) + "after\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["table.py", str(file(two_loads())), "--page", str(page), "--picture", str(tmp_path / "p.svg")])
    table.main()
    text = page.read_text(encoding="utf-8")
    made = (table.answer([two_loads()]), table.folded(two_loads()))
    assert text == "before\n" + "between\n".join(place.format(f"\n{one}\n") for place, one in zip(places, made)) + "after\n"
    assert "<summary>an engine, A GPU; 10 cells of 10 requests, commit not known</summary>" in made[1]
    assert table.tables(two_loads()) in made[1] and table.METHOD in table.markdown(two_loads()) and table.METHOD not in made[1]
    assert table.page(text, [two_loads()]) == text
    root = xml.etree.ElementTree.parse(tmp_path / "p.svg").getroot()
    shown = "".join(root.itertext())
    assert "their way" not in shown and "theirs" in shown and "latency" in shown and "made up, A GPU" in shown, "rows have short names"
    with pytest.raises(table.Wrong, match="has no lines"):
        table.page("nothing", [])


def test_the_picture_is_of_the_record_with_the_most_loads():
    other = made_up_record() | {"system": {"name": "other", "version": "1", "source": ""}}
    assert table.drawn([other, two_loads()]) == table.drawn([two_loads()]) != table.drawn([other])


def test_the_page_has_the_tables_and_the_picture_of_the_records():
    records = [table.load(path) for path in sorted((ROOT / "tests/hardware").glob("*/qos_llm*.json.xz"))]
    text = (ROOT / "docs/llm.md").read_text(encoding="utf-8")
    assert records and table.page(text, records) == text
    assert table.drawn(records) == (ROOT / "docs/pictures/llm.svg").read_text(encoding="utf-8")
