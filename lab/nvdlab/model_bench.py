# SPDX-License-Identifier: MIT OR GPL-2.0
"""A bench with the GPU model in place of a GPU. It runs lab/model's program, in virtual time, and nvdebugctl on the files
that the module's core prints."""

import contextlib
import json
import subprocess
import tempfile

from nvdlab.bench import PATIENCE_S, Bench, Failed, without_mps

CONNECTIONS, MPS_FOLDER, PERCENTAGE = ("CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MPS_PIPE_DIRECTORY",
                                       "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE")
NO_MPS, SERVER = without_mps()[MPS_FOLDER], "mps"


class Instrument:
    """The model's version of nvdlab.bench.Instrument. Times are virtual."""

    def __init__(self, ask, pid):
        self._ask, self.pid = ask, pid

    def go(self):
        self._ask("go", self.pid)

    def finish(self):
        return self._ask("finish", self.pid)["found"]


class ModelBench(Bench):
    """BROKEN: rules that the GPU does not keep (`lab-model --help` lists them)."""

    has_grce_program = True

    def __init__(self, program, tool, broken=()):
        super().__init__(program, tool)
        words = [word for rule in broken for word in ("--break", rule)]
        self._process = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True)
        self._percentage = None
        self._folder = tempfile.TemporaryDirectory()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.communicate(timeout=PATIENCE_S)
        self._folder.cleanup()

    def ask(self, *words):
        """Sends a request to lab-model and returns its answer."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(" ".join(map(str, words)) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Failed(f"lab-model ended: {self._process.stderr.read().strip()}")
        answer = json.loads(line)
        if not answer["ok"]:
            raise Failed(f"lab-model: {answer['error']}")
        return answer

    # --- time ---

    def now_us(self):
        return self.ask("advance", 0)["now_us"]

    def sleep(self, seconds):
        self.ask("advance", round(seconds * 1e6))

    # --- instruments ---

    @contextlib.contextmanager
    def ready(self, *wanted):
        try:
            running = []
            for name, options, *env in wanted:
                words = (f"{key}={value}" for key, value in {**options, **self._cuda(env[0] if env else {})}.items())
                running.append(Instrument(self.ask, self.ask("open", name, *words)["pid"]))
            self.ask("ready")
            yield running
        finally:
            self.ask("end")

    def _cuda(self, env):
        """Returns the variables of an environment that mean something to the model."""
        if env.get(MPS_FOLDER, NO_MPS) == NO_MPS:
            return {key: value for key, value in env.items() if key == CONNECTIONS}
        limit = {PERCENTAGE: self._percentage} if self._percentage else {}
        return limit | {key: value for key, value in env.items() if key in (CONNECTIONS, MPS_FOLDER, PERCENTAGE)}

    # --- nvdebugctl ---

    def tool(self, *words):
        words = tuple(map(str, words))
        if words[:2] in (("task", "pause"), ("task", "resume")):
            self.ask(*words[1:])
        elif words[:2] == ("task", "set"):
            _, _, pid, option, mode = words
            if option != "--preemption":
                raise Failed(f"the model has no task set {option}")
            self.ask("preemption", pid, mode)
        else:
            self.ask("files", self._folder.name)
            return self._tool_on(self._folder.name, *words)
        return ""

    def samples(self, count, ms=10):
        found = {}
        for _ in range(count):
            self.sleep(ms / 1000)
            self.ask("files", self._folder.name, "device_info", "engines")
            shown = json.loads(self._tool_on(self._folder.name, "engine", "list", "--json"))
            for row in shown["data"]:
                if row["current"]:
                    one = found.setdefault(row["engine"], [0, 0])
                    one[0] += 1
                    one[1] += bool(row["busy"])
        return found

    # --- the driver itself ---

    def registers(self, *offsets):
        return [int(word) for word in self.ask("registers", *offsets)["words"]]

    def scheduling(self, pid):
        """Answers as an H100's driver does: a request for TSGs does nothing, and its status is success."""
        count = self.ask("count", pid)

        def ask(how, enabled):
            if how == "of each channel":
                self.ask("enter" if enabled else "leave", pid)
                return [0] * count["channels"]
            return [0] * count["tsgs"]
        return ask

    # --- MPS ---

    @contextlib.contextmanager
    def mps(self):
        """Yields the environment and the control of a server. Its limit counts for clients that start later."""
        def control(command):
            name, *words = command.split()
            if name == "get_server_list":
                return SERVER
            if name not in ("set_active_thread_percentage", "set_default_active_thread_percentage"):
                raise Failed(f"the model's MPS server knows no '{command}'")
            self._percentage = words[-1]
            return f"{float(words[-1]):.1f}"

        self._percentage = None
        yield without_mps(**{MPS_FOLDER: SERVER}), control
        self._percentage = None
