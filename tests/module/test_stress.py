# SPDX-License-Identifier: MIT OR GPL-2.0
"""Short runs of the programs that `make stress` and `make fuzz-guest` run for any time."""

import driver
import pytest
from nvdvm import paths
from nvdvm.machine import Gpu, Machine

# A race may take a long time under load to show.
pytestmark = pytest.mark.ci

# These boards have short entries and a shared port, wide entries, and a block of registers for each runlist.
BOARDS = ("gtx980", "titan-v", "h200")


@pytest.fixture(scope="module")
def machine(module, kselftests, worker_id):
    with Machine([Gpu(board) for board in BOARDS], module=module, extra_files={**kselftests, **driver.files()},
                 logs=paths.BUILD / "logs" / "stress" / worker_id) as running:
        running.check("insmod /lib/pcigpu.ko")  # for proc_versions, which binds it
        yield running


@pytest.fixture
def program(machine):
    """program(COMMAND) runs a program, which succeeds. Neither the kernel nor strict mode reports anything."""
    for model in machine.models:
        model.request("restart", "three-tasks")
        model.request("violations", "reset")

    def run(command, strict=True):
        result = machine.run(f"/root/{command}", timeout_s=500)
        text = result.text + result.err.decode()
        assert result.status == 0 and "# SKIP" not in text, text
        machine.check_taint()
        if strict:
            for model in machine.models:
                model.fail_on_violations()

    return run


def test_a_list_that_is_replaced_is_read_whole_or_marked_torn(program):
    program("proc_versions --rounds 1")


def test_long_walks_end_early(program):
    program("proc_walks --channels 500")


def test_nothing_is_left_of_leases_under_load(program):
    program("proc_stress --seed 1 --rounds 10 leases")


def test_everything_at_once_does_no_harm(program):
    program("proc_stress --seed 2 --rounds 10 everything")


def test_system_calls_at_random_do_no_harm(program):
    """Corrupted memory has addresses that the modelled hardware lacks."""
    program("proc_fuzz --seed 1 --calls 2000", strict=False)
