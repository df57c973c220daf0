# SPDX-License-Identifier: MIT OR GPL-2.0
"""The programs of the benchmark of an LLM engine, without a GPU: the client, the engine and the whole measurement on stand-ins.
test_llm_neighbours.py has the neighbours."""

import contextlib
import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

import jsonschema
import pytest
from building import ROOT

sys.path.insert(0, str(ROOT / "lab"))

# pylint: disable=wrong-import-position
from nvdlab import bounded  # noqa: E402
from nvdlab.llm import client, engine, figures, table  # noqa: E402

PATIENCE_S = 60
MEASUREMENT = ROOT / "tests/hardware/qos_llm.py"
ENV = dict(os.environ) | {"PYTHONPATH": str(ROOT / "lab")}


# --- the client and an engine behind OpenAI's completions ---

class Answers(http.server.BaseHTTPRequestHandler):
    """Answers a completion with the parts that the server has for it, each a text, or a pause in seconds."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, asked))
        status, is_chunked, parts = self.server.answers[len(asked["prompt"])]
        self.send_response(status)
        self.send_header(*("Transfer-Encoding", "chunked") if is_chunked else ("Connection", "close"))
        self.end_headers()
        for part in parts:
            if isinstance(part, float):
                time.sleep(part)
                continue
            data = part.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if is_chunked else data)
            self.wfile.flush()
        if is_chunked:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def log_message(self, *_):
        pass


def token(text):
    return f'data: {{"choices": [{{"text": "{text}"}}]}}\n\n'


USAGE = 'data: {"choices": [], "usage": {"completion_tokens": %d}}\n\ndata: [DONE]\n\n'


@pytest.fixture
def serving():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.asked, server.answers = [], {}
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join(PATIENCE_S)


@pytest.fixture
def ask(tmp_path):
    def run(asked, meanwhile=lambda: None):
        """Returns the requests, which are due from half a second behind the client's start on. Calls MEANWHILE at this start."""
        path = tmp_path / "asked.json"
        path.write_text(json.dumps({"patience_s": PATIENCE_S} | asked), encoding="utf-8")
        made = bounded.Talking(sys.executable, client.__file__, path, env=ENV, patience_s=PATIENCE_S)
        try:
            made.ready()
            made.ask(client.now_us() + 500_000)
            meanwhile()
            assert made.process.wait(2 * PATIENCE_S) == 0
        finally:
            made.kill()
        return json.loads(path.with_suffix(".out").read_text(encoding="utf-8"))
    return run


def request(tokens, due_s=0.0, output=3):
    return {"due_s": due_s, "prompt": list(range(1, tokens + 1)), "output": output, "counted": True}


@pytest.mark.parametrize("is_chunked", (True, False))
def test_tokens_of_a_stream_have_the_times_of_their_messages(serving, ask, is_chunked):
    first, second = token("a"), token("b")
    serving.answers[5] = (200, is_chunked, [": a comment\n\n", first[:9], first[9:] + second, 0.05, token("c"), USAGE % 3])
    address = f"http://127.0.0.1:{serving.server_port}/v1/"
    found, = ask({"requests": [request(5)], "address": address, "model": "m", "in_flight": 1})
    assert found["error"] is None and found["text"] == ["a", "b", "c"] and found["got"] == 3 and len(found["tokens"]) == 3
    assert found["tokens"][2] - found["tokens"][1] >= 40_000 and found["sent"] < found["tokens"][0] <= found["ended"]
    path, asked = serving.asked[0]
    assert path == "/v1/completions" and asked["stream"] and asked["ignore_eos"] and asked["max_tokens"] == 3 and asked["model"] == "m"
    assert asked["prompt"] == [1, 2, 3, 4, 5] and asked["temperature"] == 0 and asked["stream_options"] == {"include_usage": True}


def test_a_message_with_several_tokens_counts_by_the_usage(serving, ask):
    serving.answers[1] = (200, True, [token("a"), 0.01, token("b c d"), USAGE % 4])
    found, = ask({"requests": [request(1)], "address": f"http://127.0.0.1:{serving.server_port}/v1", "model": "m", "in_flight": 1})
    assert found["got"] == 4 and len(found["tokens"]) == 2
    assert figures.tpot_ms(found) == pytest.approx((found["tokens"][1] - found["tokens"][0]) / 3000)


