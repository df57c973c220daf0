# SPDX-License-Identifier: MIT OR GPL-2.0
"""`capture diff` and `watch --changes`: the differences between two moments of a GPU, in the same words."""

import contextlib
import csv
import gzip
import io
import itertools
import json
import re
import subprocess
import threading

import pytest
from building import ROOT
from ctl import Started, ctl, validate, write_capture, write_tree
from trees import edit, fails
from waiting import PATIENCE_S

HOPPER = ROOT / "tests/hardware/h100-580.159.04/capture-owners"


@pytest.fixture
def hopper(tmp_path):
    """A folder with the files of an H100's capture, with the processes 1456 and 1462."""
    files = json.loads(gzip.decompress(HOPPER.read_bytes()))["files"]
    for name, text in files.items():
        path = tmp_path / "after" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "after"


def without_tsg(text, tsg):
    """A list without a TSG and its channels, in the form of the module's files."""
    parts = re.split(r"(?m)^(?=\+---- TSG Entry )", text)
    gone, = [part for part in parts if part.startswith(f"+---- TSG Entry {tsg} ")]
    channels = gone.count("Channel Info")
    for name, less in (("Entries", channels + 1), ("TSGs", 1), ("Channels", channels)):
        parts[0] = re.sub(rf"(\| {name}: +)(\d+)", lambda found, less=less: found[1] + f"{int(found[2]) - less:>{len(found[2])}}", parts[0])
    return "".join(part for part in parts if part != gone)


def both(folder, change):
    """Changes the full and the brief form of runlist 0."""
    for name in ("runlist0", "runlist0_brief"):
        path = folder / "gpu0" / name
        text = path.read_text(encoding="utf-8")
        assert change(text) != text
        path.write_text(change(text), encoding="utf-8")


def diff(before, after, *words):
    return ctl(["capture", "diff", str(before), str(after), *words])


def test_the_same_moment_has_no_changes(hopper):
    for other in (HOPPER, hopper):
        result = diff(HOPPER, other)
        assert (result.status, result.err) == (0, "")
        assert "nothing changed" in result.out
    assert diff(HOPPER, HOPPER, "-j").data == {"before_at": "2026-11-22T17:22:02Z", "after_at": "2026-11-22T17:22:02Z",
                                               "changes": []}


def test_each_change_has_a_line_in_the_words_of_the_other_verbs(hopper):
    both(hopper, lambda text: text.replace("2097.152", " 524.288", 1))
    both(hopper, lambda text: text.replace("Channel Info 10 --------------------------+\n  | Enabled:                                 1",
                                           "Channel Info 10 --------------------------+\n  | Enabled:                                 0", 1))
    edit(hopper / "gpu0/copy_topology", r"LCE2 1 0x5000", "LCE2 1 0x1000")
    result = diff(HOPPER, hopper)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        "gpu0 TSG 0:7: timeslice 2.10ms -> 524us", "gpu0 channel 0:10: enabled yes -> no",
        "gpu0 LCE0: pces 12,14 -> 12", "gpu0 LCE2: own pces 12,14 -> 12", "gpu0 LCE2: pces 12,14 -> 12"]
    rows = diff(HOPPER, hopper, "-j").data["changes"]
    assert rows[0] == {"gpu": 0, "object": "TSG 0:7", "change": "changed", "what": "timeslice_us", "before": 2097.152,
                       "after": 524.288}
    assert ctl(f"--from {HOPPER} tsg show 0:7 -j").data["timeslice_us"] == rows[0]["before"]
    assert [row["object"] for row in csv.DictReader(io.StringIO(diff(HOPPER, hopper, "--csv").out))] == [
        row["object"] for row in rows]


def test_a_task_that_ended_is_a_line_for_its_process_and_one_for_each_tsg(hopper):
    """The channels of a TSG that is gone are in its line. In the other direction they are new."""
    both(hopper, lambda text: without_tsg(text, 11))
    owners = hopper / "gpu0/owners"
    edit(owners, r"(?m)^1462 .*\n", "")
    result = diff(HOPPER, hopper)
    assert (result.status, result.err) == (0, "")
    gone = [line for line in result.out.splitlines() if " is gone" in line]
    assert gone == ["gpu0 process 1462 is gone: command workload, cgroup /",
                    "gpu0 TSG 0:11 is gone: timeslice 2.10ms, channels 30-37, processes workload[1462]"]
    new = [line for line in diff(hopper, HOPPER).out.splitlines() if " is new" in line]
    assert new == [line.replace("is gone", "is new") for line in gone]


