# SPDX-License-Identifier: MIT OR GPL-2.0
"""Experiments on the GPU model: their conclusions, and how they differ from hardware's. Virtual time is deterministic:
only conclusions are kept, in lab/model-h200.json, since the data can be made again anywhere."""

import dataclasses
import json
import re

from nvdlab import record
from nvdlab.claim import Claim

KEPT = record.LAB / "model-h200.json"


@dataclasses.dataclass(frozen=True)
class Model:
    """How an experiment differs on the model."""

    absent: str = ""                                          # why the model cannot run it
    differs: dict = dataclasses.field(default_factory=dict)   # conclusions that do not hold there, and why
    breaks: dict = dataclasses.field(default_factory=dict)    # rule: conclusions that fail without it
    numbers: dict = dataclasses.field(default_factory=dict)   # conclusion: why its numbers differ from hardware's

    def why(self, key):
        return self.differs.get(key) or self.numbers.get(key, "")


def conclude(experiment, bench):
    """As of a record: numbers are rounded as there."""
    return experiment.conclude(json.loads(record.text(experiment.measure(bench))))


def numbers_differ(one, other):
    """Compares the numbers in two sentences of the same conclusion.

    Returns true if any two differ by more than a tenth and by more than one unit of the last digit.
    """
    def numbers(sentence):
        return [(float(found.replace(",", "")), 0.1 ** len(found.partition(".")[2]))
                for found in re.findall(r"\d[\d,]*(?:\.\d+)?", sentence)]
    pairs = list(zip(numbers(one), numbers(other)))
    return len(numbers(one)) != len(numbers(other)) or any(
        abs(a - b) > max(0.1 * max(a, b), 1.01 * digit) for (a, digit), (b, _) in pairs)


def as_expected(experiment, claim):
    return claim.holds != (claim.key in experiment.MODEL.differs)


def kept():
    """Returns the kept conclusions, by experiment."""
    if not KEPT.exists():
        return {}
    found = json.loads(KEPT.read_text(encoding="utf-8"))
    return {name: [Claim(**claim) for claim in claims] for name, claims in found.items()}


def text(concluded):
    return record.lines({name: [dataclasses.asdict(claim) for claim in claims]
                         for name, claims in sorted(concluded.items())}, 2) + "\n"