def test_a_request_that_fails_has_the_reason_and_stops_no_other(serving, ask):
    serving.answers |= {1: (400, True, ['{"message": "too long"}']), 2: (200, True, ['data: {"error": "out of memory"}\n\n']),
                        3: (200, True, [USAGE % 0]), 4: (200, True, [token("a"), USAGE % 1]), 5: (200, False, ["data: {nonsense\n\n"])}
    found = ask({"requests": [request(count) for count in range(1, 6)], "address": f"http://127.0.0.1:{serving.server_port}/v1",
                 "model": "m", "in_flight": 2})
    errors = [one["error"] for one in found]
    assert 'answered 400 Bad Request: ' in errors[0] and "too long" in errors[0] and "out of memory" in errors[1]
    assert errors[2] == "no token came" and errors[3] is None and errors[4]


def test_an_address_without_an_engine_is_named(ask):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    found, = ask({"requests": [request(1)], "address": f"http://127.0.0.1:{port}/v1", "model": "m", "in_flight": 1})
    assert found["error"] == f"127.0.0.1:{port}: Connection refused" or f"127.0.0.1', {port}" in found["error"]


def test_requests_are_sent_when_they_are_due_and_given_up_in_the_end(serving, ask):
    serving.answers |= {1: (200, True, [token("a"), USAGE % 1]), 2: (200, True, [token("a"), 3.0, token("b")])}
    found = ask({"requests": [request(1, 0.0), request(2, 0.1), request(1, 0.2)], "patience_s": 1.0, "model": "m",
                 "address": f"http://127.0.0.1:{serving.server_port}/v1"})
    assert [one["due"] - found[0]["due"] for one in found] == [0, 100_000, 200_000] and all(one["sent"] >= one["due"] for one in found)
    assert [one["error"] for one in found] == [None, "it did not end in time", None], "a slow request does not hold up the next one"


# --- the engine ---

@pytest.fixture
def sleeping_engine(tmp_path):
    path = tmp_path / "socket"
    made = bounded.Talking(sys.executable, engine.__file__, "sleep", "tiny", 4, 8, path, "all", env=ENV, patience_s=PATIENCE_S)
    made.ready()
    yield made, str(path)
    made.kill()


def test_an_engine_batches_requests_and_answers_each(sleeping_engine, ask):
    _, path = sleeping_engine
    several = ask({"requests": [request(4, output=6) for _ in range(12)], "in_flight": 12, "socket": path})
    one_by_one = ask({"requests": [request(4, output=6) for _ in range(2)], "in_flight": 1, "socket": path})
    assert all(one["error"] is None and len(one["tokens"]) == one["got"] == 6 for one in several + one_by_one)
    assert len({tuple(one["text"]) for one in several + one_by_one}) == 1, "outputs do not depend on the batch"
    assert max(one["sent"] for one in several) < min(one["ended"] for one in several), "they ran together"
    assert one_by_one[0]["ended"] <= one_by_one[1]["sent"]


def test_requests_of_a_client_that_leaves_are_dropped(sleeping_engine, ask):
    made, path = sleeping_engine
    with socket.socket(socket.AF_UNIX) as leaving:
        leaving.connect(path)
        leaving.sendall(b"".join(json.dumps({"number": n, "prompt": [1], "output": 100_000}).encode() + b"\n" for n in range(60)))
        assert leaving.recv(1)
    found, = ask({"requests": [request(4)], "in_flight": 1, "socket": path})
    assert found["error"] is None, "all slots would be taken for minutes"
    made.ask("facts")
    assert json.loads(made.line()) == {"engine": engine.Sleeping.name, "kind": "sleep", "shape": "tiny", "captures": 0}


def test_requests_of_an_engine_that_ends_are_failed(sleeping_engine, ask):
    made, path = sleeping_engine
    found = ask({"requests": [request(4, output=1_000_000)] * 2, "in_flight": 1, "socket": path},
                meanwhile=threading.Timer(1.5, made.process.kill).start)
    assert [one["error"] for one in found] == ["the engine has ended"] * 2 and found[0]["tokens"]


def test_an_engine_marks_its_busy_periods(monkeypatch):
    marks = []
    monkeypatch.setattr(engine, "marker", lambda: marks.append)
    waiting = engine.Waiting()
    for number in (1, 2):
        waiting.submit({"number": number, "prompt": [1], "output": 1})
    waiting.deliver([((0, 1), 5, True)])
    assert marks == ["busy"]
    waiting.deliver(failed=[((0, 2), "no")])
    waiting.submit({"number": 3, "prompt": [1], "output": 1})
    assert marks == ["busy", "idle", "busy"]


