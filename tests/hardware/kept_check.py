#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""A program for which a partition was asked is kept to it on a real GPU, or a sentence on stderr names what is not kept.

    kept_check.py NVTASKSET LOAD [FOLDER]

On otherwise idle GPUs, with NVIDIA's driver; no root. LOAD is load.cpp, built. What the environment names as
the GPU, partitions in partitions, a library that cannot be loaded, an MPS server that is killed; with two GPUs, which
of them. Prints a line for each check, and ends with 1 if one fails; FOLDER gets them as kept-check.txt.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

NVTASKSET, LOAD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
FOLDER = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
NOT_KEPT = 125
LINES, FAILED = [], []


def report(name, good, text):
    line = f"{'ok  ' if good else 'FAIL'}  {name}: {text}"
    print(line, flush=True)
    LINES.append(line)
    if not good:
        FAILED.append(name)


def run(*words, **env):
    kept = {key: value for key, value in os.environ.items() if key not in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")}
    return subprocess.run([str(word) for word in words], env=kept | env, capture_output=True, text=True, timeout=100,
                          check=False)


def gpus():
    listed = run("nvidia-smi", "--query-gpu=index,uuid,pci.bus_id", "--format=csv,noheader").stdout
    return [line.split(", ") for line in listed.splitlines()]


def expect(name, options, env, sms=None, status=0, sentence=None, where=()):
    """`where` under `nvtaskset OPTIONS`: on so many SMs, with this status and this on stderr."""
    done = run(NVTASKSET, *options.split(), *where, LOAD, "where", **env)
    found = json.loads(done.stdout.splitlines()[0])["sms"] if done.stdout else None
    good = done.returncode == status and found == sms and (sentence is None or sentence in done.stderr)
    if sentence is None and done.stderr.strip():
        good = False
    wanted = " ".join([*(f"{key}={value}" for key, value in env.items()), "nvtaskset", options, *map(str, where)])
    report(name, good, f"{wanted.replace(str(NVTASKSET), 'nvtaskset')}: {found} SMs, status {done.returncode}"
           + (f", {done.stderr.strip().splitlines()[0]}" if done.stderr.strip() else ""))


def names(uuid, whole):
    """One GPU, however the environment names it."""
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
    """CUDA goes on without a library that it cannot load, and nvtaskset's helper names the process."""
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
    """Its share beside a partition is named; a server that is killed ends its clients, and the next task has a new one."""
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
    """Numbers and UUIDs of two GPUs."""
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
    if FOLDER:
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / "kept-check.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    print(f"{len(LINES) - len(FAILED)} of {len(LINES)} checks passed")
    sys.exit(bool(FAILED))


main()
