"""Algorithm 2 (BuildPropKReachGraph) by queries: the graph of bounded distances for growing K, and how fast K grows.

``GraphBuilder`` is the loop body. ``grow`` is the stage that lets K grow for a chain; ``covering_graph`` gives the
graph by itself, exact or up to the smallest K with a covering path.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from bmc import ending
from bmc.ending import INTERRUPT
from bmc.engines.protocol import Engine
from bmc.errors import LimitReached, counted
from bmc.records import dataclass
from chaincover.chain import UNREACHABLE
from chaincover.facts import TARGETS
from chaincover.graph.edges import EdgeSearch, Row, Told, enter
from chaincover.graph.enumerated import enumerate_states, exact_graph
from chaincover.known import Board, Known, Reason
from chaincover.limits import HALF, Limits
from chaincover.options import Options
from chaincover.problem import Problem, Questions
from chaincover.replaying.judge import Judge
from chaincover.result import Silent
from chaincover.stages import await_news, pause
from chaincover.weights import END, FINAL, INIT, Edge, ReachGraph, exists_path, transitive_closure
from properties.goal import Goal


class GraphBuilder:
    """Builds the K-reachability graph for growing K: call ``extend`` until ``graph`` shows what is wanted.

    ``most`` is the largest weight ever asked (None: no limit). ``told`` gets each run from init that is
    found. InputRefused if two goals have one name, or a goal has the name of an end node.
    """

    def __init__(self, questions: Questions, most: int | None = None, told: Told = lambda run: None) -> None:
        questions.problem.check_names()
        self._limits, self._most = questions.limits, most
        self._problem = questions.problem
        self._search = EdgeSearch(questions, told)
        self._upper: dict[Edge, int] = {}
        self._observed: dict[Edge, int] = {}
        self._rows: list[Row] | None = None
        self._unsatisfiable: dict[str, None] = {}
        self.depth = -1
        self._seconds = 0.0

    @property
    def goals(self) -> tuple[str, ...]:
        """The names of the goals, which are nodes of the graph."""
        return self._problem.names

    @property
    def complete(self) -> bool:
        """Whether no edge is left to ask for, at whatever distance."""
        return self._rows is not None and not any(row.pending for row in self._rows)

    @property
    def over(self) -> bool:
        """Whether no edge is left to ask for, or K may not grow."""
        return self.complete or (self._most is not None and self.depth >= self._most)

    @property
    def following(self) -> int:
        """The next K: faster and faster, but not beyond where runs show a covering path.

        What ``observe`` was told and the weights tell how K grows, not what else the queries showed: that depends on
        what was asked before.
        """
        to = max(self.depth + 1, int(self.depth * GROWTH))
        shown = shown_depth(replace(self.graph(), upper=self._observed).possible)
        if shown is not None and shown > self.depth:
            to = min(to, shown)
        return to if self._most is None else min(to, self._most)

    @property
    def open_edges(self) -> int:
        """How many edges are left to ask for."""
        return sum(len(row.pending) for row in self._rows or ())

    def observe(self, upper: Mapping[Edge, int]) -> None:
        """Take note of distances that runs make: no edge is longer than that."""
        self._observed.update(upper)
        enter(self._upper, upper)

    def extend(self, to: int | None = None) -> None:
        """One round of Algorithm 2's loop: let K grow to ``to`` (None: by one), and decide all edges up to that K.

        Afterwards each edge has its weight, or is proved to take more than K steps, or the solver gave up on it; K is
        ``depth``, and ``graph()`` has it all. The first call also finds out which goals nothing satisfies. LimitReached
        when the time is over: what was decided until then stays, and the call can be repeated.
        """
        begun = time.monotonic()
        to = self.depth + 1 if to is None else max(to, self.depth + 1)
        try:
            if self._rows is None:
                self._rows = self._first_rows()
            self._search.ask_all(self._rows, self._upper, to if self._most is None else min(to, self._most))
            self.depth = to
        finally:
            self._seconds += time.monotonic() - begun

    def graph(self) -> ReachGraph:
        """What is known so far."""
        rows = self._rows or ()
        return ReachGraph(
            goals=self.goals,
            end=self._problem.end,
            weights={(row.source, target): steps for row in rows for target, steps in row.weights.items()},
            lower={(row.source, target): steps for row in rows for target, steps in row.lower.items()},
            unknown=tuple((row.source, target) for row in rows for target in row.unknown),
            unsatisfiable=tuple(self._unsatisfiable),
            depth=self.depth,
            queries=self._search.queries,
            seconds=self._seconds,
            upper=dict(self._upper),
        )

    def _first_rows(self) -> list[Row]:
        """A row per source. Goals that nothing satisfies are dropped, as sources and as targets."""
        met = {b for _, b in self._upper}
        open_ones = [goal.name for goal in self._problem.goals if goal.name not in met]
        self._unsatisfiable = dict.fromkeys(self._search.unsatisfiable(open_ones))
        left = [goal for goal in self._problem.goals if goal.name not in self._unsatisfiable]
        return [self._row(goal, left) for goal in (self._problem.start, *left)]

    def _row(self, source: Goal, left: Sequence[Goal]) -> Row:
        """E_target of ``source``: the other goals, and the end unless other goals must come between."""
        pending = {goal.name: 0 for goal in left if goal.name != source.name}
        ends = source.name != INIT or not self._problem.goals
        if ends and self._problem.end == FINAL:
            pending[FINAL] = source.over(0)
        row = Row(source.name, pending, dict(pending))
        if ends and self._problem.end == END:
            row.weights[END] = row.lower[END] = source.over(0)
        return row


GROWTH = 1.5
"""K grows by this factor: each K is one query more per source, and a query about all distances up to it is harder."""

NEVER = Reason(UNREACHABLE, "no state and inputs satisfy it together with the constraints and the proved invariants")
"""Why a goal is unreachable that no step of any run can begin with."""


def grow(board: Board) -> None:
    """Let K grow until no edge is left to ask for, K may not grow, or the states are searched after all.

    Goals that nothing satisfies are ruled out. The graph is that of all goals not implied by others when it begins.
    Where goals come to it, it begins anew.
    """
    builder: GraphBuilder | None = None
    while not _exact(board):
        if builder is None or not {*board.known.targets} <= {*builder.goals}:
            builder = GraphBuilder(board.questions, board.options.bound, board.offer)
        builder.observe(board.known.observed)
        following = builder.following
        board.say(f"graph: edges of up to {counted(following, 'step')}")
        try:
            builder.extend(following)
        finally:
            if not _exact(board):
                board.tell(graph=builder.graph())
        whole = builder.graph()
        graph = whole.possible
        board.say(f"graph: K = {graph.depth}, {len(graph.weights)} of {len(graph.lower)} edges")
        never = [name for name in whole.unsatisfiable if name in board.known.targets]
        if never:
            board.rule_out(dict.fromkeys(never, NEVER))
        if builder.over:
            goals = {*builder.goals}
            while {*board.known.targets} <= goals:
                await_news(board, TARGETS, board.known.targets)
        else:
            pause()


def _exact(board: Board) -> bool:
    """Whether there is no use in questions: the graph is exact, or comes from the enumerated states."""
    return board.known.enumerated is not None or board.known.graph.exact


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


@dataclass(frozen=True)
class CoveringGraph:
    """``graph`` has a covering path, unless there is none, or a limit was met before it was found.

    ``stopped_by`` is ``time limit``, ``interrupt``, ``terminated`` or ''. ``used_up``: the effort was used up first.
    """

    graph: ReachGraph
    stopped_by: str = ""
    used_up: bool = False


def covering_graph(problem: Problem, options: Options, engine: Engine, tell: Callable[[str], None]) -> CoveringGraph:
    """Algorithm 2 for growing K, or exactly from the enumerated states where these can be enumerated."""
    limits = Limits(options.time_limit, options.query_limit, options.effort)
    limits.watch(engine)
    board = Board(Known(problem), options, engine, limits, Silent(tell), Judge(problem))
    builder: GraphBuilder | None = None
    stopped_by = ""
    try:
        with ending.interruptible():
            if _enumerated(board):
                exact_graph(board)
                return CoveringGraph(board.known.graph)
            builder = GraphBuilder(board.questions, options.bound)
            while not (limits.used_up or builder.over or _covers(builder.graph())):
                builder.extend()
                tell(f"graph: K = {builder.depth}")
    except LimitReached as error:
        stopped_by = error.limit
    except KeyboardInterrupt as error:
        stopped_by = str(error) or INTERRUPT
    graph = board.known.graph if builder is None else builder.graph()
    used_up = limits.used_up and not _covers(graph)
    return CoveringGraph(replace(graph, goals=problem.names, end=problem.end), stopped_by, used_up)


def _covers(graph: ReachGraph) -> bool:
    """Whether there is a covering path."""
    possible = graph.possible
    return graph.depth >= 0 and exists_path(possible, transitive_closure(possible)) is not None


def _enumerated(board: Board) -> bool:
    """Enumerate the reachable states in a part of what may be spent; whether that could be done."""
    limits = board.limits
    part = limits.share(HALF)
    with suppress(LimitReached):
        trial = replace(board, limits=part)
        enumerate_states(trial)
        board.known = trial.known
    limits.check()
    return board.known.enumerated is not None
