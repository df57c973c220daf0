#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Measures jobs on several GPUs that share these, as they are and with nvqos.

    qos_gangs.py NVQOS NVDEBUGCTL FOLDER [--gpus LIST] [--rows WORDS] [--runs N] [--seconds N] [--budget S] [--nvqos WORD]

It needs root, otherwise idle GPUs (--gpus 0,1,2,3 by default; a row takes the first ones of them), NVIDIA's driver, PyTorch with
NCCL, and no module. NVLink multicast (NVLS) stays as the machine has it; it is off for the jobs. lab/nvdlab/collectives.py has
the jobs. Each row starts its jobs, and measures them as they are, then under an nvqos of its own:

    train64-N   two trainings that keep their GPUs busy
    train16-N   the same with a batch of 16, with which the GPUs wait for launches
    serve-N     a service (requests of about 13 ms, load 0.33) that is served first, beside a training
    reduce-N    two jobs that make all-reduces of 256 KB; reduce-8 also as clients of one MPS server
    three-N     three trainings
    shares-N    two trainings with shares of 30 and 60 %
    decode-N    a decode loop beside a training, with equal parts
    ends-N      two trainings while nvqos is killed, while it is stopped, and after a rank of one of them was killed
    moments-N   two trainings for five minutes, while nvqos is stopped and killed in ten random moments
    overlap-8   two trainings on four GPUs each, and a third one on all eight

N is the number of GPUs, 2 or 4, and for the first four rows also 8. --rows picks some of them by commas. --nvqos gives nvqos
one more word, and may be repeated. On a machine that is lent for less time, --budget ends the program early: no run begins that
would end later. Call it again, with the same folder and options, until it ends with 0. It goes on with the runs that
FOLDER/qos_gangs.json does not have. Each call measures each job alone first.

Prints a line of JSON for each run, and writes FOLDER/qos_gangs.json after each one. A run has, for each way, the steps per second
of each job by its own count, as a part of the speed alone (`each`) and their sum, the lengths of steps or requests (50th, 90th
and 99th percentile and maximum, in ms; alone: `alone_ms`), and by the record of switches how much each job ran together and how far
the starts of its turns were apart (`jobs`). With nvqos it has nvqos' own processor time, as a part of one processor (`processor`,
and by its threads `processor_of`), its calls to the driver a second and the seconds of them in a second (`calls_per_s`), the epochs
that it called missed or could not see, by their reasons, and its exit status. Each row has the means, with an interval of 95 %.
moments-N has the lengths of the steps that ended in the five seconds after each moment, and how many errors of GPUs (Xid) the kernel's
log has before and after (null: it cannot be read).
Ends with 3 if the budget was too short, and with 1 if a program failed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import time

from common import begun, bounded, counts, kind as kind_of, machine, record, run
from nvdlab import collectives

SETTLE_S = 5     # windows are tried for two seconds
STOPPED_S = 5    # nvqos is stopped for so long
MOMENTS = 10     # of which half stop nvqos, and half kill it
MOMENTS_S = 25   # from one moment to the next one, for five minutes in all
RECORDED_S = 5   # by nvdebugctl, within a measurement
JOB_S = 60       # the start of jobs at most, until one was seen
AGAIN = 3        # the exit status if runs are left


def row(name, kinds, gpus, goals, sets=None, mps=False):
    """Returns a row. `sets` has the GPUs of each job, as places among the first `gpus`; without it each job is on all of them."""
    return {"row": name, "kinds": kinds, "gpus": gpus, "goals": goals, "sets": sets or (tuple(range(gpus)),) * len(kinds), "mps": mps}


EQUAL = "best-effort"


def rows_on(gpus):
    """Returns the rows for so many GPUs."""
    return (*(row(f"{kind}-{gpus}", (kind, kind), gpus, (EQUAL, EQUAL)) for kind in ("train64", "train16")),
            row(f"serve-{gpus}", ("serve", "train64"), gpus, ("latency", EQUAL)),
            row(f"reduce-{gpus}", ("reduce256k", "reduce256k"), gpus, (EQUAL, EQUAL), mps=gpus == 8),
            *((row("overlap-8", ("train64",) * 3, 8, (EQUAL,) * 3, (range(4), range(4, 8), range(8))),) if gpus == 8 else
              (row(f"three-{gpus}", ("train64",) * 3, gpus, (EQUAL,) * 3),
               row(f"shares-{gpus}", ("train64", "train64"), gpus, ("share:30%", "share:60%")),
               row(f"decode-{gpus}", ("decode", "train16"), gpus, (EQUAL, EQUAL)),
               row(f"ends-{gpus}", ("train64", "train64"), gpus, (EQUAL, EQUAL)),
               row(f"moments-{gpus}", ("train64", "train64"), gpus, (EQUAL, EQUAL)))))


