"""Plots as SVG text, the same for the same data: axes, lines, points, and a legend below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from importlib.resources import files

from bmc.records import dataclass
from chaincover.report.html.kit import escaped, number

WIDTH = 520
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 40, 46
COLOURS, MARKS = 8, 5
STYLE = (files("benchmarks.bench.page") / "plot.css").read_text(encoding="utf-8")
FEW = 60
"""A line of more points than these has no marks: they would hide it."""
LETTER = 6.4
"""The width of a letter of the plots, on average, for the legend's columns."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from ``low`` to ``high``, logarithmic or not; ``whole``: its values are counts."""

    label: str
    low: float
    high: float
    log: bool = False
    whole: bool = False

    def at(self, value: float) -> float:
        """Where ``value`` is between the ends, from 0 to 1; what is outside is at an end."""
        value = min(max(value, self.low), self.high)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            every = 1 + len(decades) // 8
            steps = _STEPS if len(decades) <= 4 else (1.0,)
            found = [step * 10.0**decade for decade in decades[::every] for step in steps]
            return [value for value in found if 0.999999 * self.low <= value <= 1.000001 * self.high]
        rough = (self.high - self.low) / 6
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * s for s in (1, 2, 5, 10) if unit * s >= rough * 0.999999)
        step = max(step, 1.0) if self.whole else step
        return [self.low + step * k for k in range(math.floor((self.high - self.low) / step + 1e-9) + 1)]


_STEPS = (1.0, 2.0, 5.0)


def axis(label: str, values: Iterable[float], log: bool = False, whole: bool = False) -> Axis:
    """The axis that shows all of ``values``: from 0 on, or between one, two or five of some powers of ten."""
    known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    if log:
        least, most = min(known, default=1.0), max(known, default=1.0)
        marks = [
            step * 10.0**decade
            for decade in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 2)
            for step in _STEPS
        ]
        low = max((mark for mark in marks if mark <= least), default=marks[0])
        return Axis(label, low, next(mark for mark in marks if mark >= max(most, 5 * low)), True, whole)
    return Axis(label, 0.0, 1.04 * max([*known, 1.0]), False, whole)


