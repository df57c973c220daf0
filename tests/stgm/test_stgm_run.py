# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvstgm run: task sets in processes of their own, without a GPU. No VM.

The tests assert no times of the host. Counts, orders and sums are exact."""

import contextlib
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest
from building import built
import stgm
from stgm_runs import MS, PATIENCE_S, SECOND, THREE, cpu, ended, gpu, run, running, task, taskset
from throwaway_root import needs_root
from waiting import comes_true, until

ROOT = pathlib.Path(__file__).resolve().parents[2]


def without_gpu(what, *words, **how):
    return run(what, "--without-gpu", *words, **how)


def rows_of(result):
    return {row["name"]: row for row in stgm.document(result)["tasks"]}


def tasks_of(process):
    """Returns the PIDs of the tasks' processes, by the number of the task."""
    found = {}
    for pid in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        with contextlib.suppress(FileNotFoundError):
            if b"__task" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                place = re.search(rb"(?:^|\0)NVSTGM_TASK=\d+ (\d+)\0", pathlib.Path(f"/proc/{pid}/environ").read_bytes())
                found[int(place[1])] = int(pid)
    return found


def is_pinned(pid):
    return len(os.sched_getaffinity(pid)) == 1


def wait_for_tasks(process, count):
    """Waits until all tasks exist and have prepared their work."""
    until(lambda: len(tasks_of(process)) == count and all(map(is_pinned, tasks_of(process).values())))
    return tasks_of(process)


