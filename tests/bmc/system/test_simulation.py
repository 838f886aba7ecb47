"""Compiled formulas and simulation against pysmt's own evaluation."""

from __future__ import annotations

import random

import pytest
from cruise import INPUTS, PROPERTIES, cruise
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import (
    BV,
    BVSLE,
    BVSLT,
    BVULE,
    BVULT,
    TRUE,
    And,
    Bool,
    BVAdd,
    BVAnd,
    BVAShr,
    BVComp,
    BVConcat,
    BVExtract,
    BVLShl,
    BVLShr,
    BVMul,
    BVNeg,
    BVNot,
    BVOr,
    BVRol,
    BVRor,
    BVSDiv,
    BVSExt,
    BVSRem,
    BVSub,
    BVUDiv,
    BVURem,
    BVXor,
    BVZExt,
    Equals,
    Iff,
    Implies,
    Ite,
    Not,
    Or,
    Solver,
    Symbol,
)
from pysmt.typing import INT, BVType
from random_systems import random_case

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import framed
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, Condition, StateVariable, TransitionSystem, ValueType, equal
from properties.goal import Goal
from properties.monitor import Monitor

FLAGS = [Symbol(f"ev_flag{n}") for n in range(3)]
WIDTHS = (1, 3, 8)
NUMBERS = {width: [Symbol(f"ev_{width}_{n}", BVType(width)) for n in range(3)] for width in WIDTHS}
BINARY = [
    BVAnd, BVOr, BVXor, BVAdd, BVSub, BVMul, BVUDiv, BVURem,
    BVSDiv, BVSRem, BVLShl, BVLShr, BVAShr,
]  # fmt: skip
COMPARE = [BVULT, BVULE, BVSLT, BVSLE, Equals]


def number(rng: random.Random, width: int, depth: int) -> FNode:
    if depth == 0:
        return rng.choice([*NUMBERS[width], BV(rng.randrange(1 << width), width)])
    a, b = number(rng, width, depth - 1), number(rng, width, depth - 1)
    kind = rng.randrange(9)
    if kind == 0:
        return rng.choice([BVNot, BVNeg])(a)
    if kind == 1:
        return Ite(condition(rng, depth - 1), a, b)
    if kind == 2:
        return rng.choice([BVRol, BVRor])(a, rng.randrange(width))
    if kind == 3:
        other = number(rng, rng.choice(WIDTHS), depth - 1)
        wide = BVConcat(other, a)
        low = rng.randrange(wide.bv_width() - width + 1)
        return BVExtract(wide, low, low + width - 1)
    if kind == 4 and width > 1:
        small = number(rng, 1, depth - 1)
        return rng.choice([BVZExt, BVSExt])(small, width - 1)
    if kind == 5 and width == 1:
        c = rng.choice(WIDTHS)
        return BVComp(number(rng, c, depth - 1), number(rng, c, depth - 1))
    return rng.choice(BINARY)(a, b)


def condition(rng: random.Random, depth: int) -> FNode:
    if depth == 0:
        return rng.choice([*FLAGS, Bool(rng.random() < 0.5)])
    if rng.random() < 0.5:
        width = rng.choice(WIDTHS)
        return rng.choice(COMPARE)(number(rng, width, depth - 1), number(rng, width, depth - 1))
    a, b, c = (condition(rng, depth - 1) for _ in range(3))
    return rng.choice([And(a, b, c), Or(a, b, c), Not(a), Implies(a, b), Iff(a, b), Ite(a, b, c)])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**9))
def test_compiled_formulas_agree_with_pysmt(seed: int) -> None:
    rng = random.Random(seed)
    formulas = [condition(rng, 4), *(number(rng, width, 4) for width in WIDTHS)]
    compiled = compile_formulas(formulas)
    for _ in range(3):
        values = {s.symbol_name(): rng.randrange(2) for s in FLAGS}
        values |= {s.symbol_name(): rng.randrange(1 << w) for w in WIDTHS for s in NUMBERS[w]}
        constants = {s: Bool(bool(values[s.symbol_name()])) for s in FLAGS}
        constants |= {s: BV(values[s.symbol_name()], w) for w in WIDTHS for s in NUMBERS[w]}
        expected = [f.substitute(constants).simplify() for f in formulas]
        assert list(compiled(values)) == [int(e.constant_value()) for e in expected]


