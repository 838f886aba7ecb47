"""The K-reachability graph as a drawing: every node and every weight is in it, whatever the names are."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

from chaincover.formats.drawing import to_dot, to_svg

DATA = {
    "nodes": ["init", "a<b", 'say "c"', "final"],
    "edges": [
        {"from": "init", "to": "a<b", "weight": 2},
        {"from": "a<b", "to": 'say "c"', "weight": 31},
        {"from": 'say "c"', "to": "final", "weight": 4},
        {"from": "init", "to": 'say "c"', "weight": 500},
    ],
}
SVG = "{http://www.w3.org/2000/svg}"


def drawn(data: dict[str, object], *path: str) -> ElementTree.Element:
    return ElementTree.fromstring(to_svg("x & y", data, path))


def texts(drawing: ElementTree.Element) -> list[str | None]:
    return [each.text for each in drawing.iter(f"{SVG}text")]


def test_svg_has_every_node_and_weight() -> None:
    drawing = drawn(DATA)
    assert sorted(map(str, texts(drawing))) == sorted([*DATA["nodes"], "2", "31", "4", "500"])
    assert "x & y" in str(drawing.get("aria-label"))


def test_the_edges_of_a_path_stand_out() -> None:
    ways = [each.get("class") for each in drawn(DATA, *DATA["nodes"]).iter(f"{SVG}path") if each.get("class")]
    assert sorted(ways) == ["edge", "edge path", "edge path", "edge path"]


def test_all_is_within_the_drawing() -> None:
    drawing = drawn(DATA)
    width, height = float(str(drawing.get("width"))), float(str(drawing.get("height")))
    for each in drawing.iter(f"{SVG}rect"):
        x, y, across, down = (float(str(each.get(name))) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + across <= width
        assert 0 <= y <= y + down <= height


def test_no_weight_lies_on_another_one_or_on_a_node() -> None:
    """Seven nodes with an edge each way between any two: 42 weights of three digits."""
    names = ["init", "relief", "reopened", "in_time", "parked", "reminded", "final"]
    edges = [{"from": a, "to": b, "weight": 500 + len(a)} for a in names for b in names if a != b]
    drawing = drawn({"nodes": names, "edges": edges}, *names)
    labels = [each for each in drawing.iter(f"{SVG}text") if "weight" in str(each.get("class"))]
    places = [(float(str(each.get("x"))), float(str(each.get("y"))) - 4) for each in labels]
    assert len(places) == 42
    assert not [(p, q) for p, q in combinations(places, 2) if abs(p[0] - q[0]) < 21 and abs(p[1] - q[1]) < 11]
    for each in drawing.iter(f"{SVG}rect"):
        x, y, across, down = (float(str(each.get(name))) for name in ("x", "y", "width", "height"))
        assert not [p for p in places if x - 10 < p[0] < x + across + 10 and y - 5 < p[1] < y + down + 5]


def test_of_a_large_graph_only_the_path_has_weights() -> None:
    names = [f"n{index}" for index in range(20)]
    edges = [{"from": a, "to": b, "weight": 7} for a in names for b in names if a != b]
    assert texts(drawn({"nodes": names, "edges": edges}, *names[:3])).count("7") == 2


def test_dot_quotes_names() -> None:
    assert '"say \\"c\\"" -> "final" [label=4];' in to_dot("x", DATA)
