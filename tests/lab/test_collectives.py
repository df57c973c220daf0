# SPDX-License-Identifier: MIT OR GPL-2.0
"""The experiment shared-collectives: jobs without a step, and machines with too few GPUs."""

import copy
import sys

import pytest
from building import ROOT

sys.path.insert(0, str(ROOT / "lab"))

# pylint: disable=wrong-import-position
from nvdlab import record  # noqa: E402
from nvdlab.bench import Failed  # noqa: E402


def test_a_job_without_a_step_has_waited_for_the_whole_measurement():
    experiment = record.experiment("shared-collectives")
    one = record.load(record.records("shared-collectives")["h200-580.159.04"])["data"]
    for way, claim in (("as it is", "small"), ("gang", "small_gang")):
        stuck = copy.deepcopy(one)
        stuck["reduce256k"][way][1] = {"per_s": 0, "ms": None}
        sentence, = (found.sentence for found in experiment.conclude(stuck) if found.key == claim)
        assert experiment.picture(stuck) and ("20,000,000 us beside" in sentence if way == "as it is" else "0.49 of the speed" in sentence)
    stuck = copy.deepcopy(one)
    stuck["reduce256m"]["gang"][0] = {"per_s": 0, "ms": None}
    assert not next(found.holds for found in experiment.conclude(stuck) if found.key == "large_gang")


def test_collectives_say_why_they_do_not_run_on_one_gpu(tmp_path, monkeypatch):
    experiment, smi = record.experiment("shared-collectives"), tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for count in (1, 2, 8):
        smi.write_text("#!/bin/sh\n" + "echo GPU\n" * count, encoding="utf-8")
        smi.chmod(0o755)
        if count == 1:
            with pytest.raises(Failed, match="it needs two GPUs, and this machine has one"):
                experiment.measure(None)
        else:
            assert experiment.gpus_of_this_machine() == list(range(min(count, 4)))
