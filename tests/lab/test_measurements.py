# SPDX-License-Identifier: MIT OR GPL-2.0
"""The measurements of tests/hardware without a GPU: each one is listed and explains its words, and the parts that they share
with the experiments start, bound and end programs."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

import pytest
from building import ROOT

sys.path.insert(0, str(ROOT / "lab"))

# pylint: disable=wrong-import-position
from nvdlab import bounded, checks, counts, machine, measurements, record  # noqa: E402
from nvdlab.measurements import ALL, HARDWARE, Measurement  # noqa: E402

PATIENCE_S = 60
# Programs of the folder that measure nothing.
OTHERS = {"read_registers.py", "reach_summary.py", "gangs_simulated.py", "turn_costs.py"}


def python(text):
    return [sys.executable, "-c", text]


# --- the list ---

def test_every_measurement_is_listed():
    scripts = {path.name for path in HARDWARE.glob("*.py") if path.stat().st_mode & 0o111}
    assert scripts == {f"{each.name}.py" for each in ALL} | OTHERS
    done = subprocess.run([HARDWARE / "run", "--list"], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0 and done.stdout == measurements.table(), done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("*")] == [
        ["*", each.name] for each in ALL if each.is_default]


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_a_measurement_explains_the_words_that_it_is_run_with(each):
    asked = subprocess.run([sys.executable, each.path(), "--help"], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert asked.returncode == 0 and not asked.stderr and each.path().name in asked.stdout
    shown = asked.stdout.partition("positional arguments:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in shown.splitlines()] == each.words.split()
    done = subprocess.run([sys.executable, each.path()], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2 and "required: " in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("words, sentence", ((["magic"], "there is no measurement 'magic'"),
                                             (["--", "--budget", "1"], "for one measurement"),
                                             (["qos", "stgm", "--", "--parts", "caps"], "for one measurement")))
def test_wrong_words_are_refused(words, sentence):
    done = subprocess.run([HARDWARE / "run", *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr


# --- a run ---

WRITES = 'import json, sys\njson.dump(sys.argv[1:], open(sys.argv[2] + "/words", "w"))\n'


def test_a_measurement_that_fails_or_hangs_does_not_stop_the_next_one(tmp_path, capfd):
    for name, text in (("fails", "raise SystemExit(3)"), ("hangs", "import time\ntime.sleep(1000)"), ("writes", WRITES)):
        (tmp_path / f"{name}.py").write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
        (tmp_path / f"{name}.py").chmod(0o755)
    wanted = [Measurement("fails", "nvqos folder", 60), Measurement("hangs", "folder", 1), Measurement("writes", "nvqos folder", 60)]
    failed = measurements.run(wanted, tmp_path / "out", {"nvqos": "/bin/true"}, ("--seconds", "1"), tmp_path)
    assert failed == ["fails", "hangs"] and "hangs did not end in 1 s" in capfd.readouterr().out
    assert json.loads((tmp_path / "out/words").read_text(encoding="utf-8")) == ["/bin/true", str(tmp_path / "out"), "--seconds", "1"]


def test_a_program_that_is_missing_is_named_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(measurements, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(bounded.Failed, match="no nvdebug-exporter; 'make tool' builds it, or name one with --exporter"):
        measurements.run([Measurement("writes", "folder exporter", 60)], tmp_path / "out", {})
    assert not (tmp_path / "out").exists()


# --- programs with a bound ---

def test_tasks_are_ready_count_and_are_ended():
    text = ("import sys, time\nsys.stderr.write('hello\\nready\\n')\nsys.stderr.flush()\n"
            "for n in range(1000000):\n    print(time.monotonic_ns(), n, flush=True)\n    time.sleep(0.001)")
    with bounded.tasks((python(text), None), (python(text), None)) as made:
        begin = made[0].wait_past(0)[-1][0]
        lines = made[0].wait_past(begin)
        assert lines[-1][0] > begin and [n for _, n in lines] == list(range(len(lines)))
        made[1].kill()
        assert made[0].runs() and not made[1].runs()
        with pytest.raises(bounded.Late, match="does not count any more"):
            made[1].wait_past(1 << 62)
        assert made[1].lines() is not None, "lines stay readable"
    assert not made[0].runs()


@pytest.mark.parametrize("text, sentence", (("import sys\nsys.exit('no GPU')", "ended: no GPU"), ("pass", "ended: it printed nothing"),
                                            ("import time\ntime.sleep(1000)", "was not ready in 1 s")))
def test_a_task_that_is_not_ready_is_late(monkeypatch, text, sentence):
    if "sleep" in text:
        monkeypatch.setattr(bounded, "START_S", 1)
    with pytest.raises(bounded.Late, match=sentence):
        with bounded.tasks((python(text), None)):
            pytest.fail("it is not ready")


def test_a_talking_program_answers_ends_or_is_late():
    echo = "print('ready', flush=True)\nfor line in iter(input, 'end'): print(line * 2, flush=True)"
    task = bounded.Talking(*python(echo), env=None, patience_s=PATIENCE_S)
    task.ready()
    task.ask("go")
    assert task.line() == "gogo\n"
    task.patience_s = 0.1
    with pytest.raises(bounded.Late, match="printed nothing in 0.1 s"):
        task.line()
    task.patience_s = PATIENCE_S
    task.ask("end")
    with pytest.raises(bounded.Late, match="ended"):
        task.line()
    task.kill()


def test_ask_names_the_program_and_its_error():
    assert bounded.ask(*python("print(input())"), stdin="word\n") == "word\n"
    with pytest.raises(bounded.Late, match="ended with 1: no way"):
        bounded.ask(*python("import sys; sys.exit('no way')"))


# --- figures and files ---

def test_rates_are_interpolated_between_lines():
    lines = [(0, 0), (1_000_000_000, 100), (2_000_000_000, 400), (3_000_000_000, 500)]
    assert counts.rate(lines, 500_000_000, 1_500_000_000) == 200
    assert counts.slowest(lines, 0, 2_500_000_000) == pytest.approx(100)
    assert counts.interval([1, 2, 3]) == [2, round(4.30 / 3 ** 0.5, 4)] and counts.interval([5]) == [5, None]


def test_a_file_names_its_program_and_its_gpu_and_has_a_row_on_each_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 'A GPU, 1.2.3'\n", encoding="utf-8")
    smi.chmod(0o755)
    rows = [{"way": "as it is", "rates": [number] * 20} for number in range(3)]
    record.write(tmp_path / "out/x.json", {"rows": rows})
    text = (tmp_path / "out/x.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"program": machine.program(), "gpu": "A GPU, 1.2.3", "rows": rows}
    assert sum(line.startswith('  {"way"') for line in text.splitlines()) == 3
    assert list((tmp_path / "out").iterdir()) == [tmp_path / "out/x.json"]
    smi.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n", encoding="utf-8")
    record.write(tmp_path / "out/x.json", {"gpu": "another", "rows": []})
    assert not (tmp_path / "asked").exists()
    assert json.loads((tmp_path / "out/x.json").read_text(encoding="utf-8"))["gpu"] == "another"


def test_checks_end_the_program_with_their_status(tmp_path, capsys):
    done = checks.Checks()
    done.say("first", True, "as asked")
    with pytest.raises(SystemExit) as ended:
        done.end(tmp_path / "new/lines.txt")
    assert ended.value.code == 0 and (tmp_path / "new/lines.txt").read_text(encoding="utf-8") == "ok    first: as asked\n"
    assert done.row("second", 0, rate=5) == {"check": "second", "good": False, "rate": 5}
    with pytest.raises(SystemExit) as ended:
        done.end()
    assert ended.value.code == 1 and capsys.readouterr().out.endswith("1 of 2 checks passed\n")


def test_a_program_is_found_beside_the_caller_or_on_the_path(tmp_path, monkeypatch):
    sys.path.append(str(HARDWARE))
    import common  # pylint: disable=import-outside-toplevel
    monkeypatch.chdir(tmp_path)
    assert common.program("true") == pathlib.Path("/bin/true").resolve()
    (tmp_path / "load").write_text("", encoding="utf-8")
    for word in ("load", "./load"):
        assert common.program(word) == tmp_path / "load", "a path without a slash would be looked up on PATH"


def test_a_damaged_file_ends_a_measurement_with_a_sentence(tmp_path):
    sys.path.append(str(HARDWARE))
    import common  # pylint: disable=import-outside-toplevel
    path = tmp_path / "runs.json"
    path.write_text('{"program": "1234abcd", "runs": [', encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        common.run(lambda: common.begun(path, seconds=1))
    assert "a file or a program's output is no JSON: '{\"program\": \"1234abcd\", \"runs\": ['" in str(ended.value)


# --- a measurement with made-up programs ---

# Everything that a program asks of PyTorch is done at once.
NO_TORCH = """import sys
from unittest.mock import NonCallableMagicMock
sys.modules[__name__] = NonCallableMagicMock()
"""
# Each tenant has half of the time.
NO_NVQOS = """#!/usr/bin/python3
import json, os, pathlib, signal, sys, time
metrics = pathlib.Path(sys.argv[sys.argv.index("--metrics") + 1]) if "--metrics" in sys.argv else None
def end(*_):
    if metrics:
        metrics.unlink()
    sys.exit(0)
