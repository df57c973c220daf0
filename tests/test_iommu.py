# SPDX-License-Identifier: MIT OR GPL-2.0
"""What is in system memory is found where the GPU's IOMMU says, and nowhere else."""

from nvdvm import kernel, paths, qemu
from nvdvm.machine import MAX_GPUS, Gpu, Machine
from text import instances, tsgs

BOARDS = ("gtx1060-3gb", "a100")
SHARE = qemu.SYSMEM_SIZE // MAX_GPUS
PAGE = 4096
SHAPE = [(0, [0, 1]), (1, [2, 3]), (2, [4, 5])]


def machine(module, append=""):
    remap = paths.BUILD / "test-modules" / kernel.find().release / "iommuremap.ko"
    return Machine([Gpu(board, "sysmem") for board in BOARDS], module=module, iommu=True,
                   append=append, extra_files={"/lib/iommuremap.ko": remap})


def expect_all(text):
    assert tsgs(text) == SHAPE
    assert all("Error" not in shown.fields for shown in instances(text))
    assert instances(text)[0].fields["Context"] == "below"


def test_the_domain_is_asked(module):
    with machine(module) as vm:
        for index, _ in enumerate(BOARDS):
            file = f"/proc/gpu{index}/runlist0"
            unmapped = vm.run(f"cat {file}")
            assert unmapped.status and "Bad address" in unmapped.err.decode()
            start = qemu.SYSMEM_BASE + index * SHARE
            vm.check(f"insmod /lib/iommuremap.ko slot={qemu.FIRST_GPU_SLOT + index} "
                     f"start={start:#x} order={(SHARE // PAGE).bit_length() - 1}")
            expect_all(vm.check(f"cat {file}"))
            vm.check("rmmod iommuremap")
            assert vm.run(f"cat {file}").status


def test_an_iommu_that_passes_through(module):
    with machine(module, "iommu=pt") as vm:
        for index, _ in enumerate(BOARDS):
            expect_all(vm.check(f"cat /proc/gpu{index}/runlist0"))
