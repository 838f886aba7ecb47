"""Whether a chain works for all start values that init leaves open, against runs from each of them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from problems import problem_of
from pysmt.shortcuts import BV, BVAdd, Ite
from random_systems import random_case

from bmc.engines.sat import SatEngine
from bmc.engines.unrolling import UnrollingSession
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.chain import Chain
from chaincover.concretise import canonical
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from chaincover.replaying.judge import Judge
from properties.goal import Goal
from properties.monitor import Monitor


def depends(problem: Problem, chain: Chain, after: Limits) -> tuple[str, ...]:
    questions = Questions(problem.of(chain.goals), SatEngine(), Limits())
    return canonical.start_dependence(questions, Judge(questions.problem).plan(chain), chain.run, after)


@pytest.mark.parametrize("seed", range(32))
def test_a_chain_depends_on_its_start_where_some_start_makes_it_fail(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canonical, "ENCODED", 1 + seed % 3)
    case, rng = random_case(seed, goals=2, longest=1), Random(seed)
    opened = "rs_a" if seed % 2 else "rs_b"
    state = tuple(replace(var, init=None) if var.name == opened else var for var in case.system.state)
    system = replace(case.system, state=state)
    problem, simulator = problem_of(system, case.goals, None), Simulator(system)
    given = [{var.name: rng.getrandbits(1) for var in system.inputs} for _ in range(6)]
    run = simulator.valid_part(simulator.run(simulator.initial(), given))
    chain = Judge(problem).chain(run)
    assert chain is not None
    starts = ({**chain.run.states[0], opened: value} for value in range(4))
    same = all(works(problem, chain, simulator.run(start, chain.run.inputs)) for start in starts)
    assert depends(problem, chain, Limits()) == (() if same else (opened,))


def works(problem: Problem, chain: Chain, run: Run) -> bool:
    """Whether ``run`` is allowed and covers the goals of ``chain`` where they are credited."""
    monitor = Monitor(problem.goals)
    return Simulator(problem.system).valid_part(run) == run and all(
        monitor.holds(run, hit.goal, hit.step) for hit in chain.hits
    )


def lamp(forgets: bool, steps: int) -> tuple[Problem, Chain]:
    """A counter beside a lamp that init leaves open and the first step sets, or no step does; the goal reads both."""
    word = ValueType("uint16", 16)
    count, lit, key = word.symbol("sd_count"), BOOLEAN.symbol("sd_lit"), BOOLEAN.symbol("sd_key")
    system = TransitionSystem(
        "lamp",
        (
            StateVariable("sd_count", word, BV(0, 16), BVAdd(count, BV(1, 16))),
            StateVariable("sd_lit", BOOLEAN, None, key if forgets else Ite(key, lit, lit)),
        ),
        (InputVariable("sd_key", BOOLEAN),),
    )
    problem = problem_of(system, [Goal("late", at(count.Equals(BV(steps, 16)).And(lit), 0), None, 0)], None)
    simulator = Simulator(system)
    chain = Judge(problem).chain(simulator.run(simulator.initial({"sd_lit": 1}), [{"sd_key": 1}] * steps))
    assert chain is not None
    assert chain.length == steps
    return problem, chain


def test_a_long_chain_is_asked_about_in_full_only_where_the_limits_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 10,661 steps took 90 s for this, 74 units of the 5 that one question has."""
    asked: list[int] = []
    check = UnrollingSession.check

    def noted(self, formulas, steps, *limits):
        asked.append(steps)
        return check(self, formulas, steps, *limits)

    monkeypatch.setattr(UnrollingSession, "check", noted)
    for forgets, after, expected, questions in (
        (True, Limits(effort=1.0), (), [32]),
        (False, Limits(effort=1.0), ("sd_lit",), [32, 200]),
        (False, Limits(effort=1e-3), ("sd_lit",), [32]),
    ):
        asked.clear()
        assert depends(*lamp(forgets, 200), after) == expected
        assert asked == questions