for n in range(10000):
    if metrics:
        lines = [f'nvqos_driver_{kind}_total{{gpu="{gpu}"}} {n}' for kind in ("reads", "requests_seconds", "other") for gpu in (0, 1)]
        metrics.with_suffix(".new").write_text("# TYPE nvqos_driver_reads_total counter\\n" + "\\n".join(lines) + "\\n", encoding="utf-8")
        metrics.with_suffix(".new").rename(metrics)
    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGCONT, lambda *_: pathlib.Path(__file__).with_name("went-on").open("a").write(f"{os.getpid()}\\n"))
    why = "cannot be seen" if n % 2 else None
    tenants = [{"name": word, "used_ns": 50_000_000, "kept": not n % 4, "why_not": why} for word in sys.argv[2:] if "=" in word]
    print(json.dumps({"data": {"gpu": 0, "begin_ns": n * 100_000_000, "end_ns": (n + 1) * 100_000_000, "tenants": tenants}}), flush=True)
    time.sleep(0.05)
"""


# Program N of the noted ones has a median that is by the Nth number of the file 'longer' above the median without notes.
NO_NVTASKSET = """#!/usr/bin/python3
import json, pathlib, sys
here, words, median = pathlib.Path(__file__).parent, sys.argv[1:], 4.0
if "--kernels" in words:
    folder = pathlib.Path(words[words.index("--kernels") + 1])
    folder.mkdir(parents=True)
    name = {"launch": "compute", "follow": "where"}.get(words[4], "at::native::add")
    lines = [{"kind": "launches", "monotonic_ns": "0"}, {"kind": "kernel", "kernel": 1, "name": name},
             {"kind": "launch", "ns": 5, "kernel": 1}]
    if words[4] == "follow":
        lines.append({"kind": "launch", "ns": 6})
    (folder / "1-1.launches").write_text("".join(json.dumps(line) + "\\n" for line in lines))
    if words[4] == "launch":
        longer = json.loads((here / "longer").read_text())
        median += longer.pop(0)
        (here / "longer").write_text(json.dumps(longer))
