# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvstgm profile --from: task sets from recordings. Recordings of hardware have tasks that always had work; others are made
here turn by turn, of tasks with given periods and lengths. No GPU, no VM."""

import dataclasses
import gzip
import json

import pytest
from stgm import ROOT, check, document, nvstgm

MS = 1_000_000
SLICE, SWITCH = 2 * MS, 84_000
RECORDINGS = [ROOT / f"tests/hardware/{gpu}-580.159.04/recording.ndjson" for gpu in ("h100", "h200")]


@dataclasses.dataclass
class Periodic:
    """A task. Its jobs have bursts of work, shorter than its timeslice, with pauses in between. Times are in ms."""
    pid: int
    name: str
    first: float
    period: float
    work: tuple
    pause: float = 0

    def bursts(self, end_ms):
        """Yields the pause before each burst that follows another one in its job, or the time of the job, and the work."""
        release = self.first
        while release < end_ms:
            for n, work in enumerate(self.work):
                yield (None if n else int(release * MS)), int(self.pause * MS), int(work * MS)
            release += self.period


def recorded(path, *tasks, end_ms=1000, fill=True, timeslice=20, gpu=0, more=(), losses=()):
    """Writes a recording of a GPU on which the tasks take turns with one that always has work and gives way at the end of a
    timeslice. Without it, the last task stays on the GPU until another one comes."""
    ready = {task.pid: (task.bursts(end_ms), None) for task in tasks}

    def next_of(pid, now):
        bursts, _ = ready[pid]
        found = next(bursts, None)
        ready[pid] = (bursts, found and (found[0] if found[0] is not None else now + found[1], found[2]))
    for pid in ready:
        next_of(pid, 0)
    turns, now = [], 0
    while now < end_ms * MS:
        waiting = [(burst[0], pid) for pid, (_, burst) in ready.items() if burst]
        if not waiting:
            break
        at, pid = min(waiting)
        if at > now:
            slices = -(-(at - now) // SLICE)
            end = now + slices * SLICE if fill else at
            if fill:
                turns.append((9, now, end))
            elif turns:
                turns[-1] = (*turns[-1][:2], end)
            now = end + SWITCH
            continue
        work = ready[pid][1][1]
        turns.append((pid, now, now + work))
        next_of(pid, now + work)
        now += work + SWITCH
    lines = [{"kind": "recording", "version": "1.0", "tool": "a test", "time": "2026-11-29T00:00:00.000Z", "source": "driver",
              "period_ns": 0, "gpus": [{"gpu": gpu, "chip": "GH100", "pci_address": None}]}]
    for pid, name in [(9, "fill")] * fill + [(task.pid, task.name) for task in tasks]:
        lines.append({"kind": "process", "gpu": gpu, "pid": pid, "process": name, "cgroup": None, "container": None, "channels": 1,
                      "tsgs": [{"runlist": 0, "tsg": pid, "timeslice_ns": SLICE if pid == 9 else timeslice * MS}]})
    last = None
    for pid, begin, end in turns:
        if any(first <= begin < after for first, after in losses):
            continue
        lines.append({"kind": "turn", "gpu": gpu, "engine": "GR0", "begin_ns": begin, "end_ns": end, "whole": True,
                      "gap_ns": None if last is None else SWITCH, "pid": pid, "process": None, "context": pid, "runlist": None,
                      "tsg": None, "channel": None})
        last = end
    lines += [*more, {"kind": "engine", "gpu": gpu, "engine": "GR0", "by": "switches", "begin_ns": 0, "end_ns": now, "samples": 0,
                      "missed_samples": 0, "known_ns": 0}, {"kind": "summary", "summary": {}}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def profile(path, *words):
    return nvstgm("profile", "--from", path, *words)


CAMERA, LIDAR = Periodic(11, "camera", 5.3, 33.3, (4.5,)), Periodic(12, "lidar", 17.9, 100.1, (11.25,))


@pytest.fixture
def run(tmp_path):
    return recorded(tmp_path / "run.ndjson", CAMERA, LIDAR)


def test_a_set_has_the_periods_and_the_lengths_of_the_recording(run, tmp_path):
    data = document(profile(run, "-j", "-o", tmp_path / "set.json"))
    assert [row["name"] for row in data["rows"]] == ["camera[11]", "lidar[12]"]
    for row, task in zip(data["rows"], (CAMERA, LIDAR)):
        assert row["jobs"] >= 1000 / task.period - 4 and row["gpu_segments"] == 1
        # Half a timeslice is taken for the moment at which a task came, at either end of a period.
        assert 1000 * (task.period - 2) <= row["period"] <= row["usual"] <= 1000 * (task.period + 2)
        assert row["kernels"] == pytest.approx(1100 * task.work[0], abs=1)
        assert row["percent"] == pytest.approx(100 * task.work[0] / task.period, abs=1)
    assert data["notes"] == ["fill[9] had work all the time, so that it has no period; the set is without it, and no bound counts "
                             "its work"]
    assert data["taskset"] == json.loads((tmp_path / "set.json").read_text(encoding="utf-8"))
    # The set is whole: each task has a core of its own, and all of them share the GPU, which is its one SM.
    checked = check(data["taskset"], "-j")
    assert checked.status == 0
    camera, lidar = document(checked)["tasks"]
    assert camera["response"] == data["rows"][0]["kernels"] + data["rows"][1]["kernels"] == lidar["response"]


def test_the_recording_of_the_page_is_that_of_a_pipeline(tmp_path):
    """docs/stgm.md describes it. After a change of recorded(), docs/examples/pipeline.ndjson is to be written again by it."""
    made = recorded(tmp_path / "pipeline.ndjson", Periodic(4711, "pipeline", 12.6, 50, (6.2, 3.4), 4), end_ms=600)
    assert made.read_text(encoding="utf-8") == (ROOT / "docs/examples/pipeline.ndjson").read_text(encoding="utf-8")


def test_times_that_no_recording_shows_are_typed(run):
    data = document(profile(run, "-j", "--margin", 0, "--to-device", "300us", "--from-device", 20))
    camera, lidar = data["taskset"]["tasks"]
    assert camera["segments"] == [{"gpu": {"to_device": 300, "kernel": [4500], "from_device": 20}}]
    assert lidar["deadline"] == lidar["period"] and lidar["segments"][0]["gpu"]["kernel"] == [11250]


def test_a_short_pause_divides_a_job_into_segments(tmp_path):
    """The pause of 0.5 ms is as long as a turn of the other task at most, and half of that bound is 1 ms."""
    path = recorded(tmp_path / "run.ndjson", Periodic(11, "camera", 5.3, 40, (4.5, 2.5, 1.25), .5))
    one = document(profile(path, "-j", "--margin", 0))
    assert one["rows"][0]["gpu_segments"] == 1 and one["rows"][0]["period"] < 10_000, "each burst is a job"
    data = document(profile(path, "-j", "--margin", 0, "--job-pause", "3ms"))
    (row,), (task,) = data["rows"], data["taskset"]["tasks"]
    assert row["gpu_segments"] == 3 and row["kernels"] == 8250 and 38_000 <= row["period"] <= 42_000
    kernels = [segment["gpu"]["kernel"] for segment in task["segments"] if "gpu" in segment]
    assert kernels == [[4500], [2500], [1250]] and len(task["segments"]) == 5
    assert all(1000 <= segment["cpu"] <= 1100 for segment in task["segments"] if "cpu" in segment)
    assert any("pauses of which only a bound is known" in note for note in data["notes"])


def test_jobs_beside_lost_turns_do_not_count(tmp_path):
    whole = document(profile(recorded(tmp_path / "a", CAMERA, LIDAR), "-j"))
    lost = {"kind": "lost", "gpu": 0, "engine": "GR0", "after_ns": 0, "switches": 5}
    path = recorded(tmp_path / "b", CAMERA, LIDAR, losses=[(300 * MS, 420 * MS)], more=[lost | {"after_ns": 990 * MS}])
    data = document(profile(path, "-j"))
    for row, other in zip(data["rows"], whole["rows"]):
        assert row["jobs"] < other["jobs"] and row["kernels"] == other["kernels"]
        assert row["period"] == pytest.approx(other["period"], abs=2000)
    assert any("turns on gpu0 are missing" in note for note in data["notes"])


def test_tasks_that_are_alone_on_the_gpu_keep_it(tmp_path):
    """Without a task that always has work, a turn goes on until another task comes, which a note names."""
    tasks = Periodic(11, "a", 3, 20, (1,)), Periodic(12, "b", 13, 20, (1.5,))
    data = document(profile(recorded(tmp_path / "run.ndjson", *tasks, fill=False, timeslice=2), "-j", "--margin", 0))
    assert [row["name"] for row in data["rows"]] == ["a[11]", "b[12]"] and all(row["kernels"] > 9000 for row in data["rows"])
    assert sum("while no other task wanted it" in note for note in data["notes"]) == 2


@pytest.mark.parametrize("recording", RECORDINGS, ids=("h100", "h200"))
def test_tasks_of_hardware_that_always_had_work_are_no_set(recording):
    result = profile(recording)
    assert result.status == 1 and not result.out and "shows no task with a period; " in result.err
    assert result.err.count(" had work all the time, so that it has no period") == 3


def test_a_table_and_csv(run):
    result = profile(run)
    assert result.status == 0 and result.out.splitlines()[0].split() == ["task", "jobs", "period", "usual", "GPU", "segments", "kernels",
                                                                         "had", "%"]
    assert "the set's one SM is the whole of gpu0" in " ".join(result.out.split()) and "fill[9] had work all the time" in result.err
    assert profile(run, "--csv").out.splitlines()[0] == "name,jobs,period,usual,gpu_segments,kernels,percent"


def test_a_packed_recording_and_one_that_was_cut_off(run, tmp_path):
    packed = tmp_path / "run.ndjson.gz"
    packed.write_bytes(gzip.compress(run.read_bytes()))
    assert document(profile(packed, "-j"))["rows"] == document(profile(run, "-j"))["rows"]
    text = run.read_text(encoding="utf-8")
    run.write_text(text[:len(text) * 2 // 3], encoding="utf-8")
    assert any("is incomplete" in note for note in document(profile(run, "-j"))["notes"])


def test_one_gpu_of_several(tmp_path):
    a, b = (recorded(tmp_path / str(gpu), task, gpu=gpu).read_text(encoding="utf-8").splitlines() for gpu, task in enumerate((CAMERA, LIDAR)))
    head = json.loads(a[0])
    head["gpus"] += json.loads(b[0])["gpus"]
    both = tmp_path / "both.ndjson"
    both.write_text("\n".join([json.dumps(head), *a[1:-1], *b[1:]]) + "\n", encoding="utf-8")
    assert [row["name"] for row in document(profile(both, "-j", "--gpu", 1))["rows"]] == ["lidar[12]"]
    assert "it has the GPUs 0, 1; name one with --gpu" in profile(both).err
    result = profile(both, "--gpu", 2)
    assert result.status == 1 and "on the GPUs 0, 1 alone, not on '2'" in result.err


@pytest.mark.parametrize("words, sentence", (
    (("--tpcs", "1"), "--tpcs is for a COMMAND, and has no effect with --from"), (("true",), "runs no COMMAND as 'true'"),
    (("--job-pause", "0"), "--job-pause takes "), (("-o", "x.txt"), "there is no form for '.txt'")))
def test_wrong_words_are_refused(run, words, sentence):
    result = profile(run, *words)
    assert result.status == 1 and not result.out and sentence in result.err


def test_what_is_no_recording_is_refused(run, tmp_path):
    result = profile(tmp_path / "none")
    assert result.status == 1 and "cannot open" in result.err
    result = profile(ROOT / "docs/examples/robot.json")
    assert result.status == 1 and "is not one of a recording" in result.err
    same = run.rename(tmp_path / "run.json")
    before, result = same.read_bytes(), profile(same, "-o", same)
    assert result.status == 1 and "--output" in result.err and same.read_bytes() == before
    assert "'profile' takes COMMAND, or --from RECORDING" in nvstgm("profile").err
    assert "--job-pause has an effect with --from alone" in nvstgm("profile", "--job-pause", "1ms", "true").err
