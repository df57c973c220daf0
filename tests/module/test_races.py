# SPDX-License-Identifier: MIT OR GPL-2.0
"""A driver changes a list between two steps of a control, which test_modules/stall.c stops there."""

import pytest
from layouts import number
from leases import held
from registers import list_pending, stick
from runlist import location, slice_of
from stall import stalled
from tasks import even
from text import tsgs
from tracepoints import events, trace

# tests/module/core has the same races on all boards, without a kernel: moving_lists_test.cpp, preemption_mode_test.cpp and
# lease_*_test.cpp.
BOARDS = ("h200",)
WORKLOADS = ("three-tasks", "sysmem")  # in video memory and in system memory
OTHER = 0x5a5a5a5a


def header(bench, board):
    """Returns the place of TSG 1's header in runlist 0."""
    layout = bench.model(board).request("layout")
    one = next(one for one in layout["runlists"] if one["id"] == 0)
    listed = tsgs(bench.read(board, "runlist0_brief"))
    before = sum(1 + len(channels) for _, channels in listed[:[tsg for tsg, _ in listed].index(1)])
    size = 8 if board == "gtx1060-3gb" else 16
    return one["aperture"], number(one["address"]) + before * size


def peek(bench, board, at):
    return number(bench.model(board).request("peek", at[0], hex(at[1]), "1")["words"][0])


def poke(bench, board, at, word):
    bench.model(board).request("poke", at[0], hex(at[1]), hex(word))


def setting(bench, board, function, calls=1, after=False):
    """Sets the timeslice of TSG 1, and stops in `function`."""
    return stalled(bench, f"echo 0:1 9000 > {bench.proc(board, 'set_timeslice')}", function, calls,
                   after)


def expect_busy(command):
    assert command.status != 0 and "busy" in command.out


# These boards submit. On the Titan V all runlists share the registers for that; on the H200 each has its own.

SUBMITTING = ("h200", "titan-v", "gtx1060-3gb")
# Each control that submits, with the number of the submit. The end of a lease follows in the same shell.
SUBMITS = {"resubmit_runlist": ("echo 0 > {}/resubmit_runlist", 1),
           "set_timeslice": ("echo 0:1 9000 > {}/set_timeslice", 1),
           "switch_to_tsg": ("echo 0:1 > {}/switch_to_tsg", 1),
           "end of a set_timeslice": ("exec 3> {}/set_timeslice; echo lease 0:1 9000 >&3; exec 3>&-", 2),
           "end of a switch_to_tsg": ("exec 3> {}/switch_to_tsg; echo lease 0:1 >&3; exec 3>&-", 2)}


@pytest.mark.parametrize("name", SUBMITS)
@pytest.mark.parametrize("board", SUBMITTING)
def test_a_list_that_the_driver_submits_meanwhile_stays(bench, board, name):
    """The driver submits its list after the control's last look at the previous list, right before the control's
    submit."""
    text, calls = SUBMITS[name]
    bench.restart(board)
    where = location(bench, board)
    with stalled(bench, text.format(bench.proc(board)), "nvdebug_submit", calls) as command:
        bench.model(board).request("submit", 0)
        bench.model(board).request("advance", 100)
        drivers = bench.model(board).request("layout")["runlists"][0]["address"]
    if calls == 1:
        expect_busy(command)
    else:
        assert command.status == 0
    assert number(location(bench, board)[0]) == number(drivers) != number(where[0])
    assert even(bench, board)


# set_timeslice

@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("board", BOARDS)
def test_a_word_that_is_no_header_any_more_is_not_written(bench, start, board, workload):
    start(board, workload)
    at = header(bench, board)
    with setting(bench, board, "nvdebug_mem_write") as command:
        poke(bench, board, at, OTHER)
    expect_busy(command)
    assert peek(bench, board, at) == OTHER


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("board", BOARDS)
def test_a_header_that_is_overwritten_before_the_submit_stays(bench, start, board, workload):
    start(board, workload)
    at = header(bench, board)
    with setting(bench, board, "nvdebug_submit") as command:
        poke(bench, board, at, OTHER)
    expect_busy(command)
    assert peek(bench, board, at) == OTHER


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("board", BOARDS)
def test_a_list_that_went_is_not_written(bench, start, board, workload):
    """The list's former memory may hold anything by then, even if it looks the same."""
    start(board, workload)
    with trace(bench) as lines:
        with setting(bench, board, "nvdebug_runlist_copy", after=True) as command:
            bench.model(board).request("submit", 0)
            bench.model(board).request("advance", 100)
    expect_busy(command)
    assert not lines
    assert even(bench, board)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("board", BOARDS)
def test_nothing_is_restored_in_a_list_that_went(bench, start, board, workload):
    start(board, workload)
    with trace(bench) as lines:
        with setting(bench, board, "nvdebug_submit_settle") as command:
            bench.model(board).request("submit", 0)
            bench.model(board).request("advance", 100)
    expect_busy(command)
    assert events(lines) == ["timeslice"]
    assert slice_of(bench, board, 1) == ["1998.848"]
    assert even(bench, board)


# switch_to_tsg

