# SPDX-License-Identifier: MIT OR GPL-2.0
"""A folder with the file `owners` shows which process made each channel."""

import csv
import io
import json
import pathlib
import re

import pytest
from ctl import ctl, write_gpu

HARDWARE = pathlib.Path(__file__).resolve().parents[1] / "hardware"
CONTAINER = "0123456789ab" + "f" * 52
HEADER = "# pid command cgroup client tsg timeslice_us channel address aperture uid\n"


def owners(rows, hidden=0, denied=0, ended=0, refused=0):
    return (f"hidden: {hidden}\ndenied: {denied}\nended: {ended}\nrefused: {refused}\n\n" + HEADER
            + "".join(" ".join(map(str, row)) + "\n" for row in rows))


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    write_gpu(tmp_path / "gpu0", "h200", "fig7")
    return tmp_path


@pytest.fixture(name="channels")
def fixture_channels(tree):
    """Returns the channels of runlist 0, from a folder without `owners`."""
    rows = ctl("channel list 0", tree).out
    assert "PROCESS" not in rows, "empty columns are left out"
    channels = ctl("channel list 0 -j", tree).data
    assert len(channels) >= 4 and {row["process"] for row in channels} == {None}
    return channels


@pytest.fixture(name="owned")
def fixture_owned(tree, channels):
    """The first two channels belong to process 557, and all others but the last to 558. Process 559 has none."""
    def row(pid, command, cgroup, tsg, channel):
        return (pid, command, cgroup, "0xc1d0002e", tsg, 2048, hex(channel["channel"]),
                channel["instance_address"], channel["instance_aperture"], 1000)
    rows = [row(557, "my\\x20task", f"/docker/{CONTAINER}", "0x5c000015", channel)
            for channel in channels[:2]]
    rows += [row(558, "other", "/user", "0x5c000016", channel) for channel in channels[2:-1]]
    rows.append((559, "idle", "-", *["-"] * 7))
    (tree / "gpu0" / "owners").write_text(owners(rows))
    return [557, 557, *[558] * (len(channels) - 3), None]


def pid(process):
    return process and process["pid"]


def test_channel_list(tree, owned):
    data = ctl("channel list 0 -j", tree).data
    assert [pid(row["process"]) for row in data] == owned
    assert data[0]["process"] == {"pid": 557, "uid": 1000, "command": "my task", "container": CONTAINER,
                                  "pod": None, "job": None, "step": None,
                                  "cgroup": f"/docker/{CONTAINER}"}
    result = ctl("channel list 0", tree)
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].endswith("PROCESS")
    assert lines[1].endswith("my task[557] in 0123456789ab") and lines[3].endswith(" other[558]")
    assert lines[-1].endswith(" -")
    rows = list(csv.DictReader(io.StringIO(ctl("channel list 0 --csv", tree).out)))
    assert [row["process"] for row in rows[:3]] == ["my task[557]", "my task[557]", "other[558]"]
    assert rows[-1]["process"] == ""


@pytest.mark.parametrize("options,chosen", (
    (f"--container {CONTAINER[:8]}", {557}), ("--container fff", set()), ("--cgroup /user", {558}), ("--cgroup /us", set()),
    ("--command other", {558}), ("--pod 0", set()), ("--job 17", set())))
def test_processes_may_be_chosen(tree, owned, options, chosen):
    assert {557, 558} <= set(owned)
    for verb in ("process", "task"):
        assert {row["pid"] for row in ctl(f"{verb} list {options} -j", tree).data} == chosen


@pytest.mark.parametrize("cgroup,options,other", (
    ("/slurm/uid_1000/job_42/step_3", ("--job 42", "--job 42.3"), ("--job 4", "--job 42.1", "--pod 4")),
    (f"/kubepods/pod0f5a1c2e-1111-4222-8333-abcdefabcdef/{CONTAINER}", ("--pod 0f5a", f"--container {CONTAINER}"), ("--pod 1",))))
def test_jobs_and_pods(tree, cgroup, options, other):
    (tree / "gpu0" / "owners").write_text(owners([
        (7, "x", cgroup, "0xc1d0002e", "0x5c000015", 2048, "0x5c000016", "0x100000", "vid", 1000),
        (8, "y", "/user.slice" + cgroup, "0xc1d0002f", "0x5c000015", 2048, "0x5c000016", "0x200000", "vid", 1000)]))
    rows = ctl("process list -j", tree).data
    assert [row["pid"] for row in rows] == [7, 8]
    assert not any(rows[1][key] for key in ("container", "pod", "job", "step")), "a user chose these names"
    for option in options:
        assert [row["pid"] for row in ctl(f"task list {option} -j", tree).data] == [7], option
    for option in other:
        assert ctl(f"task list {option} -j", tree).data == [], option


