# SPDX-License-Identifier: MIT OR GPL-2.0
"""Counts the registers and words of memory that each file of each board reads, in the module's core over the model."""

import json
import subprocess

from nvdvm import paths

from . import table

TITLE = "Registers and words of memory by file and board (three tasks of two channels each)"
WORKLOAD = "fig6"
PROGRAM = paths.BUILD / "cmake" / "tests" / "module" / "core" / "core_costs"
# The counts of the last commit that changed them, which tests/module/test_core_costs.py compares.
GOLDEN = paths.ROOT / "tests" / "bench" / "core.json"


def measure():
    done = subprocess.run([PROGRAM, WORKLOAD], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def kept(rows):
    """Returns the text of the golden file. Each file of a board has a line, so that a diff shows a change."""
    boards = {}
    for row in rows:
        counts = {key: row[key] for key in row if key not in ("board", "file")}
        boards.setdefault(row["board"], []).append(f" {json.dumps(row['file'])}: {json.dumps(counts)}")
    text = ",\n".join(f"{json.dumps(board)}: {{\n" + ",\n".join(files) + "\n}" for board, files in boards.items())
    return f"{{\n{text}\n}}\n"


def changes(before, rows):
    """Returns a sentence for each difference from a golden file's contents."""
    before = {(board, file): counts for board, files in before.items() for file, counts in files.items()}
    now = {(row["board"], row["file"]): {key: row[key] for key in row if key not in ("board", "file")} for row in rows}

    def shown(counts):
        return "nothing" if counts is None else ", ".join(f"{value} {key.replace('_', ' ')}" for key, value in counts.items())

    return [f"{board}: {file} costs {shown(now.get((board, file)))}, and before {shown(before.get((board, file)))}"
            for board, file in {**before, **now} if before.get((board, file)) != now.get((board, file))]


def _is_free(row):
    return not any(row[key] for key in row if key not in ("board", "file"))


def text(rows):
    free = {row["file"] for row in rows if _is_free(row)} - {row["file"] for row in rows if not _is_free(row)}
    lines = changes(json.loads(GOLDEN.read_text(encoding="utf-8")), rows)
    return table.text(rows, _is_free) + f"\nWithout any: {', '.join(sorted(free))}.\n" + \
        ("".join(f"{line}\n" for line in lines) or f"As in {GOLDEN.relative_to(paths.ROOT)}.\n")
