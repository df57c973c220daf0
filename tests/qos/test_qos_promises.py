# SPDX-License-Identifier: MIT OR GPL-2.0
"""A promise that another tenant can break is not shown as kept: nvqos over the stand-in for the driver."""

import json
import re
import subprocess
import tomllib

import jsonschema
import pytest
from building import ROOT, built
from qos_machine import SCHEMAS
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]


def dry_run(machine, *goals):
    done = machine.run(*goals, "--dry-run")
    rows = [line.split("  ") for line in done.stdout.splitlines() if re.match(r" *\d", line)]
    return done, [[cell.strip() for cell in row if cell.strip()] for row in rows]


@pytest.mark.parametrize("first, second, sentence", (
    ("share:20%", "latency", "{1} is served first for at most 78 % of the time, because {0} (share 20 %) is promised its part; "
     "where it has work for longer than that, requests wait for turns of up to 4.12 ms"),
    ("speed:50%", "latency:5ms", "{1} is served first for at most 49 % of the time, because {0} (speed 50 %) is promised its part"),
    ("share:30%", "latency,cap:80%", "{1} is served first for at most 68 % of the time, because {0} (share 30 %) is promised its part"),
    ("timeslice:3ms", "latency", "requests of {1} wait for turns of {0}, which are 3.10 ms whatever the others have"),
    ("latency", "latency:5ms", "{0} and {1} are both served first: each waits for turns of the other, up to 16.1 ms"),
))
def test_a_dry_run_names_who_can_break_a_goal(machine, first, second, sentence):
    one, two = machine.process(), machine.process()
    done, rows = dry_run(machine, f"{one.pid}={first}", f"{two.pid}={second}")
    assert done.returncode == 0, done.stderr
    assert sentence.format(one.pid, two.pid) in done.stderr
    assert rows[1][1] == str(two.pid) and f"if {one.pid} leaves it" in rows[1]
    done = machine.run(f"{one.pid}={first}", f"{two.pid}={second}", "--dry-run", "--json")
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads((SCHEMAS / "nvqos.epoch.json").read_text(encoding="utf-8")), jsonschema.Draft202012Validator)
    tenant = document["data"]["tenants"][1]
    assert tenant["kept"] is None and [each["tenant"] for each in tenant["depends_on"]] == [str(one.pid)]


@pytest.mark.parametrize("first, second", (("latency,cap:60%", "share:30%"), ("cap:50%", "share:50%"), ("latency", "cap:30%"),
                                           ("share:50%", "speed:40%"), ("timeslice:1ms", "share:50%")))
def test_what_nobody_can_break_is_kept(machine, first, second):
    one, two = machine.process(), machine.process()
    done, rows = dry_run(machine, f"{one.pid}={first}", f"{two.pid}={second}")
    assert done.returncode == 0 and done.stderr == ""
    assert all("yes" in row for row in rows[:2])


def test_others_and_a_service_without_tasks_can_break_goals(machine):
    one = machine.process()
    done, rows = dry_run(machine, f"{one.pid}=share:30%", "others=latency")
    assert "others is served first for at most 69 % of the time" in done.stderr and "yes" in rows[0]
    done, rows = dry_run(machine, f"{one.pid}=share:30%", "command:none=latency", "command:no=latency")
    assert "command:none and command:no are served first for at most 69 % of the time" in done.stderr


def test_a_goal_is_measured_after_a_second(machine):
    one, two = machine.process(), machine.process()
    nvqos = machine.start("--json", f"{one.pid}=latency", f"{two.pid}=share:98%")
    seen = []
    for line in nvqos.stdout:
        service, share = json.loads(line)["data"]["tenants"][:2]
        seen.append(service["kept"])
        if share["kept"] is False:
            break
    assert set(seen) == {None}, "nothing measures whether the service is served first"
    assert f"{one.pid} is served first" in machine.errors()


def test_a_request_is_told_what_it_depends_on(kept):
    one, two = kept.process(), kept.process()
    assert kept.ask(f"hold b share:30% pid={two.pid}") == "ok"
    answer = kept.ask(f"hold a latency pid={one.pid}")
    assert answer.startswith("ok a is served first for at most 68 % of the time, because b (share 30 %) is promised its part; ")
    assert comes_true(lambda: "a is served first" in kept.errors())
    kept.ask("release a")
    assert kept.ask(f"hold a latency,cap:60% pid={one.pid}") == "ok"


EXAMPLES = [ROOT / "docs/examples/service.toml", *(ROOT / "packaging/kubernetes").glob("*/nvqos.toml")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_have_no_goal_that_another_can_break(machine, path):
    text = path.read_text(encoding="utf-8")
    assert tomllib.loads(text)["tenant"]
    done = machine.run("--file", str(path), "--dry-run")
    assert done.returncode == 0 and "leaves it" not in done.stderr
    for tenant in tomllib.loads(text)["tenant"]:
        assert "latency" not in tenant["goal"] or any(goal.startswith("cap:") for goal in tenant["goal"])


@pytest.mark.parametrize("page", ("README.md", "docs/qos.md", "tools/nvqos/nvqos.1.in"))
def test_commands_on_pages_have_none_either(machine, page):
    text = (ROOT / page).read_text(encoding="utf-8").replace("sudo $(which nvqos)", "sudo nvqos")
    commands = re.findall(r"sudo nvqos ((?:\S+=(?:share|speed|latency|cap|best)[^\s`]* ?)+)", text)
    assert commands
    for words in commands:
        done = machine.run(*words.split(), "--dry-run")
        assert "leaves it" not in done.stderr and "served first" not in done.stderr, words


def test_sums_are_checked_before_a_driver_is_needed():
    """The program that users have refuses such goals on a machine without NVIDIA's driver, too."""
    nvqos = built("bin/nvqos")
    for words in (["command:a=share:60%", "command:b=share:60%"], ["command:a=share:60%,cap:40%"]):
        done = subprocess.run([nvqos, "--dry-run", *words], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        assert (done.returncode, done.stdout) == (2, "") and "/dev/nvidiactl" not in done.stderr
        assert "add up to 120 %" in done.stderr or "a cap of 40 % is below the 60 %" in done.stderr


def test_a_tenant_is_not_called_others(machine):
    goals = machine.folder / "goals.toml"
    goals.write_text('[[tenant]]\nname = "others"\ncommand = "a"\ngoal = "share:30%"\n', encoding="utf-8")
    done = machine.run("--dry-run", "-f", goals)
    assert done.returncode == 1 and "goals.toml:2: 'others' is the name of all tasks without a tenant" in done.stderr


@pytest.mark.parametrize("typed, meant", (("comand:a", "command"), ("contaner:3f", "container"), ("jobb:7", "job")))
def test_a_kind_of_name_that_is_mistyped(machine, typed, meant):
    done = machine.run("--dry-run", f"{typed}=share:30%")
    assert done.returncode == 1 and f"(did you mean '{meant}'?)" in done.stderr
