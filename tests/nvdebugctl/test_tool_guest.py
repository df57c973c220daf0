# SPDX-License-Identifier: MIT OR GPL-2.0
"""Every reading verb of nvdebugctl in the VM, on every board with every workload. The same on the host, in every form,
on a capture that was made in the VM. Workloads with many channels are read from files that the module's core prints in
a process; with up to 1,000 channels also in the VM, in check-all."""

import base64
import csv
import io
import json
import re

import pytest
from boards import BOARDS, COPY_WIRING, IDS_PER_RUNLIST, since
from ctl import core_tree, ctl, validate
from nvdvm import paths
from sample import EVERYTHING
from verbs import LISTS, Line, lines, reading

pytestmark = pytest.mark.sample

WORKLOADS = sorted(path.stem for path in paths.WORKLOADS.glob("*.json"))
# The boards that can run a workload, if not all boards can.
ONLY_ON = {"fig7": since("volta"), "mps-many": since("volta"), "preemption": since("pascal"),
           "same-ids": IDS_PER_RUNLIST,
           # LCE0 of an A100 has no physical copy engine.
           "copies": tuple(board for board in BOARDS if board != "a100")}
CASES = [(board, workload) for workload in WORKLOADS
         for board in ONLY_ON.get(workload, BOARDS)]
# With so many channels a verb takes seconds in the guest, though the kernel hardly matters for it.
CROWDED = [case for case in CASES if case[1] in ("many", "many-1000", "mps-many")]
DONE, FAILED, UNSUPPORTED, PARTIAL = 0, 2, 3, 4
# Workloads whose lists are broken on purpose.
BROKEN = ("malformed",)
# Verbs whose output does not change with time or by reading.
STEADY = ("gpu show", "runlist list", "tsg list", "copy show", "copy shared", "topology show")


def allowed(board, workload, name):
    """Returns the exit statuses that a verb may end with."""
    if name.startswith("copy ") and board not in COPY_WIRING:
        return {UNSUPPORTED}
    if name == "process list":
        return {UNSUPPORTED}   # only NVIDIA's driver knows processes
    found = {DONE}
    if name in ("engine shared", "check", "memory translate"):
        found.add(FAILED)  # it is a finding and not a failure: the document is complete
    if workload in BROKEN:
        found.add(PARTIAL)
    return found


class Guest:
    """Runs the tool in the VM, on one board."""

    def __init__(self, bench, board):
        self.bench = bench
        self.index = bench.index(board)

    def run(self, lines_):
        """Returns [(exit status, document)] of the command lines. All are run in one script."""
        script = "\n".join(
            f"nvdebugctl {f'-g {self.index} ' if line.of_gpu else ''}-j {line.text}; "
            "echo \"==> $?\"" for line in lines_)
        answers, document = [], None
        for line in self.bench.check(script, timeout_s=600).splitlines():
            if line.startswith("==> "):
                answers.append((int(line.removeprefix("==> ")), document))
                document = None
            else:
                assert document is None, f"a second line of JSON: {line[:200]}"
                document = json.loads(line)
        assert len(answers) == len(lines_)
        return answers

    def capture(self, path):
        text = self.bench.check(f"nvdebugctl -g {self.index} capture /root/capture >&2 && "
                                "base64 /root/capture", timeout_s=600)
        path.write_bytes(base64.b64decode(text))
        return path


@pytest.mark.rows(4)
@pytest.mark.parametrize("board, workload", [case for case in CASES if case not in CROWDED])
def test_every_verb(bench, start, tmp_path, in_all_forms, board, workload):
    every_verb(bench, start, tmp_path, in_all_forms, board, workload)


def every_verb(bench, start, tmp_path, in_all_forms, board, workload):
    start(board, workload)
    guest = Guest(bench, board)

    answers = guest.run([Line(name, name, of_gpu=True, table=True) for name in LISTS])
    lists = {}
    for name, (status, document) in zip(LISTS, answers):
        assert status in allowed(board, workload, name), name
        validate(shortened(document))
        lists[name] = document["data"]
    assert lists["engine list"] and lists["runlist list"]

    tried = list(lines(lists, live=True))
    live = {}
    for line, (status, document) in zip(tried, guest.run(tried)):
        assert status in allowed(board, workload, line.command), (line.text, status, document)
        validate(shortened(document))
        live[line.text] = document

    capture = guest.capture(tmp_path / "capture")
    for line in lines(lists, live=False):
        on_host(capture, line, allowed(board, workload, line.command), live.get(line.text))
        if EVERYTHING or line.command not in in_all_forms:
            in_other_forms(capture, line, in_all_forms)