def jobs_in(seconds, period):
    return -(-seconds * SECOND // period)


def events_in(path):
    """Returns the records of a trace as (ns, task, job, what, segment)."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        at, name, job, what, segment = re.fullmatch(r"(\d+) (\S+)#(\d+): (\w+)(?: \(segment (\d+)\))?", line).groups()
        found.append((int(at), name, int(job), what, segment and int(segment)))
    return found


def of_protocol(events):
    """Returns the protocol's events of each job, without overruns, stalls, and changes of the core."""
    found = []
    for event in events:
        if event[3] in ("overrun", "stall"):
            continue
        if event[3] == "run" and found and found[-1][3] == "stop" and found[-1][4] == event[4]:
            found.pop()
        else:
            found.append(event)
    return found


def by_job(events, task):
    """Returns the protocol's events of each job of a task. Jobs may overlap, as on a busy machine a job may be released before
    the previous job has finished."""
    own = [event for event in events if event[1] == task]
    return [of_protocol(event for event in own if event[2] == job) for job in sorted({event[2] for event in own})]


def spans(events, begin, end):
    """Returns (begin, end, task) of each pair of events, task by task."""
    found, since = [], {}
    for at, name, _, what, _ in events:
        if what == begin:
            assert name not in since
            since[name] = at
        elif what == end:
            found.append((since.pop(name), at, name))
    assert not since
    return sorted(found)


def assert_apart(some):
    for (_, end, _), (begin, _, _) in itertools.pairwise(some):
        assert end <= begin


@pytest.mark.parametrize("priorities", ("linux", "handed"))
@pytest.mark.parametrize("words", ((), ("--copy-wait", "spin"), ("--waiting", "busy")), ids=" ".join)
def test_a_set_that_runs(tmp_path, words, priorities):
    result = without_gpu(THREE, "--for", 1, "-j", "-o", tmp_path / "trace", "--priorities", priorities, *words)
    rows, events = rows_of(result), events_in(tmp_path / "trace")
    assert events == sorted(events, key=lambda event: event[0])
    for one in THREE["tasks"]:
        row, jobs = rows[one["name"]], jobs_in(1, one["period"])
        assert row["jobs"] == jobs and row["ended"] is None
        own = by_job(events, one["name"])
        releases = {job: at for part in own for at, _, job, what, _ in part if what == "release"}
        assert releases == {job: 1000 * job * one["period"] for job in range(jobs)}
        responses = [at - releases[job] for part in own for at, _, job, what, _ in part if what == "finish"]
        assert row["response"] == -(-max(responses) // 1000)
        assert row["misses"] == sum(response > 1000 * one["deadline"] for response in responses)
        assert row["overruns"] == sum(event[1] == one["name"] and event[3] == "overrun" for event in events)
        assert row["undisturbed"]["jobs"] <= jobs and row["undisturbed"]["above"] <= row["undisturbed"]["jobs"]
        expected = [what for part in one["segments"] for what in (
            ("run", "stop") if "cpu" in part else
            ("segment_begin", *(("copy_ask", "copy_begin", "copy_end") if part["gpu"]["to_device"] else ()),
             "launch", "kernel_begin", "kernel_end", "copy_ask", "copy_begin", "copy_end", "segment_end"))]
        assert [[what for _, _, _, what, _ in part] for part in own] == [["release", *expected, "finish"]] * jobs
    assert result.status == (2 if any(row["misses"] for row in rows.values()) else 0)
    # One copy at a time; camera and lidar share a TPC.
    assert_apart(spans(events, "copy_begin", "copy_end"))
    assert_apart(spans(events, "kernel_begin", "kernel_end"))


@pytest.mark.parametrize("words", ((), ("--copy-wait", "spin"), ("--waiting", "busy")), ids=" ".join)
def test_one_copy_and_one_kernel_at_a_time(tmp_path, words):
    """Tasks are released at the same moment, on different cores if the machine has two."""
    other = min(len(os.sched_getaffinity(0)) - 1, 1)
    pair = taskset(*(task(name, SECOND, gpu(100 * MS, 150 * MS, 100 * MS), core=core, sms=[0, 1 + core])
                     for name, core in (("a", 0), ("b", other))))
    assert without_gpu(pair, "--for", 1, "-o", tmp_path / "trace", *words).status in (0, 4)
    events = events_in(tmp_path / "trace")
    for kind, count in (("copy", 4), ("kernel", 2)):
        found = spans(events, f"{kind}_begin", f"{kind}_end")
        assert len(found) == count
        assert_apart(found)


def test_kernels_that_share_no_tpc_run_together(tmp_path):
    apart = taskset(task("a", SECOND, gpu(0, 900 * MS, 0), sms=[0]), task("b", SECOND, gpu(0, 900 * MS, 0), sms=[1]))
    assert without_gpu(apart, "--for", 1, "-o", tmp_path / "trace").status in (0, 4)
    first, second = spans(events_in(tmp_path / "trace"), "kernel_begin", "kernel_end")
    assert second[0] < first[1]


def test_without_management_kernels_run_together(tmp_path):
    pair = taskset(*(task(name, SECOND, gpu(0, 900 * MS, 0), sms=[0]) for name in ("a", "b")))
    result = without_gpu(pair, "--for", 1, "--unmanaged", "-j", "-o", tmp_path / "trace")
    first, second = spans(events_in(tmp_path / "trace"), "kernel_begin", "kernel_end")
    assert not stgm.document(result)["managed"] and second[0] < first[1]


def test_tasks_hand_their_core_to_each_other(tmp_path):
    """Priorities hold without SCHED_FIFO: one task at a time has the core, and a task of lower priority is interrupted."""
    # On a loaded machine nvstgm may measure the CPU's speed too low, so that 400 ms of work take less. Or the work may take
    # seconds, so that not all jobs of hi run within the end of the run, which is twice the longest period.
    pair = taskset(task("hi", 50 * MS, cpu(5 * MS)), task("lo", 30 * SECOND, cpu(400 * MS)))
    result = without_gpu(pair, "--for", 1, "--priorities", "handed", "-j", "-o", tmp_path / "trace")
    data = stgm.document(result)
    assert data["priorities"] == "handed" and not data["fifo"]
    events = events_in(tmp_path / "trace")
    found = spans(events, "run", "stop")
    assert_apart(found)
    names = [name for _, _, name in found]
    assert names.count("lo") >= 2
    # lo has one job, which leaves the core to hi alone, and no task interrupts hi.
    assert ("lo", "lo") not in itertools.pairwise(names)
    begun = [job for _, name, job, what, _ in events if (name, what) == ("hi", "run")]
    assert begun and len(begun) == len(set(begun)) <= jobs_in(1, 50 * MS)


@pytest.mark.parametrize("priorities", ("linux", "handed"))
def test_a_gpu_segment_is_boosted(tmp_path, priorities):
    """The copies of a GPU segment are not interrupted, and its kernel leaves the core to the other task."""
    if priorities == "linux":
        needs_root()
    pair = taskset(task("hi", 20 * SECOND, cpu(900 * MS)), task("lo", 30 * SECOND, gpu(200 * MS, 300 * MS, 200 * MS), sms=[0]))

    def has_all_orders():
        """Runs the set once. Copies and kernels take their time by the clock, so that a machine with much else to do may give
        hi its core too late to show each order; but hi never begins within a copy."""
        assert without_gpu(pair, "--for", 1, "--offset", "hi=100000", "--priorities", priorities,
                           "-o", tmp_path / "trace").status in (0, 4)
        events = [event for event in events_in(tmp_path / "trace") if event[3] not in ("overrun", "stall")]
        at = {}
        for time_ns, name, _, what, _ in events:
            at.setdefault((name, what), []).append(time_ns)
        copies = list(zip(at["lo", "copy_begin"], at["lo", "copy_end"]))
        assert len(copies) == 2
        assert not any(begin < run < end for begin, end in copies for run in at["hi", "run"])
        if priorities == "handed":
            assert_apart(spans(events, "run", "stop"))
        (_, into), (out_of, back) = copies
        # hi waits for the first copy, runs beside the kernel, and has work left when the second copy has ended.
        return (at["hi", "release"][0] < into <= at["hi", "run"][0] < at["lo", "kernel_end"][0] and back < at["hi", "stop"][-1]
                and (priorities == "linux" or (len(at["hi", "run"]) >= 2 and out_of <= at["hi", "run"][-1])))
    assert comes_true(has_all_orders)


def test_measured_lengths_and_the_same_work_again(tmp_path):
    """The second run has the work of the first file, and as its lengths the measured ones with a margin."""
    drawn, measured = tmp_path / "drawn.json", tmp_path / "measured.json"
    drawn.write_text(json.dumps(THREE), encoding="utf-8")
    assert without_gpu(THREE, "--for", 1, "--measure", measured, "--measure-margin", 100).status in (0, 4)
    found = json.loads(measured.read_text(encoding="utf-8"))
    for one, other in zip(THREE["tasks"], found["tasks"]):
        assert (one["name"], one["period"], one["core"]) == (other["name"], other["period"], other["core"])
        for segment, seen in zip(one["segments"], other["segments"]):
            times, seen = segment.get("gpu", segment), seen.get("gpu", seen)
            for key, length in times.items():
                longest = seen[key][0] if isinstance(seen[key], list) else seen[key]
                # By the clock, copies and kernels take 90 % of their length, and the margin of 100 % doubles that. CPU times
                # depend on the measured speed.
                assert longest > (0 if key == "cpu" else 1.5 * length) if length else longest == 0
    result = without_gpu(found, "--for", 1, "--margin", 0, "--work", drawn, "-j")
    assert all(row["jobs"] for row in rows_of(result).values())
    other = taskset(*THREE["tasks"][:2])
    refused = without_gpu(other, "--work", drawn)
    assert refused.status == 1 and "it has other tasks or segments than -" in refused.err


def test_work_that_is_longer_than_the_file_says_is_noticed():
    """A kernel takes 900 ms by the clock, while the file has 100 ms and a deadline of 200 ms."""
    wrong = taskset(task("a", 200 * MS, gpu(0, 100 * MS, 0), sms=[0]))
    result = without_gpu(wrong, "--for", 1, "--stretch", 1000, "-j")
    row = rows_of(result)["a"]
    assert result.status == 4 and row["overruns"] >= row["jobs"] >= 1 and row["undisturbed"]["jobs"] == 0
    assert row["misses"] == 5  # includes jobs that never ran
    assert row["response"] > row["bound"] and stgm.document(result)["above"] == 1


def test_offsets(tmp_path):
    assert without_gpu(THREE, "--for", 1, "--offset", "lidar=1500", "-o", tmp_path / "trace").status in (0, 4)
    firsts = {name: at for at, name, job, what, _ in events_in(tmp_path / "trace") if what == "release" and not job}
    assert firsts == {"camera": 0, "lidar": 1_500_000, "planner": 0}


def test_a_task_that_is_killed_lets_go(tmp_path):
    """The task is killed in its kernel, for which the other task waits in its first job."""
    pair = taskset(task("killed", 20 * SECOND, gpu(0, 19 * SECOND, 0), sms=[0]),
                   task("other", 500 * MS, gpu(100, 1 * MS, 100), sms=[0]))
    with running(pair, "--without-gpu", "--for", 3, "--offset", "other=100000", "-j") as process:
        killed = wait_for_tasks(process, 2)[0]
        time.sleep(1.5)
        os.kill(killed, signal.SIGKILL)
        result = ended(process)
    rows = rows_of(result)
    assert result.status == 4 and rows["killed"]["ended"] == "signal 9" and rows["other"]["ended"] is None
    assert rows["killed"]["jobs"] == 0 and rows["other"]["jobs"] == 6


@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
def test_no_process_outlives_the_run(how):
    with running(THREE, "--without-gpu", "--for", 60, "-j") as process:
        tasks = wait_for_tasks(process, 3)
        time.sleep(0.5)
        process.send_signal(how)
        result = ended(process)
    until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in tasks.values()))
    assert (how == signal.SIGKILL) == (result.status == -signal.SIGKILL)
    if how != signal.SIGKILL and result.out:
        assert not stgm.document(result)["whole"]


