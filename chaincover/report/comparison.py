"""Orderings side by side: one K-reachability graph, each ordering's path on its closure, each path made a chain."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pysmt.fnode import FNode

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Status
from bmc.errors import LimitReached, UsageError
from bmc.system.transition import TransitionSystem
from chaincover.limits import Limits
from chaincover.chain import Bounds
from chaincover.chain import Plan
from chaincover.questions import Questions
from chaincover.concretise.repair import concretise
from chaincover.graph.explored import strengthened
from chaincover.graph.grow import grow
from chaincover.minimality.direct_bound import lower_bound
from chaincover.orderings import choose as choose_ordering
from chaincover.orderings import missing_library
from chaincover.orderings.protocol import Limit, OrderingProblem, OrderingResult
from chaincover.pipeline import INTERRUPT, LAST_SECONDS, LISTING, TIME_LIMIT, Options, within
from chaincover.reductions.slicing import sliced
from chaincover.replay.simulated import Checker
from chaincover.weights import INIT, ReachGraph, exists_path, transitive_closure
from properties.goal import Goal

NAMES = ("exact", "cpsat", "asp-usc", "asp-bb", "tsp", "local")
"""The orderings compared when none is named."""

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
    """All rows, in the order of the names asked for; empty where ``graph`` has no covering path.

    ``bounds`` holds the proved lower bound of every chain beside the shortest chain found. ``stopped_by`` is
    ``time limit`` (for the graph), ``interrupt`` or ''.
    """

    graph: ReachGraph
    rows: tuple[Row, ...]
    bounds: Bounds
    stopped_by: str

    @property
    def exit_code(self) -> int:
        """130 interrupted, 5 a limit left the graph, an order or its inputs open, 4 an ordering that ran gave no chain.

        Without a covering path 4 too, unless the solver gave up on edges of the graph: then 5.
        """
        if self.stopped_by:
            return 130 if self.stopped_by == INTERRUPT else 5
        if any(row.undecided for row in self.rows) or (not self.rows and self.graph.unknown):
            return 5
        ran = [row for row in self.rows if row.found is not None]
        return 0 if ran and all(row.chain_length is not None for row in ran) else 4

    def total_seconds(self, row: Row) -> float:
        """Graph, order and chain: what a run with this ordering alone takes."""
        return self.graph.seconds + (row.found.seconds if row.found else 0.0) + row.chain_seconds


def compare(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options,
    names: Sequence[str],
    progress: Progress,
) -> Comparison:
    """Run the orderings ``names`` on the graph at the smallest K with a covering path, one after the other.

    Chains are concretised and repaired (Algorithm 4) but not shortened, so that they show the orders. The time limit of
    ``options`` holds for the graph, and again for each ordering with its chain. UsageError for an unknown name.
    """
    for name in names:
        choose_ordering(name)
    budget = Limits(options.time_limit)
    part = sliced(system, goals, final)
    system = strengthened(part, goals, final, options.explore, budget.share(LISTING).check)
    graph, stopped_by = grow(system, goals, final, within(options, budget), progress)
    graph = graph.possible
    rows: list[Row] = []
    if not stopped_by and graph.goals:
        try:
            for row in _rows(system, goals, final, options, names, graph, progress):
                rows.append(row)
        except KeyboardInterrupt:
            stopped_by = INTERRUPT
    shortest = min((row.chain_length for row in rows if row.chain_length is not None), default=None)
    limit = Limit(seconds=LAST_SECONDS if stopped_by else options.time_limit)
    return Comparison(graph, tuple(rows), lower_bound(graph, shortest, limit), stopped_by)


def _rows(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options,
    names: Sequence[str],
    graph: ReachGraph,
    progress: Progress,
) -> Iterator[Row]:
    closed = transitive_closure(graph)
    if exists_path(graph, closed) is None:
        return
    problem = OrderingProblem(graph.goals, closed, INIT, graph.end)
    checker = Checker(system, goals, final)
    for name in names:
        library = missing_library(name)
        if library:
            yield Row(name, note=f"skipped: {library} is not installed")
            continue
        progress(f"compare: {name}")
        budget = Limits(options.time_limit, options.query_limit)
        try:
            found = choose_ordering(name).solve(problem, Limit(options.time_limit))
        except UsageError as error:
            yield Row(name, note=f"skipped: {error.message}")
            continue
        engine = choose_engine(options.engine, options.memory_limit)
        questions = Questions(system, goals, final, engine, budget)
        yield _chain(questions, checker, Row(name, found), closed, options, progress)


def _chain(
    questions: Questions,
    checker: Checker,
    row: Row,
    closed: dict[tuple[str, str], int],
    options: Options,
    progress: Progress,
) -> Row:
    """``row`` with the chain along its path, or a note that says why there is none."""
    assert row.found is not None
    path = row.found.path
    if not path:
        return replace(row, note="no path found", undecided=not row.found.proved)
    begun = time.monotonic()
    length, note, undecided = None, "", False
    most = options.slack(questions.problem.system.hold)
    try:
        plan = Plan(path, tuple(closed[edge] for edge in pairwise(path)))
        plan, attempt = concretise(questions, plan, most, progress)
        if attempt.run is not None:
            length = checker.chain(plan, attempt.run).length
        elif attempt.status is Status.UNKNOWN:
            note, undecided = "undecided: the solver gave up on the inputs", True
        else:
            note = f"no inputs along this order with edges up to {most} steps: {' -> '.join(attempt.failed)}"
    except LimitReached:
        note, undecided = TIME_LIMIT, True
    return Row(row.ordering, row.found, length, time.monotonic() - begun, note, undecided)
