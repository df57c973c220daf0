#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures the steps of a decode loop and of a training under several sets of goals.

    qos_cap.py NVQOS FOLDER [--runs N] [--seconds N]

It needs root, an otherwise idle GPU, NVIDIA's driver, PyTorch, no module, and five minutes. The decode loop always has a
next step: a CUDA graph of one step of a made-up model (32 layers, 4096 wide), then 0.5 ms of work on the CPU. A transformer
of 24 layers trains beside it. Each program counts its steps, alone and under each set of goals, and each run has an nvqos of
its own. Writes FOLDER/qos_cap.json with the steps per second of each run, as parts of the speeds alone, and with nvqos' exit
status. Ends with 1 if a program or nvqos did not start.
"""

import argparse
import contextlib
import ctypes
import mmap
import pathlib
import signal
import struct
import subprocess
import sys
import time

from common import bounded, kind as kind_of, record, run
from nvdlab import torch_loads

START_S, STEP_S, SETTLE_S, THINK_S = 120, 10, 2.5, 0.0005
GOALS = (("latency", "share:20%"), ("latency,cap:75%", "share:20%"), ("latency", "share:30%"), ("latency,cap:60%", "share:30%"),
         ("share:60%", "best-effort"))


# --- the two programs ---

def decode(torch):
    """Returns a function that makes one step of the loop."""
    layers, width, inner, texts, tokens = 32, 4096, 14336, 32, 1024

    def weights(rows, columns):
        return torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16) * 0.01
    with torch.no_grad():
        net = [(weights(width, width + 2048), weights(width, width), weights(width, inner), weights(width, inner),
                weights(inner, width)) for _ in range(layers)]
        cache = torch.randn(layers, 2, texts, 8, tokens, 128, device="cuda", dtype=torch.bfloat16)
        begin = torch.randn(texts, width, device="cuda", dtype=torch.bfloat16)

        def forward():
            state = begin
            for layer, (ask, out, gate, up, down) in enumerate(net):
                query = (state @ ask)[:, :width].view(texts, 8, 4, 128)
                seen = torch.nn.functional.scaled_dot_product_attention(query, cache[layer, 0], cache[layer, 1])
                state = state + seen.reshape(texts, width) @ out
                state = state + (torch.nn.functional.silu(state @ gate) * (state @ up)) @ down
        replay = torch_loads.replayed(torch, forward)

    def step():
        replay()
        torch.cuda.synchronize()
        until = time.monotonic() + THINK_S
        while time.monotonic() < until:
            pass
    return step


def train(torch):
    return torch_loads.training(torch, layers=24, texts=32)


def work(kind, path, kinds):
    """Makes steps and counts them in a file, until the process is killed or its parent ends."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    import torch
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 8) as count:
        step = kinds[kind](torch)
        for done in range(1, 1 << 62):
            step()
            struct.pack_into("Q", count, 0, done)


# --- the runs ---

class Program:
    """A process of SCRIPT, which makes steps of a kind after begin() has returned. It counts them in a file of that NAME."""

    def __init__(self, kind, folder, script=__file__, name=None):
        self.kind, self.path = kind, folder / f".{name or kind}.steps"
        self.path.write_bytes(bytes(8))
        self.process = subprocess.Popen([sys.executable, script, "--work", kind, self.path], env=bounded.without_mps())

    def begin(self):
        """Waits until the program has made some steps. Raises bounded.Late."""
        until = time.monotonic() + START_S
        while self.steps() < 5:
            if self.process.poll() is not None or time.monotonic() > until:
                raise bounded.Late(f"the program '{self.kind}' did not make five steps in {START_S} s")
            time.sleep(0.1)

    def steps(self):
        return struct.unpack("Q", self.path.read_bytes())[0]

    def end(self):
        """Kills the program. Raises subprocess.TimeoutExpired if that takes too long, as when its kernels hang."""
        self.process.kill()
        self.process.wait(bounded.END_S)
        self.path.unlink()


@contextlib.contextmanager
def at_work(programs):
    """Yields when all programs make steps, and ends them at last. Raises bounded.Late."""
    with contextlib.ExitStack() as ending:
        for program in programs:
            ending.callback(program.end)
        for program in programs:
            program.begin()
        yield programs


def speeds(programs, seconds):
    """Returns the steps per second of each program, from the end of a step to the end of a later step.

    Raises bounded.Late if a program makes no step in STEP_S."""
    def at_a_step(program):
        before = program.steps()
        until = time.monotonic() + STEP_S
        while program.steps() == before:
            if time.monotonic() > until:
                raise bounded.Late(f"the program '{program.kind}' made no step in {STEP_S} s")
            time.sleep(0.0005)
        return time.monotonic(), program.steps()
    first = [at_a_step(program) for program in programs]
    time.sleep(seconds)
    last = [at_a_step(program) for program in programs]
    return [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(first, last)]


def alone(program, others, seconds):
    """Returns the steps per second of a program while the others are stopped."""
    for other in others:
        other.process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(1)
        found, = speeds([program], seconds)
    finally:
        for other in others:
            other.process.send_signal(signal.SIGCONT)
    return found


def under(nvqos, goals, programs, seconds):
    """Returns the speeds under the goals, nvqos' epochs in that time, its exit status and its messages. Raises bounded.Failed."""
    keeping = bounded.Keeping(nvqos, *(f"{program.process.pid}={goal}" for program, goal in zip(programs, goals)))
    try:
        time.sleep(SETTLE_S)
        if keeping.process.poll() is not None:
            raise bounded.Failed(f"nvqos ended with {keeping.process.returncode}: {keeping.told()}")
        before = len(keeping.lines())
        found = speeds(programs, seconds)
        epochs = keeping.lines()[before:]
    finally:
        status = keeping.end()
    return found, epochs, status, keeping.told()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvqos", type=kind_of("nvqos"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with at_work([Program(kind, options.folder) for kind in ("decode", "train")]) as programs:
        first = [alone(programs[n], programs[1 - n:2 - n], options.seconds) for n in (0, 1)]
        rows = []
        for number in range(options.runs):
            for goals in GOALS:
                found, _, status, _ = under(options.nvqos, goals, programs, options.seconds)
                rows.append({"run": number, "decode_goal": goals[0], "train_goal": goals[1],
                             "decode_of_alone": round(found[0] / first[0], 3), "train_of_alone": round(found[1] / first[1], 3),
                             "status": status})
                print(rows[-1], flush=True)
    record.write(options.folder / "qos_cap.json", {
        "alone_per_s": {"decode": round(first[0], 2), "train": round(first[1], 2)}, "seconds": options.seconds, "runs": rows})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:4], {"decode": decode, "train": train})
    else:
        run(main)