ROWS = tuple(each for gpus in (4, 2, 8) for each in rows_on(gpus))


def picked(words):
    """Returns the rows that words name, as an option's type."""
    known = {each["row"]: each for each in ROWS}
    for word in words.split(","):
        if word not in known:
            raise argparse.ArgumentTypeError(f"there is no row '{word}'; there are: {', '.join(known)}")
    return [each for each in ROWS if each["row"] in words.split(",")]


def numbers(text):
    """Returns the numbers of GPUs, as an option's type."""
    words = text.split(",")
    if not all(word.isdecimal() for word in words) or len(set(words)) < max(2, len(words)):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of at least two GPUs, such as 0,1,2,3")
    return [int(word) for word in words]


# --- the runs ---

class Machine:
    """The programs, and the jobs' speeds alone, which are measured when they are first needed."""

    def __init__(self, options):
        self.options, self.found_alone, self.starts_s = options, {}, []
        self.metrics = options.folder / "nvqos.prom"

    def gpus(self, count):
        return self.options.gpus[:count]

    def jobs(self, each):
        """Returns the kind and the GPUs of each job of a row."""
        return [(kind, [self.options.gpus[place] for place in places]) for kind, places in zip(each["kinds"], each["sets"])]

    @contextlib.contextmanager
    def at_work(self, wanted, **more):
        """Yields jobs at work, and notes how long they took to start."""
        begin = time.monotonic()
        with collectives.at_work(wanted, self.options.folder, **more) as jobs:
            self.starts_s.append(time.monotonic() - begin)
            yield jobs

    def alone(self, each):
        """Returns what each job of a row has alone, on as many GPUs."""
        return [self.job_alone(kind, len(places)) for kind, places in zip(each["kinds"], each["sets"])]

    def job_alone(self, kind, count):
        if (kind, count) not in self.found_alone:
            with self.at_work([(kind, self.gpus(count))]) as jobs:
                found, = collectives.measured(jobs, self.options.seconds)
            self.found_alone[kind, count] = found
            print(json.dumps({"alone": kind, "gpus": count} | found), flush=True)
        return self.found_alone[kind, count]

    def recorded(self, jobs):
        """Returns of each job what nvdebugctl finds in the record of switches; None: it found no such job."""
        summary = json.loads(bounded.ask(self.options.nvdebugctl, "--from", "driver", "record", "--for", f"{RECORDED_S}s", "--rate", "0",
                                         "--json"))["data"]
        found = []
        for job in jobs:
            ranks = set(job.ranks())
            mine = [one for one in summary["jobs"] if {process["pid"] for process in one["processes"]} & ranks]
            found.append({key: mine[0][key] for key in ("together_percent", "starts", "skew_median_us", "skew_p99_us", "skew_max_us")}
                         if len(mine) == 1 else None)
        return found

    def measured(self, each, jobs):
        """Returns the speeds of jobs now, and what the record of switches shows, which is read before."""
        shown = self.recorded(jobs)
        return self.compared(each, collectives.measured(jobs, self.options.seconds)) | {"jobs": shown}

    def compared(self, each, found):
        """Returns measured speeds as parts of those alone."""
        parts = [round(one["per_s"] / alone["per_s"], 4) for alone, one in zip(self.alone(each), found)]
        return {"each": parts, "sum": round(sum(parts), 4), "ms": [one["ms"] for one in found],
                "per_s": [one["per_s"] for one in found]}

    def under_mps(self, each):
        """Returns the speeds of a row's jobs as clients of one MPS server, in whose turns the record does not tell them apart."""
        with bounded.mps() as (place, _), self.at_work(
                self.jobs(each), **{key: text for key, text in place.items() if key.startswith("CUDA_MPS_")}) as jobs:
            return self.compared(each, collectives.measured(jobs, self.options.seconds))

    def keeping(self, each, jobs):
        """Returns an nvqos that keeps the goals of a row. Raises bounded.Failed if it does not begin."""
        made = bounded.Keeping(self.options.nvqos, *self.options.more, "--metrics", str(self.metrics),
                               *(f"all-of:{job.pid}={goal}" for job, goal in zip(jobs, each["goals"])))
        try:
            if made.refused is not None:
                raise bounded.Failed(f"nvqos ended with {made.process.returncode}: {made.refused}")
            time.sleep(SETTLE_S)
        except BaseException:
            made.end(signal.SIGKILL)
            raise
        return made

    def under(self, each, jobs):
        """Returns what a run has with nvqos."""
        keeping = self.keeping(each, jobs)
        try:
            before, asked, begin = keeping.parts_s(), self.calls(), time.monotonic()
            found = self.measured(each, jobs)
            took_s = time.monotonic() - begin
            spent = {part: round((seconds - before.get(part, 0)) / took_s, 5) for part, seconds in keeping.parts_s().items()}
            calls = {name: round((value - asked[name]) / took_s, 5) for name, value in self.calls().items()}
        finally:
            status = keeping.end()
        return found | {"processor": round(sum(spent.values()), 5), "processor_of": spent, "calls_per_s": calls, "status": status,
                        "missed": missed_epochs(keeping.lines())}

    def calls(self):
        """Returns nvqos' calls to the driver so far on all GPUs, and for how long its threads waited for them."""
        sums = dict.fromkeys((f"nvqos_driver_{kind}{unit}_total" for kind in ("reads", "requests") for unit in ("", "_seconds")), 0)
        for line in self.metrics.read_text(encoding="utf-8").splitlines():
            name = line.partition("{")[0]
            if name in sums:
                sums[name] += float(line.rpartition(" ")[2])
        return {name.removeprefix("nvqos_driver_").removesuffix("_total"): value for name, value in sums.items()}

    def ends(self, each, jobs):
        """Returns the speeds with nvqos, after it was killed, while it is stopped, and after a rank was killed."""
        found = {}
        keeping = self.keeping(each, jobs)
        try:
            found["nvqos"] = self.measured(each, jobs)
        finally:
            keeping.end(signal.SIGKILL)
        time.sleep(SETTLE_S)
        found["nvqos was killed"] = self.measured(each, jobs)
        keeping = self.keeping(each, jobs)
        try:
            keeping.process.send_signal(signal.SIGSTOP)
            stopped = collectives.measured(jobs, STOPPED_S)
            keeping.process.send_signal(signal.SIGCONT)
            found["nvqos is stopped"] = {"per_s": [one["per_s"] for one in stopped], "ms": [one["ms"] for one in stopped]}
            time.sleep(SETTLE_S)
            found["nvqos goes on"] = self.measured(each, jobs)
            os.kill(jobs[0].ranks()[-1], signal.SIGKILL)
            time.sleep(SETTLE_S)
            found["a rank was killed"] = self.measured(each, jobs)
        finally:
            keeping.process.send_signal(signal.SIGCONT)
            found["status"] = keeping.end()
        return found

    def moments(self, each, jobs):
        """Returns the speeds with nvqos before each moment, the steps after it, and the speeds after all of them."""
        errors, dice, keeping, found = xids(), random.Random(1), None, {}
        try:
            for number in range(1, MOMENTS + 1):
                keeping = keeping or self.keeping(each, jobs)
                kept = collectives.measured(jobs, MOMENTS_S - STOPPED_S - SETTLE_S + dice.random())
                stops = number % 2
                keeping.process.send_signal(signal.SIGSTOP if stops else signal.SIGKILL)
                after = collectives.measured(jobs, STOPPED_S)
                found[f"{number}: nvqos was {'stopped' if stops else 'killed'}"] = {
                    "before": [one["per_s"] for one in kept], "per_s": [one["per_s"] for one in after], "ms": [one["ms"] for one in after]}
                if stops:
                    keeping.process.send_signal(signal.SIGCONT)
                    time.sleep(SETTLE_S)
                else:
                    keeping.end()
                    keeping = None
        finally:
            if keeping:
                keeping.end(signal.SIGKILL)
        time.sleep(SETTLE_S)
        return found | {"without nvqos": self.measured(each, jobs), "xids": [errors, xids()]}

    def row(self, each):
        """Returns the ways of a row."""
        self.alone(each)
        with self.at_work(self.jobs(each)) as jobs:
            ways = {"as it is": self.measured(each, jobs)}
            special = {"ends": self.ends, "moments": self.moments}.get(each["row"].split("-")[0])
            ways |= special(each, jobs) if special else {"nvqos": self.under(each, jobs)}
        return ways | ({"MPS": self.under_mps(each)} if each["mps"] else {})

    def usual_s(self, each):
        """Returns how long a row takes at most, unless a program is late."""
        job_s = 1.5 * max(self.starts_s, default=JOB_S / 1.5)
        alone = len({(kind, len(places)) for kind, places in zip(each["kinds"], each["sets"])} - set(self.found_alone))
        measurements = 6 if each["row"].startswith("ends") else 2 + each["mps"]
        moments_s = MOMENTS * (MOMENTS_S + SETTLE_S) if each["row"].startswith("moments") else 0
        measured_s = self.options.seconds + RECORDED_S + 3 * SETTLE_S
        return moments_s + (alone + 1 + each["mps"]) * job_s + alone * self.options.seconds + measurements * measured_s