@pytest.mark.rows(1)
@pytest.mark.parametrize("board, workload", CROWDED)
def test_every_verb_with_many_channels(request, tmp_path, in_all_forms, board, workload):
    proc, capture = core_tree(tmp_path / "proc", board, workload), tmp_path / "capture"
    lists = {name: ctl(["-j", *name.split()], from_=proc).data for name in LISTS}
    assert len(lists["channel list"]) >= 128
    assert ctl(["capture", str(capture)], from_=proc).status == DONE
    live = {}
    for line in lines(lists, live=False):
        result = ctl(["-j", *line.text.split()], from_=proc)
        assert result.status in allowed(board, workload, line.command), (line.text, result)
        live[line.text] = json.loads(result.out)
        validate(shortened(live[line.text]))
        on_host(capture, line, allowed(board, workload, line.command), live[line.text], source="file")
    # This takes half a minute on each board.
    if EVERYTHING and workload != "many":
        every_verb(request.getfixturevalue("bench"), request.getfixturevalue("start"), tmp_path, in_all_forms, board, workload)


@pytest.fixture(scope="module")
def in_all_forms():
    """Commands that were already tried in all forms. For `make check` one board is enough, because test_tool_read.py
    tries every board."""
    return set()


def on_host(capture, line, statuses, live, source="module"):
    result = ctl(["-j", *line.text.split()], from_=capture)
    assert result.status in statuses, (line.text, result)
    document = json.loads(result.out)
    validate(shortened(document))
    assert document["source"]["kind"] == "capture"
    if line.command in STEADY and live:
        now, then = document.get("data"), live.get("data")
        if line.command == "gpu show":
            assert (now["source"], then["source"]) == ("file", source)
            now = now | {"source": source}
        assert now == then, line.text


def in_other_forms(capture, line, done):
    result = ctl(["-j", *line.text.split()], from_=capture)
    document = json.loads(result.out)
    text = ctl(line.text, from_=capture)
    assert text.status == result.status
    if result.status == UNSUPPORTED:
        assert not text.out and text.err
        return
    assert text.out.isprintable() or text.out.replace("\n", "").isprintable(), line.text
    pretty = ctl(["--pretty", *line.text.split()], from_=capture)
    assert json.loads(pretty.out) == document
    compare_csv(capture, line, document)
    done.add(line.command)


def compare_csv(capture, line, document):
    result = ctl(["--csv", *line.text.split()], from_=capture)
    if not line.table:
        assert result.status == 1, "a form that the verb does not have is an error"
        return
    rows = list(csv.reader(io.StringIO(result.out)))
    name = document["schema"].removeprefix("nvdebug/")
    command, = (one for one in reading() if one["schema"] == f"{name}.json")
    assert rows[0] == [column["name"] for column in command["columns"]]
    assert all(len(row) == len(rows[0]) for row in rows)
    if isinstance(document["data"], list):
        assert len(rows) - 1 == len(document["data"])


def shortened(value):
    """Shortens the thousands of rows of the workloads named many to the first and the last ones."""
    if isinstance(value, dict):
        return {key: shortened(part) for key, part in value.items()}
    if isinstance(value, list):
        return [shortened(part) for part in value[:20] + value[20:][-20:]]
    return value


def test_product_and_uuid(bench):
    """A folder takes the place of NVIDIA's files and has the names of one GPU. The other GPUs have no driver."""
    board, uuid, product = "h200", "GPU-57a2ed01-1111-2222-3333-444455556666", "NVIDIA H200"
    index, folder = bench.index(board), f"/tmp/driver/nvidia/gpus/{bench.address(board)}"
    bench.check(f"mkdir -p {folder} && printf 'Model: \\t\\t %s\\nGPU UUID: \\t %s\\n' '{product}' {uuid} > {folder}/information"
                " && mount --bind /tmp/driver /proc/driver")
    try:
        guest = Guest(bench, board)
        (_, listed), (_, shown) = guest.run([Line("gpu list", "gpu list", of_gpu=False, table=True),
                                             Line("gpu show", "gpu show", of_gpu=True, table=False)])
        assert {row["index"]: (row["uuid"], row["product"]) for row in listed["data"]} == {
            row["index"]: (uuid, product) if row["index"] == index else (None, None) for row in listed["data"]}
        assert (shown["data"]["uuid"], shown["data"]["product"]) == (uuid, product)
        # Without a terminal, the table is as wide as it needs to be.
        assert re.search(rf"^{index} .* {product} .* {uuid}$", bench.check("nvdebugctl gpu list"), re.MULTILINE)
        for word in (uuid, uuid.upper(), uuid[:12]):
            assert json.loads(bench.check(f"nvdebugctl -g {word} -j gpu show"))["data"]["index"] == index
        head = json.loads(bench.check(f"nvdebugctl -g {index} record --for 0.1s -o - | head -n 1"))
        assert [(one["gpu"], one["product"]) for one in head["gpus"]] == [(index, product)]
        assert "there is no GPU 'GPU-58'" in bench.run("nvdebugctl -g GPU-58 gpu show").err.decode()
    finally:
        bench.check("umount /proc/driver; rm -r /tmp/driver")
