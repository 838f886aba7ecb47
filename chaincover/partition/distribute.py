"""The least total length of several chains: one order with resets in it.

A reset is a node that lies as far behind a goal as the end, and as far before a goal as init. An order of all goals
with m - 1 resets is a distribution over m chains, and the least such order, over direct distances and least lengths of
sub-paths, bounds the total length of any m chains that cover all goals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from chaincover.certificate import Certificate
from chaincover.orderings.auto import AutoOrdering
from chaincover.orderings.protocol import Limit, OrderingProblem, OrderingResult, Path
from chaincover.weights import INIT, Edge, ReachGraph

WORK = 10.0
"""Work for one order, in the units of ``Limit``."""


class Distribution:
    """Orders of ``goals`` with ``chains`` - 1 resets. ``graph`` has the direct distances; more facts can be learned."""

    def __init__(self, graph: ReachGraph, goals: Sequence[str], chains: int) -> None:
        self._graph = graph.restricted(goals)
        self._resets = tuple(f"reset {number}" for number in range(1, chains))
        self._edges: dict[Edge, int] = dict(self._graph.lower)
        self._paths: dict[Path, int] = {}

    def learn(self, certificates: Iterable[Certificate | None]) -> bool:
        """Add the facts of chains through some of the goals; whether any of them is new."""
        before = (dict(self._edges), dict(self._paths))
        for certificate in certificates:
            for edge in certificate.edges if certificate else ():
                key = (edge.source, edge.target)
                if key in self._edges:
                    self._edges[key] = max(self._edges[key], edge.at_least)
            for fact in certificate.paths if certificate else ():
                self._paths[fact.path] = max(self._paths.get(fact.path, 0), fact.at_least)
        return before != (self._edges, self._paths)

    def least(self, seconds: float | None) -> OrderingResult:
        """The least order; its path has the resets in it."""
        end = self._graph.end
        problem = OrderingProblem((*self._graph.goals, *self._resets), self._weights(), INIT, end, least=self._least())
        return AutoOrdering().solve(problem, Limit(seconds, WORK))

    def classes(self, path: Path) -> list[list[str]]:
        """The goals of each chain of an order, in the order of the chains' first goals among all goals."""
        chains: list[list[str]] = [[]]
        for node in path[1:-1]:
            if node in self._resets:
                chains.append([])
            else:
                chains[-1].append(node)
        place = {goal: number for number, goal in enumerate(self._graph.goals)}
        return sorted((sorted(chain, key=place.__getitem__) for chain in chains), key=lambda chain: place[chain[0]])

    def _weights(self) -> Mapping[Edge, int]:
        weights = dict(self._edges)
        for goal, reset in product(self._graph.goals, self._resets):
            weights[goal, reset] = self._edges[goal, self._graph.end]
            weights[reset, goal] = self._edges[INIT, goal]
        return weights

    def _least(self) -> Mapping[Path, int]:
        """The least lengths of sub-paths, also between resets. From init to the end they need no reset between."""
        least = {}
        for path, steps in self._paths.items():
            firsts = (INIT, *self._resets) if path[0] == INIT else (path[0],)
            lasts = (self._graph.end, *self._resets) if path[-1] == self._graph.end else (path[-1],)
            for first, last in product(firsts, lasts):
                if first != last:
                    least[first, *path[1:-1], last] = steps
        return least
