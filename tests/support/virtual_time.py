#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""A clock for a script and the programs that it starts. It advances only while all of them sleep.

    virtual_time.run(SCRIPT, WORDS)     runs a script in this process
    from virtual_time import clock      takes the place of `import time` in a program

A program that sleeps sends the script the end of its sleep. Once the script itself and all programs sleep, the script
sets the clock to the earliest of these moments and wakes the programs whose moment it is. So results do not depend on the
machine's speed, and nobody waits. The script does not wait for a program that was killed or stopped. Python scripts that
the script starts take part; other programs are assumed to need no clock. This module imports little, because many
programs import it at their start.
"""

import os
import time

FOLDER = "VIRTUAL_TIME"
# A program that sends nothing for so long may be dead.
LOOK_S = 0.01


def packed(number):
    return number.to_bytes(8, "little")


class Clock:
    """Takes the place of the module `time` in a program that the script has started."""

    def __init__(self, folder):
        self.folder = folder
        self.now = os.open(f"{folder}/now", os.O_RDWR)
        # Each message has 16 bytes: the number of a program, and the end of its sleep.
        self.told = os.open(f"{folder}/told", os.O_RDWR)

    def __getattr__(self, name):
        return getattr(time, name)

    def monotonic_ns(self):
        return int.from_bytes(os.pread(self.now, 8, 0), "little")

    def monotonic(self):
        return self.monotonic_ns() / 1e9

    def after(self, seconds):
        return self.monotonic_ns() + max(1, round(seconds * 1e9))

    def sleep(self, seconds):
        woken = self.pipe_of(os.getpid())
        os.write(self.told, packed(os.getpid()) + packed(self.after(seconds)))
        os.read(woken, 1)
        os.close(woken)

    def pipe_of(self, pid):
        """Returns the pipe by which a program is woken."""
        try:
            os.mkfifo(f"{self.folder}/{pid}")
        except FileExistsError:
            pass
        return os.open(f"{self.folder}/{pid}", os.O_RDWR)


class Conductor(Clock):
    """Takes the place of the module `time` in the script, whose sleeps set the clock."""

    def __init__(self, folder):
        os.mkfifo(f"{folder}/told")
        with open(f"{folder}/now", "wb") as file:
            file.write(packed(10 ** 12))
        super().__init__(folder)
        self.until = {}  # ends of sleeps in ns, by process; 0: the process does not sleep

    def sleep(self, seconds):
        end = self.after(seconds)
        while True:
            self.wait_for_all()
            if self.monotonic_ns() >= end:
                return
            now = min([end, *self.until.values()])
            os.pwrite(self.now, packed(now), 0)
            for pid in [pid for pid, until in self.until.items() if until <= now]:
                self.until[pid] = 0
                pipe = self.pipe_of(pid)
                os.write(pipe, b"!")
                os.close(pipe)

    def wait_for_all(self):
        """Waits until each program sleeps or has ended."""
        import select  # pylint: disable=import-outside-toplevel
        while awake := [pid for pid, until in self.until.items() if not until]:
            if select.select([self.told], [], [], LOOK_S)[0]:
                message = os.read(self.told, 16)
                self.until[int.from_bytes(message[:8], "little")] = int.from_bytes(message[8:], "little")
            else:
                for pid in filter(lambda pid: not is_running(pid), awake):
                    del self.until[pid]


def is_running(pid):
    """Returns whether the process has neither ended nor been stopped."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "TtZX"
    except OSError:
        return False


def is_script_of_python(program):
    try:
        with open(program, encoding="utf-8") as file:
            return "python" in file.readline()
    except (OSError, TypeError, UnicodeDecodeError):
        return False


def run(script, words):
    """Runs the script in this process, as its command would."""
    import runpy  # pylint: disable=import-outside-toplevel
    import shutil  # pylint: disable=import-outside-toplevel
    import subprocess  # pylint: disable=import-outside-toplevel
    import sys  # pylint: disable=import-outside-toplevel
    import tempfile  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory(prefix="virtual-time-") as folder:
        os.environ[FOLDER] = folder
        conductor, begin = Conductor(folder), subprocess.Popen.__init__

        def start(process, command, *more, **options):
            begin(process, command, *more, **options)
            if is_script_of_python(shutil.which(command[0], path=(options.get("env") or os.environ)["PATH"])):
                conductor.until[process.pid] = 0
        subprocess.Popen.__init__ = start
        sys.argv = [script, *words]
        sys.path[0] = os.path.dirname(script)
        sys.modules["time"] = conductor
        runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    import sys
    run(sys.argv[1], sys.argv[2:])
elif FOLDER in os.environ:
    clock = Clock(os.environ[FOLDER])
