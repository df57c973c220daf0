# SPDX-License-Identifier: MIT OR GPL-2.0
"""Only vfio-user has BARs of the product's sizes, and two processors at once.

Collected if NVDEBUG_QEMU names the QEMU (make check-vfio-user).
"""

import re

import pytest
from boards import facts
from nvdvm import paths, qemu
from nvdvm.machine import Gpu, Machine

BOARDS = ("rtx2080ti", "a100", "h200", "b200")
# BAR0, BAR1 and BAR2 as PCI resources. All of these boards but the first one have a BAR1 of more than 4 GiB. The
# registers of Hopper and Blackwell are in a 64-bit BAR as well.
RESOURCES = {"rtx2080ti": (0, 1, 3), "a100": (0, 1, 3), "h200": (0, 2, 4), "b200": (0, 2, 4)}
# These are two of Linux's IORESOURCE_… flags.
PREFETCH, WIDE = 1 << 13, 1 << 20


@pytest.fixture(scope="module")
def vm(module, kselftests):
    with Machine([Gpu(board) for board in BOARDS], module=module, extra_files=kselftests,
                 transport="vfio-user", logs=paths.BUILD / "logs" / "vfio-user") as machine:
        yield machine
        for model in machine.models:
            model.fail_on_violations()


def resources(vm, index):
    """Returns [(start, size, flags)] of a GPU's PCI resources."""
    folder = f"/sys/bus/pci/devices/0000:00:{qemu.FIRST_GPU_SLOT + index:02x}.0"
    rows = [[int(word, 16) for word in line.split()]
            for line in vm.check(f"head -n 6 {folder}/resource").splitlines()]
    return [(start, end - start + 1 if end else 0, flags) for start, end, flags in rows]


@pytest.mark.parametrize("board", BOARDS)
def test_bars_are_the_products(vm, board):
    found, memory = resources(vm, BOARDS.index(board)), facts(board, "memory")
    sizes = {RESOURCES[board][bar]: memory[f"bar{bar}_mib"] << 20 for bar in range(3)}
    assert [size for _, size, _ in found] == [sizes.get(slot, 0) for slot in range(6)]
    for slot in sizes:
        wide = slot + 1 not in sizes
        assert found[slot][2] & (PREFETCH | WIDE) == (PREFETCH | WIDE if wide else 0)
    assert memory["bar1_mib"] < 4096 or found[RESOURCES[board][1]][0] >= 1 << 32


@pytest.mark.parametrize("board", BOARDS)
def test_the_module_finds_the_bars(vm, board):
    info = dict(re.findall(r"^(\w+): (.*)$", vm.check(
        f"cat /proc/gpu{BOARDS.index(board)}/info"), re.MULTILINE))
    memory = facts(board, "memory")
    assert [int(info[f"bar{bar}_size"]) for bar in range(3)] == \
        [memory[f"bar{bar}_mib"] << 20 for bar in range(3)]
    assert info["chip"] == facts(board, "chip")["name"]


@pytest.mark.parametrize("board", BOARDS)
def test_memory_is_read_through_wide_bars(vm, board):
    """BAR2 maps everything, and there is no window to move."""
    model, index = vm.models[BOARDS.index(board)], BOARDS.index(board)
    model.request("restart", "bars")
    plain = vm.check(f"cat /proc/gpu{index}/runlist0")
    vm.check("rmmod nvdebug")
    try:
        assert vm.load_module("pram_window=never").status == 0
        model.request("stats", "reset")
        assert vm.check(f"grep -c 'Channel Info' /proc/gpu{index}/runlist0") == "6\n"
        assert model.request("stats")["bars"]["2"]["reads"] > 0
    finally:
        vm.check("rmmod nvdebug")
        assert vm.load_module().status == 0
        model.request("restart", "three-tasks")
    assert plain.count("Channel Info") == 6


@pytest.mark.parametrize("pair", [(2, 2), (1, 3)])
def test_two_processors_read_at_once(vm, pair):
    """The processors read the same GPU, and then two GPUs. Each virtual CPU runs a loop, and is a thread of its
    own."""
    assert vm.emulator.transport.parallel
    result = vm.run(f"""
        for cpu in 1 2; do
            [ $cpu = 1 ] && gpu={pair[0]} || gpu={pair[1]}
            taskset $cpu sh -c "for i in 1 2 3 4 5 6 7 8; do
                cat /proc/gpu$gpu/runlist0 > /tmp/out$cpu || exit 1
                [ \\$(grep -c 'Channel Info' /tmp/out$cpu) = 6 ] || exit 2
                grep -q 'Snapshot: *consistent' /tmp/out$cpu || exit 3
            done" &
            eval pid$cpu=$!
        done
        wait $pid1 && wait $pid2""", timeout_s=300)
    assert result.status == 0, (result.status, result.err.decode())


def test_many_readers_and_writers_at_once(module, kselftests):
    with Machine([Gpu("a100")], module=module, extra_files=kselftests,
                 transport="vfio-user") as machine:
        result = machine.run("/root/proc_concurrent", timeout_s=300)
        assert result.status == 0 and "not ok" not in result.text, result.text
