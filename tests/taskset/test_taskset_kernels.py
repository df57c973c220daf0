# SPDX-License-Identifier: MIT OR GPL-2.0
"""`nvtaskset --kernels`: the launches of a program, in a file for each process, on the stand-in for CUDA."""

import collections
import json
import re
import resource
import subprocess
import time

import pytest
from building import ROOT
from desk import LAUNCHES, LIBRARY, PROGRAM, REFUSED, TOOL, USAGE, as_nobody
from launches import lines_of, noted
from throwaway_root import needs_root
from waiting import until


@pytest.fixture
def folder(desk):
    return desk.folder / "kernels"


def files(folder):
    return sorted(folder.glob("*.launches"))


def only(folder):
    file, = files(folder)
    return file


def ran(desk, folder, *actions, **env):
    """Runs a program with --kernels. Returns its answers, and the launches."""
    result = desk.tool("--kernels", folder, PROGRAM, *actions, **env)
    assert (result.status, result.err) == (0, "")
    return result.answers, noted(only(folder))


def started(desk, folder, *actions, **env):
    """Starts a program that goes on with its next lines."""
    return desk.start(f"--kernels {folder}", *actions, **env)


def test_the_launches_of_a_probe_are_not_noted(desk, folder):
    folder.mkdir()
    for there in (folder, folder / "missing"):
        result = desk.tool("--probe", NVTASKSET_KERNELS=str(there))
        assert (result.status, result.err) == (0, "")
    assert not files(folder)


# --- the notes of a launch ---

@pytest.mark.parametrize("call", LAUNCHES)
def test_each_function_that_launches_is_noted(desk, folder, call):
    _, launches = ran(desk, folder, "graph 5", f"burst 1 3 {call}")
    assert [launch["name"] for launch in launches] == (["graph"] if "Graph" in call else ["where"]) * 3
    for launch in launches:
        assert ("grid" in launch) == ("Graph" not in call)
        if "grid" in launch:
            assert launch["grid"] == [1, 1, 1] and launch["block"] == [256, 1, 1]


def test_times_are_of_the_monotonic_clock(desk, folder):
    begin = time.monotonic_ns()
    _, launches = ran(desk, folder, "launch 9", "launch 9", STAND_IN_PAUSE_US="2000")
    end = time.monotonic_ns()
    origin = int(lines_of(only(folder))[0]["monotonic_ns"])
    first, second = ((origin + launch["ns"], origin + launch["ns"] + launch["took_ns"]) for launch in launches)
    assert begin < first[0] < first[1] < second[0] < second[1] < end
    assert all(launch["took_ns"] >= 2_000_000 for launch in launches), "a call takes as long as the program waits for it"


def test_names_are_readable(desk, folder):
    _, launches = ran(desk, folder, "kernel _ZN2at6native3addILi4EEEvPfi", "launch", "kernel main_loop", "launch")
    assert [launch["name"] for launch in launches] == ["void at::native::add<4>(float*, int)", "main_loop"]


def test_handles_of_libraries_have_names(desk, folder):
    _, launches = ran(desk, folder, "launch", STAND_IN_KERNELS="1")
    assert [launch["name"] for launch in launches] == ["where"]


def test_a_handle_of_another_module_has_its_new_name(desk, folder):
    """Memory of an unloaded module is used again, so kernels of different names have the same handle."""
    names = [f"kernel_{n}" for n in range(20)]
    actions = [action for name in names for action in (f"kernel {name}", "launch 1", "launch 1", "unload")]
    _, launches = ran(desk, folder, *actions)
    assert [launch["name"] for launch in launches] == [name for name in names for _ in range(2)]


def test_a_kernel_that_stays_loaded_keeps_its_number(desk, folder):
    ran(desk, folder, "kernel other", "unload", "use 0", "launch 1", "kernel other", "unload", "use 0", "launch 1")
    assert [line["name"] for line in lines_of(only(folder)) if line["kind"] == "kernel"] == ["where"]


def test_threads_and_streams_are_told_apart(desk, folder):
    _, launches = ran(desk, folder, "burst 4 300 cuLaunchKernel")
    by_thread = collections.defaultdict(list)
    for launch in launches:
        by_thread[launch["thread"]].append(launch)
    assert [len(each) for each in by_thread.values()] == [300] * 4
    assert len({launch["stream"] for launch in launches}) == 4 and len({launch["context"] for launch in launches}) == 1
    for each in by_thread.values():
        assert len({launch["stream"] for launch in each}) == 1
        assert [launch["ns"] for launch in each] == sorted(launch["ns"] for launch in each)


