# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks of a program on a GPU: a line for each, and rows of figures."""

import sys


class Checks:
    """Checks that print a line each, and fail the program at its end if one of them failed."""

    def __init__(self):
        self.lines, self.failed = [], []

    def say(self, name, good, text):
        line = f"{'ok  ' if good else 'FAIL'}  {name}: {text}"
        print(line, flush=True)
        self.lines.append(line)
        if not good:
            self.failed.append(name)

    def row(self, name, good, **figures):
        """Returns a check as a row of a data file, which show() prints."""
        self.lines.append(name)
        if not good:
            self.failed.append(name)
        return {"check": name, "good": bool(good)} | figures

    def end(self, path=None):
        """Writes the lines to a file, if there is a path, and ends the program, with 1 if a check failed."""
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        print(f"{len(self.lines) - len(self.failed)} of {len(self.lines)} checks passed")
        sys.exit(bool(self.failed))


def show(title, rows):
    """Prints rows as they come, and returns them."""
    print(f"\n{title}")
    found = []
    for row in rows:
        print("  " + "  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        found.append(row)
    return found
