# SPDX-License-Identifier: MIT OR GPL-2.0
"""Containers of a claim of the driver gpu.nvdebug.io, with the CDI devices that kubelet would pass on. They are podman's and
runc's, and take root."""

import os
import signal

import pytest
from containers import LIMITS, Sleepers
from node import UUIDS
from qos_machine import FIRST_US
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["containers", "cluster"]
pytestmark = pytest.mark.ci


class Pods(Sleepers):
    """Containers with the devices of prepared claims."""

    def __init__(self, node, podman, image):
        super().__init__(podman, node.machine)
        self.node, self.image = node, image

    def words(self, devices):
        return (*(f"--device={name}" for device in devices for name in device.cdi_device_ids), self.image)

    def before(self):
        """Returns the shell's line that gives the container runtime the node's folder of devices."""
        return f"cp -r {self.node.cdi} /run/cdi"

    def run(self, devices, *words):
        return self.podman.command("run", "--rm", "--network=none", *LIMITS, *self.words(devices), *words, before=self.before())

    def start(self, devices):
        """Starts a container that sleeps. Returns its process, which is a holder of the claim."""
        return self.begin(self.before(), *self.words(devices))

    def pids(self):
        """Returns the processes of containers that hold a claim."""
        return {pid for one in self.machine.list() for pid in one["holders"]} - {self.node.driver.pid}


@pytest.fixture(name="pods")
def fixture_pods(podman, node, busybox):
    made = Pods(node, podman, busybox)
    try:
        yield made
    finally:
        made.end()


def test_a_container_has_its_share_from_its_first_task_on(pods, node):
    other = node.machine.process()
    uid = node.api.claim()
    pid = pods.start(node.kubelet.prepare(uid))
    (held,) = node.machine.list()
    assert held["name"] == f"claim:{uid}" and set(held["holders"]) == {pid, node.driver.pid} and len(held["cgroups"]) == 1
    node.machine.use_gpu(pid)
    assert comes_true(lambda: node.machine.timeslice(pid) != FIRST_US and node.machine.timeslice(other.pid) != FIRST_US)
    assert comes_true(lambda: node.api.condition().get("status") == "True")
    os.kill(pid, signal.SIGKILL)
    assert comes_true(lambda: node.machine.list()[0]["cgroups"] == []), "the claim stays held for the pod's next container"
    assert node.kubelet.unprepare(uid) == ""
    assert comes_true(lambda: node.machine.list() == [] and node.machine.timeslice(other.pid) == FIRST_US)


def test_two_containers_of_a_claim_are_held_once(pods, node):
    uid, next_uid = node.api.claim("both"), node.api.claim("next", [("gpu", "gpu-0", 60)])
    devices = node.kubelet.prepare(uid, "both")
    first, second = pods.start(devices), pods.start(devices)
    (held,) = node.machine.list()
    assert held["goal"] == "share 30 %" and set(held["holders"]) == {
        first, second, node.driver.pid} and len(held["cgroups"]) == 2
    for pid in (first, second):
        node.machine.use_gpu(pid)
    assert comes_true(lambda: node.machine.timeslice(first) != FIRST_US and node.machine.timeslice(second) != FIRST_US)
    assert len(node.kubelet.prepare(next_uid, "next")) == 1, "30 and 60 fit"
    os.kill(first, signal.SIGKILL)
    assert comes_true(lambda: set(node.machine.list()[0]["holders"]) == {second, node.driver.pid})


def test_a_container_of_a_claim_that_is_lost_does_not_start(pods, node):
    """nvqos refuses the claim after a restart, and the hook asks again."""
    uid = node.api.claim()
    devices = node.kubelet.prepare(uid)
    node.machine.nvqos.kill()
    node.machine.nvqos.wait(PATIENCE_S)
    done = pods.run(devices, "/bin/echo", "started")
    assert done.returncode != 0 and "started" not in done.stdout and "no nvqos answers" in done.stderr
    (node.machine.folder / "run/nvqos.sock.tenants").unlink()
    node.machine.start("--quiet", f"{node.machine.process().pid}=share:90%")
    done = pods.run(devices, "/bin/echo", "started")
    assert done.returncode != 0 and "started" not in done.stdout and "add up to 120 %" in done.stderr


def test_the_container_has_its_gpu_and_nothing_of_the_claim(pods, node):
    """The claim is written down in the hook's environment, and not in the container's."""
    done = pods.run(node.kubelet.prepare(node.api.claim()), "/bin/sh", "-c",
                    "echo $NVIDIA_VISIBLE_DEVICES; echo ${NVDEBUG_CLAIM-none}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [UUIDS[0], "none"]
