# SPDX-License-Identifier: MIT OR GPL-2.0
"""The kernel's locks. The module does not wait while it holds one, and does not keep others from one for long."""

import contextlib

import pytest
from costs import accesses
from driver import DRIVERS, bind, driver, folder
from leases import hold, kill
from nvdvm import initramfs
from runlist import enabled, location
from stall import PARAMETERS, slow_reader, stalled

BOARD, OTHER = "h200", "titan-v"
PATIENCE_S = 60


def slot(bench, board):
    return int(bench.address(board)[8:10], 16)


def begin(bench, name, commands):
    """Starts commands that may hang in the background; ends() waits for them."""
    bench.check(f"rm -f /tmp/begun-{name}; (({commands}); touch /tmp/begun-{name}) < /dev/null > /dev/null 2>&1 &")


def ends(bench, name, patience_s=PATIENCE_S):
    return bench.run(f"timeout {patience_s} sh -c 'until [ -e /tmp/begun-{name} ]; do usleep 10000; done'").status == 0


@contextlib.contextmanager
def device_lock(bench, board):
    """Holds the lock of the device, as a driver's remove() does that waits for the last program on the GPU."""
    bench.check(f"insmod /lib/devicelock.ko slot={slot(bench, board)}")
    try:
        yield
    finally:
        bench.check("rmmod devicelock")


@contextlib.contextmanager
def another_gpu_comes(bench):
    """Removes OTHER and brings it back during the with-block. Afterwards it has its folder."""
    bench.check(f"echo 1 > {folder(bench, OTHER)}/remove")
    begin(bench, "rescanned", "echo 1 > /sys/bus/pci/rescan")
    try:
        yield
    finally:
        bench.rescan(OTHER)


def test_hotplug_does_not_wait_for_the_lock_of_a_gpu(bench):
    with device_lock(bench, BOARD), another_gpu_comes(bench):
        assert ends(bench, "rescanned")
        bench.check(f"timeout {PATIENCE_S} sh -c 'until [ -e {bench.proc(OTHER, 'info')} ]; do usleep 10000; done'")
        begin(bench, "again", "echo 1 > /sys/bus/pci/rescan")
        assert ends(bench, "again")
        assert "# engine" in bench.read(OTHER, "device_info")


def test_a_gpu_lock_may_be_taken_before_the_hotplug_lock(bench):
    """In some kernels sriov_numvfs takes the locks in this order, while another GPU comes."""
    has = "/sys/module/locksboth/parameters"
    bench.check(f"insmod /lib/locksboth.ko slot={slot(bench, BOARD)}; until grep -q Y {has}/locked; do usleep 10000; done")
    with another_gpu_comes(bench):
        assert ends(bench, "rescanned")
        bench.check(f"sleep 1; echo 1 > {has}/go")
        bench.check(f"timeout {PATIENCE_S} sh -c 'until grep -q Y {has}/done; do usleep 10000; done'")
    bench.check("rmmod locksboth")


def test_loading_and_unloading_do_not_wait_for_the_lock_of_a_gpu(bench):
    """The GPU keeps its number, and gets its folder once the lock is free."""
    names = bench.check("cd /proc; echo gpu*").split()
    bench.check("rmmod nvdebug")
    with device_lock(bench, BOARD):
        for _ in range(2):
            begin(bench, "loaded", f"insmod {initramfs.MODULE}")
            assert ends(bench, "loaded")
            there = bench.check("cd /proc; echo gpu*").split()
            assert there == [name for name in names if name != f"gpu{bench.index(BOARD)}"]
            begin(bench, "unloaded", "rmmod nvdebug")
            assert ends(bench, "unloaded")
        begin(bench, "loaded", f"insmod {initramfs.MODULE}")
        assert ends(bench, "loaded")
    bench.check(f"timeout {PATIENCE_S} sh -c 'until [ -e {bench.proc(BOARD, 'info')} ]; do usleep 10000; done'")
    assert bench.check("cd /proc; echo gpu*").split() == names
    assert f"pci_address: {bench.address(BOARD)}" in bench.read(BOARD, "info").splitlines()


