# SPDX-License-Identifier: MIT OR GPL-2.0
"""The shapes of the paper's figures, as conditions that were written before the runs. A condition is tested for each
tolerance (the goal itself, 0.99 of it) and, where Spart is in it, for each answer to whether Spart may leave a kernel
without SMs. A shape is found if all of these tests hold, partly found if some do, and not found if none does. A test
without numbers, because no case reaches its goals, does not hold."""

import dataclasses
import math
from typing import Callable

TOLERANCES = (1.0, 0.99)
SPARTS = ("spart", "spart1")


@dataclasses.dataclass(frozen=True)
class Shape:
    """`tests` returns a list of (holds, numbers in words)."""

    figure: str
    sentence: str
    rule: str
    tests: Callable


def word(tests):
    held = sum(holds for holds, _ in tests)
    return "found" if held == len(tests) else "partly" if held else "not found"


def _number(value):
    return "-" if math.isnan(value) else f"{value:.2f}"


def _less(low, high):
    return not math.isnan(low) and not math.isnan(high) and low < high


def _pairs(names):
    return [(tolerance, name) for tolerance in TOLERANCES for name in names]


def reach_is_more(kind, more, less, gpu="16"):
    """Tests that MORE reaches more goals than each of LESS."""
    def tests(results):
        found = []
        for tolerance, other in _pairs(less):
            high, low = (results.reach(kind, scheme, gpu=gpu, tolerance=tolerance)[0] for scheme in (more, other))
            found.append((_less(low, high), f"{_number(high)} : {_number(low)}"))
        return found
    return tests


def throughput_is_more(kind, more, less, gpu="16", factor=1.0):
    """Tests that other kernels get more with MORE than with each of LESS, on average over the cases that both reach."""
    def tests(results):
        found = []
        for tolerance, other in _pairs(less):
            both = results.common(kind, (more, other), gpu=gpu, tolerance=tolerance)
            high, low = (_mean(both[scheme]) for scheme in (more, other))
            found.append((_less(factor * low, high), f"{_number(high)} : {_number(low)} ({len(both[more])} cases)"))
        return found
    return tests


def _mean(values):
    return sum(values) / len(values) if values else math.nan


def misses_are_most(results):
    share = 1 - results.reach("pair", "history")[0]
    return [(share > 0.5, f"{_number(share)} missed")]


def _misses(results):
    return [1 - min(one.attained) for one in results.of("pair", "history") if not one.reached()]


def misses_are_small(results):
    misses = _misses(results)
    share = _mean([miss <= 0.05 for miss in misses])
    return [(_less(0.5, share), f"{_number(share)} of {len(misses)} misses")]


def successes_are_near(results):
    over = results.overshoot("pair", "history")[0]
    return [(_less(over, 1.05), _number(over))]


def none_at_the_end(results):
    goal = max(results.goals("trio2"))
    found = []
    for tolerance, scheme in _pairs(SPARTS):
        reach = results.reach("trio2", scheme, goal, tolerance=tolerance)[0]
        found.append((reach == 0, f"{_number(reach)} at {goal}"))
    return found


def gain_grows_with_kernels(results):
    found = []
    for tolerance, scheme in _pairs(SPARTS):
        gains = []
        for kind in ("pair", "trio1", "trio2"):
            ours, theirs = (results.reach(kind, one, tolerance=tolerance)[0] for one in ("rollover", scheme))
            gains.append(ours - theirs)
        found.append((_less(gains[0], gains[1]) and _less(gains[1], gains[2]), " < ".join(map(_number, gains))))
    return found


def _of_kinds(results, one, other):
    return lambda run: results.kind("16", run.kernels[0][0]) + results.kind("16", run.kernels[1][0]) in (
        one + other, other + one)


def compute_is_always_reached(results):
    found = []
    for tolerance, scheme in _pairs(("rollover", *SPARTS)):
        reach = results.reach("pair", scheme, tolerance=tolerance, only=_of_kinds(results, "C", "C"))[0]
        found.append((reach == 1, f"{scheme} {_number(reach)}"))
    return found


def memory_is_better(other):
    def tests(results):
        found = []
        for tolerance, scheme in _pairs(SPARTS):
            high, low = (results.reach("pair", one, tolerance=tolerance, only=_of_kinds(results, "M", other))[0]
                         for one in ("rollover", scheme))
            found.append((_less(low, high), f"{_number(high)} : {_number(low)}"))
        return found
    return tests


def histo_is_worst(results):
    found = []
    names = {one.run.kernels[0][0] for one in results.of("pair", "rollover")}
    for tolerance, scheme in _pairs(("rollover", *SPARTS)):
        reach = {name: results.reach("pair", scheme, tolerance=tolerance,
                                     only=lambda run, name=name: run.kernels[0][0] == name)[0] for name in names}
        below = sum(one < reach["histo"] for one in reach.values())
        found.append((below == 0, f"{scheme}: {_number(reach['histo'])}, {below} are lower"))
    return found


def throughput_falls(kind):
    """Tests that the mean throughput falls from each goal to the next higher one."""
    def tests(results):
        found = []
        for tolerance, scheme in _pairs(("rollover", *SPARTS)):
            means = [_mean(list(results.throughputs(kind, scheme, goal, tolerance=tolerance).values()))
                     for goal in results.goals(kind)]
            known = [one for one in means if not math.isnan(one)]
            falls = len(known) > 1 and all(low < high for high, low in zip(known, known[1:]))
            found.append((falls, f"{scheme}: {_number(known[0] if known else math.nan)} to "
                                 f"{_number(known[-1] if known else math.nan)}"))
        return found
    return tests


