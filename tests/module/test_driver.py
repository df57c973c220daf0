# SPDX-License-Identifier: MIT OR GPL-2.0
"""Drivers are bound and unbound while the module is loaded."""

import contextlib

import pytest
from costs import accesses
from driver import DRIVERS, bind, driver, folder, unbind
from files import expect_errors, names, shown_again
from leases import held, hold, kill, leases_of
from nvdvm import initramfs
from registers import device_table, stick, tsg_preempt_pending
from runlist import enabled, location
from stall import slow_reader, stalled
from tasks import even
from waiting import until

BOARD = "gtx1060-3gb"
MEMORY, MASTER = 2, 4


def command(bench, board):
    """Returns the PCI command register."""
    return int(bench.check(f"od -An -tx1 -j4 -N1 {folder(bench, board)}/config"), 16)


def set_command(bench, board, value):
    bench.check(f"printf '\\{value:03o}' | "
                f"dd of={folder(bench, board)}/config bs=1 seek=4 conv=notrunc")


def enable_count(bench, board):
    return int(bench.check(f"cat {folder(bench, board)}/enable"))


def bound(bench, board):
    """Returns the driver in `info`."""
    line = next(line for line in bench.read(board, "info").splitlines() if line.startswith("driver: "))
    return line.removeprefix("driver: ")


@pytest.fixture
def bench(bench):  # pylint: disable=redefined-outer-name
    """The bench of the other tests, without a driver to begin with."""
    assert bound(bench, BOARD) == "-"
    return bench


def test_info_names_the_driver(bench):
    with driver(bench):
        assert bind(bench, BOARD).status == 0
        assert bound(bench, BOARD) == "pcigpu"
        bench.check(unbind(bench, BOARD))
        assert bound(bench, BOARD) == "-"
    assert bound(bench, BOARD) == "-"


def test_info_names_a_driver_that_was_bound_before(bench):
    with driver(bench):
        bench.check("rmmod nvdebug")
        assert bind(bench, BOARD).status == 0
        assert bench.machine.load_module().status == 0
        assert bound(bench, BOARD) == "pcigpu"
    assert bound(bench, BOARD) == "-"


def test_a_driver_that_refuses_the_gpu_is_not_named(bench):
    with driver(bench, params="fail=1"):
        assert bind(bench, BOARD).status
        assert bound(bench, BOARD) == "-"
    assert "+" in bench.read(BOARD, "runlist0")


@contextlib.contextmanager
def busy(bench, board):
    """Holds a request that waits a second for an event that does not come."""
    stick(bench.model(board), tsg_preempt_pending(board))
    bench.check(f"(echo 0:1 > {bench.proc(board, 'preempt_tsg')}; touch /tmp/over) "
                "< /dev/null > /dev/null 2>&1 &")
    bench.check("usleep 200000")
    try:
        yield
    finally:
        bench.check("until [ -e /tmp/over ]; do usleep 10000; done; rm /tmp/over")
        bench.model(board).request("fault", "none")


@pytest.mark.parametrize("event", ("bind", "unbind"))
def test_a_driver_comes_and_goes_when_nobody_is_inside(bench, event):
    with driver(bench):
        if event == "unbind":
            assert bind(bench, BOARD).status == 0
        with busy(bench, BOARD):
            if event == "unbind":
                bench.check(unbind(bench, BOARD))
            else:
                assert bind(bench, BOARD).status == 0
            done = accesses(bench, BOARD)
        assert accesses(bench, BOARD) == done


@contextlib.contextmanager
def kept_waiting(bench, event, inside, function):
    """Binds a driver to BOARD or unbinds it. The driver has to wait for `inside`, which stands still in
    `function`."""
    at = f"{folder(bench, BOARD)}/driver/unbind" if event == "unbind" else f"{DRIVERS}/pcigpu/bind"
    with stalled(bench, inside, function) as command:
        bench.check("rm -f /tmp/changed; "
                    f"(echo {bench.address(BOARD)} > {at}; touch /tmp/changed) < /dev/null > /dev/null 2>&1 & "
                    "usleep 500000")
        assert bench.run("[ -e /tmp/changed ]").status, "it waits"
        yield command
        command.finish()
        bench.check("until [ -e /tmp/changed ]; do usleep 10000; done")


