#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""What nvdebugctl shows of a real GPU, against what NVIDIA's driver says of it.

    cross_check.py NVDEBUGCTL WORKLOAD [FOLDER]

As root, with NVIDIA's driver (535 or newer) and without the module. WORKLOAD is workload.cpp, built;
two run, and what is disabled or set is theirs alone, and put back. Prints a line for each check, and
ends with 1 if one fails; FOLDER gets the lines as cross-check.txt.

Interface of the driver: facts of NVIDIA's open-gpu-kernel-modules (src/common/sdk/nvidia/inc).
"""

import array
import bisect
import contextlib
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

TOOL, WORKLOAD = sys.argv[1:3]
FOLDER = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
SECONDS = 100
LINES, FAILED = [], []

# ioctls: nv_escape.h, nvos.h
ESC_CONTROL, ESC_ALLOC, ESC_MAP = 0x2a, 0x2b, 0x4e
CLASS_DEVICE, CLASS_SUBDEVICE, CLASS_TSG, CLASS_MEMORY = 0x80, 0x2080, 0xa06c, 0xc2
CLASS_EVENTS, CLASS_EVENT_MEMORY, CLASS_VIDEO_MEMORY = 0x90cd, 0x90ce, 0x40
HUGE = 512 << 20
# ioctls of nvidia-uvm: uvm_ioctl.h
UVM_MAP_EXTERNAL, UVM_CREATE_EXTERNAL = 33, 73
PTIMER_LOW, PTIMER_HIGH = 0x9400, 0x9410
# NV_STATUS of a runlist without channels, as measured
NO_CHANNELS = 0x5b
SYS_PIDFD_OPEN, SYS_PIDFD_GETFD = 434, 438


def say(name, good, text):
    line = f"{'ok  ' if good else 'FAIL'}  {name}: {text}"
    print(line, flush=True)
    LINES.append(line)
    if not good:
        FAILED.append(name)


# --- NVIDIA's driver ---

class Refused(Exception):
    def __init__(self, what, status):
        super().__init__(f"{what}: status {status:#x}")
        self.status = status


class Rm:
    """A descriptor of /dev/nvidiactl: our own, or one taken from a process."""

    def __init__(self, descriptor):
        self.descriptor = descriptor

    def ioctl(self, number, data):
        buffer = array.array("B", data)
        fcntl.ioctl(self.descriptor, 3 << 30 | len(buffer) << 16 | ord("F") << 8 | number, buffer, True)
        return buffer.tobytes()

    def alloc(self, client, parent, handle, number, params=b""):
        held = ctypes.create_string_buffer(params, max(len(params), 1))
        answer = self.ioctl(ESC_ALLOC, struct.pack(
            "<IIIIQQIIIxxxx", client, parent, handle, number,
            ctypes.addressof(held) if params else 0, 0, len(params), 0, 0))
        status = struct.unpack_from("<I", answer, 40)[0]
        if status:
            raise Refused(f"object of class {number:#x}", status)
        return struct.unpack_from("<I", answer, 8)[0], held.raw

    def control(self, client, handle, command, params):
        held = ctypes.create_string_buffer(params, max(len(params), 1))
        answer = self.ioctl(ESC_CONTROL, struct.pack(
            "<IIIIQII", client, handle, command, 0, ctypes.addressof(held) if params else 0, len(params), 0))
        status = struct.unpack_from("<I", answer, 28)[0]
        if status:
            raise Refused(f"control {command:#x}", status)
        return held.raw

    def class_of(self, client, handle):
        """NV0000_CTRL_CMD_CLIENT_GET_HANDLE_INFO; None: there is no such object."""
        try:
            return struct.unpack_from("<I", self.control(client, client, 0xd02,
                                                         struct.pack("<IIQ", handle, 2, 0)), 8)[0]
        except Refused:
            return None


class Ours(Rm):
    """A client of our own with the first GPU."""

    def __init__(self):
        super().__init__(os.open("/dev/nvidiactl", os.O_RDWR | os.O_CLOEXEC))
        self.client = self.alloc(0, 0, 0, 0)[0]
        # what is asked of the GPU is asked by who has it open
        self.node = os.open("/dev/nvidia0", os.O_RDWR | os.O_CLOEXEC)
        self.device, self.subdevice, self.memory = 1, 2, 3
        self.alloc(self.client, self.client, self.device, CLASS_DEVICE, bytes(56))
        self.alloc(self.client, self.device, self.subdevice, CLASS_SUBDEVICE, bytes(4))
        self.alloc(self.client, self.device, self.memory, CLASS_MEMORY, bytes(24))

    def allocated(self, runlist):
        """NV2080_CTRL_CMD_FIFO_GET_ALLOCATED_CHANNELS; None: the driver says nothing of it."""
        try:
            answer = self.control(self.client, self.subdevice, 0x20801119,
                                  struct.pack("<I", runlist) + bytes(512))
        except Refused as refused:
            if refused.status == NO_CHANNELS:
                return None
            raise
        bits = int.from_bytes(answer[4:], "little")
        return {n for n in range(4096) if bits >> n & 1}

    def registers(self, *offsets):
        """NV2080_CTRL_CMD_GPU_EXEC_REG_OPS: reads, in this order."""
        operations = ctypes.create_string_buffer(b"".join(
            struct.pack("<BBBB7I", 0, 0, 0xff, 0, 0, 0, offset, 0, 0, 0, 0) for offset in offsets), 32 * len(offsets))
        self.control(self.client, self.subdevice, 0x20800122, struct.pack(
            "<6IQIxxxxQ", 0, 0, 1, 0, 0, len(offsets), ctypes.addressof(operations), 0, 0))
        for number, offset in enumerate(offsets):
            if status := operations.raw[32 * number + 2]:
                raise Refused(f"register {offset:#x}", status)
        return struct.unpack_from("<" + "20xI8x" * len(offsets), operations.raw)

    def register(self, offset):
        return self.registers(offset)[0]

    def _map(self, parent, memory, node, begin, size, writable=False):
        """PARENT: what the memory is of. It stays mapped when NODE is closed."""
        try:
            answer = self.ioctl(ESC_MAP, struct.pack(
                "<IIIxxxxQQQIIixxxx", self.client, parent, memory, begin, size, 0, 0, not writable, node))
            status = struct.unpack_from("<I", answer, 40)[0]
            if status:
                raise Refused("map memory", status)
            return mmap.mmap(node, size, mmap.MAP_SHARED, mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0))
        finally:
            os.close(node)

    def read(self, address, count):
        """Bytes of video memory, mapped read-only."""
        begin = address & ~0xfff
        size = (address + count - begin + 0xfff) & ~0xfff
        with self._map(self.device, self.memory, os.open("/dev/nvidia0", os.O_RDWR | os.O_CLOEXEC),
                       begin, size) as mapped:
            return mapped[address - begin:address - begin + count]

    def _memory(self, handle, kind, size, attributes, more, flags=0, alignment=0):
        """NV_MEMORY_ALLOCATION_PARAMS: nvos.h"""
        self.alloc(self.client, self.device if kind == CLASS_VIDEO_MEMORY else self.client, handle, kind, struct.pack(
            "<11Ixxxx7Q5Ixxxx", self.client, 0, flags, *bytes(3), attributes, more, *bytes(3), 0, 0, size, alignment, *bytes(3),
            *bytes(5)))

    def page_of_512_mib(self):
        """Video memory of our own in one page of that size: a function that writes a part of it."""
        handle, contiguous, huge, of_512_mib = 7, 2 << 27, 3 << 23, 2 << 20
        self._memory(handle, CLASS_VIDEO_MEMORY, HUGE, contiguous | huge, of_512_mib, flags=0x8100, alignment=HUGE)

        def write(offset, data):
            with self._map(self.device, handle, os.open("/dev/nvidia0", os.O_RDWR | os.O_CLOEXEC), offset,
                           len(data), writable=True) as mapped:
                mapped[:] = data
        return handle, write

    def _event_memory(self, handle, size):
        """NV01_MEMORY_DEVICELESS, which only the driver may write."""
        cached, read_only = 1 << 29, 1 << 22  # NVOS32_ATTR_COHERENCY, NVOS32_ATTR2_PROTECTION_USER
        self._memory(handle, CLASS_EVENT_MEMORY, size, cached, read_only)
        return self._map(self.client, handle, os.open("/dev/nvidiactl", os.O_RDWR | os.O_CLOEXEC), 0, size)

    def switches(self, meanwhile):
        """Context switches of GR0 while MEANWHILE() runs: what it returned, and (ns, starts, context, pid)
        of each, in order. NV_EVENT_BUFFER, NV2080_CTRL_CMD_GR_FECS_BIND_EVTBUF_FOR_UID_V2, cl90cdfecs.h."""
        header, records, events, count, size = 4, 5, 6, 1 << 16, 32
        head = self._event_memory(header, 4096)
        body = self._event_memory(records, count * size)
        self.alloc(self.client, self.client, events, CLASS_EVENTS, struct.pack(
            "<QQIIQIIQ6I", 0, 0, size, count, 0, 0, 1, 0, 0, self.subdevice, 0, header, records, 0))
        simple, all_users = 1, 1
        self.control(self.client, self.subdevice, 0x20801238, struct.pack(
            "<4IBxxxI", events, 24, simple, 0, all_users, 0))
        keep_oldest = 1
        self.control(self.client, events, 0x90cd0101, struct.pack("<BxxxI", 1, keep_oldest))
        result = meanwhile()
        self.control(self.client, events, 0x90cd0104, b"")
        _, put, _, dropped, _ = struct.unpack_from("<IIQQQ", head)
        if dropped:
            raise Refused(f"{dropped} switches were not kept", 0)
        found = []
        for number in range(put):
            tag, context, pid, ns = struct.unpack_from("<8xBxxxIIxxxxQ", body, number * size)
            found.append((ns, tag == 6, context, pid))
        return result, found


class Theirs:
    """TSGs and channels of a process of ours, found through its own descriptor."""

    def __init__(self, pid, youngest):
        libc = ctypes.CDLL(None, use_errno=True)
        pidfd = libc.syscall(SYS_PIDFD_OPEN, pid, 0)
        self.objects = []   # (rm, client, handle, class)
        self.subdevice = {}
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            if os.readlink(link) == "/dev/nvidiactl":
                self._look(Rm(libc.syscall(SYS_PIDFD_GETFD, pidfd, int(link.name), 0)), youngest)
        os.close(pidfd)
        self.tsgs = [o for o in self.objects if o[3] == CLASS_TSG]
        self.channels = {}  # address of the instance block: (rm, client, handle)
        for rm, client, handle, number in self.objects:
            # *_CHANNEL_GPFIFO_A
            if number & 0xff == 0x6f and number >> 8 >= 0xc3:
                with contextlib.suppress(Refused):
                    self.channels[self._instance(rm, client, handle)] = (rm, client, handle)

    def _look(self, rm, youngest):
        for client in range(youngest - 1, max(youngest - 400, 0xc1d00000) - 1, -1):
            if rm.class_of(client, client) is None:
                continue
            for handle in range(0x5c000000, 0x5c000800):
                number = rm.class_of(client, handle)
                if number is not None:
                    self.objects.append((rm, client, handle, number))
                if number == CLASS_SUBDEVICE:
                    self.subdevice.setdefault(client, handle)

    def _instance(self, rm, client, handle):
        """NV2080_CTRL_CMD_FIFO_GET_CHANNEL_MEM_INFO"""
        answer = rm.control(client, self.subdevice[client], 0x2080110c,
                            struct.pack("<Ixxxx", handle) + bytes(24 * 4 + 8))
        aperture, base = struct.unpack_from("<IxxxxQ", answer, 8)
        return base if aperture == 1 else None

    def set_enabled(self, channels, enabled):
        """NV2080_CTRL_CMD_FIFO_DISABLE_CHANNELS, of those of one client."""
        rm, client, _ = channels[0]
        clients = [client for _, client, _ in channels] + [0] * (64 - len(channels))
        handles = [handle for _, _, handle in channels] + [0] * (64 - len(channels))
        rm.control(client, self.subdevice[client], 0x2080110b, struct.pack(
            "<BxxxIBBxxxxxxQ64I64I", not enabled, len(channels), 0, 0, 0, *clients, *handles))

    @staticmethod
    def timeslice(tsg, us=None):
        """NVA06C_CTRL_CMD_GET_TIMESLICE and _SET_TIMESLICE"""
        rm, client, handle, _ = tsg
        if us is None:
            return struct.unpack("<Q", rm.control(client, handle, 0xa06c0104, bytes(8)))[0]
        return rm.control(client, handle, 0xa06c0103, struct.pack("<Q", us))


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
    """Of nvdebugctl's channels those with these instance blocks."""
    return [c for c in channels if c["instance_aperture"] == "vid" and int(c["instance_address"], 16) in places]


