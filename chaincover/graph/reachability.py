"""The loop body of Algorithm 2 (BuildPropKReachGraph): the graph of bounded distances for growing K."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from chaincover.graph.edges import EdgeSearch, Row, Told, enter
from chaincover.problem import Questions
from chaincover.weights import END, FINAL, INIT, Edge, ReachGraph
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
        self._rows: list[Row] | None = None
        self._unsatisfiable: dict[str, None] = {}
        self.depth = -1
        self._seconds = 0.0

    @property
    def complete(self) -> bool:
        """Whether no edge is left to ask for, at whatever distance."""
        return self._rows is not None and not any(row.pending for row in self._rows)

    @property
    def open_edges(self) -> int:
        """How many edges are left to ask for."""
        return sum(len(row.pending) for row in self._rows or ())

    def observe(self, upper: Mapping[Edge, int]) -> None:
        """Take note of distances that runs make: no edge is longer than that."""
        enter(self._upper, upper)

    def extend(self, to: int | None = None) -> None:
        """Ask for every open edge at all distances up to ``to`` (None: one more than before), which ``depth`` then is.

        LimitReached when the time is over: what was found until then stays, and the call can be repeated.
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
            goals=tuple(goal.name for goal in self._problem.goals),
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
        apart = source.length if self._problem.overlap == "forbid" else 0
        pending = {goal.name: apart for goal in left if goal.name != source.name}
        ends = source.name != INIT or not self._problem.goals
        if ends and self._problem.end == FINAL:
            pending[FINAL] = source.length
        row = Row(source.name, pending, dict(pending))
        if ends and self._problem.end == END:
            row.weights[END] = row.lower[END] = source.length
        return row