print(json.dumps({"median": median, "p99": 9.0}))
"""


@pytest.mark.parametrize("longer, status", (([1.5, 0.2, 0.6], 0), ([1.5, 0.2, 1.2], 1)))
def test_what_noting_a_launch_costs_is_the_middle_of_three_comparisons(tmp_path, longer, status):
    for name, text in (("nvtaskset", NO_NVTASKSET), ("load", "#!/bin/sh\necho '{\"median\": 3.5, \"p99\": 8}'\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "longer").write_text(json.dumps(longer), encoding="utf-8")
    done = subprocess.run([HARDWARE / "kernel_names.py", tmp_path / "nvtaskset", tmp_path / "load", tmp_path / "out", "--launches", "1"],
                          capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    rows = record.load(tmp_path / "out/kernel_names.json")["rows"]
    assert [row["check"] for row in rows if not row["good"]] == ["an empty kernel"][:status]
    (row,) = (row for row in rows if row["check"] == "an empty kernel")
    assert row["more_us"] == longer and [each["noted"][0] for each in row["us"]] == [4 + more for more in longer]


@pytest.fixture
def thinking(tmp_path, monkeypatch):
    (tmp_path / "torch.py").write_text(NO_TORCH, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    nvqos = tmp_path / "nvqos"
    nvqos.write_text(NO_NVQOS, encoding="utf-8")
    nvqos.chmod(0o755)

    def call(*words):
        return subprocess.run([HARDWARE / "qos_thinking.py", nvqos, tmp_path / "out", "--runs", "1", *words], capture_output=True,
                              text=True, timeout=2 * PATIENCE_S, check=False)
    return call


def test_shares_of_programs_that_think_are_measured_in_several_calls(thinking, tmp_path):
    short = thinking("--rows", "train-60,loop-60", "--seconds", "1", "--budget", "1")
    assert short.returncode == 3 and "2 runs are left" in short.stdout and not short.stderr
    assert not list((tmp_path / "out").iterdir())
    done = thinking("--rows", "train-60,loop-60", "--seconds", "1")
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"qos_thinking.json", "train-60-0.ndjson", "loop-60-0.ndjson"}, "programs were ended"
    found = record.load(tmp_path / "out/qos_thinking.json")
    assert [one["row"] for one in found["runs"]] == [one["row"] for one in found["rows"]] == ["train-60", "loop-60"]
    for one, row in zip(found["runs"], found["rows"]):
        assert one["sums"] == 0.5 and one["status"] == 0
        assert abs(one["unseen_epochs"] - one["epochs"] / 2) < 1 and abs(one["missed_epochs"] - one["epochs"] / 4) < 1
        assert len(one["missed_at"]) == one["missed_epochs"] and one["told"] == []
        lines = (tmp_path / "out" / f"{one['row']}-0.ndjson").read_text(encoding="utf-8").splitlines()
        assert len([json.loads(line) for line in lines]) == one["epochs"] > 0
        assert row["own"] == [one["own"], None] and row["runs"] == 1
        assert one["own"] == pytest.approx(one["per_s"][0] / one["alone_per_s"][0] * one["alone"], abs=1e-3)
    again = thinking("--rows", "train-60,loop-60", "--seconds", "1")
    assert again.returncode == 0 and not again.stdout, "nothing is measured twice"
    other = thinking("--rows", "train-60", "--seconds", "2")
    assert other.returncode == 1 and "give --seconds 1, or another folder" in other.stderr and "Traceback" not in other.stderr


# Its record has a job for the children of one parent, as ranks are.
NO_NVDEBUGCTL = """#!/usr/bin/python3
import json, pathlib
ranks = {}
for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    try:
        words = path.read_bytes().split(b"\\0")
        parent = path.with_name("stat").read_text().rpartition(")")[2].split()[1]
    except OSError:
        continue
    if b"--rank" in words:
        ranks.setdefault(parent, []).append(int(path.parent.name))
