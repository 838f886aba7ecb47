"""Tidy inputs: those of a chain made simpler one by one, by simulation alone, where canonical ones cannot be had.

Each keeps the value of the step before, or gets the simplest one, where the states of the run stay as they are, all
steps stay allowed and all goals are still covered where they are credited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bmc.engines.protocol import INSTRUCTION, WORK
from bmc.system.constraints import remembers
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, Valuation, symbols_of
from chaincover.chain import Chain, Hit
from chaincover.known import Known
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.replaying.judge import credited_with
from properties.monitor import Monitor


def tidy(known: Known, limits: Limits) -> Chain | None:
    """The best chain with simpler inputs; once ``limits`` are over, those of later steps are left as they are.

    A value stays where another one would change the states of the run, break a constraint or lose a goal. Takes two
    simulated steps for each input and step, and more for an input of which something is remembered for constraints:
    such a one changes for as long as it was the same.
    """
    chain, problem = known.chain, known.problem
    if chain is None:
        return None
    run, following = _Tidying(chain, problem, limits).run()
    judged = credited_with(chain.goals, problem, run)  # simpler inputs may cover a goal earlier, and so end earlier
    best = judged if judged is not None and judged.length <= chain.length and judged.goals >= chain.goals else chain
    return replace(best, as_found=following if following < best.length else None)


class _Tidying:
    """The run of one chain, whose inputs are changed in place."""

    def __init__(self, chain: Chain, problem: Problem, limits: Limits) -> None:
        self._system, self._limits = problem.system, limits
        self._simulator, self._monitor = Simulator(problem.system), Monitor(problem.of(chain.goals).goals)
        self._states, self._inputs = [*chain.run.states], [*chain.run.inputs]
        self._problem = problem
        self._reading: dict[int, list[Hit]] = {}
        for hit in chain.hits:
            self._reading.setdefault(hit.step, []).append(hit)
        memory = [var.next for var in problem.system.state if remembers(var.name)]
        self._tied = {symbol.symbol_name() for following in memory for symbol in symbols_of(following)}

    def run(self) -> tuple[Run, int]:
        """Simplify the inputs of one step after the other while the limits last; the run, and the step after those."""
        simplest = [(var.name, var.plainest) for var in self._system.inputs]
        step, end = 0, len(self._inputs)
        while step < end and not self._limits.over:
            for name, value in simplest:
                self._simplify(step, name, value)
            step += 1
        return Run(tuple(self._states), tuple(self._inputs)), step

    def _simplify(self, step: int, name: str, simplest: int) -> None:
        """Give an input a simpler value at ``step``, if it can have one: that of the step before, or the simplest."""
        own = self._inputs[step][name]
        before = [self._inputs[step - 1][name]] if step else []
        for value in (*before, simplest):
            if value == own or self._changed(step, name, value):
                return

    def _changed(self, step: int, name: str, value: int) -> bool:
        """Whether an input could be given another ``value`` at ``step``, and has it now."""
        steps = self._same_from(step, name) if name in self._tied else range(step, step + 1)
        inputs = [{**self._inputs[k], name: value} for k in steps]
        states = self._states_under(inputs, steps)
        if states is None:
            return False
        first = steps.start + 1
        old_states, old_inputs = self._states[first : first + len(states)], self._inputs[steps.start : steps.stop]
        self._states[first : first + len(states)], self._inputs[steps.start : steps.stop] = states, inputs
        if self._still_covered(steps):
            return True
        self._states[first : first + len(states)], self._inputs[steps.start : steps.stop] = old_states, old_inputs
        return False

    def _same_from(self, step: int, name: str) -> range:
        """The steps from ``step`` on in which an input has the same value."""
        value = self._inputs[step][name]
        ends = (k for k in range(step, len(self._inputs)) if self._inputs[k][name] != value)
        return range(step, next(ends, len(self._inputs)))

    def _states_under(self, inputs: Sequence[Valuation], steps: range) -> list[Valuation] | None:
        """The states after ``steps`` with these ``inputs``, and on until they are those of the run; None if a step is
        not allowed or changes the state.

        What is remembered for constraints may change, until it is the same again.
        """
        state, states = self._states[steps.start], list[Valuation]()
        for k in range(steps.start, len(self._inputs)):
            given = inputs[k - steps.start] if k < steps.stop else self._inputs[k]
            self._limits.spend(self._simulator.size * INSTRUCTION / WORK)
            if not self._simulator.allowed(state, given):
                return None
            state = self._simulator.step(state, given)
            states.append(state)
            if state == self._states[k + 1]:
                if k + 1 >= steps.stop:
                    break
            elif any(value != self._states[k + 1][name] for name, value in state.items() if not remembers(name)):
                return None
        return states

    def _still_covered(self, steps: range) -> bool:
        """Whether the goals that read any of ``steps`` are covered where they are credited."""
        read = (hit for step in steps for hit in self._reading.get(step, ()))
        return all(self._monitor.holds(self._part(hit), hit.goal, 0) for hit in read)

    def _part(self, hit: Hit) -> Run:
        """The step in which a goal is covered, or the state."""
        end = self._problem.over(hit.goal, hit.step)
        return Run(tuple(self._states[hit.step : end + 1]), tuple(self._inputs[hit.step : end]))
