# SPDX-License-Identifier: MIT OR GPL-2.0
"""Builds that start at once in a fresh copy of the tree take turns, and make each file once."""

import os
import signal
import subprocess

import pytest
from nvdvm import paths

# The tests build in copies of the tree.
pytestmark = pytest.mark.ci

LOCKED = str(paths.ROOT / "scripts" / "locked")
# The targets, the folders of their logs, and a line of each log that must not come twice. The targets are small, and
# of each kind.
BUILDS = {"vm-glue": ("vm-modules", "platformgpu.o"), "kselftest": ("kselftest", "/proc_read.c")}


def environment(**more):
    """Returns the environment without the variables of an outer make or of a lock that is held."""
    ours = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "NVDEBUG_LOCKED")
    return {key: value for key, value in os.environ.items() if key not in ours} | more


@pytest.fixture
def tree(tmp_path):
    """Makes a copy of this tree, in which nothing is built."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=paths.ROOT, capture_output=True, check=True).stdout
    copy = subprocess.run(["tar", "c", "--null", "--ignore-failed-read", "-T", "-"], input=listed, cwd=paths.ROOT,
                          capture_output=True, check=True).stdout
    subprocess.run(["tar", "x"], input=copy, cwd=tmp_path, check=True)
    return tmp_path


def start(*words, folder, **more):
    return subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=environment(**more))


@pytest.mark.parametrize("jobs", ("-j1", "-j4"))
@pytest.mark.parametrize("target", BUILDS)
def test_two_builds_at_once_make_each_file_once(tree, target, jobs):
    folder, once = BUILDS[target]
    builds = [start("make", "-s", jobs, target, folder=tree) for _ in range(2)]
    said = [build.communicate(timeout=300)[0] for build in builds]
    assert [build.returncode for build in builds] == [0, 0], "\n".join(said)
    assert sum("waiting for" in text for text in said) <= 1, said
    again = start("make", "-s", target, folder=tree)
    assert "waiting for" not in again.communicate(timeout=300)[0] and again.returncode == 0
    log, = (tree / "build" / folder).rglob("log")
    assert log.read_text(encoding="utf-8").count(once) == 0, "nothing is left to do"


def test_a_build_that_waits_names_the_other(tmp_path):
    os.mkfifo(tmp_path / "go")
    first = start(LOCKED, "a/folder", "first", "sh", "-c", "echo built; read x < go", folder=tmp_path)
    assert first.stdout.readline() == "built\n"
    second = start(LOCKED, "a/folder", "second", "echo", "built, too", folder=tmp_path)
    said = second.stdout.readline()
    assert said == f"second: waiting for first (process {first.pid}), which builds in {tmp_path}/a/folder, too\n"
    other = start(LOCKED, "a/nother", "other", "true", folder=tmp_path)
    assert other.communicate(timeout=60)[0] == "" and other.returncode == 0
    (tmp_path / "go").write_text("\n", encoding="ascii")
    assert second.communicate(timeout=60)[0] == "built, too\n"
    assert first.wait(timeout=60) == second.returncode == 0


def test_a_lock_may_be_taken_within_itself(tmp_path):
    nested = start(LOCKED, "folder", "outer", LOCKED, "folder", "inner", LOCKED, "other", "inner", "sh", "-c",
                   f"{LOCKED} folder innermost echo done; exit 7", folder=tmp_path)
    assert nested.communicate(timeout=60)[0] == "done\n" and nested.returncode == 7


def test_a_killed_build_leaves_no_lock(tmp_path):
    first = start(LOCKED, "folder", "first", "sh", "-c", "echo built; exec sleep 1000", folder=tmp_path)
    assert first.stdout.readline() == "built\n"
    second = start(LOCKED, "folder", "second", "echo", "built, too", folder=tmp_path)
    assert "waiting for first" in second.stdout.readline()
    first.send_signal(signal.SIGKILL)
    first.wait(timeout=60)
    assert second.communicate(timeout=60)[0] == "built, too\n"
