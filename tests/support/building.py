# SPDX-License-Identifier: MIT OR GPL-2.0
"""Builds the programs that a test runs, and no others."""

import functools
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/cmake"


@functools.cache
def build(*targets):
    """Brings CMake's targets up to date. With NVDEBUG_NO_BUILD in the environment, it trusts earlier builds."""
    if not os.environ.get("NVDEBUG_NO_BUILD"):
        subprocess.run(["make", "-C", ROOT, "-s", "--no-print-directory", "programs", f"TARGETS={' '.join(targets)}"],
                       check=True, stdout=sys.stderr)


def built(program):
    """Builds a program, which is named by its path below build/cmake, and returns its path."""
    build(pathlib.PurePath(program).name)
    return FOLDER / program
