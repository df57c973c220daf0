# SPDX-License-Identifier: MIT OR GPL-2.0
"""The ways to connect QEMU and a GPU model: the options on the command line of each."""

import json
import socket


class Proxy:
    """QEMU's multi-process proxy: an inherited pair of sockets. All BARs are small 32-bit ones."""

    name = "proxy"
    device = "x-pci-proxy-dev"
    # While QEMU waits for a model's answer it lets other virtual CPUs run. If one of them then accesses the
    # same GPU, QEMU takes that for a device calling itself, drops the access and lets the guest read 0
    # ("Blocked re-entrant IO" in its log; 7.2 as Debian ships it).
    parallel = False
    real_bars = False

    def __init__(self, _folder, _index):
        self._ours, self._qemus = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.model_fds = [self._ours.fileno()]
        self.qemu_fds = [self._qemus.fileno()]

    def model_options(self):
        return ["--qemu-fd", self._ours.fileno()]

    def qemu_device(self, name, slot):
        return f"{self.device},id={name},fd={self._qemus.fileno()},addr={slot:#x}"

    def model_started(self):
        self._ours.close()

    def close(self):
        self._ours.close()
        self._qemus.close()


class VfioUser:
    """vfio-user (QEMU 10.1 and newer): a socket that the model listens on. BARs are real."""

    name = "vfio-user"
    device = "vfio-user-pci"
    parallel = True
    real_bars = True
    model_fds = qemu_fds = ()
    # Milliseconds for an answer, on a machine that is busy with other work.
    TIMEOUT_MS = 60000

    def __init__(self, folder, index):
        self._path = folder / f"gpu{index}.sock"

    def model_options(self):
        return ["--vfio-user", self._path]

    def qemu_device(self, name, slot):
        return json.dumps({"driver": self.device, "id": name, "addr": f"{slot:#x}",
                           "x-msg-timeout": self.TIMEOUT_MS,
                           "socket": {"type": "unix", "path": str(self._path)}})

    def model_started(self):
        pass

    def close(self):
        pass


# The better transport comes first.
ALL = (VfioUser, Proxy)
