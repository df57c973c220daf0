# SPDX-License-Identifier: MIT OR GPL-2.0
"""One GPU: the process of its model (docs/model.md) or of a bridge to it (docs/vm.md), and requests on its
control socket."""

import json
import socket
import time

from . import bridge, paths, process
from .errors import StrictViolation, VmError

START_DEADLINE_S = 20


def _command(board, workload, sysmem, faults):
    source = bridge.options(board)
    if source is not None:
        return [paths.BRIDGE, *source]
    return [paths.MODEL, "--board", board, "--workload", workload,
            "--sysmem", f"{sysmem[0]:#x}:{sysmem[1]:#x}",
            *(word for fault in faults for word in ("--fault", fault))]


class Model:
    def __init__(self, index, board, workload, folder, sysmem, link, faults=(), processor=None):
        """`link` is an object of one of transport.ALL; `processor` is as for process.start()."""
        self.index = index
        self.board = board
        self.control_path = folder / f"model{index}.sock"
        self.log_path = folder / f"model{index}.log"
        self.link = link
        command = _command(board, workload, sysmem, faults)
        self.is_bridge = command[0] == paths.BRIDGE
        self._who = f"{'bridge to GPU' if self.is_bridge else 'GPU model'} {index} ({board})"
        if not command[0].is_file():
            target = bridge.TARGET if self.is_bridge else "model"
            raise VmError(f"no {self._who} at {command[0]}; run 'make {target}'")
        command += [*link.model_options(), "--control", self.control_path]
        with open(self.log_path, "wb") as log:
            self._process = process.start(command, processor, stdout=log, stderr=log,
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
                    raise VmError(f"{self._who} does not answer")
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
            raise VmError(f"{self._who} closed its control socket")
        fields = json.loads(reply)
        if not fields.pop("ok"):
            raise VmError(f"{self._who}: {line}: {fields['error']}")
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
            raise VmError(f"{self._who} ended with status {status}: {said or 'it said nothing'}")
