#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Requests of a PyTorch service beside PyTorch training: alone, as it is, and with `nvqos SERVICE=latency`.

    qos_latency.py NVQOS FOLDER [--runs N] [--seconds N] [--cases A,B] [--nvtaskset NVTASKSET] [--mps]
                   [--in-flight N]

As root, on an otherwise idle GPU, with NVIDIA's driver, PyTorch and without the module, in seven minutes. The models
are made up and learn from noise: a transformer of as many layers as make a request of 1.6, 3.4 or 10 ms on an H100,
replayed as a CUDA graph or run eagerly, beside one of 24 layers that trains. Requests are due by a clock, or at
random (Poisson); their times are from launch to end. Each case's ways run in turn, so that none has a cold or a warm
GPU of its own. With --nvtaskset it starts them all, so that nvqos limits the training's launches in flight; with --mps
all are clients of one server, and while requests run nvqos holds the training's launches. With --in-flight nvtaskset
sets that limit for the training, too, while nvqos is there. Writes FOLDER/qos_latency.json (qos_latency-prepared.json,
qos_latency-prepared-mps.json, qos_latency-prepared-mps-1.json): of each run the median, the 99th percentile and the
steps of the training, and of each way their means with the half width of an interval of 95 %. Ends with 1 if a run
failed.
"""

import argparse
import contextlib
import json
import math
import pathlib
import random
import select
import signal
import statistics
import subprocess
import sys
import time

import bounded
from common import environment, mps, program, records
from qos_reach import gpu

WIDTH, TEXTS, TOKENS = 1024, 8, 256
CASES = {  # how many services, layers, graph or eager, period in ms, how requests come
    "1.6 ms": (1, 12, "graph", 4, "periodic"),
    "3.4 ms": (1, 25, "graph", 8, "periodic"),
    "3.4 ms at random": (1, 25, "graph", 8, "poisson"),
    "10 ms": (1, 74, "graph", 24, "periodic"),
    "eager": (1, 25, "eager", 24, "periodic"),
    "two services of 3.4 ms": (2, 25, "graph", 16, "periodic"),
}
START_S, SETTLE_S, STEP_S = 90, 1.0, 0.4  # the last: longer than a step of the training takes
T_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36}  # Student's, by the number of runs


# --- the two programs ---

def model(layers, torch):
    layer = torch.nn.TransformerEncoderLayer(WIDTH, WIDTH // 64, 4 * WIDTH, batch_first=True, dropout=0)
    return torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda().to(torch.bfloat16)


def serve(layers, how):
    """For each line SECONDS PERIOD_MS periodic|poisson SEED the times of its requests, in ms."""
    import torch
    with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
        asked, net = torch.randn(TEXTS, TOKENS, WIDTH, device="cuda", dtype=torch.bfloat16), model(layers, torch).eval()

        def request():
            net(asked)
        for _ in range(20):
            request()
        torch.cuda.synchronize()
        if how == "graph":
            graph = torch.cuda.CUDAGraph()
            graph.capture_begin()
            net(asked)
            graph.capture_end()
            request = graph.replay
        for _ in range(20):
            request()
        torch.cuda.synchronize()
        print("ready", flush=True)
        for line in sys.stdin:
            seconds, period_ms, arrivals, seed = line.split()
            draw = random.Random(int(seed))
            times, began_at = [], time.monotonic()
            due, end = began_at, began_at + float(seconds)
            while due < end:
                time.sleep(max(0, due - time.monotonic()))
                began = time.monotonic()
                request()
                torch.cuda.synchronize()
                times.append(round((time.monotonic() - began) * 1000, 4))
                period = float(period_ms) / 1000
                due += period if arrivals == "periodic" else draw.expovariate(1 / period)
            print(json.dumps([began_at, time.monotonic(), times]), flush=True)


def train():
    """From a line to the next it learns; then when each of its steps ended."""
    import torch
    with torch.cuda.stream(torch.cuda.Stream()):
        net = model(24, torch).train()
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-5)
        batch = torch.randn(32, 512, WIDTH, device="cuda", dtype=torch.bfloat16)

        def step():
            optimizer.zero_grad()
            net(batch).square().mean().backward()
            optimizer.step()
            torch.cuda.synchronize()
        for _ in range(3):
            step()
        print("ready", flush=True)
        while sys.stdin.readline():
            begin, ended = time.monotonic(), []
            while not select.select([sys.stdin], [], [], 0)[0] and time.monotonic() - begin < 60:
                step()
                ended.append(time.monotonic())
            sys.stdin.readline()
            print(json.dumps(ended), flush=True)


# --- their measurement ---

class Program:
    def __init__(self, *words, env, prefix=()):
        self.name = words[0]
        self.process = subprocess.Popen([*prefix, sys.executable, __file__, *map(str, words)], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def line(self):
        """The next one. Raises bounded.Late."""
        if not select.select([self.process.stdout], [], [], START_S)[0]:
            raise bounded.Late(f"{self.name} printed nothing in {START_S} s")
        if not (text := self.process.stdout.readline()):
            raise bounded.Late(f"{self.name} ended")
        return text

    def ask(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def programs(asked, case):
    count, layers, how, _, _ = case
    made = []
    with mps() if asked.mps else contextlib.nullcontext(environment()) as env:
        try:
            prepared = (asked.nvtaskset, "-q", "--prepare") if asked.nvtaskset else ()
            for _ in range(count):
                made.append(Program("serve", layers, how, env=env, prefix=prepared))
            made.append(Program("train", env=env, prefix=prepared))
            for one in made:
                if one.line() != "ready\n":
                    raise bounded.Late("a program did not start")
            yield made[:-1], made[-1]
        finally:
            for one in made:
                one.kill()


def limit(asked, training, launches):
    """In flight, of the training; 0: any number."""
    if asked.in_flight:
        bounded.ask(asked.nvtaskset, "-q", "-p", training.process.pid, "--in-flight", launches)


def section(asked, services, training, case, seed, way):
    """One run: times of requests, and steps a second of the training."""
    keeping = None
    if way != "alone":
        training.ask("go")
    try:
        if way == "nvqos":
            keeping = bounded.Keeping(asked.nvqos, *[f"{one.process.pid}=latency" for one in services])
            if keeping.refused is not None:
                raise bounded.Late(f"nvqos refused: {keeping.refused}")
            limit(asked, training, asked.in_flight)
        time.sleep(SETTLE_S)
        for number, service in enumerate(services):
            service.ask(f"{asked.seconds} {case[3]} {case[4]} {seed + number}")
        cost_s, began = -keeping.processor_s() if keeping else 0, time.monotonic()
        answers = [json.loads(service.line()) for service in services]
        cost_s, took_s = cost_s + (keeping.processor_s() if keeping else 0), time.monotonic() - began
        time.sleep(STEP_S)
    finally:
        if keeping:
            keeping.end()
            limit(asked, training, 0)
    times = sorted(ms for _, _, some in answers for ms in some)
    row = {"way": way, "requests": len(times), "median_ms": statistics.median(times),
           "mean_ms": round(statistics.fmean(times), 4), "p99_ms": times[math.ceil(0.99 * len(times)) - 1], "max_ms": times[-1]}
    if keeping:
        row["core_percent"] = round(100 * cost_s / took_s, 2)
    if way != "alone":
        training.ask("stop")
        begin, end = min(one[0] for one in answers), max(one[1] for one in answers)
        row["steps_per_s"] = steps_per_s(json.loads(training.line()), begin, end)
    return row


def steps_per_s(ended, begin, end):
    """While requests came, and parts of steps count."""
    return round(bounded.rate([(round(at * 1e9), number) for number, at in enumerate(ended)], round(begin * 1e9), round(end * 1e9)), 3)


def training_alone(training, seconds):
    training.ask("go")
    time.sleep(seconds)
    training.ask("stop")
    ended = json.loads(training.line())
    return steps_per_s(ended, ended[0], ended[-1] - 1e-6)


def interval(values):
    mean = statistics.fmean(values)
    half = T_95.get(len(values), 2) * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return [round(mean, 4), half if half is None else round(half, 4)]


def summary(rows, alone_steps, case):
    """Of each way, and what is left of the training for the time that requests leave it (the residual)."""
    ways = {way: [row for row in rows if row["way"] == way] for way in ("alone", "as it is", "nvqos")}
    found = {way: {key: interval([row[key] for row in some]) for key in some[0] if key not in ("way", "requests")}
             for way, some in ways.items() if some}
    if "alone" in found and "nvqos" in found:
        alone = found["alone"]["p99_ms"][0]
        found["p99_over_alone_percent"] = round(100 * (found["nvqos"]["p99_ms"][0] / alone - 1), 2)
        found["p99_over_alone_ms"] = round(found["nvqos"]["p99_ms"][0] - alone, 4)
        # Requests of several services wait for each other, which is in their times.
        if case[0] == 1:
            left = 1 - found["alone"]["mean_ms"][0] / case[3]
            found["residual"] = round(found["nvqos"]["steps_per_s"][0] / statistics.fmean(alone_steps) / left, 4)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nvqos", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5, help="of each way (default: 5)")
    parser.add_argument("--seconds", type=float, default=3, help="of each run (default: 3)")
    parser.add_argument("--cases", type=lambda text: text.split(","), default=list(CASES))
    parser.add_argument("--nvtaskset", type=pathlib.Path, help="starts them all")
    parser.add_argument("--mps", action="store_true", help="all are clients of an MPS server")
    parser.add_argument("--in-flight", type=int, default=0, metavar="N", help="launches of the training; takes --nvtaskset")
    asked = parser.parse_args()
    if asked.in_flight and not asked.nvtaskset:
        parser.error("--in-flight takes --nvtaskset")
    how = "-prepared" * bool(asked.nvtaskset) + "-mps" * asked.mps + f"-{asked.in_flight}" * bool(asked.in_flight)
    place = asked.folder / f"qos_latency{how}.json"
    if unknown := [name for name in asked.cases if name not in CASES]:
        sys.exit(f"qos_latency: there is no case {unknown[0]!r}; there are {', '.join(CASES)}")
    signal.alarm(560)  # whatever hangs
    found = {"program": program(), "gpu": gpu(), "runs": asked.runs, "seconds": asked.seconds,
             "programs": "started by nvtaskset" if asked.nvtaskset else "as they are", "mps": asked.mps,
             "in_flight": asked.in_flight or None, "cases": []}
    failed = False
    for name in asked.cases:
        case, rows, steps = CASES[name], [], []
        row = {"case": name, "services": case[0], "layers": case[1], "how": case[2], "period_ms": case[3], "arrivals": case[4]}
        try:
            with programs(asked, case) as (services, training):
                steps.append(training_alone(training, asked.seconds))
                for run in range(asked.runs):
                    # As it is, requests pile up, which two runs show as well as five.
                    for way in ("alone", "as it is", "nvqos") if run < 2 else ("alone", "nvqos"):
                        rows.append(section(asked, services, training, case, run, way))
                        print(f"{name}: " + "  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
                steps.append(training_alone(training, asked.seconds))
            row["ways"] = summary(rows, steps, case)
        except (bounded.Late, OSError) as error:
            row["failed"], failed = str(error), True
        found["cases"].append(row | {"training_alone": steps, "rows": rows})
        print(f"{name}: {json.dumps(row.get('ways') or row.get('failed'))}", flush=True)
        asked.folder.mkdir(parents=True, exist_ok=True)
        place.write_text(records(found) + "\n", encoding="utf-8")
    sys.exit(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1:2] == ["train"]:
        train()
    else:
        main()
