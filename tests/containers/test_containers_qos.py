# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos --cdi makes devices of containers from goals, here by podman and runc. nvqos runs over the stand-in for the
driver."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading

import jsonschema
import pytest
from containers import Sleepers
from building import ROOT, built
from qos_machine import FIRST_US
from waiting import PATIENCE_S, comes_true
from watching import watched

pytest_plugins = ["containers", "qos_machine"]
SCHEMA = json.loads((ROOT / "tests/data/cdi-0.5.0.json").read_text(encoding="utf-8"))
IDS = "[0-9a-f]{64}"


def nvqos(*words, text=""):
    done = subprocess.run([built("bin/nvqos"), *map(str, words)], input=text, capture_output=True, text=True, check=False,
                          timeout=PATIENCE_S)
    assert len(done.stderr.splitlines()) <= 1
    return done.returncode, done.stdout, done.stderr


# --- the file ---

@pytest.mark.parametrize("words, name, hook", (
    (("--cdi", "share:30%"), "share-30", ["--hold-container=share:30%", "--socket=/run/nvdebug/nvqos.sock"]),
    (("--cdi=share:12.5%,cap:50%", "-g", "1", "-g", "0"), "share-12.5-cap-50-gpu1-gpu0",
     ["--hold-container=share:12.5%,cap:50%", "--socket=/run/nvdebug/nvqos.sock", "--gpu=1", "--gpu=0"]),
    (("--socket=/run/other", "--cdi", "timeslice:500us"), "timeslice-500us",
     ["--hold-container=timeslice:500us", "--socket=/run/other"]),
    (("--cdi", "share:30%,gang=off"), "share-30-gang-off",
     ["--hold-container=share:30%,gang=off", "--socket=/run/nvdebug/nvqos.sock"]),
    (("--cdi", "gang=off"), "best-effort-gang-off",
     ["--hold-container=best-effort,gang=off", "--socket=/run/nvdebug/nvqos.sock"]),
    (("--cdi", "gang=off,cap:20%,latency", "-g0"), "cap-20-latency-gang-off-gpu0",
     ["--hold-container=cap:20%,latency,gang=off", "--socket=/run/nvdebug/nvqos.sock", "--gpu=0"]),
    (("--cdi", "share:30%,gang=nodes", "--tenant", "job:train/7"), "share-30-gang-nodes-job-train-7",
     ["--hold-container=share:30%,gang=nodes", "--socket=/run/nvdebug/nvqos.sock", "--tenant=job:train/7"]),
    (("--cdi", "latency"), "latency", ["--hold-container=latency", "--socket=/run/nvdebug/nvqos.sock"]),
    (("--cdi", "latency:2.5ms"), "latency-2.5ms", ["--hold-container=latency:2.5ms", "--socket=/run/nvdebug/nvqos.sock"]),
    (("--cdi", "best-effort:2"), "best-effort-2", ["--hold-container=best-effort:2", "--socket=/run/nvdebug/nvqos.sock"])))
def test_a_device_has_a_hook_with_its_goal(tmp_path, words, name, hook):
    assert nvqos(*words, "--cdi-folder", tmp_path / "cdi") == (0, f"nvdebug.io/qos={name}\n", "")
    file = tmp_path / f"cdi/nvdebug.io-qos-{name}.json"
    assert file.stat().st_mode & 0o777 == 0o644
    document = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert document["kind"] == "nvdebug.io/qos"
    program = str(built("bin/nvqos"))
    assert document["devices"] == [{"name": name, "containerEdits": {"hooks": [
        {"hookName": "createRuntime", "path": program, "args": ["nvqos", *hook]}]}}]


