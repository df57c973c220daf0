# SPDX-License-Identifier: MIT OR GPL-2.0
"""A running nvdebug-exporter, and functions that wait for its metrics."""

import contextlib
import pathlib
import re
import signal
import subprocess
import urllib.request

from building import ROOT
from ctl import exporter
from waiting import PATIENCE_S, free_port

CAPTURE = ROOT / "tests/hardware/h100-580.159.04/capture-owners"


def answers_without_gpu(command, port, **options):
    """Waits until the exporter answers that there is no GPU, and returns the first line of its log."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options) as process:
        try:
            said = process.stderr.readline()
            assert f":{port}/metrics" in process.stderr.readline()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as answer:
                assert "nvdebug_gpus 0\n" in answer.read().decode()
            process.terminate()
            assert process.wait(PATIENCE_S) == 0
        finally:
            process.kill()
    return said


def children(node):
    return [int(pid) for pid in pathlib.Path(f"/proc/{node.process.pid}/task/{node.process.pid}/children").read_text().split()]


def has_no_rights(pid, is_nobody):
    status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    if is_nobody:
        assert set(status["Uid"].split()) == {"65534"} and set(status["Gid"].split()) == {"65534"}
        assert not status["Groups"].split()


class Running:
    def __init__(self, source, *options, port=None, program=None):
        self.port = port or free_port()
        self.process = subprocess.Popen(
            [*(program or [exporter()]), "--from", source, "--listen", f"127.0.0.1:{self.port}", *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.first_line = self.process.stderr.readline()
        assert f"http://127.0.0.1:{self.port}/metrics" in self.first_line, self.first_line
        if pathlib.Path(source).is_file():
            assert "stands still" in self.process.stderr.readline()

    def scrape(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=PATIENCE_S) as answer:
            assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain")
            return answer.read().decode()

    def values(self, name):
        """Returns the values of a metric by their labels."""
        return {labels: float(value)
                for labels, value in re.findall(rf"^{name}(\{{.*\}}) (\S+)$", self.scrape(), re.MULTILINE)}

    def end(self, with_signal=signal.SIGTERM):
        self.process.send_signal(with_signal)
        status = self.process.wait(PATIENCE_S)
        # communicate() would leave out what readline() has buffered.
        return status, self.process.stderr.read()


@contextlib.contextmanager
def running(source, *options, **more):
    one = Running(source, *options, **more)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()
        one.process.stderr.close()
