# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures whether goals are kept, by the driver's own record of context switches and by its lists."""

import json
import subprocess
import time

SECOND = 1_000_000_000


def slices(ours, seconds):
    """Records context switches for some seconds. Returns the slices of tasks as (pid, begin, end), in ns."""
    _, switches = ours.switches(lambda: time.sleep(seconds))
    return [(a[3], a[0], b[0]) for a, b in zip(switches, switches[1:]) if a[1] and not b[1] and a[2:] == b[2:]]


def part(found, pid):
    """Returns the part of the recorded time that a process had, in percent."""
    return 100 * sum(end - begin for who, begin, end in found if who == pid) / (found[-1][2] - found[0][1])


def before(found, pid, ends):
    """Returns the part that a process had of each second that ended at one of `ends`, in percent."""
    own = [(begin, end) for who, begin, end in found if who == pid]
    return [100 * sum(max(0, min(end, last) - max(begin, last - SECOND)) for begin, end in own) / SECOND for last in ends]


def most_of_a_second(found, pid):
    """Returns the largest part that a process had of any second, in percent. A second that ends with a slice of the process
    has the largest part."""
    return max(before(found, pid, [end for who, _, end in found if who == pid]), default=0)


def mean_of_seconds(found, pid):
    """Returns the mean part over all whole seconds of the record, in percent.

    The mean of the record itself would be too large for a task with a cap, because the record begins and ends with a slice,
    and the pauses beside it are missing.
    """
    ends = range(found[0][1] + SECOND, found[-1][2] + 1, SECOND // 50)
    return sum(before(found, pid, ends)) / len(ends)


def timeslices(tool, pids):
    """Returns the timeslices that the driver has for processes, in us, by pid."""
    listed = json.loads(subprocess.run([tool, "--from", "driver", "task", "list", "-j"], capture_output=True, text=True,
                                       check=False, timeout=30).stdout)["data"]
    return {row["pid"]: row["timeslice_us"] for row in listed if row["pid"] in pids}
