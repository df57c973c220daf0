# SPDX-License-Identifier: MIT OR GPL-2.0
"""Command lines that try every reading verb of nvdebugctl on what a GPU holds."""

import dataclasses
import functools

from ctl import table

# These commands are run first. The other lines are made from their answers.
LISTS = ("engine list", "runlist list", "tsg list", "channel list")
# These commands have no end, write a file, read no GPU, or have tests of their own.
ELSEWHERE = ("watch", "top", "record", "recording show", "capture", "capture diff", "doctor", "completion bash",
             "completion zsh", "completion fish", "help", "exec", "task list", "task show", "task restore")
# The kernel walks the page tables for these, so captures cannot answer.
LIVE_ONLY = ("memory translate",)


def name_of(command):
    return " ".join(filter(None, (command["object"], command["verb"])))


@functools.cache
def reading():
    """Returns the commands of the tool's own table that only read."""
    return [command for command in table()
            if not command["control"] and name_of(command) not in ELSEWHERE]


@dataclasses.dataclass
class Line:
    command: str  # the command's name
    text: str  # the words to type
    of_gpu: bool  # whether it has a use for -g
    table: bool  # whether it has rows


def _words(kind, lists):
    """Returns arguments of a kind: the first and the last thing, if there are any."""
    found = {
        "runlist": [str(row["runlist"]) for row in lists["runlist list"]],
        "tsg": [f"{row['runlist']}:{row['tsg']}" for row in lists["tsg list"]],
        "channel": [f"{row['runlist']}:{row['channel']}" for row in lists["channel list"]],
    }[kind]
    return sorted({found[0], found[-1]}) if found else []


def lines(lists, live):
    """Yields a line for every verb that makes sense for `lists`: {name of LISTS: its rows}."""
    driven = [row["engine"] for row in lists["engine list"] if row["runlist"] is not None]
    for command in reading():
        name = name_of(command)
        of_gpu = "--gpu" in [option["name"] for option in command["options"]]
        if name in LIVE_ONLY:
            if live:
                for channel in _words("channel", lists):
                    yield Line(name, f"{name} {channel} 0x1000", of_gpu, table=False)
        elif name == "engine shared":
            yield Line(name, name, of_gpu, table=True)
            yield Line(name, f"{name} {driven[0]} {driven[-1]}", of_gpu, table=False)
        else:
            kinds = [argument["kind"] for argument in command["arguments"]]
            if not kinds or not command["arguments"][0]["required"]:
                yield Line(name, name, of_gpu, bool(command["columns"]))
            if kinds:
                assert len(kinds) == 1, f"say here how to try '{name}'"
                for word in _words(kinds[0], lists):
                    yield Line(name, f"{name} {word}", of_gpu, bool(command["columns"]))
