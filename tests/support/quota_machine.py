# SPDX-License-Identifier: MIT OR GPL-2.0
"""A second implementation of the quota machine, which is slow and plain. lab/quotas is compared with it. Each cycle
examines every offer, numbers are fractions, and no code is shared with the C++. docs/quotas.md has the rules."""

import math
from fractions import Fraction

DEFAULTS = {"alpha": None, "neg_boundary": None, "refill": "add", "refill_trigger": "all", "absent": "exempt",
            "search_op": "product", "search_base": "achieved", "search_alpha": "new", "search_floor": "1",
            "init_ipc": "1", "cap": True, "hist": "cumulative", "alpha_max": None, "round": "largest",
            "charge": "issue", "check": "snapshot", "elastic_scope": "sm", "rollover_cap": None,
            "rollover_scope": "sm", "latency": 0}


def number(value):
    """Returns exactly the decimal number that is written."""
    return Fraction(str(value))


def divided(total, weights):
    """Divides a total by the largest remainders. In a tie the first one gets more."""
    everything = sum(weights)
    if not everything:
        return [0] * len(weights)
    exact = [Fraction(total * weight, everything) for weight in weights]
    parts = [math.floor(one) for one in exact]
    by_rest = sorted(range(len(weights)), key=lambda n: (parts[n] - exact[n], n))
    for n in by_rest[:total - sum(parts)]:
        parts[n] += 1
    return parts


