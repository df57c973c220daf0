# SPDX-License-Identifier: MIT OR GPL-2.0
"""Draws plots as SVG. The same data give the same bytes."""

import math
import textwrap
from xml.sax.saxutils import escape

PAPER, INK, FAINT, GRID = "#ffffff", "#1b1f24", "#57606a", "#d8dee4"
COLORS = ("#0969da", "#cf222e", "#1a7f37", "#8250df", "#9a6700", "#1b7c83", "#bf3989", "#57606a", "#0a3069", "#a40e26")
FONT = 'font-family="DejaVu Sans, Helvetica, Arial, sans-serif"'
WIDTH, RIGHT, TOP, BETWEEN = 860, 20, 34, 62
BOLD = 8.4  # width of a bold letter of size 13, on average at most
LETTER = 7  # width of a letter of size 11, on average at most
LEGEND_LINE = 18
COLUMNS = 240  # longest line of the file


def _number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def ticks(low, high, wanted=6):
    """Returns about WANTED round numbers from LOW to HIGH."""
    if high <= low:
        return [low]
    step = 10 ** math.floor(math.log10((high - low) / wanted))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= wanted:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _tick(value):
    return f"{value:,.10g}"


def _path(attributes, strokes):
    return textwrap.wrap(f'<path {attributes} d="{" ".join(strokes)}"/>', COLUMNS, break_on_hyphens=False)


def _texts(attributes, texts):
    """Returns the lines for TEXTS, each (x, y, text), in a group with ATTRIBUTES."""
    lines = [f"<g {attributes}>"] if texts else []
    for x, y, text in texts:
        element = f'<text x="{_number(x)}" y="{_number(y)}">{escape(text)}</text>'
        if len(lines[-1] + element) > COLUMNS:
            lines.append("")
        lines[-1] += element
    return [*lines, "</g>"] if texts else []


