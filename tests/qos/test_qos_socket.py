# SPDX-License-Identifier: MIT OR GPL-2.0
"""Goals that are asked for over nvqos' socket: the program over the stand-in for the driver, with real processes as tasks.
Takes root, as nvqos does."""

import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import socket
import stat
import subprocess

import jsonschema
import pytest
from qos_machine import FIRST_US, SCHEMAS
from users import as_user
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]


def test_a_goal_is_held_and_released(kept):
    one, two = kept.process(), kept.process()
    assert kept.ask(f"hold job:17.0 share:30% pid={one.pid} gpu=0") == "ok"
    assert comes_true(lambda: kept.timeslice(one.pid) != FIRST_US and kept.timeslice(two.pid) != FIRST_US)
    held = kept.list()
    assert [(each["name"], each["goal"], each["gpus"], each["pids"]) for each in held] == [
        ("job:17.0", "share 30 %", [0], [one.pid])]
    assert comes_true(lambda: kept.list()[0]["got"][0]["waits"] >= 100)
    assert comes_true(lambda: kept.list()[0]["got"][0]["percent"] is not None)
    sentence = (r"ok asked share 30 %, got \d+\.\d % of GPU 0 \([\d.]+ m?s in [\d.]+ s\), "
                r"waits between turns p99 (\d\.\d\d|\d\d\.\d|\d{3}) (us|ms)")
    assert re.fullmatch(sentence, kept.ask("report job:17.0"))
    words = re.fullmatch(r"ok gpu=0 asked=share:30% got=(\d+\.\d)% used=(\d+\.\d)s "
                         r"kept=(\d+\.\d)/(\d+\.\d)s(?: unseen=[\d.]+s)?", kept.ask("report job:17.0 words"))
    got, used, was_kept, time = map(float, words.groups())
    assert 0 < got < 100 and 0 < used < time and was_kept <= time
    assert re.fullmatch(sentence, kept.ask("release job:17.0"))
    assert kept.timeslice(one.pid) == kept.timeslice(two.pid) == FIRST_US and kept.list() == []
    assert kept.ask("release job:17.0").startswith("error there is no tenant job:17.0")


@pytest.mark.parametrize("goal", ("share:30%", "cap:20%", "latency"))
def test_a_short_hold_has_times_and_no_percentage(kept, goal):
    one = kept.process()
    for again in range(5):
        assert kept.ask(f"hold a {goal} pid={one.pid}") == "ok"
        if again:  # once without any time between
            assert comes_true(lambda: kept.list()[0]["got"][0]["used_s"] > 0)
        each = kept.list()[0]["got"]
        answer = kept.ask("release a")
        assert each == [] or each[0]["percent"] is None or each[0]["time_s"] >= 1
        if (times := re.search(r"got ([\d.]+) (ns|us|ms|s) of GPU 0 in ([\d.]+) (ns|us|ms|s), too little time for a percentage", answer)):
            used, total = (float(times[n]) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[times[n + 1]] for n in (1, 3))
            assert 0 < used <= total < 1.1
        else:
            assert "no work on a GPU" in answer or float(re.search(r"got ([\d.]+) % of", answer)[1]) <= 100


def test_a_tenant_that_has_not_used_the_gpu(kept):
    idle = kept.process(gpu=False)
    assert kept.ask(f"hold a latency pid={idle.pid}") == "ok"
    assert kept.ask("release a") == "ok asked latency, no work on a GPU"