@pytest.mark.parametrize("prefix", ((), ("nohup",)))
def test_a_hangup_ends_it_but_under_nohup(prefix):
    with running(THREE, "--without-gpu", "--for", 1 if prefix else 60, "-j", prefix=prefix) as process:
        wait_for_tasks(process, 3)
        process.send_signal(signal.SIGHUP)
        result = ended(process)
    if prefix:
        assert stgm.document(result)["whole"]
    else:
        assert json.loads(result.out)["schema"] == "nvdebug/error"


def test_tasks_are_pinned_and_have_sched_fifo():
    needs_root()
    with running(THREE, "--without-gpu", "--for", 60, "-j") as process:
        tasks = wait_for_tasks(process, 3)
        first = min(os.sched_getaffinity(0))
        until(lambda: all(os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO for pid in tasks.values()))
        assert all(os.sched_getaffinity(pid) == {first} for pid in tasks.values())
        assert os.sched_getparam(tasks[2]).sched_priority == 10  # the lowest level, as this task is never boosted
    result = without_gpu(THREE, "--for", 1, "-j")
    assert stgm.document(result)["fifo"] and not result.err


def test_without_rights_it_goes_on_and_names_the_cost():
    needs_root()
    result = without_gpu(THREE, "--for", 1, "-j", prefix=("setpriv", "--bounding-set=-sys_nice", "prlimit", "--rtprio=0"))
    assert not stgm.document(result)["fifo"] and stgm.document(result)["priorities"] == "handed"
    assert len(result.err.splitlines()) == 1 and "SCHED_FIFO is refused" in result.err
    assert all(row["jobs"] for row in rows_of(result).values())


