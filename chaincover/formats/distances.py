"""What the K-reachability graph tells of the distance between two goals: a number, a lower bound, or that none is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate, groupby, pairwise, product
from typing import Any

from bmc.records import dataclass

Edge = tuple[str, str]


def steps_at(legs: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The step in which a chain of these ``legs`` (see ``edges_of``) is at each of its nodes, in their order."""
    taken = {leg["to"]: leg["steps"] for leg in legs}
    return dict(zip(("init", *taken), accumulate(taken.values(), initial=0), strict=True)) if taken else {}


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
