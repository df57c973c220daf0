# SPDX-License-Identifier: MIT OR GPL-2.0
"""Requests to nvqos' socket by programs that divide GPUs among containers: tenants of several holders, tenants that outlive
nvqos, what GPUs can still promise, and a stream of changes. The program over the stand-in for the driver, with real processes
as tasks."""

import contextlib
import json
import os
import pathlib
import signal
import socket

import jsonschema
import pytest
from qos_machine import FIRST_US, SCHEMAS
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]


# --- a tenant of several holders ---

def test_a_tenant_that_several_join_ends_with_the_last(kept):
    one, two = kept.process(), kept.process()
    join = "join claim:7f3a share:30%"
    assert kept.ask(f"{join} pid={one.pid} holder={one.pid}") == "ok"
    assert kept.ask(f"{join} pid={two.pid} holder={two.pid}") == "ok"
    assert comes_true(lambda: kept.timeslice(one.pid) != FIRST_US and kept.timeslice(two.pid) != FIRST_US)
    (held,) = kept.list()
    assert (held["holder"], held["holders"], held["pids"]) == (one.pid, [one.pid, two.pid], sorted([one.pid, two.pid]))
    one.kill()
    one.wait()
    assert comes_true(lambda: kept.list()[0]["holders"] == [two.pid])
    # It has not been promised twice.
    three = kept.process()
    assert kept.ask(f"hold other share:60% pid={three.pid}") == "ok"
    two.kill()
    two.wait()
    assert comes_true(lambda: kept.names() == ["other"])


def test_who_may_join(kept):
    one, two, three = (kept.process(gpu=False) for _ in range(3))
    assert kept.ask(f"join a share:30% pid={one.pid}").startswith("error 'join' takes a holder=P")
    assert kept.ask(f"join a share:30% pid={one.pid} holder={one.pid}") == "ok"
    assert kept.ask(f"hold b share:30% pid={two.pid} holder={two.pid}") == "ok"
    for line, sentence in ((f"join a share:31% pid={two.pid} holder={two.pid}", "a is held with another goal (share 30 %)"),
                           (f"join a share:30% gpu=0 pid={two.pid} holder={two.pid}", "a is held with another goal"),
                           (f"join a share:30% pid={two.pid} holder=999999999", "holder=999999999: there is no such process"),
                           (f"hold a share:30% pid={one.pid} holder={one.pid}", "a was made by 'join'"),
                           (f"join b share:30% pid={two.pid} holder={two.pid}", "b was made by 'hold'"),
                           (f"join c share:60% pid={three.pid} holder={three.pid}", "shares and speeds add up to 120 %")):
        assert sentence in kept.ask(line), line
    assert [(each["name"], each["holders"]) for each in kept.list()] == [("a", [one.pid]), ("b", [two.pid])]


@pytest.fixture(name="cgroups")
def fixture_cgroups():
    """Yields two new cgroups: their paths and folders."""
    mount = next(folder for folder in map(pathlib.Path, ("/sys/fs/cgroup/pids", "/sys/fs/cgroup/devices", "/sys/fs/cgroup"))
                 if os.access(folder / "cgroup.procs", os.W_OK))
    folders = [mount / f"nvqos-test-{os.getpid()}-{number}" for number in range(2)]
    for folder in folders:
        folder.mkdir()
    try:
        yield [(f"/{folder.name}", folder) for folder in folders]
    finally:
        for folder in folders:
            folder.rmdir()


def test_the_cgroup_of_a_holder_that_has_ended_is_forgotten(kept, cgroups):
    """A container that is started again has another one, and a claim may live for months."""
    one, two = kept.process(gpu=False), kept.process(gpu=False)
    (first, _), (second, _) = cgroups
    assert kept.ask(f"join claim:1 cap:50% cgroup={first} cgroup={second} holder={one.pid}") == "ok"
    assert kept.ask(f"join claim:1 cap:50% cgroup={second} holder={two.pid}") == "ok"
    assert kept.list()[0]["cgroups"] == [first, second]
    one.kill()
    one.wait()
    assert comes_true(lambda: kept.list()[0]["holders"] == [two.pid])
    assert kept.list()[0]["cgroups"] == [second]


# --- nvqos ends and is started again ---

def saved(machine):
    return machine.path.with_name("nvqos.sock.tenants")


def end(machine, how=signal.SIGTERM):
    machine.nvqos.send_signal(how)
    machine.nvqos.wait(PATIENCE_S)


