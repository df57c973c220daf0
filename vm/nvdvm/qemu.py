# SPDX-License-Identifier: MIT OR GPL-2.0
"""Builds QEMU's command line."""

MEMORY_MIB = 512
FIRST_GPU_SLOT = 4
SYSMEM_SIZE = 0x04000000


def processor(emulator, arch):
    """Returns two virtual CPUs, or one if the transport loses parallel accesses and KVM would make them.

    With TCG two virtual CPUs can take turns in one thread, which still lets them interleave anywhere.
    """
    if emulator.accelerator == "kvm":
        return ["-accel", "kvm", "-cpu", "host", "-smp", "2" if emulator.transport.parallel else "1"]
    threads = "single" if emulator.in_one_thread else "multi"
    return ["-accel", f"tcg,thread={threads}", "-cpu", arch.cpu, "-smp", "2"]


def command(emulator, kernel, initramfs, console_log, agent_path, models, extra_append="",
            iommu=False, terminal_path=None, more_words=()):
    extra_append += " intel_iommu=on" if iommu else ""
    # On a busy host an x86 kernel would find that the timer does not tick when it looks. QEMU's processors
    # share one time-stamp counter, and any other clock takes an access to a device.
    append = (f"console={kernel.arch.console} quiet panic=-1 oops=panic nokaslr no_timer_check tsc=reliable "
              f"cryptomgr.notests crashkernel={SYSMEM_SIZE >> 20}M@{kernel.arch.sysmem_base >> 20}M "
              f"{extra_append}")
    words = [
        *emulator.program, "-M", f"{kernel.arch.machine},memory-backend=ram", "-m", f"{MEMORY_MIB}M",
        *processor(emulator, kernel.arch),
        "-object", f"memory-backend-memfd,id=ram,size={MEMORY_MIB}M,share=on",
        "-nodefaults", "-display", "none", "-no-reboot",
        "-kernel", kernel.bootable, "-initrd", initramfs, "-append", append,
        "-chardev", f"file,id=console,path={console_log}", "-serial", "chardev:console",
        "-device", "virtio-serial-pci,max_ports=31,addr=2",
        "-chardev", f"socket,id=agent,path={agent_path}",
        "-device", "virtserialport,chardev=agent,name=nvdebug.agent",
    ]
    if terminal_path is not None:
        words += ["-chardev", f"socket,id=terminal,path={terminal_path}",
                  "-device", "virtconsole,chardev=terminal"]
    if iommu:
        # An IOMMU comes before the devices it is for. The models themselves see guest-physical memory.
        words += ["-device", "intel-iommu"]
    for model in models:
        index = model.index
        words += [
            "-device", model.link.qemu_device(f"gpu{index}", FIRST_GPU_SLOT + index),
            "-chardev", f"socket,id=model{index},path={model.control_path}",
            "-device", f"virtserialport,chardev=model{index},name=nvdebug.model{index}",
        ]
    return [*words, *more_words]
