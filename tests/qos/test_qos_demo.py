# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos --demo: goals for three tasks on a simulated GPU, in the table of nvqos. Takes no GPU, no driver and no rights."""

import json
import re
import signal
import subprocess

import jsonschema
import pytest
from building import ROOT, built
from typist import ScreenTypist
from users import NAMELESS, as_user, copy_for_all, open_folder
from waiting import PATIENCE_S

SCHEMA = json.loads((ROOT / "tools/nvqos/schema/nvqos.epoch.json").read_text(encoding="utf-8"))
TASKS = "it has command:serve (pid 1001), command:train (pid 1002) and command:batch (pid 1003, container:3f2a)"
HEADING = ["GPU", "TENANT", "GOAL", "GOT", "WANTS", "CREDIT", "LEVER", "TASKS", "KEPT", "VIOLATIONS"]


def run(*words):
    return subprocess.run([built("bin/nvqos"), "--demo", *words], capture_output=True, check=False, text=True,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE_S)


def epochs(*words, exit_status=0):
    """Returns the data of each line of JSON."""
    done = run("-j", *words)
    assert done.returncode == exit_status, done.stderr
    assert done.stderr.splitlines()[0] == "nvqos: SIMULATION: no GPU is used"
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for one in found:
        jsonschema.validate(one, SCHEMA, jsonschema.Draft202012Validator)
    return [one["data"] for one in found]


def test_a_pipe_gets_a_table_each_second():
    done = run("--for", "3s")
    assert (done.returncode, done.stderr) == (0, "")
    blocks = done.stdout.removesuffix("\n\n").split("\n\n")
    assert len(blocks) == 3
    for block in blocks:
        title, heading, serve, share, others, counts = block.splitlines()
        assert title.startswith("SIMULATION: no GPU is used  20") and title.endswith("rollover, epochs of 100 ms")
        assert heading.split() == HEADING
        assert serve.split()[1:5] == ["command:serve", "latency,", "cap", "60"]
        assert share.split()[1:4] == ["container:3f2a", "share", "30"] and others.split()[1] == "others"
        assert counts.startswith("the tasks count in the last 10 s: serve ") and " steps, 99 % within " in counts


def test_the_goals_of_the_front_page_are_kept():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "nvqos command:serve=latency,cap:60% container:3f2a=share:30% others=best-effort" in readme
    found = epochs("--for", "5s")
    assert len(found) == 50 and found[-1]["end_ns"] == 5e9
    serve, share, others = found[-1]["tenants"]
    assert (serve["name"], share["name"], others["name"]) == ("command:serve", "container:3f2a", "others")
    assert all(one["violations"] == 0 and one["tasks"] == 1 == one["held_tasks"] for one in (serve, share, others))
    assert 29 <= share["got_percent"] <= 34.5 and serve["got_percent"] < 30 and others["got_percent"] > 35
    assert (serve["timeslice_us"], serve["requests"] > 250) == (16000, True)


def test_the_page_has_the_times_of_requests(tmp_path):
    """They are those of the same tasks in a scenario, which also runs without goals and alone."""
    page = " ".join((ROOT / "docs/without-gpu.md").read_text(encoding="utf-8").split())
    kept, left, alone = map(int, re.search(r"take at most (\d+) ms with these goals, (\d+) ms without nvqos, and (\d+) ms if",
                                           page).groups())
    serve = {"name": "serve", "gpus": [0], "goal": "latency,cap:60%", "arrivals": {"mean_ms": 15}, "program": [{"kernel_us": 2900}]}
    train = {"name": "train", "gpus": [0], "program": [{"think_us": 4000}, {"kernel_us": 70000}]}
    batch = {"name": "batch", "gpus": [0], "goal": "share:30%", "program": [{"think_us": 200}, {"kernel_us": 12000}]}
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps({"version": 1, "duration_ms": 60000, "gpus": {"count": 1}, "jobs": [serve, train, batch]}))

    def simulated(*words):
        done = subprocess.run([built("bin/nvqos"), "simulate", "-j", *words, path], capture_output=True, check=True, text=True,
                              timeout=PATIENCE_S)
        return json.loads(done.stdout)["jobs"][0]
    goals = simulated()
    assert goals["request_ms"]["p99"] == pytest.approx(kept, rel=0.1)
    assert goals["alone_request_ms"]["p99"] == pytest.approx(alone, rel=0.1)
    assert simulated("--none")["request_ms"]["p99"] == pytest.approx(left, rel=0.1)


def test_goals_may_be_given_by_every_name():
    by_name, by_pid = (epochs("--for", "3s", f"{who}=share:60%", "others=cap:30%")[-1]["tenants"]
                       for who in ("command:train", "1002"))
    assert by_name[0]["got_percent"] == by_pid[0]["got_percent"] >= 59
    assert by_name[1]["got_percent"] <= 31 and by_name[1]["tasks"] == 2
    assert {key: value for key, value in by_name[0].items() if key != "name"} == {
        key: value for key, value in by_pid[0].items() if key != "name"}


def test_requests_of_a_service_with_a_latency_are_judged():
    late = epochs("--for", "4s", "command:serve=latency:3ms,cap:60%", exit_status=4)[-1]["tenants"][0]
    assert late["violations"] > 20 and late["kept"] is False and late["request_p99_us"] > 3000
    soon = epochs("--for", "4s", "command:serve=latency:500ms,cap:60%")[-1]["tenants"][0]
    assert (soon["violations"], soon["kept"]) == (0, True)


