# SPDX-License-Identifier: MIT OR GPL-2.0
"""A node of a cluster: kubelet (kubelet.py), nvqos over the stand-in for the driver, and nvdebug-device-plugin."""

import signal
import subprocess

import pytest
from building import built
from kubelet import Kubelet
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

UUIDS = ["GPU-57a2ed01-1111-2222-3333-444455556666", "GPU-68b3fe12-1111-2222-3333-444455556666"]
ADDRESSES = ["0000:01:00.0", "0000:02:00.0"]
ENDPOINT = "nvdebug.io-gpu-percent.sock"


def unit(gpu, number):
    return f"{UUIDS[gpu]}-{number:02}"


def units(gpu, *numbers):
    return [unit(gpu, number) for number in range(*numbers)]


class Node:
    """A node with kubelet, nvqos and the device plugin."""

    def __init__(self, machine, tmp_path):
        self.machine = machine
        self.folder = machine.folder / "plugins"
        self.cdi = machine.folder / "cdi"
        self.log = machine.folder / "plugin.log"
        self.folder.mkdir()
        self.kubelet = Kubelet(self.folder, tmp_path)
        self.plugin = None

    def words(self, *words):
        """Returns the words that run the plugin. The words replace options of the same name."""
        own = {"--socket": self.machine.path, "--kubelet": self.folder,
               "--cdi-folder": self.cdi, "--nvqos": built("bin/nvqos")}
        given = {word.split("=")[0] for word in words}
        return [str(word) for word in (built("bin/nvdebug-device-plugin"), "device-plugin", *words,
                                       *(f"{name}={value}" for name, value in own.items() if name not in given))]

    def start(self, *words):
        with open(self.log, "ab") as errors:
            self.plugin = subprocess.Popen(self.words(*words), stdin=subprocess.DEVNULL, stderr=errors)

    def run(self, *words):
        """Runs the plugin to its end."""
        done = subprocess.run(self.words(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=PATIENCE_S)
        assert done.stdout == "" and done.stderr.startswith("nvdebug-device-plugin: ") and len(done.stderr.splitlines()) == 1
        return done.returncode, done.stderr

    def errors(self):
        return self.log.read_text(encoding="utf-8")

    def stop(self, number=signal.SIGTERM):
        self.plugin.send_signal(number)
        return self.plugin.wait(PATIENCE_S)

    def end(self):
        if self.plugin and self.plugin.poll() is None:
            self.stop(signal.SIGKILL)
        self.kubelet.stop()

    def is_healthy(self, *names):
        """Waits until these units are healthy, and no others."""
        return comes_true(lambda: self.kubelet.healthy() == sorted(names))


def allocated(node, *ids):
    return node.kubelet.plugin.call("Allocate", container_requests=[{"devices_ids": ids}]).container_responses[0]


def refusal(call, *words, **fields):
    """Returns kind and sentence of a call that is refused."""
    import grpc
    with pytest.raises(grpc.RpcError) as refused:
        call(*words, **fields)
    return refused.value.code().name, refused.value.details()


def name_gpus(machine, monkeypatch):
    """Gives the GPUs of the stand-in addresses and UUIDs, in a folder like /proc/driver/nvidia."""
    for address, uuid in zip(ADDRESSES, UUIDS):
        about = machine.folder / "driver/gpus" / address
        about.mkdir(parents=True)
        (about / "information").write_text(f"Model: \t\t NVIDIA H100\nGPU UUID: \t {uuid}\n", encoding="utf-8")
    monkeypatch.setenv("NVQOS_DRIVER_FOLDER", str(machine.folder / "driver"))


@pytest.fixture(name="bare")
def fixture_bare(machine, tmp_path, monkeypatch):
    """Yields a node on which nothing runs yet."""
    name_gpus(machine, monkeypatch)
    node = Node(machine, tmp_path)
    try:
        yield node
    finally:
        node.end()


@pytest.fixture(name="node")
def fixture_node(bare):
    """Yields a node with one GPU on which all runs."""
    bare.kubelet.start()
    bare.machine.start("--quiet")
    bare.start()
    assert bare.is_healthy(*units(0, 95))
    return bare


@pytest.fixture(name="two")
def fixture_two(bare, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    bare.kubelet.start()
    bare.machine.start("--quiet")
    bare.start()
    assert bare.is_healthy(*units(0, 95), *units(1, 95))
    return bare