@pytest.mark.parametrize("what, words, sentence", (
    (THREE | {"time_unit": "tick"}, (), "'time_unit' is to be us"),
    (taskset(task("far", SECOND, cpu(1), core=4000), cores=4096), (), "task 'far' is on core 4000, and this process may use"),
    (taskset({key: value for key, value in THREE["tasks"][0].items() if key != "sms"}), (), "task 'camera' has no 'sms'"),
    (taskset(*(task(f"t{n}", SECOND, cpu(1)) for n in range(65))), (), "64 tasks run together at most"),
    (taskset(task("slow", 10 ** 15, *[cpu(10 ** 15)] * 10)), (), "task 'slow' takes 10000000000000000 us by itself"),
    (taskset(task("hour", 10 ** 15, cpu(1800 * SECOND), gpu(1, 1800 * SECOND, 0), sms=(0,))), (), "an hour at most"),
    (THREE, ("--for", 0), "--for takes a time from 1ms to 1h"),
    (THREE, ("--margin", 91), "--margin takes a whole number"),
    (THREE, ("--offset", "nobody=1"), "there is no task 'nobody'"),
    (THREE, ("--program", "nobody=true"), "--program: there is no task 'nobody'"),
    (THREE, ("--program", "camera"), "--program takes NAME=COMMAND, not 'camera'"),
    (THREE, ("--program", "camera=true", "--for", 1), "task 'camera' ended before the set began: before its time"),
    (THREE, ("--output", "/nonexistent/trace"), "/nonexistent/trace cannot be written: No such file"),
    (THREE, ("--measure", "/"), "/ cannot be written: Is a directory")))
def test_sets_that_cannot_be_run(what, words, sentence):
    result = without_gpu(what, *words)
    assert result.status == (5 if "ended before" in sentence else 1) and not result.out
    assert sentence in result.err and len(result.err.splitlines()) == 1


