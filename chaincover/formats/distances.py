"""What the K-reachability graph tells of the distance between two goals: a number, a lower bound, or that none is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import accumulate, groupby, pairwise, product
from typing import Any

from bmc.records import dataclass

Edge = tuple[str, str]

BELOW_ZERO = "Below 0: goals of several steps overlap, and the second may begin before the first one."
"""What a negative distance means."""
UNKNOWN = "(?): nothing is known of the fewest steps."
"""What stands beside the steps of a chain where neither a distance nor a lower bound is known."""
SINCE = (
    "since step n: the fewest steps count from the goals of step n, since no distance is known from those of the step "
    "before."
)
"""What it means that the fewest steps count from an earlier step than the one before."""


def steps_at(legs: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The step in which a chain of these ``legs`` (see ``edges_of``) is at each of its nodes, in their order."""
    taken = {leg["to"]: leg["steps"] for leg in legs}
    return dict(zip(("init", *taken), accumulate(taken.values(), initial=0), strict=True)) if taken else {}


def exact_distances(data: Mapping[str, Any], at: Mapping[str, int]) -> dict[Edge, int]:
    """The weights and lower bounds of the graph's ``data`` (see ``graph_data``) that are distances.

    The search finds a weight from any state in which the first goal is covered, whether or not a run reaches that: no
    run takes fewer steps, and maybe each takes more. A weight is a distance if only reachable states were looked at
    (the graph is ``exact``), or if it is one from init. A weight or a lower bound is one if the chain, which is at its
    nodes in the steps ``at``, takes no more.
    """
    weights, taken = _weights(data), _taken(at)
    return {
        edge: bound
        for edge, bound in {**weights, **_open_bounds(data)}.items()
        if (edge in weights and (data.get("exact") or edge[0] == "init")) or taken.get(edge) == bound
    }


def known_distances(data: Mapping[str, Any], at: Mapping[str, int]) -> dict[Edge, str]:
    """What is known of each distance: ``7``, ``≥ 7``, that no run goes there, or that a solver gave up. A bound of 0
    says nothing.

    A distance is that of runs in which the second goal is over no earlier than the first one. Where the chain, which
    is ``at`` its nodes in these steps, takes fewer steps, goals of several steps overlap otherwise, and the distance
    says nothing of its way.
    """
    bounds, taken = {**_weights(data), **_open_bounds(data)}, _taken(at)
    known = {edge: f"≥ {bound}" for edge, bound in bounds.items() if bound > 0}
    if data.get("exact"):
        known |= {_edge(pair): "never" for pair in data.get("open", ())}
    known |= {_edge(pair): "?" for pair in data.get("unknown", ())}
    known |= {edge: str(steps) for edge, steps in exact_distances(data, at).items()}
    return {edge: text for edge, text in known.items() if not 0 <= taken.get(edge, -1) < bounds.get(edge, 0)}


def better_of(data: Mapping[str, Any], other: Mapping[str, Any], goals: Collection[str]) -> dict[str, Any]:
    """The graph's ``data`` with the better of what it and an ``other`` graph of the same controller know of each edge.

    ``goals`` are those that mean the same in both. Of two lower bounds the greater one is better; it is a weight where
    one of the graphs says so.
    """
    nodes = {"init", "final", "end"}.union(goals).intersection(data["nodes"], other["nodes"])
    if data.get("exact"):
        return {**data}
    own, weights = {**_weights(data), **_open_bounds(data)}, {*_weights(data).items()}
    bounds = {**own}
    for edge, bound in {**_weights(other), **_open_bounds(other)}.items():
        if nodes.issuperset(edge):
            bounds[edge] = max(bound, bounds.get(edge, bound))
            weights |= {(edge, bound)} if edge in _weights(other) else set()
    entries = [({"from": a, "to": b}, bound, ((a, b), bound) in weights) for (a, b), bound in sorted(bounds.items())]
    return {
        **data,
        "edges": [{**ends, "weight": bound} for ends, bound, weight in entries if weight],
        "open": [{**ends, "at_least": bound} for ends, bound, weight in entries if not weight],
        "unknown": [pair for pair in data["unknown"] if bounds.get(_edge(pair)) == own.get(_edge(pair))],
        "k": max(data["k"], other["k"]) if nodes.issuperset(data["nodes"]) else data["k"],
    }


