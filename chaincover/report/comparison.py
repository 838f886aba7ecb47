"""Orderings side by side: one K-reachability graph, each ordering's path on its closure, each path made a chain."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Status
from bmc.errors import LimitReached, UsageError
from chaincover.chain import Bounds, Plan
from chaincover.concretise.repair import concretise
from chaincover.graph.covering import CoveringGraph, covering_graph
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.orderings import choose as choose_ordering
from chaincover.orderings import missing_library
from chaincover.orderings.bound import order_bound
from chaincover.orderings.protocol import Limit, OrderingProblem, OrderingResult
from chaincover.problem import Problem, Questions
from chaincover.reductions.slicing import sliced_problem
from chaincover.replay.judge import Judge
from chaincover.report.documents import GOALS_NOT_COVERED, LIMIT
from chaincover.result import CALLED_OFF, INTERRUPT, TIME_LIMIT
from chaincover.weights import INIT, Edge, ReachGraph, exists_path, transitive_closure

NAMES = ("exact", "cpsat", "asp-usc", "asp-bb", "tsp", "local")
"""The orderings compared when none is named."""

LAST_SECONDS = 1.0
"""Seconds for the bound where the graph took all the time there was."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Row:
    """What one ordering gave: its path (None: it did not run), the length in steps of the chain along it, or None.

    ``order_bound`` of ``found`` bounds paths over this graph, not chains. ``chain_seconds`` is the time for inputs and
    repair. ``note`` says why something is missing; ``undecided``: because a limit was met.
    """

    ordering: str
    found: OrderingResult | None = None
    chain_length: int | None = None
    chain_seconds: float = 0.0
    note: str = ""
    undecided: bool = False


@dataclass(frozen=True)
class Comparison:
    """All rows, in the order of the names asked for; empty where ``found`` has no covering path.

    ``bounds`` holds the proved lower bound of every chain beside the shortest chain found. ``stopped_by`` is
    ``time limit`` (for the graph), ``interrupt``, ``terminated`` or ''.
    """

    found: CoveringGraph
    rows: tuple[Row, ...]
    bounds: Bounds
    stopped_by: str = ""

    @property
    def graph(self) -> ReachGraph:
        """The graph of the goals that something satisfies."""
        return self.found.graph.possible

    @property
    def exit_code(self) -> int:
        """130 or 143 called off, 5 a limit left graph, order or inputs open, 4 an ordering that ran gave no chain.

        Without a covering path 4 too, unless a limit was met or the solver gave up on edges of the graph: then 5.
        """
        if self.stopped_by:
            return CALLED_OFF.get(self.stopped_by, LIMIT)
        no_path = not self.rows and (self.graph.unknown or self.found.used_up)
        if no_path or any(row.undecided for row in self.rows):
            return LIMIT
        ran = [row for row in self.rows if row.found is not None]
        return 0 if ran and all(row.chain_length is not None for row in ran) else GOALS_NOT_COVERED

    def total_seconds(self, row: Row) -> float:
        """Graph, order and chain: what a run with this ordering alone takes."""
        return self.graph.seconds + (row.found.seconds if row.found else 0.0) + row.chain_seconds


def compare(problem: Problem, options: Options, names: Sequence[str], progress: Progress) -> Comparison:
    """Run the orderings ``names`` on one graph with a covering path, one after the other.

    Chains are concretised and repaired (Algorithm 4) but not shortened, so that they show the orders. The time limit of
    ``options`` holds for the graph, and again for each ordering with its chain. UsageError for an unknown name.
    """
    for name in names:
        choose_ordering(name)
    problem = sliced_problem(replace(problem, overlap=options.overlap)).problem
    found = covering_graph(problem, options, choose_engine(options.engine, options.memory_limit), progress)
    graph, stopped_by = found.graph.possible, found.stopped_by
    rows: list[Row] = []
    closed = transitive_closure(graph)
    if not stopped_by and graph.goals and exists_path(graph, closed) is not None:
        try:
            for row in _Rows(problem, options, graph, closed, progress).of(names):
                rows.append(row)
        except KeyboardInterrupt as error:
            stopped_by = str(error) or INTERRUPT
    shortest = min((row.chain_length for row in rows if row.chain_length is not None), default=None)
    bound = order_bound(graph, Limit(seconds=LAST_SECONDS if stopped_by else options.time_limit))
    return Comparison(found, tuple(rows), Bounds(bound.lower, shortest, bound.basis), stopped_by)


@dataclass(frozen=True)
class _Rows:
    """What the rows of one comparison share."""

    problem: Problem
    options: Options
    graph: ReachGraph
    closed: Mapping[Edge, int]
    progress: Progress

    def of(self, names: Sequence[str]) -> Iterator[Row]:
        """A row for each ordering."""
        problem = OrderingProblem(self.graph.goals, self.closed, INIT, self.graph.end)
        for name in names:
            library = missing_library(name)
            if library:
                yield Row(name, note=f"skipped: {library} is not installed")
                continue
            self.progress(f"compare: {name}")
            limits = Limits(self.options.time_limit, self.options.query_limit, self.options.effort)
            try:
                found = choose_ordering(name).solve(problem, Limit(self.options.time_limit))
            except UsageError as error:
                yield Row(name, note=f"skipped: {error.message}")
                continue
            yield self._with_chain(Row(name, found), limits)

    def _with_chain(self, row: Row, limits: Limits) -> Row:
        """``row`` with the chain along its path, or a note that says why there is none."""
        assert row.found is not None
        path = row.found.path
        if not path:
            return replace(row, note="no path found", undecided=not row.found.proved)
        engine = choose_engine(self.options.engine, self.options.memory_limit)
        questions = Questions(self.problem.of(self.graph.goals), engine, limits)
        begun = time.monotonic()
        length, note, undecided = None, "", False
        plan = Plan(path, tuple(self.closed[edge] for edge in pairwise(path)))
        most = max(self.graph.depth, *plan.gaps)
        try:
            plan, attempt = concretise(questions, plan, most, self.progress)
            chain = None if attempt.run is None else Judge(questions.problem).chain(attempt.run)
            if chain is not None:
                length = chain.length
            elif attempt.status is Status.UNKNOWN:
                note, undecided = "undecided: the solver gave up on the inputs", True
            else:
                note = f"no inputs along this order with edges up to {most} steps: {' -> '.join(attempt.failed)}"
        except LimitReached:
            note, undecided = TIME_LIMIT, True
        return Row(row.ordering, row.found, length, time.monotonic() - begun, note, undecided)
