"""The K-reachability graph as plain data; its transitive closure; Lemma 1 and Algorithm 3 (ExistsPath)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from bmc.errors import counted
from bmc.records import dataclass

if TYPE_CHECKING:
    import networkx

INIT = "init"
FINAL = "final"
END = "end"
"""The end node when no final condition is asked for."""
RESERVED = (INIT, FINAL, END)

Edge = tuple[str, str]


@dataclass(frozen=True)
class ReachGraph:
    """Goals, init and the end node, with weights in steps from trigger to trigger (Algorithm 2's result so far).

    ``weights`` holds the direct distance found for an edge. ``lower`` holds, for every edge that can matter, the least
    distance not proved impossible: equal to the weight where that is exact. ``unknown`` lists the edges at which the
    solver gave up: their lower bound is frozen there. ``unsatisfiable`` goals have no satisfying run from any state.
    All distances up to ``depth`` have been asked; ``seconds`` is the time that took. ``upper`` holds the steps in which
    runs were seen to make edges, which may be more than ``depth``, and more than the edge needs. ``exact``: the
    weights are those of all reachable states, and an edge without weight is proved impossible.
    """

    goals: tuple[str, ...]
    end: str
    weights: Mapping[Edge, int]
    lower: Mapping[Edge, int]
    unknown: tuple[Edge, ...]
    unsatisfiable: tuple[str, ...]
    depth: int
    queries: int
    seconds: float
    upper: Mapping[Edge, int] = field(default_factory=dict)
    exact: bool = False

    @property
    def nodes(self) -> tuple[str, ...]:
        """Init, the goals in their order, the end node."""
        return (INIT, *self.goals, self.end)

    def between_triggers(self, earlier: Mapping[str, int]) -> ReachGraph:
        """The graph with distances between the first steps of goals in place of their last ones, which are so many
        steps ``earlier``.

        They are below 0 where a goal that is over no earlier than another one begins before it.
        """

        def moved(weights: Mapping[Edge, int]) -> dict[Edge, int]:
            return {(a, b): w + earlier.get(a, 0) - earlier.get(b, 0) for (a, b), w in weights.items()}

        weights, lower, upper = moved(self.weights), moved(self.lower), moved(self.upper)
        return replace(self, weights=weights, lower=lower, upper=upper)

    def to_networkx(self) -> networkx.DiGraph:
        """The same nodes and edges for networkx: an edge has its ``weight``, or ``at_least`` where none was found yet.

        ``at_least`` is the least distance not proved impossible; what is proved to be no edge is none. Each node has a
        ``kind``: ``init``, ``goal`` or ``end``.
        """
        import networkx

        made = networkx.DiGraph(k=self.depth)
        for node in self.nodes:
            made.add_node(node, kind=INIT if node == INIT else END if node == self.end else "goal")
        for edge, weight in sorted(self.weights.items()):
            made.add_edge(*edge, weight=weight)
        for edge, least in sorted(self.lower.items()):
            if edge not in self.weights and not self.exact:
                made.add_edge(*edge, at_least=least)
        return made

    def _repr_html_(self) -> str:
        """The distances, for notebooks: from the node of each row to that of each column."""
        from chaincover.notebook import MOST_ROWS, table

        nodes = self.nodes[:MOST_ROWS]
        rows = [(a, *(self._distance((a, b)) for b in nodes)) for a in nodes]
        caption = f"distances in steps, all up to K = {self.depth} decided"
        left = len(self.nodes) - len(nodes)
        return table(caption + (f"; {counted(left, 'node')} left out" if left else ""), ("from", *nodes), rows)

    def _distance(self, edge: Edge) -> str:
        if edge in self.weights:
            return str(self.weights[edge])
        return f"≥ {self.lower[edge]}" if edge in self.lower and not self.exact else ""

    @property
    def possible(self) -> ReachGraph:
        """The graph without the goals that are proved unsatisfiable."""
        return self.restricted([g for g in self.goals if g not in self.unsatisfiable])

    def restricted(self, goals: Collection[str]) -> ReachGraph:
        """The graph with only these goals, in the old order."""
        kept = tuple(g for g in self.goals if g in goals)
        nodes = {INIT, *kept, self.end}

        def among(edge: Edge) -> bool:
            return edge[0] in nodes and edge[1] in nodes

        return replace(
            self,
            goals=kept,
            weights={e: w for e, w in self.weights.items() if among(e)},
            lower={e: w for e, w in self.lower.items() if among(e)},
            unknown=tuple(e for e in self.unknown if among(e)),
            upper={e: w for e, w in self.upper.items() if among(e)},
            unsatisfiable=tuple(g for g in self.unsatisfiable if g in kept),
        )


def exact_reach_graph(
    goals: tuple[str, ...], end: str, found: Mapping[Edge, int | None], impossible: int, unsatisfiable: tuple[str, ...]
) -> ReachGraph:
    """The graph of exact distances: ``found`` has each edge's weight, or None where no run makes it.

    Such an edge gets the lower bound ``impossible``, which is above every finite weight.
    """
    weights = {edge: steps for edge, steps in found.items() if steps is not None}
    lower = {edge: impossible if steps is None else steps for edge, steps in found.items()}
    depth = max(weights.values(), default=0)
    return ReachGraph(goals, end, weights, lower, (), unsatisfiable, depth, 0, 0.0, exact=True)


def transitive_closure(graph: ReachGraph) -> dict[Edge, int]:
    """Least total weight of a walk between any two nodes (Floyd-Warshall); absent where there is none."""
    import numpy as np

    nodes = graph.nodes
    index = {name: i for i, name in enumerate(nodes)}
    infinite = 1 << 40
    distance = np.full((len(nodes), len(nodes)), infinite, dtype=np.int64)
    for (a, b), weight in graph.weights.items():
        distance[index[a], index[b]] = weight
    for via in range(len(nodes)):
        distance = np.minimum(distance, distance[:, via, None] + distance[None, via, :])
    return {
        (a, b): int(distance[i, j])
        for i, a in enumerate(nodes)
        for j, b in enumerate(nodes)
        if i != j and distance[i, j] < infinite
    }


def exists_path(graph: ReachGraph, closed: Mapping[Edge, int]) -> tuple[str, ...] | None:
    """Algorithm 3 (ExistsPath): some covering path from init to the end over the closed graph, or None."""
    path = [INIT]
    for goal in graph.goals:
        place = len(path)
        while place and (path[place - 1], goal) not in closed:
            place -= 1
            if place and (goal, path[place]) not in closed:
                return None
        if place == 0:
            return None
        path.insert(place, goal)
    if (path[-1], graph.end) not in closed:
        return None
    return (*path, graph.end)


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Which conditions of Lemma 1 fail: goals not reached from init, goals without a way to the end, pairs apart."""

    unreached: tuple[str, ...]
    stuck: tuple[str, ...]
    exclusive: tuple[Edge, ...]

    def __bool__(self) -> bool:
        return bool(self.unreached or self.stuck or self.exclusive)


def obstacles(graph: ReachGraph, closed: Mapping[Edge, int]) -> Obstacles:
    """Lemma 1: what stands against a covering path; nothing exactly if there is one."""
    goals = graph.goals
    return Obstacles(
        unreached=tuple(g for g in goals if (INIT, g) not in closed),
        stuck=tuple(g for g in goals if (g, graph.end) not in closed),
        exclusive=tuple(
            (a, b) for i, a in enumerate(goals) for b in goals[i + 1 :] if (a, b) not in closed and (b, a) not in closed
        ),
    )
