#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks the output of nvdebugctl against NVIDIA's driver's own answers.

    cross_check.py NVDEBUGCTL WORKLOAD [FOLDER]

It needs root, NVIDIA's driver (535 or newer), and no module. WORKLOAD is the program of workload.cpp. Two of them run, and
only their channels and timeslices are changed, and put back. Prints a line for each check, which FOLDER/cross-check.txt gets,
too. Ends with 1 if a check fails.
"""

import array
import bisect
import ctypes
import fcntl
import json
import mmap
import os
import pathlib
import struct
import subprocess
import sys
import time

from common import checks, rm, run, words

TOOL, WORKLOAD, FOLDER = words(__doc__, "nvdebugctl", "workload", "[folder]")
SECONDS = 100
DONE = checks.Checks()
say = DONE.say

# ioctls of nvidia-uvm: uvm_ioctl.h
UVM_MAP_EXTERNAL, UVM_CREATE_EXTERNAL = 33, 73
PTIMER_LOW, PTIMER_HIGH = 0x9400, 0x9410


# --- nvdebugctl and the workload ---

def tool(*words):
    done = subprocess.run([TOOL, "--from", "driver", *words, "--json"], capture_output=True, text=True,
                          timeout=60, check=False)
    document = json.loads(done.stdout.splitlines()[0])
    if "data" not in document:
        sys.exit(f"nvdebugctl {' '.join(words)}: {done.stderr}")
    return document["data"]


def start(*how):
    process = subprocess.Popen([WORKLOAD, str(SECONDS), *how], stdout=subprocess.PIPE, text=True)
    word, _, address = process.stdout.readline().partition(" ")
    if word != "ready":
        sys.exit("the workload did not start")
    return process, int(address, 16)


def on_list(channels, places):
    """Returns the channels whose instance blocks are among these addresses."""
    return [c for c in channels if c["instance_aperture"] == "vid" and int(c["instance_address"], 16) in places]


def allocated_channels(ours, processes):
    """Compares allocated channels. The driver counts channels of the whole GPU, and answers only for runlists of GR."""
    shown = tool("channel", "list")
    given = set().union(*filter(None, (ours.allocated(each["runlist"]) for each in tool("runlist", "list"))))
    listed = {c["channel"] for c in shown}
    of_processes = {c["channel"] for each in processes for c in on_list(shown, each.channels)}
    say("channels given away", given <= listed and of_processes <= given,
        f"{len(given)}, all in lists but {sorted(given - listed)}; {len(listed)} in lists, {len(of_processes)} of them "
        f"the two processes'; in lists and not given away: {sorted(listed - given)}")


def disabled(theirs):
    shown = on_list(tool("channel", "list"), theirs.channels)
    mine = [c for c in shown if c["runlist"] == 0]
    say("joined by instance block", len(shown) == len(theirs.channels),
        f"{len(theirs.channels)} channels of the process have instance blocks, {len(shown)} of them are in lists, "
        f"{len(mine)} in runlist 0")
    handles = [theirs.channels[int(c["instance_address"], 16)] for c in mine]
    ids = {c["channel"] for c in mine}

    def off():
        return {c["channel"] for c in tool("channel", "list") if c["runlist"] == 0 and not c["enabled"]}

    before = off()
    try:
        theirs.set_enabled(handles, False)
        during = off()
        time.sleep(0.2)
        running = {current_tsg() for _ in range(20)}
    finally:
        theirs.set_enabled(handles, True)
    tsgs = {f"tsg:{c['tsg']}" for c in mine}
    say("disabled by the driver", during - before == ids and off() == before,
        f"{len(ids)} channels; disabled in runlist 0: {sorted(before)} before, {sorted(during)} meanwhile, "
        f"{sorted(off())} after")
    say("what is disabled does not run", not running & tsgs,
        f"20 looks at GR0: {', '.join(sorted(map(str, running)))}; disabled: {', '.join(sorted(tsgs))}")


def current_tsg():
    return next(e for e in tool("engine", "list") if e["engine"] == "GR0")["current"]


def timeslices(theirs):
    """Sets timeslices through the driver. Objects of the driver have no hardware id, so the changed TSG is the one meant."""
    for tsg in theirs.tsgs:
        was = theirs.timeslice(tsg)
        before = {(t["runlist"], t["tsg"]): t["timeslice_us"] for t in tool("tsg", "list")}
        for us in (700, was + 1000):
            try:
                theirs.timeslice(tsg, us)
                after = {(t["runlist"], t["tsg"]): t["timeslice_us"] for t in tool("tsg", "list")}
            finally:
                theirs.timeslice(tsg, was)
            changed = {key: value for key, value in after.items() if before.get(key) != value}
            # The timeslice is rounded to a step of its scale.
            good = len(changed) == 1 and all(us * 0.97 < value <= us * 1.03 for value in changed.values())
            names = ", ".join(f"TSG {r}:{t} {before.get((r, t))} -> {v} us" for (r, t), v in changed.items())
            say("timeslice set by the driver", good, f"{us} us asked: {names or 'nothing changed'}")
        after = {(t["runlist"], t["tsg"]): t["timeslice_us"] for t in tool("tsg", "list")}
        if after != before:
            say("timeslice put back", False, f"{before} became {after}")


def resident(ours, seconds=3):
    """Compares the driver's resident channel (NV2080_CTRL_CMD_GR_GET_CURRENT_RESIDENT_CHANNEL) with ENGINE_STATUS0, which is
    read before and after, and must be the same."""
    base = int(next(e for e in tool("engine", "list") if e["engine"] == "GR0")["runlist_base"], 16)
    tsg_of = {c["channel"]: c["tsg"] for c in tool("channel", "list") if c["runlist"] == 0}
    looks, others = 0, {}
    tsgs = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        first = ours.register(base + 0x200)
        try:
            answer = ours.control(ours.client, ours.subdevice, 0x2080121c, bytes(24))
        except rm.Refused:  # no channel is resident at the moment
            continue
        channel = struct.unpack_from("<I", answer)[0]
        # CTX_STATUS: valid, not in the middle of a switch
        if first != ours.register(base + 0x200) or first >> 13 & 7 != 1:
            continue
        looks += 1
        tsgs.add(first & 0xfff)
        if tsg_of.get(channel) != first & 0xfff:
            others[channel, first & 0xfff] = others.get((channel, first & 0xfff), 0) + 1
    wrong = sum(others.values())
    # The engine may leave the channel and come back between the two reads.
    say("resident on GR0", looks >= 100 and len(tsgs) >= 2 and wrong <= looks // 100,
        f"{looks - wrong} of {looks} times the driver's channel is of the TSG in ENGINE_STATUS0 (TSGs "
        f"{', '.join(map(str, sorted(tsgs)))})" + (f"; else, as (channel, TSG): {others}" if others else ""))


def switched(ours, seconds=2):
    """Compares the task on GR0 by its register with the driver's own record of context switches."""
    base = int(next(e for e in tool("engine", "list") if e["engine"] == "GR0")["runlist_base"], 16)
    pid_of = {c["tsg"]: c["process"]["pid"] for c in tool("channel", "list") if c["runlist"] == 0 and c["process"]}

    def look():
        looks, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            high, low, status, later = ours.registers(PTIMER_HIGH, PTIMER_LOW, base + 0x200, PTIMER_LOW)
            # CTX_STATUS: valid, not in the middle of a switch
            if later > low and status >> 13 & 7 == 1:
                looks.append((high << 32 | low, high << 32 | later, status & 0xfff))
        return looks

    looks, records = ours.switches(look)
    slices = [(start[0], end[0], start[3]) for start, end in zip(records, records[1:])
              if start[1] and not end[1] and start[2:] == end[2:]]
    begins = [begin for begin, _, _ in slices]
    agreed, others, pids = 0, {}, set()
    for first, last, tsg in looks:
        at = bisect.bisect(begins, first) - 1
        # Only a look that is within a slice, of a TSG with a known process, can be compared.
        if at < 0 or slices[at][1] < last or tsg not in pid_of:
            continue
        if slices[at][2] == pid_of[tsg]:
            agreed += 1
            pids.add(tsg)
        else:
            others[slices[at][2], pid_of[tsg]] = others.get((slices[at][2], pid_of[tsg]), 0) + 1
    wrong = sum(others.values())
    say("switches of GR0", agreed >= 100 and len(pids) >= 2 and wrong <= agreed // 100,
        f"{agreed} of {agreed + wrong} times the process of the TSG in ENGINE_STATUS0 is the one that the driver "
        f"recorded ({len(records)} records in {seconds} s, {len(looks)} looks)"
        + (f"; else, as (recorded, in the register): {others}" if others else ""))


