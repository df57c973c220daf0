#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures what shares give tasks that think, by the programs' own steps and by nvqos' sums.

    qos_thinking.py NVQOS FOLDER [--rows WORDS] [--runs N] [--seconds N] [--budget S]

It needs root, an otherwise idle GPU, NVIDIA's driver, PyTorch, and no module. A loop decodes: a CUDA graph of one step of a
made-up model (7 ms on an H100), then 0.5 ms of work on the CPU. A row is a set of goals:

    train-30, train-60, train-80     the loop has that share, beside a training with steps of at most 25 ms
    loop-30, loop-60, loop-80        the loop has that share, beside another loop
    served-10, served-20, served-40  the loop has `latency`, and the training that share

--rows picks some of them by commas, and `train`, `loop` and `served` mean three rows each. Each run has an nvqos of its own.
Nine rows of five runs of 20 s take 20 minutes. On a machine that is lent for less, --budget ends the program early: no run
begins that would end later. Call it again, with the same folder and options, until it ends with 0. It goes on with the runs
that FOLDER/qos_thinking.json does not have. Each call measures each program alone first.

Writes FOLDER/qos_thinking.json after each run. Each run has the part of the time in which the program's own steps had the GPU
(the steps per second, divided by that of the same call alone, times the part of the time that they use alone), the same by the
sums of the record of switches in nvqos' JSON, how many epochs were missed (and which) and how many could not be seen, nvqos' exit
status, and its messages. FOLDER/ROW-RUN.ndjson has nvqos' own lines of that time. Each row has the means, with an interval of
95 %, and is kept if the mean is at least the share, or 98 % of the part alone if that is less, minus a point. Ends with 3 if the
budget was too short, and with 1 if a program failed.
"""

import argparse
import json
import pathlib
import sys
import time

import qos_cap
from common import begun, bounded, counts, kind as kind_of, machine, record, run
from nvdlab import torch_loads

LONGEST_STEP_S = 0.025
SHARES, SERVED = (30, 60, 80), (10, 20, 40)
ALONE_S = 10   # at most, for each program
SPARE_S = 15   # of a run, for the start and the end of nvqos and for whole steps
START_S = 60   # usual, of two programs
AGAIN = 3      # the exit status if runs are left


def row(name, kinds, goals, who, part):
    """Returns a row; `who` is the number of the program that has the share."""
    return {"row": name, "kinds": kinds, "goals": goals, "who": who, "share": part}


ROWS = (*(row(f"train-{part}", ("decode", "train"), (f"share:{part}%", "best-effort"), 0, part) for part in SHARES),
        *(row(f"served-{part}", ("decode", "train"), ("latency", f"share:{part}%"), 1, part) for part in SERVED),
        *(row(f"loop-{part}", ("decode", "decode"), (f"share:{part}%", "best-effort"), 0, part) for part in SHARES))


def picked(words):
    """Returns the rows that words name, as an option's type."""
    found = []
    for word in words.split(","):
        rows = [each for each in ROWS if word in (each["row"], each["row"].partition("-")[0])]
        if not rows:
            raise argparse.ArgumentTypeError(f"there is no row '{word}'; 'train', 'loop', 'served' and 'train-30' name some")
        found += [each for each in rows if each not in found]
    return sorted(found, key=ROWS.index)


def train(torch):
    """Returns a function that makes one step of a training, of at most 25 ms.

    Few large layers, so that the GPU is always busy: with twelve layers and a third of the texts, an H100 waited for launches in
    three tenths of a step, and the steps per second did not show the part of the time that the training had.
    """
    return torch_loads.training(torch, layers=4, texts=36)


# --- the runs ---

def alone(programs, seconds):
    """Returns by kind the steps per second alone, and the part of the time that a program uses of the GPU then."""
    found = {}
    for number, program in enumerate(programs):
        if program.kind in found:
            continue
        per_s = qos_cap.alone(program, programs[:number] + programs[number + 1:], min(seconds, ALONE_S))
        think_s = qos_cap.THINK_S if program.kind == "decode" else 0
        found[program.kind] = {"per_s": round(per_s, 3), "busy": round(1 - per_s * think_s, 4)}
        if program.kind == "train" and per_s * LONGEST_STEP_S < 1:
            print(f"a step of the training takes {1000 / per_s:.1f} ms, more than {1000 * LONGEST_STEP_S:g}", flush=True)
    return found


