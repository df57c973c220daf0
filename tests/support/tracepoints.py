# SPDX-License-Identifier: MIT OR GPL-2.0
"""The module's tracepoints. Each write to the GPU raises one."""

import contextlib
import re

TRACING = "/sys/kernel/tracing"


@contextlib.contextmanager
def trace(bench):
    """Collects the lines of the tracepoints that a with-block raises. They are in the list after it."""
    lines = []
    bench.check(f"echo > {TRACING}/trace; echo 1 > {TRACING}/events/nvdebug/enable")
    try:
        yield lines
        lines += bench.run(f"grep -v '^#' {TRACING}/trace").out.decode().splitlines()
    finally:
        bench.check(f"echo 0 > {TRACING}/events/nvdebug/enable; echo > {TRACING}/trace")


def events(lines):
    return [re.search(r" (\w+): 0000:", line)[1] for line in lines]
