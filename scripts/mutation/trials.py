# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs of the tests: without a change, to learn what they reach, and with one."""

import dataclasses
import itertools
import os
import subprocess
import sys

# A test that takes this many times as long as usual counts as one that does not end.
PATIENCE = 20
# This is longer than any test waits for another process.
LONGEST_WAIT = 60

# A child that outlives its program ends with the namespace, and no other program holds a lock in /run.
APART = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
         "sh", "-c", 'mount -t tmpfs tmpfs /run && ulimit -v "$0" && "$@"; exit "$?"')
WITHIN_MEMORY = ("sh", "-c", 'ulimit -v "$0" && "$@"; exit "$?"')
MEMORY_KB = str(4 << 20)


@dataclasses.dataclass(frozen=True, order=True)
class Test:
    seconds: float  # of the processor
    program: str
    name: str
    waited: float = dataclasses.field(compare=False)
    places: frozenset = dataclasses.field(compare=False)


def batches(tests, programs):
    """Groups tests: the fastest run in a first process, and each later process runs more."""
    budget = 0.3
    while tests:
        times = itertools.accumulate(test.seconds for test in tests)
        count = max(1, sum(time <= budget for time in times))
        batch, tests, budget = tests[:count], tests[count:], budget * 4
        for program in programs:
            if some := [test for test in batch if test.program == program]:
                yield program, some


class Trials:
    def __init__(self, tree, area):
        self.tree, self.area = tree, area
        self.runs = itertools.count()
        self.prefix = ()
        if area.apart:
            self.prefix = (*self._wrapper(), MEMORY_KB)

    @staticmethod
    def _wrapper():
        """Returns the words that give a test namespaces of its own. They need root's rights; without root a program cannot reach
        the locks in /run either."""
        usable = subprocess.run([*APART, MEMORY_KB, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return WITHIN_MEMORY if usable.returncode else APART

    def _run(self, program, environment, *options, timeout=None):
        """Returns what the program printed and whether it failed, which it also does if it takes too long."""
        # Tests know the processes they started by their environment.
        own = {"MUTANT_RUN": str(next(self.runs))}
        try:
            result = subprocess.run([*self.prefix, self.tree.program(program), "--gtest_brief=1", *options],
                                    cwd=self.tree.copy, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, env=os.environ | own | environment, timeout=timeout)
        except subprocess.TimeoutExpired:
            return "", True
        return result.stdout.decode(errors="replace"), result.returncode != 0

    def record(self):
        """Returns all tests, the fastest first, with the changes that they reach."""
        tests = []
        for program in self.area.programs:
            path = self.tree.copy / f"{program}.reached"
            output, failed = self._run(program, {"MUTANT_REACHED": str(path)})
            if failed:
                sys.exit(output[-3000:] + "mutate: the tests fail without a change")
            for line in path.read_text().splitlines():
                name, us, waited_us, *places = line.split()
                tests.append(Test(int(us) / 1e6, program, name, int(waited_us) / 1e6, frozenset(map(int, places))))
        return sorted(tests)

    def is_noticed(self, tests, number=0):
        for program, some in batches(tests, self.area.programs):
            limit = max(0.3, PATIENCE * some[-1].seconds)
            environment = {"MUTANT": str(number), "MUTANT_LIMIT": str(int(limit * 1e6)),
                           "ASAN_OPTIONS": "hard_rss_limit_mb=2000:allocator_may_return_null=1"}
            chosen = "--gtest_filter=" + ":".join(test.name for test in some)
            timeout = LONGEST_WAIT + PATIENCE * sum(test.waited for test in some)
            # If tests wait for other processes, a failure by chance does not happen several times in a row.
            if all(self._run(program, environment, "--gtest_fail_fast", chosen, timeout=timeout)[1]
                   for _ in range(self.area.failures)):
                return True
        return False
