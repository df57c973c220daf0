#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures requests of a PyTorch service beside PyTorch training: alone, as it is, and with `nvqos SERVICE=latency`.

    qos_latency.py NVQOS FOLDER [--runs N] [--seconds N] [--cases A,B] [--nvtaskset NVTASKSET] [--mps]
                   [--in-flight N]

It needs root, an otherwise idle GPU, NVIDIA's driver, PyTorch, no module, and seven minutes. The models are made up and
learn from noise. The service is a transformer with as many layers as make a request of 1.6, 3.4 or 10 ms on an H100, replayed
as a CUDA graph or run eagerly. The training has 24 layers. Requests are due by a clock, or at random (Poisson); their times
are from launch to end. The ways of a case take turns, so that the GPU's warmth affects all of them.

With --nvtaskset, nvtaskset starts all programs, so that nvqos limits the training's launches in flight. With --mps all are
clients of one server, and nvqos holds the training's launches while requests run. With --in-flight nvtaskset also sets that
limit for the training while nvqos runs.

Writes FOLDER/qos_latency.json (qos_latency-prepared.json, qos_latency-prepared-mps.json, qos_latency-prepared-mps-1.json).
The file has the median, the 99th percentile and the training's steps of each run, and the means of each way with the half
width of an interval of 95 %. Ends with 1 if a run failed.
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
import sys
import time

from common import bounded, counts, kind, machine, record, run

WIDTH, TEXTS, TOKENS = 1024, 8, 256
CASES = {  # number of services, layers, graph or eager, period in ms, arrivals of requests
    "1.6 ms": (1, 12, "graph", 4, "periodic"),
    "3.4 ms": (1, 25, "graph", 8, "periodic"),
    "3.4 ms at random": (1, 25, "graph", 8, "poisson"),
    "10 ms": (1, 74, "graph", 24, "periodic"),
    "eager": (1, 25, "eager", 24, "periodic"),
    "two services of 3.4 ms": (2, 25, "graph", 16, "periodic"),
}
SETTLE_S, STEP_S = 1.0, 0.4  # STEP_S is longer than a step of the training


# --- the two programs ---

