# SPDX-License-Identifier: MIT OR GPL-2.0
"""What nvdebugctl does when something is wrong: exit status, a sentence on stderr, JSON."""

import errno
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from ctl import ctl, table, tool, write_capture, write_tree
from surroundings import HIDDEN, hidden
from throwaway_root import needs_root


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """Two GPUs: an A100 under the workload with the most to show, and a GTX 1060."""
    return write_tree(tmp_path_factory.mktemp("proc") / "two", ("a100", "mixed"),
                      ("gtx1060-3gb", "fig6"))


@pytest.fixture
def one(tmp_path):
    """One GPU, for a test to damage."""
    return write_tree(tmp_path / "proc", ("a100", "fig7"))


def fails(result, status, *words):
    """One sentence on stderr, nothing else anywhere (but the same in JSON)."""
    assert result.status == status, (result.status, result.err)
    assert result.out == "" or result.json["error"]["message"] in result.err
    assert result.err.startswith("nvdebugctl: ") and result.err.count("\n") == 1, result.err
    for word in words:
        assert word in result.err, result.err


def edit(path, pattern, replacement):
    old = path.read_text()
    new = re.sub(pattern, replacement, old)
    assert new != old, f"{pattern} is not in {path}"
    path.write_text(new)


# --- the command line ---

@pytest.mark.parametrize("line, words", [
    ("gpus", ["no 'gpus'", "did you mean 'gpu'?", "--help"]),
    ("gpu", ["gpu", "verb", "list, show"]),
    ("gpu ls", ["'gpu'", "no verb 'ls'", "list, show"]),
    ("gpu lsit", ["no verb 'lsit'", "did you mean 'list'?"]),
    ("rnulist list", ["no 'rnulist'", "did you mean 'runlist'?"]),
    ("c list", ["no 'c'", "it may be channel or copy or check or capture or completion"]),
    ("t l", ["it may be tsg or task or topology or top"]),
    ("gpu list --bogus", ["--bogus"]),
    ("runlist show 0 --breif", ["--breif (did you mean '--brief'?); see"]),
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
    *((f"engine list {words}", ["--gpu needs a value: GPU; see"]) for words in ("-g", "--gpu=", "-g --no-header", "-g -j")),
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
    ("tsg timeslice 0:1 fast", ["'fast' is no time"]),
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
    ("help gpu list more", ["nothing else"]),
])
def test_usage(tree, line, words):
    fails(ctl(line, None if line.startswith(("completion", "help")) or not line else tree), 1,
          *words)


def test_no_words_at_all():
    """A list of the objects, where no other words would help."""
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
    """A script with an empty variable does not read this machine's GPUs."""
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
                                  "runlist show --help", "help", "help gpu", "--version"))
def test_help_is_an_answer(line):
    result = ctl(line)
    assert result.status == 0 and result.out and not result.err


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


# --- which GPU ---

@pytest.mark.parametrize("name", ("1", "gpu1", "GPU1", "0000:00:06.0", "00:06.0", "00000000:00:06.0", "0:6.0", "00:06", "GP106",
                                  "gp106"))
def test_gpu_by_any_name(tree, name):
    result = ctl(f"-g {name} -j gpu show", tree)
    assert result.json["gpu"]["index"] == result.data["index"] == 1
    assert result.err == ""


def test_gpu0_with_a_word_if_there_are_several(tree):
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
    assert result.status == 2 and "gpu1/device_info" in result.err
    assert {line.split()[0] for line in result.out.splitlines()[1:]} == {"0"}
    lists = write_capture(tmp_path / "lists", tree, {"gpu0/engines": "EACCES"})
    assert ctl("-g all engine list", lists).status == 4


@pytest.mark.parametrize("line", ("channel disable 0:2", "runlist tree --svg"))
def test_not_of_all_gpus(tree, line):
    if line.startswith("channel"):
        fails(ctl(f"-g all {line}"), 1, "one GPU")
    else:
        fails(ctl(f"-g all {line}", tree), 1, "one GPU")


