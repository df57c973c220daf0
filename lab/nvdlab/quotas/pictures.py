# SPDX-License-Identifier: MIT OR GPL-2.0
"""Draws Figures 5 to 13 as curves over goals, with intervals of 95 %."""

import math

from nvdlab.picture import Panel, render
from nvdlab.quotas import plan

NAMES = {"naive": "naive", "history": "history", "elastic": "elastic", "rollover": "rollover",
         "rollover_time": "rollover-time", "spart": "Spart", "spart1": "Spart, 1 SM kept"}
COLOR = {scheme: number for number, scheme in enumerate(NAMES)}
KINDS = {"pair": "pairs", "trio1": "trios, one goal", "trio2": "trios, two goals"}


def _curves(panel, goals, schemes, value):
    """Draws VALUE(scheme, goal), which is (middle, low, high). Schemes are side by side, so that intervals can be seen."""
    for number, scheme in enumerate(schemes):
        aside = (number - (len(schemes) - 1) / 2) * 0.35
        points = []
        for goal in goals:
            middle, low, high = value(scheme, goal)
            if math.isnan(middle):
                continue
            (bottom, top), x = panel.y, goal + aside
            points.append((x, min(max(middle, bottom), top)))
            panel.line([(x, max(low, bottom)), (x, min(high, top))], COLOR[scheme])
        if points:
            panel.line(points, COLOR[scheme], NAMES[scheme])
            panel.dots(points, COLOR[scheme])


def _panel(title, goals, label, top=1.0, bottom=0.0):
    return Panel(title, (min(goals) - 3, max(goals) + 3), "goal, per cent of the speed alone", (bottom, top), label)


def reach(results, kind, schemes, figure, gpu="16", tolerance=1.0):
    goals = results.goals(kind)
    panel = _panel(f"Figure {figure}: goals reached, {KINDS[kind]}, {gpu} SMs", goals, "share of cases")
    _curves(panel, goals, schemes, lambda scheme, goal: results.reach(kind, scheme, goal, gpu, tolerance))
    return panel


def throughput(results, kind, schemes, figure, of_mean, gpu="16"):
    goals = results.goals(kind)
    panel = _panel(f"Figure {figure}: speed of kernels without goals, {KINDS[kind]}, {gpu} SMs", goals, "of speed alone")
    _curves(panel, goals, schemes, lambda scheme, goal: of_mean(
        results.throughputs(kind, scheme, goal, gpu).values()))
    return panel


def misses(results):
    edges = (0, 0.01, 0.05, 0.1, 0.2, 1)
    missed = [1 - min(one.attained) for one in results.of("pair", "history") if not one.reached()]
    counts = [sum(low < miss <= high for miss in missed) for low, high in zip(edges, edges[1:])]
    panel = Panel(f"Figure 5: by how much history misses ({len(missed)} of {len(results.of('pair', 'history'))} pairs)",
                  (0, max(1, *counts)), "pairs",
                  rows=[f"up to {100 * high:.0f} %" for high in edges[1:]])
    for row, count in enumerate(counts):
        panel.bar(0, count, row, COLOR["history"], text=str(count))
    return panel


def by_kernel(results):
    panel = Panel("Figure 7: goals reached, by QoS kernel (C compute-, M memory-intensive)", (0, 1), "share of cases",
                  rows=[f"{name} ({results.kind('16', name)})" for name in plan.KERNELS] + ["C + C", "C + M", "M + M"],
                  height=20 * 13)
    choices = [lambda run, name=name: run.kernels[0][0] == name for name in plan.KERNELS]
    choices += [lambda run, kinds=kinds: sorted(results.kind("16", name) for name, _ in run.kernels) == kinds
                for kinds in (["C", "C"], ["C", "M"], ["M", "M"])]
    for number, scheme in enumerate(plan.OF_OTHERS):
        for row, only in enumerate(choices):
            middle, _, _ = results.reach("pair", scheme, only=only)
            if not math.isnan(middle):
                panel.bar(0, middle, row, COLOR[scheme], NAMES[scheme],
                          share=(0.1 + 0.27 * number, 0.34 + 0.27 * number))
    return panel


def overshoot(results):
    goals = results.goals("pair")
    panel = _panel("Figure 9: speed of QoS kernels that reach their goals, pairs, 16 SMs", goals, "of the goal", 1.5, 0.95)
    _curves(panel, goals, plan.OF_OTHERS, lambda scheme, goal: results.overshoot("pair", scheme, goal))
    return panel


def all_of(results, of_mean):
    """Returns the SVG of each picture, by name."""
    caption = (f"on the engine of lab/quotas (a model; its kernels are made up): {results.form.epochs} epochs of "
               f"{results.form.epoch:,} cycles, {len(results.all)} runs. Intervals of 95 %.")
    spart = plan.OF_OTHERS
    time = ("rollover", "rollover_time")
    pages = {
        "reach": [misses(results), reach(results, "pair", ("naive", "history", "elastic", *spart), "6a"),
                  reach(results, "trio1", spart, "6b"), reach(results, "trio2", spart, "6c"), by_kernel(results)],
        "throughput": [throughput(results, "pair", spart, "8a", of_mean), throughput(results, "trio1", spart, "8b", of_mean),
                       throughput(results, "trio2", spart, "8c", of_mean), overshoot(results)],
        "time-and-sms": [reach(results, "pair", time, "10"), throughput(results, "pair", time, "11", of_mean),
                         reach(results, "pair", spart, "12", "56"),
                         throughput(results, "pair", spart, "13", of_mean, "56")],
    }
    return {name: render(panels, [f"Quotas: {name.replace('-', ' ')}", caption]) for name, panels in pages.items()}
