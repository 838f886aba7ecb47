"""What simulation alone tells: distances that certainly suffice, and a first chain, before a solver is asked.

Many random runs at once go on from where the chain has got to; the goal that one of them ends first comes next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.batch import Batch, Lanes, Watch, gaps
from bmc.explicit.vectors import Column
from bmc.formulas.unroll import at
from bmc.system.run import Run
from bmc.system.transition import TransitionSystem, Valuation
from chaincover.budget import Budget
from chaincover.concretise.any_order import AnyOrder
from chaincover.weights import FINAL, INIT, Edge
from properties.goal import Goal

WORK = 400_000_000
"""Operations on single values that all runs may take: a few seconds at most."""

ROUNDS = ((128, 16), (128, 64), (256, 256))
"""Runs and their steps tried from one state until a goal is met."""

AROUND = (128, 24)
"""Runs and their steps from the end of each goal of the chain, for the distances between goals."""


class Simulated:
    """Runs from init through ``goals`` to ``final`` (over plain symbols; None: anywhere); repeatable.

    ``limit`` (None: none) is the most steps from the end of a goal to the start of the next, or to the final condition.
    ``upper`` holds for each edge seen a number of steps in which a run makes it: no less than its weight.
    """

    def __init__(
        self,
        system: TransitionSystem,
        goals: Sequence[Goal],
        final: FNode | None,
        overlap: str,
        budget: Budget,
        limit: int | None = None,
    ) -> None:
        self._goals = {goal.name: goal for goal in goals}
        self._final = final
        self._apart = overlap == "forbid"
        self._any_order = AnyOrder(self._goals, overlap)
        self._budget = budget
        self._within = slice(None if limit is None else limit + 1)
        self._batch = Batch(system, [goal.antecedent for goal in goals])
        formulas = {goal.name: (goal.antecedent, goal.length) for goal in goals}
        if final is not None:
            formulas[FINAL] = (at(final, 0), 0)
        self._watch = Watch(formulas)
        self._left = WORK
        self.upper: dict[Edge, int] = {}

    def chain(self) -> tuple[Run, dict[str, int]] | None:
        """A run from init through the goals to the end, with the step credited to each, in order.

        It goes through as many as random runs lead to; None where that is none, or they find no way to the end.
        ``upper`` tells what they saw. LimitReached when time is over.
        """
        start = self._batch.initial()
        state, inputs, left = start, list[Valuation](), dict.fromkeys(self._goals)
        after: dict[str, Valuation] = {}
        while left:
            piece = self._nearest(state, list(left), not inputs)
            if piece is None:
                break
            name, steps, covered = piece
            inputs += steps
            state = self._batch.run(state, steps).states[-1]
            after[name] = state
            for done in [name] if self._apart else [name, *covered]:
                left.pop(done, None)
        ending = self._to_end(state) if len(left) < len(self._goals) else None
        self._look_around(after)
        if ending is None:
            return None
        run = self._batch.run(start, [*inputs, *ending])
        return run, self._any_order.credited(run, [name for name in self._goals if name not in left])

    def _nearest(
        self, state: Valuation, names: Sequence[str], first: bool
    ) -> tuple[str, list[dict[str, int]], list[str]] | None:
        """The goal of ``names`` that is ended first, the inputs up to its end, and all that they cover."""
        for count, steps in ROUNDS:
            lanes = self._lanes(state, count, steps)
            if lanes is None:
                return None
            hits = self._watch.hits(lanes)
            self._learn(hits, first)
            found = min(
                ((place[0] + self._goals[n].length, order, place[1]) for order, n in enumerate(names)
                 if (place := _earliest(hits[n][self._within])) is not None),
                default=None,
            )  # fmt: skip
            if found is not None:
                end, order, lane = found
                covered = [n for n in names if hits[n][: max(0, end - self._goals[n].length + 1), lane].any()]
                return names[order], lanes.run_inputs(lane, end), covered
        return None

    def _to_end(self, state: Valuation) -> list[dict[str, int]] | None:
        """The inputs from ``state`` to the final condition."""
        if self._final is None:
            return []
        for count, steps in ROUNDS:
            lanes = self._lanes(state, count, steps)
            place = None if lanes is None else _earliest(self._watch.hits(lanes)[FINAL][self._within])
            if lanes is not None and place is not None:
                return lanes.run_inputs(place[1], place[0])
        return None

    def _lanes(self, state: Valuation, count: int, steps: int) -> Lanes | None:
        """Runs from ``state``; None when the work is used up. LimitReached when time is over."""
        count = min(count, self._left // (self._batch.nodes * steps + 1))
        if count < 1:
            return None
        self._left -= count * steps * self._batch.nodes
        return self._batch.lanes(state, count, steps, self._budget.check)

    def _learn(self, hits: Mapping[str, Column], first: bool) -> None:
        """Note the distances that runs show; ``first``: they start in init."""
        least = {name: goal.length if self._apart else 0 for name, goal in self._goals.items()}
        seen = gaps(hits, least, self._goals)
        if first:
            seen |= {(INIT, name): place[0] for name in self._goals if (place := _earliest(hits[name])) is not None}
        if self._final is not None:
            seen |= gaps(hits, {name: goal.length for name, goal in self._goals.items()}, [FINAL])
        for edge, steps in seen.items():
            self.upper[edge] = min(steps, self.upper.get(edge, steps))

    def _look_around(self, after: Mapping[str, Valuation]) -> None:
        """Distances from goals to whatever comes next: ``after`` are states at the end of goals."""
        for name, state in after.items():
            lanes = self._lanes(state, *AROUND)
            if lanes is None:
                return
            hits = self._watch.hits(lanes)
            self._learn(hits, False)
            for other, rows in hits.items():
                place = _earliest(rows)
                if place is not None and other != name:
                    steps = self._goals[name].length + place[0]
                    self.upper[name, other] = min(steps, self.upper.get((name, other), steps))


def _earliest(rows: Column) -> tuple[int, int] | None:
    """The first step at which something holds, and the first lane where it does."""
    steps = np.flatnonzero(rows.any(axis=1))
    return (int(steps[0]), int(np.argmax(rows[steps[0]]))) if len(steps) else None
