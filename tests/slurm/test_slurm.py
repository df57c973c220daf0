# SPDX-License-Identifier: MIT OR GPL-2.0
"""Slurm's plugin in a real Slurm of one node: its options, its requests to nvqos, and its sentences to users. Most
tests have a stand-in at nvqos' socket. The tests of NvqosItself run nvqos over the stand-in for NVIDIA's driver."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import pytest
import desk
from building import ROOT
from sample import EVERYTHING
from slurm import EVERY_OPTION, GPU, Cluster, StandIn, sentences, srun
from users import as_user
from waiting import PATIENCE_S, comes_true

NVQOS = ROOT / "build/cmake/tests/qos/nvqos_stand_in"
FIRST_US = 2000
# The command of a job that ends when a test makes the file `go` in the folder of all jobs.
UNTIL_GO = ("sh", "-c", "until [ -e go ]; do sleep 0.05; done")


SENSELESS = (
    (["--gpu-share=30"], "--gpu-share takes a part of the GPU's time as 30%"),
    (["--gpu-share=0%"], "not '0%'"),
    (["--gpu-share=100.5%"], "not '100.5%'"),
    (["--gpu-share=1.23456%"], "not '1.23456%'"),
    (["--gpu-share=-1%"], "not '-1%'"),
    (["--gpu-share=" + "3" * 99 + "%"], "not '333"),
    (["--gpu-share=3\n0%"], "not '3?0%'"),
    (["--gpu-cap=x"], "--gpu-cap takes a part"),
    (["--gpu-tpcs=0"], "--gpu-tpcs takes a number of TPCs"),
    (["--gpu-tpcs=101%"], "not '101%'"),
    (["--gpu-timeslice=500"], "--gpu-timeslice takes a time as 500us"),
    (["--gpu-timeslice=0us"], "not '0us'"),
    (["--gpu-timeslice=1m"], "not '1m'"),
    (["--gpu-best-effort=0"], "--gpu-best-effort takes a weight"),
    (["--gpu-best-effort=1001"], "not '1001'"),
    (["--gpu-share=30%", "--gpu-gang=no"], "--gpu-gang takes off, if the job's tasks on several GPUs do not wait"),
    (["--gpu-gang=off", "--gpu-tpcs=8"], "--gpu-tpcs and --gpu-gang make no sense together"),
    (["--gpu-share=30%", "--gpu-latency"], "--gpu-share and --gpu-latency make no sense together"),
    (["--gpu-best-effort", "--gpu-latency"], "--gpu-latency and --gpu-best-effort make no sense together"),
    (["--gpu-share=60%", "--gpu-cap=50%"], "--gpu-cap=50% is less than --gpu-share=60%"),
    (["--gpu-timeslice=1ms", "--gpu-cap=50%"], "--gpu-timeslice and --gpu-cap make no sense together"),
    (["--gpu-tpcs=8", "--gpu-share=50%"], "--gpu-tpcs and --gpu-share make no sense together"),
)
# sbatch takes the same options. All of them are tried under NVDEBUG_LONG.
ASKED = [("srun", *case) for case in SENSELESS] + [("sbatch", *case) for case in SENSELESS[::1 if EVERYTHING else 5]]


@pytest.mark.parametrize("program, words, sentence", ASKED)
def test_wrong_options_end_the_command_before_anything_starts(cluster, program, words, sentence):
    cluster.plugstack(EVERY_OPTION)
    with StandIn(cluster.socket) as nvqos:
        command = ["true"] if program == "srun" else ["--wrap=true"]
        done = cluster.run(program, GPU, *words, *command)
        assert done.status != 0
        assert sentence in sentences(done.err)[0]
        assert not nvqos.asked
        assert not cluster.run("squeue", "-h").out.strip()


@pytest.mark.parametrize("words, goal", (
    (["--gpu-share=30%"], "share:30%"),
    (["--gpu-share=12.5%", "--gpu-cap=50%"], "share:12.5%,cap:50%"),
    (["--gpu-cap=100%", "--gpu-latency"], "cap:100%,latency"),
    (["--gpu-timeslice=500us"], "timeslice:500us"),
    (["--gpu-best-effort"], "best-effort"),
    (["--gpu-best-effort=3"], "best-effort:3"),
))
def test_options_become_requests_to_nvqos(cluster, words, goal):
    cluster.plugstack(EVERY_OPTION)
    answers = {"hold": "ok", "release": "ok asked for it, got all of it"}
    with StandIn(cluster.socket, lambda asked: answers[asked.verb]) as nvqos:
        done = srun(cluster, GPU, *words, command=("echo", "it ran"))
    assert (done.status, done.out) == (0, "it ran\n")
    hold, release = nvqos.asked
    assert (hold.verb, hold.goal, hold.one("gpu")) == ("hold", goal, "/dev/nvidia0")
    assert release.line == f"release {hold.name}"
    assert hold.name.startswith("job:") and hold.name.endswith(".0")
    assert sentences(done.err) == ["asked for it, got all of it"]


def test_help_and_jobs_that_ask_for_nothing(cluster):
    assert srun(cluster, command=("true",)).err == ""
    shown = cluster.run("srun", "--help").out
    for option in ("gpu-share=PART", "gpu-cap=PART", "gpu-tpcs=NUMBER", "gpu-timeslice=TIME", "gpu-latency", "gpu-best-effort"):
        assert f"--{option}" in shown


def test_the_goal_is_held_before_the_program_starts(cluster):
    def answer(asked):
        # Without the verdict, the program would begin during this time.
        time.sleep(0.3)
        asked.then = [asked.program(pid) for pid in asked.all("pid")]
        asked.holders = [asked.program(pid) for pid in asked.all("holder")]
        return "ok"

    with StandIn(cluster.socket, answer) as nvqos:
        assert srun(cluster, GPU, "--gpu-share=30%", command=("sh", "-c", "sleep 0.1")).status == 0
    (hold,) = nvqos.of("hold")
    assert "slurmstepd" in hold.then[0] and hold.then == hold.holders
    assert hold.one("pid") != hold.one("holder")


@pytest.mark.parametrize("kind", ("required", "optional"))
@pytest.mark.parametrize("answer", ("refused GPU 0: shares add up to 105 %, and 99.3 % can be promised", "error there is no GPU 7"))
def test_a_refused_task_does_not_start(cluster, kind, answer):
    cluster.plugstack(kind=kind)
    with StandIn(cluster.socket, lambda asked: answer) as nvqos:
        done = srun(cluster, GPU, "-n2", "--overcommit", "--gpu-share=75%", command=("echo", "it ran"))
    assert done.status != 0 and done.out == ""
    # The sentence is printed once, and not for each task.
    assert sentences(done.err) == [answer.partition(" ")[2]]
    assert not nvqos.of("release")


@pytest.mark.parametrize("answer, why", (
    (None, "waiting for its answer took longer than 1 s"),
    (b"", "waiting for its answer failed"),
    ("hello", "its answer 'hello' is none of nvqos"),
    ("refused", "its answer 'refused' is none of nvqos"),
    (b"\x1b[2J\n", "its answer '?[2J' is none of nvqos"),
    (b"ok " + 8192 * b"x", "waiting for its answer failed: Message too long"),
))
def test_an_nvqos_that_is_broken(cluster, answer, why):
    timeout = ("timeout=1",) if answer is None else ()
    cluster.plugstack(*timeout)
    with StandIn(cluster.socket, lambda asked: answer) as nvqos:
        done = srun(cluster, GPU, "-n2", "--overcommit", "--gpu-share=75%", command=("echo", "it ran"))
        assert done.status != 0 and done.out == ""
        (sentence,) = sentences(done.err)
        assert f"nvqos does not answer at {cluster.socket} on this node: {why}" in sentence
        # The second task does not wait for nvqos again.
        assert len(nvqos.of("hold")) == 1
        cluster.plugstack(*timeout, "best-effort")
        done = srun(cluster, GPU, "--gpu-share=75%", command=("echo", "it ran"))
    assert (done.status, done.out) == (0, "it ran\n")
    (sentence,) = sentences(done.err)
    assert why in sentence and "The job runs without its goal" in sentence
    # Slurm continues to work.
    assert srun(cluster, command=("true",)).status == 0


def test_answers_about_many_gpus_are_taken_whole(cluster):
    depends = "; ".join(f"GPU {gpu}: the share of job:17.0 is what api leaves of it, as api is served first" for gpu in range(8))
    got = "; ".join(f"31.2 % of GPU {gpu} (12.4 s in 40.0 s), waits between turns p99 3.20 ms" for gpu in range(8))
    report = f"asked share 30 %, got {got}"
    with StandIn(cluster.socket, lambda asked: f"ok {depends if asked.verb == 'hold' else report}"):
        done = srun(cluster, GPU, "--gpu-share=30%", command=("echo", "it ran"))
    assert (done.status, done.out) == (0, "it ran\n")
    first, last = sentences(done.err)
    assert len(first) > 500 and depends.startswith(first) and last == report


@contextlib.contextmanager
def full_queue(path):
    """Opens a socket with a full queue of clients."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        stack.callback(path.unlink)
        listener.listen(0)
        with pytest.raises(BlockingIOError):
            for _ in range(100):
                client = stack.enter_context(socket.socket(socket.AF_UNIX))
                client.setblocking(False)
                client.connect(str(path))
        yield


