# SPDX-License-Identifier: MIT OR GPL-2.0
"""The programs of the benchmark: the engine, the client and the neighbour, each on processors of its own, and nvqos.

The engine stays while the rows need the same surroundings: it is started again for the rows at an MPS server, after it has
ended, and after a crash at that server. A neighbour is started again for another kind, and for other words or variables in
front of it.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from nvdlab import bounded
from nvdlab.llm import cells, client, engine, figures, loss, neighbours, plans, progress

LAB = pathlib.Path(__file__).resolve().parents[2]
MARKS = LAB.parent / "packaging/wheel"   # has the module with which engines mark their busy periods
START_S = 150          # of a program at most
USUAL_ENGINE_S, USUAL_NEIGHBOUR_S = 40, 20   # an H200 took 25 and 8 s
BEGIN_S = 0.05         # from the client's `ready` to the first moment of its plan
PATIENCE_S = 15        # behind the last request that is due
ALONE_S = 3
CLOSED_S = 60
BITS = 8               # requests whose outputs are compared, one at a time
TRIAL = 60             # requests by which the rate for a load is corrected
BITS_SEED, WARM_SEED, CALIBRATION_SEED, TRIAL_SEED = range(9001, 9005)


def apart(allowed):
    """Returns processors for nvqos, the client, the engine and the neighbour; None: there are too few to keep them apart."""
    if len(allowed) < 6:
        return dict.fromkeys(("nvqos", "client", "engine", "neighbour"))
    rest = allowed[2:]
    return {"nvqos": allowed[:1], "client": allowed[1:2], "engine": rest[:len(rest) // 2], "neighbour": rest[len(rest) // 2:]}


def as_word(cpus):
    return ",".join(map(str, cpus)) if cpus else "all"


class Desk:
    """@param options has `nvqos`, `nvtaskset`, `nvdebugctl`, `folder`, `engine`, `shape`, `neighbour_shape`, `neighbours` (their kinds),
    `neighbour` (a stand-in for all of them, or None), `prompt`, `output`, `vocabulary`, and `address`, `model` and `tenant` of an engine
    that runs already, or None"""

    def __init__(self, options):
        self.options = options
        self.cpus = apart(sorted(os.sched_getaffinity(0)))
        if self.cpus["nvqos"]:
            os.sched_setaffinity(0, self.cpus["nvqos"])  # nvqos and its keeper inherit it
        self.shape = {"prompt": options.prompt, "output": options.output, "vocabulary": options.vocabulary}
        self.place = tempfile.TemporaryDirectory(prefix="llm-")
        self.surroundings, self.env, self.setup = contextlib.ExitStack(), bounded.without_mps(), "plain"
        self.engine = self.neighbour = self.view = self.kind = None
        self.sockets, self.engine_kind = 0, options.engine
        self.log_begins = {}  # by program: the place in its log at which the output of the program that was started last begins

    # --- programs ---

    def environment(self, **more):
        paths = [str(LAB), str(MARKS), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {"OMP_NUM_THREADS": "2"} | self.env | {"PYTHONPATH": os.pathsep.join(paths), "HF_HUB_OFFLINE": "1",
                                                      "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"} | more

    def log(self, name):
        """Returns the log of a program that is about to be started, behind the output of earlier ones."""
        log = open(self.options.folder / f"{name}.log", "ab")  # pylint: disable=consider-using-with # the caller closes it
        self.log_begins[name] = log.tell()
        return log

    def tail(self, name):
        """Returns the last line of the program that was started last."""
        own = (self.options.folder / f"{name}.log").read_bytes()[self.log_begins[name]:]
        lines = own.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "it printed nothing"

    def surround(self, setup):
        """Ends all programs and the MPS server, if the next row needs other surroundings."""
        if setup != self.setup:
            self.end()
            self.env, self.setup = bounded.without_mps(), "plain"
            self.surroundings.close()
            if setup == "mps":
                self.env, self.setup = self.surroundings.enter_context(bounded.mps())[0], setup

    def start_engine(self):
        """Starts the engine, unless it runs. Raises bounded.Late.

        An engine that was `auto` is of the same kind whenever it is started again. If transformers hangs, the own loop takes
        its place.
        """
        if self.options.address or self.engine and self.engine.process.poll() is None:
            return
        for kind in ("auto", "own") if self.engine_kind == "auto" else (self.engine_kind,):
            try:
                self.begin_engine(kind)
                break
            except bounded.Late:
                if kind != "auto":
                    raise
        self.engine_kind = self.facts()["kind"]
        self.warm()

    def begin_engine(self, kind):
        self.end_engine()
        self.sockets += 1
        with self.log("engine") as log:
            self.engine = bounded.Talking(sys.executable, engine.__file__, kind, self.options.shape, self.options.prompt,
                                          self.options.output[1], self.socket(), as_word(self.cpus["engine"]),
                                          env=self.environment(), patience_s=START_S, stderr=log)
        try:
            self.engine.ready()
        except bounded.Late as late:
            raise bounded.Late(f"{late}; its log ends with: {self.tail('engine')}") from None

    def socket(self):
        return f"{self.place.name}/{self.sockets}"

    def facts(self):
        """Returns what the engine is, and how many CUDA graphs it has captured so far."""
        if self.options.address:
            return {"engine": f"{self.options.model}, through OpenAI's completions", "kind": "address", "shape": None, "captures": None}
        try:
            self.engine.ask("facts")
            return json.loads(self.engine.line())
        except (bounded.Late, OSError):
            raise bounded.Late(f"the engine has ended; its log ends with: {self.tail('engine')}") from None

    def has_neighbour(self, cell):
        """Returns whether the neighbour of a cell runs. Beside the row alone any one can wait."""
        row = cells.BY_NAME[cell.row]
        runs = self.neighbour and self.neighbour.poll() is None
        return bool(runs and (cell.neighbour == "none" or self.kind == (cell.neighbour, row.env, row.words)))

    def start_neighbour(self, cell):
        """Starts the neighbour of a cell. Returns its kind. Raises bounded.Late."""
        row = cells.BY_NAME[cell.row]
        kind = cell.neighbour if cell.neighbour != "none" else self.options.neighbour or self.options.neighbours[0]
        self.end_neighbour()
        path = pathlib.Path(self.place.name, "steps")
        progress.create(path)
        self.view, self.kind = progress.View(path), (kind, row.env, row.words)
        words = [self.options.nvtaskset, *row.words] if row.words else []
        shape = self.options.shape if kind == "engine" else self.options.neighbour_shape
        with self.log("neighbour") as log:
            self.neighbour = subprocess.Popen([*map(str, words), sys.executable, neighbours.__file__, kind, shape, path,
                                               as_word(self.cpus["neighbour"])], env=self.environment(**dict(row.env)),
                                              stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + START_S
        while not self.view.is_ready():
            if self.neighbour.poll() is not None or time.monotonic() > until:
                raise bounded.Late(f"the neighbour '{kind}' was not ready in {START_S} s: {self.tail('neighbour')}")
            time.sleep(0.05)
        return kind

    def end_engine(self):
        if self.engine:
            self.engine.kill()
        self.engine = None

    def end_neighbour(self):
        if self.neighbour:
            self.neighbour.kill()
            self.neighbour.wait(bounded.END_S)
        self.neighbour = None

    def end(self):
        self.end_engine()
        self.end_neighbour()

    def close(self):
        self.end()
        self.surroundings.close()
        self.place.cleanup()

    def usual_s(self, cell):
        """Returns how long the programs of a cell usually take to start."""
        row = cells.BY_NAME[cell.row]
        other = row.setup != self.setup
        starts_neighbour = other or not self.has_neighbour(cell)
        return (USUAL_ENGINE_S if other or not (self.engine or self.options.address) else 0) + USUAL_NEIGHBOUR_S * starts_neighbour

    def prepare(self, cell):
        """Starts what a cell needs. A neighbour waits, also beside the row alone, so that all cells have the same programs. Returns
        the kind of the neighbour if it was started."""
        self.surround(cells.BY_NAME[cell.row].setup)
        self.start_engine()
        return None if self.has_neighbour(cell) else self.start_neighbour(cell)

    # --- requests ---

    def started(self, asked):
        """Returns a client that is ready for these requests. Raises bounded.Late."""
        path = self.asked()
        path.with_suffix(".out").unlink(missing_ok=True)
        options = self.options
        where = {"address": options.address, "model": options.model} if options.address else {"socket": self.socket()}
        path.write_text(json.dumps(asked | where | {"cpus": self.cpus["client"]}), encoding="utf-8")
        with self.log("client") as log:
            made = bounded.Talking(sys.executable, client.__file__, path, env=self.environment(), stderr=log)
        try:
            made.ready()
        except bounded.Late as late:
            made.kill()
            raise bounded.Late(f"{late}; its log ends with: {self.tail('client')}") from None
        return made

    def asked(self):
        return pathlib.Path(self.place.name, "asked.json")

    def ended(self, started, seconds):
        """Returns the requests of a client. Raises bounded.Late."""
        try:
            status = started.process.wait(seconds)
        except subprocess.TimeoutExpired:
            started.kill()
            raise bounded.Late(f"the client did not end in {seconds:.0f} s") from None
        if status:
            raise bounded.Late(f"the client ended with {status}: {self.tail('client')}")
        return json.loads(self.asked().with_suffix(".out").read_text(encoding="utf-8"))

    def closed(self, count, in_flight, seed):
        """Returns requests of which so many are in flight at a time."""
        asked = plans.closed(count, seed, self.shape)
        started = self.started({"requests": asked, "in_flight": in_flight, "patience_s": CLOSED_S})
        started.ask(0)
        return self.ended(started, CLOSED_S + 10)

    def warm(self):
        """Lets the engine meet batches of all sizes, so that none is new while requests count."""
        for in_flight in (1, 8, 32, engine.SLOTS):
            self.closed(2 * in_flight + 6, in_flight, WARM_SEED)

    def calibrated(self):
        """Returns how long a request takes alone (s), and the requests per second with many in flight. Raises bounded.Late."""
        if self.options.address:
            self.warm()
        one, many = self.closed(16, 1, CALIBRATION_SEED), self.closed(128, 32, CALIBRATION_SEED)
        if failed := [request["error"] for request in one + many if request["error"]]:
            raise bounded.Late(f"the engine failed {len(failed)} requests of the calibration: {failed[0]}")
        span = max(request["ended"] for request in many) - min(request["sent"] for request in many)
        return {"request_s": round(statistics.median(request["ended"] - request["sent"] for request in one) / 1e6, 6),
                "most_per_s": round(len(many) * 1e6 / span, 3)}

    def rated(self, load, request_s):
        """Returns the requests per second for a load in percent, by a trial without the neighbour. Raises bounded.Late."""
        rate = plans.rate_for(load / 100, request_s)
        found, *_ = self.by_the_clock(plans.plan("poisson", rate, TRIAL_SEED, TRIAL, 0, self.shape))
        return round(plans.corrected(load / 100, rate, figures.idle(found)), 4)

    def by_the_clock(self, asked, meanwhile=lambda begin: None):
        """Returns the requests of a plan, its first moment, and the result of meanwhile(), which gets that moment."""
        started = self.started({"requests": asked, "patience_s": PATIENCE_S})
        begin = client.now_us() + int(1e6 * BEGIN_S)
        started.ask(begin)
        try:
            other = meanwhile(begin)
        except BaseException:
            started.kill()
            raise
        return self.ended(started, asked[-1]["due_s"] + PATIENCE_S + BEGIN_S + 10), begin, other

    def bits(self):
        """Returns a digest of the outputs of some requests, one at a time, so that batches are the same in each row; None: one failed."""
        found = self.closed(BITS, 1, BITS_SEED)
        if any(request["error"] for request in found):
            return None
        return hashlib.sha256(json.dumps([request["text"] for request in found]).encode()).hexdigest()[:16]

    # --- the neighbour ---

    def go(self, does_go):
        if self.view:
            self.view.tell(progress.GO if does_go else progress.WAIT)

    def alone_per_s(self):
        """Returns the neighbour's steps per second and their lengths, while the engine has no request."""
        self.go(True)
        time.sleep(1)
        begin = client.now_us()
        time.sleep(ALONE_S)
        end = client.now_us()
        self.go(False)
        found = self.view.times_us()
        inside = [moment for moment in found if begin <= moment <= end]
        if len(inside) < 3:
            raise bounded.Late(f"the neighbour '{self.kind[0]}' made {len(inside)} steps in {ALONE_S} s: {self.tail('neighbour')}")
        per_s = (len(inside) - 1) * 1e6 / (inside[-1] - inside[0])
        return {"per_s": round(per_s, 4), "step_ms": round(1000 / per_s, 3), "setup": self.setup,
                "is_graph": self.view.is_graph()}

    def crash(self, how):
        """Makes the neighbour end, and waits until it has. Raises bounded.Late if it goes on."""
        if how == "kill":
            self.neighbour.kill()
        else:
            self.view.tell(progress.FAULT)
        try:
            self.neighbour.wait(bounded.END_S)
        except subprocess.TimeoutExpired:
            raise bounded.Late("the neighbour did not end by its illegal access") from None

    # --- nvqos ---

    @contextlib.contextmanager
    def keeping(self, row):
        """Yields a dict that has, at the end, what nvqos did; without goals an empty one."""
        found = {}
        if not row.goals:
            yield found
            return
        tenants = (self.options.tenant or str(self.engine.pid), str(self.neighbour.pid))
        goals = (f"{tenant}={goal}" for tenant, goal in zip(tenants, row.goals))
        nvqos = bounded.Keeping(self.options.nvqos, *row.more, *goals)
        try:
            if nvqos.refused is not None:
                raise bounded.Failed(f"nvqos ended with {nvqos.process.returncode}: {nvqos.refused}")
            before, begin = nvqos.processor_s(), time.monotonic()
            yield found
            if nvqos.process.poll() is not None:
                raise bounded.Late(f"nvqos ended with {nvqos.process.returncode} in the middle: {nvqos.told()}")
            found["processor"] = round((nvqos.processor_s() - before) / (time.monotonic() - begin), 4)
            epochs = nvqos.tenants()
            found["epochs"] = len(epochs)
            found["missed"] = [sum(epoch[who].get("kept") is False for epoch in epochs if who < len(epoch)) for who in (0, 1)]
        finally:
            found["status"] = nvqos.end(signal.SIGINT)

    # --- a recording ---

    @contextlib.contextmanager
    def recording(self, cell):
        """Records all turns on the GPU for loss.py, if there is nvdebugctl, and yields a dict that has what loss.py needs at the
        end. At an MPS server all turns are the server's, and are not recorded. Raises bounded.Late."""
        found = {}
        if not self.options.nvdebugctl or cell.neighbour == "none" or cells.BY_NAME[cell.row].mps:
            yield found
            return
        path = self.options.folder / loss.file_of(cell.key)
        path.unlink(missing_ok=True)
        with self.log("recorder") as log:
            recorder = subprocess.Popen([self.options.nvdebugctl, "--from", "driver", "record", "--rate", "0", "-o", path],
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            if self.cpus["neighbour"]:
                os.sched_setaffinity(recorder.pid, self.cpus["neighbour"][-1:])  # nvqos has a processor for itself
            until = time.monotonic() + bounded.START_S
            while not path.exists():
                if recorder.poll() is not None or time.monotonic() > until:
                    raise bounded.Late(f"nvdebugctl did not begin to record: {self.tail('recorder')}")
                time.sleep(0.01)
            yield found
            recorder.send_signal(signal.SIGINT)
            if recorder.wait(bounded.END_S) not in (0, 4):  # 4: not all GPUs can be recorded
                raise bounded.Late(f"nvdebugctl record ended with {recorder.returncode}: {self.tail('recorder')}")
            found["neighbour_pid"] = self.neighbour.pid
        finally:
            recorder.kill()
            recorder.wait()

    # --- a cell ---

    def measured(self, cell, rate, counted, settle_s):
        """Returns what the record has of a cell. Raises bounded.Failed."""
        row = cells.BY_NAME[cell.row]
        self.prepare(cell)
        asked = plans.plan(cell.arrivals, rate, cell.seed, counted, settle_s, self.shape)
        self.go(cell.neighbour != "none")
        try:
            with self.recording(cell) as recorded, self.keeping(row) as nvqos:
                before = self.facts()["captures"]
                found, begin, crash = self.by_the_clock(
                    asked, lambda begin: self.crashed(cell, begin, asked) if cell.crash else None)
                made = self.made(cell, found, begin)
                if not cell.crash:
                    made["captures"] = None if before is None else self.facts()["captures"] - before
                    if (cell.load, cell.arrivals, cell.seed) == (cells.USUAL_LOAD, "poisson", 1):
                        made["bits"] = self.bits()
        finally:
            self.go(False)
        if crash:
            made["crash"] = crash | {"engine": self.state_of_engine()}
        if recorded:
            made |= recorded | {"begin_us": begin}
        return made | ({"nvqos": nvqos | {"goals": row.goals}} if row.goals else {})

    def crashed(self, cell, begin, asked):
        counted = [request["due_s"] for request in asked if request["counted"]]
        time.sleep(max(0, begin + 1e6 * counted[len(counted) // 2] - client.now_us()) / 1e6)
        at_us = client.now_us() - begin
        self.crash(cell.crash)
        return {"how": cell.crash, "at": at_us, "neighbour": self.neighbour.returncode, "last_words": self.tail("neighbour")}

    def state_of_engine(self):
        if self.options.address:
            return "not known"
        status = self.engine.process.poll()
        return "goes on" if status is None else f"ended with {status}: {self.tail('engine')}"

    def after_crash(self):
        """Ends programs that a crash may have harmed: at an MPS server all, and the server."""
        self.end_neighbour()
        if self.setup == "mps":
            self.surround("plain")

    def made(self, cell, found, begin):
        """Returns the requests and the neighbour's steps, with the times from BEGIN on."""
        keys = ("due", "sent", "ended")
        steps = self.view.times_us() if cell.neighbour != "none" else []
        last = max(request["ended"] for request in found)
        return {"cpus": self.cpus, "window": [moment - begin for moment in figures.window(found)],
                "late_ms": round(max(request["sent"] - request["due"] for request in found) / 1000, 3),
                "steps": [moment - begin for moment in steps if begin - 2e6 <= moment <= last + 2e6],
                "requests": [{key: value for key, value in request.items() if key not in ("text", *keys)}
                             | {key: request[key] - begin for key in keys}
                             | {"tokens": [moment - begin for moment in request["tokens"]]} for request in found]}
