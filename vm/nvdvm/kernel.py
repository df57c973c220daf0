# SPDX-License-Identifier: MIT OR GPL-2.0
"""The guest's kernel: an image, and the modules that the guest itself needs."""

import dataclasses
import os
import pathlib
import subprocess

from . import arch as archs, paths, unpack
from .errors import VmError

# Modules with which the guest talks to the host; their dependencies are looked up.
GUEST_MODULES = ("virtio_pci", "virtio_console")


@dataclasses.dataclass(frozen=True)
class Kernel:
    release: str
    image: pathlib.Path
    arch: archs.Arch
    # The folder that holds kernel/, and build, with which modules are built.
    modules: pathlib.Path
    # Factor on the time that everything may take, compared with Debian's kernel.
    slowness: float = 1

    @property
    def busybox(self):
        """Returns a static busybox for this kernel's architecture, if the kernel's folder has one."""
        busybox = self.image.resolve().parents[1] / "bin" / "busybox"
        return busybox if busybox.is_file() else None

    @property
    def bootable(self):
        """Returns the image for QEMU, unpacked if that is possible."""
        return unpack.unpacked(self.image, paths.BUILD / "unpacked")

    def guest_modules(self, more=()):
        """Returns the paths of the modules that the guest loads, in load order. A missing module is built in.
        `more` names modules beside those that every guest loads."""
        available = {path.stem.replace("-", "_"): path
                     for path in (self.modules / "kernel").rglob("*.ko")}
        ordered = []

        def add(name):
            if name not in available:
                return
            for needed in _dependencies(available[name]):
                add(needed)
            if available[name] not in ordered:
                ordered.append(available[name])

        for name in (*GUEST_MODULES, *more):
            add(name)
        return ordered


def chosen(kernel=None):
    """Returns the kernel to use, from NVDEBUG_KERNEL if not given: a name, an image's absolute path, or None
    for `make vm-kernel`'s."""
    kernel = kernel or os.environ.get("NVDEBUG_KERNEL")
    return os.path.abspath(kernel) if kernel and "/" in str(kernel) else kernel or None


def find(kernel=None):
    """Finds the kernel that `make vm-kernel` unpacked, or the kernel with a name or image.

    A name is that of a folder in the cache's kernels/ with boot/vmlinuz-RELEASE and lib/modules/RELEASE in
    it. An image, which has a slash in its path, is named vmlinuz-RELEASE. It has its modules beside it, as a
    distribution's package has them (DIR/boot/vmlinuz-RELEASE, DIR/lib/modules/RELEASE), or has virtio-pci
    and virtio-console built in.
    """
    kernel = chosen(kernel)
    if kernel is None:
        image = _newest_image(paths.BUILD / "kernel", "*", "run 'make vm-kernel'")
    elif "/" in kernel:
        image = pathlib.Path(kernel)
    else:
        image = _newest_image(_cache() / "kernels", kernel, "docs/vm.md says how to make one")
    if not image.is_file():
        raise VmError(f"no kernel image at {image}; give a file .../boot/vmlinuz-RELEASE")
    name, _, release = image.name.partition("-")
    if name != "vmlinuz" or not release:
        raise VmError(f"kernel {image}: give a file named vmlinuz-RELEASE")
    folder = image.resolve().parents[1]
    slowness = folder / "slowness"
    return Kernel(release, image, archs.of_image(image), folder / "lib" / "modules" / release,
                  float(slowness.read_text(encoding="ascii")) if slowness.exists() else 1)


def _newest_image(folder, name, advice):
    images = sorted(folder.glob(f"{name}/boot/vmlinuz-*"))
    if not images:
        raise VmError(f"no guest kernel {folder / name}; {advice}")
    return images[-1]


def _cache():
    printed = subprocess.run([paths.ROOT / "scripts" / "cache-dir"], capture_output=True,
                             text=True, check=True)
    return pathlib.Path(printed.stdout.strip())


def _dependencies(module):
    """Returns the names in the module's own "depends=" record."""
    data = module.read_bytes()
    at = data.find(b"depends=")
    if at < 0:
        return []
    names = data[at + len(b"depends="):data.index(b"\0", at)].decode()
    return [name.replace("-", "_") for name in names.split(",") if name]
