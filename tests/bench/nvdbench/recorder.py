# SPDX-License-Identifier: MIT OR GPL-2.0
"""The part of a core that `nvdebugctl record` takes without NVIDIA's driver, over a stand-in for it."""

import json
import pathlib
import subprocess
import tempfile

from nvdvm import paths

from . import table

TITLE = "Recording over a stand-in for NVIDIA's driver (percent of a core without the driver's calls, and these calls)"
PROGRAM = paths.BUILD / "cmake" / "tests" / "bench" / "recorder_cost"
SECONDS = 10
# Timeslices of 2 ms and of 0.2 ms, and the most turns of tasks with short kernels on an H100 (docs/hardware-measured.md).
TURNS = (500, 5000, 7000)


def measure():
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for gpus in (1, 8):
            for turns in TURNS:
                for form in ("summary", "ndjson", "pftrace"):
                    words = [] if form == "summary" else [pathlib.Path(folder) / f"run.{form}"]
                    done = subprocess.run([PROGRAM, str(gpus), str(turns), str(SECONDS), *words], check=True, capture_output=True, text=True)
                    rows.append({"form": form, **json.loads(done.stdout)})
    return sorted(rows, key=lambda row: (row["gpus"], row["turns_per_second"]))


def text(rows):
    return table.text(rows)
