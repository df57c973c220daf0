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


# --- a tenant of several holders ---

def test_a_tenant_that_several_join_ends_with_the_last(kept):
    one, two = kept.process(), kept.process()
    join = "join claim:7f3a share:30%"
    assert kept.ask(f"{join} pid={one.pid} holder={one.pid}") == "ok"
    assert kept.ask(f"{join} pid={two.pid} holder={two.pid}") == "ok"
    assert comes_true(lambda: kept.timeslice(one.pid) != FIRST_US and kept.timeslice(two.pid) != FIRST_US)
    (held,) = kept.list()
    assert (held["holder"], held["holders"], held["pids"]) == (one.pid, [one.pid, two.pid], sorted([one.pid, two.pid]))
    one.kill()
    one.wait()
    assert comes_true(lambda: kept.list()[0]["holders"] == [two.pid])
    # It has not been promised twice.
    three = kept.process()
    assert kept.ask(f"hold other share:60% pid={three.pid}") == "ok"
    two.kill()
    two.wait()
    assert comes_true(lambda: kept.names() == ["other"])


def test_who_may_join(kept):
    one, two, three = (kept.process(gpu=False) for _ in range(3))
    assert kept.ask(f"join a share:30% pid={one.pid}").startswith("error 'join' takes a holder=P")
    assert kept.ask(f"join a share:30% pid={one.pid} holder={one.pid}") == "ok"
    assert kept.ask(f"hold b share:30% pid={two.pid} holder={two.pid}") == "ok"
    for line, sentence in ((f"join a share:31% pid={two.pid} holder={two.pid}", "a is held with another goal (share 30 %)"),
                           (f"join a share:30% gpu=0 pid={two.pid} holder={two.pid}", "a is held with another goal"),
                           (f"join a share:30% pid={two.pid} holder=999999999", "holder=999999999: there is no such process"),
                           (f"hold a share:30% pid={one.pid} holder={one.pid}", "a was made by 'join'"),
                           (f"join b share:30% pid={two.pid} holder={two.pid}", "b was made by 'hold'"),
                           (f"join c share:60% pid={three.pid} holder={three.pid}", "shares and speeds add up to 120 %")):
        assert sentence in kept.ask(line), line
    assert [(each["name"], each["holders"]) for each in kept.list()] == [("a", [one.pid]), ("b", [two.pid])]


@pytest.fixture(name="cgroups")
def fixture_cgroups():
    """Yields two new cgroups: their paths and folders."""
    mount = next(folder for folder in map(pathlib.Path, ("/sys/fs/cgroup/pids", "/sys/fs/cgroup/devices", "/sys/fs/cgroup"))
                 if os.access(folder / "cgroup.procs", os.W_OK))
    folders = [mount / f"nvqos-test-{os.getpid()}-{number}" for number in range(2)]
    for folder in folders:
        folder.mkdir()
    try:
        yield [(f"/{folder.name}", folder) for folder in folders]
    finally:
        for folder in folders:
            folder.rmdir()


def test_the_cgroup_of_a_holder_that_has_ended_is_forgotten(kept, cgroups):
    """A container that is started again has another one, and a claim may live for months."""
    one, two = kept.process(gpu=False), kept.process(gpu=False)
    (first, _), (second, _) = cgroups
    assert kept.ask(f"join claim:1 cap:50% cgroup={first} cgroup={second} holder={one.pid}") == "ok"
    assert kept.ask(f"join claim:1 cap:50% cgroup={second} holder={two.pid}") == "ok"
    assert kept.list()[0]["cgroups"] == [first, second]
    one.kill()
    one.wait()
    assert comes_true(lambda: kept.list()[0]["holders"] == [two.pid])
    assert kept.list()[0]["cgroups"] == [second]


# --- after a restart ---

def saved(machine):
    return machine.path.with_name("nvqos.sock.tenants")


def end(machine, how=signal.SIGTERM):
    machine.nvqos.send_signal(how)
    machine.nvqos.wait(PATIENCE_S)


