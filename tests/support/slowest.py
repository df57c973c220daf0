# SPDX-License-Identifier: MIT OR GPL-2.0
"""A plugin: --slowest N prints in which N files of tests the time went."""

import collections


def pytest_addoption(parser):
    parser.addoption("--slowest", type=int, default=0, metavar="N",
                     help="print the N files of tests that took longest")


def pytest_terminal_summary(terminalreporter, config):
    count = config.getoption("slowest")
    if not count:
        return
    seconds, tests = collections.Counter(), collections.Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration"):
                file = report.nodeid.partition("::")[0]
                seconds[file] += report.duration
                tests[file] += report.when == "call"
    terminalreporter.section(f"slowest {count} files, of {sum(seconds.values()):.0f} s in all")
    for file, spent in seconds.most_common(count):
        terminalreporter.write_line(f"{spent:7.0f} s  {tests[file]:4} tests  {file}")
