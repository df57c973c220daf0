# SPDX-License-Identifier: MIT OR GPL-2.0
"""Reads recordings of `nvdebugctl record`: NDJSON and traces for Perfetto, also packed by gzip or xz.

>>> import nvdebugctl
>>> run = nvdebugctl.read_recording("run.ndjson")
>>> for turn in run.turns:
...     print(turn.gpu, turn.engine, turn.process, turn.end_ns - turn.begin_ns)

Times are nanoseconds of CLOCK_MONOTONIC, in which turns of several GPUs can be compared. Where the clock of a GPU was
not read, they are those of the GPU's own clock, and the `clock` of its Gpu is "gpu".
"""

import bisect
import dataclasses
import gzip
import json
import lzma
import zlib
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

__all__ = ["Clock", "ClockMap", "Engine", "Gpu", "Lost", "Mark", "Process", "Recording", "RecordingError", "Tsg", "Turn",
           "read_recording", "to_pandas"]

# A summary of a hundred processes on a hundred engines has less than 16 MiB.
LONGEST_LINE = 1 << 28
MAJORS = ("1", "2")
CLOCKS = ("gpu_ns", "monotonic_ns", "realtime_ns", "boottime_ns")


class RecordingError(ValueError):
    """A file that is no recording, or of another version, or damaged. The sentence has the file and the place."""


@dataclasses.dataclass(frozen=True)
class Gpu:
    """A GPU. `clock` is the clock of its times: "monotonic" or "gpu". `error_ns` bounds the error of times of a trace for
    Perfetto (docs/nvdebugctl.md, Clocks of several GPUs); None: not stated."""
    gpu: int
    chip: Optional[str] = None
    pci_address: Optional[str] = None
    clock: str = "gpu"
    error_ns: Optional[int] = None
    product: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Clock:
    """One moment by the GPU's clock and by three of the machine's, which were read within `within_ns`."""
    gpu: int
    gpu_ns: int
    monotonic_ns: int
    realtime_ns: int
    boottime_ns: int
    within_ns: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Tsg:
    """A time-slice group of a process. `timeslice_ns` is None if it is not known."""
    runlist: int
    tsg: int
    timeslice_ns: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Process:
    """A process with turns on a GPU. Of a trace for Perfetto only gpu, pid and process are known."""
    gpu: int
    pid: int
    process: Optional[str] = None
    cgroup: Optional[str] = None
    container: Optional[str] = None
    pod: Optional[str] = None
    job: Optional[str] = None
    step: Optional[str] = None
    started: Optional[int] = None
    launcher: Optional[int] = None
    channels: int = 0
    tsgs: Tuple[Tsg, ...] = ()


@dataclasses.dataclass(frozen=True)
class Turn:
    """A process had an engine from `begin_ns` to `end_ns`. `whole`: both ends were seen. `gap_ns` is the time since the
    previous turn of the engine. pid 0 is a process that was hidden from the recorder's user, 4294967295 the driver.
    `gpu_begin_ns` and `gpu_end_ns` are by the GPU's clock; None in a trace for Perfetto."""
    gpu: int
    engine: str
    begin_ns: int
    end_ns: int
    whole: bool
    pid: Optional[int] = None
    process: Optional[str] = None
    context: Optional[int] = None
    runlist: Optional[int] = None
    tsg: Optional[int] = None
    channel: Optional[int] = None
    gap_ns: Optional[int] = None
    gpu_begin_ns: Optional[int] = None
    gpu_end_ns: Optional[int] = None

    @property
    def ns(self) -> int:
        """How long it lasted."""
        return self.end_ns - self.begin_ns


@dataclasses.dataclass(frozen=True)
class Lost:
    """The driver dropped so many switches after that moment."""
    gpu: int
    engine: str
    after_ns: int
    switches: int


@dataclasses.dataclass(frozen=True)
class Mark:
    """A control, or a goal of nvqos. A trace for Perfetto has no pid."""
    gpu: int
    ns: int
    text: str
    pid: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Engine:
    """An engine at the end: `by` "switches" or "samples". Its times are None if it was never watched."""
    gpu: int
    engine: str
    by: str
    begin_ns: Optional[int]
    end_ns: Optional[int]
    samples: int
    missed_samples: int
    known_ns: int


