"""All reachable states of a system by exhaustive simulation, and the invariant that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Not, Or

from bmc.explicit.input_classes import all_values, allowed_ranges, combinations, input_classes, value_count
from bmc.explicit.listing import Limits, Listing, list_states
from bmc.explicit.rows import Rows, Steps
from bmc.explicit.vectors import word
from bmc.formulas.evaluate import unseen
from bmc.formulas.unroll import unframed
from bmc.system.hold import PHASE, hold, released
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    Condition,
    InputVariable,
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    equal,
    symbols_of,
)

EXACT_STATES = 1000
"""With more states than this the invariant only lists each variable's values."""

EVALUATED_NODES = 100_000_000
"""Nodes of formulas, some seconds' worth, that exploring may evaluate where time counts."""

IN_ARRAYS = 30
"""So many steps, or nodes of a search, are worked on in arrays in the time of one by itself, and more."""

LISTED_BYTES = 1 << 30
"""Memory that a list of states and steps may take."""

INSIDE = 4
"""States within held steps that may be kept, times the limit on steps."""

MOST_INSIDE = 1_000_000
"""More of them are not kept: each holds values of all inputs."""


def reachable_states(system: TransitionSystem, formulas: Iterable[FNode], limit: int) -> Sequence[Valuation] | None:
    """The reachable states, on the variables that ``formulas`` (framed) depend on, in breadth-first order.

    All values of open start variables count as start states. None if that takes more than ``limit`` simulated steps,
    or more memory than ``LISTED_BYTES``.
    """
    small = _reduced(system, (unframed(s)[0] for formula in formulas for s in symbols_of(formula)))
    found = _listed(small, _inputs(small, (), limit), limit, with_steps=False)
    return None if found is None else found.states


@dataclass(frozen=True)
class StateGraph:
    """All reachable states of a system, on some of its variables, and the steps between them.

    ``starts`` are indexes into ``states``; ``inputs`` holds combinations of input values, every input named;
    ``steps[s]`` lists the allowed steps from state s as (index into ``inputs``, index of the next state). Where inputs
    are held for ``hold`` steps, they change in the states ``free``; the others, within a held step, have at most one.
    All are read like tuples, and kept in arrays.
    """

    states: Rows
    starts: tuple[int, ...]
    inputs: Rows
    steps: Steps
    hold: int = 1

    @property
    def free(self) -> Sequence[int]:
        """The states, as indexes, in which inputs may change."""
        if self.hold == 1:
            return range(len(self.states))
        found: list[int] = np.flatnonzero(self.states.columns[PHASE] == 0).tolist()
        return found


def state_graph(
    system: TransitionSystem, formulas: Iterable[FNode], limit: int, check: Callable[[], None] = lambda: None
) -> StateGraph | None:
    """The reachable states, on the variables that ``formulas`` (framed) depend on, and all steps between them.

    Inputs differ where ``formulas`` or a step can tell; of those that none can tell apart one stands for all, and
    those that nothing reads keep one of their allowed values. Values from 0 up come before negative ones. None if that
    takes more than ``limit`` simulated steps, a held step counting as one, or more memory than ``LISTED_BYTES``.
    ``check`` is called now and then; what it raises ends the listing.
    """
    formulas = list(formulas)
    symbols = [unframed(s)[0] for formula in formulas for s in symbols_of(formula)]
    small = _reduced(replace(system, invariants=()), symbols, symbols)
    inputs = _inputs(small, formulas, limit)
    found = _listed(small, inputs, limit, check=check)
    if found is None or inputs is None:
        return None
    rest = {var.name: _plainest(var) for var in system.inputs if var.name not in inputs.columns}
    types = {var.name: var.type for var in system.inputs}
    kept = {name: np.full(len(inputs), raw, word(types[name].bits)) for name, raw in rest.items()}
    combinations = Rows({**inputs.columns, **kept}, len(inputs))
    return StateGraph(found.states, found.starts, combinations, found.steps, system.hold)


def _inputs(small: TransitionSystem, formulas: Sequence[FNode], limit: int) -> Rows | None:
    """The combinations of inputs to try in a state; None if they are more than ``limit``.

    Held inputs are part of the state: there every value is one of its own.
    """
    if small.hold > 1:
        every = {var.name: (all_values(var), var.type.bits) for var in small.inputs}
        return None if prod(value_count(var) for var in small.inputs) > limit else combinations(every)
    free = released(small)
    constraints = [free.input_constraint, free.defined]
    seen = [*constraints, *(var.next for var in free.state)]
    places = {s: (s.symbol_name(), -1) for formula in seen for s in symbols_of(formula)}
    places.update((s, unframed(s)) for formula in formulas for s in symbols_of(formula))
    return input_classes(small.inputs, [*seen, *formulas], places, constraints, limit)


def _listed(
    small: TransitionSystem,
    inputs: Rows | None,
    limit: int,
    with_steps: bool = True,
    check: Callable[[], None] = lambda: None,
) -> Listing | None:
    """The states reachable by ``inputs``; None for too many, or without inputs."""
    open_ones = [var for var in small.state if var.init is None]
    if inputs is None or prod(value_count(var) for var in open_ones) > limit:
        return None
    fixed = Simulator(small).initial()
    values = {
        var.name: (all_values(var) if var.init is None else [fixed[var.name]], var.type.bits) for var in small.state
    }
    limits = Limits(limit, min(INSIDE * limit, MOST_INSIDE), LISTED_BYTES)
    return list_states(small, combinations(values), inputs, limits, with_steps, check)


def affordable(system: TransitionSystem, limit: int) -> int:
    """So many steps of ``system`` take some seconds at most, in arrays; not more than ``limit`` one by one would."""
    nodes = len(unseen([*(var.next for var in system.state), system.defined, system.input_constraint], set()))
    return IN_ARRAYS * min(limit, EVALUATED_NODES // nodes)


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


def _plainest(var: InputVariable) -> int:
    """The first allowed value of ``var`` from 0 up, raw; the least one if all are negative."""
    values = [max(low, 0) for low, high in allowed_ranges(var) if high >= 0]
    return (min(values) if values else allowed_ranges(var)[0][0]) % (1 << max(var.type.bits, 1))


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
    if isinstance(states, Rows):
        return conjunction(_among(var, np.unique(states.columns[var.name]).tolist()) for var in variables)
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
