"""Candidate invariants and k-induction against explicit search: what is said to be proved is true."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cruise import PROPERTIES, cruise
from explicit import Explicit
from hypothesis import given, settings, target
from hypothesis import strategies as st
from pysmt.shortcuts import BV, FALSE, And, Equals, Iff, Ite, Symbol, is_valid
from pysmt.typing import BOOL, BVType
from random_systems import random_case
from stated_facts import stated

from bmc.analysis.values import Evaluation
from bmc.engines import choose
from bmc.engines.protocol import Status
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, shift
from bmc.invariants.candidates import candidates, tightest
from bmc.invariants.induction import Prover, inductive, never, prove, told_by_sets
from bmc.system.transition import BOOLEAN, Condition, InputVariable, StateVariable, TransitionSystem, ValueType

SEEDS = st.integers(0, 10**9)


@pytest.mark.slow
@settings(max_examples=10, deadline=None, derandomize=True)
@given(SEEDS)
def test_the_name_of_a_candidate_tells_it(seed: int) -> None:
    system = random_case(seed).system
    variables = {var.name: var for var in system.state}
    for guess in candidates(system):
        again = stated(guess.name, variables)
        assert again is not None
        assert is_valid(Iff(again.formula, guess.formula))
    assert stated("nobody == 1", variables) is None
    assert stated("rs_a == red", variables) is None


@pytest.mark.slow
@settings(max_examples=10, deadline=None, derandomize=True)
@given(SEEDS)
def test_what_is_inductive_holds_in_every_reachable_state(seed: int) -> None:
    case = random_case(seed)
    guesses = candidates(case.system, [goal.antecedent for goal in case.goals])
    kept = inductive(case.system, guesses, Prover(choose("sat")))
    assert all(condition.proved for condition in kept)
    reference = Explicit(case.system)
    holds = compile_formulas([condition.formula for condition in kept])
    for state in reference.reachable():
        assert all(holds(dict(zip(reference.state_names, state, strict=True))))


@pytest.mark.slow
@settings(max_examples=10, deadline=None, derandomize=True)
@given(SEEDS, st.booleans())
def test_what_never_happens_by_induction_does_not_happen(seed: int, invariants: bool) -> None:
    case = random_case(seed)
    engine = choose("sat")
    found = inductive(case.system, candidates(case.system), Prover(engine)) if invariants else ()
    reference = Explicit(case.system)
    for goal in case.goals:
        reached = any(state in reference.triggers(goal) for state in reference.reachable())
        first = engine.session(case.system, at(case.system.init_formula, 0), [goal.antecedent])
        refuted = 0
        while refuted < 6 and not satisfied(first, goal, refuted):
            refuted += 1
        k = never(replace(case.system, invariants=found), goal.antecedent, goal.length, min(refuted, 6), Prover(engine))
        assert k is None or not reached


def satisfied(session, goal, step: int) -> bool:
    return session.check([shift(goal.antecedent, step)], step + goal.length).status is Status.SAT


def counter(bits: int, top: int) -> TransitionSystem:
    """Counts to ``top`` and starts again; a shadow counts the same."""
    kind = ValueType("u8", bits)
    x, y = (Symbol(name, BVType(bits)) for name in ("ind_x", "ind_y"))

    def following(s):
        return Ite(Equals(s, BV(top, bits)), BV(0, bits), s + BV(1, bits))

    zero = BV(0, bits)
    return TransitionSystem(
        "counter",
        (StateVariable("ind_x", kind, zero, following(x)), StateVariable("ind_y", kind, zero, following(y))),
        (),
    )


def test_an_equality_of_two_counters_is_found_and_makes_their_difference_impossible() -> None:
    system, engine = counter(8, 200), choose("sat")
    kept = tightest(inductive(system, candidates(system), Prover(engine)), ["ind_x", "ind_y"])
    assert [condition.name for condition in kept] == ["ind_x <= 200", "ind_y <= 200", "ind_x == ind_y"]
    x, y = (Symbol(name, BVType(8)) for name in ("ind_x", "ind_y"))
    apart = And(Equals(x, BV(7, 8)), Equals(y, BV(9, 8)))
    assert never(system, at(apart, 0), 0, 10, Prover(engine)) is None
    stronger = replace(system, invariants=kept)
    assert never(stronger, at(apart, 0), 0, 10, Prover(engine)) == 0


def test_induction_over_some_steps() -> None:
    system, engine = cruise(), choose("z3")
    assert never(system, FALSE(), 0, 1, Prover(engine)) == 0
    assert never(system, PROPERTIES[0].antecedent, PROPERTIES[0].length, 0, Prover(engine)) is None


@pytest.mark.slow
@settings(max_examples=8, deadline=None, derandomize=True)
@given(SEEDS)
def test_what_sets_of_values_tell_a_solver_proves_too(seed: int) -> None:
    system = random_case(seed).system
    told = 0
    for guess in candidates(system):
        if told_by_sets(system, [guess]):
            told += 1
            (asked,) = prove(system, [guess], Prover(choose("sat")))
            assert asked.proved
    target(told)


def test_a_limit_that_a_step_keeps_is_told_by_sets() -> None:
    system = counter(8, 200)
    x, y = (Symbol(name, BVType(8)) for name in ("ind_x", "ind_y"))
    limits = [Condition("x", x <= BV(200, 8)), Condition("y", y <= BV(200, 8))]
    assert told_by_sets(system, limits)


def test_a_choice_between_numbers_is_told_without_a_look_at_its_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    def choice(*given: object) -> None:
        raise AssertionError("a condition is looked at")

    monkeypatch.setattr(Evaluation, "_choice", choice)
    x, go = Symbol("ind_x", BVType(8)), Symbol("ind_go", BOOL)
    var = StateVariable("ind_x", ValueType("byte", 8), BV(0, 8), Ite(go, BV(1, 8), x))
    system = TransitionSystem("choice", (var,), (InputVariable("ind_go", BOOLEAN),))
    assert told_by_sets(system, [Condition("x", x <= BV(1, 8))])
    with pytest.raises(AssertionError, match="a condition is looked at"):
        told_by_sets(system, [Condition("x", x <= BV(0, 8))])
