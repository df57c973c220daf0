# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvdebug-exporter, on a capture and on folders: what it tells, and what a real Prometheus makes of it."""

import concurrent.futures
import contextlib
import fcntl
import functools
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import pytest
from ctl import ROOT, write_gpu

CAPTURE = ROOT / "tests/hardware/h100-580.159.04/capture-owners"
TASK = re.compile(r'^(nvdebug_task_\w+)\{gpu="(\d+)",pid="(\d*)",command="([^"]*)".*\} (\S+)$', re.MULTILINE)


@functools.cache
def exporter():
    if not os.environ.get("NVDEBUG_NO_BUILD"):
        (ROOT / "build").mkdir(exist_ok=True)
        subprocess.run(["flock", ROOT / "build/tool.lock", "sh", "-c",
                        "make -s --no-print-directory cmake && cmake --build build/cmake --target nvdebug-exporter"],
                       cwd=ROOT, check=True, stdout=sys.stderr)
    return ROOT / "build/cmake/exporter/nvdebug-exporter"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what, seconds=30):
    """Its first answer that is not nothing."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come about")


class Running:
    def __init__(self, source, *options, port=None):
        self.port = port or free_port()
        self.process = subprocess.Popen(
            [exporter(), "--from", source, "--listen", f"127.0.0.1:{self.port}", *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said = self.process.stderr.readline()
        assert f"http://127.0.0.1:{self.port}/metrics" in self.said, self.said

    def scrape(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=20) as answer:
            assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain")
            return answer.read().decode()

    def values(self, name):
        """By the rest of the line."""
        return {labels: float(value)
                for labels, value in re.findall(rf"^{name}(\{{.*\}}) (\S+)$", self.scrape(), re.MULTILINE)}

    def end(self, with_signal=signal.SIGTERM):
        self.process.send_signal(with_signal)
        rest = self.process.communicate(timeout=20)[1]
        return self.process.returncode, rest


@contextlib.contextmanager
def running(source, *options, **more):
    one = Running(source, *options, **more)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()
        one.process.stderr.close()


def refused(*words):
    done = subprocess.run([exporter(), *map(str, words)], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1 and done.stdout == "", done
    return done.stderr


def test_a_capture():
    """Replay of an H100 with two processes of 20 channels each."""
    with running(CAPTURE) as node:
        until(lambda: len(node.values("nvdebug_engine_busy_seconds_total")) > 10)
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


def test_on_the_engine_by_samples(tmp_path):
    """Without a record of switches: whose TSG the samples show. The model's words, in a folder."""
    write_gpu(tmp_path / "gpu0", "h200", "fig7")
    with running(tmp_path, "--rate", "50") as node:
        times = until(lambda: {line: value for line, value in node.values("nvdebug_task_gpu_seconds_total").items()
                               if value})
        assert list(times) == ['{gpu="0",pid="",command="TSG 0:0",container="",pod=""}']


def test_ends_by_a_signal():
    for number in (signal.SIGTERM, signal.SIGINT):
        with running(CAPTURE) as node:
            assert node.end(number) == (0, "")


def test_a_port_that_is_taken():
    with running(CAPTURE) as node:
        said = refused("--from", CAPTURE, "--listen", f"127.0.0.1:{node.port}")
        assert f"cannot listen on 127.0.0.1:{node.port}" in said and "--listen" in said
        assert node.scrape(), "the first one goes on"


@pytest.mark.parametrize("words, sentence", (
    (["--listen", "x"], "--listen takes ADDRESS:PORT, not 'x'"),
    (["--listen", "127.0.0.1:0"], "--listen takes ADDRESS:PORT"),
    (["--listen", "127.0.0.1:65536"], "--listen takes ADDRESS:PORT"),
    (["--listen"], "--listen takes a value"),
    (["--rate", "0"], "--rate takes a number from 1 to 100, not '0'"),
    (["--rate", "101"], "--rate takes a number from 1 to 100"),
    (["--tasks", "-1"], "--tasks takes a number from 1 to 10000"),
    (["--loud"], "there is no option --loud"),
    (["more"], "'more' is too much"),
    (["--from", "/nonexistent"], "/nonexistent"),
    (["--from", "/"], "no GPU"),
    (["--from", CAPTURE, "--listen", "192.0.2.1:9745"], "cannot listen on 192.0.2.1:9745")))
def test_wrong_words(words, sentence):
    said = refused(*words)
    assert said.startswith("nvdebug-exporter: ") and sentence in said and said.count("\n") == 1


def test_help_and_version():
    for option in ("--help", "-h", "--version", "-V"):
        done = subprocess.run([exporter(), option], capture_output=True, text=True, check=True)
        assert "nvdebug-exporter" in done.stdout and not done.stderr
    manual = (ROOT / "docs/man/nvdebug-exporter.8").read_text()
    shown = subprocess.run([exporter(), "--help"], capture_output=True, text=True, check=True).stdout
    for option in re.findall(r"--(\w+)", shown):
        if option != "exporter":
            assert f"Fl Fl {option}" in manual, option


