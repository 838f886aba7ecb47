"""Ways to a goal that begin with all inputs at rest: what a timer brings about needs inputs that stay as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from bmc.engines.protocol import SEED
from bmc.evaluation.vectors import Column
from bmc.explicit.batch import EventFinder, Runs, earliest
from bmc.explicit.branch_distance import BranchDistance
from bmc.explicit.draws import Draws
from bmc.system.transition import Valuation
from chaincover.runs.budget import Budget
from chaincover.runs.population import CHOICE, WIDTH
from properties.goal import Goal

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
