"""Ways from a state to the final condition, by random runs and by one in which all inputs are at rest."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bmc.engines.protocol import SEED
from bmc.explicit.batch import EventFinder, earliest
from bmc.explicit.branch_distance import BranchDistance, ModeGraph
from bmc.explicit.draws import Draws
from bmc.system.transition import Valuation
from chaincover.problem import Problem
from chaincover.runs.budget import Budget
from chaincover.runs.population import CHANGED, CHOICE, SHOWN, STRIDE, rivals, started
from chaincover.weights import FINAL

ENDINGS = ((128, 16), (128, 64), (256, 256))
"""Runs and their steps tried from one state until the final condition is met."""


class Endings:
    """Ways to the final condition of ``problem``; ``within`` (None: no limit) is the most steps of one.

    ``modes`` are the steps between modes that runs have shown, to which those made here are added.
    """

    def __init__(
        self, problem: Problem, budget: Budget, events: EventFinder, modes: ModeGraph, within: int | None
    ) -> None:
        self._budget, self._events, self._modes, self._within = budget, events, modes, within
        self._random = Draws(SEED)
        told = {f"{var.name}@0": var.name for var in problem.system.state}
        self._final = [goal.antecedent for goal in problem.targets if goal.name == FINAL]
        self._distance = BranchDistance(self._final, told, modes)

    def find(self, state: Valuation, steps: int) -> list[dict[str, int]] | None:
        """The inputs from ``state`` to the final condition; None where none were found.

        First come runs of few steps, then one with inputs at rest, longer runs, runs from where that one has led, and
        last runs that approach the condition for ``steps`` steps.
        """
        if not self._final:
            return []
        few, many = ENDINGS[:-1], ENDINGS[-1:]
        if self._within is not None:
            return self._drawn(state, ENDINGS)
        if (ending := self._drawn(state, few)) is not None:
            return ending
        if (rest := self._budget.rest(state)) is None:
            return None
        if (place := earliest(self._events.hits(rest)[FINAL])) is not None:
            return rest.run_inputs(0, place[0])
        if (ending := self._drawn(state, many)) is not None:
            return ending
        rested = {name: int(values[-1, 0]) for name, values in rest.states.items()}
        if (ending := self._drawn(rested, few)) is not None:
            return [*rest.run_inputs(0, rest.steps), *ending]
        return self._approach(state, steps)

    def _drawn(self, state: Valuation, tries: Iterable[tuple[int, int]]) -> list[dict[str, int]] | None:
        """The inputs from ``state`` to the final condition by one of so many runs of so many steps."""
        last = None if self._within is None else self._within + 1
        for count, steps in tries:
            runs = self._budget.drawn(state, count, steps)
            place = None if runs is None else earliest(self._events.hits(runs)[FINAL][:last])
            if runs is not None and place is not None:
                return runs.run_inputs(place[1], place[0])
        return None

    def _approach(self, state: Valuation, steps: int) -> list[dict[str, int]] | None:
        """The inputs from ``state`` to the final condition, by runs of which those that are nearer to it go on."""
        population = started(self._budget.batch, state, 1)
        choice = CHOICE * (1 + len(population.states))
        for _ in range(0, steps, STRIDE):
            runs = self._budget.go_on(population, STRIDE, choice)
            if runs is None:
                return None
            for name, values in runs.states.items():
                self._modes.learn(name, values[:, :SHOWN])
            place = earliest(self._events.hits(population.add(runs, 0))[FINAL])
            if place is not None:
                population.ends[0, place[1]] = population.steps - STRIDE + place[0]
                return population.inputs(place[1])
            alive = np.flatnonzero(population.alive)
            if not len(alive):
                return None
            columns = {f"{name}@0": values[alive] for name, values in population.states.items()}
            (far,) = self._distance(columns, len(alive))
            population.select(alive[rivals(population, self._random, alive, -far)])
            population.manner = self._budget.batch.changed(population.manner, CHANGED)
        return None
