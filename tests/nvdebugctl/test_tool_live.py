# SPDX-License-Identifier: MIT OR GPL-2.0
"""`watch` on a terminal of the guest: the screen is compared with what the model's tasks do."""

import re

import pytest
from nvdvm import paths
from typist import ScreenTypist

VM_RUN = [paths.ROOT / "vm" / "run", "--no-build", "--interactive", "--board", "gtx1060-3gb"]
PROMPT = b"guest# "
# Advances the GPU's time by a third of a timeslice again and again.
AT_WORK = "(while usleep 50000; do model 0 advance 700; done) >/dev/null 2>&1 &"


class Guest(ScreenTypist):
    """Types in the guest's shell, and reads the tasks on GR0 from the screen of `watch`."""

    def __init__(self, rows, columns):
        super().__init__(VM_RUN, rows, columns)
        self.wait_for(PROMPT)
        # pyte cannot do everything that an xterm can.
        self.run("export TERM=linux")

    def run(self, command):
        """Runs a command and returns the lines that it prints."""
        self.type(f"clear; {command}; echo status $?\r".encode())
        self.wait_until(lambda: "status 0" in self.lines)
        self.wait_for(PROMPT)
        return self.lines[:self.lines.index("status 0")]

    def watch_engines(self):
        self.type(b"clear; nvdebugctl watch -s 100; echo status $?\r")
        self.wait_until(lambda: self.samples() > 2 and self.lines[-1].startswith("q quit"))
        assert self.screen.cursor.hidden
        assert ("HISTORY" in "\n".join(self.lines)) == (self.screen.columns == 200)

    def quit(self):
        self.type(b"q")
        self.wait_for(b"status 0")
        self.wait_for(PROMPT)
        assert not self.screen.cursor.hidden

    def samples(self):
        found = re.match(r"nvdebugctl watch .* (\d+) samples?,", self.lines[0])
        return int(found[1]) if found else 0

    def on_gr0(self, wanted, samples=10):
        """Returns the tasks that were seen on GR0 in so many samples, or in more samples until all wanted tasks were
        seen."""
        seen, last = set(), self.samples() + samples

        def is_over():
            found = re.search(r"^GR0 +0  (TSG \d+|idle) ", "\n".join(self.lines), re.MULTILINE)
            seen.update({found[1]} if found else ())
            return wanted <= seen and self.samples() >= last
        self.wait_until(is_over)
        return seen - {"idle"}


@pytest.mark.rows(1)
@pytest.mark.parametrize("rows, columns", ((24, 80), (60, 200)))
def test_watch(built, rows, columns):
    guest = Guest(rows, columns)
    try:
        before = guest.run("stty -g")
        guest.run(f"{AT_WORK} nvdebugctl channel disable 2 3")
        guest.watch_engines()
        guest.on_gr0({"TSG 0", "TSG 2"})    # the timeslice of TSG 1 ends
        assert guest.on_gr0({"TSG 0", "TSG 2"}) == {"TSG 0", "TSG 2"}
        guest.quit()
        guest.run("nvdebugctl channel enable 2 3")
        guest.watch_engines()
        assert guest.on_gr0({"TSG 0", "TSG 1", "TSG 2"}) == {"TSG 0", "TSG 1", "TSG 2"}
        guest.quit()
        assert guest.run("stty -g") == before, "the terminal is as it was"
        guest.type(b"exit\r")
        assert guest.end() == (0, True)
    finally:
        guest.close()
