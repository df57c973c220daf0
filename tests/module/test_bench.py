# SPDX-License-Identifier: MIT OR GPL-2.0
"""The counts of `make bench` stay below the figures of docs/memory.md, and its table can be read."""

import pytest
from nvdbench import boards, counts, growth, table, workload

SIZES = (10, 100, 1000)
# A TSG of five channels takes six entries of at most four words. A channel takes one or two registers, and an
# instance block with its context about twenty words. Every 256 words make a burst, which costs four accesses more;
# few channels do not fill a burst.
OF_A_LIST = 6 * 4 / 5 + 2 + 0.1
AT_MOST = {"runlistY_brief": OF_A_LIST, "runlistY": OF_A_LIST + 20, "contexts": OF_A_LIST + 20}


@pytest.fixture(scope="module")
def workloads(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workloads")
    return {size: workload.write(folder, size) for size in SIZES}


@pytest.mark.parametrize("board", boards.FORMS)
def test_accesses_grow_with_channels_and_no_faster(bench, workloads, board):
    rows = growth.of_board(bench.machine, bench.slots.index(board), bench.index(board), board,
                           workloads)
    for file, most in AT_MOST.items():
        few, more, many = (row["accesses"] for row in rows if row["file"] == file)
        first, next_ = (more - few) / (100 - 10), (many - more) / (1000 - 100)
        print(f"{file}: {first:.2f}, then {next_:.2f} accesses for each further channel")
        assert next_ <= 1.02 * first
        assert next_ <= most


@pytest.mark.parametrize("board", boards.FORMS)
def test_a_read_leaves_other_gpus_alone(bench, board):
    command = f"cd {bench.proc(board)} && cat runlist* contexts engines scheduling ptimer >/dev/null"
    by_slot = dict(zip(bench.slots, counts.of_each(bench.machine, command)))
    assert counts.accesses(by_slot.pop(board)) > 0
    assert {counts.accesses(other) for other in by_slot.values()} == {0}


def test_a_table_is_aligned_and_omits_rows():
    rows = [{"board": "a", "reads": 1000, "share": 0.5}, {"board": "a", "reads": 2, "share": 12.0},
            {"board": "b", "reads": 0, "share": 0.0}]
    assert table.text(rows, omit=lambda row: not row["reads"]) == (
        "board  reads  share\n"
        "a      1,000   0.50\n"
        "           2  12.00\n")
