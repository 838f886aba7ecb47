"""What random runs may take: units of work, which are counted."""

from __future__ import annotations

from collections.abc import Callable

from bmc.evaluation.vectors import OVERHEAD, Columns
from bmc.explicit.batch import Batch, Runs
from bmc.system.transition import Valuation
from chaincover.limits import PER_STEP, PER_UNIT, Limits
from chaincover.runs.population import Population

WORK = 3.0
"""Units of work that all runs may take each time."""


CHOOSING = 300
"""Operations on columns that the choice of the runs that go on takes whatever the goals and variables are: they count
for the run as a whole, and not for what random runs may take. With twice as many, random runs of small programs have
turns of fewer steps."""

REST = 0.1
"""Units of work for a run by itself in which all inputs are at rest, and at most as many for those that leave it. With
twice as much, timers of twice as many steps are waited for, and a first chain with a final condition that is far comes
later."""


class Share:
    """Limits of a stage with ``part`` of the work of all others together; ``away`` is what these have had meanwhile."""

    def __init__(self, limits: Limits, part: float) -> None:
        self._limits, self._part, self.away = limits, part, 0.0

    def begin(self) -> None:
        """Let the turn under way last for a part of what others have had until then, the first time."""
        if not self.away:
            self.away = self._limits.spent
            self._limits.extend(self._part * self.away)

    def check(self) -> None:
        """Ask the limits whether to go on. After a pause the turn lasts for a part of what others have had."""
        before = self._limits.spent
        self._limits.check()
        away = self._limits.spent - before
        if away:
            self.away += away
            self._limits.extend(self._part * away)


class Budget:
    """Random runs of a batch, while there is work left; that of ``left`` units counts for ``limits`` too.

    ``check`` is called before each step.
    """

    def __init__(self, batch: Batch, limits: Limits, check: Callable[[], None]) -> None:
        self.batch, self._limits, self._check, self.left = batch, limits, check, WORK

    def spend(self, count: int, steps: int, more: int = 0) -> bool:
        """Count the work of so many runs and steps, and ``more`` operations; False if that is more than is left."""
        return self.take(self.work(count, steps, more))

    def take(self, work: float) -> bool:
        """Count so many units of work; False if that is more than is left."""
        if work > self.left:
            return False
        self.left -= work
        self._limits.spend(work)
        return True

    def work(self, count: int, steps: int, more: int = 0) -> float:
        """The units of work of so many runs and steps, and ``more`` operations."""
        return (steps * self.batch.cost(count) + more * (count + OVERHEAD)) / PER_UNIT.run_values

    def pairs(self, count: float) -> None:
        """Count the work of comparing so many pairs; it is done in any case."""
        self._limits.spend(count / PER_UNIT.pairs)

    def drawn(self, state: Valuation, count: int, steps: int) -> Runs | None:
        """Runs from ``state``; None when the work is used up. LimitReached when time is over."""
        return self.batch.draw(state, count, steps, self._check) if self.spend(count, steps) else None

    def drawn_from(self, starts: Columns, count: int, steps: int) -> Runs | None:
        """Runs from ``count`` states; None when the work is used up. LimitReached when time is over."""
        if not self.spend(count, steps):
            return None
        return self.batch.go_on(starts, self.batch.manner(count), steps, self._check)

    def rest(self, state: Valuation) -> Runs | None:
        """The run from ``state`` with inputs at rest; None when the work is used up."""
        if self.left < REST:
            return None
        each = (self.batch.nodes + PER_STEP) / PER_UNIT.simulated
        runs = self.batch.rest(state, int(REST / each))
        self.take(runs.steps * each)
        return runs

    def go_on(self, population: Population, steps: int, more: int, waiting: bool = False) -> Runs | None:
        """The next steps of a population; None when the work is used up. LimitReached when time is over.

        While it is ``waiting`` no input changes; in every second run all are at rest.
        """
        if not self.spend(len(population.alive), steps, more):
            return None
        self._limits.spend(self.work(len(population.alive), 0, CHOOSING))
        manner = population.manner.still() if waiting else population.manner
        return self.batch.go_on(population.states, manner, steps, self._check)
