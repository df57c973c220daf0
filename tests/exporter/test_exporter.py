# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvdebug-exporter on a capture and on folders: its metrics, its connections, and its log."""

import concurrent.futures
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest
from building import ROOT
from ctl import exporter, write_gpu
from exporter_node import CAPTURE, answers_without_gpu, children, has_no_rights, running
from surroundings import HIDDEN, hidden
from throwaway_root import needs_root
from waiting import PATIENCE_S, free_port, until

TASK = re.compile(r'^(nvdebug_task_\w+)\{gpu="(\d+)",pid="(\d*)",command="([^"]*)".*\} (\S+)$', re.MULTILINE)


def refused(*words, exit_status=1):
    done = subprocess.run([exporter(), *map(str, words)], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == exit_status and done.stdout == "", done
    return done.stderr


def test_a_capture():
    """A replay of an H100 with two processes, which have 20 channels each."""
    with running(CAPTURE) as node:
        until(lambda: len(node.values("nvdebug_engine_busy_seconds_total")) > 10)
        until(lambda: len(node.values("nvdebug_task_channels")) == 2)  # an answer does not wait for a long look
        text = node.scrape()
        tasks = {(name, command): float(value) for name, _, _, command, value in TASK.findall(text)}
        assert tasks["nvdebug_task_channels", "workload"] == 20
        assert tasks["nvdebug_task_timeslice_seconds", "workload"] == pytest.approx(0.002097152)
        pids = {pid for name, _, pid, _, _ in TASK.findall(text) if name == "nvdebug_task_channels"}
        assert len(pids) == 2
        assert node.values("nvdebug_up") == {'{gpu="0"}': 1}
        lists = node.values("nvdebug_runlist_channels")
        assert lists['{gpu="0",runlist="0"}'] == 17 and len(lists) > 5
        busy = until(lambda: node.values("nvdebug_engine_busy_seconds_total")['{gpu="0",engine="GR0"}'])
        assert until(lambda: node.values("nvdebug_engine_busy_seconds_total")['{gpu="0",engine="GR0"}'] > busy)
        assert 'chip="GH100"' in text and "nvdebug_switch_seconds" not in text
        assert "nvdebug_task_slice_seconds" not in text, "without switches there are no turns"


def test_samples_show_the_task_on_the_engine(tmp_path):
    """Without a record of switches, the task is the TSG that samples show. The folder has the model's words."""
    write_gpu(tmp_path / "gpu0", "h200", "fig7")
    with running(tmp_path, "--rate", "100") as node:
        times = until(lambda: {line: value for line, value in node.values("nvdebug_task_gpu_seconds_total").items()
                               if value})
        assert list(times) == ['{gpu="0",pid="",command="TSG 0:0",task_container="",task_pod="",slurm_job="",slurm_step="",'
                               'task_namespace="",task_pod_name="",task_container_name=""}']


def test_ends_by_a_signal():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with running(CAPTURE) as node:
            assert node.end(number) == (0, "")


def test_a_port_that_is_taken():
    with running(CAPTURE) as node:
        said = refused("--from", CAPTURE, "--listen", f"127.0.0.1:{node.port}", exit_status=2)
        assert f"cannot listen on 127.0.0.1:{node.port}" in said and "--listen" in said
        assert node.scrape(), "the first one goes on"


@pytest.mark.parametrize("words, sentence", (
    (["--listen", "x"], "--listen takes ADDRESS:PORT, not 'x'"),
    (["--listen", "127.0.0.1:0"], "--listen takes ADDRESS:PORT"),
    (["--listen", "127.0.0.1:65536"], "--listen takes ADDRESS:PORT"),
    (["--listen"], "--listen takes a value"),
    (["--rate", "0"], "--rate takes a whole number from 1 to 100, not '0'"),
    (["--rate", "101"], "--rate takes a whole number from 1 to 100"),
    (["--tasks", "-1"], "--tasks takes a whole number from 1 to 10000"),
    (["--loud"], "there is no option --loud"),
    (["more"], "does not take 'more'"),
    (["--from", "/nonexistent"], "/nonexistent"),
    (["--from", CAPTURE, "--listen", "192.0.2.1:9745"], "cannot listen on 192.0.2.1:9745")))
def test_wrong_words(words, sentence):
    said = refused(*words)
    assert said.startswith("nvdebug-exporter: ") and sentence in said and said.count("\n") == 1


EVERY = "every address of this machine, http://localhost:"


@pytest.mark.parametrize("listen, host, shown", (
    (":", "127.0.0.1", EVERY), ("*:", "127.0.0.1", EVERY), (":", "::1", EVERY), ("", "127.0.0.1", EVERY),
    ("[::1]:", "::1", "http://[::1]:"), ("localhost:", "localhost", "http://localhost:"), ("127.0.0.2:", "127.0.0.2", "http://127.0.0.2:"),
    ("0.0.0.0:", "127.0.0.1", "every IPv4 address of this machine, http://localhost:"),
    ("0:", "127.0.0.1", "every IPv4 address of this machine, http://localhost:"),
    ("[::]:", "::1", "every IPv6 address of this machine, http://localhost:")))
@pytest.mark.parametrize("is_service", (False, True))
def test_addresses(listen, host, shown, is_service):
    """Under systemd the log has a line about the unit's IPAddressAllow=, which drops packets of other machines."""
    port = free_port()
    command = 'export INVOCATION_ID=0 SYSTEMD_EXEC_PID=$$; exec "$0" "$@"' if is_service else 'exec "$0" "$@"'
    around = {name: value for name, value in os.environ.items() if name not in ("INVOCATION_ID", "SYSTEMD_EXEC_PID")}
    process = subprocess.Popen(["sh", "-c", command, exporter(), "--from", CAPTURE, "--listen", f"{listen}{port}"],
                               stderr=subprocess.PIPE, text=True, env=around)
    try:
        assert f"nvdebug-exporter: listening on {shown}" in process.stderr.readline()
        connection = http.client.HTTPConnection(host, port, timeout=PATIENCE_S)
        connection.request("GET", "/metrics")
        assert b"nvdebug_up" in connection.getresponse().read()
        process.terminate()
        rest = process.stderr.read()
        assert ("IPAddressAllow=" in rest) == (is_service and shown.startswith("every")), rest
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_the_log_names_a_unit_only_in_one():
    """A shell that a service started inherits its variables, but has another pid."""
    port = free_port()
    process = subprocess.Popen([exporter(), "--from", CAPTURE, "--listen", f":{port}"], stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"INVOCATION_ID": "0", "SYSTEMD_EXEC_PID": "1"})
    assert "listening on every address" in process.stderr.readline()
    process.terminate()
    assert "IPAddressAllow=" not in process.communicate(timeout=PATIENCE_S)[1]


