# SPDX-License-Identifier: MIT OR GPL-2.0
"""Jobs on several GPUs with collectives of NCCL, one process for each GPU. They need PyTorch.

    train64, train16   data-parallel training of 24 layers, with 64 or 16 texts on each GPU. With 16 the GPUs wait for launches
    decode             a tensor-parallel decode loop of 32 layers, whose step is a CUDA graph with 32 all-reduces
    serve              requests of eight such steps, 40 ms apart in the mean, at random
    reduce256k, reduce256m   all-reduces of that size, one after the other

A job is a process that starts its ranks, in a session of their own. Rank 0 counts the job's steps and their lengths in a file:
for `serve` the time from the arrival of a request to its end. NVLink multicast (NVLS) is off for these processes.
"""

import contextlib
import ctypes
import mmap
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import time

from nvdlab import bounded, torch_loads

KINDS = ("train64", "train16", "decode", "serve", "reduce256k", "reduce256m")
START_S = 180  # of PyTorch and NCCL on all GPUs
KEPT = 1 << 16  # lengths of the last steps
HEAD = struct.Struct("QQ")  # steps so far; the moment of the first request by CLOCK_MONOTONIC
REQUEST_STEPS, REQUEST_GAP_S = 8, 0.040


# --- in the ranks ---

def train(torch, rank, texts):
    """Returns a function that makes one step of a data-parallel training."""
    return torch_loads.training(torch, 24, texts, lambda net: torch.nn.parallel.DistributedDataParallel(net, device_ids=[rank]))