def gain_grows_with_goals(kind, gpu="16"):
    """Tests that rollover gains more at the higher half of goals than at the lower half, in the cases that both reach."""
    def tests(results):
        goals, found = results.goals(kind), []
        for tolerance, scheme in _pairs(SPARTS):
            gains = []
            for part in (goals[:len(goals) // 2], goals[(len(goals) + 1) // 2:]):
                ours, theirs = [], []
                for goal in part:
                    both = results.common(kind, ("rollover", scheme), goal, gpu, tolerance)
                    ours += both["rollover"]
                    theirs += both[scheme]
                gains.append(_mean(ours) / _mean(theirs) if theirs and _mean(theirs) else math.nan)
            found.append((_less(*gains), " < ".join(map(_number, gains))))
        return found
    return tests


def overshoots_less(results):
    found = []
    for tolerance, scheme in _pairs(SPARTS):
        ours, theirs = (results.overshoot("pair", one, tolerance=tolerance)[0] for one in ("rollover", scheme))
        found.append((_less(ours, theirs), f"{_number(ours)} : {_number(theirs)}"))
    return found


def overshoots_little(results):
    found = []
    for tolerance in TOLERANCES:
        over = results.overshoot("pair", "rollover", tolerance=tolerance)[0]
        found.append((_less(over, 1.05), _number(over)))
    return found


def time_reaches_as_often(results):
    found = []
    for tolerance in TOLERANCES:
        ours, theirs = (results.reach("pair", one, tolerance=tolerance)[0] for one in ("rollover", "rollover_time"))
        found.append((_less(abs(ours - theirs), 0.05), f"{_number(ours)} : {_number(theirs)}"))
    return found


def more_sms_help_spart(results):
    """Tests that Spart reaches more goals with 56 SMs than with 16, on the pairs that both GPUs ran."""
    found = []
    cases = {one.run.kernels for one in results.of("pair", "spart", gpu="56")}
    for tolerance, scheme in _pairs(SPARTS):
        large, small = (results.reach("pair", scheme, gpu=gpu, tolerance=tolerance, only=lambda run: run.kernels in cases)[0]
                        for gpu in ("56", "16"))
        found.append((_less(small, large), f"{_number(large)} : {_number(small)}"))
    return found


SHAPES = (
    Shape("5", "history misses most goals", "more than half of the pairs", misses_are_most),
    Shape("5", "and most of them by little", "more than half of the misses are within 5 % of the goal",
          misses_are_small),
    Shape("5", "where it reaches them, by little", "5 % over the goal at most, on average", successes_are_near),
    Shape("6a", "history reaches fewest goals", "fewer than elastic", reach_is_more("pair", "elastic", ("history",))),
    Shape("6a", "", "fewer than rollover", reach_is_more("pair", "rollover", ("history",))),
    Shape("6a", "rollover reaches more than elastic", "of all pairs", reach_is_more("pair", "rollover", ("elastic",))),
    Shape("6a", "rollover reaches more than Spart", "of all pairs", reach_is_more("pair", "rollover", SPARTS)),
    Shape("6b", "also in trios with one goal", "of all trios", reach_is_more("trio1", "rollover", SPARTS)),
    Shape("6c", "and with two", "of all trios", reach_is_more("trio2", "rollover", SPARTS)),
    Shape("6c", "Spart reaches none at the highest goals", "of trios with two goals", none_at_the_end),
    Shape("6", "rollover gains more, the more kernels and goals", "reach less Spart's: pairs < one goal < two goals",
          gain_grows_with_kernels),
    Shape("7", "pairs that compute always reach their goals", "all C + C pairs", compute_is_always_reached),
    Shape("7", "rollover reaches more of C + M", "than Spart", memory_is_better("C")),
    Shape("7", "rollover reaches more of M + M", "than Spart", memory_is_better("M")),
    Shape("7", "histo is hard for both", "no QoS kernel reaches fewer goals", histo_is_worst),
    Shape("8a", "other kernels get less, the higher the goal", "at each goal less than at the one before",
          throughput_falls("pair")),
    Shape("8a", "they get more with rollover than with Spart", "pairs that both reach",
          throughput_is_more("pair", "rollover", SPARTS)),
    Shape("8a", "more so at higher goals", "ratio of the higher half of goals > of the lower half",
          gain_grows_with_goals("pair")),
    Shape("8b", "they get more in trios with one goal", "trios that both reach",
          throughput_is_more("trio1", "rollover", SPARTS)),
    Shape("8c", "and with two", "trios that both reach", throughput_is_more("trio2", "rollover", SPARTS)),
    Shape("9", "rollover exceeds goals by less than Spart", "on average over each one's successes", overshoots_less),
    Shape("9", "and by little", "5 % at most", overshoots_little),
    Shape("10", "rollover-time reaches as many goals", "5 points more or fewer at most", time_reaches_as_often),
    Shape("11", "other kernels get less with rollover-time", "rollover gives 1.1 times as much, pairs that both reach",
          throughput_is_more("pair", "rollover", ("rollover_time",), factor=1.1)),
    Shape("12", "Spart reaches more goals with 56 SMs", "than with 16, of the same pairs", more_sms_help_spart),
    Shape("12", "and rollover still more", "of all pairs on 56 SMs", reach_is_more("pair", "rollover", SPARTS, "56")),
    Shape("13", "other kernels get more with rollover on 56 SMs", "pairs that both reach",
          throughput_is_more("pair", "rollover", SPARTS, "56")),
)
