"""Where runs from a source are after each number of steps.

A question whose formula speaks of nothing before the source's end is a matter of whether these states and those from
which the formula can be satisfied meet.
"""

from __future__ import annotations

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.every_run import EveryRun, Way
from bmc.explicit.paths import Check
from bmc.explicit.satisfied import Satisfied, satisfied
from bmc.explicit.vectors import Column
from bmc.formulas.unroll import shift, unframed
from bmc.system.transition import symbols_of

KEPT_BYTES = 500_000_000
"""Memory for what is known of formulas asked about before."""


def moved(formula: FNode, steps: int) -> tuple[FNode, int]:
    """``formula`` (framed) so much earlier that it speaks of step 0, and how much: by all ``steps`` if of none."""
    earlier = min((unframed(symbol)[1] for symbol in symbols_of(formula)), default=steps)
    return shift(formula, -earlier), earlier


class Reached:
    """The states that runs are in after each number of steps once ``source`` (framed) is satisfied."""

    def __init__(self, runs: EveryRun, source: FNode, span: int, most: int, check: Check) -> None:
        """``span``: the steps that ``source`` needs. TooManyNodes beyond ``most``; ``check`` may raise."""
        self._runs, self._span = runs, span
        self._source = satisfied(runs, [source], span, most, check)
        self._layers = [np.packbits(self._source.ends)]

    def after(self, steps: int, check: Check) -> Column:
        """Whether each state can be the one after ``steps``, which are at least ``span``."""
        while len(self._layers) <= steps - self._span:
            check()
            last = np.flatnonzero(self._unpacked(len(self._layers) - 1)).astype(np.int64)
            present = np.zeros(len(self._runs.graph.states), bool)
            present[self._runs.forward.ends[self._runs.forward.of(last)[0]]] = True
            self._layers.append(np.packbits(present))
        return self._unpacked(steps - self._span)

    def way(self, steps: int, state: int) -> Way:
        """A run from the source that is in ``state`` after ``steps``, which ``after`` told."""
        backward, choices = self._runs.backward, list[int]()
        assert backward.numbers is not None
        for place in range(steps - self._span, 0, -1):
            arrows = np.arange(backward.offsets[state], backward.offsets[state + 1])
            first = arrows[np.flatnonzero(self._unpacked(place - 1)[backward.ends[arrows]])[0]]
            choices.append(int(self._runs.graph.steps.choices[backward.numbers[first]]))
            state = int(backward.ends[first])
        found = self._source.way(end=state)
        assert found is not None
        return found[0], [*found[1], *reversed(choices)]

    def _unpacked(self, place: int) -> Column:
        return np.unpackbits(self._layers[place], count=len(self._runs.graph.states)).view(bool)


class Completions:
    """The runs that satisfy single formulas; those asked about last are kept, as many as fit."""

    def __init__(self, runs: EveryRun) -> None:
        self.runs = runs
        self._moved: dict[tuple[FNode, int], tuple[FNode, int]] = {}
        self._known: dict[tuple[FNode, int], Satisfied] = {}

    def moved(self, formula: FNode, steps: int) -> tuple[FNode, int]:
        """See ``moved``; found once for all sources."""
        key = (formula, steps)
        if key not in self._moved:
            self._moved[key] = moved(formula, steps)
        return self._moved[key]

    def of(self, formula: FNode, steps: int, most: int, check: Check) -> Satisfied:
        """The runs of ``steps`` steps; see ``satisfied``."""
        key = (formula, steps)
        found = self._known.pop(key, None) or satisfied(self.runs, [formula], steps, most, check)
        self._known[key] = found
        while len(self._known) > 1 and sum(known.size for known in self._known.values()) > KEPT_BYTES:
            del self._known[next(iter(self._known))]
        return found