@pytest.mark.parametrize("source, parts", (
    ((), ("/proc/gpu0", "NVIDIA's driver shows none: ")), (("--from", "module"), ("/proc/gpu0", "--from module does not ask NVIDIA's driver"))))
def test_both_ways_to_gpus_are_named(source, parts):
    """A machine without the module and without the driver has two reasons why no GPU is shown."""
    if list(pathlib.Path("/proc").glob("gpu[0-9]*")) or os.path.exists("/dev/nvidiactl"):
        pytest.skip("GPUs are here")
    port = free_port()
    said = answers_without_gpu([exporter(), *source, "--listen", f"127.0.0.1:{port}"], port)
    assert all(part in said for part in parts) and "nvdebugctl doctor" in said, said


@pytest.mark.parametrize("words", ("[::1:9745", "::1:9745", "[]:9745", "a:b:9745", ":", "[::1]"))
def test_wrong_addresses_are_refused(words):
    assert "--listen takes ADDRESS:PORT" in refused("--listen", words)


def ask(node, method, path, headers=()):
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=PATIENCE_S)
    connection.request(method, path, headers=dict(headers))
    answer = connection.getresponse()
    return answer, answer.read()


def test_pages():
    with running(CAPTURE) as node:
        for path, kind, part in (("/", "text/html", b'href="/metrics"'), ("/healthz", "text/plain", b"ok"),
                                 ("/metrics", "text/plain", b"nvdebug_exporter_build_info{version="),
                                 ("/metrics?x=1", "text/plain", b"nvdebug_gpus 1\n")):
            answer, body = ask(node, "GET", path)
            assert answer.status == 200 and answer.headers["Content-Type"].startswith(kind) and part in body
            head, nothing = ask(node, "HEAD", path)
            assert head.status == 200 and not nothing and int(head.headers["Content-Length"]) > 0
        assert ask(node, "GET", "/other")[0].status == 404
        assert ask(node, "POST", "/metrics")[0].status == 405
        packed, body = ask(node, "GET", "/metrics", {"Accept-Encoding": "gzip"}.items())
        assert packed.headers["Content-Encoding"] == "gzip" and b"nvdebug_up" in gzip.decompress(body)
        assert packed.headers["Vary"] == "Accept-Encoding"
        for refused_by in ("gzip;q=0", "identity", "br, *;q=0", "deflate", "gzip;q=0.5, identity"):
            for path in ("/metrics", "/", "/healthz", "/other"):
                answer, body = ask(node, "GET", path, {"Accept-Encoding": refused_by}.items())
                assert "Content-Encoding" not in answer.headers and body.decode(), refused_by
                assert answer.headers["Vary"] == "Accept-Encoding"
        assert not re.search(r"^(?!nvdebug_|# |\Z)", node.scrape(), re.MULTILINE), "families of nobody else"


