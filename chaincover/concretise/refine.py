"""Algorithm 5: GetChain with abstraction refinement.

It repeats these steps until a path can be made concrete: refine the graph so that no walk contains a sub-path that was
found infeasible; find a walk in it that covers all goals; collapse the graph to the vertices of that walk; find the
shortest order of these; and try to find inputs along it, which finds an infeasible sub-path if it fails.

In the refined abstraction a goal is split into several vertices, by the nodes that were visited just before it. For the
infeasible sub-path ``a -> v -> b`` that is the split of Fig. 6: the vertex ``(a, v)`` is reached from a only and has no
edge to b; the vertex ``(v,)`` is reached from all other vertices and keeps all edges of v. A longer infeasible
sub-path ``a -> v -> w -> b`` splits v into ``(a, v)`` and ``(v,)``, and w into ``(a, v, w)`` and ``(w,)``. The walks
from init in this graph are exactly those walks of the K-reachability graph that contain no infeasible sub-path.

At the end there is the alternative of Section 4.2 to lines 9 to 13: infeasible sub-paths become path constraints of the
ordering.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from bmc.records import dataclass
from chaincover.chain import Plan
from chaincover.concretise.subpaths import Outcome, Reach, SubPaths, Task, Trials
from chaincover.orderings.protocol import Limit, OrderingProblem, Path
from chaincover.weights import INIT, Edge, ReachGraph, transitive_closure

Numbers = np.ndarray[Any, np.dtype[np.int64]]

Vertex = Path
"""The goal last, what was visited before it first."""

INFINITE = 1 << 40


@dataclass(frozen=True)
class Abstraction:
    """A refined graph: ``goals`` and ``end`` are those of the K-reachability graph, the first of ``vertices`` is init.

    ``weights`` has the edges between vertices, in steps.
    """

    goals: tuple[str, ...]
    end: str
    vertices: tuple[Vertex, ...]
    weights: Mapping[tuple[Vertex, Vertex], int]

    @property
    def groups(self) -> dict[str, tuple[Vertex, ...]]:
        """The property refinement groups: for each goal the vertices that it was split into."""
        return {goal: tuple(v for v in self.vertices if v[-1] == goal) for goal in self.goals}

    @cached_property
    def _index(self) -> dict[Vertex, int]:
        return {vertex: n for n, vertex in enumerate(self.vertices)}

    @cached_property
    def _closed(self) -> tuple[Numbers, Numbers]:
        """Least distances between vertices and the first vertex on the way (Floyd-Warshall)."""
        count = len(self.vertices)
        distance = np.full((count, count), INFINITE, dtype=np.int64)
        first = np.tile(np.arange(count, dtype=np.int64), (count, 1))
        for (a, b), weight in self.weights.items():
            distance[self._index[a], self._index[b]] = weight
        np.fill_diagonal(distance, 0)
        for via in range(count):
            over = distance[:, via, None] + distance[None, via, :]
            better = over < distance
            first = np.where(better, first[:, via, None], first)
            distance = np.where(better, over, distance)
        return distance, first

    def distance(self, a: Vertex, b: Vertex) -> int | None:
        """The least weight of a walk from ``a`` to ``b``, None if there is none; 0 from a vertex to itself."""
        found = int(self._closed[0][self._index[a], self._index[b]])
        return found if found < INFINITE else None

    def walk(self, order: Sequence[Vertex]) -> tuple[Vertex, ...]:
        """The shortest walk through the vertices of ``order``, each of which reaches the next."""
        walked = [order[0]]
        for target in order[1:]:
            while walked[-1] != target:
                here = self._closed[1][self._index[walked[-1]], self._index[target]]
                walked.append(self.vertices[here])
        return tuple(walked)


def refined(graph: ReachGraph, infeasible: Sequence[Path]) -> Abstraction:
    """``graph`` refined: its nodes are split so that no walk from init contains one of the ``infeasible`` sub-paths.

    A vertex remembers the longest end of the walk so far that is also the beginning of an infeasible sub-path (as in
    the automaton of Aho and Corasick for these sub-paths). An edge that would complete an infeasible sub-path is left
    out. Only vertices that init reaches are made.
    """
    contexts = {part[:n] for part in infeasible for n in range(1, len(part))}
    excluded = set(infeasible)
    after: dict[str, list[Edge]] = {}
    for edge in graph.weights:
        after.setdefault(edge[0], []).append(edge)
    vertices: dict[Vertex, None] = {(INIT,): None}
    weights: dict[tuple[Vertex, Vertex], int] = {}
    todo: list[Vertex] = [(INIT,)]
    while todo:
        vertex = todo.pop(0)
        for edge in after.get(vertex[-1], ()):
            history = (*vertex, edge[1])
            tails = [history[n:] for n in range(len(history))]
            if excluded.isdisjoint(tails):
                target = next((tail for tail in tails if tail in contexts), tails[-1])
                weights[vertex, target] = graph.weights[edge]
                if target not in vertices:
                    vertices[target] = None
                    todo.append(target)
    return Abstraction(graph.goals, graph.end, tuple(vertices), weights)


def covering_walk(abstraction: Abstraction, check: Callable[[], None]) -> tuple[Vertex, ...] | None:
    """GetCoveringPath: one vertex of each goal, and of the end, in an order in which each reaches the next; or None.

    Algorithm 3, adapted to goals that have several vertices. The vertices of a strongly connected part can all be
    visited one after the other, so the search is for a path through such parts that together have a vertex of every
    goal: depth first, from the part of init, only to parts with a goal that is still missing. ``check`` is called in
    each step of the search and may raise.
    """
    end = (abstraction.end,)
    if end not in abstraction.vertices:
        return None
    parts = _parts(abstraction)
    ahead = {part: {v[-1] for v in abstraction.vertices if _reaches(abstraction, part[0], v)} for part in parts}
    uncoverable: set[tuple[tuple[Vertex, ...], frozenset[str]]] = set()
    wanted = {*abstraction.goals, abstraction.end}

    def search(part: tuple[Vertex, ...], missing: frozenset[str]) -> list[tuple[Vertex, ...]] | None:
        check()
        missing -= {vertex[-1] for vertex in part}
        if not missing:
            return [part]
        if (part, missing) in uncoverable or not missing <= ahead[part]:
            return None
        for other in parts:
            useful = any(vertex[-1] in missing for vertex in other)
            if useful and _reaches(abstraction, part[0], other[0]):
                rest = search(other, missing)
                if rest is not None:
                    return [part, *rest]
        uncoverable.add((part, missing))
        return None

    found = search(parts[0], frozenset(wanted))
    return None if found is None else _chosen(abstraction, found)


def covering_order(abstraction: Abstraction, check: Callable[[], None]) -> tuple[Vertex, ...] | None:
    """As ``covering_walk``, but each vertex must have an edge to the next, and each goal is visited exactly once.

    Depth first, shorter edges first. Only finitely many orders are such, so that Algorithm 5 ends.
    """
    after: dict[Vertex, list[tuple[int, Vertex]]] = {}
    for (a, b), weight in abstraction.weights.items():
        after.setdefault(a, []).append((weight, b))
    uncoverable: set[tuple[Vertex, frozenset[str]]] = set()

    def search(vertex: Vertex, missing: frozenset[str]) -> list[Vertex] | None:
        check()
        if not missing:
            return [vertex]
        if (vertex, missing) in uncoverable:
            return None
        for _, other in sorted(after.get(vertex, ())):
            if other[-1] in missing and (other[-1] != abstraction.end or len(missing) == 1):
                rest = search(other, missing - {other[-1]})
                if rest is not None:
                    return [vertex, *rest]
        uncoverable.add((vertex, missing))
        return None

    found = search((INIT,), frozenset({*abstraction.goals, abstraction.end}))
    return None if found is None else tuple(found)


def _reaches(abstraction: Abstraction, a: Vertex, b: Vertex) -> bool:
    return abstraction.distance(a, b) is not None


def _parts(abstraction: Abstraction) -> list[tuple[Vertex, ...]]:
    """The vertices grouped into strongly connected parts, the one of init first."""
    parts: list[list[Vertex]] = []
    for vertex in abstraction.vertices:
        for part in parts:
            if _reaches(abstraction, part[0], vertex) and _reaches(abstraction, vertex, part[0]):
                part.append(vertex)
                break
        else:
            parts.append([vertex])
    return [tuple(part) for part in parts]


def _chosen(abstraction: Abstraction, parts: Sequence[tuple[Vertex, ...]]) -> tuple[Vertex, ...]:
    """One vertex of each goal along ``parts``: within a part always the nearest vertex of a goal not covered yet."""
    cover: list[Vertex] = [(INIT,)]
    for part in parts:
        covered = {vertex[-1] for vertex in cover}
        left = [vertex for vertex in part if vertex[-1] not in covered]
        while left:
            near = min(left, key=lambda v: (abstraction.distance(cover[-1], v) or 0, v))
            cover.append(near)
            left = [vertex for vertex in left if vertex[-1] != near[-1]]
    return tuple(cover)


def refined_chain(task: Task) -> Outcome:
    """Algorithm 5 for ``task``: search for a chain along the edges of its graph, each of at most K steps.

    Where no path is left, the graph is first extended up to K, the limit of the task (Remark 1); if that brings nothing
    new, the search ends without a chain. Paths may visit a goal more than once. There are infinitely many such paths,
    so once an infeasible sub-path has more nodes than the graph, only paths that visit each goal once are tried: these
    are finitely many, and each round rules out another one. So UNSAT means: no run visits all these goals, in any
    order, so that each starts at most K steps after the one before; the final condition may also come as many steps
    after the last goal as the longest goal has. The ordering gets no path constraints. UsageError if it refuses,
    LimitReached when time is over.
    """
    return _Refinement(task).run()


class _Refinement:
    """One search by Algorithm 5.

    A sub-path that it found infeasible stays infeasible when the graph grows, because it was asked for with all
    distances up to K on each edge.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._reaches: dict[Edge, Reach] = {}
        subpaths = SubPaths(task.questions, self._reaches)
        self._trials = Trials(task, subpaths, len(task.questions.problem.goals) * task.limit)
        self._revisits = True

    def run(self) -> Outcome:
        """The loop of Algorithm 5."""
        while True:
            graph = self._graph()
            walk = self._shorter_walk(graph, refined(graph, self._trials.excluded))
            if walk is None:
                if not self._task.extended():
                    return self._trials.ended(not undecided_edges(graph))
                continue
            tried = self._trials.try_path(Plan(walk, tuple(graph.weights[edge] for edge in pairwise(walk))))
            if isinstance(tried, Outcome):
                return tried if tried.plan is None else without_revisits(tried)
            self._task.progress(f"refine: {' -> '.join(tried[:-1])} without the edge to {tried[-1]}")
            self._revisits = self._revisits and len(tried) <= len(graph.nodes)

    def _graph(self) -> ReachGraph:
        graph = self._task.graph()
        for edge, weight in graph.weights.items():
            self._reaches[edge] = Reach(graph.lower[edge], max(self._task.limit, weight), True)
        return graph

    def _shorter_walk(self, graph: ReachGraph, abstraction: Abstraction) -> Path | None:
        """Lines 10, 12 and 13 of Algorithm 5: the next path to try, as nodes of ``graph``; None if there is none.

        First a covering walk through ``abstraction`` is found, which fixes one vertex for each goal. The abstraction is
        collapsed to these vertices, the ordering finds their shortest order, and the walk along that order is taken.
        It may visit goals more than once. Where revisits are no longer allowed, the covering order is taken as it is.
        """
        budget = self._task.questions.limits
        if not self._revisits:
            order = covering_order(abstraction, budget.check)
            return None if order is None else goals_of(order)
        cover = covering_walk(abstraction, budget.check)
        if cover is None:
            return None
        found = self._task.ordering.solve(collapsed(graph, abstraction, cover), Limit(budget.for_query()))
        by_group = {vertex[-1]: vertex for vertex in cover}
        return goals_of(abstraction.walk(tuple(by_group[name] for name in found.path) or cover))


