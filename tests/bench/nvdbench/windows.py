# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures what nvqos costs while two jobs on the same GPUs have windows, over a stand-in for NVIDIA's driver. Takes root."""

import os
import pathlib
import re
import sys
import tempfile
import time

from nvdvm import paths
from nvdvm.errors import VmError

from . import table

TITLE = "Windows of two jobs that always have work, over a stand-in for NVIDIA's driver (with the stand-in's own work)"
SECONDS, SETTLE_S = 5, 2.5  # windows have their length once it is known how often the jobs give way
TASKS = 2


def used(pid):
    """Returns how often the threads of a process have woken up, and their processor time in ns."""
    wakes = time_ns = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        wakes += int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", (thread / "status").read_text(encoding="ascii"))[1])
        time_ns += int((thread / "schedstat").read_text(encoding="ascii").split()[0])
    return wakes, time_ns


def row(support, gpus):
    with tempfile.TemporaryDirectory() as folder:
        machine = support.Machine(pathlib.Path(folder))
        machine.variables["NVQOS_STAND_IN_GPUS"] = str(gpus)
        tasks = [machine.process(gpus=range(gpus)) for _ in range(TASKS)]
        try:
            machine.start("--quiet", *(f"{task.pid}=best-effort" for task in tasks))
            if not support.comes_true(lambda: all(support.rows(machine).get((gpu, str(task.pid)), {}).get("gang") is True
                                                  for task in tasks for gpu in range(gpus))):
                raise VmError(f"the jobs got no windows: {machine.errors()}")
            time.sleep(SETTLE_S)

            def seen():
                requests = sum(len(machine.changes(task.pid, gpu)) for task in tasks for gpu in range(gpus))
                return (requests, *map(sum, zip(*map(used, [machine.nvqos.pid, *support.keepers(machine.folder)]))))
            before, since = seen(), time.monotonic()
            time.sleep(SECONDS)
            requests, wakes, time_ns = (after - earlier for after, earlier in zip(seen(), before))
            length = time.monotonic() - since
            return {"gpus": gpus, "requests_per_second": requests / length, "wakes_per_second": wakes / length,
                    "percent_of_a_core": time_ns / length / 1e7}
        finally:
            for process in machine.started:
                process.kill()
                process.wait()


def measure():
    if os.geteuid():
        raise VmError("the part 'windows' takes root, as nvqos does")
    sys.path.insert(0, str(paths.ROOT / "tests/support"))
    import qos_machine  # pylint: disable=import-outside-toplevel,import-error
    return [row(qos_machine, gpus) for gpus in (2, 4)]


def text(rows):
    return table.text(rows)
