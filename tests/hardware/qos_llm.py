#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures an LLM engine beside other work: alone, as it is, with MPS, with partitions and with nvqos (docs/llm.md).

    qos_llm.py NVQOS FOLDER [--cells WORDS] [--rows WORDS] [--neighbours WORDS] [--loads LIST] [--seeds LIST] [--budget S]
               [--nvtaskset FILE] [--nvdebugctl FILE] [--engine KIND] [--shape NAME]
               [--address URL --model NAME --tenant NAME] …

It needs root, an otherwise idle GPU, NVIDIA's driver, PyTorch, no module, and for the engine `transformers` that package,
from 5.14 on; without it a loop of our own takes its place. Nothing is downloaded: weights, prompts and data are random.
--cells picks groups:

    main    training as the neighbour, four loads, three seeds, and the rows alone, as-is, mps, latency, latency-marks and
            latency-share
    more    with a load of 40 % and one seed: the other rows, bursts, and the other neighbours
    crash   the neighbour is killed, or makes an illegal access

--rows picks some rows, in the main table any ones, and --neighbours some of train, diffusion, long and engine. The load is the
part of the time in which the engine alone has a request. A cell is one row, neighbour, load and seed, with --requests requests
that count.

With --address the engine is one that runs already and takes OpenAI's completions, such as vLLM's; --tenant names it for nvqos
(a pid or command:NAME). It stays as it was started, so that the rows at an MPS server are left out. If it marks its requests, name
the row latency-marks in --rows.

With --nvdebugctl FOLDER also has a recording of all turns on the GPU for each cell, and lab/nvdlab/llm/loss.py FOLDER prints where
the time goes that the neighbour loses.

On a machine that is lent for less time, --budget ends the program early: no cell begins that would end later. Call it again,
with the same folder and options, until it ends with 0. It goes on with the cells that FOLDER/qos_llm.json does not have. The
engine stays for all rows of a call but the ones at an MPS server.

Prints the key of each cell, and at the end the tables. Writes FOLDER/qos_llm.json after each cell, and logs of the programs.
Ends with 3 if the budget was too short, and with 1 if a cell failed.
"""

import argparse
import json
import os
import pathlib
import time

from common import bounded, kind as kind_of, machine, record, run
from nvdlab.llm import cells, desk, plans, table

AGAIN = 3           # the exit status if cells are left
SPARE_S = 5         # of a cell, for the start of the client and of nvqos and for the last requests
MOST_FAILURES = 3   # then the call ends
# A record has one value of these options.
KEPT = ("engine", "shape", "neighbour_shape", "prompt", "output", "vocabulary", "requests", "settle_s")


def words_of(known):
    """Returns an option's type: words of KNOWN, separated by commas."""
    def picked(text):
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"there is no '{word}'; there are: {', '.join(known)}")
        return [word for word in known if word in text.split(",")]
    return picked


def numbers(low, high):
    """Returns an option's type: whole numbers in these bounds, separated by commas."""
    def picked(text):
        if not all(word.isdecimal() and low <= int(word) <= high for word in text.split(",")):
            raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers from {low} to {high}")
        return [int(word) for word in text.split(",")]
    return picked


