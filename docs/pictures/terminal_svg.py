# SPDX-License-Identifier: MIT OR GPL-2.0
"""A terminal's screen as one self-contained SVG file."""

from xml.sax.saxutils import escape

# Of a character's cell, in pixels.
WIDTH, HEIGHT, BASELINE, MARGIN = 8.4, 18, 13.5, 12
PAPER, INK = "#ffffff", "#1b1f24"
# The names of pyte, dark enough to be read on white paper; other colours come as RRGGBB.
COLORS = {
    "black": "#1b1f24", "red": "#b3261e", "green": "#116329", "brown": "#7a4e00",
    "blue": "#0550ae", "magenta": "#7b2d8b", "cyan": "#0b6b78", "white": "#6e7781",
    "brightblack": "#57606a", "brightred": "#cf222e", "brightgreen": "#1a7f37",
    "brightbrown": "#9a6700", "brightyellow": "#9a6700", "brightblue": "#0969da",
    "brightmagenta": "#8250df", "brightcyan": "#1b7c83",
    "brightwhite": "#8c959f",
}


def render(screen, title):
    """The screen up to its last line with something on it."""
    lines = [_runs(screen.buffer[row], screen.columns) for row in range(screen.lines)]
    while lines and not any(text.strip() or style[1] != PAPER for _, text, style in lines[-1]):
        lines.pop()
    width = screen.columns * WIDTH + 2 * MARGIN
    height = len(lines) * HEIGHT + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="100%" height="100%" rx="6" fill="{PAPER}" stroke="#d0d7de"/>',
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
        'xml:space="preserve">',
    ]
    for row, runs in enumerate(lines):
        top = MARGIN + row * HEIGHT
        for column, text, style in runs:
            parts += _run(MARGIN + column * WIDTH, top, text, style)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _runs(line, columns):
    """(column, text, style) of neighbours that look the same."""
    runs = []
    for column in range(columns):
        char = line[column]
        style = _style(char)
        if runs and runs[-1][2] == style:
            runs[-1] = (runs[-1][0], runs[-1][1] + char.data, style)
        else:
            runs.append((column, char.data, style))
    return runs


def _style(char):
    front, back = _color(char.fg, INK), _color(char.bg, PAPER)
    if char.reverse:
        front, back = back, front
    return front, back, char.bold, char.underscore


def _color(name, default):
    if name == "default":
        return default
    return COLORS.get(name) or f"#{name}"


def _run(left, top, text, style):
    front, back, bold, underlined = style
    if back != PAPER:
        yield (f'<rect x="{left:.1f}" y="{top}" width="{len(text) * WIDTH:.1f}" '
               f'height="{HEIGHT}" fill="{back}"/>')
    if not text.strip() and not underlined:
        return
    look = ' font-weight="bold"' if bold else ""
    look += ' text-decoration="underline"' if underlined else ""
    # The length is given, so that columns line up in whatever font there is.
    yield (f'<text x="{left:.1f}" y="{top + BASELINE}" fill="{front}"{look} '
           f'textLength="{len(text) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs">'
           f'{escape(text)}</text>')
