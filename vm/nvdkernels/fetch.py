# SPDX-License-Identifier: MIT OR GPL-2.0
"""Takes Debian's kernels out of their packages."""

import pathlib
import re
import shutil
import subprocess
import sys

from nvdvm.errors import VmError

from . import cache, commands, debian

# Kernels with a name, and the Debian of each.
SUITES = {"5.10": "bullseye", "6.12": "trixie", "7": "forky"}
# Whole toolchains: a kernel is built by compilers of its own time.
TOOLCHAIN = ("linux-headers-amd64", "make", "gcc", "clang", "lld", "llvm", "sparse")


def of_release(release, place):
    """Puts boot/vmlinuz-RELEASE and lib/modules/RELEASE into `place`: this machine's, or those of its
    Debian."""
    with cache.being_made(pathlib.Path(place)) as work:
        image, modules = pathlib.Path(f"/boot/vmlinuz-{release}"), pathlib.Path(f"/lib/modules/{release}")
        if image.is_file() and (modules / "kernel").is_dir():
            (work / "boot").mkdir()
            shutil.copy(image, work / "boot")
            (work / "lib" / "modules").mkdir(parents=True)
            (work / "lib" / "modules" / release).symlink_to(modules)
            return
        _say(release, "70 MB")
        commands.run(f"kernel {release}", ["apt-get", "-q", "download", f"linux-image-{release}"], cwd=work)
        debian.unpack(work)


def named(name):
    """Puts a kernel into the cache, with everything that builds modules for it, if it is not there."""
    place = cache.folder() / "kernels" / name
    with cache.locked(place):
        if name == "arm64":
            _arm64(place)
        elif name not in SUITES:
            raise VmError(f"no kernel {name!r} to fetch; there are {', '.join(SUITES)} and arm64")
        elif not place.exists():
            _of_suite(SUITES[name], place)


def _of_suite(suite, place):
    root = debian.folder(suite, TOOLCHAIN)
    # "build" is a link that leads somewhere only in the Debian folder.
    release = _newest(path for path in (root / "lib" / "modules").glob("*") if (path / "build").is_symlink()).name
    in_root = pathlib.Path("tmp") / f"{place.name}.packages"
    with cache.being_made(place) as work:
        _say(release, "70 to 150 MB")
        # The image package of Debian 14 and later has no files: it depends on packages with the image and the modules.
        image = f"linux-image-{release}"
        depends = subprocess.run(["chroot", root, "apt-cache", "depends", "--important", image], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        parts = re.findall(r"^ *Depends: (linux-(?:binary|modules)-.*)", depends, re.MULTILINE)
        shutil.rmtree(root / in_root, ignore_errors=True)
        (root / in_root).mkdir()
        try:
            commands.run(f"kernel {release}", ["chroot", root, "sh", "-ec", 'cd "$1"; shift; apt-get -q download "$@"',
                                               "sh", f"/{in_root}", *parts, image])
            for package in (root / in_root).glob("*.deb"):
                shutil.move(package, work)
        finally:
            shutil.rmtree(root / in_root)
        debian.unpack(work)
        if not (work / "lib").exists():
            (work / "usr" / "lib").rename(work / "lib")
        shutil.rmtree(work / "usr", ignore_errors=True)
        modules = work / "lib" / "modules" / release
        if not (work / "boot" / f"vmlinuz-{release}").exists():
            (work / "boot").mkdir(exist_ok=True)
            (modules / "vmlinuz").rename(work / "boot" / f"vmlinuz-{release}")
        _link(modules / "build", f"../../../../../debian/{suite}/usr/src/linux-headers-{release}")


def _arm64(place):
    """Makes the arm64 kernel of the same release as the VM's x86 kernel, with a static busybox for arm64."""
    commands.install("build", "arm64")
    # Files that do not depend on the architecture come from the newest headers of this machine.
    common = _newest(pathlib.Path("/usr/src").glob("linux-headers-*-common"))
    version = common.name.removeprefix("linux-headers-").removesuffix("-common")
    release = f"{version}-arm64"
    if (place / "boot" / f"vmlinuz-{release}").exists():
        return
    with cache.being_made(place) as work:
        _say(release, "65 MB")
        lists = work / "apt"
        (lists / "partial").mkdir(parents=True)
        apt_get = ["apt-get", "-q", "-o", "APT::Architectures::=amd64", "-o", "APT::Architectures::=arm64",
                   "-o", f"Dir::State::Lists={lists}", "-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=",
                   "-o", "APT::Sandbox::User=root"]
        commands.run("arm64's packages", [*apt_get, "-o", "APT::Status-Fd=1", "update"], cwd=work)
        commands.run(f"kernel {release}", [*apt_get, "download", f"linux-image-{release}:arm64",
                                           f"linux-headers-{release}:arm64", "busybox-static:arm64"], cwd=work)
        shutil.rmtree(lists)
        debian.unpack(work)
        # Kbuild's programs run on this machine, and build for the other architecture.
        headers = work / "usr" / "src" / f"linux-headers-{release}"
        for programs in ("scripts", "tools"):
            link = headers / programs
            _link(link, f"/usr/lib/{link.readlink().parent.name}/{programs}")
        (headers / "Makefile").write_text("export ARCH := arm64\nexport CROSS_COMPILE := aarch64-linux-gnu-\n"
                                          f"include {common}/Makefile\n", encoding="ascii")
        modules = work / "lib" / "modules" / release
        (modules / "source").unlink(missing_ok=True)
        _link(modules / "build", f"../../../usr/src/linux-headers-{release}")


def _newest(found):
    """Returns the newest version, in the order of dpkg and sort -V."""
    by_number = sorted(found, key=lambda path: [int(part) for part in re.findall(r"\d+", str(path))])
    if not by_number:
        raise VmError("no kernel headers here; 'make deps' installs them")
    return by_number[-1]


def _link(place, target):
    place.unlink(missing_ok=True)
    place.symlink_to(target)


def _say(release, size):
    print(f"Fetching the kernel {release} ({size})", file=sys.stderr, flush=True)