class ClockMap:
    """Converts times of a GPU's clock, by the line between two readings. Before the first and after the last reading both
    clocks are taken to go alike."""

    def __init__(self, readings: Iterable[Clock]):
        self._gpu: List[int] = []
        self._monotonic: List[int] = []
        for one in readings:
            if not self._gpu or (one.gpu_ns > self._gpu[-1] and one.monotonic_ns >= self._monotonic[-1]):
                self._gpu.append(one.gpu_ns)
                self._monotonic.append(one.monotonic_ns)

    def __bool__(self) -> bool:
        return bool(self._gpu)

    def monotonic_ns(self, gpu_ns: int) -> int:
        """The time by CLOCK_MONOTONIC. Needs a reading."""
        after = bisect.bisect_right(self._gpu, gpu_ns)
        at = max(after - 1, 0)
        plain = self._monotonic[at] + gpu_ns - self._gpu[at]
        if after in (0, len(self._gpu)):
            return plain
        length = self._gpu[after] - self._gpu[at]
        return plain + round((self._monotonic[after] - self._monotonic[at] - length) * (gpu_ns - self._gpu[at]) / length)


@dataclasses.dataclass
class Recording:
    """A recording. `complete` is False if its end was cut off. `summary` is that of `nvdebugctl record -j`, or None."""
    version: str = ""
    tool: str = ""
    time: str = ""
    source: str = ""
    period_ns: int = 0
    complete: bool = False
    gpus: List[Gpu] = dataclasses.field(default_factory=list)
    clocks: List[Clock] = dataclasses.field(default_factory=list)
    processes: List[Process] = dataclasses.field(default_factory=list)
    turns: List[Turn] = dataclasses.field(default_factory=list)
    lost: List[Lost] = dataclasses.field(default_factory=list)
    marks: List[Mark] = dataclasses.field(default_factory=list)
    engines: List[Engine] = dataclasses.field(default_factory=list)
    summary: Optional[Dict[str, Any]] = None

    def rows(self, what: str = "turns") -> List[Dict[str, Any]]:
        """One of the lists as dicts."""
        return [dataclasses.asdict(one) for one in getattr(self, what)]

    def to_pandas(self, what: str = "turns") -> Any:
        """One of the lists as a pandas.DataFrame. Needs pandas."""
        return to_pandas(self.rows(what))

    def waits(self, pid: int, engine: str = "GR0", gpu: Optional[int] = None) -> List[int]:
        """The times between two turns of a process on an engine, in ns: it waited, or had no work. A time in which switches
        were lost is left out."""
        last: Dict[int, Turn] = {}
        found = []
        for turn in self.turns:
            if turn.pid != pid or turn.engine != engine or gpu not in (None, turn.gpu):
                continue
            before = last.get(turn.gpu)
            if before and not any((lost.gpu, lost.engine) == (turn.gpu, engine)
                                  and before.end_ns <= lost.after_ns <= turn.begin_ns for lost in self.lost):
                found.append(turn.begin_ns - before.end_ns)
            last[turn.gpu] = turn
        return found

    def together(self, pids: Iterable[int], engine: str = "GR0") -> Optional[float]:
        """The part of a job's time on its GPUs in which all of them ran it at once, from 0 to 1. `pids` are the processes of
        the job. None: it had no turn, or the clock of one of its GPUs was not read."""
        wanted = set(pids)
        turns = [turn for turn in self.turns if turn.pid in wanted and turn.engine == engine]
        gpus = {turn.gpu for turn in turns}
        known = {gpu.gpu for gpu in self.gpus if gpu.clock == "monotonic"}
        used = sum(turn.ns for turn in turns)
        if not used or (len(gpus) > 1 and not gpus <= known):
            return None
        changes = sorted(change for turn in turns for change in ((turn.begin_ns, 1, turn.gpu), (turn.end_ns, -1, turn.gpu)))
        there = dict.fromkeys(gpus, 0)
        whole, since = 0, 0
        for at, step, gpu in changes:
            if all(there.values()):
                whole += at - since
            there[gpu] += step
            since = at
        return whole * len(gpus) / used


