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
import mmap
import pathlib
import signal
import struct
import subprocess
import sys
import time

from common import bounded, kind as kind_of, record, run

START_S, SETTLE_S, THINK_S = 120, 2.5, 0.0005
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
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                forward()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                forward()

    def step():
        graph.replay()
        torch.cuda.synchronize()
        until = time.monotonic() + THINK_S
        while time.monotonic() < until:
            pass
    return step


def train(torch):
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, dropout=0)
    net = torch.nn.TransformerEncoder(layer, 24, enable_nested_tensor=False).cuda().to(torch.bfloat16).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-5)
    texts = torch.randn(32, 512, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad()
        net(texts).square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()
    return step


def work(kind, path):
    """Makes steps until the process is killed, and counts them in a file."""
    import torch
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 8) as count:
        step = {"decode": decode, "train": train}[kind](torch)
        for done in range(1, 1 << 62):
            step()
            struct.pack_into("Q", count, 0, done)


# --- the runs ---

class Program:
    def __init__(self, kind, folder):
        self.path = folder / f".{kind}.steps"
        self.path.write_bytes(bytes(8))
        self.process = subprocess.Popen([sys.executable, __file__, "--work", kind, self.path], env=bounded.without_mps())
        until = time.monotonic() + START_S
        while self.steps() < 5:
            if self.process.poll() is not None or time.monotonic() > until:
                sys.exit(f"qos_cap: the program '{kind}' did not start")
            time.sleep(0.1)

    def steps(self):
        return struct.unpack("Q", self.path.read_bytes())[0]

    def end(self):
        self.process.kill()
        self.process.wait()
        self.path.unlink()


def speeds(programs, seconds):
    """Returns the steps per second of each program, from the end of a step to the end of a later step."""
    def at_a_step(program):
        before = program.steps()
        until = time.monotonic() + 10
        while program.steps() == before and time.monotonic() < until:
            time.sleep(0.0005)
        return time.monotonic(), program.steps()
    first = [at_a_step(program) for program in programs]
    time.sleep(seconds)
    last = [at_a_step(program) for program in programs]
    return [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(first, last)]


def alone(program, other, seconds):
    other.process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    found, = speeds([program], seconds)
    other.process.send_signal(signal.SIGCONT)
    return found


def under(nvqos, goals, programs, seconds):
    """Returns the speeds under the goals, and nvqos' exit status."""
    words = [f"{program.process.pid}={goal}" for program, goal in zip(programs, goals)]
    with subprocess.Popen([nvqos, "--quiet", *words], stderr=subprocess.DEVNULL) as keeping:
        time.sleep(SETTLE_S)
        if keeping.poll() is not None:
            sys.exit(f"qos_cap: nvqos {' '.join(words)} ended with {keeping.returncode}")
        found = speeds(programs, seconds)
        keeping.terminate()
        return found, keeping.wait(15)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvqos", type=kind_of("nvqos"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as ending:
        programs = []
        for kind in ("decode", "train"):
            programs.append(Program(kind, options.folder))
            ending.callback(programs[-1].end)
        first = [alone(programs[n], programs[1 - n], options.seconds) for n in (0, 1)]
        rows = []
        for number in range(options.runs):
            for goals in GOALS:
                found, status = under(options.nvqos, goals, programs, options.seconds)
                rows.append({"run": number, "decode_goal": goals[0], "train_goal": goals[1],
                             "decode_of_alone": round(found[0] / first[0], 3), "train_of_alone": round(found[1] / first[1], 3),
                             "status": status})
                print(rows[-1], flush=True)
    record.write(options.folder / "qos_cap.json", {
        "alone_per_s": {"decode": round(first[0], 2), "train": round(first[1], 2)}, "seconds": options.seconds, "runs": rows})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:4])
    else:
        run(main)
