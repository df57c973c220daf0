# SPDX-License-Identifier: MIT OR GPL-2.0
"""A booted guest with its GPU models."""

import contextlib
import dataclasses
import math
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from . import initramfs, kernel as kernels, process, qemu
from .agent import Agent, GuestGone
from .errors import KernelTrouble, VmError
from .model import Model
from .terminal import Terminal, shell_command

BOOT_DEADLINE_S = 120
POWER_OFF_S = 10
MAX_GPUS = 16
# Bits of /proc/sys/kernel/tainted that an out-of-tree, unsigned module is bound to set.
EXPECTED_TAINT = 1 << 12 | 1 << 13

_TROUBLE = re.compile(
    r"Kernel panic|\bBUG: |\bWARNING: |\bOops\b|general protection fault|unable to handle|"
    r"KASAN: |UBSAN: |KCSAN: |possible recursive locking|suspicious RCU|blocked for more than|"
    r"soft lockup|rcu.*self-detected stall|kmemleak: \d+ new|refcount_t: ")


@dataclasses.dataclass(frozen=True)
class Gpu:
    """What to put into one PCI slot."""

    board: str
    workload: str = "three-tasks"
    faults: tuple = ()


class Machine(contextlib.AbstractContextManager):
    """Boots on entry and powers off on exit.

    `module` is the .ko file to load, or None. The models are started (a driver's work is
    in place) before it is loaded, with `module_params` as its parameters. With `logs`, the
    console's, QEMU's and the models' logs are left in that folder. With `iommu`, what the kernel
    takes for the GPUs' DMA is translated. With `interactive`, run_on_terminal() works.
    """

    def __init__(self, gpus, module=None, module_params="", kernel=None, extra_files=None,
                 load=True, append="", logs=None, iommu=False, interactive=False):
        if len(gpus) > MAX_GPUS:
            raise VmError(f"{len(gpus)} GPUs; a VM holds at most {MAX_GPUS}")
        self._gpus = gpus
        self._module = pathlib.Path(module) if module else None
        self._module_params = module_params
        self._load = load and module is not None
        self._kernel = kernels.find(kernel)
        self._extra_files = extra_files or {}
        self._append = append
        self._iommu = iommu
        self._logs = logs
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="nvdebug-vm-"))
        self._terminal = Terminal(self._folder / "terminal.sock") if interactive else None
        self._agent = None
        self._qemu = None
        self._trouble_shown = 0
        self.models = []

    def __enter__(self):
        try:
            self._boot()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind, *_):
        # An agent that was interrupted is still at its command and would not hear.
        if kind is None:
            self._agent.power_off()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._qemu.wait(POWER_OFF_S)
        self._stop()

    def run(self, command, timeout_s=120, on_output=None):
        """Runs a shell command in the guest; raises if the kernel got into trouble."""
        try:
            result = self._agent.run(command, timeout_s, on_output)
        except GuestGone as error:
            self._wait_for_console()
            self.check_kernel()
            raise VmError(f"{error}; its console ended with:\n{self._console_tail()}") from error
        self.check_kernel()
        self.check_qemu()
        return result

    def run_on_terminal(self, command):
        """Runs a command (a shell, if empty) on the terminal that this program runs on."""
        with self._terminal:
            return self.run(shell_command(command), timeout_s=math.inf)

    def check(self, command, **options):
        """Like run(), for a command that has to succeed; returns its standard output."""
        result = self.run(command, **options)
        if result.status:
            raise VmError(f"guest: {command}: status {result.status}: "
                          f"{(result.err or result.out).decode(errors='replace').strip()}")
        return result.text

    def load_module(self, params=None):
        params = self._module_params if params is None else params
        return self.run(f"insmod {initramfs.MODULE} {params}")

    def console(self):
        log = self._folder / "console.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def check_kernel(self):
        """Raises KernelTrouble for anything bad the console shows since the last call."""
        text = self.console()
        found = _TROUBLE.search(text, self._trouble_shown)
        if found:
            self._trouble_shown = len(text)
            start = text.rfind("\n", 0, found.start()) + 1
            raise KernelTrouble(f"the guest's kernel is in trouble:\n{text[start:start + 4000]}")

    def check_qemu(self):
        """Raises VmError if QEMU has dropped an access to a GPU (see qemu.PROCESSOR)."""
        said = (self._folder / "qemu.log").read_text(errors="replace")
        if "Blocked re-entrant IO" in said:
            raise VmError(f"QEMU lost accesses to a GPU: {said.strip()}")

    def check_taint(self):
        taint = int(self._agent.run("cat /proc/sys/kernel/tainted", 30).text)
        if taint & ~EXPECTED_TAINT:
            raise KernelTrouble(f"the guest's kernel is tainted: {taint:#x}\n"
                                f"{self._console_tail()}")

    def _boot(self):
        deadline = time.monotonic() + BOOT_DEADLINE_S
        archive = self._folder / "initramfs.cpio"
        archive.write_bytes(initramfs.build(self._kernel, self._module, self._extra_files))
        share = qemu.SYSMEM_SIZE // MAX_GPUS
        for index, gpu in enumerate(self._gpus):
            sysmem = qemu.SYSMEM_BASE + index * share, share
            self.models.append(Model(index, gpu.board, gpu.workload, self._folder, sysmem,
                                     gpu.faults))
        for model in self.models:
            model.connect()
        self._agent = Agent(self._folder / "agent.sock")
        with open(self._folder / "qemu.log", "wb") as log:
            self._qemu = process.start(
                qemu.command(self._kernel, archive, self._folder / "console.log",
                             self._folder / "agent.sock", self.models, self._append, self._iommu,
                             self._folder / "terminal.sock" if self._terminal else None),
                stdout=log, stderr=log,
                pass_fds=[model.qemu_socket.fileno() for model in self.models])
        for model in self.models:
            model.qemu_socket.close()
        try:
            self._agent.wait_ready(deadline, self._fail_if_qemu_ended)
        except GuestGone as error:
            self._wait_for_console()
            raise VmError(f"{error}; its console ended with:\n{self._console_tail()}") from error
        # From here on the console log is only for us: everything the kernel says.
        self.check("dmesg -n 8")
        for model in self.models:
            model.request("start")
        if self._load:
            loaded = self.load_module()
            if loaded.status:
                raise VmError(f"the module does not load: {loaded.err.decode().strip()}\n"
                              f"{self._console_tail()}")

    def _fail_if_qemu_ended(self):
        status = self._qemu.poll()
        if status is not None:
            said = (self._folder / "qemu.log").read_text(errors="replace").strip()
            raise VmError(f"QEMU ended with status {status}: {said}\n{self._console_tail()}")

    def _wait_for_console(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._qemu.wait(5)

    def _console_tail(self, lines=25):
        return "\n".join(self.console().splitlines()[-lines:])

    def _stop(self):
        if self._qemu is not None:
            self._qemu.kill()
            self._qemu.wait()
        for model in self.models:
            model.stop()
        for end in (self._agent, self._terminal):
            if end is not None:
                end.close()
        if self._logs is not None:
            pathlib.Path(self._logs).mkdir(parents=True, exist_ok=True)
            for log in self._folder.glob("*.log"):
                shutil.copy(log, self._logs)
        shutil.rmtree(self._folder, ignore_errors=True)
