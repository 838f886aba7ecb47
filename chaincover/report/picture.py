"""A drawing as a list of shapes, and its writers: SVG that follows light and dark, and PNG by matplotlib."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from bmc.errors import UsageError
from bmc.records import dataclass
from chaincover.report.html.kit import FORBIDDEN, escaped

INKS = {
    "ink": ("#1c2126", "#e8eaed"),
    "faint": ("#5b6570", "#a9b2bb"),
    "grid": ("#dfe4e8", "#353c43"),
    "ground": ("#ffffff", "#14181c"),
    "raised": ("#f4f6f8", "#1e2429"),
    "accent": ("#005f9e", "#7cc4ff"),
    "good": ("#00694a", "#5fd6ad"),
    "bad": ("#a3300b", "#ff9d78"),
    "open": ("#7a5200", "#f0c36a"),
}
"""Colours by name, each in light and in dark: those of the report's style sheet."""

LETTER = 7.25
"""Pixels that a letter takes. Twice as many: half as many letters of a text fit before it is cut."""

SIZE = 12
"""Pixels of the font. Twice as many: letters that overlap, as ``LETTER`` and the lanes are made for this size."""

SHARPNESS = 2
"""Pixels of a PNG for each pixel of the drawing, each way. Twice as many: files of four times the size."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Area:
    """A filled shape with these corners."""

    corners: tuple[Point, ...]
    ink: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line through these points, ``width`` pixels wide."""

    points: tuple[Point, ...]
    ink: str
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its middle at the height ``y``; ``anchor``: which part of it is at ``x``: start, middle or end."""

    x: float
    y: float
    text: str
    ink: str = "ink"
    anchor: str = "start"


Shape = Area | Line | Text


@dataclass(frozen=True)
class Picture:
    """Shapes, those behind others first, with a title and a description for those who do not see them."""

    width: float
    height: float
    title: str
    description: str
    shapes: tuple[Shape, ...]


def box(x: float, y: float, width: float, height: float, ink: str) -> Area:
    """A filled rectangle."""
    return Area(((x, y), (x + width, y), (x + width, y + height), (x, y + height)), ink)


def width_of(text: str) -> float:
    """How wide a text is."""
    return LETTER * len(text)


def fitted(text: str, most: float) -> str:
    """As much of a text as fits into so many pixels, '' where that is next to nothing."""
    letters = int(most / LETTER)
    if len(text) <= letters:
        return text
    return f"{text[: letters - 1]}…" if letters > 2 else ""


def as_svg(picture: Picture) -> str:
    """The drawing as SVG that loads nothing; its colours follow the reader's choice of light or dark."""
    size = f'viewBox="0 0 {_number(picture.width)} {_number(picture.height)}"'
    size += f' width="{_number(picture.width)}" height="{_number(picture.height)}"'
    size += ' class="chaincover-drawing" role="img"'
    title = escaped(picture.title)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} aria-label="{title}">',
            f"<title>{title}</title>",
            f"<desc>{escaped(picture.description)}</desc>",
            f"<style>{_style()}</style>",
            *map(_element, picture.shapes),
            "</svg>\n",
        ]
    )


def _style() -> str:
    def rules(side: int) -> str:
        own = ".chaincover-drawing"
        colours = ((of, pair[side]) for of, pair in INKS.items())
        return " ".join(
            f"{own} .{name} {{ fill: {one}; }} {own} .line-{name} {{ stroke: {one}; }}" for name, one in colours
        )

    font = f'font: {SIZE}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre;'
    dark = f"@media (prefers-color-scheme: dark) {{ {rules(1)} }}"
    return f".chaincover-drawing text {{ {font} }} .chaincover-drawing .line {{ fill: none; }} {rules(0)} {dark}"


def _element(shape: Shape) -> str:
    """A shape as an element; its colour is an attribute too, for programs that read no style sheets."""
    if isinstance(shape, Text):
        anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
        place = f'x="{_number(shape.x)}" y="{_number(shape.y + SIZE / 3)}"'
        return f'<text class="{shape.ink}" fill="{INKS[shape.ink][0]}" {place}{anchor}>{escaped(shape.text)}</text>'
    if isinstance(shape, Area):
        return f'<path class="{shape.ink}" fill="{INKS[shape.ink][0]}" d="{_path(shape.corners)}z"/>'
    dashes = ' stroke-dasharray="3 3"' if shape.dashed else ""
    colour = f'class="line line-{shape.ink}" fill="none" stroke="{INKS[shape.ink][0]}"'
    return f'<path {colour} stroke-width="{_number(shape.width)}"{dashes} d="{_path(shape.points)}"/>'


def _path(points: Sequence[Point]) -> str:
    return "".join(f"{'L' if place else 'M'}{_number(x)} {_number(y)}" for place, (x, y) in enumerate(points))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def as_png(picture: Picture) -> bytes:
    """The drawing as PNG in light colours. UsageError where matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        text = "a PNG is drawn by matplotlib, which is not installed"
        raise UsageError(text, hint="pip install 'chaincover[plots]', or write an SVG: -o x.svg") from None
    dots = 100
    figure = Figure(figsize=(picture.width / dots, picture.height / dots), dpi=dots * SHARPNESS)
    FigureCanvasAgg(figure)  # else one for a screen might draw it
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, picture.width), ylim=(picture.height, 0))
    for artist in _artists(picture.shapes):
        axes.add_artist(artist)
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a letter that the font does not have is drawn as a box
        figure.savefig(file, metadata={"Software": None, "Title": FORBIDDEN.sub("\ufffd", picture.title)})
    return file.getvalue()


def _artists(shapes: Sequence[Shape]) -> Iterator[Any]:
    from matplotlib import lines, patches, text

    points = 0.72  # of a typographer's unit in a pixel, at a hundred pixels an inch
    anchors = {"start": "left", "middle": "center", "end": "right"}
    for order, shape in enumerate(shapes):
        colour = INKS[shape.ink][0]
        drawn: Any
        if isinstance(shape, Text):
            drawn = text.Text(shape.x, shape.y, FORBIDDEN.sub("\ufffd", shape.text).replace("\n", " "))
            drawn.set(color=colour, family="DejaVu Sans Mono", size=SIZE * points, parse_math=False)
            drawn.set(ha=anchors[shape.anchor], va="center_baseline")
        elif isinstance(shape, Area):
            drawn = patches.Polygon(shape.corners, closed=True, facecolor=colour, edgecolor="none")
        else:
            drawn = lines.Line2D(*zip(*shape.points, strict=True), solid_capstyle="butt", solid_joinstyle="miter")
            drawn.set(color=colour, linewidth=shape.width * points, linestyle=(0, (3, 3)) if shape.dashed else "solid")
        drawn.set_zorder(order)
        yield drawn
