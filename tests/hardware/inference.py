#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""PyTorch inference beside PyTorch training on one GPU: what each way to share it does to the 99th percentile.

    inference.py NVTASKSET FOLDER [NVDEBUGCTL]

On an otherwise idle GPU, with PyTorch. NVDEBUGCTL (as root): also by timeslices. Writes
FOLDER/inference.json. The models are made up and not trained for anything: a transformer of 12 layers, replayed as a
CUDA graph and asked with 8 texts of 256 tokens every 20 ms, beside one of 24 layers that learns from noise.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import time

from common import environment, mps

SECONDS = float(os.environ.get("SECONDS_EACH", "6"))
PERIOD = 0.020


def model(layers, width, torch):
    layer = torch.nn.TransformerEncoderLayer(width, width // 64, 4 * width, batch_first=True, dropout=0)
    return torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda().to(torch.bfloat16)


@contextlib.contextmanager
def stream(torch):
    """On the first PARTITION[1] SMs, or on all but these, as a green context; without PARTITION on all of them."""
    wanted = os.environ.get("PARTITION", "").split()
    if not wanted:
        with torch.cuda.stream(torch.cuda.Stream()):
            yield
        return
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        if status := getattr(cuda, name)(*arguments):
            sys.exit(f"{name}: error {status}")

    def resource():
        return (ctypes.c_char * 144)()  # CUdevResource of cuda.h
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    of_sms, default_stream, non_blocking = 1, 1, 1
    sms, first, rest, groups = resource(), resource(), resource(), ctypes.c_uint(1)
    call("cuDeviceGetDevResource", 0, sms, of_sms)
    call("cuDevSmResourceSplitByCount", first, ctypes.byref(groups), sms, rest, 0, int(wanted[1]))
    description, green, made = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    call("cuDevResourceGenerateDesc", ctypes.byref(description), first if wanted[0] == "first" else rest, 1)
    call("cuGreenCtxCreate", ctypes.byref(green), description, 0, default_stream)
    call("cuGreenCtxStreamCreate", ctypes.byref(made), green, non_blocking, 0)
    with torch.cuda.stream(torch.cuda.ExternalStream(made.value)):
        yield


def infer():
    """A request each period, however long the one before took; ms from when it was due to its answer."""
    import torch
    with torch.no_grad(), stream(torch):
        asked, net = torch.randn(8, 256, 1024, device="cuda", dtype=torch.bfloat16), model(12, 1024, torch).eval()
        for _ in range(20):
            net(asked)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin()
        net(asked)
        graph.capture_end()
        for _ in range(20):
            graph.replay()
        torch.cuda.synchronize()
        print("ready", flush=True)
        sys.stdin.readline()
        took, due = [], time.monotonic()
        end = due + SECONDS
        while due < end:
            time.sleep(max(0, due - time.monotonic()))
            graph.replay()
            torch.cuda.synchronize()
            took.append((time.monotonic() - due) * 1000)
            due += PERIOD
    took.sort()
    print(json.dumps({"requests": len(took), "median_ms": round(took[len(took) // 2], 2),
                      "p99_ms": round(took[int(len(took) * 0.99)], 2), "max_ms": round(took[-1], 2)}), flush=True)


def train():
    """Steps, counted from the word to the end of its input."""
    import select
    import torch
    with stream(torch):
        steps_per_s = learn(torch, select)
    print(json.dumps({"steps_per_s": steps_per_s}), flush=True)


def learn(torch, select):
    net = model(24, 1024, torch).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-5)
    batch = torch.randn(32, 512, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad()
        net(batch).square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()
    for _ in range(3):
        step()
    print("ready", flush=True)
    sys.stdin.readline()
    begin, steps = time.monotonic(), 0
    while not select.select([sys.stdin], [], [], 0)[0] and time.monotonic() - begin < 60:
        step()
        steps += 1
    return round(steps / (time.monotonic() - begin), 2)


class Task:
    def __init__(self, role, env, prefix):
        self.process = subprocess.Popen([*prefix, sys.executable, __file__, role], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ready(self):
        if self.process.stdout.readline() != "ready\n":
            sys.exit("a task did not start")

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def answer(self):
        found = json.loads(self.process.stdout.readline())
        self.process.stdin.close()
        self.process.wait(timeout=60)
        return found

    def stop(self):
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()


def together(env, of_infer=(), of_train=(), both=True, meanwhile=lambda infer, train: None):
    tasks = []
    try:
        asked = Task("infer", env, of_infer)
        tasks.append(asked)
        other = Task("train", env, of_train) if both else None
        if other:
            tasks.append(other)
        for task in tasks:
            task.ready()
        meanwhile(asked.process.pid, other.process.pid if other else None)
        for task in tasks:
            task.go()
        found = asked.answer()
        if other:
            other.go()
            found |= other.answer()
        return found
    finally:
        for task in tasks:
            task.stop()


def main():
    nvtaskset, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    tool = sys.argv[3] if len(sys.argv) > 3 else None

    def percent(n):
        return ("env", f"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={n}")

    def partition(which):
        return ("env", f"PARTITION={which} 32")

    def keep(*words):
        return (nvtaskset, "-q", *words)

    listed = subprocess.run([nvtaskset, "--list", "--json"], capture_output=True, text=True, check=True)
    tpcs = json.loads(listed.stdout)["gpus"][0]["tpcs"]
    of_gpc = [[tpc["tpc"] for tpc in tpcs if tpc["gpc"] == gpc] for gpc in range(4)]
    some = [tpc for gpc in of_gpc for tpc in gpc[:4]]  # as -s 32 --spread chooses
    spread = keep("-t", ",".join(map(str, some)))
    rest = keep("-t", ",".join(str(n) for n in range(len(tpcs)) if n not in some))
    rows = []

    def say(way, *how, **more):
        rows.append({"way": way} | together(*how, **more))
        print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)

    def slices(asked, other):
        for pid, slice_of in ((asked, "16ms"), (other, "500us")):
            subprocess.run([tool, "--from", "driver", "task", "set", str(pid), "--timeslice", slice_of], check=True,
                           stdout=subprocess.DEVNULL)

    say("inference alone", environment(), both=False)
    say("time slices, as it is", environment())
    if tool:
        say("timeslices 16 ms : 500 us", environment(), meanwhile=slices)
    with mps() as server:
        say("MPS", server)
        say("MPS percentage 25 : 75", server, percent(25), percent(75))
        say("green contexts 32 SMs : the rest", server, partition("first"), partition("rest"))
        say("nvtaskset -s 32 --spread : the rest", server, spread, rest)
        say("nvtaskset -g 0,1 : -g 2-7", server, keep("-g", "0,1"), keep("-g", "2-7"))
        say("nvtaskset -g 0-3 : -g 4-7", server, keep("-g", "0-3"), keep("-g", "4-7"))
        say("alone, green context of 32 SMs", server, partition("first"), both=False)
        say("alone, nvtaskset -s 32 --spread", server, keep("-s", "32", "--spread"), both=False)
        say("alone, nvtaskset -g 0,1", server, keep("-g", "0,1"), both=False)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "inference.json").write_text("[" + ",\n".join(json.dumps(row) for row in rows) + "]\n", encoding="utf-8")


{"infer": infer, "train": train}.get(sys.argv[1], main)()
