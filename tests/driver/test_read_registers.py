# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs tests/hardware/read_registers.py over a resource manager that records, to show that it only reads."""

import ctypes
import importlib.util
import io
import subprocess
import sys

import pytest
from nvdvm import paths

PROGRAM = paths.ROOT / "tests/hardware/read_registers.py"
# Reading these registers acts: it invalidates the L2 (open-gpu-kernel-modules gh100/dev_vm.h).
ACT_WHEN_READ = (0xb80f10, 0xb80f18)
# The ioctls free, control and allocate, and registering a descriptor.
ALLOWED_IOCTLS = {0x29, 0x2a, 0x2b, 201}
OPENING = {0x201, 0x205, 0x20801701}
FACTS = OPENING | {0x20800102, 0x20800110, 0x20800170, 0x20800179, 0x2080017a, 0x20801108,
                   0x2080121b, 0x20801228, 0x2080122a, 0x2080122b, 0x20801303, 0x20802a02,
                   0xcb330101}


@pytest.fixture
def reader():
    spec = importlib.util.spec_from_file_location("read_registers", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Rm:
    """Stands in for the resource manager: has one GPU of Hopper, and answers each operation with its offset."""

    def __init__(self, reader):
        self.gpus, self.architecture = 1, 0x180
        self.reader, self.ioctls, self.controls, self.ops, self.calls = reader, set(), set(), [], []

    def __call__(self, fd, number, params):
        self.ioctls.add(number)
        if number != self.reader.ESC_CONTROL:
            return
        self.controls.add(params.cmd)
        if params.cmd == 0x201:
            ids = (ctypes.c_uint32 * 32).from_address(params.params)
            ids[:] = [0x100] * self.gpus + [0xffffffff] * (32 - self.gpus)
        if params.cmd == 0x20801701:
            self.reader.Arch.from_address(params.params).architecture = self.architecture
        if params.cmd == 0x20800170:
            engines = self.reader.Engines.from_address(params.params)
            engines.count, engines.list[0], engines.list[1] = 2, 1, 9
        if params.cmd == self.reader.EXEC_REG_OPS:
            asked = self.reader.RegOps.from_address(params.params)
            self.calls.append(asked.count)
            assert asked.non_transactional == 1 and asked.client == asked.channel == 0
            for op in (self.reader.RegOp * asked.count).from_address(asked.ops):
                self.ops.append((op.op, op.type, op.offset, op.and_n_lo, op.lo))
                op.lo = 0xbadf5040 if op.offset >= 0xc08000 else op.offset & 0xffff


@pytest.fixture
def rm(reader, monkeypatch):
    rm = Rm(reader)
    monkeypatch.setattr(reader, "rm", rm)
    monkeypatch.setattr(reader.fcntl, "ioctl", lambda fd, number, arg: rm.ioctls.add(number & 0xff))
    monkeypatch.setattr(reader.os, "open", lambda *args: 99)
    return rm


def test_registers_are_only_read(reader, rm):
    out = io.StringIO()
    reader.dump(reader.Gpu(0), None, out)
    assert rm.ops and all((op, kind) == (0, 0) for op, kind, *_ in rm.ops), "READ_32, GLOBAL"
    assert all((mask, value) == (0, 0) for *_, mask, value in rm.ops)
    assert max(rm.calls) <= 100
    offsets = {offset for _, _, offset, _, _ in rm.ops}
    assert not offsets & set(ACT_WHEN_READ) and all(offset % 4 == 0 for offset in offsets)
    assert rm.controls == OPENING | {0x20800122} and rm.ioctls <= ALLOWED_IOCTLS
    lines = out.getvalue().splitlines()
    assert "00022800 00002800" in lines
    assert "# error 00c08000-00c087fc badf5040" in lines
    assert "# zero 00000000-00000000" in lines


def test_facts_take_no_other_controls(reader, rm):
    said = reader.facts(reader.Gpu(0))
    assert rm.controls == FACTS and not rm.ops
    assert said["sm_order"]["sms"] == [] and rm.ioctls <= ALLOWED_IOCTLS


def test_no_driver_is_said():
    result = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True)
    assert result.returncode == 1 and result.stdout == ""
    assert "NVIDIA's driver is not loaded" in result.stderr


@pytest.mark.parametrize("version, uid, said", (
    ("580.159.04", 1000, "for root"), ("123.4", 0, "--any-driver tries it"),
    ("580.159.04", 0, "cannot open GPU 7")))
def test_what_it_refuses(reader, monkeypatch, version, uid, said):
    monkeypatch.setattr(reader, "driver_version", lambda: version)
    monkeypatch.setattr(reader.os, "geteuid", lambda: uid)
    monkeypatch.setattr(sys, "argv", ["read_registers", "--gpu", "7"])
    with pytest.raises(SystemExit, match=said):
        reader.main()


@pytest.mark.parametrize("gpus, architecture, said", (
    (2, 0x180, "2 GPUs are in use"), (0, 0x180, "0 GPUs are in use"), (1, 0x190, "--any-gpu")))
def test_gpus_it_refuses(reader, rm, monkeypatch, gpus, architecture, said):
    rm.gpus, rm.architecture = gpus, architecture
    monkeypatch.setattr(reader, "driver_version", lambda: "580.1")
    monkeypatch.setattr(reader.os, "geteuid", lambda: 0)
    monkeypatch.setattr(reader.os, "close", lambda fd: None)
    monkeypatch.setattr(sys, "argv", ["read_registers"])
    with pytest.raises(SystemExit, match=said):
        reader.main()
    assert not rm.ops