@pytest.mark.parametrize("text, marks", (("def mark(text): seen.append(text)\nseen = []", ["busy"]), ("", None)))
def test_marks_are_those_of_the_module_if_it_has_them(tmp_path, monkeypatch, text, marks):
    (tmp_path / "nvdebugctl.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "nvdebugctl", raising=False)
    engine.marker()("busy")
    assert getattr(sys.modules["nvdebugctl"], "seen", None) == marks
    monkeypatch.delitem(sys.modules, "nvdebugctl")


# --- transformers, of which a few lines stand in for the package ---

FAKES = {"torch.py": """
import contextlib, types
bfloat16, float32 = "bfloat16", "float32"
manual_seed = set_default_dtype = lambda *_: None
device = lambda *_: contextlib.nullcontext()
no_grad = contextlib.nullcontext
cuda = types.SimpleNamespace(is_available=lambda: False, synchronize=lambda: None, empty_cache=lambda: None)
""", "transformers/__init__.py": """
import queue, threading, time, types
__version__ = "5.17.0"
def LlamaConfig(**words): return words
def GenerationConfig(**words): return words
class Result:
    def __init__(self, name, tokens, is_last, error):
        self.request_id, self.generated_tokens, self.last, self.error = name, tokens, is_last, error
    def is_finished(self): return self.last
class Runner:
    def run_one_warmup(self, model, num_q_tokens, max_kv_read):
        raise ValueError("a private function may change")
class Manager:
    batch_processor = types.SimpleNamespace(model_runner=Runner())
    def __init__(self): self.results = queue.Queue()
    def warmup(self): pass
    def start(self): pass
    def is_running(self): return True
    def cancel_request(self, name): pass
    def get_result(self, timeout):
        try: return self.results.get(timeout=timeout)
        except queue.Empty: return None
    def add_request(self, input_ids, request_id, max_new_tokens, streaming):
        assert streaming
        def work():
            for count in range(1, max_new_tokens + 1):
                time.sleep(0.002)
                if len(input_ids) == 7: return self.results.put(Result(request_id, [], False, "no memory"))
                if count % 2 == 0 or count == max_new_tokens:
                    self.results.put(Result(request_id, [sum(input_ids) + n for n in range(count)], count == max_new_tokens, None))
        threading.Thread(target=work).start()
class LlamaForCausalLM:
    def __init__(self, config): assert config["hidden_size"] == 64
    def eval(self): return self
    def requires_grad_(self, _): pass
    def set_attn_implementation(self, name): assert name == "paged|sdpa"
    def init_continuous_batching(self, generation_config, continuous_batching_config):
        assert continuous_batching_config.page_size == 64 and continuous_batching_config.use_cuda_graph
        return Manager()
""", "transformers/generation/__init__.py": "", "transformers/generation/configuration_utils.py": """
import dataclasses
@dataclasses.dataclass
class ContinuousBatchingConfig:
    page_size: int = 0
    num_blocks: int = 0
    use_cuda_graph: bool = False
"""}


def test_transformers_delivers_tokens_as_they_come(tmp_path, ask):
    for name, text in FAKES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path / "socket"
    made = bounded.Talking(sys.executable, engine.__file__, "transformers", "tiny", 4, 8, path, "all", patience_s=PATIENCE_S,
                           env=ENV | {"PYTHONPATH": f"{ROOT / 'lab'}:{tmp_path}"})
    try:
        made.ready()
        found = ask({"requests": [request(4, output=5), request(7), request(2, output=3)], "in_flight": 3, "socket": str(path)})
        assert [one["text"] for one in found] == [[10, 11, 12, 13, 14], [], [3, 4, 5]] and found[1]["error"] == "no memory"
        made.ask("facts")
        assert json.loads(made.line())["engine"].endswith("CUDA graphs, 5.17.0")
    finally:
        made.kill()


def test_no_module_beside_the_engine_hides_a_package():
    """A script's own folder comes first on Python's path, and transformers imports many packages."""
    own = {path.stem for path in pathlib.Path(engine.__file__).parent.glob("*.py")}
    others = {"requests", "packaging", "tokenizers", "tqdm", "yaml", "regex", "filelock", "httpx", "numpy", "safetensors"}
    assert not own & (others | sys.stdlib_module_names)


# --- the whole measurement ---

NO_NVQOS = """#!/usr/bin/python3
import json, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
if any(word.endswith("=share:20%") for word in sys.argv):
    sys.exit("these goals cannot be kept together")
for n in range(10000):
    print(json.dumps({"data": {"tenants": [{"kept": n % 10 > 0}, {"kept": None}]}}), flush=True)
    time.sleep(0.05)
"""
NO_MPS = """#!/bin/sh
echo "$CUDA_MPS_PIPE_DIRECTORY $*" >> "$NO_MPS"
"""


# A recorder: the neighbour has the GPU all the time.
NO_NVDEBUGCTL = """#!/usr/bin/python3
import json, os, pathlib, signal, subprocess, sys, time
begin = time.monotonic_ns()
def end(*_):
    pid = int(subprocess.check_output(["pgrep", "-P", str(os.getppid()), "-f", "neighbours.py"]))
    with open(sys.argv[-1], "a") as file:
        for line in ({"kind": "origin", "gpu": 0, "monotonic_ns": str(begin)},
                     {"kind": "turn", "gpu": 0, "engine": "GR0", "pid": pid, "begin_ns": 0, "end_ns": time.monotonic_ns() - begin}):
            print(json.dumps(line), file=file)
    sys.exit(STATUS)
signal.signal(signal.SIGINT, end)
assert sys.argv[1:-1] == "--from driver record --rate 0 -o".split()
open(sys.argv[-1], "w").close()
while True:
    signal.pause()
"""


@pytest.fixture
def measure(tmp_path):
    for name, text in (("nvqos", NO_NVQOS), ("nvidia-cuda-mps-control", NO_MPS), ("nvdebugctl", NO_NVDEBUGCTL.replace("STATUS", "0"))):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    env = dict(os.environ) | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "NO_MPS": str(tmp_path / "mps")}

    def call(*words):
        return subprocess.run([MEASUREMENT, tmp_path / "nvqos", tmp_path / "out", "--shape", "tiny", "--seeds", "1", "--loads", "40",
                               "--requests", "10", "--settle", "0.2", *words], env=env, capture_output=True, text=True,
                              timeout=12 * PATIENCE_S, check=False)
    return call


