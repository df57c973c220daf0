# SPDX-License-Identifier: MIT OR GPL-2.0
"""How NVIDIA GPUs schedule work, as dicts: nvdebugctl's JSON.

>>> import nvdebugctl
>>> for row in nvdebugctl.data("runlist", "list", source="driver"):
...     print(row["runlist"], row["engines"])

Keys are those of the schemas in share/nvdebug/schema; they have units in their names.

read_recording() and read_capture() read files without the program: recordings.py and captures.py.
"""

import json
import pathlib
import shutil
import subprocess

from .captures import Capture, CaptureError, read_capture
from .marks import mark
from .recordings import Recording, RecordingError, read_recording, to_pandas

__all__ = ["Capture", "CaptureError", "Error", "Recording", "RecordingError", "data", "document", "lines", "mark", "program",
           "read_capture", "read_recording", "to_pandas"]

MAJOR = "1"
PARTIAL = 4


class Error(Exception):
    """A command that failed. `status` is the exit status, `code` and `errno` are those of the JSON's `error`, and
    `document` is that JSON, or None where nvdebugctl printed none."""

    def __init__(self, message, status, found=None):
        super().__init__(message)
        error = (found or {}).get("error") or {}
        self.status, self.document = status, found
        self.code, self.errno = error.get("code"), error.get("errno")


def program():
    """The path of the nvdebugctl that comes with this package, else of the one that is installed beside it."""
    own = pathlib.Path(__file__).resolve().parent / "bin" / "nvdebugctl"
    return own if own.exists() else pathlib.Path(shutil.which("nvdebugctl") or own)


def _words(words, gpu, source):
    chosen = [*(("--gpu", str(gpu)) if gpu is not None else ()), *(("--from", str(source)) if source is not None else ())]
    return [str(program()), "--json", *chosen, *map(str, words)]


def _checked(text):
    found = json.loads(text)
    if found["schema_version"].partition(".")[0] != MAJOR:
        raise Error(f"nvdebugctl's JSON has version {found['schema_version']}, and this module reads {MAJOR}.x", 0, found)
    return found


def _failure(status, found, stderr):
    error = (found or {}).get("error") or {}
    return Error(error.get("message") or stderr.strip() or f"nvdebugctl ended with status {status}", status, found)


def document(*words, gpu=None, source=None, timeout=None):
    """The whole document that `nvdebugctl --json WORDS` prints. What could not be read is in its `missing`.

    `gpu` is as for --gpu; `source` as for --from: "driver", "module", or the path of a capture or folder.
    Raises Error if the command fails, and subprocess.TimeoutExpired after `timeout` seconds."""
    done = subprocess.run(_words(words, gpu, source), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout, check=False)
    found = _checked(done.stdout) if done.stdout.strip() else None
    if done.returncode not in (0, PARTIAL) or found is None:
        raise _failure(done.returncode, found, done.stderr)
    return found


def data(*words, **options):
    """The `data` of document(): a list of dicts for lists, else a dict."""
    return document(*words, **options)["data"]


def lines(*words, gpu=None, source=None):
    """The documents that `nvdebugctl --json watch` and the like print, one by one, until the loop is left. Raises Error at
    the end if the command fails."""
    with subprocess.Popen(_words(words, gpu, source), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            failed = None
            for line in process.stdout:
                found = _checked(line)
                if found.get("error"):
                    failed = found
                else:
                    yield found
            message = process.stderr.read()
            if process.wait() not in (0, PARTIAL):
                raise _failure(process.returncode, failed, message)
        finally:
            process.terminate()
