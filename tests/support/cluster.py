# SPDX-License-Identifier: MIT OR GPL-2.0
"""A cluster without Kubernetes: an API server with the paths that nvdebug-device-plugin dra asks for, over TLS, kubelet's calls
of a DRA driver, and a node with nvqos over the stand-in for the driver. Each object that is written is held against
tests/data/resource.k8s.io-v1.json."""

import contextlib
import copy
import http.server
import itertools
import json
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

import jsonschema
import pytest
from building import ROOT, built
from kubelet import Api
from node import UUIDS, name_gpus
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

DRIVER = "gpu.nvdebug.io"
NODE = "node-1"
SLICE = f"{NODE}-{DRIVER}"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
SCHEMA = json.loads((ROOT / "tests/data/resource.k8s.io-v1.json").read_text(encoding="utf-8"))
TOKEN = "a-token.of-a.service-account"


class Refusal(Exception):
    """An answer of the API server that is not 2xx."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status, self.message = status, message


def check(kind, thing):
    try:
        jsonschema.validate(thing, {"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}, jsonschema.Draft202012Validator)
    except jsonschema.ValidationError as error:
        raise Refusal(422, f"{kind} is invalid: {error.message}") from error


class ApiServer:
    """The objects of a cluster, and what is wrong with the server now."""

    def __init__(self, folder):
        self.folder = folder
        self.lock = threading.Lock()
        self.versions = itertools.count(1)
        self.slices, self.claims, self.events = {}, {}, []
        self.token = TOKEN
        self.node_uid = "uid-of-the-node"
        self.refuse = {}   # by a regular expression of "METHOD PATH": (status, message), or how many seconds it takes
        self.drops = set()  # keys of devices that this server drops
        self.log = []      # (method, path, status)
        self.effects = []  # of the taints that were written
        self.port = 0
        self.server = None
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-keyout", folder / "key.pem", "-out", folder / "ca.crt", "-subj", "/CN=cluster", "-addext",
                        "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        self.token_file = folder / "token"
        self.token_file.write_text(TOKEN + "\n", encoding="utf-8")

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def start(self):
        cluster = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, answer = cluster.answer(self.command, self.path, self.headers, body)
                text = json.dumps(answer).encode()
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

            def finish_request(self, request, client_address):
                with contextlib.suppress(OSError), self.context.wrap_socket(request, server_side=True) as tls:
                    super().finish_request(tls, client_address)

        Server.context.load_cert_chain(self.folder / "ca.crt", self.folder / "key.pem")
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
        self.server = None

    def answer(self, method, path, headers, body):
        parts = urllib.parse.urlsplit(path)
        whole = f"{method} {parts.path}"
        try:
            if headers.get("Authorization") != f"Bearer {self.token}":
                raise Refusal(401, "Unauthorized")
            for pattern, how in list(self.refuse.items()):
                if re.search(pattern, whole) and isinstance(how, tuple):
                    raise Refusal(*how)
                if re.search(pattern, whole):
                    time.sleep(how)
            thing = json.loads(body) if body else None
            with self.lock:
                self.collect_garbage()
                status, answer = 201 if method == "POST" else 200, copy.deepcopy(
                    self.carry_out(method, parts, headers, thing))
        except Refusal as refusal:
            status, answer = refusal.status, {"kind": "Status", "status": "Failure",
                                              "message": refusal.message, "code": refusal.status}
        self.log.append((method, parts.path, status))
        return status, answer

    def collect_garbage(self):
        """Removes the slices whose owner is gone, as the controller manager does."""
        for name, one in list(self.slices.items()):
            if any(owner["uid"] != self.node_uid for owner in one["metadata"].get("ownerReferences", ())):
                del self.slices[name]

    def carry_out(self, method, parts, headers, thing):
        names = parts.path.strip("/").split("/")
        if parts.path == f"/api/v1/nodes/{NODE}" and method == "GET":
            return {"kind": "Node", "metadata": {"name": NODE, "uid": self.node_uid}}
        if parts.path == SLICES and method == "GET":
            wanted = dict(one.split("=") for one in urllib.parse.parse_qs(parts.query)["fieldSelector"][0].split(","))
            return {"kind": "ResourceSliceList", "items": [one for one in self.slices.values() if all(
                one["spec"][key.removeprefix("spec.")] == value for key, value in wanted.items())]}
        if parts.path == SLICES and method == "POST":
            if thing["metadata"]["name"] in self.slices:
                raise Refusal(409, "already exists")
            return self.put_slice(thing, uid=f"uid-{next(self.versions)}")
        if parts.path.startswith(SLICES + "/"):
            return self.one_slice(method, names[-1], thing)
        if match := re.fullmatch(r"/apis/resource.k8s.io/v1/namespaces/([^/]+)/resourceclaims/([^/]+)(/status)?", parts.path):
            claim = self.claims.get(match.group(1, 2))
            if claim is None:
                raise Refusal(404, f'resourceclaims.resource.k8s.io "{match[2]}" not found')
            if method == "GET" and not match[3]:
                return claim
            if method == "PATCH" and match[3]:
                assert headers["Content-Type"] == "application/apply-patch+yaml" and "fieldManager=" in parts.query
                return self.apply_status(claim, thing)
        if re.fullmatch(r"/api/v1/namespaces/[^/]+/events", parts.path) and method == "POST":
            check("Event", thing)
            self.events.append(thing)
            return thing
        raise Refusal(405, f"{method} {parts.path} is no path of this server")

    def put_slice(self, thing, uid):
        check("ResourceSlice", thing)
        kept = copy.deepcopy(thing)
        kept["metadata"] |= {"uid": uid, "resourceVersion": str(next(self.versions))}
        for device in kept["spec"]["devices"]:
            for capacity in device.get("capacity", {}).values():
                steps = capacity["requestPolicy"]["validRange"]
                if int(steps["min"]) + int(steps.get("step", 0)) > int(capacity["value"]):
                    raise Refusal(422, f"one step is larger than the capacity {capacity['value']}")
            for key in self.drops:
                device.pop(key, None)
            for taint in device.get("taints", ()):
                self.effects.append(taint["effect"])
                taint["timeAdded"] = "2026-01-01T00:00:00Z"
        self.slices[kept["metadata"]["name"]] = kept
        return kept

    def one_slice(self, method, name, thing):
        there = self.slices.get(name)
        if there is None:
            raise Refusal(404, f'resourceslices.resource.k8s.io "{name}" not found')
        if method == "DELETE":
            return self.slices.pop(name)
        if method == "PUT":
            if thing["metadata"]["resourceVersion"] != there["metadata"]["resourceVersion"]:
                raise Refusal(409, "the object has been modified")
            if thing["spec"]["pool"]["generation"] <= there["spec"]["pool"]["generation"]:
                raise Refusal(422, "the generation of the pool has to rise")
            return self.put_slice(thing, there["metadata"]["uid"])
        return there

    def apply_status(self, claim, thing):
        check("ResourceClaim", thing)
        if thing["metadata"]["uid"] != claim["metadata"]["uid"]:
            raise Refusal(409, "uid mismatch")

        def key(one):
            return one["driver"], one["pool"], one["device"], one.get("shareID")

        allocated = [key(one) for one in claim["status"]["allocation"]["devices"]["results"]]
        for one in thing["status"]["devices"]:
            if key(one) not in allocated:
                raise Refusal(422, f"{key(one)} is not allocated")
            assert len(json.dumps(one["data"])) <= 10240
            others = [each for each in claim["status"].get("devices", ()) if key(each) != key(one)]
            claim["status"]["devices"] = [*others, one]
        return claim

    # --- what a cluster does ---

    def claim(self, name="train", results=(("gpu", "gpu-0", 30),), config=(), uid=None, pods=("pod-1",)):
        """Makes a claim that the scheduler has allocated. Returns its uid.
        @param results the request, the device and the share of each result"""
        number = next(self.versions)
        uid = uid or f"7f3a0000-0000-4000-8000-{number:012}"
        self.claims["default", name] = {
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "default", "uid": uid, "resourceVersion": str(number)},
            "status": {
                "allocation": {"devices": {"results": [
                    {"request": request, "driver": DRIVER, "pool": NODE, "device": device, "shareID": f"{number:08}-0000-4000-8000-{place:012}",
                     "consumedCapacity": {"share": str(share)}} for place, (request, device, share) in enumerate(results)],
                    "config": list(config)}},
                "reservedFor": [{"resource": "pods", "name": pod, "uid": f"uid-of-{pod}"} for pod in pods]}}
        return uid

    def devices(self):
        """Returns the devices of the node's slice by name; nothing while there is none."""
        own = [one for one in self.slices.values() if one["spec"]["driver"] == DRIVER and one["spec"]["nodeName"] == NODE]
        return {device["name"]: device for one in own for device in one["spec"]["devices"]}

    def taints(self, device="gpu-0"):
        return [one["value"] for one in self.devices().get(device, {}).get("taints", ())]

    def condition(self, name="train"):
        """Returns the condition of the claim's only device; nothing while there is none."""
        with contextlib.suppress(KeyError, ValueError):
            (device,) = self.claims["default", name]["status"]["devices"]
            (condition,) = device["conditions"]
            return condition
        return {}


