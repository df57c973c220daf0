# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvdebugctl records several GPUs over the stand-in for the driver. Takes root, as the stand-in does."""

import json
import subprocess

import pytest
from building import built
from waiting import PATIENCE_S

pytest_plugins = ["qos_machine"]


def recorded(machine, *words):
    """Returns the summary of half a second of each GPU."""
    done = subprocess.run([built("tests/qos/nvdebugctl_stand_in"), "-g", "all", "record", "--for", "500ms", "-j", *words],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
                          env=machine.environment())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["data"]


@pytest.mark.parametrize("gpus, words, period_us", ((1, (), 100_000), (4, (), 400_000), (4, ("--rate", "20"), 50_000)))
def test_gpus_share_the_samples_unless_a_rate_is_given(machine, monkeypatch, gpus, words, period_us):
    """The driver takes longest for samples, so that recording eight GPUs would take 5 % of a core by itself."""
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", str(gpus))
    task = machine.process(gpus=range(gpus))
    summary = recorded(machine, *words)
    assert summary["period_us"] == period_us
    turns = {engine["gpu"] for engine in summary["engines"] if any(holder["pid"] == task.pid for holder in engine["holders"])}
    assert turns == set(range(gpus))