@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGTERM))
def test_tenants_whose_holders_live_are_held_again(kept, how):
    one, two, three, gone = (kept.process() for _ in range(4))
    shell = kept.process("sh", "-c", f"sleep 1000 & echo $! > {kept.folder}/child; wait", gpu=False)
    assert comes_true(lambda: (kept.folder / "child").exists() and (kept.folder / "child").read_text())
    child = int((kept.folder / "child").read_text())
    assert kept.ask(f"hold job:1 share:12.5%,cap:60% gpu=0 pid={one.pid} holder={one.pid} gang=off") == "ok"
    assert kept.ask(f"join claim:2 cap:40% pid={two.pid} holder={two.pid}") == "ok"
    assert kept.ask(f"join claim:2 cap:40% pid={shell.pid} holder={gone.pid}") == "ok"
    assert kept.ask(f"hold job:3 share:20% pid={three.pid} holder={gone.pid}") == "ok"
    assert kept.ask(f"hold free share:20% pid={three.pid}") == "ok"
    before = [each for each in kept.list() if each["name"] in ("job:1", "claim:2")]
    assert saved(kept).stat().st_mode & 0o777 == 0o600
    end(kept, how)
    assert comes_true(lambda: kept.timeslice(one.pid) == FIRST_US)
    gone.kill()
    gone.wait()
    try:
        kept.start("--quiet")
        assert comes_true(lambda: kept.names() == ["job:1", "claim:2"])
        assert comes_true(lambda: kept.timeslice(one.pid) != FIRST_US)
        job, claim = kept.list()
        assert [(each["goal"], each["gpus"], each["cgroups"]) for each in (job, claim)] == [
            (each["goal"], each["gpus"], each["cgroups"]) for each in before]
        assert job["pids"] == [one.pid] and claim["holders"] == [two.pid] and {two.pid, shell.pid} <= set(claim["pids"])
        assert comes_true(lambda: "2 tenants of the nvqos before this one are held again" in kept.errors())
        # Its program may ask again, and a request for another goal is refused.
        assert kept.ask(f"hold job:1 share:12.5%,cap:60% gpu=0 pid={one.pid} holder={one.pid}") == "ok"
        assert kept.ask(f"hold job:1 share:13% gpu=0 pid={one.pid} holder={one.pid}").startswith("error job:1 is held with another")
        assert "is held with gang=off" in kept.ask(f"hold job:1 share:12.5%,cap:60% gpu=0 pid={one.pid} holder={one.pid} gang=on")
        kept.ask("release job:1")
        kept.ask("release claim:2")
        assert not saved(kept).exists()
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_tenant_that_does_not_fit_any_more_is_not_held_again(kept):
    one, two = kept.process(), kept.process()
    assert kept.ask(f"hold big share:60% pid={one.pid} holder={one.pid}") == "ok"
    assert kept.ask(f"hold small share:20% pid={two.pid} holder={two.pid}") == "ok"
    end(kept)
    kept.start("--quiet", "command:none=share:50%")
    assert comes_true(lambda: kept.names() == ["small"])
    assert comes_true(lambda: "big is not held again after the restart: GPU 0: shares and speeds add up to 110 %" in kept.errors())
    # It has been forgotten.
    end(kept)
    kept.start("--quiet")
    assert comes_true(lambda: kept.names() == ["small"])


def damaged(text):
    yield "", False
    yield text.replace("\nend\n", "\n"), True
    yield text.replace("share:30%", "fast"), True
    yield text.replace("tenant hold", "tenant keep"), True
    yield text.replace("tenant hold a", "tenant hold ä"), True
    yield text.replace(" gang", " gangs"), True
    yield text.replace("holder ", "holder x"), True
    yield "cgroup /x\nend\n", True
    yield text.replace("boot ", "boot 0"), False


def test_a_damaged_file_holds_nobody(kept):
    one = kept.process()
    assert kept.ask(f"hold a share:30% pid={one.pid} holder={one.pid}") == "ok"
    end(kept)
    text = saved(kept).read_text(encoding="utf-8")
    for wrong, is_said in damaged(text):
        saved(kept).write_text(wrong, encoding="utf-8")
        said = kept.errors().count("are not held again")
        kept.start("--quiet")
        assert kept.list() == [], wrong
        assert kept.errors().count("are not held again") == said + is_said, wrong
        end(kept)
    saved(kept).write_text(text, encoding="utf-8")
    os.chown(saved(kept), 65534, 65534)
    kept.start("--quiet")
    assert kept.list() == [], "another user has written it"


# --- GPUs and what they can still promise ---

def gpus_of(machine):
    answer = machine.ask("gpus")
    assert answer.startswith("ok "), answer
    found = json.loads(answer[3:])
    jsonschema.validate(found, json.loads((SCHEMAS / "nvqos.gpus.json").read_text(encoding="utf-8")), jsonschema.Draft202012Validator)
    return found


