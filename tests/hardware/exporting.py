#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvdebug-exporter on a real GPU: its metrics against what tasks count themselves; what it costs.

    exporting.py EXPORTER NVDEBUGCTL LOAD FOLDER

As root, on an otherwise idle GPU, with NVIDIA's driver and without the module, in a minute. LOAD is load.cpp,
built. Writes FOLDER/exporting.json, and an answer as FOLDER/metrics.txt. Ends with 1 if a share is wrong by 1 % or more,
or something is missing.
"""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

from common import ended_by, loads, records, what_it_counted

EXPORTER, TOOL, LOAD, FOLDER = *sys.argv[1:4], pathlib.Path(sys.argv[4])
PORT = 19745
SLICES_US = (1000, 2000, 4000)
SECONDS = 10


def answer():
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=30) as response:
        return response.read().decode()


def values(text, name):
    """{labels: value}"""
    rows = re.findall(rf"^{name}{{(.*?)}} (\S+)$", text, re.MULTILINE)
    return {tuple(re.findall(r'(\w+)="(.*?)"', labels)): float(value) for labels, value in rows}


def of_pid(text, name, pid):
    return sum(value for labels, value in values(text, name).items() if dict(labels).get("pid") == str(pid))


@contextlib.contextmanager
def exporter():
    with subprocess.Popen([EXPORTER, "--from", "driver", "--gpu-labels", "uuid,product",
                           "--listen", f"127.0.0.1:{PORT}"]) as process:
        try:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    answer()
                    break
                time.sleep(0.1)
            yield process
        finally:
            process.terminate()


def processor_s(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def labels():
    """Of each series of a GPU, against what nvidia-smi prints."""
    uuid, product = subprocess.run(["nvidia-smi", "--id=0", "--query-gpu=uuid,name", "--format=csv,noheader"], check=True,
                                   capture_output=True, text=True, timeout=30).stdout.strip().split(", ")
    with exporter():
        text = answer()
    of_gpu = [line for line in text.splitlines() if 'gpu="0"' in line]
    return {"uuid": uuid, "product": product, "series": len(of_gpu),
            "with_both": sum(f'uuid="{uuid}"' in line and f'product="{product}"' in line for line in of_gpu)}


def shares():
    with loads(LOAD, *[("counted", "60")] * 3) as tasks, exporter() as process:
        for task, us in zip(tasks, SLICES_US):
            subprocess.run([TOOL, "--from", "driver", "task", "set", str(task.pid), "--timeslice", f"{us}us"], check=True,
                           stdout=subprocess.DEVNULL)
        time.sleep(1)
        looks = []
        for _ in range(2):
            before, spent = time.monotonic_ns(), processor_s(process)
            text = answer()
            looks.append(((before + time.monotonic_ns()) // 2, text, spent, time.monotonic_ns() - before))
            time.sleep(SECONDS)
        (begin, first, spent, _), (end, last, spent_then, took) = looks
        held = [of_pid(last, "nvdebug_task_gpu_seconds_total", task.pid)
                - of_pid(first, "nvdebug_task_gpu_seconds_total", task.pid) for task in tasks]
        told = {name: [of_pid(last, name, task.pid) for task in tasks] for name in (
            "nvdebug_task_timeslice_seconds", "nvdebug_task_channels", "nvdebug_task_slice_seconds_count",
            "nvdebug_task_saving_seconds_total", "nvdebug_task_away_seconds_total")}
        counted = [ended_by(each, end) - ended_by(each, begin) for each in map(what_it_counted, tasks)]
    (FOLDER / "metrics.txt").write_text(last, encoding="utf-8")
    return {"timeslices_us": SLICES_US, "exported_percent": [round(100 * each / sum(held), 3) for each in held],
            "counted_percent": [round(100 * each / sum(counted), 3) for each in counted],
            "of_the_time_percent": round(100 * sum(held) / ((end - begin) / 1e9), 3), **told,
            "lost": sum(values(last, "nvdebug_switches_lost_total").values()),
            "errors": sum(values(last, "nvdebug_read_errors_total").values()),
            "switch_seconds": {str(dict(labels).get("quantile")): value
                               for labels, value in values(last, "nvdebug_switch_seconds").items()},
            "busy": {dict(labels)["engine"]: value
                     for labels, value in values(last, "nvdebug_engine_busy_seconds_total").items() if value},
            "bytes": len(last), "answer_ms": round(took / 1e6, 2),
            "cost_percent": round((spent_then - spent) / ((end - begin) / 1e9) * 100, 3)}


def storm():
    """Two hundred scrapes, fifty at a time, of four tasks that switch often."""
    with loads(LOAD, *[("tiny", "60")] * 4), exporter() as process, concurrent.futures.ThreadPoolExecutor(50) as pool:
        time.sleep(1)
        begin, spent = time.monotonic(), processor_s(process)
        texts = list(pool.map(lambda _: answer(), range(200)))
        took, spent = time.monotonic() - begin, processor_s(process) - spent
        return {"seconds": round(took, 3), "processor_seconds": round(spent, 3),
                "whole": sum(re.search(r'^nvdebug_up{gpu="0"[^}]*} 1$', text, re.MULTILINE) is not None for text in texts),
                "lost": sum(values(texts[-1], "nvdebug_switches_lost_total").values())}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, work in {"labels": labels, "shares": shares, "storm": storm}.items():
        try:
            found[name] = work()
        except Exception as error:  # pylint: disable=broad-except # the rest is worth having all the same
            found[name] = f"failed: {error!r}"
        print(f"{name}: {json.dumps(found[name], indent=1)}", flush=True)
    (FOLDER / "exporting.json").write_text(records(found) + "\n", encoding="utf-8")
    if any(isinstance(part, str) for part in found.values()):
        return 1
    wrong = [(exported, counted) for exported, counted in zip(found["shares"]["exported_percent"],
                                                              found["shares"]["counted_percent"])
             if abs(exported - counted) >= 1]
    for exported, counted in wrong:
        print(f"exporting.py: exported {exported} %, but the task counted {counted} %", file=sys.stderr)
    unlabelled = found["labels"]["series"] - found["labels"]["with_both"]
    if unlabelled:
        print(f"exporting.py: {unlabelled} series are without the GPU's UUID and product", file=sys.stderr)
    return int(bool(wrong) or unlabelled > 0 or found["storm"]["whole"] != 200)


if __name__ == "__main__":
    sys.exit(main())
