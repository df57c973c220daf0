#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvdebugctl --from driver on a real GPU, with two CUDA processes of its own.

    through_driver.py NVDEBUGCTL WORKLOAD FOLDER

As root, with NVIDIA's driver and without the module. WORKLOAD is workload.cpp, built. The outputs and
a capture go to FOLDER; what does not fit together ends the program with a sentence. It reads only, and
starts and ends no process but its own.
"""

import json
import pathlib
import subprocess
import sys
import time

TOOL, WORKLOAD = sys.argv[1:3]
FOLDER = pathlib.Path(sys.argv[3])
SECONDS = 40
VERBS = ("gpu list", "gpu show", "engine list", "engine shared", "runlist list", "runlist tree",
         "runlist show 0", "channel list", "tsg list", "process list", "copy show", "topology show",
         "check")
NOBODY = 65534


def tool(*words, user=None, ok=(0,)):
    """Its output; and how long it took."""
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
        # check finds trouble or none: both are answers
        out = tool("--from", "driver", *verb.split(), ok=(0, 2, 4) if verb == "check" else (0,))
        keep(verb.replace(" ", "-") + ".txt", out)
    # The address is of one address space, and so of one TSG on the runlist.
    lists = data("--from", "driver", "channel", "list")
    first = {c["tsg"]: c["channel"] for c in reversed(lists) if c["runlist"] == 0}
    walks = [tool("--from", "driver", "memory", "translate", f"0:{channel}", address, ok=(0, 2))
             for channel in first.values()]
    mapped = [walk for walk in walks if "not mapped" not in walk]
    if len(mapped) != 1:
        sys.exit(f"{len(mapped)} of {len(walks)} TSGs map {address}")
    # So the process that has the address is known in another way, too.
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
    """Each of a TSG's channels is of one process, and what each process made is there."""
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
        # A channel is on its list from its first work on.
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
    """A list may be torn or change (4), and no more than that."""
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


main()