def model(layers, torch):
    layer = torch.nn.TransformerEncoderLayer(WIDTH, WIDTH // 64, 4 * WIDTH, batch_first=True, dropout=0)
    return torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda().to(torch.bfloat16)


def serve(layers, how):
    """Reads lines SECONDS PERIOD_MS periodic|poisson SEED, and prints the times of the requests of each, in ms."""
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
    """Trains from a line of stdin to the next one, and then prints when each step ended."""
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

@contextlib.contextmanager
def programs(asked, case):
    count, layers, how, _, _ = case
    made = []
    with bounded.mps() if asked.mps else contextlib.nullcontext((bounded.without_mps(), None)) as (env, _):
        try:
            prepared = (asked.nvtaskset, "-q", "--prepare") if asked.nvtaskset else ()
            for _ in range(count):
                made.append(bounded.Talking(*prepared, sys.executable, __file__, "serve", layers, how, env=env))
            made.append(bounded.Talking(*prepared, sys.executable, __file__, "train", env=env))
            for one in made:
                one.ready()
            yield made[:-1], made[-1]
        finally:
            for one in made:
                one.kill()


def limit(asked, training, launches):
    """Limits the training's launches in flight; 0 removes the limit."""
    if asked.in_flight:
        bounded.ask(asked.nvtaskset, "-q", "-p", training.pid, "--in-flight", launches)


def section(asked, services, training, case, seed, way):
    """Returns a row for one run: times of requests, and the training's steps per second."""
    keeping = None
    if way != "alone":
        training.ask("go")
    try:
        if way == "nvqos":
            keeping = bounded.Keeping(asked.nvqos, *[f"{one.pid}=latency" for one in services])
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
    """Returns the steps per second between two times, in s, with parts of steps."""
    return round(counts.rate([(round(at * 1e9), number) for number, at in enumerate(ended)], round(begin * 1e9), round(end * 1e9)), 3)


def training_alone(training, seconds):
    training.ask("go")
    time.sleep(seconds)
    training.ask("stop")
    ended = json.loads(training.line())
    return steps_per_s(ended, ended[0], ended[-1] - 1e-6)


def summary(rows, alone_steps, case):
    """Returns the means of each way. The residual is the training's rate as a part of its rate alone, in the time that
    requests leave free."""
    ways = {way: [row for row in rows if row["way"] == way] for way in ("alone", "as it is", "nvqos")}
    found = {way: {key: counts.interval([row[key] for row in some]) for key in some[0] if key not in ("way", "requests")}
             for way, some in ways.items() if some}
    if "alone" in found and "nvqos" in found:
        alone = found["alone"]["p99_ms"][0]
        found["p99_over_alone_percent"] = round(100 * (found["nvqos"]["p99_ms"][0] / alone - 1), 2)
        found["p99_over_alone_ms"] = round(found["nvqos"]["p99_ms"][0] - alone, 4)
        # With several services, times contain waits for each other, so there is no residual.
        if case[0] == 1:
            left = 1 - found["alone"]["mean_ms"][0] / case[3]
            found["residual"] = round(found["nvqos"]["steps_per_s"][0] / statistics.fmean(alone_steps) / left, 4)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nvqos", type=kind("nvqos"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5, help="of each way (default: 5)")
    parser.add_argument("--seconds", type=float, default=3, help="of each run (default: 3)")
    parser.add_argument("--cases", type=lambda text: text.split(","), default=list(CASES))
    parser.add_argument("--nvtaskset", type=kind("nvtaskset"), help="starts all programs")
    parser.add_argument("--mps", action="store_true", help="all are clients of an MPS server")
    parser.add_argument("--in-flight", type=int, default=0, metavar="N", help="launches of the training; takes --nvtaskset")
    asked = parser.parse_args()
    if asked.in_flight and not asked.nvtaskset:
        parser.error("--in-flight takes --nvtaskset")
    how = "-prepared" * bool(asked.nvtaskset) + "-mps" * asked.mps + f"-{asked.in_flight}" * bool(asked.in_flight)
    place = asked.folder / f"qos_latency{how}.json"
    if unknown := [name for name in asked.cases if name not in CASES]:
        sys.exit(f"qos_latency: there is no case {unknown[0]!r}; there are {', '.join(CASES)}")
    signal.alarm(560)  # ends the program if anything hangs
    found = {"gpu": machine.gpu(*machine.CLOCKS), "runs": asked.runs, "seconds": asked.seconds,
             "programs": "started by nvtaskset" if asked.nvtaskset else "as they are", "mps": asked.mps,
             "in_flight": asked.in_flight or None, "cases": []}
    failed = False
    for name in asked.cases:
        case, rows, steps = CASES[name], [], []
        row = {"case": name, "services": case[0], "layers": case[1], "how": case[2], "period_ms": case[3], "arrivals": case[4]}
        try:
            with programs(asked, case) as (services, training):
                steps.append(training_alone(training, asked.seconds))
                for number in range(asked.runs):
                    # Without nvqos requests pile up, and two runs are enough to show that.
                    for way in ("alone", "as it is", "nvqos") if number < 2 else ("alone", "nvqos"):
                        rows.append(section(asked, services, training, case, number, way))
                        print(f"{name}: " + "  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
                steps.append(training_alone(training, asked.seconds))
            row["ways"] = summary(rows, steps, case)
        except (bounded.Late, OSError) as error:
            row["failed"], failed = str(error), True
        found["cases"].append(row | {"training_alone": steps, "rows": rows})
        print(f"{name}: {json.dumps(row.get('ways') or row.get('failed'))}", flush=True)
        record.write(place, found)
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1:2] == ["train"]:
        train()
    else:
        run(main)