@contextlib.contextmanager
def about_to(bench, event):
    """Prepares a driver that will be bound to BOARD, or binds it so that it will be unbound."""
    with driver(bench):
        if event == "unbind":
            assert bind(bench, BOARD).status == 0
        else:
            bench.check(f"echo pcigpu > {folder(bench, BOARD)}/driver_override")
        yield
        assert bound(bench, BOARD) == ("-" if event == "unbind" else "pcigpu")


BUSY = "Device or resource busy"
# The files that take long to read, and the functions in which readers stand still.
INSIDE = {"runlist0": "nvdebug_instances_read", "runlist0_brief": "nvdebug_mem_read_all",
          "contexts": "nvdebug_instances_read", "engines": "nvdebug_gpu_check_stop"}


@pytest.mark.parametrize("event", ("bind", "unbind"))
@pytest.mark.parametrize("name, function", INSIDE.items())
def test_a_reader_gives_way(bench, event, name, function):
    """The reader fails instead of reading to the end, which may take long."""
    bench.restart(BOARD, "bars")
    with about_to(bench, event):
        with kept_waiting(bench, event, f"exec cat {bench.proc(BOARD, name)}", function) as command:
            pass
        assert command.status != 0 and BUSY in command.out


@pytest.mark.parametrize("event", ("bind", "unbind"))
def test_a_writer_gives_way(bench, event):
    """The writer fails and restores what it had changed."""
    bench.restart(BOARD, "bars")
    with about_to(bench, event):
        stick(bench.model(BOARD), tsg_preempt_pending(BOARD))
        with kept_waiting(bench, event, f"echo 0:1 > {bench.proc(BOARD, 'preempt_tsg')}", "nvdebug_await") as command:
            pass
        bench.model(BOARD).request("fault", "none")
        assert command.status != 0 and "busy" in command.out
    assert "0 on" in bench.read(BOARD, "scheduling")


@pytest.mark.parametrize("event", ("bind", "unbind"))
def test_later_readers_and_writers_do_not_wait(bench, event):
    bench.restart(BOARD, "bars")
    with about_to(bench, event), \
            kept_waiting(bench, event, f"exec cat {bench.proc(BOARD, 'contexts')}", "nvdebug_instances_read"):
        for command in (f"cat {bench.proc(BOARD, 'engines')}", f"echo 0:2 > {bench.proc(BOARD, 'disable_channel')}"):
            result = bench.run(f"timeout 10 {command}" if command.startswith("cat") else command)
            assert result.status == 1 and "busy" in result.err.decode()
        # The same holds for files that everybody may read, because a crowd of readers could keep the driver waiting
        # for ever.
        assert f": {CHANGING}" in bench.check(f"timeout 10 cat {bench.proc(BOARD, 'info')}")
        result = bench.run(f"timeout 10 cat {bench.proc(BOARD, 'device_info')}")
        assert result.status == 1 and "busy" in result.err.decode()


@pytest.mark.parametrize("event", ("bind", "unbind"))
def test_the_end_of_a_lease_does_not_wait(bench, event):
    """The end of a lease waits neither for a reader nor for the driver that waits for the reader."""
    bench.restart(BOARD, "bars")
    with about_to(bench, event):
        hold(bench, [(bench.proc(BOARD, "disable_channel"), "0:2")])
        with kept_waiting(bench, event, f"exec cat {bench.proc(BOARD, 'contexts')}", "nvdebug_instances_read"):
            bench.check("pid=$(cat /tmp/holder); kill -9 $pid; "
                        "timeout 10 sh -c \"while [ -e /proc/$pid ]; do usleep 10000; done\"")
    assert 2 in enabled(bench, BOARD)


@pytest.mark.parametrize("event", ("bind", "unbind"))
def test_drivers_of_other_gpus_do_not_wait(bench, event):
    other = next(board for board in bench.slots if board != BOARD)
    bench.restart(BOARD, "bars")
    with about_to(bench, event), \
            kept_waiting(bench, event, f"exec cat {bench.proc(BOARD, 'contexts')}", "nvdebug_instances_read"):
        bench.check(f"echo pcigpu > {folder(bench, other)}/driver_override; "
                    f"echo {bench.address(other)} > /tmp/address; "
                    f"timeout 10 cp /tmp/address {DRIVERS}/pcigpu/bind && "
                    f"timeout 10 cp /tmp/address {DRIVERS}/pcigpu/unbind")


# The functions of PCI's core that run during the change, and the text of `info` about it.
WINDOWS = {"bind": "pci_device_probe", "unbind": "pci_device_remove"}
CHANGING = "no (a driver is being bound or unbound)"


