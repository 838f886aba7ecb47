"""The nearest goal first: what comes out is a chain, and nothing comes out where none is found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chain_checks import check_chain
from engine_doubles import GivesUpAfter
from explicit import Explicit
from machines import Case, Machine, fork, random_machine
from problems import problem_of
from pysmt.shortcuts import And
from random_systems import random_case

from benchmarks.checks.generated.systems import generated_case
from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Engine
from bmc.errors import LimitReached
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.limits import Limits
from chaincover.problem import Questions
from chaincover.replaying.judge import Judge
from chaincover.runs import nearest as nearest_room
from chaincover.runs.nearest import NearestFirst
from properties.goal import Goal

LIMIT = 12


def made(seed: int) -> Case:
    if seed % 3 == 0:
        case = random_case(seed, goals=3, longest=2)
        return case.system, case.goals, case.final
    if seed % 3 == 1:
        return random_machine(seed)
    drawn = generated_case(seed, states=16, goals=4, longest=2)
    return drawn.system, drawn.goals, drawn.final


def nearest(
    case: Case, overlap: str, engine: Engine | None = None, limit: int = LIMIT, limits: Limits | None = None
) -> Run | None:
    """The run of a chain through all goals that goes to the nearest goal each time; None where that leads to none."""
    problem = problem_of(*case, overlap)
    questions = Questions(problem, engine or choose_engine("z3"), limits or Limits())
    run = NearestFirst(questions, problem.names, limit).run()
    chain = None if run is None else Judge(problem).chain(run)
    return None if chain is None or len(chain.goals) < len(problem.goals) else chain.run


@pytest.mark.slow
def test_what_comes_out_is_a_chain() -> None:
    """It starts in init, obeys the constraints, covers all goals (disjointly with ``forbid``) and ends in final."""
    chains = 0
    for seed in range(25):
        system, goals, final = case = made(seed)
        run = nearest(case, "allow")
        if run is None:
            continue
        chains += 1
        check_chain(case, run, "allow")
        reference = Explicit(system)
        if "allow" == "allow" and run.length <= 6:
            least = reference.least_chain(goals, final, run.length)
            assert least is not None, "no run is shorter than the least"
    assert chains > 8, "most seeds have a chain"


def labels(case: Case, run: Run) -> str:
    kind = case[0].state[0].type
    names = {value: label for label, value in kind.labels}
    return "".join(names[state[case[0].state[0].name]] for state in run.states)


def test_the_nearest_goal_comes_first_and_the_end_last() -> None:
    case = fork(stuck=False)
    run = nearest(case, "allow")
    assert run is not None
    assert labels(case, run) == "mlmrfm"


def test_a_dead_end_gives_nothing() -> None:
    """Neither where goals are left, nor where only the end is; a chain exists in the second case."""
    system, goals, final = fork(stuck=True)
    assert nearest((system, goals, None), "allow") is None
    assert nearest((system, goals[1:], final), "allow") is None
    assert nearest((system, goals[:1], final), "allow") is not None


def test_a_stretch_may_take_no_more_than_the_limit() -> None:
    """``far`` starts two steps from the start, three from ``near``."""
    case = fork(stuck=False)
    assert nearest(case, "allow", limit=3) is not None
    assert nearest(case, "allow", limit=2) is None
    system, goals, _ = case
    assert nearest((system, goals[:1], None), "allow", limit=2) is not None
    assert nearest((system, goals[:1], None), "allow", limit=1) is None


def test_goals_met_on_the_way_count() -> None:
    """Three goals on one step: one step covers all."""
    machine = Machine("pair", ["x", "y"], ["go", "stay"], [("x", "go", "y"), ("y", "go", "x")])
    step = at(And(machine.at_any("x"), machine.chosen("go")), 0)
    goals = tuple(Goal(name, step, None, 1) for name in ("a", "b", "c"))
    case = machine.system(), goals, None
    run = nearest(case, "allow")
    assert run is not None
    check_chain(case, run, "allow")
    assert run.length == 1


def test_no_goals_and_no_steps() -> None:
    system, goals, final = fork(stuck=False)
    for end in (None, final):
        run = nearest((system, (), end), "allow")
        assert run is not None
        assert run.length == 0
    there = nearest((system, goals[:1], None), "allow")
    assert there is not None
    assert there.length == 2


def test_variables_outside_of_all_goals_are_kept_from_stretch_to_stretch() -> None:
    """The run is one of the whole system, although the solver looks at a part of it."""
    system, goals, final = fork(stuck=False)
    other = random_case(2, goals=1).system
    more = replace(system, state=(*system.state, *other.state), inputs=(*system.inputs, *other.inputs))
    run = nearest((more, goals, final), "allow")
    assert run is not None
    simulator = Simulator(more)
    assert simulator.run(simulator.initial(), run.inputs) == run


def test_nothing_where_the_solver_gives_up_on_any_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without patience an unknown answer is not read as a longer way: only the end is asked for after it."""
    monkeypatch.setattr(nearest_room, "PATIENCE", 0)
    case = fork(stuck=False)
    patient = GivesUpAfter(1000)
    assert nearest(case, "allow", patient) is not None
    assert patient.asked > 4
    for after in range(patient.asked):
        engine = GivesUpAfter(after)
        assert nearest(case, "allow", engine) is None
        assert engine.asked <= after + 2
    assert nearest(case, "allow", GivesUpAfter(patient.asked)) is not None


def test_the_end_of_time_is_told() -> None:
    with pytest.raises(LimitReached):
        nearest(fork(stuck=False), "allow", limits=Limits(1e-9))
