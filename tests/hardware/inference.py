#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures PyTorch inference beside PyTorch training, for several ways to share the GPU.

    inference.py NVTASKSET FOLDER [NVDEBUGCTL]

It needs an otherwise idle GPU and PyTorch. With NVDEBUGCTL, and as root, it also sets timeslices. Writes
FOLDER/inference.json. The models are made up and not trained for anything: a transformer of 12 layers, replayed as a
CUDA graph and asked with 8 texts of 256 tokens every 20 ms, beside one of 24 layers that learns from noise.
"""

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import time

from common import bounded, record, run, words

SECONDS = float(os.environ.get("SECONDS_EACH", "6"))
PERIOD = 0.020


def model(layers, width, torch):
    layer = torch.nn.TransformerEncoderLayer(width, width // 64, 4 * width, batch_first=True, dropout=0)
    return torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda().to(torch.bfloat16)


@contextlib.contextmanager
def stream(torch):
    """Makes a stream the present one. PARTITION in the environment is `first N` or `rest N`: then the stream is of a green
    context with the first N SMs, or with the others. Without PARTITION the stream has all SMs."""
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
    """Sends a request each period, even if the previous request was late. Prints times, in ms, from the moment when a
    request was due to its answer."""
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
    """Trains from a line of stdin to the next one, and prints the steps per second."""
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


def together(env, of_infer=(), of_train=(), both=True, meanwhile=lambda infer, train: None):
    """Returns the figures of one run. Calls `meanwhile` with the pids once both programs are ready."""
    tasks = []
    try:
        for role, prefix in (("infer", of_infer), ("train", of_train))[:1 + both]:
            tasks.append(bounded.Talking(*prefix, sys.executable, __file__, role, env=env))
        for task in tasks:
            task.ready()
        meanwhile(tasks[0].pid, tasks[1].pid if both else None)
        for task in tasks:
            task.ask("go")
        found = json.loads(tasks[0].line())
        if both:
            tasks[1].ask("stop")
            found |= json.loads(tasks[1].line())
        return found
    finally:
        for task in tasks:
            task.kill()


def main():
    nvtaskset, folder, tool = words(__doc__, "nvtaskset", "folder", "[nvdebugctl]")

    def percent(n):
        return ("env", f"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={n}")

    def partition(which):
        return ("env", f"PARTITION={which} 32")

    def keep(*words):
        return (nvtaskset, "-q", *words)

    listed = subprocess.run([nvtaskset, "--list", "--json"], capture_output=True, text=True, check=True)
    tpcs = json.loads(listed.stdout)["gpus"][0]["tpcs"]
    of_gpc = [[tpc["tpc"] for tpc in tpcs if tpc["gpc"] == gpc] for gpc in range(4)]
    some = [tpc for gpc in of_gpc for tpc in gpc[:4]]  # the choice of -s 32 --spread
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

    say("inference alone", bounded.without_mps(), both=False)
    say("time slices, as it is", bounded.without_mps())
    if tool:
        say("timeslices 16 ms : 500 us", bounded.without_mps(), meanwhile=slices)
    with bounded.mps() as (server, _):
        say("MPS", server)
        say("MPS percentage 25 : 75", server, percent(25), percent(75))
        say("green contexts 32 SMs : the rest", server, partition("first"), partition("rest"))
        say("nvtaskset -s 32 --spread : the rest", server, spread, rest)
        say("nvtaskset -g 0,1 : -g 2-7", server, keep("-g", "0,1"), keep("-g", "2-7"))
        say("nvtaskset -g 0-3 : -g 4-7", server, keep("-g", "0-3"), keep("-g", "4-7"))
        say("alone, green context of 32 SMs", server, partition("first"), both=False)
        say("alone, nvtaskset -s 32 --spread", server, keep("-s", "32", "--spread"), both=False)
        say("alone, nvtaskset -g 0,1", server, keep("-g", "0,1"), both=False)
    record.write(folder / "inference.json", {"rows": rows})


run({"infer": infer, "train": train}.get(" ".join(sys.argv[1:]), main))
