# SPDX-License-Identifier: MIT OR GPL-2.0
"""The text of `engines` if some of the registers behind it cannot be read."""

import json

import pytest
from boards import before, since

BOARDS = (before("turing")[-1], since("ampere-ga100")[0])
ERROR = "0xbadf1100"
# Registers of PFIFO up to Turing: the status of the first engine, the status of PBDMA 0, and (of PPBDMA) its channel.
ENGINE_STATUS, PBDMA_STATUS, PBDMA_CHANNEL = 0x2640, 0x3080, 0x40120


def table(bench, board):
    heading, *rows = bench.read(board, "engines").splitlines()
    return {row.split()[0]: dict(zip(heading.split()[1:], row.split(), strict=True)) for row in rows}


def quiet(bench, board):
    """Makes the GPU idle, so that reading twice shows the same. Returns the table."""
    bench.restart(board, "idle")
    bench.model(board).request("advance", 5000)
    return table(bench, board)


def test_an_unreadable_engine_leaves_the_others(bench):
    board = "titan-v"
    before_it = quiet(bench, board)
    bench.model(board).request("fault", "read", hex(ENGINE_STATUS), ERROR)
    shown = table(bench, board)
    broken = [name for name, row in shown.items() if row["status"] == "unreadable"]
    assert len(broken) == 1
    for name, row in shown.items():
        if name not in broken:
            assert row == before_it[name]
        else:
            assert {row[key] for key in ("current", "next", "busy", "faulted", "reload", "channel")} == {"-"}
            assert {key: row[key] for key in row if key.startswith("pbdma")} == {
                key: value for key, value in before_it[name].items() if key.startswith("pbdma")}


@pytest.mark.parametrize("register", (PBDMA_STATUS, PBDMA_CHANNEL))
def test_an_unreadable_pbdma_leaves_the_others(bench, register):
    """The channel's register is read only if there is a channel."""
    board = "titan-v"
    if register == PBDMA_STATUS:
        quiet(bench, board)
    else:
        bench.restart(board, "three-tasks")
        bench.model(board).request("advance", 5000)
    before_it = table(bench, board)
    bench.model(board).request("fault", "read", hex(register), ERROR)
    seen = 0
    for name, row in table(bench, board).items():
        for at, number in enumerate(row["pbdmas"].split(",")):
            values = [row[key].split(",")[at] for key in row if key.startswith("pbdma_")]
            if number == "0":
                seen += 1
                assert values == ["unreadable", "-", "-", "-"]
            elif register == PBDMA_STATUS:
                assert values == [before_it[name][key].split(",")[at]
                                  for key in row if key.startswith("pbdma_")]
            else:
                assert values[0] != "unreadable"
        if register == PBDMA_STATUS:
            assert {key: row[key] for key in row if not key.startswith("pbdma_")} == {
                key: value for key, value in before_it[name].items() if not key.startswith("pbdma_")}
        else:
            assert row["status"] != "unreadable"
    assert seen


@pytest.mark.parametrize("board", BOARDS)
def test_the_file_fails_if_no_register_can_be_read(bench, board):
    bench.model(board).request("fault", "pri-error")
    result = bench.run(f"cat {bench.proc(board, 'engines')}")
    assert result.status and "Input/output error" in result.err.decode()


def test_the_tool_shows_an_unreadable_engine(bench):
    board = "titan-v"
    quiet(bench, board)
    bench.model(board).request("fault", "read", hex(ENGINE_STATUS), ERROR)
    shown = json.loads(bench.check(f"nvdebugctl engine list -g {bench.index(board)} -j"))["data"]
    assert [engine["status"] for engine in shown].count("unreadable") == 1
