# SPDX-License-Identifier: MIT OR GPL-2.0
"""Launches in a partition that need special care: cooperative launches, clusters, and graphs."""

import re

import pytest
from desk import ALL, TOO_LARGE, answers_while_it_changes, numbers, sms_in, sms_of


# --- launches that could hang ---

@pytest.mark.parametrize("tpcs, fit", (("0", 4), ("0-3", 16), ("0,20,40", 12)))
def test_cooperative_launches(desk, tpcs, fit):
    """Two blocks of 1,024 threads fit on an SM."""
    sms = sms_of(*numbers(tpcs))
    fine, too_large, small, huge = desk.run(
        f"-t {tpcs}", f"cooperative {fit}", f"cooperative {fit + 1}", f"cooperative {fit * 4} 256",
        "cooperative 1000").answers
    assert sms_in(fine) == sms and sms_in(small) == sms
    assert too_large == TOO_LARGE and huge == TOO_LARGE


def test_cooperative_launches_follow(desk):
    program = desk.start("-t 0-3")
    assert program.ask("cooperative 17") == TOO_LARGE
    desk.change(program.pid, "-t 0-4")
    assert sms_in(program.ask("cooperative 17")) == sms_of(*range(5))
    desk.change(program.pid, "-t 0")
    assert program.ask("cooperative 17") == TOO_LARGE
    assert "2 refused" in desk.told(program.pid)
    assert program.ask("cooperative 265") == TOO_LARGE, "which CUDA itself says"


def test_clusters_that_fit(desk):
    """nvtaskset assumes one block on each SM, because the descriptor does not have the number that fits."""
    assert [sms_in(answer) for answer in desk.run("-t 0,1", "cluster 4", "cluster 2").answers] == 2 * [sms_of(0, 1)]
    assert sms_in(desk.run("-t 9-12", "cluster 8").answers[0]) == sms_of(*range(9, 13))


def test_clusters_that_do_not_fit(desk):
    """Clusters that may not fit run outside of the partition, which a message reports."""
    program = desk.start("-t 0,9,18")
    assert sms_in(program.ask("cluster 2")) == sms_of(0, 9, 18)
    assert sms_in(program.ask("cluster 8")) == list(ALL)
    assert program.launch() == sms_of(0, 9, 18)
    assert "1 NOT (clusters larger" in desk.told(program.pid)
    assert "launches with clusters larger than the partition's GPCs are not kept" in program.err.read_text()


@pytest.mark.parametrize("call", ("cuLaunchCooperativeKernel_ptsz", "cuLaunchKernelEx", "cuLaunchKernelEx_ptsz"))
def test_cooperative_launches_by_other_calls(desk, call):
    fine, too_large = desk.run("-t 0-3", f"cooperative 16 1024 {call}", f"cooperative 17 1024 {call}").answers
    assert sms_in(fine) == sms_of(*range(4)) and too_large == TOO_LARGE


def test_cooperative_launches_in_clusters(desk):
    """A GPC with 6 SMs takes 12 blocks, which are two clusters of five. Only the largest GPC counts."""
    fine, too_large, more = desk.run("-t 0-2,9-11,18-20", "cluster 5 10 cooperative", "cluster 5 35 cooperative",
                                     "cluster 5 40").answers
    assert set(sms_in(fine)) <= set(sms_of(0, 1, 2, 9, 10, 11, 18, 19, 20)) and too_large == TOO_LARGE
    assert sms_in(more) == sms_of(0, 1, 2, 9, 10, 11, 18, 19, 20)


@pytest.mark.parametrize("line, count, pause_us", (
    ("repeat 100 cooperative 17", "17", 2_000), ("repeat 5000 graph-launch 0", "42", 20_000)))
def test_what_fits_is_decided_once_for_a_launch(desk, line, count, pause_us):
    """A launch fits or fails as a whole, even if the partition changes between the check and the descriptor."""
    program = desk.start("-t 0-20", STAND_IN_PAUSE_US=str(pause_us))
    assert program.ask("graph 48 cooperative") == "ok"
    wanted = {count, "error"}
    assert answers_while_it_changes(desk, program, line, ("-t 30", "-t 0-20"), wanted) == wanted


def test_clusters_of_tpcs_that_are_alone(desk):
    """TPCs 62 to 65 are one GPC to the driver, but no cluster fits on two of them."""
    assert sms_in(desk.run("-t 62-65", "cluster 8").answers[0]) == list(ALL)
    assert sms_in(desk.run("-t 58-61", "cluster 8").answers[0]) == sms_of(*range(58, 62))


