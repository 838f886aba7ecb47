"""Chains of systems with floating inputs: plain values are chosen, few values are enumerated, all of it is shown."""

from __future__ import annotations

import io
import random

import pytest
from enumeration import enumerated, reachable_states
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVUGE, BVULE, TRUE, And, Ite, Not, Or

from bmc.floats.compare import equal, is_nan, less
from bmc.floats.format import FLOAT32, FLOAT64, FORMATS, Format, pattern
from bmc.floats.ranges import between, every, values_in
from bmc.floats.values import plainest_first
from bmc.formulas.unroll import at
from bmc.formulas.value_sets import Ranges, contains
from bmc.system.simulation import Simulator
from bmc.system.ties import hold
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType, membership
from chaincover.chain import Chain
from chaincover.concretise import canonical
from chaincover.concretise.canonical import Trials
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.report.chain_table import ChainTable
from chaincover.report.console import Console
from chaincover.verification.confirmation import told
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.report import told_inputs
from chaincover.verification.states import tabulate
from properties.goal import Goal

TYPES = {32: ValueType("float", 32, floating=True), 64: ValueType("double", 64, floating=True)}
BYTE = ValueType("uint8", 8)


def reader(form: Format, ranges: Ranges) -> TransitionSystem:
    """A system that keeps its only input."""
    vtype = TYPES[form.bits]
    x = InputVariable(f"fr_x{form.bits}", vtype, ranges)
    kept = StateVariable(f"fr_kept{form.bits}", vtype, BV(0, form.bits), x.symbol)
    return TransitionSystem("reader", (kept,), (x,), input_constraint=membership(x.symbol, x.type, x.values))


def chosen(form: Format, ranges: Ranges, wanted: FNode) -> int | None:
    """The input of a chain for the goal ``wanted`` of one step; None if there is no chain."""
    chain = generate(Problem(reader(form, ranges), (Goal("g", at(wanted, 0), None, 1),), None), Options(bound=1)).chain
    return None if chain is None else chain.run.inputs[0][f"fr_x{form.bits}"]


def above(form: Format, limit: float) -> FNode:
    return less(BV(pattern(limit, form), form.bits), TYPES[form.bits].symbol(f"fr_x{form.bits}"), form)


def below(form: Format, limit: float) -> FNode:
    return less(TYPES[form.bits].symbol(f"fr_x{form.bits}"), BV(pattern(limit, form), form.bits), form)


@pytest.mark.slow
@pytest.mark.parametrize("form", [FLOAT32, FLOAT64])
@pytest.mark.parametrize(
    ("low", "high", "value"),
    [
        (-1e9, 1e9, 0.0),
        (0.0, 1e9, 1.0),
        (12.5, 1e9, 20.0),
        (12.5, 20.0, 13.0),
        (0.0, 0.001, 0.0009765625),
        (37.0, 37.1, 37.03125),
        (1000.0, 1010.0, 1008.0),
        (-2.5, -0.3, -1.0),
        (-8e-4, -6e-4, -0.0006103515625),
        (1e30, 1e31, 26 * 2.0**95),
    ],
)
def test_plain_inputs_are_chosen(form: Format, low: float, high: float, value: float) -> None:
    wanted = And(above(form, low), below(form, high))
    assert chosen(form, every(form), wanted) == pattern(value, form)


def test_the_only_value_is_chosen() -> None:
    x = TYPES[64].symbol("fr_x64")
    odd = pattern(37.7, FLOAT64)
    assert chosen(FLOAT64, every(FLOAT64), equal(x, BV(odd, 64), FLOAT64)) == odd
    assert chosen(FLOAT64, every(FLOAT64), And(above(FLOAT64, 37.7), Not(above(FLOAT64, 37.70000000000001)))) == odd + 1
    assert chosen(FLOAT64, every(FLOAT64), is_nan(x, FLOAT64)) == FLOAT64.nan
    assert chosen(FLOAT64, every(FLOAT64), above(FLOAT64, 1.7e308)) is not None
    assert chosen(FLOAT64, every(FLOAT64), x.Equals(BV(FLOAT64.sign, 64))) == FLOAT64.sign
    assert chosen(FLOAT64, between(pattern(2.5, FLOAT64), FLOAT64.infinity, FLOAT64), TRUE()) == pattern(3.0, FLOAT64)
    assert chosen(FLOAT64, every(FLOAT64), And(above(FLOAT64, 1.0), below(FLOAT64, 1.0))) is None


