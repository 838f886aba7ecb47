"""Algorithm 5: GetChain with abstraction refinement: split, find a covering walk, collapse, shorten, concretise."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from chaincover.chain import Plan
from chaincover.concretise.abstraction import Abstraction, Vertex, covering_order, covering_walk, refined
from chaincover.concretise.path_constraints import undecided_edges
from chaincover.concretise.path_trial import Outcome, Task, Trials
from chaincover.concretise.subpaths import Reach, SubPaths
from chaincover.orderings.protocol import Limit, OrderingProblem, Path
from chaincover.weights import INIT, Edge, ReachGraph


def refined_chain(task: Task) -> Outcome:
    """Algorithm 5 over direct edges of at most K steps; the graph is extended to K before it gives up (Remark 1).

    Walks may visit a goal again. Walks without end could be ruled out one by one, so from the first infeasible sub-path
    on that has more nodes than the graph, only paths that visit each goal once are tried: these are finitely many, and
    each round rules out another one. So UNSAT means: no run visits all these goals, in any order, so that each
    starts at most K steps after the one before; the final condition may also come as many steps after the last goal as
    the longest goal has. The ordering gets no path constraints. UsageError if it refuses, LimitReached when time is
    over.
    """
    return _Refinement(task).run()


class _Refinement:
    """One search. What it found infeasible stays so when the graph grows: it was asked for with edges up to K."""

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
        """Lines 10, 12 and 13: a covering walk; with revisits, the shortest one through the vertices that it covers."""
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
    """Each property refinement group collapsed to the one vertex by which ``cover`` covers it (Fig. 7).

    Weights are those of least walks over the whole abstraction, so no order of them contains an infeasible sub-path.
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