def test_unreadable_parts_are_missing_and_not_gone(hopper):
    capture = write_capture(hopper.parent / "lacks", hopper, {"gpu0/runlist0_brief": "EIO", "gpu0/runlist0": "EIO"})
    result = diff(HOPPER, capture)
    assert result.status == 4 and "runlist0" in result.err
    assert "gone" not in result.out and "TSG 0:" not in result.out
    (hopper / "gpu0/owners").unlink()
    result = diff(HOPPER, hopper)
    assert result.status == 0 and "process" not in result.out.replace("and processes", ""), "a capture by the module has no owners"


def test_gpus_that_cannot_be_compared_are_named(tmp_path):
    one, two = write_tree(tmp_path / "one", ("a100", "fig7")), write_tree(tmp_path / "two", ("a100", "fig7"), ("gtx980", "idle"))
    other = write_tree(tmp_path / "other", ("gtx980", "idle"))
    for words in ((one, two), (two, one)):
        result = diff(*words)
        assert result.status == 4 and "gpu1 is in" in result.err and "nothing changed" in result.out
    fails(diff(one, other), 1, "GA100", "GM204", "one machine")
    fails(diff(one, tmp_path / "none"), 1, "none")
    (tmp_path / "text").write_text("text")
    fails(diff(one, tmp_path / "text"), 1, "is no capture")
    fails(ctl("capture diff only"), 1, "AFTER")


def test_a_capture_may_be_called_diff(hopper, tmp_path):
    result = ctl(["--from", str(hopper), "capture", "./diff"], cwd=tmp_path)
    assert result.status == 0 and (tmp_path / "diff").exists()


def test_help_and_completion_have_both_forms():
    assert "capture diff BEFORE AFTER" in ctl("help capture").out and "capture FILE" in ctl("help capture").out
    assert "capture diff BEFORE AFTER" in ctl("capture diff --help").out
    assert ctl("help -j capture diff").data["commands"][0]["schema"] == "capture.diff.json"

    def completed(*words):
        return ctl(["__complete", "--", *words]).out.split()
    assert completed("capture", "") == ["<file>", "diff"] and completed("capture", "a", "") == []
    assert completed("capture", "diff", "") == completed("capture", "diff", "a", "") == ["<file>"]


@contextlib.contextmanager
def alternating(folder, tmp_path):
    """LCE2 has one PCE and two of them in turn, until the block ends: nothing shows when `watch` has its first look."""
    path, over = folder / "gpu0/copy_topology", threading.Event()
    text = path.read_text(encoding="utf-8")

    def change():
        for mask in itertools.cycle(("0x1000", "0x5000")):
            fresh = tmp_path / "fresh"
            fresh.write_text(text.replace("LCE2 1 0x5000", f"LCE2 1 {mask}"), encoding="utf-8")
            fresh.rename(path)
            if over.wait(0.2):
                return
    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def first_lines(folder, count, *words):
    with Started(folder, "watch", "--changes", "-s", "50", *words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, text=True) as watching:
        lines = [watching.stdout.readline() for _ in range(count)]
        watching.terminate()
        watching.communicate(timeout=PATIENCE_S)
    return lines


def test_watch_prints_changes_of_a_running_gpu_in_the_same_words(hopper, tmp_path):
    with alternating(hopper, tmp_path):
        lines = first_lines(hopper, 3)
        document = json.loads(first_lines(hopper, 1, "-j")[0])
    for line in lines:
        assert re.fullmatch(r"20\S+Z gpu0 LCE[02]: (own )?pces (12 -> 12,14|12,14 -> 12)\n", line), line
    validate(document)
    assert document["schema"] == "nvdebug/capture.diff" and document["gpu"]["index"] == 0
    assert {row["object"] for row in document["data"]["changes"]} == {"LCE0", "LCE2"}


def test_watch_prints_nothing_while_nothing_changes(hopper):
    result = ctl("watch --changes -n 2 -s 10 -j", hopper)
    assert (result.status, result.out, result.err) == (0, "", "")
    for words, sentence in (("--csv", "no columns for --csv"), ("--columns engine", "no columns for --columns")):
        fails(ctl(f"watch --changes {words}", hopper), 1, sentence)
    fails(ctl("watch --changes", HOPPER), 3, "capture diff")
