# SPDX-License-Identifier: MIT OR GPL-2.0
"""What became of goals: by the driver's own record of context switches, and by its lists."""

import json
import subprocess
import time

SECOND = 1_000_000_000


def slices(ours, seconds):
    """Each as (pid, begin, end), in ns."""
    _, switches = ours.switches(lambda: time.sleep(seconds))
    return [(a[3], a[0], b[0]) for a, b in zip(switches, switches[1:]) if a[1] and not b[1] and a[2:] == b[2:]]


def part(found, pid):
    """Of the time that passes, in percent."""
    return 100 * sum(end - begin for who, begin, end in found if who == pid) / (found[-1][2] - found[0][1])


def before(found, pid, ends):
    """What it had of each second that ended at one of `ends`, in percent."""
    own = [(begin, end) for who, begin, end in found if who == pid]
    return [100 * sum(max(0, min(end, last) - max(begin, last - SECOND)) for begin, end in own) / SECOND for last in ends]


def most_of_a_second(found, pid):
    """The most that it had of any second, in percent: one that ends with one of its slices is the worst."""
    return max(before(found, pid, [end for who, _, end in found if who == pid]), default=0)


def mean_of_seconds(found, pid):
    """The mean of those that are in the record, in percent. A cap has as many pauses in each second; the
    record begins and ends with a slice, and its mean would be too large."""
    ends = range(found[0][1] + SECOND, found[-1][2] + 1, SECOND // 50)
    return sum(before(found, pid, ends)) / len(ends)


def timeslices(tool, pids):
    """Those that the driver has, in us; {pid: us}."""
    listed = json.loads(subprocess.run([tool, "--from", "driver", "task", "list", "-j"], capture_output=True, text=True,
                                       check=False, timeout=30).stdout)["data"]
    return {row["pid"]: row["timeslice_us"] for row in listed if row["pid"] in pids}
