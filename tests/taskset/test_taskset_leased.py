# SPDX-License-Identifier: MIT OR GPL-2.0
"""TPCs that nvqos leaves to a task for a while, by a lease in the task's page."""

import ctypes
import time

import pytest
from desk import document, page_of, sms_in, sms_of

MASK = 6456  # offset of the first GPU's MaskLease in the task's page (lib/partition/state.hpp)
EVERY = range(66)


def lease(desk, program, tpcs, until_s=3000, largest_gpc=16, sequence=2):
    """Leases the TPCs to the program."""
    bits = {row["tpc"]: row["bit"] for row in document(desk.done("--list", "--json"))["gpus"][0]["tpcs"]}
    with page_of(program) as page:
        words = (ctypes.c_uint32 * 12).from_buffer(page, MASK)
        words[2] = sequence
        words[3] = largest_gpc
        for word in range(8):
            words[4 + word] = 0
        for tpc, bit in bits.items():
            if tpc not in tpcs:
                words[4 + bit // 32] |= 1 << bit % 32
        until_us = time.monotonic_ns() // 1000 + int(until_s * 1_000_000) if until_s else 0
        words[0], words[1] = until_us & 0xffffffff, until_us >> 32
        del words


@pytest.fixture
def program(desk):
    program = desk.start("--prepare")
    assert program.launch() == sms_of(*EVERY)
    # A limit gives the GPU a slot in the page.
    desk.change(program.pid, "--in-flight 1")
    desk.change(program.pid, "--in-flight 0")
    return program


def test_launches_get_these_tpcs_until_the_lease_ends(desk, program):
    lease(desk, program, (0, 1, 40))
    assert program.launch() == sms_of(0, 1, 40)
    lease(desk, program, (7,))
    assert program.launch() == sms_of(7)
    lease(desk, program, (7,), 0)
    assert program.launch() == sms_of(*EVERY)
    lease(desk, program, (7,), 0.2)
    time.sleep(0.25)
    assert program.launch() == sms_of(*EVERY)


def test_the_program_sees_all_sms(desk, program):
    before = program.ask("attribute 16")
    lease(desk, program, (0, 1))
    assert program.ask("attribute 16") == before


def test_beside_a_partition_of_the_task(desk):
    program = desk.start("-t 0-9")
    assert program.launch() == sms_of(*range(10))
    lease(desk, program, range(5, 20))
    assert program.launch() == sms_of(*range(5, 10))
    # A lease without any TPC of the partition has no effect.
    lease(desk, program, range(20, 30), sequence=4)
    assert program.launch() == sms_of(*range(10))
    desk.change(program.pid, "-t 25-40")
    assert program.launch() == sms_of(*range(25, 30))
    lease(desk, program, (0,), 0)
    assert program.launch() == sms_of(*range(25, 41))


@pytest.mark.parametrize("line", ("cooperative 132", "graph-launch 0", "cluster 8"))
def test_launches_that_are_not_kept_to_them(desk, program, line):
    """Cooperative launches and clusters might never end on leased TPCs, and graphs would have to be built again."""
    assert program.ask("graph") == "ok"
    before = program.ask(line)
    lease(desk, program, (0, 1), largest_gpc=4)
    assert program.ask(line) == before and sms_in(before) != sms_of(0, 1)
    assert program.launch() == sms_of(0, 1)


def test_a_graph_that_is_launched_first_during_a_lease(desk, program):
    lease(desk, program, (0, 1))
    assert program.ask("graph") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*EVERY)


def test_clusters_that_fit(desk, program):
    lease(desk, program, range(16), largest_gpc=8)
    assert sms_in(program.ask("cluster 8")) == sms_of(*range(16))


@pytest.mark.parametrize("until_s, sequence", ((3000, 3), (4000, 2)))
def test_what_is_no_lease(desk, program, until_s, sequence):
    """A lease that is half written, or too long, has no effect."""
    lease(desk, program, (0,), until_s, sequence=sequence)
    assert program.launch() == sms_of(*EVERY)
