# SPDX-License-Identifier: MIT OR GPL-2.0
"""ECRTS 2025, pitfalls 7 and 8: MPS partitions may share SMs while others idle, and are fixed when a client starts."""

from nvdlab import spans
from nvdlab.bench import on_host
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Pitfall 7", "Pitfall 8")
TITLE = "MPS partitions: which SMs, and since when"
PAPER = ("ECRTS 2025, Fig. 9 (Titan V): of three tasks limited to 50 % each, the two that remain share one half of the "
         "TPCs, the other half idle; and Sec. 4.4: the size of a client's partition is that of its start")
# Each task is one kernel. It has this many blocks for each ms of its time, so that some run until its end.
TURNS, BLOCKS_A_MS = 20_000, 550
# (start, duration of its blocks on half of the GPU) of each task, about, in ms.
TASKS = ((0, 400), (60, 120), (130, 320))
MODEL = Model(breaks={"mps_partitions": ["two_fit", "left", "of_the_start"]},
              numbers={"left": "which SMs a third client of 50 % gets is made up there"})


def flood(bench, tasks, env):
    """Returns for each task when its kernel began, in us, and how many of its blocks ended in each ms since then."""
    found = bench.together(*(("flood", {"turns": TURNS, "blocks": length * BLOCKS_A_MS, "delay_ms": delay}, env)
                             for delay, length in tasks))
    origin = min(on_host(one, one["begin"]) for one in found)
    return [{"begin": on_host(one, one["begin"]) - origin, "ended": one["ended"]} for one in found]


def kernels(found, origin):
    return [(begin / 1000 - origin, end / 1000 - origin, sms) for begin, end, sms in found["kernels"]]


def measure(bench):
    with bench.mps() as (clients, control):
        half = clients | {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "50"}
        three = flood(bench, TASKS, half)
        two = flood(bench, TASKS[::2], half)
        server = control("get_server_list").split()[0]
        # The number of blocks does not depend on the part of the GPU that CUDA shows.
        work = {"turns": 100_000, "blocks": 2112}
        with bench.ready(("work", {"ms": 800, **work}, clients)) as (one,):
            begin = bench.now_us()
            one.go()
            bench.sleep(0.4)
            said = [control(f"set_active_thread_percentage {server} 25"),
                    control("set_default_active_thread_percentage 25")]
            changed = bench.now_us() - begin
            before = kernels(one.finish(), begin)
        after = kernels(bench.alone("work", clients, ms=300, **work), 0)
    return {"three": three, "two": two, "changed": changed, "said": said, "running": before,
            "started_later": [(begin - after[0][0], end - after[0][0], sms) for begin, end, sms in after]}


def took(all_of, begin=0.0, end=1e12):
    return spans.median([stop - start for start, stop, _ in all_of if start >= begin and stop <= end])


def rate(task, begin, end):
    """Returns the blocks per ms between two times, in us, without the first and the last 10 ms."""
    first, last = (int((time_us - task["begin"]) / 1000) for time_us in (begin + 10_000, end - 10_000))
    return sum(task["ended"][first:last]) / max(1, last - first)


def over(task):
    return task["begin"] + 1000 * len(task["ended"])


def numbers(data):
    one, two, three = data["three"]
    left = (over(two), min(over(one), over(three)))
    never = data["two"]
    both = (never[1]["begin"], min(map(over, never)))
    return {
        "alone": rate(one, one["begin"], two["begin"]),
        "beside": [rate(one, two["begin"], three["begin"]), rate(two, two["begin"], three["begin"])],
        "crowded": rate(three, three["begin"], over(two)),
        "left": [rate(one, *left), rate(three, *left)],
        "never_three": [rate(task, *both) for task in never],
        "before": took(data["running"], 0, data["changed"]), "after": took(data["running"], data["changed"]),
        "later": took(data["started_later"]),
    }


def conclude(data):
    n = numbers(data)
    sms = [data[key][-1][2] for key in ("running", "started_later")]
    left, never = n["left"], n["never_three"]
    return [
        Claim("two_fit", f"of 50 % each, one client's kernel ends {n['alone']:.0f} blocks a ms alone and "
              f"{n['beside'][0]:.0f} beside a second one: they have SMs of their own",
              n["beside"][0] > 0.9 * n["alone"]),
        Claim("left", f"the client that came last ends {left[1]:.0f} blocks a ms beside the first one, also when the "
              f"one between them has ended ({n['crowded']:.0f} before); {never[1]:.0f} if that one was never there",
              left[1] < 0.9 * never[1]),
        Claim("static", f"a client's partition stays: {n['before'] / 1000:.2f} ms before the server's limit is set to "
              f"25 %, {n['after'] / 1000:.2f} ms after", abs(n["after"] / n["before"] - 1) < 0.05),
        Claim("of_the_start", f"of a client that starts then {n['later'] / 1000:.2f} ms, on {sms[1]} SMs, not {sms[0]}",
              n["later"] > 2 * n["before"]),
    ]


def picture(data):
    end = max(map(over, data["three"])) / 1000
    most = max(max(task["ended"]) for task in data["three"])
    panel = Panel("Three MPS clients of 50 % each, a kernel each", (0, end), "ms", (0, most * 1.1), "blocks a ms")
    for number, task in enumerate(data["three"]):
        panel.line([(task["begin"] / 1000 + n, count) for n, count in enumerate(task["ended"])], number,
                   f"client {number + 1}")
    end = data["running"][-1][1] / 1000
    most = max(stop - start for start, stop, _ in data["running"] + data["started_later"]) / 1000
    change = Panel("The server's limit set to 25 % in the shaded time", (0, end), "ms", (0, most * 1.1), "ms a kernel")
    change.line([(start / 1000, (stop - start) / 1000) for start, stop, _ in data["running"]], 0, "running client")
    change.line([((start + data["changed"]) / 1000, (stop - start) / 1000) for start, stop, _ in data["started_later"]],
                1, "client that starts then")
    change.shade(data["changed"] / 1000, end, 1)
    return [panel, change]
