"""Concrete simulation of a transition system: its formulas compiled to Python functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

from pysmt.fnode import FNode

from bmc.formulas.evaluate import MOST_COMPILED, compile_formulas, define, post_order, translate
from bmc.system.transition import Condition, Run, TransitionSystem, Valuation, proved_invariants

__all__ = ["Simulator", "compile_formulas"]


class Simulator:
    """Runs one system step by step. Values are raw unsigned patterns by variable name, Booleans 0/1."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self._state_names = frozenset(var.name for var in system.state)

    @cached_property
    def size(self) -> int:
        """How many operations a step takes at most."""
        system = self.system
        return len(post_order([system.input_constraint, system.defined, *(var.next for var in system.state)]))

    def step(self, state: Valuation, inputs: Valuation) -> Valuation:
        """The next state. KeyError if a value that it depends on is missing."""
        after: Valuation = self._step(state, inputs)
        return after

    def allowed(self, state: Valuation, inputs: Valuation) -> bool:
        """Whether the step keeps the input constraint and is defined."""
        return bool(self._allowed(state, inputs)[0])

    def violated(self, state: Valuation, inputs: Valuation) -> tuple[Condition, ...]:
        """The asserts that the step from ``state`` under ``inputs`` violates."""
        held = self._asserts(state, inputs)
        return tuple(c for c, holds in zip(self.system.asserts, held, strict=True) if not holds)

    def all_violated(self, run: Run) -> Iterator[tuple[int, Condition]]:
        """The asserts that ``run`` violates, each with its step."""
        if self.system.asserts:
            for step, (state, inputs) in enumerate(zip(run.states, run.inputs, strict=False)):
                yield from ((step, condition) for condition in self.violated(state, inputs))

    def initial(self, overrides: Mapping[str, int] | None = None) -> Valuation:
        """The start state; variables that init leaves open have the plainest value that they may start with.

        ``overrides`` (raw values) come first.
        """
        return {**self._initial, **(overrides or {})}

    def chosen(self, given: Mapping[str, int] | None = None) -> Valuation:
        """The start values that the tester chooses: those ``given``, else those of ``initial``."""
        return {name: self._initial[name] for name in self.system.chosen if name in self._initial} | dict(given or {})

    def run(self, initial_state: Valuation, inputs: Sequence[Valuation]) -> Run:
        """The run from ``initial_state`` under ``inputs``, one step each (allowed or not)."""
        states = [initial_state]
        for values in inputs:
            states.append(self._step(states[-1], values))
        return Run(tuple(states), tuple(inputs))

    def valid_part(self, run: Run) -> Run:
        """``run`` up to its first step that is not allowed, or that leads where a proved invariant does not hold.

        The start is taken for a state in which they all do.
        """
        for step, inputs in enumerate(run.inputs):
            if not self.allowed(run.states[step], inputs) or not self._proved(run.states[step + 1])[0]:
                return Run(run.states[: step + 1], run.inputs[:step])
        return run

    @cached_property
    def _proved(self) -> Callable[[Valuation], tuple[int, ...]]:
        return compile_formulas([proved_invariants(self.system)])

    @cached_property
    def _initial(self) -> dict[str, int]:
        values = {var.name: var.plainest_start for var in self.system.state}
        fixed = [(var.name, var.init) for var in self.system.state if var.init is not None]
        results = compile_formulas([init for _, init in fixed])({})
        return values | dict(zip((name for name, _ in fixed), results, strict=True))

    @cached_property
    def _step(self) -> Callable[[Valuation, Valuation], Valuation]:
        return _step_of(tuple((var.name, var.next) for var in self.system.state), self._state_names)

    @cached_property
    def _allowed(self) -> Callable[[Valuation, Valuation], tuple[int, ...]]:
        return self._compiled([self.system.input_constraint.And(self.system.defined)])

    @cached_property
    def _asserts(self) -> Callable[[Valuation, Valuation], tuple[int, ...]]:
        return self._compiled([condition.formula for condition in self.system.asserts])

    def _compiled(self, formulas: Sequence[FNode]) -> Callable[..., Any]:
        return _values_of(tuple(formulas), self._state_names)


# kept by what they compute, for a run makes several simulators of one system


@lru_cache(maxsize=MOST_COMPILED)
def _step_of(
    nexts: tuple[tuple[str, FNode], ...], states: frozenset[str]
) -> Callable[[Valuation, Valuation], Valuation]:
    done = translate([following for _, following in nexts], partial(_read, states))
    result = ", ".join(f"{name!r}: {text}" for (name, _), text in zip(nexts, done.results, strict=True))
    return define("s, i", [*done.statements, f"return {{{result}}}"])


@lru_cache(maxsize=MOST_COMPILED)
def _values_of(formulas: tuple[FNode, ...], states: frozenset[str]) -> Callable[..., Any]:
    done = translate(formulas, partial(_read, states))
    return define("s, i", [*done.statements, f"return ({''.join(f'{r}, ' for r in done.results)})"])


def _read(states: frozenset[str], symbol: FNode) -> str:
    name = symbol.symbol_name()
    return f"{'s' if name in states else 'i'}[{name!r}]"
