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


def median_us(found, way):
    """Returns the longest of the jobs' medians; a job without a step has waited for the whole measurement."""
    return max((one["ms"][0] if one["ms"] else 1000 * SECONDS) * 1000 for one in found[way])


def conclude(data):
    small, large = data["reduce256k"], data["reduce256m"]
    us = {way: (median_us(small, way), median_us(large, way)) for way in WAYS}
    sums = {kind: {way: speeds(data[kind], way) for way in WAYS} for kind in KINDS}
    on = f"on {data['gpus']} GPUs"

    def claim_of(kind, texts):
        one = sums[kind]
        return Claim(f"{kind}_gang", f"two trainings with {texts} texts on each GPU have {one['gang']:.2f} of the speed alone "
                     f"together in a gang, and {one['as it is']:.2f} as it is", one["gang"] >= 0.95 and one["gang"] > one["as it is"])
    return [
        Claim("small", f"{on}, an all-reduce of 256 KB takes {us['alone'][0]:.0f} us alone, and {us['as it is'][0]:.0f} us beside "
              "another job's (medians)", us["as it is"][0] > 10 * us["alone"][0]),
        Claim("large", f"one of 256 MB takes {us['alone'][1]:.0f} us alone, and {us['as it is'][1]:.0f} us beside another job's",
              us["as it is"][1] > 1.5 * us["alone"][1]),
        Claim("small_gang", f"in a gang one of 256 KB takes {us['gang'][0]:.0f} us: at most a tenth more than alone",
              us["gang"][0] <= 1.1 * us["alone"][0]),
        Claim("large_gang", f"in a gang one of 256 MB takes {us['gang'][1]:.0f} us", us["gang"][1] <= 1.1 * us["alone"][1]),
        claim_of("train64", 64), claim_of("train16", 16),
    ]


def picture(data):
    rows = [f"{kind}, {way}" for kind in KINDS for way in WAYS]
    panel = Panel("Sum of the jobs' speeds, each divided by its speed alone", (0, 1.5), "", rows=rows)
    for number, kind in enumerate(KINDS):
        for place, way in enumerate(WAYS):
            total = speeds(data[kind], way)
            panel.bar(0, min(total, 1.5), number * len(WAYS) + place, place, text=f"{total:.2f}")
    return [panel]
