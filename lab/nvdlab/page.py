# SPDX-License-Identifier: MIT OR GPL-2.0
"""docs/lab.md, docs/lab/*.svg and lab/evidence.csv, from the records and nothing else."""

import pathlib
import re
import textwrap

from nvdlab import model, record, spans
from nvdlab.picture import render

DOCS = record.LAB.parent / "docs"
# The order of experiments on the page; an experiment without a place here comes last.
ORDER = ("disabled-channels", "false-dependencies", "unlisted-tasks", "timeslices", "independent-runlists",
         "shared-runlist", "shared-copy-engines", "mps-one-task", "mps-streams", "mps-sm-ids", "mps-partitions",
         "copy-behind-copies", "host-memory", "preemption", "context-switch", "atlas", "default-timeslices", "overhead",
         "shared-collectives")
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
INTRO = """# The lab

Each experiment is a folder of [lab](../lab) about a rule or a figure of the papers. It has a procedure, an analysis that
asserts its conclusions, and the data of each machine on which it was measured.

* `make lab` (no GPU) replays the analyses on the recorded data, and makes this page and its pictures from them. It also
  runs the experiments on the GPU model, in virtual time:
  [model and hardware side by side](#model-and-hardware-side-by-side). The figures of the paper on quotas are redrawn
  on a model of SMs: [quotas.md](quotas.md#the-papers-figures-on-the-engine).
* `sudo make lab GPU=1` measures on this machine's first GPU, through NVIDIA's driver, with no CUDA toolkit.

A verdict of `holds` means that every conclusion of the experiment was asserted on the data of that machine. Some
conclusions have no paper to compare with, or a GPU did otherwise than in the paper. These were written with the H100's
data at hand; that of the H200 came later. In the tables, a letter in a conclusion stands for a figure that differs
between the machines.

Papers: RTAS 2024 is Bakita and Anderson, *Demystifying NVIDIA GPU Internals to Enable Reliable GPU Management*; ECRTS
2025 the same, *Hardware Compute Partitioning on NVIDIA GPUs for Composable Systems*. Their figures are cited, not
copied.

"""

SIDE_BY_SIDE = """
## Model and hardware side by side
The same procedures and conclusions on the H200 and on the GPU model ([model.md](model.md)) with the board `h200`. The
model's processes are a few lines each (`lab/model/instruments.cpp`). `nvdebugctl` finds what they have on the GPU in
files that the module's core prints. Times are virtual and the same in every run. Where a number is more than a tenth
apart from the H200's or the H100's, the last column has the reason.

Many of the model's rules and costs come from the same measurements (H in [model.md](model.md#programs)). So an agreement
shows that rule and cost explain the measurement; it is no second measurement. Three conclusions merely repeat it,
since the model's programs were made so: allocations do not wait (`allocations`), the driver's request to take a TSG
off its list does nothing (`tsg`), and an urgent stream does not help (`priority`).

| experiment | conclusion | hardware | model | where they differ |
|---|---|---|---|---|
"""

ATLAS = """# What taking a GPU away costs

A scheduler that shares a GPU by time pays for each change of the task. The table has what that costs in us, for each GPU and
driver. `sudo make lab GPU=1 NAMES=atlas` measures your machine in two minutes, and writes `lab/atlas/CARD-DRIVER.json`.
[CONTRIBUTING](../CONTRIBUTING.md#measurements-of-your-gpu) has how to send that file. `make lab` makes this page from all files.

* **Gap**: from the end of a turn to the beginning of the next one, in the driver's record of switches. Shown are the least
  and the most of eight kinds of tasks, medians ([lab/atlas](../lab/atlas/README.md)).
* **Saving**: how much longer turns are for tasks that fill the SMs than for one warp.
* **A new timeslice, channels disabled, preempt**: a request comes in a turn of 50 ms. Shown is the time until the waiting
  task's first kernel, and in brackets the time until the driver's answer.
* **A small kernel**: of an idle task, beside a task that fills the GPU and has timeslices of 0.2 and of 2 ms.
* **No block runs, not all run**: the same switch seen by the tasks' own blocks, for one warp and for SMs with the most
  state. These times have the gap in them ([lab/context-switch](../lab/context-switch/README.md)).

A dash stands for what was not measured on that machine.

| GPU, driver | gap | saving | a new timeslice | channels disabled | preempt | a small kernel, 0.2 / 2 ms | no block runs | not all run |
|---|---|---|---|---|---|---|---|---|
"""

