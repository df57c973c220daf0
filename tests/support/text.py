# SPDX-License-Identifier: MIT OR GPL-2.0
"""Small parsers of the /proc/gpuX files, independent of the library."""

import dataclasses
import re

_TITLE = re.compile(r"^( *)\+-+ (Runlist|TSG Entry|Channel Info|Unknown Entry|Subcontext) (\d+) -+\+$")
_NESTED_TITLE = re.compile(r"^( *)\+-+ (Instance Block|Context) -+\+$")
_LINE = re.compile(r"^( *)\| ([^:]+): *(.*?) *\|$")
_RULE = re.compile(r"^ *\+-+\+$")


@dataclasses.dataclass
class Box:
    kind: str
    number: int | None
    indent: int
    fields: dict


def boxes(text):
    """Returns the boxes of a runlist file in order. Anything else in the file is an error."""
    found = []
    is_open = False
    for line in text.splitlines():
        assert len(line) == 48, f"not 48 columns: {line!r}"
        title = _TITLE.match(line) or _NESTED_TITLE.match(line)
        if title:
            assert not is_open, f"box inside a box: {line}"
            number = int(title[3]) if title.re is _TITLE else None
            found.append(Box(title[2], number, len(title[1]), {}))
            is_open = True
        elif _RULE.match(line):
            assert is_open, f"rule outside a box: {line}"
            is_open = False
        else:
            field = _LINE.match(line)
            assert field and is_open, f"not a field of a box: {line!r}"
            assert field[2] not in found[-1].fields, f"twice in a box: {line}"
            found[-1].fields[field[2]] = field[3]
    assert not is_open, "the last box is not closed"
    return found


def entries(text):
    """Returns the list's own boxes, without the boxes below channels."""
    return [box for box in boxes(text)
            if box.kind not in ("Instance Block", "Subcontext", "Context")]


def channels(text):
    return {box.number: box.fields for box in boxes(text) if box.kind == "Channel Info"}


def tsgs(text):
    """Returns [(tsg, [channels])] in the order of the list."""
    result = []
    for box in boxes(text):
        if box.kind == "TSG Entry":
            result.append((box.number, []))
        elif box.kind == "Channel Info" and box.indent:
            result[-1][1].append(box.number)
    return result


@dataclasses.dataclass
class Instance:
    """The part of the file below one channel."""

    channel: int
    fields: dict
    subcontexts: dict  # by VEID
    context: dict | None


def instances(text):
    """Returns [Instance] in the order of the list."""
    found = []
    channel = None
    for box in boxes(text):
        if box.kind == "Channel Info":
            channel = box
        elif box.kind == "Instance Block":
            assert box.indent == channel.indent + 2
            found.append(Instance(channel.number, box.fields, {}, None))
        elif box.kind == "Subcontext":
            assert box.number not in found[-1].subcontexts
            found[-1].subcontexts[box.number] = box.fields
        elif box.kind == "Context":
            assert found[-1].context is None
            found[-1].context = box.fields
    return found


def table(text):
    """Returns [{column: word}] of a file with a header line that starts with '#'."""
    lines = text.splitlines()
    assert lines[0].startswith("# ")
    columns = lines[0][2:].split()
    rows = [line.split() for line in lines[1:]]
    for row in rows:
        assert len(row) == len(columns), row
    return [dict(zip(columns, row)) for row in rows]


def pairs(text):
    """Returns [(key, value)] of a file of 'key: value' lines."""
    return [tuple(line.split(": ", 1)) for line in text.splitlines()]


def engines_by_runlist(text):
    """Returns {runlist: names} of `device_info`."""
    table = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        engine, instance, runlist = line.split()[:3]
        if runlist != "-":
            table.setdefault(int(runlist), set()).add(engine + instance)
    return table
