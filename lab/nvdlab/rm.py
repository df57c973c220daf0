# SPDX-License-Identifier: MIT OR GPL-2.0
"""Calls the resource manager (RM) of NVIDIA's driver, as this process or through the descriptor of another process.

Numbers and structures are of NVIDIA's open-gpu-kernel-modules (src/common/sdk/nvidia/inc).
"""

import array
import contextlib
import ctypes
import fcntl
import itertools
import mmap
import os
import pathlib
import struct

# ioctls: nv_escape.h, nvos.h
ESC_CONTROL, ESC_ALLOC, ESC_MAP = 0x2a, 0x2b, 0x4e
CLASS_DEVICE, CLASS_SUBDEVICE, CLASS_TSG, CLASS_MEMORY = 0x80, 0x2080, 0xa06c, 0xc2
CLASS_EVENTS, CLASS_EVENT_MEMORY, CLASS_VIDEO_MEMORY = 0x90cd, 0x90ce, 0x40
HUGE = 512 << 20
# The NV_STATUS for a runlist without channels, as measured.
NO_CHANNELS = 0x5b
SYS_PIDFD_OPEN, SYS_PIDFD_GETFD = 434, 438


class Refused(Exception):
    def __init__(self, what, status):
        super().__init__(f"{what}: status {status:#x}")
        self.status = status


class Rm:
    """A descriptor of /dev/nvidiactl: of this process, or taken from another one."""

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
        """Returns the class of an object, or None if there is no such object (NV0000_CTRL_CMD_CLIENT_GET_HANDLE_INFO)."""
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
        # The driver takes requests about a GPU only from a process that has it open.
        self.node = os.open("/dev/nvidia0", os.O_RDWR | os.O_CLOEXEC)
        self._handles = itertools.count(1)
        self.device, self.subdevice, self.memory = (next(self._handles) for _ in range(3))
        self.alloc(self.client, self.client, self.device, CLASS_DEVICE, bytes(56))
        self.alloc(self.client, self.device, self.subdevice, CLASS_SUBDEVICE, bytes(4))
        self.alloc(self.client, self.device, self.memory, CLASS_MEMORY, bytes(24))

    def allocated(self, runlist):
        """Returns the allocated channels of a runlist, or None if the driver does not answer for it
        (NV2080_CTRL_CMD_FIFO_GET_ALLOCATED_CHANNELS)."""
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
        """Reads registers in this order (NV2080_CTRL_CMD_GPU_EXEC_REG_OPS)."""
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
        """Maps memory, an object below PARENT. It stays mapped when NODE is closed."""
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
        """Returns bytes of video memory, through a read-only mapping."""
        begin = address & ~0xfff
        size = (address + count - begin + 0xfff) & ~0xfff
        with self._map(self.device, self.memory, os.open("/dev/nvidia0", os.O_RDWR | os.O_CLOEXEC),
                       begin, size) as mapped:
            return mapped[address - begin:address - begin + count]

    def _memory(self, handle, kind, size, attributes, more, flags=0, alignment=0):
        """Allocates memory (NV_MEMORY_ALLOCATION_PARAMS, nvos.h)."""
        self.alloc(self.client, self.device if kind == CLASS_VIDEO_MEMORY else self.client, handle, kind, struct.pack(
            "<11Ixxxx7Q5Ixxxx", self.client, 0, flags, *bytes(3), attributes, more, *bytes(3), 0, 0, size, alignment, *bytes(3),
            *bytes(5)))

    def page_of_512_mib(self):
        """Allocates video memory in one page of 512 MiB. Returns its handle, and a function that writes a part of it."""
        handle, contiguous, huge, of_512_mib = next(self._handles), 2 << 27, 3 << 23, 2 << 20
        self._memory(handle, CLASS_VIDEO_MEMORY, HUGE, contiguous | huge, of_512_mib, flags=0x8100, alignment=HUGE)

        def write(offset, data):
            with self._map(self.device, handle, os.open("/dev/nvidia0", os.O_RDWR | os.O_CLOEXEC), offset,
                           len(data), writable=True) as mapped:
                mapped[:] = data
        return handle, write

    def _event_memory(self, handle, size):
        """Allocates and maps memory that only the driver may write (NV01_MEMORY_DEVICELESS)."""
        cached, read_only = 1 << 29, 1 << 22  # NVOS32_ATTR_COHERENCY, NVOS32_ATTR2_PROTECTION_USER
        self._memory(handle, CLASS_EVENT_MEMORY, size, cached, read_only)
        return self._map(self.client, handle, os.open("/dev/nvidiactl", os.O_RDWR | os.O_CLOEXEC), 0, size)

    def switches(self, meanwhile):
        """Records the context switches of GR0 while MEANWHILE() runs.

        Returns the result of MEANWHILE(), and (ns, starts, context, pid) of each switch, in order. Source: NV_EVENT_BUFFER,
        NV2080_CTRL_CMD_GR_FECS_BIND_EVTBUF_FOR_UID_V2, cl90cdfecs.h.
        """
        header, records, events = (next(self._handles) for _ in range(3))
        count, size = 1 << 16, 32
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
    """The TSGs and channels of a process that the caller started, found through that process' descriptor."""

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
        """Returns the address of a channel's instance block, or None (NV2080_CTRL_CMD_FIFO_GET_CHANNEL_MEM_INFO)."""
        answer = rm.control(client, self.subdevice[client], 0x2080110c,
                            struct.pack("<Ixxxx", handle) + bytes(24 * 4 + 8))
        aperture, base = struct.unpack_from("<IxxxxQ", answer, 8)
        return base if aperture == 1 else None

    def set_enabled(self, channels, enabled):
        """Enables or disables channels of one client (NV2080_CTRL_CMD_FIFO_DISABLE_CHANNELS)."""
        rm, client, _ = channels[0]
        clients = [client for _, client, _ in channels] + [0] * (64 - len(channels))
        handles = [handle for _, _, handle in channels] + [0] * (64 - len(channels))
        rm.control(client, self.subdevice[client], 0x2080110b, struct.pack(
            "<BxxxIBBxxxxxxQ64I64I", not enabled, len(channels), 0, 0, 0, *clients, *handles))

    @staticmethod
    def timeslice(tsg, us=None):
        """Returns or sets the timeslice of a TSG, in us (NVA06C_CTRL_CMD_GET_TIMESLICE and _SET_TIMESLICE)."""
        rm, client, handle, _ = tsg
        if us is None:
            return struct.unpack("<Q", rm.control(client, handle, 0xa06c0104, bytes(8)))[0]
        return rm.control(client, handle, 0xa06c0103, struct.pack("<Q", us))

    @staticmethod
    def preempt(tsg):
        """Preempts a TSG, and returns once it is off the engine (NVA06C_CTRL_CMD_PREEMPT)."""
        rm, client, handle, _ = tsg
        wait, own_timeout, timeout_us = 1, 1, 1_000_000
        rm.control(client, handle, 0xa06c0105, struct.pack("<BBxxI", wait, own_timeout, timeout_us))
