"""The engine that searches all reachable states against the solver under the invariant of reachable states."""

from __future__ import annotations

import random

import pytest
from explicit import Explicit
from machines import random_machine
from pysmt.shortcuts import BV, And, Not, Or, Symbol
from pysmt.typing import BOOL, BVType
from random_systems import random_case

from bmc.engines import choose
from bmc.engines.protocol import Engine, Status
from bmc.errors import InputRefused
from bmc.explicit.enumeration import reachability_invariant
from bmc.formulas.unroll import at, shift
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.options import Options
from chaincover.pipeline import generate
from properties.goal import Goal


def with_invariant(system: TransitionSystem) -> TransitionSystem:
    from dataclasses import replace

    found = reachability_invariant(system, [at(var.symbol, 0) for var in system.state], 1_000_000_000)
    return system if found is None else replace(system, invariants=(found,))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_answers_are_those_of_the_solver(seed: int) -> None:
    """From init and from goals: another goal at some step, one of two, and not a third."""
    case = random_case(seed, goals=4, longest=2) if seed % 2 else None
    system, goals, _ = (case.system, case.goals, case.final) if case else random_machine(seed)
    proved, rng = with_invariant(system), random.Random(seed)
    for source in (at(system.init_formula, 0), rng.choice(goals).antecedent):
        sessions = [
            choose(name).session(proved, source, [goal.antecedent for goal in goals]) for name in ("explicit", "z3")
        ]
        for _ in range(6):
            picked = [(rng.choice(goals), rng.randint(0, 3)) for _ in range(3)]
            parts = [shift(goal.antecedent, step) for goal, step in picked]
            asked = rng.choice([[parts[0]], [Or(parts[:2])], [parts[0], Not(parts[1])], [Or(parts[:2]), Not(parts[2])]])
            steps = max(step + goal.length for goal, step in picked)
            answers = [session.check(asked, steps) for session in sessions]
            assert answers[0].status is answers[1].status
            if answers[0].status is Status.SAT:
                check_run(system, sessions[0].run(), [source, *asked], steps)
            else:
                assert answers[0].core == tuple(asked)


def check_run(system: TransitionSystem, run, formulas, steps: int) -> None:  # type: ignore[no-untyped-def]
    simulator, reference = Simulator(system), Explicit(system)
    assert run.length == steps
    assert simulator.run(run.states[0], run.inputs) == run
    assert all(simulator.allowed(s, i) for s, i in zip(run.states, run.inputs, strict=False))
    states = [tuple(state[name] for name in reference.state_names) for state in run.states]
    inputs = [tuple(values[name] for name in reference.input_names) for values in run.inputs]
    assert states[0] in reference.reachable()
    assert all(reference.holds(formula, states, inputs) for formula in formulas)


def counter() -> TransitionSystem:
    byte = ValueType("byte", 8)
    count = byte.symbol("en_count")
    go = InputVariable("en_go", ValueType("bit", 1), ((0, 1),))
    following = (go.symbol.Equals(BV(1, 1))).Ite(count + BV(1, 8), count)
    return TransitionSystem("counter", (StateVariable("en_count", byte, BV(0, 8), following),), (go,))


def test_deep_answers_need_no_unrolling() -> None:
    system, count = counter(), Symbol("en_count", BVType(8))
    session = choose("explicit").session(system, at(system.init_formula, 0))
    for goal, steps in ((200, 200), (255, 255), (7, 100)):
        assert session.check([at(count.Equals(BV(goal, 8)), steps)], steps).status is Status.SAT
        assert session.run().states[-1]["en_count"] == goal
    assert session.check([at(count.Equals(BV(200, 8)), 199)], 199).status is Status.UNSAT


def test_symbols_that_are_no_variables_are_free() -> None:
    system, count = counter(), Symbol("en_count", BVType(8))
    session = choose("explicit").session(system, at(system.init_formula, 0))
    free, flag = Symbol("en_free@0", BVType(8)), Symbol("en_flag@0", BOOL)
    assert session.check([free.Equals(at(count, 3)), free.Equals(BV(3, 8)), flag], 3).status is Status.SAT
    assert session.check([free.Equals(at(count, 3)), free.Equals(BV(4, 8))], 3).status is Status.UNSAT
    assert session.check([And(flag, Not(flag))], 0).status is Status.UNSAT
    wide = Symbol("en_wide@0", BVType(32))
    assert session.check([wide.BVULT(BV(7, 32))], 0).status is Status.UNKNOWN, "not all values are tried"


def test_effort_is_a_limit() -> None:
    system, count = counter(), Symbol("en_count", BVType(8))
    session = choose("explicit").session(system, at(system.init_formula, 0))
    assert session.check([at(count.Equals(BV(9, 8)), 9)], 9, effort=0).status is Status.UNKNOWN
    assert session.check([at(count.Equals(BV(9, 8)), 9)], 9, effort=1).status is Status.SAT


def test_many_states_or_inputs_are_refused() -> None:
    system = counter()
    wide = ValueType("wide", 32)
    big = TransitionSystem(
        "big",
        (StateVariable("en_sum", wide, BV(0, 32), wide.symbol("en_sum") + wide.symbol("en_by")),),
        (InputVariable("en_by", wide, ((0, 1 << 31),)),),
    )
    with pytest.raises(InputRefused, match="too many reachable states") as caught:
        choose("explicit").session(big, at(big.init_formula, 0))
    assert "another engine" in caught.value.hint
    assert choose("explicit").session(system, at(system.init_formula, 0)) is not None


def chain_of(engine: str, seed: int):  # type: ignore[no-untyped-def]
    system, goals, final = random_machine(seed)
    chosen: tuple[Goal, ...] = tuple(goals)
    result = generate(system, chosen, final, Options(engine=engine))
    return result.chain and result.chain.run, result.verdicts, result.bounds.minimal


@pytest.mark.parametrize("seed", range(6))
def test_whole_searches_come_to_the_same(seed: int) -> None:
    assert chain_of("explicit", seed) == chain_of("z3", seed)


def test_the_engine_tells_its_name_and_cost() -> None:
    engine: Engine = choose("explicit")
    system = counter()
    session = engine.session(system, at(system.init_formula, 0))
    session.check([], 0)
    assert (engine.name, engine.cost.queries, engine.tries(system)) == ("explicit", 1, False)
    assert engine.version.startswith("numpy")
