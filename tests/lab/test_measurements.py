# SPDX-License-Identifier: MIT OR GPL-2.0
"""The measurements of tests/hardware without a GPU: each one is listed and explains its words, and the parts that they share
with the experiments start, bound and end programs."""

import json
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
OTHERS = {"read_registers.py", "reach_summary.py"}


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
