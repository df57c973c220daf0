# SPDX-License-Identifier: MIT OR GPL-2.0
"""The PRAMIN window is the driver's. It is moved only if that is allowed, it is moved back, and races with a driver
are noticed."""

import pytest
from boards import BOARDS, since
from registers import pram_window
from runlist import mode
from text import boxes

pytestmark = pytest.mark.sample

# These boards have the two registers that move the window. tests/module/core/moves_test.cpp moves lists on every
# board.
SHORT = ("gtx1060-3gb", "h200")


@pytest.mark.parametrize("board", BOARDS)
def test_the_window_is_moved_back(bench, board):
    blocks = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')}")
    assert blocks["PBUS_WINDOW"]["writes"] == 2
    again = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')}")
    assert again["PBUS_WINDOW"]["writes"] == 2, "had the first read left it, this were a hit"


def test_never_refuses_to_read_lists(bench, reloaded):
    reloaded("pram_window=never")
    for board in BOARDS:
        result = bench.run(f"cat {bench.proc(board, 'runlist0_brief')}")
        assert result.status != 0 and "not supported" in result.err.decode()
        assert bench.run(f"cat {bench.proc(board, 'device_info')}").status == 0


def test_never_still_reads_system_memory(bench, reloaded, start):
    reloaded("pram_window=never")
    for board in BOARDS:
        start(board, "sysmem")
        assert boxes(bench.read(board, "runlist0_brief"))[0].fields["Aperture"] == "coh"


def test_memory_in_bar2_needs_no_window(bench, reloaded):
    """Lists, instance blocks and contexts are found by a search of BAR2's page tables."""
    for board in BOARDS:
        bench.restart(board, "bars")
        blocks = bench.cost(board, f"cat {bench.proc(board, 'runlist0')} > /tmp/runlist")
        assert blocks["PBUS_WINDOW"]["writes"] == 0
        assert "below" in bench.check("cat /tmp/runlist")
    reloaded("pram_window=never")
    for board in BOARDS:
        assert "below" in bench.read(board, "runlist0")


def words_of(bench, board, workload):
    """Returns how many words of PRAMIN a copy of runlist 0 takes."""
    bench.restart(board, workload)
    return bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')}")["PRAMIN"]["reads"]


