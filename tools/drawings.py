# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of the documents: docs/figures/NAME.fig becomes docs/images/NAME.svg (`make figures`).

A figure is a grid of cells. Each line of its source is one directive, its words split as by a shell:

  cell WIDTH HEIGHT             size of a cell in pixels
  lane COLUMN TITLE             a column with a heading
  area COLUMN ROW W H TITLE     a frame around cells
  box ID COLUMN ROW TEXT [KEY=VALUE ...]      keys: w, h (cells), class (see FILLS)
  edge FROM TO [LABEL] [KEY=VALUE ...]        keys: shift (pixels across the edge), class (dashed),
                                              via (v: leave upwards or downwards; h: sideways; z: downwards with two
                                              corners), at (0..1: position of the label)

Columns, rows and sizes may be fractions. In TEXT, `|` ends a line; a line that starts with `*` is bold, with `~` is a
file or function name. Equal sources give equal bytes, so that check.docs can compare them.
"""

import argparse
import html
import itertools
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
SOURCES, IMAGES = Path("docs/figures"), Path("docs/images")

FONT, LINE, CHARACTER, NAME_CHARACTER = 13, 16, 6.9, 6.7  # sizes in pixels; widths are estimates for the common fonts
MARGIN, GAP_X, GAP_Y = 14, 12, 9  # around the figure; between the edges of a cell and its box
HEADING = 26

FILLS = {
    "plain": "#ffffff",
    "core": "#d9e7f5",
    "component": "#dff0d8",
    "arch": "#fdf0d0",
    "board": "#f8dfdc",
    "guest": "#ecdff5",
    "hardware": "#e4e4e4",
    "state": "#ffffff",
}


class FigureError(Exception):
    """A figure's source is wrong; the text names the line."""


@dataclass(frozen=True)
class Rect:
    """A rectangle in pixels."""

    x: float
    y: float
    w: float
    h: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2


@dataclass
class Figure:
    """The contents of a figure."""

    cell: tuple[float, float] = (160.0, 64.0)
    lanes: list[tuple[float, str]] = field(default_factory=list)
    areas: list[tuple[Rect, str]] = field(default_factory=list)  # in cells
    boxes: dict[str, tuple[Rect, str, str]] = field(default_factory=dict)  # rectangle in cells, text, class
    edges: list[tuple[str, str, str, dict[str, str]]] = field(default_factory=list)

    def pixels(self, cells: Rect) -> Rect:
        """The pixels of a rectangle of cells, gaps included."""
        top = MARGIN + (HEADING if self.lanes else 0)
        w, h = self.cell
        return Rect(MARGIN + cells.x * w, top + cells.y * h, cells.w * w, cells.h * h)

    def box(self, name: str) -> Rect:
        p = self.pixels(self.boxes[name][0])
        return Rect(p.x + GAP_X, p.y + GAP_Y, p.w - 2 * GAP_X, p.h - 2 * GAP_Y)


# --- reading ---


