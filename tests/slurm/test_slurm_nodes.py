# SPDX-License-Identifier: MIT OR GPL-2.0
"""Jobs on two nodes of a real Slurm have the same name at both nvqos, and the same windows by the clock."""

import contextlib
import json

import pytest
from qos_machine import rows, running_machine
from slurm import GPU, StandIn, sentences, srun
from slurm_accounts import TwoNodes, answer
from waiting import comes_true


@pytest.fixture(scope="module", name="running_nodes")
def _running_nodes(slurm_is_built):
    with TwoNodes() as cluster:
        yield cluster


@pytest.fixture(name="nodes")
def _nodes(running_nodes):
    running_nodes.plugstack()
    yield running_nodes
    running_nodes.settle()


@contextlib.contextmanager
def stand_ins(nodes):
    with StandIn(nodes.socket, answer) as first, StandIn(nodes.other_socket, answer) as second:
        yield first, second


def test_a_step_on_both_nodes_joins_one_name(nodes):
    with stand_ins(nodes) as both:
        done = srun(nodes, "-N2", GPU, "--gpu-share=30%", "--gpu-cap=50%", command=("sh", "-c", "echo $SLURM_JOB_ID"))
        assert done.status == 0, done.err
        number = done.out.split()[0]
        for nvqos in both:
            (join,) = nvqos.of("join")
            assert (join.name, join.goal, join.one("gang")) == (f"job:{number}.share:30.cap:50", "share:30%,cap:50%", "nodes")
            # The hold ends with its slurmstepd, since other steps may have joined it.
            assert comes_true(lambda one=nvqos: [asked.line for asked in one.of("report")] == [f"report {one.of('join')[0].name}"])
            assert not nvqos.of("hold") and not nvqos.of("release")


def test_a_script_and_its_steps_join_one_name_on_both_nodes(nodes):
    with stand_ins(nodes) as (first, second):
        number, out = nodes.batch("srun true\nsrun --gpu-share=20% true\nsrun -N1 -n1 -w n1 true", "-N2", GPU, "--gpu-share=30%")
        assert nodes.has_ended(number)
        script, step, own, of_one_node = first.of("join")
        assert [asked.name for asked in (script, step, own, of_one_node)] == [
            f"job:{number}.share:{part}" for part in (30, 30, 20, 30)], out.read_text(encoding="utf-8")
        assert {asked.one("holder") for asked in (script, step, of_one_node)} == {script.one("holder")} != {own.one("holder")}
        assert [asked.name for asked in second.of("join")] == [f"job:{number}.share:{part}" for part in (30, 20)]
        assert all(asked.one("gang") == "nodes" for asked in (*first.of("join"), *second.of("join")))
        assert not first.of("hold") and not second.of("hold")


def test_a_step_has_a_hold_of_its_own_if_the_name_is_taken(nodes):
    """nvqos refuses to let the step join, because another step has the name for other GPUs."""
    with StandIn(nodes.socket, lambda asked: "error it is held for other GPUs" if asked.verb == "join" else answer(asked)) as first:
        with StandIn(nodes.other_socket, answer) as second:
            done = srun(nodes, "-N2", GPU, "--gpu-share=30%", command=("sh", "-c", "echo $SLURM_JOB_ID"))
            assert done.status == 0, done.err
            assert len(first.of("join")) == len(second.of("join")) == 1 and not second.of("hold")
            (hold,) = first.of("hold")
            assert (hold.name, hold.goal, hold.all("gang")) == (f"job:{done.out.split()[0]}.0", "share:30%", [])
            assert comes_true(lambda: len(first.of("release")) == 1)


@pytest.mark.parametrize("words", (("-N1", "--gpu-share=30%"), ("-N2", "--gpu-share=30%", "--gpu-gang=off")))
def test_other_steps_have_a_hold_of_their_own(nodes, words):
    with stand_ins(nodes) as both:
        assert srun(nodes, *words, GPU).status == 0
        for nvqos in both[:int(words[0][2:])]:
            (hold,) = nvqos.of("hold")
            assert hold.name.endswith(".0") and hold.all("gang") in ([], ["off"])
            assert comes_true(lambda one=nvqos: len(one.of("release")) == 1)
            assert not nvqos.of("join")


def test_two_nvqos_keep_the_windows_of_two_jobs_by_the_clock(nodes):
    """The second node's clock is ahead by a millisecond. Both are nvqos over the stand-in for the driver."""
    with running_machine() as one, running_machine() as other:
        for machine, socket in ((one, nodes.socket), (other, nodes.other_socket)):
            about = machine.folder / "driver/gpus/0000:01:00.0"
            about.mkdir(parents=True)
            (about / "information").write_text("Device Minor: \t 0\n", encoding="utf-8")
            machine.path = socket
            machine.variables["NVQOS_DRIVER_FOLDER"] = str(machine.folder / "driver")
        other.variables["NVQOS_STAND_IN_AHEAD_US"] = "1000"
        for machine in (one, other):
            machine.start("--quiet")
        uses_gpu = (f'case $SLURMD_NODENAME in n1) cd {one.folder};; n2) cd {other.folder};; esac; touch tasks/$$; '
                    f'until [ -e {nodes.folder}/work/go ]; do sleep 0.05; done')
        jobs = [nodes.begin("srun", "-N2", "--gres=shard:1", goal, "sh", "-c", uses_gpu)
                for goal in ("--gpu-share=60%", "--gpu-best-effort")]

        def windows(machine):
            """Returns the windows of both jobs, in the order of their numbers."""
            found = {name: row["gang_why"] or "" for (_, name), row in rows(machine).items() if name.startswith("job:")}
            return [found[name] for name in sorted(found)] if len(found) == 2 else []

        expected = "a gang of several nodes, with windows by the clock on 1 GPU: from "
        assert comes_true(lambda: [text.startswith(expected) for text in windows(one)] == [True, True]), [
            job.err for job in jobs]
        assert comes_true(lambda: windows(one) == windows(other))
        assert sorted(name for _, name in rows(one)) == sorted(name for _, name in rows(other))
        held = json.loads(other.ask("list")[3:])
        for tenant in held:
            assert comes_true(lambda pids=tenant["pids"]: any(len(other.changes(pid)) > 6 for pid in pids))
        (nodes.folder / "work/go").touch()
        for job in jobs:
            assert job.wait().status == 0, job.err
            assert any(sentence.startswith("asked ") for sentence in sentences(job.err))
        assert comes_true(lambda: other.ask("list") == one.ask("list") == "ok []")
