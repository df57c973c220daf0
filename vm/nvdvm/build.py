# SPDX-License-Identifier: MIT OR GPL-2.0
"""Brings everything that a VM needs up to date, by `make`."""

import os
import pathlib
import subprocess
import sys

from . import kernel as kernels, paths
from .errors import VmError


def ensure_built(*more_targets, module=True, tool=True, kernel=None):
    """Builds everything that a VM needs.

    `kernel` is a name or an image, as kernel.find() takes them; `tool`: nvdebugctl for the guest. With
    NVDEBUG_NO_BUILD in the environment nothing is built.
    """
    if os.environ.get("NVDEBUG_NO_BUILD"):
        return
    targets = ["model", "vm-guest" if tool else "vm-init", "vm-kernel", *more_targets]
    if module:
        targets.append("vm-module")
    chosen = kernels.chosen(kernel)
    if chosen is not None:
        targets.append(f"KERNEL={chosen}")
    done = subprocess.run(["make", "-C", paths.ROOT, "--no-print-directory", "-s", *targets],
                          stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode:
        raise VmError("the build failed (above); 'make deps' installs what it needs, and "
                      "--no-build takes what was built before")


def module_for(release):
    """Returns the module that `make vm-module` built for a release, or NVDEBUG_MODULE's."""
    module = pathlib.Path(os.environ.get("NVDEBUG_MODULE") or
                          paths.BUILD / "kmod" / release / "nvdebug.ko")
    if not module.is_file():
        raise VmError(f"no module for kernel {release} at {module}; run 'make vm-module'")
    return module
