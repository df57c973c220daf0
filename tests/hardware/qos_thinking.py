#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""What shares give tasks that think, by the programs' own steps and by nvqos' sums.

    qos_thinking.py NVQOS FOLDER [--runs N] [--seconds N]

As root, on an otherwise idle GPU, with NVIDIA's driver and PyTorch, without the module. A loop decodes: a CUDA graph of
one step of a made-up model (7 ms on an H100), then 0.5 ms of work of the CPU. A share of 30, 60 and 80 % for it is
tried beside a training with steps of at most 25 ms, and beside another loop. Then the loop is served first and the
training has a share of 10, 20 and 40 %. nvqos is started anew for each run. There are nine cases in
each run: five runs of 15 s take 14 minutes, and of 20 s 18 minutes.

Writes FOLDER/qos_thinking.json after each run, and goes on where it ended if it is started again with the same times.
Of each run: the time on the GPU that the program's own steps make (its steps per second, times what a step takes of the
GPU alone), as a part of the time; the same of the sums in nvqos' records; and nvqos' exit status. Of each case: the mean
of the runs, and an interval that has the mean with 95 % (Student's t). A case is kept if the mean is at least the share
minus a point, or 98 % of the program's own part alone minus a point. Ends with 1 if a program or nvqos did not start.
"""

import argparse
import contextlib
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

import qos_cap
from common import environment, records

START_S, SETTLE_S, END_S = 120, 2.5, 15
LONGEST_STEP_S = 0.025
SHARES = (30, 60, 80)
SERVED = (10, 20, 40)
# Student's t for 95 % on both sides, by the number of runs.
T_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def train(torch):
    """Returns a function that makes one step of a training, of at most 25 ms."""
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, dropout=0)
    net = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).cuda().to(torch.bfloat16).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-5)
    texts = torch.randn(12, 512, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad()
        net(texts).square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()
    return step


class Program(qos_cap.Program):
    """A process that counts its steps in a file; `name` is that of the file."""

    def __init__(self, kind, name, folder):
        self.path = folder / f".{name}.steps"
        self.path.write_bytes(bytes(8))
        self.process = subprocess.Popen([sys.executable, __file__, "--work", kind, self.path], env=environment())
        until = time.monotonic() + START_S
        while self.steps() < 5:
            if self.process.poll() is not None or time.monotonic() > until:
                sys.exit(f"qos_thinking: the program '{kind}' did not start within {START_S} s")
            time.sleep(0.1)

    def end(self):
        self.process.kill()
        self.process.wait(END_S)
        self.path.unlink(missing_ok=True)


def cases():
    """Yields (the programs by kind, their goals, which one has the share, the share)."""
    for part in SHARES:
        yield ("decode", "train"), (f"share:{part}%", "best-effort"), 0, part
    for part in SHARES:
        yield ("decode", "decode"), (f"share:{part}%", "best-effort"), 0, part
    for part in SERVED:
        yield ("decode", "train"), ("latency", f"share:{part}%"), 1, part


def name_of(kinds, goals):
    return ", ".join(f"{kind} {goal}" for kind, goal in zip(kinds, goals))


def measured(nvqos, goals, programs, seconds, out):
    """Returns the steps per second of each, the part of the time that nvqos' records have of each, and its status."""
    words = [f"{program.process.pid}={goal}" for program, goal in zip(programs, goals)]
    with open(out, "w+", encoding="utf-8") as lines, \
            subprocess.Popen([nvqos, "--json", *words], stdout=lines, stderr=subprocess.DEVNULL) as keeping:
        try:
            time.sleep(SETTLE_S)
            if keeping.poll() is not None:
                sys.exit(f"qos_thinking: nvqos {' '.join(words)} ended with {keeping.returncode}")
            before = len(pathlib.Path(out).read_text(encoding="utf-8").splitlines())
            found = qos_cap.speeds(programs, seconds)
            keeping.terminate()
            status = keeping.wait(END_S)
        finally:
            keeping.kill()
    epochs = [json.loads(line)["data"] for line in pathlib.Path(out).read_text(encoding="utf-8").splitlines()[before:]]
    length = sum(one["end_ns"] - one["begin_ns"] for one in epochs)
    sums = [sum(one["tenants"][n]["used_ns"] for one in epochs) / length if length else None for n in range(len(programs))]
    missed = [sum(one["tenants"][n]["kept"] is False for one in epochs) for n in range(len(programs))]
    pathlib.Path(out).unlink()
    return found, sums, missed, status


def summary(rows):
    """Returns the mean of each case, and half of the interval that has it with 95 %."""
    found = []
    for case in dict.fromkeys(row["case"] for row in rows):
        own = [row["own"] for row in rows if row["case"] == case]
        first = next(row for row in rows if row["case"] == case)
        mean = statistics.mean(own)
        spread = T_95.get(len(own), 1.96) * statistics.stdev(own) / math.sqrt(len(own)) if len(own) > 1 else None
        enough = min(first["share"] / 100, 0.98 * first["alone"]) - 0.01
        found.append({"case": case, "share": first["share"], "own": round(mean, 4),
                      "within": spread if spread is None else round(spread, 4),
                      "records": round(statistics.mean(row["records"] for row in rows if row["case"] == case), 4),
                      "alone": first["alone"], "kept": mean >= enough})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvqos")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=15)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    path, out = options.folder / "qos_thinking.json", options.folder / ".epochs.ndjson"
    whole = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"seconds": options.seconds, "alone": {}, "runs": []}
    if whole["seconds"] != options.seconds:
        sys.exit(f"qos_thinking: {path} has runs of {whole['seconds']} s; give --seconds {whole['seconds']}, or another folder")

    def write():
        whole["cases"] = summary(whole["runs"])
        path.write_text(records(whole) + "\n", encoding="utf-8")
    done = {(row["run"], row["case"]) for row in whole["runs"]}
    for kinds in (("decode", "train"), ("decode", "decode")):
        left = [(run, case) for run in range(options.runs) for case in cases()
                if case[0] == kinds and (run, name_of(*case[:2])) not in done]
        if not left:
            continue
        with contextlib.ExitStack() as ending:
            programs = []
            for number, kind in enumerate(kinds):
                programs.append(Program(kind, f"{kind}{number}", options.folder))
                ending.callback(programs[-1].end)
            for number, kind in enumerate(kinds):
                if kind not in whole["alone"]:
                    per_s = qos_cap.alone(programs[number], programs[1 - number], min(options.seconds, 10))
                    think_s = qos_cap.THINK_S if kind == "decode" else 0
                    whole["alone"][kind] = {"per_s": round(per_s, 3), "busy": round(1 - per_s * think_s, 4)}
                    if kind == "train" and per_s < 1 / LONGEST_STEP_S:
                        print(f"a step of the training takes {1000 / per_s:.1f} ms, more than {1000 * LONGEST_STEP_S:g}", flush=True)
            for run, (_, goals, who, part) in left:
                found, sums, missed, status = measured(options.nvqos, goals, programs, options.seconds, out)
                alone = whole["alone"][kinds[who]]
                whole["runs"].append({
                    "run": run, "case": name_of(kinds, goals), "share": part, "alone": alone["busy"],
                    "own": round(found[who] / alone["per_s"] * alone["busy"], 4), "records": round(sums[who] or 0, 4),
                    "per_s": [round(one, 3) for one in found], "missed_epochs": missed[who], "status": status})
                print(whole["runs"][-1], flush=True)
                write()
    write()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        qos_cap.train = train
        qos_cap.work(*sys.argv[2:4])
    else:
        main()
