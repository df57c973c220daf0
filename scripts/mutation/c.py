# SPDX-License-Identifier: MIT OR GPL-2.0
"""Changes of the kernel's C. A function is compiled unchanged and once with each of its changes, and the environment selects
the one that is called. It also selects flags in tables. Any other change of a table is compiled alone."""

import collections
import pathlib
import re

from .changes import Mutant

SWAPS = [(r"(?<![=!<>])==(?!=)", "!="), (r"!=(?!=)", "=="), (r"(?<=\s)<(?=\s)", "<="), (r"(?<=\s)<=(?=\s)", "<"),
         (r"(?<=\s)>(?=\s)", ">="), (r"(?<=\s)>=(?=\s)", ">"), (r"&&", "||"), (r"\|\|", "&&"),
         (r"(?<=\+ )1\b(?!\s*<)", "0"), (r"(?<=- )1\b", "0"), (r"(?<=\bif \()!(?=\w)", ""),
         (r"(?<=\breturn )!(?=\w)", ""), (r"\btrue\b", "false"), (r"\bfalse\b", "true")]
RETURN = re.compile(r"^\t\t+return [^;]+;$|^\t\t+(?:continue|break);$")
CALL = re.compile(r"^\t+(?!return\b|if\b|while\b|for\b|switch\b|lockdep_|LIST_HEAD|trace_|goto\b)"
                  r"(?:ret = |error = )?(\w+)\(.*\);$")

# Where a call can be put in front of a line that begins a statement.
STATEMENT_BEFORE = re.compile(r"[;})]$|(?<!=) \{$|\b(?:else|do)$|^\t*(?:case .*|\w+):$")
CONDITION = re.compile(r"^\t+(?:\} )?(?:else )?(?:if|while|switch) \(|^\t+for \((?=\w+ = )")
DECLARATION = re.compile(r"^\t+(?!return |goto |else )(?:LIST_HEAD\(|(?:\w+ )+\**\w+(?:\[[^]]*\])*(?: =|;|,))")
TABLE = re.compile(r"^(?:static )?const struct \w+ (\w+) = \{$")
FLAG = re.compile(r"^\t\.(\w+) = (?:true|false),$")
SIMPLE = re.compile(r"^\t+(?!(?:case|default|do|else|for|if|while|switch)\b|\w+:)[\w*(]")


def blank(text):
    """Comments and strings as spaces, so that nothing in them is changed."""
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                  lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)


