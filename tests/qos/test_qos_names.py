# SPDX-License-Identifier: MIT OR GPL-2.0
"""Names of GPUs, processes and cgroups, as people copy them: nvqos over the stand-in for the driver, with real processes as
tasks. Takes root, as nvqos does."""

import json
import os
import pathlib
import socket
import struct
import subprocess

import pytest
from qos_machine import PROGRAM
from waiting import PATIENCE_S, comes_true
from watching import watched

pytest_plugins = ["qos_machine"]

ADDRESS = "0000:01:00.0"
UUID = "GPU-57a2ed01-1111-2222-3333-444455556666"
CONTAINER = "0123456789abcdef" * 4
POD = "0f5a1c2e-1111-2222-3333-444455556666"


def describe(folder, address=ADDRESS, uuid=UUID, minor=5):
    """A GPU, as /proc/driver/nvidia does."""
    about = folder / "driver/gpus" / address
    about.mkdir(parents=True)
    (about / "information").write_text(
        f"Model: \t\t NVIDIA H100\nIRQ:   \t\t 0\nGPU UUID: \t {uuid}\nDevice Minor: \t {minor}\n", encoding="utf-8")


def surroundings(folder):
    return {"NVQOS_STAND_IN": str(folder), "NVQOS_DRIVER_FOLDER": str(folder / "driver")}


def dry(machine, *words):
    """nvqos --dry-run, which ends by itself."""
    return subprocess.run([PROGRAM, "--dry-run", *words], env=os.environ | surroundings(machine.folder), capture_output=True, text=True,
                          check=False, timeout=PATIENCE_S)


@pytest.fixture(name="named")
def fixture_named(machine):
    describe(machine.folder)
    return machine


SECOND, SECOND_UUID = "0000:02:00.0", "GPU-68b3fe12-1111-2222-3333-444455556666"


@pytest.fixture(name="two")
def fixture_two(named, monkeypatch):
    describe(named.folder, SECOND, SECOND_UUID, 6)
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    monkeypatch.setenv("NVQOS_DRIVER_FOLDER", str(named.folder / "driver"))
    return named


GPUS = ("0", "gpu0", "all", "0,gpu0", UUID, UUID.lower(), UUID[:8], ADDRESS, "00000000:01:00.0", "01:00.0", "/dev/nvidia5",
        "nvidia.com/gpu=0", f"nvidia.com/gpu={UUID}", f"k8s.device-plugin.nvidia.com/gpu={UUID}", f"{UUID}::1")
NO_GPUS = (("/dev/nvidia0", "there is no GPU '/dev/nvidia0': here is 0"), ("1", "there is no GPU '1': here is 0"),
           ("0,1", "there is no GPU '1'"), ("GPU-58", "there is no GPU 'GPU-58'"), ("0000:02:00.0", "there is no GPU"),
           ("GPU-xyz", "cannot be a GPU's name: write its number (0)"), ("/dev/nvidiactl", "cannot be a GPU's name"),
           ("0,", "a name is empty"), ("MIG-57a2ed01", "is a part of a GPU (MIG)"), ("nvidia.com/gpu=0:1", "is a part of a GPU (MIG)"))


@pytest.mark.parametrize("gpu", GPUS)
def test_a_gpu_has_many_names(named, gpu):
    done = dry(named, "-g", gpu, "others=cap:20%")
    assert (done.returncode, done.stderr) == (0, "")
    goals = named.folder / "goals.toml"
    goals.write_text(f'gpus = "{gpu}"\nothers = "cap:20%"\n', encoding="utf-8")
    done = dry(named, "-f", goals)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("gpu, sentence", NO_GPUS)
def test_a_gpu_that_is_not_there(named, gpu, sentence):
    done = dry(named, "-g", gpu, "others=cap:20%")
    assert done.returncode == 1 and sentence in done.stderr
    goals = named.folder / "goals.toml"
    goals.write_text(f'gpus = ["{gpu}"]\nothers = "cap:20%"\n', encoding="utf-8")
    assert sentence in dry(named, "-f", goals).stderr


def test_gpus_over_the_socket(named, monkeypatch):
    monkeypatch.setenv("NVQOS_DRIVER_FOLDER", str(named.folder / "driver"))
    named.start("--quiet")
    one = named.process()
    for gpu in GPUS:
        assert named.ask(f"hold a share:30% pid={one.pid} gpu={gpu}") == "ok", gpu
        assert named.list()[0]["gpus"] == ([] if gpu == "all" else [0])
        named.ask("release a")
    for gpu, sentence in NO_GPUS:
        answer = named.ask(f"hold a share:30% pid={one.pid} gpu={gpu}")
        assert answer.startswith("error ") and sentence in answer
    assert named.list() == []