def _options(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The words, and those of the form KEY=VALUE with a known key."""
    known = ("w=", "h=", "class=", "shift=", "via=", "at=")
    options = dict(word.split("=", 1) for word in words if word.startswith(known))
    return [word for word in words if not word.startswith(known)], options


def _read_line(figure: Figure, words: list[str]) -> None:
    kind, (rest, options) = words[0], _options(words[1:])
    if kind == "cell":
        figure.cell = (float(rest[0]), float(rest[1]))
    elif kind == "lane":
        figure.lanes.append((float(rest[0]), rest[1]))
    elif kind == "area":
        x, y, w, h = (float(word) for word in rest[:4])
        figure.areas.append((Rect(x, y, w, h), rest[4]))
    elif kind == "box":
        cells = Rect(float(rest[1]), float(rest[2]), float(options.get("w", "1")), float(options.get("h", "1")))
        figure.boxes[rest[0]] = (cells, rest[3], options.get("class", "plain"))
    elif kind == "edge":
        figure.edges.append((rest[0], rest[1], rest[2] if len(rest) > 2 else "", options))
    else:
        raise FigureError(f"{kind}: no such directive")


def read(text: str) -> Figure:
    """Parses a source; FigureError if it is wrong."""
    figure = Figure()
    for number, line in enumerate(text.split("\n"), 1):
        words = shlex.split(line, comments=True)
        try:
            if words:
                _read_line(figure, words)
        except (FigureError, IndexError, ValueError) as error:
            raise FigureError(f"line {number}: {error}") from error
    for source, target, _, _ in figure.edges:
        for name in (source, target):
            if name not in figure.boxes:
                raise FigureError(f"edge {source} {target}: no box {name}")
    return figure


# --- drawing ---


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{style}>{html.escape(text)}</text>'


def _lines(middle: tuple[float, float], text: str) -> list[str]:
    """Lines of text, centred on a point."""
    lines = text.split("|")
    x, y = middle[0], middle[1] - LINE * (len(lines) - 1) / 2 + FONT * 0.36
    out = []
    for line in lines:
        mark, style = line[:1], ""
        if mark in ("*", "~"):
            line, style = line[1:], ' class="bold"' if mark == "*" else ' class="name"'
        out.append(_text(x, y, line, style))
        y += LINE
    return out


def _width(line: str) -> float:
    return (len(line) - 1) * NAME_CHARACTER if line.startswith("~") else len(line) * CHARACTER


def _draw_box(figure: Figure, name: str) -> list[str]:
    r = figure.box(name)
    _, text, kind = figure.boxes[name]
    lines = text.split("|")
    if max(_width(line) for line in lines) > r.w or len(lines) * LINE > r.h:
        raise FigureError(f"box {name}: its text does not fit ({r.w:.0f} x {r.h:.0f} pixels)")
    if kind not in FILLS:
        raise FigureError(f"box {name}: no class {kind}")
    radius = r.h / 2 if kind == "state" else 4
    shape = f'<rect x="{r.x:.1f}" y="{r.y:.1f}" width="{r.w:.1f}" height="{r.h:.1f}" rx="{radius:.1f}"'
    return [f'{shape} fill="{FILLS[kind]}" stroke="#445" />', *_lines(r.middle, text)]


def _overlap(a: float, a_size: float, b: float, b_size: float) -> float | None:
    """The middle of the overlap of two intervals; None if the overlap is less than a line of text."""
    low, high = max(a, b), min(a + a_size, b + b_size)
    return (low + high) / 2 if high - low > LINE else None


def _vertical(a: Rect, b: Rect, x: float) -> list[tuple[float, float]]:
    down = a.middle[1] < b.middle[1]
    return [(x, a.y + a.h if down else a.y), (x, b.y if down else b.y + b.h)]


def _horizontal(a: Rect, b: Rect, y: float) -> list[tuple[float, float]]:
    right = a.middle[0] < b.middle[0]
    return [(a.x + a.w if right else a.x, y), (b.x if right else b.x + b.w, y)]


def _one_corner(a: Rect, b: Rect, upright: bool, shift: float) -> list[tuple[float, float]]:
    """A path with one corner: upright leaves `a` by its upper or lower side and enters `b` from the side."""
    if upright:
        x, y = a.middle[0] + shift, b.middle[1]
        return [_vertical(a, b, x)[0], (x, y), _horizontal(a, b, y)[1]]
    x, y = b.middle[0], a.middle[1] + shift
    return [_horizontal(a, b, y)[0], (x, y), _vertical(a, b, x)[1]]


def _stepped(a: Rect, b: Rect, shift: float) -> list[tuple[float, float]]:
    """With two corners: downwards to the gap above `b`, sideways, downwards."""
    x0, x1, y = a.middle[0] + shift, b.middle[0], b.y - GAP_Y
    return [(x0, a.y + a.h), (x0, y), (x1, y), (x1, b.y)]


def _path(a: Rect, b: Rect, options: dict[str, str]) -> list[tuple[float, float]]:
    """The corners of an edge: straight where the boxes share a column or a row."""
    shift = float(options.get("shift", "0"))
    x, y = _overlap(a.x, a.w, b.x, b.w), _overlap(a.y, a.h, b.y, b.h)
    if options.get("via") == "z":
        return _stepped(a, b, shift)
    if "via" not in options and x is not None:
        return _vertical(a, b, x + shift)
    if "via" not in options and y is not None:
        return _horizontal(a, b, y + shift)
    if options.get("via", "h") not in ("v", "h"):
        raise FigureError(f"via={options['via']}: no such path")
    return _one_corner(a, b, options.get("via") == "v", shift)


def _longest(points: list[tuple[float, float]], at: float) -> tuple[float, float]:
    """The point at the fraction `at` of the longest segment of a path."""
    parts = itertools.pairwise(points)
    (x0, y0), (x1, y1) = max(parts, key=lambda part: abs(part[0][0] - part[1][0]) + abs(part[0][1] - part[1][1]))
    return x0 + (x1 - x0) * at, y0 + (y1 - y0) * at


def _draw_edge(figure: Figure, edge: tuple[str, str, str, dict[str, str]]) -> tuple[list[str], list[str]]:
    """The line, and its label, which is drawn on top of all lines."""
    source, target, label, options = edge
    points = _path(figure.box(source), figure.box(target), options)
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if options.get("class") == "dashed" else ""
    line = (
        f'<polyline points="{corners}" fill="none" stroke="#445" stroke-width="1.3"{dash} marker-end="url(#arrow)" />'
    )
    if not label:
        return [line], []
    x, y = _longest(points, float(options.get("at", "0.5")))
    lines = label.split("|")
    w, h = max(_width(part) for part in lines) + 6, len(lines) * LINE
    ground = (
        f'<rect x="{x - w / 2:.1f}" y="{y - h / 2:.1f}" width="{w:.1f}" height="{h:.1f}" fill="#fff" opacity="0.9" />'
    )
    return [line], [ground, *_lines((x, y), label)]


def _extent(figure: Figure) -> tuple[float, float]:
    cells = [cells for cells, _, _ in figure.boxes.values()] + [cells for cells, _ in figure.areas]
    rects = [figure.pixels(one) for one in cells]
    return max(r.x + r.w for r in rects) + MARGIN, max(r.y + r.h for r in rects) + MARGIN


def _draw_lanes(figure: Figure, height: float) -> list[str]:
    out = []
    for column, title in figure.lanes:
        x, w = MARGIN + column * figure.cell[0], figure.cell[0]
        out.append(
            f'<rect x="{x + 2:.1f}" y="{MARGIN}" width="{w - 4:.1f}" height="{height - 2 * MARGIN:.1f}"'
            ' fill="#f6f7f9" />'
        )
        out.append(_text(x + w / 2, MARGIN + 17, title, ' class="bold"'))
    return out


def _draw_areas(figure: Figure) -> list[str]:
    out = []
    for cells, title in figure.areas:
        r = figure.pixels(cells)
        out.append(
            f'<rect x="{r.x + 3:.1f}" y="{r.y + 2:.1f}" width="{r.w - 6:.1f}" height="{r.h - 4:.1f}" rx="6"'
            ' fill="#f6f7f9" stroke="#99a" stroke-dasharray="3 3" />'
        )
        out.append(_text(r.x + 12, r.y + 18, title, ' class="area"'))
    return out


# REUSE-IgnoreStart
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0f} {h:.0f}" width="{w:.0f}" height="{h:.0f}">
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made from {source} by `make figures`; do not edit. -->
<style>text {{ font: 13px sans-serif; text-anchor: middle; fill: #112; }} .bold {{ font-weight: bold; }}
.name {{ font: 11px monospace; fill: #335; }} .area {{ text-anchor: start; font-weight: bold; fill: #556; }}</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0,0.5 L8,4 L0,7.5 z" fill="#445" /></marker></defs>
<rect width="100%" height="100%" fill="#ffffff" />
"""
# REUSE-IgnoreEnd


def render(source: Path, text: str) -> str:
    """The SVG of the figure in `source` (its path is named in the SVG), whose text is `text`."""
    figure = read(text)
    w, h = _extent(figure)
    drawn = [_draw_edge(figure, edge) for edge in figure.edges]
    parts = [*_draw_lanes(figure, h), *_draw_areas(figure)]
    for lines, _ in drawn:
        parts += lines
    for name in figure.boxes:
        parts += _draw_box(figure, name)
    for _, labels in drawn:
        parts += labels
    return HEAD.format(w=w, h=h, source=source.as_posix()) + "\n".join(parts) + "\n</svg>\n"


def image_of(source: Path) -> Path:
    """The picture of a source, both relative to the top of the tree."""
    return IMAGES / (source.stem + ".svg")


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws docs/figures/*.fig as docs/images/*.svg.")
    parser.add_argument("--root", type=Path, default=TOP, help="top of the source tree (default: this one)")
    root: Path = parser.parse_args().root
    for path in sorted((root / SOURCES).glob("*.fig")):
        source = path.relative_to(root)
        try:
            svg = render(source, path.read_text(encoding="utf-8"))
        except FigureError as error:
            sys.exit(f"{source}: {error}")
        (root / image_of(source)).write_text(svg, encoding="utf-8")
        print(image_of(source))


if __name__ == "__main__":
    main()
