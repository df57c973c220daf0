# SPDX-License-Identifier: MIT OR GPL-2.0
"""Task sets that `nvstgm run` runs, and its process."""

import contextlib
import json
import subprocess

import building
import ctl

PATIENCE_S = 120
MS, SECOND = 1000, 1_000_000


def program():
    return building.built("bin/nvstgm")


def cpu(us):
    return {"cpu": us}


def gpu(to_device, kernel, from_device):
    return {"gpu": {"to_device": to_device, "kernel": kernel, "from_device": from_device}}


def task(name, period, *segments, core=0, sms=()):
    return {"name": name, "period": period, "deadline": period, "segments": list(segments), "core": core,
            "sms": list(sms)}


def taskset(*tasks, **more):
    return {"schema": "nvstgm/taskset", "schema_version": "1.0", "time_unit": "us", "cores": 2, "sms": 8,
            "tasks": list(tasks)} | more


# All tasks have one core, so that one CPU is enough.
THREE = taskset(
    task("camera", 250 * MS, cpu(300), gpu(300, 5 * MS, 200), sms=(0, 1)),
    task("lidar", 400 * MS, gpu(500, 8 * MS, 200), gpu(0, 4 * MS, 300), cpu(200), sms=(1, 2)),
    task("planner", 500 * MS, cpu(2 * MS)))


@contextlib.contextmanager
def running(what, *words, env=None, prefix=()):
    with subprocess.Popen([*prefix, program(), "run", "-", *map(str, words)], env=env, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            process.stdin.write(json.dumps(what))
            process.stdin.close()
            process.stdin = None
            yield process
        finally:
            process.kill()


def ended(process):
    out, err = process.communicate(timeout=PATIENCE_S)
    return ctl.Result(process.returncode, out, err)


def run(what, *words, **how):
    with running(what, *words, **how) as process:
        return ended(process)
