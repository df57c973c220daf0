# SPDX-License-Identifier: MIT OR GPL-2.0
"""Reads traces for Perfetto, as `nvqos simulate -o` and `nvdebugctl record` write them."""

import collections

# Numbers of fields, from google/perfetto, protos/perfetto/trace/.
PACKET, TIMESTAMP, EVENT, TRACK = 1, 8, 11, 60
INTERNED, NAMES = 12, 2
EVENT_TYPE, EVENT_TRACK, EVENT_NAME, EVENT_NAME_ID, EVENT_CATEGORY, EVENT_FACT = 9, 11, 23, 10, 22, 4
FACT_NAME, FACT_TEXT = 10, 6
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


def packets(path):
    """Yields each packet with its event, or None, and the event's name. A name may be of an earlier packet, by a number."""
    interned = {}
    for number, data in fields(path.read_bytes()):
        assert number == PACKET
        packet = dict(fields(data))
        for kind, entry in fields(packet.get(INTERNED, b"")):
            assert kind == NAMES
            entry = dict(fields(entry))
            interned[entry[1]] = entry[2]
        event = dict(fields(packet[EVENT])) if EVENT in packet else None
        name = event and (event.get(EVENT_NAME) or interned.get(event.get(EVENT_NAME_ID)))
        yield packet, event, name and name.decode()


def facts_of(path):
    """Returns the texts that the last event of each name has as its facts."""
    found = {}
    for packet, event, name in packets(path):
        if event and event[EVENT_TYPE] == BEGIN:
            facts = [dict(fields(value)) for number, value in fields(packet[EVENT]) if number == EVENT_FACT]
            found[name] = {fact[FACT_NAME].decode(): fact[FACT_TEXT].decode() for fact in facts if FACT_TEXT in fact}
    return found


def trace(path):
    """Returns (names of tracks, turns by track, marks) of a file."""
    names, open_turns, turns, marks = {}, {}, collections.defaultdict(list), []
    for found, event, name in packets(path):
        if TRACK in found:
            track = dict(fields(found[TRACK]))
            process = dict(fields(track[3])) if 3 in track else {}
            names[track[1]] = (track.get(2) or process[6]).decode()
        if not event:
            continue
        if event[EVENT_TYPE] == INSTANT:
            marks.append((found[TIMESTAMP], name))
        elif event[EVENT_TYPE] == BEGIN:
            open_turns[event[EVENT_TRACK]] = (found[TIMESTAMP], name, event[EVENT_CATEGORY].decode())
        else:
            begin, name, category = open_turns.pop(event[EVENT_TRACK])
            turns[event[EVENT_TRACK]].append((begin, found[TIMESTAMP], name, category))
    assert not open_turns
    return names, turns, marks
