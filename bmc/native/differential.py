"""Model against compiled original: the same random steps on both, every variable compared bit for bit.

All NaNs count as one value: the model and what is read from the original have only the canonical one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, pairwise
from typing import TypeVar

from bmc.floats.format import FORMATS
from bmc.floats.ranges import between, every, values_in
from bmc.floats.values import FloatSamples, constants_in
from bmc.formulas.evaluate import compile_formulas
from bmc.records import dataclass
from bmc.system.original import Original
from bmc.system.simulation import Simulator
from bmc.system.ties import tied_values, ties
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation, ValueType

T = TypeVar("T")

SHADOW = "#defined"
RUN_LENGTH = 50
"""Steps of a random run before it starts again from init."""
_ATTEMPTS = 400
"""Draws of inputs until the input constraint allows some."""
_STATE_ATTEMPTS = 8
"""Draws of such inputs for one random state, until the step is defined: most often the state alone decides that."""
_MISSES = 100
"""Random states without such inputs, one after the other, before it is given up."""
_NEARER = 0.9
"""After each such state the next one keeps more of a state that a run reached: each value by this less is random."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One variable that differs after one step from ``state`` under ``inputs``: values are raw patterns.

    ``earlier`` are the inputs of the steps from init to that state; None where it is a random one.
    """

    variable: str
    state: Valuation
    inputs: Valuation
    model: int
    original: int
    earlier: tuple[Valuation, ...] | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison did: ``run_steps`` along runs from init, ``state_steps`` from random states.

    ``stopped``: it was told to stop before it had done all steps.
    """

    run_steps: int
    state_steps: int
    differences: tuple[Difference, ...]
    stopped: bool = False

    @property
    def steps(self) -> int:
        """All steps that were compared."""
        return self.run_steps + self.state_steps