@pytest.mark.parametrize("there", ("nothing", "a file", "full"))
def test_no_nvqos(cluster, there):
    cluster.plugstack("timeout=1")
    with contextlib.ExitStack() as stack:
        if there == "a file":
            cluster.socket.touch()
            stack.callback(cluster.socket.unlink)
        if there == "full":
            stack.enter_context(full_queue(cluster.socket))
        done = srun(cluster, GPU, "--gpu-share=30%", command=("echo", "it ran"))
        assert done.status != 0 and done.out == ""
        (sentence,) = sentences(done.err)
        assert "nvqos does not answer at" in sentence and "systemctl start nvqos" in sentence
        cluster.plugstack("timeout=1", "best-effort")
        done = srun(cluster, GPU, "--gpu-share=30%", command=("echo", "it ran"))
        assert done.out == "it ran\n" and "The job runs without its goal" in sentences(done.err)[0]


def test_tasks_and_gpus_of_a_step(cluster):
    with StandIn(cluster.socket) as nvqos:
        assert srun(cluster, "--gres=gpu:2", "-n2", "--overcommit", "--gpu-share=30%").status == 0
    one, two = nvqos.of("hold")
    assert one.all("gpu") == two.all("gpu") == ["/dev/nvidia0", "/dev/nvidia1"]
    assert (one.name, one.one("holder")) == (two.name, two.one("holder")) and one.one("pid") != two.one("pid")
    # The step has one name on all GPUs, which makes it a gang.
    assert not one.all("gang") and not two.all("gang")
    assert len(nvqos.of("release")) == 1


