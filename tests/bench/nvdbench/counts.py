# SPDX-License-Identifier: MIT OR GPL-2.0
"""Counts of the models while a command runs in the guest."""


def of_each(machine, command):
    """Returns the counts of each GPU, in the order of slots."""
    for model in machine.models:
        model.request("stats", "reset")
    machine.check(command)
    return [_summary(model.request("stats")["bars"]) for model in machine.models]


def accesses(counts):
    return counts["reads"] + counts["writes"]


def _summary(bars):
    def total(*keys):
        return sum(bar[key] for bar in bars.values() for key in keys)

    by_bar = {f"bar{number}": sum(bars[number][key] for key in ("reads", "writes"))
              if number in bars else 0 for number in "012"}
    return {"reads": total("reads"), "writes": total("writes"),
            "bytes": total("read_bytes", "write_bytes"), **by_bar}
