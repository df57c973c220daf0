# SPDX-License-Identifier: MIT OR GPL-2.0
"""Processes that hold leases, and their ends."""

import contextlib

from boards import since

HOLDER = "/tmp/holder"
LEASES = {"disable_channel": "0:2 0:3", "set_timeslice": "0:1 4000", "scheduling": "0 off",
          "switch_to_tsg": "0:1", "preemption_mode": "0:2 wfi"}


def leases_of(board):
    return {name: text for name, text in LEASES.items()
            if name != "preemption_mode" or board in since("pascal")}


def hold(machine, requests):
    """Starts a process that holds a lease for each path and text of `requests`."""
    opened = "; ".join(f"exec {fd}> {path}; echo lease {text} >&{fd} || exit 1"
                       for fd, (path, text) in enumerate(requests, 3))
    machine.check(f"rm -f {HOLDER} {HOLDER}.log; "
                  f"sh -c '{opened}; echo $$ > {HOLDER}; exec sleep 1000' "
                  f"< /dev/null > {HOLDER}.log 2>&1 & "
                  f"until [ -s {HOLDER} ] || [ -s {HOLDER}.log ]; do sleep 0.01; done; "
                  f"cat {HOLDER}.log >&2; [ -s {HOLDER} ]")


def kill(machine):
    """Kills the process with a signal that it cannot catch."""
    machine.check(f"pid=$(cat {HOLDER}); kill -9 $pid; "
                  "while [ -e /proc/$pid ]; do sleep 0.01; done")


@contextlib.contextmanager
def held(bench, board, *names, **texts):
    """Holds leases of those controls during a with-block. At its end the holder is killed."""
    texts = texts or {name: leases_of(board)[name] for name in names}
    hold(bench, [(bench.proc(board, name), text) for name, text in texts.items()])
    try:
        yield
    finally:
        kill(bench)