def test_a_launch_by_way_of_another_function_is_one(desk, folder):
    _, launches = ran(desk, folder, "launch", "launch", STAND_IN_NESTS="1")
    assert len(launches) == 2


def test_a_launch_that_fails_is_not_noted(desk, folder):
    answers, launches = ran(desk, folder, "cooperative 100000", "launch")
    assert answers[0].startswith("error") and len(launches) == 1


# --- processes ---

def test_a_program_without_launches(desk, folder):
    _, launches = ran(desk, folder, "attribute 16")
    head, = lines_of(only(folder))
    assert not launches and head["process"] == "program" and head["version"] == "1.0"
    assert only(folder).stat().st_mode & 0o777 == 0o600 and folder.stat().st_mode & 0o777 == 0o700
    assert desk.tool("--kernels", folder, "true").status == 0
    assert len(files(folder)) == 1, "a program that does not use CUDA has no file"


def test_two_processes_at_once(desk, folder):
    programs = [started(desk, folder, "kernel of_" + name) for name in ("first", "second")]
    for program in programs:
        program.hear()
        program.say("burst 2 500 cuLaunchKernel")
    for program in programs:
        assert program.hear() == "ok" and program.end() == 0
    found = {lines_of(file)[0]["pid"]: {launch["name"] for launch in noted(file)} for file in files(folder)}
    assert found == {programs[0].pid: {"of_first"}, programs[1].pid: {"of_second"}}
    assert sum(len(noted(file)) for file in files(folder)) == 2000


def test_what_a_killed_program_launched_before_is_readable(desk, folder):
    program = started(desk, folder)
    assert program.ask("burst 1 700 cuLaunchKernel") == "ok"
    until(lambda: len(noted(only(folder))) == 700)
    program.kill()
    assert len(noted(only(folder))) == 700


def test_a_child_of_a_program_that_uses_the_gpu(desk, folder):
    """CUDA cannot be used in such a child, which has no thread that would write."""
    program = started(desk, folder)
    program.launch()
    until(lambda: len(noted(only(folder))) == 1)
    program.say("fork")
    assert program.ask("launch").startswith("error")
    assert program.end() == 0
    assert len(noted(only(folder))) == 1


def test_a_program_that_executes_another(desk, folder):
    """It has a file for each of the two, with the same pid."""
    running = desk.start_command(f"--kernels {folder}", PROGRAM, "launch 3", "-", "exec", "launch 4")
    running.hear()
    until(lambda: noted(only(folder)))
    running.process.stdin.close()
    assert running.process.wait(60) == 0
    first, second = files(folder)
    assert [lines_of(file)[0]["pid"] for file in (first, second)] == [running.pid] * 2
    assert [launch["grid"][0] for file in (first, second) for launch in noted(file)] == [3, 4]


def test_a_program_that_closes_all_files(desk, folder):
    """The library must not write into a file that has got its descriptor."""
    other = desk.folder / "other"
    other.touch()
    program = started(desk, folder)
    assert program.launch()
    until(lambda: noted(only(folder)))
    assert program.ask(f"reuse {other}") == "ok"
    assert program.launch() and program.end() == 0
    assert not other.read_bytes() and len(noted(only(folder))) == 1
    assert "the program closed the file" in program.err.read_text()


# --- space ---

def test_a_full_disk_costs_launches_and_nothing_else(desk, folder):
    """The file may have 2,000 bytes at first. The memory for launches takes 32,768 of them."""
    program = started(desk, folder, STAND_IN_LOG="")
    _, most = resource.prlimit(program.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (2000, most))
    assert program.ask("burst 2 30000 cuLaunchKernel") == "ok"
    assert only(folder).stat().st_size == 2000
    resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (most, most))
    lost, = until(lambda: [line["launches"] for line in lines_of(only(folder)) if line["kind"] == "lost"])
    assert 0 < lost == 60_000 - len(noted(only(folder)))
    assert program.launch() and program.end() == 0
    assert len(noted(only(folder))) == 60_001 - lost
    assert program.err.read_text().count("File too large; those that do not fit into memory are lost") == 1


def test_a_folder_that_cannot_be_written(desk, open_desk):
    file = desk.folder / "file"
    file.touch()
    for path, status, why in ((file, USAGE, "Not a directory"), (desk.folder / "none/kernels", USAGE, "No such file")):
        desk.refused("", f"cannot write into the folder {path}: {why}", "--kernels", path, PROGRAM, "launch",
                     exit_status=status)
    needs_root()
    (desk.folder / "root").mkdir(0o700)
    words, program, env = as_nobody(open_desk)
    result = open_desk.command(*words, "--kernels", open_desk.folder, program, "launch", **env)
    assert result.status == REFUSED and "cannot write into the folder" in result.err and not result.out


