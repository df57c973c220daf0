# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs the guest's own test programs on all boards at once."""

import pytest
from programs import programs, run_program


@pytest.mark.parametrize("program", programs())
def test_program(bench, program):
    run_program(bench, program)
