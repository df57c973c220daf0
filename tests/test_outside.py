# SPDX-License-Identifier: MIT OR GPL-2.0
"""Addresses where no memory is, or none that may be read, and lengths past the end of what there is."""

import re

import pytest
from boards import BOARDS, IDS_PER_RUNLIST, WIDE_ENTRIES, before, facts, since
from costs import MEMORY, counts, total
from layouts import entry_of, place
from page_tables import ask
from registers import TARGET, instance, lie, list_length, list_place
from sample import EVERYTHING
from text import boxes, channels, instances, pairs

pytestmark = pytest.mark.sample

KINDS = ("beyond video memory", "end of video addresses", "VGA", "firmware", "interrupt controller",
         "its own registers", "its own BAR1", "another GPU's registers", "beyond RAM")
# Words of an instance block (RAMIN): page directory, valid subcontexts, the first one's directory.
DIRECTORY, SUBCONTEXTS_VALID, SUBCONTEXT = 128, 166, 168
SUBCONTEXT_WORDS = 4
LONGEST = 0xffff
SHOWN = LONGEST if EVERYTHING else 4096  # entries, which take their time in a VM
# Where no published register says how much video memory there is, what is beyond is asked for; the bus
# answers with errors, and the model records it.
UNSIZED = before("pascal")
# Whose BARs are the resources 0, 2 and 4.
PAIRED_BARS = ("h200", "b200")


def resource(bench, board, number_of_bar):
    """Where a BAR is for the CPU."""
    path = f"/sys/bus/pci/devices/{bench.address(board)}/resource"
    return int(bench.check(f"sed -n {number_of_bar + 1}p {path}").split()[0], 16)


def nowhere(bench, board, kind):
    """(address, aperture) of that kind."""
    other = BOARDS[BOARDS.index(board) - 1]
    return {
        "beyond video memory": lambda: (facts(board, "memory")["video_mib"] << 20, "vid"),
        "end of video addresses": lambda: (0xfffffff000, "vid"),
        "VGA": lambda: (0xa0000, "coh"),
        "firmware": lambda: (0xf0000, "ncoh"),
        "interrupt controller": lambda: (0xfee00000, "coh"),
        "its own registers": lambda: (resource(bench, board, 0), "coh"),
        "its own BAR1": lambda: (resource(bench, board, 2 if board in PAIRED_BARS else 1), "ncoh"),
        "another GPU's registers": lambda: (resource(bench, other, 0), "coh"),
        "beyond RAM": lambda: (0xfffffff000, "coh"),
    }[kind]()


def expect_unreadable(bench, board, aperture):
    """The list is where no memory is."""
    error = "Input/output error" if board in UNSIZED and aperture == "vid" else "Bad address"
    for name in ("runlist0", "runlist0_brief", "contexts"):
        result = bench.run(f"cat {bench.proc(board, name)}")
        assert result.out == b"" and error in result.err.decode(), name


def reads_since_reset(bench, board):
    return sum(bar["reads"] for bar in bench.model(board).request("stats")["bars"].values())


@pytest.fixture(autouse=True)
def asked_beyond_memory(bench):
    yield
    for board in UNSIZED:
        model = bench.model(board)
        assert all(one["why"] == "memory" for one in model.request("violations")["violations"])
        model.request("violations", "reset")


def expect_request_error(bench, board, name, text, errors):
    result = bench.write(board, name, text)
    assert result.status != 0 and re.search(errors, result.err.decode()), name


# Runlists

@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("kind", KINDS)
def test_lists(bench, board, kind):
    was = bench.read(board, "runlist0_brief")
    model = bench.model(board)
    address, aperture = nowhere(bench, board, kind)
    lie(model, list_place(board, address, aperture))
    model.request("stats", "reset")
    expect_unreadable(bench, board, aperture)
    for name, text in (("switch_to_tsg", "0:0"), ("set_timeslice", "0:0 1000"),
                       ("preempt_tsg", "0:0")):
        expect_request_error(bench, board, name, text, "Bad address|Input/output error")
    assert reads_since_reset(bench, board) <= 300
    model.request("fault", "none")
    assert bench.read(board, "runlist0_brief").count("Channel Info") == was.count("Channel Info") > 0


@pytest.mark.parametrize("board", BOARDS)
def test_a_length_past_the_end_of_memory(bench, board):
    model = bench.model(board)
    end = facts(board, "memory")["video_mib"] << 20
    entries = 1024 if board in UNSIZED else LONGEST
    lie(model, list_place(board, end - 4096, "vid") | list_length(board, entries))
    model.request("stats", "reset")
    expect_unreadable(bench, board, "vid")
    words = 3 * 2 * entries if board in UNSIZED else 0
    assert reads_since_reset(bench, board) <= words + 200


@pytest.mark.parametrize("board", ["gtx1060-3gb", "h200"])
def test_a_list_of_whatever_is_behind_it(bench, board):
    """Each word is read once, each entry is shown."""
    bench.restart(board, "low")
    lie(bench.model(board), list_length(board, SHOWN))
    blocks = counts(bench, board, f"cat {bench.proc(board, 'runlist0_brief')} > /tmp/list")
    words = SHOWN * (4 if board in WIDE_ENTRIES else 2)
    assert total(blocks, "read_bytes", MEMORY) == 4 * words
    state = total(blocks, "reads", ("PCCSR", "CHRAM"))
    assert state <= SHOWN * (1 if board in IDS_PER_RUNLIST else 2)
    shown = bench.check("grep -c -E 'Channel Info|TSG Entry|Unknown Entry' /tmp/list; rm /tmp/list")
    assert int(shown) == SHOWN


