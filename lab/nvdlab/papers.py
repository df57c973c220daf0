# SPDX-License-Identifier: MIT OR GPL-2.0
"""docs/papers.md: what four papers found, beside what was found here, from the repository's data and nothing else."""

import collections
import csv
import json
import re

from nvdlab import model, page, record

ROOT = record.LAB.parent
DOCS = ROOT / "docs"
PAGE = DOCS / "papers.md"
HARDWARE = ROOT / "tests/hardware"

INTRO = """# The papers, and what was found here

nvdebug is built from four papers. The table has their figures and claims, beside the results of this repository on
hardware and on its models. `lab/papers` makes this page from the data that the rows link to; `make lab` runs it, too.

* **Hardware** is an H100 80GB HBM3 and an H200 with driver 580.159.04. *Holds* means that each conclusion of the
  experiment was asserted on the data of both; the linked section has the conclusions and their numbers. The reason for
  *in part* is in the [table of experiments](lab.md).
* **Model** is the GPU model ([model.md](model.md)) for the first two papers, computed figures for the third and a model
  of SMs for the fourth. *But for* names a conclusion in which the GPU model differs from the hardware
  ([reasons](lab.md#model-and-hardware-side-by-side)). Rules and costs of the GPU model come from the same measurements
  in part, so an agreement is no second measurement.
* A dash means that it was not tried, or that there is nothing to try it with.

"""

CITE = """
## To cite
| paper | reference |
|---|---|
{papers}
For results of this repository, cite the paper of the row, and this project with the version (`nvdebugctl --version`), the
machine and the data file of the row. An example is *nvdebug {version}, lab/timeslices, NVIDIA H100 80GB HBM3, driver
580.159.04, h100-580.159.04.json*.
"""

REFERENCES = {
    "RTAS 2024": "J. Bakita, J. H. Anderson: *Demystifying NVIDIA GPU Internals to Enable Reliable GPU Management*. RTAS 2024",
    "ECRTS 2025": "J. Bakita, J. H. Anderson: *Hardware Compute Partitioning on NVIDIA GPUs for Composable Systems*. ECRTS 2025",
    "RTCSA 2019": "S. K. Saha, Y. Xiang, H. Kim: *STGM: Spatio-Temporal GPU Management for Real-Time Tasks*. RTCSA 2019",
    "ISCA 2017": "Z. Wang et al.: *Quality of Service Support for Fine-Grained Sharing on GPUs*. ISCA 2017",
}

# The equation that each counterexample of tests/hardware/stgm.py is about (docs/stgm-design.md).
EQUATIONS = {"CE1": 7, "CE2c": 5, "CE4": 9, "CE5": 11}

HEAD = "| paper | figure or claim | here on hardware | here on the model | data |\n|---|---|---|---|---|\n"


def rows_of_lab():
    """Returns the rows of the experiments that repeat a paper. An experiment with two rules is one row."""
    modelled = model.kept()
    for name, experiment, machines in page.everything():
        found = page.figure(experiment)
        paper = next((each for each in REFERENCES if each in experiment.PAPER), None)
        if paper is None:
            continue
        claim = found.partition(f"{paper}, ")[2]
        verdicts = (page.verdict(experiment, claims).partition(":")[0] for _, _, claims in machines)
        hardware = "<br>".join(dict.fromkeys(verdicts)) or "–"
        count = max((len(claims) for _, _, claims in machines), default=0)
        hardware = hardware.replace("holds", f"holds ({count} conclusions)") if machines else hardware
        on_model = page.model_verdict(experiment, modelled.get(name)).replace("not there", "–")
        data = ", ".join(f"[{machine.partition('-')[0]}](../lab/{name}/{machine}.json)" for machine, _, _ in machines) or "–"
        rule = ", ".join(experiment.RULES)
        yield paper, f"{rule}: [{experiment.TITLE}](lab.md#{page.anchor(experiment.TITLE)}) ({claim})", hardware, on_model, data


def row_of_neighbours():
    """Returns the row of ECRTS 2025, Fig. 12: a kernel that needs memory, beside one that computes."""
    cells, data = [], []
    for folder in sorted(HARDWARE.glob("h*-*")):
        path = folder / "partitions.json"
        if not path.exists():
            continue
        found = {(row["task"], row["neighbour"], row["way"]): row
                 for row in json.loads(path.read_text(encoding="utf-8"))["enforcement"]}
        ways = {way for _, _, way in found}
        percentage = next((way for way in sorted(ways) if "percentage" in way), None)
        row, alone, other = (found.get(("memory", neighbour, way)) for neighbour, way in (
            ("compute", "nvtaskset"), (None, "nvtaskset"), ("compute", percentage)))
        card = folder.name.partition("-")[0]
        if row and alone and other:
            cells.append(f"{card.upper()}: {row['mean']:,.0f} us on average and {row['max']:,.0f} at most; "
                         f"alone {alone['mean']:,.0f} and {alone['max']:,.0f}; "
                         f"with a percentage of MPS {other['mean']:,.0f} and {other['max']:,.0f}")
            data.append(f"[{card}](../{path.relative_to(ROOT)})")
    return ("ECRTS 2025", "Fig. 12: [a kernel keeps its time beside another task](partitions-measured.md#how-well-partitions-keep)",
            "<br>".join(cells) or "–", "–", ", ".join(data) or "–")


