# SPDX-License-Identifier: MIT OR GPL-2.0
"""Lists the runs of the engine that the figures need."""

import dataclasses
import fractions

KERNELS = ("cutcp", "histo", "lbm", "mri-gridding", "mri-q", "sad", "sgemm", "spmv", "stencil", "tpacf")
# The two GPUs differ only in these numbers (Section 4.6).
GPUS = {"16": {"sms": 16, "schedulers": 4}, "56": {"sms": 56, "schedulers": 2}}
# The engine's options for each scheme of the figures. spart1 leaves the other kernel at least one SM.
SCHEMES = {"naive": {"scheme": "naive"}, "history": {"scheme": "history"}, "elastic": {"scheme": "elastic"},
           "rollover": {"scheme": "rollover"}, "rollover_time": {"scheme": "rollover_time"},
           "spart": {"scheme": "spart"}, "spart1": {"scheme": "spart", "spart_least": 1}}
OF_PAIRS = tuple(SCHEMES)
OF_OTHERS = ("rollover", "spart", "spart1")


@dataclasses.dataclass(frozen=True)
class Form:
    """The number and length of runs.

    Kernels are numbered as in KERNELS. A shift leads from the QoS kernel of a pair to the other kernel, and from the first
    kernel of a trio to the others, so that each kernel has each role equally often.
    """

    name: str
    epochs: int
    goals: tuple
    shifts: tuple
    trio_shifts: tuple
    trio_first: tuple
    large_shifts: tuple
    large_first: tuple
    epoch: int = 10000


FORMS = {
    "short": Form("short", 8, (50, 70, 90), (3,), ((1, 4),), (0, 3, 5, 8), (3,), (0, 4, 6, 8)),
    "full": Form("full", 30, tuple(range(50, 100, 5)), (1, 3, 4, 7, 9), ((1, 4), (2, 7)), tuple(range(10)),
                 (3, 7), tuple(range(10))),
}


@dataclasses.dataclass(frozen=True)
class Run:
    """A run of kernels. A goal is in percent of the kernel's speed alone, or None."""

    kind: str  # alone, pair, trio1, trio2
    gpu: str
    scheme: str
    kernels: tuple

    def id(self, form):
        what = "+".join(name if goal is None else f"{name}:{goal}" for name, goal in self.kernels)
        return f"{form.epochs}x{form.epoch}/{self.kind}/{self.gpu}/{self.scheme}/{what}"

    def goal(self):
        return next((goal for _, goal in self.kernels if goal is not None), None)

    def scenario(self, form, alone):
        """Returns the run as the engine reads it. ALONE has the speeds of kernels alone by (GPU, name)."""
        kernels = [{"name": name} if goal is None else
                   {"name": name, "goal": str(fractions.Fraction(goal, 100) * alone[self.gpu, name])}
                   for name, goal in self.kernels]
        return {"id": self.id(form), "gpu": GPUS[self.gpu], "epoch": form.epoch, "epochs": form.epochs,
                "kernels": kernels, **(SCHEMES[self.scheme] if self.scheme != "alone" else {"scheme": "alone"})}


def alone():
    return [Run("alone", gpu, "alone", ((name, None),)) for gpu in GPUS for name in KERNELS]


def _of(first, *shifts):
    return [KERNELS[(first + shift) % len(KERNELS)] for shift in (0, *shifts)]


def shared(form):
    """Returns all runs in which kernels share a GPU."""
    found = []
    for goal in form.goals:
        for shift in form.shifts:
            for first in range(len(KERNELS)):
                one, other = _of(first, shift)
                found += [Run("pair", "16", scheme, ((one, goal), (other, None))) for scheme in OF_PAIRS]
        for shift in form.large_shifts:
            for first in form.large_first:
                one, other = _of(first, shift)
                found += [Run("pair", "56", scheme, ((one, goal), (other, None))) for scheme in OF_OTHERS]
        for shifts in form.trio_shifts:
            for first in form.trio_first:
                one, two, three = _of(first, *shifts)
                found += [Run("trio1", "16", scheme, ((one, goal), (two, None), (three, None)))
                          for scheme in OF_OTHERS]
                found += [Run("trio2", "16", scheme, ((one, goal - 25), (two, goal - 25), (three, None)))
                          for scheme in OF_OTHERS]
    return found
