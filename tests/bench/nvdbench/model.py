# SPDX-License-Identifier: MIT OR GPL-2.0
"""Counts the accesses that the model answers in a second."""

from . import programs, table

TITLE = "Accesses that the model answers in a second (titan-v)"


def measure():
    return [_row(*run["name"].split("/")[:3], run["items_per_second"])
            for run in programs.run("model_accesses")]


def _row(through, workload, what, per_second):
    return {"through": through, "workload": workload, "reads_of": what,
            "reads_per_s": round(per_second)}


def text(rows):
    return table.text(rows)
