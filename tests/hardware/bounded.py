# SPDX-License-Identifier: MIT OR GPL-2.0
"""Programs that count their kernels (kernels.cpp), and nvqos beside them: every wait has a bound, every end is forced."""

import contextlib
import json
import os
import pathlib
import selectors
import signal
import subprocess
import tempfile
import time

START_S, END_S, TOOL_S = 30, 20, 30


class Late(Exception):
    """A program did not do in time what it had to, or ended before."""


def ask(*words, env=None):
    """What a program prints. Raises Late."""
    try:
        done = subprocess.run([str(word) for word in words], env=env, capture_output=True, text=True, timeout=TOOL_S,
                              check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Late(f"{words[0]} did not end in {TOOL_S} s") from None
    if done.returncode:
        raise Late(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


class Counting:
    """One of kernels.cpp, at work."""

    def __init__(self, words, env=None):
        self.words = [str(word) for word in words]
        self.out = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.words, env=env, stdout=self.out, stderr=subprocess.PIPE, text=False,
                                        stdin=subprocess.DEVNULL, start_new_session=True)

    def ready(self):
        """Waits for its word. Raises Late."""
        end, text = time.monotonic() + START_S, b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stderr, selectors.EVENT_READ)
            while b"ready\n" not in text:
                left = end - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise Late(f"{' '.join(self.words)} was not ready in {START_S} s")
                more = os.read(self.process.stderr.fileno(), 4096)
                if not more:
                    raise Late(f"{' '.join(self.words)} ended: {text.decode(errors='replace').strip()[-300:]}")
                text += more

    def pid(self):
        return self.process.pid

    def lines(self):
        """(ns, kernels that had ended), so far; a line that is being written is left out."""
        text = os.pread(self.out.fileno(), 1 << 24, 0).decode()
        return [tuple(map(int, line.split())) for line in text[:text.rfind("\n") + 1].splitlines()]

    def wait_past(self, ns):
        """Until it has counted after that moment. Raises Late."""
        end = time.monotonic() + START_S
        while not (lines := self.lines()) or lines[-1][0] <= ns:
            if self.process.poll() is not None or time.monotonic() > end:
                raise Late(f"{' '.join(self.words)} does not count any more")
            time.sleep(0.01)
        return lines

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(END_S)
        self.process.stderr.close()
        self.out.close()


@contextlib.contextmanager
def counting(*commands):
    """Several at once, ready: each (words, environment)."""
    tasks = []
    try:
        for words, env in commands:
            tasks.append(Counting(words, env))
        for task in tasks:
            task.ready()
        yield tasks
    finally:
        for task in tasks:
            task.kill()


def by(lines, ns):
    """Kernels that had ended by then, between two lines."""
    before = max((line for line in lines if line[0] <= ns), default=(ns, 0))
    after = min(line for line in lines if line[0] > ns)
    return before[1] + (after[1] - before[1]) * (ns - before[0]) / (after[0] - before[0])


def rate(lines, begin, end):
    """Kernels a second between two moments, each after its first line and before its last."""
    return (by(lines, end) - by(lines, begin)) * 1e9 / (end - begin)


def slowest(lines, begin, end, part_ns=100_000_000):
    """The rate of the slowest hundredth of the times of 0.1 s: means hide that a task starved."""
    starts = range(begin, end - part_ns + 1, part_ns)
    rates = sorted(rate(lines, start, start + part_ns) for start in starts)
    return rates[len(rates) // 100] if rates else None


def processor_s(pid):
    """What a process has taken of a processor so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Keeping:
    """nvqos at work; `refused` is its sentence where it does not begin."""

    def __init__(self, nvqos, *words):
        self.out, self.err = tempfile.TemporaryFile("w+b"), tempfile.TemporaryFile("w+b")
        self.process = subprocess.Popen([str(nvqos), "--json", *words], stdout=self.out, stderr=self.err,
                                        stdin=subprocess.DEVNULL)
        end = time.monotonic() + START_S
        while not os.fstat(self.out.fileno()).st_size:
            if self.process.poll() is not None:
                break
            if time.monotonic() > end:
                self.end(signal.SIGKILL)
                raise Late(f"nvqos printed nothing in {START_S} s")
            time.sleep(0.01)
        self.refused = self.told() if self.process.poll() is not None else None

    def told(self):
        return os.pread(self.err.fileno(), 4096, 0).decode(errors="replace").strip()

    def lines(self):
        """Whole ones so far: an epoch each."""
        text = os.pread(self.out.fileno(), 1 << 26, 0).decode()
        return [json.loads(line)["data"] for line in text[:text.rfind("\n") + 1].splitlines()]

    def tenants(self):
        """Of each whole line so far."""
        return [line["tenants"] for line in self.lines()]

    def processor_s(self):
        """Its own and that of its keepers, which are no children of its."""
        keepers = [path.parent.name for path in pathlib.Path("/proc").glob("[0-9]*/comm")
                   if path.read_text(encoding="utf-8").strip() == "nvdebug-keeper"]
        return sum(map(processor_s, [self.process.pid, *keepers]))

    def end(self, how=signal.SIGINT):
        """Its exit status; it is killed where it does not end."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(END_S)
