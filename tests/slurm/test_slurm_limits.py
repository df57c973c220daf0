# SPDX-License-Identifier: MIT OR GPL-2.0
"""Limits of jobs by account, partition, QOS and user: the plugin's pure functions, the plugin in a real Slurm, and the
example job_submit.lua in a real slurmctld."""

import os
import re
import subprocess

import pytest
from building import ROOT, build
from slurm import EVERY_OPTION, GPU, Cluster, StandIn, sentences, srun
from users import as_user
from waiting import PATIENCE_S, comes_true

EXAMPLES = ROOT / "docs/examples/slurm"
# The shards of each GPU, a hundred, so that a shard is a hundredth.
SHARDS = 100
LIMITS = """
# comments and empty lines do not count

account=students  share=25% allow=share,cap,best-effort   # here as well
partition=debug qos=high share=90%
partition=debug share=50%
user=alice
user=1234         allow=latency
qos=none          allow=
                  share=75%
"""


@pytest.fixture(scope="module", autouse=True)
def built():
    build("slurm_options")


@pytest.fixture(name="goal")
def _goal(tmp_path):
    def goal(*words, limits=LIMITS, tasks=1, shards=0, **identity):
        """Returns the goal of a step and an empty sentence, or None and the sentence."""
        path = tmp_path / "limits"
        if limits is None:
            path.mkdir()
        else:
            path.write_text(limits, encoding="utf-8")
        env = {name.upper(): value for name, value in identity.items()}
        done = subprocess.run([ROOT / "build/cmake/tests/slurm/slurm_options", str(shards), "1", str(tasks), EVERY_OPTION, "shards=4",
                               f"limits={path}", *words], env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        assert done.returncode in (0, 1) and done.stdout.count("\n") == 1, done
        text = done.stdout.rstrip("\n")
        return (text, "") if done.returncode == 0 else (None, text)
    return goal


@pytest.mark.parametrize("identity, most, line", (
    ({"account": "students"}, "25%", 4), ({"account": "students", "partition": "debug"}, "25%", 4),
    ({"partition": "debug", "qos": "high"}, "90%", 5), ({"partition": "debug"}, "50%", 6), ({"qos": "high"}, "75%", 10),
    ({"user": "bob", "uid": "1235"}, "75%", 10), ({"account": "student"}, "75%", 10), ({}, "75%", 10)))
def test_the_first_line_that_fits_decides(goal, identity, most, line):
    assert goal(f"--gpu-share={most}", **identity) == (f"share:{most}", "")
    for option in ("share", "cap"):
        given, sentence = goal(f"--gpu-{option}={most[:-1]}.0001%", **identity)
        assert given is None and f"--gpu-{option}={most[:-1]}.0001% is more than {most}, the most for " in sentence
        assert f"limits, line {line})" in sentence


@pytest.mark.parametrize("identity, allowed", (
    ({"account": "students"}, {"share", "best-effort"}), ({"user": "alice"}, {"share", "latency", "timeslice", "best-effort"}),
    ({"user": "someone", "uid": "1234"}, {"latency"}), ({"qos": "none"}, set()), ({}, {"share", "latency", "best-effort"})))
def test_a_line_allows_options(goal, identity, allowed):
    goals = {"share": "--gpu-share=10%", "latency": "--gpu-latency", "timeslice": "--gpu-timeslice=1ms",
             "best-effort": "--gpu-best-effort"}
    assert {name for name, option in goals.items() if goal(option, **identity)[0]} == allowed
    for name in set(goals) - allowed - {"timeslice"}:
        assert f"--gpu-{name} is not allowed for " in goal(goals[name], **identity)[1]


def test_a_goal_without_a_part_is_capped(goal):
    assert goal("--gpu-latency") == ("cap:75%,latency", "")
    assert goal("--gpu-best-effort=3", account="students") == ("cap:25%,best-effort:3", "")
    assert goal("--gpu-latency", user="alice") == ("latency", "")
    assert goal("--gpu-latency", "--gpu-cap=10%") == ("cap:10%,latency", "")
    given, sentence = goal("--gpu-timeslice=1ms")
    assert given is None and "--gpu-timeslice=1ms has no bound within 75%, the most for all jobs" in sentence


@pytest.mark.parametrize("value, tasks, fits", (("75%", 1, True), ("76%", 1, False), ("37%", 2, True), ("38%", 2, False), ("8", 1, False)))
def test_tpcs_of_all_tasks_are_within_the_limit(goal, value, tasks, fits):
    given, sentence = goal(f"--gpu-tpcs={value}", tasks=tasks)
    assert (given, sentence) == ("-", "") if fits else "is not known to be within 75%, the most for all jobs" in sentence


def test_shards_are_within_the_limit(goal):
    assert goal(shards=1, account="students") == ("share:23.7500%", "")
    given, sentence = goal(shards=2, account="students")
    assert given is None and "the step's shards are --gpu-share=47.5000% is more than 25%, the most for account=students" in sentence
    # The cap of a goal without a part is the lower one of both.
    assert goal("--gpu-best-effort", shards=2, account="students") == ("cap:25%,best-effort", "")
    assert goal("--gpu-best-effort", shards=3) == ("cap:71.2500%,best-effort", "")
    # Shards, and the cap that they set, are no options that could be forbidden.
    assert goal(shards=1, qos="none") == ("share:23.7500%", "")
    assert goal("--gpu-latency", shards=1, uid="1234") == ("cap:23.7500%,latency", "")
    assert "--gpu-gang is not allowed for qos=none" in goal("--gpu-gang=off", shards=1, qos="none")[1]


@pytest.mark.parametrize("line", ("share=30", "share=", "share=0%", "share=101%", "allow=everything", "students", "account=", "group=a",
                                  "share=" + "3" * 40 + "%", "account=a share"))
def test_a_line_that_makes_no_sense_refuses_options(goal, line):
    for limits in (f"share=50%\n{line}", f"\n{line} share=50%\n"):
        given, sentence = goal("--gpu-share=10%", limits=limits)
        assert given is None and re.search(r"limits, line 2 has '.*': a line has account=, partition=", sentence)


def test_limits_that_cannot_be_read_refuse_options(goal, tmp_path):
    """A folder can be opened, but not read. A file on a lost network share is the same."""
    given, sentence = goal("--gpu-share=10%", limits=None)
    assert (given, sentence) == (None, f"{tmp_path}/limits cannot be read to its end on this node: Is a directory")


def test_a_line_that_is_too_long_refuses_options(goal):
    assert goal("--gpu-share=10%", limits="#" + "x" * 1021 + "\nshare=50%") == ("share:10%", "")
    given, sentence = goal("--gpu-share=10%", limits="#" + "x" * 1022 + "\nshare=50%")
    assert given is None and "line 1 is longer than 1022 bytes" in sentence


def test_the_example_makes_sense(goal):
    text = (EXAMPLES / "nvdebug-limits").read_text(encoding="utf-8")
    assert goal("--gpu-latency", limits=text, qos="serving") == ("cap:90%,latency", "")
    assert "not allowed for account=students" in goal("--gpu-best-effort", limits=text, account="students")[1]
    assert goal("--gpu-share=50%", limits=text) == ("share:50%", "")


class LuaCluster(Cluster):
    """Has the example job_submit.lua, with the limits in a file of the cluster."""

    def __init__(self):
        super().__init__(conf="AccountingStorageType=accounting_storage/none\nJobSubmitPlugins=lua\n"
                         "PartitionName=debug Nodes=ALL OverSubscribe=FORCE:8", shards=SHARDS)
        self.limits = self.folder / "limits"

    def before_controller(self):
        text = (EXAMPLES / "job_submit.lua").read_text(encoding="utf-8")
        for old, new in (('"/etc/slurm/nvdebug-limits"', f'"{self.limits}"'), ("local shards = 0 ", f"local shards = {SHARDS} ")):
            assert text.count(old) == 1
            text = text.replace(old, new)
        (self.folder / "job_submit.lua").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module", name="running_lua")
def _running_lua(slurm_is_built):
    with LuaCluster() as cluster:
        yield cluster


@pytest.fixture(name="lua")
def _lua(running_lua):
    running_lua.plugstack(f"limits={running_lua.limits}", EVERY_OPTION)
    running_lua.limits.write_text("user=nobody partition=debug share=20%\nuser=nobody share=50% allow=share,cap\n", encoding="utf-8")
    running_lua.limits.chmod(0o644)
    yield running_lua
    running_lua.settle()


@pytest.mark.parametrize("program", ("srun", "sbatch"))
def test_jobs_above_the_limit_are_refused_at_submission(lua, program):
    nobody = as_user(lua.folder / "work")
    command = ["--wrap=true"] if program == "sbatch" else ["true"]
    with StandIn(lua.socket) as nvqos:
        for words, sentence in ((["--gpu-share=51%"], "--gpu-share=51% is more than 50%, the most for user=nobody"),
                                (["--gpu-cap=51%"], "--gpu-cap=51% is more than 50%"),
                                (["-p", "debug", "--gpu-share=21%"], "is more than 20%, the most for user=nobody partition=debug"),
                                (["--gpu-latency"], "--gpu-latency is not allowed for user=nobody")):
            done = lua.run(program, GPU, *words, *command, user=nobody)
            assert done.status != 0 and sentence in sentences(done.err)[0]
            assert "Unable to allocate resources" in done.err or "Batch job submission failed" in done.err
            assert not nvqos.asked and not lua.run("squeue", "-h").out
        # One of the partitions is wide enough.
        assert lua.run(program, GPU, "-p", "all,debug", "--gpu-share=50%", *command, user=nobody).status == 0
        assert comes_true(lambda: nvqos.of("release"))


def test_the_node_refuses_jobs_above_the_limit(lua):
    """A user may submit with another program, and set each variable."""
    forged = {"SLURM_JOB_ACCOUNT": "root", "SLURM_JOB_PARTITION": "all", "SLURM_JOB_QOS": "x", "USER": "root", "SLURM_JOB_USER": "root"}
    option = "SLURM_SPANK__SLURM_SPANK_OPTION_nvdebug_gpu_share"
    script = " ".join(f"{name}={value}" for name, value in (forged | {option: "21%"}).items()) + " srun --overlap echo it ran"
    with StandIn(lua.socket) as nvqos:
        done = lua.run("srun", GPU, "-p", "debug", "sh", "-c", script, user=as_user(lua.folder / "work"))
        assert "it ran" not in done.out
        assert f"--gpu-share=21% is more than 20%, the most for user=nobody partition=debug ({lua.limits}, line 1)" in done.err
        # Others have no limit.
        assert srun(lua, GPU, "--gpu-share=95%").status == 0
        assert [hold.goal for hold in nvqos.of("hold")] == ["share:95%"]


def test_a_file_of_limits_that_is_missing(lua):
    os.unlink(lua.limits)
    with StandIn(lua.socket) as nvqos:
        done = srun(lua, GPU, "-n2", "--overcommit", "--gpu-share=30%", command=("echo", "it ran"))
        assert done.status != 0 and done.out == "" and not nvqos.asked
        assert sentences(done.err) == [f"plugstack.conf has limits={lua.limits}, which cannot be read on this node: "
                                       "No such file or directory"]
        # Jobs that ask for nothing run.
        assert srun(lua, GPU).status == 0


class TestShards:
    """A share becomes shards at submission, which Slurm counts on each GPU."""

    @pytest.fixture(name="shared")
    def _shared(self, lua):
        lua.plugstack(f"shards={SHARDS}", EVERY_OPTION)
        return lua

    def test_jobs_that_do_not_fit_wait(self, shared):
        with StandIn(shared.socket) as nvqos:
            numbers = [shared.batch("sleep 1000", "--gpu-share=60%")[0] for _ in range(3)]
            assert comes_true(lambda: len(nvqos.of("hold")) == 2)
            # Each of the two GPUs has one, and the third one would fit on neither, although they have 80 % together.
            assert {hold.one("gpu") for hold in nvqos.of("hold")} == {"/dev/nvidia0", "/dev/nvidia1"}
            assert comes_true(lambda: "(Resources)" in shared.run("squeue", "-h", "-j", str(numbers[2]), "-o", "%R").out)
            shared.run("scancel", str(numbers[0]))
            assert comes_true(lambda: len(nvqos.of("hold")) == 3)
            assert {hold.goal for hold in nvqos.of("hold")} == {"share:60%"}

    def test_shares_that_fill_a_gpu_run_together(self, shared):
        with StandIn(shared.socket) as nvqos:
            for part in ("95%", "47.5%", "28.5%", "19%"):
                shared.batch("sleep 1000", f"--gpu-share={part}")
            assert comes_true(lambda: len(nvqos.of("hold")) == 4), shared.logs()
            by_gpu = {}
            for hold in nvqos.of("hold"):
                by_gpu.setdefault(hold.one("gpu"), set()).add(hold.goal)
        assert sorted(by_gpu.values(), key=len) == [{"share:95%"}, {"share:47.5%", "share:28.5%", "share:19%"}]

    @pytest.mark.parametrize("words, sentence", (
        (["--gpu-share=96%"], "of 96% is more than 95%, the most beside other jobs"),
        (["--gres=shard:31", "--gpu-share=30%"], "30% of a GPU are 32 of its 100 shards, and the job asks for 31")))
    def test_more_than_its_shards_is_refused_at_submission(self, shared, words, sentence):
        done = srun(shared, *words)
        assert done.status != 0 and sentence in sentences(done.err)[0]

    def test_other_jobs_are_left_alone(self, shared):
        with StandIn(shared.socket) as nvqos:
            for words in (["--gres=shard:32", "--gpu-share=30%"], [GPU, "--gpu-share=96%"], ["--gres=shard:32"]):
                assert srun(shared, *words).status == 0
        assert [hold.goal for hold in nvqos.of("hold")] == ["share:30%", "share:96%", "share:30.4000%"]
