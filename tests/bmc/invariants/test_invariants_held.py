"""Invariants that are found against all reachable states: with held inputs, open start values and dead ends."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from drawn_seeds import seeds
from held_runs import MOST, HeldRuns, Reached
from machines import random_machine
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE
from random_systems import random_case
from stated_facts import stated

from benchmarks.checks.generated.systems import generated_case
from bmc.analysis.state_values import state_values
from bmc.engines import choose
from bmc.formulas.evaluate import compile_formulas
from bmc.invariants.candidates import facts_of, self_found, value_facts
from bmc.invariants.induction import Prover, inductive
from bmc.system.ties import PHASE, boundary, hold
from bmc.system.transition import Condition, StateVariable, TransitionSystem, Valuation, ValueType
from chaincover.check.found_invariants import INDUCTION, find_invariants
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem, Questions
from properties.goal import Goal

Case = tuple[TransitionSystem, tuple[Goal, ...], FNode | None]


def case_of(seed: int) -> Case:
    """A small system of one of three kinds; of some the start values of a variable or two are open."""
    kind, rng = seed % 3, random.Random(seed)
    if kind == 0:
        made = random_case(seed, goals=3, longest=2)
        system, goals, final = made.system, made.goals, made.final
    elif kind == 1:
        system, goals, final = random_machine(seed)
    else:
        other = generated_case(seed, states=16, goals=3, longest=2)
        system, goals, final = other.system, other.goals, other.final
    opened = rng.sample([var.name for var in system.state], min(rng.choice([0, 0, 1, 2]), len(system.state)))
    state = tuple(replace(var, init=None) if var.name in opened else var for var in system.state)
    return replace(system, state=state), goals, final


def starts(system: TransitionSystem, reached: Reached) -> Iterator[tuple[int, ...]]:
    free = [range(var.type.greatest + 1) if var.init is None else None for var in system.state]
    init = reached.init
    yield from product(*(here or (init[place],) for place, here in enumerate(free)))


def reachable(system: TransitionSystem) -> list[Valuation]:
    """All states of runs from every start state; PHASE and the inputs kept are part of them."""
    reached = Reached(system)
    todo = list(starts(system, reached))
    seen = set(todo)
    while todo:
        for after in reached.following[todo.pop()].values():
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return [dict(zip(reached.state_names, state, strict=True)) for state in sorted(seen)]


def broken(facts: Sequence[Condition], states: Sequence[Valuation]) -> list[str]:
    """The names of those that some state does not satisfy."""
    holds = compile_formulas([fact.formula for fact in facts])
    rows = [holds(state) for state in states]
    return [fact.name for place, fact in enumerate(facts) if not all(row[place] for row in rows)]


def guesses(system: TransitionSystem, states: Sequence[Valuation], rng: random.Random) -> list[Condition]:
    """What holds in a few of ``states``, the internal ones of holding included: much of it is false in others."""
    seen = rng.sample(list(states), max(1, len(states) // rng.choice([1, 2, 4])))
    columns = {var.name: np.array([state[var.name] for state in seen], dtype=np.uint64) for var in system.state}
    return facts_of(system.state, columns)


@pytest.mark.slow
@pytest.mark.parametrize("ticks", [1, 2])
@seeds(2)
def test_what_is_found_holds_in_every_reachable_state(seed: int, ticks: int) -> None:
    free, goals, _ = case_of(seed)
    system = hold(free, ticks)
    states = reachable(system)
    engine, formulas = choose("sat"), [goal.antecedent for goal in goals]
    assert broken(value_facts(system), states) == []
    sets = state_values(system)
    assert sets is not None
    assert all(any(low <= s[name] <= high for low, high in sets[name]) for s in states for name in sets)
    assert broken(self_found(system, formulas, Prover(engine)), states) == []
    told = find_invariants(system, Questions(Problem(system, tuple(goals), None), engine, Limits()), None)
    known = {var.name: var for var in system.state}
    assert broken([fact for one in told if (fact := stated(one.text, known)) is not None], states) == []
    assert all(stated(one.text, known) is not None for one in told)
    assert {one.k for one in told} <= {None, *range(1, INDUCTION + 1)}


@pytest.mark.slow
@pytest.mark.parametrize("ticks", [1, 3])
@seeds(3)
def test_of_guesses_partly_false_only_true_ones_are_kept(seed: int, ticks: int) -> None:
    system = hold(case_of(seed)[0], ticks)
    states, rng = reachable(system), random.Random(seed)
    engine = choose("sat")
    for k in range(1, 4):
        made = guesses(system, states, rng)
        false = set(broken(made, states))
        kept = inductive(system, made, Prover(engine), k=k)
        assert not false & {fact.name for fact in kept}
        assert all(fact.proved for fact in kept)


@pytest.mark.slow
@pytest.mark.parametrize("ticks", [2, pytest.param(3, marks=pytest.mark.evidence)])
@seeds(2)
def test_the_search_in_held_steps_uses_only_what_is_true(seed: int, ticks: int) -> None:
    free, drawn, final = case_of(seed)
    goals = [goal for goal in drawn if goal.length <= 1]  # no monitor is a part of states then
    if not goals:
        return
    system = hold(free, ticks)
    limits = Options(bound=4 * ticks, engine="sat")
    result = generate(Problem(system, tuple(goals), boundary(system, final)), limits)
    known = {var.name: var for var in system.state}
    fixed = [name for name in result.invariants if name.startswith(NEVER_CHANGE)]
    used = [fact for name in result.invariants if (fact := stated(name, known)) is not None]
    assert len(fixed) + len(used) == len(result.invariants)
    states = reachable(system)
    assert broken(used, states) == []
    for name in ", ".join(fixed).removeprefix(NEVER_CHANGE).split(", ") if fixed else []:
        assert len({state[name] for state in states}) == 1
    if any(var.init is None for var in free.state):
        return
    plain = HeldRuns(free, goals, ticks)
    for verdict in result.verdicts:
        if verdict.status == "unreachable":
            assert plain.least(None, [verdict.goal], MOST) is None


NEVER_CHANGE = "never change: "
COUNT = ValueType("ih_count", 3)


def rising(name: str, defined: FNode) -> tuple[TransitionSystem, FNode]:
    """Counts 0, 1, 2, ...; a step is only there where ``defined`` (over the count) says so."""
    symbol = COUNT.symbol(name)
    following = symbol + BV(1, 3)
    return TransitionSystem(name, (StateVariable(name, COUNT, BV(0, 3), following),), (), defined=defined), symbol


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("last", [0, 1, 2, 3])
def test_a_state_without_a_step_that_only_short_runs_reach_counts(k: int, last: int) -> None:
    """Runs end after ``last`` steps: no step of k states exists then, and all rests on the start of runs."""
    symbol = COUNT.symbol(f"ih_dead{last}")
    system, _ = rising(symbol.symbol_name(), symbol.BVULT(BV(last, 3)))
    facts = [Condition(f"below {n}", symbol.BVULT(BV(n, 3))) for n in range(1, 8)]
    kept = {fact.name for fact in inductive(system, facts, Prover(choose("sat")), k=k)}
    assert kept == {f"below {n}" for n in range(last + 1, 8)}


def test_no_step_at_all_and_open_start_values() -> None:
    symbol = COUNT.symbol("ih_stuck")
    stuck = TransitionSystem("stuck", (StateVariable("ih_stuck", COUNT, None, symbol),), (), input_constraint=FALSE())
    facts = [Condition("below 5", symbol.BVULT(BV(5, 3))), Condition("anything", TRUE())]
    for k in (1, 2, 3):
        assert [fact.name for fact in inductive(stuck, facts, Prover(choose("sat")), k=k)] == ["anything"]
    assert value_facts(stuck) == ()


def test_the_phase_of_a_held_step_stays_below_its_length() -> None:
    system = hold(random_case(4).system, 3)
    assert f"{PHASE} <= 2" in {fact.name for fact in value_facts(system)}