def collapsed(graph: ReachGraph, abstraction: Abstraction, cover: tuple[Vertex, ...]) -> OrderingProblem:
    """The abstraction collapsed (Fig. 7): of each goal's vertices only the one in ``cover`` is left.

    The weight between two of them is that of the shortest walk over the whole abstraction. So an order of the goals
    stands for a walk without an infeasible sub-path.
    """
    weights = {
        (a[-1], b[-1]): distance
        for a in cover
        for b in cover
        if a != b and (distance := abstraction.distance(a, b)) is not None
    }
    return OrderingProblem(graph.goals, weights, INIT, graph.end)


def goals_of(walk: tuple[Vertex, ...]) -> Path:
    """The nodes of the K-reachability graph that ``walk`` visits."""
    return tuple(vertex[-1] for vertex in walk)


def without_revisits(found: Outcome) -> Outcome:
    """``found``, which has a chain, with each goal only where its plan visits it first."""
    assert found.plan is not None
    assert found.run is not None
    plan, first = found.plan, dict[str, int]()
    for goal, start in zip(plan.goals, plan.starts, strict=True):
        first.setdefault(goal, start)
    steps = [0, *first.values(), found.run.length]
    return replace(found, plan=Plan((INIT, *first, plan.path[-1]), tuple(b - a for a, b in pairwise(steps))))


