# SPDX-License-Identifier: MIT OR GPL-2.0
"""Page tables: the module's walk against what the driver mapped, and against the model's MMU."""

import random

import pytest
from boards import BOARDS, GENERATION
from layouts import number, place
from text import pairs

pytestmark = pytest.mark.sample

VA_BITS = {1: 40, 2: 49, 3: 57}  # by version of the tables
SAMPLES = 60  # addresses per board that nobody chose


def ask(bench, board, request):
    """What `translate` answers, or None with the shell's word for the errno."""
    result = bench.run(f"exec 3<>{bench.proc(board, 'translate')} && echo '{request}' >&3 && cat <&3")
    return result.text if result.status == 0 else None, result.err.decode()


def answer(bench, board, request):
    text, error = ask(bench, board, request)
    assert text is not None, error
    return dict(pairs(text))


def ask_all(bench, board, requests):
    """Many requests with one command; their answers in order."""
    lines = "\n".join(requests)
    script = (f"printf '%s\\n' '{lines}' | while read -r line; do "
              f"exec 3<>{bench.proc(board, 'translate')}; echo \"$line\" >&3 && cat <&3; "
              f"exec 3>&-; echo; done")
    texts = bench.check(script, timeout_s=300).split("\n\n")
    return [dict(pairs(text)) for text in texts if text]


def tables(layout, space):
    """Version and size of big pages, as the channels that use the space say."""
    for channel in layout["channels"]:
        if place(channel["page_directory"]) == place(space["page_directory"]):
            return channel["page_tables"], channel["big_page_kib"]
    raise AssertionError(f"no channel uses {space['name']}")


def directory(space):
    at = space["page_directory"]
    return f"{at['address']}:{at['aperture']}"


def options(layout, space, board):
    """What `translate` cannot know from a page directory alone."""
    version, big_page = tables(layout, space)
    words = [f"v{version}"] if GENERATION[board].startswith("pascal") else []
    return " ".join(words + ([f"{big_page}k"] if version == 1 or big_page == 128 else []))


def expect(said, reply, where):
    if reply["mapped"]:
        assert said["result"] == f"{number(reply['address']):#x} {reply['aperture']}", where
        assert int(said["page_size"]) == reply["page_size"], where
        assert said["error"] == "-"
    else:
        assert said["result"] == "-" and said["error"] != "-", where


@pytest.mark.parametrize("board", BOARDS)
def test_every_mapping_is_found(bench, board):
    bench.restart(board, "page-tables")
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


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("request_text, error", [
    ("", "Invalid"), ("0x1000", "Invalid"), ("0x1000 x", "Invalid"), ("0x1001 0x0", "Invalid"),
    ("0x1000:disk 0x0", "Invalid"), ("0x1000 0x0 v9", "Invalid"), ("0x1000 0x0 v2 v2 v2", "Invalid"),
    ("0:99999 0x0", "Invalid"), ("77:0 0x0", "Invalid"),
    ("0x1000 0x400000000000000", "range"), ("0x10000000000000000 0x0", "range"),
])
def test_bad_requests(bench, board, request_text, error):
    text, said = ask(bench, board, request_text)
    assert text is None and error in said


def test_an_answer_needs_a_request(bench):
    result = bench.run(f"cat {bench.proc('a100', 'translate')}")
    assert result.status != 0 and "No data" in result.err.decode()
