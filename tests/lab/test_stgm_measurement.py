# SPDX-License-Identifier: MIT OR GPL-2.0
"""tests/hardware/stgm.py in pieces, over programs in the place of nvstgm, nvtaskset, nvidia-smi and the MPS server."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import pytest
from building import ROOT

SCRIPT = ROOT / "tests/hardware/stgm.py"
PATIENCE_S = 120
UUID = "GPU-22222222-2222-2222-2222-222222222222"

KILLED = 20

# Each call is a line of the log: words, the visible GPU, and whether an MPS server is named. Run KILLED ends the measurement as
# a machine that is taken away does. No job is undisturbed, so that no control is right. With measured lengths, sets of 8 tasks
# are never schedulable, and other ones only with a period of 150 ms.
NVSTGM = f'''#!{sys.executable} -IS
import json, os, pathlib, signal, sys
log, words, what = pathlib.Path(__file__).with_name("log"), sys.argv[1:], json.load(sys.stdin)
with log.open("a") as to:
    print(json.dumps([words, os.environ.get("CUDA_VISIBLE_DEVICES"), os.path.isdir(os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/none"))]),
          file=to)
names = [task["name"] for task in what["tasks"]]
if words[0] == "check":
    if what["sms"] == 67 and (len(names) == 8 or what["tasks"][0]["period"] < 150_000):
        sys.exit(2)
    print(json.dumps({{"data": {{"tasks": [{{"name": name, "response": 5}} for name in names]}}}}))
    sys.exit()
if sum('["run"' in line for line in log.read_text().splitlines()) == {KILLED}:
    os.kill(os.getppid(), signal.SIGKILL)
    sys.exit()
if "--measure" in words:
    pathlib.Path(words[words.index("--measure") + 1]).write_text(json.dumps(what | {{"sms": 67}}))
row = {{"jobs": 1, "response": 4, "bound": 5, "ratio": 0.8, "deadline": 9, "misses": 0, "overruns": 0, "stalls": 0, "ended": None,
       "undisturbed": {{"jobs": 0, "response": None, "ratio": None, "above": 0}}}}
about = dict.fromkeys(("analysis", "waiting", "copy_wait", "mps", "managed", "priorities", "fifo", "own_cpus", "margin", "stretch"))
print(json.dumps({{"data": about | {{"tasks": [{{"name": name}} | row for name in names]}}}}))
'''
SETS = {f"set {number}" for number in range(20)}
OF_EIGHT = {f"set {number}" for number in (5, 11, 17)}  # set n has 3 + n % 6 tasks


@dataclasses.dataclass
class Measured:
    """A measurement of GPU 1 that was killed, and called again until it ended."""
    folder: pathlib.Path
    refused: subprocess.CompletedProcess
    begun: dict
    ended: subprocess.CompletedProcess

    def found(self):
        return json.loads((self.folder / "out/stgm.json").read_text(encoding="utf-8"))

    def runs(self):
        """Returns words, the visible GPU, and whether an MPS server is named, of each run of a set."""
        calls = map(json.loads, (self.folder / "log").read_text(encoding="utf-8").splitlines())
        return [call for call in calls if call[0][0] == "run"]


def call(folder, *words):
    env = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run([sys.executable, SCRIPT, folder / "nvstgm", folder / "nvtaskset", folder / "out", "--gpu", "1", *words],
                          env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def stand_ins(folder):
    for name, text in (("nvstgm", NVSTGM),
                       ("nvtaskset", f"#!/bin/sh\necho $* >>{folder}/asked"),
                       ("nvidia-cuda-mps-control", f"#!/bin/sh\necho $* $CUDA_VISIBLE_DEVICES >>{folder}/servers"),
                       ("nvidia-smi", f"#!/bin/sh\ncase $* in *--query-gpu=uuid*) test $1 = --id=1 && echo {UUID};; "
                                      "*) echo 'A GPU, 1.2.3';; esac")):
        (folder / name).write_text(text + "\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = stand_ins(tmp_path_factory.mktemp("measured"))
    late = call(folder, "--seconds", "2", "--budget", "5", "--order", "5")
    assert not (folder / "log").exists(), "nothing ran that would end too late"
    assert call(folder, "--seconds", "2", "--order", "5").returncode < 0
    made = Measured(folder, late, {}, None)
    made.begun = made.found()
    made.ended = call(folder, "--seconds", "2", "--order", "6")
    return made


def test_a_budget_that_is_too_small_asks_to_be_called_again(measured):
    assert measured.refused.returncode == 3 and "0 parts are made, 30 are left; call this again" in measured.refused.stdout


def test_a_measurement_that_was_killed_goes_on_where_it_was(measured):
    begun, found = measured.begun, measured.found()
    assert len(begun["runs"]) >= 8 and begun["order"] == found["order"] == 5
    assert found["runs"][:len(begun["runs"])] == begun["runs"]
    names = [one["what"] for one in found["runs"]]
    assert len(names) == len(set(names)) == 5 + 20 + 5 and SETS < set(names)
    assert {row["set"]: row["seconds"] for row in found["sets"]} == {name: 6 if name in ("set 0", "set 1", "set 2") else 2
                                                                     for name in SETS - OF_EIGHT}
    beside = {row["set"].partition(", ")[::2] for row in found["unmanaged"]}
    assert len(beside) == 10 and {how for _, how in beside} == {"unmanaged MPS", "time slices"}


def test_three_sets_run_for_a_length_of_their_own(tmp_path):
    words = ("--seconds", "2", "--long", "500", "--order", "5")
    killed, ended = (call(stand_ins(tmp_path), *words) for _ in range(2))
    assert killed.returncode < 0 and ended.returncode == 1, ended.stderr
    found = json.loads((tmp_path / "out/stgm.json").read_text(encoding="utf-8"))
    assert {row["set"]: row["seconds"] for row in found["sets"]} == {name: 500 if name in ("set 0", "set 1", "set 2") else 2
                                                                     for name in SETS - OF_EIGHT}
    asked = [words[words.index("--for") + 1] for words, _, _ in Measured(tmp_path, killed, {}, ended).runs() if "--work" in words]
    assert sorted(asked) == ["2"] * 14 + ["500"] * 3


def test_a_long_set_does_not_begin_if_it_would_end_after_the_budget(tmp_path):
    done = call(stand_ins(tmp_path), "--seconds", "2", "--long", "500", "--order", "5", "--budget", "400")
    found = json.loads((tmp_path / "out/stgm.json").read_text(encoding="utf-8"))
    assert done.returncode == 3 and "[4, 9, 6, 5, 14, 17, 18, 1, " in done.stdout and found["runs"][-1]["what"] == "set 18"


def test_controls_that_did_not_fail_and_sets_without_a_schedule_are_failures(measured):
    failed = [name for one in measured.found()["runs"] for name in one["failed"]]
    assert [name.partition(":")[0] for name in failed[:4]] == ["CE1", "CE2c", "CE4", "CE5"]
    assert {name for name in failed if "schedulable" in name} == {f"{name}: schedulable with its measured lengths" for name in OF_EIGHT}
    assert measured.ended.returncode == 1 and "CE1: an undisturbed job of hi takes longer" in measured.ended.stderr


def test_programs_see_the_named_gpu_and_the_mps_server_unless_they_take_turns(measured):
    for words, visible, server in measured.runs():
        assert visible == UUID and words[words.index("--gpu") + 1] == UUID
        assert server == ("--no-mps" not in words)
    assert (measured.folder / "servers").read_text(encoding="utf-8").splitlines() == [
        f"-d {UUID}", UUID, f"-d {UUID}", f"-d {UUID}", UUID], "the killed one ended no server"
    assert set((measured.folder / "asked").read_text(encoding="utf-8").splitlines()) == {f"--list -i {UUID}"}


def test_a_set_that_is_not_schedulable_with_its_measured_lengths_gets_longer_periods(measured):
    sets = {one["set"]: one for one in measured.found()["measured"]}
    assert set(sets) == SETS and all(sets[name]["longer_periods"] == 8 for name in OF_EIGHT)
    for name in SETS - OF_EIGHT:
        task, times = sets[name]["taskset"]["tasks"][0], sets[name]["longer_periods"]
        assert task["period"] == task["deadline"] >= 150_000 and (not times or task["period"] < 150_000 * 1.3)
    assert any(sets[name]["longer_periods"] for name in SETS - OF_EIGHT)


@pytest.mark.parametrize("words, advice", ((("--seconds", "3"), "--seconds 2"), (("--seconds", "3", "--long", "6"), "--seconds 2"),
                                           (("--seconds", "2", "--long", "7"), "--long 6")))
def test_a_file_of_other_lengths_is_refused(measured, words, advice):
    whole = measured.found()
    done = call(measured.folder, *words)
    assert done.returncode == 1 and f"give {advice}, or another folder" in done.stderr and not done.stdout
    assert measured.found() == whole
