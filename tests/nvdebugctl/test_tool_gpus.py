# SPDX-License-Identifier: MIT OR GPL-2.0
"""Eight GPUs at once: `gpu list`, `top`, `record` and `-g all`, on folders that look like /proc."""

import contextlib
import csv
import io
import json
import re
import subprocess

import pytest
from ctl import Started, ctl, tool, validator, write_tree
from trees import Opens, changing, record_until
from typist import ScreenTypist
from waiting import PATIENCE_S

BOARDS = (("h200", "fig6"), ("a100", "fig7"), ("gtx1060-3gb", "fig6"), ("b200", "idle")) * 2
FORMS = ("pftrace", "ndjson", "csv", "html")


@pytest.fixture
def eight(tmp_path):
    return write_tree(tmp_path / "eight", *BOARDS)


@pytest.fixture
def dead(eight):
    """Eight GPUs, of which GPU 5 does not answer."""
    for path in (eight / "gpu5").iterdir():
        path.unlink()
        path.mkdir()
    return eight


def expected(source, gpu):
    """Returns {TSG: expected share} of GR0's runlist, from `tsg list`."""
    runlist, = {row["runlist"] for row in ctl(f"-g {gpu} -j engine list", source).data if row["engine"] == "GR0"}
    return {f"{row['runlist']}:{row['tsg']}": row["share_percent"]
            for row in ctl(f"-g {gpu} -j tsg list {runlist}", source).data}


# --- gpu list ---

def test_gpu_list_is_a_line_for_each_with_its_tasks(eight):
    result = ctl("gpu list -j", eight)
    assert (result.status, result.err) == (0, "")
    header, *lines = ctl("gpu list", eight).out.splitlines()
    assert "EXPECTED_SHARE" in header and len(lines) == len(BOARDS)
    cells = list(csv.DictReader(io.StringIO(ctl("gpu list --csv", eight).out)))
    for gpu, (row, line, cell) in enumerate(zip(result.data, lines, cells, strict=True)):
        shares = {tsg: task["expected_share_percent"] for task in row["tasks"] for tsg in task["tsgs"]}
        assert row["index"] == gpu and shares == expected(eight, gpu)
        assert list(shares.values()) == sorted(shares.values(), reverse=True)
        assert cell["tasks"] == " ".join(f"{tsg}={share}" for tsg, share in shares.items())
        assert all(task["processes"] == [] for task in row["tasks"]), "the module has none"
        for tsg, share in shares.items():
            assert re.search(rf"[ ,]{tsg} {share:.1f}%[ ,]", line)
    assert [len(row["tasks"]) for row in result.data][:4] == [3, 2, 3, 1]


def test_gpu_list_names_processes_of_a_capture(eight):
    """A capture through the driver has the file `owners`. The row shows processes, and the container or job that their
    cgroups name."""
    rows = []
    for pid, cgroup, channel in ((4711, "/system.slice/slurmstepd.scope/job_17/step_0", 0),
                                 (4712, "/docker/" + "3f2a" * 16, 2)):
        shown = ctl(f"-g 0 -j channel show 0:{channel}", eight).data
        address, aperture = shown["instance_address"], shown["instance_aperture"]
        rows.append(f"{pid} work {cgroup} 0xc1d0002e 0x5c000015 2048 {channel} {address} {aperture} 1000 48213\n")
    (eight / "gpu0/owners").write_text("hidden: 0\ndenied: 0\nended: 0\nrefused: 0\ncut: -\nlacked: -\n\n"
                                       "# pid command cgroup client tsg timeslice_us channel address aperture uid "
                                       "started\n" + "".join(rows))
    first = ctl("gpu list -j", eight).data[0]
    assert [[each["pid"] for each in task["processes"]] for task in first["tasks"]] == [[4711], [4712], []]
    assert [each["job"] for each in first["tasks"][0]["processes"]] == ["17"]
    assert ",".join(("work[4711] in job 17.0 33.3%", "work[4712] in 3f2a3f2a3f2a 33.3%", "0:2 33.3%")) in ctl(
        "gpu list", eight).out
    assert "work[4711]=33.333 work[4712]=33.333 0:2=33.333" in ctl("gpu list --csv", eight).out


def test_gpu_list_shows_the_others(dead):
    result = ctl("gpu list -j", dead)
    assert result.status == 4 and "gpu5" in result.err
    assert [row["index"] for row in result.data] == [0, 1, 2, 3, 4, 6, 7]
    assert any("gpu5" in error["path"] for error in result.json["missing"])


def test_tasks_that_cannot_be_read_are_missing(eight):
    (eight / "gpu1/runlist0_brief").unlink()
    (eight / "gpu1/runlist0_brief").mkdir()
    result = ctl("gpu list -j", eight)
    assert result.status == 4 and "what timeslices give to tasks is not shown" in result.err
    assert len(result.data) == len(BOARDS)
    assert [row["tasks"] is None for row in result.data] == [gpu == 1 for gpu in range(8)]


# --- -g all ---