class Replay:
    def __init__(self, case):
        self.scheme = case["scheme"]
        self.readings = {**DEFAULTS, **{key: value for key, value in case.get("readings", {}).items()
                                        if value is not None}}
        given = case["input"]
        self.sms, self.slots, self.time = given["S"], given["W"], given["T"]
        self.kernels, self.spans = given["kernels"], given["epochs"]
        self.all_sms, self.all_kernels = range(self.sms), range(len(self.kernels))
        self.pairs = [(s, k) for s in self.all_sms for k in self.all_kernels]
        self.qos = [k for k in self.all_kernels if self.kernels[k]["qos"]]
        self.wanted = {k: number(self.kernels[k]["goal"]) for k in self.qos}
        self.peak = self.sms * self.slots * 32
        self.allocated = {(s, k): self.row(self.kernels[k].get("tbs", 1))[s] for s, k in self.pairs}
        self.counter = dict.fromkeys(self.pairs, 0)
        self.gone = set()
        self.flying = []  # (cycle, sm, kernel, lanes)
        self.epochs = []
        self.done = []  # length of each epoch that ended, and what each kernel used
        self.launch = {}  # kernel: the epoch in which it first had a block

    def row(self, given):
        return given if isinstance(given, list) else [given] * self.sms

    def is_on(self, name, value):
        return self.readings[name] == value

    def there(self, sm, kernel):
        return self.allocated[sm, kernel] > 0 and (sm, kernel) not in self.gone

    # --- boundaries ---

    def alpha(self, kernel):
        on = self.readings["alpha"]
        if kernel not in self.qos or not (self.scheme != "naive" if on is None else on):
            return Fraction(1)
        past = self.done[self.launch.get(kernel, len(self.done)):]
        if not self.is_on("hist", "cumulative"):
            past = past[-int(number(self.readings["hist"])):]
        if not past:
            return Fraction(1)
        instructions, cycles = sum(used[kernel] for _, used in past), sum(length for length, _ in past)
        ratio = (Fraction(cycles, instructions) * self.wanted[kernel] if instructions
                 else self.peak / self.wanted[kernel])
        if self.readings["alpha_max"] is not None:
            ratio = min(ratio, number(self.readings["alpha_max"]))
        return max(ratio, Fraction(1))

    def goals(self, alphas):
        goals = dict(self.wanted)
        others = [k for k in self.all_kernels if k not in self.qos]
        if not self.done:
            return {**goals, **{k: number(self.readings["init_ipc"]) for k in others}}
        length, used = self.done[-1]
        by = {"new": alphas, "prev": self.epochs[-1]["alpha"], "none": [1] * len(self.kernels)}[
            self.readings["search_alpha"]]
        ratios = [Fraction(used[k], length) / (by[k] * self.wanted[k]) for k in self.qos]
        factor = Fraction(1)
        if ratios:
            factor = {"product": math.prod, "min": min, "sum": sum,
                      "mean": lambda all_of: Fraction(sum(all_of), len(all_of))}[self.readings["search_op"]](ratios)
        for k in others:
            base = Fraction(used[k], length) if self.is_on("search_base", "achieved") else self.epochs[-1]["goal"][k]
            goals[k] = max(number(self.readings["search_floor"]), base * factor)
        return goals

    def quotas(self, kernel, amount):
        blocks = [self.allocated[s, kernel] for s in self.all_sms]
        if self.readings["cap"]:
            amount = min(amount, Fraction(self.peak * self.time))
        if self.is_on("round", "largest"):
            return divided(math.ceil(amount), blocks)
        if not sum(blocks):
            return [0] * self.sms
        rounded = {"floor": math.floor, "ceil": math.ceil,
                   "nearest": lambda x: math.floor(x + Fraction(1, 2))}[self.readings["round"]]
        return [rounded(amount * one / sum(blocks)) for one in blocks]

    def rests(self, kernel, quota, early):
        """Returns the rests of the counters, before new quotas are added."""
        old = [self.counter[s, kernel] for s in self.all_sms]
        positive, negative = [max(one, 0) for one in old], [min(one, 0) for one in old]
        rolls = self.scheme in ("rollover", "rollover_time")
        carries = {None: rolls, "carry": True, "forgive": False}[self.readings["neg_boundary"]]
        if early or carries:
            debts = negative
        else:
            debts = [0] * self.sms
        if not rolls or kernel not in self.qos or early:
            return debts
        blocks = [self.allocated[s, kernel] for s in self.all_sms]
        if self.is_on("rollover_scope", "pool") and sum(blocks):
            positive = divided(sum(positive), blocks)
        if self.readings["rollover_cap"] is not None:
            most = number(self.readings["rollover_cap"])
            positive = [min(one, math.floor(most * quota[s])) for s, one in enumerate(positive)]
        return [plus + minus for plus, minus in zip(positive, debts)]

    def close(self, cycle):
        epoch = self.epochs[-1]
        epoch["length"] = cycle - epoch["first_cycle"]
        epoch["C_end"] = dict(self.counter)
        self.done.append((epoch["length"], [sum(epoch["used"][s, k] for s in self.all_sms) for k in self.all_kernels]))

    def boundary(self, cycle, early):
        if self.epochs:
            self.close(cycle)
        self.gone = set()
        alphas = [self.alpha(k) for k in self.all_kernels]
        goals = self.goals(alphas)
        epoch = {"first_cycle": cycle, "alpha": alphas, "goal": [goals[k] for k in self.all_kernels], "quota": {}}
        for what in ("issued", "refused", "used", "refills"):
            epoch[what] = dict.fromkeys(self.pairs, 0)
        for k in self.all_kernels:
            quota = self.quotas(k, alphas[k] * goals[k] * self.time)
            rests = self.rests(k, quota, early)
            for s in self.all_sms:
                epoch["quota"][s, k] = quota[s]
                self.counter[s, k] = quota[s] + rests[s]
                if self.allocated[s, k]:
                    self.launch.setdefault(k, len(self.done))
        epoch["C_start"] = dict(self.counter)
        self.epochs.append(epoch)

    # --- cycles ---

    def offers_at(self, span, at):
        for offer in span.get("offers", []):
            start, every = offer.get("from", 0), offer.get("every", 1)
            if start <= at < offer.get("to", self.time) and (at - start) % every == 0:
                lanes = offer["lanes"]
                if isinstance(lanes, list):
                    lanes = lanes[(at - start) // every % len(lanes)]
                for s in self.all_sms if offer["sm"] == "all" else [offer["sm"]]:
                    for _ in range(offer.get("count", 1)):
                        yield s, offer["k"], lanes

    def may_issue(self, sm, kernel, seen):
        if not self.there(sm, kernel) or seen[sm, kernel] <= 0:
            return False
        if self.scheme == "rollover_time" and kernel not in self.qos:
            return all(seen[sm, k] <= 0 for k in self.qos if self.there(sm, k))
        return True

    def charge(self, sm, kernel, lanes):
        self.counter[sm, kernel] -= lanes
        self.epochs[-1]["used"][sm, kernel] += lanes

    def refill(self, sm):
        looked_at = [k for k in self.all_kernels if self.there(sm, k) or self.is_on("absent", "counts")]
        spent = {k: self.counter[sm, k] <= 0 for k in self.all_kernels}
        all_spent, qos_spent = all(spent[k] for k in looked_at), all(spent[k] for k in looked_at if k in self.qos)
        for k in self.all_kernels:
            if not self.there(sm, k) or (k in self.qos and self.scheme != "elastic"):
                continue
            if {"all": all_spent, "own": qos_spent and spent[k], "qos": qos_spent}[self.readings["refill_trigger"]]:
                quota = self.epochs[-1]["quota"][sm, k]
                self.counter[sm, k] = quota + (self.counter[sm, k] if self.is_on("refill", "add") else 0)
                self.epochs[-1]["refills"][sm, k] += quota != 0

    def run(self):
        gpu_wide = self.scheme == "elastic" and self.is_on("elastic_scope", "gpu")
        serial, late = self.is_on("check", "serial"), self.is_on("charge", "complete")
        early, cycle = False, 0
        for span in self.spans:
            if span.get("tbs") is not None:
                rows = [self.row(one) for one in span["tbs"]]
                waiting = {(s, k): rows[k][s] for s, k in self.pairs}
            else:
                waiting = None
            for at in range(self.time):
                if not self.epochs or early or cycle - self.epochs[-1]["first_cycle"] == self.time:
                    if waiting:
                        self.allocated, waiting = waiting, None
                    self.boundary(cycle, early)
                for leaves in span.get("exits", []):
                    if leaves["at"] == at:
                        self.gone.add((leaves["sm"], leaves["k"]))
                left = dict.fromkeys(self.all_sms, self.slots)
                at_start = dict(self.counter)
                for s, k, lanes in self.offers_at(span, at):
                    if not left[s] or not self.may_issue(s, k, self.counter if serial else at_start):
                        self.epochs[-1]["refused"][s, k] += 1
                        continue
                    left[s] -= 1
                    self.epochs[-1]["issued"][s, k] += 1
                    if late:
                        self.flying.append((cycle + int(number(self.readings["latency"])), s, k, lanes))
                    else:
                        self.charge(s, k, lanes)
                for landed in [one for one in self.flying if one[0] == cycle]:
                    self.flying.remove(landed)
                    self.charge(*landed[1:])
                early = False
                if gpu_wide:
                    on = [pair for pair in self.pairs if self.there(*pair)]
                    looked_at = self.pairs if self.is_on("absent", "counts") else on
                    early = bool(on) and all(self.counter[pair] <= 0 for pair in looked_at)
                else:
                    for s in self.all_sms:
                        self.refill(s)
                cycle += 1
        if self.epochs:
            self.close(cycle)
        return [self.printed(epoch) for epoch in self.epochs]

    def printed(self, epoch):
        return {"first_cycle": epoch["first_cycle"], "length": epoch["length"],
                "alpha": [str(one) for one in epoch["alpha"]], "goal": [str(one) for one in epoch["goal"]],
                **{what: [[epoch[what][s, k] for k in self.all_kernels] for s in self.all_sms]
                   for what in ("quota", "C_start", "C_end", "issued", "refused", "used", "refills")}}


def replay(case):
    """Returns the epochs of a case."""
    return Replay(case).run()
