#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks that nothing stays held at an MPS server when nvqos, a tenant or the server is killed.

    qos_ends.py NVQOS NVTASKSET KERNELS FOLDER [--pace FACTOR] [--parts A,B]

It needs root, an otherwise idle GPU, NVIDIA's driver, no module, and two minutes. KERNELS is the program of kernels.cpp.
nvtaskset starts two programs with the same kernel, and nvqos keeps a speed of the first one, by holding launches. Rates are
from the counts of the kernels. Writes FOLDER/qos_ends.json. Ends with 1 if a check fails. All times are FACTOR times as long.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time

from common import bounded, checks, counts, kind as kind_of, machine, record, run

done = checks.Checks()
check = done.row


class Case:
    """The two programs at work, with their rates without nvqos, and the rate of one alone."""

    def __init__(self, stack, asked, kind="compute"):
        self.stack, self.asked = stack, asked
        command = ([asked.nvtaskset, "-q", "--prepare", asked.kernels, kind, "60"], stack.enter_context(bounded.mps())[0])
        with bounded.tasks(command) as (one,):
            (self.alone,) = self.rates([one])
        self.tasks = stack.enter_context(bounded.tasks(command, command))
        self.before = self.rates(self.tasks)

    def sleep(self, seconds):
        time.sleep(seconds * self.asked.pace)

    def rates(self, tasks, seconds=1.0, settle_s=0.5):
        self.sleep(settle_s)
        begin = time.monotonic_ns()
        self.sleep(seconds)
        end = time.monotonic_ns()
        return [round(counts.rate(task.wait_past(end), begin, end), 1) for task in tasks]

    def keep(self, goal, *options):
        keeping = bounded.Keeping(self.asked.nvqos, *options, f"{self.tasks[0].pid}=speed:{goal}%")
        if keeping.refused is not None:
            raise bounded.Late(f"nvqos refused: {keeping.refused}")
        self.stack.callback(keeping.end, signal.SIGKILL)
        self.sleep(2)
        return keeping


def near(rate, other):
    return abs(rate - other) <= 0.1 * other


def nvqos_ends(asked):
    """Kills or stops nvqos while it holds the second program (the first is behind), or the first (it is ahead)."""
    for how, goal, options in ((signal.SIGKILL, 80, ()), (signal.SIGKILL, 20, ()), (signal.SIGKILL, 80, ("--tpcs",)),
                               (signal.SIGSTOP, 80, ("--tpcs",))):
        with contextlib.ExitStack() as stack:
            case = Case(stack, asked)
            keeping = case.keep(goal, *options)
            kept = case.rates(case.tasks)
            keeping.process.send_signal(how)
            # A mask is leased for a second, and then ends by itself.
            after = case.rates(case.tasks, settle_s=1.2)
            keeping.end(signal.SIGKILL)
            yield check(how.name, all(map(near, after, case.before)) and not all(map(near, kept, case.before)),
                        goal=goal, options=" ".join(options), before=case.before, kept=kept, after=after)


def tenants_end(asked):
    """Kills either program. The other one then has its rate alone."""
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
    """Kills the server, whose clients end with it, as without nvqos. nvqos goes on, and keeps a speed at the next server."""
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
    """Returns the exit status of a process, or None if it does not end."""
    try:
        return process.wait(bounded.END_S)
    except subprocess.TimeoutExpired:
        return None


def costs(asked):
    """Measures the part of a processor that nvqos takes to keep a speed, for kernels of milliseconds and of microseconds."""
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
        parser.add_argument(name, type=kind_of(name))
    parser.add_argument("--pace", type=float, default=1)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    return parser.parse_args()


def main():
    asked = arguments()
    if unknown := [name for name in asked.parts if name not in PARTS]:
        sys.exit(f"qos_ends: there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    signal.alarm(300)  # ends the program if anything hangs
    found = {"gpu": machine.gpu(*machine.CLOCKS)}
    try:
        for name in asked.parts:
            found[name] = checks.show(name, PARTS[name](asked))
    except (bounded.Failed, subprocess.SubprocessError, OSError) as error:
        done.say("qos_ends", False, str(error))
    record.write(asked.folder / "qos_ends.json", found)
    done.end()


run(main)
