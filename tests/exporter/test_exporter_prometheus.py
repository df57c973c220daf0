# SPDX-License-Identifier: MIT OR GPL-2.0
"""A real Prometheus reads nvdebug-exporter's metrics, rules and dashboard."""

import contextlib
import fcntl
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request

import jsonschema
import pytest
import yaml
from building import ROOT, built
from ctl import write_gpu
from exporter_node import CAPTURE, running
from waiting import PATIENCE_S, comes_true, free_port, until

pytest_plugins = ["qos_machine"]

BOARDS = {name: json.loads((ROOT / f"tools/exporter/{name}.json").read_text(encoding="utf-8")) for name in ("dashboard", "fleet")}
DASHBOARD = BOARDS["dashboard"]
RULES = ROOT / "tools/exporter/rules.yml"
RULES_TEST = ROOT / "tests/exporter/rules_test.yml"
RULES_DAY_TEST = ROOT / "tests/exporter/rules_day_test.yml"


@pytest.fixture(name="prometheus", scope="session")
def fixture_prometheus():
    """Debian's Prometheus: the installed one, or else the unpacked package, because installing it would start a
    service."""
    if shutil.which("prometheus") and shutil.which("promtool"):
        return pathlib.Path(shutil.which("promtool")).parent
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


@pytest.fixture(name="promtool")
def fixture_promtool(prometheus):
    def run(*words, text=None):
        done = subprocess.run([prometheus / "promtool", *map(str, words)], input=text, text=True, capture_output=True,
                              check=False, timeout=PATIENCE_S)
        return done.returncode, done.stdout + done.stderr
    return run


def test_the_format(promtool):
    """Prometheus' own check accepts the names, types, help texts and units."""
    for options in ((), ("--gpu-labels", "uuid,product")):
        with running(CAPTURE, *options) as node:
            until(lambda node=node: node.values("nvdebug_engine_busy_seconds_total"))
            assert promtool("check", "metrics", text=node.scrape()) == (0, "")


# --- a server ---

