# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvstgm run and profile over a stand-in for CUDA. No VM.

The tests assert no times of the host. Counts, orders and sums are exact."""

import json
import re

import pytest
import stgm
from desk import PROGRAM, TOOL, desk_of, numbers, sms_of
from stgm_runs import MS, SECOND, THREE, gpu, program, run, task, taskset


@pytest.fixture
def desk(tmp_path):
    with desk_of(tmp_path) as made:
        yield made


def on_stand_in(desk, *words, what=THREE):
    return run(what, "--no-mps", "--nvtaskset", TOOL, "--for", 1, *words, env=desk.env)


def test_kernels_are_on_the_tpcs_of_the_file(desk):
    result = on_stand_in(desk, "-j")
    assert stgm.document(result)["gpu"] and result.status in (0, 4) and not result.err
    seen = {}
    for line in desk.launches("nvstgm"):
        fields = dict(re.findall(r"(\w+)=(\S+)", line))
        assert fields["kernel"] == "work"
        seen.setdefault(fields["pid"], set()).add((fields["sms"], int(fields["blocks"])))
    counts = sorted(seen.values())
    assert len(counts) == 2 and all(len(one) == 1 for one in counts)
    from_text = {tuple(numbers(sms)) for one in counts for sms, _ in one}
    assert from_text == {tuple(sms_of(0, 1)), tuple(sms_of(1, 2))}
    assert {blocks for one in counts for _, blocks in one} == {2 * 2 * 8}


def test_tpcs_that_the_gpu_does_not_have(desk):
    far = taskset(task("far", SECOND, gpu(0, MS, 0), sms=[66]), sms=100)
    result = on_stand_in(desk, what=far)
    assert result.status == 1 and "task 'far' has TPC 66, and this GPU has 0 to 65" in result.err


@pytest.mark.parametrize("numbered", (True, False))
def test_a_run_is_on_the_gpu_that_is_named(tmp_path, numbered):
    """The second GPU has 8 TPCs and the first one 66, and the variable of the user's shell names the first one."""
    with desk_of(tmp_path, "h100,volta") as two:
        name = "1" if numbered else two.uuids[1]
        two.env["CUDA_VISIBLE_DEVICES"] = two.uuids[0]
        result = on_stand_in(two, "--gpu", name, "-j")
        assert stgm.document(result)["gpu"] and not result.err
        launches = two.launches("nvstgm")
        assert launches and all(len(re.search(r"mask=(\S+)", line)[1]) == 2 for line in launches), "a bit for each TPC"
        far = taskset(task("far", SECOND, gpu(0, MS, 0), sms=[65]), sms=100)
        result = on_stand_in(two, "--gpu", name, what=far)
        assert result.status == 1 and "task 'far' has TPC 65, and this GPU has 0 to 7" in result.err
        assert not two.kept(two.uuids[0]).exists(), "nvtaskset did not ask the other GPU for its TPCs"


def test_a_run_is_on_the_first_gpu(tmp_path):
    """CUDA shows tasks that GPU alone, because its own first GPU is the fastest one."""
    with desk_of(tmp_path, "volta,h100") as two:
        show = "planner=echo see $CUDA_VISIBLE_DEVICES >&2; exit 1"
        result = on_stand_in(two, "--program", show)
        assert f"see {two.uuids[0]}\n" in result.err
        result = on_stand_in(two, "-j")
        assert stgm.document(result)["gpu"] and not result.err
        two.env["CUDA_VISIBLE_DEVICES"] = two.uuids[1]
        assert f"see {two.uuids[1]}\n" in on_stand_in(two, "--program", show).err


@pytest.mark.parametrize("named, status, sentence", (("0,1", 1, "--gpu 0,1 names 2 GPUs; name one"), ("7", 1, "there is no GPU '7'")))
def test_gpus_that_a_run_cannot_have(tmp_path, named, status, sentence):
    with desk_of(tmp_path, "h100,volta") as two:
        result = on_stand_in(two, "--gpu", named)
        assert result.status == status and sentence in result.err and not two.launches("nvstgm")


RECORDING = """\
{"kind":"recording","version":"2.0","tool":"nvdebugctl","time":"","source":"driver","period_ns":0,"gpus":[{"gpu":0}]}
{"kind":"origin","gpu":0,"gpu_ns":"1000","monotonic_ns":"NOW","realtime_ns":null,"boottime_ns":null}
{"kind":"turn","gpu":0,"engine":"GR0","begin_ns":0,"end_ns":5000000000,"whole":true,"gap_ns":null,"pid":77,"process":"a-server"}
"""