# Files that everybody may open.
PUBLIC = ("device_info", "info", "gpc_mask")


@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.parametrize("event", ("bind", "unbind"))
def test_readers_do_not_keep_a_driver_waiting(bench, event, name):
    """Each user stays inside until another user is inside, as may happen on a machine with many processors."""
    with driver(bench):
        if event == "unbind":
            assert bind(bench, BOARD).status == 0
        bench.check("rm -f /tmp/stop; insmod /lib/relay.ko function=nvdebug_device_is_assigned; "
                    f"echo pcigpu > {folder(bench, BOARD)}/driver_override")
        try:
            for _ in range(3):
                bench.check(f"su user -c 'while ! [ -e /tmp/stop ]; do : < {bench.proc(BOARD, name)}; done' "
                            "< /dev/null > /dev/null 2>&1 &")
            bench.check("until [ $(cat /sys/module/relay/parameters/calls) -gt 3 ]; do usleep 10000; done")
            at = f"{folder(bench, BOARD)}/driver/unbind" if event == "unbind" else f"{DRIVERS}/pcigpu/bind"
            begin(bench, "changed", f"echo {bench.address(BOARD)} > {at}")
            assert ends(bench, "changed")
        finally:
            bench.check("touch /tmp/stop; while pidof su > /dev/null; do usleep 10000; done; rmmod relay")
        assert ends(bench, "changed")


def test_closing_a_file_does_not_wait_for_leases_of_others(bench):
    """Before a driver comes, leases are undone one after the other, and each undo may take a second or more."""
    file = bench.proc(BOARD, "enable_channel")
    bench.restart(BOARD, "sysmem")  # sysmem can be read with a driver, too
    with driver(bench):
        bench.check(f"echo pcigpu > {folder(bench, BOARD)}/driver_override")
        hold(bench, [(bench.proc(BOARD, "disable_channel"), "0:2")])
        bench.check(f"rm -f /tmp/second; sh -c 'exec 3> {file}; echo $$ > /tmp/second; exec sleep 1000' "
                    "< /dev/null > /dev/null 2>&1 & until [ -s /tmp/second ]; do usleep 10000; done")
        with stalled(bench, f"echo {bench.address(BOARD)} > {DRIVERS}/pcigpu/bind", "nvdebug_gpu_begin_undo"):
            bench.check("pid=$(cat /tmp/second); kill -9 $pid; "
                        "timeout 10 sh -c \"while [ -e /proc/$pid ]; do usleep 10000; done\"")
            bench.check(f"timeout 10 sh -c ': > {file}'")
        assert 2 in enabled(bench, BOARD)
        kill(bench)


def test_a_reader_that_stands_still_does_not_keep_the_gpu(bench):
    """Inside of read() a task may wait for its own memory for any time: a FUSE server or userfaultfd(2) gives that."""
    with slow_reader(bench, bench.proc(OTHER, "info")):
        begin(bench, "removed", f"echo 1 > {folder(bench, OTHER)}/remove")
        assert ends(bench, "removed")
        begin(bench, "rescanned", "echo 1 > /sys/bus/pci/rescan")
        assert ends(bench, "rescanned")
    bench.check(f"timeout {PATIENCE_S} sh -c 'until ! [ -e /proc/gpu{bench.index(OTHER)} ]; do usleep 10000; done'; "
                f"echo 1 > {folder(bench, OTHER)}/remove")
    bench.rescan(OTHER)