STAND_IN = ("--engine", "sleep", "--neighbour", "sleep")


def record_of(tmp_path):
    return table.load(tmp_path / "out/qos_llm.json")


def left_of(folder):
    """Returns the command lines of programs of the benchmark that still run."""
    left = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"nvdlab/llm/" in (words := path.read_bytes()) and b"/llm-" in words and str(folder).encode() in words:
                left.append(words)
    return left


def test_an_engine_is_measured_in_each_way_and_nothing_twice(measure, tmp_path):
    other = measure(*STAND_IN, "--budget", "1", "--neighbours", "long")
    assert other.returncode == 3 and json.loads(other.stdout)["left"] == 1, "the row alone is beside no kind of neighbour"
    short = measure(*STAND_IN, "--budget", "1")
    assert short.returncode == 3 and json.loads(short.stdout)["left"] == 6 and not short.stderr
    done = measure(*STAND_IN, "--rows", "alone,as-is,latency,latency-share,mps")
    assert done.returncode == 0, done.stderr
    found = record_of(tmp_path)
    jsonschema.validate(found, json.loads(table.SCHEMA.read_text(encoding="utf-8")))
    cells = {cell["row"]: cell for cell in found["cells"]}
    assert {cell["rate"] for cell in cells.values()} == {found["calibration"]["rates"]["40"]}
    assert list(cells) == ["alone", "as-is", "latency", "latency-share", "mps"]
    assert cells["latency-share"]["refused"].endswith("these goals cannot be kept together")
    for row in ("alone", "as-is", "latency", "mps"):
        counted = [one for one in cells[row]["requests"] if one["counted"]]
        assert len(counted) == 10 and all(one["error"] is None and one["got"] == one["asked"] for one in counted), row
        assert [one["due"] for one in counted] == pytest.approx([one["due"] for one in cells["alone"]["requests"] if one["counted"]], abs=2)
        assert bool(cells[row]["steps"]) == (row != "alone") and cells[row]["bits"] == cells["alone"]["bits"]
    assert cells["latency"]["nvqos"]["status"] == 0 and cells["latency"]["nvqos"]["missed"][0] > 0
    assert cells["latency"]["nvqos"]["goals"] == ["latency", "best-effort"] and found["neighbours"]["sleep"]["per_s"] > 0
    server, begun = (tmp_path / "mps").read_text(encoding="utf-8").split("\n")[0].split(" ", 1)
    assert begun == "-d" and not pathlib.Path(server).exists()
    assert "| nvqos, engine `latency` |" in done.stdout and "refused: nvqos ended with 1" in done.stdout
    again = measure(*STAND_IN, "--rows", "alone,mps")
    assert again.returncode == 0 and "took_s" not in again.stdout, "nothing is measured twice"
    other = measure(*STAND_IN, "--output", "2,3")
    assert other.returncode == 1 and "has another output ([4, 8])" in other.stderr and "Traceback" not in other.stderr


