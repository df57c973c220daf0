# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs commands that take long, and shows their progress."""

import subprocess
import sys
import tempfile

from nvdvm import paths
from nvdvm.errors import VmError

SCRIPTS = paths.ROOT / "scripts"


def run(what, command, **options):
    """Runs a command and shows its progress; if it fails, shows the end of its output."""
    with tempfile.NamedTemporaryFile(prefix="nvdebug-", suffix=".log") as log:
        done = subprocess.run([SCRIPTS / "progress", what, log.name, *command], stdin=subprocess.DEVNULL, check=False,
                              **options)
    if done.returncode:
        raise VmError(f"{what}: {command[0]} failed (above)")


def install(*purposes):
    """Installs this machine's packages for a purpose, see scripts/install-deps."""
    if subprocess.run([SCRIPTS / "install-deps", *purposes], stdout=sys.stderr, check=False).returncode:
        raise VmError("packages are missing (above)")
