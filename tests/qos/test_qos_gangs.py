# SPDX-License-Identifier: MIT OR GPL-2.0
"""Tenants with tasks on several GPUs have windows: nvqos over the stand-in for the driver, with real processes as tasks. Takes
root, as nvqos does."""

import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import time

import jsonschema
import pytest
from building import built
from qos_machine import FIRST_US, SCHEMAS, changes_go_on, keepers, rows
from sample import EVERYTHING
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

LONG_US, SHORT_US = 400_000, 100


@pytest.fixture(name="gang", params=(2, 4))
def fixture_gang(machine, monkeypatch, request):
    """A machine with so many GPUs."""
    return with_gpus(machine, monkeypatch, request.param)


@pytest.fixture(name="pair")
def fixture_pair(machine, monkeypatch):
    return with_gpus(machine, monkeypatch, 2)


def with_gpus(machine, monkeypatch, count):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", str(count))
    machine.gpus = range(count)
    return machine


def two_gangs(machine, *words, goals=("best-effort", "best-effort"), **options):
    """Starts nvqos with two tenants on all GPUs."""
    tasks = [machine.process(gpus=machine.gpus) for _ in goals]
    machine.start("--quiet", *(f"{task.pid}={goal}" for task, goal in zip(tasks, goals)), *words, **options)
    return tasks


def has_windows(machine, *tasks, gpus=None):
    found = rows(machine)
    return all(found.get((gpu, str(task.pid)), {}).get("gang") is True for task in tasks for gpu in (machine.gpus if gpus is None else gpus))


def end(machine):
    machine.nvqos.send_signal(signal.SIGTERM)
    return machine.nvqos.wait(PATIENCE_S)


def is_as_before(machine, tasks):
    return all(machine.timeslice(task.pid, gpu) == FIRST_US and machine.is_enabled(task.pid, gpu)
               for task in tasks for gpu in machine.gpus)


def steps_of(changes, gpus):
    """Returns the changes to the timeslices of windows, in groups of changes of one kind to all GPUs: (process, value, GPUs)."""
    windows = [(pid, value, gpu) for pid, gpu, what, value in changes if what == "timeslice" and value in (LONG_US, SHORT_US)]
    steps = []
    for (pid, value), group in itertools.groupby(windows, key=lambda one: one[:2]):
        steps.append((pid, value, [gpu for _, _, gpu in group]))
        assert sorted(steps[-1][2]) == list(gpus), f"{pid} has {value} us on other GPUs"
    return steps


def test_all_gpus_have_the_same_holder(gang):
    """The next holder has its long timeslice on all GPUs before the former one loses it on any. GPUs are asked one after the other,
    unless one of them is slow."""
    tasks = two_gangs(gang)
    assert comes_true(lambda: has_windows(gang, *tasks))
    assert changes_go_on(gang, tasks[0], 0, 20)
    assert end(gang) in (0, 4)
    of_windows = [one for one in gang.all_changes() if one[3] != FIRST_US]
    # At the end, a step may have been begun that was not done on all GPUs.
    whole = len(of_windows) - len(of_windows) % len(gang.gpus)
    steps = steps_of(of_windows[:whole], gang.gpus)
    assert len(steps) >= 20 and sum(gpus == list(gang.gpus) for *_, gpus in steps) > 0.8 * len(steps)
    holder = None
    for (next_holder, long, _), (former, short, _) in zip(steps[::2], steps[1::2]):
        assert (long, short) == (LONG_US, SHORT_US) and next_holder != former and holder in (None, former)
        holder = next_holder
    assert comes_true(lambda: is_as_before(gang, tasks))


def test_share_of_a_gang_is_kept_on_each_gpu(pair):
    tasks = two_gangs(pair, goals=("share:40%", "best-effort"))
    assert comes_true(lambda: has_windows(pair, *tasks))

    def are_kept():
        found = [rows(pair)[gpu, str(tasks[0].pid)] for gpu in pair.gpus]
        return all(one["gang"] and one["kept"] and 37 <= (one["got_percent"] or 0) <= 50 for one in found)

    assert comes_true(are_kept)
    assert end(pair) in (0, 4)


