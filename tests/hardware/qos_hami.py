#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures two tenants with caps of 30 and 70 % under nvqos, a case in which HAMi-core gave 21 and 25 iterations per second.

    qos_hami.py NVQOS KERNELS FOLDER [--seconds N] [--times N] [--kind KIND]

It needs root, an otherwise idle GPU, NVIDIA's driver, no module, and a minute and a half. KERNELS is the program of
kernels.cpp. Each time it runs one task alone, both as they are, both with caps, and one with its cap alone. Writes
FOLDER/qos_hami.json: rates, their ratio (3 : 7 is 0.429), and their parts of the rate alone. Ends with 1 if a part is above
its cap by more than a point, if the ratio is wrong by more than a tenth, or if a run failed.
"""

import argparse
import signal
import subprocess
import time

from common import bounded, counts, kind as kind_of, machine, record, run

CAPS = (30, 70)
REPORTED = {"of": "HAMi-core issue 314", "caps": [30, 70], "per_second": [21, 25], "ratio": round(21 / 25, 3)}
SETTLE_S = 2  # a cap is not kept in its first second


def measure(tasks, seconds):
    begin = time.monotonic_ns() + SETTLE_S * 1_000_000_000
    end = begin + int(seconds * 1e9)
    time.sleep(SETTLE_S + seconds)
    return [counts.rate(task.wait_past(end), begin, end) for task in tasks]


def row_of(asked, way, caps, count):
    """Returns a row for COUNT tasks. CAPS are of the first tasks; without caps nvqos does not run."""
    with bounded.tasks(*[([asked.kernels, asked.kind, "110"], bounded.without_mps())] * count) as tasks:
        if not caps:
            return {"way": way, "rates": [round(rate, 2) for rate in measure(tasks, asked.seconds)]}
        keeping = bounded.Keeping(asked.nvqos, *[f"{task.pid}=cap:{cap}%" for task, cap in zip(tasks, caps)])
        try:
            if keeping.refused is not None:
                return {"way": way, "failed": f"nvqos refused: {keeping.refused}"}
            rates = measure(tasks, asked.seconds)
            tenants = keeping.tenants()[-1][:len(caps)]
        finally:
            status = keeping.end()
    return {"way": way, "caps": list(caps), "rates": [round(rate, 2) for rate in rates],
            "nvqos_got_percent": [tenant["got_percent"] for tenant in tenants], "nvqos_status": status}


def judged(row, alone):
    """Returns a row with the ratio and the parts of the rate alone, and whether they are good."""
    if "failed" in row:
        return row | {"good": False}
    parts = [round(100 * rate / alone, 2) for rate in row["rates"]]
    row |= {"percent_of_alone": parts}
    if len(parts) == 2:
        row["ratio"] = round(parts[0] / parts[1], 3)
    if "caps" not in row:
        return row
    good = all(part <= cap + 1 for part, cap in zip(parts, row["caps"]))
    if len(parts) == 2:
        good = good and abs(row["ratio"] / (row["caps"][0] / row["caps"][1]) - 1) <= 0.1
    return row | {"good": good}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("nvqos", "kernels", "folder"):
        parser.add_argument(name, type=kind_of(name))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--kind", default="compute")
    asked = parser.parse_args()
    signal.alarm(int(asked.times * 4 * (asked.seconds + 20)) + 60)
    rows = []
    for number in range(asked.times):
        alone = None
        for way, caps, count in (("alone", (), 1), ("as it is", (), 2), ("caps", CAPS, 2), ("a cap alone", CAPS[:1], 1)):
            try:
                row = row_of(asked, way, caps, count)
                alone = alone or row["rates"][0]
            except (bounded.Late, subprocess.SubprocessError, OSError) as error:
                row = {"way": way, "failed": str(error)}
            if alone is None:
                row = {"way": way, "failed": row.get("failed", "the rate alone is not known")}
            rows.append({"time": number} | judged(row, alone))
            print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    record.write(asked.folder / "qos_hami.json", {
        "gpu": machine.gpu(*machine.CLOCKS), "kind": asked.kind, "seconds": asked.seconds, "reported": REPORTED,
        "ratio_of_caps": round(CAPS[0] / CAPS[1], 3), "runs": rows})
    return not all(row.get("good", True) for row in rows)


if __name__ == "__main__":
    run(main)
