#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Records the outputs of nvdebugctl --from driver with two CUDA processes, and checks that they agree with each other.

    through_driver.py NVDEBUGCTL WORKLOAD FOLDER

It needs root, NVIDIA's driver, and no module. WORKLOAD is the program of workload.cpp. Writes the outputs and a capture to
FOLDER. Outputs that contradict each other end the program with a sentence. It only reads, and starts and ends only its own
processes.
"""

import json
import subprocess
import sys
import time

from common import run, words

TOOL, WORKLOAD, FOLDER = words(__doc__, "nvdebugctl", "workload", "folder")
SECONDS = 40
VERBS = ("gpu list", "gpu show", "engine list", "engine shared", "runlist list", "runlist tree",
         "runlist show 0", "channel list", "tsg list", "process list", "copy show", "topology show",
         "check")
NOBODY = 65534


def tool(*words, user=None, ok=(0,)):
    """Returns the output of nvdebugctl, and prints how long it took."""
    begin = time.monotonic()
    done = subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=60, user=user,
                          group=user, extra_groups=[] if user else None, check=False)
    took = (time.monotonic() - begin) * 1000
    if done.returncode not in ok:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}: {done.stderr}")
    print(f"{took:7.1f} ms  exit {done.returncode}  {' '.join(words)}")
    return done.stdout + done.stderr


def data(*words, **how):
    return json.loads(tool(*words, "--json", **how).splitlines()[0])["data"]


def start(seconds, *how, user=None):
    process = subprocess.Popen([WORKLOAD, str(seconds), *how], stdout=subprocess.PIPE, text=True,
                               user=user, group=user, extra_groups=[] if user else None)
    word, _, address = process.stdout.readline().partition(" ")
    if word != "ready":
        sys.exit("the workload did not start")
    return process, address.strip()


def keep(name, text):
    (FOLDER / name).write_text(text)


def pid(row):
    return row["process"] and row["process"]["pid"]


def look(one, other, address):
    for verb in VERBS:
        # `check` may find trouble, which is no failure here.
        out = tool("--from", "driver", *verb.split(), ok=(0, 2, 4) if verb == "check" else (0,))
        keep(verb.replace(" ", "-") + ".txt", out)
    # The address is in one address space, and so one TSG of the runlist maps it.
    lists = data("--from", "driver", "channel", "list")
    first = {c["tsg"]: c["channel"] for c in reversed(lists) if c["runlist"] == 0}
    walks = [tool("--from", "driver", "memory", "translate", f"0:{channel}", address, ok=(0, 2))
             for channel in first.values()]
    mapped = [walk for walk in walks if "not mapped" not in walk]
    if len(mapped) != 1:
        sys.exit(f"{len(mapped)} of {len(walks)} TSGs map {address}")
    # This TSG must be of the process that printed the address.
    tsg = list(first)[walks.index(mapped[0])]
    pids = {pid(c) for c in lists if (c["runlist"], c["tsg"]) == (0, tsg)}
    if pids != {one.pid}:
        sys.exit(f"{address} is {one.pid}'s, and the TSG that maps it is said to be of {pids}")
    owners(one, other, lists)
    keep("memory-translate.txt", "\n".join(walks))
    tool("--from", "driver", "capture", str(FOLDER / "capture"))
    keep("doctor.txt", tool("doctor", ok=(0, 2)))
    source = data("gpu", "show")["source"]
    if source != "driver":
        sys.exit(f"without --from the source is {source}")
    if data("--from", "driver", "engine", "list") is None:
        sys.exit("no engines")


def owners(one, other, lists):
    """Checks that all channels of a TSG are of one process, and that each process has channels on lists."""
    found = {}
    for channel in lists:
        found.setdefault((channel["runlist"], channel["tsg"]), set()).add(pid(channel))
    if any(len(pids) > 1 for pids in found.values()):
        sys.exit(f"TSGs of several processes: {found}")
    made = data("--from", "driver", "process", "list")
    for process in (one, other):
        listed = sum(pid(channel) == process.pid for channel in lists)
        known = sum(row["channels"] for row in made if row["pid"] == process.pid)
        print(f"{process.pid}: {listed} channels on runlists, of {known} that it made")
        # A channel gets on its list with its first work.
        if not 0 < listed <= known:
            sys.exit("that cannot be")
    nobodys = sum(pid(channel) is None for channel in lists)
    print(f"nobody's: {nobodys} of {len(lists)} channels")


def without_rights():
    own, _ = start(SECONDS, "2", user=NOBODY)
    keep("user.txt", tool("gpu", "show", user=NOBODY)
         + tool("runlist", "tree", user=NOBODY, ok=(3,))
         + tool("--from", "driver", "channel", "disable", "1", user=NOBODY, ok=(3,))
         + tool("--from", "driver", "process", "list", user=NOBODY, ok=(4,)))
    rows = data("--from", "driver", "process", "list", user=NOBODY, ok=(4,))
    if {row["pid"] for row in rows} != {own.pid} or not all(row["timeslice_us"] for row in rows):
        sys.exit(f"{own.pid} is the user's, and shown is {rows}")
    own.terminate()
    own.wait(timeout=30)


def while_processes_end():
    """Reads while processes end. A list may then be torn or change (status 4), but nothing worse may happen."""
    for _ in range(4):
        ends, _ = start(30)
        for n in range(4):
            tool("--from", "driver", "runlist", "tree", ok=(0, 4))
            if n == 1:
                ends.kill()
        ends.wait(timeout=30)


def main():
    FOLDER.mkdir(exist_ok=True)
    one, address = start(SECONDS, "3", "200", "16")
    other, _ = start(SECONDS, "4", "500", "16")
    look(one, other, address)
    without_rights()
    while_processes_end()
    for process in (one, other):
        process.terminate()
        process.wait(timeout=30)
    print("done")


run(main)
