"""Ways to a goal that begin with all inputs at rest: what a timer brings about needs inputs that stay as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from bmc.explicit.batch import Runs, Watch, earliest
from bmc.explicit.branch_distance import BranchDistance
from bmc.explicit.draws import Draws
from bmc.system.transition import Valuation
from chaincover.runs.budget import Budget
from chaincover.runs.population import CHOICE, SEED
from properties.goal import Goal

ASIDE = (128, 16)
"""Runs, and their steps besides those of a goal, from where a run at rest is nearest to it. With twice as many runs,
goals that ask more of their inputs are met, and fewer places are tried for the same work."""


class Resting:
    """Ways to ``goals``, by a run of a batch with all inputs at rest, and by random runs that leave it on its way.

    ``distance`` tells how far states are from where each of ``goals`` begins, in their order.
    """

    def __init__(self, goals: Mapping[str, Goal], budget: Budget, watch: Watch, distance: BranchDistance) -> None:
        self._goals, self._budget, self._watch, self._distance = goals, budget, watch, distance
        self._random = Draws(SEED)

    def way(self, state: Valuation, missing: Collection[str]) -> list[dict[str, int]] | None:
        """The inputs from ``state`` to the end of one of the goals ``missing``; None where none were found.

        First comes the run at rest itself. Then it is left where it is nearest to each of the goals, or at one of
        these places, drawn at random.
        """
        rest = self._budget.rest(state)
        if rest is None:
            return None
        hits = self._watch.hits(rest)
        ends = [at[0] + self._goals[name].length for name in missing if (at := earliest(hits[name])) is not None]
        if ends:
            return rest.run_inputs(0, min(ends))
        for name, place in self._nearest(rest, missing).items():
            count, steps = ASIDE
            start = {variable: int(values[place, 0]) for variable, values in rest.states.items()}
            runs = self._budget.drawn(start, count, steps + self._goals[name].length)
            if runs is None:
                return None
            found = earliest(self._watch.hits(runs)[name])
            if found is not None:
                step, number = found
                return [*rest.run_inputs(0, place), *runs.run_inputs(number, step + self._goals[name].length)]
        return None

    def _nearest(self, rest: Runs, missing: Collection[str]) -> dict[str, int]:
        """For each of the goals ``missing`` the step at which ``rest`` is nearest to where it begins."""
        count = rest.steps + 1
        if not self._budget.spend(count, 0, CHOICE * (len(self._goals) + len(rest.states))):
            return {}
        columns = {f"{name}@0": values[:, 0] for name, values in rest.states.items()}
        found = {}
        for name, far in zip(self._goals, self._distance(columns, count), strict=True):
            if name in missing:
                places = np.flatnonzero(far == far.min())
                found[name] = int(places[int(self._random.below(len(places), 1)[0])])
        return found
