# SPDX-License-Identifier: MIT OR GPL-2.0
"""The README's lines about nvdebugctl do what their comments promise, as they stand there."""

import os
import re
import subprocess

import pytest
from nvdvm import paths
from nvdvm.machine import Gpu, Machine
from waiting import comes_true, until


def lines():
    """Returns the section's lines of code, without sudo and comments."""
    text = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^## nvdebugctl\n```\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    return [line.partition("#")[0].strip().removeprefix("sudo ") for line in code.splitlines()]


SHOW, DISABLE, DISABLE_FOR_A_WHILE, SHARED = lines()


@pytest.fixture(scope="module")
def machine(module):
    with Machine([Gpu("gtx1060-3gb")], module=module) as one:
        yield one
        one.check_kernel()
        one.check_taint()


@pytest.fixture
def guest(machine):
    machine.models[0].request("restart", "three-tasks")
    return machine


def disabled(guest):
    """Returns the channels that the module shows as disabled."""
    text = guest.check("cat /proc/gpu0/runlist0_brief")
    return re.findall(r"Channel Info (\d+) [^|]*\| Enabled: +0 ", text)


def test_check_bare_takes_the_commands_as_they_stand():
    listed = subprocess.run([paths.ROOT / "scripts/check-bare"], check=True, text=True, stdout=subprocess.PIPE,
                            env=os.environ | {"LIST": "1"}).stdout.splitlines()
    assert listed == ["apt-get update && apt-get install -y git make", "make demo", "make check"]
    text = " ".join((paths.ROOT / "README.md").read_text(encoding="utf-8").split())
    assert all(f" {command} " in text or f"`{command}`" in text for command in listed)


def test_the_readme_shows_runlist_0(guest):
    seen = guest.check(SHOW)
    assert seen.startswith("runlist 0  GR0,LCE0,LCE1  3 TSGs, 6 channels")
    assert [line.split()[1] for line in seen.splitlines() if "channel " in line] == list("012345")


def test_the_readme_disables_channels(guest):
    assert disabled(guest) == []
    guest.check(DISABLE)
    assert disabled(guest) == ["2", "3"]


@pytest.mark.ci
def test_the_readme_disables_channels_for_a_while(guest):
    guest.check(f"({DISABLE_FOR_A_WHILE}; echo $? >/root/status) >/dev/null 2>/dev/null &")
    assert until(lambda: disabled(guest)) == ["2", "3"]
    assert comes_true(lambda: not disabled(guest)), "they stay disabled"
    assert guest.check("until [ -s /root/status ]; do sleep 0.1; done; cat /root/status") == "0\n"


def test_a_script_fails_when_engines_share_a_runlist(guest):
    as_user = "su user -c 'set -e; {}; echo independent'"
    done = guest.run(as_user.format(SHARED))
    assert (done.status, done.text, done.err) == (0, "independent\n", b"")
    done = guest.run(as_user.format(SHARED.replace("LCE2", "LCE0")))
    assert (done.status, done.text, done.err) == (2, "", b"")
