"""The canonical inputs from enumerated states against those that the solver finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from enumerated import exhaust, graph_of, held, made
from machines import Case
from problems import problem_of

from bmc.engines import choose as choose_engine
from bmc.explicit.input_classes import TooManyValues
from bmc.explicit.scope import Inputs
from bmc.system.transition import Run
from chaincover.concretise.canonical import canonicalise, enumerated_values
from chaincover.limits import Limits
from chaincover.problem import Questions
from chaincover.replaying.judge import Judge


def check_same(case: Case, run: Run, names: frozenset[str]) -> None:
    """Both ways come to the same inputs for the goals ``names`` at the steps where ``run`` covers them first."""
    questions = Questions(problem_of(*case).of(names), choose_engine("z3"), Limits())
    judge = Judge(questions.problem)
    chain = judge.chain(run)
    assert chain is not None
    plan = judge.plan(chain)
    least = enumerated_values(questions, graph_of(*case), plan)
    assert least is not None
    assert (least, True) == canonicalise(questions, plan, chain.run, Limits())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15))
def test_least_inputs_are_those_of_the_solver(seed: int) -> None:
    case = made(seed) if seed % 2 else held(made(seed), 2)
    found = exhaust(*case)
    if not found.covers:
        return
    best = int(np.argmax([len(cover.goals) for cover in found.covers]))
    check_same(case, found.runs[best], found.covers[best].goals)


@pytest.mark.parametrize("seed", range(1, 25, 4))
def test_they_are_the_same_where_a_solver_found_the_steps(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = made(seed)
    found = exhaust(*case)
    monkeypatch.setattr("bmc.explicit.scope.Inputs.prepare", refused)
    best = int(np.argmax([len(cover.goals) for cover in found.covers]))
    check_same(case, found.runs[best], found.covers[best].goals)


def refused(inputs: Inputs) -> Iterator[int]:
    """As if one input had too many values."""
    yield 1
    raise TooManyValues("too many")


@pytest.mark.parametrize("seed", range(0, 6, 3))
def test_least_open_start_values(seed: int) -> None:
    system, goals, final = made(seed)
    state = tuple(replace(var, init=None) for var in system.state)
    case = replace(system, state=state, chosen=tuple(var.name for var in state)), goals, final
    found = exhaust(*case)
    for cover, run in list(zip(found.covers, found.runs, strict=True))[:2]:
        check_same(case, run, cover.goals)
