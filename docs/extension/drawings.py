"""Drawings, as SVG in Markdown, made of what ChainCover computes; their colours are those of the theme."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from math import hypot
from pathlib import Path
from typing import Any

from pages import Folder, steps

import chaincover
from bmc.system.simulation import Simulator
from chaincover.formats.drawing import ARROW, STYLE, legs_of, to_svg
from chaincover.formats.writer import chain_document

DOCS = Path(__file__).parents[1]
CRUISE = DOCS.parent / "benchmarks" / "models" / "cruise"

MORE = """\
  .on { fill: var(--color-brand-primary, #2a5adf); }
  .held { fill: var(--color-background-border, #ccc); }
  .goal { fill: var(--color-brand-content, #2a5adf); }
  .faint { fill: var(--color-foreground-muted, #888); font-size: 11px; }
  .line { stroke: var(--color-background-border, #ccc); }
  .told { font: 11.5px sans-serif; }
  .small { font-size: 11px; }
  .bold { font-weight: bold; }
"""


def figure(width: float, height: float, body: Sequence[str], label: str, caption: str) -> str:
    """A drawing with its caption."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(label)}">']
    return captioned("\n".join([*svg, f"<style>{STYLE}{MORE}</style>", ARROW, *body, "</svg>"]), caption)


def captioned(svg: str, caption: str = "") -> str:
    """A figure that is no narrower than can be read: where the page is, it scrolls."""
    width = float(svg.partition('" width="')[2].partition('"')[0])
    told = f"<figcaption>{caption}</figcaption>\n" if caption else ""
    return (
        f'```{{raw}} html\n<figure class="drawing" style="--narrowest: {0.85 * width:.0f}px">\n<div>{svg}</div>\n'
        f"{told}</figure>\n```"
    )


_RULES = re.compile(r"<style>(.*?)@media \(prefers-color-scheme: dark\) \{(.*?\})\s*\}\s*</style>", re.S)


def waveform(svg: str) -> str:
    """A figure of what ``plot`` has drawn; light or dark as the reader has chosen on the site."""
    return captioned(_RULES.sub(_by_theme, svg))


def _by_theme(found: re.Match[str]) -> str:
    """The style of a drawing: what its system asks for holds unless the reader has chosen the other theme."""
    light, dark = found.groups()
    chosen = [
        rules.replace(".chaincover-drawing", f'body[data-theme="{theme}"] .chaincover-drawing')
        for theme, rules in (("light", light), ("dark", dark))
    ]
    return "\n".join([found.group().removesuffix("</style>"), *chosen, "</style>"])


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> str:
    """Words at a place."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str = "node", corner: float = 4) -> str:
    """A rectangle."""
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{corner}"'
    return f'<rect class="{kind}" {shape}/>'


# --- from C code to a chain -------------------------------------------------------------------------------------------

FLOW = (
    ("C code, requirements", "as they are; nothing is rewritten"),
    ("transition system", "states, inputs, one step = one call"),
    ("reachability graph", "steps from goal to goal"),
    ("shortest path", "through all goals, with a bound"),
    ("chain", "inputs of each step, to a safe end"),
    ("replay", "on the compiled original"),
)


def flow() -> str:
    """The stages from C code to a replayed chain, two on a row, back and forth."""
    wide, high, gap, left = 184, 52, 26, 4
    places = [
        (left + (wide + gap) * (index % 2 if index // 2 % 2 == 0 else 1 - index % 2), 4 + (high + gap) * (index // 2))
        for index in range(len(FLOW))
    ]
    body = []
    for (name, told), (x, y) in zip(FLOW, places, strict=True):
        body += [box(x, y, wide, high), text(x + wide / 2, y + 21, name, "bold")]
        body.append(text(x + wide / 2, y + 40, told, "told"))
    for (x, y), (u, v) in pairwise(places):
        if y == v:
            way = (
                (x + wide, y + high / 2, u - 2, v + high / 2)
                if u > x
                else (x, y + high / 2, u + wide + 2, v + high / 2)
            )
        else:
            way = (x + wide / 2, y + high, u + wide / 2, v - 2)
        body.append('<path class="edge path" d="M{} {}L{} {}" marker-end="url(#arrow)"/>'.format(*way))
    return figure(
        2 * wide + gap + 2 * left,
        3 * high + 2 * gap + 8,
        body,
        "From C code and requirements to a chain that is replayed",
        "From C code and requirements to a chain. <code>verify</code> checks each claim again by means of its own.",
    )


# --- the example of the paper -----------------------------------------------------------------------------------------


@cache
def cruise() -> tuple[Any, dict[str, Any]]:
    """The cruise controller, and what ``generate`` writes for it."""
    controller = chaincover.load(CRUISE)
    return controller, chain_document(controller, chaincover.generate(controller.problem))


def graph(name: str, document: dict[str, Any]) -> str:
    """The graph of distances with the chain, as ``chaincover graph PATH CHAIN --format svg`` draws it."""
    chain, nodes = document["chain"], document["graph"]["nodes"]
    steps = {hit["goal"]: hit["step"] for hit in chain["hits"]}
    places = [(nodes[0], 0), *((goal, steps[goal]) for goal in chain["order"]), (nodes[-1], chain["length"])]
    return to_svg(name, {**document["graph"], "chain": legs_of(places)})


def cruise_graph() -> str:
    """Its K-reachability graph with the shortest path."""
    _, document = cruise()
    return captioned(
        graph("cruise", document),
        "The K-reachability graph of the cruise controller. The thick path visits every goal in 2 + 2 + 2 + 1 + 2 = 9 "
        "steps, and no other order takes less.",
    )


MODES = ("OFF", "ON", "DIS")


def cruise_states() -> str:
    """Its reachable states, all steps between different ones, and those of the chain."""
    controller, document = cruise()
    system, simulator = controller.system, Simulator(controller.system)
    arcs: dict[tuple[Any, Any], list[str]] = {}
    order = [tuple(simulator.initial()[variable.name] for variable in system.state)]
    for values in order:
        for pressed in system.inputs:
            state = {variable.name: value for variable, value in zip(system.state, values, strict=True)}
            inputs = {variable.name: int(variable is pressed) for variable in system.inputs}
            after = tuple(simulator.step(state, inputs)[variable.name] for variable in system.state)
            arcs.setdefault((values, after), []).append(pressed.name.removeprefix("i->"))
            if after not in order:
                order.append(after)
    taken: dict[tuple[Any, Any], list[str]] = {}
    now = order[0]
    for row in document["chain"]["steps"]:
        pressed_name = next(name.removeprefix("i->") for name, value in row["inputs"].items() if value)
        after = next(b for (a, b), names in arcs.items() if a == now and pressed_name in names)
        taken.setdefault((now, after), []).append(f"{row['step']} {pressed_name}")
        now = after
    body = [
        _arc(ends, taken.get(ends, ()), names) for ends, names in arcs.items() if ends[0] != ends[1] or ends in taken
    ]
    body = sorted((part for parts in body for part in parts), key=lambda part: part.startswith("<text"))
    for mode, speed, enable in order:
        x, y = _spot((mode, speed, enable))
        body += [box(x - 62, y - 24, 124, 48, corner=24), text(x, y - 3, MODES[mode], "bold")]
        body.append(text(x, y + 13, f"speed {speed}" + (", enabled" if enable and mode == 0 else ""), "small"))
    return figure(
        680,
        450,
        body,
        "The eight reachable states of the cruise controller and the chain through them",
        "The eight reachable states of the cruise controller (<i>enabled</i>: <code>enable</code>, which is set in ON "
        "and DIS as well). Grey: all 18 steps from one state to another. Blue: the nine steps of the chain, with their "
        "number and input; it begins and ends at the lower left.",
    )


def _spot(state: tuple[int, ...]) -> tuple[float, float]:
    mode, speed, enable = state
    column = 2 if mode == 2 else 1 if mode == 1 or enable else 0
    return 80.0 + 255 * column, 365.0 - 150 * speed


def _arc(ends: tuple[Any, Any], chain: Sequence[str], inputs: Sequence[str]) -> list[str]:
    (x, y), (u, v) = _spot(ends[0]), _spot(ends[1])
    kind = "edge path" if chain else "edge"
    words, label = (", ".join(chain), "weight bold") if chain else ("", "")
    if ends[0] == ends[1]:
        way = f"M{x - 25:.0f} {y + 24}C{x - 40:.0f} {y + 70} {x + 40:.0f} {y + 70} {x + 25:.0f} {y + 25}"
        return [f'<path class="{kind}" d="{way}" marker-end="url(#arrow)"/>', text(x, y + 72, words, label)]
    length = hypot(u - x, v - y)
    far = length > 400
    bend = 0.25 * length if far else 0.08 * length
    p, q = (x + u) / 2 + bend * (v - y) / length, (y + v) / 2 - bend * (u - x) / length
    (a, b), (c, d) = _out(x, y, p, q), _out(u, v, p, q)
    made = [f'<path class="{kind}" d="M{a:.0f} {b:.0f}Q{p:.0f} {q:.0f} {c:.0f} {d:.0f}" marker-end="url(#arrow)"/>']
    if words:
        made.append(text(0.25 * a + 0.5 * p + 0.25 * c, 0.25 * b + 0.5 * q + 0.25 * d + 4, words, label))
    return made


def _out(x: float, y: float, u: float, v: float) -> tuple[float, float]:
    """Where the way from the middle of a state leaves its box."""
    dx, dy = u - x, v - y
    share = min(64 / abs(dx) if dx else 9.0, 26 / abs(dy) if dy else 9.0)
    return x + share * dx, y + share * dy


# --- chains -----------------------------------------------------------------------------------------------------------

COLUMN, ROW = 64, 26


def timeline(document: dict[str, Any], shown: Sequence[str], caption: str) -> str:
    """A chain as a timing diagram: inputs, some variables, and the goals, over the steps; waiting is folded.

    Variables are drawn with the values *before* each step, where antecedents are read.
    """
    chain = document["chain"]
    rows = chain["steps"]
    inputs = list(rows[0]["inputs"])
    before = [{**row["state"], **row["outputs"]} for row in (chain["initial"], *rows)]
    columns = _columns(rows, before, shown)
    names = [*inputs, *shown, *(hit["goal"] for hit in chain["hits"])]
    left = 8.0 * max(len(_short(name)) for name in names) + 16
    width, height = left + COLUMN * len(columns) + COLUMN, 34 + ROW * len(names) + 6
    body = [text(left - 10, 18, "step", "faint", "end")]
    for index, (first, last) in enumerate(columns):
        x = left + COLUMN * index
        body.append(f'<path class="line" d="M{x:.1f} 26V{height - 4:.1f}"/>')
        body.append(text(x + COLUMN / 2, 18, str(first) if first == last else f"{first}..{last}", "faint"))
    for number, name in enumerate(names):
        y = 32 + ROW * number
        body.append(text(left - 10, y + 17, _short(name), "", "end"))
        if name in inputs:
            body += _signal([rows[first]["inputs"][name] for first, _ in columns], left, y)
        elif name in shown:
            spans = [(before[first].get(name), before[last].get(name)) for first, last in columns]
            body += _values([f"{a}" if a == b else f"{a}..{b}" for a, b in spans], left, y)
        else:
            hit = next(hit for hit in chain["hits"] if hit["goal"] == name)
            index = next(i for i, (first, last) in enumerate(columns) if first <= hit["step"] <= last)
            mark = "holds" if hit["consequent_held"] else "FAILS" if hit["consequent_held"] is False else "covered"
            body.append(box(left + COLUMN * index + 2, y + 3, COLUMN - 4, ROW - 6, "goal"))
            body.append(text(left + COLUMN * (index + 1) + 4, y + 17, mark, "small", "start"))
    return figure(width, height, body, "The chain as a timing diagram", caption)


def _short(name: str) -> str:
    return name.rpartition("->")[2]


def _columns(rows: Sequence[Any], before: Sequence[Any], shown: Sequence[str]) -> list[tuple[int, int]]:
    """The steps of each column: equal steps in which no goal is covered share one, from four on."""

    def looks(step: int) -> object:
        return rows[step]["inputs"], [before[step].get(name) for name in shown if not _counts(before, name)]

    groups: list[list[int]] = []
    for step in range(len(rows)):
        waits = not rows[step]["goals"] and groups and not rows[groups[-1][0]]["goals"]
        if waits and looks(step) == looks(groups[-1][0]):
            groups[-1].append(step)
        else:
            groups.append([step])
    return [
        part
        for group in groups
        for part in ([(group[0], group[-1])] if len(group) > 3 else [(step, step) for step in group])
    ]


def _counts(before: Sequence[Any], name: str) -> bool:
    """Whether a variable has so many values that it is a counter."""
    return len({str(values.get(name)) for values in before}) > 8


def _signal(values: Sequence[Any], left: float, y: float) -> list[str]:
    parts = [f'<path class="line" d="M{left:.1f} {y + ROW - 4}H{left + COLUMN * len(values):.1f}"/>']
    for index, value in enumerate(values):
        if value not in (0, False):
            parts.append(box(left + COLUMN * index, y + 5, COLUMN, ROW - 9, "on", 0))
            if value not in (1, True):
                parts.append(text(left + COLUMN * (index + 0.5), y + 17, str(value), "small"))
    return parts


def _values(values: Sequence[Any], left: float, y: float) -> list[str]:
    parts, start = [], 0
    for index in range(1, len(values) + 1):
        if index == len(values) or values[index] != values[start]:
            span = COLUMN * (index - start)
            parts.append(box(left + COLUMN * start + 1, y + 3, span - 2, ROW - 6, "held", 3))
            words = str(values[start])
            room = int((span - 2) / 6.8)
            parts.append(
                text(left + COLUMN * start + span / 2, y + 17, words if len(words) <= room else words[:room], "small")
            )
            start = index
    return parts


def cruise_chain() -> str:
    """The chain of the cruise controller."""
    return timeline(
        cruise()[1],
        ["s->mode", "s->speed", "s->enable"],
        "The chain of nine steps. Inputs act in the step; the state is the one <i>before</i> it, where antecedents are "
        "read.",
    )


# --- the tutorial -----------------------------------------------------------------------------------------------------


@cache
def tutorial(file: str) -> dict[str, Any]:
    """What ``generate`` finds for a project of the tutorial, with the files as they are when the page is at its end."""
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(Path(place))
        for step in steps((DOCS / "tutorial" / "index.md").read_text(encoding="utf-8")):
            if step.kind != "command":
                folder.write(step)
            elif step.text.startswith("chaincover init"):
                folder.run(step.text)
        controller = chaincover.load(Path(place) / file)
        return chain_document(controller, chaincover.generate(controller.problem))


def belt_chain() -> str:
    """The chain of the tutorial."""
    return timeline(
        tutorial("belt.toml"),
        ["self->mode", "self->timer"],
        "The chain as a timing diagram: steps in which nothing but the timer changes are drawn as one.",
    )


def belt_graph() -> str:
    """The graph of the tutorial."""
    document = tutorial("belt.toml")
    return captioned(
        graph("belt", document),
        "The distances between the goals, as <code>chaincover graph --format svg</code> draws them, with the path that "
        "the chain takes.",
    )


MAKERS: dict[str, Callable[[], str]] = {
    "flow": flow,
    "cruise-states": cruise_states,
    "cruise-graph": cruise_graph,
    "cruise-chain": cruise_chain,
    "belt-chain": belt_chain,
    "belt-graph": belt_graph,
}