@pytest.mark.parametrize("goal", ("cap:50%", "latency", "share:41.7%", "timeslice:500us"))
@pytest.mark.parametrize("others", (0, 2))
def test_what_can_still_be_promised_is_promised(kept, goal, others):
    one, two, three = kept.process(), kept.process(gpu=False), kept.process(gpu=False)
    for _ in range(others):
        kept.process()
    assert kept.ask(f"hold a {goal} pid={one.pid}").split()[0] == "ok"

    def tasks():
        return [each["tasks"] for epoch in json.loads(kept.ask("status")[3:])["epochs"] for each in epoch["tenants"]]
    assert comes_true(lambda: tasks() == [1, others])
    (gpu,) = gpus_of(kept)
    assert gpu["gpu"] == 0 and gpu["up"] and gpu["why"] is None
    assert gpu["promised_percent"] == (41.7 if goal.startswith("share") else 0)
    possible = gpu["possible_percent"]
    assert 40 < possible < 100
    assert kept.ask(f"hold b share:{possible + 0.002:.3f}% pid={two.pid}").startswith("refused ")
    assert kept.ask(f"hold b share:{possible:.3f}% pid={two.pid}").split()[0] == "ok"
    (gpu,) = gpus_of(kept)
    assert gpu["possible_percent"] < 0.3
    assert kept.ask(f"hold c share:{gpu['possible_percent'] + 0.5:.3f}% pid={three.pid}").startswith("refused ")


def test_a_gpu_that_is_left_out_promises_nothing(machine, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    machine.start("--quiet", "others=share:10%")
    watcher = Watcher(machine)
    assert [(each["gpu"], each["up"], each["promised_percent"]) for each in gpus_of(machine)] == [(0, True, 10), (1, True, 10)]
    (machine.folder / "lost.1").touch()
    # nvqos notices that a GPU is lost when it asks the driver for a change there.
    assert machine.ask(f"hold b share:10% pid={machine.process(gpu=False).pid}") == "ok"
    assert "has fallen off the bus" in watcher.comes(change="gpu", gpu=1, up=False)["why"]
    first, second = gpus_of(machine)
    assert first["up"] and first["possible_percent"] > 70
    assert (second["up"], second["possible_percent"]) == (False, None) and "has fallen off the bus" in second["why"]
    (machine.folder / "lost.1").unlink()
    assert watcher.comes(change="gpu", gpu=1, up=True)["why"] is None
    watcher.close()


# --- a stream of what changes ---

CHANGE = json.loads((SCHEMAS / "nvqos.change.json").read_text(encoding="utf-8"))


class Watcher:
    def __init__(self, machine):
        self.client = machine.connect()
        self.client.sendall(b"watch\n")
        self.lines = self.client.makefile(encoding="utf-8")
        assert self.lines.readline() == "ok\n"

    def next(self):
        change = json.loads(self.lines.readline())
        jsonschema.validate(change, CHANGE, jsonschema.Draft202012Validator)
        return change

    def comes(self, **wanted):
        """Reads until such a change; the connection has a time-out."""
        while True:
            change = self.next()
            if wanted.items() <= change.items():
                return change

    def close(self):
        self.lines.close()
        self.client.close()


def test_a_watcher_is_told_of_tenants_and_of_their_goals(kept):
    one, two = kept.process(), kept.process()
    watcher = Watcher(kept)
    # The end of its requests is not the end of its interest: `echo watch | nc -N -U`.
    watcher.client.shutdown(socket.SHUT_WR)
    assert kept.ask(f"hold a share:30% gpu=0 pid={one.pid}") == "ok"
    assert watcher.next() == {"change": "held", "name": "a", "goal": "share 30 %", "gpus": [0]}
    watcher.comes(change="kept", gpu=0, name="a", kept=True)
    assert kept.ask(f"hold b share:90% pid={two.pid}").startswith("refused ")
    kept.ask("release a")
    assert watcher.comes(name="a", change="released")
    assert kept.ask(f"join c cap:90% pid={two.pid} holder={two.pid}") == "ok"
    watcher.comes(change="held", name="c", gpus=[])
    two.kill()
    two.wait()
    watcher.comes(change="ended", name="c")
    watcher.close()


def test_watchers_are_few_and_stay_among_many_connections(kept):
    watchers = [Watcher(kept) for _ in range(16)]
    assert kept.ask("watch").startswith("error 16 connections watch already")
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(kept.connect())
        assert kept.answers()
    one = kept.process()
    assert kept.ask(f"hold a cap:90% pid={one.pid}") == "ok"
    for watcher in watchers:
        watcher.comes(change="held", name="a")
        watcher.close()
    # Their ends are seen.
    assert comes_true(lambda: kept.ask("watch") == "ok")


def test_a_watcher_is_told_that_the_file_has_other_goals(machine):
    goals = machine.folder / "goals.toml"
    goals.write_text('[[tenant]]\ncommand = "none"\ngoal = "cap:50%"\n', encoding="utf-8")
    machine.start("--quiet", "--file", goals)
    watcher = Watcher(machine)
    machine.nvqos.send_signal(signal.SIGHUP)  # with the same goals
    goals.write_text('[[tenant]]\ncommand = "none"\ngoal = "share:50%"\n', encoding="utf-8")
    machine.nvqos.send_signal(signal.SIGHUP)
    watcher.comes(change="own")
    assert gpus_of(machine)[0]["promised_percent"] == 50
    watcher.close()