def compare(
    system: TransitionSystem,
    original: Original,
    steps: int,
    seed: int = 0,
    stop: Callable[[], bool] = lambda: False,
) -> Comparison:
    """Compare ``steps`` steps, half along random runs and half from random states in the declared ranges.

    Steps that are undefined or against the input constraint are left out, and so are variables that are not set.
    ``stop`` is asked now and then whether it is time to end.
    """
    sampler = Sampler(system, seed)
    simulator = sampler.simulator
    differences: list[Difference] = []
    runs = list(_until(stop, sampler.runs(steps - steps // 2)))
    actual = original.runs(runs, simulator.chosen() or None) if runs else []
    each_after = iter(actual)
    for inputs in runs:
        expected = simulator.run(simulator.initial(), inputs).states
        for number, ((before, after), values) in enumerate(zip(pairwise(expected), inputs, strict=True)):
            found = _differences(system, before, values, after, next(each_after))
            differences += (replace(each, earlier=tuple(inputs[:number])) for each in found)
    pairs = list(_until(stop, sampler.pairs(steps // 2)))
    for (state, values), after in zip(pairs, original.steps(pairs) if pairs else [], strict=True):
        differences += _differences(system, state, values, simulator.step(state, values), after)
    return Comparison(len(actual), len(pairs), tuple(differences), stop())


def _until(stop: Callable[[], bool], items: Iterator[T]) -> Iterator[T]:
    """``items`` as long as ``stop`` does not say so."""
    while not stop():
        try:
            yield next(items)
        except StopIteration:
            return


def _differences(
    system: TransitionSystem, state: Valuation, inputs: Valuation, expected: Valuation, actual: Valuation
) -> Iterator[Difference]:
    for var in system.state:
        if var.name not in actual or not expected.get(var.name + SHADOW, 1):
            continue
        if expected[var.name] != actual[var.name]:
            yield Difference(var.name, state, inputs, expected[var.name], actual[var.name])


class Sampler:
    """Random inputs and states of a system; repeatable for a given seed."""

    def __init__(self, system: TransitionSystem, seed: int) -> None:
        self.system = system
        self.simulator = Simulator(system)
        self.random = random.Random(seed)

    def runs(self, steps: int) -> Iterator[Sequence[Valuation]]:
        """Input sequences of defined runs from init, ``steps`` in all (fewer if runs keep getting stuck)."""
        left, empty = steps, 0
        while left > 0 and empty < 10:
            inputs: list[Valuation] = []
            state = self.simulator.initial()
            while len(inputs) < min(RUN_LENGTH, left):
                values = self.allowed_inputs(state)
                if values is None:
                    break
                inputs.append(values)
                state = self.simulator.step(state, values)
            left -= len(inputs)
            empty = 0 if inputs else empty + 1
            if inputs:
                yield inputs

    def pairs(self, count: int) -> Iterator[tuple[Valuation, Valuation]]:
        """Random states in the declared ranges, each with allowed inputs.

        Where no inputs are allowed in such states, the next ones are reached states with some random values.
        """
        misses = 0
        while count > 0 and misses < _MISSES:
            state = self.random_state() if not misses else self._near_run(_NEARER**misses)
            values = self.allowed_inputs(state, _STATE_ATTEMPTS)
            if values is None:
                misses += 1
                continue
            misses = 0
            count -= 1
            yield state, values

    def any_pair(self) -> tuple[Valuation, Valuation]:
        """A random state in the declared ranges and random inputs, whether the step is defined there or not."""
        return self.random_state(), self._any_inputs()

    def random_state(self) -> Valuation:
        """A random state in the declared ranges."""
        return {var.name: self.state_value(var) for var in self.system.state}

    def allowed_inputs(self, state: Valuation, attempts: int = _ATTEMPTS) -> Valuation | None:
        """Random inputs that the constraint allows and for which the step is defined; None if none was found.

        At most ``attempts`` inputs that the constraint allows are tried.
        """
        for values in islice(self._constrained_draws(state), attempts):
            if self.simulator.allowed(state, values):
                return values
        return None

    def constrained_inputs(self, state: Valuation) -> Valuation | None:
        """Random inputs that the constraint allows, whether the step is defined or not; None if none was found."""
        return next(self._constrained_draws(state), None)

    def _constrained_draws(self, state: Valuation) -> Iterator[Valuation]:
        """Those of some random inputs that the constraint allows."""
        tied = self._tied(state)
        draws = _ATTEMPTS if len(tied) < len(self.system.inputs) else 1
        for _ in range(draws):
            values = {**self._any_inputs(), **tied}
            if self._constrained({**state, **values})[0]:
                yield values

    @cached_property
    def _tied(self) -> Callable[[Valuation], Valuation]:
        return tied_values(ties(self.system))

    @cached_property
    def _constrained(self) -> Callable[[Valuation], tuple[int, ...]]:
        return compile_formulas([self.system.input_constraint])

    def _any_inputs(self) -> Valuation:
        return {var.name: self._input_value(var) for var in self.system.inputs}

    def _near_run(self, part: float) -> Valuation:
        """A reached state in which each value is random with probability ``part``."""
        reached = self.random.choice(self._reached)
        other = self.random_state()
        return {name: other[name] if self.random.random() < part else reached[name] for name in other}

    @cached_property
    def _reached(self) -> Sequence[Valuation]:
        """The states of a random run."""
        inputs = next(self.runs(RUN_LENGTH), ())
        return self.simulator.run(self.simulator.initial(), inputs).states

    def _input_value(self, var: InputVariable) -> int:
        if var.type.floating:
            return self._floats[var.type.bits].draw(var.values or every(FORMATS[var.type.bits]))
        ranges = var.values or ((var.type.least, var.type.greatest),)
        low, high = self.random.choice(ranges)
        return self._raw(self._spread(low, high), var.type.bits)

    def state_value(self, var: StateVariable) -> int:
        """A random value of ``var`` in its declared range."""
        if var.name.endswith(SHADOW):
            return 1
        if var.type.floating:
            return self._floats[var.type.bits].draw(_floating_ranges(var.type, var.low, var.high))
        if var.low is not None and var.high is not None:
            return self._raw(self._spread(var.low, var.high), var.type.bits)
        if var.type.labels:
            return self._raw(self.random.choice(var.type.labels)[1], var.type.bits)
        return self._raw(self._spread(var.type.least, var.type.greatest), var.type.bits)

    def start_value(self, var: StateVariable) -> int:
        """A random value with which ``var`` may start, where init leaves it open."""
        if not var.starts:
            return self.state_value(var)
        if var.type.floating:
            return self._floats[var.type.bits].draw(var.starts)
        return self._raw(self._spread(*self.random.choice(var.starts)), var.type.bits)

    @cached_property
    def _floats(self) -> dict[int, FloatSamples]:
        """What draws floating values, by their bits; made only for systems that have some."""
        system = self.system
        conditions = [condition.formula for condition in (*system.asserts, *system.invariants)]
        formulas = [system.input_constraint, system.defined, *conditions, *(var.next for var in system.state)]
        return {bits: FloatSamples(form, constants_in(formulas, form), self.random) for bits, form in FORMATS.items()}

    def _spread(self, low: int, high: int) -> int:
        """A number between two bounds; in wide ranges small numbers and the bounds themselves come up often."""
        if high - low > 300 and self.random.random() < 0.5:
            near: list[int] = [low, high, *range(max(low, -4), min(high, 16) + 1)]
            return self.random.choice(near)
        return self.random.randint(low, high)

    @staticmethod
    def _raw(value: int, bits: int) -> int:
        return value & ((1 << bits) - 1 if bits else 1)


def _floating_ranges(vtype: ValueType, low: int | None, high: int | None) -> tuple[tuple[int, int], ...]:
    """The patterns of the numbers from ``low`` to ``high``; without bounds all values.

    Bounds that are not in the order of numbers are taken for the ends of a range over patterns.
    """
    form = FORMATS[vtype.bits]
    if low is None or high is None:
        return every(form)
    return between(low, high, form) or values_in([(low, high)], form)
