"""The K-reachability graph as a drawing: for Graphviz (DOT), and as SVG."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from html import escape
from itertools import pairwise
from typing import Any

from bmc.records import dataclass
from chaincover.formats.distances import (
    BELOW_ZERO,
    SINCE,
    UNKNOWN,
    Edge,
    exact_distances,
    known_distances,
    legs_between,
    made_up,
    steps_at,
)
from chaincover.formats.document import Document

ENDS = ("init", "final", "end")
"""Nodes that are no goals."""

STYLE = """\
  svg { color-scheme: light dark; }
  text { font: 13px monospace; fill: var(--color-foreground-primary, light-dark(#222, #ddd)); }
  .node { fill: var(--color-background-secondary, light-dark(#f4f4f4, #2a2a2a)); }
  .node, .edge { stroke: var(--color-foreground-muted, #888); }
  .apart { stroke-dasharray: 4 3; }
  .edge { fill: none; opacity: 0.5; }
  .weight { font-size: 11px; stroke: var(--color-background-primary, light-dark(#fff, #111)); stroke-width: 4px;
    paint-order: stroke; }
  text.step, text.note { font-size: 11px; fill: var(--color-foreground-muted, light-dark(#666, #aaa)); }
  text.note { font: 12px sans-serif; }
  .way:hover .edge { opacity: 1; stroke-width: 2px; }
  .way:hover .weight { font-weight: bold; }
  .path { stroke: var(--color-brand-primary, light-dark(#2a5adf, #7ca0ff)); stroke-width: 2.5px; opacity: 1; }
  .weight.path { stroke-width: 4px; stroke: var(--color-background-primary, light-dark(#fff, #111)); }
  .weight.path { font-weight: bold; }
"""
"""Colours are those of the page in which the drawing stands, if it has any by these names, else light or dark."""
ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>'
)

MOST_GOALS = 12
"""Goals of a graph with a chain up to which more than the chain is drawn. Twice as many: arcs that cross each other so
often that the eye follows none."""


def to_dot(name: str, data: Mapping[str, Any]) -> str:
    """The graph's data (see ``documents.graph_data``) as DOT: beside edges stands what is known of the steps."""
    lines = [f"digraph {_quoted(name)} {{", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    for node in data["nodes"]:
        shape = " [shape=circle]" if node in ENDS else ""
        lines.append(f"  {_quoted(node)}{shape};")
    arcs, legs = _labels(data)
    for ends, label in {**arcs, **legs}.items():
        bold = ", style=bold, penwidth=3" if ends in legs else ""
        shown = label if label.isdecimal() else _quoted(label.replace("≥", ">="))
        lines.append(f"  {_quoted(ends[0])} -> {_quoted(ends[1])} [label={shown}{bold}];")
    lines.append("}")
    return "\n".join(lines) + "\n"


def edges_of(document: Document, goals: Collection[str], end: str) -> list[dict[str, Any]]:
    """The edges of a graph of ``goals`` that the chain of a document goes along, to the node ``end``, with the steps
    that it takes."""
    chain = document.chain
    assert chain is not None
    steps = {hit.goal: hit.step for hit in chain.hits}
    return legs_of([("init", 0), *((goal, steps[goal]) for goal in chain.order if goal in goals), (end, chain.length)])


def legs_of(places: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    """The edges between the nodes of a chain, each with the step in which the chain is there."""
    return [{"from": a, "to": b, "steps": after - before} for (a, before), (b, after) in pairwise(places)]


def _labels(data: Mapping[str, Any]) -> tuple[dict[Edge, str], dict[Edge, str]]:
    """What stands beside edges: what is known of their distances, '' for nothing; and on the chain the steps that it
    takes, with the fewest that are known from a goal of one step to one of the next where these are not the same."""
    at = steps_at(data.get("chain", ()))
    known = known_distances(data, at)
    legs = dict.fromkeys(pairwise(at), "0")
    for before, leg in pairwise(legs_between(at, known)):
        legs[before.goals[-1], leg.goals[0]] = leg.label
    edges = [(edge["from"], edge["to"]) for edge in data["edges"]]
    return {ends: known.get(ends, "") for ends in edges if ends not in legs}, legs


THIN = (
    "Thin: the fewest steps from one goal to another. Not all are drawn, and those that are not need not be sums of "
    "those that are."
)
"""What is said of arcs."""


@dataclass(frozen=True)
class Drawn:
    """What is drawn of a graph: its ``nodes`` from top to bottom, the step ``at`` which the chain is at each that it
    covers, the ``legs`` of the chain between neighbours and all other ``arcs``, each with what stands beside it."""

    nodes: Sequence[str]
    arcs: Mapping[Edge, str]
    legs: Mapping[Edge, str] = field(default_factory=dict)
    at: Mapping[str, int] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        """What the drawing means, a sentence each."""
        texts = [*self.arcs.values(), *self.legs.values()]
        notes = {
            "Bold: the chain, with the step in which each goal is covered, the steps taken from one to the next, and "
            "in brackets the fewest known unless these are as many.": bool(self.legs),
            UNKNOWN: any("?" in text for text in self.legs.values()),
            SINCE: any("since" in text for text in self.legs.values()),
            THIN: bool(self.arcs),
            f"Only the chain is drawn, since it has more than {MOST_GOALS} goals.": self.large,
            "≥ n: no run takes fewer than n steps; whether one takes n is not known.": any(
                "≥" in text for text in texts
            ),
            BELOW_ZERO: any("-" in text for text in texts),
            "Dashed: a goal that the chain does not cover.": bool(self.at) and len(self.nodes) > len(self.at),
        }
        return [note for note, wanted in notes.items() if wanted]

    @property
    def large(self) -> bool:
        """Whether nothing but the chain is drawn."""
        return bool(self.legs) and len(self.nodes) - 2 > MOST_GOALS


def drawn_of(data: Mapping[str, Any]) -> Drawn:
    """What is drawn of the graph's ``data``: the chain from top to bottom, then goals that it does not cover.

    Distances that are no less than those of a way over another goal together are left out, and of a chain through more
    than ``MOST_GOALS`` all others than its own.
    """
    at = steps_at(data.get("chain", ()))
    arcs, legs = _labels(data)
    drawn = Drawn([*at, *(node for node in data["nodes"] if node not in at)], arcs, legs, at)
    sums = made_up(exact_distances(data, at))
    few = {ends: text for ends, text in arcs.items() if text and ends not in sums}
    return replace(drawn, arcs={} if drawn.large else few)


def to_svg(name: str, data: Mapping[str, Any]) -> str:
    """The graph's data (see ``documents.graph_data``) as an SVG for itself, which says what it means."""
    drawn = drawn_of(data)
    return svg_of(f"K-reachability graph of {name}", drawn, STYLE, drawn.notes)


_HEIGHT, _GAP, _BETWEEN = 26, 26, 8
"""Pixels: the height of a node, what lies between two nodes, and what lies between those of one step. Twice as many:
a drawing that is longer than a screen."""
_LETTER, _SMALL = 7.9, 6.9
"""Pixels of a letter in the name of a node and in what stands beside an edge. Twice as many: boxes half empty."""
_LEAST, _MARGIN = 22.0, 8.0
"""Pixels from arc to arc at least, and around the drawing. Twice as many: a drawing twice as wide."""
_NOTE, _LINE = 6.2, 17
"""Pixels of a letter and of a line of what is said below. Twice as many: twice as much room for it."""


def svg_of(title: str, drawn: Drawn, style: str = "", notes: Sequence[str] = ()) -> str:
    """A graph as SVG: nodes below each other, the chain from each to the next; other edges are arcs, on the right those
    that lead down, on the left those that lead up.

    What stands beside an arc is at its farthest point. Arcs over as many nodes reach equally far, others farther by
    the widest text at least: so no text lies on another one or on a node. Without ``style`` it has that of its page.
    """
    heights = _heights(drawn)
    order = {node: number for number, node in enumerate(drawn.nodes)}
    down = {ends: text for ends, text in drawn.arcs.items() if order[ends[0]] < order[ends[1]]}
    up = {ends: text for ends, text in drawn.arcs.items() if ends not in down}
    (left, leftwards), (right, rightwards) = _reaches(up, order), _reaches(down, order)
    left, across = left + _MARGIN, _across(drawn)
    body = _arcs(up, heights, left, {ends: -far for ends, far in leftwards.items()})
    body += _arcs(down, heights, left + across, rightwards)
    body += [part for node in drawn.nodes for part in _node(node, drawn, left, across, heights[node])]
    body += [part for ends, text in drawn.legs.items() for part in _leg(ends, text, heights, left + _indent(drawn))]
    width = left + across + right + _MARGIN
    height = max(heights.values(), default=0.0) + _HEIGHT / 2 + _MARGIN
    for line in (line for note in notes for line in textwrap.wrap(note, max(60, int(width / _NOTE)))):
        height += _LINE
        width = max(width, _NOTE * len(line) + 2 * _MARGIN)
        body.append(f'<text class="note" x="{_MARGIN}" y="{height - 4:.1f}">{escape(line)}</text>')
    size = f'viewBox="0 0 {width:.0f} {height + _MARGIN:.0f}" width="{width:.0f}" height="{height + _MARGIN:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">',
            *([f"<style>\n{style}</style>"] if style else []),
            f"<title>{escape(title)}</title>",
            ARROW,
            *body,
            "</svg>\n",
        ]
    )


def _arcs(
    arcs: Mapping[Edge, str], heights: Mapping[str, float], side: float, reaches: Mapping[Edge, float]
) -> list[str]:
    """The arcs of one side."""
    return [part for ends, text in arcs.items() for part in _arc(ends, text, heights, side, reaches[ends])]


def _heights(drawn: Drawn) -> dict[str, float]:
    """The height of the middle of each node; those that the chain covers in one step are close to each other."""
    heights, place = {}, _MARGIN + _HEIGHT / 2
    for node, after in pairwise([*drawn.nodes, ""]):
        heights[node] = place
        place += _HEIGHT + (_BETWEEN if drawn.legs.get((node, after)) == "0" else _GAP)
    return heights


def _indent(drawn: Drawn) -> float:
    """How far from the left side of its box the name of a node begins."""
    return 10 + (_SMALL * len(str(max(drawn.at.values()))) + 10 if drawn.at else 0)


def _across(drawn: Drawn) -> float:
    """The width of all nodes: that of the longest name, and of what stands between two of them."""
    names = (_LETTER * len(node) + 10 for node in drawn.nodes)
    return _indent(drawn) + max([*names, *(_SMALL * len(text) + 16 for text in drawn.legs.values())])


def _reaches(arcs: Mapping[Edge, str], order: Mapping[str, int]) -> tuple[float, dict[Edge, float]]:
    """How far one side reaches, and each of its arcs: farther the more nodes it passes. What stands beside it has room
    there."""
    spans = sorted({abs(order[a] - order[b]) for a, b in arcs})
    room = max([_LEAST, *(_SMALL * len(text) + 8 for text in arcs.values())])
    each = {(a, b): _LEAST + room * (spans.index(abs(order[a] - order[b])) + 0.5) for a, b in arcs}
    return _LEAST + room * len(spans) if arcs else 0.0, each


def _arc(ends: Edge, text: str, heights: Mapping[str, float], side: float, reach: float) -> Iterator[str]:
    """Half an ellipse from the ``side`` of a node to that of another one, as far away as ``reach`` says."""
    lean = 6 if reach > 0 else -6
    begin, end = heights[ends[0]] + lean, heights[ends[1]] - lean
    way = f"M{side:.1f} {begin:.1f}A{abs(reach):.1f} {abs(end - begin) / 2:.1f} 0 0 1 {side + lean / 4:.1f} {end:.1f}"
    yield f'<g class="way"><title>{escape(f"{ends[0]} to {ends[1]}: {text}")}</title>'
    yield f'<path class="edge" d="{way}" marker-end="url(#arrow)"/>'
    place = f'x="{side + reach:.1f}" y="{(begin + end) / 2 + 4:.1f}"'
    yield f'<text class="weight" {place} text-anchor="middle">{text}</text></g>'


def _node(node: str, drawn: Drawn, left: float, across: float, height: float) -> Iterator[str]:
    """A node, with the step in which the chain covers it."""
    kind = "node apart" if drawn.at and node not in drawn.at else "node"
    place = f'x="{left:.1f}" y="{height - _HEIGHT / 2:.1f}" width="{across:.1f}" height="{_HEIGHT}"'
    yield f'<rect class="{kind}" {place} rx="{_HEIGHT / 2 if node in ENDS else 4}"/>'
    name, text = left + _indent(drawn), f'y="{height + 4.5:.1f}"'
    if node in drawn.at:
        yield f'<text class="step" x="{name - 10:.1f}" {text} text-anchor="end">{drawn.at[node]}</text>'
    yield f'<text x="{name:.1f}" {text}>{escape(node)}</text>'


def _leg(ends: Edge, text: str, heights: Mapping[str, float], name: float) -> Iterator[str]:
    """The way of the chain from a node to the next one; in the same step it is a line without a number."""
    begin, end, x = heights[ends[0]] + _HEIGHT / 2, heights[ends[1]] - _HEIGHT / 2, name + 4
    way = f'<path class="edge path" d="M{x:.1f} {begin:.1f}V{end - 1:.1f}"'
    if text == "0":
        yield f"{way}/>"
        return
    yield f'{way} marker-end="url(#arrow)"/>'
    yield f'<text class="weight path" x="{x + 10:.1f}" y="{(begin + end) / 2 + 4:.1f}">{text}</text>'


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
