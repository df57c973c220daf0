# SPDX-License-Identifier: MIT OR GPL-2.0
"""Reads traces for Perfetto as nvdebugctl and `nvqos simulate` write them. Other traces have no turns for it."""

import re
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple, Union

from .recordings import DAMAGED, Clock, ClockMap, Gpu, Lost, Mark, Process, Recording, RecordingError, Turn, opened

# Numbers of fields, from google/perfetto, protos/perfetto/trace/.
PACKET = 1
CLOCKS, TIMESTAMP, SEQUENCE, EVENT, TIMESTAMP_CLOCK, TRACK = 6, 8, 10, 11, 58, 60
CLOCK_ID, CLOCK_NS, GPU_CLOCK = 1, 2, 64
REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6
UUID, NAME, PROCESS, PARENT = 1, 2, 3, 5
PROCESS_PID, PROCESS_NAME = 1, 6
EVENT_FACT, EVENT_TYPE, EVENT_TRACK, EVENT_CATEGORY, EVENT_NAME = 4, 9, 11, 22, 23
FACT_INT, FACT_NAME = 4, 10
BEGIN, END, INSTANT = 1, 2, 3

# A packet of ours has a name or two. A longer one is no packet of ours.
LONGEST_PACKET = 1 << 20

# `gpu0 GR0 TSG 0:5`, as the track of a task on an engine is called.
TASK = re.compile(r"gpu(\d+) (\S+)(?: (TSG|channel) (\d+):(\d+)| context (\d+))?")
# A container, pod or job follows the name of a process.
HOME = r"(?: in (?:[0-9a-f]{12}|pod \S+|job \S+))?"
COMMAND = re.compile(f"(.*?){HOME}", re.DOTALL)
HOLDER = re.compile(rf"(.*)\[(\d+)\]{HOME}", re.DOTALL)

Value = Union[int, bytes]


class Broken(ValueError):
    """Bytes that are no protobuf."""


