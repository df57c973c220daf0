# SPDX-License-Identifier: MIT OR GPL-2.0
"""Tests of `task`: the output about tasks, and the requests that are refused before NVIDIA's driver is asked."""

import os

import pytest
from building import ROOT
from ctl import ctl, write_gpu

HARDWARE = ROOT / "tests" / "hardware"
TWO, MPS = HARDWARE / "h100-580.159.04/capture-owners", HARDWARE / "h200-580.159.04/capture-mps"


def test_list_of_two_processes_on_an_h100():
    result = ctl("task list -j", TWO)
    assert (result.status, result.err) == (0, "")
    assert [(row["pid"], row["channels"], row["mps"], row["tsgs"], row["engines"]) for row in result.data] == [
        (1456, 20, False, ["0:7", "1:8", "3:9", "10:10"], ["GR0", "LCE2", "LCE3", "LCE4"]),
        (1462, 20, False, ["0:11", "1:12", "3:13", "10:14"], ["GR0", "LCE2", "LCE3", "LCE4"])]
    assert result.data[0]["timeslice_us"] == [2097.152, 1048.576]
    assert "2.10ms,1.05ms" in ctl("task list", TWO).out


def test_list_says_who_is_under_mps():
    rows = {row["pid"]: row for row in ctl("task list -j", MPS).data}
    assert set(rows) == {527, 528, 529, 533} and all(row["mps"] for row in rows.values())
    assert {row["tsgs"][0] for row in rows.values()} == {"0:7"}
    assert 520 not in rows, "it has no context"


def test_show():
    data = ctl("task show 1456 -j", TWO).data
    assert (data["pid"], data["command"], data["mps"]) == (1456, "workload", False)
    assert [(tsg["runlist"], tsg["tsg"], tsg["channels"], tsg["enabled_channels"])
            for tsg in data["tsgs"]] == [(0, 7, 8, 8), (1, 8, 4, 4), (3, 9, 4, 4), (10, 10, 4, 4)]
    assert data["tsgs"][0]["client_tsg"] == "0x5c000015"
    assert "GR0,LCE0,LCE1" in ctl("task show 1456", TWO).out


def test_an_unknown_pid_gets_a_list_of_tasks():
    result = ctl("task show 4711", TWO)
    assert result.status == 2
    assert "process 4711 has no GPU context on gpu0; those that have one: workload[1456], workload[1462]" \
        in result.err


def test_without_lists_only_the_driver_s_part_is_known(tmp_path):
    """Users other than root see no lists."""
    write_gpu(tmp_path / "gpu0", "h200", "fig7")
    (tmp_path / "gpu0" / "owners").write_text(
        "hidden: 9\ndenied: 0\nended: 0\nrefused: 0\n\n"
        "# pid command cgroup client tsg timeslice_us channel address aperture\n"
        "12 mine - 0xc1d0002e 0x5c000015 2048 0x5c00001c - -\n"
        "12 mine - 0xc1d0002e 0x5c000016 1024 0x5c00001d - -\n")
    for file in (tmp_path / "gpu0").glob("runlist*"):
        file.unlink()
    result = ctl("task list -j", tmp_path)
    assert result.status == 4
    row, = result.data
    assert (row["timeslice_us"], row["channels"]) == ([2097.152, 1048.576], 2)
    assert row["mps"] is row["tsgs"] is row["engines"] is None
    assert ctl("task show 12 -j", tmp_path).data["tsgs"][1]["runlist"] is None


@pytest.mark.parametrize("words, says", (
    ("pause", "no process is given"),
    ("pause x", "'x' is no number of a process"),
    ("pause 0777", "'0777' is no number of a process"),
    ("pause 12 --command python3", "either by PID or by options"),
    ("pause --all-of me", "--all-of takes the number of a process"),
    ("pause 12 --for x", "--for takes a time"),
    ("show", "needs PID"),
    ("show x", "'x' is no number of a process"),
    ("set 12", "nothing to set"),
    ("set 12 --timeslice 2ms --interleave low", "only one of --timeslice"),
    ("set 12 --timeslice 2ms --share 25%", "only one of --timeslice"),
    ("set 12 --share 25", "--share takes a part such as 25%"),
    ("set 12 13 --share 25%,", "--share takes a part such as 25%"),
    ("set 12 13 --share 25%,25%,10%", "--share has 3 parts for 2 PIDs"),
    ("set --command x --share 25%,25%", "--share has 2 parts for 0 PIDs"),
    ("set 12 --timeslice 2ms --hold", "--hold is valid with --share only"),
    ("set 12 --share 25% --hold --for 3", "--hold is valid with --share only, and without --for"),
    ("set 12 --timeslice 500", "a time with its unit, as 500us, 2ms or 1.5ms, not '500'"),
    ("set 12 --timeslice soon", "not 'soon'"),
    ("set 12 --timeslice 500ns", "100us to 1s"),
    ("set 12 --timeslice 200.5us", "whole microseconds"),
    ("set 12 --timeslice 99us", "100us to 1s"),
    ("set 12 --timeslice 1001ms", "100us to 1s"),
    ("set 12 --interleave huge", "--interleave takes one of low, medium, high"),
    ("set 12 --preemption never", "--preemption takes one of wfi, cta, cilp"),
    ("preempt 12 --for 1", "does not take --for"),
))
def test_usage(words, says):
    result = ctl(f"task {words}")
    assert result.status == 1 and says in result.err


@pytest.mark.parametrize("words", ("list", "show 12", "pause 12", "set 12 --timeslice 2ms"))
def test_the_module_knows_no_processes(words):
    result = ctl(f"--from module task {words}")
    assert result.status == 3 and "takes NVIDIA's driver" in result.err


def test_a_capture_is_only_a_record():
    result = ctl("task pause 1456", TWO)
    assert result.status == 3 and "only a record" in result.err


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="NVIDIA's driver is there")
@pytest.mark.parametrize("words", ("task list", "task pause 12", "--from driver channel disable 0:1",
                                   "--from driver tsg timeslice 0:1 2ms"))
def test_without_the_driver_it_says_so(words):
    result = ctl(words)
    assert result.status == 3 and "NVIDIA's driver is not loaded" in result.err


@pytest.mark.parametrize("words", ("tsg switch 0:1", "channel preemption 0:1 cilp", "runlist disable 0"))
def test_controls_that_need_the_module_say_so(words):
    result = ctl(f"--from driver {words}")
    assert result.status == 3 and "takes the module" in result.err


@pytest.mark.parametrize("line, heading", (
    ("tsg list 0", "EXPECTED_SHARE"), ("task list", "ON_GR0"),
    (f"recording show {HARDWARE / 'h100-580.159.04/recording.ndjson'}", "SHARE")))
def test_each_kind_of_share_has_its_own_heading(line, heading):
    """Three figures have three names: the share that timeslices give, the time of a context on the engine, and this
    time without saving."""
    source = None if line.startswith("recording") else TWO
    assert ctl(f"{line} --columns share_percent", source).out.splitlines()[0].split() == [heading]
    assert ctl(f"{line} --csv --columns share_percent", source).out.splitlines()[0] == "share_percent"
