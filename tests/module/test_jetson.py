# SPDX-License-Identifier: MIT OR GPL-2.0
"""GPUs of SoCs: platform devices without video memory, with power that comes and goes."""

import pytest
import stall
from boards import CHIP, INTEGRATED
from conftest import Bench, fresh
from costs import accesses
from files import everything, is_state, names, not_empty, shown_again
from layouts import number
from leases import held
from nvdvm import kernel, paths
from nvdvm.machine import Gpu, Machine
from page_tables import answer, expect_every_context, expect_every_mapping, options
from programs import programs, run_program
from sample import EVERYTHING
from tasks import SLICE_US, even, gained, only
from text import channels, engines_by_runlist, tsgs
from waiting import until

# A GPU on PCI is among them, and gets its number before them.
SLOTS = ("jetson-orin", "gtx1060-3gb", "jetson-tx2", "jetson-xavier")
FOLDERS = ("gtx1060-3gb", "jetson-orin", "jetson-tx2", "jetson-xavier")
COMPATIBLE = {"jetson-tx2": "nvidia,gp10b", "jetson-xavier": "nvidia,gv11b",
              "jetson-orin": "nvidia,ga10b"}
# The aperture that linux-nvgpu writes for a structure in the SoC's memory.
APERTURE = {"jetson-tx2": "vid", "jetson-xavier": "coh", "jetson-orin": "coh"}
# The bit that is no part of an address (linux-nvgpu hal/mm/gmmu).
MARK = {"jetson-tx2": 1 << 36, "jetson-xavier": 1 << 36, "jetson-orin": 1 << 37}
# "Demystifying NVIDIA GPU Internals to Enable Reliable GPU Management" (RTAS 2024), Table III.
TABLE_III = {0: {"GR0", "LCE0", "LCE1"}, 1: {"LCE2"}, 2: {"LCE3", "GR1"}}


@pytest.fixture(scope="module")
def jetsons(module, kselftests, worker_id):
    fail = paths.BUILD / "test-modules" / kernel.find().release / "failreturn.ko"
    files = {**kselftests, **stall.files(), "/lib/failreturn.ko": fail}
    with Machine([Gpu(board) for board in SLOTS], module=module, extra_files=files,
                 logs=paths.BUILD / "logs" / "jetson" / worker_id) as machine:
        yield machine


@pytest.fixture
def bench(jetsons):  # pylint: disable=redefined-outer-name
    this = Bench(jetsons, SLOTS, FOLDERS)
    for board in INTEGRATED:
        wake(this, board)
    yield from fresh(this)


def info(bench, board):
    lines = bench.read(board, "info").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def device(bench, board):
    """Returns the folder of the platform device, which is in a PCI device's folder."""
    return bench.check(f"ls -d /sys/bus/pci/devices/{bench.address(board)}/*.gpu").strip()


def sleep(bench, board):
    """Suspends the GPU as the driver's runtime power management does. The model has no power, so it gets the request
    `sleep`."""
    power = f"{device(bench, board)}/power"
    bench.check(f"echo auto > {power}/control")
    bench.check(f"until grep -q suspended {power}/runtime_status; do usleep 10000; done")
    bench.model(board).request("sleep")


def wake(bench, board):
    bench.model(board).request("wake")
    bench.check(f"echo on > {device(bench, board)}/power/control")


def test_gpus_of_socs_come_last_in_the_order_of_addresses(bench):
    assert [info(bench, board)["chip"] for board in FOLDERS] == [CHIP[board] for board in FOLDERS]
    assert info(bench, FOLDERS[0])["platform_device"] == "-"
    devices = [info(bench, board)["platform_device"] for board in FOLDERS[1:]]
    addresses = [int(name.removesuffix(".gpu"), 16) for name in devices]
    assert addresses == sorted(addresses)


@pytest.mark.parametrize("board", INTEGRATED)
def test_info_identifies_the_device(bench, board):
    said = info(bench, board)
    assert said["compatible"] == COMPATIBLE[board]
    assert said["driver"] == "platformgpu"
    assert {value for key, value in said.items() if key.startswith("pci_")} == {"-"}


@pytest.mark.parametrize("board", INTEGRATED)
def test_there_is_no_video_memory(bench, board):
    assert info(bench, board)["video_memory"] == "-"
    assert info(bench, board)["feature pram_window"] == "no (no video memory)"
    assert bench.run(f"[ -e {bench.proc(board, 'local_memory')} ]").status
    shown = channels(bench.read(board, "runlist0"))
    assert {fields["Instance Aperture"] for fields in shown.values()} == {APERTURE[board]}


def test_engines_of_orin(bench):
    found = engines_by_runlist(bench.read("jetson-orin", "device_info"))
    assert {runlist: set(engines) for runlist, engines in found.items()} == TABLE_III