@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("board", BOARDS)
def test_a_list_that_went_is_not_replaced(bench, start, board, workload):
    """The override list would have the entries of the previous list."""
    start(board, workload)
    with trace(bench) as lines:
        with stalled(bench, f"echo 0:1 > {bench.proc(board, 'switch_to_tsg')}",
                     "nvdebug_runlist_copy_original", after=True) as command:
            bench.model(board).request("submit", 0)
            bench.model(board).request("advance", 100)
    expect_busy(command)
    assert not lines
    assert even(bench, board)


# preemption_mode

# The images are behind the window and behind a BAR.
IMAGES = ("three-tasks", "bars")
OPTIONS, CONTEXT_ID, MAGIC = 33, 60, 63  # words of a context's image


def image_word(bench, board, channel, word):
    one = next(one for one in bench.model(board).request("layout")["channels"]
               if (one["runlist"], one["channel"]) == (0, channel))
    image = one["context"]["image"]
    return image["aperture"], number(image["address"]) + 4 * word


@pytest.mark.parametrize("workload", IMAGES)
@pytest.mark.parametrize("board", BOARDS)
def test_a_word_that_is_no_mode_any_more_is_not_written(bench, board, workload):
    bench.restart(board, workload)
    at = image_word(bench, board, 2, OPTIONS)
    with stalled(bench, f"echo 0:2 wfi > {bench.proc(board, 'preemption_mode')}",
                 "nvdebug_mem_write") as command:
        poke(bench, board, at, OTHER)
    expect_busy(command)
    assert peek(bench, board, at) == OTHER


@pytest.mark.parametrize("words", [range(64), [MAGIC], [CONTEXT_ID]], ids=["page", "magic", "id"])
@pytest.mark.parametrize("workload", IMAGES)
@pytest.mark.parametrize("board", BOARDS)
def test_memory_that_was_freed_gets_no_mode(bench, board, workload, words):
    """In a page of zeros the word looks like the mode that was there."""
    bench.restart(board, workload)
    bench.write_ok(board, "preemption_mode", "0:2 wfi")
    with stalled(bench, f"echo 0:2 cta > {bench.proc(board, 'preemption_mode')}", "nvdebug_mem_write") as command:
        for word in words:
            poke(bench, board, image_word(bench, board, 2, word), 0)
    expect_busy(command)
    assert peek(bench, board, image_word(bench, board, 2, OPTIONS)) & 3 == 0


@pytest.mark.parametrize("workload", IMAGES)
@pytest.mark.parametrize("board", BOARDS)
def test_memory_that_was_freed_gets_no_mode_back(bench, board, workload):
    """The end of a lease does not write there either."""
    bench.restart(board, workload)
    bench.write_ok(board, "preemption_mode", "0:2 cta")
    text = "exec 3> {}; echo lease 0:2 wfi >&3; exec 3>&-".format(bench.proc(board, "preemption_mode"))
    with stalled(bench, text, "nvdebug_mem_write", 2):
        for word in range(64):
            poke(bench, board, image_word(bench, board, 2, word), 0)
    assert peek(bench, board, image_word(bench, board, 2, OPTIONS)) == 0


@pytest.mark.parametrize("word", [OPTIONS, CONTEXT_ID, MAGIC])
@pytest.mark.parametrize("board", BOARDS)
def test_another_context_keeps_its_mode(bench, board, word):
    at = image_word(bench, board, 2, word)
    mode = image_word(bench, board, 2, OPTIONS)
    with trace(bench) as lines:
        with held(bench, board, preemption_mode="0:2 wfi"):
            poke(bench, board, at, OTHER)
            before = peek(bench, board, mode)
    assert events(lines) == ["preemption_mode"]
    assert peek(bench, board, mode) == before


# Waiting

@pytest.mark.parametrize("board", ["gtx1060-3gb", "rtx2080ti"])
def test_a_waiting_writer_gives_up_when_the_module_goes(bench, board):
    """The writer fails before its deadline."""
    with stalled(bench, f"echo 0 > {bench.proc(board, 'resubmit_runlist')}",
                 "nvdebug_submit_settle") as command:
        stick(bench.model(board), list_pending(board))
        bench.check("(rmmod nvdebug; touch /tmp/unloaded) > /dev/null 2>&1 & sleep 1")
        assert bench.run("[ -e /tmp/unloaded ]").status, "it waits for the writer"
    bench.check("until [ -e /tmp/unloaded ]; do usleep 10000; done; rm /tmp/unloaded")
    bench.model(board).request("fault", "none")
    assert bench.machine.load_module().status == 0
    assert command.status and "No such device" in command.out
    assert even(bench, board)


def reads(model):
    """Returns the reads of BAR0 since the statistics were reset."""
    return sum(block["reads"] for block in model.request("stats")["bars"]["0"]["blocks"].values())


@pytest.mark.parametrize("board", BOARDS)
def test_a_killed_writer_looks_once_more_at_most(bench, board):
    """A killed writer does not go on looking until the deadline. A look takes four registers here, and one more
    register shows whether the GPU is there."""
    model = bench.model(board)
    with stalled(bench, f"echo 0 > {bench.proc(board, 'resubmit_runlist')}",
                 "nvdebug_submit_settle") as command:
        bench.check("kill -9 $(cat /sys/module/stall/parameters/pid)")
        stick(model, list_pending(board))
        model.request("stats", "reset")
        command.finish()
        assert 0 < reads(model) <= 5
    assert command.status == 128 + 9
    model.request("fault", "none")
    assert even(bench, board)
