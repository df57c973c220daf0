# SPDX-License-Identifier: MIT OR GPL-2.0
"""Rates of tasks from their lines (ns, kernels that had ended), and means of runs with intervals; pure functions."""

import math
import statistics

T_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36}  # Student's t, by the number of runs


def ended_by(lines, ns):
    """Returns how many kernels had ended by a moment, interpolated between two lines."""
    before = max((line for line in lines if line[0] <= ns), default=(ns, 0))
    after = min(line for line in lines if line[0] > ns)
    return before[1] + (after[1] - before[1]) * (ns - before[0]) / (after[0] - before[0])


def rate(lines, begin, end):
    """Returns the kernels per second between two moments, which are after the first line and before the last one."""
    return (ended_by(lines, end) - ended_by(lines, begin)) * 1e9 / (end - begin)


def slowest(lines, begin, end, part_ns=100_000_000):
    """Returns the rate of the slowest hundredth of the times of 0.1 s, because a mean hides that a task starved."""
    starts = range(begin, end - part_ns + 1, part_ns)
    rates = sorted(rate(lines, start, start + part_ns) for start in starts)
    return rates[len(rates) // 100] if rates else None


def interval(values):
    """Returns [mean, half width of an interval of 95 %]; the width of a single value is None."""
    mean = statistics.fmean(values)
    half = T_95.get(len(values), 2) * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return [round(mean, 4), half if half is None else round(half, 4)]
