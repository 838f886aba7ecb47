"""Canonical inputs, open start values, and results that are the same in every process."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from cruise import INPUTS, PROPERTIES, cruise
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import BV, BVUGE, BVULT, TRUE, And, BVAdd, Ite, Or
from random_systems import random_case

from bmc.engines.sat import SatEngine, SatSession
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, shift
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover import limits
from chaincover.chain import Chain
from chaincover.concretise import canonical
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem, Questions
from chaincover.replaying.judge import Judge
from properties.goal import Goal

BYTE = ValueType("uint8", 8)
SIGNED = ValueType("int8", 8, signed=True)
level, choice, dial = BYTE.symbol("pl_level"), BYTE.symbol("pl_choice"), SIGNED.symbol("pl_dial")


def test_open_start_values_are_chosen_or_reported() -> None:
    def system(chosen: tuple[str, ...] = ()) -> TransitionSystem:
        return TransitionSystem("open", (StateVariable("pl_level", BYTE, None, level),), (), chosen=chosen)

    goal = Goal("high", at(BVUGE(level, BV(100, 8)), 0), None, 0)
    any_start = Goal("any", TRUE(), None, 1)
    chain = generate(Problem(system(("pl_level",)), (goal,), None)).chain
    assert chain.run.states == ({"pl_level": 100},)
    assert chain.relies_on == ()
    assert generate(Problem(system(), (goal,), None)).chain.relies_on == ("pl_level",)
    assert generate(Problem(system(), (any_start,), None)).chain.relies_on == ()


def test_inputs_are_the_least_that_the_plan_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    values = ((-3, -2), (5, 90))
    allowed = Or(And(BV(253, 8).BVSLE(dial), dial.BVSLE(BV(254, 8))), And(BV(5, 8).BVSLE(dial), dial.BVSLE(BV(90, 8))))
    system = TransitionSystem(
        "dial",
        (StateVariable("pl_level", BYTE, BV(0, 8), Ite(choice.Equals(level), dial, level)),),
        (InputVariable("pl_dial", SIGNED, values), InputVariable("pl_choice", BYTE)),
        input_constraint=allowed,
    )
    goal = Goal("between", at(And(BVULT(BV(20, 8), level), BVULT(level, BV(30, 8))), 2), None, 2)
    chain = generate(Problem(system, (goal,), None), Options(engine="sat")).chain
    assert [dict(values) for values in chain.run.inputs] == [
        {"pl_dial": 5, "pl_choice": 0},
        {"pl_dial": 21, "pl_choice": 5},
    ]
    monkeypatch.setattr(limits, "AFTER", 0.0)
    result = generate(Problem(system, (goal,), None), Options(engine="sat"))
    (inputs,) = (stage for stage in result.answered.profile if stage.stage == "inputs")
    assert (result.chain.length, inputs.queries) == (2, 0), "what the effort does not suffice for is not asked"
    monkeypatch.undo()
    free = TransitionSystem(
        "free", (StateVariable("pl_level", SIGNED, BV(0, 8), dial),), (InputVariable("pl_dial", SIGNED),)
    )
    chain = generate(Problem(free, (Goal("two", TRUE(), None, 2),), None), Options(engine="sat")).chain
    assert [values["pl_dial"] for values in chain.run.inputs] == [0, 0]


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**9))
def test_inputs_are_lexicographically_least_among_all(seed: int) -> None:
    case = random_case(seed, goals=2, longest=2)
    chain = generate(Problem(case.system, tuple(case.goals), case.final), Options(bound=3)).chain
    if chain is None or chain.length > 4:
        return
    simulator = Simulator(case.system)
    goals = {goal.name: goal.antecedent for goal in case.goals}
    plan = [shift(goals[hit.goal], hit.step) for hit in chain.hits]
    plan += [] if case.final is None else [at(case.final, chain.length)]
    follows = compile_formulas(plan)
    names = [var.name for var in case.system.inputs]
    for combination in product(range(2), repeat=len(names) * chain.length):
        steps = [combination[i : i + len(names)] for i in range(0, len(combination), len(names))]
        inputs = [dict(zip(names, values, strict=True)) for values in steps]
        run = simulator.run(simulator.initial(), inputs)
        pairs = zip(run.states, run.inputs, strict=False)
        placed = {f"{name}@{k}": value for k, state in enumerate(run.states) for name, value in state.items()}
        placed |= {f"{name}@{k}": value for k, own in enumerate(inputs) for name, value in own.items()}
        if all(simulator.allowed(*pair) for pair in pairs) and all(follows(placed)):
            assert chain.run == run
            return
    raise AssertionError("no inputs follow the plan")


@pytest.mark.evidence
def test_results_are_the_same_in_every_process() -> None:
    code = (
        "from cruise import *; from chaincover.pipeline import generate;"
        "from chaincover.problem import Problem;"
        "r = generate(Problem(cruise(), tuple(PROPERTIES), INIT));"
        "print(r.chain, r.verdicts, r.bounds, r.graph.weights)"
    )
    root = Path(__file__).parents[3]
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{root}:{root}/tests/support"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(runs) == 1
    assert b"covered" in runs.pop()


def test_exclusive_inputs_stay_exclusive() -> None:
    chain = generate(Problem(cruise(), tuple(PROPERTIES), None)).chain
    assert all(sum(values.values()) == 1 for values in chain.run.inputs)
    assert all(set(values) == {s.symbol_name() for s in INPUTS} for values in chain.run.inputs)


def waiting(steps: int) -> tuple[Questions, Chain, SatEngine]:
    """Questions about runs of a counter, to be put to a SAT solver, and a chain of so many steps."""
    engine, own = SatEngine(), Limits(effort=1.0)
    own.watch(engine)
    system = TransitionSystem(
        "waiting",
        (StateVariable("pl_level", BYTE, BV(0, 8), Ite(choice.Equals(BV(3, 8)), level, BVAdd(level, BV(1, 8)))),),
        (InputVariable("pl_choice", BYTE),),
    )
    problem = Problem(system, (Goal("late", at(level.Equals(BV(steps, 8)), 0), None, 0),), None)
    simulator = Simulator(system)
    chain = Judge(problem).chain(simulator.run(simulator.initial(), [{"pl_choice": 7}] * steps))
    assert chain is not None
    return Questions(problem, engine, own), chain, engine


def canonical_run(questions: Questions, chain: Chain, after: Limits) -> Run:
    run, _ = canonical.canonicalise(questions, Judge(questions.problem).plan(chain), chain.run, after)
    return run


def test_a_long_chain_is_encoded_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """7,667 steps took 240 questions on the way, each for all steps so far: 48 s where 15 are meant."""
    asked: list[int] = []
    solved = SatSession._solve

    def solve(self, assumptions, time_limit, effort):
        if effort:
            asked.append(len(self._encoded.valid))
        return solved(self, assumptions, time_limit, effort)

    monkeypatch.setattr(SatSession, "_solve", solve)
    questions, chain, _ = waiting(200)
    run = canonical_run(questions, chain, questions.limits.after())
    assert [values["pl_choice"] for values in run.inputs] == [0] * 200
    assert {*asked} == {200}


def test_questions_about_a_large_formula_use_more_of_what_may_be_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the run counts for each what it counts everywhere."""
    settled = []
    for near in (1e9, 0.1):
        monkeypatch.setattr(canonical, "NEAR", near)
        questions, chain, engine = waiting(50)
        plan = Judge(questions.problem).plan(chain)
        settled.append(canonical.canonicalise(questions, plan, chain.run, questions.limits.after())[1])
        assert questions.limits.spent == pytest.approx(engine.cost.effort)
    assert settled == [True, False]
