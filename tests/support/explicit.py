"""A plain explicit-state reference for weights and shortest chains: all states, all inputs, breadth first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from pysmt.fnode import FNode

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, unframed
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, symbols_of
from properties.goal import Goal

State = tuple[int, ...]
Input = tuple[int, ...]


class Explicit:
    """``starts`` limits the states in which a weight's run may begin (None: all states)."""

    def __init__(self, system: TransitionSystem) -> None:
        self.simulator = Simulator(system)
        self.state_names = [var.name for var in system.state]
        self.input_names = [var.name for var in system.inputs]
        self.states = list(product(*(range(var.type.greatest + 1) for var in system.state)))
        self.inputs = list(product(*(range(var.type.greatest + 1) for var in system.inputs)))
        self.init: State = tuple(self.simulator.initial()[name] for name in self.state_names)
        self.steps: dict[State, list[tuple[Input, State]]] = {s: list(self._steps(s)) for s in self.states}
        self._tests: dict[FNode, object] = {}

    def _steps(self, state: State) -> Iterator[tuple[Input, State]]:
        here = dict(zip(self.state_names, state, strict=True))
        for values in self.inputs:
            given = dict(zip(self.input_names, values, strict=True))
            if self.simulator.allowed(here, given):
                after = self.simulator.step(here, given)
                yield values, tuple(after[name] for name in self.state_names)

    def reachable(self) -> list[State]:
        seen, todo = {self.init}, [self.init]
        while todo:
            for _, after in self.steps[todo.pop()]:
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return sorted(seen)

    def holds(self, formula: FNode, states: Sequence[State], inputs: Sequence[Input]) -> bool:
        """Whether a framed formula holds from the first of ``states`` on."""
        if formula not in self._tests:
            self._tests[formula] = compile_formulas([formula])
        values = {}
        for symbol in symbols_of(formula):
            name, step = unframed(symbol)
            if name in self.state_names:
                values[symbol.symbol_name()] = states[step][self.state_names.index(name)]
            else:
                values[symbol.symbol_name()] = inputs[step][self.input_names.index(name)]
        return bool(self._tests[formula](values)[0])

    def runs(self, start: State, length: int) -> Iterator[tuple[list[State], list[Input]]]:
        """All runs of ``length`` steps."""
        if length == 0:
            yield [start], []
            return
        for states, inputs in self.runs(start, length - 1):
            for values, after in self.steps[states[-1]]:
                yield [*states, after], [*inputs, values]

    def triggers(self, goal: Goal) -> set[State]:
        """The states in which ``goal`` can start."""
        return {s for s in self.states if any(self.holds(goal.antecedent, *run) for run in self.runs(s, goal.length))}

    def weight(self, a: Goal, b: Goal, starts: Sequence[State], bound: int, least: int = 0) -> int | None:
        """w(a, b) between ``least`` and ``bound``, None if there is none."""
        for distance in range(least, min(a.length, bound + 1)):
            horizon = max(a.length, distance + b.length)
            for start in starts:
                for states, inputs in self.runs(start, horizon):
                    if self.holds(a.antecedent, states, inputs) and self.holds(
                        b.antecedent, states[distance:], inputs[distance:]
                    ):
                        return distance
        goal_states = self.triggers(b)
        ends = {
            states[-1]
            for start in starts
            for states, inputs in self.runs(start, a.length)
            if self.holds(a.antecedent, states, inputs)
        }
        for distance in range(a.length, bound + 1):
            if distance >= least and ends & goal_states:
                return distance
            ends = {after for state in ends for _, after in self.steps[state]}
        return None

    def least_chain(self, goals: Sequence[Goal], final: FNode | None, bound: int) -> int | None:
        """Length of the shortest run from init that covers all goals and ends in ``final``; None above ``bound``."""
        window = max((goal.length for goal in goals), default=0)

        def covered(states: tuple[State, ...], inputs: tuple[Input, ...], before: frozenset[str]) -> frozenset[str]:
            fresh = [
                goal.name
                for goal in goals
                if goal.length <= len(inputs)
                and self.holds(
                    goal.antecedent,
                    states[len(inputs) - goal.length :],
                    inputs[len(inputs) - goal.length :],
                )
            ]
            return before | frozenset(fresh)

        def over(states: tuple[State, ...], done: frozenset[str]) -> bool:
            return len(done) == len(goals) and (final is None or self.holds(at(final, 0), states[-1:], []))

        first = ((self.init,), (), covered((self.init,), (), frozenset()))
        seen, layer = {first}, [first]
        for length in range(bound + 1):
            if any(over(states, done) for states, _, done in layer):
                return length
            following = []
            for states, inputs, done in layer:
                for values, after in self.steps[states[-1]]:
                    more = ((*states, after), (*inputs, values))
                    node = (more[0][-window - 1 :], more[1][max(0, len(more[1]) - window) :], covered(*more, done))
                    if node not in seen:
                        seen.add(node)
                        following.append(node)
            layer = following
        return None


def least_apart(explicit: Explicit, goals: Sequence[Goal], final: FNode | None) -> int | None:
    """Length of the shortest run from init that covers all goals, no two of which share a step; None: there is none.

    It searches all (last steps, goals credited, steps since the last credited end).
    """
    window = max((goal.length for goal in goals), default=0)

    def ways(states: tuple[State, ...], inputs: tuple[Input, ...], done: frozenset[str], since: int) -> set[Any]:
        found, todo = {(done, since)}, [(done, since)]
        while todo:
            before, apart = todo.pop()
            for goal in goals:
                first = len(inputs) - goal.length
                fits = goal.name not in before and goal.length <= apart and first >= 0
                if fits and explicit.holds(goal.antecedent, states[first:], inputs[first:]):
                    after = (before | {goal.name}, 0)
                    todo += [after] if after not in found else []
                    found.add(after)
        return found

    layer = {((explicit.init,), (), *way) for way in ways((explicit.init,), (), frozenset(), window)}
    seen, steps = set(layer), 0
    while layer:
        for states, _, done, _ in layer:
            if len(done) == len(goals) and (final is None or explicit.holds(at(final, 0), states[-1:], [])):
                return steps
        following = set()
        for states, inputs, done, since in layer:
            for values, after in explicit.steps[states[-1]]:
                more = (*states, after)[-window - 1 :]
                given = (*inputs, values)[max(0, len(inputs) + 1 - window) :]
                following |= {(more, given, *way) for way in ways(more, given, done, min(since + 1, window))}
        layer = following - seen
        seen |= layer
        steps += 1
    return None