@dataclass(frozen=True, slots=True)
class Line:
    label: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes of a plot. ``border``: the share of each axis that values take; what has none is at its end."""

    name: str
    title: str
    described: str
    x: Axis
    y: Axis
    height: int = 300
    border: float = 1.0

    def place(self, x: float | None, y: float | None) -> tuple[float, float]:
        """Where a point is drawn; a value None is on the border."""
        across = 1.0 if x is None else self.border * self.x.at(x)
        up = 1.0 if y is None else self.border * self.y.at(y)
        return LEFT + across * (WIDTH - LEFT - RIGHT), TOP + (1 - up) * self.height

    def picture(self, inside: Sequence[str], below: Sequence[str] = (), added: int = 0) -> str:
        """The whole picture, with ``inside`` the axes and ``below`` the axes, which takes ``added`` more of height."""
        whole = TOP + self.height + BOTTOM + added
        return "\n".join(
            [
                f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {whole}" role="img" '
                f'aria-labelledby="{self.name}-title {self.name}-described" data-name="{self.name}">',
                f'<title id="{self.name}-title">{escaped(self.title)}</title>',
                f'<desc id="{self.name}-described">{escaped(self.described)}</desc>',
                f'<text class="title" x="{LEFT}" y="22">{escaped(self.title)}</text>',
                *self._axes(),
                *inside,
                *below,
                "</svg>",
            ]
        )

    def _axes(self) -> list[str]:
        left, bottom = self.place(self.x.low, self.y.low)
        right, top = self.place(None, None)
        out = []
        for value in self.x.ticks():
            x, _ = self.place(value, self.y.low)
            out.append(f'<path class="grid" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>')
            out.append(_words("tick", x, bottom + 16, _tick(value), "middle"))
        for value in self.y.ticks():
            _, y = self.place(self.x.low, value)
            out.append(f'<path class="grid" d="M{left:.1f} {y:.1f}H{right:.1f}"/>')
            out.append(_words("tick", left - 6, y + 4, _tick(value), "end"))
        middle, centre = (left + right) / 2, (top + bottom) / 2
        size = f'width="{right - left:.1f}" height="{bottom - top:.1f}"'
        out.append(f'<rect class="frame" x="{left:.1f}" y="{top:.1f}" {size}/>')
        out.append(_words("x-label", middle, bottom + 36, self.x.label, "middle"))
        turned = f'transform="translate(14 {centre:.1f}) rotate(-90)"'
        out.append(f'<text class="y-label" text-anchor="middle" {turned}>{escaped(self.y.label)}</text>')
        return out


def _words(kind: str, x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" text-anchor="{anchor}" x="{x:.1f}" y="{y:.1f}">{escaped(text)}</text>'


def _tick(value: float) -> str:
    if value and not 0.001 <= abs(value) < 1_000_000:
        return f"1e{round(math.log10(abs(value)))}" if math.log10(abs(value)) % 1 == 0 else f"{value:g}"
    return f"{value:,.6g}".replace(",", "\u202f")


def lines(frame: Frame, shown: Sequence[Line], nothing: str) -> str:
    """A plot of lines with their legend; ``nothing`` is told where no line has a point."""
    inside, below = [], []
    drawn = [line for line in shown if line.points]
    if not drawn:
        inside.append(_words("note", (LEFT + WIDTH - RIGHT) / 2, TOP + frame.height / 2, nothing, "middle"))
    for order, line in enumerate(shown):
        inside += _line(frame, order, line)
    widest = max((len(line.label) + 7 * (not line.points) for line in shown), default=1)
    columns = max(1, min(4, int((WIDTH - 12) // (LETTER * min(widest, 70) + 40))))
    top = TOP + frame.height + BOTTOM
    for order, line in enumerate(shown):
        x = 12 + (order % columns) * (WIDTH - 12) / columns
        y = top + 8 + 17 * (order // columns)
        below.append(f'<path class="line {_look(order)}" d="M{x:.1f} {y:.1f}h22"/>')
        below.append(_mark(order, x + 11, y))
        label = line.label if len(line.label) <= 70 else line.label[:69] + "…"
        label += "" if line.points else " (none)"
        below.append(_words("label", x + 28, y + 4, label))
    return frame.picture(inside, below, 17 * math.ceil(len(shown) / columns) + 8)


def _line(frame: Frame, order: int, line: Line) -> list[str]:
    places = [f"{x:.1f} {y:.1f}" for x, y in (frame.place(*point) for point in line.points)]
    places = list(dict.fromkeys(places))
    if not places:
        return []
    out = [f'<path class="line {_look(order)}" d="M{"L".join(places)}"><title>{escaped(line.label)}</title></path>']
    if len(line.points) <= FEW:
        for x, y in line.points:
            told = f"{line.label}: {number(x)}, {number(y)}"
            out.append(_mark(order, *frame.place(x, y), told))
    return out


def _look(order: int) -> str:
    return f"c{order % COLOURS} d{order // COLOURS % 4}"


def _mark(order: int, x: float, y: float, told: str = "") -> str:
    """A mark whose shape goes with the number of its line."""
    shapes = (
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        "m-3.6-3.6h7.2v7.2h-7.2z",
        "m0-5l5 5l-5 5l-5-5z",
        "m0-4.8l4.8 8.4h-9.6z",
        "m0 4.8l4.8-8.4h-9.6z",
    )
    title = f"<title>{escaped(told)}</title>" if told else ""
    return f'<path class="mark c{order % COLOURS}" d="M{x:.1f} {y:.1f}{shapes[order % MARKS]}">{title}</path>'


@dataclass(frozen=True, slots=True)
class Point:
    label: str
    x: float | None
    y: float | None


def scatter(frame: Frame, points: Sequence[Point]) -> str:
    """Points over two axes with one scale, values None on the border; the page's script draws other pairs the same."""
    left, bottom = frame.place(frame.x.low, frame.y.low)
    inner, ceiling = frame.place(frame.x.high, frame.y.high)
    right, top = frame.place(None, None)
    inside = [
        f'<path class="border" d="M{left:.1f} {ceiling:.1f}H{inner:.1f}V{bottom:.1f}"/>',
        f'<path class="frame" d="M{left:.1f} {bottom:.1f}L{inner:.1f} {ceiling:.1f}"/>',
        f'<text class="note" x="{left + 5:.1f}" y="{top + 14:.1f}">not solved</text>',
        f'<text class="note" transform="translate({right - 5:.1f} {bottom - 5:.1f}) rotate(-90)">not solved</text>',
        f'<g class="points" data-left="{left:.1f}" data-bottom="{bottom:.1f}" data-right="{right:.1f}" '
        f'data-top="{top:.1f}" data-low="{frame.x.low!r}" data-high="{frame.x.high!r}" data-border="{frame.border}">',
    ]
    for point in points:
        x, y = frame.place(point.x, point.y)
        kind = "point unsolved" if point.x is None or point.y is None else "point"
        place = f'class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"'
        inside.append(f"<circle {place}><title>{escaped(point.label)}</title></circle>")
    return frame.picture([*inside, "</g>"])


def as_file(picture: str) -> str:
    """A picture with its style, as a file of its own."""
    start, rest = picture.split(">", 1)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{start}>\n<style>{escaped(STYLE)}</style>{rest}\n'
