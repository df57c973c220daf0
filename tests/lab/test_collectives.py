# SPDX-License-Identifier: MIT OR GPL-2.0
"""The experiment shared-collectives, which needs two GPUs, on made-up data."""

import sys

import pytest
from building import ROOT

sys.path.insert(0, str(ROOT / "lab"))

# pylint: disable=wrong-import-position
from nvdlab import record  # noqa: E402
from nvdlab.bench import Failed  # noqa: E402


def set_ms(kind, way, number, length):
    def alter(data):
        data[kind][way][number]["ms"] = length and [length] * 4
    return alter


def set_per_s(kind, way, number, per_s):
    def alter(data):
        data[kind][way][number]["per_s"] = per_s
    return alter


def made_up_data():
    """Returns data as a machine with four GPUs would give them, if the conclusions hold. No machine was measured."""
    def found(alone_ms, alone_per_s, parts, ms):
        return {way: [{"per_s": part * alone_per_s, "ms": [length, length, length, length]} for part in of_way]
                for way, of_way, length in zip(("alone", "as it is", "gang"), ((1,), *parts), (alone_ms, *ms))}
    return {"gpus": 4, "card": "made up",
            "reduce256k": found(0.03, 33000, ((0.01, 0.01), (0.45, 0.45)), (4.5, 0.031)),
            "reduce256m": found(1.8, 550, ((0.2, 0.2), (0.5, 0.5)), (4.2, 1.85)),
            "train64": found(200, 5, ((0.4, 0.4), (0.5, 0.5)), (500, 205)),
            "train16": found(60, 16, ((0.25, 0.25), (0.55, 0.55)), (240, 62))}


ALTERATIONS = {
    "small": lambda data: [set_ms("reduce256k", "as it is", number, 0.1)(data) for number in (0, 1)],
    "large": lambda data: [set_ms("reduce256m", "as it is", number, 2.0)(data) for number in (0, 1)],
    "small_gang": set_ms("reduce256k", "gang", 1, 0.05),
    "large_gang": set_ms("reduce256m", "gang", 0, None),
    "train64_gang": set_per_s("train64", "gang", 0, 1.0),
    "train16_gang": set_per_s("train16", "as it is", 0, 16.0),
}


def test_collectives_conclude_from_data_of_two_jobs():
    experiment, good = record.experiment("shared-collectives"), made_up_data()
    claims = experiment.conclude(good)
    assert [claim.sentence for claim in claims if not claim.holds] == []
    assert sorted(ALTERATIONS) == sorted(claim.key for claim in claims)
    assert experiment.picture(good)
    for key, alter in ALTERATIONS.items():
        altered = made_up_data()
        alter(altered)
        assert key in {claim.key for claim in experiment.conclude(altered) if not claim.holds}, key


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