@pytest.mark.parametrize("event", WINDOWS)
def test_a_gpu_is_not_touched_while_its_driver_comes_or_goes(bench, event):
    files = (*names(bench, BOARD),)
    at = f"{folder(bench, BOARD)}/driver/unbind" if event == "unbind" else f"{DRIVERS}/pcigpu/bind"
    with about_to(bench, event):
        with stalled(bench, f"echo {bench.address(BOARD)} > {at}", WINDOWS[event]) as command:
            bench.model(BOARD).request("stats", "reset")
            expect_errors(bench, BOARD, BUSY)
            for name, text in leases_of(BOARD).items():
                bench.refused(BOARD, name, text, "busy")
            assert features(bench, BOARD) == {CHANGING}
            assert accesses(bench, BOARD) == 0
        assert command.status == 0
        bench.read(BOARD, "engines")
    assert (*names(bench, BOARD),) == files
    assert CHANGING not in features(bench, BOARD)


def test_nothing_is_restored_while_a_driver_sets_the_gpu_up(bench):
    with about_to(bench, "bind"):
        hold(bench, [(bench.proc(BOARD, "disable_channel"), "0:2")])
        with stalled(bench, f"echo {bench.address(BOARD)} > {DRIVERS}/pcigpu/bind", WINDOWS["bind"]):
            bench.model(BOARD).request("stats", "reset")
            kill(bench)
            assert accesses(bench, BOARD) == 0
    bench.run(f"echo 0:2 > {bench.proc(BOARD, 'enable_channel')}")


def test_a_gpu_that_is_found_while_its_driver_comes_waits(bench):
    """The GPU's folder is made when the driver is there."""
    bench.check("rmmod nvdebug")
    with driver(bench):
        bench.check(f"echo pcigpu > {folder(bench, BOARD)}/driver_override")
        with stalled(bench, f"echo {bench.address(BOARD)} > {DRIVERS}/pcigpu/bind", WINDOWS["bind"]):
            bench.model(BOARD).request("stats", "reset")
            bench.check(f"(insmod {initramfs.MODULE}; touch /tmp/loaded) < /dev/null > /dev/null 2>&1 & sleep 1")
            assert accesses(bench, BOARD) == 0
        bench.check("until [ -e /tmp/loaded ]; do usleep 10000; done; rm /tmp/loaded")
        wait_until(bench, f"[ -e {bench.proc(BOARD, 'info')} ]")
        assert "# engine" in bench.read(BOARD, "device_info") and bound(bench, BOARD) == "pcigpu"


def test_a_driver_finds_the_device_as_if_never_enabled(bench):
    """A driver finds the device as if it had never been enabled, and leaves it so."""
    bench.check("rmmod nvdebug")
    before = command(bench, BOARD)
    set_command(bench, BOARD, 0)
    try:
        assert bench.machine.load_module().status == 0
        assert command(bench, BOARD) & (MEMORY | MASTER) == MEMORY and enable_count(bench, BOARD) == 1
        with driver(bench):
            assert bind(bench, BOARD).status == 0
            assert command(bench, BOARD) & MASTER and enable_count(bench, BOARD) == 1
            bench.check(unbind(bench, BOARD))
            assert command(bench, BOARD) & (MEMORY | MASTER) == MEMORY
            assert enable_count(bench, BOARD) == 0
            assert "+" in bench.read(BOARD, "runlist0")
            set_command(bench, BOARD, 0)
            assert bind(bench, BOARD).status == 0
            set_command(bench, BOARD, 0)
            bench.check(unbind(bench, BOARD))
            assert "+" in bench.read(BOARD, "runlist0"), "nobody else turns decoding on"
            assert command(bench, BOARD) & (MEMORY | MASTER) == MEMORY
    finally:
        set_command(bench, BOARD, before)


def test_bus_mastering_ends_whoever_holds_the_device(bench):
    set_command(bench, BOARD, command(bench, BOARD) & ~MASTER)
    slot = int(bench.address(BOARD)[8:10], 16)
    bench.write_ok(BOARD, "switch_to_tsg", "0:1")
    assert command(bench, BOARD) & MASTER
    bench.check(f"insmod /lib/devicelock.ko slot={slot}")
    bench.write_ok(BOARD, "resubmit_runlist", "0")
    bench.check("rmmod devicelock")
    assert not command(bench, BOARD) & MASTER


