# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs programs of Google Benchmark, and returns the results in their JSON."""

import json
import subprocess

from nvdvm import paths


def run(name):
    program = paths.BUILD / "cmake" / "tests" / "bench" / name
    done = subprocess.run([program, "--benchmark_format=json"], check=True, capture_output=True,
                          text=True)
    return json.loads(done.stdout)["benchmarks"]