@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGTERM))
def test_tenants_whose_holders_live_are_held_again(kept, how):
    one, two, three, gone = (kept.process() for _ in range(4))
    shell = kept.process("sh", "-c", f"sleep 1000 & echo $! > {kept.folder}/child; wait", gpu=False)
    assert comes_true(lambda: (kept.folder / "child").exists() and (kept.folder / "child").read_text())
    child = int((kept.folder / "child").read_text())
    assert kept.ask(f"hold job:1 share:12.5%,cap:60% gpu=0 pid={one.pid} holder={one.pid} gang=off") == "ok"
    assert kept.ask(f"join claim:2 cap:40% pid={two.pid} holder={two.pid}") == "ok"
    assert kept.ask(f"join claim:2 cap:40% pid={shell.pid} holder={gone.pid}") == "ok"
    assert kept.ask(f"hold job:3 share:20% pid={three.pid} holder={gone.pid}") == "ok"
    assert kept.ask(f"hold free share:20% pid={three.pid}") == "ok"
    before = [each for each in kept.list() if each["name"] in ("job:1", "claim:2")]
    assert saved(kept).stat().st_mode & 0o777 == 0o600
    end(kept, how)
    assert comes_true(lambda: kept.timeslice(one.pid) == FIRST_US)
    gone.kill()
    gone.wait()
    try:
        kept.start("--quiet")
        assert comes_true(lambda: kept.names() == ["job:1", "claim:2"])
        assert comes_true(lambda: kept.timeslice(one.pid) != FIRST_US)
        job, claim = kept.list()
        assert [(each["goal"], each["gpus"], each["cgroups"]) for each in (job, claim)] == [
            (each["goal"], each["gpus"], each["cgroups"]) for each in before]
        assert job["pids"] == [one.pid] and claim["holders"] == [two.pid] and {two.pid, shell.pid} <= set(claim["pids"])
        assert comes_true(lambda: "2 tenants of the nvqos before this one are held again" in kept.errors())
        # Its program may ask again, and a request for another goal is refused.
        assert kept.ask(f"hold job:1 share:12.5%,cap:60% gpu=0 pid={one.pid} holder={one.pid}") == "ok"
        assert kept.ask(f"hold job:1 share:13% gpu=0 pid={one.pid} holder={one.pid}").startswith("error job:1 is held with another")
        assert "is held with gang=off" in kept.ask(f"hold job:1 share:12.5%,cap:60% gpu=0 pid={one.pid} holder={one.pid} gang=on")
        kept.ask("release job:1")
        kept.ask("release claim:2")
        assert not saved(kept).exists()
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_tenant_that_does_not_fit_any_more_is_not_held_again(kept):
    one, two = kept.process(), kept.process()
    assert kept.ask(f"hold big share:60% pid={one.pid} holder={one.pid}") == "ok"
    assert kept.ask(f"hold small share:20% pid={two.pid} holder={two.pid}") == "ok"
    end(kept)
    kept.start("--quiet", "command:none=share:50%")
    assert comes_true(lambda: kept.names() == ["small"])
    assert comes_true(lambda: "big is not held again after the restart: GPU 0: shares and speeds add up to 110 %" in kept.errors())
    # It has been forgotten.
    end(kept)
    kept.start("--quiet")
    assert comes_true(lambda: kept.names() == ["small"])


def damaged(text):
    yield "", False
    yield text.replace("\nend\n", "\n"), True
    yield text.replace("share:30%", "fast"), True
    yield text.replace("tenant hold", "tenant keep"), True
    yield text.replace("tenant hold a", "tenant hold ä"), True
    yield text.replace(" gang", " gangs"), True
    yield text.replace("holder ", "holder x"), True
    yield "cgroup /x\nend\n", True
    yield text.replace("boot ", "boot 0"), False


def test_a_damaged_file_holds_nobody(kept):
    one = kept.process()
    assert kept.ask(f"hold a share:30% pid={one.pid} holder={one.pid}") == "ok"
    end(kept)
    text = saved(kept).read_text(encoding="utf-8")
    for wrong, is_said in damaged(text):
        saved(kept).write_text(wrong, encoding="utf-8")
        said = kept.errors().count("are not held again")
        kept.start("--quiet")
        assert kept.list() == [], wrong
        assert kept.errors().count("are not held again") == said + is_said, wrong
        end(kept)
    saved(kept).write_text(text, encoding="utf-8")
    os.chown(saved(kept), 65534, 65534)
    kept.start("--quiet")
    assert kept.list() == [], "another user has written it"


# --- GPUs and what they can still promise ---

def gpus_of(machine):
    answer = machine.ask("gpus")
    assert answer.startswith("ok "), answer
    found = json.loads(answer[3:])
    jsonschema.validate(found, json.loads((SCHEMAS / "nvqos.gpus.json").read_text(encoding="utf-8")), jsonschema.Draft202012Validator)
    return found


