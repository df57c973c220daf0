# SPDX-License-Identifier: MIT OR GPL-2.0
"""The rows of the benchmark, which are ways to share the GPU, and its cells: a row with a neighbour, a load, arrivals and a seed."""

import dataclasses

LOADS, SEEDS, USUAL_LOAD = (20, 40, 60, 80), (1, 2, 3), 40
NEIGHBOURS = ("train", "diffusion", "long", "engine")
CRASHES = {"kill": "the neighbour is killed (SIGKILL)", "fault": "the neighbour makes an illegal access"}
PARTITION_SMS = 64


@dataclasses.dataclass(frozen=True)
class Row:
    """A way to share. `goals` are the engine's and the neighbour's for nvqos, and `more` are further words for it; `env` and `words`
    are in front of the neighbour. `needs_marks`: the engine marks its busy periods."""

    name: str
    title: str
    goals: tuple = ()
    mps: bool = False
    env: tuple = ()
    words: tuple = ()
    more: tuple = ()
    needs_marks: bool = False

    @property
    def setup(self):
        return "mps" if self.mps else "plain"

    def needs_nvtaskset(self):
        return bool(self.words)


ROWS = (Row("alone", "alone"),
        Row("as-is", "as it is (time slices of 2 ms)"),
        Row("short", "timeslices of 200 us for both", ("timeslice:200us", "timeslice:200us")),
        Row("long", "timeslices of 16 ms for both", ("timeslice:16ms", "timeslice:16ms"), more=("--epoch=200ms",)),  # a round fits into it
        Row("mps", "one MPS server", mps=True),
        Row("mps-30", "MPS, 30 % of the threads for the neighbour", mps=True, env=(("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "30"),)),
        Row("partition", f"MPS, {PARTITION_SMS} SMs for the neighbour by nvtaskset", mps=True,
            words=("-q", "-s", str(PARTITION_SMS), "--spread")),
        Row("latency", "nvqos, engine `latency`", ("latency", "best-effort")),
        Row("latency-marks", "nvqos, engine `latency` with marks", ("latency", "best-effort"), more=("--socket",), needs_marks=True),
        Row("latency-share", "nvqos, engine `latency`, neighbour `share:20%`", ("latency", "share:20%")),
        Row("shares", "nvqos, engine `share:60%`, neighbour `share:30%`", ("share:60%", "share:30%")))
BY_NAME = {row.name: row for row in ROWS}
MAIN = ("alone", "as-is", "mps", "latency", "latency-marks", "latency-share")
OTHERS = ("as-is", "mps", "latency")   # with the neighbours other than training, and with bursts


@dataclasses.dataclass(frozen=True)
class Cell:
    row: str
    neighbour: str
    load: int
    arrivals: str = "poisson"
    seed: int = 1
    crash: str = ""

    @property
    def key(self):
        return "/".join(map(str, (self.row, self.neighbour, self.load, self.arrivals, self.seed, self.crash))).rstrip("/")

    def begins_with(self):
        """Returns what the programs of a cell are started for: cells with the same answer follow each other."""
        row = BY_NAME[self.row]
        return (row.mps, row.env, row.words)


def main_cells(seeds=SEEDS, loads=LOADS, rows=MAIN):
    """Returns the cells of the main table: training as the neighbour. The rows at an MPS server come last, and otherwise a seed is
    done before the next one begins."""
    found = [Cell(row, "none" if row == "alone" else "train", load, seed=seed) for seed in seeds for load in loads for row in rows]
    return sorted(found, key=lambda cell: cell.begins_with())


def other_cells():
    """Returns the cells of the other tables, with one load and one seed."""
    training = [Cell(row.name, "train", USUAL_LOAD) for row in ROWS if row.name not in MAIN + ("shares",)]
    bursts = [Cell(row, "none" if row == "alone" else "train", USUAL_LOAD, "bursts") for row in ("alone", *OTHERS, "latency-marks")]
    neighbours = [Cell(row, kind, USUAL_LOAD) for kind in NEIGHBOURS[1:] for row in OTHERS]
    found = [*training, *bursts, *neighbours, Cell("shares", "engine", USUAL_LOAD)]
    order = {kind: number for number, kind in enumerate(("none", *NEIGHBOURS))}
    return sorted(found, key=lambda cell: (cell.begins_with(), order[cell.neighbour]))


def crash_cells():
    """Returns the cells in which the neighbour crashes in the middle."""
    return [Cell(row, "train", USUAL_LOAD, crash=crash) for row in ("as-is", "latency", "mps") for crash in CRASHES]


def chosen(groups, rows=None, seeds=SEEDS, loads=LOADS):
    """Returns the cells of some groups (main, more, crash), in this order, with the rows, seeds and loads that are asked for; the
    main table can have any rows."""
    made = {"main": lambda: main_cells(seeds, loads, rows or MAIN), "more": other_cells, "crash": crash_cells}
    return [cell for group in groups for cell in made[group]() if rows is None or cell.row in rows]
