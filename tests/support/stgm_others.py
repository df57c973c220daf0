# SPDX-License-Identifier: MIT OR GPL-2.0
"""A second implementation of the other analyses of docs/stgm-design.md, as the page and the papers define them: mpcp, fmlp,
server, federated and timeslice. nvstgm's bounds are compared with it."""

import dataclasses

import stgm_equations

ANALYSES = ("mpcp", "fmlp", "server", "federated", "timeslice")


def least(base, sources, deadline, window=0):
    """Returns the least W = base + Σ ⌈(W + jitter) / period⌉ demand, or None if it exceeds the deadline."""
    found = base
    while found <= deadline:
        following = base + sum(-(-(max(found, window) + jitter) // period) * demand for demand, period, jitter in sources)
        if following == found:
            return found
        found = following
    return None


@dataclasses.dataclass
class System:
    taskset: dict
    method: str
    busy: bool
    spin: bool
    overhead: int = 0
    server_core: int = 0
    timeslice: int = 1

    def __post_init__(self):
        rows = [{**row, "sms": row.get("sms") or list(range(self.taskset["sms"]))} for row in self.taskset["tasks"]]
        self.tasks = stgm_equations.tasks_of({**self.taskset, "tasks": rows})
        self.server = self.method == "server"
        self.locks = self.method in ("mpcp", "fmlp", "server")
        self.server_spins, self.busy = self.busy, self.busy and not self.server
        self.spin = self.spin and not self.busy and not self.locks

    def others(self, task, *, near=None):
        """Returns the other tasks with GPU segments. near=True or False selects tasks on the same core, or on other
        cores."""
        return [one for one in self.tasks if one is not task and one.gpu and
                near in (None, one.row["core"] == task.row["core"])]

    def one_per_core(self, task, what):
        longest = {}
        for one in self.others(task, near=False):
            longest[one.row["core"]] = max(longest.get(one.row["core"], 0), what(one))
        return sum(longest.values())

    def far(self, task):
        return self.one_per_core(task, lambda one: one.copy)

    def copies(self, task):
        if self.locks or not task.gpu:
            return 0
        if self.spin:
            return len(task.gpu) * (2 * self.far(task) +
                                    sum(one.copy + self.far(task) for one in self.others(task, near=True)))
        return 2 * len(task.gpu) * sum(one.copy for one in self.others(task))

    def before(self, task):
        """Returns the requests that get the lock before a task's request: the longest one of lower priority, and the
        sources of higher priority."""
        rivals = self.others(task, near=False if self.busy else None)
        more = self.overhead if self.server else 0
        return (max((one.segment + more for one in rivals if one.rank > task.rank), default=0),
                [(one.whole + more * len(one.gpu), one.row["period"], one.row["deadline"])
                 for one in rivals if one.rank < task.rank])

    def kernel_waits(self, task):
        """Returns the wait of each GPU segment; None: there is no bound."""
        if self.method == "timeslice":
            around = self.timeslice * len(self.others(task))
            return [-(-kernel // self.timeslice) * around for _, kernel, _ in task.gpu]
        if self.method == "federated":
            wait = None if any(one.sms & task.sms for one in self.others(task)) else 0
        elif self.method == "fmlp":
            wait = (self.one_per_core(task, lambda one: one.segment) if self.busy
                    else sum(one.segment for one in self.others(task)))
        else:
            wait = least(*self.before(task), task.row["deadline"])
        return None if wait is None and task.gpu else [wait] * len(task.gpu)

    def inversion(self, task):
        lower = [one for one in self.others(task, near=True) if one.rank > task.rank]
        if self.server:
            return 0
        if not self.busy:
            return task.phases * sum(one.both + (2 * self.far(one) if self.spin else 0) for one in lower)
        if any(self.kernel_waits(one) is None for one in lower):
            return None
        return max((one.segment + self.copies(one) // len(one.gpu) + max(self.kernel_waits(one)) for one in lower), default=0)

    def demand(self, task):
        if self.server:
            return task.cpu
        if not self.busy:
            return task.cpu + task.copies + (2 * len(task.gpu) * self.far(task) if self.spin else 0)
        waits = self.kernel_waits(task)
        return None if waits is None else task.cpu + task.whole + self.copies(task) + sum(waits)

    def sources(self, task, found):
        """Returns the sources of delay on the task's core; None: a source has no bound."""
        sources = []
        for one in self.tasks:
            if one.rank < task.rank and one.row["core"] == task.row["core"]:
                demand = self.demand(one)
                if demand is None or not self.busy and found[one.rank] is None:
                    return None
                sources.append((demand, one.row["period"], 0 if self.busy else max(0, found[one.rank] - demand)))
        if self.server and task.row["core"] == self.server_core:
            for one in self.others(task):
                demand = (one.whole if self.server_spins else one.copies) + 2 * len(one.gpu) * self.overhead
                sources.append((demand, one.row["period"], max(0, one.row["deadline"] - demand)))
        return sources

    def responses(self):
        """Returns the response of each task, in the file's order. Bounds that rely on the deadline of a task without a
        bound are still among them."""
        found = {}
        for task in sorted(self.tasks, key=lambda one: one.rank):
            sources, waits, inversion = self.sources(task, found), self.kernel_waits(task), self.inversion(task)
            found[task.rank] = None
            if sources is None or inversion is None:
                continue
            base, deadline = task.cpu + task.whole + self.copies(task) + inversion, task.row["deadline"]
            base += 2 * self.overhead * len(task.gpu) if self.server else 0
            bounds = [] if waits is None else [least(base + sum(waits), sources, deadline, bool(task.gpu))]
            if self.method in ("mpcp", "server") and task.gpu and not self.busy:
                begun, above = self.before(task)
                bounds.append(least(base + len(task.gpu) * begun, sources + above, deadline, 1))
            found[task.rank] = min((bound for bound in bounds if bound is not None), default=None)
        return [found[task.rank] for task in self.tasks]
