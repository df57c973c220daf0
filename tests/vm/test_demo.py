# SPDX-License-Identifier: MIT OR GPL-2.0
"""`make demo` works with everything built."""

import re
import subprocess

import pytest
from nvdvm import paths

# The tests boot the demonstration a second time. Users run it before anything else.
pytestmark = pytest.mark.ci


@pytest.fixture(scope="module", autouse=True)
def everything_is_built(module, built):
    pass


def shares(text, title):
    """Returns the share of each task, in percent."""
    lines = text.partition(f"   {title}:")[2].splitlines()[1:4]
    return [int(re.search(r"(\d+) %$", line)[1]) for line in lines]


def test_demo():
    done = subprocess.run([paths.ROOT / "vm" / "demo"], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "runlist 0: GR0 LCE0 LCE1\n" in done.stdout
    assert shares(done.stdout, "all enabled") == pytest.approx([33, 33, 33], abs=1)
    assert shares(done.stdout, "task of TSG 1 disabled")[1] == 0
    assert shares(done.stdout, "TSG 0 has 8 ms, the others 2 ms")[0] > 60
    assert shares(done.stdout, "switched to TSG 2") == [0, 0, 100]
    assert "TSG 1  share 33.3%" in done.stdout and "\nR8 " in done.stdout
    # The lease has ended.
    assert "channel 0:3: enabled -> disabled\n" in done.stdout
    assert re.findall(r"Enabled: +(\d) ", done.stdout.partition("kill -9")[2]) == ["1", "1"]