PUBLISHED = """
## What others have published
These figures are of other GPUs, and each has another end or another beginning. They were read, and not repeated here.

| system | GPU | figure | of what |
|---|---|---|---|
| XSched (OSDI 2025) | GV100 | 32 us | its level 3, from the request on, 99th percentile |
| GPreempt (ATC 2025) | A100 | under 40 us | a switch with a patched driver, reckoned as 44 MB at 1.1 TB/s |
| gpu_ext (arXiv 2512.12615) | RTX 5090 | 250 to 356 us | the driver's PREEMPT call |
| Spliet and Mullins (OSPERT 2018) | Kepler | 20 to 26.5 us | a switch with 60 to 270 KiB of state, between kernels |
"""

BROKEN = """
`lab/run --break RULE` runs them on a model that does not keep one of its rules ([model.md](model.md#programs)). These
conclusions, and no others, then fail (`tests/lab/test_lab.py`):

| rule | experiment | conclusions that fail |
|---|---|---|
"""


def names():
    found = record.names()
    return sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def everything():
    """Yields (name, experiment, [(machine, record, claims), …]) for each experiment."""
    for name in names():
        experiment = record.experiment(name)
        found = []
        for machine, path in record.records(name).items():
            one = record.load(path)
            found.append((machine, one, experiment.conclude(one["data"])))
        yield name, experiment, found


def verdict(experiment, claims):
    failed = [claim.key for claim in claims if not claim.holds]
    part = getattr(experiment, "PART", "")
    return "does not hold: " + ", ".join(failed) if failed else f"in part: {part}" if part else "holds"


def caption(one):
    return f"{one['gpu']}, driver {one['driver']}, {one['measured']}: {one['command']}"


def model_verdict(experiment, claims):
    if experiment.MODEL.absent:
        return "not there"
    if claims is None:
        return "nothing yet"
    if failed := [claim.key for claim in claims if not model.as_expected(experiment, claim)]:
        return "not as expected: " + ", ".join(failed)
    return "holds" + (f", but for {', '.join(experiment.MODEL.differs)}" if experiment.MODEL.differs else "")


def side_by_side(found, modelled):
    """Returns a table of the sentences that hardware and the model gave for each conclusion, with the reasons for
    differences."""
    out = [SIDE_BY_SIDE]
    for name, experiment, machines in found:
        if experiment.MODEL.absent:
            out.append(f"| [{name}](../lab/{name}) | | | not on the model | {experiment.MODEL.absent} |\n")
            continue
        _, _, measured = machines[-1]
        on_hardware = {claim.key: claim.sentence for claim in measured}
        for number, claim in enumerate(modelled.get(name, ())):
            where = f"[{name}](../lab/{name})" if number == 0 else ""
            hardware = on_hardware.get(claim.key, "-")
            sentence = "the same" if claim.sentence == hardware else claim.sentence
            failed = "" if claim.holds else "**does not hold:** "
            out.append(f"| {where} | {claim.key} | {hardware} | {failed}{sentence} | "
                       f"{experiment.MODEL.why(claim.key)} |\n")
    return "".join(out + [BROKEN] + sorted(
        f"| {rule} | [{name}](../lab/{name}) | {', '.join(keys)} |\n"
        for name, experiment, _ in found for rule, keys in experiment.MODEL.breaks.items()))


def picture(name, experiment, one):
    return render(experiment.picture(one["data"]), [f"{experiment.TITLE} (lab/{name}; hardware)", caption(one)])


def markdown(found):
    out = [INTRO, "| | experiment | paper | measured on | verdict | model | command |\n|---|---|---|---|---|---|---|\n"]
    modelled = model.kept()
    for name, experiment, machines in found:
        where = "<br>".join(f"{one['gpu']}, {one['driver']}" for _, one, _ in machines) or "nothing yet"
        verdicts = "<br>".join(dict.fromkeys(verdict(experiment, claims) for _, _, claims in machines)) or "-"
        out.append(f"| {', '.join(experiment.RULES)} | [{experiment.TITLE}](#{anchor(experiment.TITLE)}) | "
                   f"{figure(experiment)} | {where} | {verdicts} | {model_verdict(experiment, modelled.get(name))} | "
                   f"`make lab GPU=1 NAMES={name}` |\n")
    for name, experiment, machines in found:
        out.append(f"\n## {experiment.TITLE}\n" + wrapped(f"{experiment.__doc__.strip()} Procedure and caveats: "
                   f"[lab/{name}](../lab/{name}/README.md).") + "\n" + wrapped(f"Paper: {experiment.PAPER}."))
        out += ["\n", *(conclusions(machines) if machines else ["Nothing was measured so far.\n"]), "\n"]
        out += [f"![{experiment.TITLE}](lab/{name}-{machine}.svg)\n\n" + wrapped(
            f"*`{one['command']}`: {one['gpu']}, driver {one['driver']}, measured on hardware {one['measured']}; data: "
            f"[{machine}.json](../lab/{name}/{machine}.json).*") + "\n" for machine, one, _ in machines]
        out[-1] = out[-1].removesuffix("\n")
    return "".join(out) + side_by_side(found, modelled)