def xids():
    """Returns how many errors of GPUs the kernel's log has; None: it cannot be read."""
    try:
        return bounded.ask("dmesg").count("NVRM: Xid")
    except (bounded.Late, OSError):
        return None


def missed_epochs(lines):
    """Returns by GPU how many epochs of each tenant with a goal nvqos called missed, or said that it cannot see, if there are any."""
    found = {}
    for line in lines:
        for tenant in line["tenants"]:
            reason = tenant["why_not"] if tenant["kept"] in (None, True) else "missed"
            if tenant["kept"] is not None and reason:
                reasons = found.setdefault(f"gpu{line['gpu']}", {}).setdefault(tenant["name"], {})
                reasons[reason] = reasons.get(reason, 0) + 1
    return found


def summary(runs):
    """Returns a line for each row that was measured, with the mean sum of each way."""
    lines = []
    for each in ROWS:
        mine = [one for one in runs if one["row"] == each["row"]]
        if mine:
            ways = [way for way, found in mine[0]["ways"].items() if isinstance(found, dict) and "sum" in found]
            lines.append({"row": each["row"], "runs": len(mine),
                          "sum": {way: counts.interval([one["ways"][way]["sum"] for one in mine]) for way in ways},
                          "each": {way: [counts.interval(part) for part in zip(*(one["ways"][way]["each"] for one in mine))]
                                   for way in ways}})
    return lines