def parser():
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("nvqos", type=kind_of("nvqos"))
    made.add_argument("folder", type=pathlib.Path)
    made.add_argument("--cells", type=words_of(("main", "more", "crash")), default=["main"])
    made.add_argument("--rows", type=words_of(cells.BY_NAME), default=None)
    made.add_argument("--neighbours", type=words_of(cells.NEIGHBOURS), default=list(cells.NEIGHBOURS))
    made.add_argument("--loads", type=numbers(1, 99), default=list(cells.LOADS))
    made.add_argument("--seeds", type=numbers(1, 1 << 20), default=list(cells.SEEDS))
    made.add_argument("--requests", type=int, default=100)
    made.add_argument("--settle", dest="settle_s", type=float, default=2.5, help="seconds with requests that do not count (2.5)")
    made.add_argument("--prompt", type=int, default=128, help="tokens of a prompt (128)")
    made.add_argument("--output", type=numbers(1, 4096), default=[4, 8], help="smallest and largest number of tokens made (4,8)")
    made.add_argument("--vocabulary", type=int, default=None, help="tokens of prompts are below it (that of the shape)")
    made.add_argument("--engine", choices=("auto", "transformers", "own", "sleep"), default="auto")
    made.add_argument("--shape", choices=tuple(desk.engine.llama.SHAPES), default="8b", help="of the engine (8b)")
    made.add_argument("--neighbour-shape", choices=tuple(desk.engine.llama.SHAPES), default="1b", help="of the training (1b)")
    made.add_argument("--neighbour", choices=("sleep",), default=None, help="a stand-in in place of all neighbours, for tests")
    made.add_argument("--address", metavar="URL", help="of an engine that runs already, such as http://127.0.0.1:8000/v1")
    made.add_argument("--model", metavar="NAME", help="the model's name at that address")
    made.add_argument("--tenant", metavar="NAME", help="nvqos' name for the engine at that address")
    made.add_argument("--nvtaskset", type=kind_of("nvtaskset"), default=None, help="for the row partition")
    made.add_argument("--nvdebugctl", type=kind_of("nvdebugctl"), default=None, help="records the turns of each cell, for loss.py")
    made.add_argument("--budget", type=float, default=1700)
    return made


def options_of(made):
    """Returns the options. Ends the program with a sentence if they do not fit together."""
    options = made.parse_args()
    if options.output[0] > options.output[-1] or len(options.output) > 2:
        made.error("--output takes the smallest and the largest number of tokens, such as 4,8")
    options.output = [options.output[0], options.output[-1]]
    if bool(options.address) != bool(options.model):
        made.error("--address and --model belong together")
    rows = [cells.BY_NAME[name] for name in options.rows or cells.BY_NAME]
    if not (desk.MARKS / "nvdebugctl/marks.py").exists():
        rows = [row for row in rows if not row.needs_marks]
    if options.address:
        if any(row.mps for row in rows) and options.rows:
            made.error(f"the row {next(row.name for row in rows if row.mps)} needs an engine that is started at an MPS server; leave "
                       "out --address, or this row")
        rows = [row for row in rows if not row.mps and (options.rows or not row.needs_marks)]
        if any(row.goals for row in rows) and not options.tenant:
            made.error("nvqos' name for the engine is missing; give --tenant, such as --tenant command:vllm")
    if not options.nvtaskset:
        if options.rows and "partition" in options.rows:
            made.error("the row partition needs nvtaskset; give --nvtaskset")
        rows = [row for row in rows if not row.needs_nvtaskset()]
    options.can = {row.name for row in rows}
    options.vocabulary = options.vocabulary or desk.engine.llama.SHAPES[options.shape].vocabulary
    return options


def begun(path, options):
    """Returns the record so far. Raises bounded.Failed if it is of another commit, or of other options."""
    mine = {key: getattr(options, key) for key in KEPT} | {"address": options.address, "model": options.model}
    if not path.exists():
        return {"schema": "nvdebug/llm", "schema_version": "1.1",
                "system": {"name": "nvdebug", "version": (machine.ROOT / "VERSION").read_text(encoding="utf-8").strip(),
                           "source": "docs/llm.md"}, "program": machine.program(), "gpu": machine.gpu(), "options": mine,
                "neighbours": {}, "cells": []}
    whole = record.load(path)
    if whole["program"] != machine.program():
        raise bounded.Failed(f"{path} is of the commit {whole['program']}, and this is {machine.program()}; give another folder")
    if different := [key for key, kept in whole["options"].items() if mine.get(key) != kept]:
        raise bounded.Failed(f"{path} has another {different[0]} ({whole['options'][different[0]]}); give the same, or another folder")
    return whole