def test_a_step_whose_tasks_do_not_wait_for_each_other(cluster):
    with StandIn(cluster.socket) as nvqos:
        assert srun(cluster, "--gres=gpu:2", "--gpu-share=30%", "--gpu-gang=off").status == 0
        (hold,) = nvqos.of("hold")
        assert (hold.goal, hold.all("gang"), hold.all("gpu")) == ("share:30%", ["off"], ["/dev/nvidia0", "/dev/nvidia1"])
        nvqos.asked.clear()
        number, _ = cluster.batch("srun true\nsrun --gpu-gang=on true", "--gres=gpu:2", "--gpu-share=30%", "--gpu-gang=off")
        assert cluster.has_ended(number) and comes_true(lambda: len(nvqos.of("release")) == 2)
    batch, step, other = nvqos.of("hold")
    assert batch.name == step.name == f"job:{number}.batch" and batch.all("gang") == step.all("gang") == ["off"]
    # With gang=on the goal is another one.
    assert (other.name, other.goal, other.all("gang")) == (f"job:{number}.1", "share:30%", [])


def test_a_gang_without_a_goal_is_refused(cluster):
    with StandIn(cluster.socket) as nvqos:
        done = srun(cluster, GPU, "--gpu-gang=off", command=("echo", "it ran"))
        assert done.status != 0 and done.out == "" and not nvqos.asked
        assert sentences(done.err) == ["--gpu-gang says how a goal is kept, and the step has none: add one, as --gpu-share=30%"]


