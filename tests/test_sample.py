# SPDX-License-Identifier: MIT OR GPL-2.0
"""The sample that runs every day leaves out combinations, and never a board or a case."""

import itertools
import os
import subprocess
import sys

import pytest
from boards import BOARDS, before, since
from nvdvm import paths
from sample import board_and_case, pick

CASES = [f"case {number}" for number in range(30)]


def both(pairs):
    boards, cases = zip(*pairs)
    return set(boards), set(cases)


@pytest.mark.parametrize("count", (1, 2, 11, 12, 13, 30))
@pytest.mark.parametrize("start", (0, 5, 1000))
def test_every_board_and_every_case_once(count, start):
    pairs = list(itertools.product(BOARDS, CASES[:count]))
    picked = pick(pairs, start)
    assert both(picked) == both(pairs)
    assert len(picked) == max(count, len(BOARDS))
    boards = [board for board, _ in picked]
    assert all(boards.count(board) <= -(-count // len(BOARDS)) for board in BOARDS)
    assert picked == [pair for pair in pairs if pair in picked]


@pytest.mark.parametrize("start", range(len(BOARDS)))
def test_cases_that_not_every_board_has(start):
    pairs = [(board, "new") for board in since("hopper")] + \
        [(board, "old") for board in before("volta")] + \
        [(board, "any") for board in BOARDS] + [("a100", "one")]
    picked = pick(pairs, start)
    assert both(picked) == both(pairs)
    assert set(picked) <= set(pairs) and len(picked) <= len(BOARDS) + 1


def test_functions_do_not_share_their_pairs():
    pairs = list(itertools.product(BOARDS, CASES[:12]))
    assert len({tuple(pick(pairs, start)) for start in range(12)}) == 12


def test_what_is_a_board():
    assert board_and_case({"text": " ", "board": "a100", "error": 5}) == \
        ("a100", "text=' ' error=5")
    assert board_and_case({"tree": ("h200", "fig6"), "line": "x"}) == \
        ("h200", "tree='fig6' line='x'")
    assert board_and_case({"ctl": "jetson-orin"}) == ("jetson-orin", "")
    assert board_and_case({"text": "a"}) is None


def collected(*options, **env):
    """{function: [(board, case)]} of the suite's tests that have both."""
    env = {name: value for name, value in os.environ.items() if name != "NVDEBUG_LONG"} | env
    lines = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "tests/pytest.ini", "-q", "--collect-only",
         "-p", "no:cacheprovider", *options], cwd=paths.ROOT, env=env, stdout=subprocess.PIPE,
        text=True, check=True).stdout.splitlines()
    functions = {}
    for line in lines:
        function, bracket, words = line.removesuffix("]").partition("[")
        board = max((board for board in BOARDS if board in words), key=len, default=None)
        if bracket and board:
            functions.setdefault(function, []).append((board, words.replace(board, "", 1)))
    return functions


def test_of_the_suite():
    every, sample = collected("tests", NVDEBUG_LONG="1"), collected("tests")
    assert sum(map(len, sample.values())) < sum(map(len, every.values())) / 2
    for function, pairs in every.items():
        assert set(sample[function]) <= set(pairs)
        assert both(sample[function]) == both(pairs), function


def test_of_what_was_asked_for():
    """-k leaves out first: of one board, every case."""
    asked = ("tests/test_control.py", "-k", "bad_lists and a100")
    assert collected(*asked) == collected(*asked, NVDEBUG_LONG="1")
