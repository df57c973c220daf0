# SPDX-License-Identifier: MIT OR GPL-2.0
"""The time that the library takes to parse a list."""

from . import programs, table

TITLE = "Time that the library takes to parse a list"


def measure():
    return [{"file": run["name"].split("/")[1], "channels": int(run["name"].split("/")[2]),
             "microseconds": run["cpu_time"], "ns_per_channel": run["per_channel"] * 1e9,
             "MiB_per_s": run["bytes_per_second"] / 2**20}
            for run in programs.run("lib_parse")]


def text(rows):
    return table.text(rows)
