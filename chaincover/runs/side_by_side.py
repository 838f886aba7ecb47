"""Steps of known runs, taken from other states and in other orders: many such ways are followed side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bmc.evaluation.vectors import OVERHEAD, Column, column, word
from bmc.explicit.batch import NEVER, Batch, EventFinder
from bmc.records import dataclass
from bmc.system.transition import Run, Valuation
from chaincover.limits import PER_UNIT, Limits
from chaincover.problem import Problem
from chaincover.weights import FINAL

STEPS = 32
"""Steps after which ways that have ended are followed no further. With twice as many, half as many are followed in
vain."""

LEAST = 100
"""Programs of fewer operations are left to numpy, and to a step of others counts what so many operations take in it."""

LOOKING = 3
"""Operations on columns that it takes to look for a goal in steps, and to take an input of them."""

Way = Column
"""Steps by their numbers, one after the other."""


class Start(NamedTuple):
    """A state, and which goals were ``covered`` on the way to it."""

    state: Valuation
    covered: Column


@dataclass(frozen=True)
class Met:
    """``first``: for each goal and way the steps until it is covered first, or ``NEVER``. Where that was for one that
    was not covered before, ``columns`` and ``steps`` tell the way and the steps, and ``states`` the state then."""

    first: Column
    columns: Column
    steps: Column
    states: Mapping[str, Column]

    def end(self, place: int) -> Start:
        """Where the way of ``columns`` and ``steps`` at ``place`` leads."""
        state = {name: int(values[place]) for name, values in self.states.items()}
        return Start(state, self.first[:, self.columns[place]] <= self.steps[place])

    def at(self, way: int, steps: int) -> Start | None:
        """Where so many steps of the way of that number lead; None where it covers nothing new just then."""
        places = np.flatnonzero((self.columns == way) & (self.steps == steps))
        return self.end(int(places[0])) if len(places) else None


class SideBySide:
    """The steps of runs of ``problem``, by number, and what ways of them cover.

    The final condition is the last goal, where there is one: it counts once all others are covered.
    """

    def __init__(self, problem: Problem, limits: Limits, check: Callable[[], None]) -> None:
        self._limits, self._check, self._system = limits, check, problem.system
        self.goals = problem.targets
        self._batch = Batch(problem.system, least=LEAST)
        self._events = EventFinder({goal.name: (goal.antecedent, goal.takes_step) for goal in self.goals})
        self._inputs = {var.name: np.zeros(0, word(var.type.bits)) for var in problem.system.inputs}
        self._states = {var.name: np.zeros(0, np.float32) for var in problem.system.state}
        self._count = 0

    def note(self, run: Run) -> Way:
        """Note the steps of ``run``, and the states before them; its way."""
        begin, self._count = self._count, self._count + run.length
        for held, parts in ((self._inputs, run.inputs), (self._states, run.states[:-1])):
            for name, values in held.items():
                more = np.array([part[name] for part in parts], object).astype(values.dtype)
                held[name] = np.concatenate([values, more])
        return np.arange(begin, self._count)

    def before(self, way: Way) -> dict[str, Column]:
        """The states before the steps of ``way``, as they were noted."""
        return {name: values[way] for name, values in self._states.items()}

    def apart(self, way: Way, states: Mapping[str, Column]) -> Column:
        """How far the variables of each of ``states`` are from those before the steps of ``way``, by (state, step):
        the sum of the logarithms."""
        found = np.zeros((len(next(iter(states.values()))), len(way)), np.float32)
        for name, values in self._states.items():
            found += np.log2(1 + np.abs(values[way][None, :] - states[name].astype(np.float32)[:, None]))
        self._limits.spend(LOOKING * found.size * len(self._states) / PER_UNIT.run_values)
        return found

    def run(self, start: Start, way: Way) -> Run:
        """The run from ``start`` by ``way``."""
        self._limits.spend(len(way) * self._batch.cost(1) / PER_UNIT.run_values)
        inputs = {name: values[way][:, None] for name, values in self._inputs.items()}
        runs = self._batch.follow(self._batch.repeated(start.state, 1), inputs, self._check)
        return self._batch.run(start.state, runs.run_inputs(0, runs.steps))

    def follow(self, starts: Sequence[Start], ways: Sequence[Way], needed: Column, rivals: Column | None = None) -> Met:
        """What each of ``ways`` covers from its start.

        It ends with the last step that is allowed, and where all goals are covered that are ``needed``, an array of
        (goal, way); also where that is so for another one that has the same number among its ``rivals``.
        """
        first = np.where(np.stack([start.covered for start in starts], axis=1), 0, NEVER)
        lengths = np.array([len(way) for way in ways])
        at, step = np.flatnonzero(lengths), 0
        states = {
            var.name: column([starts[n].state[var.name] for n in at.tolist()], var.type.bits)
            for var in self._system.state
        }
        found: list[tuple[Column, Column, dict[str, Column]]] = []
        while len(at):
            block = min(STEPS, int(lengths[at].max()) - step)
            self._limits.spend(self._work(block, len(at)))
            runs = self._batch.follow(states, self._taken(ways, at, step, block), self._check)
            last = np.minimum(runs.valid, lengths[at] - step)
            columns, steps = self._credit(self._events.hits(runs), first, at, (step, last))
            rows = steps - step, np.searchsorted(at, columns)
            found.append((columns, steps, {name: values[rows] for name, values in runs.states.items()}))
            step += block
            over = ((first[:, at] < NEVER) | ~needed[:, at]).all(axis=0)
            if rivals is not None:
                over |= np.isin(rivals[at], rivals[at[over]])
            kept = np.flatnonzero((last == block) & (lengths[at] > step) & ~over)
            at, states = at[kept], {name: values[-1][kept] for name, values in runs.states.items()}
        columns, steps = (np.concatenate([np.zeros(0, np.int64), *(part[n] for part in found)]) for n in (0, 1))
        names = [*found[0][2]] if found else []
        return Met(first, columns, steps, {name: np.concatenate([part[2][name] for part in found]) for name in names})

    def _taken(self, ways: Sequence[Way], at: Column, step: int, block: int) -> dict[str, Column]:
        """The inputs of a block of steps of the ways ``at``, by (step, way); any where a way has ended."""
        numbers = np.zeros((len(at), block), np.int64)
        for row, own in zip(numbers, at.tolist(), strict=True):
            part = ways[own][step : step + block]
            row[: len(part)] = part
        return {name: values[numbers.T] for name, values in self._inputs.items()}

    def _credit(
        self, hits: Mapping[str, Column], first: Column, at: Column, steps: tuple[int, Column]
    ) -> tuple[Column, Column]:
        """Write into ``first`` what the ways ``at`` cover, of whose ``steps`` the first one and how many of them count
        are given; the ways that cover something new, and when."""
        step, last = steps
        fresh = [np.zeros((2, 0), np.int64)]
        for place, goal in enumerate(self.goals):
            rows = hits[goal.name]
            numbers = np.arange(len(rows))[:, None]
            rows = rows & (numbers <= last)
            if goal.name == FINAL:
                rows &= step + numbers >= first[:-1, at].max(axis=0, initial=0)
            met = np.flatnonzero(rows.any(axis=0) & (first[place, at] == NEVER))
            first[place, at[met]] = step + rows[:, met].argmax(axis=0)
            fresh.append(np.stack([at[met], first[place, at[met]]]))
        columns, when = np.unique(np.concatenate(fresh, axis=1), axis=1)
        return columns, when

    def _work(self, steps: int, count: int) -> float:
        """The units of work that so many steps of so many ways take."""
        looking = LOOKING * (len(self.goals) + len(self._inputs)) * (steps * count + OVERHEAD)
        return (steps * self._batch.cost(count) + looking) / PER_UNIT.run_values