def constrained_chain(task: Task) -> Outcome:
    """Try orders of all goals, each time the shortest one without the sub-paths found infeasible, until one can be run.

    The graph is extended to K first (Remark 1). The ordering must take path constraints. UNSAT means: no run visits all
    these goals in any order so that each starts at most K steps after the one before where the graph has that edge,
    and at most K steps for each edge of the shortest walk where it has none; the final condition may also come as many
    steps after the last goal as the longest goal has. Without a limit it ends all the same, because every round rules
    out another order. UsageError if the ordering refuses, LimitReached when time is over.
    """
    while task.extended():
        pass
    graph = task.graph()
    weights, reaches = distances(graph, task.limit)
    longest = len(graph.goals) * max((reach.most for reach in reaches.values()), default=0)
    trials = Trials(task, SubPaths(task.questions, reaches), longest)
    while True:
        problem = OrderingProblem(graph.goals, weights, INIT, graph.end, forbidden=trials.excluded)
        order = task.ordering.solve(problem, Limit(task.questions.limits.for_query()))
        if not order.path:
            task.questions.limits.check()
            return trials.ended(order.proved and not undecided_edges(graph))
        gaps = [weights[edge] if reaches[edge].known else reaches[edge].least for edge in pairwise(order.path)]
        plan = Plan(order.path, tuple(gaps))
        tried = trials.try_path(plan)
        if isinstance(tried, Outcome):
            return tried
        task.progress(f"path constraints: not {' -> '.join(tried)}")


def distances(graph: ReachGraph, limit: int) -> tuple[dict[Edge, int], dict[Edge, Reach]]:
    """The weights of the closed graph, and between which distances each of its edges is looked for.

    A direct edge keeps its weight, which no visit between its ends can shorten; it may grow up to ``limit``. Any other
    one stands for a walk through other goals: what that takes is only sought, never demanded, between the least
    distance not excluded and ``limit`` for each edge of the walk.
    """
    base = len(graph.nodes) + 1
    closed = transitive_closure(replace(graph, weights={e: w * base + 1 for e, w in graph.weights.items()}))
    weights, reaches = {}, {}
    for edge, coded in closed.items():
        total, edges = divmod(coded, base)
        direct = edge in graph.weights
        least = graph.lower.get(edge, 0)
        weights[edge] = graph.weights[edge] if direct else max(total, least)
        reaches[edge] = Reach(least, max(limit if direct else limit * edges, weights[edge]), direct)
    return weights, reaches


def undecided_edges(graph: ReachGraph) -> tuple[Edge, ...]:
    """The edges that are missing only because the solver gave up on them."""
    return tuple(edge for edge in graph.unknown if edge not in graph.weights)