def varint(data: bytes, at: int) -> Tuple[int, int]:
    """Returns a number and the place behind it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise Broken("a number is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
    raise Broken("a number has more than ten bytes")


def fields(data: bytes) -> Iterator[Tuple[int, Value]]:
    """Yields the number and the value of each field of a message. Numbers of a fixed size are bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            length, at = varint(data, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise Broken(f"a field is of wire type {kind}")
        if length > len(data) - at:
            raise Broken("a field is longer than its message")
        yield key >> 3, data[at:at + length]
        at += length


def message(data: Optional[Value]) -> Dict[int, Value]:
    """The last value of each field."""
    if data is not None and not isinstance(data, bytes):
        raise Broken("a message is a number")
    return dict(fields(data or b""))


def number(found: Dict[int, Value], key: int, otherwise: int = 0) -> int:
    value = found.get(key, otherwise)
    if not isinstance(value, int):
        raise Broken("a number is a text")
    return value


def text(found: Dict[int, Value], key: int) -> str:
    value = found.get(key, b"")
    if not isinstance(value, bytes):
        raise Broken("a text is a number")
    return value.decode("utf-8", "replace")


def packets(path: Any) -> Iterator[Tuple[int, Optional[bytes]]]:
    """Yields the place and the bytes of each packet; None: the file ends within it."""
    at = 0
    with opened(path) as file:
        while True:
            try:
                head = file.read(1)
                if not head:
                    return
                if head != b"\x0a":
                    raise Broken("it is no packet")
                length = shift = 0
                while True:
                    byte = file.read(1)
                    if not byte:
                        yield at, None
                        return
                    length |= (byte[0] & 0x7f) << shift
                    shift += 7
                    if byte[0] < 0x80:
                        break
                    if shift > 28:
                        raise Broken("its length has more than five bytes")
                if length > LONGEST_PACKET:
                    raise Broken(f"it has {length} bytes, and those of nvdebugctl have less than a MiB")
                data = file.read(length)
            except EOFError:
                yield at, None
                return
            except (Broken, *DAMAGED) as error:
                raise RecordingError(f"byte {at} of {path} begins no packet of a trace that nvdebugctl wrote: "
                                     f"{error}") from error
            if len(data) < length:
                yield at, None
                return
            yield at, data
            at += 1 + (shift // 7) + length


class Trace:
    """The state of reading."""

    def __init__(self) -> None:
        self.run = Recording(version="perfetto", complete=True)
        self.tracks: Dict[int, Tuple[str, int, Optional[int]]] = {}  # name, parent and pid by uuid
        self.open: Dict[int, Tuple[int, bool, str, str]] = {}  # begin, by the GPU's clock, name and category by track
        self.turns: List[Tuple[int, Tuple[int, bool, str, str], int]] = []  # track, begin, end
        self.instants: List[Tuple[int, int, bool, str, Dict[str, int]]] = []
        self.gpus: Dict[int, Gpu] = {}

    def take(self, packet: Dict[int, Value]) -> None:
        gpu = number(packet, SEQUENCE) - 1
        if TRACK in packet:
            self.track(gpu, message(packet[TRACK]))
        if CLOCKS in packet:
            self.clock(gpu, packet[CLOCKS])
        if EVENT in packet:
            self.event(number(packet, TIMESTAMP), number(packet, TIMESTAMP_CLOCK) == GPU_CLOCK, packet[EVENT])

    def track(self, gpu: int, track: Dict[int, Value]) -> None:
        process = message(track[PROCESS]) if PROCESS in track else {}
        name, parent = text(process, PROCESS_NAME) or text(track, NAME), number(track, PARENT)
        pid = number(process, PROCESS_PID) if process else None
        self.tracks[number(track, UUID)] = (name, parent, pid)
        if pid is not None:
            self.run.processes.append(Process(gpu, pid, COMMAND.fullmatch(name)[1]))
        elif not parent and gpu not in self.gpus:
            words = name.split(" ")
            self.gpus[gpu] = Gpu(gpu, *(word or None for word in words[1:2] + words[2:3]))

    def clock(self, gpu: int, data: Value) -> None:
        if not isinstance(data, bytes):
            raise Broken("a reading of clocks is a number")
        read = {}
        for key, value in fields(data):
            if key == 1:
                one = message(value)
                read[number(one, CLOCK_ID)] = number(one, CLOCK_NS)
        if {GPU_CLOCK, MONOTONIC, REALTIME, BOOTTIME} <= set(read):
            self.run.clocks.append(Clock(gpu, read[GPU_CLOCK], read[MONOTONIC], read[REALTIME], read[BOOTTIME]))

    def event(self, ns: int, by_gpu: bool, data: Value) -> None:
        if not isinstance(data, bytes):
            raise Broken("an event is a number")
        event: Dict[int, Value] = {}
        facts = {}
        for key, value in fields(data):
            if key == EVENT_FACT:
                fact = message(value)
                facts[text(fact, FACT_NAME)] = number(fact, FACT_INT)
            else:
                event[key] = value
        track, kind = number(event, EVENT_TRACK), number(event, EVENT_TYPE)
        if kind == BEGIN:
            self.open[track] = (ns, by_gpu, text(event, EVENT_NAME), text(event, EVENT_CATEGORY))
        elif kind == END and track in self.open:
            self.turns.append((track, self.open.pop(track), ns))
        elif kind == INSTANT:
            self.instants.append((track, ns, by_gpu, text(event, EVENT_NAME), facts))

    def finish(self) -> Recording:
        run = self.run
        maps = {gpu: ClockMap(clock for clock in run.clocks if clock.gpu == gpu) for gpu in self.gpus}
        first = run.clocks[0] if run.clocks else None
        # CLOCK_BOOTTIME is ahead by the time for which the machine slept.
        slept = first.boottime_ns - first.monotonic_ns if first else 0

        def at(gpu: int, ns: int, by_gpu: bool) -> int:
            if by_gpu:
                return maps[gpu].monotonic_ns(ns) if maps.get(gpu) else ns
            return ns - slept if maps.get(gpu) else ns

        for track, (begin, by_gpu, name, category), end in self.turns:
            called, parent, _ = self.tracks.get(track, ("", 0, None))
            task = TASK.fullmatch(called)
            if not task or not parent:
                continue
            gpu = int(task[1])
            pid = self.tracks.get(parent, ("", 0, None))[2]
            holder = HOLDER.fullmatch(name)
            run.turns.append(Turn(
                gpu, task[2], at(gpu, begin, by_gpu), at(gpu, end, by_gpu), category == "turn",
                pid=0 if name == "hidden" else 0xffffffff if name == "the driver" else pid,
                process=holder[1] if holder else None,
                context=int(task[6]) if task[6] else None,
                runlist=int(task[4]) if task[4] else None,
                tsg=int(task[5]) if task[3] == "TSG" else None,
                channel=int(task[5]) if task[3] == "channel" else None))
        run.turns.sort(key=lambda turn: (turn.gpu, turn.begin_ns))
        errors: Dict[int, int] = {}
        bounded: Set[int] = set()
        for track, ns, by_gpu, name, facts in self.instants:
            called, parent, _ = self.tracks.get(track, ("", 0, None))
            above = re.match(r"gpu(\d+) ", self.tracks.get(parent, ("", 0, None))[0])
            if not above:
                continue
            gpu = int(above[1])
            dropped = re.fullmatch(r"(\d+) switches lost", name)
            if called == "clock":
                bounded.add(gpu)
                if "error_ns" in facts:
                    errors[gpu] = facts["error_ns"]
            elif called == "controls":
                run.marks.append(Mark(gpu, at(gpu, ns, by_gpu), name))
            elif dropped:
                run.lost.append(Lost(gpu, called, at(gpu, ns, by_gpu), int(dropped[1])))
        # The bound of the error is a recording's last event.
        run.complete = run.complete and all(gpu in bounded for gpu in maps if maps[gpu])
        run.gpus = [Gpu(gpu, one.chip, one.pci_address, "monotonic" if maps[gpu] else "gpu", errors.get(gpu))
                    for gpu, one in sorted(self.gpus.items())]
        return run


def read(path: Any) -> Recording:
    """Reads a trace. `complete` is False if the file ends within a packet, or a turn has no end."""
    trace = Trace()
    for at, data in packets(path):
        if data is None:
            trace.run.complete = False
            break
        try:
            trace.take(message(data))
        except Broken as error:
            raise RecordingError(f"the packet at byte {at} of {path} is not one that nvdebugctl wrote: {error}") from error
    if trace.open:
        trace.run.complete = False
    if not trace.gpus:
        raise RecordingError(f"{path} has no GPU: it is no trace that nvdebugctl wrote")
    return trace.finish()
