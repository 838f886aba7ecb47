"""The loop body of Algorithm 2 (BuildPropKReachGraph): the graph of bounded distances for growing K."""

from __future__ import annotations

import time
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from chaincover.graph.edges import EdgeSearch, Row, Told, enter
from chaincover.questions import Questions
from chaincover.weights import END, FINAL, INIT, Edge, ReachGraph
from properties.goal import Goal


@dataclass(frozen=True)
class Level:
    """What is known when K is ``depth``: ``pending`` has each edge's next distance to ask, ``upper`` what is seen."""

    depth: int
    weights: Mapping[Edge, int]
    lower: Mapping[Edge, int]
    pending: Mapping[Edge, int]
    upper: Mapping[Edge, int]
    unknown: tuple[Edge, ...]
    unsatisfiable: tuple[str, ...]


class GraphBuilder:
    """Builds the K-reachability graph for growing K: call ``extend`` until ``graph`` shows what is wanted.

    ``most`` is the largest weight ever asked (None: no limit). ``levels`` are those that an earlier builder of the same
    graph went through: they are taken over without a query, for as long as the same K are asked for. ``told`` gets each
    run from init that is found. InputRefused if two goals have one name, or a goal has the name of an end node.
    """

    def __init__(
        self, questions: Questions, most: int | None = None, levels: Sequence[Level] = (), told: Told = lambda run: None
    ) -> None:
        questions.problem.check_names()
        self.levels = list(levels)
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
            before = [level for level in self.levels if level.depth <= self.depth]
            kept = self.levels[len(before)] if len(before) < len(self.levels) else None
            if kept is not None and kept.depth == to:
                self._take_over(kept)
                self.depth = to
            else:
                if self._rows is None:
                    self._rows = self._first_rows()
                self._search.ask_all(self._rows, self._upper, to if self._most is None else min(to, self._most))
                self.depth = to
                self.levels = [*before, self._level()]
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

    def _level(self) -> Level:
        rows = self._rows or ()
        return Level(
            depth=self.depth,
            weights=_BySource({row.source: dict(row.weights) for row in rows}),
            lower=_BySource({row.source: dict(row.lower) for row in rows}),
            pending=_BySource({row.source: dict(row.pending) for row in rows}),
            upper=dict(self._upper),
            unknown=tuple((row.source, target) for row in rows for target in row.unknown),
            unsatisfiable=tuple(self._unsatisfiable),
        )

    def _take_over(self, level: Level) -> None:
        """Go on from ``level``, as if everything up to it had been asked."""
        self._unsatisfiable = dict.fromkeys(level.unsatisfiable)
        self.observe(level.upper)
        names = [INIT, *(g.name for g in self._problem.goals if g.name not in self._unsatisfiable)]
        self._rows = [
            Row(
                name,
                pending=_of(name, level.pending),
                lower=_of(name, level.lower),
                weights=_of(name, level.weights),
                unknown={b: None for a, b in level.unknown if a == name},
            )
            for name in names
        ]

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


class _BySource(Mapping[Edge, int]):
    """Numbers of edges, given by source and target; few levels are ever looked at."""

    def __init__(self, rows: Mapping[str, Mapping[str, int]]) -> None:
        self._rows = rows

    @cached_property
    def _edges(self) -> dict[Edge, int]:
        return {(source, target): steps for source, row in self._rows.items() for target, steps in row.items()}

    def __getitem__(self, edge: Edge) -> int:
        return self._edges[edge]

    def __iter__(self) -> Iterator[Edge]:
        return iter(self._edges)

    def __len__(self) -> int:
        return len(self._edges)

    def items(self) -> ItemsView[Edge, int]:
        return self._edges.items()


def _of(source: str, edges: Mapping[Edge, int]) -> dict[str, int]:
    """The edges from ``source``, by target."""
    return {b: steps for (a, b), steps in edges.items() if a == source}