def test_view_and_metrics_and_lines_tell_of_windows(pair):
    path = pair.folder / "qos.prom"
    tasks = [pair.process(gpus=pair.gpus) for _ in range(2)]
    with open(pair.folder / "lines", "wb") as lines:
        pair.stdout = lines
        pair.start("--json", f"--metrics={path}", f"{tasks[0].pid}=share:40%", f"{tasks[1].pid}=best-effort")
        assert comes_true(lambda: has_windows(pair, *tasks))
        labels = f'gpu="1",tenant="{tasks[0].pid}",number="0"'
        assert comes_true(lambda: f"nvqos_windows{{{labels}}} 1\n" in path.read_text(encoding="utf-8"))
        assert comes_true(lambda: rows(pair)[1, str(tasks[0].pid)]["together_percent"] is not None)
        assert comes_true(lambda: f"nvqos_together_ratio{{{labels}}} " in path.read_text(encoding="utf-8"))
        shown = pair.client("status")
        end(pair)
    assert "TOGETHER" in shown.stdout and f"{tasks[0].pid}: a gang, with windows on 2 GPUs" in shown.stdout
    schema = json.loads((SCHEMAS / "nvqos.epoch.json").read_text(encoding="utf-8"))
    last = (pair.folder / "lines").read_text(encoding="utf-8").splitlines()[-2:]
    for line in map(json.loads, last):
        jsonschema.validate(line, schema, jsonschema.Draft202012Validator)
        by_name = {one["name"]: one for one in line["data"]["tenants"]}
        assert by_name[str(tasks[0].pid)]["gang"] is True and by_name["others"]["gang"] is None


def test_printed_table_tells_of_windows(pair):
    """Without --json, and with stdout in a file, tables follow each other."""
    tasks = [pair.process(gpus=pair.gpus) for _ in range(2)]
    name = str(tasks[0].pid)

    def together():
        """Returns TOGETHER of the first tenant on each GPU in the last whole table; without windows nothing."""
        *_, last, _ = ["", *(pair.folder / "tables").read_text(encoding="utf-8").split("\n\n")]
        header = next((line for line in last.splitlines() if "TENANT" in line), "")
        end_of_column = header.find("TOGETHER") + len("TOGETHER")
        of_task = [line for line in last.splitlines() if line.split()[1:2] == [name]]
        has_reason = f"{name}: a gang, with windows on 2 GPUs" in last
        return [line[:end_of_column].split()[-2:] for line in of_task] if has_reason and "TOGETHER" in header else []

    with open(pair.folder / "tables", "wb") as tables:
        pair.stdout = tables
        pair.start("--interval=200ms", f"{name}=share:40%", f"{tasks[1].pid}=best-effort")
        assert comes_true(lambda: [unit for _, unit in together()] == ["%", "%"])
        assert all(0 <= int(number) <= 100 for number, _ in together())
        end(pair)


def test_shares_on_overlapping_gpus_are_refused_with_the_numbers(machine, monkeypatch):
    """No two of three tenants have their windows at the same time, though each GPU has to promise no more than 80 %."""
    with_gpus(machine, monkeypatch, 3)
    path = machine.folder / "goals.toml"
    path.write_text("", encoding="utf-8")
    machine.start("--quiet", "--file", path)
    pids = [machine.process(gpus=gpus).pid for gpus in ((0, 1), (1, 2), (0, 2))]
    assert machine.ask(f"hold a share:40% pid={pids[0]} gpu=0,1") == "ok"
    assert machine.ask(f"hold b share:40% pid={pids[1]} gpu=1,2") == "ok"
    refused = machine.ask(f"hold c share:40% pid={pids[2]} gpu=0,2")
    assert refused.startswith("refused each two of the jobs a, b, c share a GPU, so that no two of them run at the same time: "
                              "shares and speeds add up to 120 %, and at most ")
    assert "a (share 40 %), b (share 40 %), c (share 40 %)" in refused and machine.names() == ["a", "b"]
    # Ranks that do not wait for each other run at any time, and less is kept.
    assert machine.ask(f"hold c share:40% pid={pids[2]} gpu=0,2 gang=off") == "ok" and machine.ask("release c").startswith("ok ")
    assert machine.ask(f"hold c share:10% pid={pids[2]} gpu=0,2") == "ok"
    # A refusal of one GPU alone has the number of this GPU.
    assert machine.ask(f"hold d share:70% pid={pids[2]} gpu=0").startswith("refused GPU 0: ")
    path.write_text('[[tenant]]\ncommand = "nobody"\ngoal = "share:15%"\n', encoding="utf-8")
    machine.nvqos.send_signal(signal.SIGHUP)
    assert comes_true(lambda: "a, b, c, command:nobody share a GPU" in machine.errors() and "; the goals stay as they were" in machine.errors())
    assert json.loads(machine.ask("status")[3:])["own"] == []
    end(machine)


def test_table_of_one_gpu_has_no_column_for_gangs(machine):
    task = machine.process()
    machine.start("--quiet", f"{task.pid}=cap:30%")
    assert comes_true(lambda: rows(machine).get((0, str(task.pid)), {}).get("got_percent") is not None)
    shown = machine.client("status").stdout
    assert "KEPT" in shown and "TOGETHER" not in shown and "gang" not in shown


