# SPDX-License-Identifier: MIT OR GPL-2.0
"""What nvdebugctl does when something is wrong: exit status, a sentence on stderr, JSON."""

import errno
import json
import os
import pty
import re
import subprocess

import pytest
from ctl import ctl, tool, write_capture, write_tree


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
    ("", ["object", "verb", "--help"]),
    ("gpus", ["no 'gpus'", "--help"]),
    ("gpu", ["gpu", "verb", "list, show"]),
    ("gpu ls", ["'gpu'", "no verb 'ls'", "list, show"]),
    ("gpu lis", ["no verb 'lis'"]),
    ("runlis list", ["no 'runlis'"]),
    ("gpu list --bogus", ["--bogus"]),
    ("gpu list -x", ["-x"]),
    ("gpu list extra", ["'extra'"]),
    ("gpu list -g 0", ["no use for --gpu"]),
    ("gpu show --csv", ["'gpu show'", "no use for --csv"]),
    ("gpu show --columns index", ["no use for --columns"]),
    ("gpu show --no-header", ["no use for --no-header"]),
    ("engine list --brief", ["no use for --brief"]),
    ("--brief engine list", ["no use for --brief"]),
    ("completion bash -j", ["no use for --json"]),
    ("completion bash -g 0", ["no use for --gpu"]),
    ("help --from /proc", ["no use for --from"]),
    ("engine list -j --csv", ["--json", "--csv", "exclude"]),
    ("engine list --pretty --csv", ["--pretty", "--csv", "exclude"]),
    ("engine list -j --columns engine", ["--columns", "no use with --json"]),
    ("engine list -j --no-header", ["--no-header", "no use with --json"]),
    ("engine list --columns engine,bogus", ["no column 'bogus'", "--columns help"]),
    ("engine list --columns", ["--columns"]),
    ("engine list --columns=", ["--columns"]),
    ("engine list --color sometimes", ["auto, always, never", "'sometimes'"]),
    ("engine list -g", ["--gpu"]),
    *((f"gpu list {word}", [f"{word.split('=')[0]} takes no value"])
      for word in ("--json=false", "--json=true", "--csv=", "--no-header=0")),
    ("--dry-run=false channel disable 0:1", ["--dry-run takes no value"]),
    ("engine shared GR0", ["two engines or none"]),
    ("engine shared GR0 LCE0 LCE1", ["two engines or none"]),
    ("engine shared GR0 LCE0 --csv", ["no use for --csv"]),
    ("-g 0 engine shared GR0 gr0", ["one engine"]),
    ("engine shared --quiet", ["no use for --quiet"]),
    ("engine shared --pces", ["no use for --pces"]),
    ("runlist show", ["RUNLIST"]),
    ("runlist show 0 1", ["'1'"]),
    *((f"runlist show {word}", [f"'{word}' is no runlist"])
      for word in ("x", "0x", "0xg", "08", "1.5", "4294967296", "0:1", "gr0")),
    *((f"{what} show {word}", [f"'{word}' is no {name}"])
      for what, name in (("channel", "channel"), ("tsg", "TSG"))
      for word in ("x", "1:", ":1", "1:2:3", "4294967296", "0:0x", "1,2")),
    ("channel list x", ["'x' is no runlist"]),
    ("memory translate 0:1", ["VA"]),
    ("memory translate 0:1 0x1000 fast", ["'fast' is no OPTION", "base"]),
    *((f"memory translate {word} 0x1000", [f"'{word}' is no SPACE"])
      for word in ("x", "0x", "0:", ":1", "0x1000:video", "0:1:2")),
    *((f"memory translate 0:1 {word}", [f"'{word}' is no virtual address"])
      for word in ("x", "0x", "1g", "0x10000000000000000")),
    ("memory translate 0:1 0x1000 v1", ["no use for v1"]),
    ("memory translate 0x1000:coh 0 base", ["no use for base"]),
    ("help bogus", ["no 'bogus'"]),
    ("help gpu bogus", ["no verb 'bogus'"]),
    ("help gpu list more", ["nothing else"]),
])
def test_usage(tree, line, words):
    fails(ctl(line, None if line.startswith(("completion", "help")) or not line else tree), 1,
          *words)


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

