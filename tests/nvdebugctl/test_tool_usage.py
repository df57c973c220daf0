# SPDX-License-Identifier: MIT OR GPL-2.0
"""Command lines of nvdebugctl, right and wrong, and the GPU that they choose."""

import json
import re

import pytest
from ctl import ctl, table, write_capture, write_tree
from trees import fails


# --- the command line ---

@pytest.mark.parametrize("line, words", [
    ("gpus", ["no 'gpus'", "did you mean 'gpu'?", "--help"]),
    ("gpu", ["gpu", "verb", "list, show"]),
    ("gpu ls", ["'gpu'", "no verb 'ls'", "list, show"]),
    ("gpu lsit", ["no verb 'lsit'", "did you mean 'list'?"]),
    ("rnulist list", ["no 'rnulist'", "did you mean 'runlist'?"]),
    ("c list", ["no 'c'", "it may be channel, copy, check, capture or completion"]),
    ("t l", ["it may be tsg, task, topology or top"]),
    ("gpu list --bogus", ["--bogus"]),
    ("runlist show 0 --breif", ["--breif (did you mean --brief?); see"]),
    ("channel preemption 0:1 cliP", ["'cliP' is no MODE", "did you mean 'cilp'?"]),
    ("gpu list -x", ["-x"]),
    ("gpu list extra", ["'extra'"]),
    ("gpu list -g 0", ["does not take --gpu"]),
    ("gpu show --csv", ["'gpu show'", "does not take --csv"]),
    ("gpu show --columns index", ["does not take --columns"]),
    ("gpu show --no-header", ["does not take --no-header"]),
    ("engine list --brief", ["does not take --brief"]),
    ("--brief engine list", ["does not take --brief"]),
    ("completion bash -j", ["does not take --json"]),
    ("completion bash -g 0", ["does not take --gpu"]),
    ("help --from /proc", ["does not take --from"]),
    ("engine list -j --csv", ["--json", "--csv", "exclude"]),
    ("engine list --pretty --csv", ["--pretty", "--csv", "exclude"]),
    ("engine list -j --columns engine", ["--columns", "no effect with --json"]),
    ("engine list -j --no-header", ["--no-header", "no effect with --json"]),
    ("engine list --columns engine,bogus", ["no column 'bogus'", "--columns help"]),
    *((f"engine list {words}", ["--columns needs a value: A,B,...; see 'nvdebugctl engine list --help'"])
      for words in ("--columns", "--columns=")),
    ("engine list --color sometimes", ["auto, always, never", "'sometimes'"]),
    *((f"engine list {words}", ["--gpu needs a value: GPU; see"])
      for words in ("-g", "--gpu=", "-g --no-header", "-g -j")),
    *((f"engine list {words}", ["--gpu is given twice; see"]) for words in ("-g 0 -g 1", "--gpu=0 -g 1")),
    *((f"gpu list {word}", [f"{word.split('=')[0]} takes no value"])
      for word in ("--json=false", "--json=true", "--csv=", "--no-header=0")),
    ("--dry-run=false channel disable 0:1", ["--dry-run takes no value"]),
    ("engine shared GR0", ["two engines or none"]),
    ("engine shared GR0 LCE0 LCE1", ["two engines or none"]),
    ("engine shared GR0 LCE0 --csv", ["does not take --csv"]),
    ("-g 0 engine shared GR0 gr0", ["one engine"]),
    ("engine shared --quiet", ["does not take --quiet"]),
    ("engine shared --pces", ["does not take --pces"]),
    ("runlist show", ["RUNLIST"]),
    ("runlist show 0 1", ["'1'"]),
    *((f"runlist show {word}", [f"'{word}' is no runlist"])
      for word in ("x", "0x", "0xg", "08", "010", "00", "1.5", "4294967296", "0:1", "gr0")),
    *((f"{what} show {word}", [f"'{word}' is no {name}"])
      for what, name in (("channel", "channel"), ("tsg", "TSG"))
      for word in ("x", "1:", ":1", "1:2:3", "4294967296", "0:0x", "1,2", "010", "0:010", "00:1")),
    ("channel list x", ["'x' is no runlist"]),
    *((f"tsg timeslice 0:1 {time}", ["1.024us to 8.556380160s", f"{time} is {word} than that",
                                     "nothing was written"])
      for time, word in (("1us", "shorter"), ("0", "shorter"), ("1.023us", "shorter"),
                         ("9s", "longer"), ("8556380.161", "longer"))),
    ("tsg timeslice 0:1 fast", ["'fast' is not a time"]),
    ("memory translate 0:1", ["VA"]),
    ("memory translate 0:1 0x1000 fast", ["'fast' is no OPTION", "base"]),
    *((f"memory translate {word} 0x1000", [f"'{word}' is no SPACE"])
      for word in ("x", "0x", "0:", ":1", "0x1000:video", "0:1:2")),
    *((f"memory translate 0:1 {word}", [f"'{word}' is no virtual address"])
      for word in ("x", "0x", "1g", "0x10000000000000000")),
    ("memory translate 0:1 0x1000 v1", ["does not take v1"]),
    ("memory translate 0x1000:coh 0 base", ["does not take base"]),
    ("help bogus", ["no 'bogus'"]),
    ("help gpu bogus", ["no verb 'bogus'"]),
    ("help gup", ["no 'gup'", "did you mean 'gpu'?"]),
    ("help gpu lsit", ["no verb 'lsit'", "did you mean 'list'?"]),
    ("--versoin", ["--versoin (did you mean --version?)"]),
    ("help gpu list more", ["nothing else"]),
])
def test_usage(tree, line, words):
    fails(ctl(line, None if line.startswith(("completion", "help")) or not line else tree), 1,
          *words)


