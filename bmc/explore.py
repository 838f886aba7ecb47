"""All reachable states of a small system by exhaustive simulation, and the invariant that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Not, Or

from bmc.evaluate import unseen
from bmc.hold import PHASE, held_values, hold, released
from bmc.simulate import Simulator
from bmc.system import (
    Condition,
    InputVariable,
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    equal,
    symbols_of,
)
from bmc.unroll import unframed

EXACT_STATES = 1000
"""With more states than this the invariant only lists each variable's values."""

EVALUATED_NODES = 100_000_000
"""Nodes of formulas, some seconds' worth, that exploring may evaluate where time counts."""

INSIDE = 4
"""States within held steps that may be kept, times the limit on steps."""


def reachable_states(system: TransitionSystem, formulas: Iterable[FNode], limit: int) -> tuple[Valuation, ...] | None:
    """The reachable states, on the variables that ``formulas`` (framed) depend on, in breadth-first order.

    All values of open start variables count as start states. None if that takes more than ``limit`` simulated steps.
    """
    small = _reduced(system, (unframed(s)[0] for formula in formulas for s in symbols_of(formula)))
    open_ones = [var for var in small.state if var.init is None]
    inputs = list(small.inputs)
    starts_count, inputs_count = _count(open_ones), _count(inputs)
    if max(starts_count, inputs_count) > limit:
        return None
    simulator = Simulator(small)
    unused = dict.fromkeys((var.name for var in system.inputs), 0)
    choices = _Choices(small, [{**unused, **values} for values in _valuations(inputs)], limit)
    seen: dict[tuple[int, ...], Valuation] = {}
    todo: list[Valuation] = [simulator.initial(values) for values in _valuations(open_ones)]
    while todo:
        fresh = []
        for state in todo:
            if tuple(state.values()) not in seen:
                seen[tuple(state.values())] = state
                fresh.append(state)
                choices.count(state)
        if choices.too_many:
            return None
        todo = [simulator.step(s, i) for s in fresh for _, i in choices.of(s) if simulator.allowed(s, i)]
    return tuple(seen.values())


@dataclass(frozen=True)
class StateGraph:
    """All reachable states of a system, on some of its variables, and the steps between them.

    ``starts`` are indexes into ``states``; ``inputs`` holds combinations of input values, every input named;
    ``steps[s]`` lists the allowed steps from state s as (index into ``inputs``, index of the next state). Where inputs
    are held for ``hold`` steps, they change in the states ``free``; the others, within a held step, have at most one.
    """

    states: tuple[Valuation, ...]
    starts: tuple[int, ...]
    inputs: tuple[Valuation, ...]
    steps: tuple[tuple[tuple[int, int], ...], ...]
    hold: int = 1

    @property
    def free(self) -> Sequence[int]:
        """The states, as indexes, in which inputs may change."""
        if self.hold == 1:
            return range(len(self.states))
        return [number for number, state in enumerate(self.states) if not state[PHASE]]


def state_graph(system: TransitionSystem, formulas: Iterable[FNode], limit: int) -> StateGraph | None:
    """The reachable states, on the variables that ``formulas`` (framed) depend on, and all steps between them.

    Inputs differ where ``formulas`` or a step can tell; the others keep one of their allowed values. Values from 0 up
    come before negative ones. None if that takes more than ``limit`` simulated steps, a held step counting as one.
    """
    symbols = [unframed(s)[0] for formula in formulas for s in symbols_of(formula)]
    small = _reduced(replace(system, invariants=()), symbols, symbols)
    open_ones = [var for var in small.state if var.init is None]
    inputs, observed = list(small.inputs), {var.name for var in small.inputs}
    if max(_count(open_ones), _count(inputs)) > limit:
        return None
    rest = {var.name: _plainest(var) for var in system.inputs if var.name not in observed}
    combinations = tuple({**values, **rest} for values in sorted(_valuations(inputs), key=_from_zero(inputs)))
    choices = _Choices(small, combinations, limit)
    simulator = Simulator(small)
    numbers: dict[tuple[int, ...], int] = {}
    states: list[Valuation] = []

    def number(state: Valuation) -> int:
        key = tuple(state.values())
        if key not in numbers:
            numbers[key] = len(states)
            states.append(state)
            choices.count(state)
        return numbers[key]

    open_values = sorted(_valuations(open_ones), key=_from_zero(open_ones))
    starts = tuple(number(simulator.initial(values)) for values in open_values)
    steps: list[tuple[tuple[int, int], ...]] = []
    while len(steps) < len(states):
        if choices.too_many:
            return None
        s = states[len(steps)]
        tried = ((n, i) for n, i in choices.of(s) if simulator.allowed(s, i))
        steps.append(tuple((n, number(simulator.step(s, i))) for n, i in tried))
    return StateGraph(tuple(states), starts, combinations, tuple(steps), system.hold)


