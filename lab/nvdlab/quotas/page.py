# SPDX-License-Identifier: MIT OR GPL-2.0
"""Makes the parts of docs/quotas.md and docs/quotas-full.md that come from runs."""

import textwrap

from nvdlab.quotas import pictures, results as result, shapes

# The folder of each form: docs/FOLDER.md is its page, and docs/FOLDER has its pictures.
FOLDERS = {"short": "quotas", "full": "quotas-full"}
BEGIN, END = "<!-- figures: made by lab/quotas/figures -->\n", "<!-- figures: end -->\n"


def _percent(value):
    return "-" if value != value else f"{100 * value:.0f}"


def averages(found):
    out = ["| runs | scheme | goals reached | 0.99 of them | 0.98 | speed of QoS kernels, of the goal | speed of the others |\n"
           "|---|---|---|---|---|---|---|\n"]
    rows = [("pair", "16", scheme) for scheme in pictures.NAMES]
    rows += [(kind, gpu, scheme) for kind, gpu in (("trio1", "16"), ("trio2", "16"), ("pair", "56"))
             for scheme in ("rollover", "spart", "spart1")]
    for kind, gpu, scheme in rows:
        reach = [found.reach(kind, scheme, gpu=gpu, tolerance=one) for one in result.TOLERANCES]
        others = result.of_mean(found.throughputs(kind, scheme, gpu=gpu).values())[0]
        out.append(f"| {pictures.KINDS[kind]}, {gpu} SMs | {pictures.NAMES[scheme]} | {_percent(reach[0][0])} % "
                   f"({_percent(reach[0][1])} to {_percent(reach[0][2])}) | {_percent(reach[1][0])} % | "
                   f"{_percent(reach[2][0])} % | {_percent(found.overshoot(kind, scheme, gpu=gpu)[0])} % | "
                   f"{_percent(others)} % |\n")
    return "".join(out)


def verdicts(found):
    out = ["| figure | shape | rule | verdict | numbers, test by test |\n|---|---|---|---|---|\n"]
    for shape in shapes.SHAPES:
        tests = shape.tests(found)
        out.append(f"| {shape.figure} | {shape.sentence or 'the same'} | {shape.rule} | **{shapes.word(tests)}** | "
                   f"{'; '.join(numbers for _, numbers in tests)} |\n")
    return "".join(out)


def text(found):
    form, folder = found.form, FOLDERS[found.form.name]
    intro = (f"The {form.name} form: {form.epochs} epochs of {form.epoch:,} cycles, {len(found.all)} runs of kernels that "
             f"share ({len(form.shifts) * 10} of 90 pairs, goals {', '.join(map(str, form.goals))}; "
             f"{len(form.trio_shifts) * len(form.trio_first)} trios; {len(form.large_shifts) * len(form.large_first)} pairs "
             f"on 56 SMs)" + (f"; {found.missing} runs are missing" if found.missing else "") + ". Speeds of the others are "
             "means over the cases of a scheme that reach their goals; intervals are of 95 %.")
    drawn = "".join(f"\n![Quotas: {name}]({folder}/{name}.svg)\n" for name in pictures.all_of(found, result.of_mean))
    return f"{textwrap.fill(intro, 120)}\n\n{averages(found)}\n{verdicts(found)}{drawn}"


def replaced(page, part):
    """Returns PAGE with PART between the marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + part + END + after
