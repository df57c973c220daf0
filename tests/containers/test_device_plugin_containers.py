# SPDX-License-Identifier: MIT OR GPL-2.0
"""Containers with units of nvdebug.io/gpu-percent, from kubelet's questions to the shares that nvqos keeps. They are
podman's and runc's, and take root."""

import os
import re
import signal

import pytest
from containers import LIMITS, Sleepers
from node import UUIDS, refusal, units
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["containers", "node"]
pytestmark = pytest.mark.ci


class Pods(Sleepers):
    """Containers that kubelet has admitted, with the CDI devices and variables of the plugin's answer."""

    def __init__(self, node, podman, image):
        super().__init__(podman, node.machine)
        self.node, self.image = node, image

    def words(self, container):
        self.node.kubelet.start_container(container)
        devices = [f"--device={each.name}" for each in container.answer.cdi_devices]
        variables = [f"--env={name}={value}" for name, value in container.answer.envs.items()]
        return (*devices, *variables, self.image)

    def before(self):
        """Returns the shell's line that gives the container runtime the node's folder of devices."""
        return f"cp -r {self.node.cdi} /run/cdi"

    def run(self, container, *words):
        return self.podman.command("run", "--rm", "--network=none", *LIMITS, *self.words(container), *words, before=self.before())

    def start(self, container):
        """Starts a container that sleeps, and returns its process, which nvqos holds."""
        return self.begin(self.before(), *self.words(container))

    def goals(self):
        return sorted(each["goal"] for each in self.machine.list())

    def stop(self, pid):
        """Ends a container, as kubelet does with its pod."""
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(name="pods")
def fixture_pods(node, podman, busybox):
    pods = Pods(node, podman, busybox)
    try:
        yield pods
    finally:
        pods.end()


def test_containers_have_their_shares_from_the_start_to_the_end(pods, node):
    admitted = [node.kubelet.admit(count) for count in (30, 60)]
    small, large = [pods.start(each) for each in admitted]
    for held, goal in zip(node.machine.list(), ("share 30 %", "share 60 %")):
        assert re.fullmatch("gpu-percent:[0-9a-f]{64}", held["name"]) and (held["goal"], held["gpus"]) == (goal, [0])
    for pid in (small, large):
        node.machine.use_gpu(pid)
    assert comes_true(lambda: [each["got"][0]["percent"] and round(each["got"][0]["percent"], -1)
                      for each in node.machine.list()] == [30, 60])
    # The scheduler counts: 5 units are left, and none of them becomes unhealthy by what containers with units have.
    assert node.kubelet.healthy() == units(0, 95)
    with pytest.raises(LookupError, match="40 units of 5"):
        node.kubelet.admit(40)
    code, sentence = refusal(node.kubelet.plugin.call, "GetPreferredAllocation", container_requests=[
        {"available_deviceIDs": node.kubelet.free(), "allocation_size": 40}])
    assert code == "FAILED_PRECONDITION" and f"no GPU has them left (5 % of {UUIDS[0]})" in sentence
    pods.stop(small)
    assert comes_true(lambda: pods.goals() == ["share 60 %"])
    pods.stop(large)
    assert comes_true(lambda: pods.goals() == [])
    assert node.kubelet.healthy() == units(0, 95)


def test_a_container_sees_its_gpu_and_no_other(pods, node):
    done = pods.run(node.kubelet.admit(30), "/bin/echo", "works")
    assert (done.returncode, done.stdout) == (0, "works\n"), done.stderr
    words = pods.words(node.kubelet.containers[0])
    assert f"--env=NVIDIA_VISIBLE_DEVICES={UUIDS[0]}" in words


def test_a_container_whose_share_is_not_kept_does_not_start(pods, node):
    """Others outside of Kubernetes have asked between its admission and its start."""
    admitted = node.kubelet.admit(60)
    process = node.machine.process(gpu=False)
    assert node.machine.ask(f"hold job:1 share:50% pid={process.pid} gpu=0") == "ok"
    done = pods.run(admitted, "/bin/echo", "works")
    assert done.returncode != 0 and done.stdout == "" and "shares and speeds add up to 110 %" in done.stderr
    process.kill()
    assert comes_true(lambda: pods.goals() == [])
    # kubelet tries the container again.
    assert pods.run(admitted, "/bin/echo", "works").stdout == "works\n"


def test_shares_come_back_when_nvqos_was_killed(pods, node):
    pid = pods.start(node.kubelet.admit(30))
    before = [(each["name"], each["goal"], each["gpus"]) for each in node.machine.list()]
    node.machine.nvqos.kill()
    node.machine.nvqos.wait(PATIENCE_S)
    assert node.is_healthy()
    node.machine.start("--quiet")
    assert [(each["name"], each["goal"], each["gpus"]) for each in node.machine.list()] == before
    assert node.is_healthy(*units(0, 95))
    pods.stop(pid)
    assert comes_true(lambda: pods.goals() == [])


def test_shares_are_kept_while_plugin_and_kubelet_are_killed(pods, node):
    admitted = node.kubelet.admit(30)
    pid = pods.start(admitted)
    before = node.machine.list()[0]["name"]
    assert node.stop(signal.SIGKILL) == -signal.SIGKILL
    node.kubelet.stop()
    assert [each["name"] for each in node.machine.list()] == [before]
    node.kubelet.start()
    node.start()
    assert node.is_healthy(*units(0, 95)) and len(node.kubelet.free()) == 65
    # kubelet has the answer about the first container in its checkpoint, and starts it again.
    pods.stop(pid)
    assert comes_true(lambda: pods.goals() == [])
    pods.start(admitted)
    assert pods.goals() == ["share 30 %"] and node.machine.list()[0]["name"] != before
