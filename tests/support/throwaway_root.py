# SPDX-License-Identifier: MIT OR GPL-2.0
"""A copy on write of this machine's root, which tests can change. It is removed when it is closed."""

import contextlib
import os
import pathlib
import shutil
import subprocess

import pytest

# The namespaces live as long as this shell. Their network is empty. The index of all man pages is not made again with
# each package. The copy of / has the mode of "upper", because packages run programs as other users, which must be able
# to enter it.
SETUP = """
set -e
umask 022
mount -t tmpfs -o size=2g tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o lowerdir=/,upperdir="$1/upper",workdir="$1/work" overlay "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mount -t tmpfs tmpfs "$1/root/tmp"
[ -z "$2" ] || {
	mkdir -p "$1/root$2"
	mount --bind "$2" "$1/root$2"
}
rm -f "$1/root/var/lib/man-db/auto-update"
echo ready
exec cat
"""


def needs_root():
    """Skips the test for users other than root, because only root installs packages. In CI the test fails instead."""
    if os.getuid() == 0:
        return
    reason = "installing packages needs root: run this test as root"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def compiled_before():
    """Returns the environment in which Debian's kernel headers use ccache."""
    if shutil.which("ccache") is None:
        return {}
    folder = pathlib.Path(subprocess.check_output(["ccache", "--get-config", "cache_dir"], text=True).strip())
    folder.mkdir(parents=True, exist_ok=True)
    return {"DEBIAN_KERNEL_USE_CCACHE": "1", "CCACHE_DIR": str(folder.resolve())}


class ThrowawayRoot(contextlib.AbstractContextManager):
    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._root = self._folder / "root"
        self._compiled = compiled_before()
        self._holder = None

    def __enter__(self):
        self._folder.mkdir()
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--net", "--propagation", "private",
             "sh", "-c", SETUP, "sh", self._folder, self._compiled.get("CCACHE_DIR", "")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self._holder.stdout.readline() != "ready\n":
            said = self._holder.communicate()[1].strip()
            pytest.fail(f"no copy of / to install packages into ({said}); it takes root, mount "
                        "namespaces and overlayfs, and this test must not touch the real root")
        return self

    def __exit__(self, *_):
        self._holder.communicate()

    def put(self, file):
        """Copies a file of the real root into /tmp of the copy, and returns its path there."""
        path = f"/tmp/{file.name}"
        self.run("cp", "/dev/stdin", path, stdin=file)
        return path

    def run(self, *command, stdin=os.devnull):
        """Runs a command in the copy, which must succeed, and returns what it printed."""
        with open(stdin, "rb") as source:
            done = subprocess.run(
                ["nsenter", f"--target={self._holder.pid}", "--mount", "--net",
                 "chroot", self._root,
                 "env", "--chdir=/", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8",
                 *(f"{name}={value}" for name, value in self._compiled.items()), *command],
                stdin=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == 0, \
            f"{' '.join(command)}: status {done.returncode}\n{done.stdout.decode()}"
        return done.stdout

    def text(self, *command):
        return self.run(*command).decode()

    def changed(self):
        """Returns the paths of files that differ from the real root. Removed files have a '-' before their paths."""
        upper = self._folder / "upper"
        listing = subprocess.run(
            ["nsenter", f"--target={self._holder.pid}", "--mount",
             "find", upper, "-mindepth", "1", "!", "-type", "d", "-printf", "%y %P\n"],
            stdout=subprocess.PIPE, text=True, check=True).stdout
        return {("-/" if kind == "c" else "/") + path
                for kind, path in (line.split(" ", 1) for line in listing.splitlines())}
