# SPDX-License-Identifier: MIT OR GPL-2.0
"""Which processor of this machine a VM has for itself."""

import contextlib
import os

import pytest
from nvdvm import processor
from nvdvm.errors import VmError
from nvdvm.processor import Processor

ALLOWED = sorted(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def no_other_vm(monkeypatch):
    """As if these were all the VMs of the machine."""
    monkeypatch.setattr(processor, "NAME", f"nvdebug-test-{os.getpid()}")
    monkeypatch.delenv("NVDEBUG_CPU", raising=False)


def test_each_has_its_own_until_there_is_none_left():
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(contextlib.closing(Processor())).number for _ in ALLOWED]
        assert taken == ALLOWED
        assert stack.enter_context(contextlib.closing(Processor())).number is None


def test_one_is_free_again_when_its_vm_has_gone():
    Processor().close()
    with contextlib.closing(Processor()) as again:
        assert again.number == ALLOWED[0]


def test_it_can_be_named_and_shared_then(monkeypatch):
    monkeypatch.setenv("NVDEBUG_CPU", str(ALLOWED[-1]))
    with contextlib.closing(Processor()) as one, contextlib.closing(Processor()) as other:
        assert one.number == other.number == ALLOWED[-1]


@pytest.mark.parametrize("named", ("99999", "nonsense", "-1"))
def test_one_that_is_not_there(monkeypatch, named):
    monkeypatch.setenv("NVDEBUG_CPU", named)
    with pytest.raises(VmError, match=f"NVDEBUG_CPU={named}: no processor .*; those are {ALLOWED[0]}"):
        Processor()