def test_two_jobs_beside_each_other(cluster):
    with StandIn(cluster.socket) as nvqos:
        first = cluster.begin("srun", GPU, "--gpu-share=30%", "sleep", "100")
        assert comes_true(lambda: nvqos.of("hold"))
        assert srun(cluster, GPU, "--gpu-cap=30%").status == 0
        one, two = nvqos.of("hold")
        # The request names the node's device files, and not the numbers that the job sees.
        assert (one.one("gpu"), two.one("gpu")) == ("/dev/nvidia0", "/dev/nvidia1") and one.name != two.name
        assert [asked.name for asked in nvqos.of("release")] == [two.name]
        first.process.send_signal(signal.SIGKILL)
        cluster.settle()


def test_an_array(cluster):
    with StandIn(cluster.socket) as nvqos:
        path = cluster.folder / "array.sh"
        path.write_text("#!/bin/sh\nsleep 0.2\n", encoding="utf-8")
        done = cluster.run("sbatch", "--parsable", "--array=0-2", GPU, "--gpu-share=20%", path)
        assert cluster.has_ended(done.out.strip())
        assert comes_true(lambda: len(nvqos.of("release")) == 3)
    names = {asked.name for asked in nvqos.of("hold")}
    assert len(names) == 3 and all(name.endswith(".batch") for name in names)
    assert {asked.name for asked in nvqos.of("release")} == names


def test_steps_of_a_batch_script_have_its_share(cluster):
    answers = {"hold": "ok", "release": "ok got 29.8 %"}
    with StandIn(cluster.socket, lambda asked: answers[asked.verb]) as nvqos:
        number, out = cluster.batch("srun true\nsrun --gres=gpu:1 true\nsrun --gpu-share=20% true\necho it ran",
                                    "--gres=gpu:2", "--gpu-share=30%")
        assert cluster.has_ended(number) and comes_true(lambda: len(nvqos.of("release")) == 2)
        assert comes_true(lambda: "29.8" in out.read_text(encoding="utf-8"))
        assert not list(cluster.folder.glob("slurm-job-*"))
    batch, one, two, other = nvqos.of("hold")
    assert batch.name == one.name == two.name == f"job:{number}.batch"
    assert batch.goal == one.goal == two.goal and batch.words[:2] == one.words[:2] == two.words[:2]
    assert batch.one("holder") == one.one("holder") == two.one("holder")
    # A step with another goal has a hold of its own.
    assert (other.name, other.goal) == (f"job:{number}.2", "share:20%") and other.one("holder") != batch.one("holder")
    assert [asked.name for asked in nvqos.of("release")] == [other.name, batch.name]
    assert "it ran" in out.read_text(encoding="utf-8")


DEPENDS = "kept only as far as serve leaves time; a cap on serve makes room"


def test_the_user_reads_once_what_the_share_depends_on(cluster):
    answers = {"hold": f"ok {DEPENDS}", "release": "ok got 29.8 %"}
    with StandIn(cluster.socket, lambda asked: answers[asked.verb]) as nvqos:
        done = srun(cluster, GPU, "-n2", "--overcommit", "--gpu-share=30%", command=("echo", "it ran"))
        assert (done.status, done.out) == (0, "it ran\n" * 2)
        assert len(nvqos.of("hold")) == 2, "a request for each task"
        assert sentences(done.err) == [DEPENDS, "got 29.8 %"]
        number, out = cluster.batch("srun true\nsrun --gres=gpu:1 true\necho it ran", GPU, "--gpu-share=30%")
        assert cluster.has_ended(number) and comes_true(lambda: "29.8" in out.read_text(encoding="utf-8"))
    assert len(nvqos.of("hold")) == 5, "the script and its steps ask, too"
    assert out.read_text(encoding="utf-8").splitlines() == [f"nvdebug: {DEPENDS}", "it ran", "nvdebug: got 29.8 %"]