def test_the_only_gpu_without_a_word(one):
    (one / "gpu0").rename(one / "gpu3")
    result = ctl("-j gpu show", one)
    assert (result.status, result.err, result.data["index"]) == (0, "", 3)


@pytest.mark.parametrize("name", ("2", "gpu2", "gpu", "0000:00:07.0", "0001:00:06.0", "GH100",
                                  "gp10"))
def test_no_such_gpu(tree, name):
    fails(ctl(["-g", name, "gpu", "show"], tree), 2, f"no GPU '{name}'", "GA100", "0000:00:06.0")


def test_chip_name_of_two_gpus(tmp_path):
    tree = write_tree(tmp_path / "proc", ("a100", "idle"), ("a100", "idle"))
    fails(ctl("-g ga100 gpu show", tree), 2, "several", "gpu0", "gpu1")


def test_no_gpu(tmp_path):
    fails(ctl("gpu show", tmp_path), 2, str(tmp_path), "no GPU")
    fails(ctl("gpu list", tmp_path), 2, str(tmp_path), "no GPU")


# --- no such thing on this GPU ---

@pytest.mark.parametrize("line, words", [
    ("runlist show 24", ["no runlist 24", "23"]),
    ("channel list 99", ["no runlist 99"]),
    ("tsg list 99", ["no runlist 99"]),
    ("channel show 0:999", ["runlist 0", "does not hold channel 999 now; it holds channels 20-22"]),
    ("channel show 99:20", ["no runlist 99"]),
    ("channel show 999", ["no runlist holds channel 999 now; runlist 0 holds channels 20-22"]),
    ("tsg show 0:999", ["runlist 0", "does not hold TSG 999 now; it holds TSGs 10-13"]),
    ("tsg show 999", ["no runlist holds TSG 999 now; runlist 0 holds TSGs 10-13"]),
    ("engine shared GR0 LCE77", ["no engine 'LCE77'", "LCE9"]),
    ("engine shared gr GR0", ["no engine 'gr'"]),
])
def test_not_there(tree, line, words):
    fails(ctl(f"-g 0 {line}", tree), 2, *words)
    document = ctl(f"-g 0 -j {line}", tree).json
    assert document["error"]["code"] == "not_found"


def test_bare_id_that_two_runlists_hold(one):
    text = (one / "gpu0/runlist0").read_text()
    for name in ("runlist2", "runlist2_brief"):
        (one / f"gpu0/{name}").write_text(
            re.sub(r"Runlist 0 -", "Runlist 2 -", text if name == "runlist2" else
                   (one / "gpu0/runlist0_brief").read_text()))
    fails(ctl("channel show 5", one), 2, "several", "0:5", "2:5")
    fails(ctl("tsg show 1", one), 2, "several", "0:1", "2:1")
    assert ctl("-j channel show 2:5", one).data["runlist"] == 2


def test_bare_id_that_one_runlist_holds(one):
    assert ctl("-j channel show 5", one).data["runlist"] == 0
    assert ctl("-j channel show 0x5", one).data["channel"] == 5


def test_not_supported(tmp_path):
    tree = write_tree(tmp_path / "proc", ("gtx980", "idle"))
    for line in ("copy show", "copy shared"):
        fails(ctl(line, tree), 3, "copy_topology")
        assert ctl(["-j", *line.split()], tree).json["error"]["code"] == "unsupported"
    fails(ctl("memory translate 0:1 0x1000", tree), 3, "live")


def test_unknown_chip(tmp_path):
    tree = write_tree(tmp_path / "proc", ("a100", "idle"))
    info = tree / "gpu0/info"
    for path in (tree / "gpu0").iterdir():
        if path != info:
            path.unlink()
    edit(info, r"chip: GA100", "chip: unknown")
    edit(info, r"generation: Ampere", "generation: -")
    edit(info, r"runlists: .*", "runlists: -")
    edit(info, r"(feature \w+): yes", r"\1: no (unknown chip)")
    shown = ctl("-j gpu show", tree).data
    assert shown["chip"] is None and not any(each["available"] for each in shown["features"])
    assert "unknown chip" in ctl("gpu show", tree).out
    fails(ctl("runlist list", tree), 3, "unknown chip")


