# SPDX-License-Identifier: MIT OR GPL-2.0
"""The GPUs that get a folder: broken and unknown GPUs, a name with another owner, and GPUs that come and go."""

import contextlib
import json

import pytest
from boards import BOARDS, CHIP, COPY_WIRING
from nvdvm import initramfs, paths
from nvdvm.machine import Gpu, Machine

PMC_BOOT_0 = 0x0
PMC_BOOT_42 = 0xA00


@pytest.fixture
def unloaded(bench):
    """Unloads the module, so that the test loads it. Afterwards it is loaded as usual."""
    bench.check("rmmod nvdebug")
    bench.check("dmesg -c > /dev/null")
    yield bench
    for model in bench.machine.models:
        model.request("fault", "none")
    bench.check("! grep -q '^nvdebug ' /proc/modules || rmmod nvdebug")
    assert bench.machine.load_module().status == 0


@contextlib.contextmanager
def without_resource(bench, board, resource):
    """Takes a BAR from the board during a with-block, in which the module is loaded."""
    slot = int(bench.address(board)[8:10], 16)
    bench.check(f"insmod /lib/lostbar.ko slot={slot} resource={resource}")
    try:
        assert bench.machine.load_module().status == 0
        yield
        bench.check("rmmod nvdebug")
    finally:
        bench.check("rmmod lostbar")


def bar_sizes(bench, board):
    return [line.split()[1] for line in bench.read(board, "info").splitlines() if line.startswith("bar")]


# BAR1 is another resource if BAR0 has 64 bits.
@pytest.mark.parametrize("board, resource", (("gtx1060-3gb", 1), ("h200", 2)))
def test_a_bar_without_room_leaves_the_others_their_numbers(unloaded, board, resource):
    bench = unloaded
    assert bench.machine.load_module().status == 0
    registers, framebuffer, instance = bar_sizes(bench, board)
    assert "-" not in (registers, framebuffer, instance)
    bench.check("rmmod nvdebug")
    with without_resource(bench, board, resource):
        assert bar_sizes(bench, board) == [registers, "-", instance]


def folders(bench):
    names = bench.check("cd /proc && echo gpu*").split()
    return sorted(names, key=lambda name: int(name.removeprefix("gpu")))


def identities(bench, key):
    files = " ".join(f"/proc/{name}/info" for name in folders(bench))
    return bench.check(f"grep -h '^{key}:' {files} | cut -d' ' -f2").split()


def addresses(bench):
    return identities(bench, "pci_address")


def test_gpus_are_numbered_in_pci_order(bench):
    assert folders(bench) == [f"gpu{index}" for index in range(len(BOARDS))]
    assert addresses(bench) == sorted(addresses(bench))


@pytest.mark.parametrize("fault", (("all-ones",), ("pri-error",),
                                   ("read", PMC_BOOT_0, 0xbadf0200)))
def test_a_gpu_that_does_not_answer_harms_no_other(unloaded, fault):
    bad, address = unloaded.model("titan-v"), unloaded.address("titan-v")
    bad.request("fault", *fault)
    assert unloaded.machine.load_module().status == 0
    bad.request("fault", "none")
    assert len(folders(unloaded)) == len(BOARDS) - 1
    assert address not in addresses(unloaded)
    complaints = [line for line in unloaded.module_log().splitlines() if address in line]
    assert len(complaints) == 1
    assert identities(unloaded, "chip") == [CHIP[board] for board in BOARDS if board != "titan-v"]
    unloaded.check("cat /proc/gpu*/device_info > /dev/null")


def test_an_unknown_chip_shows_info_and_nothing_else(unloaded):
    model = unloaded.model("rtx2080ti")
    model.request("fault", "read", PMC_BOOT_0, 0x1F7000A1)
    model.request("fault", "read", PMC_BOOT_42, 0x1F7A1000)
    assert unloaded.machine.load_module().status == 0
    folder = unloaded.proc("rtx2080ti")
    assert unloaded.check(f"ls {folder}").split() == ["info"]
    info = unloaded.check(f"cat {folder}/info").splitlines()
    assert "chip: unknown" in info
    assert "chip_id: 0x1f7" in info
    features = [line for line in info if line.startswith("feature ")]
    assert features and all(line.endswith("no (unknown chip)") for line in features)
    address = unloaded.address("rtx2080ti")
    assert len([line for line in unloaded.module_log().splitlines() if address in line]) == 1
    assert len(folders(unloaded)) == len(BOARDS)