def _edge(entry: Mapping[str, Any]) -> Edge:
    return entry["from"], entry["to"]


def _weights(data: Mapping[str, Any]) -> dict[Edge, int]:
    return {_edge(edge): edge["weight"] for edge in data["edges"]}


def _open_bounds(data: Mapping[str, Any]) -> dict[Edge, int]:
    """The lower bounds of edges without a weight; none where no run makes such an edge."""
    return {} if data.get("exact") else {_edge(pair): pair["at_least"] for pair in data.get("open", ())}


def _taken(at: Mapping[str, int]) -> dict[Edge, int]:
    """The steps that the chain takes from each of its nodes to each other one."""
    return {(a, b): at[b] - at[a] for a, b in product(at, at) if a != b}


@dataclass(frozen=True)
class Leg:
    """A step in which a chain covers goals, and the steps ``taken`` since the one before.

    ``fewest``: what is known of the fewest steps, ``7`` or ``≥ 7``, from the goals of the step ``since``, which is not
    the one before where the goals of that have no distances. ``fewest`` is '' where nothing is known.
    """

    step: int
    goals: tuple[str, ...]
    taken: int
    fewest: str
    since: int

    @property
    def compared(self) -> str:
        """What is known of the fewest steps, with the step that they count from unless it is the one before."""
        if not self.fewest or self.since == self.step - self.taken:
            return self.fewest
        return f"{self.fewest} since step {self.since}"

    @property
    def label(self) -> str:
        """The steps taken, and in brackets what is known of the fewest unless these are as many."""
        if self.shortest and self.since == self.step - self.taken:
            return str(self.taken)
        return f"{self.taken} (fewest {self.compared})" if self.fewest else f"{self.taken} (?)"

    @property
    def longer(self) -> bool:
        """Whether fewer steps than those of the chain are possible between these goals."""
        return self.fewest.lstrip("-").isdecimal() and int(self.fewest) < self.step - self.since

    @property
    def shortest(self) -> bool:
        """Whether no run takes fewer steps."""
        return bool(self.fewest) and int(self.fewest.removeprefix("≥ ")) == self.step - self.since


def legs_between(at: Mapping[str, int], known: Mapping[Edge, str]) -> list[Leg]:
    """A leg for each step at which a chain, which is ``at`` its nodes in these steps, covers goals; the first is where
    it begins."""
    places = [(step, tuple(nodes)) for step, nodes in groupby(at, key=at.__getitem__)]
    begin = {a for a, _ in known}
    legs = [Leg(step, goals, 0, "", step) for step, goals in places[:1]]
    since, earlier = places[0] if places else (0, ())
    for (before, nodes), (step, goals) in pairwise(places):
        if not begin.isdisjoint(nodes):
            since, earlier = before, nodes
        told = {known[edge] for edge in product(earlier, goals) if edge in known}
        legs.append(Leg(step, goals, step - before, _strongest(told, step - since), since))
    return legs


def _strongest(told: set[str], taken: int) -> str:
    """Of what is known of distances from goals of one step to goals of another one the most, '' for nothing."""
    numbers = {int(text.removeprefix("≥ ")): text for text in sorted(told, reverse=True) if text not in ("?", "never")}
    if taken in numbers:
        return str(taken)
    return numbers[max(numbers)] if numbers else ""


def made_up(exact: Mapping[Edge, int]) -> set[Edge]:
    """The edges whose distance a way over another goal takes too, with steps before that and after it."""
    after: dict[str, dict[str, int]] = {}
    for (a, b), weight in exact.items():
        if weight > 0:
            after.setdefault(a, {})[b] = weight
    return {
        (a, b)
        for (a, b), weight in exact.items()
        for c, first in after.get(a, {}).items()
        if first + after.get(c, {}).get(b, weight) <= weight
    }
