"""Slicing: the searched part of a system behaves as the whole, and results are those of the whole."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from drawn_seeds import seeds
from enumerated import least_run
from live_systems import CONSTANT, DEAD, padded_case
from problems import problem_of
from pysmt.shortcuts import BV, TRUE, Symbol
from pysmt.typing import BVType
from random_systems import random_case

from bmc.analysis.slice import CONSTANTS, slice_and_spare, slice_system
from bmc.engines import choose
from bmc.formulas.unroll import framed
from bmc.invariants.induction import Prover, prove
from bmc.system.simulation import Simulator
from bmc.system.transition import Condition, StateVariable, TransitionSystem, ValueType
from chaincover.options import Options
from chaincover.partition.several import generate_several
from chaincover.pipeline import generate
from chaincover.reductions.slicing import plain_symbols, sliced
from chaincover.replaying.judge import on_whole
from properties.goal import Goal

BYTE = ValueType("byte", 8)


def byte(name: str, init: int | None, term: object) -> StateVariable:
    return StateVariable(name, BYTE, None if init is None else BV(init, 8), term)


@seeds(20)
def test_the_slice_takes_the_steps_of_the_whole(seed: int) -> None:
    case = padded_case(seed)
    part = sliced(case.system, case.goals, case.final)
    names = [v.name for v in part.state]
    assert not {*names} & {*CONSTANT, *DEAD}
    searched = plain_symbols([goal.antecedent for goal in case.goals])
    judged = plain_symbols([goal.consequent for goal in case.goals if goal.consequent is not None])
    _, spare = slice_and_spare(case.system, searched if case.final is None else [*searched, case.final], judged)
    assert part.inputs == tuple(var for var in case.system.inputs if var.name not in spare)
    whole, cut = Simulator(case.system), Simulator(part)
    rng = random.Random(seed)
    assert cut.initial() == {name: whole.initial()[name] for name in names}
    for _ in range(20):
        state = whole.initial({"lx_flag": rng.randrange(2)})
        for _ in range(10):
            inputs = {**{v.name: rng.randrange(2) for v in part.inputs}, **spare}
            own = {name: state[name] for name in names}
            assert cut.allowed(own, inputs) == whole.allowed(state, inputs)
            state = whole.step(state, inputs)
            assert cut.step(own, inputs) == {name: state[name] for name in names}


@seeds(16)
def test_least_lengths_are_those_of_the_whole(seed: int) -> None:
    case = padded_case(seed)
    whole = least_run(case.system, case.goals, case.final)
    part = least_run(sliced(case.system, case.goals, case.final), case.goals, case.final)
    assert (whole.run and whole.run.length) == (part.run and part.run.length)


@pytest.mark.slow
@seeds(2)
@pytest.mark.parametrize("engine", ["sat", "auto"])
def test_a_chain_is_as_long_as_a_search_over_the_whole_says(seed: int, engine: str) -> None:
    case = padded_case(seed, goals=3, longest=2)
    whole = least_run(case.system, case.goals, case.final)
    result = generate(problem_of(case.system, case.goals, case.final), Options(engine=engine, bound=12, effort=0.3))
    if whole.run is None:
        assert not result.complete
    elif result.chain is None:
        assert engine == "sat"
    elif result.complete:
        assert result.bounds.lower <= whole.run.length <= result.chain.length
        assert engine == "sat" or result.chain.length == whole.run.length
    if result.chain is not None:
        assert result.chain.run.states[0].keys() == {v.name for v in case.system.state}


def test_the_constants_that_a_slice_rests_on_are_an_invariant_that_can_be_proved() -> None:
    a, b, c, d, e = (Symbol(f"sl_{n}", BVType(8)) for n in "abcde")
    rows = [
        byte("sl_a", 0, a + b),
        byte("sl_b", 1, b * c),
        byte("sl_c", 1, c),
        byte("sl_d", 5, d),
        byte("sl_e", 6, e),
    ]
    system = TransitionSystem("constants", tuple(rows), ())
    part = slice_system(system, [a, e])
    assert [v.name for v in part.state] == ["sl_a", "sl_e"]
    assert [inv.name for inv in part.invariants] == [f"{CONSTANTS}sl_b, sl_c, sl_e"]
    assert part.invariants[0].formula == e.Equals(BV(6, 8))
    assert part.state[0].next == a + BV(1, 8)
    together = Condition("", b.Equals(BV(1, 8)).And(c.Equals(BV(1, 8))).And(e.Equals(BV(6, 8))))
    assert prove(system, [together], Prover(choose("z3")))[0].proved
    assert slice_system(system, [a]).invariants[0].formula == TRUE()
    assert slice_system(slice_system(system, [a]), [a]).invariants == slice_system(system, [a]).invariants
    assert not slice_system(replace(system, state=tuple(rows[3:])), []).invariants


def test_proved_invariants_stay_where_they_tell_something() -> None:
    a, b, c, d = (Symbol(f"sl_{n}", BVType(8)) for n in "abcd")
    state = (byte("sl_a", 0, b), byte("sl_b", 0, a), byte("sl_c", 0, c + BV(1, 8)), byte("sl_d", None, c))
    invariants = (
        Condition("within", a.BVULT(BV(9, 8)), proved=True),
        Condition("equal", d.Equals(a), proved=True),
        Condition("other", c.BVULE(d), proved=True),
        Condition("open", a.BVULT(BV(5, 8))),
    )
    system = TransitionSystem("invariants", state, (), invariants=invariants)
    only = slice_system(replace(system, invariants=invariants[:1]), [c])
    assert ([v.name for v in only.state], only.invariants) == (["sl_c"], ())
    one = slice_system(system, [c])
    assert [v.name for v in one.state] == ["sl_c", "sl_d"]
    assert [inv.name for inv in one.invariants] == ["equal", "other", f"{CONSTANTS}sl_a, sl_b"]
    assert [inv.formula for inv in one.invariants] == [d.Equals(BV(0, 8)), c.BVULE(d), TRUE()]


def test_a_consequent_is_judged_on_all_that_it_reads() -> None:
    count, seen = (Symbol(f"sl_{n}", BVType(8)) for n in ("count", "seen"))
    state = (byte("sl_count", 0, count + BV(1, 8)), byte("sl_seen", 0, count), byte("sl_dead", 3, seen + count))
    system = TransitionSystem("judged", state, ())
    goal = Goal("two", framed(count, 0).Equals(BV(2, 8)), framed(seen, 1).Equals(BV(2, 8)), 1)
    assert [v.name for v in sliced(system, [goal], None).state] == ["sl_count", "sl_seen"]
    result = generate(problem_of(system, [goal], None))
    assert result.chain is not None
    assert result.chain.hits[0].consequent_held is True
    assert result.chain.run.states[-1] == {"sl_count": 3, "sl_seen": 2, "sl_dead": 3}
    several = generate_several(problem_of(system, [goal], None))
    assert several.results[0].chain == result.chain


def test_asserts_are_judged_on_the_whole() -> None:
    count, dead = (Symbol(f"sl_{n}", BVType(8)) for n in ("count", "dead"))
    state = (byte("sl_count", 0, count + BV(1, 8)), byte("sl_dead", 0, count))
    asserts = (Condition("dead stays low", dead.BVULT(BV(1, 8))),)
    system = TransitionSystem("asserted", state, (), asserts=asserts)
    goal = Goal("three", framed(count, 0).Equals(BV(3, 8)), None, 0)
    assert [v.name for v in sliced(system, [goal], None).state] == ["sl_count"]
    chain = generate(problem_of(system, [goal], None)).chain
    assert chain is not None
    assert [(v.name, v.step) for v in chain.violations] == [("dead stays low", 2)]


def test_a_system_without_anything_to_cut_stays_as_it_is() -> None:
    case = random_case(3)
    observed = [v.symbol for v in case.system.state]
    part = slice_system(case.system, observed)
    if not part.invariants:
        assert part == case.system
    assert plain_symbols([framed(observed[0], 4), framed(observed[0], 2)]) == observed[:1]
    problem = problem_of(case.system, [], None)
    chain = generate(problem).chain
    assert chain is not None
    assert on_whole(chain, problem).run == chain.run