def test_loading_fails_if_the_name_is_taken(unloaded):
    """Another module owns /proc/gpu0. Loading logs one clear line and changes nothing."""
    unloaded.check("insmod /lib/procowner.ko")
    try:
        result = unloaded.machine.load_module()
        assert result.status != 0 and "busy" in result.err.decode()
        # insmod tries twice, with two system calls.
        said = {line.partition("] ")[2] for line in unloaded.module_log().splitlines()}
        assert len(said) == 1 and "/proc/gpu0" in said.pop()
        assert unloaded.check("ls /proc/gpu0") == ""
        assert folders(unloaded) == ["gpu0"]
    finally:
        unloaded.check("rmmod procowner")


def test_loading_works_in_a_root_without_procfs(unloaded):
    """A file /proc/gpu0 in a chroot does not take the name in procfs."""
    root = "/tmp/root"
    unloaded.check(f"mkdir -p {root}/proc; echo no GPU > {root}/proc/gpu0; cp {initramfs.MODULE} {root}/nvdebug.ko; "
                   f"cp $(readlink -f /bin/busybox) {root}/busybox")
    unloaded.check(f"chroot {root} /busybox insmod /nvdebug.ko")
    assert len(folders(unloaded)) == len(BOARDS)
    unloaded.check(f"rm -r {root}")


def test_a_gpu_goes_and_comes_back(bench):
    gone = f"/sys/bus/pci/devices/{bench.address('titan-v')}/remove"
    before = bench.read("titan-v", "device_info")
    bench.check(f"echo 1 > {gone}")
    assert f"gpu{bench.index('titan-v')}" not in folders(bench)
    assert len(folders(bench)) == len(BOARDS) - 1
    bench.check("cat /proc/gpu*/device_info > /dev/null")
    bench.rescan("titan-v")
    assert folders(bench) == [f"gpu{index}" for index in range(len(BOARDS))]
    assert bench.read("titan-v", "device_info") == before


@pytest.mark.parametrize("board", ("gtx980", "h200"))
def test_a_gpu_that_dies_later_gives_an_error(bench, board):
    for after in (0, 1, 2, 5, 9, 20):
        bench.model(board).request("fault", "none")
        bench.model(board).request("fault", "all-ones-after", after)
        result = bench.run(f"cat {bench.proc(board, 'runlist0')}")
        assert result.status != 0 and "No such device" in result.err.decode()
        assert result.out == b""


@pytest.mark.parametrize("board", ("gtx980", "h200"))
def test_pri_errors_are_never_data(bench, board):
    bench.model(board).request("fault", "pri-error")
    copy_files = ("copy_topology", "pce_map", "lce_for_pce0") if board in COPY_WIRING else ()
    lines = bench.read(board, "contexts").splitlines()[1:]
    assert lines and all(line.endswith(" - - - - - - - unreadable") for line in lines)
    for name in ("runlist0", "runlist0_brief", "engines", "ptimer", *copy_files):
        result = bench.run(f"cat {bench.proc(board, name)}")
        assert result.status != 0 and "error" in result.err.decode()
        assert result.out == b""


# GH200, GB200, GB300: the devices that Linux' drivers/vfio/pci/nvgrace-gpu accepts.
COHERENT = ("0x2342", "0x2345", "0x2348", "0x2941", "0x31c2")


def test_a_gpu_with_memory_coherent_with_the_cpu_shows_info(module, tmp_path):
    """These GPUs have no PRAMIN and other ways to memory. `info` gives the reason, and there is no other file."""
    board = json.loads((paths.BOARDS / "h200.json").read_text(encoding="utf-8"))
    gpus = []
    for device in COHERENT:
        board["pci"]["device"] = device
        path = tmp_path / f"{device}.json"
        path.write_text(json.dumps(board), encoding="utf-8")
        gpus.append(Gpu(str(path)))
    with Machine(gpus, module=module) as machine:
        for index in range(len(gpus)):
            assert machine.check(f"ls /proc/gpu{index}").split() == ["info"]
            info = machine.check(f"cat /proc/gpu{index}/info")
            assert "chip: unknown\nchip_id: -\n" in info
            assert info.count("no (memory coherent with the CPU's)") == info.count("feature ") > 0
        for model in machine.models:
            assert not any(bar["reads"] or bar["writes"] for bar in model.request("stats")["bars"].values())
