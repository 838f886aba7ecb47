"""Runs as short as those of a smaller system: the steps to come are exact, and what is found is a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from chain_checks import check_run
from drawn_seeds import seeds
from enumerated import drawn, one_step
from locks import FLAG, TIME, searched
from problems import problem_of
from pysmt.shortcuts import TRUE, And, Ite

from bmc.evaluation.vectors import column
from bmc.explicit.batch import Batch
from bmc.explicit.guide import NOWHERE, Guide
from bmc.explicit.input_classes import all_values
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, Valuation, ValueType
from chaincover.graph.layered import LayeredGoals
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.reductions.localise import localised
from chaincover.reductions.slicing import sliced_problem
from chaincover.runs.guided import GuidedSearch, Guiding
from properties.goal import Goal

LATE = 1 << 30
pytestmark = pytest.mark.needs_compiler


def guide_of(problem: Problem, order: Sequence[str]) -> tuple[Guide, LayeredGoals]:
    layered = LayeredGoals(problem, Limits(), lambda _: None)
    layered.reach()
    guide = layered.guide(order)
    assert guide is not None
    return guide, layered


def framed(*values: Valuation) -> dict[str, int]:
    """The values of variables at one step after the other, by their framed names."""
    return {f"{name}@{step}": value for step, each in enumerate(values) for name, value in each.items()}


def covers(goal: Goal) -> Callable[[Valuation, Valuation, Valuation], bool]:
    """Whether the step from a state with inputs to another one covers ``goal``."""
    evaluate = compile_formulas([goal.antecedent])

    def covered(begun: Valuation, inputs: Valuation, ended: Valuation) -> bool:
        (found,) = evaluate(framed({**begun, **inputs}, ended) if goal.takes_step else framed(ended))
        return bool(found)

    return covered


def every_step(system: TransitionSystem, start: Valuation) -> tuple[list[Valuation], list[tuple[int, Valuation, int]]]:
    """All states from ``start`` on, and all steps between them: by trying every input in every state."""
    simulator, states, arrows = Simulator(system), [start], []
    inputs = [
        dict(zip((var.name for var in system.inputs), values, strict=True))
        for values in product(*(all_values(var) for var in system.inputs))
    ]
    for here, state in enumerate(states):  # which grows meanwhile
        for each in inputs:
            if simulator.allowed(state, each):
                after = simulator.step(state, each)
                if after not in states:
                    states.append(after)
                arrows.append((here, each, states.index(after)))
    return states, arrows


def steps_to_come(
    problem: Problem, states: Sequence[Valuation], arrows: Sequence[tuple[int, Valuation, int]], order: Sequence[str]
) -> dict[tuple[int, int], int]:
    """For each state, and number of goals met, the steps to come: by going backward over all steps of the system."""
    goals = [covers(problem.by_name[name]) for name in order]
    told = [(here, [goal(states[here], own, states[after]) for goal in goals], after) for here, own, after in arrows]
    final = compile_formulas([TRUE() if problem.final is None else problem.final])
    found = {(number, len(goals)): 0 for number, state in enumerate(states) if next(iter(final(state)))}
    changed = True
    while changed:
        changed = False
        for (here, met, after), before in product(told, range(len(goals) + 1)):
            then = before
            while then < len(goals) and met[then]:
                then += 1
            if found.get((after, then), LATE) + 1 < found.get((here, before), LATE):
                found[here, before], changed = found[after, then] + 1, True
    return found


@seeds(8)
def test_the_steps_to_come_are_those_of_a_search_backward_over_all_steps(seed: int) -> None:
    problem = sliced_problem(problem_of(*one_step(drawn(seed, 2)))).problem
    states, arrows = every_step(problem.system, Simulator(problem.system).initial())
    order = problem.names[:: 1 if seed % 2 else -1]
    guide, layered = guide_of(problem, order)
    expected = steps_to_come(problem, states, arrows, order)
    columns = {v.name: column([state[v.name] for state in states], v.type.bits) for v in problem.system.state}
    numbers = guide.numbers(columns)
    assert (numbers >= 0).all()
    for met in range(len(order) + 1):
        found = guide.steps(numbers, np.full(len(numbers), met)).tolist()
        assert found == [expected.get((state, met), NOWHERE) for state in range(len(found))]
    layered.close()


TURNS = 300
"""Turns of a key that open a lock: too many for random runs."""


def lock(armed: int) -> Problem:
    """A key turns a lock while it is armed; another input arms it for the next step. What it has cost by then is in 40
    bits, and its states are too many to be searched. ``armed``: whether it is so at first."""
    wide = ValueType("wide", 40)
    key, arm = FLAG.symbol("held_key"), FLAG.symbol("held_arm")
    count, on, cost = TIME.symbol("held_count"), FLAG.symbol("held_on"), wide.symbol("held_cost")
    turns = And(key.Equals(FLAG.constant(1)), on.Equals(FLAG.constant(1)), count.BVULT(TIME.constant(TURNS)))
    after = Ite(turns, count + TIME.constant(1), Ite(key.Equals(FLAG.constant(1)), TIME.constant(0), count))
    state = (
        StateVariable("held_count", TIME, TIME.constant(0), after),
        StateVariable("held_on", FLAG, FLAG.constant(armed), arm),
        StateVariable("held_cost", wide, wide.constant(1), cost * wide.constant(5) + arm.BVZExt(39)),
    )
    inputs = tuple(InputVariable(name, FLAG, ((0, 1),)) for name in ("held_key", "held_arm"))
    goals = [Goal("open", at(count.Equals(TIME.constant(TURNS)), 0), None, 0)]
    return problem_of(TransitionSystem("held lock", state, inputs, TRUE()), goals, None)


def as_short(problem: Problem, visible: set[str], length: int) -> Run | None:
    """A run of ``length`` steps that the smaller system of the ``visible`` variables leads, if one is found."""
    small = localised(problem, visible)
    guide, layered = guide_of(small, small.names)
    batch, rows = Batch(problem.system), layered.inputs
    search = GuidedSearch(problem, batch, Limits(), Guiding(guide, small.names, dict, rows), (batch.initial(), length))
    while search.go_on():
        pass
    layered.close()
    return search.found


def test_a_run_as_short_as_that_of_the_smaller_system_is_found() -> None:
    """The smaller system does not know that the lock has to be armed."""
    problem = lock(armed=1)
    run = as_short(problem, {"held_count"}, TURNS)
    assert run is not None
    check_run(problem.system, problem.goals, None, problem.overlap, run)
    assert run.length == TURNS


def test_none_is_found_where_the_program_takes_longer() -> None:
    """It is armed one step late."""
    problem = lock(armed=0)
    assert as_short(problem, {"held_count"}, TURNS) is None
    late = as_short(problem, {"held_count"}, TURNS + 1)
    assert late is not None
    assert late.length == TURNS + 1


def test_a_smaller_system_that_knows_no_other_variable_proves_the_chain_that_it_leads_to() -> None:
    """The rest of its inputs arms no lock, so that following its chain leads nowhere."""
    known = searched(lock(armed=1), "localise", units=3.0).known
    assert (known.length, known.lower) == (TURNS, TURNS)
    assert known.proof.part is not None
    assert known.proof.part.visible == ("held_count",)


def test_an_input_is_held_to_the_end_though_no_goal_is_met_there() -> None:
    """The lock is open before the last step, which the final condition asks for."""
    problem = lock(armed=1)
    key = FLAG.symbol("held_key")
    rested = StateVariable(
        "held_rested",
        TIME,
        TIME.constant(0),
        Ite(key.Equals(FLAG.constant(0)), TIME.constant(1) + TIME.symbol("held_rested"), TIME.constant(0)),
    )
    system = replace(problem.system, state=(*problem.system.state, rested))
    problem = replace(problem, system=system, final=rested.symbol.Equals(TIME.constant(40)))
    run = as_short(problem, {"held_count", "held_rested"}, TURNS + 40)
    assert run is not None
    check_run(problem.system, problem.goals, problem.final, problem.overlap, run)
