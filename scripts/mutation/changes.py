# SPDX-License-Identifier: MIT OR GPL-2.0
"""Changes of any language: how they are named, drawn and explained."""

import collections
import dataclasses
import fnmatch
import hashlib
import re


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    line: int  # from 0
    before: str
    after: str

    def __str__(self):
        return f"{self.path}:{self.line + 1}: {self.before.strip()}  ->  {self.after.strip() or '(left out)'}"

    def key(self):
        """Returns the name of the change for the file of explanations, without the line's number, which may change."""
        after = self.after.strip()
        return f"{self.path} | {self.before.strip()} | {'-' if after in ('', ';') else after}"

    def identity(self):
        """Returns the text whose hash decides whether the change is in a sample."""
        return self.key()


def draw(mutants, count, seed):
    """Returns `count` of the changes, in their order. Each is ranked by a hash of the seed and its own text, so
    that most of a sample stays the same when other lines come or go."""
    seen = collections.Counter()
    ranked = []
    for place, mutant in enumerate(mutants):
        identity = mutant.identity()
        ranked.append((hashlib.sha256(f"{seed} | {identity} | {seen[identity]}".encode()).digest(), place))
        seen[identity] += 1
    return [mutants[place] for place in sorted(place for _, place in sorted(ranked)[:count])]


class Explanations:
    """The changes that no test needs to notice. A file has them as lines FILE | BEFORE | AFTER | WHY, with "*" for any text."""

    def __init__(self, text):
        self.needed = set()
        self.entries = {}
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                key = line.rsplit(" | ", 1)[0]
                self.entries[line] = re.compile(re.escape(key).replace(r"\*", ".*"))

    def explain(self, mutant):
        """Returns whether an entry explains that the change went unnoticed."""
        found = [line for line, pattern in self.entries.items() if pattern.fullmatch(mutant.key())]
        self.needed.update(found)
        return bool(found)

    def stale(self, paths, selected):
        """Returns the entries that explained nothing, although all files that they are about were selected."""
        found = []
        for line in self.entries:
            about = set(fnmatch.filter(paths, line.split(" | ")[0]))
            if about and about <= set(selected) and line not in self.needed:
                found.append(line)
        return found
