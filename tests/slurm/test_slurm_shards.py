# SPDX-License-Identifier: MIT OR GPL-2.0
"""Slurm's plugin in a real Slurm: shards as shares and as bounds, and options that are allowed or not."""

import pytest
from slurm import EVERY_OPTION, GPU, SHARDS, StandIn, sentences, srun
from waiting import comes_true


@pytest.mark.parametrize("shards, goal", ((1, "share:23.7500%"), (SHARDS, "share:95.0000%")))
def test_shards_are_shares(cluster, shards, goal):
    cluster.plugstack(f"shards={SHARDS}")
    with StandIn(cluster.socket) as nvqos:
        assert srun(cluster, f"--gres=shard:{shards}").status == 0
        (hold,) = nvqos.of("hold")
        assert (hold.goal, len(hold.all("gpu"))) == (goal, 1)
        # Explicit options go before shards, and jobs without options and shards are left alone.
        assert srun(cluster, f"--gres=shard:{shards}", "--gpu-cap=20%").status == 0
        assert nvqos.of("hold")[1].goal == "cap:20%"
        assert srun(cluster, GPU).status == 0 and len(nvqos.of("hold")) == 2
        # plugstack.conf names fewer shards than Slurm has.
        cluster.plugstack("shards=1")
        if shards > 1:
            done = srun(cluster, f"--gres=shard:{shards}", command=("echo", "it ran"))
            assert done.out == "" and "correct it to gres.conf's Count" in sentences(done.err)[0]


def test_shards_bound_options(cluster):
    """Slurm sets the variable of the shards in the task, whatever the user's environment has."""
    cluster.plugstack(f"shards={SHARDS}", EVERY_OPTION)
    more = {"SLURM_SHARDS_ON_NODE": str(SHARDS)}
    with StandIn(cluster.socket) as nvqos:
        for words, sentence in ((["--gpu-share=95%"], "more than the step's shards allow: 23.7500%"),
                                (["--gpu-share=95%", "--gpu-cap=95%"], "more than the step's shards allow: 23.7500%"),
                                (["--gpu-cap=24%"], "more than the step's shards allow: 23.7500%"),
                                (["--gpu-timeslice=10ms"], "1 of 4 shards allow 23.7500%"),
                                (["--gpu-tpcs=20%", "-n2", "--overcommit"], "each of its 2 tasks may have --gpu-tpcs=12%")):
            done = srun(cluster, "--gres=shard:1", *words, command=("echo", "it ran"), env=more)
            assert done.status != 0 and done.out == "" and sentence in sentences(done.err)[0]
        assert not nvqos.asked
        assert srun(cluster, "--gres=shard:1", "--gpu-latency", "-n2", "--overcommit", env=more).status == 0
        assert [hold.goal for hold in nvqos.of("hold")] == 2 * ["cap:23.7500%,latency"]
        # A job with a whole GPU has no bound.
        assert srun(cluster, GPU, "--gpu-share=95%").status == 0
        assert nvqos.of("hold")[2].goal == "share:95%"


def test_no_gpu_and_no_shards_give_no_part(cluster):
    cluster.plugstack(f"shards={SHARDS}", "all-gpus")
    with StandIn(cluster.socket) as nvqos:
        done = srun(cluster, "--gpu-share=95%", command=("echo", "it ran"))
        assert done.status != 0 and done.out == "" and "Slurm gives the step no GPU" in sentences(done.err)[0]
        assert not nvqos.asked and srun(cluster).status == 0


def test_a_script_and_its_steps_have_the_shards_once(cluster):
    cluster.plugstack(f"shards={SHARDS}")
    with StandIn(cluster.socket) as nvqos:
        number, out = cluster.batch("srun true\nsrun --gres=shard:1 true\nsrun --gpu-share=20% echo it ran\ntrue", "--gres=shard:2")
        assert cluster.has_ended(number) and comes_true(lambda: nvqos.of("release"))
        assert {(hold.name, hold.goal) for hold in nvqos.of("hold")} == {(f"job:{number}.batch", "share:47.5000%")}
        assert len(nvqos.of("hold")) == 3
    printed = out.read_text(encoding="utf-8")
    assert "it ran" not in printed and "the job's script has share:47.5000% of its shards already" in printed


@pytest.mark.parametrize("argument, program, sentence", (
    ("", "srun", "does not allow --gpu-latency"), ("", "sbatch", "does not allow --gpu-latency"),
    ("allow=share,cap", "srun", "these are allowed: --gpu-share --gpu-cap"), ("allow=", "srun", "these are allowed: none")))
def test_options_that_users_may_not_have(cluster, argument, program, sentence):
    cluster.plugstack(argument)
    with StandIn(cluster.socket) as nvqos:
        done = cluster.run(program, GPU, "--gpu-latency", *(["--wrap=true"] if program == "sbatch" else ["true"]))
        assert done.status != 0 and sentence in sentences(done.err)[0]
        assert not nvqos.asked


def test_a_variable_gives_no_option_that_is_not_allowed(cluster):
    """sbatch passes options on in variables, which a script may also set."""
    script = "export SLURM_SPANK__SLURM_SPANK_OPTION_nvdebug_gpu_latency=\nsrun echo it ran"
    with StandIn(cluster.socket) as nvqos:
        for argument, goals in ((EVERY_OPTION, ["latency"]), ("allow=share", [])):
            cluster.plugstack(argument)
            nvqos.asked.clear()
            number, _ = cluster.batch(script, GPU)
            assert cluster.has_ended(number)
            assert [hold.goal for hold in nvqos.of("hold")] == goals