def test_all_gpus_answer_in_their_order(dead):
    result = ctl("-g all -j runlist list", dead)
    documents = [json.loads(line) for line in result.out.splitlines()]
    assert result.status == 1 and len(documents) == len(BOARDS)
    assert [("data" in document) for document in documents] == [gpu != 5 for gpu in range(8)]
    assert [document["gpu"]["index"] for document in documents] == list(range(8))
    assert [line.split()[0] for line in ctl("-g all runlist list", dead).out.splitlines()[1:]] == sorted(
        str(document["gpu"]["index"]) for document in documents if "data" in document for _ in document["data"])


# --- record ---

@contextlib.contextmanager
def looks_at(source, gpus):
    """Yields a function that returns whether each GPU was sampled three times, so that there was time between
    samples."""
    opens = {gpu: Opens(source / f"gpu{gpu}") for gpu in gpus}
    looks = dict.fromkeys(opens, 0)

    def all_were():
        for gpu, each in opens.items():
            looks[gpu] += each.take()["engines"]
        return min(looks.values()) >= 3
    try:
        yield all_were
    finally:
        for each in opens.values():
            each.close()


def gpus_of(summary):
    return {engine["gpu"] for engine in summary["engines"] if engine["holders"]}


@pytest.mark.parametrize("ending", FORMS)
def test_record_has_all_gpus_in_one_trace(eight, tmp_path, ending):
    path = tmp_path / f"run.{ending}"
    busy = {gpu for gpu in range(8) if BOARDS[gpu][1] != "idle"}
    with changing(eight) as turns, changing(eight, gpu=4) as others, looks_at(eight, range(8)) as all_were:
        result = record_until(lambda: turns.count >= 12 and others.count >= 12 and all_were(),
                              eight, "-g", "all", "--rate", 200, "-o", path, "--summary", "-j")
    assert (result.status, result.err) == (0, "")
    assert gpus_of(result.data) == busy and {engine["gpu"] for engine in result.data["engines"]} == set(range(8))
    for gpu in (0, 4):
        gr0, = [one for one in result.data["engines"] if (one["gpu"], one["engine"]) == (gpu, "GR0")]
        assert len(gr0["holders"]) == 3 and gr0["samples"] > 10
    if ending == "ndjson":
        told = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for line in told:
            validator("recording.line").validate(line)
        assert [each["gpu"] for each in told[0]["gpus"]] == list(range(8))
        assert [each["chip"] for each in told[0]["gpus"]][:3] == ["GH100", "GA100", "GP106"]
        assert {line["gpu"] for line in told if line["kind"] == "turn"} == busy
        assert {line["gpu"] for line in told if line["kind"] == "engine"} == set(range(8))
        again = ctl(f"recording show {path} -j")
        assert again.status == 0 and again.data == result.data | {"cost_percent": None}
    elif ending == "csv":
        rows = list(csv.DictReader(path.open(encoding="utf-8")))
        assert {int(row["gpu"]) for row in rows if row["kind"] == "turn"} == busy
    else:
        # Perfetto's tracks and the page's lanes have the names of their GPUs.
        data = path.read_bytes()
        for gpu in busy:
            assert (b"gpu%d" % gpu if ending == "pftrace" else b'"gpu":%d' % gpu) in data


def test_record_goes_on_without_one(dead, tmp_path):
    path = tmp_path / "run.ndjson"
    with looks_at(dead, set(range(8)) - {5}) as all_were:
        result = record_until(all_were, dead, "-g", "all", "-o", path, "--summary", "-j")
    assert result.status == 4 and "gpu5" in result.err
    told = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [each["gpu"] for each in told[0]["gpus"]] == [0, 1, 2, 3, 4, 6, 7], "those that are recorded"
    assert gpus_of(result.data) == {0, 1, 2, 4, 6}


# --- top ---

def test_top_of_all_is_one_document(dead):
    with Started(dead, "top", "-s", "200", "-j", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as live:
        for number, line in enumerate(live.stdout):
            document = json.loads(line)
            # On a busy machine an interval may lack some GPUs.
            assert gpus_of(document["data"]) <= {0, 1, 2, 4, 6}
            assert any("gpu5" in error["path"] for error in document["missing"])
            if gpus_of(document["data"]) == {0, 1, 2, 4, 6} and number:
                break
        live.terminate()
        assert live.stderr.read().count("gpu5") == 1, "once"
    assert ctl("top -n 1 -s 100 -j", dead).status == 4


def test_top_says_at_once_what_is_missing(dead):
    """`top` reports it at once, because it may never end."""
    with Started(dead, "top", "-s", "100", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as live:
        assert "gpu5" in live.stderr.readline()
        live.kill()
        live.wait(PATIENCE_S)


def test_top_has_a_line_for_each_gpu_above(dead):
    live = ScreenTypist([tool(), "--from", dead, "top", "-s", "300ms"], 60, 160)

    def above():
        return live.lines[1:next((n for n, line in enumerate(live.lines) if line.startswith("ENGINE")), 0)]

    with contextlib.closing(live):
        live.wait_until(lambda: above() and re.fullmatch(r"gpu0 GR0: TSG 0:2 100\.0%, 100\.0% busy", above()[0]))
        lines = [line for line in above() if re.match(r"gpu\d GR0: ", line)]
        assert [int(line[3]) for line in lines] == [0, 1, 2, 3, 4, 6, 7]
        assert lines[3] == "gpu3 GR0: 0% busy"
        assert any("gpu5" in line for line in above() if line not in lines), "named with a sentence"
        live.type(b"q")
        assert live.end() == (4, True)
