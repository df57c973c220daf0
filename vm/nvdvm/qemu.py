# SPDX-License-Identifier: MIT OR GPL-2.0
"""QEMU's command line."""

import functools
import shutil
import subprocess

from .errors import VmError

PROGRAM = "qemu-system-x86_64"
MEMORY_MIB = 512
FIRST_GPU_SLOT = 4
# Guest-physical memory for what a workload keeps in system memory. The guest's kernel
# takes it for a crash kernel's: ordinary RAM in its direct map that it never uses itself.
SYSMEM_BASE = 0x10000000
SYSMEM_SIZE = 0x04000000
# While QEMU waits for a model's answer it lets other virtual CPUs run, and if one of them then
# accesses the same GPU, QEMU takes that for a device calling itself, drops the access and has
# the guest read 0 ("Blocked re-entrant IO" in its log; 7.2 as Debian ships it). So only one
# virtual CPU may run at a time: two of them taking turns in one thread with TCG, which still
# lets them interleave anywhere, and a single one with KVM.
PROCESSOR = {
    "tcg": ("-accel", "tcg,thread=single", "-cpu", "max", "-smp", "2"),
    "kvm": ("-accel", "kvm", "-cpu", "host", "-smp", "1"),
}


@functools.cache
def accelerator():
    """KVM where a VM really runs with it, else TCG."""
    probe = [PROGRAM, "-accel", "kvm", "-M", "q35", "-cpu", "host", "-nodefaults", "-display",
             "none", "-qmp", "stdio"]
    talk = '{"execute":"qmp_capabilities"}{"execute":"quit"}'
    try:
        works = subprocess.run(probe, input=talk, capture_output=True, text=True,
                               timeout=20).returncode == 0
    except subprocess.TimeoutExpired:
        works = False
    return "kvm" if works else "tcg"


def command(kernel, initramfs, console_log, agent_path, models, extra_append="", iommu=False,
            terminal_path=None):
    if shutil.which(PROGRAM) is None:
        raise VmError(f"no {PROGRAM} on this machine; run 'make deps'")
    accel = accelerator()
    extra_append += " intel_iommu=on" if iommu else ""
    append = (f"console=ttyS0 quiet panic=-1 oops=panic nokaslr "
              f"crashkernel={SYSMEM_SIZE >> 20}M@{SYSMEM_BASE >> 20}M {extra_append}")
    words = [
        PROGRAM, "-M", "q35,memory-backend=ram", "-m", f"{MEMORY_MIB}M",
        *PROCESSOR[accel],
        "-object", f"memory-backend-memfd,id=ram,size={MEMORY_MIB}M,share=on",
        "-nodefaults", "-display", "none", "-no-reboot",
        "-kernel", kernel.image, "-initrd", initramfs, "-append", append,
        "-chardev", f"file,id=console,path={console_log}", "-serial", "chardev:console",
        "-device", "virtio-serial-pci,max_ports=16,addr=2",
        "-chardev", f"socket,id=agent,path={agent_path}",
        "-device", "virtserialport,chardev=agent,name=nvdebug.agent",
    ]
    if terminal_path is not None:
        words += ["-chardev", f"socket,id=terminal,path={terminal_path}",
                  "-device", "virtconsole,chardev=terminal"]
    if iommu:
        # Before the devices it is for. The models themselves see guest-physical memory.
        words += ["-device", "intel-iommu"]
    for model in models:
        index = model.index
        words += [
            "-device", f"x-pci-proxy-dev,id=gpu{index},fd={model.qemu_socket.fileno()},"
                       f"addr={FIRST_GPU_SLOT + index:#x}",
            "-chardev", f"socket,id=model{index},path={model.control_path}",
            "-device", f"virtserialport,chardev=model{index},name=nvdebug.model{index}",
        ]
    return words