def test_a_recorder_gets_marks(kept):
    one = kept.process()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as recorder:
        recorder.bind(f"\0nvdebug-recorder-{os.getpid()}".encode())
        recorder.settimeout(PATIENCE_S)
        marks = []

        def comes(text):
            while text not in marks:
                time, gpu, mark = recorder.recv(4096).decode().split(" ", 2)
                assert int(time) > 0
                marks.append(f"{gpu} {mark}")
            return True

        assert kept.ask(f"hold job:17.0 cap:30% pid={one.pid}") == "ok"
        assert comes("gpu0 nvqos: job:17.0: cap 30 %") and comes("gpu0 nvqos: job:17.0: cap 30 %: first pause")
        kept.ask("release job:17.0")
        assert comes("gpu0 nvqos: job:17.0: cap 30 % ends")
        assert kept.ask(f"hold a latency pid={one.pid}") == "ok"
        assert comes("gpu0 nvqos: a: latency")
        kept.nvqos.send_signal(signal.SIGTERM)
        assert comes("gpu0 nvqos: a: latency ends")
        assert kept.nvqos.wait(PATIENCE_S) in (0, 4)


def test_a_fixed_timeslice(kept):
    one = kept.process()
    assert kept.ask(f"hold a timeslice:500us pid={one.pid}") == "ok"
    assert comes_true(lambda: kept.timeslice(one.pid) == 500)
    kept.ask("release a")
    assert kept.timeslice(one.pid) == FIRST_US


def test_what_cannot_be_kept_is_refused_with_numbers_and_names(kept):
    one, two = kept.process(), kept.process()
    assert kept.ask(f"hold job:1 share:60% pid={one.pid}") == "ok"
    assert comes_true(lambda: kept.timeslice(one.pid) != FIRST_US)
    answer = kept.ask(f"hold job:2 share:45% pid={two.pid}")
    assert answer.startswith("refused GPU 0: shares and speeds add up to 105 %, and at most 99.")
    assert "job:1 (share 60 %), job:2 (share 45 %)" in answer
    assert kept.names() == ["job:1"]
    assert kept.ask(f"hold job:2 share:45% pid={two.pid}") == answer
    said = "nvqos: job:2 is refused: " + answer.removeprefix("refused ")
    assert kept.errors().splitlines().count(said) == 1, "a hook's stderr may go nowhere, so nvqos has the sentence in its log, once"
    assert kept.ask(f"hold job:2 share:30% pid={two.pid}") == "ok"
    assert kept.names() == ["job:1", "job:2"]


def test_a_name_that_is_held_already(kept):
    one, two, three = (kept.process() for _ in range(3))
    hold = f"hold a share:30% holder={three.pid}"
    assert kept.ask(f"{hold} pid={one.pid}") == "ok"
    assert kept.ask(f"{hold} pid={two.pid}") == "ok"
    assert kept.list()[0]["pids"] == sorted([one.pid, two.pid])
    assert kept.ask(f"hold a share:31% holder={three.pid} pid={one.pid}").startswith("error a is held with another goal")
    assert kept.ask(f"hold a share:30% holder={two.pid} pid={one.pid}").startswith("error a is held for another holder")
    assert kept.ask(f"{hold} pid={one.pid} gpu=0").startswith("error a is held with another goal")


@pytest.mark.parametrize("words, sentence", (
    ("pid=999999999", "there is no such process"),
    ("pid={} holder=999999999", "holder=999999999: there is no such process"),
    ("pid={} gpu=7", "gpu=7: nvqos keeps goals on no such GPU"),
    ("pid={} gpu=GPU-0", "no such GPU"),
    ("", "which processes are the tenant?"),
))
def test_what_is_not_there_is_an_error(kept, words, sentence):
    answer = kept.ask(f"hold a share:30% {words.format(os.getpid())}".strip())
    assert answer.startswith("error ") and sentence in answer and kept.list() == []


def test_it_descends_also_from_a_parent_that_has_ended(kept):
    """The process uses the GPU only after that."""
    shell = kept.process("sh", "-c", f"sleep 1000 & echo $! > {kept.folder}/child; wait", gpu=False)
    assert comes_true(lambda: (kept.folder / "child").exists() and (kept.folder / "child").read_text())
    child = int((kept.folder / "child").read_text())
    try:
        assert kept.ask(f"hold a share:30% pid={shell.pid} holder={os.getpid()}") == "ok"
        assert comes_true(lambda: child in kept.list()[0]["pids"])
        shell.kill()
        shell.wait(PATIENCE_S)
        assert comes_true(lambda: kept.list()[0]["pids"] == [child])
        kept.use_gpu(child)
        assert comes_true(lambda: kept.list()[0]["got"][0]["used_s"] > 0)
    finally:
        os.kill(child, signal.SIGKILL)


