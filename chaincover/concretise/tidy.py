"""Tidy inputs: those of a run made simpler one by one, by simulation alone, where canonical ones cannot be had.

Each keeps the value of the step before, or gets the plainest one, or a constant that it is compared with, where all
steps stay allowed and all goals are still covered where they are credited. Of a chain the states stay as they are. Of
a run that shows a finding, which ends with one goal, and of a chain whose search was stopped, they may become others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.engines.protocol import INSTRUCTION, WORK
from bmc.floats.format import FORMATS, number, pattern
from bmc.floats.values import constants_in
from bmc.formulas.evaluate import compile_formulas, post_order
from bmc.formulas.folding import raw_value
from bmc.formulas.terms import is_constant
from bmc.formulas.unroll import unframed
from bmc.system.constraints import remembers
from bmc.system.simulation import Simulator
from bmc.system.ties import tied_values, ties
from bmc.system.transition import InputVariable, Run, Valuation, symbols_of
from chaincover.chain import Chain, Hit
from chaincover.known import Known
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.replaying.judge import credited_with
from properties.monitor import Monitor


def tidy(known: Known, limits: Limits, freely: bool = False) -> Chain | None:
    """The best chain with simpler inputs; once ``limits`` are over, those of later steps are left as they are.

    A value stays where another one would change the states of the run, break a constraint or lose a goal. Takes two
    simulated steps for each input and step, and more for an input of which something is remembered for constraints:
    such a one changes for as long as it was the same. ``freely``: what is left of the limits is for simpler inputs with
    other states.
    """
    chain, problem = known.chain, known.problem
    if chain is None:
        return None
    run, following = _Tidying(chain, problem, limits).run()
    if freely:
        run = _Freely(problem.of(chain.goals), run, chain.hits, limits).run()
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
        self._constants = telling_constants(problem)
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
        """Give an input a simpler value at ``step``, if it can have one: that of the step before, the simplest one, or
        a constant."""
        own = self._inputs[step][name]
        before = [self._inputs[step - 1][name]] if step else []
        for value in (*before, simplest, *self._constants[name]):
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


def tidy_finding(problem: Problem, run: Run, limits: Limits) -> Run:
    """``run`` with simpler inputs, which ends with the one goal of ``problem`` as before.

    Whatever else the run does may change: so each change of an input that is left is one without which the goal is not
    covered there. Once ``limits`` are over, inputs are left as they are then.
    """
    goal = problem.names[0]
    return _Freely(problem, run, [Hit(goal, run.length - problem.over(goal, 0), None)], limits).run()


_Part = tuple[InputVariable, int, int]
"""An input from one step up to another one."""


class _Freely:
    """A run whose inputs are changed in place, for as many steps at a time as can have one value; the states follow,
    and the goals of ``hits`` stay covered where they are, as does the end."""

    def __init__(self, problem: Problem, run: Run, hits: Sequence[Hit], limits: Limits) -> None:
        self._limits, self._ends = limits, [(hit, problem.over(hit.goal, hit.step)) for hit in hits]
        self._system, self._simulator = problem.system, Simulator(problem.system)
        self._monitor, self._constants = Monitor(problem.goals), telling_constants(problem)
        self._final = compile_formulas([TRUE() if problem.final is None else problem.final])
        self._states, self._inputs = [*run.states], [*run.inputs]
        self._tied = tied_values(ties(problem.system))

    def run(self) -> Run:
        """The run with simpler inputs: first those of all steps at a time, then those from one change to the next,
        until nothing more can be made simpler. To begin with all steps again would cost several times as much and
        leave as many changes."""
        parts = [(var, 0, len(self._inputs)) for var in self._system.inputs if self._inputs]
        while self._settle(parts):
            parts = [*self._unchanging()]
        return Run(tuple(self._states), tuple(self._inputs))

    def _unchanging(self) -> Iterator[_Part]:
        """The parts of the run in which an input stays."""
        for var in self._system.inputs:
            first = 0
            for _, steps in groupby(inputs[var.name] for inputs in self._inputs):
                end = first + len([*steps])
                yield var, first, end
                first = end

    def _settle(self, parts: Sequence[_Part]) -> bool:
        """Give an input one value in each of ``parts``, else one in each half of it, and so on, while the limits last;
        whether one was changed."""
        changed, left = False, deque(parts)
        while left and not self._limits.over:
            var, first, end = left.popleft()
            own = {self._inputs[step][var.name] for step in range(first, end)}
            before = [self._inputs[first - 1][var.name]] if first else []
            single = self._constants[var.name] if end - first == 1 else ()
            for value in dict.fromkeys((*before, var.plainest, *single)):
                if own == {value}:
                    break
                if self._changed(var.name, value, first, end):
                    changed = True
                    break
            else:
                middle = (first + end) // 2
                left.extend([(var, first, middle), (var, middle, end)] if end - first > 1 else [])
        return changed

    def _changed(self, name: str, value: int, first: int, end: int) -> bool:
        """Whether an input can have ``value`` in these steps, where the inputs that are tied to the state follow it; it
        has it now."""
        states, inputs = list[Valuation](), list[Valuation]()
        for step in range(first, len(self._inputs)):
            state, own = self._states[step], self._inputs[step]
            given = {**own, **({name: value} if step < end else {}), **self._tied(state)}
            self._limits.spend(self._simulator.size * INSTRUCTION / WORK)
            if not self._simulator.allowed(state, given) or self._limits.over:
                break
            inputs.append(own)
            states.append(self._states[step + 1])
            self._inputs[step], self._states[step + 1] = given, self._simulator.step(state, given)
            whole = step + 1 >= end and self._states[step + 1] == states[-1]
            if not self._covered(step + 1, whole):
                break
            if whole or step + 1 == len(self._inputs):
                if self._inputs[first : step + 1] != inputs:
                    return True
                break
        self._inputs[first : first + len(inputs)], self._states[first + 1 : first + 1 + len(states)] = inputs, states
        return False

    def _covered(self, step: int, whole: bool) -> bool:
        """Whether the goals are covered that end with the state of ``step``, where all is ``whole`` from there on those
        that read it, and whether a run that ends there may."""
        for hit, end in self._ends:
            if end == step or (whole and hit.step < step < end):
                part = Run(tuple(self._states[hit.step : end + 1]), tuple(self._inputs[hit.step : end]))
                if not self._monitor.holds(part, hit.goal, 0):
                    return False
        return step < len(self._inputs) or bool(self._final(self._states[step])[0])


def telling_constants(problem: Problem) -> Mapping[str, Sequence[int]]:
    """For each input of ``problem`` raw values that the system or a goal may tell from others, in the order in which
    they are tried: the constants that it is compared with, those beside them, and the ends of its ranges."""
    system = problem.system
    goals = [goal.antecedent for goal in problem.goals]
    steps = [*(var.next for var in system.state), system.input_constraint]
    compared: dict[str, set[int]] = {var.name: set() for var in system.inputs}
    found = [(symbol.symbol_name(), value) for symbol, value in _comparisons(steps)]
    for name, value in (*found, *((unframed(symbol)[0], value) for symbol, value in _comparisons(goals))):
        if name in compared:
            compared[name].add(value)
    floating = {
        bits: {number(raw, FORMATS[bits]) for raw in constants_in([*goals, *steps], FORMATS[bits])}
        for bits in {var.type.bits for var in system.inputs if var.type.floating}
    }
    return {
        var.name: _floating(var, floating[var.type.bits]) if var.type.floating else _whole(var, compared[var.name])
        for var in system.inputs
    }


def _comparisons(formulas: Sequence[FNode]) -> Iterator[tuple[FNode, int]]:
    """The symbols in ``formulas`` that are compared with a constant, each with that, as a raw value."""
    for node in post_order(formulas):
        if node.node_type() in op.RELATIONS and any(map(is_constant, node.args())):
            for term, other in (node.args(), node.args()[::-1]):
                while term.node_type() in (op.BV_ZEXT, op.BV_SEXT):
                    term = term.arg(0)
                if term.is_symbol() and is_constant(other):
                    yield term, raw_value(other)


def _whole(var: InputVariable, compared: Set[int]) -> Sequence[int]:
    size, ends = 1 << max(var.type.bits, 1), [end for ends in var.allowed for end in ends]
    constants = compared - {end % size for end in ends}  # what says which values are allowed is no constant of a step
    beside = [(by != 0, var.type.value((raw + by) % size)) for raw in constants for by in (-1, 0, 1)]
    values = [value for _, value in sorted(beside, key=lambda each: (each[0], each[1] < 0, abs(each[1])))]
    values = [value for value in values if any(low <= value <= high for low, high in var.allowed)]
    return [*dict.fromkeys(value % size for value in (*values, *ends))]


def _floating(var: InputVariable, constants: Set[float]) -> Sequence[int]:
    tried = [(by != 0, value + by < 0, abs(value + by), value + by) for value in constants for by in (-1.0, 0.0, 1.0)]
    patterns = [pattern(value, FORMATS[var.type.bits]) for *_, value in sorted(tried)]
    return [raw for raw in dict.fromkeys(patterns) if any(low <= raw <= high for low, high in var.allowed)]
