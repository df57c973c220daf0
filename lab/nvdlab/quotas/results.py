# SPDX-License-Identifier: MIT OR GPL-2.0
"""Computes reach, overshoot and the speed of kernels without goals from runs, with intervals of 95 %."""

import dataclasses
import math

from nvdlab.quotas import engine, plan

TOLERANCES = (1.0, 0.99, 0.98)
# A kernel is memory-intensive ("M") if it keeps memory busy for half of its time alone, else compute-intensive ("C").
MEMORY_SHARE = 0.5


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a run: speeds of QoS kernels as parts of their goals, of the others as parts of their speeds alone."""

    run: plan.Run
    attained: tuple
    others: tuple

    def reached(self, tolerance=1.0):
        return all(one >= tolerance for one in self.attained)

    @property
    def throughput(self):
        return mean(self.others)


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def of_share(successes, all_of):
    """Returns (share, low, high) with Wilson's interval of 95 %."""
    if not all_of:
        return (math.nan,) * 3
    z, share = 1.96, successes / all_of
    middle = (share + z * z / (2 * all_of)) / (1 + z * z / all_of)
    half = z / (1 + z * z / all_of) * math.sqrt(share * (1 - share) / all_of + z * z / (4 * all_of * all_of))
    return share, max(0, middle - half), min(1, middle + half)


def of_mean(values):
    """Returns (mean, low, high) with an interval of 95 % by the normal distribution."""
    values = list(values)
    middle = mean(values)
    if len(values) < 2:
        return middle, middle, middle
    half = 1.96 * math.sqrt(sum((one - middle) ** 2 for one in values) / (len(values) - 1) / len(values))
    return middle, middle - half, middle + half


class Results:
    """The results of a form. Runs without an outcome are left out and counted in `missing`."""

    def __init__(self, form, outcomes):
        self.form, self.alone = form, engine.speeds_alone(form, outcomes)
        alone = [(run, outcomes[run.id(form)]) for run in plan.alone()]
        self.busy = {(run.gpu, run.kernels[0][0]): one["memory_busy"] / one["cycles"] for run, one in alone}
        wanted = plan.shared(form)
        self.all = [self._result(run, outcomes[run.id(form)]) for run in wanted if run.id(form) in outcomes]
        self.missing = len(wanted) - len(self.all)

    def _result(self, run, outcome):
        attained, others = [], []
        for (name, goal), instructions in zip(run.kernels, outcome["instructions"]):
            # The share is an exact fraction, because a single instruction decides whether a goal is reached.
            share = instructions / (outcome["cycles"] * self.alone[run.gpu, name])
            if goal is None:
                others.append(float(share))
            else:
                exact = share * 100 / goal
                attained.append(max(1.0, float(exact)) if exact >= 1 else min(float(exact), math.nextafter(1, 0)))
        return Result(run, tuple(attained), tuple(others))

    def kind(self, gpu, name):
        return "M" if self.busy[gpu, name] >= MEMORY_SHARE else "C"

    def of(self, kind, scheme, goal=None, gpu="16"):
        return [one for one in self.all if one.run.kind == kind and one.run.scheme == scheme and one.run.gpu == gpu and
                goal in (None, one.run.goal())]

    def goals(self, kind):
        return sorted({one.run.goal() for one in self.all if one.run.kind == kind})

    def reach(self, kind, scheme, goal=None, gpu="16", tolerance=1.0, only=lambda run: True):
        found = [one.reached(tolerance) for one in self.of(kind, scheme, goal, gpu) if only(one.run)]
        return of_share(sum(found), len(found))

    def throughputs(self, kind, scheme, goal=None, gpu="16", tolerance=1.0):
        """Returns the throughput of each case that reaches its goals, by kernels."""
        return {one.run.kernels: one.throughput for one in self.of(kind, scheme, goal, gpu) if one.reached(tolerance)}

    def common(self, kind, schemes, goal=None, gpu="16", tolerance=1.0):
        """Returns throughputs by scheme over the cases that all SCHEMES reach."""
        found = {scheme: self.throughputs(kind, scheme, goal, gpu, tolerance) for scheme in schemes}
        cases = set.intersection(*(set(one) for one in found.values()))
        return {scheme: [one[case] for case in sorted(cases, key=str)] for scheme, one in found.items()}

    def overshoot(self, kind, scheme, goal=None, gpu="16", tolerance=1.0):
        return of_mean(mean(one.attained) for one in self.of(kind, scheme, goal, gpu) if one.reached(tolerance))
