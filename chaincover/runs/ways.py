"""Ways from a state to the final condition and to a goal, by random runs and by one in which all inputs are at rest.

What a timer brings about needs inputs that stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from bmc.engines.protocol import SEED
from bmc.evaluation.vectors import Column
from bmc.explicit.batch import EventFinder, Runs, earliest
from bmc.explicit.branch_distance import BranchDistance, ModeGraph
from bmc.explicit.draws import Draws
from bmc.system.transition import Valuation
from chaincover.problem import Problem
from chaincover.runs.budget import Budget
from chaincover.runs.population import CHANGED, CHOICE, SHOWN, STRIDE, WIDTH, rivals, started
from chaincover.weights import FINAL
from properties.goal import Goal

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


ASIDE = 16
"""Steps, besides those of a goal, that runs go on from where they leave one at rest. With twice as many, goals that ask
for more are met, and half as many places are tried for the same work."""


class Resting:
    """Ways to ``goals``, by a run of a batch with all inputs at rest, and by random runs that leave it on its way.

    ``distance`` tells how far states are from where each of ``goals`` begins, in their order.
    """

    def __init__(
        self, goals: Mapping[str, Goal], budget: Budget, events: EventFinder, distance: BranchDistance
    ) -> None:
        self._goals, self._budget, self._events, self._distance = goals, budget, events, distance
        self._random = Draws(SEED)

    def way(self, state: Valuation, missing: Collection[str]) -> list[dict[str, int]] | None:
        """The inputs from ``state`` to the end of one of the goals ``missing``; None where none were found, or no work
        is left.

        First comes the run at rest itself. Then random runs leave it: half of them where it is nearest to one of the
        goals, the others anywhere, again and again until they took as much work as the run.
        """
        before = self._budget.left
        rest = self._budget.rest(state)
        if rest is None:
            return None
        if met := self._met(rest, missing):
            return rest.run_inputs(0, met[0])
        steps = ASIDE + any(self._goals[name].takes_step for name in missing)
        enough, nearest = 2 * self._budget.left - before, self._nearest(rest, missing)
        while nearest and self._budget.left > enough:
            places, goals = self._random.below(rest.steps + 1, WIDTH), self._random.below(len(nearest), WIDTH)
            for number in range(0, WIDTH, 2):
                near = nearest[goals[number]]
                places[number] = near[places[number] % len(near)]
            starts = {name: values[places, 0] for name, values in rest.states.items()}
            runs = self._budget.drawn_from(starts, WIDTH, steps)
            if runs is None:
                return None
            if met := self._met(runs, missing):
                return [*rest.run_inputs(0, int(places[met[1]])), *runs.run_inputs(met[1], met[0])]
        return None

    def _met(self, runs: Runs, names: Collection[str]) -> tuple[int, int] | None:
        """The step at which ``runs`` meet one of the goals ``names`` first, at its end, and the run that does."""
        hits = self._events.hits(runs)
        return min(filter(None, (earliest(hits[name]) for name in names)), default=None)

    def _nearest(self, rest: Runs, missing: Collection[str]) -> list[Column]:
        """For each of the goals ``missing`` the steps at which ``rest`` is nearest to where it begins."""
        count = rest.steps + 1
        if not self._budget.spend(count, 0, CHOICE * (len(self._goals) + len(rest.states))):
            return []
        columns = {f"{name}@0": values[:, 0] for name, values in rest.states.items()}
        far = dict(zip(self._goals, self._distance(columns, count), strict=True))
        return [np.flatnonzero(far[name] == far[name].min()) for name in missing]
