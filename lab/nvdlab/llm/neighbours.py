# SPDX-License-Identifier: MIT OR GPL-2.0
"""Programs that share the GPU with the engine. Each counts its own steps in a file (progress.py), and works while that asks
for it.

    neighbours.py KIND SHAPE FILE CPUS

    train      a full training step (forward, backward, AdamW) of a network of SHAPE, on random tokens, as one CUDA graph
    diffusion  a step of a made-up diffusion model: as many layers as take 40 ms alone
    long       a matrix product that takes 10 ms alone and fills the GPU
    engine     a second engine: a step of decoding for its requests and a prompt for one of them
    sleep      a stand-in without PyTorch: it sleeps, and its times mean nothing

CPUS is a list such as 2,3, or `all`.
"""

import contextlib
import os
import sys
import time
import traceback

from nvdlab import torch_loads
from nvdlab.collectives import die_with_the_parent
from nvdlab.llm import engine, llama, progress

TEXTS, TOKENS = 2, 1024           # of a training step
DIFFUSION_MS, LONG_MS = 40, 10
WARM = 4                          # steps before the program is ready


def train(torch, shape, device):
    net = llama.Llama(torch, shape, device, llama.dtype(torch, device))
    for weight in net.parameters():
        weight.requires_grad_(True)
    on_gpu = {"fused": True, "capturable": True} if device == "cuda" else {}
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-6, **on_gpu)
    length = TOKENS if shape.hidden > 64 else 16
    tokens = torch.randint(shape.vocabulary, (TEXTS, length + 1), device=device)
    positions = torch.arange(length, device=device).repeat(TEXTS)
    attend = net.causal(TEXTS)

    def step():
        states = net.forward(tokens[:, :-1].reshape(-1), positions, attend)
        torch.nn.functional.cross_entropy(net.logits(states).float(), tokens[:, 1:].reshape(-1)).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step


def as_a_graph(torch, step):
    """Returns a function that launches a step as one CUDA graph; None if that does not work.

    A step whose kernels are launched one by one takes its processor nearly as long as the GPU. On an H200 the median of the steps
    without an engine's request was from 47 to 68 ms, also without nvqos (docs/llm.md). Such a neighbour cannot show what sharing
    costs.
    """
    try:
        return torch_loads.replayed(torch, step)
    except RuntimeError:
        traceback.print_exc()
        print("the step cannot be a CUDA graph; its kernels are launched one by one", file=sys.stderr)
        return None


def took_ms(torch, device, work):
    """Returns how long some work takes, by the processor's clock around the second of two times."""
    for _ in range(2):
        begin = time.monotonic()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
    return (time.monotonic() - begin) * 1000


def diffusion(torch, shape, device):
    wide, places = (2048, 4096) if shape.hidden > 64 else (64, 16)
    layer = torch.nn.TransformerEncoderLayer(wide, wide // 64, 4 * wide, batch_first=True, dropout=0)
    layer = layer.to(device).to(llama.dtype(torch, device)).eval()
    noise = torch.randn(1, places, wide, device=device, dtype=llama.dtype(torch, device))
    with torch.no_grad():
        times = max(1, round(DIFFUSION_MS / took_ms(torch, device, lambda: layer(noise)))) if shape.hidden > 64 else 1

    def step():
        with torch.no_grad():
            state = noise
            for _ in range(times):
                state = layer(state)
    return step


def size_for(took_ms_at):
    """Returns the size of two square matrices with a product of LONG_MS. `took_ms_at` measures the product of a size. For a short one
    it mostly measures the launch, so the size is corrected a few times."""
    size = 4096
    for _ in range(4):
        size = 256 * max(1, round(size * (LONG_MS / took_ms_at(size)) ** (1 / 3) / 256))
    return size


def long(torch, shape, device):
    def matrices(size):
        return [torch.randn(size, size, device=device, dtype=llama.dtype(torch, device)) for _ in range(2)]

    def took_ms_at(size):
        one, other = matrices(size)
        return took_ms(torch, device, lambda: one @ other)
    one, other = matrices(size_for(took_ms_at) if shape.hidden > 64 else 64)

    def step():
        torch.mm(one, other)
    return step


def second(torch, shape, _):
    """Returns a step of an engine that always has requests in all of its slots, a new one every eight steps."""
    prompt, output = 128 if shape.hidden > 64 else 8, 8
    asked = engine.Own(torch, shape, prompt, output)
    going = [(slot, slot, prompt) for slot in range(engine.SLOTS)]
    made = [0]

    def step():
        if made[0] % output == 0:
            asked.prefill(made[0] % engine.SLOTS, [token % shape.vocabulary for token in range(prompt)])
        asked.decode(going)
        made[0] += 1
    return step


def by_torch(kind, shape):
    """Returns the functions for Counter.run(), and whether a step is one CUDA graph."""
    import torch  # pylint: disable=import-outside-toplevel
    device = "cuda" if torch.cuda.is_available() else "cpu"
    step = {"train": train, "diffusion": diffusion, "long": long, "engine": second}[kind](torch, shape, device)
    graph = as_a_graph(torch, step) if kind == "train" and device == "cuda" else None
    launch = graph or step

    def launched():
        launch()
        if device == "cpu":
            return lambda: None
        event = torch.cuda.Event()
        event.record()
        return event.synchronize
    return launched, lambda: fault(torch, device), bool(graph)


class Freed:
    """Memory of a tensor that was given back to the driver, as an array for torch.as_tensor()."""

    def __init__(self, address, count):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (count,), "typestr": "<f4", "version": 3}


def fault(torch, device):
    """Makes an illegal access, so that the driver ends this process' context. Ends the process with its error."""
    if device == "cpu":
        sys.exit("there is no GPU that could fail")
    count = 1 << 26
    tensor = torch.empty(count, device="cuda")
    freed = torch.as_tensor(Freed(tensor.data_ptr(), count), device="cuda")
    del tensor
    torch.cuda.empty_cache()
    freed.add_(1)
    torch.cuda.synchronize()
    freed[torch.tensor([1 << 40], device="cuda")] += 1  # if the memory is still mapped, the kernel's check of the index fails
    torch.cuda.synchronize()
    sys.exit("the illegal access had no effect")


def sleeping():
    def step():
        time.sleep(0.01)
        return lambda: None
    return step, lambda: sys.exit("the stand-in fails as it was asked to"), False


def main():
    kind, shape, path, cpus = sys.argv[1:]
    die_with_the_parent()
    if cpus != "all":
        os.sched_setaffinity(0, map(int, cpus.split(",")))
    counter = progress.Counter(path)
    step, failing, is_graph = sleeping() if kind == "sleep" else by_torch(kind, llama.SHAPES[shape])
    with contextlib.suppress(KeyboardInterrupt):
        for _ in range(WARM):
            step()()
        counter.ready(is_graph)
        counter.run(step, failing)


if __name__ == "__main__":
    main()
