# SPDX-License-Identifier: MIT OR GPL-2.0
"""Page tables: the module's walk against what the driver mapped, and against the model's MMU."""

import random

import pytest
from boards import BOARDS
from layouts import number
from page_tables import (ask_all, directory, expect, expect_every_context, expect_every_mapping,
                         options, tables)

pytestmark = pytest.mark.sample

VA_BITS = {1: 40, 2: 49, 3: 57}  # by version of the tables
SAMPLES = 60  # addresses per board that nobody chose


@pytest.mark.parametrize("board", BOARDS)
def test_every_mapping_is_found(bench, board):
    expect_every_mapping(bench, board)


@pytest.mark.parametrize("board", BOARDS)
def test_the_model_s_mmu_agrees(bench, board):
    """Near what is mapped, and anywhere."""
    bench.restart(board, "page-tables")
    model = bench.model(board)
    layout = model.request("layout")
    chosen = random.Random(f"{board} addresses")
    requests, replies = [], []
    for _ in range(SAMPLES):
        space = chosen.choice(layout["address_spaces"])
        mapping = chosen.choice(space["mappings"])
        version, big_page = tables(layout, space)
        top = 1 << VA_BITS[version]
        va = chosen.choice((number(mapping["va"]) - 4096,
                            number(mapping["va"]) + mapping["page_size"],
                            number(mapping["va"]) ^ (1 << chosen.randrange(12, 40)),
                            chosen.randrange(top))) % top
        at = space["page_directory"]
        requests.append(f"{directory(space)} {va:#x} {options(layout, space, board)}")
        replies.append(model.request("translate", at["address"], at["aperture"], f"v{version}",
                                     hex(va), *(["128k"] if big_page == 128 else [])))
    for request, said, reply in zip(requests, ask_all(bench, board, requests), replies,
                                    strict=True):
        expect(said, reply, request)


@pytest.mark.parametrize("board", BOARDS)
def test_by_channel(bench, board):
    expect_every_context(bench, board)
