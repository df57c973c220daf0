# SPDX-License-Identifier: MIT OR GPL-2.0
"""Requests to `translate` about page tables, and the expected answers."""

import contextlib
import json
import random
import tempfile

from boards import GENERATION, INTEGRATED
from driver import bind, driver
from layouts import number, place
from nvdvm import paths
from text import pairs

_TABLE_BYTES = 4096


def ask(bench, board, request):
    """Returns the answer of `translate`, or None, and the shell's message."""
    result = bench.run(f"exec 3<>{bench.proc(board, 'translate')} && echo '{request}' >&3 && cat <&3")
    return result.text if result.status == 0 else None, result.err.decode()


def answer(bench, board, request):
    text, error = ask(bench, board, request)
    assert text is not None, error
    return dict(pairs(text))


def ask_all(bench, board, requests):
    """Sends many requests with one command. Returns their answers in order."""
    lines = "\n".join(requests)
    script = (f"printf '%s\\n' '{lines}' | while read -r line; do "
              f"exec 3<>{bench.proc(board, 'translate')}; echo \"$line\" >&3 && cat <&3; "
              f"exec 3>&-; echo; done")
    texts = bench.check(script, timeout_s=300).split("\n\n")
    return [dict(pairs(text)) for text in texts if text]


def tables(layout, space):
    """Returns the version of the page tables and the size of big pages, from a channel that uses the space."""
    for channel in layout["channels"]:
        if place(channel["page_directory"]) == place(space["page_directory"]):
            return channel["page_tables"], channel["big_page_kib"]
    raise AssertionError(f"no channel uses {space['name']}")


def directory(space):
    at = space["page_directory"]
    return f"{at['address']}:{at['aperture']}"


def options(layout, space, board):
    """Returns the facts that `translate` cannot read from a page directory."""
    version, big_page = tables(layout, space)
    words = [f"v{version}"] if GENERATION[board].startswith("pascal") else []
    return " ".join(words + ([f"{big_page}k"] if version == 1 or big_page == 128 else []))


def fill_with(model, table, words):
    """Fills a whole table with these words."""
    model.request("poke", table["aperture"], table["address"],
                  *map(hex, words * (_TABLE_BYTES // 4 // len(words))))


def expect(said, reply, where):
    """Asserts that the answer is the reply of the model's MMU."""
    if reply["mapped"]:
        assert said["result"] == f"{number(reply['address']):#x} {reply['aperture']}", where
        assert int(said["page_size"]) == reply["page_size"], where
        assert said["error"] == "-"
    else:
        assert said["result"] == "-" and said["error"] != "-", where


@contextlib.contextmanager
def with_page_tables(bench, board):
    """Runs the workload page-tables so that all of its tables can be read. A driver makes system memory readable. The
    tables in video memory are behind BAR2, because the window is not moved with a driver."""
    if board in INTEGRATED:
        bench.restart(board, "page-tables")
        yield
        return
    workload = json.loads((paths.WORKLOADS / "page-tables.json").read_text(encoding="utf-8"))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file, driver(bench):
        json.dump({**workload, "bars": "mapped"}, file)
        file.flush()
        bench.restart(board, file.name)
        assert bind(bench, board).status == 0
        yield


def expect_every_mapping(bench, board):
    with with_page_tables(bench, board):
        _expect_every_mapping(bench, board)


def _expect_every_mapping(bench, board):
    layout = bench.model(board).request("layout")
    requests, wanted = [], []
    for space in layout["address_spaces"]:
        for mapping in space["mappings"]:
            inside = random.Random(mapping["va"]).randrange(mapping["page_size"])
            requests.append(f"{directory(space)} {number(mapping['va']) + inside:#x} "
                            f"{options(layout, space, board)}")
            wanted.append((mapping, inside))
    for said, (mapping, inside) in zip(ask_all(bench, board, requests), wanted, strict=True):
        assert said["result"] == f"{number(mapping['address']) + inside:#x} {mapping['aperture']}"
        assert int(said["page_size"]) == mapping["page_size"]


def expect_every_context(bench, board):
    """Asks about channels in place of page directories."""
    bench.restart(board, "fig6")
    model = bench.model(board)
    for channel in model.request("layout")["channels"]:
        pointer = channel["engine_context"]
        if pointer is None:
            continue
        where = channel["context"]["header"]
        said = answer(bench, board, f"{channel['runlist']}:{channel['channel']} "
                                    f"{pointer['address']}")
        assert said["result"] == f"{number(where['address']):#x} {where['aperture']}"
