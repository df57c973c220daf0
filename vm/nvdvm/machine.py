# SPDX-License-Identifier: MIT OR GPL-2.0
"""A booted guest with its GPU models."""

import contextlib
import dataclasses
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from . import (boots, emulator, glue, initramfs, kernel as kernels, leaks, process, qemu,
               root as roots, trouble)
from .agent import Agent, GuestGone
from .errors import KernelTrouble, QemuCrashed, VmError
from .growing import GrowingLog
from .model import Model
from .processor import Processor
from .terminal import Terminal, shell_command

BOOT_DEADLINE_S = 120
# Otherwise the number of words in a burst would depend on how fast this machine emulates a GPU.
PATIENT = "burst_us=60000000"
# Debian 12's QEMU crashes now and then, once seen while a guest booted, before the module is loaded. So a boot
# is tried again.
BOOTS = 3
POWER_OFF_S = 10
# The BARs of more GPUs find no room below 4 GiB.
MAX_GPUS = 15


@dataclasses.dataclass(frozen=True)
class Gpu:
    """The GPU of a PCI slot."""

    board: str
    workload: str = "three-tasks"
    faults: tuple = ()


class Machine(contextlib.AbstractContextManager):
    """Boots on entry and powers off on exit.

    `module` is the .ko file to load, or None. Before it is loaded, with `module_params` as its parameters,
    the models are started, with a driver's work in place. With `logs`, the console's, QEMU's and the models'
    logs are left in that folder. With `iommu`, an IOMMU translates the addresses of the GPUs' DMA. With
    `interactive`, run_on_terminal() works. With `root`, a folder of this machine, in_root() makes commands
    run in the folder. `qemu_at` and `transport` are arguments of emulator.find().
    """

    def __init__(self, gpus, module=None, module_params="", kernel=None, extra_files=None,
                 load=True, append="", logs=None, iommu=False, interactive=False,
                 qemu_at=None, transport=None, root=None):
        if len(gpus) > MAX_GPUS:
            raise VmError(f"{len(gpus)} GPUs; a VM holds at most {MAX_GPUS}")
        self._gpus = gpus
        self._module = pathlib.Path(module) if module else None
        self._module_params = module_params
        self._load = load and module is not None
        self._kernel = kernels.find(kernel)
        self.arch = self._kernel.arch
        self.emulator = emulator.find(self.arch.name, qemu_at, transport)
        self._processor = Processor() if self.emulator.in_one_thread else None
        self._extra_files = dict(extra_files or {})
        self._glued = glue.is_needed(gpu.board for gpu in gpus)
        if self._glued:
            self._extra_files[glue.MODULE] = glue.module_for(self._kernel.release)
        # Parameters that the kernel does not know become the environment of the guest's programs.
        self._append = f"{append} NVDEBUG_SLOWNESS={self._kernel.slowness:g}"
        self._iommu = iommu
        self._root = roots.Root(root) if root else None
        self._logs = logs
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="nvdebug-vm-"))
        self._terminal = Terminal(self._folder / "terminal.sock") if interactive else None
        self._agent = None
        self._qemu = None
        self._console = GrowingLog(self._folder / "console.log")
        self.models = []

    def __enter__(self):
        try:
            for left in reversed(range(BOOTS)):
                try:
                    self._boot()
                    break
                except QemuCrashed as crash:
                    if not left or self._terminal is not None:
                        raise
                    print(f"vm: {crash.args[0].splitlines()[0]}; booting again", file=sys.stderr)
                    self._forget_boot()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind, *_):
        # An interrupted agent still runs its command, and would not answer.
        try:
            if kind is None:
                self.check_leaks()
                self._agent.power_off()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._qemu.wait(POWER_OFF_S)
        finally:
            self._stop()

    def run(self, command, timeout_s=120, on_output=None):
        """Runs a shell command in the guest; raises an error if the kernel got into trouble."""
        try:
            result = self._agent.run(command, timeout_s * self._kernel.slowness, on_output)
        except GuestGone as error:
            self._wait_for_console()
            self.check_kernel()
            raise VmError(f"{error}; its console ended with:\n{self._console_tail()}") from error
        self.check_kernel()
        self.check_qemu()
        return result

    def run_on_terminal(self, command):
        """Runs a command (a shell, if empty) on the terminal that this program runs on."""
        with self._terminal.shown(self._agent.set_terminal_size):
            return self.run(shell_command(command), timeout_s=math.inf)

    def in_root(self, command):
        """Returns the command that runs `command` (a shell, if empty) in `root`, if there is a root."""
        return self._root.command(command) if self._root else command

    def check(self, command, **options):
        """Like run(), for a command that has to succeed; returns its standard output."""
        result = self.run(command, **options)
        if result.status:
            raise VmError(f"guest: {command}: status {result.status}: "
                          f"{(result.err or result.out).decode(errors='replace').strip()}")
        return result.text

    def module_log(self, last=0):
        """Returns the module's lines in the kernel's log, or the last @last lines of them. The kernel prints
        lines of its own between them at any time."""
        tail = f" | tail -n {last}" if last else ""
        return self.check(f"dmesg | grep nvdebug{tail} || true")

    @property
    def slowness(self):
        """Factor on the time that everything may take, compared with Debian's kernel."""
        return self._kernel.slowness

    def load_module(self, params=None):
        params = self._module_params if params is None else params
        return self.run(f"insmod {initramfs.MODULE} {PATIENT} {params}")

    def console(self):
        log = self._folder / "console.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def check_kernel(self):
        """Raises KernelTrouble for anything bad the console shows since the last call."""
        splat = trouble.find_splat(self._console.unseen())
        if splat:
            self._console.skip()
            raise KernelTrouble(f"the guest's kernel is in trouble:\n{splat}")

    def check_qemu(self):
        """Raises VmError if QEMU has dropped an access to a GPU (see transport.Proxy)."""
        said = (self._folder / "qemu.log").read_text(errors="replace")
        if "Blocked re-entrant IO" in said or "vfio" in said:
            raise VmError(f"QEMU lost accesses to a GPU: {said.strip()}")

    def check_taint(self):
        """Raises KernelTrouble for traces of trouble that a kernel has besides its console."""
        complaint = trouble.complaint(self._agent.run(trouble.STATE, 30).text)
        if complaint:
            raise KernelTrouble(f"{complaint}\n{self._console_tail()}")

    def check_leaks(self):
        """Unloads all modules, and raises KernelTrouble if kmemleak finds that memory was lost. A kernel
        without kmemleak finds nothing."""
        lost = leaks.find(self.check(leaks.COLLECT))
        if lost:
            raise KernelTrouble(f"the guest's kernel has lost {len(lost)} objects:\n" +
                                "\n".join(lost)[:20000])

    def _boot(self):
        begin = time.monotonic()
        deadline = begin + BOOT_DEADLINE_S * self._kernel.slowness
        archive = self._folder / "initramfs.cpio"
        modules = roots.GUEST_MODULES if self._root else ()
        archive.write_bytes(initramfs.build(self._kernel, self._module, self._extra_files, modules))
        # The number of shares is the next power of two, so fewer GPUs get larger shares.
        share = qemu.SYSMEM_SIZE >> max(len(self._gpus) - 1, 0).bit_length()
        processor = self._processor.number if self._processor else None
        for index, gpu in enumerate(self._gpus):
            sysmem = self.arch.sysmem_base + index * share, share
            link = self.emulator.transport(self._folder, index)
            self.models.append(Model(index, gpu.board, gpu.workload, self._folder, sysmem, link,
                                     gpu.faults, processor))
        for model in self.models:
            model.connect()
        self._agent = Agent(self._folder / "agent.sock")
        with open(self._folder / "qemu.log", "wb") as log:
            self._qemu = process.start(
                qemu.command(self.emulator, self._kernel, archive, self._folder / "console.log",
                             self._folder / "agent.sock", self.models, self._append, self._iommu,
                             self._folder / "terminal.sock" if self._terminal else None,
                             self._root.qemu_words() if self._root else ()),
                processor, stdout=log, stderr=log,
                pass_fds=[fd for model in self.models for fd in model.link.qemu_fds])
        for model in self.models:
            model.link.close()
        try:
            self._agent.wait_ready(deadline, self._fail_if_qemu_ended)
        except GuestGone as error:
            self._wait_for_console()
            self._fail_if_qemu_ended()
            raise VmError(f"{error}; its console ended with:\n{self._console_tail()}") from error
        boots.record(time.monotonic() - begin, self._kernel.release, len(self._gpus))
        # From here on the console log has all messages of the kernel.
        self.check("dmesg -n 8")
        for model in self.models:
            model.request("start")
        if self._glued:
            self.check(f"insmod {glue.MODULE}")
        if self._root:
            self._root.mount(self.run)
        if self._load:
            loaded = self.load_module()
            if loaded.status:
                raise VmError(f"the module does not load: {loaded.err.decode().strip()}\n"
                              f"{self._console_tail()}")

    def _fail_if_qemu_ended(self):
        status = self._qemu.poll()
        if status is not None:
            said = (self._folder / "qemu.log").read_text(errors="replace").strip()
            kind = QemuCrashed if status < 0 else VmError
            raise kind(f"QEMU ended with status {status}: {said}\n{self._console_tail()}")

    def _wait_for_console(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._qemu.wait(5)

    def _console_tail(self, lines=25):
        return "\n".join(self.console().splitlines()[-lines:])

    def _end_processes(self):
        if self._qemu is not None:
            self._qemu.kill()
            self._qemu.wait()
        for model in self.models:
            model.stop()
        if self._agent is not None:
            self._agent.close()

    def _forget_boot(self):
        self._end_processes()
        self.models, self._agent, self._qemu = [], None, None
        for file in self._folder.iterdir():
            file.unlink()
        self._console = GrowingLog(self._folder / "console.log")

    def _stop(self):
        self._end_processes()
        if self._processor is not None:
            self._processor.close()
        if self._terminal is not None:
            self._terminal.close()
        if self._logs is not None:
            pathlib.Path(self._logs).mkdir(parents=True, exist_ok=True)
            for log in self._folder.glob("*.log"):
                shutil.copy(log, self._logs)
        shutil.rmtree(self._folder, ignore_errors=True)
