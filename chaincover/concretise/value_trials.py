"""Other values for one variable of a run, tried by simulation: a run found that way costs no query to the solver."""

from __future__ import annotations

from collections.abc import Sequence

from pysmt.fnode import FNode

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import unframed
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, Valuation, conjunction, symbols_of

STEPS = 20_000
"""Simulated steps for all trials together."""


class Trials:
    """Runs of ``system`` that satisfy ``formulas`` (framed)."""

    def __init__(self, system: TransitionSystem, formulas: Sequence[FNode]) -> None:
        together = conjunction(formulas)
        self._system = system
        self._simulator = Simulator(system)
        self._holds = compile_formulas([together])
        self._read = [(s.symbol_name(), *unframed(s)) for s in symbols_of(together)]
        self._left = STEPS

    def run(self, run: Run, name: str, step: int | None, raw: int) -> Run | None:
        """``run`` with another start value (``step`` None), or input from ``step`` on for as long as inputs are held.

        None if a step is not allowed or a formula fails, or all trials are used up.
        """
        if step is None:
            return self._tried({**run.states[0], name: raw}, run.inputs)
        changed = range(step, step + self._system.hold)
        inputs = tuple({**own, name: raw} if k in changed else own for k, own in enumerate(run.inputs))
        return self._tried(run.states[0], inputs)

    def _tried(self, start: Valuation, inputs: Sequence[Valuation]) -> Run | None:
        if self._left <= 0:
            return None
        self._left -= max(len(inputs), 1)
        run = self._simulator.run(start, inputs)
        pairs = zip(run.states, run.inputs, strict=False)
        if not all(self._simulator.allowed(state, values) for state, values in pairs):
            return None
        places = ((name, plain, run.states[step], run.inputs[step : step + 1]) for name, plain, step in self._read)
        values = {name: state[plain] if plain in state else given[0][plain] for name, plain, state, given in places}
        return run if self._holds(values)[0] else None
