# SPDX-License-Identifier: MIT OR GPL-2.0
"""What the scripts of this folder share: an MPS server for their tasks, and where their rows go."""

import contextlib
import json
import os
import subprocess
import tempfile


def environment(**more):
    """Without an MPS server, whatever the user has."""
    return os.environ | {"CUDA_MPS_PIPE_DIRECTORY": "/nonexistent"} | more


@contextlib.contextmanager
def mps():
    """An MPS server of NVIDIA's, as it is; yields what its clients have in their environment."""
    with tempfile.TemporaryDirectory() as folder:
        place = environment(CUDA_MPS_PIPE_DIRECTORY=folder, CUDA_MPS_LOG_DIRECTORY=folder)
        subprocess.run(["nvidia-cuda-mps-control", "-d"], env=place, check=True, timeout=30)
        try:
            yield place
        finally:
            subprocess.run(["nvidia-cuda-mps-control"], env=place, input="quit\n", text=True, check=True,
                           stdout=subprocess.DEVNULL, timeout=60)


@contextlib.contextmanager
def loads(load, *how):
    """Processes of load.cpp, one for each of `how`, its words; at work."""
    processes, files = [], []
    try:
        for words in how:
            files.append(tempfile.TemporaryFile("w+"))
            processes.append(subprocess.Popen([load, *words], stdout=files[-1], stderr=subprocess.PIPE, text=True))
        for process in processes:
            while process.stderr.readline() not in ("ready\n", ""):
                pass
        for process, file in zip(processes, files):
            process.told = file
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def what_it_counted(process):
    """Ends one of `load counted`: (ns of CLOCK_MONOTONIC, kernels that had ended by then)."""
    process.kill()
    process.wait()
    process.told.seek(0)
    return [tuple(map(int, line.split())) for line in process.told.read().splitlines() if line.count(" ") == 1]


def ended_by(counted, ns):
    """How many kernels had ended by then, between two lines of it."""
    before = max(one for one in counted if one[0] <= ns)
    after = min(one for one in counted if one[0] > ns)
    return before[1] + (after[1] - before[1]) * (ns - before[0]) / (after[0] - before[0])


def show(title, rows):
    """Prints rows as they come; returns them."""
    print(f"\n{title}")
    found = []
    for row in rows:
        print("  " + "  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        found.append(row)
    return found


def records(value, indent=0):
    """JSON with a record on each line: what has parts with parts of their own, and 120 columns, is divided."""
    flat = json.dumps(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if indent + len(flat) <= 120 or not any(isinstance(part, (dict, list)) for part in parts):
        return flat
    pad = "\n" + " " * (indent + 1)
    items = ([f"{json.dumps(key)}: {records(part, indent + 1)}" for key, part in value.items()]
             if isinstance(value, dict) else [records(part, indent + 1) for part in value])
    first, last = "{}" if isinstance(value, dict) else "[]"
    return first + pad + ("," + pad).join(items) + pad[:-1] + last


def program():
    """The commit of this checkout, from which the measured programs were built; with "-dirty" if files differ from it.
    "unknown" if there is no repository, as on a machine that only got the files."""
    try:
        return subprocess.run(["git", "-c", "safe.directory=*", "-C", os.path.dirname(os.path.abspath(__file__)), "describe",
                               "--always", "--dirty", "--abbrev=8", "--exclude=*"],
                              check=True, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def write(path, found):
    """Writes texts, and lists of rows with a row on each line, so that a diff shows changes. Names the program first."""
    found = {"program": program()} | found
    path.parent.mkdir(parents=True, exist_ok=True)
    lists = ",\n".join(
        f'"{key}": ' + (json.dumps(value) if isinstance(value, str) else
                        "[\n" + ",\n".join(json.dumps(row) for row in value) + "]") for key, value in found.items())
    path.write_text("{" + lists + "}\n", encoding="utf-8")
