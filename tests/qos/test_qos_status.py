# SPDX-License-Identifier: MIT OR GPL-2.0
"""`nvqos status` and `nvqos list` ask an nvqos that runs, over the stand-in for the driver."""

import contextlib
import json
import socket
import threading

import jsonschema
import pytest
from qos_machine import SCHEMAS
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]


def ask(machine, *words):
    return machine.client(*words)


def document(machine, verb, name):
    done = ask(machine, verb, "-j")
    whole = json.loads(done.stdout)
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    resolver = jsonschema.RefResolver(f"{SCHEMAS.as_uri()}/", schema)
    jsonschema.Draft202012Validator(schema, resolver=resolver).validate(whole)
    return done.returncode, whole["data"]


def test_status_of_goals_that_are_kept(machine):
    one, two = machine.process(), machine.process()
    machine.start("--quiet", f"{two.pid}=share:20%")
    assert machine.ask(f"hold a share:30% pid={one.pid}") == "ok"

    def is_kept():
        tenants = [tenant for epoch in document(machine, "status", "nvqos.status")[1]["epochs"] for tenant in epoch["tenants"]]
        return len(tenants) == 3 and all(tenant["got_percent"] is not None for tenant in tenants) and all(
            tenant["kept"] is True for tenant in tenants[:2])
    assert comes_true(is_kept)
    done = ask(machine, "status")
    assert done.returncode in (0, 4) and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["GPU", "TENANT", "GOAL", "GOT", "WANTS", "CREDIT", "LEVER", "TASKS", "KEPT", "VIOLATIONS"]
    assert [line.split()[1] for line in lines[1:]] == ["a", str(two.pid), "others"]
    assert done.returncode == (4 if " NO" in done.stdout else 0)


def test_status_of_a_goal_that_is_not_kept(machine):
    one, two = machine.process(), machine.process()
    machine.start("--quiet", f"{one.pid}=latency", f"{two.pid}=share:98%")
    assert comes_true(lambda: ask(machine, "status").returncode == 4)
    status, data = document(machine, "status", "nvqos.status")
    assert status == 4 and data["epochs"][0]["tenants"][1]["kept"] is False
    assert [each["name"] for each in data["own"]] == [str(one.pid), str(two.pid)]
    assert " NO" in ask(machine, "status").stdout


def test_status_and_end_of_goals_that_cannot_be_seen(machine, monkeypatch):
    """The tasks of two tenants are clients of one MPS server, so no turn is the turn of one of them."""
    monkeypatch.setenv("NVQOS_STAND_IN_MPS", "1")
    one, two = machine.process(), machine.process()
    nvqos = machine.start("--quiet", f"{one.pid}=share:10%", f"{two.pid}=cap:99%")
    assert comes_true(lambda: ask(machine, "status").returncode == 4)
    status, data = document(machine, "status", "nvqos.status")
    tenants = data["epochs"][0]["tenants"]
    assert status == 4 and [tenant["why_not"] for tenant in tenants] == ["cannot be seen", "cannot be seen", None]
    assert tenants[1]["kept"] is None
    assert "cannot be seen" in ask(machine, "status").stdout
    nvqos.terminate()
    assert nvqos.wait(PATIENCE_S) == 4
    assert f"{two.pid}: cap 99 % could not be seen at the end of " in machine.errors()


def test_status_of_a_gpu_that_is_left_out(machine, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    machine.start("--quiet")
    assert comes_true(lambda: len(document(machine, "status", "nvqos.status")[1]["epochs"]) == 2)
    assert ask(machine, "status").returncode == 0
    (machine.folder / "lost.1").touch()
    assert comes_true(lambda: ask(machine, "status").returncode == 4)
    status, data = document(machine, "status", "nvqos.status")
    assert status == 4 and data["left_out"][0]["gpu"] == 1 and "fallen off the bus" in data["left_out"][0]["why"]
    assert "gpu1: left out" in ask(machine, "status").stdout


def test_list_has_who_holds_what(machine):
    one, two, holder = machine.process(), machine.process(), machine.process(gpu=False)
    machine.start("--quiet", "command:none=share:20%", "others=cap:90%")
    assert machine.ask(f"hold job:17.0 share:30%,cap:50% pid={one.pid} holder={holder.pid} gpu=0") == "ok"
    assert machine.ask(f"hold b latency,cap:20% pid={two.pid}") == "ok"
    assert comes_true(lambda: all(each["got"][0]["percent"] is not None for each in machine.list()))
    status, data = document(machine, "list", "nvqos.list")
    assert status == 0
    assert [(each["name"], each["holder"]) for each in data["held"]] == [("job:17.0", holder.pid), ("b", None)]
    assert data["own"] == [{"name": "command:none", "goal": "share 20 %"}, {"name": "others", "goal": "cap 90 %"}]
    done = ask(machine, "list")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0].split() == ["TENANT", "GOAL", "GPUS", "PROCESSES", "HOLDER", "SINCE", "GOT"]
    assert [line.split()[0] for line in lines[1:]] == ["job:17.0", "b", "command:none", "others"]
    assert str(one.pid) in lines[1] and str(holder.pid) in lines[1] and "% of GPU 0" in lines[1]


