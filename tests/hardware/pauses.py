#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures whether NVIDIA's driver counts how often channels are disabled, and what a list with an unknown channel does.

    pauses.py NVDEBUGCTL LOAD FOLDER

It needs root, an otherwise idle GPU, NVIDIA's driver, and no module. LOAD is the program of load.cpp. It disables and enables
the channels of a task that it has started. Writes FOLDER/pauses.json. Ends with 1 if the driver does not do as lib/driver
assumes.
"""

import json
import signal
import subprocess

from common import bounded, checks, record, rm, run, words

TOOL, LOAD, FOLDER = words(__doc__, "nvdebugctl", "load", "folder")
ENABLE = "e"  # "d" disables


def enabled():
    """Returns how many of the GPU's channels are enabled, by the channel list of nvdebugctl."""
    listed = json.loads(subprocess.run([TOOL, "--from", "driver", "-j", "channel", "list"], capture_output=True, text=True,
                                       check=True, timeout=30).stdout)["data"]
    return sum(bool(row["enabled"]) for row in listed)


def counts(task, channels):
    """Makes requests in a row, each about all channels of a task. Only the last `e` for a `d` must enable them."""
    all_on = enabled()
    for requests, last in (("d", False), ("de", True), ("dd", False), ("dde", False), ("ddee", True), ("ddde", False),
                           ("ed", False), ("eed", False), ("eede", True)):
        for request in requests:
            task.set_enabled(channels, request == ENABLE)
        is_on = enabled() == all_on
        yield check("requests in a row", is_on == last, requests=requests, enabled=is_on)
        for _ in requests:
            task.set_enabled(channels, True)
    yield check("all requests undone", enabled() == all_on)


def unknown(task, channels):
    """Names a channel that does not exist in the middle of a list."""
    manager, client, _ = channels[0]
    mixed = channels[:1] + [(manager, client, 0x5cffffff)] + channels[1:]
    all_on = enabled()
    try:
        task.set_enabled(mixed, False)
        answer = "ok"
    except rm.Refused as error:
        answer = str(error)
    left = enabled()
    yield check("a list with an unknown channel", answer != "ok", answer=answer, disabled=all_on - left, of=len(channels))
    task.set_enabled(channels, True)
    yield check("the list undone", enabled() == all_on)


done = checks.Checks()
check = done.row


def main():
    signal.alarm(100)  # the task ends by itself, and its channels with it
    with bounded.loads(LOAD, ("queue", "90")) as (load,):
        task = rm.Theirs(load.pid, rm.Ours().client)
        channels = list(task.channels.values())[:64]
        found = {"counts": checks.show("counts", counts(task, channels)),
                 "unknown": checks.show("unknown channel", unknown(task, channels))}
    record.write(FOLDER / "pauses.json", found)
    return bool(done.failed)


run(main)