@pytest.mark.parametrize("name", (SECOND_UUID, SECOND, "/dev/nvidia6", "1"))
@pytest.mark.parametrize("fault", ("lost", "bad", "hangs"))
def test_a_gpu_that_fails_hides_the_name_of_no_other_one(two, name, fault):
    (two.folder / f"{fault}.0").touch()
    done = dry(two, "-g", name, "others=cap:20%")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines() if "cap 20 %" in line] == ["1"]


@pytest.mark.parametrize("fault", ("lost", "bad"))
def test_a_gpu_that_fails_has_its_names(two, fault):
    (two.folder / f"{fault}.1").touch()
    one = two.process()
    two.start("--quiet", f"--gpu=0,{SECOND_UUID}")
    for name in (SECOND_UUID, SECOND, "/dev/nvidia6", "1"):
        assert two.ask(f"hold a cap:30% pid={one.pid} gpu={name}").startswith("refused GPU 1 is left out now: "), name
    assert two.ask(f"hold a cap:30% pid={one.pid} gpu={UUID[:8]}") == "ok" and two.list()[0]["gpus"] == [0]


def test_a_gpu_that_does_not_answer_may_have_any_name(two):
    (two.folder / "hangs.1").touch()
    unknown = "the driver has not told so far what is GPU 1"
    done = dry(two, "-g", SECOND_UUID, "others=cap:20%")
    assert done.returncode == 5 and f"there is no GPU '{SECOND_UUID}': here are 0 to 1; {unknown}" in done.stderr
    done = dry(two, "-g", "2", "others=cap:20%")
    assert done.returncode == 1 and "there is no GPU '2': here are 0 to 1" in done.stderr and unknown not in done.stderr
    two.start("--quiet")
    answer = two.ask(f"hold a cap:30% pid={two.process().pid} gpu={SECOND_UUID}")
    assert answer.startswith("error ") and unknown in answer and two.list() == []


NOBODY = (
    ("container:vllm-openai", "docker inspect -f '{{.Id}}' vllm-openai"),
    ("container:" + CONTAINER + "0", "has 65 hexadecimal digits"),
    ("pod:vllm-0", "kubectl get pod vllm-0"),
    ("job:17_3", "squeue -o %A"),
    ("job:17.x", "squeue -o %A"),
    ("cgroup:kubepods.slice", "write its path from the root of cgroups on"),
    ("all-of:99999999", "Linux counts them to 4194304"),
    ("pid:0", "is no number of a process"),
)


@pytest.mark.parametrize("who, sentence", NOBODY)
def test_a_word_that_can_fit_nobody_is_refused(machine, who, sentence):
    done = dry(machine, f"{who}=share:30%")
    assert (done.returncode, done.stdout) == (1, "") and sentence in done.stderr
    key, _, value = who.partition(":")
    goals = machine.folder / "goals.toml"
    quoted = value if key in ("pid", "all-of") else json.dumps(value)
    goals.write_text(f'[[tenant]]\n{key} = {quoted}\ngoal = "share:30%"\n', encoding="utf-8")
    done = dry(machine, "-f", goals)
    assert (done.returncode, done.stdout) == (1, "") and sentence in done.stderr and "goals.toml:2: " in done.stderr


FITS_NOBODY = ("command:none", f"container:containerd://{CONTAINER}", f"container:cri-o://{CONTAINER.upper()}", "container:docker://3F2A",
               f"pod:{POD.upper()}", "pod:8f6a44fc62e8cb075753c843896568ca", "job:17.batch")


@pytest.mark.parametrize("who", FITS_NOBODY)
def test_a_tenant_without_processes_is_not_kept(machine, who):
    machine.process()
    done = dry(machine, f"{who}=share:30%")
    assert done.returncode == 0 and f"{who}: no task fits yet" in done.stderr
    row, = [line.split() for line in done.stdout.splitlines() if who in line]
    assert row[-3:] == ["0", "nobody", "0"]
    document = json.loads(dry(machine, "-j", f"{who}=share:30%").stdout)
    assert [tenant["kept"] for tenant in document["data"]["tenants"]] == [None, True]


@pytest.mark.parametrize("path", ("/no/such/cgroup", "/no/such/cgroup/", "/sys/fs/cgroup/no/such/cgroup"))
def test_a_typed_cgroup_must_exist_and_one_in_a_file_may_come(machine, path):
    done = dry(machine, f"cgroup:{path}=share:30%")
    assert (done.returncode, done.stdout) == (1, "") and "there is no cgroup /no/such/cgroup here" in done.stderr
    goals = machine.folder / "goals.toml"
    goals.write_text(f'[[tenant]]\ncgroup = "{path}"\ngoal = "share:30%"\n', encoding="utf-8")
    done = dry(machine, "-f", goals)
    assert done.returncode == 0 and "no task fits yet; there is no cgroup /no/such/cgroup now" in done.stderr
    assert dry(machine, "cgroup:/=cap:50%").returncode == 0