def allocated_channels(ours, processes):
    """The driver counts channels of the whole GPU, and answers for runlists of GR alone."""
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
    """Which TSG is which is known by its channels: RM's object has no hardware id."""
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
            # not longer than asked, in steps of the scale that fits
            good = len(changed) == 1 and all(us * 0.97 < value <= us * 1.03 for value in changed.values())
            names = ", ".join(f"TSG {r}:{t} {before.get((r, t))} -> {v} us" for (r, t), v in changed.items())
            say("timeslice set by the driver", good, f"{us} us asked: {names or 'nothing changed'}")
        after = {(t["runlist"], t["tsg"]): t["timeslice_us"] for t in tool("tsg", "list")}
        if after != before:
            say("timeslice put back", False, f"{before} became {after}")


def resident(ours, seconds=3):
    """NV2080_CTRL_CMD_GR_GET_CURRENT_RESIDENT_CHANNEL, between two reads of ENGINE_STATUS0 that agree."""
    base = int(next(e for e in tool("engine", "list") if e["engine"] == "GR0")["runlist_base"], 16)
    tsg_of = {c["channel"]: c["tsg"] for c in tool("channel", "list") if c["runlist"] == 0}
    looks, others = 0, {}
    tsgs = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        first = ours.register(base + 0x200)
        try:
            answer = ours.control(ours.client, ours.subdevice, 0x2080121c, bytes(24))
        except Refused:  # nobody is, for the moment
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
    # The engine may leave and come back between the two reads.
    say("resident on GR0", looks >= 100 and len(tsgs) >= 2 and wrong <= looks // 100,
        f"{looks - wrong} of {looks} times the driver's channel is of the TSG in ENGINE_STATUS0 (TSGs "
        f"{', '.join(map(str, sorted(tsgs)))})" + (f"; else, as (channel, TSG): {others}" if others else ""))


