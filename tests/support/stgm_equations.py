# SPDX-License-Identifier: MIT OR GPL-2.0
"""A second implementation of the equations of docs/stgm-design.md, as the page and the paper print them, on a task set in
JSON. nvstgm's bounds are compared with it. Also makes small random task sets."""

import dataclasses
import itertools


@dataclasses.dataclass
class Task:
    row: dict
    rank: int

    def __post_init__(self):
        segments = [("cpu", segment["cpu"]) if "cpu" in segment else ("gpu", self._times(segment["gpu"]))
                    for segment in self.row["segments"]]
        self.cpu = sum(time for kind, time in segments if kind == "cpu")
        self.cpu_segments = sum(kind == "cpu" for kind, _ in segments)
        self.gpu = [times for kind, times in segments if kind == "gpu"]
        # A phase is a run of CPU segments, or a GPU segment that no CPU segment precedes.
        before = [None, *(kind for kind, _ in segments)]
        self.phases = sum(prior in (None, "gpu") for prior, _ in zip(before, segments))
        self.copies = sum(to + back for to, _, back in self.gpu)
        self.whole = sum(map(sum, self.gpu))
        self.copy = max((max(to, back) for to, _, back in self.gpu), default=0)
        self.both = max((to + back for to, _, back in self.gpu), default=0)
        self.kernel = max((kernel for _, kernel, _ in self.gpu), default=0)
        self.segment = max(map(sum, self.gpu), default=0)
        self.sms = set(self.row.get("sms", ()))

    def _times(self, gpu):
        kernel = gpu["kernel"] if isinstance(gpu["kernel"], list) else [gpu["kernel"]]
        return gpu.get("to_device", 0), kernel[min(len(self.row["sms"]), len(kernel)) - 1], gpu.get("from_device", 0)


def tasks_of(taskset):
    rows = taskset["tasks"]
    key = (lambda n: -rows[n]["priority"]) if "priority" in rows[0] else (lambda n: rows[n]["deadline"])
    order = sorted(range(len(rows)), key=key)
    return [Task(row, order.index(n)) for n, row in enumerate(rows)]


def _connected(task, tasks):
    found, new = [], [task]
    while new:
        one = new.pop()
        for other in tasks:
            if other is not task and other not in found and other.sms & one.sms:
                found.append(other)
                new.append(other)
    return found


def bounds(taskset, printed, waiting, copy_wait):
    """Returns for each task its response or None, and its blocking by copies, kernels and inversion."""
    tasks = tasks_of(taskset)
    busy = waiting == "busy"
    spins = copy_wait == "spin" and not busy and not printed
    found = [None] * len(tasks)

    def others(task, *, core):
        return [one for one in tasks if one is not task and one.gpu and (one.row["core"] == task.row["core"] or not core)]

    def far(task):
        by_core = {}
        for one in others(task, core=False):
            if one.row["core"] != task.row["core"]:
                by_core[one.row["core"]] = max(by_core.get(one.row["core"], 0), one.copy)
        return sum(by_core.values())

    def copy_wait_of(task):
        if not task.gpu:
            return 0
        return sum(one.copy for one in others(task, core=False))

    def kernel_wait(task):
        if printed:
            return sum(one.kernel for one in others(task, core=False) if one.sms & task.sms)
        return sum(one.kernel for one in _connected(task, tasks))

    def copies(task):
        if spins:
            return len(task.gpu) * (2 * far(task) + sum(one.copy + far(task) for one in others(task, core=True)))
        return 2 * len(task.gpu) * copy_wait_of(task)

    def inversion(task):
        lower = [one for one in others(task, core=True) if one.rank > task.rank]
        if busy and printed:
            return sum(one.segment for one in lower)
        if busy:
            return max((one.segment + 2 * copy_wait_of(one) + kernel_wait(one) for one in lower), default=0)
        if printed:
            return task.cpu_segments * sum(one.copy for one in lower)
        return task.phases * sum(one.both + (2 * far(one) if spins else 0) for one in lower)

    for task in sorted(tasks, key=lambda one: one.rank):
        blocking = copies(task), len(task.gpu) * kernel_wait(task), inversion(task)
        base = task.cpu + task.whole + sum(blocking)
        higher = [(one, found[tasks.index(one)][0]) for one in tasks
                  if one.rank < task.rank and one.row["core"] == task.row["core"]]
        response = base if busy or all(bound is not None for _, bound in higher) else None
        while response is not None:
            if response > task.row["deadline"]:
                response = None
                break
            window, following = response, base
            if task.gpu and not printed:
                window = max(window, 1)  # the job has to be dispatched before it can begin
            for one, bound in higher:
                if busy:
                    demand = one.cpu + one.whole + (sum(blocking) if printed
                                                    else copies(one) + len(one.gpu) * kernel_wait(one))
                    jitter = 0
                else:
                    demand = one.cpu + one.copies + (2 * len(one.gpu) * far(one) if spins else 0)
                    jitter = max(0, bound - demand)
                following += -(-(window + jitter) // one.row["period"]) * demand
            if following == response:
                break
            response = following
        found[tasks.index(task)] = (response, *blocking)
    return found


def random_set(random):
    """Returns a random task set with cores and SMs. Its times have a few ticks."""
    cores, sms = random.randint(1, 3), random.randint(1, 4)
    priorities = random.sample(range(6), 6) if random.random() < 0.3 else None
    tasks = []
    for n in range(random.randint(2, 6)):
        segments = []
        for _ in range(random.randint(1, 4)):
            if random.random() < 0.5:
                segments.append({"cpu": random.randint(0, 4)})
                continue
            kernel = random.choice([[random.randint(3, 6), random.randint(0, 3)], random.randint(0, 5)])
            copies = {"to_device": random.randint(0, 3), "from_device": random.randint(0, 3)}
            segments.append({"gpu": {"kernel": kernel, **(copies if random.random() < 0.9 else {})}})
        period = random.randint(20, 150)
        tasks.append({"name": chr(ord("a") + n), "period": period, "core": random.randrange(cores),
                      "deadline": period if random.random() < 0.6 else random.randint(15, period),
                      "segments": segments})
        if priorities:
            tasks[-1]["priority"] = priorities[n]
        if any("gpu" in segment for segment in segments):
            tasks[-1]["sms"] = sorted(random.sample(range(sms), random.randint(1, sms // 2 + (sms == 1))))
    return {"schema": "nvstgm/taskset", "schema_version": "1.0", "time_unit": "tick", "cores": cores, "sms": sms,
            "tasks": tasks}


WAITS = tuple(itertools.product(("suspend", "busy"), ("suspend", "spin")))
