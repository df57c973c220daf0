# SPDX-License-Identifier: MIT OR GPL-2.0
"""Page tables. The module's walk, through the kernel's ways to memory, is compared with the mappings of the driver.
tests/module/core/walks_test.cpp has walks by channel, walks on every board, and the model's MMU."""

import pytest
from page_tables import expect_every_mapping


# These boards have versions 1 and 2 of the tables, and version 3.
@pytest.mark.parametrize("board", ("gtx1060-3gb", "h200"))
def test_every_mapping_is_found(bench, board):
    expect_every_mapping(bench, board)