@pytest.mark.parametrize("option,words", (("--job x", "--job takes"), ("--job 42.", "--job takes"), ("--job 42_3", "squeue -o %A"),
                                          ("--all-of x", "--all-of takes")))
@pytest.mark.parametrize("verb", ("task list", "process list", "record", "top"))
def test_wrong_selections_are_refused(tree, verb, option, words):
    result = ctl(f"{verb} {option}", tree)
    assert result.status == 1 and words in result.err


def test_channel_show(tree, owned, channels):
    name = f"0:{channels[0]['channel']}"
    assert pid(ctl(f"channel show {name} -j", tree).data["process"]) == owned[0]
    assert re.search(r"^process:\n  pid: 557\n  uid: 1000\n  command: my task\n", ctl(f"channel show {name}", tree).out,
                     re.MULTILINE)


def by_tsg(channels, owned):
    found = {}
    for channel, owner in zip(channels, owned):
        found.setdefault(channel["tsg"], [])
        if owner and owner not in found[channel["tsg"]]:
            found[channel["tsg"]].append(owner)
    return found


def test_tsgs(tree, owned, channels):
    expected = by_tsg(channels, owned)
    rows = ctl("tsg list 0 -j", tree).data
    assert {row["tsg"]: list(map(pid, row["processes"])) for row in rows} == expected
    tsg, pids = next(iter(expected.items()))
    assert list(map(pid, ctl(f"tsg show 0:{tsg} -j", tree).data["processes"])) == pids
    assert "process: my task[557] in 0123456789ab\n" in ctl(f"tsg show 0:{tsg}", tree).out
    assert "my task[557] in 0123456789ab" in ctl("tsg list 0", tree).out


def test_runlists(tree, owned, channels):
    first, *others = ctl("runlist list -j", tree).data
    assert list(map(pid, first["processes"])) == [557, 558]
    assert all(row["processes"] == [] for row in others)
    shown = ctl("runlist show 0 -j", tree).data
    assert [pid(channel["process"]) for item in shown["items"] for channel in item["channels"]] == owned
    assert "  my task[557] in 0123456789ab" in ctl("runlist show 0", tree).out
    tree_, = ctl("runlist tree 0 -j", tree).data["runlists"]
    assert {row["tsg"]: list(map(pid, row["processes"])) for row in tree_["tsgs"]} == \
        by_tsg(channels, owned)
    assert re.search(r"TSG \d+ .*ms  my task\[557\] in 0123456789ab", ctl("runlist tree 0", tree).out)


def current_on_gr0(tree, channels):
    """Puts the first channel's TSG on GR0, and returns it."""
    tsg = channels[0]["tsg"]
    path = tree / "gpu0/engines"
    path.write_text(re.sub(r"^(GR0 .*?)(tsg:\d+|-)( )", rf"\1tsg:{tsg}\3", path.read_text(), count=1, flags=re.MULTILINE))
    engine = next(row for row in ctl("engine list -j", tree).data if row["engine"] == "GR0")
    assert engine["current"] == f"tsg:{tsg}"
    return engine


def test_the_picture_of_a_tree_names_processes(tree, owned):
    assert 557 in owned
    picture = ctl("runlist tree --svg", tree)
    assert (picture.status, picture.err) == (0, "")
    words = " ".join(re.findall(r">([^<>]+)</text>", picture.out))
    assert "my task[557]" in words and "other[558]" in words
    assert "[559]" not in words, "it is on no list"


def test_the_picture_of_a_capture_names_processes():
    capture = HARDWARE / "h100-580.159.04/capture-owners"
    named = {row["tsg"]: [f"{each['command']}[{each['pid']}]" for each in row["processes"]]
             for row in ctl("tsg list -j", capture).data}
    words = re.findall(r'>([^<>]+)</text>', ctl("runlist tree --svg", capture).out)
    assert words.count("workload[1456]") == sum("workload[1456]" in names for names in named.values()) == 4