def test_no_words_at_all():
    """Without any word, the tool lists its objects, because no other words would help."""
    result = ctl([])
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("Usage: nvdebugctl ") and "--help" in result.err
    assert re.findall(r"^  (\w+)", result.err, re.MULTILINE) == list(
        dict.fromkeys(command["object"] for command in table()))


@pytest.mark.parametrize("short, whole", [
    ("g l", "gpu list"), ("runl sh 0", "runlist show 0"), ("run sh 0", "runlist show 0"), ("-g 1 runl -j s 0 --brief",
                                                                                           "-g 1 runlist -j show 0 --brief"),
    ("en l --csv", "engine list --csv"), ("topo s", "topology show"), ("che", "check"),
    ("runl t", "runlist tree"), ("runl sh -h", "runlist show -h")])
def test_words_cut_short(tree, short, whole):
    expected = ctl(whole, tree)
    assert ctl(short, tree) == expected and expected.out


def test_an_argument_is_not_completed(tree):
    fails(ctl("-g 1 engine shared GR LCE", tree), 2, "no engine 'LCE'")


@pytest.mark.parametrize("words", (["--from", ""], ["--from="], ["--from"], ["--from", "--csv"]))
def test_no_source_is_not_this_machine(words):
    """If a script's variable is empty, the tool does not read this machine's GPUs."""
    fails(ctl(["gpu", "list", *words]), 1, "--from needs a value: module|driver|FILE; see")


def test_usage_reads_nothing(tmp_path):
    for line in ("gpu show --csv", "runlist show x", "engine list -j --csv",
                 "engine shared GR0"):
        fails(ctl(line, tmp_path / "nothing"), 1)


def test_options_stand_anywhere(tree):
    expected = ctl("-g 1 -j runlist show 0 --brief", tree).out
    for line in ("--brief -j -g 1 runlist show 0", "runlist -j --brief -g 1 show 0",
                 "runlist show -g 1 0 --json --brief", "runlist show --gpu=1 0 -j --brief"):
        assert ctl(line, tree).out == expected


@pytest.mark.parametrize("line", ("-h", "--help", "gpu -h", "gpu list --help", "-h gpu list",
                                  "runlist show --help", "help", "help gpu", "--version", "-V", "gpu list -V"))
def test_help_is_an_answer(line):
    result = ctl(line)
    assert result.status == 0 and result.out and not result.err


def test_help_has_lines_of_80_columns_where_there_is_no_terminal():
    for line in ("help", *(f"help {command['object']} {command['verb'] or ''}" for command in table())):
        for each in ctl(line).out.splitlines():
            # Words that users may paste are in one piece.
            assert len(each) <= 80 or " " not in each.strip(), (line, each)


def test_a_shell_that_is_not_known_is_not_taken_for_another():
    said = ctl("completion tcsh").err
    assert "did you mean" not in said and "bash, zsh, fish" in said


def test_json_of_a_usage_error(tree):
    for line, name in (("bogus -j", "error"), ("gpu -j", "error"), ("-j", "error"),
                       ("gpu list -j --csv", "gpu.list"), ("-j runlist show x", "runlist.show"),
                       ("-j completion bash", "error")):
        result = ctl(line, None if "completion" in line else tree)
        document = result.json
        assert result.status == 1
        assert document["schema"] == f"nvdebug/{name}"
        assert document["error"]["code"] == "usage" and document["error"]["errno"] is None
        assert result.err == f"nvdebugctl: {document['error']['message']}\n"


# --- the choice of a GPU ---

