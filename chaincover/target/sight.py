"""What formulas are on a run that was observed: true, false, or not known; of a whole run every value is certain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Protocol

from pysmt.fnode import FNode

from bmc.formulas.evaluate import MOST_COMPILED, compile_formulas
from bmc.formulas.unroll import unframed
from bmc.records import dataclass
from bmc.system.transition import Run, TransitionSystem, symbols_of
from properties.goal import Goal
from properties.monitor import Monitor


@dataclass(frozen=True, slots=True)
class Doubt:
    """A value that is not certain: of ``variable`` in the state after ``step`` steps (an input: in that step).

    ``unseen``: the variable was never observed; else tolerance, jitter or a gap leaves several values. ``variable`` is
    '' where the bench was late in that step.
    """

    variable: str
    step: int
    unseen: bool = False


@dataclass(frozen=True, slots=True)
class Covered:
    """The ``steps`` at which a run covers a goal, those at which that is ``uncertain``, and what is in doubt there."""

    steps: Sequence[int]
    uncertain: Collection[int] = ()
    doubts: Sequence[Doubt] = ()


class Sight(Protocol):
    """A run as it was observed. Formulas are over framed symbols ``x@j``: the value of x after j more steps."""

    length: int
    """Number of steps."""

    late: frozenset[int]
    """The steps that the bench began too late: how long anything took in them is not known."""

    def value(self, formula: FNode, step: int) -> bool | None:
        """Whether ``formula`` holds from ``step`` on; None where that is not certain."""

    def doubts(self, formulas: Iterable[FNode], step: int) -> list[Doubt]:
        """The values in doubt on which ``formulas`` depend where they are read from ``step`` on."""

    def covered(self, goals: Sequence[Goal]) -> dict[str, Covered]:
        """Where the run covers each of ``goals``."""


class WholeRun:
    """A run of ``system`` of which every value is certain."""

    def __init__(self, system: TransitionSystem, run: Run) -> None:
        self.length, self.late, self._run = run.length, frozenset[int](), run
        self._inputs = {var.name for var in system.inputs}

    def value(self, formula: FNode, step: int) -> bool:
        """See ``Sight``."""
        states, inputs, known = self._run.states, self._run.inputs, self._inputs
        places = places_of(formula)
        read = {key: (inputs if name in known else states)[step + at][name] for key, name, at in places}
        return bool(compile_formulas([formula])(read)[0])

    def doubts(self, formulas: Iterable[FNode], step: int) -> list[Doubt]:
        """See ``Sight``."""
        return []

    def covered(self, goals: Sequence[Goal]) -> dict[str, Covered]:
        """See ``Sight``."""
        return {name: Covered(steps) for name, steps in Monitor(goals).covered(self._run).items()}


@lru_cache(maxsize=MOST_COMPILED)
def places_of(formula: FNode) -> tuple[tuple[str, str, int], ...]:
    """The symbols of a framed formula: each with its variable and the step at which it is read."""
    return tuple((symbol.symbol_name(), *unframed(symbol)) for symbol in symbols_of(formula))