def to_pandas(rows: List[Dict[str, Any]]) -> Any:
    """A pandas.DataFrame of a list of dicts, as Recording.rows() and nvdebugctl.data() return it. Needs pandas."""
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: 'pip install pandas' installs it; "
                          "rows() returns dicts without") from error
    return pandas.DataFrame(rows)


def opened(path: Any) -> Any:
    """Opens a file in binary, and unpacks gzip and xz."""
    with open(path, "rb") as file:
        begin = file.read(6)
    if begin[:2] == b"\x1f\x8b":
        return gzip.open(path, "rb")
    return lzma.open(path, "rb") if begin == b"\xfd7zXZ\x00" else open(path, "rb")


DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


def read_recording(path: Any) -> Recording:
    """Reads a file that `nvdebugctl record -o` or `recording show -o` wrote as NDJSON or for Perfetto.

    Raises RecordingError if it is no such file, and OSError if it cannot be read. A file that was cut off is read up
    to there, and its `complete` is False."""
    try:
        with opened(path) as file:
            begin = file.read(1)
    except DAMAGED as error:
        raise RecordingError(f"{path} is damaged, or was cut off: {error}") from error
    if not begin:
        raise RecordingError(f"{path} is empty: a recording has a line at least")
    if begin == b"\x0a":
        from . import traces  # pylint: disable=import-outside-toplevel
        return traces.read(path)
    return _Lines(path).read()