@pytest.mark.parametrize("words, sentence, status", (
    (("--cdi", "fast"), "--cdi: 'fast' is no goal", 1),
    (("--cdi", ""), "--cdi takes a value: GOAL", 1),
    (("--cdi", "share:30%,gang=no"), "--cdi: gang takes off, ", 1),
    (("--cdi", "share:30%,gang=off,gang=off"), "--cdi: gang= is there twice", 1),
    (("--cdi", "share:30%,gang=nodes"), "--cdi: gang=nodes needs --tenant NAME: the job's name", 1),
    (("--hold-container", "share:30%,gang=nodes"), "--hold-container: gang=nodes needs --tenant NAME", 1),
    (("--cdi", "timeslice:2ms,gang=nodes", "--tenant", "a"), "--cdi: 'timeslice 2000 us' beside gang=nodes", 1),
    (("--hold-container", "share:30%,gang=nodes", "--tenant", "a:"), "--tenant: 'a:' ends with a colon", 1),
    (("--cdi", "latency", "--tenant", "a:"), "--tenant: 'a:' ends with a colon", 1),
    (("--cdi", "latency:"), "--cdi: latency takes a time", 1),
    (("--cdi", "latency", "-g", "4294967295"), "cannot be a GPU's name", 1),
    (("--cdi", "latency", "--cdi", "cap:3%"), "--cdi is given twice", 1),
    (("--cdi", "latency", "--hold-container", "latency"), "take one goal", 1),
    (("--cdi", "latency", "--dry-run"), "--dry-run has no effect with --cdi", 1),
    (("--hold-container", "latency", "--tenant", "claim 7"), "--tenant: a name has 1 to 128 of", 1),
    (("7=latency", "--tenant", "a"), "--tenant has no effect without --cdi or --hold-container", 1),
    (("--hold-container", "latency", "--cdi-folder", "x"), "--cdi-folder has no effect with --hold-container", 1),
    (("--cdi", "latency", "7=latency"), "no WHO=GOAL", 1),
    (("--cdi", "latency", "--socket=x"), "a path from the root on", 1),
    (("--cdi-folder", "x", "7=latency"), "--cdi-folder is where --cdi writes", 1),
    (("--cdi", "latency", "--cdi-folder", "/proc/x"), "cannot write /proc/x/nvdebug.io-qos-latency.json", 2)))
def test_impossible_devices_are_refused(words, sentence, status):
    found, out, err = nvqos(*words)
    assert (found, out) == (status, "") and err.startswith("nvqos: ") and sentence in err


def test_goals_of_a_device_are_completed():
    words = [line.split("\t")[0] for line in nvqos("__complete", "--cdi", "share:30%,")[1].splitlines()]
    assert {"share:30%,cap:", "share:30%,gang=off", "share:30%,gang=nodes"} <= set(words)


def test_a_running_daemon_sees_each_new_device(tmp_path):
    """Libraries of CDI take up files that are renamed into their folder, and ignore files that are made there."""
    with watched(tmp_path) as folder:
        for times in (1, 2):
            assert nvqos("--cdi", "share:30%", "--cdi-folder", tmp_path)[0] == 0
            assert folder.renamed() == ["nvdebug.io-qos-share-30.json"] * times


def test_a_program_that_others_can_change_is_refused(tmp_path):
    """Runtimes run the program as root."""
    place = tmp_path / "open"
    place.mkdir()
    shutil.copy2(built("bin/nvqos"), place)
    place.chmod(0o777)
    done = subprocess.run([place / "nvqos", "--cdi", "latency", "--cdi-folder", tmp_path / "cdi"], capture_output=True, text=True,
                          check=False, timeout=PATIENCE_S,
                          env=os.environ | {"LD_LIBRARY_PATH": str(built("bin/nvqos").parents[1] / "lib/nvdebug")})
    assert done.returncode == 2 and "others than you and root can change" in done.stderr
    assert not (tmp_path / "cdi").exists()


def test_help_comes_before_a_device(tmp_path):
    assert "Usage" in nvqos("--help", "--cdi", "latency", "--cdi-folder", tmp_path)[1] and not list(tmp_path.iterdir())


# --- the hook, as a runtime calls it ---

def state(pid, name="a"):
    return json.dumps({"ociVersion": "1.0.2", "id": name, "pid": pid, "bundle": "/nonexistent"})


@pytest.mark.parametrize("text", ("", "{", "[]", '{"id": "a"}', '{"pid": 7}', '{"id": 7, "pid": 7}', '{"id": "a b", "pid": 7}',
                                  '{"id": "a\\nrelease", "pid": 7}', '{"id": "a", "pid": -7}', '{"id": "a", "pid": "7"}', state(1), state(0)))
def test_a_malformed_state_is_refused(text):
    status, out, err = nvqos("--hold-container", "latency", text=text)
    assert (status, out) == (1, "") and "stdin has no state of a container" in err


def test_a_container_without_a_cgroup_of_its_own_is_refused():
    """The container has the cgroup of the process that started it, in which others are, too."""
    status, _, err = nvqos("--hold-container", "latency", text=state(os.getpid()))
    assert status == 2 and "the container has no cgroup of its own" in err
    status, _, err = nvqos("--hold-container", "latency", text=state(999999999))
    assert status == 2 and "the container has no cgroup of its own" in err


