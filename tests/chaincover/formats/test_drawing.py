"""The K-reachability graph as a drawing: every node and every weight is in it, whatever the names are."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from chaincover.formats.drawing import legs_of, to_dot, to_svg

DATA = {
    "nodes": ["init", "a<b", 'say "c"', "final"],
    "edges": [
        {"from": "init", "to": "a<b", "weight": 2},
        {"from": "a<b", "to": 'say "c"', "weight": 31},
        {"from": 'say "c"', "to": "final", "weight": 4},
        {"from": "init", "to": 'say "c"', "weight": 30},
    ],
    "exact": True,
}
SVG = "{http://www.w3.org/2000/svg}"
CHAIN = legs_of([("init", 0), ("a<b", 2), ('say "c"', 40), ("final", 44)])

Box = tuple[float, float, float, float]
"""Left, right, upper and lower side."""


def drawn(data: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.fromstring(to_svg("x & y", data))


def texts(drawing: ElementTree.Element) -> list[str]:
    """What stands in the drawing but for its notes."""
    return [str(each.text) for each in drawing.iter(f"{SVG}text") if each.get("class") != "note"]


def notes(drawing: ElementTree.Element) -> str:
    return " ".join(str(each.text) for each in drawing.iter(f"{SVG}text") if each.get("class") == "note")


def number(element: ElementTree.Element, name: str) -> float:
    return float(str(element.get(name)))


def boxes_of_texts(drawing: ElementTree.Element) -> dict[str, Box]:
    """The rectangle of each text, of letters as wide as those of a monospaced font of its size."""
    found = {}
    for index, each in enumerate(drawing.iter(f"{SVG}text")):
        kind, text = str(each.get("class")), str(each.text)
        if kind != "note":
            letter, high = (6.7, 11.0) if kind != "None" else (7.9, 13.0)
            width, y = letter * len(text), number(each, "y")
            left = number(each, "x") - width * {"middle": 0.5, "end": 1.0}.get(str(each.get("text-anchor")), 0.0)
            found[f"{index}: {text}"] = (left, left + width, y - high, y + 2)
    return found


def boxes_of_nodes(drawing: ElementTree.Element) -> list[Box]:
    rects = [[number(each, name) for name in ("x", "y", "width", "height")] for each in drawing.iter(f"{SVG}rect")]
    return [(x, x + width, y, y + height) for x, y, width, height in rects]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def test_svg_has_every_node_and_weight() -> None:
    drawing = drawn(DATA)
    assert sorted(texts(drawing)) == sorted([*DATA["nodes"], "2", "31", "4", "30"])
    assert "x & y" in str(drawing.get("aria-label"))


def test_the_chain_stands_out_with_its_steps_and_the_fewest() -> None:
    drawing = drawn({**DATA, "chain": CHAIN})
    ways = [each.get("class") for each in drawing.iter(f"{SVG}path") if each.get("class")]
    assert sorted(ways) == ["edge", "edge path", "edge path", "edge path"]
    assert sorted(texts(drawing)) == sorted([*DATA["nodes"], "0", "2", "40", "44", "2", "38 (fewest 31)", "4", "30"])
    assert "Bold: the chain, with the step" in notes(drawing)


def test_goals_of_one_step_lie_close_to_each_other_and_are_compared_as_a_whole() -> None:
    """From ``a`` to ``b`` no step is needed, but two to ``c``, which the chain covers in the step in which it covers
    ``b``: it takes no more than it must."""
    weights = {("init", "a"): 1, ("a", "b"): 0, ("a", "c"): 2, ("b", "c"): 0, ("c", "end"): 0}
    edges = [{"from": a, "to": b, "weight": weight} for (a, b), weight in weights.items()]
    chain = legs_of([("init", 0), ("a", 1), ("b", 3), ("c", 3), ("end", 3)])
    drawing = drawn({"nodes": ["init", *"abc", "end"], "edges": edges, "exact": True, "chain": chain})
    labels = [str(each.text) for each in drawing.iter(f"{SVG}text") if each.get("class") == "weight path"]
    assert labels == ["1", "2"]
    gaps = [below[2] - above[3] for above, below in pairwise(boxes_of_nodes(drawing))]
    assert gaps[0] == gaps[1] > gaps[2] == gaps[3]


def test_a_bound_is_told_from_a_distance() -> None:
    """Without *exact* a weight is that of a run from any state: a lower bound, unless it begins in init or the chain
    takes no more."""
    data = {**DATA, "exact": False, "chain": CHAIN}
    assert {"2", "38 (fewest ≥ 31)", "4", "30"} <= {*texts(drawn(data))}
    assert '"a<b" -> "say \\"c\\"" [label="38 (fewest >= 31)", style=bold' in to_dot("x", data)
    assert '"a<b" -> "say \\"c\\"" [label=">= 31"]' in to_dot("x", {**DATA, "exact": False})
    assert "no run takes fewer than n steps" in notes(drawn(data))
    assert "≥" not in to_svg("x", {**DATA, "chain": CHAIN})


def test_a_leg_is_a_bare_number_only_where_no_run_takes_fewer_steps() -> None:
    """No distance is known from ``a``: that from init to ``b``, which is as many steps as the leg to ``b`` has, is not
    that of the leg. Of the last leg nothing is known."""
    edges = [{"from": "init", "to": node, "weight": 3} for node in "ab"] + [{"from": "b", "to": "a", "weight": 1}]
    chain = legs_of([("init", 0), ("a", 3), ("b", 6), ("end", 7)])
    drawing = drawn({"nodes": ["init", *"ab", "end"], "edges": edges, "chain": chain})
    labels = [str(each.text) for each in drawing.iter(f"{SVG}text") if each.get("class") == "weight path"]
    assert labels == ["3", "3 (fewest 3 since step 0)", "1 (?)"]
    assert "since step n: " in notes(drawing)
    assert "(?): nothing is known" in notes(drawing)
    whole = notes(drawn({**DATA, "chain": CHAIN}))
    assert not [sign for sign in ("since", "(?)", "Below 0") if sign in whole]


def test_a_number_below_zero_is_explained_with_the_drawing() -> None:
    edges = [*DATA["edges"], {"from": 'say "c"', "to": "a<b", "weight": -1}]
    assert "Below 0: goals of several steps overlap" in notes(drawn({**DATA, "edges": edges}))


def test_distances_that_are_made_up_of_others_are_not_drawn() -> None:
    sums = {**DATA, "edges": [*DATA["edges"][:3], {"from": "init", "to": 'say "c"', "weight": 33}]}
    assert "33" not in texts(drawn(sums))
    assert "[label=33]" in to_dot("x", sums), "DOT is data for a program: it has all"


@pytest.mark.parametrize("with_chain", [True, False])
@pytest.mark.parametrize("goals", [3, 5, 8, 12])
@pytest.mark.parametrize("weight", [0, 7, 5_000_000])
def test_nothing_lies_on_anything_else_and_all_is_within_the_drawing(goals: int, weight: int, with_chain: bool) -> None:
    """An edge each way between any two nodes, none of which is made up of others; names of one letter to twenty."""
    names = ["init", *(f"{'goal_number_' * (index % 3)}{index}" for index in range(goals)), "final"]
    edges = [{"from": a, "to": b, "weight": weight + len(a)} for a in names for b in names if a != b]
    places = [(name, (5_000_000 + weight) * index // 2) for index, name in enumerate(names)]
    data = {"nodes": names, "edges": edges, "exact": weight != 7, "chain": legs_of(places) if with_chain else []}
    drawing = drawn(data)
    shown, nodes = boxes_of_texts(drawing), boxes_of_nodes(drawing)
    labels = {text: box for text, box in shown.items() if not any(inside(box, node) for node in nodes)}
    assert len(nodes) == len(names)
    assert len(labels) >= len(names) - 1 + (len(edges) - len(names) if weight == 5_000_000 else 0)
    assert not [(a, b) for a, b in combinations(shown, 2) if overlap(shown[a], shown[b])]
    assert not [text for text, box in labels.items() if any(overlap(box, node) for node in nodes)]
    width, height = number(drawing, "width"), number(drawing, "height")
    every = [*shown.values(), *nodes]
    assert min(box[0] for box in every) >= 0
    assert max(box[1] for box in every) <= width
    assert max(box[3] for box in every) <= height


def inside(box: Box, node: Box) -> bool:
    return node[0] <= box[0] and box[1] <= node[1] and node[2] <= box[2] and box[3] <= node[3]


def test_of_a_large_graph_only_the_chain_is_drawn() -> None:
    names = ["init", *(f"n{index}" for index in range(20)), "end"]
    edges = [{"from": a, "to": b, "weight": 7} for a in names for b in names if a != b]
    data = {"nodes": names, "edges": edges, "chain": legs_of([("init", 0), ("n3", 7), ("n1", 14), ("end", 21)])}
    drawing = drawn(data)
    assert texts(drawing).count("7") == 4, "three legs, and the step in which n3 is covered"
    assert "Only the chain is drawn, since it has more than 12 goals." in notes(drawing)
    assert "Dashed: a goal that the chain does not cover." in notes(drawing)
    assert to_svg("x", data).count('class="node apart"') == 18


def test_dot_quotes_names() -> None:
    assert '"say \\"c\\"" -> "final" [label=4];' in to_dot("x", DATA)


def test_a_pointer_on_an_edge_says_from_where_to_where() -> None:
    assert re.search(r"<title>init to say &quot;c&quot;: 30</title>", to_svg("x", {**DATA, "chain": CHAIN}))
