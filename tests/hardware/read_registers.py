#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Read registers of an NVIDIA GPU through NVIDIA's own driver, from user space.

It needs root and NVIDIA's driver, not this project's module. It only reads:
register operations READ_32 on registers that do nothing when read (the groups
below, chosen for Hopper), and controls that ask what the driver knows of the GPU's wiring.

Where a GSP runs the driver, as on Hopper, the GSP reads the register. What it
may read and what the CPU may read through BAR0 need not be the same.

Output: offset and value, hex. Ranges that read zero, or one error word
(0xbadf5040: no such register), are comments, both ends included.

Structures and numbers: NVIDIA/open-gpu-kernel-modules 580.142,
src/common/sdk/nvidia/inc (nvos.h, class/, ctrl/) and
src/nvidia/arch/nvalloc/unix/include/nv_escape.h.
"""

import argparse
import ctypes as c
import fcntl
import json
import os
import sys
import time

U8, U16, U32, U64 = c.c_uint8, c.c_uint16, c.c_uint32, c.c_uint64

# nv_escape.h; kernel-open/common/inc/nv-ioctl-numbers.h
ESC_FREE, ESC_CONTROL, ESC_ALLOC, ESC_REGISTER_FD = 0x29, 0x2a, 0x2b, 201

ROOT_CLIENT, DEVICE, SUBDEVICE, CONF_COMPUTE = 0x41, 0x80, 0x2080, 0xcb33
EXEC_REG_OPS = 0x20800122
MAX_OPS = 100
KNOWN_DRIVERS = ("580.",)
HOPPER = 0x180

# The only controls that this program issues.
CONTROLS = {
    "attached_ids": 0x201, "id_info": 0x205,
    "gpu_info": 0x20800102, "name": 0x20800110, "engines": 0x20800170,
    "runlist_bases": 0x20800179, "hw_engine_ids": 0x2080017a,
    "reg_ops": EXEC_REG_OPS,
    "channel_count": 0x20801108,
    "sm_order": 0x2080121b, "gr_info": 0x20801228,
    "gpc_mask": 0x2080122a, "tpc_mask": 0x2080122b,
    "fb_info": 0x20801303, "arch": 0x20801701, "pce_mask": 0x20802a02,
    "conf_compute": 0xcb330101,
}


def struct(name, *fields):
    return type(name, (c.Structure,), {"_fields_": list(fields)})


Free = struct("NVOS00", ("root", U32), ("parent", U32), ("old", U32), ("status", U32))
Alloc = struct("NVOS21", ("root", U32), ("parent", U32), ("new", U32), ("cls", U32),
               ("params", U64), ("size", U32), ("status", U32))
Control = struct("NVOS54", ("client", U32), ("object", U32), ("cmd", U32), ("flags", U32),
                 ("params", U64), ("size", U32), ("status", U32))
Route = struct("NV0080_CTRL_GR_ROUTE_INFO", ("flags", U32), ("route", U64))
RegOp = struct("NV2080_CTRL_GPU_REG_OP", ("op", U8), ("type", U8), ("status", U8), ("quad", U8),
               ("group_mask", U32), ("sub_group_mask", U32), ("offset", U32), ("hi", U32),
               ("lo", U32), ("and_n_hi", U32), ("and_n_lo", U32))
RegOps = struct("NV2080_CTRL_GPU_EXEC_REG_OPS_PARAMS", ("client", U32), ("channel", U32),
                ("non_transactional", U32), ("reserved", U32 * 2), ("count", U32),
                ("ops", U64), ("route", Route))
DeviceParams = struct("NV0080_ALLOC_PARAMETERS", ("id", U32), ("share", U32), ("target", U32),
                      ("target_device", U32), ("flags", U32), ("va_size", U64), ("va_start", U64),
                      ("va_limit", U64), ("va_mode", U32))
IdInfo = struct("NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS", ("gpu", U32), ("flags", U32),
                ("device", U32), ("subdevice", U32), ("sli", U32), ("board", U32),
                ("instance", U32), ("numa", U32))
Sm = struct("globalSmId", ("gpcId", U16), ("localTpcId", U16), ("localSmId", U16),
            ("globalTpcId", U16), ("virtualGpcId", U16), ("migratableTpcId", U16),
            ("ugpuId", U16), ("physicalCpcId", U16), ("virtualTpcId", U16))
SmOrder = struct("NV2080_CTRL_GR_GET_GLOBAL_SM_ORDER_PARAMS", ("sm", Sm * 512),
                 ("num_sm", U16), ("num_tpc", U16), ("route", Route))
Engines = struct("NV2080_CTRL_GPU_GET_ENGINES_V2_PARAMS", ("count", U32), ("list", U32 * 0x54))
Bases = struct("NV2080_CTRL_GPU_GET_ENGINE_RUNLIST_PRI_BASE_PARAMS", ("list", U32 * 0x54),
               ("base", U32 * 0x54), ("runlist", U32 * 0x54))
HwIds = struct("NV2080_CTRL_GPU_GET_HW_ENGINE_ID_PARAMS", ("list", U32 * 0x54),
               ("id", U32 * 0x54))
GpcMask = struct("NV2080_CTRL_GR_GET_GPC_MASK_PARAMS", ("route", Route), ("mask", U32))
TpcMask = struct("NV2080_CTRL_GR_GET_TPC_MASK_PARAMS", ("route", Route), ("gpc", U32),
                 ("mask", U32))
Pair = struct("info", ("index", U32), ("data", U32))
GpuInfo = struct("NV2080_CTRL_GPU_GET_INFO_V2_PARAMS", ("count", U32), ("list", Pair * 0x46))
FbInfo = struct("NV2080_CTRL_FB_GET_INFO_V2_PARAMS", ("count", U32), ("list", Pair * 0x80))
GrInfo = struct("NV0080_CTRL_GR_GET_INFO_V2_PARAMS", ("count", U32), ("list", Pair * 0x3a),
                ("route", Route))
Arch = struct("NV2080_CTRL_MC_GET_ARCH_INFO_PARAMS", ("architecture", U32), ("implementation", U32),
              ("revision", U32), ("sub_revision", U8))
PceMask = struct("NV2080_CTRL_CE_GET_CE_PCE_MASK_PARAMS", ("engine", U32), ("mask", U32))
Channels = struct("NV2080_CTRL_FIFO_GET_PHYSICAL_CHANNEL_COUNT_PARAMS", ("count", U32),
                  ("in_use", U32))
Name = struct("NV2080_CTRL_GPU_GET_NAME_STRING_PARAMS", ("flags", U32), ("text", U8 * 128))

assert c.sizeof(RegOp) == 32 and c.sizeof(RegOps) == 48 and c.sizeof(Control) == 32
assert c.sizeof(DeviceParams) == 56
assert c.sizeof(SmOrder) == 512 * 18 + 8 + 16


class RmError(Exception):
    pass


class Gpu:
    """A client of the resource manager with a device and a subdevice of one GPU."""

    def __init__(self, minor):
        self.ctl = os.open("/dev/nvidiactl", os.O_RDWR | os.O_CLOEXEC)
        self.dev = os.open("/dev/nvidia%d" % minor, os.O_RDWR | os.O_CLOEXEC)
        self.client = 0
        fcntl.ioctl(self.dev, request(ESC_REGISTER_FD, 4), U32(self.ctl))
        self.client = self.alloc(0, 0, ROOT_CLIENT)
        ids = (U32 * 32)()
        self.ask(self.client, "attached_ids", ids)
        found = [i for i in ids if i != 0xffffffff]
        if len(found) != 1:
            raise RmError("%d GPUs are in use, and this program cannot choose one of them"
                          % len(found))
        info = IdInfo(gpu=found[0])
        self.ask(self.client, "id_info", info)
        self.device = self.alloc(self.client, 0x5c000001, DEVICE, DeviceParams(id=info.device))
        self.sub = self.alloc(self.device, 0x5c000002, SUBDEVICE, U32(info.subdevice))
        self.arch = self.ask(self.sub, "arch", Arch())

    def close(self):
        if self.client:
            rm(self.ctl, ESC_FREE, Free(self.client, 0, self.client))
        os.close(self.dev)
        os.close(self.ctl)

    def alloc(self, parent, handle, cls, params=None):
        a = Alloc(self.client, parent, handle, cls, c.addressof(params) if params is not None else 0,
                  c.sizeof(params) if params is not None else 0)
        rm(self.ctl, ESC_ALLOC, a)
        if a.status:
            raise RmError("class %#x: status %#x%s" % (cls, a.status, reason(a.status)))
        return a.new

    def ask(self, obj, control, params):
        cmd = CONTROLS[control]
        p = Control(self.client, obj, cmd, 0, c.addressof(params), c.sizeof(params))
        rm(self.ctl, ESC_CONTROL, p)
        if p.status:
            raise RmError("control %#x (%s): status %#x%s"
                          % (cmd, control, p.status, reason(p.status)))
        return params

    def read(self, offsets):
        """Yield (offset, value, status) for each offset, in order."""
        for at in range(0, len(offsets), MAX_OPS):
            part = offsets[at:at + MAX_OPS]
            ops = (RegOp * len(part))()
            for op, offset in zip(ops, part):
                op.offset = offset                  # op 0 is READ_32, type 0 is GLOBAL
            self.ask(self.sub, "reg_ops", RegOps(non_transactional=1, count=len(part),
                                                 ops=c.addressof(ops)))
            for op in ops:
                yield op.offset, op.lo, op.status


def request(number, size):
    return 3 << 30 | size << 16 | ord("F") << 8 | number


def rm(fd, number, params):
    fcntl.ioctl(fd, request(number, c.sizeof(params)), params)


def reason(status):
    return {0x1b: " (not permitted: root only?)", 0x56: " (not supported)",
            0x57: " (no such object)"}.get(status, "")


# ---- registers -----------------------------------------------------------

def words(start, end):
    return list(range(start, end, 4))


def per_gpc():
    """nvgpu: gr_gpc0_gpm_pd_sm_id(i), the id of each local TPC. A GPC has 0x10000 on GH100."""
    return [base + offset for base in range(0x500000, 0x580000, 0x10000)
            for offset in words(0xc10, 0xc34)]


GROUPS = [
    ("identity", words(0, 0x20) + words(0xa00, 0xa10)),
    ("bus", words(0x1400, 0x1500) + words(0x1700, 0x1720)),
    ("ptimer", words(0x9400, 0x9420)),
    ("smcarb", words(0xcc00, 0xcca0)),
    ("ptop", words(0x22400, 0x22500) + words(0x22800, 0x22a80)),
    ("memory", [0x100a34, 0x100a38, 0x100ce0, 0x10fd40] + words(0x1fa81c, 0x1fa82c)
     + words(0x1183a0, 0x1183b0)),
    ("secure", [0x118234, 0x1182cc]),
    ("ce", words(0x104000, 0x104400)),
    ("ring", words(0x120060, 0x120080)),
    ("fuses", [0x82074c] + words(0x820c00, 0x820d00) + words(0x824e04, 0x824e14)),
    ("bars", words(0xb80f40, 0xb80f80)),
    ("usermode", words(0xbb0000, 0xbb0008) + words(0xbb0080, 0xbb0088)),
    ("runlists", words(0xc00000, 0xc08800)),
    ("channels", words(0xc20000, 0xc20200)),
    ("graphics", words(0x400000, 0x400010) + words(0x404000, 0x404010)
     + words(0x405000, 0x405400) + words(0x405800, 0x405880) + words(0x405b00, 0x405c80)
     + words(0x406028, 0x406048) + words(0x409604, 0x409608) + words(0x409b00, 0x409b08)
     + words(0x40a200, 0x40a240) + words(0x418b08, 0x418b40) + words(0x418bb8, 0x418be0)),
    ("gpcs", per_gpc()),
    ("pbdmas", words(0x40000, 0x55000)),
]


def dump(gpu, names, out):
    for name, offsets in GROUPS:
        if names and name not in names:
            continue
        begin = time.monotonic()
        got = list(gpu.read(offsets))
        out.write("# group %s: %d registers, %.0f us each\n"
                  % (name, len(got), 1e6 * (time.monotonic() - begin) / len(got)))
        for offset, value, status in got:
            if status:
                out.write("# refused %08x status %#x\n" % (offset, status))
            elif value and not is_error(value):
                out.write("%08x %08x\n" % (offset, value))
        for kind, first, last, value in runs(got):
            out.write("# %s %08x-%08x%s\n" % (kind, first, last,
                                              " %08x" % value if kind == "error" else ""))
        out.flush()


def is_error(value):
    return value >> 16 in (0xbadf, 0xbad0) or value >> 20 == 0xbad or value == 0xffffffff


def runs(got):
    """Yields ranges of registers that are zero, or that answer with the same error."""
    last = None
    for offset, value, status in got:
        if status or (value and not is_error(value)):
            continue
        kind = "error" if value else "zero"
        if last and last[0] == kind and last[3] == value and last[2] + 4 == offset:
            last[2] = offset
            continue
        if last:
            yield last
        last = [kind, offset, offset, value]
    if last:
        yield last


# ---- facts from the driver -----------------------------------------------

def facts(gpu):
    def get(fill):
        try:
            return fill()
        except RmError as err:        # other drivers may refuse one of these
            return "error: %s" % err

    def sm_order():
        p = gpu.ask(gpu.sub, "sm_order", SmOrder())
        return {"numSm": p.num_sm, "numTpc": p.num_tpc, "fields": [f[0] for f in Sm._fields_],
                "sms": [[getattr(s, f[0]) for f in Sm._fields_] for s in p.sm[:p.num_sm]]}

    def info(control, cls, indexes):
        p = cls(count=len(indexes))
        for slot, index in zip(p.list, indexes):
            slot.index = index
        gpu.ask(gpu.sub, control, p)
        return {"%#x" % s.index: s.data for s in p.list[:len(indexes)]}

    def arch():
        return ["%#x" % gpu.arch.architecture, gpu.arch.implementation, "%#x" % gpu.arch.revision]

    def name():
        return bytes(gpu.ask(gpu.sub, "name", Name()).text).split(b"\0")[0].decode()

    def conf_compute():
        own = U32(gpu.client)
        obj = gpu.alloc(gpu.client, 0x5c000003, CONF_COMPUTE, own)
        return list(gpu.ask(obj, "conf_compute", (U8 * 6)()))

    known = gpu.ask(gpu.sub, "engines", Engines())
    engines = list(known.list[:min(known.count, len(known.list))])

    def bases():
        p = Bases()
        p.list[:len(engines)] = engines
        gpu.ask(gpu.sub, "runlist_bases", p)
        return [{"engine": e, "pri_base": "%#x" % p.base[i], "runlist": p.runlist[i]}
                for i, e in enumerate(engines)]

    def hw_ids():
        p = HwIds()
        p.list[:len(engines)] = engines
        gpu.ask(gpu.sub, "hw_engine_ids", p)
        return list(p.id[:len(engines)])

    out = {
        "name": get(name), "driver": driver_version(), "arch": arch(), "engines": engines,
        "runlists": get(bases), "hw_engine_id": get(hw_ids),
        "ce_pce_mask": {e: get(lambda e=e: "%#x" % gpu.ask(gpu.sub, "pce_mask", PceMask(e)).mask)
                        for e in engines if 9 <= e <= 18},
        "gpc_mask": get(lambda: "%#x" % gpu.ask(gpu.sub, "gpc_mask", GpcMask()).mask),
        "tpc_mask": {g: get(lambda g=g: "%#x" % gpu.ask(gpu.sub, "tpc_mask", TpcMask(gpc=g)).mask)
                     for g in range(8)},
        "channels": get(lambda: gpu.ask(gpu.sub, "channel_count", Channels()).count),
        # GPU_INFO: 0x2a MIG mode (1 on, 2 off), 0x2f channel RAM per runlist, 0x3b self-hosted
        "gpu_info": get(lambda: info("gpu_info", GpuInfo, [0x2a, 0x2f, 0x3b])),
        "gr_info": get(lambda: info("gr_info", GrInfo, list(range(0x14, 0x38)))),
        "fb_info_kb": get(lambda: info("fb_info", FbInfo, [5, 7, 8, 0x20])),
        "conf_compute": get(conf_compute), "sm_order": get(sm_order),
    }
    return out


def driver_version():
    try:
        with open("/sys/module/nvidia/version", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return None


def main():
    parser = argparse.ArgumentParser(
        description="Read registers of an NVIDIA GPU through NVIDIA's driver. Only reads; root.",
        epilog="Groups: " + ", ".join(name for name, _ in GROUPS))
    parser.add_argument("--gpu", type=int, default=0, help="minor number of /dev/nvidiaN")
    parser.add_argument("--group", action="append", choices=[g for g, _ in GROUPS],
                        help="only this group of registers (may be repeated)")
    parser.add_argument("--rm", action="store_true",
                        help="print the driver's facts on the GPU's wiring, as JSON, and no registers")
    parser.add_argument("--any-driver", action="store_true",
                        help="try a driver on which this was not seen to work")
    parser.add_argument("--any-gpu", action="store_true",
                        help="read a GPU other than Hopper, where these offsets may be anything")
    parser.add_argument("-o", "--output", help="file to write (standard output else)")
    args = parser.parse_args()

    version = driver_version()
    if version is None:
        sys.exit("read_registers: NVIDIA's driver is not loaded (no /sys/module/nvidia)")
    if os.geteuid():
        sys.exit("read_registers: register operations are for root")
    if not version.startswith(KNOWN_DRIVERS) and not args.any_driver:
        sys.exit("read_registers: driver %s is not one of %s; --any-driver tries it"
                 % (version, ", ".join(v + "x" for v in KNOWN_DRIVERS)))
    try:
        gpu = Gpu(args.gpu)
    except (OSError, RmError) as err:
        sys.exit("read_registers: cannot open GPU %d: %s" % (args.gpu, err))
    if gpu.arch.architecture != HOPPER and not args.any_gpu and not args.rm:
        gpu.close()
        sys.exit("read_registers: the GPU is of architecture %#x, and the registers are chosen for "
                 "Hopper's (%#x); --any-gpu reads them all the same"
                 % (gpu.arch.architecture, HOPPER))
    out = open(args.output, "w", encoding="ascii") if args.output else sys.stdout
    try:
        if args.rm:
            json.dump(facts(gpu), out, indent=1)
            out.write("\n")
        else:
            out.write("# NVIDIA driver %s, register operations, %s\n"
                      % (version, time.strftime("%Y-%m-%d", time.gmtime())))
            dump(gpu, args.group, out)
    except (OSError, RmError) as err:
        sys.exit("read_registers: %s" % err)
    finally:
        out.flush()
        gpu.close()


if __name__ == "__main__":
    main()
