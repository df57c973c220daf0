# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos over the stand-in for the driver, which refuses to undo what was changed, and nvqos that is killed with all its keepers."""

import os
import signal

import pytest
from qos_machine import FIRST_US, keepers
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]


def paused(kept, *goals, **options):
    """A task that is paused."""
    task = kept.process(**options)
    assert kept.ask(f"hold a {','.join(goals)} pid={task.pid}") == "ok"
    assert comes_true(lambda: not kept.is_enabled(task.pid))
    return task


@pytest.mark.parametrize("times", (1, 10))
def test_a_release_that_is_refused_is_repeated(kept, times):
    while True:
        task = paused(kept, "cap:5%")
        kept.refuse(times)
        assert kept.ask("release a").startswith("ok")
        # If its pause had just ended, nothing was to be enabled.
        assert comes_true(lambda: kept.is_enabled(task.pid))
        if kept.refusals_left() < times:
            break
        task.kill()
        task.wait(PATIENCE_S)
    kept.nvqos.send_signal(signal.SIGTERM)
    assert kept.nvqos.wait(PATIENCE_S) in (0, 4)
    assert comes_true(lambda: not keepers(kept.folder))
    assert kept.is_enabled(task.pid) and kept.timeslice(task.pid) == FIRST_US and kept.written_down() == []


def test_the_end_names_what_is_refused(kept):
    task = paused(kept, "cap:5%")
    kept.refuse(1000)
    assert comes_true(lambda: kept.refusals_left() < 1000)
    kept.nvqos.send_signal(signal.SIGTERM)
    assert kept.nvqos.wait(PATIENCE_S) in (0, 4)
    assert f"process {task.pid} is still changed ('nvdebugctl task resume {task.pid}' undoes it)" in kept.errors()
    assert not kept.is_enabled(task.pid) and keepers(kept.folder) and kept.written_down()
    for path in (kept.folder / "refuse").iterdir():
        path.unlink(missing_ok=True)
    assert comes_true(lambda: not keepers(kept.folder))
    assert kept.is_enabled(task.pid) and kept.timeslice(task.pid) == FIRST_US and kept.written_down() == []


def test_a_keeper_leaves_with_the_task(kept):
    task = paused(kept, "cap:5%")
    kept.refuse(1000)
    kept.nvqos.kill()
    kept.nvqos.wait(PATIENCE_S)
    task.kill()
    task.wait(PATIENCE_S)
    assert comes_true(lambda: not keepers(kept.folder))
    assert comes_true(lambda: kept.written_down() == [])


@pytest.mark.parametrize("hold", (False, True), ids=("at its start", "and holds it"))
def test_what_was_left_is_restored_by_the_next_nvqos(kept, hold):
    task = paused(kept, "cap:5%", "timeslice:1ms") if hold else paused(kept, "cap:5%")
    kept.kill_with_keepers()
    assert not kept.is_enabled(task.pid) and len(kept.written_down()) == 1
    os.unlink(kept.path)
    kept.start("--quiet")
    assert kept.is_enabled(task.pid) and kept.timeslice(task.pid) == FIRST_US
    assert f"sleep[{task.pid}] was left with changes to 2 channels and 1 TSGs by a keeper that was killed; they are undone" in kept.errors()
    if hold:
        assert kept.ask(f"hold a cap:5% pid={task.pid}") == "ok"
        assert comes_true(lambda: not kept.is_enabled(task.pid))
        assert kept.ask("release a").startswith("ok")
        assert comes_true(lambda: kept.is_enabled(task.pid))
    kept.nvqos.send_signal(signal.SIGTERM)
    assert kept.nvqos.wait(PATIENCE_S) in (0, 4)
    assert kept.is_enabled(task.pid) and kept.timeslice(task.pid) == FIRST_US and kept.written_down() == []


def test_garbage_is_named_and_hinders_nothing(machine):
    folder = machine.folder / "slash_run/nvdebug"
    folder.mkdir()
    (folder / "changes-1").write_bytes(os.urandom(1000))
    machine.start("--quiet")
    assert "/run/nvdebug/changes-1 is no whole list of changes" in machine.errors()
    paused(machine, "cap:20%")
    assert (folder / "changes-1").exists()