class Call:
    """One call of the program: it measures cells until the budget ends."""

    def __init__(self, options, end):
        self.options, self.end = options, end
        self.processors = len(os.sched_getaffinity(0))  # before the desk keeps this process to one of them
        options.folder.mkdir(parents=True, exist_ok=True)
        self.path = options.folder / "qos_llm.json"
        self.whole, self.failures = begun(self.path, options), 0
        self.desk = desk.Desk(options)
        if "engine" in self.whole and not options.address:
            self.desk.engine_kind = self.whole["engine"]["kind"]  # all rows are of one engine

    def wanted(self):
        found = [cell for cell in cells.chosen(self.options.cells, self.options.rows, self.options.seeds, self.options.loads)
                 if cell.neighbour in ("none", *self.options.neighbours)]
        if self.options.neighbour:
            found = [cells.Cell(**vars(cell) | {"neighbour": self.options.neighbour if cell.neighbour != "none" else "none"})
                     for cell in found]
        done = {cell["key"] for cell in self.whole["cells"]}
        return [cell for cell in dict.fromkeys(found) if cell.key not in done and cell.row in self.options.can]

    def rates(self):
        return self.whole["calibration"].setdefault("rates", {})

    def rate(self, cell):
        """Returns the requests per second of a cell; before the trial of its load, nearly."""
        return self.rates().get(str(cell.load)) or plans.rate_for(cell.load / 100, self.whole["calibration"]["request_s"])

    def usual_s(self, cell):
        """Returns how long a cell usually takes, with the start of programs; before the calibration, a guess."""
        is_calibrated = "calibration" in self.whole
        per_s = self.rate(cell) if is_calibrated else 5
        trial_s = 0 if is_calibrated and str(cell.load) in self.rates() else desk.TRIAL / per_s
        return self.desk.usual_s(cell) + trial_s + self.options.settle_s + 1.2 * self.options.requests / per_s + SPARE_S

    def before(self, cell):
        """Starts the programs of a cell, and measures what the record needs first."""
        started = self.desk.prepare(cell)
        if "calibration" not in self.whole:
            self.whole |= {"calibration": self.desk.calibrated(), "engine": self.desk.facts(), "processors": self.processors}
        if str(cell.load) not in self.rates():
            self.rates()[str(cell.load)] = self.desk.rated(cell.load, self.whole["calibration"]["request_s"])
        # Another process may be slower, because its processors are. Beside MPS the speed of the last one without MPS counts.
        if started and (started not in self.whole["neighbours"] or self.desk.setup == "plain"):
            self.whole["neighbours"][started] = self.desk.alone_per_s()

    def measure(self, cell):
        self.before(cell)
        rate, head = self.rate(cell), {"key": cell.key} | {key: getattr(cell, key) for key in ("row", "neighbour", "load", "arrivals", "seed")}
        begin = time.monotonic()
        try:
            made = self.desk.measured(cell, rate, self.options.requests, self.options.settle_s)
        except bounded.Late:
            raise
        except bounded.Failed as refused:
            made = {"refused": str(refused), "requests": [], "steps": []}
            if cell.crash:
                made["crash"] = {"how": cell.crash, "at": 0, "engine": f"refused: {refused}"}
        self.whole["cells"].append(head | {"rate": round(rate, 4), "took_s": round(time.monotonic() - begin, 1),
                                           "gpu": machine.gpu(*machine.CLOCKS)} | made)
        if cell.neighbour != "none":
            self.whole["cells"][-1]["alone_per_s"] = self.whole["neighbours"][cell.neighbour]["per_s"]
        record.write(self.path, self.whole)
        print(json.dumps({"cell": cell.key, "took_s": self.whole["cells"][-1]["took_s"]}), flush=True)
        if cell.crash:
            self.desk.after_crash()

    def run(self):
        """Returns the exit status."""
        left = self.wanted()
        try:
            while left and time.monotonic() + self.usual_s(left[0]) <= self.end:
                cell = left.pop(0)
                try:
                    self.measure(cell)
                except bounded.Failed as failed:
                    self.failures += 1
                    print(json.dumps({"cell": cell.key, "failed": str(failed)}), flush=True)
                    self.desk.end()  # the programs' state is not known
                    if self.failures == MOST_FAILURES:
                        raise bounded.Failed(f"{MOST_FAILURES} cells failed, the last one because {failed}") from None
        finally:
            self.desk.close()
        if self.whole["cells"]:
            print(table.markdown(self.whole), end="")
        if left:
            print(json.dumps({"left": len(left), "next": "call this again"}), flush=True)
        return 1 if self.failures else AGAIN if left else 0


def main():
    begin = time.monotonic()
    options = options_of(parser())
    return Call(options, begin + options.budget).run()


if __name__ == "__main__":
    run(main)
