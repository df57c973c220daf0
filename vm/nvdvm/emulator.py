# SPDX-License-Identifier: MIT OR GPL-2.0
"""Finds QEMU, and finds out its abilities."""

import dataclasses
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import transport as transports
from .errors import VmError

# A Debian folder has its own dynamic loader, so its programs run without making the folder our root.
LOADER = "lib64/ld-linux-x86-64.so.2"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
DATA = ("usr/share/qemu", "usr/share/seabios")


@dataclasses.dataclass(frozen=True)
class Emulator:
    program: tuple  # the command line's first words
    accelerator: str
    transport: type  # one of transport.ALL

    @property
    def in_one_thread(self):
        """Returns whether the guest's processors take turns in one thread of QEMU."""
        return self.accelerator == "tcg" and not self.transport.parallel


def find(arch, qemu=None, transport=None):
    """Finds QEMU for `arch`, with the named transport or the best one that it has.

    `qemu` is a program, or a folder with another Debian (vm/fetch debian). If it is None, NVDEBUG_QEMU names
    it; without that, PATH is searched.
    """
    program = _program(f"qemu-system-{arch}", qemu or os.environ.get("NVDEBUG_QEMU"))
    able = [one for one in transports.ALL if _has(program, one.device)]
    wanted = transport or os.environ.get("NVDEBUG_TRANSPORT")
    chosen = [one for one in able if wanted in (None, "", one.name)]
    if not chosen:
        has = f"it has {', '.join(one.name for one in able)}" if able else "is it a QEMU?"
        raise VmError(f"{program[-1]} has no {wanted or 'transport'} for GPU models; {has}")
    return Emulator(program, _accelerator(program, arch), chosen[0])


def _program(name, where):
    if where is None:
        if shutil.which(name) is None:
            raise VmError(f"no {name} on this machine; run 'make deps'")
        return (name,)
    where = pathlib.Path(where).resolve()
    if not where.is_dir():
        if not os.access(where, os.X_OK):
            raise VmError(f"no program {where}; give a QEMU, or a folder that vm/fetch debian made")
        return (str(where),)
    program = where / "usr" / "bin" / name
    if not program.is_file():
        raise VmError(f"no {name} in {where}; vm/fetch debian SUITE qemu-system-x86 "
                      "qemu-system-arm puts it there")
    data = [word for folder in DATA for word in ("-L", str(where / folder))]
    return (str(where / LOADER), "--library-path", str(where / LIBRARIES), str(program), *data)


@functools.cache
def _has(program, device):
    """Does not use -device help: for that list QEMU loads all its modules, and finds another QEMU's."""
    said = subprocess.run([*program, "-device", f"{device},help"], capture_output=True, text=True,
                          timeout=60, check=False)
    return f"{device} options" in said.stdout


# The guest's whole program, at the address where an x86 processor starts: mov ecx, 1 << 24; again: dec ecx; jnz
# again; mov al, 0x10; out 0xf4, al. QEMU's exit device then ends with status 0x10 * 2 + 1.
_PROBE = bytes(0x10000 - 16) + bytes.fromhex("66b900000001 6649 75fc b010 e6f4 f4") + bytes(1)
_PROBE_STATUS = 33
# Hardware takes a hundredth of this time.
_PROBE_S = 2


@functools.cache
def _accelerator(program, arch):
    """Returns KVM if a guest really runs with it, else TCG.

    /dev/kvm may exist and not work, or interpret each instruction.
    """
    if arch != "x86_64" or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    with tempfile.NamedTemporaryFile() as firmware:
        firmware.write(_PROBE)
        firmware.flush()
        probe = [*program, "-accel", "kvm", "-M", "q35", "-cpu", "host", "-nodefaults", "-display",
                 "none", "-bios", firmware.name, "-device", "isa-debug-exit,iobase=0xf4"]
        try:
            status = subprocess.run(probe, capture_output=True, timeout=_PROBE_S,
                                    check=False).returncode
        except subprocess.TimeoutExpired:
            status = None
    return "kvm" if status == _PROBE_STATUS else "tcg"