@pytest.fixture(name="outside")
def fixture_outside():
    """Starts a process in a cgroup of its own, in the first controller that runc uses here."""
    root = next((path for path in map(pathlib.Path, ("/sys/fs/cgroup/devices", "/sys/fs/cgroup"))
                 if os.access(path / "cgroup.procs", os.W_OK)), None)
    if root is None:
        pytest.skip("no cgroup can be made here")
    relative = pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8")
    own = re.search(r"^\d+:(?:devices)?:/(.*)$", relative, re.M)[1]
    place = root / own / f"nvqos-test-{os.getpid()}" / "a-long-name-so-that-it-is-the-longest-of-all-controllers"
    place.mkdir(parents=True)
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            (place / "cgroup.procs").write_text(str(process.pid), encoding="ascii")
            yield process
        finally:
            process.kill()
            process.wait()
            for folder in (place, place.parent):
                assert comes_true(lambda folder=folder: not (folder / "cgroup.procs").read_text(encoding="ascii"))
                folder.rmdir()


class Fake:
    """A stand-in for nvqos that answers at a socket with one line."""

    def __init__(self, path, answer):
        self.heard = b""
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(path))
        self.listening.listen()
        self.answer = answer
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        client, _ = self.listening.accept()
        with client:
            self.heard = client.recv(4096)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(self.answer)

    def end(self):
        self.thread.join(PATIENCE_S)
        self.listening.close()


@pytest.mark.parametrize("answer, status, sentence", (
    (b"ok\n", 0, ""), (b"ok but more\n", 0, ""),
    (b"refused GPU 0: 105 %\n", 2, "the container does not start: its goal share:30% is not kept: GPU 0: 105 %\n"),
    (b"error a is held\x1b\n", 2, "is not kept: a is held\N{REPLACEMENT CHARACTER}\n"),
    (b"okay\n", 2, "is no nvqos"), (b"refused\n", 2, "is no nvqos"), (b"\n", 5, "no nvqos answers"), (b"", 5, "no nvqos answers"),
    (b"ok", 5, "no nvqos answers"), (b"x" * (1 << 21), 5, "no nvqos answers")), ids=range(10))
def test_answers_decide_whether_the_container_starts(tmp_path, outside, answer, status, sentence):
    """Only a whole line that begins with ok lets the container start."""
    fake = Fake(tmp_path / "sock", answer)
    found, out, err = nvqos("--hold-container", "share:30%", "-g", "1", f"--socket={tmp_path}/sock", text=state(outside.pid, "x"))
    assert (found, out) == (status, "") and sentence in err
    fake.end()
    heard = fake.heard.decode()
    assert heard.startswith(f"hold container:x share:30% gpu=1 pid={outside.pid} holder={outside.pid} cgroup=/")
    assert "/a-long-name" in heard and heard.endswith("\n")


def test_a_container_of_a_gang_on_several_nodes_joins_its_tenant(tmp_path, outside):
    fake = Fake(tmp_path / "sock", b"ok\n")
    assert nvqos("--hold-container", "gang=nodes,share:30%", "--tenant", "train-7", f"--socket={tmp_path}/sock",
                 text=state(outside.pid, "x"))[0] == 0
    fake.end()
    assert fake.heard.startswith(b"join train-7 share:30% pid=") and fake.heard.endswith(b"-of-all-controllers gang=nodes\n")


def test_a_container_on_several_gpus_has_one_name_and_may_be_no_gang(tmp_path, outside):
    for goal, end in (("share:30%", b""), ("gang=off,share:30%", b" gang=off")):
        fake = Fake(tmp_path / "sock", b"ok\n")
        assert nvqos("--hold-container", goal, "-g", "0,1", f"--socket={tmp_path}/sock", text=state(outside.pid, "x"))[0] == 0
        fake.end()
        (tmp_path / "sock").unlink()
        assert fake.heard.startswith(b"hold container:x share:30% gpu=0 gpu=1 pid=")
        assert fake.heard.endswith(b"-of-all-controllers" + end + b"\n")


@pytest.mark.parametrize("tenant, name", (("claim:7f3a", "claim:7f3a"), ("batch:", "batch:x"), ("a:b:", "a:b:x")))
def test_containers_join_one_tenant_or_get_names_of_one_kind(tmp_path, outside, tenant, name):
    fake = Fake(tmp_path / "sock", b"ok\n")
    assert nvqos("--hold-container", "share:30%", "--tenant", tenant, f"--socket={tmp_path}/sock", text=state(outside.pid, "x")) == (
        0, "", "")
    fake.end()
    assert fake.heard.decode().startswith(f"join {name} share:30% pid={outside.pid} holder={outside.pid} cgroup=/")


