# SPDX-License-Identifier: MIT OR GPL-2.0
"""Changes of C++. All changes of a trial are compiled at once; each is a choice beside the original text."""

import bisect
import collections
import dataclasses
import pathlib

from .changes import Mutant
from .cplusplus_parser import Parser, tokenize

SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&"}
LITERALS = {"true": "false", "false": "true"}
FUNCTIONS = {"min": "max", "max": "min", "any_of": "all_of", "all_of": "any_of", "none_of": "any_of"}

# tests/…/mutants.cpp defines these names. mutant_is() notes that the line is reached, also in a child of the test's process.
PROLOGUE = """\
extern "C" { extern int mutant; extern unsigned char *mutant_places; }
static inline bool mutant_is(int number) { mutant_places[number] = 1; return mutant == number; }
#line 1 "%s"
"""


@dataclasses.dataclass(frozen=True)
class Change(Mutant):
    start: int  # begin of the replaced part in the file's text
    end: int
    text: str
    kind: str  # kind of the region around it; `region` is that region's place
    region: tuple

    def identity(self):
        """Returns a text without comments and messages, so that a change of words does not draw another sample."""
        def code(line):
            return " ".join('""' if token.kind == "string" else token.text for token in tokenize(line))
        return f"{self.path} | {code(self.before)} | {code(self.after)}"


@dataclasses.dataclass
class Slot:
    """A region of the text in which there is a choice of changes, and others within it."""

    kind: str
    start: int
    end: int
    numbers: dict
    inner: list


class Source:
    """A file of a program, and what can be changed in it."""

    def __init__(self, root, path):
        self.path = path
        self.text = (pathlib.Path(root) / path).read_text()
        self.parser = Parser(self.text)
        self.starts = [0] + [at + 1 for at, letter in enumerate(self.text) if letter == "\n"]
        self.mutants = sorted(self._changes(self.parser.regions), key=lambda change: (change.start, change.end))
        # These are changes of constants, which the compiler evaluates.
        self.left_out = len(list(self._changes(self.parser.constants)))

    def line_of(self, place):
        return bisect.bisect_right(self.starts, place) - 1

    def covers(self, mutant, line):
        """Returns whether the text that a change duplicates has a line."""
        start, end = mutant.region
        return self.line_of(start) <= line <= self.line_of(end - 1)

    @staticmethod
    def is_together(_mutant):
        return True

    def _changes(self, regions):
        for region in regions:
            start, end = self.parser.tokens[region.first].start, self.parser.tokens[region.last - 1].end
            for first, last, text in self._edits(region, start, end):
                yield self._change(first, last, text, region.kind, (start, end))

    def _change(self, start, end, text, kind, region):
        line = self.line_of(start)
        begin = self.starts[line]
        before = self.text[begin:].split("\n", 1)[0]
        after = (self.text[begin:start] + text + self.text[end:]).split("\n", 1)[0] if text else ""
        return Change(self.path, line, before, after, start, end, text, kind, region)

    def _edits(self, region, start, end):
        if region.kind == "statement":
            yield start, end, ""
            return
        found = list(self._swaps(region))
        yield from found
        if region.kind == "condition" and not found and self._is_of_if(region):
            yield start, end, f"!({self.text[start:end]})"

    def _is_of_if(self, region):
        """Returns whether a condition is worth turning around: a loop would not run at all, or would not end."""
        tokens = self.parser.tokens
        first = region.first - 1
        while tokens[first].text != "(" or self.parser.match.get(first, 0) < region.first:
            first -= 1
        return tokens[first - 1].text == "if"

    def _swaps(self, region):
        tokens, parser = self.parser.tokens, self.parser
        for at in parser.top_level(region.first, region.last):
            token = tokens[at]
            other = None
            if token.text in SWAPS and at not in parser.match and parser.is_binary(at):
                other = SWAPS[token.text]
            elif token.text == "1" and at > region.first and tokens[at - 1].text in "+-" and parser.is_binary(at - 1) \
                    and tokens[min(at + 1, len(tokens) - 1)].text not in ("<<", "*"):
                other = "0"
            elif token.text == "!":
                # "!!" also makes a bool of a value that is not one.
                other = "!!"
            elif token.text in LITERALS:
                other = LITERALS[token.text]
            elif token.text in FUNCTIONS and tokens[at - 1].text == "::" and tokens[at + 1].text in "(<":
                other = FUNCTIONS[token.text]
            if other:
                yield token.start, token.end, other

    def with_all(self, numbers, places):
        """Returns the text with a choice of the changes of `numbers`. `places` gets the number by which each is reported."""
        places.update(numbers)
        by_region = collections.defaultdict(dict)
        for mutant, number in numbers.items():
            by_region[mutant.region, mutant.kind == "statement"][mutant] = number
        # An outer region comes before the regions inside it.
        order = sorted(by_region, key=lambda region: (region[0][0], -region[0][1], not region[1]))
        root = Slot("", 0, len(self.text), {}, [])
        path = [root]
        for region in order:
            changes = by_region[region]
            slot = Slot(next(iter(changes)).kind, *region[0], changes, [])
            while slot.start >= path[-1].end:
                path.pop()
            path[-1].inner.append(slot)
            path.append(slot)
        return PROLOGUE % self.path + self._inside(root)

    def _inside(self, slot):
        out, at = [], slot.start
        for inner in slot.inner:
            out += [self.text[at:inner.start], self._choice(inner)]
            at = inner.end
        return "".join(out) + self.text[at:slot.end]

    def _choice(self, slot):
        """Names each change as a file of its own, so that the messages of the compiler name it."""
        inside = f'\n#line {self.line_of(slot.start) + 1} "{self.path}"\n'
        if slot.kind == "statement":
            number, = slot.numbers.values()
            return f'\n#line 1 "mutant-{number}"\n{{ if (!mutant_is({number})){inside}{self._inside(slot)} }}'
        form = "bool(%s)" if slot.kind == "condition" else "(%s)"
        out = "("
        for change, number in slot.numbers.items():
            other = self.text[slot.start:change.start] + change.text + self.text[change.end:slot.end]
            out += f'\n#line 1 "mutant-{number}"\nmutant_is({number}) ? {form % other} :'
        return out + inside + form % self._inside(slot) + ")"