def test_a_neighbour_waits_beside_the_row_alone(measure, tmp_path):
    assert measure(*STAND_IN, "--rows", "alone").returncode == 0
    found = record_of(tmp_path)
    assert found["neighbours"]["sleep"]["per_s"] > 0, "it was started"
    assert [cell["steps"] for cell in found["cells"]] == [[]], "it waited"


def test_turns_are_recorded_beside_a_neighbour(measure, tmp_path):
    done = measure(*STAND_IN, "--rows", "alone,as-is,latency,mps", "--nvdebugctl", tmp_path / "nvdebugctl")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {cell["row"] for cell in record_of(tmp_path)["cells"] if "neighbour_pid" in cell} == {"as-is", "latency"}
    shown = subprocess.run([ROOT / "lab/nvdlab/llm/loss.py", tmp_path / "out"], capture_output=True, text=True, check=True)
    rows = [line.split("|")[1:] for line in shown.stdout.splitlines()[2:]]
    assert [row[0].strip() for row in rows] == ["as-is", "latency"]
    assert all(row[6:9] == [" 0.0 (0.0, 0.0) ", " 0.0 ", " 0.0 "] for row in rows), shown.stdout


def test_a_recorder_that_does_not_begin_costs_no_time(measure, tmp_path):
    (tmp_path / "nvdebugctl").write_text("#!/bin/sh\necho no driver\nexit 3\n", encoding="utf-8")
    done = measure(*STAND_IN, "--rows", "as-is", "--nvdebugctl", tmp_path / "nvdebugctl")
    assert done.returncode == 1 and "did not begin to record: no driver" in done.stdout and not done.stderr


def test_a_recorder_that_fails_costs_its_cells(measure, tmp_path):
    (tmp_path / "nvdebugctl").write_text(NO_NVDEBUGCTL.replace("STATUS", "'the disk is full'"), encoding="utf-8")
    done = measure(*STAND_IN, "--rows", "as-is", "--nvdebugctl", tmp_path / "nvdebugctl")
    assert done.returncode == 1 and "nvdebugctl record ended with 1: the disk is full" in done.stdout and not done.stderr


def test_the_speed_alone_is_that_of_the_process_of_the_cell(measure, tmp_path):
    assert measure(*STAND_IN, "--rows", "as-is", "--loads", "40").returncode == 0
    first = record_of(tmp_path)["cells"][0]["alone_per_s"]
    assert measure(*STAND_IN, "--rows", "as-is", "--loads", "40,60").returncode == 0
    found = record_of(tmp_path)
    assert [cell["alone_per_s"] for cell in found["cells"]] == [first, found["neighbours"]["sleep"]["per_s"]]
    assert first != found["neighbours"]["sleep"]["per_s"], "the second call started another process"


def test_an_engine_that_ends_costs_one_cell(measure, tmp_path):
    """nvqos kills the engine, its first tenant, at the first call."""
    (tmp_path / "nvqos").write_text(NO_NVQOS.replace("for n in", f"""import os
if not os.path.exists("{tmp_path}/done"):
    open("{tmp_path}/done", "w").close()
    os.kill(int(sys.argv[2].split("=")[0]), signal.SIGKILL)
for n in"""), encoding="utf-8")
    done = measure(*STAND_IN, "--rows", "alone,latency", "--loads", "40,60")
    assert done.returncode == 1 and not done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [(line["cell"].split("/")[:3], "failed" in line) for line in lines] == [
        (["alone", "none", "40"], False), (["latency", "sleep", "40"], True),
        (["alone", "none", "60"], False), (["latency", "sleep", "60"], False)]
    assert "the engine" in lines[1]["failed"]
    assert measure(*STAND_IN, "--rows", "alone,latency", "--loads", "40,60").returncode == 0, "the cell that failed is measured again"