def test_a_container_does_not_start_if_nobody_answers(tmp_path, outside):
    status, _, err = nvqos("--hold-container", "share:30%", f"--socket={tmp_path}/sock", text=state(outside.pid))
    assert status == 5
    assert f"no nvqos answers at {tmp_path}/sock: No such file or directory; start one with" in err


# --- real containers ---

class Containers(Sleepers):
    """Containers with a device of a goal, at the socket of one nvqos."""

    def __init__(self, podman, machine, image):
        super().__init__(podman, machine)
        self.image = image

    def words(self, device, *words):
        return (f"--device=nvdebug.io/qos={device}", self.image, *words)

    def before(self, goal):
        return f"{built('bin/nvqos')} --cdi {goal} --socket={self.machine.path} >/dev/null"

    def run(self, goal, device, *words):
        """Runs a container that ends by itself."""
        return self.podman.run(*self.words(device, *words), before=self.before(goal))

    def start(self, goal, device):
        """Starts a container that sleeps, and waits until nvqos holds it. Returns the number of its process."""
        return self.begin(self.before(goal), *self.words(device))


@pytest.fixture(name="containers")
def fixture_containers(podman, machine, busybox):
    made = Containers(podman, machine, busybox)
    try:
        yield made
    finally:
        made.end()


def test_a_container_has_its_share_until_it_ends(containers, machine):
    machine.start("--quiet")
    other = machine.process()
    pid = containers.start("share:30% -g 0", "share-30-gpu0")
    held, = machine.list()
    assert re.fullmatch(f"container:{IDS}", held["name"]) and held["goal"] == "share 30 %" and held["gpus"] == [0]
    assert held["holder"] == pid and held["name"].removeprefix("container:") in held["cgroups"][0]
    machine.use_gpu(pid)
    assert comes_true(lambda: machine.timeslice(pid) != FIRST_US and machine.timeslice(other.pid) != FIRST_US)
    assert comes_true(lambda: 25 < (machine.list()[0]["got"][0]["percent"] or 0) < 40)
    os.kill(pid, signal.SIGKILL)
    assert comes_true(lambda: machine.list() == [] and machine.timeslice(other.pid) == FIRST_US)


def test_a_process_that_comes_later_has_the_goal(containers, machine):
    """`podman exec` starts such a process: not as a child of the container's first process, but in its cgroup."""
    machine.start("--quiet")
    pid = containers.start("cap:20%", "cap-20")
    late = machine.process(gpu=False)
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        place = pathlib.Path("/sys/fs/cgroup", controllers.removeprefix("name="), path[1:], "cgroup.procs")
        if "libpod" in path and place.exists():
            place.write_text(str(late.pid), encoding="ascii")
    machine.use_gpu(late.pid)
    assert comes_true(lambda: not machine.is_enabled(late.pid)), "its cap pauses it"


def test_a_container_that_is_refused_does_not_start(containers, machine):
    machine.start("--quiet")
    one = machine.process()
    assert machine.ask(f"hold job:1 share:75% pid={one.pid}") == "ok"
    done = containers.run("share:30%", "share-30", "/bin/echo", "started")
    assert done.returncode != 0 and "started" not in done.stdout
    assert "nvqos: the container does not start: its goal share:30% is not kept: GPU 0: shares and speeds add up to 105 %" in done.stderr
    assert machine.names() == ["job:1"]
    machine.ask("release job:1")
    assert containers.run("share:30%", "share-30", "/bin/echo", "started").stdout == "started\n"
    assert comes_true(lambda: machine.names() == [])


def test_without_nvqos_a_container_does_not_start(containers, machine):
    done = containers.run("share:30%", "share-30", "/bin/echo", "started")
    assert done.returncode != 0 and "started" not in done.stdout
    assert f"no nvqos answers at {machine.path}: No such file or directory" in done.stderr
    # An nvqos that was killed leaves its socket.
    machine.start("--quiet").kill()
    machine.nvqos.wait(PATIENCE_S)
    done = containers.run("share:30%", "share-30", "/bin/echo", "started")
    assert done.returncode != 0 and "started" not in done.stdout and "Connection refused" in done.stderr


def test_two_goals_of_one_container_are_refused(containers, machine):
    """A process belongs to one tenant, so the second goal would not be kept."""
    machine.start("--quiet")
    done = containers.podman.run("--device=nvdebug.io/qos=share-30", *containers.words("cap-50", "/bin/echo", "started"),
                                 before=f"{{ {containers.before('share:30%')} && {containers.before('cap:50%')}; }}")
    assert done.returncode != 0 and "started" not in done.stdout and "is held with another goal (share 30 %)" in done.stderr
    assert comes_true(lambda: machine.names() == [])