def test_gang_off_has_no_windows(pair):
    tasks = [pair.process(gpus=pair.gpus) for _ in range(2)]
    path = pair.folder / "goals.toml"
    path.write_text(f'[[tenant]]\npid = {tasks[0].pid}\ngoal = "best-effort"\ngang = false\n', encoding="utf-8")
    pair.start("--quiet", "--file", path, f"{tasks[1].pid}=best-effort:2,gang=off")
    assert comes_true(lambda: rows(pair).get((1, f"pid:{tasks[0].pid}"), {}).get("got_percent") is not None)
    third = pair.process(gpus=pair.gpus)
    assert pair.ask(f"hold a best-effort pid={third.pid} gang=off") == "ok"
    assert "is held with gang=off" in pair.ask(f"hold a best-effort pid={third.pid} gang=on")
    # Two seconds are longer than the time for which a group is watched before it has windows.
    begin = time.monotonic()
    assert comes_true(lambda: time.monotonic() - begin > 2)
    assert comes_true(lambda: rows(pair).get((1, "a"), {}).get("held_tasks") == 1)
    assert {one["gang"] for one in rows(pair).values()} == {None}
    end(pair)
    assert not [one for one in pair.all_changes() if one[3] == LONG_US]


@pytest.mark.parametrize("words, is_named", ((("{0}=best-effort", "{1}=share:30%"), True),
                                             (("{0}=best-effort,gang=off", "{1}=share:30%,gang=off"), False)))
def test_a_dry_run_names_gangs(pair, words, is_named):
    tasks = [pair.process(gpus=pair.gpus) for _ in range(2)]
    pids = [task.pid for task in tasks]
    done = pair.run("--dry-run", *(word.format(*pids) for word in words))
    assert done.returncode == 0, done.stderr
    for pid in pids:
        assert (f"{pid}: a gang on 2 GPUs (0, 1), " in done.stdout) == is_named, done.stdout
    assert not pair.all_changes()


def test_a_task_that_is_killed_leaves_the_others_their_windows(gang):
    first, second, third = two_gangs(gang, goals=("best-effort",) * 3)
    assert comes_true(lambda: has_windows(gang, first, second, third))
    first.kill()
    first.wait(PATIENCE_S)
    assert all(changes_go_on(gang, task, gpu) for task in (second, third) for gpu in gang.gpus)
    second.kill()
    second.wait(PATIENCE_S)
    # It is alone, so that there are no windows any more.
    assert comes_true(lambda: rows(gang)[0, str(third.pid)]["gang"] is None)
    assert comes_true(lambda: all(gang.timeslice(third.pid, gpu) == FIRST_US for gpu in gang.gpus))
    assert end(gang) in (0, 4)


def test_a_task_that_joins_in_a_window_has_windows(pair):
    tasks = two_gangs(pair)
    assert comes_true(lambda: has_windows(pair, *tasks))
    more = pair.process(gpus=(1,))
    assert pair.ask(f"hold more share:20% pid={more.pid}") == "ok"
    assert comes_true(lambda: LONG_US in [value for _, value in pair.changes(more.pid, 1)])
    assert has_windows(pair, *tasks) and rows(pair)[1, "more"]["gang"] is None
    assert comes_true(lambda: rows(pair)[1, "more"]["kept"] and (rows(pair)[1, "more"]["got_percent"] or 0) > 18)
    assert pair.ask("release more").startswith("ok asked share 20 %")
    assert all(changes_go_on(pair, task, gpu) for task in tasks for gpu in pair.gpus)
    assert end(pair) in (0, 4) and comes_true(lambda: is_as_before(pair, [*tasks]))
    assert pair.timeslice(more.pid, 1) == FIRST_US


def test_goals_over_the_socket_while_windows_go_on(pair):
    tasks = two_gangs(pair)
    assert comes_true(lambda: has_windows(pair, *tasks))
    for number in range(5):
        other = pair.process(gpu=False)
        assert pair.ask(f"hold n{number} share:{number + 1}% pid={other.pid}") == "ok"
        assert pair.ask(f"hold big share:99% pid={other.pid}").startswith("refused GPU 0: ")
        assert all(changes_go_on(pair, task, gpu) for task in tasks for gpu in pair.gpus)
    assert has_windows(pair, *tasks)
    assert pair.ask("release n0").startswith("ok ") and changes_go_on(pair, tasks[0], 1)
    assert end(pair) in (0, 4) and comes_true(lambda: is_as_before(pair, tasks))


