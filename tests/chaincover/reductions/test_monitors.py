"""Goals of several steps and disjoint goals by their monitors, and the results for the goals as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from chain_checks import check_run
from problems import problem_of
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And

from bmc.errors import CheckDisagreed
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.chain import COVERED, Chain, LongTest
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.reductions.monitors import monitored
from chaincover.reductions.reduction import run_on
from chaincover.replaying.judge import credited_with
from properties.goal import Goal

LIGHT = ValueType("light", 2)
ASKED = LIGHT.symbol("reductions_asked")
SHOWN = LIGHT.symbol("reductions_shown")


def lights() -> TransitionSystem:
    """What is shown is what was asked for a step before."""
    state = StateVariable("reductions_shown", LIGHT, LIGHT.constant(0), ASKED)
    return TransitionSystem("lights", (state,), (InputVariable("reductions_asked", LIGHT, ((0, 3),)),), TRUE())


def asked(*values: int) -> FNode:
    """The antecedent: these are asked for in a row."""
    return And([at(ASKED.Equals(LIGHT.constant(value)), step) for step, value in enumerate(values)])


def shown(value: int) -> FNode:
    return SHOWN.Equals(LIGHT.constant(value))


def problem(goals: Sequence[Goal], final: FNode | None = None, overlap: str = "allow") -> Problem:
    return problem_of(lights(), goals, final, overlap=overlap)


ROW = Goal("row", asked(1, 2, 3), None, 3)
PAIR = Goal("pair", asked(2, 3), None, 2)


def chain_of(problem: Problem, **options: object) -> Chain:
    chain = generate(problem, Options(overlap=problem.overlap, **options)).chain  # type: ignore[arg-type]
    assert chain is not None
    check_run(problem.system, problem.goals, problem.final, problem.overlap, chain.run)
    return chain


def test_a_goal_is_told_by_the_step_in_which_it_begins() -> None:
    result = generate(problem([ROW, PAIR]))
    assert result.chain is not None
    assert result.chain.length == 3
    assert {hit.goal: hit.step for hit in result.chain.hits} == {"row": 0, "pair": 1}
    assert {verdict.goal: (verdict.status, verdict.step) for verdict in result.verdicts} == {
        "row": (COVERED, 0),
        "pair": (COVERED, 1),
    }
    assert (result.bounds.length, result.bounds.lower) == (3, 3)


def test_a_chain_has_what_the_program_has() -> None:
    for overlap in ("allow", "forbid"):
        chain = chain_of(problem([ROW, PAIR], overlap=overlap))
        assert {*chain.run.states[0]} == {"reductions_shown"}
        assert all({*values} == {"reductions_asked"} for values in chain.run.inputs)


def test_goals_that_must_not_share_steps_take_steps_of_their_own() -> None:
    assert chain_of(problem([ROW, PAIR], overlap="forbid")).length == 5


def test_the_certificate_says_what_its_goals_are() -> None:
    proof = generate(problem([ROW, PAIR])).certificate
    assert proof is not None
    assert {"row", "pair"} < {*proof.monitors}
    assert all("@0" in proof.monitors[name] for name in ("row", "pair"))
    plain = generate(problem([Goal("one", asked(1), None, 1)])).certificate
    assert plain is not None
    assert plain.monitors == {}


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
def test_a_goal_that_would_end_beyond_the_last_step_is_not_covered(overlap: str) -> None:
    """Only the whole goal counts: asking for 1 and 2 is no cover of what asks for 3 as well."""
    run = Simulator(lights()).run(Simulator(lights()).initial(), [{"reductions_asked": value} for value in (1, 2)])
    short = Problem(lights(), (ROW,), None, overlap=overlap)
    found = credited_with(["row"], short, run)
    assert found is None or not found.goals
    assert generate(short, Options(max_length=2, overlap=overlap)).chain is None
    assert chain_of(short).length == 3
    assert chain_of(Problem(lights(), (Goal("late", asked(1), None, 4),), None, overlap=overlap)).length == 4


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
def test_the_final_condition_is_that_of_the_state_after_the_last_step(overlap: str) -> None:
    """3 is shown after the last step of the goal; anything else takes one more, and what was shown before is no end."""
    assert chain_of(problem([ROW], shown(3), overlap)).length == 3
    for value in (0, 1, 2):
        chain = chain_of(problem([ROW], shown(value), overlap))
        assert (chain.length, chain.run.states[-1]["reductions_shown"]) == (4, value)


def test_tests_and_parts_have_no_inputs_of_monitors() -> None:
    reduction = monitored(problem([ROW, PAIR], overlap="forbid"))
    inner = generate(reduction.problem)
    assert inner.chain is not None
    run = inner.chain.run
    assert len(reduction.problem.system.inputs) == 2
    told = replace(inner, tests={"pair": run}, beyond={"row": LongTest(12, ((run.inputs, 2),))})
    result = reduction.restore(told)
    assert result.chain is not None
    assert result.tests["pair"] == result.chain.run
    assert result.beyond["row"] == LongTest(12, ((result.chain.run.inputs, 2),))


def test_a_chain_that_covers_its_goals_by_monitors_alone_is_refused() -> None:
    """As a wrong monitor would make it: the run is said to cover a goal that it does not."""
    reduction = monitored(problem([ROW, PAIR]))
    inner = generate(reduction.problem)
    assert inner.chain is not None
    run = inner.chain.run
    cut = run_on(reduction.problem.system, Run(run.states[:3], run.inputs[:2]))
    forged = replace(inner, chain=replace(inner.chain, run=cut))
    with pytest.raises(CheckDisagreed, match="by their monitors, but not as they are"):
        reduction.restore(forged)


def test_goals_of_one_step_are_left_alone() -> None:
    plain = problem([Goal("one", asked(1), None, 1)])
    reduction = monitored(plain)
    assert reduction.problem is plain
    result = generate(plain)
    assert reduction.restore(result) is result
