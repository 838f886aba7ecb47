"""The bound from the order of goals: a proof by branch and bound, whose dual solutions are added up in integers.

The proof is made by the orderings of the search (``chaincover.orderings.duals``), and nothing of it is believed. In
each of its cases nodes, sets of nodes and sub-paths have prices. An edge costs what it takes, less the prices of what
it enters. An order leaves each node once, along the cheapest edge at best, and it enters each node once and each set
without init at least once. So the sum of all prices and of the least costs of leaving a node bounds every order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from bmc.errors import counted
from bmc.records import dataclass
from chaincover.certificate import Certificate, OrderProof
from chaincover.orderings.duals import order_proof
from chaincover.orderings.protocol import Limit, OrderingProblem
from chaincover.verification.limits import Clock
from chaincover.verification.report import HOLDS, OPEN, WRONG, Line, limited
from chaincover.weights import INIT

CHECK = "order bound"

Path = tuple[str, ...]
Edge = tuple[str, str]
Marks = np.ndarray[Any, np.dtype[np.bool_]]


def needed_edges(certificate: Certificate) -> list[Edge]:
    """The pairs of nodes for which the certificate has to have a bound."""
    goals, end = certificate.goals, certificate.end
    if not goals:
        return [(INIT, end)]
    pairs = [(INIT, b) for b in goals] + [(a, b) for a in goals for b in goals if a != b]
    return pairs + [(a, end) for a in goals]


def order_bound(certificate: Certificate, clock: Clock) -> Line:
    """Whether no order of the goals takes less than the certificate says, by its own facts."""
    claimed, goals = certificate.order_bound, tuple(dict.fromkeys(certificate.goals))
    if claimed == 0:
        return Line(CHECK, HOLDS, "0: no order takes less, whatever the distances")
    edges: dict[Path, int] = {}
    for fact in certificate.edges:
        steps = min(fact.at_least, claimed)  # an order along an edge of so many steps is no less than claimed
        edges[fact.path] = max(steps, edges.get(fact.path, 0))
    needed = needed_edges(certificate)
    missing = [f"the certificate has no bound for {a} -> {b}" for a, b in needed if (a, b) not in edges]
    if missing:
        return Line(CHECK, WRONG, f"{len(missing)} bounds are missing", limited(missing))
    far = max((edges[INIT, g] + edges[g, certificate.end] for g in goals), default=0)
    if far >= claimed:
        return Line(CHECK, HOLDS, f"{claimed}: init to one goal and on to the end already takes {far}")
    orders = Orders.of(certificate, {edge: edges[edge] for edge in needed})
    problem = OrderingProblem(goals, orders.edges, INIT, certificate.end, least=orders.paths)
    found = order_proof(problem, claimed, Limit(clock.left, clock.limits.solver))
    if isinstance(found, OrderProof) and orders.take(claimed, found):
        text = f"{claimed}: no order of {len(goals)} goals takes less"
        return Line(CHECK, HOLDS, f"{text}, by dual solutions in integers ({counted(found.leaves, 'case')})")
    cost = max(far, orders.cost(found)) if isinstance(found, tuple) and orders.has(found) else claimed
    if cost < claimed and isinstance(found, tuple):
        text = f"{claimed} is claimed, but by the same facts an order takes {cost}"
        return Line(CHECK, WRONG, text, (" -> ".join(found),))
    return Line(CHECK, OPEN, f"{claimed}: too many orders, and the search for a proof did not finish", unfinished=True)


@dataclass(frozen=True)
class Orders:
    """Orders of all goals from init to the end. Each of ``edges``, and each of ``paths`` that an order runs along,
    takes at least its number of steps.

    The earliest start of a node is later than the edge before it says, by a *delay*, only where one of ``paths`` ends
    there, and by no more than the steps that this sub-path takes beyond its edges (its *excess*). Where an order runs
    along a sub-path, the delays of its nodes after the first sum up to the excess or more; it does so where it has as
    many edges forwards in the sub-path as that has, and it never has more. So an order takes the sum of its edges and
    delays, and what a sub-path is worth, its price times its excess, is taken from delays and given to edges.
    """

    names: Path
    edges: Mapping[Edge, int]
    paths: Mapping[Path, int]

    @classmethod
    def of(cls, certificate: Certificate, edges: Mapping[Edge, int]) -> Orders:
        """The orders of a certificate; what it says of sub-paths that no order runs along is left out."""
        paths: dict[Path, int] = {}
        for fact in certificate.paths:
            steps, within = [*pairwise(fact.path)], len(set(fact.path)) == len(fact.path) > 1
            if within and all(step in edges for step in steps):
                paths[fact.path] = max(min(fact.at_least, certificate.order_bound), paths.get(fact.path, 0))
        return cls((INIT, *dict.fromkeys(certificate.goals), certificate.end), edges, paths)

    def has(self, order: Path) -> bool:
        """Whether ``order`` begins in init, ends at the end and has each goal once."""
        return (order[:1], order[-1:], sorted(order)) == (self.names[:1], self.names[-1:], sorted(self.names))

    def cost(self, order: Path) -> int:
        """The start time of the end: the longest path by all facts."""
        times = {order[0]: 0}
        for place, (a, b) in enumerate(pairwise(order), 1):
            behind = [order[first : place + 1] for first in range(place)]
            after = [times[path[0]] + self.paths[path] for path in behind if path in self.paths]
            times[b] = max([times[a] + self.edges[a, b], *after])
        return times[order[-1]]

    @cached_property
    def excess(self) -> dict[Path, int]:
        """The steps that each sub-path takes beyond its edges, where it does."""
        more = {path: steps - sum(self.edges[edge] for edge in pairwise(path)) for path, steps in self.paths.items()}
        return {path: steps for path, steps in more.items() if steps > 0}

    def take(self, steps: int, proof: OrderProof) -> bool:
        """Whether ``proof`` shows that every order takes at least so many steps."""
        size = len(self.names)
        if len(set(self.names)) < size:
            return False
        costs, allowed = np.zeros((size, size), object), np.zeros((size, size), bool)
        for (a, b), weight in self.edges.items():
            place = self.names.index(a), self.names.index(b)
            costs[place], allowed[place] = weight, True
        return self._closed(proof, costs, allowed, steps - 1)

    def _closed(self, proof: OrderProof, costs: Any, allowed: Marks, most: int) -> bool:
        """Whether ``proof`` shows that every order along the ``allowed`` edges takes more than ``most``."""
        visited = set(self.names[1:])
        prices = [price for _, price in proof.cuts] + [*proof.paths.values()]
        if proof.scale <= 0 or min(prices, default=0) < 0:
            return False
        if not proof.nodes.keys() <= visited or not all(cut and visited.issuperset(cut) for cut, _ in proof.cuts):
            return False
        reduced, total = self._reduced(proof, costs)
        rows = [reduced[tail][marks].tolist() for tail, marks in enumerate(allowed[:-1])]
        if not all(rows):
            return True  # there is a node that no order of this case can leave
        least = np.array([*map(min, rows), 0], object)
        total += least.sum()
        if total > most * proof.scale or len(proof.cases) != 2:
            return bool(total > most * proof.scale)
        cheap = allowed & (reduced + (total - least)[:, None] <= most * proof.scale)
        sides = self._marks(proof.following)
        parts = [cheap.copy(), cheap.copy()]
        for part, side in zip(parts, (sides, ~sides), strict=True):
            part[self.names.index(proof.node)] &= side
        return all(self._closed(case, costs, part, most) for case, part in zip(proof.cases, parts, strict=True))

    def _reduced(self, proof: OrderProof, costs: Any) -> tuple[Any, int]:
        """What each edge costs less the prices of what it enters, and the sum of the prices."""
        reduced, number = costs * proof.scale, {name: place for place, name in enumerate(self.names)}
        total = sum(proof.nodes.values()) + sum(price for _, price in proof.cuts)
        for name, price in proof.nodes.items():
            reduced[:, number[name]] -= price
        for cut, price in proof.cuts:
            inside = self._marks(cut)
            reduced[np.ix_(~inside, inside)] -= price
        most = {path[-1]: 0 for path in self.excess}
        delay = dict.fromkeys(most, proof.scale)
        for path, steps in self.excess.items():
            most[path[-1]] = max(steps, most[path[-1]])
            worth = proof.paths.get(path, 0)
            total -= worth * steps * (len(path) - 2)
            for a, b in combinations(path, 2):
                reduced[number[a], number[b]] += worth * steps
            for node in delay.keys() & path[1:]:
                delay[node] -= worth
        return reduced, total + sum(min(0, cost) * most[name] for name, cost in delay.items())

    def _marks(self, nodes: Iterable[str]) -> Marks:
        return np.isin(np.array(self.names), [*nodes])
