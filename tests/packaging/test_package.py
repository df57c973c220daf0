# SPDX-License-Identifier: MIT OR GPL-2.0
"""The Debian packages are built, checked, and installed into a copy of this machine's root."""

import os
import re
import shutil
import subprocess

import pytest

from nvdvm import kernel, paths
from nvdvm.machine import Gpu, Machine
from throwaway_root import ThrowawayRoot, needs_root

# These tests need the Debian packages.
pytestmark = pytest.mark.ci

VERSION = (paths.ROOT / "VERSION").read_text(encoding="utf-8").strip()
NEXT_VERSION = f"{VERSION}.1"

# Files that stay on purpose, or that are not the packages': logs, caches, dpkg's own records and the indexes of
# depmod and ldconfig. dkms makes a signing key once for all modules. rpm, if it is installed, makes a database when
# dkms asks it about the distribution.
NOT_OURS = re.compile(
    r"-?/(var/(log|cache|backups)/|var/lib/(apt|dpkg|man-db|systemd)/|etc/ld\.so\.cache$|"
    r"(usr/)?lib/modules/[^/]+/modules\.[a-z.]+$|var/lib/dkms/mok\.(key|pub)$|"
    r"root/\.rpmdb(/|$))")


def build(tree, out, *options):
    done = subprocess.run([tree / "packaging" / "build", *options], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    shutil.copytree(tree / "build" / "package", out, ignore=shutil.ignore_patterns("tree"))
    return sorted(out.glob("*.deb"))


@pytest.fixture(scope="session")
def packages():
    """Returns the built packages (NVDEBUG_NO_BUILD: the packages of the last `make package`)."""
    if not os.environ.get("NVDEBUG_NO_BUILD"):
        subprocess.run([paths.ROOT / "packaging" / "build"], check=True)
    found = sorted((paths.BUILD / "package").glob("*.deb"))
    assert found, "no packages in build/package; run 'make package'"
    return found


@pytest.fixture
def root(tmp_path):
    needs_root()
    with ThrowawayRoot(tmp_path / "copy") as copy:
        yield copy


def install(root, packages):
    root.run("apt-get", "install", "--yes", "--no-install-recommends",
             *(root.put(package) for package in packages))


def purge(root, packages):
    root.run("apt-get", "purge", "--yes", *(package.name.partition("_")[0]
                                            for package in packages))


def built_module(root):
    """Returns the module that dkms has installed for the VM's kernel. By itself dkms would start with the kernel that
    runs here, which may have no headers."""
    release = kernel.find().release
    root.run("dkms", "install", "-m", "nvdebug", "-k", release, "-v",
             root.text("sh", "-c", "ls -d /usr/src/nvdebug-*").strip().rpartition("-")[2])
    return root.run("cat", f"/lib/modules/{release}/updates/dkms/nvdebug.ko")


def version_of(module, tmp_path):
    file = tmp_path / "nvdebug.ko"
    file.write_bytes(module)
    return subprocess.run(["modinfo", "-F", "version", file], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def left_behind(root):
    return sorted(path for path in root.changed() if not NOT_OURS.match(path))


def test_lintian_finds_nothing(packages):
    # Nothing is uploaded to Debian, so there is no bug report that asks for a package to close.
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags",
         "initial-upload-closes-no-bugs", *packages[0].parent.glob("*.changes")],
        check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def newer(tmp_path):
    """Builds the module's package of the next version."""
    tree = tmp_path / "tree"
    shutil.copytree(paths.ROOT, tree, ignore=lambda folder, names: {"build", ".git"}
                    if folder == str(paths.ROOT) else {"__pycache__"})
    (tree / "VERSION").write_text(NEXT_VERSION + "\n", encoding="utf-8")
    changelog = tree / "packaging" / "debian" / "changelog"
    changelog.write_text(changelog.read_text(encoding="utf-8").replace(VERSION, NEXT_VERSION),
                         encoding="utf-8")
    return build(tree, tmp_path / "newer", "--build=all")


def test_packages_install_work_and_leave_nothing(root, packages, newer, tmp_path, built):
    """An upgrade replaces the module."""
    install(root, packages)
    assert version_of(built_module(root), tmp_path) == VERSION

    assert root.text("nvdebugctl", "--version") == f"nvdebugctl {VERSION}\n"
    assert root.text("pkg-config", "--modversion", "nvdebug") == f"{VERSION}\n"

    with Machine([Gpu("a100")], module=tmp_path / "nvdebug.ko") as machine:
        assert "GA100" in machine.check("cat /proc/gpu0/info")
        machine.check_taint()

    install(root, newer)
    assert version_of(built_module(root), tmp_path) == NEXT_VERSION

    purge(root, packages)
    assert left_behind(root) == []
