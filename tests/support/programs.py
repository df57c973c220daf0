# SPDX-License-Identifier: MIT OR GPL-2.0
"""The guest's own test programs (tests/module/kselftest)."""

import re

from nvdvm import paths
from sample import EVERYTHING

# Programs that run in VMs of their own: test_lockdown.py, because lockdown cannot be undone, and test_hostile.py and
# test_stress.py, because they take long. proc_fail… need a kernel that makes allocations fail.
ELSEWHERE = {"proc_lockdown", "proc_hostile", "proc_failnth", "proc_failwrite", "proc_failload",
             "proc_versions", "proc_walks", "proc_stress", "proc_fuzz"}


# Each test runs on one board, and the next test on another one. The core's tests try the differences between boards on
# all of them, in one process (tests/module/core).
SAMPLE = "--one-in 12"
# proc_tree tests these differences, and is fast.
SAMPLES = {"proc_corrupt": f"--last 6 {SAMPLE}", "proc_tree": ""}

# The only accepted reason to skip is that this generation of chips lacks something.
SKIPPED = re.compile(r"# SKIP (?!\w+ has no \w+$)", re.MULTILINE)


def programs():
    source = paths.ROOT / "tests" / "module" / "kselftest"
    return sorted({path.stem for path in source.glob("proc_*.c")} - ELSEWHERE)


def run_program(bench, program):
    """Runs each of the program's tests on one board, or with NVDEBUG_LONG on all boards."""
    sample = "" if EVERYTHING else SAMPLES.get(program, SAMPLE)
    result = bench.run(f"/root/{program} {sample}", timeout_s=300)
    text = result.text + result.err.decode()
    assert result.status == 0, text
    assert "not ok" not in text and not SKIPPED.search(text)
