# SPDX-License-Identifier: MIT OR GPL-2.0
"""Names of pods in nvqos' table, JSON, status and metrics: real processes in cgroups as kubelet names them, and a folder
with links as kubelet makes them, over the stand-in for the driver."""

import contextlib
import json
import os
import pathlib
import subprocess

import jsonschema
import pytest
from building import built
from qos_machine import SCHEMAS
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

# With the driver cgroupfs, with systemd, and of a static pod: the folder of the pod in the cgroup, and its uid.
UID, HASH = "01234567-89ab-4def-8123-456789abcdef", "8f6a44fc62e8cb075753c843896568ca"
PODS = {
    "cgroupfs": (f"kubepods/burstable/pod{UID}/{'a' * 64}", UID),
    "systemd": ("kubepods.slice/kubepods-burstable.slice/"
                f"kubepods-burstable-pod{UID.replace('-', '_')}.slice/cri-containerd-{'a' * 64}.scope", UID),
    "static": (f"kubepods/burstable/pod{HASH}/{'a' * 64}", HASH)}


@contextlib.contextmanager
def in_cgroup(process, path):
    """Moves the process into that cgroup of a controller, and removes the cgroup at the end."""
    root = next((root for root in map(pathlib.Path, ("/sys/fs/cgroup/pids", "/sys/fs/cgroup/devices", "/sys/fs/cgroup"))
                 if os.access(root / "cgroup.procs", os.W_OK)), None)
    if root is None:
        pytest.skip("no cgroup can be made here")
    made = []
    for folder in reversed((root / path, *(root / path).parents)):
        if not folder.exists():
            folder.mkdir()
            made.append(folder)
    try:
        (root / path / "cgroup.procs").write_text(str(process.pid), encoding="ascii")
        yield
    finally:
        process.kill()
        process.wait()
        for folder in reversed(made):
            assert comes_true(lambda folder=folder: not (folder / "cgroup.procs").read_text(encoding="ascii"))
            folder.rmdir()


def add_link(folder, pod, name_space, container, letter="a"):
    folder.mkdir(exist_ok=True)
    (folder / f"{pod}_{name_space}_{container}-{letter * 64}.log").symlink_to("/nonexistent")


def containers(machine):
    """Returns the containers of the first tenant in the last epoch; None: no epoch has ended."""
    epochs = json.loads(machine.ask("status").removeprefix("ok "))["epochs"]
    return epochs[0]["tenants"][0]["containers"] if epochs else None


@pytest.mark.parametrize("kind", PODS)
def test_a_tenant_has_the_name_of_its_pod(machine, tmp_path, kind):
    path, uid = PODS[kind]
    process = machine.process(gpu=False)
    metrics = tmp_path / "goals.prom"
    with in_cgroup(process, path):
        machine.use_gpu(process.pid)
        machine.start("--quiet", f"--metrics={metrics}", f"--pod-names={tmp_path}/links")
        assert machine.ask(f"hold job:1 cap:50% pid={process.pid}") == "ok"
        ids = {"container": "a" * 64, "pod": uid}
        nameless = {"namespace": None, "pod_name": None, "container_name": None, "tasks": 1}
        assert comes_true(lambda: containers(machine) == [{**ids, **nameless}]), "kubelet has not made the link"
        add_link(tmp_path / "links", "vllm-0", "team-a", "server")
        named = {**ids, "namespace": "team-a", "pod_name": "vllm-0", "container_name": "server", "tasks": 1}
        assert comes_true(lambda: containers(machine) == [named]), containers(machine)
        status = machine.client("status")
        header, row = (next(line.split() for line in status.stdout.splitlines() if word in line) for word in ("TENANT", "job:1"))
        assert header[-1] == "POD" and row[-1] == "team-a/vllm-0"
        schema = json.loads((SCHEMAS / "nvqos.epoch.json").read_text(encoding="utf-8"))["properties"]["data"]
        jsonschema.validate(json.loads(machine.ask("status").removeprefix("ok "))["epochs"][0], schema)
        line = (f'nvqos_pod_tasks{{gpu="0",tenant="job:1",number="0",task_container="{"a" * 64}",task_pod="{uid}",'
                'task_namespace="team-a",task_pod_name="vllm-0",task_container_name="server"} 1\n')
        assert comes_true(lambda: line in metrics.read_text(encoding="utf-8")), metrics.read_text(encoding="utf-8")


def test_a_tenant_outside_of_pods_has_no_column(machine, tmp_path):
    process = machine.process()
    machine.start("--quiet", f"--pod-names={tmp_path}")
    assert machine.ask(f"hold job:1 cap:50% pid={process.pid}") == "ok"
    assert comes_true(lambda: "job:1" in machine.client("status").stdout)
    assert "POD" not in machine.client("status").stdout and containers(machine) == []


def test_a_plan_has_the_names(machine, tmp_path):
    add_link(tmp_path / "links", "vllm-0", "team-a", "server")
    process = machine.process(gpu=False)
    with in_cgroup(process, PODS["cgroupfs"][0]):
        machine.use_gpu(process.pid)
        plan = machine.run("--dry-run", "container:aaaa=cap:50%", f"--pod-names={tmp_path}/links")
        assert "team-a/vllm-0" in plan.stdout, plan


@pytest.mark.parametrize("folders", ("", "links", "/a:", ":/a"))
def test_folders_of_names_are_absolute_paths(machine, folders):
    done = machine.run("others=cap:50%", f"--pod-names={folders}")
    assert done.returncode == 1 and "--pod-names" in done.stderr


def nvdebugctl(machine, folder, *words):
    """Runs nvdebugctl over the stand-in, with the folder's links in /var/log/containers."""
    script = 'mount -t tmpfs tmpfs /var/log && mkdir /var/log/containers && cp -P "$0"/* /var/log/containers && exec "$@"'
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, folder,
                           built("tests/qos/nvdebugctl_stand_in"), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=PATIENCE_S, env=machine.environment())
    assert done.returncode in (0, 4), done
    return done.stdout


def test_nvdebugctl_lists_the_names(machine, tmp_path):
    links = tmp_path / "links"
    add_link(links, "vllm-0", "team-a", "server")
    process = machine.process(gpu=False)
    names = {"namespace": "team-a", "pod_name": "vllm-0", "container_name": "server"}
    with in_cgroup(process, PODS["cgroupfs"][0]):
        machine.use_gpu(process.pid)
        other = machine.process()
        for words in (("task", "list"), ("process", "list")):
            rows = {row["pid"]: row for row in json.loads(nvdebugctl(machine, links, *words, "--json"))["data"]}
            assert {key: rows[process.pid][key] for key in names} == names and rows[process.pid]["pod"] == UID
            assert {rows[other.pid][key] for key in names} == {None}, "it is in no pod"
        shown = json.loads(nvdebugctl(machine, links, "task", "show", str(process.pid), "--json"))["data"]
        assert {key: shown[key] for key in names} == names
        table = nvdebugctl(machine, links, "task", "list", "--columns", "pid,namespace,pod_name")
        assert [str(process.pid), "team-a", "vllm-0"] in [line.split() for line in table.splitlines()], table