@pytest.mark.parametrize("function", [BVUDiv, BVURem, BVSDiv, BVSRem])
def test_division_is_the_solver_s(function) -> None:
    a, b = NUMBERS[3][:2]
    compiled = compile_formulas([function(a, b)])
    with Solver(name="z3") as solver:
        for x in range(8):
            for y in range(8):
                value = BV(compiled({a.symbol_name(): x, b.symbol_name(): y})[0], 3)
                claim = And(equal(a, BV(x, 3)), equal(b, BV(y, 3)), Not(function(a, b).Equals(value)))
                assert not solver.is_sat(claim), (x, y)


def test_very_deep_and_shared_formulas_compile() -> None:
    deep = shared = NUMBERS[8][0]
    for n in range(5000):
        deep = Ite(FLAGS[n % 3], deep + 1, deep ^ 3)
        shared = shared + shared
    values = {"ev_flag0": 1, "ev_flag1": 0, "ev_flag2": 1, "ev_8_0": 1}
    assert 0 <= compile_formulas([deep])(values)[0] < 256
    assert compile_formulas([shared])(values) == (0,)


def test_operators_outside_bit_vectors_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot evaluate"):
        compile_formulas([Symbol("ev_int", INT).Equals(Symbol("ev_int2", INT) + 1)])


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**9))
def test_steps_agree_with_pysmt(seed: int) -> None:
    system = random_case(seed).system
    rng = random.Random(seed)
    simulator = Simulator(system)
    state = simulator.initial()
    for _ in range(5):
        inputs = {var.name: rng.randint(0, 1) for var in system.inputs}
        constants = {v.symbol: v.type.constant({**state, **inputs}[v.name]) for v in (*system.state, *system.inputs)}
        allowed = And(system.input_constraint, system.defined).substitute(constants).simplify()
        assert simulator.allowed(state, inputs) == allowed.is_true()
        state = simulator.step(state, inputs)
        for var in system.state:
            assert state[var.name] == int(var.next.substitute(constants).simplify().constant_value())


def test_initial_state_asserts_and_overrides() -> None:
    byte = ValueType("int8", 8, signed=True)
    level, open_one = byte.symbol("sim_level"), byte.symbol("sim_open")
    system = TransitionSystem(
        "asserts",
        (StateVariable("sim_level", byte, BV(250, 8), level + 1), StateVariable("sim_open", byte, None, open_one)),
        (),
        asserts=(Condition("not at -5", Not(level.Equals(BV(251, 8)))), Condition("true", TRUE())),
    )
    simulator = Simulator(system)
    assert simulator.initial() == {"sim_level": 250, "sim_open": 0}
    assert simulator.initial({"sim_open": 7})["sim_open"] == 7
    run = simulator.run(simulator.initial(), [{}, {}])
    assert [state["sim_level"] for state in run.states] == [250, 251, 252]
    assert [len(simulator.violated(state, {})) for state in run.states] == [0, 1, 0]


def press(names: str) -> list[dict[str, int]]:
    return [{s.symbol_name(): int(s.symbol_name() == f"cc_{name}") for s in INPUTS} for name in names.split()]


def test_monitor_tells_where_goals_are_covered_and_judges_them() -> None:
    simulator = Simulator(cruise())
    run = simulator.run(simulator.initial(), press("gas acc button dec dec gas dec brake button"))
    monitor = Monitor([*PROPERTIES, Goal("always", TRUE(), None, 0)])
    covered = monitor.covered(run)
    assert covered["always"] == list(range(10))
    assert {name: covered[name] for name in ("p1", "p2", "p3", "p4")} == {"p1": [4], "p2": [6], "p3": [7], "p4": [2]}
    assert monitor.judge(run, "p1", 4) is True
    assert monitor.judge(run, "always", 4) is None
    assert monitor.holds(run, "p1", 4)
    assert not monitor.holds(run, "p1", 9)


def test_goals_whose_end_lies_beyond_the_run_are_not_covered() -> None:
    simulator = Simulator(cruise())
    run = simulator.run(simulator.initial(), press("gas gas"))
    gas = framed(INPUTS[0], 0)
    monitor = Monitor([Goal("two", gas, Not(framed(INPUTS[0], 1)), 2)])
    assert monitor.covered(run) == {"two": [0]}
    assert monitor.judge(run, "two", 0) is False
    with pytest.raises(ValueError, match="too short"):
        monitor.judge(run, "two", 1)


def test_booleans_count_as_single_bits() -> None:
    assert BOOLEAN.value(1) == 1
    assert compile_formulas([FLAGS[0]])({"ev_flag0": True}) == (1,)