def rows_of_stgm():
    """Returns rows of responses on each GPU, and of the acceptance of drawn sets."""
    checked = "stgm-measured.md#how-it-is-checked"
    responses, unsafe, data = [], [], []
    for path in sorted(HARDWARE.glob("h*-*/stgm.json")):
        measured, card = json.loads(path.read_text(encoding="utf-8")), path.parent.name.partition("-")[0]
        sets = measured["sets"]
        jobs, above = (sum(row["undisturbed"][key] for row in sets) for key in ("jobs", "above"))
        responses.append(f"{card.upper()}: {len({row['set'] for row in sets})} drawn sets, {jobs:,} of "
                         f"{sum(row['jobs'] for row in sets):,} jobs were undisturbed, {above or 'none'} of them above the sound bound")
        exceeded = sorted({EQUATIONS[row["set"]] for row in measured["controls"]
                           if (row["undisturbed"]["response"] or 0) > row["printed"]})
        unsafe.append(f"{card.upper()}: unsafe, undisturbed jobs exceeded the bounds of {', '.join(map(str, exceeded))}")
        data.append(f"[{card}](../{path.relative_to(ROOT)})")
    yield ("RTCSA 2019", "Sec. IV.B: [responses stay within their bounds](stgm-measured.md#measured)", "<br>".join(responses),
           f"no job above a bound of `stgm` in [10,000 random schedules]({checked})", ", ".join(data))
    yield ("RTCSA 2019", "equations 5, 7, 9 and 11 [as printed](stgm-measured.md#counterexamples)", "<br>".join(unsafe),
           f"unsafe: a schedule [exceeds each of them]({checked})", ", ".join(data))
    for number, claim, most in ((4, "over the tasks of a set", "tasks"), (5, "over SMs", "SMs")):
        with (DOCS / f"stgm/figure{number}.csv").open(encoding="utf-8") as file:
            found = [row for row in csv.DictReader(file) if row["kernels"] == "full"]
        last = max(found, key=lambda row: int(row["x"]))["x"]
        part = {row["analysis"]: float(row["part"]) for row in found if row["x"] == last}
        yield ("RTCSA 2019", f"Fig. {number}: sets that are schedulable, [{claim}](stgm-measured.md#figures)", "–",
               f"with {last} {most}: `stgm` {part['stgm_suspend']:.0%}, MPCP {part['mpcp_suspend']:.0%}, "
               f"FMLP {part['fmlp_suspend']:.0%}, as printed {part['stgm_printed_suspend']:.0%} (computed, "
               f"{int(found[0]['sets']):,} sets)",
               f"[figure{number}.csv](stgm/figure{number}.csv)")


def rows_of_quotas():
    """Returns a row for each figure of the paper on quotas, with its verdicts counted."""
    text = (DOCS / "quotas-full.md").read_text(encoding="utf-8")
    verdicts = collections.defaultdict(list)
    for figure, shape, verdict in re.findall(r"^\| (\d+)[a-c]? \| ([^|]+) \| [^|]+ \| \*\*([^*]+)\*\* \|", text, re.M):
        verdicts[int(figure)].append((shape.strip(), verdict))
    for figure, found in sorted(verdicts.items()):
        counts = collections.Counter(verdict for _, verdict in found)
        words = ", ".join(f"{verdict} {counts[verdict]}" for verdict in ("found", "partly", "not found") if counts[verdict])
        shape = next(shape for shape, _ in found)
        yield ("ISCA 2017", f"Fig. {figure}: [{shape}](quotas-full.md)", "–", f"shapes: {words}",
               "[full.jsonl.xz](../lab/quotas/full.jsonl.xz)")


def text():
    """Returns the page."""
    rows = [*rows_of_lab(), row_of_neighbours(), *rows_of_stgm(), *rows_of_quotas()]
    order = list(REFERENCES)
    rows.sort(key=lambda row: order.index(row[0]))
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    papers = "".join(f"| {paper} | {reference} |\n" for paper, reference in REFERENCES.items())
    version = (ROOT / "VERSION").read_text(encoding="ascii").strip()
    return INTRO + HEAD + table + CITE.format(papers=papers, version=version)


def write():
    PAGE.write_text(text(), encoding="utf-8")
