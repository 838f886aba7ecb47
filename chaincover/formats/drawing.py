"""The K-reachability graph as a drawing: for Graphviz (DOT), and as SVG."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from html import escape
from itertools import pairwise
from math import cos, hypot, pi, sin
from typing import Any

from chaincover.formats.document import Document

ENDS = ("init", "final", "end")
"""Nodes that are no goals."""

STYLE = """\
  svg { color-scheme: light dark; }
  text { font: 13px monospace; fill: var(--color-foreground-primary, light-dark(#222, #ddd)); }
  .node { fill: var(--color-background-secondary, light-dark(#f4f4f4, #2a2a2a)); }
  .node, .edge { stroke: var(--color-foreground-muted, #888); }
  .edge { fill: none; opacity: 0.5; }
  .weight { font-size: 11px; stroke: var(--color-background-primary, light-dark(#fff, #111)); stroke-width: 4px;
    paint-order: stroke; }
  .path { stroke: var(--color-brand-primary, #2a5adf); stroke-width: 2.5px; opacity: 1; }
  .weight.path { stroke-width: 4px; stroke: var(--color-background-primary, light-dark(#fff, #111)); }
  .weight.path { font-weight: bold; }
"""
"""Colours are those of the page in which the drawing stands, if it has any by these names, else light or dark."""
ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>'
)
_HEIGHT, _MOST_LABELLED = 28, 12
"""Pixels of the height of a node (twice as many: nodes that hide edges), and the nodes of a graph up to which all edges
have their weights (twice as many: weights that lie upon each other)."""


def to_dot(name: str, data: dict[str, Any]) -> str:
    """The graph's data (see ``documents.graph_data``) as DOT: edges carry their weights in steps."""
    lines = [f"digraph {_quoted(name)} {{", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    for node in data["nodes"]:
        shape = " [shape=circle]" if node in ENDS else ""
        lines.append(f"  {_quoted(node)}{shape};")
    chain = {(edge["from"], edge["to"]) for edge in data.get("chain", ())}
    for ends, label in _labels(data).items():
        bold = ", style=bold, penwidth=3" if ends in chain else ""
        shown = label if label.isdecimal() else _quoted(label)
        lines.append(f"  {_quoted(ends[0])} -> {_quoted(ends[1])} [label={shown}{bold}];")
    lines.append("}")
    return "\n".join(lines) + "\n"


def edges_of(document: Document, end: str) -> list[dict[str, Any]]:
    """The edges of a graph that the chain of a document goes along, to the node ``end``, with the steps it takes."""
    chain = document.chain
    assert chain is not None
    steps = {hit.goal: hit.step for hit in chain.hits}
    places = [("init", 0), *((goal, steps[goal]) for goal in chain.order), (end, chain.length)]
    return [{"from": a, "to": b, "steps": after - before} for (a, before), (b, after) in pairwise(places)]


def _labels(data: dict[str, Any]) -> dict[tuple[str, str], str]:
    """What stands beside each edge: its weight; on a chain its steps, and the weight where that is less."""
    labels = {(edge["from"], edge["to"]): str(edge["weight"]) for edge in data["edges"]}
    for edge in data.get("chain", ()):
        ends, steps = (edge["from"], edge["to"]), str(edge["steps"])
        labels[ends] = steps if labels.get(ends, steps) == steps else f"{steps} (least {labels[ends]})"
    return labels


def _chain_path(data: dict[str, Any]) -> list[str]:
    """The nodes along the chain in the data; none without one."""
    chain = data.get("chain", ())
    return [*(edge["from"] for edge in chain), *(edge["to"] for edge in chain[-1:])]


def to_svg(
    name: str, data: dict[str, Any], path: Sequence[str] = (), what: str = "K-reachability graph", styled: bool = True
) -> str:
    """The graph's data as SVG: nodes on an ellipse, in the order of ``path`` or of the chain in the data, whose edges
    stand out where there is one.

    Each edge carries its weight, near the node where it begins as far as others leave room. Where there are many nodes
    only the path has weights. The title says ``what`` of ``name`` it shows. Not ``styled``: the page in which it stands
    has its ``STYLE``.
    """
    path = path or _chain_path(data)
    nodes = [*path, *(node for node in data["nodes"] if node not in path)]
    places, width, height = _ellipse(nodes)
    on_path = set(pairwise(path))
    edges = _labels(data)
    first_others = sorted(edges, key=lambda ends: ends in on_path)
    body = [_edge(places, ends, "edge path" if ends in on_path else "edge") for ends in first_others]
    labelled = [ends for ends in reversed(first_others) if ends in on_path or len(nodes) <= _MOST_LABELLED]
    body += _weights(places, {ends: edges[ends] for ends in labelled}, on_path)
    body += [part for node in nodes for part in _node(node, *places[node])]
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    title = f"{what} of {escape(name)}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">',
            *([f"<style>\n{STYLE}</style>"] if styled else []),
            f"<title>{title}</title>",
            ARROW,
            *body,
            "</svg>\n",
        ]
    )


Place = tuple[float, float]


def _ellipse(nodes: Sequence[str]) -> tuple[dict[str, Place], float, float]:
    """The middle of each node, and the size of the drawing: the first is on the left, the others follow clockwise."""
    widest = max(_width(node) for node in nodes)
    across, down = max(150.0, 30.0 * len(nodes)), max(105.0, 25.0 * len(nodes))
    middle_x, middle_y = across + widest / 2 + 4, down + _HEIGHT / 2 + 4
    angles = [pi - 2 * pi * index / len(nodes) for index in range(len(nodes))]
    places = {
        node: (middle_x + across * cos(angle), middle_y - down * sin(angle))
        for node, angle in zip(nodes, angles, strict=True)
    }
    return places, 2 * middle_x, 2 * middle_y


def _width(node: str) -> float:
    return 8.0 * len(node) + 18


def _node(node: str, x: float, y: float) -> Iterator[str]:
    width = _width(node)
    corner = _HEIGHT / 2 if node in ENDS else 4
    yield (
        f'<rect class="node" x="{x - width / 2:.1f}" y="{y - _HEIGHT / 2:.1f}" width="{width:.1f}" height="{_HEIGHT}" '
        f'rx="{corner}"/>'
    )
    yield f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle">{escape(node)}</text>'


def _curve(places: dict[str, Place], ends: tuple[str, str]) -> tuple[Place, Place, Place]:
    """Begin, control point and end of a curve that leaves room for the edge the other way, from border to border."""
    (x, y), (u, v) = places[ends[0]], places[ends[1]]
    length = hypot(u - x, v - y) or 1.0
    bend = 0.13 * length
    control = ((x + u) / 2 + bend * (v - y) / length, (y + v) / 2 - bend * (u - x) / length)
    return _border(ends[0], (x, y), control), control, _border(ends[1], (u, v), control)


def _border(node: str, place: Place, towards: Place) -> Place:
    """Where the way from the middle of a node leaves its box."""
    dx, dy = towards[0] - place[0], towards[1] - place[1]
    share = min(
        (_width(node) / 2 + 2) / abs(dx) if dx else 1.0,
        (_HEIGHT / 2 + 2) / abs(dy) if dy else 1.0,
        1.0,
    )
    return place[0] + share * dx, place[1] + share * dy


def _edge(places: dict[str, Place], ends: tuple[str, str], kind: str) -> str:
    (x, y), (p, q), (u, v) = _curve(places, ends)
    return f'<path class="{kind}" d="M{x:.1f} {y:.1f}Q{p:.1f} {q:.1f} {u:.1f} {v:.1f}" marker-end="url(#arrow)"/>'


Box = tuple[float, float, float, float]
"""Left, right, upper and lower side."""


def _weights(
    places: dict[str, Place], weights: dict[tuple[str, str], str], on_path: Collection[tuple[str, str]]
) -> Iterator[str]:
    """The weights of edges, each at the place on its edge where it lies least on nodes and on those before it."""
    taken = [_around(place, _width(node), _HEIGHT + 4) for node, place in places.items()]
    for ends, weight in weights.items():
        width = 7.0 * len(weight) + 10
        spots = [_on(_curve(places, ends), at / 100) for at in (50, *range(24, 80, 4))[ends not in on_path :]]
        x, y = min(spots, key=lambda spot: sum(_common(_around(spot, width, 18), box) for box in taken))
        taken.append(_around((x, y), width, 18))
        kind = "weight path" if ends in on_path else "weight"
        yield f'<text class="{kind}" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{weight}</text>'


def _on(curve: tuple[Place, Place, Place], at: float) -> Place:
    """The point of a curve at this part of the way."""
    (x, y), (p, q), (u, v) = curve
    first, second, third = (1 - at) ** 2, 2 * at * (1 - at), at**2
    return first * x + second * p + third * u, first * y + second * q + third * v


def _around(middle: Place, width: float, height: float) -> Box:
    return middle[0] - width / 2, middle[0] + width / 2, middle[1] - height / 2, middle[1] + height / 2


def _common(one: Box, other: Box) -> float:
    """The area that two boxes share."""
    across, down = min(one[1], other[1]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[2], other[2])
    return max(across, 0.0) * max(down, 0.0)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
