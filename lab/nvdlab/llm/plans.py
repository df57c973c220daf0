# SPDX-License-Identifier: MIT OR GPL-2.0
"""The requests of a run: when they arrive, their prompts and the number of tokens that they ask for. Pure functions."""

import math
import random

ARRIVALS = {"poisson": 1.0, "bursts": 4.0}  # the coefficient of variation of the times between requests
LOWEST_TOKEN = 1000                         # smaller numbers may be special tokens
MOST = 100_000                              # requests of a run, so that a wrong rate cannot fill the memory


def rate_for(load, request_s):
    """Returns the requests per second with which an engine has a request for a part LOAD of the time.

    Requests arrive at random and take REQUEST_S each, however many there are: then no request is there for
    exp(-rate * request_s) of the time.
    """
    return -math.log(1 - load) / request_s


def corrected(load, rate, idle):
    """Returns the rate for LOAD, after a trial with RATE in which the engine had no request for the part IDLE of the time.

    A request takes longer in a batch than alone, so that a rate by the time of one request alone is too high. The trial shows
    how long a request takes at such a rate.
    """
    return rate_for(load, -math.log(min(max(idle, 0.02), 0.98)) / rate)


def gaps(arrivals, rate, seed):
    """Yields the times between requests in seconds: exponential, or of a gamma distribution with the same mean."""
    draw, shape = random.Random(seed), ARRIVALS[arrivals] ** -2
    while True:
        yield draw.gammavariate(shape, 1 / (rate * shape))


def prompt(seed, tokens, vocabulary):
    draw = random.Random(seed)
    return [draw.randrange(LOWEST_TOKEN % vocabulary, vocabulary) for _ in range(tokens)]


def plan(arrivals, rate, seed, counted, settle_s, shape):
    """Returns the requests of a run, in the order of their arrival.

    @param counted is how many requests count. Others come for SETTLE_S before them, and for a tenth of their number behind
    them, so that the first and the last counted request meet the same load as all others.
    @param shape has `prompt`, `output` (smallest and largest number of tokens) and `vocabulary`
    """
    between, size, behind = gaps(arrivals, rate, seed), random.Random(-seed), math.ceil(counted / 10)
    found, due, left = [], 0.0, counted + behind
    while left and len(found) < MOST:
        due += next(between)
        counts = due >= settle_s and left > behind
        left -= due >= settle_s
        found.append({"due_s": due, "prompt": prompt(seed * MOST + len(found), shape["prompt"], shape["vocabulary"]),
                      "output": size.randint(*shape["output"]), "counted": counts})
    return found


def closed(count, seed, shape):
    """Returns requests that do not arrive by a clock: the client keeps a number of them in flight."""
    size = random.Random(-seed)
    return [{"due_s": 0.0, "prompt": prompt(seed * MOST + number, shape["prompt"], shape["vocabulary"]),
             "output": size.randint(*shape["output"]), "counted": True} for number in range(count)]