@pytest.mark.parametrize("name", ("1", "gpu1", "0000:00:06.0", "00:06.0", "GP106", "gp106"))
def test_gpu_by_any_name(tree, name):
    result = ctl(f"-g {name} -j gpu show", tree)
    assert result.json["gpu"]["index"] == result.data["index"] == 1
    assert result.err == ""


def test_gpu0_with_a_word_if_there_are_several(tree):
    result = ctl("-j gpu show", tree)
    assert result.status == 0 and result.data["index"] == 0
    assert "gpu0" in result.err and "2 GPUs" in result.err and "-g" in result.err


def test_the_only_gpu_without_a_word(one):
    (one / "gpu0").rename(one / "gpu3")
    result = ctl("-j gpu show", one)
    assert (result.status, result.err, result.data["index"]) == (0, "", 3)


@pytest.mark.parametrize("name", ("2", "gpu2", "gpu", "0000:00:07.0", "0001:00:06.0", "GH100",
                                  "gp10", ""))
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
    ("channel show 0:999", ["runlist 0", "no channel 999"]),
    ("channel show 99:20", ["no runlist 99"]),
    ("channel show 999", ["no runlist", "channel 999"]),
    ("tsg show 0:999", ["runlist 0", "no tsg 999"]),
    ("tsg show 999", ["no runlist", "tsg 999"]),
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
    fails(ctl("gpu list", "/dev/zero"), 2, "/dev/zero", "neither a regular file nor a folder")
    fails(ctl("gpu list", tmp_path / "nothing"), 2, str(tmp_path / "nothing"))
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
    """A mask of more TPCs than a GPC was built with tells nothing of how many are on."""
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
    assert "that can be read" in ctl("channel show 999", capture).err.splitlines()[-1]
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
    """Null and a word, but no failure; unlike a part that should have been readable."""
    denied = write_capture(tmp_path / "denied", one, {f"gpu0/{file}": "EACCES"})
    result = ctl(f"-j {line}", denied)
    assert result.status == 0 and f"gpu0/{file}" in result.err
    assert {row[column] for row in result.data} == {None}
    assert "-" in ctl(line, denied).out
    broken = write_capture(tmp_path / "broken", one, {f"gpu0/{file}": "EIO"})
    assert {row[column] for row in partial(ctl(f"-j {line}", broken), file).data} == {None}


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


def on_terminal(words, **env):
    """What the tool prints when stdout is a terminal."""
    terminal, end = pty.openpty()
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
    # Colour alone says nothing.
    assert re.sub(r"\033\[\d+m", "", coloured) == plain
    assert on_terminal(words, NO_COLOR="") == coloured
    assert on_terminal(words, NO_COLOR="1") == plain
    assert on_terminal([*words, "--color", "never"]) == plain
    assert on_terminal([*words, "--color", "always"], NO_COLOR="1") == coloured
    assert ctl([*words, "--color", "always"]).out == coloured


def test_json_and_csv_have_no_colour(tree):
    for form in ("-j", "--csv"):
        assert "\033" not in ctl(f"gpu list {form} --color always", tree).out


def test_pretty_is_the_same_document(one):
    assert json.loads(ctl("runlist show 0 --pretty", one).out) == ctl("-j runlist show 0", one).json
    assert ctl("runlist show 0 --pretty", one).out.count("\n") > 100


# --- forms of tables ---

def test_columns_and_header(tree):
    assert ctl("gpu list --csv --columns chip,index", tree).out == "chip,index\nGA100,0\nGP106,1\n"
    assert ctl("gpu list --csv --columns chip --no-header", tree).out == "GA100\nGP106\n"
    assert ctl("gpu list --columns chip,index", tree).out == (
        "CHIP   INDEX\nGA100  0\nGP106  1\n")
    assert ctl("gpu list --columns index --no-header", tree).out == "0\n1\n"


def test_runlist_show_as_a_table_if_columns_are_asked_for(one):
    assert ctl("runlist show 0 --columns tsg,channel --no-header", one).out.split() == (
        "0 0 0 1 1 2 1 3 1 4 1 5 1 6".split())