def config(parameters, source="FromClaim", requests=(), driver=DRIVER):
    return {"source": source, "requests": list(requests), "opaque": {"driver": driver, "parameters": parameters}}


class DraKubelet:
    """Does what kubelet does with a driver that has a socket in plugins_registry."""

    def __init__(self, folder, protos):
        self.folder = folder
        self.registration, self.dra = Api("plugin_registration", protos), Api("dra", protos)

    def register(self):
        """Registers the driver, as kubelet does when a socket appears or when it starts. It tries again until the socket
        answers. Returns the driver's description."""
        path = self.folder / f"plugins_registry/{DRIVER}-reg.sock"

        def answers():
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                return True
            return False

        assert comes_true(answers)
        with self.registration.channel(path) as channel:
            info = self.registration.call(channel, "Registration", "GetInfo", self.registration.message("InfoRequest")())
            self.registration.call(channel, "Registration", "NotifyRegistrationStatus",
                                   self.registration.message("RegistrationStatus")(plugin_registered=True))
        return info

    def call(self, method, uids, name=None, version="v1", names=None):
        """Calls NodePrepareResources or NodeUnprepareResources for claims. Returns the answers by uid."""
        claims = [{"namespace": "default", "uid": uid, "name": (names or {}).get(uid, name or "train")} for uid in uids]
        about = self.dra.services["DRAPlugin"][method]
        with self.dra.channel(self.folder / f"plugins/{DRIVER}/dra.sock") as channel:
            answer = channel.unary_unary(
                f"/k8s.io.kubelet.pkg.apis.dra.{version}.DRAPlugin/{method}",
                request_serializer=self.dra.message(about.input_type).SerializeToString,
                response_deserializer=self.dra.message(about.output_type).FromString)(
                    self.dra.message(about.input_type)(claims=claims), timeout=PATIENCE_S)
        assert set(answer.claims) == set(uids)
        return answer.claims

    def prepare(self, uid, name="train", **how):
        """Returns the devices of a claim."""
        answer = self.call("NodePrepareResources", [uid], name, **how)[uid]
        assert not answer.error, answer.error
        return list(answer.devices)

    def refusal(self, uid, name="train"):
        """Returns the sentence by which Prepare fails."""
        answer = self.call("NodePrepareResources", [uid], name)[uid]
        assert answer.error and not answer.devices
        return answer.error

    def unprepare(self, uid, name="train", **how):
        return self.call("NodeUnprepareResources", [uid], name, **how)[uid].error