# --- graphs ---

def test_graphs_follow(desk):
    program = desk.start("-t 0-3")
    assert program.ask("graph") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    for tpcs in ("8-10", "65", "8-10", "0-65"):
        desk.change(program.pid, f"-t {tpcs}")
        for _ in range(2):
            assert sms_in(program.ask("graph-launch 0")) == sms_of(*numbers(tpcs))
    desk.change(program.pid, "--whole")
    assert sms_in(program.ask("graph-launch 0")) == list(ALL)


def test_graphs_made_before_their_first_launch(desk):
    program = desk.start("-t 0-3")
    assert program.ask("graph") == "ok"
    desk.change(program.pid, "-t 9")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(9)


def test_graphs_that_are_updated(desk):
    """Graphs keep the parameters that the program gave them in updates."""
    program = desk.start("-t 0-3")
    assert [program.ask(line) for line in ("graph", "graph", "graph-update 0 5")] == 3 * ["ok"]
    desk.change(program.pid, "-t 9-20")
    assert len(sms_in(program.ask("graph-launch 0"))) == 5
    assert sms_in(program.ask("graph-launch 1")) == sms_of(*range(9, 21))
    desk.change(program.pid, "-t 1,2")
    assert program.ask("graph-update 0 1024") == "ok"
    assert [sms_in(program.ask(f"graph-launch {n}")) for n in (0, 1)] == 2 * [sms_of(1, 2)]
    assert program.ask("graph-destroy 0") == "ok"
    desk.change(program.pid, "-t 5")
    assert sms_in(program.ask("graph-launch 1")) == sms_of(5)
    assert "1 CUDA graph\n" in desk.told(program.pid)
    assert not [line for line in desk.launches() if not re.search(" blocks=(5|1024) ", line)]


def test_cooperative_graphs(desk):
    """48 blocks of 256 threads take six SMs."""
    program = desk.start("-t 0-3")
    assert program.ask("graph 48 cooperative") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    desk.change(program.pid, "-t 0,1")
    assert program.ask("graph-launch 0") == TOO_LARGE
    desk.change(program.pid, "-t 0-2")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(3))


def test_graphs_in_graphs(desk):
    program = desk.start("-t 0-3")
    assert [program.ask(line) for line in ("graph 1024 child", "graph 48 cooperative child")] == ["ok", "ok"]
    assert [sms_in(program.ask(f"graph-launch {n}")) for n in (0, 1)] == 2 * [sms_of(*range(4))]
    desk.change(program.pid, "-t 9,10")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(9, 10)
    assert program.ask("graph-launch 1") == TOO_LARGE
    desk.change(program.pid, "-t 1-9")
    assert [sms_in(program.ask(f"graph-launch {n}")) for n in (0, 1)] == 2 * [sms_of(*range(1, 10))]


@pytest.mark.parametrize("before", (("graph-launch 0",), ()))
def test_cooperative_graphs_that_grow(desk, before):
    """200 blocks of 256 threads take 25 SMs."""
    program = desk.start("-t 0-3")
    assert program.ask("graph 48 cooperative") == "ok"
    for line in before:
        assert sms_in(program.ask(line)) == sms_of(*range(4))
    assert program.ask("graph-update 0 200") == "ok"
    assert program.ask("graph-launch 0") == TOO_LARGE
    desk.change(program.pid, "-t 0-20")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(21))
    assert program.ask("graph-update 0 48") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(21))


@pytest.mark.parametrize("before", (("graph-launch 0",), ()))
def test_cooperative_graphs_that_the_program_changed(desk, before):
    """CUDA does not return the nodes of an executable graph, so a changed cooperative graph runs on the whole GPU."""
    program = desk.start("-t 0-3")
    assert program.ask("graph 48 cooperative") == "ok"
    for line in before:
        assert sms_in(program.ask(line)) == sms_of(*range(4))
    for blocks in (200, 300):
        assert program.ask(f"graph-set 0 {blocks}") == "ok"
        assert sms_in(program.ask("graph-launch 0")) == list(ALL)
    assert "1 of them with an older partition" in desk.told(program.pid)


def test_graphs_that_the_program_changed(desk):
    """Changes of the partition have no effect on a graph that the program has changed, which a message reports."""
    program = desk.start("-t 0-3")
    assert program.ask("graph") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    assert program.ask("graph-set 0 900") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    assert "older" not in desk.told(program.pid)
    desk.change(program.pid, "-t 9")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    assert "1 of them with an older partition" in desk.told(program.pid)
    assert program.ask("graph-update 0 1024") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(9)