@pytest.mark.parametrize("sent", (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics\r\n\r\n", b"\0" * 20000, b"G" * 9000,
                                  b"GET / SMTP/1.0\r\n\r\n", b"GET /" + b"/" * 4000 + b" HTTP/1.1\r\n\r\n"))
def test_garbage(sent):
    with running(CAPTURE) as node:
        with socket.create_connection(("127.0.0.1", node.port), timeout=PATIENCE_S) as connection:
            connection.sendall(sent)
            with contextlib.suppress(ConnectionError):
                assert connection.recv(4096).startswith(b"HTTP/1.1 4")
        assert "nvdebug_up" in node.scrape()


@pytest.mark.parametrize("count", (20, 400, 700))
def test_slow_connections_keep_nobody_out(count):
    with running(CAPTURE) as node, contextlib.ExitStack() as slow:
        for _ in range(count):
            connection = slow.enter_context(socket.create_connection(("127.0.0.1", node.port), timeout=PATIENCE_S))
            connection.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        assert "nvdebug_up" in node.scrape()


def test_slow_connections_make_room_if_descriptors_are_few():
    """The oldest connections are closed for a request at once. Otherwise it would wait until the limit of time closes them
    all."""
    with running(CAPTURE, program=["prlimit", "--nofile=32", exporter()]) as node, contextlib.ExitStack() as slow:
        connections = [slow.enter_context(socket.create_connection(("127.0.0.1", node.port), timeout=PATIENCE_S)) for _ in range(30)]
        assert ask(node, "GET", "/healthz")[0].status == 200
        assert connections[0].recv(1) == b""
        connections[20].setblocking(False)
        with pytest.raises(BlockingIOError):
            connections[20].recv(1)


def test_the_process_that_reads_the_network_has_no_rights():
    with running(CAPTURE) as node:
        node.scrape()
        front, = children(node)
        has_no_rights(front, is_nobody=os.geteuid() == 0)
        ours = [os.readlink(f"/proc/{node.process.pid}/fd/{number}")
                for number in os.listdir(f"/proc/{node.process.pid}/fd")]
        listening = {line.split()[9] for name in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()
                     if line.split()[3] == "0A"}
        assert not {f"socket:[{inode}]" for inode in listening} & set(ours), "the reader does not listen"


def test_both_processes_end_together():
    with running(CAPTURE) as node:
        front, = children(node)
        os.kill(front, signal.SIGKILL)
        said = node.process.communicate(timeout=PATIENCE_S)[1]
        assert node.process.returncode == 5 and "has ended" in said
    with running(CAPTURE) as node:
        front, = children(node)
        node.process.kill()
        until(lambda: not pathlib.Path(f"/proc/{front}").exists()
              or pathlib.Path(f"/proc/{front}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z")


def test_closed_streams_and_inherited_files():
    """Descriptors 0 to 2 do not become sockets, and inherited descriptors are closed."""
    port = free_port()
    read, write = os.pipe()
    command = f'exec "$0" --from "$1" --listen 127.0.0.1:{port} <&- >&- 2>&- {write}>&{write}'
    with subprocess.Popen(["bash", "-c", command, exporter(), CAPTURE], pass_fds=[write]) as process:
        try:
            def page():
                with contextlib.suppress(OSError):
                    return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S).read()
            assert b"nvdebug_up" in until(page)
            front, = map(int, pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
            for pid in (process.pid, front):
                for stream in range(3):
                    assert os.readlink(f"/proc/{pid}/fd/{stream}") == "/dev/null"
            until(lambda: len(os.listdir(f"/proc/{front}/fd")) == 5)  # the connection is closed a little later
        finally:
            process.kill()
            os.close(read)
            os.close(write)


@pytest.mark.parametrize("source", ((), ("--from", "module"), ("--from", "driver"), ("--from", "/proc")))
@pytest.mark.parametrize("where", HIDDEN)
def test_what_hides_gpus_comes_first(tmp_path, where, source):
    needs_root()
    port = free_port()
    said = answers_without_gpu(hidden(where, tmp_path, exporter(), *source, "--listen", f"127.0.0.1:{port}"), port)
    assert said.startswith(f"nvdebug-exporter: {HIDDEN[where][1]}") and said.count(HIDDEN[where][1]) == 1


def test_a_parent_may_ignore_its_children(tmp_path):
    port = free_port()
    answers_without_gpu([exporter(), "--from", tmp_path, "--listen", f"127.0.0.1:{port}"], port,
                        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))