def test_no_descriptor_is_left_for_a_pipe():
    """It may work later, so that the status is not that of a wrong command line."""
    done = subprocess.run(["sh", "-c", 'ulimit -n 4; exec "$0" profile true', built("bin/nvstgm")], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (5, "", "nvstgm: no pipe: Too many open files\n")


def test_what_happened_for_perfetto(tmp_path):
    path = tmp_path / "run.pftrace"
    assert without_gpu(THREE, "--for", 1, "-o", path).status in (0, 4)
    for name in (b"copy engine", b"core 0: camera", b"core 0: planner", b"SMs 1-2", b"lidar: release"):
        assert name in path.read_bytes()


def test_each_column_has_a_name_of_its_own():
    heads = without_gpu(THREE, "--for", 1).out.splitlines()[0].split()
    assert len(set(heads)) == len(heads) > 10


def test_tasks_above_their_bounds_are_named():
    """The work takes three times as long as in the file."""
    result = without_gpu(THREE, "--for", 1, "--stretch", 300)
    rows = {words[0]: words for words in map(str.split, result.out.splitlines()) if len(words) > 10}
    above = [name for name, words in rows.items()
             if name != "task" and words[2].isdigit() and words[3].isdigit() and int(words[2]) > int(words[3])]
    assert above and f"{len(above)} of 3 tasks above their bounds ({', '.join(above)})," in result.out


def test_without_a_gpu_the_way_out_is_named():
    result = run(THREE, "--nvtaskset", "false")
    assert result.status and "run --without-gpu" in result.err


def test_text_and_csv():
    text = without_gpu(THREE, "--for", 1).out
    assert re.search(r"^camera +4 ", text, re.M) and re.search(r"\d+ deadlines missed; \d of 3 tasks above", text)
    assert without_gpu(THREE, "--for", 1, "--csv").out.splitlines()[0] == \
        ("name,jobs,response,bound,ratio,deadline,misses,overruns,stalls,undisturbed_jobs,undisturbed_response,"
         "undisturbed_above,ended")


def test_a_file_stays_as_it_is_until_there_is_another(tmp_path):
    """A run that fails or is killed does not change an existing file."""
    kept = tmp_path / "trace"
    kept.write_text("kept", encoding="utf-8")
    kept.chmod(0o640)
    assert without_gpu(THREE, "--for", 1, "--program", "camera=false", "-o", kept).status == 5
    with running(THREE, "--without-gpu", "--for", 60, "-o", kept) as process:
        wait_for_tasks(process, 3)
        process.kill()
        ended(process)
    assert kept.read_text(encoding="utf-8") == "kept"
    assert without_gpu(THREE, "--for", 1, "-o", kept).status in (0, 4)
    assert "finish" in kept.read_text(encoding="utf-8") and kept.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["trace"]


# --- users' programs ---

LIBRARY = ROOT / "build/cmake/lib/stgm/libnvstgm_task.a"


def example(name):
    return built(f"docs/examples/stgm/{name}")


OWN = taskset(
    task("camera", 100 * MS, cpu(2 * MS), gpu(MS, 10 * MS, MS), sms=[0]),
    task("planner", 150 * MS, gpu(0, 5 * MS, 0), cpu(2 * MS), sms=[0, 1]),
    task("other", 200 * MS, gpu(MS, 5 * MS, MS), sms=[1]))


@pytest.mark.parametrize("priorities", ("linux", "handed"))
def test_programs_of_ones_own(tmp_path, priorities):
    """Programs in C++ and C run beside a task with built-in work."""
    result = without_gpu(OWN, "--for", 1, "-j", "-o", tmp_path / "trace", "--priorities", priorities,
                         "--program", f"camera={example('stgm_camera')}", "--program", f"planner={example('stgm_planner')}")
    rows, events = rows_of(result), events_in(tmp_path / "trace")
    assert "camera: 10 frames" in result.err
    expected = {"camera": ("run", "stop", "segment_begin", "copy_ask", "copy_begin", "copy_end", "launch", "kernel_begin",
                           "kernel_end", "copy_ask", "copy_begin", "copy_end", "segment_end"),
                "planner": ("segment_begin", "launch", "kernel_begin", "kernel_end", "segment_end", "run", "stop")}
    for name, jobs in (("camera", 10), ("planner", 7), ("other", 5)):
        assert rows[name]["jobs"] == jobs and rows[name]["ended"] is None
        own = [[what for _, _, _, what, _ in part] for part in by_job(events, name)]
        assert name == "other" or own == [["release", *expected[name], "finish"]] * jobs
    assert_apart(spans(events, "copy_begin", "copy_end"))
    kernels = spans(events, "kernel_begin", "kernel_end")
    assert_apart([one for one in kernels if one[2] != "other"])
    assert_apart([one for one in kernels if one[2] != "camera"])


def test_a_program_that_no_run_has_started():
    for name in ("stgm_camera", "stgm_planner"):
        done = subprocess.run([example(name)], env={}, check=False, capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 1 and "this program is no task of a running 'nvstgm run'" in done.stderr


WRONG = r"""
#include <stdio.h>
#include <nvdebug/stgm_task.h>

#define DO(call) do { if ((call) < 0) fprintf(stderr, "error: %s\n", nvstgm_error(task)); } while (0)

int main(void)
{
	nvstgm_task *task = nvstgm_join(NULL);

	if (!task)
		return 3;
	DO(nvstgm_next_job(task));
	DO(nvstgm_segment_begin(task));
	if (nvstgm_ready(task) != 1)
		return 4;
	DO(nvstgm_ready(task));
	DO(nvstgm_point(task));
	while (nvstgm_next_job(task) == 1) {
		DO(nvstgm_kernel_begin(task));
		DO(nvstgm_segment_end(task));
		DO(nvstgm_segment_begin(task));
		DO(nvstgm_segment_begin(task));
		DO(nvstgm_copy_begin(task, 1));
		DO(nvstgm_copy_begin(task, 0));
		DO(nvstgm_copy_end(task));
		DO(nvstgm_kernel_begin(task));
		DO(nvstgm_next_job(task));
		DO(nvstgm_segment_end(task));
		DO(nvstgm_kernel_begin(task));
		DO(nvstgm_kernel_end(task));
		DO(nvstgm_kernel_end(task));
		DO(nvstgm_segment_end(task));
		DO(nvstgm_segment_begin(task));
	}
	nvstgm_leave(task);
	return 0;
}
"""
ERRORS = ["nvstgm_next_job: nvstgm_ready() was not called before",
          "nvstgm_segment_begin: there is no job",
          "nvstgm_ready: it was called before",
          "nvstgm_point: no job is in a CPU segment",
          "nvstgm_kernel_begin: no GPU segment has begun",
          "nvstgm_segment_end: no GPU segment has begun",
          "nvstgm_segment_begin: the GPU segment before has not ended",
          "nvstgm_copy_begin: the file has no copy to the device in this segment",
          "nvstgm_copy_begin: the file has no copy from the device in this segment",
          "nvstgm_copy_end: no copy has begun",
          "nvstgm_next_job: a GPU segment has not ended",
          "nvstgm_segment_end: a copy or a kernel has not ended",
          "nvstgm_kernel_begin: a copy or a kernel has not ended",
          "nvstgm_kernel_end: no kernel has begun",
          "nvstgm_segment_begin: the file has no further GPU segment for this task"]


def test_calls_in_wrong_places(tmp_path):
    """A C program, linked with the C library alone, makes calls in wrong places, and the set runs on."""
    example("stgm_planner")
    source, wrong = tmp_path / "wrong.c", tmp_path / "wrong"
    source.write_text(WRONG, encoding="utf-8")
    subprocess.run(["cc", "-Wall", "-Werror", "-I", ROOT / "include", "-o", wrong, source, LIBRARY], check=True)
    one = taskset(task("wrong", SECOND, gpu(0, MS, 0), sms=[0]), task("other", SECOND, gpu(MS, MS, MS), sms=[0]))
    result = without_gpu(one, "--for", 1, "-j", "--program", f"wrong={wrong}")
    assert [line.removeprefix("error: ") for line in result.err.splitlines() if line.startswith("error: ")] == ERRORS
    assert all(row["jobs"] == 1 and row["ended"] is None for row in rows_of(result).values())


def test_a_program_of_another_version(tmp_path):
    """A program of another version is refused, because the layout of the shared memory differs."""
    own = tmp_path / "memory"
    own.write_bytes(bytes(1 << 20))
    with own.open("rb+") as file:
        done = subprocess.run([example("stgm_planner")], env={"NVSTGM_TASK": f"{file.fileno()} 0"}, pass_fds=[file.fileno()],
                              check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1 and "'nvstgm run' is of another version" in done.stderr
