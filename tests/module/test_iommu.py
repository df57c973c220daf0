# SPDX-License-Identifier: MIT OR GPL-2.0
"""System memory is read where the GPU's IOMMU maps it, and nowhere else."""

import contextlib

import driver
import stall
from conftest import Bench
from layouts import number
from nvdvm import arch, kernel, paths, qemu
from nvdvm.machine import Gpu, Machine
from text import instances, tsgs

BOARDS = ("gtx1060-3gb", "a100")
SHARE = qemu.SYSMEM_SIZE // len(BOARDS)
# The workload is at the start of a GPU's share; 4 MiB are as much as the module can move.
ORDER = 10
SHAPE = [(0, [0, 1]), (1, [2, 3]), (2, [4, 5])]


@contextlib.contextmanager
def machine(module, append="", workload="sysmem"):
    """Starts a VM with an IOMMU. A driver is bound if lists are in system memory, because it is read only then."""
    remap = paths.BUILD / "test-modules" / kernel.find().release / "iommuremap.ko"
    files = {"/lib/iommuremap.ko": remap, **stall.files(), **driver.files()}
    with Machine([Gpu(board, workload) for board in BOARDS], module=module, iommu=True, transport="proxy",
                 append=append, extra_files=files) as vm:
        bench = Bench(vm, BOARDS)
        if workload == "sysmem":
            bench.check("insmod /lib/pcigpu.ko")
            for board in BOARDS:
                assert driver.bind(bench, board).status == 0
        yield vm


def expect_all(text):
    assert tsgs(text) == SHAPE
    assert all("Error" not in shown.fields for shown in instances(text))
    # The pointer to the image was found in page tables in system memory. The image is in video memory, which only the
    # window shows.
    assert instances(text)[0].fields["Context"] == "not allowed"


def test_addresses_are_looked_up_in_the_domain(module):
    with machine(module) as vm:
        for index, _ in enumerate(BOARDS):
            file = f"/proc/gpu{index}/runlist0"
            unmapped = vm.run(f"cat {file}")
            assert unmapped.status and "Bad address" in unmapped.err.decode()
            start = arch.X86_64.sysmem_base + index * SHARE
            vm.check(f"insmod /lib/iommuremap.ko slot={qemu.FIRST_GPU_SLOT + index} "
                     f"start={start:#x} order={ORDER}")
            expect_all(vm.check(f"cat {file}"))
            vm.check("rmmod iommuremap")
            assert vm.run(f"cat {file}").status


def test_an_iommu_that_passes_addresses_through(module):
    with machine(module, "iommu=pt") as vm:
        for index, _ in enumerate(BOARDS):
            expect_all(vm.check(f"cat /proc/gpu{index}/runlist0"))


def test_a_domain_stays_during_a_lookup(module):
    """A driver that attaches another domain waits until the lookup is over, and then frees the old domain."""
    with machine(module, workload="three-tasks") as vm:
        for index, _ in enumerate(BOARDS):
            file = f"/proc/gpu{index}/runlist0"
            device = f"/sys/bus/pci/devices/0000:00:{qemu.FIRST_GPU_SLOT + index:02x}.0"
            vm.check(f"echo 0:1 > /proc/gpu{index}/switch_to_tsg")  # switches to a list of the module's own
            with stall.stalled(vm, f"exec cat {file}", "iommu_iova_to_phys") as reader:
                vm.check(f"(echo identity > {device}/iommu_group/type; echo $? > /tmp/changed) "
                         "> /dev/null 2>&1 & sleep 1")
                assert vm.run("[ -e /tmp/changed ]").status, "it waits"
                reader.finish()
                vm.check("until [ -s /tmp/changed ]; do usleep 10000; done")
            assert vm.check("cat /tmp/changed; rm /tmp/changed") == "0\n"
            assert vm.run(f"cat {file}").status
            vm.check(f"echo 0 > /proc/gpu{index}/resubmit_runlist")
            assert tsgs(vm.check(f"cat {file}")) == SHAPE


def test_a_list_whose_address_changed_is_lost(module):
    """The list is not read at the place where its address leads now, and the DMA API cannot take it back either. The
    page is lost, and the log has a line about it."""
    with machine(module, "iommu=pt", "three-tasks") as vm:
        for index, _ in enumerate(BOARDS):
            device = f"/sys/bus/pci/devices/0000:00:{qemu.FIRST_GPU_SLOT + index:02x}.0"
            vm.check(f"echo 0:1 > /proc/gpu{index}/switch_to_tsg")
            assert "TSG Entry" in vm.check(f"cat /proc/gpu{index}/runlist0")
            vm.check(f"echo DMA > {device}/iommu_group/type")
            result = vm.run(f"cat /proc/gpu{index}/runlist0")
            assert result.status and "not supported" in result.err.decode()
            vm.check(f"echo 0 > /proc/gpu{index}/resubmit_runlist")
            assert "4096 bytes of memory are lost" in vm.module_log(3)
            vm.check(f"echo identity > {device}/iommu_group/type")
            assert tsgs(vm.check(f"cat /proc/gpu{index}/runlist0")) == SHAPE


def test_a_page_that_failed_is_not_read(module):
    """Reading such a page may raise a machine check."""
    with machine(module, "iommu=pt") as vm:
        for index, _ in enumerate(BOARDS):
            file = f"/proc/gpu{index}/runlist0"
            expect_all(vm.check(f"cat {file}"))
            layout = vm.models[index].request("layout")
            at = number(next(one for one in layout["runlists"] if one["id"] == 0)["address"])
            vm.run(f"echo {at:#x} > /sys/devices/system/memory/hard_offline_page")
            result = vm.run(f"cat {file}")
            assert result.status and "Bad address" in result.err.decode()
