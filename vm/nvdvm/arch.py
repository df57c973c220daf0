# SPDX-License-Identifier: MIT OR GPL-2.0
"""The architectures that a guest may have, and their differences."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Arch:
    # The name that QEMU and the kernel (UTS machine) use.
    name: str
    # The end of the names of folders that are built for this architecture.
    suffix: str
    # Offset and bytes that identify a kernel's image.
    magic: tuple
    machine: str  # QEMU's machine and its options
    cpu: str
    console: str
    # Guest-physical memory for structures that a workload keeps in system memory. The guest's kernel reserves
    # it as a crash kernel's: ordinary RAM in its direct map, which the kernel itself never uses.
    sysmem_base: int


# A dozen real GPUs have BARs of nearly a terabyte. QEMU's processor "max" does not address that much, and the
# window of "virt" is smaller, too, so both are extended here.
#
# QEMU takes a string instruction for each byte or word in turn. For an x86 processor that lists these as slow,
# and for an early K8, Linux unrolls loops instead. Without "erms" there must be no "fsrm": Linux 6.1 does not
# boot then, because its memmove takes "fsrm" to imply "erms".
X86_64 = Arch("x86_64", "", (0x202, b"HdrS"), "q35", "max,phys-bits=46,-erms,-fsrm,model=4,stepping=1",
              "ttyS0", 0x10000000)
AARCH64 = Arch("aarch64", "-arm64", (0x38, b"ARM\x64"), "virt,gic-version=3,highmem-mmio-size=2T", "max,pauth-impdef=on",
               "ttyAMA0", 0x50000000)


def of_image(image):
    """Returns the architecture of a kernel's image; x86 for an unknown image."""
    with open(image, "rb") as file:
        head = file.read(0x1000)
    for arch in (X86_64, AARCH64):
        at, magic = arch.magic
        if head[at:at + len(magic)] == magic:
            return arch
    return X86_64