def test_bus_mastering_ends_after_a_driver(bench):
    """The driver may need bus mastering if it found it on, so it stays on until the driver goes."""
    bench.restart(BOARD, "bars")  # BARs can be read with a driver, too
    set_command(bench, BOARD, command(bench, BOARD) & ~MASTER)
    bench.restart(BOARD, "bars")
    with driver(bench, params="master=0"):
        assert bind(bench, BOARD).status == 0
        bench.write_ok(BOARD, "switch_to_tsg", "0:1")
        bench.write_ok(BOARD, "resubmit_runlist", "0")
        assert command(bench, BOARD) & MASTER
        bench.check(unbind(bench, BOARD))
        assert not command(bench, BOARD) & MASTER
    # The driver has left the device enabled, so the test disables it.
    bench.check(f"echo 0 > {folder(bench, BOARD)}/enable")
    assert enable_count(bench, BOARD) == 0


# Drivers that hand a GPU on, with the flag that makes them do so. Drivers without a flag are known by name.
HANDED_ON = {"vfio-test": "user_space=1", "pciback": "", "pci-stub": "", "uio_pci_generic": "", "igb_uio": ""}
GIVEN_AWAY = "no (given to a program or virtual machine)"


def features(bench, board):
    return {line.split(": ")[1] for line in bench.read(board, "info").splitlines()
            if line.startswith("feature ")}


@pytest.mark.parametrize("name", HANDED_ON)
def test_a_gpu_that_programs_drive_is_not_touched(bench, name):
    files, said = (bench.check(f"ls {bench.proc(BOARD)}"), bench.read(BOARD, "info"))
    with driver(bench, name=name, params=HANDED_ON[name]):
        assert bind(bench, BOARD, name).status == 0
        bench.model(BOARD).request("stats", "reset")
        expect_errors(bench, BOARD, BUSY)
        assert bound(bench, BOARD) == name and features(bench, BOARD) == {GIVEN_AWAY}
        assert accesses(bench, BOARD) == 0
        bench.check("rmmod nvdebug")
        assert bench.machine.load_module().status == 0
        assert bench.check(f"ls {bench.proc(BOARD)}").split() == ["info"]
        assert bound(bench, BOARD) == name and features(bench, BOARD) == {GIVEN_AWAY}
        assert accesses(bench, BOARD) == 0
        bench.check(unbind(bench, BOARD))
    shown_again(bench, BOARD)
    assert bench.read(BOARD, "info") == said
    assert bench.check(f"ls {bench.proc(BOARD)}") == files
    assert "+" in bench.read(BOARD, "runlist0")


def test_a_sleeping_gpu_is_not_touched(bench):
    """A device without a driver stays in D0 when it is suspended, but the bridge above it may lose its power."""
    files, power = bench.check(f"ls {bench.proc(BOARD)}"), f"{folder(bench, BOARD)}/power"
    bench.check(f"echo auto > {power}/control")
    bench.check(f"until grep -q suspended {power}/runtime_status; do usleep 10000; done")
    try:
        bench.model(BOARD).request("stats", "reset")
        result = bench.run(f"cat {bench.proc(BOARD, 'engines')}")
        assert result.status and "No such device" in result.err.decode()
        bench.check("rmmod nvdebug")
        assert bench.machine.load_module().status == 0
        assert bench.check(f"ls {bench.proc(BOARD)}").split() == ["info"]
        assert features(bench, BOARD) == {"no (asleep until now)"}
        assert accesses(bench, BOARD) == 0
    finally:
        bench.check(f"echo on > {power}/control")
    shown_again(bench, BOARD)
    assert "chip: GP106" in bench.read(BOARD, "info")
    assert bench.check(f"ls {bench.proc(BOARD)}") == files


@pytest.mark.parametrize("event", ("bind", "unbind"))
def test_lists_of_the_modules_own_go_first(bench, event):
    """The memory of an override list belongs to the device with its present driver, so the list goes before the
    driver changes."""
    bench.restart(BOARD, "bars")  # BARs can be read with a driver, too
    where = location(bench, BOARD)
    with driver(bench):
        if event == "unbind":
            assert bind(bench, BOARD).status == 0
        bench.write_ok(BOARD, "switch_to_tsg", "0:1")
        assert location(bench, BOARD) != where
        if event == "unbind":
            bench.check(unbind(bench, BOARD))
        else:
            assert bind(bench, BOARD).status == 0
        assert location(bench, BOARD) == where
        assert even(bench, BOARD)