@pytest.mark.parametrize("name", ("1", "gpu1", "GPU1", "0000:00:06.0", "00:06.0", "00000000:00:06.0", "0:6.0", "00:06", "GP106",
                                  "gp106"))
def test_gpu_by_any_name(tree, name):
    result = ctl(f"-g {name} -j gpu show", tree)
    assert result.json["gpu"]["index"] == result.data["index"] == 1
    assert result.err == ""


def test_gpu0_is_used_with_a_note_if_there_are_several(tree):
    result = ctl("-j gpu show", tree)
    assert result.status == 0 and result.data["index"] == 0
    assert "gpu0" in result.err and "2 GPUs" in result.err and "-g" in result.err


def test_all_gpus_in_one_table(tree):
    each = [ctl(f"-g {n} -j engine list", tree).data for n in (0, 1)]
    result = ctl("-g all engine list", tree)
    assert (result.status, result.err) == (0, "")
    header, *lines = result.out.splitlines()
    assert header.split()[:2] == ["GPU", "ENGINE"]
    assert [tuple(line.split()[:2]) for line in lines] == [
        (str(n), row["engine"]) for n in (0, 1) for row in each[n]]
    rows = ctl("-g all engine list --csv --columns engine", tree).out.splitlines()
    assert rows == ["gpu,engine", *(f"{n},{row['engine']}" for n in (0, 1) for row in each[n])]


def test_all_gpus_as_json_is_a_document_for_each(tree):
    lines = ctl("-g all -j runlist tree", tree).out.splitlines()
    assert [json.loads(line)["gpu"]["index"] for line in lines] == [0, 1]
    assert [json.loads(line)["data"] for line in lines] == [
        ctl(f"-g {n} -j runlist tree", tree).data for n in (0, 1)]


def test_all_gpus_as_text_has_a_heading_for_each(tree):
    out = ctl("-g all gpu show", tree).out
    assert re.findall(r"^gpu\d .*", out, re.MULTILINE) == [
        "gpu0 (GA100, 0000:00:0a.0)", "gpu1 (GP106, 0000:00:06.0)"]
    assert out.count("feature runlist: yes") == 2


def test_all_gpus_have_a_row_each_in_check(tree):
    result = ctl("-g all check", tree)
    header, *lines = result.out.splitlines()
    assert header.split() == ["GPU", *(f"R{n}" for n in range(1, 9))]
    statuses = []
    for index, line in enumerate(lines):
        one = ctl(f"-g {index} -j check", tree)
        statuses.append(one.status)
        assert line.split() == [str(index), *(each["verdict"] for each in one.data["findings"])]
    assert len(lines) == 2 and result.status == max(statuses)


def test_all_gpus_where_one_cannot_be_read(tree, tmp_path):
    capture = write_capture(tmp_path / "capture", tree, {"gpu1/device_info": "EIO"})
    result = ctl("-g all engine list", capture)
    assert result.status == 5 and "gpu1/device_info" in result.err
    assert {line.split()[0] for line in result.out.splitlines()[1:]} == {"0"}
    lists = write_capture(tmp_path / "lists", tree, {"gpu0/engines": "EACCES"})
    assert ctl("-g all engine list", lists).status == 4


@pytest.mark.parametrize("line", ("channel disable 0:2", "runlist tree --svg"))
def test_commands_about_one_gpu_refuse_all(tree, line):
    if line.startswith("channel"):
        fails(ctl(f"-g all {line}"), 1, "one GPU")
    else:
        fails(ctl(f"-g all {line}", tree), 1, "one GPU")


def test_the_only_gpu_is_used_without_a_note(one):
    (one / "gpu0").rename(one / "gpu3")
    result = ctl("-j gpu show", one)
    assert (result.status, result.err, result.data["index"]) == (0, "", 3)


@pytest.mark.parametrize("name", ("2", "gpu2", "gpu", "0000:00:07.0", "0001:00:06.0", "GH100",
                                  "gp10"))
def test_no_such_gpu(tree, name):
    fails(ctl(["-g", name, "gpu", "show"], tree), 1, f"no GPU '{name}'", "GA100", "0000:00:06.0")


def test_chip_name_of_two_gpus(tmp_path):
    tree = write_tree(tmp_path / "proc", ("a100", "idle"), ("a100", "idle"))
    fails(ctl("-g ga100 gpu show", tree), 1, "several", "gpu0", "gpu1")


def test_no_gpu(tmp_path):
    fails(ctl("gpu show", tmp_path), 1, str(tmp_path), "no GPU")
    fails(ctl("gpu list", tmp_path), 1, str(tmp_path), "no GPU")
