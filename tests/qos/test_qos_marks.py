# SPDX-License-Identifier: MIT OR GPL-2.0
"""Marks of engines that they are busy or idle: the program over the stand-in for the driver, the header and the Python
module. Takes root, as nvqos does."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from building import ROOT
from users import as_user
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

MODULE = ROOT / "packaging/wheel/nvdebugctl/marks.py"
# Sends a mark for each line on stdin.
ENGINE = f"""
import runpy, sys
mark = runpy.run_path({str(MODULE)!r})["mark"]
for line in sys.stdin:
    print(mark(line.strip()), flush=True)
"""
SOURCE = """
#include <nvdebug/engine_mark.h>
int main(int count, char **words) { return count == 2 ? nvdebug_mark(words[1]) : 255; }
"""


class Engine:
    """A process that sends marks to the nvqos of a machine."""

    def __init__(self, machine, *, gpu=True):
        self.process = subprocess.Popen([sys.executable, "-c", ENGINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=os.environ | {"NVDEBUG_MARKS": f"{machine.path}.marks"})
        machine.started.append(self.process)
        self.pid = self.process.pid
        if gpu:
            machine.use_gpu(self.pid)

    def mark(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip() == "True"


def marks_of(machine, path):
    """Ends nvqos, and returns the marks that its governor has got."""
    machine.nvqos.send_signal(signal.SIGTERM)
    machine.nvqos.wait(PATIENCE_S)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line["mark"] for line in lines if "mark" in line]


def test_marks_of_a_tenants_process_reach_the_governor(machine):
    path = machine.folder / "decisions.ndjson"
    machine.start("--quiet", "--decisions", path)
    engine, other, stranger = Engine(machine), Engine(machine), Engine(machine, gpu=False)
    assert machine.ask(f"hold engine latency pid={engine.pid}") == "ok"
    assert comes_true(lambda: machine.timeslice(engine.pid) == 16000 or not machine.is_enabled(other.pid))
    assert stranger.mark("busy") and engine.mark("busy")
    assert comes_true(lambda: not machine.is_enabled(other.pid))
    assert engine.mark("nonsense") and engine.mark("idle") and stranger.mark("idle")
    assert comes_true(lambda: machine.is_enabled(other.pid))
    found = marks_of(machine, path)
    assert [one["busy"] for one in found] == [True, False] and len({one["tenant"] for one in found}) == 1


def line_of(machine, name):
    """Returns the exit status of `nvqos status`, and the tenant there; an empty one before its first epoch."""
    done = machine.client("status", "-j")
    tenants = [one for epoch in json.loads(done.stdout)["data"]["epochs"] for one in epoch["tenants"] if one["name"] == name]
    return done.returncode, (tenants or [dict.fromkeys(("kept", "why_not"))])[0]


def test_goals_of_an_engine_are_judged_by_its_requests(machine):
    """The goals count neither as kept nor as missed before the first mark. A late request makes them missed."""
    machine.start("--quiet")
    engine = Engine(machine)
    machine.process()
    assert machine.ask(f"hold engine ttft:50s,tpot:1us@50 pid={engine.pid}") == "ok"
    assert comes_true(lambda: line_of(machine, "engine")[1]["why_not"] == "no marks yet")
    status, line = line_of(machine, "engine")
    assert line["kept"] is None and line["goal"] == "ttft 50000 ms, tpot 0.001 ms (50 %)" and status == 0
    assert "no marks yet" in machine.client("status").stdout
    assert engine.mark("request a") and engine.mark("first a")
    assert comes_true(lambda: line_of(machine, "engine")[1]["kept"] is True)
    found = line_of(machine, "engine")[1]["engine"]
    assert found["requests"] == 1 and 0 < found["ttft"]["us"] < 50e6 and found["tpot"]["us"] is None
    assert engine.mark("end a 2")
    assert comes_true(lambda: line_of(machine, "engine")[1]["kept"] is False)
    status, line = line_of(machine, "engine")
    assert status == 4 and line["engine"]["tpot"]["us"] > 1 and line["engine"]["tpot"]["percent"] == 50


def test_a_dry_run_shows_an_engines_goals(machine):
    """A dry run prints that there are no marks yet, and on which tenants the goal depends. It changes nothing."""
    engine, other = machine.process(), machine.process()
    words = (f"{engine.pid}=ttft:200ms,tpot:10ms@95", f"{other.pid}=share:20%", "--dry-run")
    done = machine.run(*words)
    line = next(line for line in done.stdout.splitlines() if str(engine.pid) in line)
    assert done.returncode == 0 and "  ttft 200 ms, tpot 10 ms (95 %)  " in line and "  no marks yet  " in line
    assert f"{engine.pid} is served first for at most 78 % of the time, because {other.pid} (share 20 %) is promised its part" in done.stderr
    tenant = json.loads(machine.run(*words, "--json").stdout)["data"]["tenants"][0]
    assert tenant["kept"] is None and tenant["why_not"] == "no marks yet"
    assert tenant["engine"] == {"requests": 0, "ttft": {"goal_us": 200e3, "percent": 99, "us": None},
                                "tpot": {"goal_us": 10e3, "percent": 95, "us": None}}
    assert machine.all_changes() == []


@pytest.mark.parametrize("goal, missing", (("ttft:50s,tpot:10s@50", ""), ("ttft:50s", "tpot"), ("tpot:10s", "ttft")))
def test_metrics_have_the_times_of_an_engines_requests(machine, goal, missing):
    """No value is there before the first mark. Then they are those of `nvqos status`."""
    path = machine.folder / "qos.prom"
    machine.start("--quiet", f"--metrics={path}")
    engine = Engine(machine)
    assert machine.ask(f"hold engine {goal} pid={engine.pid}") == "ok"

    def values():
        found = re.findall(r'^nvqos_(ttft_seconds|tpot_seconds|kept)\{gpu="0",tenant="engine",number="0"\} (\S+)$',
                           path.read_text(encoding="utf-8"), re.MULTILINE)
        return {name: float(value) for name, value in found}

    assert comes_true(lambda: line_of(machine, "engine")[1]["why_not"] == "no marks yet" and path.exists())
    assert comes_true(lambda: 'nvqos_tasks{gpu="0",tenant="engine"' in path.read_text(encoding="utf-8")) and values() == {}
    assert engine.mark("request a") and engine.mark("first a") and engine.mark("end a 2")
    wanted = {"ttft_seconds", "tpot_seconds", "kept"} - {f"{missing}_seconds"}
    assert comes_true(lambda: set(values()) == wanted), values()
    times = line_of(machine, "engine")[1]["engine"]
    for name in wanted - {"kept"}:
        assert values()[name] == pytest.approx(times[name.removesuffix("_seconds")]["us"] / 1e6) and values()[name] > 0
    assert values()["kept"] == 1


def test_a_report_tells_how_long_an_engines_goal_was_kept(machine):
    """It is not known before the first mark."""
    machine.start("--quiet")
    engine = Engine(machine)
    assert machine.ask(f"hold engine ttft:50s,tpot:10s@50 pid={engine.pid}") == "ok"

    def words():
        return re.fullmatch(r"ok gpu=0 asked=ttft:50s,tpot:10s@50 got=\S+ used=\d+\.\ds kept=(\S+)/(\d+\.\d)s",
                            machine.ask("report engine words")).groups()

    assert comes_true(lambda: float(words()[1]) > 0.3) and words()[0] == "unknown"
    assert machine.ask("report engine").startswith("ok asked ttft 50000 ms, tpot 10000 ms (50 %), got ")
    assert engine.mark("request a") and engine.mark("first a")
    assert comes_true(lambda: words()[0] != "unknown")
    kept, of = map(float, words())
    assert 0 < kept <= of


def test_without_the_socket_there_is_a_warning(machine):
    engine = machine.process()
    done = machine.run(f"{engine.pid}=ttft:200ms", "--quiet", "--for", "300ms")
    assert done.returncode == 0 and "ttft and tpot are judged by marks of the engine, which are taken with --socket" in done.stderr
    assert "judged by marks" not in machine.run(f"{engine.pid}=latency", "--quiet", "--for", "300ms").stderr


def test_an_engine_that_dies_busy_leaves_nobody_paused(machine):
    machine.start("--quiet")
    engine, other = Engine(machine), machine.process()
    assert machine.ask(f"hold engine latency pid={engine.pid}") == "ok"
    assert comes_true(lambda: engine.mark("busy") and not machine.is_enabled(other.pid))
    engine.process.kill()
    engine.process.wait(PATIENCE_S)
    (machine.folder / "tasks" / str(engine.pid)).unlink()
    assert comes_true(lambda: machine.is_enabled(other.pid))


def test_without_nvqos_a_mark_is_lost(machine):
    assert Engine(machine, gpu=False).mark("busy") is False


def test_the_socket_is_for_every_user_and_ends_with_nvqos(kept):
    path = kept.path.with_name(kept.path.name + ".marks")
    assert path.stat().st_mode & 0o777 == 0o666 and kept.path.stat().st_mode & 0o777 == 0o600
    kept.folder.chmod(0o755)
    program = MODULE.read_text(encoding="utf-8") + "\nprint(mark('busy'))"
    done = subprocess.run([*as_user(kept.folder), "/usr/bin/python3", "-c", program], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_S, env=os.environ | {"NVDEBUG_MARKS": str(path)})
    assert done.stdout == "True\n", done.stderr
    kept.nvqos.terminate()
    kept.nvqos.wait(PATIENCE_S)
    assert not path.exists()


@pytest.mark.parametrize("compiler, language", (("gcc", "c"), ("gcc", "gnu99"), ("g++", "c++")))
def test_the_header_compiles_and_sends(kept, tmp_path, compiler, language):
    source, program = tmp_path / ("mark.cpp" if language == "c++" else "mark.c"), tmp_path / "mark"
    source.write_text(SOURCE, encoding="utf-8")
    standard = [] if language in ("c", "c++") else [f"-std={language}"]
    subprocess.run([compiler, *standard, "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source, "-o", program], check=True,
                   timeout=PATIENCE_S)
    run = {"check": False, "timeout": PATIENCE_S}
    assert subprocess.run([program, "busy"], env=os.environ | {"NVDEBUG_MARKS": f"{kept.path}.marks"}, **run).returncode == 0
    assert subprocess.run([program, "busy"], env=os.environ | {"NVDEBUG_MARKS": f"{kept.path}.none"}, **run).returncode == 2