def affordable(system: TransitionSystem, limit: int) -> int:
    """So many simulated steps of ``system`` take some seconds at most; not more than ``limit``."""
    nodes = len(unseen([*(var.next for var in system.state), system.defined, system.input_constraint], set()))
    return min(limit, EVALUATED_NODES // nodes)


class _Choices:
    """The inputs to try in a state, numbered: all ``combinations``, or the one that is held.

    ``too_many``: the states counted take more than ``limit`` simulated steps, a held step counting as one.
    """

    def __init__(self, system: TransitionSystem, combinations: Sequence[Valuation], limit: int) -> None:
        self._system = system
        self._every = tuple(enumerate(combinations))
        names = [var.name for var in system.inputs]
        self._places = {tuple(values[name] for name in names): (n, values) for n, values in self._every}
        self._limit = limit
        self._steps = self._inside = 0

    def of(self, state: Valuation) -> Sequence[tuple[int, Valuation]]:
        held = held_values(self._system, state)
        return self._every if held is None else (self._places[tuple(held.values())],)

    def count(self, state: Valuation) -> None:
        if held_values(self._system, state) is None:
            self._steps += len(self._every)
        else:
            self._inside += 1

    @property
    def too_many(self) -> bool:
        return self._steps > self._limit or self._inside > INSIDE * self._limit


def _reduced(system: TransitionSystem, names: Iterable[str], observed: Iterable[str] = ()) -> TransitionSystem:
    """``system`` with the state variables on which those called ``names`` and the steps' constraints depend.

    Only the inputs on which a step depends, and those ``observed``, are left.
    """
    free = released(system)
    own = {var.name for var in free.state} | {var.name for var in free.inputs}
    cone = free.cone(free.variable(name).symbol for name in names if name in own)
    small = replace(free, state=cone, asserts=(), suspects=(), invariants=())
    kept = {*observed, *(var.name for var in _used_inputs(small))}
    return hold(replace(small, inputs=tuple(var for var in system.inputs if var.name in kept)), system.hold)


def reachability_invariant(system: TransitionSystem, formulas: Iterable[FNode], limit: int) -> Condition | None:
    """The proved invariant "one of the reachable states"; None if they are too many to explore, or say nothing."""
    states = reachable_states(system, formulas, limit)
    return invariant_of(system, states) if states else None


def invariant_of(system: TransitionSystem, states: Sequence[Valuation]) -> Condition | None:
    """The proved invariant "one of ``states``", which are all that can be reached; None if it says nothing."""
    variables = [var for var in system.state if var.name in states[0]]
    formula = _one_of(variables, states) if len(states) <= EXACT_STATES else _each_among(variables, states)
    return None if formula.is_true() else Condition(f"one of {len(states)} reachable states", formula, proved=True)


def _used_inputs(system: TransitionSystem) -> list[InputVariable]:
    """The inputs on which a step or its validity depends."""
    formulas = [system.input_constraint, system.defined, *(var.next for var in system.state)]
    names = {s.symbol_name() for formula in formulas for s in symbols_of(formula)}
    return [var for var in system.inputs if var.name in names]


def _ranges(var: StateVariable | InputVariable) -> tuple[tuple[int, int], ...]:
    declared = var.values if isinstance(var, InputVariable) else ()
    return declared or ((var.type.least, var.type.greatest),)


def _count(variables: Sequence[StateVariable | InputVariable]) -> int:
    return prod(sum(high - low + 1 for low, high in _ranges(var)) for var in variables)


def _valuations(variables: Sequence[StateVariable | InputVariable]) -> Iterator[dict[str, int]]:
    """Every combination of the variables' allowed values, raw."""
    wraps = [1 << max(var.type.bits, 1) for var in variables]
    values = [
        [value % wrap for low, high in _ranges(var) for value in range(low, high + 1)]
        for var, wrap in zip(variables, wraps, strict=True)
    ]
    for combination in product(*values):
        yield dict(zip((var.name for var in variables), combination, strict=True))


def _from_zero(variables: Sequence[StateVariable | InputVariable]) -> Callable[[Valuation], list[tuple[bool, int]]]:
    """A sorting key that puts values from 0 up before negative ones."""
    return lambda raw: [(value < 0, value) for value in (var.type.value(raw[var.name]) for var in variables)]


def _plainest(var: InputVariable) -> int:
    """The first allowed value of ``var`` from 0 up, raw; the least one if all are negative."""
    values = [max(low, 0) for low, high in _ranges(var) if high >= 0]
    return (min(values) if values else _ranges(var)[0][0]) % (1 << max(var.type.bits, 1))


def _one_of(variables: Sequence[StateVariable], states: Sequence[Valuation]) -> FNode:
    """The formula: the variables have the values of one of ``states``; built as a decision diagram."""
    below = {tuple(state[var.name] for var in variables): TRUE() for state in states}
    for var in reversed(variables):
        above: dict[tuple[int, ...], dict[FNode, list[int]]] = {}
        for values, formula in below.items():
            above.setdefault(values[:-1], {}).setdefault(formula, []).append(values[-1])
        below = {
            prefix: Or([conjunction([_among(var, values), formula]) for formula, values in branches.items()])
            for prefix, branches in above.items()
        }
    return below[()]


def _each_among(variables: Sequence[StateVariable], states: Sequence[Valuation]) -> FNode:
    """The formula: each variable has one of the values that it has in ``states``."""
    return conjunction(_among(var, [state[var.name] for state in states]) for var in variables)


def _among(var: StateVariable, values: Iterable[int]) -> FNode:
    """The formula: ``var`` has one of the raw ``values``."""
    distinct = sorted(set(values))
    if len(distinct) == 1 << max(var.type.bits, 1):
        return TRUE()
    if not var.type.bits:
        return var.symbol if distinct == [1] else Not(var.symbol)
    return Or([_within(var, low, high) for low, high in _intervals(distinct)])


def _within(var: StateVariable, low: int, high: int) -> FNode:
    bits = var.type.bits
    if low == high:
        return equal(var.symbol, BV(low, bits))
    return And(BV(low, bits).BVULE(var.symbol), var.symbol.BVULE(BV(high, bits)))


def _intervals(values: Sequence[int]) -> list[tuple[int, int]]:
    """Rising ``values`` as the fewest inclusive intervals."""
    found: list[tuple[int, int]] = []
    for value in values:
        if found and found[-1][1] == value - 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return found
