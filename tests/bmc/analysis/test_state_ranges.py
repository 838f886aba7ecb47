"""Bounds of terms hold for every value, and ranges of the state in every reachable state."""

from __future__ import annotations

import random
from itertools import product

import pysmt.operators as op
import pytest
from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import And, BVConcat, BVExtract, BVSExt, BVZExt, Iff, Implies, Ite, Not, Or
from random_systems import random_case

from bmc.analysis.state_ranges import invariant, state_ranges, term_bounds
from bmc.explicit.explore import reachable_states
from bmc.formulas.bounds import EITHER, Bounds, anything, bounds, hull, point
from bmc.formulas.evaluate import operation
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator, compile_formulas
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType

BITS = 3
a, b, flag, other = (
    ValueType("three", BITS).symbol("sr_a"),
    ValueType("three", BITS).symbol("sr_b"),
    BOOLEAN.symbol("sr_flag"),
    BOOLEAN.symbol("sr_other"),
)
TERMS = {
    "add": a + b,
    "sub": a - b,
    "mul": a * b,
    "udiv": a.BVUDiv(b),
    "urem": a.BVURem(b),
    "sdiv": a.BVSDiv(b),
    "srem": a.BVSRem(b),
    "lshl": a.BVLShl(b),
    "lshr": a.BVLShr(b),
    "ashr": a.BVAShr(b),
    "and": a & b,
    "or": a | b,
    "xor": a.BVXor(b),
    "not": ~a,
    "neg": -a,
    "comp": a.BVComp(b),
    "concat": BVConcat(a, b),
    "zext": BVZExt(a, 2),
    "sext": BVSExt(a, 2),
    "low bits": BVExtract(a, 0, 1),
    "high bits": BVExtract(a, 1, 2),
    "ult": a.BVULT(b),
    "ule": a.BVULE(b),
    "slt": a.BVSLT(b),
    "sle": a.BVSLE(b),
    "equals": a.Equals(b),
    "choice": Ite(flag, a, b),
    "both": And(flag, other),
    "either": Or(flag, other),
    "implies": Implies(flag, other),
    "iff": Iff(flag, other),
    "no": Not(flag),
    "rotation": a.BVRol(1),
}


def bounds_of(values: set[int], bits: int) -> Bounds:
    found = None
    for value in values:
        found = point(value, bits) if found is None else hull(found, point(value, bits))
    assert found is not None
    return found


def inside(value: int, here: Bounds, bits: int) -> bool:
    one = point(value, bits)
    return here.low <= one.low <= here.high and here.least <= one.least <= here.greatest


@pytest.mark.parametrize("name", TERMS)
def test_bounds_of_a_term_hold_for_all_values_of_its_arguments(name: str) -> None:
    term, rng = TERMS[name], random.Random(name)
    compute = operation(term)
    widths = [0 if x.get_type().is_bool_type() else x.bv_width() for x in term.args()]
    bits = 0 if term.get_type().is_bool_type() else term.bv_width()
    for _ in range(400):
        chosen = [set(rng.choices(range(max(2, 1 << w)), k=rng.choice([1, 2, 2, 3]))) for w in widths]
        here = bounds(term, [bounds_of(values, w) for values, w in zip(chosen, widths, strict=True)])
        assert all(inside(compute(values), here, bits) for values in product(*chosen))


@seeds(75)
def test_no_reachable_state_leaves_its_ranges(seed: int) -> None:
    system = random_case(seed).system
    ranges = state_ranges(system)
    assert ranges is not None
    states = reachable_states(system, [at(v.symbol, 0) for v in system.state], 10_000)
    assert states is not None
    for var in system.state:
        assert all(inside(state[var.name], ranges[var.name], var.type.bits) for state in states)
    told = invariant(system, ranges)
    if told is not None:
        holds = compile_formulas([told.formula])
        assert all(holds(state)[0] for state in states)


WIDE = ValueType("int", 32, signed=True)
n, index, step = WIDE.symbol("sr_n"), WIDE.symbol("sr_index"), WIDE.symbol("sr_step")
push = BOOLEAN.symbol("sr_push")


def ranges_of(following: FNode, symbol: FNode, start: int = 0, *, low: int = -5, high: int = 5) -> Bounds:
    """The range of one variable, with the inputs ``push`` and ``step`` from ``low`` to ``high``."""
    system = TransitionSystem(
        "one",
        (StateVariable(symbol.symbol_name(), WIDE, WIDE.constant(start), following),),
        (InputVariable("sr_push", BOOLEAN), InputVariable("sr_step", WIDE, ((low, high),))),
    )
    found = state_ranges(system)
    assert found is not None
    return found[symbol.symbol_name()]


def number(value: int) -> FNode:
    return WIDE.constant(value)


def test_an_index_that_wraps_by_remainder_stays_below_it() -> None:
    turned = (index + number(1)).BVSRem(number(3))
    assert ranges_of(Ite(push, turned, index), index) == Bounds(0, 2, 0, 2)


def test_a_counter_stays_below_the_bound_that_its_condition_names() -> None:
    here = ranges_of(Ite(And(push, n.BVSLT(number(1000))), n + number(1), n), n)
    assert (here.least, here.greatest) == (0, 1000)


def test_a_saturated_sum_stays_within_its_limits() -> None:
    added = n + step
    limited = Ite(added.BVSLT(number(-70)), number(-70), Ite(number(90).BVSLT(added), number(90), added))
    here = ranges_of(limited, n)
    assert (here.least, here.greatest) == (-70, 90)


def test_a_counter_without_a_bound_has_no_range() -> None:
    assert ranges_of(Ite(push, n + number(1), n), n) == anything(32)


def test_a_formula_that_no_state_in_the_ranges_meets_is_false() -> None:
    turned = (index + number(1)).BVSRem(number(3))
    system = TransitionSystem("one", (StateVariable("sr_index", WIDE, number(0), turned),), ())
    ranges = state_ranges(system)
    assert ranges is not None
    out, within = term_bounds([number(3).BVULE(index), index.Equals(number(1))], system, ranges)
    assert out.high == 0
    assert within == EITHER


def test_every_step_of_a_ring_is_covered_by_simulation() -> None:
    """The range is not only sound: both ends are reached."""
    turned = (index + number(1)).BVSRem(number(3))
    system = TransitionSystem("one", (StateVariable("sr_index", WIDE, number(0), turned),), ())
    run = Simulator(system).run({"sr_index": 0}, [{}] * 3)
    assert {state["sr_index"] for state in run.states} == {0, 1, 2}


def test_it_ends_when_told_to() -> None:
    system = TransitionSystem("one", (StateVariable("sr_n", WIDE, number(0), n + number(1)),), ())
    assert state_ranges(system, lambda: True) is None


def test_operators_without_a_rule_have_any_value() -> None:
    assert TERMS["rotation"].node_type() == op.BV_ROL
    assert bounds(TERMS["rotation"], [point(1, BITS)]) == anything(BITS)
