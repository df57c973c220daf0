# SPDX-License-Identifier: MIT OR GPL-2.0
"""Which processor of this machine a VM has for itself."""

import contextlib
import os

import pytest
from nvdvm import processor
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


@pytest.mark.parametrize("named, number", ((str(ALLOWED[-1]), ALLOWED[-1]), ("99999", None), ("", ALLOWED[0]),
                                           ("nonsense", ALLOWED[0])))
def test_it_can_be_named(monkeypatch, named, number):
    monkeypatch.setenv("NVDEBUG_CPU", named)
    with contextlib.closing(Processor()) as one:
        assert one.number == number
        with contextlib.closing(Processor()) as other:
            assert (other.number == number) == (named.isdigit() or len(ALLOWED) == 1), "who names it may share it"
