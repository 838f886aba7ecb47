"""What the K-reachability graph tells of the distance between two goals: a number, a lower bound, or that none is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Edge = tuple[str, str]


def exact_distances(data: Mapping[str, Any], at: Mapping[str, int]) -> dict[Edge, int]:
    """The weights of the graph's ``data`` (see ``graph_data``) that are distances.

    The search finds a weight from any state in which the first goal is covered, whether or not a run reaches that: no
    run takes fewer steps, and maybe each takes more. A weight is a distance if only reachable states were looked at
    (the graph is ``exact``), if it is one from init, or if the chain, which is at its nodes in the steps ``at``, takes
    no more.
    """
    weights = {(edge["from"], edge["to"]): edge["weight"] for edge in data["edges"]}
    return {
        (a, b): weight
        for (a, b), weight in weights.items()
        if data.get("exact") or a == "init" or (a in at and b in at and at[b] - at[a] == weight)
    }


def known_distances(data: Mapping[str, Any], exact: Mapping[Edge, int]) -> dict[Edge, str]:
    """What is known of each distance: ``7``, ``≥ 7``, that no run goes there, or that a solver gave up. A bound of 0
    says nothing."""
    bounds = {(edge["from"], edge["to"]): edge["weight"] for edge in data["edges"]}
    open_ones = {(pair["from"], pair["to"]): pair["at_least"] for pair in data.get("open", ())}
    impossible = set(open_ones) if data.get("exact") else set()
    told = {edge: f"≥ {bound}" for edge, bound in {**bounds, **open_ones}.items() if bound > 0}
    told |= dict.fromkeys(impossible, "never")
    told |= {(pair["from"], pair["to"]): "?" for pair in data.get("unknown", ())}
    return told | {edge: str(weight) for edge, weight in exact.items()}
