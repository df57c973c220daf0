# SPDX-License-Identifier: MIT OR GPL-2.0
"""If a GPU lacks something, or files cannot be read, nvdebugctl has an exit status, a sentence on stderr and JSON for
it."""

import json
import os
import pty
import re
import subprocess

import pytest
from ctl import ctl, tool, write_capture, write_tree
from trees import edit, fails, piped


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
    ("engine shared GR0 LCE77", ["no engine 'LCE77' (did you mean 'LCE7'?)", "lists its 27 engines"]),
    ("engine shared gr GR0", ["no engine 'gr'"]),
])
def test_missing_things_are_named(tree, line, words):
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
    fails(ctl("gpu list", "/dev/zero"), 1, "/dev/zero", "neither a file, a pipe nor a folder")
    fails(ctl("gpu list", tmp_path / "nothing"), 1, str(tmp_path / "nothing"))
    (tmp_path / "gpu0").mkdir()
    fails(ctl("gpu list", tmp_path / "gpu0"), 1, "no gpu0/info", "the folder that gpu0 is in")
    document = ctl("-j gpu list", tmp_path / "nothing").json
    assert document["error"]["errno"] == "ENOENT" and document["source"] is None


def test_json_of_a_machine_without_a_gpu_has_no_source():
    result = ctl("-j --from module gpu list")
    assert result.status == 3 and result.json["source"] is None


@pytest.mark.parametrize("text", ("", "{}", "[1]", "not JSON", '{"format": "other"}'))
def test_file_that_is_no_capture(tmp_path, text):
    path = tmp_path / "capture"
    path.write_text(text)
    fails(ctl("gpu list", path), 1, str(path))


def test_capture_of_a_later_version(one, tmp_path):
    fails(ctl("gpu list", write_capture(tmp_path / "capture", one, version=99)), 1, "version")


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


def test_a_mask_of_too_many_tpcs_shows_no_count(one):
    """A mask with more TPCs than a GPC was built with does not show how many are on."""
    (one / "gpu0/gpc0_tpc_mask").write_text("0xffff\n")
    gpcs = ctl("-j topology show", one).data["gpcs"]
    assert gpcs[0]["tpcs_on"] is None and gpcs[1]["tpcs_on"] is not None
    assert "gpc 0: - of 8 TPCs on, off: 0xffff" in ctl("topology show", one).out


@pytest.mark.parametrize("name, number", [("EACCES", "denied"), ("EIO", "io"), ("ENODEV", "gone"),
                                          ("EBUSY", "busy")])
def test_errno_of_a_file(one, tmp_path, name, number):
    capture = write_capture(tmp_path / "capture", one, {"gpu0/runlist0": name})
    result = ctl("-j runlist show 0", capture)
    assert result.status == (2 if number == "denied" else 5)
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
    """The column is null, a sentence names the missing part, and the exit status is 4, for each errno."""
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
    """The state of other runlists is shown."""
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
    """Makes a capture as under kernel lockdown, where video memory that no BAR shows cannot be read."""
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


def test_a_capture_through_a_pipe(tree, tmp_path):
    made = piped(["--from", tree, "capture", "-"], cwd=tmp_path)
    assert not list(tmp_path.iterdir()), "no file of that name"
    assert (made.returncode, made.stderr) == (0, b"")
    shown = piped(["--from", "-", "-g", "1", "runlist", "tree"], input=made.stdout)
    assert shown.returncode == 0
    assert shown.stdout.decode() == ctl("-g 1 runlist tree", tree).out
    again = piped(["--from", "-", "capture", "-"], input=made.stdout)
    assert piped(["--from", "-", "gpu", "list"], input=again.stdout).returncode == 0


def test_other_data_through_a_pipe_is_refused(tree):
    for junk in (b"", b"{}", b"\x1f\x8b\x08junk"):
        result = piped(["--from", "-", "gpu", "list"], input=junk)
        assert result.returncode == 1 and b"standard input" in result.stderr
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
    """With state_all=1, readers without the right see the word 'hidden' in place of each address."""
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
    assert ctl("engine shared LCE2 LCE3 --pces", capture).status == 5  # no other file shows that the LCEs exist
