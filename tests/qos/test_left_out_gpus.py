# SPDX-License-Identifier: MIT OR GPL-2.0
"""Programs on a machine with two GPUs of which they may open one, as in a container that has some of the host's device files,
over the stand-in for the driver. A GPU that has gone is another case: it is missing (exit status 4). Takes root, as the stand-in does."""

import contextlib
import errno
import json
import re
import subprocess
import urllib.request

import pytest
from building import built
from waiting import PATIENCE_S, comes_true, free_port, until

pytest_plugins = ["qos_machine"]

PLACE = "this container or unit has"
WITHHELD = {errno.ENOENT: f"{PLACE} no access to it (/dev/nvidia%d: No such file or directory)",
            errno.EPERM: f"{PLACE} no access to it (/dev/nvidia%d: Operation not permitted)",
            errno.EACCES: "you have no access to it (/dev/nvidia%d: Permission denied)"}
GONE = (errno.EIO, errno.ENODEV)
CASES = [(error, gpu) for error in WITHHELD for gpu in (0, 1)]
# Commands about all GPUs unless -g names some.
ALL = (("record", "--for", "100ms"), ("top", "-n", "1", "-s", "100"), ("gpu", "list"), ("-g", "all", "runlist", "list"),
       ("-g", "all", "check"))
# Commands about the first GPU unless -g names another.
ONE = (("gpu", "show"), ("watch", "-n", "1"), ("watch", "--changes", "-n", "1", "-s", "100"), ("runlist", "list"), ("tsg", "list"),
       ("engine", "list"), ("task", "list"), ("process", "list"), ("task", "restore"), ("check",), ("copy", "show"), ("topology", "show"))
# Commands that fail if the GPU cannot be opened, and take -g all.
READS = (("engine", "list"), ("runlist", "list"), ("runlist", "tree"), ("runlist", "tree", "0"), ("runlist", "show", "0"),
         ("tsg", "list"), ("tsg", "show", "0:1"), ("channel", "list"), ("channel", "show", "0:1"), ("copy", "show"))
# The same, about a single GPU.
CHANGES = (("tsg", "preempt", "0:1"), ("tsg", "preempt", "1"), ("tsg", "timeslice", "0:1", "1ms"))


