# SPDX-License-Identifier: MIT OR GPL-2.0
"""ECRTS 2025, pitfall 4: clients of MPS have fewer channels, so that fewer of their streams run at once."""

from nvdlab.bench import on_host, without_mps
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Pitfall 4",)
TITLE = "MPS clients run fewer streams at once"
PAPER = ("ECRTS 2025, Fig. 8 (Titan V): four streams of two kernels of one block all run at once without MPS, two at a "
         "time with it: a client has two channels, other tasks eight")
STREAMS, KERNELS = 4, 2
MODEL = Model(breaks={"mps_channels": ["with"]})


def run(bench, env):
    answer = bench.alone("streams", env, streams=STREAMS, kernels=KERNELS, kernel_us=20_000)
    origin = min(kernel["launched"] for kernel in answer["kernels"]) / 1000
    return [{"stream": kernel["stream"], "kernel": kernel["kernel"],
             "ran": [on_host(answer, time) - origin for time in kernel["blocks"][0][:2]]}
            for kernel in answer["kernels"]]


def measure(bench):
    found = {"without MPS": run(bench, without_mps())}
    with bench.mps() as (clients, _):
        found["with MPS"] = run(bench, clients)
        found["with MPS, CUDA_DEVICE_MAX_CONNECTIONS=8"] = run(bench, clients | {"CUDA_DEVICE_MAX_CONNECTIONS": "8"})
    return {"runs": found}


def at_once(kernels):
    """Returns how many streams started before the last kernel of any stream did."""
    last = min(max(kernel["ran"][0] for kernel in kernels if kernel["stream"] == n) for n in range(STREAMS))
    return sum(kernel["kernel"] == 0 and kernel["ran"][0] < last for kernel in kernels)


def conclude(data):
    without, client, more = (at_once(kernels) for kernels in data["runs"].values())
    return [
        Claim("without", f"without MPS {without} of {STREAMS} streams start at once", without == STREAMS),
        Claim("with", f"with MPS {client}", client == 2),
        Claim("connections", f"with MPS and CUDA_DEVICE_MAX_CONNECTIONS=8 {more}", more == STREAMS),
    ]


def picture(data):
    end = max(kernel["ran"][1] for kernels in data["runs"].values() for kernel in kernels) / 1000
    panels = []
    for name, kernels in data["runs"].items():
        panel = Panel(name, (0, end), "ms from the first launch", rows=[f"stream {n + 1}" for n in range(STREAMS)])
        for kernel in kernels:
            panel.bar(kernel["ran"][0] / 1000, kernel["ran"][1] / 1000, kernel["stream"], kernel["stream"],
                      text=f"K{kernel['kernel'] + 1}")
        panels.append(panel)
    return panels
