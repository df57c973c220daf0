# SPDX-License-Identifier: MIT OR GPL-2.0
"""Pure functions on sorted lists of spans of time, each (begin, end)."""

import heapq
import statistics


def merged(spans, gap=0):
    """Joins spans that are at most GAP apart."""
    found = []
    for begin, end in sorted(spans):
        if found and begin - found[-1][1] <= gap:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return [tuple(span) for span in found]


def total(spans):
    return sum(end - begin for begin, end in spans)


def common(one, other):
    """Returns the spans that both lists have in common; each list must be merged."""
    found, i, k = [], 0, 0
    while i < len(one) and k < len(other):
        begin, end = max(one[i][0], other[k][0]), min(one[i][1], other[k][1])
        if begin < end:
            found.append((begin, end))
        if one[i][1] < other[k][1]:
            i += 1
        else:
            k += 1
    return found


def cut(spans, begin, end):
    """Returns the parts of spans between BEGIN and END."""
    return common(spans, [(begin, end)])


def turns(of_tasks):
    """Returns the spans of several tasks in order, as (begin, end, task). Spans of a task in a row become one."""
    found = []
    for begin, end, task in heapq.merge(*([(*span, task) for span in spans] for task, spans in of_tasks.items())):
        if found and found[-1][2] == task:
            found[-1] = (found[-1][0], end, task)
        else:
            found.append((begin, end, task))
    return found


def durations(spans):
    return [end - begin for begin, end in spans]


def median(values):
    return statistics.median(values) if values else 0.0


def part(values, share):
    """Returns the value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
