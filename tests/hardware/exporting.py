#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Compares the metrics of nvdebug-exporter with the counts of tasks, and measures the cost of scrapes.

    exporting.py EXPORTER NVDEBUGCTL LOAD FOLDER

It needs root, an otherwise idle GPU, NVIDIA's driver, no module, and a minute. LOAD is the program of load.cpp. Writes
FOLDER/exporting.json, and an answer as FOLDER/metrics.txt. Ends with 1 if a share is wrong by 1 % or more, or if a metric
is missing.
"""

import concurrent.futures
import contextlib
import json
import re
import subprocess
import sys
import time
import urllib.request

from common import bounded, counts, machine, record, run, words

EXPORTER, TOOL, LOAD, FOLDER = words(__doc__, "exporter", "nvdebugctl", "load", "folder")
PORT = 19745
SLICES_US = (1000, 2000, 4000)
SECONDS = 10


def answer():
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=30) as response:
        return response.read().decode()


def values(text, name):
    """Returns the values of a metric, by their labels."""
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


def labels():
    """Returns how many series of the GPU there are, and how many have the UUID and the product that nvidia-smi prints."""
    uuid, product = machine.ask_gpu("uuid", "name")
    with exporter():
        text = answer()
    of_gpu = [line for line in text.splitlines() if 'gpu="0"' in line]
    return {"uuid": uuid, "product": product, "series": len(of_gpu),
            "with_both": sum(f'uuid="{uuid}"' in line and f'product="{product}"' in line for line in of_gpu)}


def shares():
    with bounded.loads(LOAD, *[("counted", "60")] * 3) as tasks, exporter() as process:
        for task, us in zip(tasks, SLICES_US):
            subprocess.run([TOOL, "--from", "driver", "task", "set", str(task.pid), "--timeslice", f"{us}us"], check=True,
                           stdout=subprocess.DEVNULL)
        time.sleep(1)
        looks = []
        for _ in range(2):
            before, spent = time.monotonic_ns(), bounded.processor_s(process.pid)
            text = answer()
            looks.append(((before + time.monotonic_ns()) // 2, text, spent, time.monotonic_ns() - before))
            time.sleep(SECONDS)
        (begin, first, spent, _), (end, last, spent_then, took) = looks
        held = [of_pid(last, "nvdebug_task_gpu_seconds_total", task.pid)
                - of_pid(first, "nvdebug_task_gpu_seconds_total", task.pid) for task in tasks]
        told = {name: [of_pid(last, name, task.pid) for task in tasks] for name in (
            "nvdebug_task_timeslice_seconds", "nvdebug_task_channels", "nvdebug_task_slice_seconds_count",
            "nvdebug_task_saving_seconds_total", "nvdebug_task_away_seconds_total")}
        counted = [counts.ended_by(each, end) - counts.ended_by(each, begin) for each in (task.lines() for task in tasks)]
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
    """Measures 200 scrapes, 50 at a time, of four tasks that switch often."""
    with bounded.loads(LOAD, *[("tiny", "60")] * 4), exporter() as process, concurrent.futures.ThreadPoolExecutor(50) as pool:
        time.sleep(1)
        begin, spent = time.monotonic(), bounded.processor_s(process.pid)
        texts = list(pool.map(lambda _: answer(), range(200)))
        took, spent = time.monotonic() - begin, bounded.processor_s(process.pid) - spent
        return {"seconds": round(took, 3), "processor_seconds": round(spent, 3),
                "whole": sum(re.search(r'^nvdebug_up{gpu="0"[^}]*} 1$', text, re.MULTILINE) is not None for text in texts),
                "lost": sum(values(texts[-1], "nvdebug_switches_lost_total").values())}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, work in {"labels": labels, "shares": shares, "storm": storm}.items():
        try:
            found[name] = work()
        except Exception as error:  # pylint: disable=broad-except # the other parts still run
            found[name] = f"failed: {error!r}"
        print(f"{name}: {json.dumps(found[name], indent=1)}", flush=True)
    record.write(FOLDER / "exporting.json", found)
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
    run(main)
