# SPDX-License-Identifier: MIT OR GPL-2.0
"""`record` and `top` through the module, in the VM: three tasks that always have work."""

import json

import pytest
from ctl import validate
from tasks import TSGS

# The GPU's time advances by a microsecond with each access, so there are several samples in each slice, however slow
# the VM is. With slices this short, every task has a turn within some hundred samples.
SHORT_US = 200
BOARDS = ["gtx1060-3gb", "a100"]


def document(text):
    found = json.loads(text)
    validate(found)
    return found["data"]


def gr0(data):
    engine, = [engine for engine in data["engines"] if engine["engine"] == "GR0"]
    return engine


@pytest.mark.parametrize("board", BOARDS)
def test_record(bench, board):
    name = f"nvdebugctl -g {bench.index(board)}"
    bench.check(" && ".join(f"{name} tsg timeslice {tsg} {SHORT_US}us" for tsg in TSGS))
    # The control is sent once each task had a turn.
    had_turns = " && ".join(f"grep -q '\"kind\":\"turn\".*\"tsg\":{tsg},' /tmp/run.ndjson" for tsg in TSGS)
    text = bench.check(f"rm -f /tmp/run.ndjson; {name} record --rate 1000 -j -o /tmp/run.ndjson > /tmp/summary & "
                       f"until {had_turns}; do usleep 10000; done 2> /dev/null; "
                       f"{name} tsg timeslice 1 {2 * SHORT_US}us > /dev/null; kill -TERM $!; wait $!; cat /tmp/summary")
    data = document(text)
    engine = gr0(data)
    assert engine["by"] == "samples" and {row["name"] for row in engine["holders"]} == {
        f"TSG 0:{tsg}" for tsg in TSGS}
    # Tests in one process check how large shares and how long slices are. If a guest waits for a processor between two
    # samples, all that time counts for the task that it saw.
    assert sum(row["share_percent"] for row in engine["holders"]) == pytest.approx(engine["held_percent"], abs=0.1)
    for row in engine["holders"]:
        assert row["share_percent"] > 0
        assert row["slice_median_us"] is None or row["slice_median_us"] > 0
    assert data["marks"] == 1, "the control is marked"
    lines = [json.loads(line) for line in bench.check("cat /tmp/run.ndjson").splitlines()]
    assert [line["text"].split()[0] for line in lines if line["kind"] == "mark"] == ["set_timeslice"]
    assert [line["kind"] for line in lines].count("clock") >= 2, "each second"
    again = document(bench.check("nvdebugctl recording show /tmp/run.ndjson -j"))
    assert again == data | {"cost_percent": None}
    for ending in ("pftrace", "csv", "html"):
        bench.check(f"nvdebugctl recording show /tmp/run.ndjson -o /tmp/run.{ending} && rm /tmp/run.{ending}")
    bench.check("rm /tmp/run.ndjson")


def test_top(bench):
    lines = bench.check(f"nvdebugctl -g {bench.index('gtx1060-3gb')} top -n 2 -s 1000 -j").splitlines()
    assert len(lines) == 2
    for line in lines:
        assert {row["tsgs"][0] for row in gr0(document(line))["holders"]} <= {f"0:{tsg}" for tsg in TSGS}
