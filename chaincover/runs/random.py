"""What simulation alone tells: distances that certainly suffice, and a first chain, before a solver is asked.

Many random runs at once go on from where the chain has got to; the goal that one of them ends first comes next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bmc.explicit.batch import Batch, Runs, Watch, gaps
from bmc.explicit.vectors import Column
from bmc.system.transition import Run, Valuation
from chaincover.known import Board
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.weights import FINAL, INIT, Edge

WORK = 400_000_000
"""Operations on single values that all runs may take: a few seconds at most."""

PER_UNIT = 100_000_000
"""Operations on single values that take about a unit of work."""

PAIRS_PER_UNIT = 3_000_000_000
"""Pairs of goals, at one step of one run each, whose distance is looked at in about a unit of work."""

ROUNDS = ((128, 16), (128, 64), (256, 256))
"""Runs and their steps tried from one state until a goal is met."""

AROUND = (128, 24)
"""Runs and their steps from the end of each goal of the chain, for the distances between goals."""


def random_runs(board: Board) -> None:
    """A first chain by random runs, before any distance is asked for, and the distances that these runs show."""
    board.say("simulate: random runs, nearest goal first")
    distances = board.known.enumerated is None  # which give the exact ones
    simulated = RandomRuns(board.problem, board.limits, board.options.bound, distances)
    for run in simulated.runs():
        board.offer(run)
    for run in simulated.tests.values():
        board.offer(run)
    board.tell(observed={**board.known.observed, **simulated.upper})


class RandomRuns:
    """Runs from init through the goals of ``problem`` to its final condition; repeatable.

    ``within`` (None: no limit) is the most steps from the end of a goal to the start of the next, or to the final
    condition. Where ``distances`` are wanted, ``upper`` holds for each edge seen a number of steps in which a run makes
    it: no less than its weight. ``tests`` has for goals that runs from init met at once such a run.
    """

    def __init__(self, problem: Problem, limits: Limits, within: int | None = None, distances: bool = True) -> None:
        self._goals, self._final = problem.by_name, problem.final
        self._apart = problem.forbid
        self._limits, self._distances = limits, distances
        self._within = slice(None if within is None else within + 1)
        self._batch = Batch(problem.system, [goal.antecedent for goal in problem.goals])
        self._watch = Watch({goal.name: (goal.antecedent, goal.length) for goal in problem.targets})
        self._left = WORK
        self.upper: dict[Edge, int] = {}
        self.tests: dict[str, Run] = {}

    def runs(self) -> Iterator[Run]:
        """Runs from init: each goes on from the one before to the goal that is nearest, as far as random runs lead.

        A run that has met half of the goals that the one after it will have met is told too, with its way to the end,
        so that there is a first chain soon. ``upper`` tells what they saw. LimitReached when time is over.
        """
        start = self._batch.initial()
        state, inputs, left = start, list[Valuation](), dict.fromkeys(self._goals)
        after: dict[str, Valuation] = {}
        tell_at = 1
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
            if len(self._goals) - len(left) >= tell_at:
                tell_at = 2 * (len(self._goals) - len(left))
                yield from self._ended(start, state, inputs)
        if len(left) < len(self._goals) or not self._goals:
            yield from self._ended(start, state, inputs)
        if self._distances:
            self._look_around(after)

    def _ended(self, start: Valuation, state: Valuation, inputs: Sequence[Valuation]) -> Iterator[Run]:
        """The run by ``inputs``, to the end where there is a way, else as it is: its goals are seen all the same."""
        ending = self._to_end(state)
        yield self._batch.run(start, [*inputs, *(ending or [])])

    def _nearest(
        self, state: Valuation, names: Sequence[str], first: bool
    ) -> tuple[str, list[dict[str, int]], list[str]] | None:
        """The goal of ``names`` that is ended first, the inputs up to its end, and all that they cover."""
        for count, steps in ROUNDS:
            runs = self._drawn(state, count, steps)
            if runs is None:
                return None
            hits = self._watch.hits(runs)
            if self._distances:
                self._learn(hits, first)
            if first:
                self._keep_tests(runs, hits)
            found = min(
                ((place[0] + self._goals[n].length, order, place[1]) for order, n in enumerate(names)
                 if (place := _earliest(hits[n][self._within])) is not None),
                default=None,
            )  # fmt: skip
            if found is not None:
                end, order, number = found
                covered = [n for n in names if hits[n][: max(0, end - self._goals[n].length + 1), number].any()]
                return names[order], runs.run_inputs(number, end), covered
        return None

    def _keep_tests(self, runs: Runs, hits: Mapping[str, Column]) -> None:
        """The first run from init to the end of each goal that is met."""
        start = self._batch.initial()
        for name, goal in self._goals.items():
            place = _earliest(hits[name])
            if place is not None and name not in self.tests:
                step, number = place
                self.tests[name] = self._batch.run(start, runs.run_inputs(number, step + goal.length))

    def _to_end(self, state: Valuation) -> list[dict[str, int]] | None:
        """The inputs from ``state`` to the final condition."""
        if self._final is None:
            return []
        for count, steps in ROUNDS:
            runs = self._drawn(state, count, steps)
            place = None if runs is None else _earliest(self._watch.hits(runs)[FINAL][self._within])
            if runs is not None and place is not None:
                return runs.run_inputs(place[1], place[0])
        return None

    def _drawn(self, state: Valuation, count: int, steps: int) -> Runs | None:
        """Runs from ``state``; None when the work is used up. LimitReached when time is over."""
        count = min(count, self._left // (self._batch.nodes * steps + 1))
        if count < 1:
            return None
        self._left -= count * steps * self._batch.nodes
        self._limits.spend(count * steps * self._batch.nodes / PER_UNIT)
        return self._batch.draw(state, count, steps, self._limits.check)

    def _learn(self, hits: Mapping[str, Column], first: bool) -> None:
        """Note the distances that runs show; ``first``: they start in init."""
        cells = max((rows.size for rows in hits.values()), default=0)
        self._limits.spend(len(hits) ** 2 * cells / PAIRS_PER_UNIT)
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
            runs = self._drawn(state, *AROUND)
            if runs is None:
                return
            hits = self._watch.hits(runs)
            self._learn(hits, False)
            for other, rows in hits.items():
                place = _earliest(rows)
                if place is not None and other != name:
                    steps = self._goals[name].length + place[0]
                    self.upper[name, other] = min(steps, self.upper.get((name, other), steps))


def _earliest(rows: Column) -> tuple[int, int] | None:
    """The first step at which something holds, and the first number where it does."""
    steps = np.flatnonzero(rows.any(axis=1))
    return (int(steps[0]), int(np.argmax(rows[steps[0]]))) if len(steps) else None
