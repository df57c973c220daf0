# SPDX-License-Identifier: MIT OR GPL-2.0
"""Tests the plugin's pure functions: the options that users may give, and the bounds that shards set."""

import subprocess

import pytest
from building import ROOT, build
from waiting import PATIENCE_S

EVERY = "allow=share,cap,tpcs,timeslice,latency,best-effort,gang"


@pytest.fixture(scope="module", autouse=True)
def built():
    build("slurm_options")


def goal(shards, *words, gpus=1, tasks=1, nodes=False):
    """Returns the goal of a step and an empty sentence, or None and the sentence."""
    program = [ROOT / "build/cmake/tests/slurm/slurm_options", *(["nodes"] if nodes else [])]
    done = subprocess.run([*program, str(shards), str(gpus), str(tasks), *words],
                          capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode in (0, 1) and done.stdout.count("\n") == 1, done
    text = done.stdout.rstrip("\n")
    return (text, "") if done.returncode == 0 else (None, text)


@pytest.mark.parametrize("words, expected", (
    ([], "share:23.7500%"),
    (["--gpu-share=23.75%"], "share:23.75%"),
    (["--gpu-share=0.0001%"], "share:0.0001%"),
    (["--gpu-cap=23.75%"], "cap:23.75%"),
    (["--gpu-share=10%", "--gpu-cap=20%"], "share:10%,cap:20%"),
    (["--gpu-latency"], "cap:23.7500%,latency"),
    (["--gpu-latency", "--gpu-cap=5%"], "cap:5%,latency"),
    (["--gpu-best-effort"], "cap:23.7500%,best-effort"),
    (["--gpu-best-effort=1000"], "cap:23.7500%,best-effort:1000"),
    (["--gpu-tpcs=25%"], "-"),
))
def test_within_one_shard_of_four(words, expected):
    assert goal(1, "shards=4", EVERY, *words) == (expected, "")


@pytest.mark.parametrize("words", (
    ["--gpu-share=23.7501%"], ["--gpu-share=95%"], ["--gpu-share=100%"], ["--gpu-cap=23.7501%"], ["--gpu-cap=100%"],
    ["--gpu-share=10%", "--gpu-cap=30%"], ["--gpu-latency", "--gpu-cap=100%"], ["--gpu-best-effort", "--gpu-cap=24%"]))
def test_more_than_one_shard_of_four(words):
    given, sentence = goal(1, "shards=4", EVERY, *words)
    assert given is None
    assert "is more than the step's shards allow: 23.7500%, as it has 1 of 4 shards" in sentence


def test_shards_refuse_a_timeslice():
    given, sentence = goal(1, "shards=4", EVERY, "--gpu-timeslice=1us")
    assert given is None and "1 of 4 shards allow 23.7500%: ask for --gpu-share" in sentence


@pytest.mark.parametrize("shards, gpus, per_gpu, part", (
    (4, 1, 4, "95.0000%"), (8, 2, 4, "95.0000%"), (4, 2, 4, "47.5000%"), (1, 2, 4, "11.8750%"), (3, 2, 4, "35.6250%"),
    (1, 1, 10000, "0.0095%"), (1, 32, 10000, "0.0002%"), (320000, 32, 10000, "95.0000%")))
def test_parts_of_several_gpus(shards, gpus, per_gpu, part):
    argument = f"shards={per_gpu}"
    assert goal(shards, argument, gpus=gpus) == (f"share:{part}", "")
    assert goal(shards, argument, f"--gpu-share={part}", gpus=gpus) == (f"share:{part}", "")
    assert goal(shards, argument, EVERY, "--gpu-latency", gpus=gpus) == (f"cap:{part},latency", "")
    if part != "95.0000%":
        given, sentence = goal(shards, argument, "--gpu-share=95%", gpus=gpus)
        assert given is None and f"allow: {part}, as it has {shards} of {per_gpu * gpus} shards" in sentence


@pytest.mark.parametrize("shards", (5, 10000, 2**63, 2**64 - 1))
@pytest.mark.parametrize("words", ([], ["--gpu-share=10%"], ["--gpu-latency"], ["--gpu-tpcs=1%"]))
def test_more_shards_than_there_are(shards, words):
    given, sentence = goal(shards, "shards=4", EVERY, *words)
    assert given is None and f"the step has {shards} shards of 1 GPUs, and plugstack.conf has shards=4" in sentence


@pytest.mark.parametrize("value, tasks, most", (
    ("26%", 1, 25), ("100%", 1, 25), ("1", 1, 25), ("8", 1, 25), ("999", 1, 25), ("25%", 2, 12), ("13%", 2, 12), ("1%", 26, 0)))
def test_tpcs_beyond_the_shards(value, tasks, most):
    """A number of TPCs may be any part of a GPU, so shards allow only percentages."""
    given, sentence = goal(1, "shards=4", f"--gpu-tpcs={value}", tasks=tasks)
    assert given is None and f"with 1 of 4 shards, each of its {tasks} tasks may have --gpu-tpcs={most}%" in sentence


def test_tpcs_within_the_shards():
    assert goal(1, "shards=4", "--gpu-tpcs=12%", tasks=2) == ("-", "")
    assert goal(4, "shards=4", "--gpu-tpcs=100%") == ("-", "")
    assert goal(0, "shards=4", "--gpu-tpcs=999") == ("-", ""), "a whole GPU"


def test_without_shards_nothing_is_bounded():
    for words in (["--gpu-share=100%"], ["--gpu-cap=100%"]):
        for shards, arguments in ((0, ["shards=4"]), (1, [])):
            assert goal(shards, *arguments, *words)[0] == words[0].removeprefix("--gpu-").replace("=", ":")
    assert goal(0, EVERY, "--gpu-timeslice=2ms") == ("timeslice:2ms", "")


@pytest.mark.parametrize("words, expected", (
    (["--gpu-share=30%", "--gpu-gang=off"], "share:30%,gang=off"),
    (["--gpu-gang=off", "--gpu-latency", "--gpu-cap=60%"], "cap:60%,latency,gang=off"),
    (["--gpu-best-effort", "--gpu-gang=off"], "best-effort,gang=off"),
    (["--gpu-share=30%", "--gpu-gang=on"], "share:30%"), (["--gpu-gang=off"], "-")))
def test_tasks_that_do_not_wait_for_each_other(words, expected):
    assert goal(0, EVERY, *words) == (expected, "")


def test_shards_and_tasks_that_do_not_wait_for_each_other():
    assert goal(1, "shards=4", "--gpu-gang=off") == ("share:23.7500%,gang=off", "")
    assert goal(1, "shards=4", EVERY, "--gpu-latency", "--gpu-gang=off") == ("cap:23.7500%,latency,gang=off", "")
    given, sentence = goal(1, "shards=4", "--gpu-share=24%", "--gpu-gang=off")
    assert given is None and "is more than the step's shards allow" in sentence


OPTIONS = {"share": "--gpu-share=10%", "cap": "--gpu-cap=10%", "tpcs": "--gpu-tpcs=1%", "timeslice": "--gpu-timeslice=1ms",
           "latency": "--gpu-latency", "best-effort": "--gpu-best-effort", "gang": "--gpu-gang=off"}


@pytest.mark.parametrize("argument, allowed", (
    ([], {"share", "cap", "tpcs", "best-effort", "gang"}), (["allow="], set()), (["allow=share"], {"share"}),
    (["allow=latency,timeslice"], {"latency", "timeslice"}), ([EVERY], set(OPTIONS)), (["allow=cap,cap"], {"cap"}),
    (["allow=latency", "allow=cap"], {"cap"})))
def test_allowed_options(argument, allowed):
    for name, option in OPTIONS.items():
        given, sentence = goal(0, *argument, option)
        assert (given is not None) == (name in allowed), name
        if name not in allowed:
            assert f"does not allow --gpu-{name} (plugstack.conf, allow=)" in sentence
            shown = sentence.partition("are allowed: ")[2].split()
            assert set(shown) == ({f"--gpu-{each}" for each in allowed} or {"none"})


@pytest.mark.parametrize("value", ("x", "share,", ",share", ",", "share,,cap", "Share", "gpu-share", "share cap", "sharecap", "shar",
                                   "all", "share;cap"))
def test_wrong_lists_of_options_are_refused(value):
    given, sentence = goal(0, f"allow={value}")
    assert given is None and f"plugstack.conf gives spank_nvdebug.so 'allow={value}'" in sentence


@pytest.mark.parametrize("words, expected", (
    (["--gpu-share=30%"], "share:30%,gang=nodes"),
    (["--gpu-share=30%", "--gpu-gang=on"], "share:30%,gang=nodes"),
    (["--gpu-share=30%", "--gpu-gang=off"], "share:30%,gang=off"),
    (["--gpu-best-effort=3", "--gpu-cap=20%"], "cap:20%,best-effort:3,gang=nodes"),
    (["--gpu-latency"], "latency,gang=nodes"),
    (["--gpu-latency", "--gpu-cap=20%"], "cap:20%,latency"),
    (["--gpu-timeslice=5ms"], "timeslice:5ms"),
    (["--gpu-tpcs=25%"], "-"),
    ([], "-"),
))
def test_tasks_on_several_nodes(words, expected):
    assert goal(0, EVERY, *words, nodes=True) == (expected, "")
