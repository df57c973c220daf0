# SPDX-License-Identifier: MIT OR GPL-2.0
"""What differs between the architectures that a guest may have."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Arch:
    name: str  # QEMU's, and the kernel's UTS machine
    suffix: str  # of the folders with what is built for it
    magic: tuple  # where in a kernel's image, and what
    machine: str  # QEMU's options
    cpu: str
    console: str
    # Guest-physical memory for what a workload keeps in system memory. The guest's kernel
    # takes it for a crash kernel's: ordinary RAM in its direct map that it never uses itself.
    sysmem_base: int


# A dozen real GPUs have BARs of nearly a terabyte: more than QEMU lets its processor "max" address,
# and than the window that "virt" has for them. QEMU takes a string instruction for each byte or word in
# turn; for an x86 processor that lists these as slow, and for an early K8, Linux unrolls loops. Without
# "erms" there must be no "fsrm": Linux 6.1 does not boot then, as its memmove takes one to imply the other.
X86_64 = Arch("x86_64", "", (0x202, b"HdrS"), "q35", "max,phys-bits=46,-erms,-fsrm,model=4,stepping=1",
              "ttyS0", 0x10000000)
AARCH64 = Arch("aarch64", "-arm64", (0x38, b"ARM\x64"), "virt,gic-version=3,highmem-mmio-size=2T", "max,pauth-impdef=on",
               "ttyAMA0", 0x50000000)


def of_image(image):
    """Of a kernel's image; x86 for what is not known."""
    with open(image, "rb") as file:
        head = file.read(0x1000)
    for arch in (X86_64, AARCH64):
        at, magic = arch.magic
        if head[at:at + len(magic)] == magic:
            return arch
    return X86_64