class Server:
    def __init__(self, prometheus, folder, targets, rules=(), jobs=None):
        """Scrapes the targets, or the targets of the scrape configurations in jobs."""
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": list(map(str, rules)),
                  "scrape_configs": jobs or [{"job_name": "nvdebug", "static_configs": [{"targets": targets}]}]}
        (folder / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
        self.port = free_port()
        self.process = subprocess.Popen(
            [prometheus / "prometheus", f"--config.file={folder / 'prometheus.yml'}",
             f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{self.port}",
             "--web.console.templates=/nonexistent", "--web.console.libraries=/nonexistent"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def query(self, text):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?query={urllib.parse.quote(text)}",
                                        timeout=PATIENCE_S) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    def wait_for(self, text, count=1):
        """Waits until the query returns so many rows."""
        try:
            return until(lambda: len(found := self.query(text)) >= count and found)
        except AssertionError:
            raise AssertionError(f"no result: {text}") from None


@contextlib.contextmanager
def server(*words, **more):
    one = Server(*words, **more)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()


def test_prometheus_scrapes_it(prometheus, tmp_path):
    """One Prometheus scrapes two nodes."""
    (tmp_path / "folder").mkdir()
    write_gpu(tmp_path / "folder/gpu0", "h200", "fig7")
    with running(CAPTURE) as one, running(tmp_path / "folder") as other:
        targets = [f"127.0.0.1:{node.port}" for node in (one, other)]
        with server(prometheus, tmp_path, targets) as at:
            up = at.wait_for("nvdebug_up == 1", 2)
            assert {row["metric"]["instance"] for row in up} == set(targets)
            channels = at.query('sum by (instance) (nvdebug_task_channels{command="workload"})')
            assert [(row["metric"]["instance"], row["value"][1]) for row in channels] == [(targets[0], "40")]


# The pods of stand_in_node: uids, and names (namespace, pod, container).
PODS = ["01234567-89ab-cdef-0123-456789abcdef", "89abcdef-89ab-cdef-0123-456789abcdef"]
POD_NAMES = [("team-a", "vllm-0", "server"), ("team-b", "batch-x7k2p", "main")]


@contextlib.contextmanager
def stand_in_node():
    """Runs an exporter over the stand-in for NVIDIA's driver, and yields its address."""
    program = built("tests/exporter/stand_in_node")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        for (name_space, pod, container), letter in zip(POD_NAMES, "cd"):
            (pathlib.Path(folder) / f"{pod}_{name_space}_{container}-{letter * 64}.log").symlink_to("/nonexistent")
        with subprocess.Popen([program, str(port), folder], stdin=subprocess.DEVNULL) as process:
            try:
                yield f"127.0.0.1:{port}"
            finally:
                process.kill()


def expressions(board="dashboard"):
    """Returns the dashboard's queries as they are when everything is selected."""
    return [re.sub(r"\$(node|instance|gpu|task_namespace)\b", ".*", target["expr"].replace("$__rate_interval", "10s"))
            for panel in BOARDS[board]["panels"] for target in panel["targets"]]


# A line as in the test Metrics.HaveALineForEachContainer of tests/qos.
POD_TASKS = (f'nvqos_pod_tasks{{gpu="0",tenant="job:1",number="0",task_container="{"c" * 64}",task_pod="{PODS[0]}",'
             'task_namespace="team-a",task_pod_name="vllm-0",task_container_name="server"} 1\n')


class WithPod(http.server.BaseHTTPRequestHandler):
    """Serves the file that nvqos writes, with its tenant in a pod of stand_in_node."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write((self.server.file.read_text(encoding="utf-8") + POD_TASKS).encode())

    def log_message(self, *_):
        """Prints nothing."""


@contextlib.contextmanager
def served_with_pod(file):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), WithPod) as one:
        one.file = file
        thread = threading.Thread(target=one.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{one.server_address[1]}"
        finally:
            one.shutdown()
            thread.join()


def of_last_week():
    """Returns the query of docs/kubernetes.md."""
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    return re.search(r"^(sum by .*\[1w:5m\].*)$", page, re.M)[1]


def test_rules_and_dashboard_over_the_driver(prometheus, machine, tmp_path):
    """On a stand-in, each query of the dashboard and each recording rule has a result, and no alert fires."""
    (tmp_path / "files").mkdir()
    machine.start("--quiet", f"--metrics={tmp_path}/files/metrics")
    one = machine.process()
    assert machine.ask(f"hold job:1 share:30%,cap:50% pid={one.pid}") == "ok"
    assert comes_true(lambda: "nvqos_got_ratio" in (tmp_path / "files/metrics").read_text(encoding="utf-8"))
    with stand_in_node() as target, served_with_pod(tmp_path / "files/metrics") as goals, server(
            prometheus, tmp_path, [target, goals], [RULES]) as at:
        at.wait_for("nvdebug_task_slice_seconds_count > 100")
        # Steps of five minutes begin at full ones, and a week has none in the life of this server.
        for text in expressions() + expressions("fleet"):
            at.wait_for(text.replace("[1w:5m]", "[5m:1s]"))
        hours = at.wait_for(of_last_week().replace("[1w:5m]", "[5m:1s]"), 2)
        assert {(row["metric"]["task_namespace"], row["metric"]["task_pod_name"]) for row in hours} == {names[:2] for names in POD_NAMES}
        kept, = at.wait_for("pod:nvqos_violations:ratio5m")
        assert (kept["metric"]["task_namespace"], kept["metric"]["task_pod_name"], kept["metric"]["tenant"]) == ("team-a", "vllm-0", "job:1")
        for rule in rules():
            if "record" in rule:
                at.wait_for(rule["record"])
        share, = at.wait_for('task:nvdebug_task_gpu_seconds:rate5m{slurm_job="17"}')
        assert share["metric"]["slurm_step"] == "0" and share["metric"]["instance"] == target
        other, = at.wait_for(f'task:nvdebug_task_gpu_seconds:rate5m{{task_pod="{PODS[0]}"}}')
        assert other["metric"]["task_container"] == "c" * 64
        assert tuple(other["metric"][f"task_{name}"] for name in ("namespace", "pod_name", "container_name")) == POD_NAMES[0]
        assert float(share["value"][1]) > 2 * float(other["value"][1]), "8 ms and 2 ms"
        assert not at.query('ALERTS{alertstate="firing"}')


# --- a cluster ---


def discovered(name, address):
    """Returns a pod of the agent as kubernetes_sd_configs finds it: a target for each port, and one target for a
    container without ports."""
    host, port = address.split(":")
    found = {"__meta_kubernetes_namespace": "nvdebug", "__meta_kubernetes_pod_name": f"nvdebug-agent-{name}",
             "__meta_kubernetes_pod_node_name": name, "__meta_kubernetes_pod_ready": "true",
             "__meta_kubernetes_pod_label_app_kubernetes_io_name": "nvdebug-agent",
             "__meta_kubernetes_pod_annotation_prometheus_io_scrape": "true",
             "__meta_kubernetes_pod_annotation_prometheus_io_port": port}
    return [{"targets": [address], "labels": {**found, "__meta_kubernetes_pod_container_name": "exporter",
                                              "__meta_kubernetes_pod_container_port_name": "metrics"}},
            {"targets": [host], "labels": {**found, "__meta_kubernetes_pod_container_name": "nvqos"}}]


def of_the_page():
    """Returns the scrape by annotations from docs/kubernetes.md."""
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    job, = yaml.safe_load(re.search(r"```yaml\n(scrape_configs:\n.*?)```", page, re.S)[1])["scrape_configs"]
    assert job.pop("kubernetes_sd_configs") == [{"role": "pod"}]
    return job


def usual(*labels):
    """Returns the scrape by annotations that many clusters have, with these labels of the target, and all labels of the
    pod."""
    own = {"namespace": "namespace", "pod": "pod_name", "container": "pod_container_name", "node": "pod_node_name"}
    return {"job_name": "kubernetes-pods", "relabel_configs": [
        {"source_labels": ["__meta_kubernetes_pod_annotation_prometheus_io_scrape"], "regex": "true", "action": "keep"},
        {"source_labels": ["__address__", "__meta_kubernetes_pod_annotation_prometheus_io_port"],
         "regex": r"([^:]+)(?::\d+)?;(\d+)", "replacement": "$1:$2", "target_label": "__address__"},
        {"regex": "__meta_kubernetes_pod_label_(.+)", "action": "labelmap"},
        *({"source_labels": [f"__meta_kubernetes_{own[label]}"], "target_label": label} for label in labels)]}


def of_the_operator():
    """Returns the scrape that the Prometheus operator makes from the PodMonitor."""
    monitor = yaml.safe_load((ROOT / "packaging/kubernetes/podmonitor/podmonitor.yaml").read_text(encoding="utf-8"))
    (key, value), = monitor["spec"]["selector"]["matchLabels"].items()
    end, = monitor["spec"]["podMetricsEndpoints"]
    label = "__meta_kubernetes_pod_label_" + re.sub(r"\W", "_", key)
    return {"job_name": "podMonitor/nvdebug/nvdebug-agent/0", "honor_labels": end["honorLabels"], "relabel_configs": [
        {"source_labels": [label], "regex": value, "action": "keep"},
        {"source_labels": ["__meta_kubernetes_pod_container_port_name"], "regex": end["port"], "action": "keep"},
        {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"},
        {"source_labels": ["__meta_kubernetes_pod_container_name"], "target_label": "container"},
        {"source_labels": ["__meta_kubernetes_pod_name"], "target_label": "pod"},
        {"target_label": "job", "replacement": "nvdebug/nvdebug-agent"},
        {"target_label": "endpoint", "replacement": end["port"]},
        *({"source_labels": each["sourceLabels"], "target_label": each["targetLabel"]} for each in end["relabelings"])]}


SCRAPES = {
    "the page's": lambda: [of_the_page()],
    "usual, with the container": lambda: [usual("namespace", "pod", "container", "node")],
    "usual, with honor_labels": lambda: [{**usual("namespace", "pod", "container", "node"), "honor_labels": True}],
    "PodMonitor": lambda: [of_the_operator()],
    "both": lambda: [usual("namespace", "pod", "node"), of_the_operator()]}


@pytest.mark.parametrize("jobs", SCRAPES.values(), ids=SCRAPES)
def test_gpu_time_is_its_users(prometheus, tmp_path, jobs):
    """On two stand-in nodes, the targets' labels name the agent's pods, and the series' labels name the pods that use
    the GPU."""
    with stand_in_node() as one, stand_in_node() as other:
        targets = [target for name, address in (("n1", one), ("n2", other)) for target in discovered(name, address)]
        with server(prometheus, tmp_path, [], [RULES], [{**job, "static_configs": targets} for job in jobs()]) as at:
            # After the first seconds, one task's turns take twice as long as the other's.
            def of_pods():
                return {(row["metric"]["instance"], row["metric"]["task_pod"]): (row["metric"], float(row["value"][1]))
                        for row in at.query("pod:nvdebug_task_gpu_seconds:rate5m")}

            def is_right():
                found = of_pods()
                return set(found) == {(node, pod) for node in (one, other) for pod in PODS} and all(
                    1.5 < found[node, PODS[0]][1] / max(found[node, PODS[1]][1], 1e-9) < 2.5 for node in (one, other))
            assert comes_true(is_right), of_pods()
            for labels, _ in of_pods().values():
                assert set(labels) - {"node"} == {"__name__", "instance", "gpu", "task_pod", "task_namespace",
                                                  "task_pod_name"}, "none of the agent's"
                assert (labels["task_namespace"], labels["task_pod_name"]) == POD_NAMES[PODS.index(labels["task_pod"])][:2]

            # The sum of a GPU belongs to its node, and counts each task once, however often it is scraped.
            once = "sum by (instance, gpu) (max by (instance, gpu, pid) (rate(nvdebug_task_gpu_seconds_total[5m])))"
            sums = at.wait_for(f"gpu:nvdebug_task_gpu_seconds:rate5m / on (instance, gpu) group_left () {once} > 0.7 < 1.3", 2)
            assert {row["metric"]["instance"] for row in sums} == {one, other}
            if "pod_node_name" in json.dumps(jobs()):
                assert {row["metric"]["node"] for row in sums} == {"n1", "n2"}
            pods = at.wait_for(next(text for text in expressions() if "sum by" in text and "task_pod," in text.split("(max")[0]), 6)
            assert {row["metric"].get("task_pod") for row in pods} == {None, *PODS}
            for text in expressions():
                if "nvqos_" not in text:
                    at.wait_for(text, 2)
            assert not at.query('ALERTS{alertstate="firing"}')


# --- rules ---

def rules():
    return [rule for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]


def test_rules(promtool):
    assert promtool("check", "rules", RULES)[0] == 0
    status, text = promtool("test", "rules", RULES_TEST, RULES_DAY_TEST)
    assert status == 0, text


def test_the_query_of_last_week_adds_up_hours(promtool, tmp_path):
    """One pod has a quarter of a GPU for a day of the week, and then is gone; one has half of two GPUs the whole time."""
    def series(pod, gpu, values):
        labels = f'instance="n",gpu="{gpu}",task_pod="{pod}",task_namespace="team",task_pod_name="{pod}"'
        return {"series": f"pod:nvdebug_task_gpu_seconds:rate5m{{{labels}}}", "values": values}
    day = 24 * 60
    test = {"name": "a week", "interval": "1m", "input_series": [
        series("short", 0, f"_x{2 * day - 1} 0.25x{day - 1} stale"), *(series("long", gpu, f"0.5x{10 * day}") for gpu in (0, 1))],
        "promql_expr_test": [{"expr": f"round({of_last_week()}, 0.5)", "eval_time": "8d", "exp_samples": [
            {"labels": '{task_namespace="team",task_pod_name="short"}', "value": 6},
            {"labels": '{task_namespace="team",task_pod_name="long"}', "value": 168}]}]}
    (tmp_path / "test.yml").write_text(json.dumps({"rule_files": [], "evaluation_interval": "1h", "tests": [test]}), encoding="utf-8")
    status, text = promtool("test", "rules", tmp_path / "test.yml")
    assert status == 0, text


@pytest.mark.ci
@pytest.mark.parametrize("name", [rule.get("alert") or rule["record"] for rule in rules()
                                  if rule.get("record") != "task:nvdebug_task_gpu_seconds:rate5m"])
def test_tests_of_rules_can_fail(promtool, tmp_path, name):
    """The tests of rules must fail if the rule is removed or compares otherwise."""
    changed = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    for group in changed["groups"]:
        for rule in group["rules"]:
            if name in (rule.get("alert"), rule.get("record")):
                rule["expr"] = f"({rule['expr']}) * 0 > 1"
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(changed), encoding="utf-8")
    test = RULES_TEST.read_text(encoding="utf-8").replace("../../tools/exporter/rules.yml", "rules.yml")
    (tmp_path / "test.yml").write_text(test, encoding="utf-8")
    assert promtool("test", "rules", tmp_path / "test.yml")[0] == 1


# --- the dashboard ---

@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_dashboard_has_what_grafana_takes(board):
    schema = json.loads((ROOT / "tests/exporter/dashboard.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(board, schema, jsonschema.Draft7Validator)
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    taken = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken and at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells
    variables = {one["name"] for one in board["templating"]["list"]} | {"__rate_interval"}
    assert set(re.findall(r"\$\{?(\w+)", json.dumps(board))) - {"__all"} == variables


def test_dashboards_are_two():
    assert len({board["uid"] for board in BOARDS.values()}) == len({board["title"] for board in BOARDS.values()}) == 2


@pytest.mark.parametrize("change", (
    lambda board: board.pop("title"), lambda board: board["panels"][0].pop("gridPos"),
    lambda board: board["panels"][0].update(sort="graph"), lambda board: board["panels"][0]["gridPos"].update(w="12"),
    lambda board: board["panels"][0]["targets"][0].pop("expr"), lambda board: board["panels"][0].update(type="graph")))
def test_the_check_of_the_dashboard_can_fail(change):
    schema = json.loads((ROOT / "tests/exporter/dashboard.schema.json").read_text(encoding="utf-8"))
    board = json.loads(json.dumps(DASHBOARD))
    change(board)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(board, schema, jsonschema.Draft7Validator)


def test_no_panel_divides_by_zero():
    """If a denominator is 0, the quotient must be missing, because NaN would be drawn and would stop an average."""
    quotients = [text for text in expressions() + expressions("fleet") if " / " in text]
    assert len(quotients) >= 2
    for text in quotients:
        assert re.search(r" / \(.* > 0\)$", text), text


def test_expressions_of_the_dashboard(promtool, tmp_path):
    texts = expressions() + expressions("fleet") + [of_last_week()]
    assert len(texts) >= 14
    group = {"name": "dashboard", "rules": [{"record": f"expression:{n}", "expr": text} for n, text in enumerate(texts)]}
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [group]}), encoding="utf-8")
    status, text = promtool("check", "rules", tmp_path / "rules.yml")
    assert status == 0, text
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [group]}).replace("rate(", "rat(", 1), encoding="utf-8")
    assert promtool("check", "rules", tmp_path / "rules.yml")[0] == 1


def test_metrics_that_are_named_exist():
    """The dashboard, the rules and docs/exporter.md name only metrics that exist."""
    names = set(re.findall(r'"(nvdebug_\w+)"', (ROOT / "tools/exporter/families.cpp").read_text(encoding="utf-8")))
    source = (ROOT / "tools/nvqos/metrics.cpp").read_text(encoding="utf-8")
    goals = {f"nvqos_{name}" for name in re.findall(r'(?:of_(?:gpus|tenants)|Metric \w+)\(\s*"(\w+)"', source)}
    records = {rule["record"] for rule in rules() if "record" in rule}
    exprs = " ".join(expressions() + expressions("fleet") + [of_last_week()] + [rule["expr"] for rule in rules()])
    for record in records:
        exprs = exprs.replace(record, "")
    asked = {re.sub("_(count|sum)$", "", name) for name in re.findall(r"nvdebug_\w+", exprs)}
    assert asked <= names and len(asked) > 12
    asked = set(re.findall(r"nvqos_\w+", exprs))
    assert asked <= goals and len(asked) > 4
    manual = (ROOT / "docs/exporter.md").read_text(encoding="utf-8")
    assert names <= set(re.findall(r"nvdebug_\w+", manual)), "each is explained"
    assert goals <= set(re.findall(r"nvqos_\w+", (ROOT / "docs/qos.md").read_text(encoding="utf-8")))
    for rule in rules():
        assert f"`{rule.get('alert') or rule['record']}`" in manual