def decode(torch, ranks):
    """Returns a function that makes one step of a decode loop, whose layers are divided among the ranks."""
    layers, width, inner, texts = 32, 4096, 16384, 64
    with torch.no_grad():
        net = [(torch.randn(width, inner // ranks, device="cuda", dtype=torch.bfloat16) * 0.01,
                torch.randn(inner // ranks, width, device="cuda", dtype=torch.bfloat16) * 0.01) for _ in range(layers)]
        begin = torch.randn(texts, width, device="cuda", dtype=torch.bfloat16)

        def forward():
            state = begin
            for up, down in net:
                part = torch.nn.functional.gelu(state @ up) @ down
                torch.distributed.all_reduce(part)
                state = state + part
        replay = torch_loads.replayed(torch, forward)

    def step():
        replay()
        torch.cuda.synchronize()
    return step


def reduce(torch, size):
    """Returns a function that makes one all-reduce of so many bytes."""
    values = torch.ones(size // 2, device="cuda", dtype=torch.bfloat16)

    def step():
        torch.distributed.all_reduce(values, op=torch.distributed.ReduceOp.MAX)
        torch.cuda.synchronize()
    return step


def step_of(kind, torch, rank, ranks):
    if kind.startswith("train"):
        return train(torch, rank, int(kind[len("train"):]))
    if kind.startswith("reduce"):
        return reduce(torch, {"reduce256k": 256 << 10, "reduce256m": 256 << 20}[kind])
    return decode(torch, ranks)


def lengths_of_requests(step, first):
    """Yields the time of each request from its arrival to its end. All ranks have the same arrivals."""
    gaps, due = random.Random(7), first
    while True:
        while (left := due - time.monotonic()) > 0:
            if left > 0.002:
                time.sleep(left - 0.001)
        for _ in range(REQUEST_STEPS):
            step()
        yield time.monotonic() - due
        due += gaps.expovariate(1 / REQUEST_GAP_S)


def lengths_of_steps(step):
    while True:
        begin = time.monotonic()
        step()
        yield time.monotonic() - begin


def die_with_the_parent():
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def be_rank(kind, path, rank, ranks):
    """Makes steps until the process is killed or its parent ends. Rank 0 counts."""
    die_with_the_parent()
    import torch
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", init_method=f"file://{path}.store", rank=rank, world_size=ranks)
    step = step_of(kind, torch, rank, ranks)
    for _ in range(5):
        step()
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as told:
        if rank == 0:
            HEAD.pack_into(told, 0, 0, time.monotonic_ns() + 1_000_000_000)
        torch.distributed.barrier()
        torch.cuda.synchronize()
        first = HEAD.unpack_from(told)[1]
        lengths = lengths_of_requests(step, first / 1e9) if kind == "serve" else lengths_of_steps(step)
        for done, length in enumerate(lengths):
            if rank == 0:
                struct.pack_into("Q", told, HEAD.size + 8 * (done % KEPT), int(1e9 * length))
                HEAD.pack_into(told, 0, done + 1, first)


def be_launcher(kind, path, ranks):
    """Starts the ranks, writes their pids down, and waits for all of them, also if some are killed."""
    die_with_the_parent()
    made = [subprocess.Popen([sys.executable, __file__, "--rank", kind, path, str(rank), str(ranks)]) for rank in range(ranks)]
    pathlib.Path(f"{path}.pids").write_text(" ".join(str(one.pid) for one in made), encoding="utf-8")
    for one in made:
        one.wait()


# --- in the program that measures ---

class Job:
    """A job on these GPUs. Its launcher's pid stands for all of its ranks. `more` are variables of its environment."""

    def __init__(self, kind, gpus, folder, name, more):
        self.kind, self.gpus, self.path = kind, tuple(gpus), (folder / f".{name}").resolve()
        for path in self.others():
            path.unlink(missing_ok=True)  # of a program that was killed; an old store would make the ranks wait
        self.path.write_bytes(bytes(HEAD.size + 8 * KEPT))
        self.log = open(self.file("log"), "w+b")  # pylint: disable=consider-using-with # until end()
        env = bounded.without_mps(CUDA_DEVICE_ORDER="PCI_BUS_ID", CUDA_VISIBLE_DEVICES=",".join(map(str, gpus)),
                                  NCCL_NVLS_ENABLE="0", OMP_NUM_THREADS="2",
                                  PYTHONPATH=os.pathsep.join(filter(None, (str(pathlib.Path(__file__).resolve().parents[1]),
                                                                           os.environ.get("PYTHONPATH"))))) | more
        self.process = subprocess.Popen([sys.executable, __file__, "--job", kind, str(self.path), str(len(self.gpus))],
                                        env=env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        start_new_session=True)
        self.pid = self.process.pid

    def file(self, ending):
        return pathlib.Path(f"{self.path}.{ending}")

    def others(self):
        return [self.file(ending) for ending in ("log", "pids", "store")]

    def ranks(self):
        return [int(word) for word in self.file("pids").read_text(encoding="utf-8").split()]

    def steps(self):
        return HEAD.unpack_from(self.path.read_bytes())[0]

    def begin(self):
        """Waits until the job has made some steps. Raises bounded.Late."""
        until = time.monotonic() + START_S
        while self.steps() < 3:
            if self.process.poll() is not None or time.monotonic() > until:
                happened = "ended" if self.process.poll() is not None else f"did not make three steps in {START_S} s"
                self.log.seek(0)
                told = self.log.read().decode(errors="replace").strip().splitlines()[-1:] or ["it printed nothing"]
                raise bounded.Late(f"the job '{self.kind}' on {len(self.gpus)} GPUs {happened}: {told[0]}")
            time.sleep(0.05)

    def lengths_ms(self, since):
        """Returns the lengths of the steps after the first SINCE ones, as far as they are kept."""
        told = self.path.read_bytes()
        done = HEAD.unpack_from(told)[0]
        return [struct.unpack_from("Q", told, HEAD.size + 8 * (n % KEPT))[0] / 1e6 for n in range(max(since, done - KEPT + 1), done)]

    def end(self):
        """Kills all processes of the job. Raises subprocess.TimeoutExpired if that takes too long, as when its kernels hang."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait(bounded.END_S)
        self.log.close()
        for path in (self.path, *self.others()):
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def at_work(jobs_wanted, folder, **more):
    """Yields jobs when all make steps, and ends them at last. A job is given as its kind and its GPUs. Raises bounded.Late."""
    with contextlib.ExitStack() as ending:
        jobs = []
        for number, (kind, gpus) in enumerate(jobs_wanted):
            jobs.append(Job(kind, gpus, folder, f"{kind}-{number}", more))
            ending.callback(jobs[-1].end)
        for job in jobs:
            job.begin()
        yield jobs


def quantiles(lengths):
    """Returns the 50th, 90th and 99th percentile and the maximum; None: there were no steps."""
    found = sorted(lengths)
    return [round(found[min(len(found) - 1, int(len(found) * part))], 3) for part in (0.5, 0.9, 0.99, 1)] if found else None


def measured(jobs, seconds):
    """Returns of each job the steps per second, and the quantiles of their lengths in ms. A job may make no step."""
    before, begin = [job.steps() for job in jobs], time.monotonic()
    time.sleep(seconds)
    after, length = [job.steps() for job in jobs], time.monotonic() - begin
    return [{"per_s": round((last - first) / length, 4), "ms": quantiles(job.lengths_ms(first))}
            for job, first, last in zip(jobs, before, after)]


if __name__ == "__main__":
    if sys.argv[1] == "--rank":
        be_rank(*sys.argv[2:4], *map(int, sys.argv[4:6]))
    else:
        be_launcher(*sys.argv[2:4], int(sys.argv[4]))