def test_a_cell_fails_if_nvqos_ends_in_the_middle(measure, tmp_path):
    (tmp_path / "nvqos").write_text(NO_NVQOS.replace("range(10000):", "range(2):").replace("sleep(0.05)", "sleep(0.3)")
                                    + 'sys.exit("a reason")\n', encoding="utf-8")
    done = measure(*STAND_IN, "--rows", "latency")
    assert done.returncode == 1 and "nvqos ended with 1 in the middle: a reason" in done.stdout and not done.stderr
    assert not (tmp_path / "out/qos_llm.json").exists(), "the cell has no figures"


def test_a_crash_of_the_neighbour_is_recorded(measure, tmp_path):
    done = measure(*STAND_IN, "--cells", "crash", "--rows", "as-is,mps")
    assert done.returncode == 0, done.stderr
    crashes = [tuple(cell["crash"][key] for key in ("how", "neighbour", "engine", "last_words")) for cell in record_of(tmp_path)["cells"]]
    killed, failed = (("kill", -9, "goes on", "it printed nothing"), ("fault", 1, "goes on", "the stand-in fails as it was asked to"))
    assert crashes == [killed, failed] * 2, "the last words are the cell's own"
    assert "the neighbour makes an illegal access | goes on |" in done.stdout


def test_a_crash_in_a_row_that_is_refused_is_not_tried(measure, tmp_path):
    (tmp_path / "nvqos").write_text("#!/bin/sh\necho 'not on this GPU' >&2\nexit 2\n", encoding="utf-8")
    done = measure(*STAND_IN, "--cells", "crash", "--rows", "latency")
    assert done.returncode == 0, done.stderr
    killed = "| nvqos, engine `latency` | the neighbour is killed (SIGKILL) | refused: nvqos ended with 2: not on this GPU | 0 of 0 | – |"
    assert killed in done.stdout
    assert "Beside" not in done.stdout, "the row itself was not asked for"


def test_an_engine_at_an_address_is_measured(measure, serving, tmp_path):
    serving.answers[128] = (200, True, [token("a"), 0.005, token("b"), USAGE % 2])
    address = f"http://127.0.0.1:{serving.server_port}/v1"
    done = measure("--neighbour", "sleep", "--address", address, "--model", "m", "--tenant", "command:vllm")
    assert done.returncode == 0, done.stderr
    found = record_of(tmp_path)
    assert [cell["row"] for cell in found["cells"]] == ["alone", "as-is", "latency", "latency-share"], "the MPS server is the engine's"
    assert found["engine"]["engine"] == "m, through OpenAI's completions" and found["cells"][0]["captures"] is None
    assert all(one["got"] == 2 for one in found["cells"][1]["requests"])


def test_an_engine_that_does_not_start_is_named_with_its_log(measure):
    done = measure("--engine", "transformers", "--neighbour", "sleep", "--rows", "alone")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "its log ends with: ModuleNotFoundError: No module named 't" in done.stdout


@pytest.mark.parametrize("words, sentence", (
    (("--rows", "best"), "there is no 'best'; there are: alone, as-is"), (("--cells", "all"), "there are: main, more, crash"),
    (("--neighbours", "none"), "there are: train, diffusion"),
    (("--loads", "100"), "'100' is no list of numbers from 1 to 99"), (("--rows", "partition"), "give --nvtaskset"),
    (("--output", "8,4"), "the smallest and the largest"), (("--address", "http://x/v1"), "belong together"),
    (("--address", "http://x/v1", "--model", "m"), "give --tenant"),
    (("--address", "http://x/v1", "--model", "m", "--rows", "mps"), "the row mps needs an engine that is started at an MPS server")))
def test_wrong_words_about_an_engine_are_refused(measure, words, sentence):
    done = measure(*words)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr


# --- with PyTorch, on the processor ---

@pytest.mark.ci
def test_the_own_engine_makes_the_tokens_of_the_plain_network():
    torch = pytest.importorskip("torch", reason="PyTorch is not a package that the tests install; apt-get install python3-torch")
    made = engine.Own(torch, engine.llama.SHAPES["tiny"], 8, 6)
    prompt, net = [5, 6, 7, 8, 9, 10, 11, 12], made.net

    def plain(text, count):
        for _ in range(count):
            with torch.no_grad():
                states = net.forward(torch.tensor(text), torch.arange(len(text)), net.causal(1))
            text = [*text, int(net.logits(states[-1:]).argmax(-1))]
        return text[-count:]
    tokens = [made.prefill(3, prompt)]
    made.prefill(4, prompt[::-1])
    for at in range(8, 12):
        tokens.append(made.decode([(3, tokens[-1], at), (4, 7, 8)])[0])
    assert tokens == plain(prompt, 5) and len(set(tokens)) > 1