# --- files that cannot be read or understood ---

def test_no_such_folder_or_capture(tmp_path):
    fails(ctl("gpu list", "/dev/zero"), 2, "/dev/zero", "neither a file, a pipe nor a folder")
    fails(ctl("gpu list", tmp_path / "nothing"), 2, str(tmp_path / "nothing"))
    (tmp_path / "gpu0").mkdir()
    fails(ctl("gpu list", tmp_path / "gpu0"), 2, "no gpu0/info", "the folder that gpu0 is in")
    document = ctl("-j gpu list", tmp_path / "nothing").json
    assert document["error"]["errno"] == "ENOENT" and document["source"] is None


@pytest.mark.parametrize("text", ("", "{}", "[1]", "not JSON", '{"format": "other"}'))
def test_file_that_is_no_capture(tmp_path, text):
    path = tmp_path / "capture"
    path.write_text(text)
    fails(ctl("gpu list", path), 2, str(path))


def test_capture_of_a_later_version(one, tmp_path):
    fails(ctl("gpu list", write_capture(tmp_path / "capture", one, version=99)), 3, "version")


def test_missing_file(one):
    (one / "gpu0/device_info").unlink()
    fails(ctl("engine list", one), 2, "gpu0/device_info")
    (one / "gpu0/runlist0").unlink()
    fails(ctl("runlist show 0", one), 2, "gpu0/runlist0")


@pytest.mark.parametrize("name, line", [
    ("info", "gpu show"), ("device_info", "engine list"), ("runlist0", "runlist show 0"),
    ("runlist0_brief", "runlist show 0 --brief"), ("copy_topology", "copy show"),
    ("num_gpcs", "topology show")])
@pytest.mark.parametrize("text", ("nonsense\n", "\0\1\2\n", "+----\n"))
def test_malformed_file(one, name, line, text):
    (one / "gpu0" / name).write_text(text)
    result = ctl(f"-j {line}", one)
    assert result.status == 2, result.out
    assert result.json["error"]["code"] == "malformed"
    assert f"gpu0/{name}" in result.err


def test_more_off_than_was_built(one):
    """A mask of more TPCs than a GPC was built with does not show how many are on."""
    (one / "gpu0/gpc0_tpc_mask").write_text("0xffff\n")
    gpcs = ctl("-j topology show", one).data["gpcs"]
    assert gpcs[0]["tpcs_on"] is None and gpcs[1]["tpcs_on"] is not None
    assert "gpc 0: - of 8 TPCs on, off: 0xffff" in ctl("topology show", one).out


@pytest.mark.parametrize("name, number", [("EACCES", "denied"), ("EIO", "io"), ("ENODEV", "gone"),
                                          ("EBUSY", "busy")])
def test_errno_of_a_file(one, tmp_path, name, number):
    capture = write_capture(tmp_path / "capture", one, {"gpu0/runlist0": name})
    result = ctl("-j runlist show 0", capture)
    assert result.status == 2
    error = result.json["error"]
    assert (error["code"], error["errno"]) == (number, name)
    assert error["path"].endswith("gpu0/runlist0")


# --- partial answers ---

def partial(result, *words):
    assert result.status == 4, (result.status, result.err)
    for word in words:
        assert word in result.err, result.err
    return result


@pytest.mark.parametrize("line, kept", [("runlist list", 23), ("channel list", 2), ("tsg list", 2)])
def test_one_list_that_cannot_be_read(tree, tmp_path, line, kept):
    capture = write_capture(tmp_path / "capture", tree, {"gpu0/runlist1_brief": "EIO"})
    whole = ctl(f"-j -g 0 {line}", tree)
    result = partial(ctl(f"-j -g 0 {line}", capture), "gpu0/runlist1_brief")
    assert result.data == [row for row in whole.data if row["runlist"] != 1]
    assert len(result.data) >= kept
    assert [each["errno"] for each in result.json["missing"]] == ["EIO"]
    for form in ("", "--csv"):
        partial(ctl(f"-g 0 {form} {line}", capture), "gpu0/runlist1_brief")


