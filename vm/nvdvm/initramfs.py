# SPDX-License-Identifier: MIT OR GPL-2.0
"""Builds the guest's whole file system: busybox, the agent, modules, and a caller's files."""

import pathlib
import shutil
import subprocess

from . import cpio, paths
from .errors import VmError

MODULE = "/lib/nvdebug.ko"
# Every Debian has the package ncurses-base, which puts its descriptions of terminals here.
TERMINFO = pathlib.Path("/lib/terminfo")

PASSWD = b"root:x:0:0:root:/:/bin/sh\nuser:x:1000:1000:user:/:/bin/sh\n"
GROUP = b"root:x:0:\nuser:x:1000:\nwatchers:x:2000:\n"


def build(kernel, module, extra_files, guest_modules=()):
    """Returns the archive's bytes. `extra_files` maps guest paths to host paths; `guest_modules` names modules
    that the guest loads in addition to its own."""
    archive = cpio.Archive()
    programs = paths.guest_programs(kernel.arch)
    archive.file("init", _read(programs / "init"), 0o755)
    archive.directory("dev")
    archive.device("dev/console", 5, 1)
    _add_busybox(archive, kernel)
    archive.file("bin/model", _read(paths.GUEST_FILES / "model"), 0o755)
    tool = programs / "nvdebugctl"
    if tool.is_file():
        archive.file("bin/nvdebugctl", _read(tool), 0o755)
    for entry in sorted(TERMINFO.glob("?/*")):
        archive.file(str(entry).lstrip("/"), _read(entry))
    archive.file("etc/passwd", PASSWD)
    archive.file("etc/group", GROUP)
    names = []
    for needed in kernel.guest_modules(guest_modules):
        archive.file(f"lib/modules/{needed.name}", _read(needed))
        names.append(f"/lib/modules/{needed.name}\n")
    archive.file("etc/modules", "".join(names).encode())
    if module is not None:
        archive.file(MODULE.lstrip("/"), _read(module))
    for guest_path, host_path in extra_files.items():
        mode = 0o755 if host_path.stat().st_mode & 0o111 else 0o644
        archive.file(guest_path.lstrip("/"), _read(host_path), mode)
    return archive.bytes()


def _add_busybox(archive, kernel):
    """Returns the kernel's own busybox, or this machine's; the latter lists the applets that both have."""
    busybox = shutil.which("busybox")
    if busybox is None:
        raise VmError("no busybox on this machine; run 'make deps'")
    archive.file("bin/busybox", _read(kernel.busybox or pathlib.Path(busybox)), 0o755)
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    for applet in applets.stdout.split():
        if applet != "busybox":
            archive.symlink(f"bin/{applet}", "busybox")


def _read(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise VmError(f"guest file system: {path}: {error.strerror}; run 'make vm'") from error