def test_a_reader_does_not_keep_a_gpu_whose_folder_fails(bench):
    """There is no memory for the third file, while a task stands still inside of the first one."""
    board = bench.folders[0]
    bench.check("rmmod nvdebug; insmod /lib/failreturn.ko function=proc_create_data error=0 calls=3")
    try:
        with stalled(bench, f"exec insmod {initramfs.MODULE}", "proc_set_user") as load:
            with slow_reader(bench, bench.proc(board, "device_info")):
                bench.check(f"echo 1 > {PARAMETERS}/release")
                begin(bench, "removed", f"echo 1 > {folder(bench, board)}/remove")
                assert ends(bench, "removed")
    finally:
        bench.check("rmmod failreturn")
    assert load.status and "Cannot allocate memory" in load.out
    bench.check("echo 1 > /sys/bus/pci/rescan")
    assert bench.machine.load_module().status == 0
    assert "# engine" in bench.read(board, "device_info")


# BAR0 has 32 bits on the first pair and 64 on the second one.
PAIRS = (("gtx980", "titan-v"), ("h200", "b200"))
GONE = "No such device"


@contextlib.contextmanager
def exchanged(bench, *boards):
    slots = ",".join(str(slot(bench, board)) for board in boards)
    bench.check(f"insmod /lib/movebar.ko slot={slots}")
    try:
        yield
    finally:
        bench.check("rmmod movebar")
        for board in boards:
            bench.read(board, "info")


@pytest.mark.parametrize("boards", PAIRS, ids=lambda boards: boards[0])
def test_nobody_is_accessed_where_bar0_was(bench, boards):
    before = {board: bench.read(board, "device_info") for board in boards}
    with exchanged(bench, *boards):
        for board in boards:
            bench.model(board).request("stats", "reset")
        for board in boards:
            bench.refused(board, "disable_channel", "0:2", GONE)
            result = bench.run(f"cat {bench.proc(board, 'runlist0')}")
            assert result.status and GONE in result.err.decode()
        assert [accesses(bench, board) for board in boards] == [0, 0]
        # Root's opening of info makes the module look for BAR0 where it is now.
        for board in boards:
            bench.read(board, "info")
            last = bench.module_log(1)
            assert bench.address(board) in last and "BAR0 has moved" in last
        for board in boards:
            bench.write_ok(board, "disable_channel", "0:2")
            assert 2 not in enabled(bench, board)
            bench.write_ok(board, "enable_channel", "0:2")
            assert bench.read(board, "device_info") == before[board]
    for board in boards:
        assert 2 in enabled(bench, board)


def test_a_driver_has_bar0_found_again(bench):
    boards = PAIRS[1]
    with exchanged(bench, *boards), driver(bench):
        bench.refused(boards[0], "scheduling", "0 off", GONE)
        assert bind(bench, boards[0]).status == 0
        bench.write_ok(boards[0], "scheduling", "0 off")
        assert "0 off" in bench.read(boards[0], "scheduling")
        bench.write_ok(boards[0], "scheduling", "0 on")


@pytest.mark.parametrize("event", ("bind", "unload"))
def test_changes_are_undone_where_bar0_is_now(bench, event):
    """A lease and an override list are undone before a driver is bound and when the module goes."""
    boards = PAIRS[1]
    bench.restart(boards[0], "bars")
    where = location(bench, boards[0])
    bench.write_ok(boards[0], "switch_to_tsg", "0:1")
    hold(bench, [(bench.proc(boards[0], "scheduling"), "0 off")])
    with exchanged(bench, *boards), driver(bench):
        if event == "bind":
            assert bind(bench, boards[0]).status == 0
        else:
            bench.check("rmmod nvdebug")
            assert bench.machine.load_module().status == 0
        assert location(bench, boards[0]) == where and "0 on" in bench.read(boards[0], "scheduling")
    kill(bench)


def test_a_lease_is_not_undone_on_another_gpu(bench):
    boards = PAIRS[1]
    hold(bench, [(bench.proc(boards[0], "disable_channel"), "0:2")])
    with exchanged(bench, *boards):
        bench.model(boards[1]).request("stats", "reset")
        kill(bench)
        assert accesses(bench, boards[1]) == 0
        assert "nothing is put back" in bench.module_log(1)
    bench.write_ok(boards[0], "enable_channel", "0:2")
