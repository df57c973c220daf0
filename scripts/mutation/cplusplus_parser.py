# SPDX-License-Identifier: MIT OR GPL-2.0
"""Reads C++ as far as is needed to find statements and expressions in function bodies, which can be changed.

It relies on clang-format: a binary operator has blanks on both sides, and the bracket of a template has none."""

import collections
import re

TOKEN = re.compile(r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:\\\n|[^\n])* )
  | (?P<space> \s+ )
  | (?P<string> (?:u8|[uUL])?R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)" | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
              | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
  | (?P<number> \.?\d(?:[eEpP][+-]|'?[\w.])* )
  | (?P<word> [A-Za-z_]\w* )
  | (?P<sign> <=> | <<= | >>= | ->\* | \.\.\. | :: | -> | \+\+ | -- | << | >> | [<>=!]= | && | \|\|
            | [-+*/%&|^]= | . )
""", re.X | re.S | re.M)

OPENING, CLOSING = "([{", ")]}"
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# The operands of these words are not evaluated, or are constants.
UNEVALUATED = {"sizeof", "decltype", "alignof", "alignas", "noexcept"}
CONSTANT = {"constexpr", "consteval", "constinit"}
TYPE_WORDS = {"auto", "bool", "char", "class", "const", "delete", "double", "enum", "extern", "float", "int", "long",
              "mutable", "short", "signed", "static", "struct", "template", "thread_local", "typename", "union",
              "unsigned", "void", "volatile"}
TYPES = {"class", "struct", "union"}
# A statement that begins with one of these words is no code of its own.
PASSED_OVER = {"asm", "goto", "static_assert", "typedef", "using"}

Token = collections.namedtuple("Token", "kind text start end")


class Region:
    """A part of the text that can be replaced: `first` and `last` are numbers of tokens, `last` the one behind it.

    kind: "value", "condition" (which any type may have that becomes a bool), "statement"
    """

    def __init__(self, kind, first, last):
        self.kind, self.first, self.last = kind, first, last


def tokenize(text):
    tokens = []
    for found in TOKEN.finditer(text):
        kind = found.lastgroup if found.lastgroup != "mark" else "string"
        if kind in ("comment", "space"):
            continue
        start, end = found.span()
        if found[0] == ">>" and not text[start - 1].isspace():
            tokens += [Token(kind, ">", start, start + 1), Token(kind, ">", start + 1, end)]
        else:
            tokens.append(Token(kind, found[0], start, end))
    return tokens


class Parser:
    """Finds the regions of a text, in the order in which they end."""

    def __init__(self, text):
        self.text = text
        self.tokens = tokenize(text)
        self.match = self._matches()
        self.regions = []
        self.constants = []  # regions of constants, which cannot be changed while a program runs
        self._scope(0, len(self.tokens))

    def is_binary(self, number):
        """Returns whether blanks stand on both sides of an operator."""
        token = self.tokens[number]
        return self.text[token.start - 1].isspace() and self.text[token.end:token.end + 1].isspace()

    def top_level(self, first, last):
        """Yields the numbers of the tokens that stand in no brackets, opening brackets included."""
        at = first
        while at < last:
            yield at
            at = self.match.get(at, at) + 1

    def _matches(self):
        """Returns the number of each closing bracket by the number of its opening bracket, also for templates."""
        match, open_ = {}, []
        for number, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in OPENING:
                open_.append(number)
            elif token.text == "<" and (not self.is_binary(number) or self._is(number - 1, "template")):
                open_.append(number)
            elif token.text == ">" and open_ and self._is(open_[-1], "<"):
                match[open_.pop()] = number
            elif token.text in CLOSING:
                while open_ and self._is(open_[-1], "<"):
                    open_.pop()
                if open_:
                    match[open_.pop()] = number
        return match

    def _is(self, number, *texts):
        return 0 <= number < len(self.tokens) and self.tokens[number].text in texts

    def _find(self, first, last, *texts):
        """Returns the first token that is one of `texts` and in no brackets, or `last`."""
        return next((at for at in self.top_level(first, last) if self._is(at, *texts)), last)

    def _texts(self, first, last):
        return [self.tokens[at].text for at in self.top_level(first, last)]

    # --- namespaces and classes ---

    def _scope(self, first, last):
        begin = at = first
        while at < last:
            if self._is(at, ";") or self._is(at, ":") and self._is(at - 1, "public", "private", "protected"):
                begin = at = at + 1
            elif self._is(at, "{"):
                close = self.match.get(at, last)
                kind = self._kind(begin, at)
                if kind == "scope":
                    self._scope(at + 1, close)
                elif kind == "function":
                    self._block(at + 1, close, False)
                if kind != "value":
                    begin = close + 1
                at = close + 1
            else:
                at = self.match.get(at, at) + 1

    def _kind(self, first, brace):
        """Returns the kind of text in the braces behind a declaration."""
        texts = self._texts(first, brace)
        if texts[:1] == ["template"]:
            texts = texts[2:]
        words = set(texts)
        if "namespace" in words or texts[:1] == ["extern"] and len(texts) == 2:
            return "scope"
        if "enum" in words:
            return "skipped"
        if "(" not in words:
            return "scope" if words & TYPES else "value"
        if "=" in words and "operator" not in words:
            return "value"
        if words & CONSTANT:
            return "skipped"
        # Behind a constructor's colon, braces after a name are a member's value; the body's braces follow no name.
        has_colon = ":" in texts[texts.index("("):]
        is_value = has_colon and (self.tokens[brace - 1].kind == "word" or self._is(brace - 1, ">"))
        return "value" if is_value else "function"

    # --- statements ---

    def _block(self, first, last, nested):
        while first < last:
            first = self._statement(first, last, nested)

    def _statement(self, at, last, nested):
        """Reads a statement and returns what follows it. `nested`: whether a condition or a loop decides about it."""
        word = self.tokens[at].text
        if word == "{":
            self._block(at + 1, self.match[at], nested)
            return self.match[at] + 1
        if word in ("if", "while", "switch", "for", "catch"):
            return self._controlled(at, last)
        if word in ("do", "try", "else"):
            return self._statement(at + 1, last, nested or word != "try")
        if word in ("case", "default") or self._is(at + 1, ":"):
            return self._find(at, last, ":") + 1
        end = self._find(at, last, ";")
        if word in TYPES | {"enum"}:
            brace = self._find(at, end, "{", "=", "(")
            if self._is(brace, "{"):
                self._scope(at, self.match[brace] + 1)
                return self._find(self.match[brace] + 1, last, ";") + 1
        if word in PASSED_OVER or at == end:
            return end + 1
        if word in ("return", "throw", "break", "continue"):
            self._expression(at + 1, end)
            if nested and word != "throw":
                self.regions.append(Region("statement", at, end + 1))
        elif set(self._texts(at, self._find(at, end, "="))) & CONSTANT:
            self._constant(at, end)
        else:
            self._expression(at, end)
            if self._is_call_or_assignment(at, end):
                self.regions.append(Region("statement", at, end + 1))
        return end + 1

    def _controlled(self, at, last):
        word = self.tokens[at].text
        head = at + 1
        constant = self._is(head, "constexpr", "consteval")
        head += constant
        first, close = head + 1, self.match[head]
        if constant:
            self._constant(first, close)
        elif word == "for":
            self._for(first, close)
        elif word in ("if", "while"):
            self._condition(first, close)
        elif word == "switch":
            self._expression(first, close)
        # This is the end of a do loop.
        if word == "while" and self._is(close + 1, ";"):
            return close + 2
        after = self._statement(close + 1, last, word != "catch")
        return self._statement(after, last, True) if word == "if" and self._is(after, "else") else after

    def _for(self, first, last):
        semicolons = [at for at in self.top_level(first, last) if self._is(at, ";")]
        if len(semicolons) == 2:
            self._expression(first, semicolons[0])
            self._condition(semicolons[0] + 1, semicolons[1])
            self._expression(semicolons[1] + 1, last)
        else:
            if semicolons:
                self._expression(first, semicolons[0])
                first = semicolons[0] + 1
            self._expression(self._find(first, last, ":") + 1, last)

    def _condition(self, first, last):
        while (semicolon := self._find(first, last, ";")) < last:
            self._expression(first, semicolon)
            first = semicolon + 1
        is_one = not any(self._is(at, ",", *ASSIGNMENTS) for at in self.top_level(first, last))
        self._expression(first, last, "condition" if is_one else "value")

    # --- expressions ---

    def _expression(self, first, last, kind="value"):
        """Reads what may be a declaration, too, and notes the values in it, the innermost first."""
        begin = at = first
        while at < last:
            if self._is(at, ",", *ASSIGNMENTS):
                self._note("value", begin, at)
                begin = at = at + 1
            elif self._is(at, *OPENING):
                if after := self._lambda(at):
                    at = after
                    continue
                if not self._is(at - 1, *UNEVALUATED):
                    self._expression(at + 1, self.match[at])
                at = self.match[at] + 1
            else:
                at = self.match.get(at, at) + 1
        self._note(kind, begin, last)

    def _note(self, kind, first, last):
        if first < last:
            self.regions.append(Region(kind, first, last))

    def _constant(self, first, last):
        begin = len(self.regions)
        self._expression(first, last)
        self.constants += [region for region in self.regions[begin:] if region.kind != "statement"]
        del self.regions[begin:]

    def _lambda(self, at):
        """Reads a lambda's body and returns what follows it; None if there is no lambda."""
        before = self.tokens[at - 1]
        if not self._is(at, "[") or self._is(at + 1, "[") or before.kind in ("number", "string") or \
                before.text in (")", "]") or before.kind == "word" and before.text != "return":
            return None
        head = self.match[at] + 1
        if not self._is(head, "(", "{", "<", "mutable", "->"):
            return None
        brace = self._find(head, len(self.tokens), "{", ";")
        if not self._is(brace, "{"):
            return None
        if not set(self._texts(head, brace)) & CONSTANT:
            self._block(brace + 1, self.match[brace], False)
        return self.match[brace] + 1

    def _is_call_or_assignment(self, first, last):
        """Returns whether a statement can be left out: it declares nothing."""
        assignment = self._find(first, last, *ASSIGNMENTS)
        numbers = list(self.top_level(first, assignment))
        texts = self._texts(first, assignment)
        if set(texts) & TYPE_WORDS or texts[0] in ("static_cast", "co_await", "co_yield"):
            return False
        for at, after in zip(numbers, numbers[1:]):
            begins_name = self.tokens[after].kind == "word"
            is_pointer = self._is(at, "*", "&", "&&") and at > first
            if begins_name and (self.tokens[at].kind == "word" or self._is(at, "<") or is_pointer):
                return False
        return assignment < last or self._is(last - 1, ")") or bool({"++", "--"} & set(texts))