@pytest.mark.parametrize("board", INTEGRATED)
def test_topology(bench, golden, board):
    golden(f"{board}/topology", everything(bench, board, lambda name: not is_state(name)))


@pytest.mark.parametrize("workload", ("mixed", "fig6"))
@pytest.mark.parametrize("board", INTEGRATED)
def test_lists(bench, golden, board, workload):
    bench.restart(board, workload)
    bench.model(board).request("advance", 5000)
    lists = not_empty(bench, board, "")
    golden(f"{board}/{workload}", everything(
        bench, board, lambda name: name in lists or name in ("contexts", "engines")))


@pytest.mark.parametrize("board", INTEGRATED)
def test_a_disabled_task_stops(bench, board):
    assert bench.write(board, "disable_channel", "0:2 0:3").status == 0
    bench.model(board).request("advance", 3 * SLICE_US)
    during = gained(bench, board, 60 * SLICE_US)
    assert during[0, 1] == 0 and during[0, 0] and during[0, 2]
    assert bench.write(board, "enable_channel", "0:2 0:3").status == 0
    bench.model(board).request("advance", 3 * SLICE_US)
    assert gained(bench, board, 60 * SLICE_US)[0, 1]


@pytest.mark.parametrize("board", INTEGRATED)
def test_a_task_with_a_longer_timeslice_gets_more(bench, board):
    assert bench.write(board, "set_timeslice", "0:1 4000").status == 0
    bench.model(board).request("advance", 20 * SLICE_US)
    gain = gained(bench, board, 120 * SLICE_US)
    assert gain[0, 1] == pytest.approx(2 * gain[0, 0], rel=0.1)


@pytest.mark.parametrize("board", INTEGRATED)
def test_a_lease_of_the_gpu_ends(bench, board):
    """An override list is found in the SoC's memory, and is freed at the end of the lease."""
    with held(bench, board, switch_to_tsg="0:1"):
        bench.model(board).request("advance", 3 * SLICE_US)
        assert only(bench, board, 1)
    bench.model(board).request("advance", 3 * SLICE_US)
    assert even(bench, board)


@pytest.mark.parametrize("board", INTEGRATED)
def test_a_list_of_the_modules_own_stays_while_it_is_copied(bench, board):
    """If the list were freed, its memory would have another owner, whatever the aperture's name is."""
    bench.write_ok(board, "switch_to_tsg", "0:1")
    with stall.stalled(bench, f"exec cat {bench.proc(board, 'runlist0_brief')}",
                       "nvdebug_sysmem_read") as reader:
        bench.check(f"(echo 0 > {bench.proc(board, 'resubmit_runlist')}; "
                    "touch /tmp/resubmitted) > /dev/null 2>&1 & sleep 1")
        assert bench.run("[ -e /tmp/resubmitted ]").status, "it waits"
        reader.finish()
        bench.check("until [ -e /tmp/resubmitted ]; do usleep 10000; done; rm /tmp/resubmitted")
    assert reader.status == 0
    # The text shows the driver's list if that was current at the last look.
    assert [tsg for tsg, _ in tsgs(reader.out)] in ([1], [0, 1, 2])


@pytest.mark.parametrize("board", INTEGRATED)
def test_the_mark_is_no_part_of_an_address(bench, board):
    """Drivers set the mark to choose the way of an access through the SoC. The memory is at the address without
    it."""
    bench.restart(board, "page-tables")
    layout = bench.model(board).request("layout")
    for space in layout["address_spaces"]:
        mapping = space["mappings"][0]
        at = space["page_directory"]
        for mark in (0, MARK[board]):
            said = answer(bench, board, f"{number(at['address']) | mark:#x}:{at['aperture']} "
                                        f"{mapping['va']} {options(layout, space, board)}")
            assert said["result"] == f"{number(mapping['address']):#x} {mapping['aperture']}"


@pytest.mark.parametrize("board", INTEGRATED)
def test_translate(bench, board):
    expect_every_mapping(bench, board)
    expect_every_context(bench, board)


@pytest.mark.parametrize("board", INTEGRATED)
def test_a_sleeping_gpu_is_not_touched(bench, board):
    sleep(bench, board)
    bench.model(board).request("stats", "reset")
    for name in names(bench, board):
        result = bench.run(f"cat {bench.proc(board, name)}")
        assert not result.status or "No such device" in result.err.decode(), name
    assert bench.run(f"cat {bench.proc(board, 'info')} {bench.proc(board, 'device_info')}").status == 0
    assert bench.run(f"cat {bench.proc(board, 'runlist0')}").status
    result = bench.write(board, "disable_channel", "0:2")
    assert result.status and "No such device" in result.err.decode()
    assert accesses(bench, board) == 0
    wake(bench, board)
    assert len(channels(bench.read(board, "runlist0"))) == 6