@pytest.mark.parametrize("option", ("--help", "--version"))
def test_output_that_cannot_be_written(option):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([exporter(), option], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 5 and "cannot write" in done.stderr


def test_no_gpu_is_a_state(tmp_path):
    """The exporter runs without a GPU, and finds a GPU that appears later."""
    port = free_port()
    with subprocess.Popen([exporter(), "--from", tmp_path, "--listen", f"127.0.0.1:{port}", "--rate", "100"], stderr=subprocess.PIPE,
                          text=True) as process:
        try:
            assert "no GPU is found" in process.stderr.readline()
            assert "listening on" in process.stderr.readline()

            def page():
                return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S).read().decode()
            assert "nvdebug_gpus 0\n" in page() and "nvdebug_up{" not in page()
            write_gpu(tmp_path / "new", "h200", "fig7")
            (tmp_path / "new").rename(tmp_path / "gpu0")
            until(lambda: 'nvdebug_up{gpu="0"} 1' in page())
        finally:
            process.kill()


def test_help_and_version():
    for option in ("--help", "-h", "--version", "-V"):
        done = subprocess.run([exporter(), option], capture_output=True, text=True, check=True)
        assert "nvdebug-exporter" in done.stdout and not done.stderr


def test_many_at_once():
    """No request fails, and the exporter still answers afterwards."""
    with running(CAPTURE) as node, concurrent.futures.ThreadPoolExecutor(64) as pool:
        def one(_):
            try:
                return node.scrape()
            except (OSError, http.client.HTTPException) as error:
                return str(error)
        # The first answers may come before the first look at the GPU.
        until(lambda: 'nvdebug_up{gpu="0"} 1' in node.scrape())
        answers = list(pool.map(one, range(500)))
        assert all('nvdebug_up{gpu="0"} 1' in answer for answer in answers), {a[:80] for a in answers}
        assert node.end() == (0, "")


def test_a_gpu_that_goes_and_comes_back(tmp_path):
    write_gpu(tmp_path / "gpu0", "h200", "fig7")
    with running(tmp_path, "--rate", "50") as node:
        until(lambda: node.values("nvdebug_up") == {'{gpu="0"}': 1})
        (tmp_path / "gpu0").rename(tmp_path / "away")
        until(lambda: node.values("nvdebug_up") == {'{gpu="0"}': 0})
        assert "nvdebug_task" not in node.scrape() and "nvdebug_engine" not in node.scrape()
        assert node.values("nvdebug_read_errors_total")['{gpu="0"}'] > 0
        (tmp_path / "away").rename(tmp_path / "gpu0")
        until(lambda: node.values("nvdebug_up") == {'{gpu="0"}': 1})


def test_a_gpu_that_was_never_read_counts_errors(tmp_path):
    for gpu in ("gpu0", "gpu1"):
        write_gpu(tmp_path / gpu, "h200", "fig7")
    (tmp_path / "gpu1/info").write_text("damaged\n", encoding="utf-8")
    with running(tmp_path, "--rate", "50") as node:
        until(lambda: node.values("nvdebug_up") == {'{gpu="0"}': 1, '{gpu="1"}': 0})
        until(lambda: node.values("nvdebug_read_errors_total")['{gpu="1"}'] > 0)


def test_tasks_are_bounded():
    for most in (1, 2):
        with running(CAPTURE, "--tasks", str(most)) as node:
            until(lambda: any(node.values("nvdebug_task_gpu_seconds_total").values()))
            assert len(node.values("nvdebug_task_gpu_seconds_total")) == most


def test_labels_of_a_gpu():
    with running(CAPTURE, "--gpu-labels", "product,uuid") as node:
        until(lambda: node.values("nvdebug_engine_busy_seconds_total"))
        lines = [line for line in node.scrape().splitlines() if line.startswith("nvdebug_") and 'gpu="0"' in line]
        assert lines and all('uuid="' in line and 'product="' in line for line in lines)
    assert "--gpu-labels takes a value: LIST" in refused("--gpu-labels", "")
    for words in ("uuid,", "uuid;product", "chip", "UUID"):
        assert "--gpu-labels takes uuid, product or uuid,product" in refused("--gpu-labels", words)


