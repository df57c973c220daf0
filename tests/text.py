# SPDX-License-Identifier: MIT OR GPL-2.0
"""A small parser of /proc/gpuX/runlistY, independent of the library."""

import dataclasses
import re

_TITLE = re.compile(r"^( *)\+-+ (Runlist|TSG Entry|Channel Info|Unknown Entry) (\d+) -+\+$")
_LINE = re.compile(r"^( *)\| ([^:]+): *(.*?) *\|$")
_RULE = re.compile(r"^ *\+-+\+$")


@dataclasses.dataclass
class Box:
    kind: str
    number: int
    indent: int
    fields: dict


def boxes(text):
    """The boxes of a runlist file in order; anything else in it is an error."""
    found = []
    is_open = False
    for line in text.splitlines():
        title = _TITLE.match(line)
        if title:
            assert not is_open, f"box inside a box: {line}"
            found.append(Box(title[2], int(title[3]), len(title[1]), {}))
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


def channels(text):
    return {box.number: box.fields for box in boxes(text) if box.kind == "Channel Info"}


def tsgs(text):
    """[(tsg, [channels])] in list order."""
    result = []
    for box in boxes(text):
        if box.kind == "TSG Entry":
            result.append((box.number, []))
        elif box.kind == "Channel Info" and box.indent:
            result[-1][1].append(box.number)
    return result
