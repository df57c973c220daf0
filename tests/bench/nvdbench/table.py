# SPDX-License-Identifier: MIT OR GPL-2.0
"""Formats rows as aligned text."""


def text(rows, omit=lambda row: False):
    """Returns aligned text. Rows are dicts with the same keys. A first column that repeats the row above is left
    empty, and rows that `omit` accepts are left out."""
    rows = [row for row in rows if not omit(row)]
    if not rows:
        return ""
    columns = list(rows[0])
    cells = [[column.replace("_", " ") for column in columns]]
    first = None
    for row in rows:
        line = [_shown(row[column]) for column in columns]
        if line[0] == first:
            line[0] = ""
        else:
            first = line[0]
        cells.append(line)
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    left = [isinstance(rows[0][column], str) for column in columns]
    return "".join(_line(line, widths, left) for line in cells)


def _shown(value):
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else value


def _line(line, widths, left):
    padded = [cell.ljust(width) if to_the_left else cell.rjust(width)
              for cell, width, to_the_left in zip(line, widths, left)]
    return "  ".join(padded).rstrip() + "\n"