def test_no_list_can_be_read(one, tmp_path):
    names = {f"gpu0/{path.name}": "EACCES" for path in (one / "gpu0").glob("runlist*_brief")}
    capture = write_capture(tmp_path / "capture", one, names)
    for line in ("runlist list", "channel list", "tsg list", "channel show 5", "tsg show 0"):
        result = ctl(line, capture)
        if line != "channel show 5":
            fails(result, 2, "gpu0/runlist0_brief")


def test_channel_among_lists_some_of_which_cannot_be_read(one, tmp_path):
    capture = write_capture(tmp_path / "capture", one, {"gpu0/runlist3": "EIO"})
    assert partial(ctl("-j channel show 5", capture), "gpu0/runlist3").data["runlist"] == 0
    assert "lists that can be read" in ctl("channel show 999", capture).err.splitlines()[-1]
    assert ctl("-j channel show 0:5", capture).status == 0


def test_one_gpu_that_cannot_be_read(tree, tmp_path):
    capture = write_capture(tmp_path / "capture", tree, {"gpu1/info": "ENODEV"})
    result = partial(ctl("-j gpu list", capture), "gpu1/info")
    assert [row["index"] for row in result.data] == [0]


def test_no_gpu_can_be_read(tree, tmp_path):
    names = {"gpu0/info": "EACCES", "gpu1/info": "ENODEV"}
    for form in ("", "-j", "--csv"):
        fails(ctl(f"gpu list {form}", write_capture(tmp_path / "capture", tree, names)), 2,
              "gpu0/info")


@pytest.mark.parametrize("line", ("runlist show 0", "runlist show 0 --brief", "runlist list",
                                  "channel list", "channel show 0:5", "tsg list", "tsg show 0:1"))
def test_torn(one, line):
    for name in ("runlist0", "runlist0_brief"):
        edit(one / "gpu0" / name, "consistent", "      torn")
    result = partial(ctl(["-j", *line.split()], one), "gpu0/runlist0", "try again")
    assert [each["code"] for each in result.json["missing"]] == ["busy"]
    assert partial(ctl(line, one)).out
    if line.startswith("runlist show"):
        assert result.data["torn"] is True
        assert "torn" in ctl(line, one).out.splitlines()[0]
    if line == "tsg list":
        assert {row["share_percent"] for row in result.data if row["runlist"] == 0} == {None}


def test_list_in_an_undefined_aperture(one):
    for name in ("runlist0", "runlist0_brief"):
        path = one / "gpu0" / name
        box = path.read_text().split("+---- TSG", 1)[0]
        box = re.sub(r"(TSGs|Channels): ( +)\d+ \|", r"\1: \2- |", box)
        path.write_text(box.replace("     vid |", " invalid |"))
    result = partial(ctl("-j runlist show 0", one), "undefined aperture")
    assert (result.data["tsgs"], result.data["aperture"]) == (None, "invalid")


@pytest.mark.parametrize("line, file, column", [
    ("engine list", "engines", "status"), ("runlist list", "scheduling", "scheduling"),
    ("tsg list", "contexts", "spaces")])
def test_part_that_may_not_be_read(one, tmp_path, line, file, column):
    """Null, a sentence that names what is not shown, and exit status 4, whatever the reason."""
    for number in ("EACCES", "EIO", "EOPNOTSUPP", "ENODEV"):
        capture = write_capture(tmp_path / number, one, {f"gpu0/{file}": number})
        result = partial(ctl(f"-j {line}", capture), f"gpu0/{file}", "is not shown")
        assert {row[column] for row in result.data} == {None}
        assert [each["errno"] for each in result.json["missing"]] == [number]
    (one / "gpu0" / file).unlink()
    partial(ctl(f"-j {line}", one), f"gpu0/{file}", "is not shown")