def test_the_gpus_own_switches_are_in_the_trace(desk, tmp_path):
    """A program in the place of nvdebugctl prints a recording."""
    script, lines = tmp_path / "recorder", tmp_path / "lines"
    lines.write_text(RECORDING, encoding="utf-8")
    script.write_text(f"""#!/bin/sh
test "$1 $2 $3 $4 $6 $7" = "--from driver record -o -g 0" || exit 1
now=$(awk '{{printf "%.0f", $1 * 1000000000}}' /proc/uptime)
trap 'sed "s/NOW/$now/" {lines} >"$5"; exit 0' TERM
while :; do sleep 0.05; done
""", encoding="utf-8")
    script.chmod(0o755)
    result = on_stand_in(desk, "--nvdebugctl", script, "--gpu", "0", "-o", tmp_path / "run.pftrace")
    assert result.status in (0, 4) and "switches" not in result.err
    trace = (tmp_path / "run.pftrace").read_bytes()
    for name in (b"switches of GPU 0", b"GR0", b"a-server", b"core 0: camera"):
        assert name in trace


@pytest.mark.parametrize("script, reason", (
    ("echo nvdebugctl: only root may >&2; exit 1", "nvdebugctl: only root may"),
    ("trap 'exit 0' TERM; while :; do sleep 0.05; done", "is no recording of version 2"),
    (None, "cannot be run: No such file")))
def test_a_trace_without_the_gpus_own_switches(desk, tmp_path, script, reason):
    program_of_it = tmp_path / "recorder"
    if script:
        program_of_it.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program_of_it.chmod(0o755)
    result = on_stand_in(desk, "--nvdebugctl", program_of_it, "-o", tmp_path / "run.pftrace")
    assert result.status in (0, 4) and b"core 0: camera" in (tmp_path / "run.pftrace").read_bytes()
    (said,) = [line for line in result.err.splitlines() if "switches" in line]
    assert "the trace is without the GPU's own switches" in said and reason in said


def test_a_program_that_is_not_there(tmp_path):
    result = run(THREE, "--nvtaskset", tmp_path / "none")
    assert result.status == 5 and "none cannot be run: No such file or directory" in result.err


def profile(desk, *words):
    return desk.command(program(), "profile", "--no-mps", "--nvtaskset", TOOL, *words)


def test_a_profile(desk, tmp_path):
    """The program prints times that halve with each doubling of TPCs."""
    script = tmp_path / "command"
    script.write_text(f"""#!/bin/sh
echo started
n=$({PROGRAM} "attribute 16")
awk "BEGIN {{print 128 / $n; print 64 / $n}}"
echo 3 kernels
""")
    script.chmod(0o755)
    result = profile(desk, "--tpcs", "4,2", "-n", 2, "--margin", 50, "--to-device", 7, "-j", "-o", tmp_path / "segment",
                     "--", script)
    assert result.status == 0 and not result.err
    data = stgm.document(result)
    assert [(row["tpcs"], row["samples"], row["min"], row["max"], row["kernel"]) for row in data["rows"]] == [
        (1, 4, 32_000, 64_000, 96_000), (2, 4, 16_000, 32_000, 48_000), (4, 4, 8_000, 16_000, 24_000)]
    segment = {"gpu": {"to_device": 7, "kernel": [96_000, 48_000, 48_000, 24_000], "from_device": 0}}
    assert data["segment"] == segment == json.loads((tmp_path / "segment").read_text())
    assert data["raised"] == 0
    # The output is valid as a segment of a set.
    checked = stgm.check(taskset(task("measured", SECOND, segment, sms=[0, 1])), "-j")
    assert stgm.responses(checked) == {"measured": 48_007}


def test_a_profile_does_not_increase(desk, tmp_path):
    """If more TPCs took longer, fewer TPCs get that longer time, too."""
    script = tmp_path / "command"
    script.write_text(f'#!/bin/sh\n{PROGRAM} "attribute 16"\n')  # ms: SMs
    script.chmod(0o755)
    data = stgm.document(profile(desk, "--tpcs", "1,2", "-n", 1, "--margin", 0, "-j", "--", script))
    assert [row["max"] for row in data["rows"]] == [2000, 4000]
    assert data["segment"]["gpu"]["kernel"] == [4000, 4000] and data["raised"] == 1


@pytest.mark.parametrize("words, sentence", (
    (("--", "true"), "true printed no time"),
    (("--", "echo", "-1"), "echo printed '-1', which is no time in ms"),
    (("--", "echo", "0"), "echo printed '0', which is no time in ms"),
    (("--", "sh", "-c", "echo 1; exit 3"), "on 1 TPCs: "),
    (("--tpcs", "0", "--", "echo", "1"), "from 1 to all of the GPU, not '0'"),
    (("--tpcs", "67", "--", "echo", "1"), "from 1 to 66, not '67'"),
    (("--tpcs", "1,,2", "--", "echo", "1"), "not '1,,2'"),
    ((), "'profile' takes COMMAND")))
def test_profiles_that_cannot_be(desk, words, sentence):
    result = profile(desk, *words)
    ran = words[:1] == ("--",)
    assert result.status == (5 if ran else 1) and not result.out and sentence in result.err
