# SPDX-License-Identifier: MIT OR GPL-2.0
"""The time for reading a real GPU through NVIDIA's driver, and the part of it that the driver's calls take."""

import json
import pathlib
import resource
import subprocess
import time

from nvdvm import paths

from . import table

TITLE = "Reading a GPU through NVIDIA's driver (ms; of \"10 a second\" of processor time)"
TOOL = paths.BUILD / "cmake" / "bin" / "nvdebugctl"
CALLS = paths.BUILD / "cmake" / "tests" / "bench" / "driver_calls"
SECONDS = 10


def _run(*words):
    """Returns the seconds that the fastest of ten runs took."""
    def once():
        begin = time.monotonic()
        subprocess.run([TOOL, "--from", "driver", *words], check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - begin
    return min(once() for _ in range(10))


def _watch():
    """Returns the share of a core that `watch` takes, including its start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([TOOL, "--from", "driver", "watch", "-s", "100", "-n", str(10 * SECONDS), "--json"],
                   check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) / SECONDS


def measure():
    if not pathlib.Path("/dev/nvidiactl").exists():
        return []
    done = subprocess.run([CALLS], check=True, capture_output=True, text=True)
    rows = json.loads(done.stdout)
    listed, owners, sample = rows
    listed = {key: listed[key] + owners[key] if key.startswith("calls") else listed[key] for key in listed}
    return rows + [_beside(listed, 1, "nvdebugctl runlist show 0", "run", 1000 * _run("runlist", "show", "0")),
                   _beside(sample, 10, "nvdebugctl watch -s 100", "second", 1000 * _watch())]


def _beside(row, times, what, per, all_ms):
    """Returns a row for the whole tool, with the calls that the library makes for the same work."""
    calls_ms = times * row["calls_ms"]
    return {"what": what, "per": per, "calls": times * row["calls"], "calls_ms": calls_ms,
            "all_ms": all_ms, "ratio": all_ms / calls_ms}


def text(rows):
    return table.text(rows) or "none: this machine has no NVIDIA driver\n"