def conclusions(machines):
    """Returns the lines of a table. Each conclusion is a row, with the numbers of all machines, and a column for each
    machine says whether it holds there."""
    names = [one["gpu"] for _, one, _ in machines]
    differ = f"; numbers that differ are those of {' / '.join(names)}" if len(names) > 1 else ""
    out = [f"| conclusion{differ} | {' | '.join(names)} |\n|---{'|---' * len(machines)}|\n"]
    by_key = [{claim.key: claim for claim in claims} for _, _, claims in machines]
    for key in dict.fromkeys(key for found in by_key for key in found):
        claims = [found.get(key) for found in by_key]
        sentence, own = in_common([claim.sentence for claim in claims if claim])
        own = iter(own)
        cells = [", ".join(filter(None, ("holds" if claim.holds else "**does not hold**", next(own)))) if claim else "-"
                 for claim in claims]
        out.append(f"| {sentence} | {' | '.join(cells)} |\n")
    return out


def in_common(sentences):
    """Returns the sentence that the given ones have in common, and a list with the rest of each. If they differ in numbers
    alone, such a number is `505 / 314` in the sentence, and nothing is left of each. Else the sentence is empty, and each
    is left whole."""
    rest = NUMBER.split(sentences[0])
    if any(NUMBER.split(sentence) != rest for sentence in sentences):
        return "", sentences
    words = [rest[0]]
    for numbers, text in zip(zip(*map(NUMBER.findall, sentences)), rest[1:]):
        words += [" / ".join(numbers if len(set(numbers)) > 1 else numbers[:1]), text]
    return "".join(words), ["" for _ in sentences]


def figure(experiment):
    """Returns the figure of the paper, with the paper's GPU."""
    return experiment.PAPER.partition(":")[0].partition("; users")[0]


def wrapped(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def anchor(title):
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def atlas(found):
    """Returns docs/atlas.md: a row for each machine of the experiments `atlas` and `context-switch`."""
    (costs, by_record), (switch, by_logs) = [
        (experiment, {machine: one for machine, one, _ in machines})
        for wanted in ("atlas", "context-switch") for name, experiment, machines in found if name == wanted]
    rows = []
    for machine in sorted(by_record | by_logs):
        one = (by_record | by_logs)[machine]
        cells = [f"{one['gpu']}, {one['driver']}"]
        if machine in by_record:
            n = costs.figures(by_record[machine]["data"])
            small = " / ".join(f"{n['arrivals'][us][0]:.0f}" for us in ("200", "2000"))
            cells += [f"{min(n['gaps'].values()):.0f} to {max(n['gaps'].values()):.0f}", f"{max(n['saving'].values()):.0f}",
                      *(f"{until:.0f} ({took:.0f})" for took, until in map(n["requests"].get, costs.REQUESTS)), small]
        else:
            cells += 6 * ["-"]
        if machine in by_logs:
            data = by_logs[machine]["data"]
            ends = [min(data, key=lambda name: switch.held_bytes(data[name])),
                    max(data, key=lambda name: switch.held_bytes(data[name]))]
            cells += [" / ".join(f"{spans.median(switch.switches(data[name])[which]):.0f}" for name in ends)
                      for which in (0, 1)]
        else:
            cells += 2 * ["-"]
        rows.append(f"| {' | '.join(cells)} |\n")
    return ATLAS + "".join(rows) + PUBLISHED


def evidence(found):
    """Returns a line of CSV for each rule and machine that it was measured on; nvdebugctl check is built with them."""
    rows = {(rule, one["generation"], machine, verdict(experiment, claims).partition(":")[0])
            for _, experiment, machines in found for machine, one, claims in machines for rule in experiment.RULES
            if rule.startswith("R") and rule[1:].isdigit()}
    return "rule,generation,machine,found\n" + "".join(",".join(row) + "\n" for row in sorted(rows))


def files():
    """Returns the text of each file that write() writes, by path."""
    found = list(everything())
    made = {DOCS / "lab.md": markdown(found), DOCS / "atlas.md": atlas(found), record.LAB / "evidence.csv": evidence(found)}
    for name, experiment, machines in found:
        for machine, one, _ in machines:
            made[DOCS / "lab" / f"{name}-{machine}.svg"] = picture(name, experiment, one)
    return made


def write():
    made = files()
    (DOCS / "lab").mkdir(exist_ok=True)
    for path in (DOCS / "lab").glob("*.svg"):
        if path not in made:
            path.unlink()
    for path, text in made.items():
        pathlib.Path(path).write_text(text, encoding="utf-8")
