# SPDX-License-Identifier: MIT OR GPL-2.0
"""Page tables: the module's walk against what the driver mapped, through the kernel's ways to memory.
By channel, on every board, and against the model's MMU: tests/module/core/walks_test.cpp."""

import pytest
from page_tables import expect_every_mapping


# Versions 1 and 2 of the tables, and version 3.
@pytest.mark.parametrize("board", ("gtx1060-3gb", "h200"))
def test_every_mapping_is_found(bench, board):
    expect_every_mapping(bench, board)
