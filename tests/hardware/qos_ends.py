#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""What is left at an MPS server where nvqos held launches, and nvqos, a tenant, or the server ends at once.

    qos_ends.py NVQOS NVTASKSET KERNELS FOLDER [--pace FACTOR] [--parts A,B]

As root, on an otherwise idle GPU, with NVIDIA's driver and without the module, in two minutes. KERNELS is kernels.cpp,
built. Two programs of nvtaskset's run the same kernel; nvqos keeps a speed of the first. Rates are of what the kernels
count. Writes FOLDER/qos_ends.json; ends with 1 if a check fails. All times are FACTOR times as long.
"""

import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import bounded
from common import mps, show, write
from qos_reach import gpu

checks = []


class Case:
    """The two at work, without nvqos so far: what each has then, and alone."""

    def __init__(self, stack, asked, kind="compute"):
        self.stack, self.asked = stack, asked
        command = ([asked.nvtaskset, "-q", "--prepare", asked.kernels, kind, "60"], stack.enter_context(mps()))
        with bounded.counting(command) as (one,):
            (self.alone,) = self.rates([one])
        self.tasks = stack.enter_context(bounded.counting(command, command))
        self.before = self.rates(self.tasks)

    def sleep(self, seconds):
        time.sleep(seconds * self.asked.pace)

    def rates(self, tasks, seconds=1.0, settle_s=0.5):
        self.sleep(settle_s)
        begin = time.monotonic_ns()
        self.sleep(seconds)
        end = time.monotonic_ns()
        return [round(bounded.rate(task.wait_past(end), begin, end), 1) for task in tasks]

    def keep(self, goal, *options):
        keeping = bounded.Keeping(self.asked.nvqos, *options, f"{self.tasks[0].pid()}=speed:{goal}%")
        if keeping.refused is not None:
            raise bounded.Late(f"nvqos refused: {keeping.refused}")
        self.stack.callback(keeping.end, signal.SIGKILL)
        self.sleep(2)
        return keeping


def near(rate, other):
    return abs(rate - other) <= 0.1 * other


def check(name, good, **figures):
    checks.append(bool(good))
    return {"check": name, "good": bool(good)} | figures


def nvqos_ends(asked):
    """The second is held while the first is behind, and the first while it is ahead."""
    for how, goal, options in ((signal.SIGKILL, 80, ()), (signal.SIGKILL, 20, ()), (signal.SIGKILL, 80, ("--tpcs",)),
                               (signal.SIGSTOP, 80, ("--tpcs",))):
        with contextlib.ExitStack() as stack:
            case = Case(stack, asked)
            keeping = case.keep(goal, *options)
            kept = case.rates(case.tasks)
            keeping.process.send_signal(how)
            # Masks are leased for a second.
            after = case.rates(case.tasks, settle_s=1.2)
            keeping.end(signal.SIGKILL)
            yield check(how.name, all(map(near, after, case.before)) and not all(map(near, kept, case.before)),
                        goal=goal, options=" ".join(options), before=case.before, kept=kept, after=after)


def tenants_end(asked):
    """The other one goes on as if it were alone, which it is."""
    for number, name in enumerate(("the first", "the second")):
        with contextlib.ExitStack() as stack:
            case = Case(stack, asked)
            keeping = case.keep(40)
            case.tasks[number].kill()
            (rate,) = case.rates([case.tasks[1 - number]], settle_s=1.5)
            status = keeping.end()
            (after,) = case.rates([case.tasks[1 - number]])
            yield check(f"{name} is killed", near(rate, case.alone) and near(after, case.alone) and status in (0, 4),
                        alone=case.alone, rate=rate, after=after, status=status)


def server_ends(asked):
    """Its clients end by its end, as without nvqos; nvqos goes on, and keeps a speed of those of the next server."""
    with contextlib.ExitStack() as stack:
        case = Case(stack, asked)
        keeping = case.keep(80)
        servers = bounded.ask("pgrep", "-f", "nvidia-cuda-mps-server").split()
        for server in servers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(server), signal.SIGKILL)
        ended = [wait(task.process) for task in case.tasks]
        case.sleep(1)
        goes_on = keeping.process.poll() is None
        status = keeping.end()
        yield check("the server is killed", goes_on and all(ended) and status in (0, 4), servers=len(servers), ended=ended,
                    status=status)
    with contextlib.ExitStack() as stack:
        case = Case(stack, asked)
        keeping = case.keep(80)
        kept = case.rates(case.tasks, seconds=2)
        status = keeping.end()
        yield check("after it", kept[0] >= 0.78 * case.alone and status in (0, 4), alone=case.alone, kept=kept, status=status)


def wait(process):
    """Its exit status, and None if it does not end."""
    try:
        return process.wait(bounded.END_S)
    except subprocess.TimeoutExpired:
        return None


def costs(asked):
    """Of a processor, over four seconds of a speed; kernels of milliseconds, and of microseconds."""
    for kind, options in (("compute", ()), ("short", ()), ("short", ("--tpcs",))):
        with contextlib.ExitStack() as stack:
            case = Case(stack, asked, kind)
            keeping = case.keep(60, *options)
            cost, began = -keeping.processor_s(), time.monotonic()
            case.sleep(4)
            cost, took = cost + keeping.processor_s(), time.monotonic() - began
            yield check("cost", keeping.end() in (0, 4), kind=kind, options=" ".join(options),
                        core_percent=round(100 * cost / took, 2))


PARTS = {"nvqos ends": nvqos_ends, "costs": costs, "a tenant ends": tenants_end, "the server ends": server_ends}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("nvqos", "nvtaskset", "kernels", "folder"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--pace", type=float, default=1)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    return parser.parse_args()


def main():
    asked = arguments()
    if unknown := [name for name in asked.parts if name not in PARTS]:
        sys.exit(f"qos_ends: there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    signal.alarm(300)  # whatever hangs
    found = {"gpu": gpu()}
    try:
        for name in asked.parts:
            found[name] = show(name, PARTS[name](asked))
    except (bounded.Late, subprocess.SubprocessError, OSError) as error:
        print(f"qos_ends: {error}", file=sys.stderr)
        checks.append(False)
    write(asked.folder / "qos_ends.json", found)
    print(f"\n{sum(checks)} of {len(checks)} checks passed")
    sys.exit(not all(checks))


main()
