"""Constraints over several steps against a plain search over all runs of the free system, judged afterwards."""

from __future__ import annotations

import pytest
from constrained_runs import ConstrainedRuns, random_rules
from drawn_seeds import seeds
from random_systems import RandomCase, random_case

from bmc.system.constraints import constrained
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem


def problem(case: RandomCase, seed: int, overlap: str = "allow") -> Problem:
    return Problem(constrained(case.system, random_rules(seed, case)), tuple(case.goals), case.final, overlap)


def checked(case: RandomCase, seed: int, run: Run) -> None:
    """``run`` is one of the free system's and breaks no rule."""
    free = Simulator(case.system)
    again = free.run(free.initial(), run.inputs)
    assert all(free.allowed(s, i) for s, i in zip(again.states, again.inputs, strict=False))
    for rule in random_rules(seed, case):
        assert list(rule.broken(again)) == []


@pytest.mark.parametrize("engine", ["auto", "sat", "z3"])
@seeds(40)
def test_the_shortest_chain_is_that_of_all_runs_which_keep_the_constraints(seed: int, engine: str) -> None:
    case = random_case(seed, goals=3, longest=2)
    expected = ConstrainedRuns(case, random_rules(seed, case)).least(case.final, [goal.name for goal in case.goals])
    result = generate(problem(case, seed), Options(bound=12, engine=engine))
    assert result.bounds.lower <= (result.bounds.lower if expected is None else expected)
    if result.complete:
        assert result.chain is not None
        checked(case, seed, result.chain.run)
        assert expected is not None
        assert expected <= result.chain.length
        if engine == "auto" or result.bounds.minimal:
            assert result.chain.length == expected == result.bounds.lower
    elif engine == "auto":
        assert expected is None
