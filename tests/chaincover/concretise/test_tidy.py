"""Simpler inputs of a chain that was stopped are judged again."""

from __future__ import annotations

from boards import run_by
from machines import Machine
from problems import problem_of

from bmc.formulas.unroll import at
from chaincover.concretise.canonical import tidy
from chaincover.known import Known
from chaincover.replay.judge import Judge
from properties.goal import Goal


def test_a_goal_that_simpler_inputs_cover_earlier_is_credited_there() -> None:
    machine = Machine("tidy", ["m"], ["left", "right", "other"], [])
    goals = (
        Goal("left", at(machine.chosen("left"), 0), None, 1),
        Goal("right", at(machine.chosen("right"), 0), None, 1),
    )
    problem = problem_of(machine.system(), goals, None)
    chain = Judge(problem).chain(run_by(problem.system, 2, 1, 0))
    assert chain is not None
    assert {hit.goal: hit.step for hit in chain.hits} == {"right": 1, "left": 2}
    found = tidy(Known(problem, chain=chain))
    assert found is not None
    assert found == Judge(problem).chain(found.run)
    assert {hit.goal: hit.step for hit in found.hits} == {"right": 1, "left": 0}
