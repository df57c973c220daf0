# SPDX-License-Identifier: MIT OR GPL-2.0
"""Facts of the machine and of the programs that are measured, as data files name them."""

import os
import pathlib
import subprocess

from nvdlab import bounded

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLOCKS = ("clocks.sm", "clocks.mem", "clocks.max.sm")


def ask_gpu(*fields, number=0):
    """Returns fields of `nvidia-smi --query-gpu` for a GPU, as texts. Raises bounded.Late or OSError."""
    return bounded.ask("nvidia-smi", f"--id={number}", f"--query-gpu={','.join(fields)}", "--format=csv,noheader").strip().split(", ")


def gpu(*more, number=0):
    """Returns a GPU's name, its driver and MORE fields in one text, or why they are not known."""
    try:
        return ", ".join(ask_gpu("name", "driver_version", *more, number=number))
    except (bounded.Late, OSError) as error:
        return f"not known: {error}"


def program():
    """Returns the commit of this checkout, from which the measured programs were built; with "-dirty" if files differ from
    it. Returns "unknown" if there is no repository, as on a machine that only got the files."""
    try:
        return subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=8",
                               "--exclude=*"], check=True, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def unsuited():
    """Returns a sentence if this machine cannot measure through NVIDIA's driver, else None."""
    if os.geteuid():
        return "measuring through NVIDIA's driver needs root"
    if pathlib.Path("/proc/gpu0").exists():
        return "the module is loaded; unload it first ('make unload'), because this measures through NVIDIA's driver"
    return None