@pytest.mark.parametrize("board", SHORT)
def test_a_list_that_moves_once_is_read_again(bench, board):
    words = words_of(bench, board, "many-500")
    bench.model(board).request("fault", "move-runlist", 0, words // 2, 1)
    text = bench.read(board, "runlist0_brief")
    assert boxes(text)[0].fields["Snapshot"] == "consistent"
    assert text.count("Channel Info") == 500


@pytest.mark.parametrize("board", SHORT)
def test_a_list_that_moves_during_every_copy_is_marked_torn(bench, board):
    words = words_of(bench, board, "many-500")
    bench.model(board).request("fault", "move-runlist", 0, words - 50)
    assert boxes(bench.read(board, "runlist0_brief"))[0].fields["Snapshot"] == "torn"


@pytest.mark.parametrize("board", BOARDS)
def test_a_driver_that_moves_the_window_is_noticed(bench, board):
    """The result is the right list or an error, and never bytes of another place."""
    whole = bench.read(board, "runlist0_brief")
    shape = [(box.kind, box.number) for box in boxes(whole)]
    for every in (1, 3, 7, 20, 1000):
        bench.model(board).request("fault", "none")
        bench.model(board).request("fault", "move-window", every)
        result = bench.run(f"cat {bench.proc(board, 'runlist0_brief')}")
        if result.status == 0:
            assert [(box.kind, box.number) for box in boxes(result.text)] == shape
        else:
            assert "busy" in result.err.decode() or "unavailable" in result.err.decode()


@pytest.mark.parametrize("board", BOARDS)
def test_a_window_that_a_driver_has_moved_stays(bench, board):
    """The driver moves the window in the last burst. The burst is read again, and the window stays where the driver
    has put it."""
    read = f"cat {bench.proc(board, 'runlist0')} > /dev/null"
    reads = bench.cost(board, read)["PRAMIN"]["reads"]
    bench.restart(board)
    parked = bench.peek(board, pram_window(board))
    bench.model(board).request("fault", "move-window", reads - 1)
    bench.check(read)
    assert bench.model(board).request("fault", "none")["hits"] == 1
    assert bench.peek(board, pram_window(board)) != parked


@pytest.mark.parametrize("board", BOARDS)
def test_bits_that_no_manual_describes_stay(bench, board):
    """If the window were moved without these bits, the module would not recognise it as its own."""
    parked = bench.peek(board, pram_window(board))
    bench.model(board).request("fault", "set", hex(pram_window(board)), "0x80000000")
    assert "TSG Entry" in bench.read(board, "runlist0_brief")
    bench.model(board).request("fault", "none")
    assert bench.peek(board, pram_window(board)) & 0x7fffffff == parked, "left, and read where it then stood"


@pytest.mark.parametrize("board", ("gtx1060-3gb", "h200"))
def test_a_read_without_an_answer_is_repeated(bench, board):
    """Each read in turn gets no answer. The window is where it was, and stays there after the next read."""
    read = f"cat {bench.proc(board, 'runlist0_brief')}"
    accesses = sum(block["reads"] for block in bench.cost(board, read).values())
    bench.restart(board)
    parked = bench.peek(board, pram_window(board))
    for after in range(accesses):
        bench.model(board).request("fault", "wrong-after", after, "0xbadf1100")
        bench.run(read)
        bench.model(board).request("fault", "none")
        assert bench.peek(board, pram_window(board)) == parked, f"after {after} reads"


def accesses(bench, board):
    return bench.model(board).request("fault", "none")["accesses"]


@pytest.mark.parametrize("board", SHORT)
def test_a_burst_ends_when_the_gpu_does(bench, board):
    """The GPU answers with ones from the middle of a burst on. This is noticed at once and not some 200 words
    later."""
    words_of(bench, board, "many-500")
    model = bench.model(board)
    before = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')}")
    before = sum(block["reads"] + block["writes"] for name, block in before.items()
                 if name not in ("PRAMIN", "PCCSR", "CHRAM"))
    model.request("fault", "none")
    alive = before + 20
    model.request("fault", "all-ones-after", alive)
    result = bench.run(f"cat {bench.proc(board, 'runlist0_brief')}")
    assert result.status != 0 and "No such device" in result.err.decode()
    assert alive < accesses(bench, board) <= alive + 8


@pytest.mark.parametrize("board", ["titan-v", "h200"])
def test_ones_in_memory_do_not_end_a_read(bench, board):
    """The first words of the entries' pointers to USERD are ones. Each of them ends a burst, and the next burst goes
    on."""
    bench.restart(board, "many-500")
    model = bench.model(board)
    runlist = next(entry for entry in model.request("layout")["runlists"] if entry["id"] == 0)
    was = boxes(bench.read(board, "runlist0_brief"))
    at = int(runlist["address"], 16) + 16 * 100
    for entry in range(50):
        words = model.request("peek", runlist["aperture"], hex(at + 16 * entry), 1)["words"]
        if not int(words[0], 16) & 1:
            model.request("poke", runlist["aperture"], hex(at + 16 * entry + 4), "0xffffffff")
    now = boxes(bench.read(board, "runlist0_brief"))
    assert [(box.kind, box.number) for box in now] == [(box.kind, box.number) for box in was]


def test_a_burst_ends_when_its_time_is_over(bench, reloaded):
    """With no time at all, each word is a burst of its own."""
    reloaded("burst_us=0")
    for board in BOARDS:
        blocks = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')}")
        assert blocks["PBUS_WINDOW"]["writes"] == 2 * blocks["PRAMIN"]["reads"] > 2


@pytest.mark.parametrize("board", ("gtx1060-3gb", "h200"))
def test_a_control_need_not_wait_for_a_reader(bench, board, reloaded):
    """The lock is released after each burst, here after each word. The scheduler chooses the next holder."""
    words = words_of(bench, board, "many")
    reloaded("burst_us=0")
    request = f"echo 0:1 > {bench.proc(board, 'disable_channel')}"
    own = bench.cost(board, request)["PRAMIN"]["reads"]

    def overtakes():
        both = bench.cost(board, f"cat {bench.proc(board, 'runlist0_brief')} > /dev/null & reader=$!; "
                                 "until grep -qx cat /proc/$reader/comm; do :; done; usleep 10000; "
                                 f"{request}; kill -9 $reader; wait $reader || true")["PRAMIN"]["reads"]
        return own < both < own + words

    assert any(overtakes() for _ in range(20))


@pytest.mark.parametrize("board", since("pascal"))
def test_a_mode_that_may_have_gone_elsewhere_is_restored(bench, board):
    """The last read of PRAMIN is the read of the written word. The window moves right after it."""
    request = f"echo 0:2 wfi > {bench.proc(board, 'preemption_mode')}"
    reads = bench.cost(board, request)["PRAMIN"]["reads"]
    bench.restart(board)
    parked = bench.peek(board, pram_window(board))
    bench.model(board).request("fault", "move-window", reads)
    bench.refused(board, "preemption_mode", "0:2 wfi", "busy")
    assert bench.model(board).request("fault", "none")["hits"] == 1
    assert bench.peek(board, pram_window(board)) != parked, "it is put where the driver did not want it"
    assert mode(bench, board) == "CTA"
