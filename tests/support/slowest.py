# SPDX-License-Identifier: MIT OR GPL-2.0
"""A plugin that measures a run: --slowest N prints the files of tests that took longest, and --times FILE writes the
record that scripts/times reads.

The record is JSON: `began` (local time), `seconds` that the run took, `workers` (processes that ran tests), pytest's
exit `status`, `tests` with the seconds of each test's setup, call and teardown, the names of those that were `skipped`,
and `boots` with a VM's [seconds, kernel's release, number of GPUs] each. A fixture that is made once counts for the
first test that takes it.
"""

import collections
import json
import os
import pathlib
import time

import pytest

PHASES = ("setup", "call", "teardown")


def pytest_addoption(parser):
    parser.addoption("--slowest", type=int, default=0, metavar="N",
                     help="print the N files of tests that took longest")
    parser.addoption("--times", type=pathlib.Path, metavar="FILE",
                     help="write what each test and each boot of a VM took to FILE, for scripts/times")


def pytest_configure(config):
    # Workers of xdist report to the process that started them.
    if hasattr(config, "workerinput") or config.getoption("collectonly"):
        return
    if config.getoption("slowest") or config.getoption("times"):
        config.pluginmanager.register(Measured(config), "measured")


class Measured:
    """Collects the times of one run."""

    def __init__(self, config):
        self._count = config.getoption("slowest")
        self._workers = config.getoption("numprocesses", 0) or 1
        self._tests, self._skipped = collections.defaultdict(dict), set()
        self._began, self._start = time.strftime("%Y-%m-%d %H:%M"), time.monotonic()
        self._file = None
        if config.getoption("times"):
            self._file = config.invocation_params.dir / config.getoption("times")
            self._boots = self._file.with_name(f"{self._file.name}.boots")
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._boots.write_text("", encoding="utf-8")
            except OSError as error:
                raise pytest.UsageError(f"cannot write --times {self._file}: {error.strerror}") from error
            # Workers, and programs that tests start, inherit the variable (vm/nvdvm/boots.py).
            os.environ["NVDEBUG_BOOTS"] = str(self._boots)

    def pytest_runtest_logreport(self, report):
        if report.when in PHASES:
            self._tests[report.nodeid][report.when] = report.duration
            # A test that is expected to fail, and fails, is also reported as skipped.
            if report.skipped and not hasattr(report, "wasxfail"):
                self._skipped.add(report.nodeid)

    def pytest_sessionfinish(self, exitstatus):
        if self._file is None:
            return
        lines = [line.split("\t") for line in self._boots.read_text(encoding="utf-8").splitlines()]
        record = {"began": self._began, "seconds": round(time.monotonic() - self._start, 3),
                  "workers": self._workers, "status": int(exitstatus),
                  "tests": {name: {phase: round(seconds, 3) for phase, seconds in phases.items()}
                            for name, phases in self._tests.items()},
                  "skipped": sorted(self._skipped),
                  "boots": [[float(seconds), kernel, int(gpus)] for seconds, kernel, gpus in lines]}
        # The record is renamed when it is complete, so that scripts/times never reads a part of it.
        self._boots.write_text(json.dumps(record), encoding="utf-8")
        self._boots.replace(self._file)

    def pytest_terminal_summary(self, terminalreporter):
        if not self._count:
            return
        seconds, tests = collections.Counter(), collections.Counter()
        for name, phases in self._tests.items():
            file = name.partition("::")[0]
            seconds[file] += sum(phases.values())
            tests[file] += name not in self._skipped
        terminalreporter.section(f"slowest {self._count} files, of {sum(seconds.values()):.0f} s in all")
        for file, spent in seconds.most_common(self._count):
            terminalreporter.write_line(f"{spent:7.0f} s  {tests[file]:4} tests  {file}")