@pytest.mark.parametrize("line", ("runlist list", "runlist show 0", "runlist tree", "check"))
@pytest.mark.parametrize("gone", (True, False))
def test_scheduling_of_a_runlist_that_cannot_be_read(one, line, gone):
    """The others' is shown."""
    path = one / "gpu0" / "scheduling"
    path.write_text(path.read_text().replace("\n0 on\n", "\n" if gone else "\n0 unreadable\n"))
    done = ctl(f"-j {line}", one)
    sentence = "whether scheduling is on is not shown of runlist 0: its registers cannot be read"
    assert sentence in done.err + str(done.json), done
    if line == "runlist list":
        assert [row["scheduling"] for row in partial(done, sentence).data][:2] == [None, True]


@pytest.mark.parametrize("number", ("EACCES", "EIO", "ENODEV"))
def test_sms_that_cannot_be_read(one, tmp_path, number):
    capture = write_capture(tmp_path / "capture", one, {"gpu0/sm_map": number})
    result = partial(ctl("-j topology show", capture), "gpu0/sm_map")
    assert result.data["sms"] is None and result.data["sms_note"] and result.data["designed_gpcs"]


LOCKED_DOWN = ("runlist0", "runlist0_brief", "contexts")


@pytest.fixture
def locked_down(one, tmp_path):
    """As under kernel lockdown: what lies in video memory that no BAR shows cannot be reached."""
    return write_capture(tmp_path / "locked", one,
                         {f"gpu0/{name}": "EOPNOTSUPP" for name in LOCKED_DOWN})


@pytest.mark.parametrize("line", ("check", "runlist tree", "runlist tree --svg", "runlist list",
                                  "capture {}"))
def test_lists_that_no_bar_shows_are_missing(locked_down, tmp_path, line):
    result = partial(ctl(line.format(tmp_path / "new"), locked_down), "runlist0_brief", "PRAMIN")
    assert result.out
    if line != "check":     # its answers name their subject
        assert result.err.count("PRAMIN") == 1, result.err


def test_a_capture_keeps_why_a_file_is_not_in_it(locked_down, tmp_path):
    result = ctl(f"-j capture {tmp_path / 'new'}", locked_down)
    assert [each["errno"] for each in result.json["missing"]] == ["EOPNOTSUPP"] * 3
    assert len(result.data["failed"]) == 3
    again = ctl("-j runlist show 0", tmp_path / "new")
    assert (again.status, again.json["error"]["errno"]) == (3, "EOPNOTSUPP")


def piped(words, **options):
    return subprocess.run([tool(), *words], capture_output=True, check=False, timeout=60, **options)


def test_a_capture_through_a_pipe(tree, tmp_path):
    made = piped(["--from", tree, "capture", "-"], cwd=tmp_path)
    assert not list(tmp_path.iterdir()), "no file of that name"
    assert (made.returncode, made.stderr) == (0, b"")
    shown = piped(["--from", "-", "-g", "1", "runlist", "tree"], input=made.stdout)
    assert shown.returncode == 0
    assert shown.stdout.decode() == ctl("-g 1 runlist tree", tree).out
    again = piped(["--from", "-", "capture", "-"], input=made.stdout)
    assert piped(["--from", "-", "gpu", "list"], input=again.stdout).returncode == 0


def test_what_is_no_capture_through_a_pipe(tree):
    for junk in (b"", b"{}", b"\x1f\x8b\x08junk"):
        result = piped(["--from", "-", "gpu", "list"], input=junk)
        assert result.returncode == 2 and b"standard input" in result.stderr
    fails(ctl("capture - -j", tree), 1, "name a file")
    terminal, end = pty.openpty()
    result = subprocess.run([tool(), "--from", tree, "capture", "-"], stdout=end,
                            stderr=subprocess.PIPE, check=False)
    os.close(end)
    os.close(terminal)
    assert result.returncode == 1 and b"cannot be shown on a terminal" in result.stderr