def unseen(epoch):
    return epoch["why_not"] == "cannot be seen"


def measured(nvqos, each, programs, seconds, found_alone, lines):
    """Returns what a run of a row has in the file, and writes nvqos' lines into the file LINES."""
    per_s, epochs, status, told = qos_cap.under(nvqos, each["goals"], programs, seconds)
    if not epochs:
        raise bounded.Failed(f"nvqos had no epoch in {seconds} s")
    lines.write_text("".join(json.dumps(epoch) + "\n" for epoch in epochs), encoding="utf-8")
    who, length = each["who"], sum(epoch["end_ns"] - epoch["begin_ns"] for epoch in epochs)
    of_tenant = [epoch["tenants"][who] for epoch in epochs]
    missed_at = [number for number, epoch in enumerate(of_tenant) if epoch["kept"] is False and not unseen(epoch)]
    first = found_alone[each["kinds"][who]]
    return {"own": round(per_s[who] / first["per_s"] * first["busy"], 4),
            "sums": round(sum(epoch["used_ns"] for epoch in of_tenant) / length, 4), "alone": first["busy"],
            "per_s": [round(one, 3) for one in per_s], "alone_per_s": [found_alone[kind]["per_s"] for kind in each["kinds"]],
            "missed_epochs": len(missed_at), "unseen_epochs": sum(map(unseen, of_tenant)), "epochs": len(epochs),
            "missed_at": missed_at, "status": status, "told": told.splitlines()}


def summary(runs):
    """Returns a line for each row that was measured."""
    lines = []
    for each in ROWS:
        mine = [one for one in runs if one["row"] == each["row"]]
        if not mine:
            continue
        own, sums, first = (counts.interval([one[key] for one in mine]) for key in ("own", "sums", "alone"))
        enough = min(each["share"] / 100, 0.98 * first[0]) - 0.01
        lines.append({"row": each["row"], "runs": len(mine), "own": own, "sums": sums, "alone": first, "kept": own[0] >= enough})
    return lines


def main():
    end = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvqos", type=kind_of("nvqos"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=picked, default=ROWS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--budget", type=float, default=1700)
    options = parser.parse_args()
    end += options.budget
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "qos_thinking.json"
    whole = begun(path, seconds=options.seconds)
    a_run_s = options.seconds + qos_cap.SETTLE_S + SPARE_S
    done = {(one["row"], one["run"]) for one in whole["runs"]}
    left = [(number, each) for number in range(options.runs) for each in options.rows if (each["row"], number) not in done]
    for kinds in dict.fromkeys(each["kinds"] for _, each in left):
        if time.monotonic() + START_S + len(set(kinds)) * (ALONE_S + 1) + a_run_s > end:
            break
        programs = [qos_cap.Program(kind, options.folder, __file__, f"{kind}{number}") for number, kind in enumerate(kinds)]
        with qos_cap.at_work(programs):
            found_alone = alone(programs, options.seconds)
            for number, each in [one for one in left if one[1]["kinds"] == kinds]:
                if time.monotonic() + a_run_s > end:
                    break
                made = measured(options.nvqos, each, programs, options.seconds, found_alone,
                                options.folder / f"{each['row']}-{number}.ndjson")
                whole["runs"].append({"row": each["row"], "run": number, "gpu": machine.gpu(*machine.CLOCKS)} | made)
                left.remove((number, each))
                print(whole["runs"][-1], flush=True)
                record.write(path, whole | {"rows": summary(whole["runs"])})
    if left:
        print(f"{len(left)} runs are left; call this again", flush=True)
    return AGAIN if left else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        qos_cap.work(*sys.argv[2:4], {"decode": qos_cap.decode, "train": train})
    else:
        run(main)