def test_no_metric_says_that_a_goal_of_nobody_is_kept(machine):
    metrics = machine.folder / "nvqos.prom"
    one = machine.process()
    with watched(machine.folder) as folder:
        machine.start("--quiet", "--metrics", metrics, "command:none=share:30%", f"{one.pid}=cap:90%")
        assert folder.comes("nvqos.prom"), "its readers see whole files alone"

    def kept():
        return [line for line in metrics.read_text(encoding="utf-8").splitlines() if line.startswith("nvqos_kept{")]
    assert comes_true(lambda: metrics.exists() and f'tenant="{one.pid}"' in "".join(kept()))
    assert 'tenant="none"' not in "".join(kept()) and "command:none" not in "".join(kept())


def test_a_long_name_is_compared_by_what_linux_keeps(machine):
    program = machine.folder / "text-generation-launcher"
    program.write_bytes(pathlib.Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    machine.process(program, "1000")
    done = dry(machine, "command:text-generation-launcher=share:30%")
    assert done.returncode == 0 and "no task fits" not in done.stderr
    assert "Linux keeps 15 bytes of a command's name, so that all processes named 'text-generation' fit" in done.stderr
    assert [line.split()[-3:] for line in done.stdout.splitlines() if "text-gen" in line] == [["1", "yes", "0"]]


def test_a_cgroup_over_the_socket_must_exist(kept):
    for cgroup in ("/does/not/exist", "/sys/fs/cgroup/does-not-exist.slice"):
        answer = kept.ask(f"hold b share:10% cgroup={cgroup}")
        assert answer.startswith("error ") and "there is no such cgroup here" in answer
    assert "below the root" in kept.ask("hold b share:10% cgroup=/sys/fs/cgroup/") and kept.list() == []


def test_a_goal_for_all_others_alone(machine):
    machine.process()
    assert dry(machine, "others=cap:20%").returncode == 0
    goals = machine.folder / "goals.toml"
    goals.write_text('others = "cap:20%"\n', encoding="utf-8")
    done = dry(machine, "-f", goals)
    assert (done.returncode, done.stderr) == (0, "") and "cap 20 %" in done.stdout
    goals.write_text('epoch = "100ms"\n', encoding="utf-8")
    done = dry(machine, "-f", goals)
    assert done.returncode == 1 and "has no goal: neither a [[tenant]] nor others" in done.stderr


@pytest.mark.parametrize("goal", ('"share:30%,cap:50%"', '["share:30%", "cap:50%"]', '["share:30%,cap:50%"]'))
def test_goals_in_a_file_have_commas(machine, goal):
    one = machine.process()
    goals = machine.folder / "goals.toml"
    goals.write_text(f"[[tenant]]\npid = {one.pid}\ngoal = {goal}\n", encoding="utf-8")
    done = dry(machine, "-f", goals)
    assert (done.returncode, done.stderr) == (0, "") and "share 30 %, cap 50 %" in done.stdout


def test_a_tenant_that_uses_another_gpu_is_named_once(machine, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    machine.start("--quiet")
    one, two = machine.process(), machine.process()
    # With a goal there, tasks of GPU 0 are looked for at once.
    assert machine.ask(f"hold b share:30% pid={two.pid} gpu=0") == "ok"
    assert machine.ask(f"hold job:17.0 share:30% pid={one.pid} gpu=1") == "ok"
    sentence = "job:17.0: its processes use GPU 0, and its goal (share 30 %) is for GPU 1 alone"
    assert comes_true(lambda: sentence in machine.errors())

    def time():
        return machine.list()[0]["got"][0]["time_s"]
    began = time()
    assert comes_true(lambda: time() > began + 2.5)
    assert machine.errors().count("its processes use GPU") == 1


# --- nvqos has a cgroup namespace of its own, as runtimes give containers with version 2 of cgroups ---

def within(machine, *unshare):
    """Has the machine's nvqos run where a shell is process 1, and in the namespaces of `unshare` besides."""
    command = machine.command
    machine.command = lambda *words: ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", *unshare, *command(*words)]


def cgroup_namespace(pid):
    return os.readlink(f"/proc/{pid}/ns/cgroup")


def test_it_names_cgroups_as_the_host_does(machine):
    """Goals and requests name a cgroup by its path on the host."""
    within(machine, "sh", "-c", 'unshare --cgroup "$@" & wait', "sh")
    machine.start("--quiet")
    with machine.connect() as client:
        pid, _, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    assert pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").startswith("nvqos")
    assert cgroup_namespace(pid) == cgroup_namespace("self")


def test_it_says_that_it_cannot_name_cgroups_as_the_host_does(machine):
    goals = machine.folder / "goals.toml"
    goals.write_text('[[tenant]]\ncgroup = "/kubepods.slice"\ngoal = "cap:50%"\n', encoding="utf-8")
    within(machine, "--cgroup")  # process 1 is in the same namespace
    machine.start("--quiet", "--file", goals)
    assert comes_true(lambda: "this nvqos may name cgroups in another way than the host" in machine.errors())
    assert "name the tenant by its pod or container" in machine.errors()
