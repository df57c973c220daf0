#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks that nvtaskset keeps a program to its partition, or prints a sentence that names the program.

    kept_check.py NVTASKSET LOAD [FOLDER]

It needs otherwise idle GPUs with NVIDIA's driver, and no root. LOAD is the program of load.cpp. The checks cover names of
GPUs in the environment, partitions in partitions, a library that cannot be loaded, a killed MPS server, and the choice
between two GPUs. Prints a line for each check, which FOLDER/kept-check.txt gets, too. Ends with 1 if a check fails.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from common import checks, run as run_main, words

NVTASKSET, LOAD, FOLDER = words(__doc__, "nvtaskset", "load", "[folder]")
NOT_KEPT = 125
DONE = checks.Checks()
report = DONE.say


def run(*words, **env):
    kept = {key: value for key, value in os.environ.items() if key not in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")}
    return subprocess.run([str(word) for word in words], env=kept | env, capture_output=True, text=True, timeout=100,
                          check=False)


def gpus():
    listed = run("nvidia-smi", "--query-gpu=index,uuid,pci.bus_id", "--format=csv,noheader").stdout
    return [line.split(", ") for line in listed.splitlines()]


def expect(name, options, env, sms=None, status=0, sentence=None, where=()):
    """Runs `load where` under `nvtaskset OPTIONS`, and checks its SMs, its status, and a sentence on stderr."""
    done = run(NVTASKSET, *options.split(), *where, LOAD, "where", **env)
    found = json.loads(done.stdout.splitlines()[0])["sms"] if done.stdout else None
    good = done.returncode == status and found == sms and (sentence is None or sentence in done.stderr)
    if sentence is None and done.stderr.strip():
        good = False
    wanted = " ".join([*(f"{key}={value}" for key, value in env.items()), "nvtaskset", options, *map(str, where)])
    report(name, good, f"{wanted.replace(str(NVTASKSET), 'nvtaskset')}: {found} SMs, status {done.returncode}"
           + (f", {done.stderr.strip().splitlines()[0]}" if done.stderr.strip() else ""))


def names(uuid, whole):
    """Checks the names by which the environment chooses one GPU."""
    for value in (uuid, uuid[:12], "0"):
        expect("the GPU that the command sees", "--no-mps -t 0-3", {"CUDA_VISIBLE_DEVICES": value}, 8)
    expect("the GPU that the command sees", "--no-mps -t 0-3",
           {"CUDA_VISIBLE_DEVICES": "0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, 8)
    expect("a variable that is empty", "--no-mps -t 0-3", {"CUDA_INJECTION64_PATH": ""}, 8)
    expect("a partition in a partition", "--no-mps -t 0-3", {}, 4,
           where=(NVTASKSET, "--no-mps", "-t", "10-11"))
    expect("a partition in a partition", "--no-mps --prepare", {}, 8, where=(NVTASKSET, "--no-mps", "-t", "0-3"))
    expect("the whole GPU, to be changed later", "--no-mps --prepare", {}, whole)


def not_loaded(whole):
    """Checks a library that cannot be loaded. CUDA goes on without it, and nvtaskset's helper names the process."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(NVTASKSET, folder / "nvtaskset")
        done = run(folder / "nvtaskset", "--no-mps", "-t", "0-3", LOAD, "where")
        report("without the library nothing starts", done.returncode not in (0, NOT_KEPT) and not done.stdout,
               f"status {done.returncode}, {done.stderr.strip()}")
        library = (NVTASKSET.parent / "libnvtaskset.so").read_bytes()
        at = library.rindex(b"GLIBC_2.")  # in .dynstr: a version that no C library has
        end = library.index(b"\0", at)
        (folder / "libnvtaskset.so").write_bytes(library[:at] + b"GLIBC_9." + b"9" * (end - at - 8) + library[end:])
        done = run(folder / "nvtaskset", "--no-mps", "-t", "0-3", LOAD, "compute", "3")
        sms = json.loads(done.stdout.splitlines()[-1]).get("sms") if done.stdout else None
        report("a library that cannot be loaded is no secret", "NOT kept" in done.stderr,
               f"{sms} of {whole} SMs, status {done.returncode}, "
               + " ".join(done.stderr.strip().splitlines()[-1:]).replace(str(folder), "FOLDER"))
    done = run(LOAD, "where", CUDA_INJECTION64_PATH="/nonexistent/libnvtaskset.so")
    report("CUDA itself prints nothing of a library that is not there", done.returncode == 0 and not done.stderr,
           f"the variable alone: {json.loads(done.stdout)['sms']} of {whole} SMs, status {done.returncode}")


def mps():
    """Checks that MPS' share beside a partition is named, and that a killed server ends its clients and is replaced."""
    done = run(NVTASKSET, "-t", "0-3", LOAD, "where", CUDA_MPS_ACTIVE_THREAD_PERCENTAGE="50")
    report("MPS' share beside a partition", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE" in done.stderr,
           f"{done.stdout.strip()}, {done.stderr.strip()}")
    with subprocess.Popen([NVTASKSET, "-q", "-t", "0-3", LOAD, "compute", "20"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as task:
        task.stderr.readline()
        servers = run("pgrep", "-x", "nvidia-cuda-mps").stdout.split()
        server = [pid for pid in servers if b"-server" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
        begin = time.monotonic()
        run("kill", "-9", *server)
        try:
            task.wait(timeout=30)
        except subprocess.TimeoutExpired:
            task.kill()
        printed = " ".join((task.stdout.read() + task.stderr.read()).strip().splitlines()[-1:])
        report("a server that is killed ends its clients", len(server) == 1 and task.returncode not in (0, None, -9),
               f"status {task.returncode} within {5 if time.monotonic() - begin < 5 else 30} s, {printed}")
    expect("the next task has a server again", "-q -t 0-3", {}, 8)
    run(NVTASKSET, "--quit-mps")


def two(first, second, whole):
    """Checks numbers and UUIDs of two GPUs."""
    expect("the second GPU", "--no-mps -t 0-3", {"CUDA_VISIBLE_DEVICES": "1"}, 8)
    expect("the second GPU", "--no-mps -t 0-3", {"CUDA_VISIBLE_DEVICES": second}, 8)
    expect("both, the second one first", "--no-mps -t 0-3", {"CUDA_VISIBLE_DEVICES": "1,0"}, 8)
    expect("both", "--no-mps -t 0-3", {}, 8)
    expect("asked and seen", "--no-mps -i 1 -t 0-3", {"CUDA_VISIBLE_DEVICES": second}, 8)
    expect("asked and seen", "--no-mps -i 0 -t 0-3", {"CUDA_VISIBLE_DEVICES": first}, 8)
    expect("asked for another", "--no-mps -i 0 -t 0-3", {"CUDA_VISIBLE_DEVICES": second}, None, NOT_KEPT, "no GPU of -i 0")
    expect("asked for another", "--no-mps -i 0 -t 0-3", {"CUDA_VISIBLE_DEVICES": "1"}, None, NOT_KEPT, "no GPU of -i 0")
    expect("asked for another, best effort", "--no-mps --best-effort -i 0 -t 0-3", {"CUDA_VISIBLE_DEVICES": "1"}, whole,
           0, "no GPU of -i 0")
    expect("another for the partition inside", "--no-mps -i 0 -t 0-3", {}, 4,
           where=(NVTASKSET, "--no-mps", "-i", "0", "-t", "10-11"))


def main():
    here = gpus()
    version = pathlib.Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").splitlines()[0]
    print(f"{len(here)} GPUs, {version}")
    whole = json.loads(run(LOAD, "where").stdout)["sms"]
    names(here[0][1], whole)
    if len(here) > 1:
        two(here[0][1], here[1][1], whole)
    not_loaded(whole)
    mps()
    scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    print("yama:", scope.read_text().strip() if scope.exists() else "not in this kernel")
    DONE.end(FOLDER and FOLDER / "kept-check.txt")


run_main(main)
