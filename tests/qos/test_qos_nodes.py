# SPDX-License-Identifier: MIT OR GPL-2.0
"""Tenants with tasks on several nodes have windows by the clock: nvqos over the stand-in for the driver, with real processes as
tasks. A node is an nvqos with a folder and a clock of its own. Takes root, as nvqos does."""

import json
import re
import signal

import jsonschema
import pytest
from qos_machine import FIRST_US, SCHEMAS, changes_go_on, rows, running_machine
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

GPUS = (0, 1)
BY_CLOCK = re.compile(r"a gang of several nodes, with windows by the clock on 2 GPUs: (from .* of each .* ms)")


@pytest.fixture(name="node")
def fixture_node(machine, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    return machine


@pytest.fixture(name="other")
def fixture_other(node):
    """A second node with a clock that is ahead by a millisecond."""
    with running_machine() as machine:
        machine.variables["NVQOS_STAND_IN_AHEAD_US"] = "1000"
        yield machine


def hold(machine, name, goal="best-effort", gang="nodes", gpus=GPUS, verb="hold"):
    """Starts a process that holds itself. Returns the process and nvqos' answer."""
    task = machine.process(gpus=gpus)
    return task, machine.ask(f"{verb} {name} {goal} pid={task.pid} holder={task.pid} gang={gang}")


def why(machine, name):
    return rows(machine).get((0, name), {}).get("gang_why") or ""


def windows(machine, *names):
    """Returns the windows of tenants, without the number of GPUs; empty: one of them has none."""
    found = {name: BY_CLOCK.fullmatch(why(machine, name)) for name in names}
    return {name: match[1] for name, match in found.items()} if all(found.values()) else {}


def status(machine):
    """Returns the checked document of `nvqos status`."""
    whole = json.loads(machine.client("status", "--json").stdout)
    schema = json.loads((SCHEMAS / "nvqos.status.json").read_text(encoding="utf-8"))
    resolver = jsonschema.RefResolver(f"{SCHEMAS.as_uri()}/", schema)
    jsonschema.Draft202012Validator(schema, resolver=resolver).validate(whole)
    return whole["data"]


def set_clock(machine, error_us):
    """Sets the largest error of the node's clock; empty: it is not synchronised."""
    part = machine.folder / "clock.part"
    part.write_text(str(error_us), encoding="utf-8")
    part.rename(machine.folder / "clock")


def end(machine):
    machine.nvqos.send_signal(signal.SIGTERM)
    return machine.nvqos.wait(PATIENCE_S)


def is_as_before(machine, *tasks):
    return all(machine.timeslice(task.pid, gpu) == FIRST_US and machine.is_enabled(task.pid, gpu) for task in tasks for gpu in GPUS)


def test_two_nodes_have_the_same_windows(node, other):
    """The second node starts when the first one has windows, and its jobs come in another order. They join as containers do."""
    tasks = []
    node.start("--quiet")
    for name, goal in (("big", "share:60%"), ("small", "best-effort")):
        task, answer = hold(node, name, goal)
        tasks.append(task)
        assert answer == "ok"
    expected = {"big": "from 0 to 75 of each 125 ms", "small": "from 75 to 125 of each 125 ms"}
    assert comes_true(lambda: windows(node, "big", "small") == expected)
    other.start("--quiet")
    others = [hold(other, "small", verb="join")[0], hold(other, "big", "share:60%", verb="join")[0]]
    assert comes_true(lambda: windows(other, "big", "small") == expected)
    for machine, of_node in ((node, tasks), (other, others)):
        assert all(changes_go_on(machine, task, gpu) for task in of_node for gpu in GPUS)
        assert rows(machine)[1, "small"]["gang"] is True

    # A job that joins has windows on both, and then it is gone.
    third, _ = hold(other, "more")
    tasks.append(hold(node, "more")[0])
    assert comes_true(lambda: len(windows(node, "big", "small", "more")) == 3)
    assert comes_true(lambda: windows(node, "big", "small", "more") == windows(other, "big", "small", "more"))
    tasks[-1].kill()
    third.kill()
    for machine in (node, other):
        assert comes_true(lambda one=machine: windows(one, "big", "small") == expected)
    assert end(node) in (0, 4) and end(other) in (0, 4)
    assert comes_true(lambda: is_as_before(node, *tasks[:2]) and is_as_before(other, *others))


def test_the_next_holder_has_all_gpus_before_the_former_one_loses_one(node):
    node.start("--quiet")
    first, second = hold(node, "a")[0], hold(node, "b")[0]
    assert comes_true(lambda: windows(node, "a", "b"))
    assert changes_go_on(node, first, 1, 12)
    long_us, short_us = 400_000, 100
    assert end(node) in (0, 4)
    steps = [(pid, value) for pid, gpu, what, value in node.all_changes() if what == "timeslice" and value in (long_us, short_us)]
    holders = {first.pid: second.pid, second.pid: first.pid}
    # Behind the first window there are two changes to each GPU for the next holder, and two for the former one.
    begin = next(n for n in range(len(steps)) if steps[n:n + 2] == [(first.pid, long_us)] * 2 or
                 steps[n:n + 2] == [(second.pid, long_us)] * 2)
    whole = steps[begin:begin + (len(steps) - begin) // 4 * 4]
    assert len(whole) >= 16
    for n in range(0, len(whole), 4):
        holder = whole[n][0]
        assert whole[n:n + 4] == [(holder, long_us)] * 2 + [(holders[holder], short_us)] * 2


def test_a_gpu_changes_between_windows_of_the_node_and_by_the_clock(node):
    node.start("--quiet")
    tasks = [hold(node, name, gang="on")[0] for name in ("a", "b")]
    alone = "a gang, with windows on 2 GPUs"
    assert comes_true(lambda: why(node, "a") == alone)
    task, answer = hold(node, "wide", "cap:50%")
    assert answer == "ok" and comes_true(lambda: windows(node, "wide"))
    assert comes_true(lambda: why(node, "a") == "has windows in the time that tenants of several nodes leave")
    assert all(changes_go_on(node, one, gpu) for one in (tasks[0], task) for gpu in GPUS)
    task.kill()
    assert comes_true(lambda: why(node, "a") == alone), why(node, "a")
    assert all(changes_go_on(node, one, gpu) for one in tasks for gpu in GPUS)
    assert end(node) in (0, 4) and comes_true(lambda: is_as_before(node, *tasks))


def test_node_with_one_gpu_has_windows_by_the_clock(machine):
    machine.start("--quiet")
    tasks = [hold(machine, name, gpus=(0,))[0] for name in ("a", "b")]
    assert comes_true(lambda: why(machine, "a").startswith("a gang of several nodes, with windows by the clock on 1 GPU: from 0 to 50 "))
    assert all(changes_go_on(machine, task, 0) for task in tasks)
    assert status(machine)["clock"] == {"usable": True, "difference_us": 40}
    shown = machine.client("status").stdout
    assert "\nwindows by the clock: the clocks of nodes may differ by 40.0 us; windows of 50.0 ms lose less than 1 %\n" in shown


def test_without_a_synchronised_clock_windows_are_those_of_the_node(node):
    path = node.folder / "qos.prom"
    set_clock(node, "")
    node.start("--quiet", f"--metrics={path}")
    unsynchronised = "no windows by the clock: the clock of this node is not synchronised (STA_UNSYNC)"
    tasks = []
    for name in ("a", "b"):
        task, answer = hold(node, name)
        tasks.append(task)
        assert answer.startswith(f"ok {unsynchronised}")
    apart = "a gang of several nodes, without windows by the clock"
    assert comes_true(lambda: why(node, "a") == f"{apart}; on this node a gang, with windows on 2 GPUs")
    data = status(node)
    assert data["clock"] == {"usable": False, "difference_us": None}
    assert any(note.startswith(unsynchronised) for note in data["notes"])
    assert comes_true(lambda: "\nnvqos_clock_usable 0\n" in path.read_text(encoding="utf-8"))
    assert "nvqos_clock_difference_seconds" not in path.read_text(encoding="utf-8")
    assert end(node) in (0, 4) and comes_true(lambda: is_as_before(node, *tasks))


def test_a_clock_that_fails_ends_windows_by_the_clock(node):
    path = node.folder / "qos.prom"
    set_clock(node, 1600)
    node.start("--quiet", f"--metrics={path}")
    assert hold(node, "a")[1] == hold(node, "b")[1] == "ok"
    assert comes_true(lambda: windows(node, "a", "b"))
    assert comes_true(lambda: "\nnvqos_clock_usable 1\nnvqos_clock_difference_seconds 0.0032\n" in re.sub(
        "(?m)^#.*\n", "", path.read_text(encoding="utf-8")))
    set_clock(node, 6000)
    assert comes_true(lambda: why(node, "a").startswith("a gang of several nodes, without windows by the clock"))
    assert status(node)["clock"] == {"usable": False, "difference_us": 12_000}
    assert ("no windows by the clock: the clocks of nodes may differ by 12.0 ms; windows of 50.0 ms lose about 24 %, "
            "so that they are not used") in node.errors()
    # Windows of this node follow.
    assert comes_true(lambda: why(node, "a").endswith("on this node a gang, with windows on 2 GPUs")), why(node, "a")


def test_a_restart_keeps_windows_by_the_clock(node):
    node.start("--quiet")
    tasks = [hold(node, name, goal)[0] for name, goal in (("a", "share:60%"), ("b", "best-effort"))]
    assert comes_true(lambda: windows(node, "a", "b"))
    before = windows(node, "a", "b")
    assert end(node) in (0, 4) and comes_true(lambda: is_as_before(node, *tasks))
    node.start("--quiet")
    assert comes_true(lambda: windows(node, "a", "b") == before)
    assert "is held with gang=nodes" in node.ask(f"hold a share:60% pid={tasks[0].pid} holder={tasks[0].pid} gang=on")


@pytest.mark.parametrize("goal, sentence", (
    ("share:30%", "(share 30 %) cannot be kept beside train (gang=nodes): of the time on its GPUs, windows by the clock leave 0 %"),
    ("timeslice:5ms", "(timeslice 5000 us) cannot be kept beside train (gang=nodes)"),
))
def test_a_promise_of_one_node_is_refused_beside_windows_by_the_clock(node, goal, sentence):
    node.start("--quiet")
    assert hold(node, "train")[1] == "ok"
    task = node.process(gpus=GPUS)
    answer = node.ask(f"hold other {goal} pid={task.pid}")
    assert answer.startswith("refused GPU 0: other ") and sentence in answer
    assert {gpu["possible_percent"] for gpu in json.loads(node.ask("gpus")[3:])} == {0}
    assert node.ask(f"hold other best-effort pid={task.pid}") == "ok"
    assert comes_true(lambda: why(node, "other") == "has only the time that tenants of several nodes leave")


@pytest.mark.parametrize("clock, sentences", (
    ("20", ("{0}: a gang of several nodes, which is to have windows by the clock on 2 GPUs here (0, 1)",
            "{1}: is to have the time that windows by the clock leave",
            "windows by the clock: the clocks of nodes may differ by 40.0 us")),
    ("", ("{0}: a gang on 2 GPUs (0, 1), ", "no windows by the clock: the clock of this node is not synchronised")),
))
def test_a_dry_run_says_what_the_clock_is_good_for(node, clock, sentences):
    set_clock(node, clock)
    pids = [node.process(gpus=GPUS).pid for _ in range(2)]
    done = node.run("--dry-run", f"{pids[0]}=share:40%,gang=nodes", f"{pids[1]}=best-effort")
    assert done.returncode == 0, done.stderr
    for sentence in sentences:
        assert sentence.format(*pids) in done.stdout
    assert not node.all_changes()


def test_goals_of_the_file_may_have_tasks_on_other_nodes(node):
    tasks = [node.process(gpus=GPUS) for _ in range(2)]
    path = node.folder / "goals.toml"
    path.write_text(f'[[tenant]]\npid = {tasks[0].pid}\nname = "a"\ngoal = "best-effort"\ngang = "nodes"\n', encoding="utf-8")
    node.start("--quiet", "--file", path, f"{tasks[1].pid}=best-effort,gang=nodes")
    assert comes_true(lambda: windows(node, "a", str(tasks[1].pid)))
    assert "windows by the clock: the clocks of nodes may differ by 40.0 us" in node.errors()
