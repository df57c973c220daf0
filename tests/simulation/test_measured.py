# SPDX-License-Identifier: MIT OR GPL-2.0
"""The simulated GPU beside what was measured on one H100 without MPS (tests/hardware/h100-580.159.04).

Each row of the data is simulated with the model h100, and has to be within a stated limit. docs/simulate.md has the reasons
for the differences.
"""

import json
import subprocess

import pytest
from building import ROOT, built
from waiting import PATIENCE_S

DATA = ROOT / "tests/hardware/h100-580.159.04"
SECONDS = 10


def measured(name):
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def simulated(tmp_path):
    def run(jobs, **gpus):
        path = tmp_path / "scenario.json"
        jobs = [{"name": f"task {n}", "gpus": [0]} | job for n, job in enumerate(jobs)]
        path.write_text(json.dumps({"version": 1, "duration_ms": 3000 + 1000 * SECONDS, "jobs": jobs,
                                    "gpus": {"model": "h100", "count": 1} | gpus}), encoding="utf-8")
        done = subprocess.run([built("bin/nvqos"), "simulate", "-j", path], capture_output=True, check=False, text=True,
                              timeout=PATIENCE_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)
    return run


def queue(goal="best-effort"):
    """A task that always has kernels of 200 us queued."""
    return {"goal": goal, "program": [{"repeat": 16, "program": [{"kernel_us": 200}]}]}


def graphs(goal="best-effort"):
    return {"goal": goal, "program": [{"kernel_us": 50000}]}


def near(values, limit):
    return pytest.approx(values, abs=limit)


SWEEP = measured("timeslices")["sweep"]


@pytest.mark.parametrize("row", SWEEP, ids=["-".join(map(str, row["timeslices_us"])) for row in SWEEP])
def test_timeslices(simulated, row):
    lengths = row["timeslices_us"]
    if len(set(lengths)) == 1:
        found = simulated([queue() for _ in lengths], timeslice_us=lengths[0])
    else:
        found = simulated([queue(f"timeslice:{us}us") for us in lengths])
    busy = found["gpus"][0]["busy"]
    assert [100 * job["got"] / busy for job in found["jobs"]] == near(row["share"], 0.4)
    # Turns end 123 us late, which was measured with one warp. These kernels end theirs 103 us late.
    turns_us = [job["got"] * SECONDS * 1e6 / job["gpus"][0]["turns"] for job in found["jobs"]]
    assert turns_us == near([us + 20 for us in row["slice_us"]], 50 if 4500 in lengths or 16000 in lengths else 30)
    # A switch takes 80 us in place of 83, so less is lost, by up to 1.3 points in turns of 0.4 ms.
    lost = 100 * (1 - busy)
    assert row["lost"] - 1.3 <= lost <= row["lost"]


SHARES = measured("qos")["shares"]


@pytest.mark.parametrize("row", SHARES, ids=["-".join(map(str, row["asked"])) + f"-of-{len(row['got'])}" for row in SHARES])
def test_shares(simulated, row):
    goals = [f"share:{part}%" for part in row["asked"]]
    found = simulated([queue(goal) for goal in goals + ["best-effort"] * (len(row["got"]) - len(goals))])
    got = [100 * job["got"] for job in found["jobs"]]
    # nvqos repays the ends of turns since then, so that a share gets up to a point more. The others differ by a turn. Where
    # all have shares, these divide what is left, and nvqos takes back what one of them has beyond its share.
    for n, (now, then) in enumerate(zip(got, row["got"])):
        if len(goals) == len(got):
            assert now >= row["asked"][n] and now == near(then, 1.5)
        else:
            assert -0.2 <= now - then <= 1 if n < len(goals) else now == near(then, 1.1)


CAPS = measured("qos")["caps"]


@pytest.mark.parametrize("row", CAPS, ids=[f"{row['cap']}-{row['tasks']}-{row['kind']}" for row in CAPS])
def test_caps(simulated, row):
    task = {"queue": queue, "graph": graphs}[row["kind"]]
    job = simulated([task(f"cap:{row['cap']}%")] + [task()] * (row["tasks"] - 1))["jobs"][0]
    assert 100 * job["most_in_a_second"] == near(row["most"], 0.2)
    assert 100 * job["got"] == near(row["mean"], 0.5)


def test_cap_of_a_task_that_idles_at_random(simulated):
    """The bursts of the measured task have random lengths up to 100 ms each, and those here vary as much around 50 ms."""
    row = measured("qos")["idles at random"][1]
    bursts = {"goal": "cap:30%", "cpu_jitter": 0.4, "program": [{"kernel_us": 50000}, {"think_us": 50000}]}
    job = simulated([bursts, queue()], kernel_jitter=0.58)["jobs"][0]
    assert 100 * job["most_in_a_second"] == near(row["most"], 1)
    # The measured five seconds had one sequence of bursts.
    assert 100 * job["got"] == near(row["mean"], 7)


def decode_beside_training(simulated, decode_goal, train_goal):
    return simulated([{"goal": decode_goal, "program": [{"kernel_us": 7190}, {"think_us": 500}]},
                      {"goal": train_goal, "program": [{"think_us": 2000}, {"kernel_us": 94600}]}])["jobs"]


def test_decode_loop_and_training_alone(simulated):
    alone = measured("qos_cap")["alone_per_s"]
    found = [job["alone_per_s"] for job in decode_beside_training(simulated, "best-effort", "best-effort")]
    assert found == near([alone["decode"], alone["train"]], 0.2)


# NOW has the speeds of the loop and of the training under a pair of goals, as nvqos keeps them now; None means that they are as
# measured. When they were measured, nvqos had no rule for a share beside a service, and did not count pauses of a loop.
NOW = {("latency", "share:20%"): (0.827, 0.194), ("latency", "share:30%"): (0.725, 0.291),
       ("latency,cap:75%", "share:20%"): None, ("latency,cap:60%", "share:30%"): None,
       ("share:60%", "best-effort"): (0.643, 0.379)}
RUNS = measured("qos_cap")["runs"]


@pytest.mark.parametrize("row", RUNS, ids=[f"{row['run']}-{row['decode_goal']}-{row['train_goal']}" for row in RUNS])
def test_decode_loop_beside_training(simulated, row):
    goals = row["decode_goal"], row["train_goal"]
    found = decode_beside_training(simulated, *goals)
    expected = NOW[goals] or (row["decode_of_alone"], row["train_of_alone"])
    assert [job["speed"] for job in found] == near(expected, 0.02)
    assert all(job["kept"] for job in found)