class DraNode:
    """A node with kubelet, nvqos and the DRA driver, and the cluster that it is in."""

    def __init__(self, machine, tmp_path):
        self.machine = machine
        self.cdi, self.kubelet_folder, self.log = machine.folder / "cdi", machine.folder / "kubelet", machine.folder / "dra.log"
        self.kubelet_folder.mkdir()
        self.api = ApiServer(tmp_path)
        self.kubelet = DraKubelet(self.kubelet_folder, tmp_path)
        self.driver = None

    def words(self, *words):
        own = {"--node": NODE, "--socket": self.machine.path, "--nvqos": built("bin/nvqos"), "--cdi-folder": self.cdi,
               "--kubelet": self.kubelet_folder, "--api-server": self.api.url, "--token-file": self.api.token_file,
               "--ca-file": self.api.folder / "ca.crt", "--not-kept-for": "2s", "--report-every": "1s", "--api-timeout": "5s"}
        given = {word.split("=")[0] for word in words}
        return [str(word) for word in (built("bin/nvdebug-device-plugin"), "dra", *words,
                                       *(f"{name}={value}" for name, value in own.items() if name not in given))]

    def start(self, *words, registers=True):
        with open(self.log, "ab") as errors:
            self.driver = subprocess.Popen(self.words(*words), stdin=subprocess.DEVNULL, stderr=errors)
        if registers:
            assert comes_true(lambda: (self.kubelet_folder /
                              f"plugins_registry/{DRIVER}-reg.sock").exists() or self.driver.poll() is not None)
            assert self.driver.poll() is None, self.errors()
            return self.kubelet.register()
        return None

    def run(self, *words):
        """Runs the driver to its end. Returns its status and its sentence."""
        done = subprocess.run(self.words(*words), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        assert done.stdout == "" and len(done.stderr.splitlines()) == 1, done.stderr
        return done.returncode, done.stderr

    def stop(self, number=signal.SIGTERM):
        self.driver.send_signal(number)
        return self.driver.wait(PATIENCE_S)

    def errors(self):
        return self.log.read_text(encoding="utf-8")

    def files(self):
        return sorted(path.name for path in self.cdi.glob("*.json")) if self.cdi.exists() else []

    def held(self):
        """Returns goals and GPUs of the tenants of nvqos, by name."""
        return {one["name"]: (one["goal"], one["gpus"]) for one in self.machine.list()}

    def join(self, uid, *, goal="share:30%", gpu=0):
        """Does what the hook of a container does. Returns the container's process."""
        process = self.machine.process(gpu=False)
        assert self.machine.ask(f"join claim:{uid} {goal} gpu={UUIDS[gpu]} pid={process.pid} holder={process.pid}") == "ok"
        return process

    def looks(self):
        """Returns how often the driver has compared its slice."""
        return len([one for one in self.api.log if one[:2] == ("GET", f"{SLICES}/{SLICE}")])

    def hook_of(self, uid):
        """Returns the only hook in the file of a claim."""
        document = json.loads((self.cdi / f"nvdebug.io-qos-claim-{uid}.json").read_text(encoding="utf-8"))
        (device,) = document["devices"]
        (hook,) = device["containerEdits"]["hooks"]
        return hook

    def end(self):
        if self.driver and self.driver.poll() is None:
            self.stop(signal.SIGKILL)
        self.api.stop()


@pytest.fixture(name="bare")
def fixture_bare(machine, tmp_path, monkeypatch):
    """Yields a node without any program, in a cluster with an API server."""
    name_gpus(machine, monkeypatch)
    node = DraNode(machine, tmp_path)
    node.api.start()
    try:
        yield node
    finally:
        node.end()


@pytest.fixture(name="node")
def fixture_node(bare):
    """Yields a node with one GPU, whose driver is registered and whose slice is published without taints."""
    bare.machine.start("--quiet")
    bare.start()
    assert comes_true(lambda: bare.api.devices() and not bare.api.taints()), bare.errors()
    return bare


@pytest.fixture(name="two")
def fixture_two(bare, monkeypatch):
    """Yields the same with two GPUs."""
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    bare.machine.start("--quiet")
    bare.start()
    assert comes_true(lambda: len(bare.api.devices()) == 2 and not bare.api.taints(
        "gpu-0") and not bare.api.taints("gpu-1")), bare.errors()
    return bare
