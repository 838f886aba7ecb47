"""The better of what two graphs of one controller know of each distance."""

from __future__ import annotations

from typing import Any

from chaincover.formats.distances import better_of

Bounds = dict[tuple[str, str], int]


def graph(weights: Bounds, least: Bounds, k: int, exact: bool = False, nodes: str = "abc") -> dict[str, Any]:
    return {
        "nodes": ["init", *nodes, "end"],
        "edges": [{"from": a, "to": b, "weight": weight} for (a, b), weight in weights.items()],
        "open": [{"from": a, "to": b, "at_least": number} for (a, b), number in least.items()],
        "unknown": [],
        "k": k,
        "exact": exact,
    }


def bounds_of(data: dict[str, Any]) -> tuple[Bounds, Bounds]:
    weights = {(edge["from"], edge["to"]): edge["weight"] for edge in data["edges"]}
    return weights, {(pair["from"], pair["to"]): pair["at_least"] for pair in data["open"]}


def test_of_two_bounds_the_greater_one_counts_and_it_is_a_weight_where_one_graph_says_so() -> None:
    own = graph({("a", "b"): 0, ("b", "c"): 2}, {("init", "a"): 1, ("init", "b"): 3}, 1)
    other = graph({("init", "a"): 4, ("b", "c"): 1}, {("a", "b"): 2, ("init", "b"): 2}, 3)
    found = better_of(own, other, "abc")
    assert bounds_of(found) == ({("init", "a"): 4, ("b", "c"): 2}, {("a", "b"): 2, ("init", "b"): 3})
    assert found["k"] == 3


def test_goals_that_are_others_there_and_edges_that_no_run_makes_do_not_count() -> None:
    own = graph({}, {("init", "a"): 1, ("init", "b"): 1}, 1)
    other = graph({("init", "a"): 4, ("init", "b"): 5, ("init", "z"): 9}, {("a", "b"): 77}, 5, exact=True)
    found = better_of(own, other, "a")
    assert bounds_of(found) == ({("init", "a"): 4}, {("init", "b"): 1})
    assert found["k"] == 1, "distances of other goals were not looked for up to the K of the other graph"


def test_exact_distances_stay_and_what_a_solver_gave_up_is_known_where_the_other_graph_has_more() -> None:
    other = graph({("init", "a"): 4}, {}, 5)
    exact = graph({("init", "a"): 3}, {}, 3, exact=True)
    assert better_of(exact, other, "abc") == exact
    own = graph({}, {("init", "a"): 1, ("init", "b"): 1}, 1)
    own["unknown"] = [{"from": "init", "to": name} for name in "ab"]
    assert better_of(own, other, "abc")["unknown"] == [{"from": "init", "to": "b"}]