def test_a_folder_that_is_gone_later(desk, folder):
    """The program goes on without notes, after a sentence."""
    result = desk.command(PROGRAM, "launch 7", CUDA_INJECTION64_PATH=str(LIBRARY), NVTASKSET_KERNELS=str(folder))
    assert result.status == 0 and result.answers == ["7 0-6"]
    assert f"launches are not noted: cannot make a file in {folder}: No such file or directory\n" in result.err


def test_a_profiler_prevents_notes(desk, folder):
    result = desk.tool("--kernels", folder, PROGRAM, "subscribe", "launch 7")
    assert result.status == 0 and "launches are not noted: another library" in result.err and not files(folder)


# --- the option ---

def test_partitions_and_notes_together(desk, folder):
    result = desk.tool("--no-mps", "-t", "0-3", "--kernels", folder, PROGRAM, "launch")
    assert result.status == 0 and result.answers[0].startswith("8 ") and len(noted(only(folder))) == 1


def test_a_task_with_notes_can_be_changed(desk, folder):
    program = started(desk, folder)
    assert len(program.launch()) == 132
    desk.change(program.pid, "-t 0-3")
    assert len(program.launch()) == 8


def test_notes_are_off_by_default(desk, folder):
    """The inner nvtaskset has no --kernels, so its program makes no notes, although the outer one has the option."""
    result = desk.tool("--kernels", folder, TOOL, "--prepare", PROGRAM, "launch 7")
    assert result.status == 0 and result.answers == ["7 0-6"] and not files(folder)


@pytest.mark.parametrize("words", ("", "-p 1", "--list", "-t 0 --cdi x"))
def test_notes_need_a_command(desk, folder, words):
    result = desk.tool("--kernels", folder, *words.split())
    assert result.status == USAGE and "--kernels needs a COMMAND" in result.err and not folder.exists()


@pytest.mark.ci
def test_the_measurement_for_hardware(desk):
    """Runs tests/hardware/kernel_names.py over the stand-in."""
    load = desk.folder / "load"
    subprocess.run(["g++", "-std=c++20", "-O1", "-o", load, ROOT / "tests/hardware/load.cpp", "-ldl"], check=True)
    done = desk.command(ROOT / "tests/hardware/kernel_names.py", TOOL, load, desk.folder / "out", "--launches", "300", STAND_IN_LOG="")
    rows = json.loads((desk.folder / "out/kernel_names.json").read_text(encoding="utf-8"))["rows"]
    assert [row["check"] for row in rows if not row["good"] and "more_us" not in row] == [], done.out + done.err
    assert "'compute': 300" in done.out and "'graph'" in done.out


def test_the_pages_have_the_measured_cost():
    """Compares the figures on pages with the record of an H200."""
    rows = json.loads((ROOT / "tests/hardware/h200-580.159.04/kernel_names.json").read_text(encoding="utf-8"))["rows"]
    costs = [row for row in rows if row["check"] == "an empty kernel"]
    text = (ROOT / "docs/partitions-measured.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^### Noting launches\n(.*?)^##", text, re.M | re.S)
    assert re.findall(r"^\| (\d .*) \|$", shown, re.M) == [
        " | ".join([str(number), *(f"{median:.2f} / {p99:.2f}" for median, p99 in row["us"].values()), f"{row['more_us']:.2f}"])
        for number, row in enumerate(costs, 1)]
    more = sorted(row["more_us"] for row in costs)
    assert f"differences is {more[1]:.2f} us, and **one exceeds 1 us**" in shown and more[1] < 1 < more[2]
    (torch,) = (row for row in rows if "PyTorch" in row["check"])
    assert "took {:.1f} us under nvtaskset and {:.1f} us with notes".format(*(each[0] for each in torch["us"].values())) in shown
    (turns,) = (row for row in rows if row["check"] == "turns begin after launches")
    assert f"{turns['compared']} launches could be compared" in shown and not turns["earlier"]
    late = sorted(row["us"]["noted"][1] - row["us"]["under nvtaskset"][1] for row in costs)
    assert f"At the p99 a call took {late[0]:.1f} to {late[2]:.1f} us longer" in shown
    assert f"{more[0]:.2f} to {more[2]:.2f} us longer" in (ROOT / "docs/nvdebugctl.md").read_text(encoding="utf-8")