def test_nobody_has_asked_for_anything(machine):
    machine.start("--quiet")
    assert comes_true(lambda: ask(machine, "status").stdout.startswith("GPU  TENANT"))
    assert ask(machine, "status").returncode == 0
    done = ask(machine, "list")
    assert done.returncode == 0 and done.stdout == "nvqos keeps no goals now: none are in its file, and none are held\n"


@pytest.mark.parametrize("verb", ("status", "list"))
def test_no_nvqos_runs(machine, verb):
    done = ask(machine, verb)
    assert done.returncode == 5 and done.stdout == ""
    assert f"no nvqos answers at {machine.path}" in done.stderr and "sudo systemctl start nvqos" in done.stderr
    done = ask(machine, verb, "--json")
    assert done.returncode == 5 and json.loads(done.stdout)["error"]["message"].startswith("no nvqos answers")
    # An nvqos that was killed leaves its socket behind.
    machine.start("--quiet")
    machine.nvqos.kill()
    machine.nvqos.wait(PATIENCE_S)
    assert machine.path.exists() and ask(machine, verb).returncode == 5


@contextlib.contextmanager
def answers(path, line):
    """Listens at a path, and gives each request the same answer."""
    with socket.socket(socket.AF_UNIX) as listener:
        path.parent.mkdir(parents=True, exist_ok=True)
        listener.bind(str(path))
        listener.listen()

        def answer():
            with contextlib.suppress(OSError):  # it ends with the listener
                while True:
                    client, _ = listener.accept()
                    with client:
                        client.recv(4096)
                        client.sendall(f"ok {line}\n".encode())
        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_S)


@pytest.mark.parametrize("verb", ("status", "list"))
@pytest.mark.parametrize("line", ('{}', '[]', '[{"name": "a"}]', '5', '{"epochs": [{"gpu": 0}], "notes": [], "left_out": [], "own": [{}]}',
                                  '{"epochs": [{"gpu": 0, "tenants": [{"kept": true, "why_not": null}]}], "notes": [], "left_out": []}',
                                  'no JSON'))
def test_an_answer_of_another_version_is_named(machine, verb, line):
    with answers(machine.path, line):
        done = ask(machine, verb)
    assert done.returncode == 5 and done.stdout == ""
    assert "the answer to '" in done.stderr and "is the nvqos that runs of another version?" in done.stderr


@pytest.mark.parametrize("words, sentence", (
    (("statsu",), "did you mean 'status'?"),
    (("status", "4711=share:30%"), "'status' does not take"),
    (("list", "--dry-run"), "there is no option --dry-run"),
))
def test_usage_of_commands(machine, words, sentence):
    done = machine.run(*words)
    assert done.returncode == 1 and sentence in done.stderr


def test_help_and_completion_have_the_commands(machine):
    text = machine.run("--help").stdout
    assert "Commands:" in text and "status" in text
    for verb in ("status", "list"):
        assert machine.run("help", verb).stdout == machine.run(verb, "--help").stdout
        assert "--socket" in machine.run(verb, "--help").stdout
        assert verb in [line.split("\t")[0] for line in machine.run("__complete", verb[:2]).stdout.splitlines()]
        assert {line.split("\t")[0] for line in machine.run("__complete", verb, "--").stdout.splitlines()} == {
            "--socket", "--json", "--help", "--version"}