# Instance blocks

def put_instance(bench, board, channel, address, aperture):
    """The hardware says that the channel's instance block is there."""
    model = bench.model(board)
    if board not in IDS_PER_RUNLIST:
        lie(model, instance(board, channel, address, aperture))
        return
    at, where, words = entry_of(model, channel)
    words[0] = words[0] & ~0x30 | TARGET[aperture] << 4
    words[2] = address & 0xfffff000 | channel
    words[3] = address >> 32
    model.request("poke", where, hex(at), *map(hex, words))


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("kind", KINDS)
def test_instance_blocks(bench, board, kind):
    bench.restart(board, "fig6")
    was = {one.channel: one for one in instances(bench.read(board, "runlist0"))}
    first = next(iter(was))
    address, aperture = nowhere(bench, board, kind)
    put_instance(bench, board, first, address, aperture)
    now = {one.channel: one for one in instances(bench.read(board, "runlist0"))}
    why, error = ("unreadable", "Input/output error") if board in UNSIZED and aperture == "vid" else \
        ("no such memory", "Bad address")
    assert now.pop(first).fields["Error"] == why
    was.pop(first)
    assert list(now) == list(was) and not any("Error" in one.fields for one in now.values())
    assert why.replace(" ", "-") in bench.read(board, "contexts")
    expect_request_error(bench, board, "translate", f"0:{first} 0x1000", error)
    if board in since("pascal"):
        expect_request_error(bench, board, "preemption_mode", f"0:{first} wfi", error)


# Page directories and subcontexts

def block_of(bench, board, channel):
    for entry in bench.model(board).request("layout")["channels"]:
        if (entry["runlist"], entry["channel"]) == (0, channel):
            return entry
    raise AssertionError(f"no channel {channel}")


def put_words(bench, board, block, word, values):
    address, aperture = place(block)
    bench.model(board).request("poke", aperture, hex(address + 4 * word), *map(hex, values))


def peek_word(bench, board, block, word):
    address, aperture = place(block)
    return int(bench.model(board).request("peek", aperture, hex(address + 4 * word), 1)["words"][0], 16)


def put_directories(bench, board, entry, address, aperture):
    """The block's own and those of its subcontexts."""
    words = [DIRECTORY] + [SUBCONTEXT + SUBCONTEXT_WORDS * one["veid"]
                           for one in entry["subcontexts"] or ()]
    for word in words:
        flags = peek_word(bench, board, entry["instance"], word) & 0xffc
        put_words(bench, board, entry["instance"], word,
                  [address & 0xfffff000 | flags | TARGET[aperture], address >> 32])


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("kind", KINDS)
def test_page_directories(bench, board, kind):
    bench.restart(board, "fig6")
    first = next(iter(channels(bench.read(board, "runlist0"))))
    address, aperture = nowhere(bench, board, kind)
    put_directories(bench, board, block_of(bench, board, first), address, aperture)
    said, error = ask(bench, board, f"0:{first} 0x1000")
    if board in UNSIZED and aperture == "vid":
        assert "Input/output error" in error
    else:
        assert re.search("is outside of memory|is or leads to no memory", dict(pairs(said))["error"])
    found = {one.channel: one for one in instances(bench.read(board, "runlist0"))}
    assert found[first].context is None or "Compute Preemption" not in found[first].context
    bench.read(board, "contexts")


@pytest.mark.parametrize("board", since("volta"))
def test_a_table_of_64_subcontexts_that_lead_nowhere(bench, board):
    bench.restart(board, "fig7")
    first = next(iter(channels(bench.read(board, "runlist0"))))
    block = block_of(bench, board, first)["instance"]
    put_words(bench, board, block, SUBCONTEXTS_VALID, [0xffffffff, 0xffffffff])
    for kind in KINDS:
        address, aperture = nowhere(bench, board, kind)
        for veid in range(64):
            put_words(bench, board, block, SUBCONTEXT + SUBCONTEXT_WORDS * veid,
                      [address & 0xfffff000 | 0xc00 | TARGET[aperture], address >> 32, 0, 0])
        found = next(one for one in instances(bench.read(board, "runlist0"))
                     if one.channel == first)
        assert sorted(found.subcontexts) == list(range(64))
        bench.read(board, "contexts")


@pytest.mark.parametrize("board", BOARDS)
def test_the_longest_group_ends_with_the_list(bench, board):
    """A header that says more channels than there are entries."""
    model = bench.model(board)
    at = next(one for one in model.request("layout")["runlists"] if one["id"] == 0)
    words = [int(word, 16) for word in
             model.request("peek", at["aperture"], at["address"], 4)["words"]]
    if board in WIDE_ENTRIES:
        words[1], longest = words[1] | 0xff, 0xff
    else:
        words[0], longest = words[0] | 0x3f << 26, 0x3f
    model.request("poke", at["aperture"], at["address"], *map(hex, words))
    shown = boxes(bench.read(board, "runlist0_brief"))
    assert shown[1].fields["Truncated"] == f"2 of {longest}"
    assert len(shown) == 1 + at["entries"]
