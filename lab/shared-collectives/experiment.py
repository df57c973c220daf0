# SPDX-License-Identifier: MIT OR GPL-2.0
"""NVIDIA/nccl#1094: two jobs on the same GPUs wait for each other's turns in every collective, unless all GPUs run the same job
at the same time (a gang)."""

import pathlib
import tempfile

from nvdlab import bounded, collectives, machine, measurements
from nvdlab.bench import Failed
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("NVIDIA/nccl#1094",)
TITLE = "Jobs with collectives share several GPUs"
PAPER = ("NVIDIA/nccl#1094 (4 A100 with NVLink): two all_reduce_perf at once take an all-reduce of 256 KB from 30 us to 4 to "
         "5 ms, and one of 256 MB from 1.8 to 4.2 ms; no setting of NCCL helps")
MODEL = Model(absent="it has no programs that use several GPUs at once; `nvqos simulate` has (docs/gangs.md)")
KINDS = ("reduce256k", "reduce256m", "train64", "train16")
WAYS = ("alone", "as it is", "gang")
MOST_GPUS, SECONDS, SETTLE_S = 4, 20, 5


def gpus_of_this_machine():
    """Returns the first four GPUs' numbers. Raises Failed if there is only one."""
    count = len(bounded.ask("nvidia-smi", "-L").splitlines())
    if count < 2:
        raise Failed("it needs two GPUs, and this machine has one: jobs on a single GPU have no collectives between GPUs")
    return list(range(min(count, MOST_GPUS)))


def together_of(bench, jobs):
    """Returns for each job together and the skew of its starts, by the driver's record of switches."""
    rows = bench.data("record", "--for", "3s", "--rate", "0")["jobs"]
    found = []
    for job in jobs:
        ranks = set(job.ranks())
        mine = [row for row in rows if {one["pid"] for one in row["processes"]} & ranks]
        found.append([mine[0][key] for key in ("together_percent", "skew_median_us", "skew_p99_us", "skew_max_us")]
                     if len(mine) == 1 else None)
    return found


def measure(bench):
    gpus, nvqos = gpus_of_this_machine(), measurements.found("nvqos")
    found = {"gpus": len(gpus), "card": machine.ask_gpu("name")[0]}
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            with collectives.at_work([(kind, gpus)], pathlib.Path(folder)) as jobs:
                ways = {"alone": collectives.measured(jobs, SECONDS)}
            with collectives.at_work([(kind, gpus)] * 2, pathlib.Path(folder)) as jobs:
                ways["as it is"], shown = collectives.measured(jobs, SECONDS), together_of(bench, jobs)
                keeping = bounded.Keeping(nvqos, *(f"all-of:{job.pid}=best-effort" for job in jobs))
                try:
                    if keeping.refused is not None:
                        raise Failed(f"nvqos does not begin: {keeping.refused}")
                    bench.sleep(SETTLE_S)
                    ways["gang"] = collectives.measured(jobs, SECONDS)
                    found[kind] = ways | {"record": {"as it is": shown, "gang": together_of(bench, jobs)}}
                finally:
                    keeping.end()
    return found


def speeds(found, way):
    """Returns the sum of the speeds of the jobs of a way, each divided by the speed alone."""
    return sum(one["per_s"] for one in found[way]) / found["alone"][0]["per_s"]


def mean_us(found, way):
    """Returns the longest of the jobs' means, as all_reduce_perf counts them."""
    return max(1e6 / one["per_s"] if one["per_s"] else 1e6 * SECONDS for one in found[way])


def median_us(found, way):
    """Returns the longest of the jobs' medians; a job without a step has waited for the whole measurement."""
    return max((one["ms"][0] if one["ms"] else 1000 * SECONDS) * 1000 for one in found[way])


def conclude(data):
    means = {kind: [mean_us(data[kind], way) for way in ("alone", "as it is")] for kind in ("reduce256k", "reduce256m")}
    sums = {kind: {way: speeds(data[kind], way) for way in WAYS} for kind in KINDS}
    alone_us, gang_us = (median_us(data["reduce256m"], way) for way in ("alone", "gang"))

    def slower(key, size, kind, factor):
        alone, now = means[kind]
        return Claim(key, f"an all-reduce of {size} takes {alone:,.0f} us alone, and {now:,.0f} us beside another job's (means)",
                     now > factor * alone)

    def together(key, jobs, kind, least):
        one = sums[kind]
        return Claim(key, f"{jobs} have {one['gang']:.2f} of the speed of one in a gang, and {one['as it is']:.2f} as it is",
                     one["gang"] >= least and one["gang"] > one["as it is"])
    large = sums["reduce256m"]
    return [
        slower("small", "256 KB", "reduce256k", 10), slower("large", "256 MB", "reduce256m", 1.5),
        together("small_gang", "two jobs with all-reduces of 256 KB", "reduce256k", 0.85),
        Claim("large_gang", f"one of 256 MB takes {gang_us:,.0f} us in the windows of a gang, and {alone_us:,.0f} us alone (medians); two "
              f"such jobs have {large['gang']:.2f} of the speed of one in a gang, and {large['as it is']:.2f} as it is",
              gang_us <= 1.1 * alone_us),
        together("train64_gang", "two trainings with 64 texts on each GPU", "train64", 0.95),
        together("train16_gang", "two trainings with 16 texts on each GPU", "train16", 0.95),
    ]


def picture(data):
    rows = [f"{kind}, {way}" for kind in KINDS for way in WAYS]
    panel = Panel("Sum of the jobs' speeds, each divided by its speed alone", (0, 1.5), "", rows=rows)
    for number, kind in enumerate(KINDS):
        for place, way in enumerate(WAYS):
            total = speeds(data[kind], way)
            panel.bar(0, min(total, 1.5), number * len(WAYS) + place, place, text=f"{total:.2f}")
    return [panel]