class Panel:
    """A plot. Its x axis has numbers; its y axis has numbers, or rows with names from the top."""

    def __init__(self, title, x, xlabel, y=None, ylabel="", rows=None, height=None, left=0):
        """LEFT is the least x at which the axes begin; panels with the same LEFT can begin at the same edge."""
        self.title, self.x, self.xlabel, self.ylabel, self.rows = title, x, xlabel, ylabel, rows
        self.y = (len(rows), 0) if rows else y
        self.height = height or (max(60, 22 * len(rows)) if rows else 200)
        self.xticks = [(value, _tick(value)) for value in ticks(*x)]
        self.shades, self.series, self.ends, self.texts, self.legend = [], {}, {}, {}, []
        self.left = max([100, left] + [self.left_of(rows or ())])
        self.wide = WIDTH - self.left - RIGHT

    @staticmethod
    def left_of(rows):
        """Returns the width that the names of rows take."""
        return max((int(6.7 * len(row)) + 16 for row in rows), default=0)

    def at(self, x, y):
        (x0, x1), (y0, y1) = self.x, self.y
        return ((x - x0) / (x1 - x0) * self.wide, self.height - (y - y0) / (y1 - y0) * self.height)

    def named(self, name, color):
        if name and (name, color) not in self.legend:
            self.legend.append((name, color))

    def stroke(self, x0, x1, y, width, color, attributes=""):
        """Draws a horizontal stroke.

        All strokes of a kind are one path. Strokes that touch are in two paths, so that the seam between them is seen.
        """
        kind = f'stroke="{COLORS[color]}" stroke-width="{_number(width)}"{attributes}'
        to = f"H{_number(x1)}" if x1 > x0 else "h0"
        end, path = self.ends.get((kind, y), (-math.inf, 0))
        path ^= x0 < x1 and abs(x0 - end) < 1
        self.ends[kind, y] = x1, path
        self.series.setdefault((kind, path), {})[f"M{_number(x0)},{_number(y)}{to}"] = None

    def text(self, x, y, text, attributes):
        self.texts.setdefault(f'font-size="11" {attributes}', []).append((x, y, text))

    def bar(self, begin, end, row, color, name=None, text=None, share=(0.12, 0.88)):
        """Draws a bar in ROW from BEGIN to END. Parts outside the axis are cut off."""
        begin, end = max(begin, self.x[0]), min(end, self.x[1])
        if end <= begin:
            return
        x0, y0 = self.at(begin, row + share[0])
        x1, y1 = self.at(end, row + share[1])
        self.stroke(x0, max(x1, x0 + 0.4), (y0 + y1) / 2, abs(y1 - y0), color)
        if text and x1 - x0 > 8 * len(text):
            self.text((x0 + x1) / 2, (y0 + y1) / 2 + 4, text, f'fill="{PAPER}" text-anchor="middle"')
        self.named(name, color)

    def shade(self, begin, end, color):
        """Shades the whole height from BEGIN to END, behind all other marks."""
        begin, end = max(begin, self.x[0]), min(end, self.x[1])
        if end > begin:
            x0, x1 = self.at(begin, self.y[0])[0], self.at(end, self.y[0])[0]
            self.shades.append(f'<rect x="{_number(x0)}" y="0" width="{_number(x1 - x0)}" height="{self.height}" '
                               f'fill="{COLORS[color]}" opacity="0.12"/>')

    def line(self, points, color, name=None, dashes=""):
        """Draws a line. With DASHES, such as "4 4", a line below it with the same points can be seen."""
        text = " ".join(",".join(map(_number, self.at(*point))) for point in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        kind = f'fill="none" stroke="{COLORS[color]}" stroke-width="1.5"{dashed}'
        self.series.setdefault((kind, 0), {})[f"M{text}"] = None
        self.named(name, color)

    def dots(self, points, color, name=None):
        for point in points:
            x, y = self.at(*point)
            self.stroke(x, x, y, 4.8, color, ' stroke-linecap="round"')
        self.named(name, color)

    def words(self, x, row, text, color=None):
        """Writes TEXT in the middle of ROW, to the right of X."""
        at = self.at(x, row + 0.5)
        self.text(at[0] + 5, at[1] + 4, text, f'fill="{COLORS[color] if color is not None else INK}"')

    def title_at(self):
        """Returns the x of the title: the axes' left edge, or less if the title would leave the picture."""
        at = min(0, self.wide - math.ceil(BOLD * len(self.title)))
        assert at >= RIGHT - self.left, f"the title is too long: {self.title}"
        return at

    @staticmethod
    def _width_of(name):
        """Returns the width of an entry of the legend."""
        return LETTER * len(name) + 26

    def legend_lines(self):
        """Returns the entries of each line of the legend.

        The first line is beside the axis' title. It is empty if the entries do not fit there.
        """
        beside = (self.wide - LETTER * len(self.xlabel)) / 2 - 12
        if sum(self._width_of(name) for name, _ in self.legend) <= beside:
            return [self.legend]
        lines, room = [[], []], self.wide
        for name, color in self.legend:
            if self._width_of(name) > room:
                lines, room = [*lines, []], self.wide
            lines[-1].append((name, color))
            room -= self._width_of(name)
        return lines

    def below(self):
        """Returns the height of the legend's lines below the title of the axis."""
        return LEGEND_LINE * (len(self.legend_lines()) - 1)

    def svg(self, top):
        right = self.wide
        out = [f'<g transform="translate({self.left} {top})">',
               f'<text x="{self.title_at()}" y="-10" font-size="13" font-weight="bold" '
               f'fill="{INK}">{escape(self.title)}</text>']
        xs = [self.at(value, self.y[0])[0] for value, _ in self.xticks]
        grid = [f"M{_number(x)},0V{self.height}" for x in xs]
        below = [(x, self.height + 15, name) for x, (_, name) in zip(xs, self.xticks)]
        if self.rows:
            left, color = [(-8, self.at(self.x[0], row + 0.5)[1] + 4, name)
                           for row, name in enumerate(self.rows)], INK
        else:
            values = ticks(*self.y, wanted=max(2, self.height // 35))
            ys = [self.at(self.x[0], value)[1] for value in values]
            grid += [f"M0,{_number(y)}H{right}" for y in ys]
            left, color = [(-8, y + 4, _tick(value)) for value, y in zip(values, ys)], FAINT
            out.append(f'<text transform="translate(-70 {self.height / 2:g}) rotate(-90)" font-size="11" fill="{INK}" '
                       f'text-anchor="middle">{escape(self.ylabel)}</text>')
        out += [*_path(f'stroke="{GRID}"', grid), *_texts(f'font-size="11" fill="{FAINT}" text-anchor="middle"', below),
                *_texts(f'font-size="11" fill="{color}" text-anchor="end"', left), *self.shades[::-1]]
        out += [line for (kind, _), strokes in self.series.items() for line in _path(kind, strokes)]
        out += [line for kind, texts in self.texts.items() for line in _texts(kind, texts)]
        out.append(f'<rect x="0" y="0" width="{right}" height="{self.height}" fill="none" stroke="{FAINT}"/>')
        out.append(f'<text x="{right / 2:g}" y="{self.height + 30}" font-size="11" fill="{INK}" '
                   f'text-anchor="middle">{escape(self.xlabel)}</text>')
        for number, entries in enumerate(self.legend_lines()):
            x, y = right, self.height + 20 + LEGEND_LINE * number
            for name, color in reversed(entries):
                x -= self._width_of(name)
                out.append(f'<rect x="{x + 4}" y="{y}" width="11" height="11" fill="{COLORS[color]}"/>'
                           f'<text x="{x + 19}" y="{y + 10}" font-size="11" fill="{INK}">{escape(name)}</text>')
        return [*out, "</g>"]


def render(panels, caption):
    """Returns an SVG of the panels. CAPTION is the lines below them; its first line is also the title."""
    body, top = [], TOP
    for panel in panels:
        body += panel.svg(top)
        top += panel.height + panel.below() + BETWEEN
    height = top - TOP + 16 * len(caption) + 14
    lines = [f'<text x="{RIGHT}" y="{top - 14 + 16 * n}" font-size="11" fill="{FAINT}">{escape(text)}</text>'
             for n, text in enumerate(caption)]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" {FONT}>', f"<title>{escape(caption[0])}</title>",
        f'<rect width="100%" height="100%" rx="6" fill="{PAPER}" stroke="#d0d7de"/>', *body, *lines, "</svg>", ""])
