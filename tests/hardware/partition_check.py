#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks that programs under nvtaskset run on the SMs of their partitions, and on no others.

    partition_check.py NVTASKSET LOAD [FOLDER]

It needs an otherwise idle GPU with NVIDIA's driver, and no root. LOAD is the program of load.cpp. Prints a line for each
check, which FOLDER/partition-check.txt gets, too. Ends with 1 if a check fails.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from common import checks, run as run_main, words

NVTASKSET, LOAD, FOLDER = words(__doc__, "nvtaskset", "load", "[folder]")
TOO_LARGE = 720  # CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
DONE = checks.Checks()
say = DONE.say


def run(*words, **env):
    return subprocess.run([str(word) for word in words], env=os.environ | env, capture_output=True, text=True,
                          timeout=100, check=False)


def load(options, *words):
    done = run(NVTASKSET, *options.split(), LOAD, *words)
    return json.loads(done.stdout.splitlines()[0]) if done.stdout else {"error": done.stderr.strip()}


def change(pid, options):
    done = run(NVTASKSET, "-p", *options.split(), pid)
    if done.returncode:
        raise RuntimeError(done.stderr)


def known():
    done = run(NVTASKSET, "--list", "--probe", "--json")
    if done.returncode:
        sys.exit(done.stderr)
    gpu = json.loads(done.stdout)["gpus"][0]
    sms = sorted(sm for tpc in gpu["tpcs"] for sm in tpc["sms"])
    all_sms = json.loads(run(LOAD, "where", CUDA_MPS_PIPE_DIRECTORY="/nonexistent").stdout)["sms"]
    say("every SM has a TPC", sms == list(range(all_sms)),
        f"{gpu['name']}: {len(gpu['tpcs'])} TPCs in {len({tpc['gpc'] for tpc in gpu['tpcs']})} GPCs, {len(sms)} of "
        f"{all_sms} SMs; bits {' '.join(str(tpc['bit']) for tpc in gpu['tpcs'])}")
    return gpu


def sizes(tpcs):
    """Checks partitions of each GPC, of several TPCs, and of a single TPC."""
    last = len(tpcs) - 1
    for options, wanted in (
            *((f"-g {gpc}", [n for n, tpc in enumerate(tpcs) if tpc["gpc"] == gpc])
              for gpc in sorted({tpc["gpc"] for tpc in tpcs})),
            ("-t 0-15", range(16)), (f"-t {last}", [last]), ("-t 0", [0]), (f"-t 1-{last}", range(1, last + 1)),
            ("-t 0,2,4,6,8,10", range(6)), ("-s 25%", range(-(-len(tpcs) // 4)))):
        found = load(f"--no-mps {options}", "where")
        count = 2 * len(wanted)
        say("on its SMs", found == {"sms": count, "attribute": count},
            f"{options}: {found.get('sms')} of {count}, and CUDA says {found.get('attribute')}")


def follows():
    with subprocess.Popen([NVTASKSET, "--no-mps", "-t", "0-15", LOAD, "follow", "20"], stdout=subprocess.PIPE,
                          text=True) as process:
        seen = [process.stdout.readline()]
        for options in ("-t 0-3", "-g 1", "--whole", "-t 5", "-s 50%"):
            change(process.pid, options)
            time.sleep(0.3)
        process.terminate()
        seen += process.stdout.readlines()
    rows = [json.loads(line) for line in seen]
    both = [row["launch"] for row in rows if row["launch"] == row["graph"]]
    say("a program that runs follows, and so does its graph", len(both) == 6 and len(rows) <= 11,
        f"SMs, as launch and as graph: {', '.join(str(row['launch']) + '/' + str(row['graph']) for row in rows)}")


def never_ends():
    """Checks launches that would hang in a small partition: they are refused, or run on the whole GPU."""
    found = load("--no-mps -t 0-7", "together", "32", "2")
    say("cooperative, fits", found.get("cooperative") == 0 and found.get("sms") == 16, f"32 blocks on 16 SMs: {found}")
    found = load("--no-mps -t 0-7", "together", "33", "8")
    say("cooperative, does not fit", found.get("cooperative") == TOO_LARGE and found.get("sms") == 0,
        f"33 blocks on 16 SMs: {found}")
    found = load("--no-mps -t 0", "together", "1", "4")
    say("a cluster larger than its GPC", found.get("cluster") == 0 and found.get("cluster_sms", 0) > 2,
        f"4 blocks on 2 SMs: {found}")


def at_once(count):
    """Starts tasks of three TPCs each at the same time, more than one MPS server takes."""
    folder = tempfile.mkdtemp()
    processes = [subprocess.Popen([NVTASKSET, "-q", "-x", "-t", f"{3 * n}-{3 * n + 2}", LOAD, "where"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
                 for n in range(count)]
    found = [process.communicate(timeout=100) for process in processes]
    good = [json.loads(out).get("sms") for out, _ in found if out]
    say("many at once", good == [6] * count,
        f"{good.count(6)} of {count} tasks, started together, got 6 SMs each, others {[n for n in good if n != 6]}; "
        f"{'; '.join(sorted({err.strip() for _, err in found if err}))}")
    run(NVTASKSET, "--quit-mps")


def turns():
    """Checks two partitions, each of which is shared by two tasks that take turns."""
    with contextlib.ExitStack() as stack:
        tasks = [stack.enter_context(subprocess.Popen(
            [NVTASKSET, "-q", "--turn", str(turn), "-g", gpcs, LOAD, "compute", "2"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)) for turn in (1, 2) for gpcs in ("0-3", "4-7")]
        found = [json.loads(task.communicate(timeout=100)[0]) for task in tasks]
    alone = load("--turn 1 -g 0-3", "compute", "1")
    rates = [row.get("kernels", 0) / 2 / (alone["kernels"] / 1) for row in found]
    say("two partitions, each by turns", all(0.35 < rate < 0.6 for rate in rates),
        "of the kernels that a task alone in its partition does, each of four does "
        + ", ".join(f"{100 * rate:.0f} %" for rate in rates))
    run(NVTASKSET, "--quit-mps")


def wrong(tpcs):
    for options, sentence in ((f"-t {len(tpcs)}", "there is no TPC"), ("-g 99", "there is no GPC"), ("-s 0", "--sms 0"),
                              ("-i 99 -t 0", "there is no GPU"), ("-t 3-1", "is no list")):
        done = run(NVTASKSET, *options.split(), LOAD, "where")
        say("wrong input", done.returncode == 1 and sentence in done.stderr and not done.stdout,
            f"{options}: {done.stderr.strip()}")


def escapes():
    """Checks that nvtaskset names a child that runs without its library, and so outside the partition."""
    done = run(NVTASKSET, "--no-mps", "-t", "0", "env", "-u", "CUDA_INJECTION64_PATH", LOAD, "compute", "4")
    say("who escapes is named", "NOT kept to the partition" in done.stderr, done.stderr.strip().splitlines()[-1])


def main():
    print(pathlib.Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").splitlines()[0])
    gpu = known()
    sizes(gpu["tpcs"])
    follows()
    never_ends()
    at_once(20)
    turns()
    wrong(gpu["tpcs"])
    escapes()
    DONE.end(FOLDER and FOLDER / "partition-check.txt")


run_main(main)
