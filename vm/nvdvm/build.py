# SPDX-License-Identifier: MIT OR GPL-2.0
"""Has `make` bring up to date what a VM needs."""

import subprocess
import sys

from . import paths
from .errors import VmError


def ensure_built(*more_targets, module=True, kernel=True):
    targets = ["model", "vm-guest", *more_targets]
    if kernel:
        targets.append("vm-kernel")
    if module:
        targets.append("vm-module")
    done = subprocess.run(["make", "-C", paths.ROOT, "--no-print-directory", "-s", *targets],
                          stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode:
        raise VmError("the build failed (above); 'make deps' installs what it needs")


def module_for(release):
    module = paths.BUILD / "kmod" / release / "nvdebug.ko"
    if not module.is_file():
        raise VmError(f"no module for kernel {release} at {module}; run 'make vm-module'")
    return module
