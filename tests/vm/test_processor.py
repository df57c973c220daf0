# SPDX-License-Identifier: MIT OR GPL-2.0
"""Each VM has a processor of this machine for itself, as long as there are enough."""

import contextlib
import os

import pytest
from nvdvm import processor
from nvdvm.errors import VmError
from nvdvm.processor import Processor

ALLOWED = sorted(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def no_other_vm(monkeypatch):
    """Hides the other VMs of the machine from the tests."""
    monkeypatch.setattr(processor, "NAME", f"nvdebug-test-{os.getpid()}")
    monkeypatch.delenv("NVDEBUG_CPU", raising=False)


def test_each_vm_has_a_processor_until_none_is_left():
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(contextlib.closing(Processor())).number for _ in ALLOWED]
        assert taken == ALLOWED
        assert stack.enter_context(contextlib.closing(Processor())).number is None


def test_a_processor_is_free_again_when_its_vm_has_gone():
    Processor().close()
    with contextlib.closing(Processor()) as again:
        assert again.number == ALLOWED[0]


def test_a_named_processor_is_shared(monkeypatch):
    monkeypatch.setenv("NVDEBUG_CPU", str(ALLOWED[-1]))
    with contextlib.closing(Processor()) as one, contextlib.closing(Processor()) as other:
        assert one.number == other.number == ALLOWED[-1]


@pytest.mark.parametrize("named", ("99999", "nonsense", "-1"))
def test_a_missing_processor_is_refused(monkeypatch, named):
    monkeypatch.setenv("NVDEBUG_CPU", named)
    with pytest.raises(VmError, match=f"NVDEBUG_CPU={named}: no processor .*; those are {ALLOWED[0]}"):
        Processor()
