# SPDX-License-Identifier: MIT OR GPL-2.0
"""Messages of nvqos name the tenant, the time and the next step, over the stand-in for the driver."""

import re
import signal

import pytest
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


def test_the_end_names_the_goals_that_were_not_kept(machine):
    one, two = machine.process(), machine.process()
    nvqos = machine.start("--quiet", f"{one.pid}=latency", f"{two.pid}=share:98%")
    assert comes_true(lambda: machine.client("status").returncode == 4)
    nvqos.send_signal(signal.SIGINT)
    assert nvqos.wait(PATIENCE_S) == 4
    found = re.findall(rf"^nvqos: gpu0: (\S+): share 98 % was not kept at the end of (\d+) of (\d+) epochs?, (?:at|between {TIME} and) {TIME}$",
                       machine.errors(), re.MULTILINE)
    assert len(found) == 1 and found[0][0] == str(two.pid)
    assert 0 < int(found[0][1]) <= int(found[0][2])
    assert f"{one.pid}: latency was not kept" not in machine.errors()


def test_a_goal_of_a_tenant_that_was_released_is_named(kept):
    one, two = kept.process(), kept.process()
    assert kept.ask(f"hold a latency pid={one.pid}") == "ok"
    assert kept.ask(f"hold job:1 share:98% pid={two.pid}").startswith("ok ")
    assert comes_true(lambda: kept.client("status").returncode == 4)
    kept.ask("release job:1")
    kept.nvqos.send_signal(signal.SIGINT)
    assert kept.nvqos.wait(PATIENCE_S) == 4
    assert re.search(r"gpu0: job:1: share 98 % was not kept at the end of \d+ of \d+ epochs?, ", kept.errors())


@pytest.mark.parametrize("words, sentence", (
    (("4194303=share:30%",), "there is no process 4194303;"),
    (("99999999=share:30%",), "there is no such process as 99999999: Linux counts them to 4194304"),
    (("1=share:30%",), "process 1 has no GPU context;"),
    (("4711=share:30",), "4711: share takes a part as share:30%"),
    (("command:a=cap:30%", "job:7=fast"), "job:7: 'fast' is no goal"),
    (("serve=latency",), "write command:serve if it is a name"),
    (("others=share:30",), "others: share takes a part"),
    (("-f", "/nonexistent/goals"), "No such file or directory"),
))
def test_what_is_wrong_is_named(machine, words, sentence):
    done = machine.run(*words, "--dry-run")
    assert done.returncode == 1 and sentence in done.stderr


def test_others_alone_are_a_goal(machine):
    machine.process()
    assert machine.run("others=share:30%", "--dry-run").returncode == 0


def test_a_gpu_that_is_left_out_has_since_when(machine, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    machine.start("--quiet")
    (machine.folder / "lost.1").touch()

    def text():
        return machine.client("status").stdout
    assert comes_true(lambda: re.search(rf"gpu1: left out since {TIME}: .*fallen off the bus", text()))
