# SPDX-License-Identifier: MIT OR GPL-2.0
"""R4: of the tasks of a runlist one is active on each engine; two of them alternate by timeslices."""

from nvdlab import spans
from nvdlab.bench import on_host
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("R4",)
TITLE = "Two tasks take turns"
PAPER = ("RTAS 2024, Fig. 6 and 7 (GTX 1060 3GB): slices of about 2 ms of two compute tasks, of about 1 ms of two "
         "copies, and never both at once")
MS = 400
MODEL = Model(breaks={"one_task": ["exclusive", "timeslice", "copies"],
                      "timeslices": ["exclusive", "alternate", "timeslice", "copies"]})


def task_of(found):
    return [[(on_host(found, begin), on_host(found, end)) for begin, end in block["ran"]] for block in found["blocks"]]


def measure(bench):
    with bench.ready(("exec", {"ms": MS}), ("exec", {"ms": MS})) as running:
        timeslice = [next(tsg["timeslice_us"] for tsg in bench.data("task", "show", each.pid)["tsgs"]
                          if "GR0" in tsg["engines"]) for each in running]
        for each in running:
            each.go()
        compute = [each.finish() for each in running]
    with bench.ready(("progress", {"ms": MS}), ("progress", {"ms": MS})) as running:
        for each in running:
            each.go()
        copies = [each.finish() for each in running]
    tasks = [task_of(found) for found in compute]
    origin = min(begin for blocks in tasks for ran in blocks for begin, _ in ran)
    return {
        "timeslice_us": timeslice,
        "sms": compute[0]["sms"],
        "compute": [[[(begin - origin, end - origin) for begin, end in ran] for ran in blocks] for blocks in tasks],
        "copies": [[((begin - copies[0]["progress"][0][0]) / 1000, (end - copies[0]["progress"][0][0]) / 1000, count)
                    for begin, end, count in found["progress"]] for found in copies],
    }


def both_at_work(tasks):
    """Returns the slices of both tasks, cut to the time from the later start to the earlier end."""
    begin, end = max(task[0][0] for task in tasks), min(task[-1][1] for task in tasks)
    return [spans.cut(task, begin, end) for task in tasks]


def slices(data):
    """Returns for each task the spans in which any of its blocks ran."""
    return [spans.merged([span for ran in blocks for span in ran], gap=20) for blocks in data["compute"]]


def copy_slices(data):
    return [spans.merged([(begin, end) for begin, end, _ in task]) for task in data["copies"]]


def alternation(tasks):
    """Returns the share of slices that are followed by a slice of the other task."""
    order = sorted((begin, task) for task, all_of in enumerate(tasks) for begin, _ in all_of)
    changes = sum(one[1] != other[1] for one, other in zip(order, order[1:]))
    return changes / max(1, len(order) - 1)


def whole(tasks):
    """Returns the durations of slices, without the first and the last one, which may be cut off."""
    return [spans.durations(task[1:-1]) for task in tasks]


def numbers(data):
    compute, copies = both_at_work(slices(data)), both_at_work(copy_slices(data))
    lengths, copy_lengths = sum(whole(compute), []), sum(whole(copies), [])
    order = spans.turns(dict(enumerate(compute)))
    return {
        "overlap_us": spans.total(spans.common(*compute)),
        "slices": len(lengths),
        "slice_us": spans.median(lengths),
        "switch_us": spans.median([b[0] - a[1] for a, b in zip(order, order[1:])]),
        "alternation": alternation(compute),
        "copy_overlap": spans.total(spans.common(*copies)) / max(1, sum(map(spans.total, copies))),
        "copy_slices": len(copy_lengths),
        "copy_slice_us": spans.median(copy_lengths),
        "copy_alternation": alternation(copies),
    }


def conclude(data):
    n = numbers(data)
    listed = data["timeslice_us"][0]
    return [
        Claim("exclusive", f"blocks of both tasks execute at once for {n['overlap_us']:.0f} us of {MS} ms, though each "
              f"has {len(data['compute'][0])} blocks and the GPU {data['sms']} SMs",
              n["overlap_us"] == 0 and n["slices"] > 50),
        Claim("alternate", f"{100 * n['alternation']:.0f} % of {n['slices']} slices are followed by the other task's",
              n["alternation"] > 0.95),
        Claim("timeslice", f"a slice is {n['slice_us']:.0f} us (median), and {n['switch_us']:.0f} us pass until the "
              f"next; the list says {listed:.0f} us", listed * 0.95 < n["slice_us"] < listed * 1.15),
        Claim("copies", f"two copies to the host progress at once for {100 * n['copy_overlap']:.1f} % of their time; "
              f"their {n['copy_slices']} slices of {n['copy_slice_us']:.0f} us (median) alternate in "
              f"{100 * n['copy_alternation']:.0f} %",
              n["copy_overlap"] < 0.05 and n["copy_slices"] > 20 and n["copy_alternation"] > 0.9),
    ]


def picture(data):
    panels = []
    found = slices(data)
    end = max(task[-1][1] for task in found)
    rows = [f"task {task + 1}, block {block}" for task in (0, 1) for block in range(len(data["compute"][task]))]
    left = Panel.left_of(rows)
    steps = Panel("Each slice one step higher: how fast tasks take turns", (0, end / 1000), "ms",
                  (0, max(map(len, found))), "slices so far", left=left)
    for task, all_of in enumerate(found):
        points = [point for number, (begin, stop) in enumerate(all_of)
                  for point in ((begin / 1000, number), (stop / 1000, number))]
        steps.line(points, task, f"task {task + 1}", dashes="7 7" if task else "")
    panels.append(steps)
    middle = end / 2000
    near = Panel("20 ms of it: when blocks execute", (middle, middle + 20), "ms", rows=rows)
    for task, blocks in enumerate(data["compute"]):
        for block, ran in enumerate(blocks):
            for begin, stop in ran:
                near.bar(begin / 1000, stop / 1000, task * len(data["compute"][0]) + block, task)
    panels.append(near)
    copies = copy_slices(data)
    middle = (copies[0][-1][1]) / 2000
    copying = Panel("20 ms of two copies to the host", (middle, middle + 20), "ms", rows=["copy 1", "copy 2"],
                    left=left)
    for task, all_of in enumerate(copies):
        for begin, stop in all_of:
            copying.bar(begin / 1000, stop / 1000, task, task)
    panels.append(copying)
    return panels