def test_the_end_of_its_holder_releases_a_tenant(kept):
    one, holder = kept.process(), kept.process(gpu=False)
    assert kept.ask(f"hold a share:30% pid={one.pid} holder={holder.pid}") == "ok"
    assert comes_true(lambda: kept.timeslice(one.pid) != FIRST_US)
    holder.kill()
    # It is a zombie.
    assert comes_true(lambda: kept.timeslice(one.pid) == FIRST_US)
    assert kept.list() == []


def test_the_end_of_its_processes(kept):
    """Without a holder it is released; a holder can still ask what it got."""
    one, two, holder = kept.process(), kept.process(), kept.process(gpu=False)
    assert kept.ask(f"hold a share:30% pid={one.pid}") == "ok"
    assert kept.ask(f"hold b share:30% pid={two.pid} holder={holder.pid}") == "ok"
    assert comes_true(lambda: all(each["got"][0]["used_s"] > 0 for each in kept.list()))
    one.kill()
    two.kill()
    one.wait()
    two.wait()
    assert comes_true(lambda: kept.names() == ["b"])
    assert " of GPU 0 " in kept.ask("release b")


@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGTERM))
def test_the_end_of_nvqos_leaves_nothing_changed(kept, how):
    one, two = kept.process(), kept.process()
    for again in range(2):
        assert kept.ask(f"hold a share:30%,cap:60% pid={one.pid}") == "ok", again
        assert comes_true(lambda: kept.timeslice(one.pid) != FIRST_US and kept.timeslice(two.pid) != FIRST_US)
        kept.nvqos.send_signal(how)
        kept.nvqos.wait(PATIENCE_S)
        assert comes_true(lambda: kept.timeslice(one.pid) == kept.timeslice(two.pid) == FIRST_US and kept.is_enabled(one.pid))
        assert kept.path.exists() == (how == signal.SIGKILL)
        # It finds what the one before has left there, and has no tenants.
        kept.start("--quiet")
        assert kept.list() == []


def test_another_nvqos_is_not_replaced(kept):
    assert kept.start("--quiet", wait=False).wait(PATIENCE_S) == 2
    assert f"another nvqos answers at {kept.path}" in kept.errors()
    assert kept.answers()


def test_where_it_listens(kept):
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600 and kept.path.stat().st_uid == 0
    assert stat.S_IMODE(kept.path.parent.stat().st_mode) == 0o755


def test_others_than_root_are_refused(kept):
    script = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.makefile().readline(), end='')"
    kept.folder.chmod(0o755)

    def ask():
        return subprocess.run([*as_user(kept.folder), "/usr/bin/python3", "-c", script, kept.path], capture_output=True, text=True,
                              check=False, timeout=PATIENCE_S)
    assert "PermissionError" in ask().stderr
    # Also with other rights on the socket.
    kept.path.chmod(0o666)
    assert ask().stdout == "error requests are taken from root alone\n"


def test_a_folder_in_which_others_may_write_is_refused(machine):
    (machine.folder / "run").mkdir()
    (machine.folder / "run").chmod(0o777)
    assert machine.start("--quiet", wait=False).wait(PATIENCE_S) == 2
    assert "others than root may write to" in machine.errors()


def test_what_is_no_socket_is_not_removed(machine):
    (machine.folder / "run").mkdir()
    machine.path.write_text("of value", encoding="utf-8")
    assert machine.start("--quiet", wait=False).wait(PATIENCE_S) == 2
    assert "is no socket" in machine.errors() and machine.path.read_text(encoding="utf-8") == "of value"