def test_the_process_on_an_engine(tree, owned, channels):
    engine = current_on_gr0(tree, channels)
    tsg = by_tsg(channels, owned)[channels[0]["tsg"]]
    assert tsg and list(map(pid, engine["processes"])) == tsg
    assert "my task[557]" in next(line for line in ctl("engine list", tree).out.splitlines() if line.startswith("GR0 "))
    sample = ctl("watch -j -n 2 -s 10", tree).out.splitlines()
    for line in sample:
        watched = {row["engine"]: row for row in json.loads(line)["data"]["engines"]}
        assert list(map(pid, watched["GR0"]["processes"])) == tsg and watched["LCE1"]["processes"] == []
    resident, = watched["GR0"]["residency"]
    assert list(map(pid, resident["processes"])) == tsg
    header, first, *_ = ctl("watch -n 1", tree).out.splitlines()
    assert "PROCESSES" in header.split() and "my task[557]" in first
    assert "PROCESSES" not in ctl("watch -n 1", HARDWARE / "h100-580.159.04/capture-idle").out


def test_the_lines_of_one_sample(tree, owned, channels):
    """Columns that need two samples are left out if there is only one."""
    assert owned and current_on_gr0(tree, channels)["busy"] in (True, False)
    header, first, *_ = ctl("watch", tree).out.splitlines()
    assert header.split() == ["TIME", "ENGINE", "RUNLIST", "CURRENT", "PROCESSES", "BUSY"]
    assert re.search(r" my task\[557\] in \w+,other\[558\] +(yes|no)$|my task\[557\] in \w+ +(yes|no)$", first), first


def test_process_list(tree, owned, channels):
    result = ctl("process list -j", tree)
    assert result.status == 0
    rows = result.data
    listed = {row["tsg"]: row["timeslice_us"] for row in ctl("tsg list 0 -j", tree).data}
    assert [(row["pid"], row["channels"], row["timeslice_us"], row["asked_us"]) for row in rows] == [
        (557, owned.count(557), listed[rows[0]["tsg"]], 2048), (558, owned.count(558), listed[rows[1]["tsg"]], 2048),
        (559, None, None, None)]
    assert (rows[0]["runlist"], rows[0]["tsg"]) == (0, channels[0]["tsg"])
    assert rows[0]["client_tsg"] == "0x5c000015"
    assert [(row["uid"], row["user"]) for row in rows] == [(1000, "1000"), (1000, "1000"), (None, None)]
    assert "my task" in ctl("process list", tree).out


def test_without_addresses_only_the_driver_s_part_is_known(tree, owned):
    """Users other than root see no addresses."""
    assert owned
    text = re.sub(r"0x\w+ vid 1000$", "- - 1000", (tree / "gpu0" / "owners").read_text(), flags=re.MULTILINE)
    (tree / "gpu0" / "owners").write_text(text.replace("hidden: 0", "hidden: 9"))
    for file in (tree / "gpu0").glob("runlist*"):
        file.chmod(0)
        file.unlink()
    result = ctl("process list", tree)
    assert result.status == 4
    assert "9 processes of other users may not be looked at (use sudo)" in result.err
    assert "which runlist and TSG it is, is not shown" in result.err
    assert "2.10ms" in result.out and "TSG" not in result.out


@pytest.mark.parametrize("count, says, status", (
    ({"ended": 1}, "1 process ended meanwhile", 0),
    ({"denied": 2}, "2 processes may not be asked about (it takes CAP_SYS_PTRACE)", 4),
    ({"refused": 3}, "NVIDIA's driver did not answer 3 questions", 4),
))
def test_omitted_processes_are_reported(tree, count, says, status):
    (tree / "gpu0" / "owners").write_text(owners([], **count))
    result = ctl("channel list 0", tree)
    assert result.status == 0 and says in result.err
    result = ctl("process list", tree)
    assert result.status == status and says in result.err


def test_malformed_lines_are_reported_and_the_rest_is_shown(tree):
    (tree / "gpu0" / "owners").write_text("hidden: x\n")
    result = ctl("channel list 0", tree)
    assert result.status == 4 and "which process made a channel is not shown" in result.err
    assert len(result.out.splitlines()) > 4


def test_other_sources_know_no_processes(tree):
    result = ctl("process list", tree)
    assert result.status == 3 and result.out == ""
    assert f"is known to NVIDIA's driver alone, and {tree} is not from it; read" in result.err


def test_a_capture_of_the_driver_without_owners():
    """The capture comes from the driver, through a version of the tool that did not ask for owners."""
    result = ctl("process list", HARDWARE / "h100-580.159.04/capture-mps")
    assert result.status == 3 and "captured through NVIDIA's driver 580.159.04" in result.err
    assert "not from it" not in result.err
