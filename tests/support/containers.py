# SPDX-License-Identifier: MIT OR GPL-2.0
"""Images and containers by podman and runc. They are in folders of their own, and in a mount namespace with an empty
/run."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest
from throwaway_root import needs_root
from waiting import comes_true

PATIENCE_S = 120
# Limits that runc may set without CAP_SYS_RESOURCE.
LIMITS = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024")


def needs_containers():
    """Skips the test without root, podman or mount namespaces. In CI's own root it fails instead."""
    needs_root()
    for program in ("podman", "runc"):
        if shutil.which(program) is None:
            pytest.fail(f"{program} is missing: scripts/install-deps containers")
    done = subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mount namespaces are not permitted here: {done.stderr.strip()}")


def libraries_of(*programs):
    """Returns the paths of the libraries with which the programs are linked, and of the loader."""
    listed = subprocess.run(["ldd", *programs], check=True, capture_output=True, text=True).stdout
    words = (word for line in listed.splitlines() for word in line.split() if not line.endswith(":"))
    return sorted({word for word in words if word.startswith("/")})


def copy_libraries(root, *programs):
    """Copies the programs' libraries into an image's root, to the same paths."""
    for path in libraries_of(*programs):
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)


class Podman:
    """Runs podman with storage of its own, and with a new /run for each command."""

    def __init__(self, folder):
        # The path of a socket below the folder may have at most 107 bytes.
        assert len(str(folder)) <= 30
        self.folder = folder
        self.options = ("--root", folder / "s", "--runroot", folder / "r", "--storage-driver", "vfs",
                        "--cgroup-manager", "cgroupfs", "--events-backend", "file", "--runtime", "runc")

    def command(self, *words, before="true", env=None):
        """Runs a podman command after the shell's line `before`, which may write to /run."""
        script = f'mount -t tmpfs none /run && mkdir -p /run/lock && {{ {before}; }} && exec podman "$@"'
        return subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *map(str, (*self.options, *words))],
                              check=False, capture_output=True, text=True, timeout=PATIENCE_S, env=env,
                              stdin=subprocess.DEVNULL)

    def image(self, name, root):
        """Makes an image of that folder."""
        packed = self.folder / f"{name}.tar"
        subprocess.run(["tar", "-C", root, "-cf", packed, "."], check=True)
        done = self.command("import", packed, f"localhost/{name}:1")
        assert done.returncode == 0, done.stderr
        return f"localhost/{name}:1"

    def run(self, *words, before="true"):
        return self.command("run", "--rm", "--network=none", *LIMITS, *words, before=before)

    def processes(self):
        """Returns the numbers of the processes that have this storage among their words. A container's monitor starts
        such a process to clean up, and it may still run when the container and its command have ended."""
        found = set()
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if str(self.folder).encode() in (path / "cmdline").read_bytes():
                    found.add(int(path.name))
        return found


@pytest.fixture(scope="module")
def podman():
    needs_containers()
    with tempfile.TemporaryDirectory(prefix="nvd", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        made = Podman(pathlib.Path(folder))
        probe = made.folder / "probe"
        (probe / "bin").mkdir(parents=True)
        shutil.copy("/bin/busybox", probe / "bin/echo")
        done = made.run(made.image("probe", probe), "/bin/echo", "works")
        if done.stdout != "works\n":
            # An empty container fails only if this machine does not let runc use cgroups or mounts.
            pytest.skip(f"podman runs no container here at all: {done.stderr.strip()}")
        try:
            yield made
        finally:
            left = not comes_true(lambda: not made.processes(), PATIENCE_S)
    assert not left, "a process of a container is left"


@pytest.fixture(scope="module")
def busybox(podman):
    """Returns the name of an image with a few commands."""
    root = podman.folder / "busybox"
    (root / "bin").mkdir(parents=True)
    for name in ("sleep", "echo", "sh"):
        shutil.copy("/bin/busybox", root / "bin" / name)
    return podman.image("busybox", root)


class Sleepers:
    """Containers that sleep, and which nvqos holds. pids(), of a derived class, returns the processes that it holds."""

    def __init__(self, podman, machine):
        self.podman, self.machine, self.started = podman, machine, []

    def pids(self):
        return [pid for one in self.machine.list() for pid in one["pids"]]

    def begin(self, before, *words):
        """Starts a container with these words for `podman run`. BEFORE is a shell's line that makes the node's devices.
        Returns the container's process once nvqos holds it."""
        script = f'mount -t tmpfs none /run && mkdir -p /run/lock && {{ {before}; }} && exec podman "$@"'
        words = map(str, (*self.podman.options, "run", "--rm", "--network=none", *LIMITS, *words, "/bin/sleep", "1000"))
        known = set(self.pids())
        process = subprocess.Popen(["unshare", "--mount", "sh", "-c", script, "sh", *words], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        assert comes_true(lambda: set(self.pids()) - known or process.poll() is not None)
        assert process.poll() is None, process.stderr.read()
        pid, = set(self.pids()) - known
        return pid

    def end(self):
        for pid in self.pids() if self.machine.answers() else ():
            os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.wait(PATIENCE_S)
            process.stderr.close()