# --- page tables ---

class Cuda:
    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.kept = []
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)

    def call(self, name, *arguments):
        error = getattr(self.library, name)(*arguments)
        if error:
            raise OSError(f"{name}: error {error}")

    def memory(self, count):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(count))
        return address.value

    def pinned(self, count):
        address = ctypes.c_void_p()
        self.call("cuMemAllocHost_v2", ctypes.byref(address), ctypes.c_size_t(count))
        return address.value

    def managed(self, count):
        """Returns managed memory, which moves to the GPU page by page."""
        address = ctypes.c_uint64()
        self.call("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(count), 1)
        return address.value

    def move(self, address, count):
        """Moves COUNT bytes of managed memory to the GPU."""
        self.call("cuMemPrefetchAsync", ctypes.c_uint64(address), ctypes.c_size_t(count), 0, None)
        self.call("cuCtxSynchronize")

    def mapped(self, ours, memory, count):
        """Maps memory of OURS by nvidia-uvm at an address that is a multiple of its size."""
        held = mmap.mmap(-1, 2 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.kept.append(held)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(held)) + count - 1 & -count
        uuid = ctypes.create_string_buffer(16)
        self.call("cuDeviceGetUuid", uuid, 0)
        uvm = next(int(link.name) for link in pathlib.Path("/proc/self/fd").iterdir()
                   if os.path.exists(link) and os.readlink(link) == "/dev/nvidia-uvm")
        gpus, of_each = 256, 36
        for number, request in ((UVM_CREATE_EXTERNAL, struct.pack("<QQIxxxx", begin, count, 0)),
                                (UVM_MAP_EXTERNAL, struct.pack(
                                    f"<QQQ16s{gpus * of_each - 16}xQiIII", begin, count, 0, uuid.raw, 1,
                                    ours.descriptor, ours.client, memory, 0))):
            data = array.array("B", request)
            fcntl.ioctl(uvm, number, data, True)
            status = struct.unpack_from("<I", data, 16 if number == UVM_CREATE_EXTERNAL else len(data) - 4)[0]
            if status:
                raise rm.Refused(f"nvidia-uvm's request {number}", status)
        return begin

    def registered(self, count):
        """Returns memory of this process, in pages of 2 MiB if the kernel gives some."""
        size, align = ctypes.c_size_t(count), 2 << 20
        held = mmap.mmap(-1, count + align, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        held.madvise(mmap.MADV_HUGEPAGE)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(held)) + align - 1 & -align
        ctypes.memset(begin, 1, count)
        self.kept.append(held)
        self.call("cuMemHostRegister_v2", ctypes.c_void_p(begin), size, 2)
        address = ctypes.c_uint64()
        self.call("cuMemHostGetDevicePointer_v2", ctypes.byref(address), ctypes.c_void_p(begin), 0)
        if address.value != begin:
            raise OSError("another address on the GPU")
        return begin

    def fill(self, address, word, words):
        self.call("cuMemsetD32_v2", ctypes.c_uint64(address), ctypes.c_uint32(word), ctypes.c_size_t(words))
        self.call("cuCtxSynchronize")

    def created(self, count, *places):
        """Creates memory at an address that is a multiple of its size, in device 0 or in PLACES (CUmemLocation)."""
        device = (1, 0)
        # CUmemAllocationProp of cuda.h: pinned
        prop = struct.pack("<IIIiQ8x", 1, 0, *(places or (device,))[0], 0)
        handle, address = ctypes.c_uint64(), ctypes.c_uint64()
        size = ctypes.c_size_t(count)
        self.call("cuMemCreate", ctypes.byref(handle), size, prop, ctypes.c_uint64(0))
        self.call("cuMemAddressReserve", ctypes.byref(address), size, size, ctypes.c_uint64(0), ctypes.c_uint64(0))
        self.call("cuMemMap", address, size, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
        for place in (device, *places):
            self.call("cuMemSetAccess", address, size, struct.pack("<IiI", *place, 3), ctypes.c_size_t(1))
        return address.value

    def created_on_host(self, count):
        host_numa = 3
        return self.created(count, (host_numa, 0))


def page_frame(address):
    """Returns the physical address of a page of this process, from proc_pid_pagemap(5)."""
    with open("/proc/self/pagemap", "rb") as pagemap:
        pagemap.seek(address // 4096 * 8)
        entry = struct.unpack("<Q", pagemap.read(8))[0]
    return (entry & (1 << 55) - 1) * 4096 if entry >> 63 else None


def walk(address):
    """Returns the translations by each TSG of runlist 0 that maps the address."""
    first = {c["tsg"]: c["channel"] for c in reversed(tool("channel", "list")) if c["runlist"] == 0}
    found = []
    for channel in first.values():
        answer = tool("memory", "translate", f"0:{channel}", hex(address))
        if answer["result"]:
            found.append(answer)
    return found


def translations(ours):
    cuda = Cuda()
    mib = 1 << 20
    made = []
    for name, make, count in (("cuMemAlloc", cuda.memory, 64 * mib), ("cuMemAlloc", cuda.memory, 4096),
                              ("cuMemCreate", cuda.created, 2 * mib), ("cuMemCreate", cuda.created, 1024 * mib),
                              ("cuMemAlloc", cuda.memory, 8192 * mib),
                              ("cuMemAllocManaged", cuda.managed, 4096),
                              ("cuMemAllocManaged", cuda.managed, 4 * mib),
                              ("cuMemPrefetchAsync", cuda.managed, 2 * mib),
                              ("cuMemAllocHost", cuda.pinned, 4096), ("cuMemAllocHost", cuda.pinned, 64 * mib),
                              ("cuMemHostRegister", cuda.registered, 8 * mib),
                              ("cuMemCreate in HostNuma", cuda.created_on_host, 64 * mib)):
        try:
            made.append((name, count, make(count)))
        except OSError as error:
            say("translate", True, f"{name} of {count:#x} bytes: not tried, {error}")
    handle, write = ours.page_of_512_mib()
    made.append(("NV01_MEMORY_LOCAL_USER", rm.HUGE, cuda.mapped(ours, handle, rm.HUGE)))
    for number, (name, count, address) in enumerate(made):
        for offset in sorted({0, count // 2 & ~0xfff, count - 4096}):
            word = 0xc0de0000 | number << 8 | (offset >> 12 & 0xff)
            written = struct.pack("<I", word) * 1024
            if "Host" in name:
                ctypes.memset(address + offset, word & 0xff, 4096)
            elif "LOCAL_USER" in name:
                write(offset, written)
            elif "Prefetch" in name:
                ctypes.memmove(address + offset, written, 4096)
                cuda.move(address + offset, 4096)
            else:
                cuda.fill(address + offset, word, 1024)
            found = walk(address + offset)
            if len(found) != 1:
                say("translate", False, f"{name} of {count:#x} bytes + {offset:#x}: {len(found)} TSGs map it")
                continue
            to, place = int(found[0]["result"]["address"], 16), found[0]["result"]["aperture"]
            size = found[0]["page_size_bytes"]
            if place == "vid":
                good = ours.read(to, 4096) == written
                how = "has what was written"
            else:
                good = page_frame(address + offset) == to
                how = "is the kernel's page frame"
            say("translate", good, f"{name} of {count:#x} bytes + {offset:#x}: page of {size // 1024} KiB in {place} "
                + (how if good else f"at {to:#x} is another"))


def main():
    ours = rm.Ours()
    one, _ = start("3", "200", "16")
    other, _ = start("4", "500", "16")
    print(pathlib.Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").splitlines()[0])
    try:
        # This check comes first: later this process duplicates a descriptor of the others, and so counts as an owner, too.
        switched(ours)
        youngest = rm.Ours().client
        theirs = rm.Theirs(one.pid, youngest)
        allocated_channels(ours, (theirs, rm.Theirs(other.pid, youngest)))
        disabled(theirs)
        timeslices(theirs)
        resident(ours)
        translations(ours)
    finally:
        for process in (one, other):
            process.terminate()
            process.wait(timeout=30)
    DONE.end(FOLDER and FOLDER / "cross-check.txt")


run(main)
