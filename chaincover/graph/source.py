"""Where a run's graph comes from: the list of all reachable states, the disk, or queries here or by workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pysmt.fnode import FNode

from bmc.engines import choose as choose_engine
from bmc.engines import described
from bmc.engines.protocol import Engine
from bmc.system.transition import TransitionSystem
from chaincover.budget import Budget
from chaincover.graph.cache import GraphCache, graph_key
from chaincover.graph.edges import enter
from chaincover.graph.enumerated import EnumeratedGraphBuilder
from chaincover.graph.explored import Reachable
from chaincover.graph.goal_runs import TooManyRuns
from chaincover.graph.reachability import Builder, GraphBuilder, Level
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.weights import Edge, ReachGraph, exists_path, transitive_closure
from chaincover.work.remote import Engines, RemoteEdges
from chaincover.work.workers import Workers
from properties.goal import Goal

GROWTH = 1.5
"""K grows by this factor: each K is one query more per source, and a query about all distances up to it is harder."""


class GraphSource:
    """The ``builder`` for ``goals``; ``cached`` is the number of values of K whose edges were found on disk.

    ``most`` is the largest K. The engine is one of its own, so that a kept graph changes nothing else.
    """

    def __init__(
        self,
        reachable: Reachable,
        goals: Sequence[Goal],
        final: FNode | None,
        options: Options,
        budget: Budget,
        most: int,
        workers: Workers | None,
        progress: Callable[[str], None],
    ) -> None:
        self.most, self.cached = most, 0
        self._progress = progress
        self._observed: dict[Edge, int] = {}
        self.engine: Engine = choose_engine(options.engine, options.memory_limit)
        self._cache: GraphCache | None = None
        self._by_solver = partial(self._asking, reachable.system, goals, final, options, budget, workers)
        enumerated = reachable.graph if options.exhaust else None
        problem = Problem(reachable.plain, tuple(goals), final, options.overlap)
        self.builder: Builder = (
            self._by_solver() if enumerated is None else EnumeratedGraphBuilder(problem, enumerated, budget)
        )

    def _asking(
        self,
        system: TransitionSystem,
        goals: Sequence[Goal],
        final: FNode | None,
        options: Options,
        budget: Budget,
        workers: Workers | None,
    ) -> Builder:
        """The builder that asks the engine, here or by ``workers``, for what is not on the disk."""
        self._cache = GraphCache(options.cache) if options.cache and options.query_limit is None else None
        levels: tuple[Level, ...] = ()
        if self._cache is not None:
            settings = (options.overlap, self.most, options.improve > 0, *described(self.engine, system))
            self._key = graph_key(system, goals, final, settings)
            levels = self._kept = self._cache.levels(self._key)
            self.cached = len(levels)

        def remote(problem: Problem) -> RemoteEdges:
            assert workers is not None
            return RemoteEdges(problem, Engines(options.engine, options.memory_limit), workers, self._progress)

        shared = remote if workers else None
        return GraphBuilder(system, goals, final, self.engine, options.overlap, budget, self.most, levels, shared)

    def observe(self, upper: Mapping[Edge, int]) -> None:
        """Take note of distances that runs make.

        These and the weights tell how K grows, not what else the builder's queries showed: that depends on who put
        them, and on what was asked before or taken from the disk.
        """
        enter(self._observed, upper)
        self.builder.observe(upper)

    def keep(self) -> None:
        """Write what is new of the graph to the disk."""
        if self._cache is not None and tuple(self.builder.levels) != self._kept:
            self._cache.keep(self._key, self.builder.levels)

    def extend(self, by: int = 0) -> None:
        """Let K grow: by ``by``, or (0) faster and faster, but not beyond where runs show a covering path.

        Where a list of states takes too much memory with the goals under way, another ``builder`` asks the solver.
        """
        depth = self.builder.depth
        to = depth + by if by else max(depth + 1, int(depth * GROWTH))
        shown = None if by else shown_depth(replace(self.builder.graph(), upper=self._observed).possible)
        if shown is not None and shown > depth:
            to = min(to, shown)
        self._progress(f"graph: edges of up to {min(to, self.most)} steps")
        try:
            self.builder.extend(min(to, self.most))
        except TooManyRuns:
            self._progress("graph: the goals' runs through all states take too much memory, so the solver is asked")
            self.builder = self._by_solver()
            self.builder.observe(self._observed)
            self.builder.extend(min(to, self.most))

    @property
    def over(self) -> bool:
        """Whether no edge is left to ask for, or K may not grow."""
        return self.builder.complete or self.builder.depth >= self.most


def shown_depth(graph: ReachGraph) -> int | None:
    """The least K whose edges, as far as runs have shown them, make a covering path; None if there is none."""
    known = {**graph.upper, **graph.weights}
    found = None
    steps = sorted({*known.values()})
    low, high = 0, len(steps) - 1
    while low <= high:
        middle = (low + high) // 2
        few = {edge: weight for edge, weight in known.items() if weight <= steps[middle]}
        part = ReachGraph(graph.goals, graph.end, few, {}, (), (), 0, 0, 0.0)
        if exists_path(part, transitive_closure(part)) is None:
            low = middle + 1
        else:
            found, high = steps[middle], middle - 1
    return found