def test_one_sentence_for_all_that_fail_alike(one, tmp_path):
    names = sorted(path.name for path in (one / "gpu0").glob("runlist*_brief"))
    capture = write_capture(tmp_path / "capture", one,
                            {f"gpu0/{name}": "EIO" for name in names[1:]})
    for line in ("runlist list", "runlist tree"):
        result = partial(ctl(line, capture), f"and {len(names) - 3} more: ")
        assert result.err.count("\n") == 1, result.err
        assert len(ctl(f"-j {line}", capture).json["missing"]) == len(names) - 1
    check = ctl("check", capture)
    assert check.status == 4 and check.out.count("a register or memory that this needs") == 1


def test_hidden_addresses(one):
    """state_all=1: readers without the right get the word 'hidden' for each address."""
    for name in ("runlist0", "runlist0_brief", "contexts"):
        edit(one / "gpu0" / name, r"0x[0-9a-f]{8,}", lambda found: "hidden".rjust(len(found[0])))
    result = ctl("-j runlist show 0", one)
    assert result.status == 0 and "hidden" not in json.dumps(result.data)
    channel = result.data["items"][0]["channels"][0]
    assert channel["instance_address"] is None and channel["instance_aperture"] == "vid"
    assert result.data["address"] is None
    assert ctl("-j tsg list 0", one).data[1]["spaces"] == 3
    for line in ("runlist show 0", "channel list", "channel show 0:5", "tsg show 0:1"):
        assert ctl(line, one).status == 0


def test_finding_weighs_more_than_a_missing_part(one, tmp_path):
    capture = write_capture(tmp_path / "capture", one, {"gpu0/copy_topology": "EIO"})
    assert ctl("engine shared GR0 LCE0", capture).status == 2
    assert ctl("engine shared LCE2 LCE3 --pces", capture).status == 2


# --- stdout ---