def test_the_unit_starts_the_installed_program():
    unit = (ROOT / "tools/exporter/nvdebug-exporter.service.in").read_text()
    assert "ExecStart=@CMAKE_INSTALL_FULL_SBINDIR@/nvdebug-exporter" in unit
    for limit in ("ProtectKernelTunables=yes", "MemoryMax=", "TasksMax=", "LimitNOFILE=", "IPAddressDeny=any",
                  "IPAddressAllow=localhost", "UMask=0077"):
        assert f"\n{limit}" in unit, limit


# --- names of pods, and goals ---

def named(node):
    """Returns the names that each process has, by its pid."""
    label = r'{}="([^"]*)"'
    line = re.compile("^nvdebug_task_channels.*" + ".*".join(map(label.format, (
        "pid", "task_container", "task_pod", "task_namespace", "task_pod_name", "task_container_name"))), re.MULTILINE)
    return {pid: names for pid, *names in line.findall(node.scrape())}


def test_tasks_in_pods_have_names(tmp_path):
    """A replay of two processes, one of which is put into a pod. A link that comes later is found, too."""
    container, uid = "5" * 64, "01234567-89ab-4def-8123-456789abcdef"
    capture = json.loads(gzip.decompress(CAPTURE.read_bytes()))
    owners = capture["files"]["gpu0/owners"].replace("1456 workload / ", f"1456 workload /kubepods/pod{uid}/{container} ")
    capture["files"]["gpu0/owners"] = owners
    (tmp_path / "capture").write_bytes(gzip.compress(json.dumps(capture).encode()))
    (tmp_path / "links").mkdir()
    (tmp_path / "pods").mkdir()
    with running(tmp_path / "capture", f"--pod-names={tmp_path}/links:{tmp_path}/pods") as node:
        until(lambda: named(node).get("1456") == [container, uid, "", "", ""])
        (tmp_path / "pods" / f"team-a_vllm-0_{uid}").mkdir()
        until(lambda: named(node)["1456"] == [container, uid, "team-a", "vllm-0", ""])
        (tmp_path / "links" / f"vllm-0_team-a_server-{container}.log").symlink_to("/nonexistent")
        until(lambda: named(node)["1456"] == [container, uid, "team-a", "vllm-0", "server"])
        assert named(node)["1462"] == [""] * 5, "it is in no pod"
    # Where the name is there from the start, no answer is without it, so that no series gets another label.
    with running(tmp_path / "capture", f"--pod-names={tmp_path}/links") as node:
        until(lambda: "1456" in (found := named(node)) and found)
        assert named(node)["1456"][2:] == ["team-a", "vllm-0", "server"]


def test_folders_of_names_are_absolute():
    for wrong in ("", "pods", "/a:", "/a:b"):
        assert "--pod-names" in refused("--pod-names", wrong), wrong


@pytest.mark.parametrize("folder", ("/nonexistent", "/dev/null"))
def test_folders_without_names_are_no_failure(folder):
    with running(CAPTURE, "--pod-names", folder) as node:
        assert "nvdebug_up" in node.scrape()


def test_metrics_of_nvqos_are_served_as_well(tmp_path):
    goals = tmp_path / "goals.prom"
    text = '# HELP nvqos_up x\n# TYPE nvqos_up gauge\nnvqos_up{gpu="0"} 1\n'
    with running(CAPTURE, "--goals", goals) as node:
        assert "nvqos_" not in node.scrape(), "nvqos does not run"
        goals.write_text(text)
        until(lambda: text in node.scrape())
        os.utime(goals, (1, 1))
        until(lambda: "nvqos_" not in node.scrape())  # nvqos was killed
        goals.unlink()
        assert node.end()[1] == "", "none of this is a failure"


@pytest.mark.parametrize("text", (
    'nvdebug_up{gpu="0"} 0\n', "nvqos_up 1\nup 1\n", "nvqos_up 1", "\n", "# EOF\n", "# TYPE nvdebug_up counter\n", "nvqos_up 1\r\n\nx 1\n",
    "nvqos_x 1\n" * 500_000), ids=range(8))
def test_lines_of_others_are_not_served(tmp_path, text):
    goals = tmp_path / "goals.prom"
    goals.write_text(text)
    with running(CAPTURE, "--goals", goals) as node:
        until(lambda: 'nvdebug_up{gpu="0"} 1' in node.scrape())
        assert "nvqos_" not in node.scrape()
        assert "metrics of goals are left out: " + str(goals) in node.end()[1]


def test_a_pipe_in_place_of_goals_stops_nothing(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    for name, why in (("pipe", "is no file"), ("link", "cannot be opened")):
        with running(CAPTURE, "--goals", tmp_path / name) as node:
            until(lambda: 'nvdebug_up{gpu="0"} 1' in node.scrape())
            assert why in node.end()[1]