def test_many_at_once():
    """None fails, and it still answers afterwards."""
    with running(CAPTURE) as node, concurrent.futures.ThreadPoolExecutor(64) as pool:
        def one(_):
            try:
                return node.scrape()
            except (OSError, http.client.HTTPException) as error:
                return str(error)
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


def test_tasks_are_bounded():
    for most in (1, 2):
        with running(CAPTURE, "--tasks", str(most)) as node:
            until(lambda: any(node.values("nvdebug_task_gpu_seconds_total").values()))
            assert len(node.values("nvdebug_task_gpu_seconds_total")) == most


# --- Prometheus ---

@pytest.fixture(name="prometheus", scope="session")
def fixture_prometheus():
    """Debian's, unpacked and not installed: its package would start a service."""
    cache = pathlib.Path(subprocess.run([ROOT / "scripts/cache-dir"], capture_output=True, text=True,
                                        check=True).stdout.strip())
    cache.mkdir(parents=True, exist_ok=True)
    folder, work = cache / "prometheus", cache / "prometheus.new"
    with open(cache / "prometheus.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            subprocess.run(["apt-get", "-o", "APT::Sandbox::User=root", "download", "prometheus"], cwd=work, check=True,
                           stdout=sys.stderr)
            package, = work.glob("*.deb")
            subprocess.run(["dpkg-deb", "-x", package, work], check=True)
            work.rename(folder)
    return folder / "usr/bin"


def test_the_format(prometheus):
    """By Prometheus' own check of names, types, helps and units."""
    with running(CAPTURE) as node:
        until(lambda: node.values("nvdebug_engine_busy_seconds_total"))
        ours = "".join(line for line in node.scrape().splitlines(True) if re.match(r"(# \w+ )?nvdebug_", line))
    done = subprocess.run([prometheus / "promtool", "check", "metrics"], input=ours, text=True, capture_output=True,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_prometheus_scrapes_it(prometheus, tmp_path):
    """Of two nodes, shares add up by a query as the dashboard has it."""
    (tmp_path / "folder").mkdir()
    write_gpu(tmp_path / "folder/gpu0", "h200", "fig7")
    with running(CAPTURE) as one, running(tmp_path / "folder") as other:
        targets = [f"127.0.0.1:{node.port}" for node in (one, other)]
        (tmp_path / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "nvdebug", "static_configs": [{"targets": targets}]}]}))
        port = free_port()
        server = subprocess.Popen(
            [prometheus / "prometheus", f"--config.file={tmp_path / 'prometheus.yml'}",
             f"--storage.tsdb.path={tmp_path / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
             "--web.console.templates=/nonexistent", "--web.console.libraries=/nonexistent"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def query(text):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(text)}",
                                            timeout=10) as answer:
                    return json.load(answer)["data"]["result"]
            except OSError:
                return []
        try:
            up = until(lambda: len(found := query("nvdebug_up == 1")) == 2 and found, 60)
            assert {row["metric"]["instance"] for row in up} == set(targets)
            channels = query('sum by (instance) (nvdebug_task_channels{command="workload"})')
            assert [(row["metric"]["instance"], row["value"][1]) for row in channels] == [(targets[0], "40")]
            dashboard = json.loads((ROOT / "exporter/dashboard.json").read_text())
            asked = [target["expr"].replace("$__rate_interval", "10s").replace("$instance", ".*").replace("$gpu", ".*")
                     for panel in dashboard["panels"] for target in panel.get("targets", [])]
            assert len(asked) >= 6
            of_driver = ("nvdebug_switch", "nvdebug_task_tpcs", "nvdebug_task_slice")
            for text in asked:
                if not any(name in text for name in of_driver):
                    assert until(lambda text=text: query(text), 60), text
        finally:
            server.kill()
            server.wait()


def test_dashboard_and_unit():
    """The dashboard asks for what there is; the unit starts what is installed."""
    names = set(re.findall(r'"(nvdebug_\w+)"', (ROOT / "exporter/families.cpp").read_text()))
    dashboard = (ROOT / "exporter/dashboard.json").read_text()
    asked = {re.sub("_(count|sum)$", "", name) for name in re.findall(r"nvdebug_\w+", dashboard)} - {"nvdebug_exporter"}
    assert asked <= names and len(asked) > 8
    manual = (ROOT / "docs/exporter.md").read_text()
    assert names <= set(re.findall(r"nvdebug_\w+", manual)), "each is explained"
    unit = (ROOT / "exporter/nvdebug-exporter.service.in").read_text()
    assert "ExecStart=@CMAKE_INSTALL_FULL_SBINDIR@/nvdebug-exporter" in unit