def test_a_thousand_idle_connections_block_nobody(kept):
    one = kept.process()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(kept.connect()) for _ in range(1000)]
        for client in clients[::2]:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(b"hold a sha")
        assert kept.ask(f"hold a share:30% pid={one.pid}") == "ok"
        assert comes_true(lambda: kept.timeslice(one.pid) != FIRST_US)
        status = pathlib.Path(f"/proc/{kept.nvqos.pid}/fd")
        assert len(list(status.iterdir())) < 200


def test_several_requests_on_one_connection(kept):
    one = kept.process()
    with kept.connect() as client:
        lines = client.makefile(encoding="utf-8")
        client.sendall(f"hold a share:30% pid={one.pid}\nlist\nrel".encode())
        assert lines.readline() == "ok\n" and '"name":"a"' in lines.readline()
        client.sendall(b"ease a\n")
        assert lines.readline().startswith("ok asked share 30 %")
        # What was sent before its end is answered.
        client.sendall(b"list\nlist\n")
        client.shutdown(socket.SHUT_WR)
        assert lines.read() == "ok []\nok []\n"


@pytest.mark.parametrize("line, sentence", (
    (b"\n", "words are separated by one blank"),
    (b"list  \n", "words are separated by one blank"),
    (b"holt a b\n", "'holt' is no request"),
    (b"list a\n", "'list' has other words"),
    (b"list\0\n", "control characters"),
    (b"release \xff\n", "bytes that are not UTF-8"),
    (b"release " + b"a" * 129 + b"\n", "is no name"),
    (b"release " + b"a" * 5000, "longer than 4096 bytes"),
    (b"hold a fast pid=1\n", "'fast' is no goal"),
))
def test_lines_that_make_no_sense(kept, line, sentence):
    answer = kept.ask_bytes(line)
    assert answer.startswith("error ") and sentence in answer
    assert kept.answers()


def test_tenants_are_in_its_lines_and_table(machine):
    nvqos = machine.start("--json")
    one = machine.process()
    assert machine.ask(f"hold job:1 timeslice:700us pid={one.pid}") == "ok"
    schema = json.loads((SCHEMAS / "nvqos.epoch.json").read_text(encoding="utf-8"))
    for line in nvqos.stdout:
        document = json.loads(line)
        jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
        tenants = document["data"]["tenants"]
        if tenants[0]["name"] == "job:1" and tenants[0]["tasks"] == 1:
            break
    assert tenants[0]["aim"] == "timeslice" and [each["name"] for each in tenants] == ["job:1", "others"]
    nvqos.kill()
    nvqos.wait(PATIENCE_S)
    table = machine.start("--interval", "200ms", "command:none=share:20%")
    assert machine.ask(f"hold job:2 share:30% pid={one.pid}") == "ok"
    for line in table.stdout:
        if b"job:2" in line:
            break
    assert b"share 30 %" in line
    answer = machine.ask(f"hold command:none share:20% pid={one.pid}")
    assert answer.startswith("error command:none is a tenant of nvqos' own goals")


# Its first thread ends, and another one goes on.
WITHOUT_ITS_FIRST_THREAD = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
input()
ctypes.PyDLL(None).pthread_exit(None)
"""


def test_a_process_without_its_first_thread_stays_capped(kept):
    one = subprocess.Popen(["/usr/bin/python3", "-c", WITHOUT_ITS_FIRST_THREAD], stdin=subprocess.PIPE)
    kept.started.append(one)
    kept.use_gpu(one.pid)
    two = kept.process(gpu=False)
    assert kept.ask(f"hold a cap:20% pid={one.pid}") == "ok"
    assert kept.ask(f"hold b share:10% pid={two.pid} holder={one.pid}") == "ok"
    assert comes_true(lambda: ("channels", 0) in kept.changes(one.pid))
    one.stdin.write(b"\n")
    one.stdin.close()

    def state():
        return pathlib.Path(f"/proc/{one.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    assert comes_true(lambda: state() == "Z")
    before = len(kept.changes(one.pid))
    assert comes_true(lambda: len(kept.changes(one.pid)) >= before + 20)
    assert kept.names() == ["a", "b"]
    one.kill()
    assert comes_true(lambda: kept.names() == [])