@pytest.mark.parametrize("event", ("unload", "bind"))
def test_lists_of_the_modules_own_go_from_a_gpu_that_sleeps(bench, event):
    """A GPU without a driver is in D0 while it is suspended, and Host goes on reading its list."""
    bench.restart(BOARD, "bars")
    where, power = location(bench, BOARD), f"{folder(bench, BOARD)}/power"
    bench.write_ok(BOARD, "switch_to_tsg", "0:1")
    assert location(bench, BOARD) != where
    with driver(bench):
        bench.check(f"echo auto > {power}/control; "
                    f"until grep -q suspended {power}/runtime_status; do usleep 10000; done")
        try:
            if event == "bind":
                assert bind(bench, BOARD).status == 0
            else:
                bench.check("rmmod nvdebug")
        finally:
            bench.check(f"echo on > {power}/control")
        if event == "unload":
            assert bench.machine.load_module().status == 0
        assert location(bench, BOARD) == where
        assert "are left to runlist" not in bench.module_log()
        assert even(bench, BOARD)


def test_a_gpu_without_an_override_list_stays_asleep(bench):
    power = f"{folder(bench, BOARD)}/power"
    bench.check(f"echo auto > {power}/control; "
                f"until grep -q suspended {power}/runtime_status; do usleep 10000; done")
    try:
        bench.model(BOARD).request("stats", "reset")
        bench.check("rmmod nvdebug")
        assert "suspended" in bench.check(f"cat {power}/runtime_status")
        assert accesses(bench, BOARD) == 0
    finally:
        bench.check(f"echo on > {power}/control")


@pytest.mark.parametrize("board", (BOARD, "h200"))
@pytest.mark.parametrize("event", ("bind", "unbind"))
def test_leases_end_with_the_driver(bench, event, board):
    """The changes of a lease were made for the present driver. The next driver's channels have the same numbers."""
    bench.restart(board, "bars")
    with driver(bench):
        if event == "unbind":
            assert bind(bench, board).status == 0
        hold(bench, [(bench.proc(board, "disable_channel"), "0:2"), (bench.proc(board, "scheduling"), "0 off")])
        assert 2 not in enabled(bench, board) and "0 off" in bench.read(board, "scheduling")
        if event == "unbind":
            bench.check(unbind(bench, board))
        else:
            assert bind(bench, board).status == 0
        assert 2 in enabled(bench, board) and "0 on" in bench.read(board, "scheduling")
        bench.write_ok(board, "disable_channel", "0:2")
        bench.write_ok(board, "scheduling", "0 off")
        kill(bench)
        assert 2 not in enabled(bench, board) and "0 off" in bench.read(board, "scheduling")


# Blocks of registers that may not answer before a driver has set the GPU up.
UNANSWERED = (("h200", "PTOP"), ("h200", "RUNLIST"), ("h200", "CE"), ("h200", "FUSE"), ("a100", "PFB"),
              ("gtx1060-3gb", "PFIFO"))


def told(bench, board):
    """Returns the text that everybody may read, whatever driver is bound, and the names of the files."""
    shown = names(bench, board)
    lines = bench.read(board, "info").splitlines()
    assert f"pci_address: {bench.address(board)}" in lines
    lines = [line for line in lines if not line.startswith(("driver: ", "feature pram_window: "))]
    for name in ("device_info", "gpc_mask"):
        lines += bench.run(f"cat {bench.proc(board, name)}").out.decode().splitlines()
    return lines, shown


def renewals(bench, board):
    """Returns how often the folder has been made again."""
    return int(bench.check(f"dmesg | grep -c '{bench.address(board)}.*is created again' || true"))


def wait_until(bench, commands):
    bench.check(f"timeout 60 sh -c 'until {commands}; do usleep 10000; done'")


def wait_for_renewal(bench, board, before):
    wait_until(bench, f'[ $(dmesg | grep -c "{bench.address(board)}.*is created again") != {before} ] && '
                      f"[ -e {bench.proc(board, 'info')} ]")


@contextlib.contextmanager
def loaded_too_early(bench, board, *fault):
    """Loads the module while a block does not answer. Afterwards the block answers."""
    bench.check("rmmod nvdebug")
    bench.model(board).request("fault", *fault)
    try:
        assert bench.machine.load_module().status == 0
        bench.model(board).request("fault", "none")
        yield
    finally:
        bench.check("rmmod nvdebug")
        assert bench.machine.load_module().status == 0


