# SPDX-License-Identifier: MIT OR GPL-2.0
"""scripts/stand-in, `make try` and their sections of docs/without-gpu.md, whose commands run as they stand there."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from nvdvm import paths
from typist import ScreenTypist
from waiting import PATIENCE_S, comes_true

SCRIPT = paths.ROOT / "scripts/stand-in"
# A build may come first.
LONG_S = 20 * PATIENCE_S


def lines(heading):
    """Returns the commands of a section of the page."""
    page = (paths.ROOT / "docs/without-gpu.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    return [line for block in re.findall(r"^```\n(.*?)^```", section, re.M | re.S) for line in block.splitlines()]


LIVE = lines("nvqos, live")
TASKS, PAUSE, TOP, RECORD, NVQOS, TPCS, LAUNCH = lines("Programs that ask NVIDIA's driver")


def run(command, status=0):
    """Runs a line of the page, and returns its stdout."""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=paths.ROOT, stdin=subprocess.DEVNULL, check=False,
                          capture_output=True, text=True, timeout=LONG_S)
    assert done.returncode == status, (command, done.stdout, done.stderr)
    return done.stdout


def left():
    return set(pathlib.Path("/tmp").glob("stand-in.*"))


def test_the_page_shows_nvqos_live():
    make, *others = LIVE
    assert make == "make try"
    shown = [run("make -s try WORDS='--for 1s'"), *map(run, others[1:])]
    assert all("SIMULATION: no GPU is used" in one and " VIOLATIONS" in one for one in shown)
    # A service whose requests wait behind steps of the training may miss 8 ms.
    assert others[0].endswith("command:serve=latency:8ms,cap:50% command:train=share:30%")
    assert subprocess.run(others[0], shell=True, cwd=paths.ROOT, check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=LONG_S).returncode in (0, 4)


def test_a_goal_that_is_not_kept_is_no_error_of_make():
    assert "NO" in run("make -s try WORDS='--for 2s command:serve=latency:1ms,cap:60%' 2>&1")


def test_nvdebugctl_lists_tasks():
    shown = run(TASKS)
    assert [re.search(r"\b(serve|train)\b", line)[1] for line in shown.splitlines()[1:]] == ["serve", "train"]


def test_a_task_is_paused_for_a_while():
    assert re.search(r"task \d+: enabled channels 2 -> 0", run(PAUSE))


def test_top_shows_both_tasks():
    document = json.loads(run(f"{TOP} --json").splitlines()[-1])
    (gr0,) = [engine for engine in document["data"]["engines"] if engine["engine"] == "GR0"]
    shares = {row["process"]: row["share_percent"] for row in gr0["holders"]}
    assert shares == {"serve": pytest.approx(48, abs=4), "train": pytest.approx(48, abs=4)}
    assert "serve" in run(TOP)


def test_record_writes_turns():
    summary = run(RECORD)
    page = pathlib.Path("/tmp/turns.html")
    try:
        assert "serve" in summary and "train" in summary and page.read_text(encoding="utf-8").startswith("<!doctype html>")
    finally:
        page.unlink()


def test_nvqos_keeps_goals():
    last = run(NVQOS).split("\n\n")[-2].splitlines()
    assert last[1].split()[:4] == ["GPU", "TENANT", "GOAL", "GOT"]
    got = {line.split()[1]: float(re.search(r"([\d.]+) %  ", line)[1]) for line in last[2:4]}
    assert got["command:serve"] >= 59 and got["command:train"] <= 31


def test_nvtaskset_keeps_a_kernel_to_tpcs():
    assert "GPC" in run(TPCS)
    count, sms = run(LAUNCH).split()
    all_count, _ = run(LAUNCH.replace("-g 0-3 ", "-s 100% ")).split()
    assert 0 < int(count) < int(all_count) == 132 and re.fullmatch(r"[\d,-]+", sms)


def test_nothing_is_left_of_it():
    before = left()
    words = "nvdebugctl task pause --command serve --for 1 >&2; cat /proc/[0-9]*/comm; ls /run"
    shown = run(f"{SCRIPT} sh -c '{words}'")
    assert "serve\n" in shown
    assert left() == before
    own = set(re.findall(r"is process (\d+)", subprocess.run([SCRIPT, "true"], capture_output=True, text=True, check=True,
                                                             timeout=LONG_S).stderr))
    assert len(own) == 2 and comes_true(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in own))


def test_the_status_of_the_command_is_its_status():
    run(f"{SCRIPT} sh -c 'exit 7'", 7)
    run(f"{SCRIPT} nvdebugctl task show 1", 2)
    assert "usage: scripts/stand-in" in subprocess.run([SCRIPT], capture_output=True, check=False, text=True,
                                                       timeout=PATIENCE_S).stderr


def test_stderr_may_be_closed_or_full():
    for way in ("2>&-", "<&- 2>&-", "2>/dev/full"):
        assert "serve" in run(f"{TASKS} {way}")
    before = left()
    run(f"{TASKS} >&-", 5)
    assert left() == before


def test_nvqos_advises_on_the_tasks():
    found = json.loads(run(f"{SCRIPT} nvqos advise --for 1 --json"))
    assert {one["who"]: one["had"] for one in found["tasks"]} == {
        "command:serve": pytest.approx(0.48, abs=0.04), "command:train": pytest.approx(0.48, abs=0.04)}


def test_top_and_nvqos_have_a_view_on_a_terminal():
    for words, last in ((["nvdebugctl", "top"], "q quit"), (["nvqos", "command:serve=share:40%"], "q end")):
        before = left()
        typist = ScreenTypist([str(SCRIPT), *words], 24, 80)
        try:
            typist.wait_until(lambda: any("serve" in line for line in typist.lines) and last in typist.lines[-1])
            typist.type(b"q")
            assert typist.end() == (0, True)
        finally:
            typist.close()
        assert left() == before


def test_a_user_without_root_has_it():
    """The script makes a user namespace then, if the machine allows it. In the outer namespace, this test is not root."""
    outer = ["unshare", "--user"]
    allowed = subprocess.run([*outer, "unshare", "--user", "--map-root-user", "--mount", "--net", "true"], check=False,
                             capture_output=True).returncode == 0
    done = subprocess.run([*outer, SCRIPT, "nvdebugctl", "task", "list"], check=False, capture_output=True, text=True,
                          timeout=LONG_S, env=os.environ | {"NVDEBUG_NO_BUILD": "1"})
    assert (done.returncode == 0) == allowed, done.stderr
    assert ("serve" in done.stdout) if allowed else ("run it as root" in done.stderr)
