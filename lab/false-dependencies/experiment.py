# SPDX-License-Identifier: MIT OR GPL-2.0
"""R2: a task's number of channels limits its parallelism: more streams than channels wait for each other."""

from nvdlab.bench import on_host, without_mps
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("R2",)
TITLE = "More streams than channels make false dependencies"
PAPER = ("RTAS 2024, Fig. 5 (GTX 1060 3GB): nine streams of four kernels; with eight channels the ninth stream starts "
         "when the first one's work is dispatched, with nine all run at once")
KERNELS, KERNEL_US = 4, 20_000
# CUDA_DEVICE_MAX_CONNECTIONS (None: not set), streams, length of the first stream's kernels
RUNS = ((None, 9, KERNEL_US), (9, 9, KERNEL_US), (None, 10, 2 * KERNEL_US), (1, 4, KERNEL_US), (2, 6, KERNEL_US),
        (4, 8, KERNEL_US), (16, 20, KERNEL_US), (32, 36, KERNEL_US))
MODEL = Model(breaks={"channels_limit": ["false", "limit", "dispatched", "order"]},
              numbers={"dispatched": "what the last kernel waited for, starts the next stream at once there"})


def measure(bench):
    found = []
    for connections, streams, first_us in RUNS:
        env = without_mps(**({} if connections is None else {"CUDA_DEVICE_MAX_CONNECTIONS": str(connections)}))
        with bench.ready(("streams", {"streams": streams, "kernels": KERNELS, "kernel_us": KERNEL_US,
                                      "first_us": first_us}, env)) as (one,):
            channels = next(tsg["channels"] for tsg in bench.data("task", "show", one.pid)["tsgs"]
                            if "GR0" in tsg["engines"])
            one.go()
            answer = one.finish()
        origin = min(kernel["launched"] for kernel in answer["kernels"]) / 1000
        found.append({
            "connections": connections, "streams": streams, "channels": channels,
            "kernels": [{"stream": kernel["stream"], "kernel": kernel["kernel"],
                         "launched": kernel["launched"] / 1000 - origin,
                         "ran": [on_host(answer, kernel["blocks"][0][0]) - origin,
                                 on_host(answer, kernel["blocks"][0][1]) - origin],
                         "sm": kernel["blocks"][0][2]} for kernel in answer["kernels"]]})
    return {"runs": found}


def starts(run):
    """Returns the times at which each stream's first and last kernel started; a channel is free once the last one has."""
    first, last = {}, {}
    for kernel in run["kernels"]:
        stream, begin = kernel["stream"], kernel["ran"][0]
        first[stream] = min(first.get(stream, begin), begin)
        last[stream] = max(last.get(stream, begin), begin)
    return first, last


def at_once(run):
    """Returns how many streams started before the last kernel of any stream did."""
    first, last = starts(run)
    return sum(begin < min(last.values()) for begin in first.values())


def late_streams(run):
    """Returns the streams that did not start at once, each with the us since another stream's last kernel had started."""
    first, last = starts(run)
    return {stream: min(begin - free for other, free in last.items() if other != stream and free <= begin)
            for stream, begin in first.items() if begin >= min(last.values())}


def overtaken(run):
    """Returns the late streams that started before a late stream with a lower number, which had its work earlier."""
    first, _ = starts(run)
    return [stream for stream in late_streams(run)
            if any(first[earlier] > first[stream] for earlier in late_streams(run) if earlier < stream)]


def conclude(data):
    default, nine, longer = data["runs"][:3]
    limited = [run for run in data["runs"] if run["streams"] > run["channels"]]
    waits = [us for run in limited for us in late_streams(run).values()]
    return [
        Claim("false", f"nine streams on the {default['channels']} channels of CUDA's default: {at_once(default)} "
              f"start at once, {len(late_streams(default))} waits",
              at_once(default) == default["channels"] == 8 and len(late_streams(default)) == 1),
        Claim("none", f"nine streams on {nine['channels']} channels: {at_once(nine)} start at once",
              at_once(nine) == 9 == nine["channels"]),
        Claim("limit", "streams that start at once, of channels: " + ", ".join(
            f"{at_once(run)} of {run['channels']} ({run['streams']} streams)" for run in limited),
            len(limited) > 3 and all(at_once(run) == run["channels"] for run in limited)),
        Claim("dispatched", f"a stream that waits starts at most {max(waits, default=0):.0f} us after the last kernel "
              "of another stream did, not when that kernel ends (Corollary 1)", bool(waits) and max(waits) < 1000),
        Claim("order", "ten streams, the first one's kernels longer: stream "
              f"{', '.join(str(n + 1) for n in overtaken(longer))} starts before one that has had its work earlier "
              "(Corollary 2)", bool(overtaken(longer))),
    ]


def picture(data):
    panels = []
    end = max(kernel["ran"][1] for run in data["runs"][:3] for kernel in run["kernels"]) / 1000
    for run in data["runs"][:3]:
        how = "CUDA's default" if run["connections"] is None else f"CUDA_DEVICE_MAX_CONNECTIONS={run['connections']}"
        panel = Panel(f"{run['streams']} streams, {run['channels']} channels ({how})",
                      (0, end), "ms from the first launch",
                      rows=[f"stream {n + 1}" for n in range(run["streams"])])
        for kernel in run["kernels"]:
            panel.bar(kernel["ran"][0] / 1000, kernel["ran"][1] / 1000, kernel["stream"], kernel["stream"] % 10,
                      text=f"K{kernel['kernel'] + 1}")
        panels.append(panel)
    return panels
