# SPDX-License-Identifier: MIT OR GPL-2.0
"""The figures of a run from the times of its requests and of the neighbour's steps; pure functions. docs/llm.md defines each
one.

Times are microseconds of CLOCK_MONOTONIC. A request has `due`, `sent`, the moments `tokens` of its tokens, the number `got`
of tokens (a message may bring several), `asked`, `counted`, and `error`, which is None if all tokens came.
"""

import bisect
import math

SCALES = (1.1, 1.25, 1.5, 2)


def percentile(values, part):
    """Returns the value at PART (0 to 1), linear between the two nearest ranks, as numpy's default; None: there are no values."""
    if not values:
        return None
    found = sorted(values)
    rank = (len(found) - 1) * part
    low = math.floor(rank)
    high = min(low + 1, len(found) - 1)
    return found[low] + (found[high] - found[low]) * (rank - low)


def interval(values, part, sure=0.9):
    """Returns [low, high], between which the percentile PART of the distribution is with the probability SURE.

    The bounds are order statistics: how many of n values are below a percentile is binomial, whatever the distribution is. The
    values count as independent. An end is None if even the smallest or the largest value is not far enough out. For the 99th
    percentile and 90 %, 299 values have both ends.
    """
    found, count = sorted(values), len(values)
    below, low, high = 0.0, None, None  # `below` is the probability that at most `number` values are below the percentile
    for number in range(count + 1):
        if number and below <= (1 - sure) / 2:
            low = number - 1
        below += math.exp(math.lgamma(count + 1) - math.lgamma(number + 1) - math.lgamma(count - number + 1)
                          + number * math.log(part) + (count - number) * math.log1p(-part))
        if high is None and number < count and below >= 1 - (1 - sure) / 2:
            high = number
    return [None if low is None else found[low], None if high is None else found[high]]


# --- of requests ---

def is_done(request):
    return request["error"] is None


def ttft_ms(request):
    """Returns the time from sending a request to its first token."""
    return (request["tokens"][0] - request["sent"]) / 1000


def tpot_ms(request):
    """Returns the time per token behind the first one, in the mean of the request; None: there is no second token."""
    return (request["tokens"][-1] - request["tokens"][0]) / 1000 / (request["got"] - 1) if request["got"] > 1 else None


def gaps_ms(request):
    return [(after - before) / 1000 for before, after in zip(request["tokens"], request["tokens"][1:])]


def times(requests):
    """Returns the lists `ttft`, `tpot` and `gap` in ms of the counted requests that were done."""
    done = [one for one in requests if one["counted"] and is_done(one)]
    return {"ttft": [ttft_ms(one) for one in done], "tpot": [found for one in done if (found := tpot_ms(one)) is not None],
            "gap": [gap for one in done for gap in gaps_ms(one)]}


def attained(requests, ttft, tpot):
    """Returns the part of the counted requests that were done and kept both times (ms). A request of one token keeps any TPOT."""
    counted = [one for one in requests if one["counted"]]
    good = [one for one in counted if is_done(one) and ttft_ms(one) <= ttft and (tpot_ms(one) or 0) <= tpot]
    return len(good) / len(counted) if counted else None


def attainment(requests, alone):
    """Returns the part attained by scale: both times at most SCALE times the 99th percentile of the row alone."""
    bars = [percentile(alone[key], 0.99) for key in ("ttft", "tpot")]
    return {str(scale): attained(requests, scale * bars[0], scale * bars[1]) for scale in SCALES} if None not in bars else None


def window(requests):
    """Returns (begin, end): from the arrival of the first counted request to that of the last one."""
    due = [one["due"] for one in requests if one["counted"]]
    return (min(due), max(due)) if due else None


def tokens_per_s(requests):
    """Returns the tokens of the counted requests that were done, per second from the first arrival to the last token."""
    done = [one for one in requests if one["counted"] and is_done(one)]
    if not done:
        return 0.0
    return sum(one["got"] for one in done) * 1e6 / (max(one["tokens"][-1] for one in done) - min(one["due"] for one in done))


def busy(requests):
    """Returns the busy periods [begin, end]: from a request's arrival at an idle engine until no request is in flight."""
    found = []
    for begin, end in sorted((one["due"], max(one["due"], *one["tokens"], one.get("ended", 0))) for one in requests):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def cut(periods, begin, end):
    """Returns the parts of the periods within [begin, end]."""
    return [[max(first, begin), min(last, end)] for first, last in periods if first < end and last > begin]


def length(periods):
    return sum(end - begin for begin, end in periods)


def idle(requests):
    """Returns the part of the window in which the engine has no request; None: all counted requests came at once."""
    begin, end = window(requests)
    return 1 - length(cut(busy(requests), begin, end)) / (end - begin) if end > begin else None


# --- of the neighbour ---

def progress(steps, begin, end):
    """Returns the steps between two moments, given the moments at which steps ended. A step counts evenly over its time."""
    def at(moment):
        number = bisect.bisect_right(steps, moment)
        if number in (0, len(steps)):
            return number
        return number + (moment - steps[number - 1]) / (steps[number] - steps[number - 1])
    return at(end) - at(begin)


def neighbour(steps, requests, per_s_alone):
    """Returns what the neighbour made in the window: steps per second, and parts of its speed alone, in all, while the engine
    had no request (`outside`) and while it had one (`inside`), and the part of the time that the engine had none (`idle`).

    A step is long beside a busy period, so that a step that was interrupted counts to both. A part is None without such time.
    """
    begin, end = window(requests)
    if end <= begin:
        return None
    taken = cut(busy(requests), begin, end)
    in_all, in_busy = progress(steps, begin, end), sum(progress(steps, *period) for period in taken)
    idle_us, busy_us = end - begin - length(taken), length(taken)
    alone = per_s_alone / 1e6  # steps in a microsecond

    def part(made, us):
        return round(made / (us * alone), 4) if us > 0.02 * (end - begin) else None
    return {"per_s": round(in_all * 1e6 / (end - begin), 4), "of_alone": part(in_all, end - begin),
            "outside": part(in_all - in_busy, idle_us), "inside": part(in_busy, busy_us), "idle": round(idle_us / (end - begin), 4)}