class Source:
    """A file of the core, and what can be changed in it."""

    left_out = 0

    def __init__(self, root, path):
        self.path = path
        text = (pathlib.Path(root) / path).read_text()
        self.lines = text.split("\n")
        self.code = [line.rstrip() for line in blank(text).split("\n")]
        self.functions = list(self._functions())
        self.mutants = list(self._mutants())

    def _functions(self):
        """Yields (line of the beginning, line of "{", line of "}") of each function that a copy can replace."""
        for number, line in enumerate(self.code):
            if line == "{":
                first = number
                while self.code[first - 1] and self.code[first - 1][-1] not in ";}":
                    first -= 1
                if "..." not in "".join(self.code[first:number]):
                    yield first, number, self.code.index("}", number)

    def _mutants(self):
        depth = 0
        for number, line in enumerate(self.code):
            inside = depth > 0
            depth += line.count("{") - line.count("}")
            # A tracepoint is code of the kernel.
            traces = "".join(self.code[number + 1:number + 2]).startswith("\t\ttrace_")
            if not inside or traces or line.startswith("#") or "BUILD_BUG_ON" in line:
                continue
            whole = self.lines[number]
            for pattern, other in SWAPS:
                for match in re.finditer(pattern, line):
                    yield Mutant(self.path, number, whole, whole[:match.start()] + other + whole[match.end():])
            function = self.function_of(number)
            call = CALL.match(line) if function and self._statement(number, function[1]) == number else None
            if RETURN.match(line):
                yield Mutant(self.path, number, whole, re.match(r"\t+", line)[0] + ";")
            elif call:
                result = re.match(r"(\t+)(ret|error) = ", line)
                left = f"{result[1]}{result[2]} = 0;" if result else re.match(r"\t+", line)[0] + ";"
                yield Mutant(self.path, number, whole, left)

    def function_of(self, line):
        return next((f for f in self.functions if f[1] < line < f[2]), None)

    def is_together(self, mutant):
        """Returns whether a change can be compiled together with other changes."""
        return bool(self.function_of(mutant.line) or self.flag_of(mutant.line))

    def covers(self, _mutant, _line):
        """Messages of the compiler name the change itself."""
        return False

    def flag_of(self, line):
        """Returns the flag of a table that a line sets, as C names it, or None."""
        flag = FLAG.match(self.code[line])
        if not flag:
            return None
        # The table begins at the last line above with text in its first column.
        table = TABLE.match(next(self.code[at] for at in range(line, 0, -1) if re.match(r"\w", self.code[at])))
        return table and f"{table[1]}.{flag[1]}"

    def with_all(self, numbers, places):
        """Returns the text with a choice of the changes of NUMBERS. PLACES gets the place by which each line is reported."""
        by_function = collections.defaultdict(list)
        flags = []
        for mutant, number in numbers.items():
            if flag := self.flag_of(mutant.line):
                flags.append(f"__attribute__((constructor)) static void flag__{number}(void) "
                             f"{{ mutant_flag({number}, &{flag}); }}")
            else:
                by_function[self.function_of(mutant.line)].append((mutant, number))
        out, done = [], 0
        for function in self.functions:
            first, top, end = function
            out += self.lines[done:first]
            done = end + 1
            if function not in by_function:
                out += self.lines[first:done]
                continue
            header = "\n".join(self.lines[first:top])
            before, name, parameters = re.match(r"(.*?)(\w+)\((.*)\)$", "\n".join(self.code[first:top]), re.S).groups()
            given = ", ".join(map(parameter_name, split_parameters(parameters)))
            out.append(header + ";")
            calls = []
            for mutant, number in by_function[function]:
                body = self.lines[top:done]
                body[mutant.line - top] = mutant.after
                static = "" if before.startswith("static ") else "static "
                out += [f'#line 1 "mutant-{number}"', f"{static}{before}{name}__{number}({parameters})", *body]
                calls.append(f"\tcase {number}: return {name}__{number}({given});")
            body = self._reporting(function, by_function[function], places)
            out += [f'#line {first + 1} "{self.path}"', header, "{", "\tswitch (mutant) {", *calls, "\t}", *body]
        return "\n".join(out + self.lines[done:] + flags) + "\n"

    def _reporting(self, function, changes, places):
        """Returns the function's body with a report at each changed line, or at the function's begin if there is no room."""
        _, top, end = function
        body = self.lines[:end + 1]
        known = {}
        for mutant, number in changes:
            line = self._statement(mutant.line, top)
            if line not in known:
                known[line] = number if self._report(body, line, number) else known.setdefault(top, number)
            places[mutant] = known[line]
        begin = [f"\tmutant_reached({known[top]});"] if top in known else []
        return begin + body[top + 1:]

    def _statement(self, line, top):
        """Returns the line at which the statement of this line begins."""
        while True:
            above = line - 1
            while not self.code[above]:
                above -= 1
            if above <= top or STATEMENT_BEFORE.search(self.code[above]):
                return line
            line = above

    def _report(self, body, line, place):
        call = f"mutant_reached({place})"
        code = self.code[line]
        condition = CONDITION.match(code)
        if condition:
            body[line] = f"{code[:condition.end()]}{call}, {body[line][condition.end():]}"
        elif DECLARATION.match(code):
            body[line] = f"\t{call}; {body[line]}"
        elif SIMPLE.match(code):
            last = line
            while self.code[last] and self.code[last][-1] not in ";{}":
                last += 1
            if not self.code[last].endswith(";"):
                return False
            body[line] = f"\t{{ {call}; {body[line]}"
            body[last] += " }"
        else:
            return False
        return True

    def with_one(self, mutant, numbers, places):
        """Returns the text with a change outside of functions."""
        self.lines[mutant.line] = mutant.after
        try:
            return self.with_all(numbers, places)
        finally:
            self.lines[mutant.line] = mutant.before


def split_parameters(text):
    depth, parts = 0, [""]
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() != "void"]


def parameter_name(text):
    return re.search(r"(?<=\(\*)\w+(?=\)\()|\w+(?=(?:\[[^]]*\])*$)", text)[0]
