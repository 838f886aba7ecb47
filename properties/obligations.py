"""Progress of goals along a run: which antecedents have begun and what of each is still to come.

An obligation is a goal that began some steps ago, with the residual of its antecedent. Sets of obligations and sets of
goals are bit masks. What an antecedent reads of a state or an input is summed up in a class, a number: states of one
class look alike to every goal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from bmc.system.transition import Valuation
from properties.goal import Goal
from properties.progression import FALSE, Residuals, Values


@dataclass(frozen=True, slots=True)
class Obligation:
    """Goal number ``goal``; slots below ``slot`` were read (two per step), ``residual`` is left."""

    goal: int
    slot: int
    residual: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """On arrival in a state: the obligations ``pending`` after it and the goals ``completed`` there, as bit masks."""

    pending: int
    completed: int


def bits(mask: int) -> Iterator[int]:
    """The places of the ones of ``mask``, rising."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Obligations:
    """Advances sets of obligations; every answer is remembered."""

    def __init__(self, goals: Sequence[Goal], input_names: Collection[str]) -> None:
        self.goals = tuple(goals)
        self.of_goal = [0] * len(goals)  # all obligations of a goal that have come up, as a bit mask
        self.obligations: list[Obligation] = []
        self._numbers: dict[Obligation, int] = {}
        self._residuals = Residuals(input_names)
        self._starts = [self._residuals.of(goal.antecedent) for goal in goals]
        self._classes: tuple[dict[Values, int], dict[Values, int]] = ({}, {})
        self._values: tuple[list[Values], list[Values]] = ([], [])
        self._goals_of: dict[int, int] = {}
        self._fresh: dict[int, Arrival] = {}
        self._single: dict[tuple[int, int, int], Arrival] = {}
        self._arrivals: dict[tuple[int, int, int], Arrival] = {}

    def state_class(self, state: Valuation) -> int:
        return self._class(0, self._residuals.states.values(state))

    def input_class(self, inputs: Valuation) -> int:
        return self._class(1, self._residuals.inputs.values(inputs))

    def remaining(self, obligation: int) -> int:
        """Steps until ``obligation`` completes, if it does."""
        it = self.obligations[obligation]
        return self.goals[it.goal].length - self.age(obligation)

    def age(self, obligation: int) -> int:
        """Steps since ``obligation`` began."""
        return (self.obligations[obligation].slot - 1) // 2

    def of(self, goals: int) -> int:
        """All obligations of ``goals`` that have come up."""
        return sum(self.of_goal[goal] for goal in bits(goals))

    def goals_of(self, pending: int) -> int:
        """The goals of the obligations ``pending``."""
        if pending not in self._goals_of:
            goals = 0
            for obligation in bits(pending):
                goals |= 1 << self.obligations[obligation].goal
            self._goals_of[pending] = goals
        return self._goals_of[pending]

    def fresh(self, state_class: int) -> Arrival:
        """The goals that begin in a state."""
        if state_class not in self._fresh:
            arrivals = [self._read(goal, 0, start, state_class) for goal, start in enumerate(self._starts)]
            self._fresh[state_class] = _union(arrivals)
        return self._fresh[state_class]

    def advance(self, pending: int, input_class: int, state_class: int) -> Arrival:
        """After a step with an input of ``input_class`` to a state of ``state_class``; with the goals that begin."""
        key = (pending, input_class, state_class)
        if key not in self._arrivals:
            arrivals = [self.advance_one(o, input_class, state_class) for o in bits(pending)]
            self._arrivals[key] = _union([*arrivals, self.fresh(state_class)])
        return self._arrivals[key]

    def advance_one(self, obligation: int, input_class: int, state_class: int) -> Arrival:
        """As ``advance`` for one obligation, without the goals that begin."""
        key = (obligation, input_class, state_class)
        if key not in self._single:
            it = self.obligations[obligation]
            residual = self._residuals.read(it.residual, it.slot, self._values[1][input_class])
            self._single[key] = self._read(it.goal, it.slot + 1, residual, state_class)
        return self._single[key]

    def _class(self, kind: int, values: Values) -> int:
        classes, known = self._classes[kind], self._values[kind]
        if values not in classes:
            classes[values] = len(known)
            known.append(values)
        return classes[values]

    def _read(self, goal: int, slot: int, residual: int, state_class: int) -> Arrival:
        """Read the state at ``slot``."""
        residual = self._residuals.read(residual, slot, self._values[0][state_class])
        if residual == FALSE:
            return Arrival(0, 0)
        if slot == 2 * self.goals[goal].length:
            return Arrival(0, 1 << goal)
        return Arrival(1 << self._obligation(Obligation(goal, slot + 1, residual)), 0)

    def _obligation(self, it: Obligation) -> int:
        if it not in self._numbers:
            self._numbers[it] = len(self.obligations)
            self.obligations.append(it)
            self.of_goal[it.goal] |= 1 << self._numbers[it]
        return self._numbers[it]


def _union(arrivals: Sequence[Arrival]) -> Arrival:
    pending = completed = 0
    for arrival in arrivals:
        pending |= arrival.pending
        completed |= arrival.completed
    return Arrival(pending, completed)