def test_pipe_that_nobody_reads(one):
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([tool(), "--from", one, "-j", "runlist", "show", "0"], stdout=write,
                              stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (2, "")


def test_full_disk(one):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([tool(), "--from", one, "gpu", "show"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert os.strerror(errno.ENOSPC) in done.stderr and done.stderr.count("\n") == 1


def on_terminal(words, columns=0, **env):
    """What the tool prints when stdout is a terminal; without columns it has no size."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    done = subprocess.run([tool(), *words], stdout=end, env={**environment, **env}, check=False)
    os.close(end)
    output = b""
    try:
        while chunk := os.read(terminal, 65536):
            output += chunk
    except OSError:
        pass
    os.close(terminal)
    assert done.returncode == 0
    return output.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("line", ("gpu list", "gpu show", "runlist show 2 --brief",
                                  "topology show"))
def test_colour(tree, line):
    words = ["--from", str(tree), "-g", "0", *line.split()]
    if line == "gpu list":
        words = ["--from", str(tree), *line.split()]
    plain = ctl(words, env={"NO_COLOR": ""}).out
    coloured = on_terminal(words)
    assert "\033[" in coloured and "\033" not in plain
    # Colour alone has no meaning.
    assert re.sub(r"\033\[\d+m", "", coloured) == plain
    assert on_terminal(words, NO_COLOR="") == coloured
    assert on_terminal(words, NO_COLOR="1") == plain
    assert on_terminal([*words, "--color", "never"]) == plain
    assert on_terminal([*words, "--color", "always"], NO_COLOR="1") == coloured
    assert ctl([*words, "--color", "always"]).out == coloured


@pytest.mark.parametrize("line", ("-h", "runlist tree -h", "channel list --columns help", "check -h"))
def test_help_is_no_wider_than_the_terminal(line):
    for columns in (60, 80, 100):
        output = on_terminal(line.split(), columns)
        assert max(map(len, output.splitlines())) <= columns
        assert "".join(output.split()) == "".join(ctl(line).out.split())


def test_own_options_come_first():
    out = ctl("runlist show -h").out
    assert out.index("--brief") < out.index("--gpu") < out.index("--help")


def test_json_and_csv_have_no_colour(tree):
    for form in ("-j", "--csv"):
        assert "\033" not in ctl(f"gpu list {form} --color always", tree).out


def test_pretty_is_the_same_document(one):
    assert json.loads(ctl("runlist show 0 --pretty", one).out) == ctl("-j runlist show 0", one).json
    assert ctl("runlist show 0 --pretty", one).out.count("\n") > 100


# --- forms of tables ---

def columns_of(text):
    """{heading: [cell]} of a table as a person reads it, with what is broken put together; the
    headings that a line below names as left out."""
    lines = text.splitlines()
    left_out = re.fullmatch(r"This terminal is too narrow for (.*)\. A wider one shows all; so does "
                            r"a pipe\.", lines[-1])
    lines = lines[:-1] if left_out else lines
    starts = [match.start() for match in re.finditer(r"\S+", lines[0])]
    parts = [[line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
             for line in lines]
    broken = len(parts) > 1 and not parts[1][0]
    heads = ["_".join(filter(None, each)) for each in zip(*parts[:1 + broken], strict=True)]
    rows = []
    for row in parts[1 + broken:]:
        if row[0]:
            rows.append(row)
        else:
            rows[-1] = [before + more for before, more in zip(rows[-1], row, strict=True)]
    return (dict(zip(heads, zip(*rows, strict=True), strict=True)),
            left_out[1].split(", ") if left_out else [])


TABLES = ("gpu list", "engine list", "engine shared", "runlist list", "channel list", "tsg list",
          "copy show", "copy shared", "engine list -g all", "check -g all")


@pytest.mark.parametrize("columns", (40, 80, 200))
@pytest.mark.parametrize("line", TABLES)
@pytest.mark.parametrize("board, workload", (("gtx1060-3gb", "mixed"), ("a100", "fig7"), ("b200", "idle")))
def test_tables_fit_the_terminal(tmp_path, board, workload, line, columns):
    """Nothing is lost but whole columns, and those are named; at 80, only of lists of channels."""
    source = write_tree(tmp_path / "proc", (board, workload))
    words = ["--from", str(source), *line.split(), "--color", "never"]
    piped = ctl(words).out
    shown = on_terminal(words, columns)
    assert all(len(line) <= columns or line.startswith("This terminal") for line in shown.splitlines())
    if max(map(len, piped.splitlines())) <= columns:
        assert shown == piped
        return
    all_of_them, _ = columns_of(piped)
    fitting, left_out = columns_of(shown)
    assert [*fitting, *left_out] == list(all_of_them)
    for heading, cells in fitting.items():
        assert cells == all_of_them[heading]
    assert columns < 200 and (columns < 80 or line == "channel list")
    assert not {"RUNLIST", "CHANNEL", "TSG", "STATUS", "BUSY"} & set(left_out) or columns < 80


def test_lists_are_broken_within_their_column(tmp_path):
    source = write_tree(tmp_path / "proc", ("a100", "idle"))
    words = ["--from", str(source), "engine", "shared"]
    rows, left_out = columns_of(on_terminal([*words, "--color", "never"], 24))
    plain, _ = columns_of(ctl(words).out)
    assert (rows, left_out) == (plain, [])


def test_columns_asked_for_are_all_shown(tmp_path):
    source = write_tree(tmp_path / "proc", ("a100", "fig7"))
    words = ["--from", str(source), "channel", "list", "--color", "never"]
    for more in (["--columns", "channel,status,instance_address,instance_aperture"], ["--no-header"]):
        assert on_terminal([*words, *more], 40) == ctl([*words, *more]).out
    shown = on_terminal(["--from", str(source), "tsg", "show", "0:1", "--color", "never"], 80)
    assert "too narrow for INSTANCE_" in shown.splitlines()[-1]


def test_columns_and_header(tree):
    assert ctl("gpu list --csv --columns chip,index", tree).out == "chip,index\nGA100,0\nGP106,1\n"
    assert ctl("gpu list --csv --columns chip --no-header", tree).out == "GA100\nGP106\n"
    assert ctl("gpu list --columns chip,index", tree).out == (
        "CHIP   INDEX\nGA100  0\nGP106  1\n")
    assert ctl("gpu list --columns index --no-header", tree).out == "0\n1\n"


def test_tables_say_things_once_and_plainly(tmp_path):
    folder = write_tree(tmp_path / "proc", ("gtx1060-3gb", "mixed"))
    header, *lines = ctl("engine list", folder).out.splitlines()
    assert "NEXT" not in header, "no engine has one"
    assert re.search(r"^GR0 +0 +valid +TSG 10 ", lines[0]) and " idle " in lines[1]
    assert {row["status"] for row in ctl("-j engine list", folder).data} == {"valid", "invalid"}
    assert re.search(r"^0 +10 .* 20-22$", ctl("tsg list 0", folder).out, re.MULTILINE)
    assert "PBDMA" not in ctl("channel list", folder).out.splitlines()[0], "Pascal has no such bits"
    assert "pbdma_faulted" in ctl("channel list --csv", folder).out.splitlines()[0]
    assert "PBDMA_FAULTED" in ctl("channel list --columns pbdma_faulted", folder).out
    assert re.search(r"^0 +GR0,LCE0,LCE1 +on ", ctl("runlist list", folder).out, re.MULTILINE)
    shown = ctl("runlist show 0 --brief", folder).out
    assert shown.startswith("runlist 0  GR0,LCE0,LCE1  4 TSGs, 8 channels  scheduling on\n")
    assert "TSG 10  timeslice 1998.848us  share 66.1%\n" in shown
    assert re.search(r"TSG 10 +share 66.1% ", ctl("runlist tree", folder).out)


def test_leading_zeros_are_kept(tmp_path):
    folder = write_tree(tmp_path / "proc", ("gtx1060-3gb", "idle"))
    assert ctl("-j gpu show", folder).data["pci_class"] == "0x030000"
    folder = write_tree(tmp_path / "other", ("a100", "idle"))
    words = ctl("-j topology show", folder).data["work_distributor"]["gpc_tpc_id"]
    assert words[:3] == ["0x17273747", "0x46566607", "0x06162636"]


def test_runlist_show_as_a_table_if_columns_are_asked_for(one):
    assert ctl("runlist show 0 --columns tsg,channel --no-header", one).out.split() == (
        "0 0 0 1 1 2 1 3 1 4 1 5 1 6".split())


@pytest.mark.parametrize("words", ("gpu list", "process list", "task list", "--from driver gpu list",
                                   "--from module gpu list", "--from /proc gpu list", "--from /proc/. gpu list",
                                   "capture -"))
@pytest.mark.parametrize("where", HIDDEN)
def test_what_hides_gpus_comes_first(tmp_path, where, words):
    needs_root()
    done = subprocess.run(hidden(where, tmp_path, tool(), *words.split()), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"nvdebugctl: {HIDDEN[where][1]}") and done.stderr.count("\n") == 1
    assert done.stderr.count(HIDDEN[where][1]) == 1 and "give a capture" not in done.stderr


@pytest.mark.parametrize("where", HIDDEN)
def test_captures_and_folders_are_read_where_gpus_are_hidden(tmp_path, where):
    needs_root()
    folder = write_tree(tmp_path / "proc", ("a100", "fig7"))
    for source in (folder, write_capture(tmp_path / "capture", folder)):
        done = subprocess.run(hidden(where, tmp_path, tool(), "--from", source, "gpu", "list"),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "") and "GA100" in done.stdout
    (tmp_path / "empty").mkdir()
    done = subprocess.run(hidden(where, tmp_path, tool(), "--from", tmp_path / "empty", "gpu", "list"),
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and "empty holds no GPU" in done.stderr
