# SPDX-License-Identifier: MIT OR GPL-2.0
"""A kernel that checks itself notices mistakes of a module, and the run then fails.

Collected if NVDEBUG_KERNEL is debug (make check-debug). tests/module/test_modules/mistakes.c makes the mistakes.
"""

import re
import subprocess

import pytest
from nvdvm import kernel, paths
from nvdvm.errors import KernelTrouble
from nvdvm.machine import Gpu, Machine

# These boards are the part of make check-debug that `make check` runs: short entries on a shared port, and a block of
# registers for each runlist.
BOARDS = ("gtx980", "h200")
SHORT = ("proc_lease kill", "proc_failwrite --every 40 lease",
         "proc_lifetime unload_while_leased remove_while_leased")

MODULE = "/lib/mistakes.ko"

# After one of these mistakes, the kernel still notices the next one.
NOTICED = {
    "use-after-free": "BUG: KASAN: use-after-free in .*mistakes",
    "out-of-bounds": "BUG: KASAN: slab-out-of-bounds in .*mistakes",
    "sleep-in-atomic": "BUG: sleeping function called from invalid context at .*mistakes.c",
    "shift": "UBSAN: shift-out-of-bounds in .*mistakes.c",
    "array-index": "UBSAN: array-index-out-of-bounds in .*mistakes.c",
    "free-timer": "ODEBUG: free active .* timer_list",
    "warn": "WARNING: .* at .*mistakes.c",
}

# The kernel ends lock debugging with the first mistake of any kind.
OF_LOCKS = {
    "lock-order": "possible circular locking dependency",
    "lock-twice": "possible recursive locking",
    "lock-kept": "lock held when returning to user space",
    "unlock-free": "bad unlock balance",
}


@pytest.fixture(scope="module")
def mistakes(built):
    return paths.BUILD / "test-modules" / kernel.find().release / "mistakes.ko"


@pytest.fixture(scope="module")
def machine(mistakes):
    with Machine([], append="kasan_multi_shot", extra_files={MODULE: mistakes}) as running:
        yield running


def vm_run(mistakes, command):
    return subprocess.run(
        [paths.ROOT / "vm" / "run", "--no-build", "--module", "none",
         "--file", f"{mistakes}:{MODULE}", "--", command],
        capture_output=True, text=True, timeout=600, check=False)


def expect_trouble(machine, name, words):
    with pytest.raises(KernelTrouble) as error:
        machine.check(f"insmod {MODULE} commit={name}")
    assert re.search(words, str(error.value)), error.value


@pytest.mark.parametrize("name", NOTICED)
def test_a_mistake_ends_the_run(machine, name):
    expect_trouble(machine, name, NOTICED[name])
    machine.check("rmmod mistakes")


@pytest.mark.parametrize("name", OF_LOCKS)
def test_a_mistake_with_locks_ends_the_run(mistakes, name):
    with Machine([], extra_files={MODULE: mistakes}) as machine:
        expect_trouble(machine, name, OF_LOCKS[name])
        with pytest.raises(KernelTrouble, match="has turned lock debugging off"):
            machine.check_taint()


def test_lost_memory_fails_vm_run(mistakes):
    done = vm_run(mistakes, f"insmod {MODULE} commit=leak")
    assert done.returncode == KernelTrouble.exit_status
    assert re.search(r"has lost 1 objects:(?s:.*)\] leak\+\w+ \[unloaded\]", done.stderr), done.stderr


def test_a_warning_that_the_console_does_not_show_fails_vm_run(mistakes):
    done = vm_run(mistakes, f"dmesg -n 1; insmod {MODULE} commit=warn")
    assert done.returncode == KernelTrouble.exit_status
    assert "is tainted: 0x3200" in done.stderr


def test_the_module_makes_no_mistake_in_short_runs(module, kselftests, mistakes):
    with Machine([Gpu(board) for board in BOARDS], module=module, append="kasan_multi_shot",
                 extra_files={**kselftests, MODULE: mistakes}) as machine:
        machine.check("cat /proc/gpu*/runlist* /proc/gpu*/contexts /proc/gpu*/engines > /dev/null")
        for command in SHORT:
            result = machine.run(f"/root/{command}")
            text = result.text + result.err.decode()
            assert result.status == 0 and "# SKIP" not in text, text
        machine.check_taint()
        # A mistake is still noticed, so the runs above made none.
        expect_trouble(machine, "use-after-free", NOTICED["use-after-free"])


def test_without_a_mistake_vm_run_succeeds(mistakes):
    done = vm_run(mistakes, f"insmod {MODULE} commit=none || echo refused")
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr
