# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs the guest's own test programs (tests/kselftest) on all boards at once."""

import re

import pytest
from nvdvm import paths

# Cannot be undone: test_lockdown.py runs it in a VM of its own.
ELSEWHERE = {"proc_lockdown"}


# The one good reason to skip: what this generation of chips does not have.
SKIPPED = re.compile(r"# SKIP (?!\w+ has no \w+$)", re.MULTILINE)


def programs():
    source = paths.ROOT / "tests" / "kselftest"
    return sorted({path.stem for path in source.glob("proc_*.c")} - ELSEWHERE)


@pytest.mark.parametrize("program", programs())
def test_program(bench, program):
    result = bench.run(f"/root/{program}", timeout_s=300)
    text = result.text + result.err.decode()
    assert result.status == 0, text
    assert "not ok" not in text and not SKIPPED.search(text)