@pytest.mark.parametrize("fault", ("hangs", "lost"))
def test_a_gpu_that_fails_leaves_the_others_their_windows(machine, monkeypatch, fault):
    with_gpus(machine, monkeypatch, 4)
    tasks = two_gangs(machine, f"--metrics={machine.folder}/qos.prom")
    assert comes_true(lambda: has_windows(machine, *tasks))
    (machine.folder / f"{fault}.2").touch()
    others = (0, 1, 3)
    assert all(changes_go_on(machine, task, gpu, 20) for task in tasks for gpu in others)
    assert has_windows(machine, *tasks, gpus=others)
    before = len(machine.changes(tasks[0].pid, 2))
    (machine.folder / f"{fault}.2").unlink()
    assert comes_true(lambda: [value for what, value in machine.changes(tasks[0].pid, 2)[before:]
                               if what == "timeslice" and value == LONG_US])
    assert all(changes_go_on(machine, task, gpu) for task in tasks for gpu in machine.gpus)
    assert comes_true(lambda: has_windows(machine, *tasks))
    assert end(machine) in (0, 4) and comes_true(lambda: is_as_before(machine, tasks))


def test_requests_go_on_while_nothing_changes(pair):
    """A service on all GPUs beside one training: there is one window, which does not end. Without requests, the keepers would
    restore the tasks after a second."""
    tasks = two_gangs(pair, goals=("latency", "best-effort", "best-effort"))
    assert comes_true(lambda: has_windows(pair, *tasks))
    begin = time.monotonic()
    seen = len(pair.all_changes())
    assert comes_true(lambda: time.monotonic() - begin > 3)
    assert not [one for one in pair.all_changes()[seen:] if one[2] == "timeslice" and one[3] == FIRST_US]
    assert has_windows(pair, *tasks)
    assert end(pair) in (0, 4) and comes_true(lambda: is_as_before(pair, tasks))


@pytest.mark.parametrize("goals", (("best-effort", "best-effort"), ("cap:30%", "share:40%"), ("latency", "best-effort", "best-effort")))
def test_killed_nvqos_leaves_nothing_changed(pair, goals):
    """It is killed at moments at random."""
    moments = random.Random(17)
    tasks = [pair.process(gpus=pair.gpus) for _ in goals]
    words = [f"{task.pid}={goal}" for task, goal in zip(tasks, goals)]
    for _ in range(17 if EVERYTHING else 5):
        pair.start("--quiet", *words)
        assert comes_true(lambda: has_windows(pair, *tasks))
        moment = time.monotonic() + moments.uniform(0, 0.3)
        assert comes_true(lambda until=moment: time.monotonic() >= until)
        pair.nvqos.kill()
        pair.nvqos.wait(PATIENCE_S)
        assert comes_true(lambda: not keepers(pair.folder)) and is_as_before(pair, tasks)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(pair.path)


def test_suspended_nvqos_leaves_nothing_changed(pair):
    """It is suspended at moments at random. When nvqos goes on, so do the windows."""
    moments = random.Random(29)
    tasks = two_gangs(pair, goals=("share:40%", "best-effort"))
    assert comes_true(lambda: has_windows(pair, *tasks))
    for _ in range(50 if EVERYTHING else 8):
        assert changes_go_on(pair, tasks[0], 0, 1)
        moment = time.monotonic() + moments.uniform(0, 0.1)
        assert comes_true(lambda until=moment: time.monotonic() >= until)
        pair.nvqos.send_signal(signal.SIGSTOP)
        assert comes_true(lambda: is_as_before(pair, tasks))
        pair.nvqos.send_signal(signal.SIGCONT)
        assert all(changes_go_on(pair, task, gpu, 2) for task in tasks for gpu in pair.gpus)
    assert end(pair) in (0, 4) and comes_true(lambda: is_as_before(pair, tasks))


def test_decisions_with_windows_replay(pair):
    path = pair.folder / "decisions.ndjson"
    tasks = two_gangs(pair, "--decisions", path, goals=("share:40%", "best-effort"))
    assert comes_true(lambda: has_windows(pair, *tasks))
    assert changes_go_on(pair, tasks[0], 0)
    tasks[1].kill()
    tasks[1].wait(PATIENCE_S)
    assert comes_true(lambda: rows(pair)[0, str(tasks[0].pid)]["gang"] is None)
    assert end(pair) in (0, 4)
    record = path.read_bytes()
    assert record.count(b'"begin":{') > 2, "the governors begin anew when windows end"
    done = subprocess.run([built("tests/qos/nvqos_replay")], input=record, capture_output=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
