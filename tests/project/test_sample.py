# SPDX-License-Identifier: MIT OR GPL-2.0
"""The daily sample leaves out combinations, and never a board or a case."""

import collections
import itertools
import os
import subprocess
import sys

import pytest
from boards import BOARDS, before, since
from nvdvm import paths
from sample import PART, board_and_case, once, pick, share

CASES = [f"case {number}" for number in range(30)]


def both(pairs):
    boards, cases = zip(*pairs)
    return set(boards), set(cases)


@pytest.mark.parametrize("count", (2, 11, 12, 13, 30))
@pytest.mark.parametrize("start", (0, 5, 1000))
def test_a_sample_has_every_board_and_every_case(count, start):
    pairs = list(itertools.product(BOARDS, CASES[:count]))
    picked = pick(pairs, start)
    assert both(picked) == both(pairs)
    assert len(picked) == max(count, len(BOARDS))
    boards = [board for board, _ in picked]
    assert all(boards.count(board) <= -(-count // len(BOARDS)) for board in BOARDS)
    assert picked == [pair for pair in pairs if pair in picked]


@pytest.mark.parametrize("start", range(len(BOARDS)))
def test_a_sample_has_cases_that_not_every_board_has(start):
    pairs = [(board, "new") for board in since("hopper")] + \
        [(board, "old") for board in before("volta")] + \
        [(board, "any") for board in BOARDS] + [("a100", "one")]
    picked = pick(pairs, start)
    assert both(picked) == both(pairs)
    assert set(picked) <= set(pairs) and len(picked) <= len(BOARDS) + 1


def test_functions_without_a_case_share_the_boards():
    picked = share({name: list(BOARDS) for name in "abcd"})
    assert sorted(sum(map(list, picked.values()), [])) == sorted(BOARDS)
    assert {len(boards) for boards in picked.values()} == {len(BOARDS) // PART}


def test_few_functions_without_a_case_have_all_boards():
    picked = share({"a": list(BOARDS), "b": list(since("volta"))})
    assert set().union(*picked.values()) == set(BOARDS)
    assert share({"a": list(BOARDS)}, BOARDS) == {"a": set(BOARDS[:len(BOARDS) // PART])}


@pytest.mark.parametrize("boards", (["a100"], ["h200", "b200", "rtx5090"]))
def test_functions_with_few_boards_have_them_all(boards):
    assert share({"a": boards, "b": boards}) == {"a": set(boards), "b": set(boards)}


def test_functions_do_not_share_their_pairs():
    pairs = list(itertools.product(BOARDS, CASES[:12]))
    assert len({tuple(pick(pairs, start)) for start in range(12)}) == 12


def test_a_board_is_told_from_a_case():
    assert board_and_case({"text": " ", "board": "a100", "error": 5}) == \
        ("a100", "text=' ' error=5")
    assert board_and_case({"tree": ("h200", "fig6"), "line": "x"}) == \
        ("h200", "tree='fig6' line='x'")
    assert board_and_case({"ctl": "jetson-orin"}) == ("jetson-orin", "")
    assert board_and_case({"text": "a"}) is None


@pytest.mark.parametrize("start", (0, 1, 11, 1000))
def test_once_has_each_case_on_one_board(start):
    pairs = list(itertools.product(BOARDS, CASES[:5])) + [("a100", "one")]
    kept = once(pairs, start)
    assert sorted(case for _, case in kept) == sorted([*CASES[:5], "one"])
    assert set(kept) <= set(pairs)


def names(*options, **env):
    """Returns the names of the tests that would run."""
    env = {name: value for name, value in os.environ.items() if name != "NVDEBUG_LONG"} | env
    lines = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "tests/pytest.ini", "-q", "--collect-only",
         "-p", "no:cacheprovider", *options], cwd=paths.ROOT, env=env, stdout=subprocess.PIPE,
        text=True, check=True).stdout.splitlines()
    return [line for line in lines if "::" in line]


def collected(*options, **env):
    """Returns {function: [(board, case)]} of the suite's tests that have both."""
    functions = {}
    for line in names(*options, **env):
        function, bracket, words = line.removesuffix("]").partition("[")
        board = max((board for board in BOARDS if board in words), key=len, default=None)
        if bracket and board:
            functions.setdefault(function, []).append((board, words.replace(board, "", 1)))
    return functions


@pytest.mark.ci
def test_the_suite_s_sample_has_all_boards_and_cases():
    every, sample = collected("tests", NVDEBUG_LONG="1"), collected("tests")
    assert sum(map(len, sample.values())) < sum(map(len, every.values())) / 2
    boards_of = collections.defaultdict(lambda: (set(), set()))
    for function, pairs in every.items():
        assert set(sample[function]) <= set(pairs)
        boards, cases = both(pairs)
        picked, picked_cases = both(sample[function])
        assert picked_cases == cases, function
        assert picked == boards or len(cases) == 1 and len(picked) >= len(boards) // PART, function
        for union, part in zip(boards_of[function.partition("::")[0]], (boards, picked)):
            union |= part
    # If one function of a file leaves out a board, another function of the file has it.
    assert all(boards == picked for boards, picked in boards_of.values()), boards_of


def test_option_k_is_applied_before_the_sample_is_drawn():
    """-k leaves out tests first, so of one board every case stays."""
    asked = ("tests/module/test_outside.py", "-k", "test_lists and a100")
    assert collected(*asked) == collected(*asked, NVDEBUG_LONG="1")


@pytest.mark.ci
def test_the_two_parts_are_the_whole():
    """make check and make check-ci run each test of the sample once, and with NVDEBUG_LONG each test there is."""
    for env in ({}, {"NVDEBUG_LONG": "1"}):
        quick, rest = (names("tests", "--part", part, **env) for part in ("quick", "rest"))
        assert len(quick) > 3000, "quick tests are not found any more"
        assert sorted(quick + rest) == sorted(names("tests", **env)) and rest


@pytest.mark.ci
def test_each_case_is_quick_on_one_board():
    quick, sample = collected("tests/module", "--part", "quick"), collected("tests/module")
    for function, pairs in quick.items():
        assert both(pairs)[1] == both(sample[function])[1] and len(pairs) <= len(sample[function]), function