def test_a_refused_batch_job_has_the_sentence_in_its_file(cluster):
    with StandIn(cluster.socket, lambda asked: "refused shares add up to 105 %"):
        number, out = cluster.batch("echo it ran", GPU, "--gpu-share=30%")
        assert cluster.has_ended(number)
    assert out.read_text(encoding="utf-8") == "nvdebug: shares add up to 105 %\n"


def test_a_step_of_an_allocation(cluster):
    answers = {"hold": "ok", "release": "ok got 29.8 %"}
    with StandIn(cluster.socket, lambda asked: answers[asked.verb]) as nvqos:
        done = cluster.run("salloc", GPU, "--gpu-share=30%", "srun", "echo", "it ran")
    assert (done.status, done.out, sentences(done.err)) == (0, "it ran\n", ["got 29.8 %"])
    assert [asked.verb for asked in nvqos.asked] == ["hold", "release"]


@pytest.mark.parametrize("ends", ("scancel", "the task is killed", "srun is interrupted"))
def test_the_goal_is_released_whatever_ends_the_job(cluster, ends):
    answers = {"hold": "ok", "release": "ok got 29.8 %"}
    with StandIn(cluster.socket, lambda asked: answers[asked.verb]) as nvqos:
        job = cluster.begin("srun", GPU, "--gpu-share=30%", "sleep", "100")
        assert comes_true(lambda: nvqos.of("hold"))
        (hold,) = nvqos.of("hold")
        pid = int(hold.one("pid"))
        assert comes_true(lambda: "sleep" in (hold.program(pid) or ""))
        if ends == "scancel":
            assert cluster.run("scancel", hold.name[4:].partition(".")[0]).status == 0
        elif ends == "the task is killed":
            os.kill(pid, signal.SIGKILL)
        else:
            job.process.send_signal(signal.SIGTERM)
        assert comes_true(lambda: [asked.name for asked in nvqos.of("release")] == [hold.name])
        assert job.wait().status != 0
    # srun reads no more output of a step after one of its tasks has failed.
    assert sentences(job.err) == ["got 29.8 %"] or ends == "srun is interrupted"


def test_a_job_that_outlives_nvqos(cluster):
    with StandIn(cluster.socket) as nvqos:
        job = cluster.begin("srun", GPU, "--gpu-share=30%", *UNTIL_GO)
        assert comes_true(lambda: nvqos.of("hold"))
    (cluster.folder / "work/go").touch()
    assert job.wait().status == 0
    (sentence,) = sentences(job.err)
    assert "nvqos ended while the step ran, and with it the goal share:30%" in sentence


def test_nvqos_was_restarted(cluster):
    answers = {"hold": "ok", "release": "error nothing is held by that name"}
    with StandIn(cluster.socket, lambda asked: answers[asked.verb]):
        done = srun(cluster, GPU, "--gpu-share=30%")
    assert sentences(done.err) == ["the goal share:30% was not kept until the end: nothing is held by that name"]


def test_a_step_without_a_gpu(cluster):
    with StandIn(cluster.socket) as nvqos:
        # Variables that the user sets name no GPU.
        env = {"SLURM_STEP_GPUS": "1", "SLURM_JOB_GPUS": "1", "CUDA_VISIBLE_DEVICES": "1"}
        done = srun(cluster, "--gpu-share=30%", command=("echo", "it ran"), env=env)
        assert done.status != 0 and done.out == "" and "Slurm gives the step no GPU" in sentences(done.err)[0]
        assert not nvqos.asked
        cluster.plugstack("all-gpus")
        assert srun(cluster, "--gpu-share=30%", env=env).status == 0
        assert not nvqos.of("hold")[0].all("gpu")


