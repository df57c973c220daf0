#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Compares `nvdebugctl record` and `top` with the counts of tasks and with timeslices, and measures the cost of recording.

    recording.py NVDEBUGCTL LOAD FOLDER

It needs root, an otherwise idle GPU, NVIDIA's driver, no module, and a minute. LOAD is the program of load.cpp. Writes
FOLDER/recording.json, and two seconds of three tasks as FOLDER/recording.ndjson. Ends with 1 if a share is wrong by 1 % or
more.
"""

import contextlib
import json
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time

from common import bounded, counts, record, run, words

TOOL, LOAD, FOLDER = words(__doc__, "nvdebugctl", "load", "folder")


def tool(*words, **options):
    done = subprocess.run([TOOL, "--from", "driver", *map(str, words)], capture_output=True, text=True, timeout=60,
                          check=False, **options)
    if done.returncode not in (0, 4):
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done


def loads(*how):
    return bounded.loads(LOAD, *how)


def gr0(summary):
    return next(engine for engine in summary["engines"] if engine["engine"] == "GR0")


def three_tasks(slices, seconds, keep=None):
    """Returns the recorded shares of three tasks, and the shares that the tasks counted in the same time."""
    with tempfile.TemporaryDirectory() as folder, loads(*[("counted", "60")] * 3) as tasks:
        for task, us in zip(tasks, slices):
            tool("task", "set", task.pid, "--timeslice", f"{us}us")
        time.sleep(0.5)
        path = pathlib.Path(folder) / "run.ndjson"
        summary = json.loads(tool("record", "--for", f"{seconds}s", "-o", path, "-j").stdout)["data"]
        time.sleep(0.2)
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        told = [task.lines() for task in tasks]
        if keep:
            keep.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    clocks = [line for line in lines if line["kind"] == "clock"]
    turns = [line for line in lines if line["kind"] == "turn" and line["engine"] == "GR0"]
    # The time goes from the first whole turn to the last one, by the host's clock.
    origin, = [line for line in lines if line["kind"] == "origin"]
    begin, end = (int(origin["monotonic_ns"]) + clocks[n]["monotonic_ns"] + turns[n]["begin_ns"] - clocks[n]["gpu_ns"] for n in (0, -1))
    counted = [counts.ended_by(each, end) - counts.ended_by(each, begin) for each in told]
    held = {task.pid: sum(turn["end_ns"] - turn["begin_ns"] for turn in turns[:-1] if turn["pid"] == task.pid)
            for task in tasks}
    engine = gr0(summary)
    rows = {row["pid"]: row for row in engine["holders"]}
    shares = [rows[task.pid]["share_percent"] for task in tasks]
    return {"timeslices_us": slices,
            "recorded_percent": [round(100 * share / sum(shares), 3) for share in shares],
            "with_saving_percent": [round(100 * held[task.pid] / sum(held.values()), 3) for task in tasks],
            "counted_percent": [round(100 * each / sum(counted), 3) for each in counted],
            "slices": [{key: rows[task.pid][key] for key in rows[task.pid] if key.startswith(("slice_", "away_"))}
                       for task in tasks],
            "tsgs": [rows[task.pid]["tsgs"] for task in tasks], "names": [rows[task.pid]["name"] for task in tasks],
            "joined": sum(turn["tsg"] is not None for turn in turns) / len(turns),
            "clock_drift_ns": (clocks[-1]["gpu_ns"] - clocks[0]["gpu_ns"])
            - (clocks[-1]["monotonic_ns"] - clocks[0]["monotonic_ns"]),
            "clock_within_ns": [clock["within_ns"] for clock in clocks],
            "switches": engine["switches"], "switch_median_us": engine["switch_median_us"],
            "saving_median_us": engine["saving_median_us"],
            "switching_percent": engine["switching_percent"], "unknown_percent": engine["unknown_percent"],
            "lost_switches": engine["lost_switches"], "cost_percent": summary["cost_percent"]}


def costs():
    """Yields the part of a core that recording takes, by form and by the number of switches per second."""
    with tempfile.TemporaryDirectory() as folder, loads(*[("tiny", "60")] * 4):
        for rate, form in ((0, None), (0, "ndjson"), (0, "csv"), (0, "pftrace"), (0, "html"), (10, None), (20, None)):
            words = ["-o", f"{folder}/run.{form}"] if form else []
            summary = json.loads(tool("record", "--for", "3s", "--rate", rate, "-j", *words).stdout)["data"]
            engine = gr0(summary)
            yield {"rate": rate, "form": form, "switches_per_second": round(engine["switches"] / summary["seconds"]),
                   "lost": engine["lost_switches"], "turns": summary["turns"], "cost_percent": summary["cost_percent"],
                   "slice_median_us": engine["holders"][0]["slice_median_us"],
                   "switch_median_us": engine["switch_median_us"]}
    for rate in (0, 20, 100, 1000):
        summary = json.loads(tool("record", "--for", "2s", "--rate", rate, "-j").stdout)["data"]
        yield {"rate": rate, "cost_percent": summary["cost_percent"],
               "missed": max((engine["missed_samples"] or 0 for engine in summary["engines"]), default=0)}


def copies():
    with loads(("copies", "20")) as (task,):
        summary = json.loads(tool("record", "--for", "2s", "--rate", 200, "-j").stdout)["data"]
        return [{"engine": engine["engine"], "held_percent": engine["held_percent"],
                 "holders": [(row["name"], row["pid"] == task.pid, row["share_percent"]) for row in engine["holders"]]}
                for engine in summary["engines"] if engine["holders"]]


def top():
    """Returns the screen of `top` after two seconds, as a terminal gets it, and its lines without a terminal."""
    with loads(*[("queue", "20")] * 2):
        master, slave = pty.openpty()
        text = b""
        with subprocess.Popen([TOOL, "--from", "driver", "top", "-s", "500", "-n", "4"], stdin=slave, stdout=slave,
                              stderr=slave, env={**os.environ, "TERM": "xterm", "LINES": "30", "COLUMNS": "150"}) as live:
            os.close(slave)
            while live.poll() is None:
                if select.select([master], [], [], 0.2)[0]:
                    with contextlib.suppress(OSError):
                        text += os.read(master, 65536)
        os.close(master)
        lines = tool("top", "-s", "500", "-n", "2").stdout
        return {"status": live.returncode, "bytes": len(text), "screen": text[-1500:].decode("utf-8", "replace"),
                "lines": lines}


def as_user():
    """Records as the user nobody, from whom the processes of other users are hidden."""
    with loads(*[("queue", "20")] * 2):
        done = subprocess.run([TOOL, "--from", "driver", "record", "--for", "1s", "-j"], capture_output=True, text=True,
                              timeout=60, check=False, user=65534, group=65534)
        return {"status": done.returncode, "err": done.stderr, "out": done.stdout[-1500:]}


def ends():
    """Yields how far turns are from whole numbers of timeslices, if another task ends them every 10 ms."""
    with loads(("queue", "20"), ("small", "20")) as (task, _), tempfile.TemporaryDirectory() as folder:
        for us in (500, 2000, 8000):
            tool("task", "set", task.pid, "--timeslice", f"{us}us")
            time.sleep(0.2)
            path = pathlib.Path(folder) / "run.ndjson"
            tool("record", "--for", "2s", "-o", path)
            turns = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if '"turn"' in line]
            lengths = [turn["end_ns"] - turn["begin_ns"] for turn in turns if turn["pid"] == task.pid and turn["whole"]]
            timeslice = us * 1024
            over = sorted(length % timeslice for length in lengths)
            yield {"timeslice_us": timeslice / 1000, "turns": len(lengths),
                   "timeslices": [min(lengths) // timeslice, max(lengths) // timeslice],
                   "over_us": [over[round((len(over) - 1) * part)] / 1000 for part in (0, 0.05, 0.5, 0.95, 1)]}


def marks():
    with loads(*[("queue", "20")] * 2) as (task, _), tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.ndjson"
        with subprocess.Popen([TOOL, "--from", "driver", "record", "--for", "2s", "-o", path]) as recording:
            time.sleep(0.7)
            tool("task", "set", task.pid, "--timeslice", "500us")
            recording.wait()
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        mark, = [line for line in lines if line["kind"] == "mark"]
        slices = {early: sorted(turn["end_ns"] - turn["begin_ns"] for turn in lines
                                if turn["kind"] == "turn" and turn["pid"] == task.pid and turn["whole"]
                                and (turn["end_ns"] < mark["ns"]) == early) for early in (True, False)}
        return {"text": mark["text"], "slices_us": [each[len(each) // 2] / 1000 for each in slices.values() if each]}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = {}
    wrong = False
    for name, work in {
            "three": lambda: [three_tasks((2048, 2048, 2048), 10), three_tasks((1000, 2000, 4000), 10),
                              three_tasks((1000, 2000, 4000), 1, FOLDER / "recording.ndjson")],
            "costs": lambda: list(costs()), "copies": copies, "ends": lambda: list(ends()), "marks": marks, "top": top, "user": as_user}.items():
        begin = time.monotonic()
        try:
            found[name] = work()
        except Exception as error:  # pylint: disable=broad-except # the other parts still run
            found[name] = f"failed: {error!r}"
            wrong = True
        print(f"{name}, {time.monotonic() - begin:.1f} s: {json.dumps(found[name], indent=1)}", flush=True)
        record.write(FOLDER / "recording.json", found)
    for row in found["three"] if isinstance(found["three"], list) else []:
        for recorded, counted in zip(row["recorded_percent"], row["counted_percent"]):
            if abs(recorded - counted) >= 1:
                print(f"recording.py: recorded {recorded} %, but the task counted {counted} %", file=sys.stderr)
                wrong = True
    return int(wrong)


if __name__ == "__main__":
    run(main)
