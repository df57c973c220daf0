# SPDX-License-Identifier: MIT OR GPL-2.0
"""CUDA's start-up and a launch take time, which may differ with MPS."""

from nvdlab import spans
from nvdlab.bench import without_mps
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Overhead",)
TITLE = "Start-up and launches"
PAPER = "ECRTS 2025, Fig. 11: launches take no longer with MPS, as a client writes into its own queue"
TURNS = 5
MODEL = Model(absent="launches and start-up are the processor's time, and NVIDIA's software")


def measure(bench):
    found = {}
    with bench.mps() as (clients, _):
        bench.alone("launch", clients, count=1)  # starts the server
        for turn in range(TURNS):
            for name, env in (("without MPS", without_mps()), ("with MPS", clients)):
                begin = bench.now_us()
                bench.alone("launch", env, count=1)
                start = bench.now_us() - begin
                took = sorted(ns / 1000 for ns in bench.alone("launch", env, count=2000)["took"])
                one = found.setdefault(name, {"start_us": [], "launch_us": []})
                one["start_us"].append(start)
                one["launch_us"].append([spans.part(took, share) for share in (0, 0.25, 0.5, 0.75, 0.99)])
    return found


def conclude(data):
    launch = {name: spans.median([five[2] for five in one["launch_us"]]) for name, one in data.items()}
    start = {name: spans.median(one["start_us"]) for name, one in data.items()}
    return [
        Claim("launch", "a launch takes " + ", ".join(f"{us:.1f} us {name}" for name, us in launch.items()),
              launch["with MPS"] < 1.5 * launch["without MPS"]),
        Claim("start", "start to end of a program with one kernel: " + ", ".join(
            f"{us / 1000:.0f} ms {name}" for name, us in start.items()), all(us < 5e6 for us in start.values())),
    ]


def picture(data):
    most = max(five[4] for one in data.values() for five in one["launch_us"])
    launch = Panel("Queuing a kernel: 0, 25, 50, 75, 99 % of 2,000, five times",
                   (0, most * 1.05), "us", rows=list(data))
    for row, one in enumerate(data.values()):
        for number, five in enumerate(one["launch_us"]):
            launch.dots([(us, row + 0.2 + 0.15 * number) for us in five], row)
    most = max(us for one in data.values() for us in one["start_us"]) / 1000
    start = Panel("A program with one kernel, from its start to its end", (0, most * 1.05), "ms", rows=list(data))
    for row, one in enumerate(data.values()):
        start.dots([(us / 1000, row + 0.5) for us in one["start_us"]], row)
    return [launch, start]