def test_a_user_who_is_not_root(cluster):
    answers = {"hold": "ok", "release": "ok got 29.8 %"}
    with StandIn(cluster.socket, lambda asked: answers[asked.verb]) as nvqos:
        done = srun(cluster, GPU, "--gpu-share=30%", command=("id", "-u"), user=as_user(cluster.folder / "work"))
    assert (done.status, done.out, sentences(done.err)) == (0, "65534\n", ["got 29.8 %"])
    assert nvqos.of("hold")[0].one("gpu") == "/dev/nvidia0"


def test_a_file_of_another_process_is_ignored(cluster):
    """Its pid belongs to a slurmstepd that began at another time."""
    with StandIn(cluster.socket) as nvqos:
        first = cluster.begin("srun", GPU, "--gpu-share=30%", "sleep", "100")
        assert comes_true(lambda: nvqos.of("hold"))
        holder = int(nvqos.of("hold")[0].one("holder"))
        start = int(pathlib.Path(f"/proc/{holder}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
        number = int(nvqos.of("hold")[0].name[4:].partition(".")[0])
        for at, (began, name) in enumerate(((start + 1, None), (0, None), (start, "job:1.batch")), 1):
            path = cluster.folder / f"slurm-job-{number + at}"
            path.write_text(f"job:1.batch share:30% {holder} {began} 0", encoding="utf-8")
            assert srun(cluster, GPU, "--gpu-share=30%").status == 0
            assert nvqos.of("hold")[at].name == (name or f"job:{number + at}.0")
            path.unlink()
        first.process.send_signal(signal.SIGKILL)
        cluster.settle()


@pytest.mark.parametrize("word", ("socket=here", "timeout=0", "timeout=61", "shards=x", "limits=here", "allow=all", "Best-Effort"))
def test_arguments_that_make_no_sense(cluster, word):
    """Only jobs that ask for a goal or TPCs are refused."""
    with StandIn(cluster.socket) as nvqos:
        cluster.plugstack(word)
        assert srun(cluster).status == 0
        done = srun(cluster, GPU, "--gpu-share=30%", command=("echo", "it ran"))
        assert done.status != 0 and done.out == ""
        assert f"plugstack.conf gives spank_nvdebug.so '{word}'" in done.err
        assert not nvqos.asked


class TestTpcs:
    """Runs nvtaskset and a program as Slurm's tasks, over the stand-ins for CUDA and the driver."""

    @pytest.fixture
    def export(self, cluster, open_desk):
        """Returns the option with which tasks find the stand-ins."""
        cluster.plugstack(f"nvtaskset={desk.TOOL}")
        names = ("LD_LIBRARY_PATH", "LD_PRELOAD", "XDG_CACHE_HOME", "NVTASKSET_DRIVER_FOLDER", "STAND_IN_LOG", "STAND_IN_GPUS",
                 "STAND_IN_SEED")
        # No MPS server runs there.
        env = {name: open_desk.env[name] for name in names} | {"CUDA_MPS_PIPE_DIRECTORY": f"{open_desk.folder}/none"}
        return "--export=ALL," + ",".join(f"{name}={value}" for name, value in env.items())

    @pytest.mark.parametrize("part, sms", (("8", 16), ("25%", 34)))
    def test_a_task_is_kept_to_them(self, cluster, export, part, sms):
        done = srun(cluster, "--gres=shard:1", f"--gpu-tpcs={part}", export, command=(desk.PROGRAM, "device 0", "launch"))
        assert done.status == 0, done.err
        assert len(desk.sms_in(done.out.splitlines()[1])) == sms

    def test_each_task_has_its_own(self, cluster, export):
        job = cluster.begin("srun", "--gres=shard:1", "-n2", "--overcommit", "--label", "--gpu-tpcs=30", export, "sh", "-c",
                            '"$0" "device 0" launch; exec sleep 100', desk.PROGRAM)
        assert comes_true(lambda: len(job.out.splitlines()) == 4 or job.process.poll() is not None), job.err
        answers = [line.partition(": ")[2] for line in job.out.splitlines() if " ok" not in line]
        one, two = (set(desk.sms_in(answer)) for answer in answers)
        assert len(one) == len(two) == 60 and not one & two
        # The numbers are those of nvtaskset's list, and no task gets more TPCs than there are.
        done = srun(cluster, "--gres=shard:1", "--gpu-tpcs=30", export, command=("echo", "it ran"))
        assert done.status != 0 and done.out == ""
        assert "nvtaskset: " in done.err and "did not give the task --gpu-tpcs=30" in sentences(done.err)[-1]

    def test_steps_of_a_script_are_in_its_partition(self, cluster, export):
        number, out = cluster.batch(f'srun {desk.PROGRAM} "device 0" launch; {desk.PROGRAM} "device 0" launch',
                                    "--gres=shard:1", "--gpu-tpcs=40", export)
        assert cluster.has_ended(number)
        printed = out.read_text(encoding="utf-8")
        assert "nvdebug: " not in printed, printed
        one, two = (desk.sms_in(line) for line in printed.splitlines() if re.match(r"\d+ \d", line))
        assert len(one) == 80 and one == two

    def test_more_than_there_are(self, cluster, export):
        done = srun(cluster, GPU, "--gpu-tpcs=100", export, command=("echo", "it ran"))
        assert done.status != 0 and done.out == "" and "nvtaskset: " in done.err

    def test_no_nvtaskset(self, cluster):
        cluster.plugstack("nvtaskset=/nowhere/nvtaskset")
        done = srun(cluster, GPU, "--gpu-tpcs=8", command=("echo", "it ran"))
        assert done.status != 0 and done.out == ""
        assert "/nowhere/nvtaskset: No such file" in done.err


class TestDevicesOfCgroups:
    """Tests ConstrainDevices on machines with cgroups that Slurm can use. Elsewhere the reason for skipping is
    printed."""

    @pytest.fixture(scope="class")
    def constrained(self, slurm_is_built):
        if not pathlib.Path("/sys/fs/cgroup/devices").is_dir():
            pytest.skip("/sys/fs/cgroup/devices is not mounted: Slurm's cgroup/v1 has no devices to constrain here")
        if not os.access("/sys/fs/cgroup/devices", os.W_OK) or read_only("/sys/fs/cgroup/devices"):
            pytest.skip("/sys/fs/cgroup/devices is read-only, as in a container")
        with Cluster(constrain=True) as cluster:
            yield cluster

    def test_the_gpu_is_that_of_the_node(self, constrained):
        with StandIn(constrained.socket) as nvqos:
            first = constrained.begin("srun", GPU, "--gpu-share=30%", "sleep", "100")
            assert comes_true(lambda: nvqos.of("hold"))
            done = srun(constrained, GPU, "--gpu-share=40%", command=("sh", "-c", "echo $CUDA_VISIBLE_DEVICES"))
            one, two = nvqos.of("hold")
            assert done.out == "0\n"
            assert (one.one("gpu"), two.one("gpu")) == ("/dev/nvidia0", "/dev/nvidia1")
            for hold in (one, two):
                job, step = hold.name[4:].split(".")
                assert f"/job_{job}/step_{step}" in hold.one("cgroup") + "/" and "task" not in hold.one("cgroup")
            first.process.kill()
            constrained.settle()


def read_only(path):
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


class TestNvqosItself:
    """Runs nvqos over the stand-in for NVIDIA's driver with a simulated GPU. Slurm's tasks are its processes."""

    @pytest.fixture
    def machine(self, cluster):
        tasks = cluster.folder / "tasks"
        tasks.mkdir(exist_ok=True)
        tasks.chmod(0o1777)
        process = None
        # A process outside Slurm, so that there is a GPU to share.
        neighbour = subprocess.Popen(["sleep", "1000"])
        (tasks / str(neighbour.pid)).touch()
        about = cluster.folder / "driver/gpus/0000:01:00.0"
        about.mkdir(parents=True, exist_ok=True)
        (about / "information").write_text("Device Minor: \t 0\n", encoding="utf-8")
        surroundings = {"NVQOS_STAND_IN": str(cluster.folder), "NVQOS_DRIVER_FOLDER": str(cluster.folder / "driver")}

        class Machine:
            # Both jobs are on the same GPU, as shards of it.
            ON_ONE = ("--gres=shard:1",)
            # The task prints its pid and then uses the GPU, until a test makes the file `go`.
            TASK = ("sh", "-c", f'touch {tasks}/$$; echo $$; {UNTIL_GO[-1]}')

            def start(self):
                nonlocal process
                process = subprocess.Popen(
                    ["unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh",
                     NVQOS, f"--socket={cluster.socket}"], env=os.environ | surroundings,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                assert comes_true(self.answers)
                return process

            @staticmethod
            def answers():
                with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(PATIENCE_S)
                    client.connect(str(cluster.socket))
                    client.sendall(b"list\n")
                    return client.makefile().readline().startswith("ok")
                return False

            @staticmethod
            def held():
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(str(cluster.socket))
                    client.sendall(b"list\n")
                    return client.makefile().readline()

            def job(self, *words):
                """Starts a job, and returns it with its task's pid."""
                job = cluster.begin("srun", *self.ON_ONE, *words, *self.TASK)
                assert comes_true(lambda: job.out.endswith("\n") or job.process.poll() is not None)
                assert job.out, job.err
                return job, int(job.out)

            @staticmethod
            def timeslice(pid):
                with contextlib.suppress(FileNotFoundError):
                    lines = (cluster.folder / "changes").read_text(encoding="utf-8").splitlines()
                    found = [int(line.split()[2]) for line in lines if line.startswith(f"{pid} timeslice ")]
                    return found[-1] if found else FIRST_US
                return FIRST_US

        yield Machine()
        cluster.settle()
        for each in filter(None, (process, neighbour)):
            each.kill()
            each.wait()
        with contextlib.suppress(FileNotFoundError):
            cluster.socket.unlink()

    def test_a_share_sets_timeslices_and_is_released(self, cluster, machine):
        machine.start()
        job, pid = machine.job("--gpu-share=30%")
        assert comes_true(lambda: machine.timeslice(pid) != FIRST_US)
        assert str(pid) in machine.held()
        (cluster.folder / "work/go").touch()
        assert job.wait().status == 0
        (sentence,) = sentences(job.err)
        assert sentence.startswith("asked share 30 %, got ")
        assert "job:" not in machine.held()

    def test_more_than_all_of_it_is_refused_with_numbers(self, cluster, machine):
        machine.start()
        machine.job("--gpu-share=60%")
        done = srun(cluster, *machine.ON_ONE, "--gpu-share=60%", command=("echo", "it ran"))
        assert done.status != 0 and done.out == ""
        (sentence,) = sentences(done.err)
        assert sentence.startswith("GPU 0: shares and speeds add up to 120 %")
        # A share that is still free is granted.
        done = srun(cluster, *machine.ON_ONE, "--gpu-share=30%", command=("echo", "it ran"))
        assert (done.status, done.out) == (0, "it ran\n")

    @pytest.mark.parametrize("killed", ("slurmstepd", "the task", "nvqos"))
    def test_kill_9_of_each(self, cluster, machine, killed):
        nvqos = machine.start()
        job, pid = machine.job("--gpu-share=30%")
        assert comes_true(lambda: machine.timeslice(pid) != FIRST_US)
        (stepd,) = [each for each in cluster.stepds()
                    if str(pid) in pathlib.Path(f"/proc/{each}/task/{each}/children").read_text(encoding="ascii").split()]
        os.kill({"slurmstepd": stepd, "the task": pid, "nvqos": nvqos.pid}[killed], signal.SIGKILL)
        if killed == "nvqos":
            # The timeslice is restored, and the user reads why.
            assert comes_true(lambda: machine.timeslice(pid) == FIRST_US)
            os.kill(pid, signal.SIGTERM)
            job.wait()
            assert "nvqos ended while the step ran" in sentences(job.err)[-1]
            return
        assert comes_true(lambda: "job:" not in machine.held())
        if killed == "slurmstepd":
            assert comes_true(lambda: machine.timeslice(pid) == FIRST_US or not os.path.exists(f"/proc/{pid}"))
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        job.process.kill()
        cluster.settle()