print(json.dumps({"data": {"jobs": [{"processes": [{"gpu": n, "pid": pid} for n, pid in enumerate(pids)], "together_percent": 31.0,
    "starts": 7, "skew_median_us": 1.0, "skew_p99_us": 2.0, "skew_max_us": 3.0, "name": "x"} for pids in ranks.values()]}}))
"""


@pytest.fixture
def gangs(tmp_path, monkeypatch):
    # A step that takes no time would leave no processor to the other programs.
    (tmp_path / "torch.py").write_text(NO_TORCH + "import time\nsys.modules[__name__].cuda.synchronize = lambda: time.sleep(0.01)\n",
                                       encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for name, text in (("nvqos", NO_NVQOS), ("nvdebugctl", NO_NVDEBUGCTL)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    def call(*words, program=(HARDWARE / "qos_gangs.py",)):
        return subprocess.run([*program, tmp_path / "nvqos", tmp_path / "nvdebugctl", tmp_path / "out", "--runs", "1",
                               "--gpus", "0,1,2,3", *words], capture_output=True, text=True, timeout=4 * PATIENCE_S, check=False)
    return call


def ranks_left(folder):
    left = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"collectives.py" in (words := path.read_bytes()) and bytes(folder) in words:
                left.append(words)
    return left


def test_jobs_on_several_gpus_are_measured_and_ended(gangs, tmp_path):
    short = gangs("--rows", "train64-2,serve-4", "--seconds", "1", "--budget", "1")
    assert short.returncode == 3 and json.loads(short.stdout)["left"] == 2 and not short.stderr
    done = gangs("--rows", "train64-2,serve-4", "--seconds", "1")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["qos_gangs.json"] and not ranks_left(tmp_path), "programs were ended"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["alone"], line["gpus"]) for line in lines if "alone" in line] == [("serve", 4), ("train64", 4), ("train64", 2)]
    found = record.load(tmp_path / "out/qos_gangs.json")
    assert found["runs"] == [line for line in lines if "row" in line]
    assert [one["row"] for one in found["runs"]] == [one["row"] for one in found["rows"]] == ["serve-4", "train64-2"]
    for one in found["runs"]:
        assert set(one["ways"]) == {"as it is", "nvqos"}
        kept = one["ways"]["nvqos"]
        assert kept["status"] == 0 and kept["processor"] == pytest.approx(sum(kept["processor_of"].values()), abs=1e-4)
        assert set(kept["processor_of"]) == {"ended", "nvdebug-keeper", "nvqos"} and kept["calls_per_s"]["reads_seconds"] == 0
        assert 0 < kept["calls_per_s"]["reads"] == kept["calls_per_s"]["requests_seconds"], "both are counted on two GPUs"
        for reasons in kept["missed"]["gpu0"].values():
            assert set(reasons) == {"missed"} and reasons["missed"] > 0
        assert [ms == sorted(ms) and len(ms) == 4 for ms in one["alone_ms"]] == [True, True]
        for way in one["ways"].values():
            assert way["sum"] == pytest.approx(sum(way["each"]), abs=1e-3)
            for per_s, part, alone in zip(way["per_s"], way["each"], one["alone_per_s"]):
                assert per_s > 0 and part == pytest.approx(per_s / alone, abs=1e-3)
            assert [job["together_percent"] for job in way["jobs"]] == [31.0, 31.0], "each job is found by its ranks"
    again = gangs("--rows", "train64-2,serve-4", "--seconds", "1")
    assert again.returncode == 0 and not again.stdout, "nothing is measured twice"


# Clients find it by CUDA_MPS_PIPE_DIRECTORY, which jobs without MPS have, too.
NO_MPS = """#!/usr/bin/python3
import os, pathlib, sys
pathlib.Path(__file__).with_name("mps-log").open("a").write((sys.argv[1] if sys.argv[1:] else sys.stdin.read().strip()) + "\\n")
"""


def test_jobs_are_measured_on_eight_gpus(gangs, tmp_path, monkeypatch):
    (tmp_path / "nvidia-cuda-mps-control").write_text(NO_MPS, encoding="utf-8")
    (tmp_path / "nvidia-cuda-mps-control").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    eight = ("--gpus", "0,1,2,3,4,5,6,7", "--seconds", "1", "--rows")
    done = gangs(*eight, "overlap-8,reduce-8")
    assert done.returncode == 0, done.stderr
    found = record.load(tmp_path / "out/qos_gangs.json")
    assert [one["row"] for one in found["runs"]] == ["reduce-8", "overlap-8"] and not ranks_left(tmp_path)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["alone"], line["gpus"]) for line in lines if "alone" in line] == [("reduce256k", 8), ("train64", 4), ("train64", 8)]
    reduce, overlap = (one["ways"] for one in found["runs"])
    assert set(overlap) == {"as it is", "nvqos"} and len(overlap["nvqos"]["each"]) == 3
    assert set(reduce) == {"as it is", "nvqos", "MPS"} and reduce["MPS"]["sum"] == pytest.approx(sum(reduce["MPS"]["each"]), abs=1e-3)
    assert (tmp_path / "mps-log").read_text(encoding="utf-8").split() == ["-d", "quit"]
    assert gangs("--rows", "train64-8").returncode == 2, "four GPUs are given"


def test_jobs_go_on_while_nvqos_ends(gangs, tmp_path):
    done = gangs("--rows", "ends-4", "--seconds", "1")
    assert done.returncode == 0, done.stderr
    ways = record.load(tmp_path / "out/qos_gangs.json")["runs"][0]["ways"]
    assert list(ways) == ["as it is", "nvqos", "nvqos was killed", "nvqos is stopped", "nvqos goes on", "a rank was killed", "status"]
    assert all(per_s > 0 for way in ways.values() if way for per_s in way["per_s"]) and not ranks_left(tmp_path)


def test_jobs_go_on_in_ten_moments(gangs, tmp_path):
    begin = "import sys; sys.path[:0] = sys.argv[1:3]; import qos_gangs; qos_gangs.MOMENTS_S = 1.4; qos_gangs.SETTLE_S = 0.2; "
    program = f"{begin}qos_gangs.STOPPED_S = 1; sys.argv[:3] = ['qos_gangs']; qos_gangs.run(qos_gangs.main)"
    done = gangs("--rows", "moments-2", "--seconds", "1", program=[sys.executable, "-c", program, HARDWARE, HARDWARE.parents[1] / "lab"])
    assert done.returncode == 0, done.stderr
    ways = record.load(tmp_path / "out/qos_gangs.json")["runs"][0]["ways"]
    assert list(ways)[1:3] == ["1: nvqos was stopped", "2: nvqos was killed"] and list(ways)[-2:] == ["without nvqos", "xids"]
    moments = [way for name, way in ways.items() if ": " in name]
    assert len(moments) == 10 and not ranks_left(tmp_path)
    assert all(per_s > 0 and ms[-1] > 0 for way in moments for per_s, ms in zip(way["per_s"], way["ms"]))
    assert all(len(way["before"]) == 2 for way in moments)
    went_on = (tmp_path / "went-on").read_text(encoding="utf-8").split()
    assert len(set(went_on)) == len(went_on) == 5, "each nvqos was stopped once, and then killed"
    assert (tmp_path / "out/nvqos.prom").exists(), "an nvqos that ends by itself removes it"
    assert all(count is None or count >= 0 for count in ways["xids"])


def test_a_job_that_does_not_start_is_named_with_its_error(gangs, tmp_path):
    (tmp_path / "torch.py").write_text("raise SystemExit('no NCCL here')\n", encoding="utf-8")
    done = gangs("--rows", "train64-2", "--seconds", "1")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "the job 'train64' on 2 GPUs ended: no NCCL here" in done.stderr
    assert not ranks_left(tmp_path)


@pytest.mark.parametrize("words, sentence", ((["--rows", "train"], "there is no row 'train'; there are: train64-4"),
                                             (["--gpus", "0"], "no list of at least two GPUs"),
                                             (["--gpus", "1,1"], "no list of at least two GPUs"),
                                             (["--gpus", "0,1", "--rows", "three-4"], "the row three-4 needs 4 GPUs")))
def test_wrong_words_about_gangs_are_refused(gangs, words, sentence):
    done = gangs(*words)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr


def test_a_share_is_kept_by_the_mean_of_its_runs(monkeypatch):
    monkeypatch.syspath_prepend(str(HARDWARE))
    import qos_thinking  # pylint: disable=import-outside-toplevel
    runs = [{"row": "train-60", "own": own, "sums": 0.6, "alone": 0.93} for own in (0.59, 0.60, 0.61)]
    found, = qos_thinking.summary(runs)
    assert found == {"row": "train-60", "runs": 3, "own": [0.6, 0.0248], "sums": [0.6, 0.0], "alone": [0.93, 0.0], "kept": True}
    assert not qos_thinking.summary([one | {"own": one["own"] - 0.02} for one in runs])[0]["kept"]
    assert qos_thinking.summary([one | {"alone": 0.5, "own": 0.48} for one in runs])[0]["kept"], "it would use no more alone"
    assert [each["row"] for each in qos_thinking.picked("served,train-30,served-10")] == [
        "train-30", "served-10", "served-20", "served-40"]
