# SPDX-License-Identifier: MIT OR GPL-2.0
"""What jobs asked and got, from the plugin on the nodes to accounting, in a real Slurm. The controller runs the example
account-job at the end of each job."""

import os
import signal

import pytest
from sample import EVERYTHING
from slurm import GPU, StandIn, srun
from slurm_accounts import BEGIN, GOT, AccountedCluster, TwoNodes, answer, entry
from waiting import comes_true


@pytest.fixture(scope="module", name="running_accounts")
def _running_accounts(slurm_is_built):
    with AccountedCluster() as cluster:
        yield cluster


@pytest.fixture(name="accounts")
def _accounts(running_accounts):
    running_accounts.plugstack("account")
    yield running_accounts
    running_accounts.settle()


def unknown(gpu):
    return f"gpu=/dev/nvidia{gpu} asked=share:30% got=unknown kept=unknown"


def test_a_job_and_its_steps_have_a_line(accounts):
    with StandIn(accounts.socket, answer) as nvqos:
        # The first step is in the script's share, and the second one has its own.
        number, _ = accounts.batch("srun true\nsrun --gpu-share=20% true", GPU, "--gpu-share=30%")
        assert accounts.has_left(number)
        assert comes_true(lambda: number in accounts.accounts()), accounts.logs()
        assert nvqos.of("report")[0].line == f"report job:{number}.1 words"
    assert accounts.accounts()[number] == [[entry(f"{number}.1"), entry(f"{number}.batch")]]


def test_each_gpu_has_an_entry(accounts):
    two = f"{GOT}; gpu=1 asked=share:30% got=unknown used=0.0s kept=unknown/0.2s"
    with StandIn(accounts.socket, lambda asked: f"ok {two}" if asked.verb == "report" else "ok"):
        done = srun(accounts, "--gres=gpu:2", "--gpu-share=30%", command=("sh", "-c", "echo $SLURM_JOB_ID"))
        number = int(done.out)
        assert comes_true(lambda: number in accounts.accounts()), accounts.logs()
    assert accounts.accounts()[number] == [[entry(f"{number}.0", each) for each in two.split("; ")]]


@pytest.mark.parametrize("ends", ("cancelled", pytest.param("timed out", marks=() if EVERYTHING else pytest.mark.ci)))
def test_a_job_that_is_killed_has_a_line(accounts, ends):
    with StandIn(accounts.socket, answer) as nvqos:
        number, _ = accounts.batch("sleep 1000", GPU, "--gpu-share=30%")
        assert comes_true(lambda: nvqos.of("hold"))
        if ends == "cancelled":
            accounts.run("scancel", str(number))
        else:
            assert accounts.run("scontrol", "update", f"JobId={number}", "TimeLimit=0").status == 0
        assert comes_true(lambda: number in accounts.accounts()), accounts.logs()
    state = {"cancelled": "CANCELLED", "timed out": "TIMEOUT"}[ends]
    # A job is COMPLETING until its epilog has ended.
    assert comes_true(lambda: f"JobState={state} " in accounts.run("scontrol", "show", "job", str(number)).out)
    assert accounts.accounts()[number] == [[entry(f"{number}.batch")]]


def test_each_run_of_a_requeued_job_has_a_line(accounts):
    with StandIn(accounts.socket, answer) as nvqos:
        number, _ = accounts.batch('[ "$SLURM_RESTART_COUNT" ] || sleep 1000', GPU, "--gpu-share=30%", "--requeue")
        assert comes_true(lambda: nvqos.of("hold"))
        assert accounts.run("scontrol", "requeue", str(number)).status == 0
        assert comes_true(lambda: number in accounts.accounts()), accounts.logs()
        assert comes_true(lambda: accounts.begin_again(number) or len(accounts.accounts()[number]) == 2), accounts.logs()
    assert accounts.accounts()[number] == 2 * [[entry(f"{number}.batch")]]


def test_without_nvqos_at_the_end_it_is_not_known(accounts):
    with StandIn(accounts.socket, answer) as nvqos:
        number, _ = accounts.batch("sleep 1000", "--gres=gpu:2", "--gpu-share=30%")
        assert comes_true(lambda: nvqos.of("hold"))
    accounts.run("scancel", str(number))
    assert comes_true(lambda: number in accounts.accounts()), accounts.logs()
    assert accounts.accounts()[number] == [[entry(f"{number}.batch", unknown(gpu)) for gpu in (0, 1)]]


