# SPDX-License-Identifier: MIT OR GPL-2.0
"""R5: runlists go round independently: a task may copy while another one computes."""

from nvdlab import spans
from nvdlab.bench import on_host
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("R5",)
TITLE = "Compute and copy lists are independent"
PAPER = ("RTAS 2024, Fig. 8 (GTX 1080 Ti): of a compute task, a task that does both and two copy tasks, the second "
         "one's copies progress at times unrelated to when it computes")
MS = 400
WHO = ("compute", "both", "copy 1", "copy 2")
MODEL = Model(breaks={"lists_independent": ["independent", "no_turns"], "one_task": ["list_by_list"]},
              numbers={"no_turns": "PCIe's rate is constant there; on the H100's machine it varied by 15 % from run to run"})


def measure(bench):
    alone = bench.alone("progress", ms=MS)
    beside = bench.together(("progress", {"ms": MS}), ("exec", {"ms": MS}))[0]
    found = bench.together(("exec", {"ms": MS}), ("exec", {"ms": MS, "copy": 1}), ("progress", {"ms": MS}),
                           ("progress", {"ms": MS}))

    def rate(one):
        return one["copied"] / (one["progress"][-1][1] - one["progress"][0][0])

    tasks = {}
    for who, one in zip(WHO, found):
        tasks[who] = {
            "compute": spans.merged([(on_host(one, begin), on_host(one, end)) for block in one.get("blocks", ())
                                     for begin, end in block["ran"]], gap=20),
            "copy": [(begin / 1000, end / 1000) for begin, end, _ in one.get("progress", ())]}
    origin = min(span[0] for task in tasks.values() for kind in task.values() for span in kind)
    return {"rate_alone": rate(alone), "rate_beside": rate(beside),
            "tasks": {who: {kind: [(begin - origin, end - origin) for begin, end in all_of]
                            for kind, all_of in task.items()} for who, task in tasks.items()}}


def numbers(data):
    tasks = data["tasks"]
    begin = max(all_of[0][0] for task in tasks.values() for all_of in task.values() if all_of)
    end = min(all_of[-1][1] for task in tasks.values() for all_of in task.values() if all_of)
    compute = {who: spans.cut(spans.merged(tasks[who]["compute"]), begin, end) for who in ("compute", "both")}
    copy = {who: spans.cut(spans.merged(tasks[who]["copy"]), begin, end) for who in ("both", "copy 1", "copy 2")}
    own, others = spans.total(compute["both"]), spans.total(compute["compute"])
    return {
        "ms": (end - begin) / 1000,
        "overlap_us": spans.total(spans.common(compute["compute"], compute["both"])),
        # The task copies in this part of the time in which the other task computes, or in which it computes itself.
        "while_other": spans.total(spans.common(copy["both"], compute["compute"])) / max(others, 1),
        "while_self": spans.total(spans.common(copy["both"], compute["both"])) / max(own, 1),
        "copying": spans.total(copy["both"]) / (end - begin),
        "copies_at_once": spans.total(spans.common(copy["copy 1"], copy["copy 2"])) / (end - begin),
        "rate": data["rate_beside"] / data["rate_alone"],
    }


def conclude(data):
    n = numbers(data)
    return [
        Claim("list_by_list", f"on each list tasks alternate: both compute at once for {n['overlap_us']:.0f} us of "
              f"{n['ms']:.0f} ms, both copy tasks progress at once in {100 * n['copies_at_once']:.1f} % of the time",
              n["overlap_us"] == 0 and n["copies_at_once"] < 0.05),
        Claim("independent", f"the task that does both copies in {100 * n['while_other']:.0f} % of the time in which "
              f"the other one computes, and in {100 * n['while_self']:.0f} % of the time in which it computes itself",
              n["while_other"] > 0.1 and abs(n["while_other"] - n["while_self"]) < 0.5 * n["copying"]),
        Claim("no_turns", f"beside another task's kernel a copy has {100 * n['rate']:.0f} % of the rate that it has "
              "alone; it would have half if the two took turns", n["rate"] > 0.75),
    ]


def picture(data):
    tasks = data["tasks"]
    end = max(span[1] for task in tasks.values() for all_of in task.values() for span in all_of)
    middle = end / 2000
    panels = []
    for kind, who in (("compute", ("compute", "both")), ("copy", ("both", "copy 1", "copy 2"))):
        panel = Panel(f"{'Compute' if kind == 'compute' else 'Copy progress'}, 30 ms of it; shaded: the task that does "
                      "both makes copy progress", (middle, middle + 30), "ms", rows=[f"task '{name}'" for name in who])
        for row, name in enumerate(who):
            for begin, stop in tasks[name][kind]:
                panel.bar(begin / 1000, stop / 1000, row, WHO.index(name))
        for begin, stop in tasks["both"]["copy"]:
            panel.shade(begin / 1000, stop / 1000, 1)
        panels.append(panel)
    return panels
