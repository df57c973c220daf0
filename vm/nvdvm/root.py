# SPDX-License-Identifier: MIT OR GPL-2.0
"""Makes a folder of this machine the root of the guest's commands. The guest reads it through 9p, and keeps
changes in its memory only."""

import os
import pathlib
import shlex

from .errors import VmError

# The dependencies of these modules are looked up.
GUEST_MODULES = ("9pnet_virtio", "9p", "overlay")
_TAG = "nvdebug.root"
_ROOT = "/mnt/root"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# The folder's own programs of these names come first.
_MOUNT = f"""set -e
mkdir -p /mnt/folder /mnt/changes {_ROOT}
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose {_TAG} /mnt/folder
mount -t tmpfs tmpfs /mnt/changes
mkdir /mnt/changes/upper /mnt/changes/work
mount -t overlay -o lowerdir=/mnt/folder,upperdir=/mnt/changes/upper,workdir=/mnt/changes/work overlay {_ROOT}
for each in proc sys dev; do
    mkdir -p {_ROOT}/$each
    mount --rbind /$each {_ROOT}/$each
done
mkdir -p {_ROOT}/usr/local/bin
for each in nvdebugctl model; do
    [ ! -e /bin/$each ] || [ -e {_ROOT}/usr/local/bin/$each ] || cp /bin/$each {_ROOT}/usr/local/bin
done"""


class Root:
    def __init__(self, folder):
        self._folder = pathlib.Path(folder).resolve()
        if not os.access(self._folder / "bin" / "sh", os.X_OK):
            raise VmError(f"--root {folder}: no program bin/sh in it; give a folder with a whole system "
                          "('/' for this machine's, or one that vm/fetch debian made)")

    def qemu_words(self):
        return ["-fsdev", f"local,id=root,path={self._folder},security_model=none,readonly=on,multidevs=remap",
                "-device", f"virtio-9p-pci,fsdev=root,mount_tag={_TAG}"]

    def mount(self, run):
        """Mounts the folder with `run`, which runs a command in the guest."""
        result = run(_MOUNT)
        if result.status:
            raise VmError(f"the guest cannot mount --root {self._folder} (its kernel needs 9p and overlayfs): "
                          f"{result.err.decode(errors='replace').strip()}")

    def command(self, command):
        """Returns the command that runs `command`, or a shell, in the root. It runs in the present folder, if
        the root has that."""
        here = pathlib.Path.cwd()
        inside = here.relative_to(self._folder) if here.is_relative_to(self._folder) else pathlib.Path()
        script = f"cd {shlex.quote(str('/' / inside))} && {command or 'exec sh'}"
        return f"exec env HOME=/root PATH={_PATH} chroot {_ROOT} /bin/sh -c {shlex.quote(script)}"