class _Lines:
    """Reads NDJSON."""

    def __init__(self, path: Any):
        self.path, self.number, self.major = path, 0, ""
        self.run = Recording()
        self.origins: Dict[int, Dict[str, Optional[int]]] = {}
        self.turns: List[Turn] = []
        self.stated: Dict[int, int] = {}

    def wrong(self, why: str) -> RecordingError:
        return RecordingError(f"line {self.number} of {self.path} is not one of a recording as 'nvdebugctl record' "
                              f"writes it: {why}")

    def lines(self) -> Iterator[Tuple[bytes, bool]]:
        """Yields each line, and whether it has its end."""
        with opened(self.path) as file:
            while True:
                try:
                    line = file.readline(LONGEST_LINE)
                except EOFError:
                    return  # the packed file was cut off
                except DAMAGED as error:
                    raise RecordingError(f"{self.path} is damaged behind line {self.number}: {error}") from error
                if not line:
                    return
                self.number += 1
                if len(line) == LONGEST_LINE:
                    raise self.wrong("it is longer than 256 MiB")
                if line.strip():
                    yield line, line.endswith(b"\n")

    def read(self) -> Recording:
        for line, ended in self.lines():
            if not ended:
                if not self.major:
                    raise self.wrong("it is cut off, or this is no recording")
                break
            try:
                one = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise self.wrong("it is no JSON") from error
            if not isinstance(one, dict):
                raise self.wrong("it is no object")
            if self.run.complete:
                raise self.wrong("the summary before it is a recording's last line")
            try:
                self.take(one)
            except (KeyError, TypeError, AttributeError, OverflowError) as error:
                raise self.wrong(f"a key is missing or of another type ({error})") from error
            except ValueError as error:
                raise error if isinstance(error, RecordingError) else self.wrong(str(error)) from error
        self.finish()
        return self.run

    def take(self, one: Dict[str, Any]) -> None:
        kind = one["kind"]
        if (kind == "recording") == bool(self.major):
            raise self.wrong("another recording begins there, and each is to be a file of its own" if self.major
                             else "its first line is of another kind")
        run = self.run
        if kind == "recording":
            self.head(one)
        elif kind == "summary":
            run.summary, run.complete = dict(one["summary"]), True
            # Summaries of older versions have no clocks.
            self.stated = {row["gpu"]: round(row["error_us"] * 1000) for row in run.summary.get("clocks", [])
                           if row["error_us"] is not None}
        elif one["gpu"] not in [gpu.gpu for gpu in run.gpus]:
            raise self.wrong(f"the recording's first line has no gpu{one['gpu']}")
        elif kind == "origin":
            self.origins[one["gpu"]] = {key: None if one[key] is None else int(one[key]) for key in CLOCKS}
        elif kind == "clock":
            run.clocks.append(Clock(one["gpu"], *(self.ns(one, key, key) for key in CLOCKS), within_ns=one["within_ns"]))
        elif kind == "process":
            names = [field.name for field in dataclasses.fields(Process) if field.name not in ("tsgs", "gpu", "pid")]
            run.processes.append(Process(one["gpu"], one["pid"], tsgs=tuple(Tsg(**tsg) for tsg in one["tsgs"]),
                                         **{name: one[name] for name in names if name in one}))
        elif kind == "turn":
            self.turn(one)
        elif kind == "lost":
            run.lost.append(Lost(one["gpu"], one["engine"], self.ns(one, "after_ns"), one["switches"]))
        elif kind == "mark":
            run.marks.append(Mark(one["gpu"], self.ns(one, "ns"), one["text"], one["pid"]))
        elif kind == "engine":
            begin, end = (None if one[key] is None else self.ns(one, key) for key in ("begin_ns", "end_ns"))
            run.engines.append(Engine(one["gpu"], one["engine"], one["by"], begin, end, one["samples"], one["missed_samples"],
                                      one["known_ns"]))

    def head(self, one: Dict[str, Any]) -> None:
        run = self.run
        self.major = one["version"].partition(".")[0]
        if self.major not in MAJORS:
            raise self.wrong(f"it is of version {one['version']}, and this module reads 1 and 2: use a newer one")
        run.version, run.tool, run.time = one["version"], one["tool"], one["time"]
        run.source, run.period_ns = one["source"], one["period_ns"]
        run.gpus = [Gpu(gpu["gpu"], gpu["chip"], gpu["pci_address"], product=gpu.get("product")) for gpu in one["gpus"]]
        if not all(isinstance(gpu.gpu, int) for gpu in run.gpus):
            raise self.wrong("'gpu' is no number")

    def turn(self, one: Dict[str, Any]) -> None:
        begin, end = self.ns(one, "begin_ns"), self.ns(one, "end_ns")
        if end < begin:
            raise self.wrong("it is a turn that ends before it begins")
        if self.major == "1":
            # Version 1 repeats GR0's last sample for the next engine, and has turns from before the recording.
            if one["engine"] != "GR0" and one["engine"].startswith("GR") and not one["whole"] and one["runlist"] == 0:
                return
            first = next((clock.gpu_ns for clock in self.run.clocks if clock.gpu == one["gpu"]), begin)
            if begin < first:
                if end <= first:
                    return
                one, begin = {**one, "whole": False, "gap_ns": None}, first
        names = ("gpu", "engine", "whole", "pid", "process", "context", "runlist", "tsg", "channel", "gap_ns")
        self.turns.append(Turn(begin_ns=begin, end_ns=end, gpu_begin_ns=begin, gpu_end_ns=end,
                               **{name: one[name] for name in names}))

    def ns(self, one: Dict[str, Any], key: str, clock: str = "gpu_ns") -> int:
        """An absolute time. Those of version 2 count from the GPU's origin."""
        value = one[key]
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(f"'{key}' is no time")
        if self.major == "1":
            return value
        origin = self.origins.get(one["gpu"], {}).get(clock)
        if origin is None:
            raise self.wrong(f"'{key}' is a time, and no line before it has its origin")
        return origin + value

    def finish(self) -> None:
        """Converts the times of GPUs, once all readings of clocks are there."""
        run = self.run
        maps = {gpu.gpu: ClockMap(clock for clock in run.clocks if clock.gpu == gpu.gpu) for gpu in run.gpus}
        run.gpus = [dataclasses.replace(gpu, clock="monotonic" if maps[gpu.gpu] else "gpu") for gpu in run.gpus]
        run.gpus = [dataclasses.replace(gpu, error_ns=self.stated.get(gpu.gpu)) for gpu in run.gpus]

        def at(gpu: int, ns: int) -> int:
            return maps[gpu].monotonic_ns(ns) if maps[gpu] else ns

        def moved(one: Any, *times: str) -> Any:
            return dataclasses.replace(one, **{name: at(one.gpu, getattr(one, name)) for name in times
                                               if getattr(one, name) is not None})

        run.turns = [moved(turn, "begin_ns", "end_ns") for turn in self.turns]
        run.lost = [moved(lost, "after_ns") for lost in run.lost]
        run.marks = [moved(mark, "ns") for mark in run.marks]
        run.engines = [moved(engine, "begin_ns", "end_ns") for engine in run.engines]
