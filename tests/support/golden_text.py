# SPDX-License-Identifier: MIT OR GPL-2.0
"""tests/golden: texts. A text that is mostly that of the same file of another board is kept as a `diff -U0` against it.

tests/support/sections.hpp reads these files, too. As a program: golden_text.py BOARD/NAME prints the text of a file.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "golden"
# Each board that always has whole texts, with the boards whose texts differ least from its texts.
BASES = {"gtx1060-3gb": ("quadro-k5000", "gtx980", "gtx1080ti", "jetson-tx2"),
         "rtx2080ti": ("titan-v", "jetson-xavier"),
         "rtx6000-ada": ("a100", "rtx-a6000", "h200", "b200", "rtx5090", "jetson-orin")}
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? ")


def patched(base, hunks):
    """Returns the lines of BASE after HUNKS, the lines of a `diff -U0` behind its two lines of names, were applied."""
    lines, at = [], 0
    for line in hunks:
        if head := HUNK.match(line):
            # A hunk without old lines adds its lines after the line of that number.
            start = int(head[1]) - (head[2] != "0")
            lines += base[at:start]
            at = start
        elif line[0] == "-":
            assert base[at] == line[1:], f"no such line in the other board's file: {line}"
            at += 1
        else:
            lines.append(line[1:])
    return lines + base[at:]


def load(name):
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines(keepends=True)
    if not lines[0].startswith("--- "):
        return "".join(lines)
    base = load(lines[0].split()[1]).splitlines(keepends=True)
    return "".join(patched(base, lines[2:]))


def difference(base, name):
    """Returns the `diff -U0` from the text of BASE to the text of NAME, which is already in its file."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as old:
        old.write(load(base))
        old.flush()
        return subprocess.run(["diff", "-U0", "-F", "^==> ", "--label", base, "--label", name, old.name,
                               FOLDER / name], stdout=subprocess.PIPE, text=True, check=False).stdout \
            or f"--- {base}\n+++ {name}\n"


def write(name, text):
    """Writes TEXT to the file NAME: as a diff if that has at most a third of the text's lines, else whole.

    The files of other boards that are diffs against NAME are written again, so that they keep their texts.
    """
    board, _, file = name.partition("/")
    others = {f"{other}/{file}" for other in BASES.get(board, ()) if (FOLDER / other / file).exists()}
    texts = {other: load(other) for other in others}
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    for base, boards in BASES.items():
        if board in boards and (FOLDER / base / file).exists():
            diff = difference(f"{base}/{file}", name)
            if diff.count("\n") <= text.count("\n") / 3:
                path.write_text(diff, encoding="utf-8")
    for other, kept in texts.items():
        write(other, kept)


if __name__ == "__main__":
    sys.stdout.write(load(sys.argv[1]))