@pytest.mark.parametrize("board", INTEGRATED)
def test_a_gpu_that_sleeps_when_it_is_found_shows_info(bench, board):
    """`info` has the facts that are known without an access. Opening it when the GPU is awake adds the rest."""
    everything_there = bench.check(f"ls {bench.proc(board)}")
    said = info(bench, board)
    bench.check("rmmod nvdebug")
    sleep(bench, board)
    bench.model(board).request("stats", "reset")
    assert bench.machine.load_module().status == 0
    assert bench.check(f"ls {bench.proc(board)}").split() == ["info"]
    asleep = info(bench, board)
    assert asleep["chip"] == CHIP[board] and asleep["revision"] == "-"
    assert asleep["feature runlist"] == "no (asleep until now)"
    assert accesses(bench, board) == 0
    wake(bench, board)
    shown_again(bench, board)
    assert info(bench, board) == said
    assert bench.check(f"ls {bench.proc(board)}") == everything_there
    assert len(channels(bench.read(board, "runlist0"))) == 6


@pytest.mark.parametrize("board", INTEGRATED)
def test_a_gpu_stays_unknown_if_memory_is_short_when_it_wakes(bench, board):
    """The GPU is as unknown as before, and the next open of `info` tries again."""
    said = info(bench, board)
    bench.check("rmmod nvdebug")
    sleep(bench, board)
    assert bench.machine.load_module().status == 0
    wake(bench, board)
    read = "ptop_read_ga100" if board == "jetson-orin" else "ptop_read_gk104"
    bench.check(f"insmod /lib/failreturn.ko function=nvdebug:{read} error=-12")
    until(lambda: "no memory" in bench.run(f"cat {bench.proc(board, 'info')}").text)
    for _ in range(2):
        unknown = info(bench, board)
        assert unknown["chip"] == CHIP[board] and unknown["channels"] == unknown["runlists"] == "-"
        assert unknown["feature runlist"] == "no (no memory to look at it)"
        assert bench.check(f"ls {bench.proc(board)}").split() == ["info"]
    bench.check("rmmod failreturn")
    shown_again(bench, board)
    assert info(bench, board) == said
    assert len(channels(bench.read(board, "runlist0"))) == 6


def test_a_gpu_without_its_driver_is_not_touched(bench):
    """Without the driver the GPU may lose its power at any time, whatever state the driver has left."""
    board = "jetson-xavier"
    name = device(bench, board).rpartition("/")[2]
    driver = "/sys/bus/platform/drivers/platformgpu"
    bench.model(board).request("stats", "reset")
    bench.check(f"echo {name} > {driver}/unbind")
    bench.model(board).request("sleep")
    assert info(bench, board)["driver"] == "-"
    assert "No such device" in bench.run(f"cat {bench.proc(board, 'runlist0')}").err.decode()
    assert accesses(bench, board) == 0
    bench.model(board).request("wake")
    bench.check(f"echo {name} > {driver}/bind")
    assert len(channels(bench.read(board, "runlist0"))) == 6


@pytest.mark.parametrize("board", INTEGRATED)
def test_a_driver_goes_with_its_own_list_current(bench, board):
    """An override list goes before the driver does, while its memory is still the device's."""
    name = device(bench, board).rpartition("/")[2]
    driver = "/sys/bus/platform/drivers/platformgpu"
    with held(bench, board, switch_to_tsg="0:1"):
        bench.check(f"echo {name} > {driver}/unbind")
        assert even(bench, board)
    bench.check(f"echo {name} > {driver}/bind")
    assert len(channels(bench.read(board, "runlist0"))) == 6


def test_a_gpu_goes_and_comes_back(bench):
    board, folder = "jetson-orin", bench.proc("jetson-orin")
    bench.check(f"exec 3<{folder}/runlist0; echo 1 > /sys/bus/pci/devices/{bench.address(board)}/remove; "
                "cat <&3 > /dev/null; true")
    assert bench.run(f"[ -e {folder} ]").status
    bench.check("cat /proc/gpu*/runlist0 > /dev/null")
    bench.rescan(board)
    bench.restart(board)
    assert len(channels(bench.read(board, "runlist0"))) == 6


# These programs test how a GPU is reached, comes and goes, so they run every day. The others run on cards every day,
# and here only in long runs.
OF_A_DAY = {"proc_control", "proc_lease", "proc_lifetime", "proc_read", "proc_tree"}


@pytest.mark.parametrize("program", programs() if EVERYTHING else sorted(OF_A_DAY))
def test_program(bench, program):
    run_program(bench, program)