@pytest.mark.slow
@settings(max_examples=7, deadline=None, derandomize=True)
@given(st.integers(0, 10**9))
def test_the_plainest_value_is_chosen_among_all(seed: int) -> None:
    """Against a look at every allowed value, where conditions on its pattern allow some of them here and there."""
    rng = random.Random(seed)
    first = rng.choice([0, FLOAT32.sign, pattern(rng.choice([1.0, 12.5, 1e-3, 7e5]), FLOAT32)])
    ranges = ((first, first + 150), (FLOAT32.nan, FLOAT32.nan))
    x = TYPES[32].symbol("fr_x32")
    bands = [sorted(rng.randrange(first, first + 160) for _ in range(2)) for _ in range(3)]
    mask = rng.choice([1, 2, 3, 8])
    wanted = And(
        Or([And(BVUGE(x, BV(low, 32)), BVULE(x, BV(high, 32))) for low, high in bands]),
        x.BVAnd(BV(mask, 32)).Equals(BV(rng.choice([0, mask]), 32)),
    )
    allowed = [raw for low, high in ranges for raw in range(low, high + 1)]
    fitting = [raw for raw in allowed if wanted.substitute({x: BV(raw, 32)}).simplify().is_true()]
    ordered = [raw for piece in plainest_first(ranges, FLOAT32) for raw in piece if raw in fitting]
    assert sorted(set(ordered)) == sorted(fitting)
    assert chosen(FLOAT32, ranges, wanted) == (ordered[0] if ordered else None)


@pytest.mark.parametrize("form", [FLOAT32, FLOAT64])
def test_every_value_has_a_place(form: Format) -> None:
    rng = random.Random(form.bits)
    pieces = plainest_first(every(form), form)
    assert pieces[0] == range(1)
    for raw in [rng.randrange(2**form.bits) for _ in range(500)] + [0, form.sign, form.infinity, form.nan]:
        assert any(raw in piece for piece in pieces) == bool(values_in([(raw, raw)], form))
    assert all(contains(every(form), raw) for piece in pieces for raw in (piece[0], piece[-1]))


def follower() -> TransitionSystem:
    """``last`` keeps the input of the step before, ``big`` whether the input is over it and over 12.5."""
    x = InputVariable("fr_x64", TYPES[64], every(FLOAT64))
    last = StateVariable("fr_last", TYPES[64], None, x.symbol)
    big = Ite(And(less(last.symbol, x.symbol, FLOAT64), above(FLOAT64, 12.5)), BV(1, 8), BV(0, 8))
    return TransitionSystem("follower", (last, StateVariable("fr_big", BYTE, BV(0, 8), big)), (x,), chosen=("fr_last",))


def test_trials_by_simulation_change_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    last = TYPES[64].symbol("fr_last")
    high = less(BV(pattern(3.3, FLOAT64), 64), last, FLOAT64)
    goal = Goal("g", And(at(high, 0), at(BYTE.symbol("fr_big").Equals(BV(1, 8)), 2)), None, 2)
    found = []
    for steps in (20_000, 0):
        monkeypatch.setattr(canonical, "STEPS", steps)
        chain = generate(Problem(follower(), (goal,), None)).chain
        assert chain is not None
        found.append(chain.run)
    assert found[0] == found[1]
    numbers = [found[0].states[0]["fr_last"], *(values["fr_x64"] for values in found[0].inputs)]
    assert numbers == [pattern(value, FLOAT64) for value in (4.0, 0.0, 20.0)]


def test_trials_keep_the_plan_and_the_hold() -> None:
    last = TYPES[64].symbol("fr_last")
    four, five = pattern(4.0, FLOAT64), pattern(5.0, FLOAT64)
    system = hold(follower(), 2)
    simulator = Simulator(system)
    run = simulator.run(simulator.initial({"fr_last": 0}), [{"fr_x64": four}] * 2 + [{"fr_x64": 0}] * 2)
    tried = Trials(system, [at(last.Equals(BV(five, 64)), 1), at(TYPES[64].symbol("fr_x64").Equals(last), 1)])
    found = tried.run(run, "fr_x64", 0, five)
    assert found is not None
    assert [values["fr_x64"] for values in found.inputs] == [five, five, 0, 0]
    assert [state["fr_last"] for state in found.states] == [0, five, five, 0, 0]
    assert tried.run(run, "fr_x64", 0, four) is None
    assert tried.run(run, "fr_x64", 2, five) is None
    begun = Trials(system, [at(last.Equals(BV(five, 64)), 0)]).run(run, "fr_last", None, five)
    assert begun is not None
    assert begun.states[0]["fr_last"] == five