def test_goals_of_an_engine_have_no_marks_here():
    last = epochs("--for", "2s", "command:serve=ttft:200ms,tpot:10ms@95", "command:train=best-effort")[-1]
    serve = next(one for one in last["tenants"] if one["name"] == "command:serve")
    assert (serve["kept"], serve["why_not"], serve["goal"]) == (None, "no marks yet", "ttft 200 ms, tpot 10 ms (95 %)")
    assert serve["engine"] == {"requests": 0, "ttft": {"goal_us": 200000, "percent": 99, "us": None},
                               "tpot": {"goal_us": 10000, "percent": 95, "us": None}}


def test_a_goal_that_was_not_kept_is_named_at_the_end():
    done = run("--for", "2s", "command:serve=latency:3ms,cap:60%")
    assert done.returncode == 4
    assert "nvqos: command:serve: latency 3 ms, cap 60 % was not kept at the end of " in done.stderr


@pytest.mark.parametrize("words, status, says", (
    (("command:x=cap:20%",), 1, f"nvqos: command:x: the demo has no such task; {TASKS}\n"),
    (("command:serve=latency", "4711=share:10%"), 1, f"nvqos: 4711: the demo has no such task; {TASKS}\n"),
    (("all-of:1001=share:10%",), 1, "the demo has no such task"),
    (("others=best-effort",), 1, "no goal is named"),
    (("command:serve=share:70%", "command:train=share:60%"), 2, "shares and speeds add up to 130 %"),
    (("command:serve=timeslice:16ms", "command:train=timeslice:16ms"), 2, "do not fit into a round of 25 ms"),
    (("--gpu", "0"), 1, "--gpu has no effect with --demo"),
    (("--socket",), 1, "--socket has no effect with --demo"),
    (("--dry-run",), 1, "--dry-run has no effect with --demo"),
    (("--quiet",), 1, "--quiet has no effect with --demo"),
    (("--cdi", "share:30%"), 1, "--demo has no effect with --cdi")))
def test_refusals(words, status, says):
    done = run("--for", "1s", *words)
    assert (done.returncode, done.stdout) == (status, "") and says in done.stderr


def test_a_goal_that_another_task_can_break_is_named():
    done = run("--for", "1s", "command:serve=latency", "command:train=share:30%")
    assert "command:serve is served first for at most " in done.stderr and "command:train (share 30 %) is promised" in done.stderr


@pytest.mark.parametrize("columns", (40, 80, 200))
def test_a_terminal_has_the_view_in_place(columns):
    typist = ScreenTypist([built("bin/nvqos"), "--demo"], 24, columns)
    try:
        typist.wait_until(lambda: any("comm" in line and "%" in line for line in typist.lines) and typist.lines[-1].startswith("q end"))
        assert typist.lines[0].startswith("SIMULATION: no GPU is used")
        assert "KEPT" in typist.lines[1] and sum("TENANT" in line for line in typist.lines) == 1
        assert all(len(line) <= columns for line in typist.lines)
        typist.type(b"h")
        typist.wait_until(lambda: any("arrows" in line for line in typist.lines))
        typist.type(b"q")
        # The last table stays behind the view.
        typist.wait_for(b"SIMULATION: no GPU is used")
        assert typist.end() == (0, True)
    finally:
        typist.close()


@pytest.mark.parametrize("ending", (signal.SIGINT, signal.SIGTERM))
def test_a_signal_ends_it(ending):
    with subprocess.Popen([built("bin/nvqos"), "--demo", "-j"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as demo:
        assert json.loads(demo.stdout.readline())["data"]["end_ns"] == 1e8
        demo.send_signal(ending)
        demo.communicate(timeout=PATIENCE_S)
    assert demo.returncode == 0


def test_a_reader_that_ends_ends_it():
    done = subprocess.run(["sh", "-c", '"$0" --demo -i 100ms | head -n 1', built("bin/nvqos")], capture_output=True, check=True,
                          text=True, timeout=PATIENCE_S)
    assert done.stdout.startswith("SIMULATION") and done.stderr == ""


def test_a_user_without_rights_has_it():
    with open_folder() as folder:
        place = copy_for_all(folder, built("bin/nvqos"))
        library = built("bin/nvqos").parent.parent / "lib/nvdebug"
        copy_for_all(folder, *library.glob("libnvdebug.so*"))
        done = subprocess.run([*as_user(place, NAMELESS), place / "nvqos", "--demo", "--for", "1s"], capture_output=True,
                              check=False, text=True, timeout=PATIENCE_S, env={"LD_LIBRARY_PATH": str(place)})
    assert done.returncode == 0 and done.stdout.startswith("SIMULATION"), done.stderr


def test_the_page_and_help_name_it():
    page = (ROOT / "tools/nvqos/nvqos.1.in").read_text(encoding="utf-8")
    assert "\n@option --demo\n" in page
    out = subprocess.run([built("bin/nvqos"), "--help"], capture_output=True, check=True, text=True, timeout=PATIENCE_S).stdout
    assert "--demo" in out
