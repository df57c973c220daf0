# SPDX-License-Identifier: MIT OR GPL-2.0
"""ECRTS 2025: clients of an MPS server are one task of the runlist: one TSG, one timeslice."""

from nvdlab import spans
from nvdlab.bench import on_host, without_mps
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("MPS",)
TITLE = "MPS clients share one TSG and its timeslice"
PAPER = ("ECRTS 2025, Fig. 6 and 7 (runlists, no times): with MPS the channels of two clients are in the server's TSG, "
         "with subcontexts of their own; a third task keeps its TSG")
MS = 300
MODEL = Model(breaks={"mps_one_task": ["one_tsg", "together", "one_timeslice"], "one_task": ["alternate"]},
              numbers={"one_tsg": "ids are the lowest that are free"})


def measure(bench):
    with bench.mps() as (clients, _):
        with bench.ready(("exec", {"ms": MS}, clients), ("exec", {"ms": MS}, clients),
                         ("exec", {"ms": MS}, without_mps())) as running:
            shown = [bench.data("task", "show", each.pid) for each in running]
            for each in running:
                each.go()
            found = [each.finish() for each in running]
    tasks = [[(on_host(one, begin), on_host(one, end)) for block in one["blocks"] for begin, end in block["ran"]]
             for one in found]
    origin = min(begin for task in tasks for begin, _ in task)
    return {"tsgs": [[tsg["tsg"] for tsg in each["tsgs"] if "GR0" in (tsg["engines"] or ())] for each in shown],
            "mps": [each["mps"] for each in shown],
            "tasks": [[(begin - origin, end - origin) for begin, end in spans.merged(task, gap=20)] for task in tasks]}


def numbers(data):
    begin, end = max(task[0][0] for task in data["tasks"]), min(task[-1][1] for task in data["tasks"])
    one, two, other = (spans.cut(task, begin, end) for task in data["tasks"])
    either = spans.merged(one + two)
    return {"together": spans.total(spans.common(one, two)) / max(1, spans.total(either)),
            "beside": spans.total(spans.common(either, other)),
            "share": spans.total(other) / max(1, spans.total(other) + spans.total(either))}


def conclude(data):
    n = numbers(data)
    return [
        Claim("one_tsg", f"both clients' compute channels are in TSG {data['tsgs'][0]}, the other task's in "
                         f"{data['tsgs'][2]}",
              data["tsgs"][0] == data["tsgs"][1] != data["tsgs"][2] and len(data["tsgs"][0]) == 1),
        Claim("together", f"the clients execute at once in {100 * n['together']:.0f} % of the time in which one of "
                          f"them does",
              n["together"] > 0.9),
        Claim("alternate", f"the other task executes at once with them for {n['beside']:.0f} us", n["beside"] == 0),
        Claim("one_timeslice", f"it has {100 * n['share']:.0f} % of the time, as of two tasks, not of three",
              0.45 < n["share"] < 0.55),
    ]


def picture(data):
    middle = max(task[-1][1] for task in data["tasks"]) / 2000
    panel = Panel("30 ms: when blocks execute", (middle, middle + 30), "ms",
                  rows=["MPS client 1", "MPS client 2", "without MPS"])
    for row, task in enumerate(data["tasks"]):
        for begin, end in task:
            panel.bar(begin / 1000, end / 1000, row, row)
    return [panel]
