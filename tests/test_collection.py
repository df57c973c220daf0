# SPDX-License-Identifier: MIT OR GPL-2.0
"""The tests come in the same order in every process: xdist's workers refuse to start otherwise."""

import os
import subprocess
import sys

from nvdvm import paths


def test_order_does_not_depend_on_the_hash_seed():
    def collected(seed):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-c", "tests/pytest.ini", "tests", "-q",
             "--collect-only", "-p", "no:cacheprovider"],
            cwd=paths.ROOT, env=os.environ | {"PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[:-1]

    first = collected(0)
    assert len(first) > 1000
    assert all(collected(seed) == first for seed in range(1, 5))