def test_without_nvqos_at_the_start_it_is_not_known(accounts):
    accounts.plugstack("account", "best-effort")
    number, _ = accounts.batch("true", GPU, "--gpu-share=30%")
    assert comes_true(lambda: number in accounts.accounts()), accounts.logs()
    assert accounts.accounts()[number] == [[entry(f"{number}.batch", unknown(0))]]


def test_each_task_of_an_array_has_a_line(accounts):
    with StandIn(accounts.socket, answer):
        base, _ = accounts.batch("true", GPU, "--gpu-share=30%", "--array=0-2")
        assert comes_true(lambda: set(range(base, base + 3)) <= set(accounts.accounts())), accounts.logs()
    for number in range(base, base + 3):
        assert accounts.accounts()[number] == [[entry(f"{number}.batch")]]


def test_a_killed_slurmstepd_leaves_a_line(accounts):
    with StandIn(accounts.socket, answer) as nvqos:
        number, _ = accounts.batch("sleep 1000", GPU, "--gpu-share=30%")
        assert comes_true(lambda: nvqos.of("hold"))
        line = entry(f"{number}.batch", unknown(0))
        assert comes_true(lambda: line in BEGIN.sub(" ", accounts.run("scontrol", "show", "node").out))
        os.kill(int(nvqos.of("hold")[0].one("holder")), signal.SIGKILL)
        accounts.run("scancel", str(number))
        assert comes_true(lambda: number in accounts.accounts()), accounts.logs()
    assert accounts.accounts()[number] == [[line]]


def test_steps_that_end_at_once_lose_no_line(accounts):
    with StandIn(accounts.socket, answer):
        steps = "".join("srun --overlap -n1 --gpu-share=10% true &\n" for _ in range(6))
        number, _ = accounts.batch(f"{steps}wait", GPU)
        assert comes_true(lambda: number in accounts.accounts()), accounts.logs()
    assert sorted(accounts.accounts()[number][0]) == [entry(f"{number}.{step}") for step in range(6)]


def test_jobs_without_the_argument_have_no_line(accounts):
    accounts.plugstack()
    with StandIn(accounts.socket, answer) as nvqos:
        number, _ = accounts.batch("true", GPU, "--gpu-share=30%")
        assert accounts.has_left(number) and comes_true(lambda: nvqos.of("release"))
        assert not nvqos.of("report") and number not in accounts.accounts()
        accounts.plugstack("account")
        # A job that asks for nothing has none, either.
        number, _ = accounts.batch("true", GPU)
        assert accounts.has_left(number) and number not in accounts.accounts()


def test_each_node_has_an_entry(slurm_is_built):
    """Both nodes end at once, and one of them has no nvqos at the end."""
    other = "gpu=1 asked=share:30% got=7.5% used=3.0s kept=40.0/40.0s"
    with TwoNodes() as cluster:
        cluster.plugstack("account")
        with StandIn(cluster.socket, answer):
            with StandIn(cluster.other_socket, lambda asked: f"ok {other}" if asked.verb == "report" else "ok"):
                done = srun(cluster, "-N2", GPU, "--gpu-share=30%", command=("sh", "-c", "echo $SLURM_JOB_ID"))
                assert done.status == 0, cluster.logs()
                number = int(done.out.split()[0])
                assert comes_true(lambda: number in cluster.accounts()), cluster.logs()
                on_other = f"nvdebug: step={number}.0 node=n2 "
                assert cluster.accounts()[number] == [[entry(f"{number}.0", node="n1"), on_other + other]]
                # A script's step has the script's share on the script's node, and a share of its own on the other one.
                number, _ = cluster.batch("srun sleep 1000", "-N2", GPU, "--gpu-share=30%")
                on_other = f"nvdebug: step={number}.0 node=n2 "
                assert comes_true(lambda: on_other in cluster.run("scontrol", "show", "node", "n2").out)
            cluster.run("scancel", str(number))
            assert comes_true(lambda: number in cluster.accounts()), cluster.logs()
        assert cluster.accounts()[number] == [[entry(f"{number}.batch", node="n1"), on_other + unknown(0)]]