@pytest.mark.parametrize("board, block", UNANSWERED)
def test_blocks_that_answer_after_a_probe_are_read_again(bench, board, block):
    right = told(bench, board)
    with driver(bench), loaded_too_early(bench, board, "pri-error", block, "0xbadf1201"):
        assert told(bench, board) != right
        before = renewals(bench, board)
        assert bind(bench, board).status == 0
        wait_for_renewal(bench, board, before)
        assert told(bench, board) == right and bound(bench, board) == "pcigpu"
        bench.read(board, "engines")


def test_blocks_that_answer_long_after_a_probe_are_read_again(bench):
    """Drivers set a GPU up when it is used, so opening `info` reads the blocks again."""
    right = told(bench, BOARD)
    with driver(bench):
        assert bind(bench, BOARD).status == 0
        with loaded_too_early(bench, BOARD, "pri-error", "PTOP", "0xbadf1201"):
            assert told(bench, BOARD) != right
            wait_until(bench, f"cat {bench.proc(BOARD, 'info')} > /dev/null; "
                              f"[ -e {bench.proc(BOARD, 'runlist0')} ]")
            assert told(bench, BOARD) == right


def test_without_a_driver_no_block_is_read_again(bench):
    with loaded_too_early(bench, BOARD, "pri-error", "PTOP", "0xbadf1201"):
        bench.model(BOARD).request("stats", "reset")
        bench.check(f"usleep 1500000; cat {bench.proc(BOARD, 'info')}; usleep 500000")
        assert accesses(bench, BOARD) == 0


def test_a_folder_stays_if_no_more_blocks_answer(bench):
    """Programs that have its files open notice nothing."""
    with driver(bench), loaded_too_early(bench, BOARD, "pri-error", "FUSE", "0xbadf1201"):
        bench.model(BOARD).request("fault", "pri-error", "FUSE", "0xbadf1201")
        before = renewals(bench, BOARD)
        bench.model(BOARD).request("stats", "reset")
        assert bind(bench, BOARD).status == 0
        until(lambda: accesses(bench, BOARD) > len(device_table(BOARD)))  # the block is read again
        assert renewals(bench, BOARD) == before
        bench.model(BOARD).request("fault", "none")


def test_a_folder_is_renewed_after_its_users_have_left(bench):
    """Leases end as when a file is closed, and no other GPU gets the number."""
    other = bench.slots[0]
    right = told(bench, BOARD)
    with driver(bench), loaded_too_early(bench, BOARD, "pri-error", "FUSE", "0xbadf1201"):
        bench.check(f"echo 1 > /sys/bus/pci/devices/{bench.address(other)}/remove")
        try:
            before = renewals(bench, BOARD)
            with held(bench, BOARD, disable_channel="0:2"):
                assert 2 not in enabled(bench, BOARD)
                assert bind(bench, BOARD).status == 0
                wait_for_renewal(bench, BOARD, before)
                bench.check(unbind(bench, BOARD))
                assert 2 in enabled(bench, BOARD)
            assert told(bench, BOARD) == right
        finally:
            bench.rescan(other)


def test_a_reader_that_stands_still_delays_the_new_folder_alone(bench):
    """It is inside of read(), where its own memory may let it wait for any time."""
    right = told(bench, BOARD)
    with driver(bench), loaded_too_early(bench, BOARD, "pri-error", "FUSE", "0xbadf1201"):
        before = renewals(bench, BOARD)
        with slow_reader(bench, bench.proc(BOARD, "info")):
            assert bind(bench, BOARD).status == 0
            until(lambda: renewals(bench, BOARD) > before)
            bench.check(f"rm -f /tmp/unbound; ({unbind(bench, BOARD)}; touch /tmp/unbound) < /dev/null > /dev/null 2>&1 &")
            wait_until(bench, "[ -e /tmp/unbound ]")
            assert bench.run(f"[ -e {bench.proc(BOARD, 'info')} ]").status != 0
        wait_until(bench, f"[ -e {bench.proc(BOARD, 'info')} ]")
        assert told(bench, BOARD) == right


def test_a_gpu_that_was_left_alone_has_a_folder_after_a_probe(bench):
    with driver(bench), loaded_too_early(bench, BOARD, "pri-error"):
        assert bench.address(BOARD) not in bench.check("grep -h pci_address /proc/gpu*/info")
        assert bind(bench, BOARD).status == 0
        wait_until(bench, f"grep -q {bench.address(BOARD)} /proc/gpu*/info")
