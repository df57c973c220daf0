# SPDX-License-Identifier: MIT OR GPL-2.0
"""Errors around a command, apart from a command that fails."""


class VmError(Exception):
    """The VM could not be built, started or talked to."""

    exit_status = 253


class QemuCrashed(VmError):
    """QEMU was ended by a signal before the guest was up."""


class KernelTrouble(VmError):
    """The guest's kernel panicked, oopsed, warned or got tainted."""

    exit_status = 252


class Timeout(VmError):
    """The command, or the boot, took longer than allowed."""

    exit_status = 251


class StrictViolation(VmError):
    """The guest touched a register or memory that the model does not have."""

    exit_status = 254