@pytest.fixture(name="two")
def fixture_two(machine, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    return machine


def close(machine, gpu, error):
    """Lets no program open the GPU."""
    (machine.folder / f"bad.{gpu}").write_text(str(error), encoding="utf-8")


def left_out(program, gpu, error):
    return f"{program}: GPU {gpu} is left out: {WITHHELD[error] % gpu}\n"


def nvdebugctl(machine, *words, status=0):
    done = subprocess.run([built("tests/qos/nvdebugctl_stand_in"), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=PATIENCE_S, env=machine.environment(), cwd=machine.folder)
    assert done.returncode == status, (words, done.stdout, done.stderr)
    return done


def documents(machine, *words, **more):
    return [json.loads(line) for line in nvdebugctl(machine, *words, "-j", **more).stdout.splitlines()]


def gpus_in(data):
    """Returns the numbers of the GPUs that a document has anywhere."""
    if isinstance(data, list):
        return set().union(*map(gpus_in, data))
    if not isinstance(data, dict):
        return set()
    own = {data[key] for key in ("gpu", "index") if isinstance(data.get(key), int)}
    return own.union(*map(gpus_in, data.values()))


@pytest.mark.parametrize("error, gpu", CASES)
def test_a_command_about_all_gpus_is_about_those_with_access(two, error, gpu):
    two.process(gpus=(0, 1))
    close(two, gpu, error)
    for words in ALL:
        done = nvdebugctl(two, *words)
        assert done.stderr == left_out("nvdebugctl", gpu, error), words
        assert done.stdout and f"nvidia{gpu}" not in done.stdout
        for document in documents(two, *words):
            assert not document["missing"] and gpus_in(document) == {1 - gpu}, words


@pytest.mark.parametrize("error", WITHHELD)
def test_a_command_about_one_gpu_is_about_the_first_with_access(two, error):
    two.process(gpus=(0, 1))
    close(two, 0, error)
    for words in ONE:
        done = nvdebugctl(two, *words)
        assert done.stderr.startswith(left_out("nvdebugctl", 0, error)) and "there are 2 GPUs" not in done.stderr, words
        for document in documents(two, *words):
            assert document["gpu"]["index"] == 1 and not document["missing"], words


@pytest.mark.parametrize("error", WITHHELD)
def test_a_gpu_that_is_named_is_an_error(two, error):
    two.process(gpus=(0, 1))
    close(two, 0, error)
    for words, status in ((("-g", "0", "record", "--for", "100ms"), 2), (("-g", "0,1", "record", "--for", "100ms"), 4),
                          *((("-g", "0", *words), 2) for words in (*READS, *CHANGES))):
        done = nvdebugctl(two, *words, status=status)
        assert "/dev/nvidia0" in done.stderr and "left out" not in done.stderr, words
    assert "NVIDIA's driver is not loaded" not in done.stderr
    assert nvdebugctl(two, "-g", "1", "engine", "list").stderr == ""


def test_no_gpu_is_left(two):
    for gpu in range(2):
        close(two, gpu, errno.ENOENT)
    for words in (("record", "--for", "100ms"), ("top", "-n", "1", "-s", "100"), ("engine", "list")):
        done = nvdebugctl(two, *words, status=2)
        assert "there is no /dev/nvidia0, though NVIDIA's driver lists the GPU" in done.stderr
    # It says which GPUs the machine has, as for a user without rights.
    assert [row["chip"] for row in documents(two, "gpu", "list")[0]["data"]] == [None, None]


@pytest.mark.parametrize("error", GONE)
def test_a_gpu_that_has_gone_is_missing(two, error):
    """Somebody has to know about it: no status of 0."""
    two.process(gpus=(0, 1))
    close(two, 0, error)
    for words in (("record", "--for", "100ms"), ("top", "-n", "1", "-s", "100"), ("capture", "gone.capture")):
        done = nvdebugctl(two, *words, status=4)
        assert "the GPU of /dev/nvidia0 has gone" in done.stderr and "GPU 0 is left out" not in done.stderr, words


@pytest.mark.parametrize("error", GONE)
def test_a_gpu_that_has_gone_may_come_back(two, error):
    """The status is 5, with which a service manager tries again."""
    two.process(gpus=(0, 1))
    close(two, 0, error)
    for words in (*(("-g", "0", *words) for words in (*READS, *CHANGES)), *(("-g", "all", *words) for words in READS)):
        done = nvdebugctl(two, *words, status=5)
        assert done.stderr.startswith("nvdebugctl: the GPU of /dev/nvidia0 has gone") and bool(done.stdout) == ("all" in words), words


def test_a_capture_has_the_gpus_with_access(two):
    close(two, 0, errno.EPERM)
    assert nvdebugctl(two, "capture", "part.capture").stderr == left_out("nvdebugctl", 0, errno.EPERM)
    assert gpus_in(documents(two, "--from", "part.capture", "gpu", "list")) == {1}


def test_a_capture_has_the_gpus_of_a_list(two):
    nvdebugctl(two, "-g", "1,1", "capture", "one.capture")
    assert gpus_in(documents(two, "--from", "one.capture", "gpu", "list")) == {1}


@pytest.mark.parametrize("error", WITHHELD)
def test_doctor_names_the_gpus_without_access(two, error):
    close(two, 0, error)
    with_driver = 'mount -t tmpfs none /sys/module && mkdir /sys/module/nvidia && exec "$@"'
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", with_driver, "sh",
                           built("tests/qos/nvdebugctl_stand_in"), "doctor", "-j"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, timeout=PATIENCE_S, env=two.environment())
    findings = [finding for finding in json.loads(done.stdout)["data"]["findings"] if finding["subject"] == "driver"]
    assert [finding["verdict"] for finding in findings] == ["ok", "attention"], done.stdout
    assert findings[1]["finding"] == f"GPU 0 is left out: {WITHHELD[error] % 0}"


@contextlib.contextmanager
def exporter(machine, log):
    """Runs nvdebug-exporter, and yields a function that returns the numbers of the GPUs in its metrics."""
    port = free_port()
    words = [built("tests/qos/nvdebug_exporter_stand_in"), "--listen", f"127.0.0.1:{port}", "--rate", "100"]
    with open(log, "w", encoding="utf-8") as to, subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=to,
                                                                  env=machine.environment()) as process:
        def gpus():
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as answer:
                return {int(gpu) for gpu in re.findall(r'^nvdebug_up{gpu="(\d+)"} 1$', answer.read().decode(), re.MULTILINE)}
        try:
            yield gpus
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


