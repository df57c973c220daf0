# SPDX-License-Identifier: MIT OR GPL-2.0
"""One GPU model: its process, and requests on its control socket (docs/model.md)."""

import json
import socket
import time

from . import paths, process
from .errors import StrictViolation, VmError

START_DEADLINE_S = 20


class Model:
    def __init__(self, index, board, workload, folder, sysmem, link, faults=()):
        """`link` is one of transport.ALL's."""
        self.index = index
        self.board = board
        self.control_path = folder / f"model{index}.sock"
        self.log_path = folder / f"model{index}.log"
        self.link = link
        command = [paths.MODEL, "--board", board, "--workload", workload,
                   *link.model_options(), "--control", self.control_path,
                   "--sysmem", f"{sysmem[0]:#x}:{sysmem[1]:#x}"]
        for fault in faults:
            command += ["--fault", fault]
        if not paths.MODEL.is_file():
            raise VmError(f"no GPU model at {paths.MODEL}; run 'make model'")
        with open(self.log_path, "wb") as log:
            self._process = process.start(command, stdout=log, stderr=log,
                                          pass_fds=link.model_fds)
        link.model_started()
        self._connection = None

    def connect(self):
        deadline = time.monotonic() + START_DEADLINE_S
        while True:
            self._fail_if_gone()
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.connect(str(self.control_path))
            except OSError:
                connection.close()
                if time.monotonic() > deadline:
                    raise VmError(f"GPU model {self.index} ({self.board}) does not answer")
                time.sleep(0.02)
                continue
            self._connection = connection.makefile("rw", encoding="utf-8", newline="\n")
            connection.close()
            return

    def request(self, *words):
        """Sends a request; returns the reply's fields, or raises VmError with its error."""
        line = " ".join(str(word) for word in words)
        try:
            self._connection.write(line + "\n")
            self._connection.flush()
            reply = self._connection.readline()
        except OSError:
            reply = ""
        if not reply:
            self._fail_if_gone()
            raise VmError(f"GPU model {self.index} ({self.board}) closed its control socket")
        fields = json.loads(reply)
        if not fields.pop("ok"):
            raise VmError(f"GPU model {self.index} ({self.board}): {line}: {fields['error']}")
        return fields

    def fail_on_violations(self):
        found = self.request("violations")["violations"]
        if found:
            lines = "".join(
                f"\n  BAR{v['bar']} {v['offset']}: {v['access']} of {v['size']} bytes, "
                f"{v['why']}, {v['count']} times" for v in found)
            raise StrictViolation(f"gpu{self.index} ({self.board}): accesses that the hardware "
                                  f"does not have:{lines}")

    def stop(self):
        self.link.close()
        if self._connection is not None:
            self._connection.close()
        self._process.kill()
        self._process.wait()

    def _fail_if_gone(self):
        status = self._process.poll()
        if status is not None:
            said = self.log_path.read_text(errors="replace").strip()
            raise VmError(f"GPU model {self.index} ({self.board}) ended with status {status}: "
                          f"{said or 'it said nothing'}")
