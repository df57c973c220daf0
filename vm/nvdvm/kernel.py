# SPDX-License-Identifier: MIT OR GPL-2.0
"""The guest's kernel: an image, and the modules that the guest itself needs."""

import dataclasses
import pathlib

from . import paths
from .errors import VmError

# What the guest needs to talk to the host; dependencies are looked up.
GUEST_MODULES = ("virtio_pci", "virtio_console")


@dataclasses.dataclass(frozen=True)
class Kernel:
    release: str
    image: pathlib.Path
    modules: pathlib.Path  # the folder that holds modules.order and kernel/

    def guest_modules(self):
        """Paths of the modules the guest loads, in load order; what is missing is built in."""
        available = {path.stem.replace("-", "_"): path for path in self.modules.rglob("*.ko")}
        ordered = []

        def add(name):
            if name not in available:
                return
            for needed in _dependencies(available[name]):
                add(needed)
            if available[name] not in ordered:
                ordered.append(available[name])

        for name in GUEST_MODULES:
            add(name)
        return ordered


def find(image=None):
    """The kernel `make vm-kernel` unpacked, or one given by its image.

    An image given by hand is named vmlinuz-RELEASE and has its modules beside it, as a
    distribution's package has them (DIR/boot/vmlinuz-RELEASE, DIR/lib/modules/RELEASE), or
    has virtio-pci and virtio-console built in.
    """
    if image is None:
        images = sorted((paths.BUILD / "kernel").glob("*/boot/vmlinuz-*"))
        if not images:
            raise VmError("no guest kernel in build/kernel; run 'make vm-kernel'")
        image = images[-1]
    image = pathlib.Path(image)
    if not image.is_file():
        raise VmError(f"no kernel image at {image}")
    name, _, release = image.name.partition("-")
    if name != "vmlinuz" or not release:
        raise VmError(f"kernel {image}: want a file named vmlinuz-RELEASE")
    return Kernel(release, image, image.resolve().parents[1] / "lib" / "modules" / release)


def _dependencies(module):
    """The names in the module's own "depends=" record."""
    data = module.read_bytes()
    at = data.find(b"depends=")
    if at < 0:
        return []
    names = data[at + len(b"depends="):data.index(b"\0", at)].decode()
    return [name.replace("-", "_") for name in names.split(",") if name]