def main():
    end = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvqos", type=kind_of("nvqos"))
    parser.add_argument("nvdebugctl", type=kind_of("nvdebugctl"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gpus", type=numbers, default=[0, 1, 2, 3])
    parser.add_argument("--rows", type=picked, default=None)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--budget", type=float, default=3500)
    parser.add_argument("--nvqos", dest="more", metavar="WORD", action="append", default=[])
    options = parser.parse_args()
    end += options.budget
    rows = options.rows or [each for each in ROWS if each["gpus"] <= len(options.gpus)]
    for each in rows:
        if each["gpus"] > len(options.gpus):
            parser.error(f"the row {each['row']} needs {each['gpus']} GPUs; give them by --gpus")
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "qos_gangs.json"
    whole = begun(path, seconds=options.seconds)
    done = {(one["row"], one["run"]) for one in whole["runs"]}
    left = [(number, each) for number in range(options.runs) for each in rows if (each["row"], number) not in done]
    at_work = Machine(options)
    while left and time.monotonic() + at_work.usual_s(left[0][1]) <= end:
        number, each = left.pop(0)
        ways = at_work.row(each)
        made = {"row": each["row"], "run": number, "goals": each["goals"], "gpus": at_work.gpus(each["gpus"]),
                "gpu": machine.gpu(*machine.CLOCKS), "alone_per_s": [one["per_s"] for one in at_work.alone(each)],
                "alone_ms": [one["ms"] for one in at_work.alone(each)], "ways": ways}
        whole["runs"].append(made)
        print(json.dumps(made), flush=True)
        record.write(path, whole | {"rows": summary(whole["runs"])})
    if left:
        print(json.dumps({"left": len(left), "next": "call this again"}), flush=True)
    return AGAIN if left else 0


if __name__ == "__main__":
    run(main)
