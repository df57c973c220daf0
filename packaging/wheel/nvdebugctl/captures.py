# SPDX-License-Identifier: MIT OR GPL-2.0
"""Reads captures of `nvdebugctl capture`: the files of GPUs as text, and the process of each channel.

>>> import nvdebugctl
>>> capture = nvdebugctl.read_capture("gpu.capture")
>>> capture.data("tsg", "list", gpu=0)
"""

import dataclasses
import json
import re
from typing import Any, Dict, List, Optional

from .recordings import DAMAGED, opened

__all__ = ["Capture", "CaptureError", "OwnedChannel", "read_capture"]

FORMAT, VERSION = "nvdebug-capture", 1
LARGEST = 1 << 28  # as include/nvdebug/capture.hpp has it


class CaptureError(ValueError):
    """A file that is no capture, or of another version, or damaged. The sentence has the file."""


@dataclasses.dataclass(frozen=True)
class OwnedChannel:
    """A row of the file `owners`: a channel of a process, by the driver's names. Unknown values are None, and a process
    without known channels has one row."""
    pid: int
    command: Optional[str] = None
    cgroup: Optional[str] = None
    client: Optional[int] = None
    tsg: Optional[int] = None
    timeslice_us: Optional[float] = None
    channel: Optional[int] = None
    address: Optional[int] = None
    aperture: Optional[str] = None
    uid: Optional[int] = None
    started: Optional[int] = None
    launcher: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Capture:
    """A capture. `files` has the texts by their names, as `gpu0/info`; `errors` has the names of errors of files that could
    not be read, and `words` what was read to make a file (include/nvdebug/capture.hpp)."""
    path: str
    facts: Dict[str, str]
    files: Dict[str, str]
    errors: Dict[str, str]
    words: Dict[str, str]

    @property
    def gpus(self) -> List[str]:
        """The folders of its GPUs, as `gpu0`."""
        return sorted({name.partition("/")[0] for name in self.files if "/" in name}, key=lambda name: (len(name), name))

    def owners(self, gpu: str = "gpu0") -> List[OwnedChannel]:
        """The process of each channel. Empty: the capture was not made through NVIDIA's driver."""
        lines = self.files.get(f"{gpu}/owners", "").splitlines()
        heads = [n for n, line in enumerate(lines) if line.startswith("# pid ")]
        if not heads:
            return []
        names = lines[heads[0]][2:].split()
        known = {field.name: str(field.type) for field in dataclasses.fields(OwnedChannel)}
        found = []
        for line in lines[heads[0] + 1:]:
            row: Dict[str, Any] = {}
            for name, value in zip(names, line.split()):
                if name in known and value != "-":
                    row[name] = _value(known[name], value, self.path)
            if "pid" in row:
                found.append(OwnedChannel(**row))
        return found

    def document(self, *words: Any, gpu: Any = None) -> Dict[str, Any]:
        """The document of a verb that reads, as nvdebugctl.document() returns it."""
        from . import document  # pylint: disable=import-outside-toplevel
        return document(*words, gpu=gpu, source=self.path)

    def data(self, *words: Any, gpu: Any = None) -> Any:
        """Its `data`."""
        return self.document(*words, gpu=gpu)["data"]


def _value(kind: str, value: str, path: str) -> Any:
    try:
        if "int" in kind:
            return int(value, 0)
        if "float" in kind:
            return float(value)
    except ValueError as error:
        raise CaptureError(f"{path}: '{value}' in its file of owners is no number") from error
    # Blanks, backslashes and unprintable characters are \xHH, a byte each.
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), value.encode()).decode("utf-8", "replace")


def read_capture(path: Any) -> Capture:
    """Reads a capture, also uncompressed. Raises CaptureError if it is none, and OSError if it cannot be read."""
    try:
        with opened(path) as file:
            text = file.read(LARGEST + 1)
    except DAMAGED as error:
        raise CaptureError(f"{path} is no capture: it is damaged, or was cut off ({error})") from error
    if not text:
        raise CaptureError(f"{path} is no capture: it is empty")
    if len(text) > LARGEST:
        raise CaptureError(f"{path} is no capture: it has more than 256 MiB uncompressed")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CaptureError(f"{path} is no capture: it is no JSON object, or was cut off") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CaptureError(f"{path} is no capture: 'format' is not '{FORMAT}'")
    if found.get("version") != VERSION:
        raise CaptureError(f"{path} is a capture of version {found.get('version')}, and this module reads {VERSION}: "
                           "use a newer one")

    def texts(key: str) -> Dict[str, str]:
        # Other values are additions of a newer version.
        values = found.get(key)
        return {name: value for name, value in values.items() if isinstance(value, str)} if isinstance(values, dict) else {}

    return Capture(str(path), texts("facts"), texts("files"), texts("errors"), texts("words"))