def switched(ours, seconds=2):
    """Who is on GR0 by its register, and by the driver's own record of context switches."""
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
        # in a slice with all of it, and of a process
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
        """On the GPU, page by page."""
        address = ctypes.c_uint64()
        self.call("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(count), 1)
        return address.value

    def move(self, address, count):
        """Managed memory of this process' to the GPU, so many bytes and no more."""
        self.call("cuMemPrefetchAsync", ctypes.c_uint64(address), ctypes.c_size_t(count), 0, None)
        self.call("cuCtxSynchronize")

    def mapped(self, ours, memory, count):
        """OURS' memory, mapped by nvidia-uvm at an address that is a multiple of its size."""
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
                raise Refused(f"nvidia-uvm's request {number}", status)
        return begin

    def registered(self, count):
        """Pages of 2 MiB of this process, where the kernel gives some."""
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
        """Memory of its own, at an address that is a multiple of its size. CUmemLocation: device 0, or PLACES."""
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
    """proc_pid_pagemap(5), of this process."""
    with open("/proc/self/pagemap", "rb") as pagemap:
        pagemap.seek(address // 4096 * 8)
        entry = struct.unpack("<Q", pagemap.read(8))[0]
    return (entry & (1 << 55) - 1) * 4096 if entry >> 63 else None


def walk(address):
    """Of the TSGs of runlist 0 the one that maps it."""
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
    made.append(("NV01_MEMORY_LOCAL_USER", HUGE, cuda.mapped(ours, handle, HUGE)))
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
    ours = Ours()
    one, _ = start("3", "200", "16")
    other, _ = start("4", "500", "16")
    print(pathlib.Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").splitlines()[0])
    try:
        # first: who has taken a process' descriptor is its owner, too
        switched(ours)
        youngest = Ours().client
        theirs = Theirs(one.pid, youngest)
        allocated_channels(ours, (theirs, Theirs(other.pid, youngest)))
        disabled(theirs)
        timeslices(theirs)
        resident(ours)
        translations(ours)
    finally:
        for process in (one, other):
            process.terminate()
            process.wait(timeout=30)
    if FOLDER:
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / "cross-check.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    print(f"{len(LINES) - len(FAILED)} of {len(LINES)} checks passed")
    sys.exit(bool(FAILED))


main()