# enumerating


def lamp(ranges: Ranges) -> TransitionSystem:
    """``on`` follows a temperature over 30; ``count`` counts NaNs up to 3."""
    x, count = TYPES[64].symbol("fr_temp"), BYTE.symbol("fr_count")
    hot = less(BV(pattern(30.0, FLOAT64), 64), x, FLOAT64)
    more = And(is_nan(x, FLOAT64), count.BVULT(BV(3, 8)))
    temperature = InputVariable("fr_temp", TYPES[64], ranges)
    return TransitionSystem(
        "lamp",
        (
            StateVariable("fr_on", BYTE, BV(0, 8), Ite(hot, BV(1, 8), BV(0, 8))),
            StateVariable("fr_count", BYTE, BV(0, 8), Ite(more, count + BV(1, 8), count)),
        ),
        (temperature,),
        input_constraint=membership(temperature.symbol, temperature.type, temperature.values),
    )


FEW = tuple((raw, raw) for raw in sorted(pattern(value, FLOAT64) for value in (20.5, 30.5, -3.0, float("nan"))))


def test_few_values_are_enumerated_and_many_are_not() -> None:
    formulas = [at(BYTE.symbol("fr_on").Equals(BYTE.symbol("fr_count")), 0)]
    states = reachable_states(lamp(FEW), formulas, 10_000_000)
    assert states is not None
    assert len(states) == 8
    graph = enumerated(lamp(FEW), formulas, 10_000_000)
    assert graph is not None
    assert [values["fr_temp"] for values in graph.inputs] == [low for low, _ in FEW[:3]], "-3 is like 20.5"
    table = tabulate(lamp(FEW), formulas, Clock(Limits()))
    assert table is not None
    assert (table.size, table.inputs.size) == (8, 3)
    no_nan = between(pattern(0.0, FLOAT64), pattern(40.0, FLOAT64), FLOAT64)
    for ranges, size, classes in ((every(FLOAT64), 8, 3), (no_nan, 2, 2)):
        assert reachable_states(lamp(ranges), formulas, 10_000_000) is None
        assert enumerated(lamp(ranges), formulas, 10_000_000) is None
        table = tabulate(lamp(ranges), formulas, Clock(Limits()))
        assert table is not None, "the solver finds one value of each class"
        assert (table.size, table.inputs.size) == (size, classes)


@pytest.mark.parametrize("ranges", [FEW, every(FLOAT64)])
def test_a_chain_with_floating_inputs_is_minimal(ranges: Ranges) -> None:
    on, count = BYTE.symbol("fr_on"), BYTE.symbol("fr_count")
    goals = [Goal("hot", at(on.Equals(BV(1, 8)), 0), None, 0), Goal("thrice", at(count.Equals(BV(3, 8)), 0), None, 0)]
    result = generate(Problem(lamp(ranges), tuple(goals), None))
    assert result.chain is not None
    assert (result.chain.length, result.bounds.lower) == (4, 4)


# what is shown


def test_steps_show_numbers() -> None:
    form = FORMATS[64]
    system = reader(form, ((0, 1),))
    inputs = ({"fr_x64": 0}, {"fr_x64": 1}, {"fr_x64": form.sign})
    states = tuple({"fr_kept64": raw} for raw in (pattern(0.1, form), 0, form.nan, form.sign))
    out = Console(file=io.StringIO(), width=100)
    ChainTable(system, Chain(Run(states, inputs), (), ()), {}).show(out)
    text = out.file.getvalue()
    cells = [line.split() for line in text.splitlines()[2:]]
    assert cells == [
        ["0", "0.1", "0.0"],
        ["1", "0.0", "5e-324"],
        ["2", "nan", "-0.0"],
        ["3", "-0.0", "(end)"],
    ]


def test_verification_tells_numbers() -> None:
    system = reader(FLOAT64, every(FLOAT64))
    inputs = [{"fr_x64": raw} for raw in (0, FLOAT64.sign, pattern(0.5, FLOAT64))]
    assert told_inputs(system, inputs) == "step 0: all 0; step 1: fr_x64=-0.0; step 2: fr_x64=0.5"
    assert told(system.state, {"fr_kept64": FLOAT64.nan, "other": 3}) == {"fr_kept64": "nan", "other": 3}
