# SPDX-License-Identifier: MIT OR GPL-2.0
"""Reads traces for Perfetto, as `nvqos simulate -o` and `nvdebugctl record` write them."""

import collections

# Numbers of fields, from google/perfetto, protos/perfetto/trace/.
PACKET, TIMESTAMP, EVENT, TRACK = 1, 8, 11, 60
EVENT_TYPE, EVENT_TRACK, EVENT_NAME, EVENT_CATEGORY = 9, 11, 23, 22
BEGIN, END, INSTANT = 1, 2, 3


def fields(data):
    """Yields (number, value) of a message of protobuf."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(data):
        key = varint()
        assert key & 7 in (0, 2), "a trace has numbers and messages alone"
        value = varint()
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def trace(path):
    """Returns (names of tracks, turns by track, marks) of a file."""
    names, open_turns, turns, marks = {}, {}, collections.defaultdict(list), []
    for number, packet in fields(path.read_bytes()):
        assert number == PACKET
        found = dict(fields(packet))
        if TRACK in found:
            track = dict(fields(found[TRACK]))
            process = dict(fields(track[3])) if 3 in track else {}
            names[track[1]] = (track.get(2) or process[6]).decode()
        if EVENT not in found:
            continue
        event = dict(fields(found[EVENT]))
        if event[EVENT_TYPE] == INSTANT:
            marks.append((found[TIMESTAMP], event[EVENT_NAME].decode()))
        elif event[EVENT_TYPE] == BEGIN:
            open_turns[event[EVENT_TRACK]] = (found[TIMESTAMP], event[EVENT_NAME].decode(),
                                              event[EVENT_CATEGORY].decode())
        else:
            begin, name, category = open_turns.pop(event[EVENT_TRACK])
            turns[event[EVENT_TRACK]].append((begin, found[TIMESTAMP], name, category))
    assert not open_turns
    return names, turns, marks
