# SPDX-License-Identifier: MIT OR GPL-2.0
"""A plugin that runs a sample of the tests marked `sample`, because they combine boards with something else.

A case is everything that a test function is given beside a board. The sample has every board and every case at least
once. A function that is given only a board runs on a quarter of the boards, and all such functions of a file together
run on each board. NVDEBUG_LONG=1 runs each case on each board.

--part divides the tests between `make check` (quick) and `make check-ci` (rest). All tests but those marked `ci` are
quick. Of the tests marked `sample`, each case runs once, on any board. Of the tests marked `rows(N)`, the first N run.
"""

import collections
import os
import zlib

import pytest
from boards import BOARDS, INTEGRATED

EVERYTHING = bool(os.environ.get("NVDEBUG_LONG"))
# A function without a case that has at most so many boards runs on all of them.
FEW = 4
# A function with more boards runs on one of so many.
PART = 4


def pick(pairs, start=0):
    """Returns few of the (board, case) pairs, in their order, that have every board and every case.

    Boards take turns, beginning with the `start`th.
    """
    boards_of, cases_of = collections.defaultdict(list), collections.defaultdict(list)
    for board, case in pairs:
        boards_of[case].append(board)
        cases_of[board].append(case)
    names = list(cases_of)
    start %= len(names)
    turn = {board: place for place, board in enumerate(names[start:] + names[:start])}
    used, picked = collections.Counter(), set()

    def take(board, case):
        picked.add((board, case))
        used.update([("board", board), ("case", case)])

    # Cases that fit few boards choose first.
    for case in sorted(boards_of, key=lambda case: len(boards_of[case])):
        take(min(boards_of[case], key=lambda board: (used["board", board], turn[board])), case)
    for board in names:
        if not used["board", board]:
            take(board, min(cases_of[board], key=lambda case: used["case", case]))
    return [pair for pair in pairs if pair in picked]


def share(functions, others=()):
    """Returns {function: its boards} for the functions of one file. Each function gets few boards; together with
    `others` they have all boards.

    `functions` has all boards of each function.
    """
    used = collections.Counter(others)
    picked = {}
    for name, boards in functions.items():
        count = len(boards) if len(boards) <= FEW else -(-len(boards) // PART)
        picked[name] = set(sorted(boards, key=used.__getitem__)[:count])
        used.update(picked[name])
    for name, boards in reversed(functions.items()):
        missing = {board for board in boards if not used[board]}
        picked[name] |= missing
        used.update(missing)
    return picked


def board_and_case(params):
    """Returns the board and the case of a test's parameters, such as ("a100", "line='gpu list' workload='fig6'"), or
    None."""
    values = []
    for name, value in params.items():
        values += [(name, part) for part in (value if isinstance(value, tuple) else [value])]
    boards = [value for _, value in values if value in BOARDS + INTEGRATED]
    if len(boards) != 1:
        return None
    return boards[0], " ".join(f"{name}={value!r}" for name, value in values if value != boards[0])


def sampled(items):
    """Returns {function: {(board, case): test}} of the tests marked `sample`."""
    functions = collections.defaultdict(dict)
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        pair = board_and_case(params) if item.get_closest_marker("sample") else None
        if pair:
            functions[item.nodeid.partition("[")[0]][pair] = item
    return functions


def left_out(items):
    functions = sampled(items)
    simple, others = collections.defaultdict(dict), collections.defaultdict(list)
    for name, tests in functions.items():
        file = name.partition("::")[0]
        if len({case for _, case in tests}) == 1:
            simple[file][name] = [board for board, _ in tests]
        else:
            # The next function should have other boards for the same cases. The seed leaves the folder out, so that a
            # file can move without getting another sample.
            picked = set(pick(list(tests), zlib.crc32(name.rpartition("/")[2].encode())))
            others[file] += [board for board, _ in picked]
            yield from (item for pair, item in tests.items() if pair not in picked)
    for file, names in simple.items():
        for name, boards in share(names, others[file]).items():
            yield from (item for (board, _), item in functions[name].items() if board not in boards)


def once(pairs, start):
    """Returns one of the (board, case) pairs for each case. Its board depends on `start`."""
    by_case = collections.defaultdict(list)
    for pair in pairs:
        by_case[pair[1]].append(pair)
    return [same[start % len(same)] for same in by_case.values()]


def not_quick(items):
    """Returns the tests that `make check` leaves to `make check-ci`."""
    slow = {item for item in items if item.get_closest_marker("ci")}
    rows = collections.Counter()
    for item in items:
        if mark := item.get_closest_marker("rows"):
            function = item.nodeid.partition("[")[0]
            rows[function] += 1
            if rows[function] > mark.args[0]:
                slow.add(item)
    for name, tests in sampled(item for item in items if item not in slow).items():
        kept = once(list(tests), zlib.crc32(name.rpartition("/")[2].encode()))
        slow.update(item for pair, item in tests.items() if pair not in kept)
    return slow


def pytest_addoption(parser):
    parser.addoption("--part", choices=("quick", "rest"),
                     help="quick: the tests of make check; rest: those that it leaves to make check-ci")


def pytest_configure(config):
    config.addinivalue_line("markers", "sample: each board and each case, not each case on each board; "
                            "without a case, on a quarter of the boards")
    config.addinivalue_line("markers", "ci: takes long, so make check leaves it to make check-ci")
    config.addinivalue_line("markers", "rows(N): make check runs it with its first N parameters, check-ci with the others")


def pytest_report_header():
    return ("every combination of boards and cases (NVDEBUG_LONG)" if EVERYTHING else
            "a sample of boards and cases, not every combination (see tests/support/sample.py)")


# This runs after -k, so that it samples only the tests that were asked for.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if config.getoption("--update-golden"):
        return
    left = set(left_out(items))
    drawn = [item for item in items if item not in left]
    quick = set(drawn) - not_quick(drawn)
    everything = set(items if EVERYTHING else drawn)
    out = set(items) - {"quick": quick, "rest": everything - quick, None: everything}[config.getoption("--part")]
    config.hook.pytest_deselected(items=[item for item in items if item in out])
    items[:] = [item for item in items if item not in out]
