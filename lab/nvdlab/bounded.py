# SPDX-License-Identifier: MIT OR GPL-2.0
"""Programs of experiments and measurements, with a bound for every wait. A program that is not ready or does not answer in
time raises Late, and programs that still run at the end are killed."""

import contextlib
import json
import os
import pathlib
import select
import selectors
import shutil
import signal
import subprocess
import tempfile
import time

START_S, END_S, TOOL_S = 30, 20, 60


class Failed(Exception):
    """A measurement cannot go on. The message is a sentence for the user."""


class Late(Failed):
    """A program did not do its part in time, or ended early."""


def without_mps(**more):
    """Returns this process' environment without its variables for CUDA, so that programs use no MPS server."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CUDA_")}
    return kept | {"CUDA_MPS_PIPE_DIRECTORY": "/nonexistent"} | more


def ask(*words, env=None, stdin=None):
    """Returns the output of a program. Raises Late if it fails or takes more than TOOL_S."""
    try:
        done = subprocess.run([str(word) for word in words], env=env, capture_output=True, text=True, timeout=TOOL_S,
                              check=False, **{"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL})
    except subprocess.TimeoutExpired:
        raise Late(f"{words[0]} did not end in {TOOL_S} s") from None
    if done.returncode:
        raise Late(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


@contextlib.contextmanager
def mps(**more):
    """Starts NVIDIA's MPS server with MORE variables. Yields the environment for its clients, and a function for its control
    commands."""
    if not shutil.which("nvidia-cuda-mps-control"):
        raise Failed("there is no nvidia-cuda-mps-control, NVIDIA's MPS server, which comes with its driver")
    with tempfile.TemporaryDirectory() as folder:
        place = without_mps(CUDA_MPS_PIPE_DIRECTORY=folder, CUDA_MPS_LOG_DIRECTORY=folder, **more)

        def control(command):
            return ask("nvidia-cuda-mps-control", env=place, stdin=command + "\n").strip()

        # The daemon inherits the output, so a pipe would stay open.
        subprocess.run(["nvidia-cuda-mps-control", "-d"], env=place, check=True, timeout=TOOL_S)
        try:
            yield place, control
        finally:
            control("quit")


def wait_until_ready(process, name):
    """Waits until a process has printed the line `ready` on stderr, a pipe of which nothing was read. Raises Late."""
    end, text = time.monotonic() + START_S, b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while b"ready\n" not in text:
            left = end - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise Late(f"{name} was not ready in {START_S} s")
            more = os.read(process.stderr.fileno(), 4096)
            if not more:
                raise Late(f"{name} ended: {text.decode(errors='replace').strip()[-300:] or 'it printed nothing'}")
            text += more


class Task:
    """A program at work, such as load.cpp and kernels.cpp of tests/hardware.

    It prints `ready` on stderr. Programs that count then print lines on stdout: ns of CLOCK_MONOTONIC, and the kernels
    that had ended by then.
    """

    def __init__(self, words, env=None):
        self.words = [str(word) for word in words]
        self.out = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.words, env=env, stdout=self.out, stderr=subprocess.PIPE, text=False,
                                        stdin=subprocess.DEVNULL, start_new_session=True)
        self.pid = self.process.pid

    def ready(self):
        wait_until_ready(self.process, " ".join(self.words))

    def runs(self):
        return self.process.poll() is None

    def lines(self):
        """Returns (ns, kernels that had ended) of each whole line so far."""
        text = os.pread(self.out.fileno(), 1 << 24, 0).decode()
        return [tuple(map(int, line.split())) for line in text[:text.rfind("\n") + 1].splitlines() if line.count(" ") == 1]

    def wait_past(self, ns):
        """Waits until the task has counted after NS, and returns its lines. Raises Late."""
        end = time.monotonic() + START_S
        while not (lines := self.lines()) or lines[-1][0] <= ns:
            if not self.runs() or time.monotonic() > end:
                raise Late(f"{' '.join(self.words)} does not count any more")
            time.sleep(0.01)
        return lines

    def kill(self):
        """Ends the task with all processes of its session. Its lines stay readable until close()."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait(END_S)

    def close(self):
        self.kill()
        self.process.stderr.close()
        self.out.close()


@contextlib.contextmanager
def tasks(*commands):
    """Yields tasks once all are ready, each from (words, environment), and ends them at last. Raises Late."""
    made = []
    try:
        for words, env in commands:
            made.append(Task(words, env))
        for task in made:
            task.ready()
        yield made
    finally:
        for task in made:
            task.close()


def loads(load, *how):
    """Yields tasks of the program LOAD, one for each tuple of words in HOW, as tasks() does."""
    return tasks(*(((load, *words), None) for words in how))


class Talking:
    """A program that answers lines on stdin with lines on stdout. Its first line is `ready`. STDERR is a file, or this process' own."""

    def __init__(self, *words, env, patience_s=90, stderr=None):
        self.name, self.patience_s = " ".join(map(str, words)), patience_s
        self.process = subprocess.Popen([str(word) for word in words], env=env, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=stderr)
        self.pid = self.process.pid

    def line(self):
        """Returns the next line. Raises Late."""
        if not select.select([self.process.stdout], [], [], self.patience_s)[0]:
            raise Late(f"{self.name} printed nothing in {self.patience_s} s")
        if not (text := self.process.stdout.readline()):
            raise Late(f"{self.name} ended")
        return text

    def ready(self):
        if (text := self.line()) != "ready\n":
            raise Late(f"{self.name} is not ready: {text.strip()}")

    def ask(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait(END_S)


def stat_of(pid):
    """Returns the fields of /proc/PID/stat from the state on."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def processor_s(pid):
    """Returns the seconds of a processor that a process has taken so far."""
    fields = stat_of(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def began(pid):
    """Returns when a process began, in ticks since the machine did."""
    return int(stat_of(pid)[19])


class Keeping:
    """nvqos at work. `refused` is its sentence if it did not begin, else None."""

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
        """Returns the data of each whole line so far: an epoch each."""
        text = os.pread(self.out.fileno(), 1 << 26, 0).decode()
        return [json.loads(line)["data"] for line in text[:text.rfind("\n") + 1].splitlines()]

    def tenants(self):
        """Returns the tenants of each whole line so far."""
        return [line["tenants"] for line in self.lines()]

    def processor_s(self):
        """Returns the processor's seconds of nvqos and its keepers, which are not its children. Keepers of an earlier nvqos do not
        count: they may still undo what it did."""
        return sum(self.parts_s().values())

    def parts_s(self):
        """Returns the same by thread: the names of nvqos' threads, of which `nvqos` is the first one, `ended` for its threads that
        have ended, and `nvdebug-keeper` for the keepers."""
        pid = self.process.pid
        first, found = began(pid), {"ended": processor_s(pid), "nvdebug-keeper": 0}
        for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
            with contextlib.suppress(OSError):  # it has ended
                if path.read_text(encoding="utf-8").strip() == "nvdebug-keeper" and began(path.parent.name) >= first:
                    found["nvdebug-keeper"] += processor_s(path.parent.name)
        for path in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
            with contextlib.suppress(OSError):
                name, seconds = path.read_text(encoding="utf-8").strip(), processor_s(f"{pid}/task/{path.parent.name}")
                found[name] = found.get(name, 0) + seconds
                found["ended"] -= seconds
        return found

    def end(self, how=signal.SIGINT):
        """Ends nvqos with a signal, and kills it if it does not end. Returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(END_S)
