# SPDX-License-Identifier: MIT OR GPL-2.0
"""A running nvdebug-exporter, and waiting for what it shows."""

import contextlib
import re
import signal
import socket
import subprocess
import time
import urllib.request

from ctl import ROOT, exporter

CAPTURE = ROOT / "tests/hardware/h100-580.159.04/capture-owners"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what, seconds=30):
    """Its first answer that is not nothing."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come about")


class Running:
    def __init__(self, source, *options, port=None):
        self.port = port or free_port()
        self.process = subprocess.Popen(
            [exporter(), "--from", source, "--listen", f"127.0.0.1:{self.port}", *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.first_line = self.process.stderr.readline()
        assert f"http://127.0.0.1:{self.port}/metrics" in self.first_line, self.first_line

    def scrape(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=20) as answer:
            assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain")
            return answer.read().decode()

    def values(self, name):
        """By the rest of the line."""
        return {labels: float(value)
                for labels, value in re.findall(rf"^{name}(\{{.*\}}) (\S+)$", self.scrape(), re.MULTILINE)}

    def end(self, with_signal=signal.SIGTERM):
        self.process.send_signal(with_signal)
        rest = self.process.communicate(timeout=20)[1]
        return self.process.returncode, rest


@contextlib.contextmanager
def running(source, *options, **more):
    one = Running(source, *options, **more)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()
        one.process.stderr.close()
