# SPDX-License-Identifier: MIT OR GPL-2.0
"""Records of `nvqos --decisions`, fed to the governor of this build (nvqos_replay).

The files in tests/data/nvqos_decisions, and those of runs on hardware in tests/hardware, are records whose decisions this
build has to repeat. A file that is added there is tested without a change here. If nvqos is to decide something else from now
on, `nvqos_replay --again` writes a record with the new decisions, and its difference shows what has changed."""

import json
import lzma
import re
import resource
import subprocess

import jsonschema
import pytest
from building import ROOT, built
from qos_machine import fixture_machine  # noqa: F401

PATIENCE_S = 60
FILES = sorted([*(ROOT / "tests/data/nvqos_decisions").glob("*.ndjson.xz"),
                *(ROOT / "tests/hardware").glob("*/nvqos_decisions*.ndjson.xz")])
SIMULATED = ROOT / "tests/data/nvqos_decisions/simulated-one-gpu.ndjson.xz"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "tools/nvqos/schema/nvqos.decisions.json").read_text(encoding="utf-8")))
CALLS = {"add", "begin", "lose", "needs_turns", "set_goals", "set_in_effect", "set_pause", "set_tsgs", "step"}


def replay(record, *words):
    return subprocess.run([built("tests/qos/nvqos_replay"), *words], input=record, capture_output=True, check=False,
                          timeout=10 * PATIENCE_S)


def text(done):
    return (done.stdout + done.stderr).decode()


def name_of(line):
    return next((key for key in line if key != "gpu"), "")


def check_forms(record):
    """Validates a line of each call, since all lines take minutes. Returns the names of the calls."""
    lines = {}
    for line in record.splitlines():
        one = json.loads(line)
        lines[name_of(one)] = one
    for one in lines.values():
        SCHEMA.validate(one)
    return set(lines)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_recorded_decisions_are_the_same(path):
    record = lzma.decompress(path.read_bytes())
    check_forms(record)
    done = replay(record)
    assert done.returncode == 0, (f"{text(done)}{path.name}: this build decides something else; if that is intended, make the "
                                  f"file again: xz -dc {path} | nvqos_replay --again | xz -9 > NEW")
    assert re.search(rb"^[1-9]\d* steps, [1-9]\d* pauses, 0 differences$", done.stdout), text(done)
    assert replay(record, "--again").stdout == record


def test_there_are_records():
    assert FILES


def test_a_difference_names_time_tenant_and_levers():
    lines = lzma.decompress(SIMULATED.read_bytes()).decode().splitlines()
    steps = [number for number, line in enumerate(lines) if name_of(json.loads(line)) == "step"]
    call = json.loads(lines[steps[40]])
    right = dict(call["step"]["levers"][1])
    call["step"]["levers"][1] = {"timeslice": 7000, "paused": not right["paused"]}
    lines[steps[40]] = json.dumps(call)
    done = replay("\n".join(lines).encode())
    assert done.returncode == 1 and "1 differences" in text(done)
    times = r"line \d+, gpu0, \d+\.\d{3} s after its goals began: tenant 1 had 7 us"
    here = rf"{right['timeslice'] / 1000:g} us{', paused' if right['paused'] else ''}"
    assert re.search(rf"^{times}(, paused)? in the record, and has {here} here$", text(done), re.M), text(done)


@pytest.mark.parametrize("record, sentence", (
    (b"", "no step was recorded"),
    (b"{}\n", "line 1"),
    (b"nonsense\n", "line 1"),
    (b'{"schema":"nvqos/decisions","schema_version":"1.0","program":"1"}\n{"gpu":0,"lose":{}}\n', "line 2: gpu0 has no goals yet"),
))
def test_other_files_are_errors(record, sentence):
    done = replay(record)
    assert done.returncode == 2 and sentence in text(done)


def start(machine, path, words=(), **options):
    """Runs nvqos with two tasks for a second or so, and returns its messages."""
    one, two = machine.process(), machine.process()
    return subprocess.run(
        machine.command(f"{one.pid}=cap:20%", f"{two.pid}=share:30%", "--quiet", "--for", "1500ms", "--decisions", path, *words),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE_S, env=machine.environment(),
        **options)


def test_nvqos_records_what_it_decides(machine):
    path = machine.folder / "decisions.ndjson"
    done = start(machine, path)
    assert done.returncode in (0, 4), done.stderr
    assert path.stat().st_mode & 0o7777 == 0o600
    record = path.read_bytes()
    assert CALLS - check_forms(record) <= {"lose", "set_goals", "set_in_effect"}
    again = replay(record)
    assert again.returncode == 0, text(again)
    assert "ends here" not in done.stderr


def test_goals_are_kept_when_the_disk_is_full(machine):
    path = machine.folder / "decisions.ndjson"
    done = start(machine, path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
    assert done.returncode in (0, 4), done.stderr
    notes = [line for line in done.stderr.splitlines() if "ends here" in line]
    assert notes == [f"nvqos: the record of decisions in {path} ends here: File too large; goals are kept on"], done.stderr
    record = path.read_bytes()
    assert 4000 < len(record) <= 5000 and record.endswith(b"\n")
    check_forms(record)


def test_the_record_has_to_be_a_new_file(machine):
    path = machine.folder / "link"
    path.symlink_to(machine.folder / "target")
    done = start(machine, path)
    assert done.returncode == 1 and "it is there, and is no regular file" in done.stderr, done.stderr
    assert not (machine.folder / "target").exists()
    done = start(machine, machine.folder / "none/file")
    assert done.returncode == 1 and "No such file or directory" in done.stderr
    done = start(machine, path, ["--dry-run"])
    assert done.returncode == 1 and "--dry-run and --decisions exclude each other" in done.stderr