@pytest.mark.parametrize("error", WITHHELD)
def test_the_exporter_has_the_gpus_with_access(machine, monkeypatch, error):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "3")
    log = machine.folder / "exporter.log"
    close(machine, 0, error)
    before, after = (other for other in WITHHELD if other != error)
    close(machine, 1, before)
    with exporter(machine, log) as gpus:
        assert until(gpus) == {2}
        close(machine, 1, after)
        assert comes_true(lambda: left_out("nvdebug-exporter", 1, after) in log.read_text(encoding="utf-8")), "it looks again"
        (machine.folder / "bad.0").unlink()
        assert comes_true(lambda: gpus() == {0, 2}), "access to one has come"
    assert log.read_text(encoding="utf-8").count(left_out("nvdebug-exporter", 0, error)) == 1, "not at each look"


def test_a_recording_has_the_gpus_with_access(two):
    two.process(gpus=(0, 1))
    close(two, 1, errno.ENOENT)
    nvdebugctl(two, "record", "--for", "100ms", "-o", "part.ndjson")
    lines = [json.loads(line) for line in (two.folder / "part.ndjson").read_text(encoding="utf-8").splitlines()]
    assert [gpu["gpu"] for gpu in lines[0]["gpus"]] == [0]
    assert {line["gpu"] for line in lines if line["kind"] == "turn"} == {0}


@pytest.mark.parametrize("error", WITHHELD)
def test_nvqos_keeps_goals_where_it_has_access(two, error):
    one = two.process(gpus=(0, 1))
    close(two, 0, error)
    done = two.run(f"{one.pid}=cap:30%", "--for=500ms", "--json")
    assert done.returncode == 0 and done.stderr == left_out("nvqos", 0, error), done
    assert gpus_in([json.loads(line) for line in done.stdout.splitlines()]) == {1}
    assert "/dev/nvidia0" in two.run(f"{one.pid}=cap:30%", "--for=100ms", "-g", "0").stderr


def test_nvqos_has_no_metrics_of_a_gpu_without_access(two):
    close(two, 0, errno.ENOENT)
    metrics = two.folder / "qos.prom"
    two.start("--quiet", f"--metrics={metrics}", "others=cap:30%")
    assert comes_true(lambda: metrics.exists() and 'nvqos_up{gpu="1"} 1' in metrics.read_text(encoding="utf-8"))
    assert 'gpu="0"' not in metrics.read_text(encoding="utf-8")
    assert two.ask("hold a cap:20% pid=1 gpu=0").startswith("error gpu=0: nvqos keeps goals on no such GPU")


def test_nvqos_advises_on_the_gpus_with_access(two):
    for _ in range(2):
        two.process(gpus=(0, 1))
    close(two, 0, errno.ENOENT)
    done = two.run("advise", "--for=300ms", "--json")
    assert done.returncode == 0 and done.stderr.startswith(left_out("nvqos", 0, errno.ENOENT)), done
    assert {task["gpu"] for task in json.loads(done.stdout)["tasks"]} == {1}