@pytest.mark.parametrize("goal", ("cap:50%", "latency", "share:41.7%", "timeslice:500us"))
@pytest.mark.parametrize("others", (0, 2))
def test_what_can_still_be_promised_is_promised(kept, goal, others):
    one, two, three = kept.process(), kept.process(gpu=False), kept.process(gpu=False)
    for _ in range(others):
        kept.process()
    assert kept.ask(f"hold a {goal} pid={one.pid}").split()[0] == "ok"

    def tasks():
        return [each["tasks"] for epoch in json.loads(kept.ask("status")[3:])["epochs"] for each in epoch["tenants"]]
    assert comes_true(lambda: tasks() == [1, others])
    (gpu,) = gpus_of(kept)
    assert gpu["gpu"] == 0 and gpu["up"] and gpu["why"] is None
    assert gpu["promised_percent"] == (41.7 if goal.startswith("share") else 0)
    possible = gpu["possible_percent"]
    assert 40 < possible < 100
    assert kept.ask(f"hold b share:{possible + 0.002:.3f}% pid={two.pid}").startswith("refused ")
    assert kept.ask(f"hold b share:{possible:.3f}% pid={two.pid}").split()[0] == "ok"
    (gpu,) = gpus_of(kept)
    assert gpu["possible_percent"] < 0.3
    assert kept.ask(f"hold c share:{gpu['possible_percent'] + 0.5:.3f}% pid={three.pid}").startswith("refused ")


def test_a_gpu_that_is_left_out_promises_nothing(machine, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    machine.start("--quiet", "others=share:10%")
    watcher = Watcher(machine)
    assert [(each["gpu"], each["up"], each["promised_percent"]) for each in gpus_of(machine)] == [(0, True, 10), (1, True, 10)]
    (machine.folder / "lost.1").touch()
    # What one GPU does not answer is found when it is asked for something.
    assert machine.ask(f"hold b share:10% pid={machine.process(gpu=False).pid}") == "ok"
    assert "has fallen off the bus" in watcher.comes(change="gpu", gpu=1, up=False)["why"]
    first, second = gpus_of(machine)
    assert first["up"] and first["possible_percent"] > 70
    assert (second["up"], second["possible_percent"]) == (False, None) and "has fallen off the bus" in second["why"]
    (machine.folder / "lost.1").unlink()
    assert watcher.comes(change="gpu", gpu=1, up=True)["why"] is None
    watcher.close()


# --- a stream of what changes ---

CHANGE = json.loads((SCHEMAS / "nvqos.change.json").read_text(encoding="utf-8"))


class Watcher:
    def __init__(self, machine):
        self.client = machine.connect()
        self.client.sendall(b"watch\n")
        self.lines = self.client.makefile(encoding="utf-8")
        assert self.lines.readline() == "ok\n"

    def next(self):
        change = json.loads(self.lines.readline())
        jsonschema.validate(change, CHANGE, jsonschema.Draft202012Validator)
        return change

    def comes(self, **wanted):
        """Reads until such a change; the connection has a time-out."""
        while True:
            change = self.next()
            if wanted.items() <= change.items():
                return change

    def close(self):
        self.lines.close()
        self.client.close()


def test_a_watcher_is_told_of_tenants_and_of_their_goals(kept):
    one, two = kept.process(), kept.process()
    watcher = Watcher(kept)
    # The end of its requests is not the end of its interest: `echo watch | nc -N -U`.
    watcher.client.shutdown(socket.SHUT_WR)
    assert kept.ask(f"hold a share:30% gpu=0 pid={one.pid}") == "ok"
    assert watcher.next() == {"change": "held", "name": "a", "goal": "share 30 %", "gpus": [0]}
    watcher.comes(change="kept", gpu=0, name="a", kept=True)
    assert kept.ask(f"hold b share:90% pid={two.pid}").startswith("refused ")
    kept.ask("release a")
    assert watcher.comes(name="a", change="released")
    assert kept.ask(f"join c cap:90% pid={two.pid} holder={two.pid}") == "ok"
    watcher.comes(change="held", name="c", gpus=[])
    two.kill()
    two.wait()
    watcher.comes(change="ended", name="c")
    watcher.close()


def test_watchers_are_few_and_stay_among_many_connections(kept):
    watchers = [Watcher(kept) for _ in range(16)]
    assert kept.ask("watch").startswith("error 16 connections watch already")
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(kept.connect())
        assert kept.answers()
    one = kept.process()
    assert kept.ask(f"hold a cap:90% pid={one.pid}") == "ok"
    for watcher in watchers:
        watcher.comes(change="held", name="a")
        watcher.close()
    # Their ends are seen.
    assert comes_true(lambda: kept.ask("watch") == "ok")


def test_a_watcher_is_told_that_the_file_has_other_goals(machine):
    goals = machine.folder / "goals.toml"
    goals.write_text('[[tenant]]\ncommand = "none"\ngoal = "cap:50%"\n', encoding="utf-8")
    machine.start("--quiet", "--file", goals)
    watcher = Watcher(machine)
    machine.nvqos.send_signal(signal.SIGHUP)  # with the same goals
    goals.write_text('[[tenant]]\ncommand = "none"\ngoal = "share:50%"\n', encoding="utf-8")
    machine.nvqos.send_signal(signal.SIGHUP)
    watcher.comes(change="own")
    assert gpus_of(machine)[0]["promised_percent"] == 50
    watcher.close()
