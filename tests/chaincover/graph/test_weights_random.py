"""Weights against an explicit-state search on random small systems."""

from __future__ import annotations

import pytest
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problem_of
from random_systems import RandomCase, random_case

from bmc.engines import choose
from bmc.formulas.unroll import at
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.problem import Questions
from chaincover.runs.random import RandomRuns
from chaincover.weights import FINAL, INIT
from properties.goal import Goal

SEEDS = st.integers(0, 10**9)
BOUND = 4


def drawn(seed: int) -> RandomCase:
    """Goals of several steps where a run may end anywhere, as ``check`` asks about them; else goals of one step."""
    case = random_case(seed)
    return case if case.final is None else random_case(seed, longest=1)


def nodes(case: RandomCase) -> dict[str, Goal]:
    found = {INIT: Goal(INIT, at(case.system.init_formula, 0), None, 0)}
    found |= {goal.name: goal for goal in case.goals}
    if case.final is not None:
        found[FINAL] = Goal(FINAL, at(case.final, 0), None, 0)
    return found


def check_weights(case: RandomCase, graph, reference: Explicit, starts, bound: int, overlap: str) -> None:
    known = nodes(case)
    for (a, b), lower in graph.lower.items():
        if b == "end":
            continue
        least = known[a].length if overlap == "forbid" or b == FINAL else 0
        weight = reference.weight(known[a], known[b], starts, bound, least)
        assert graph.weights.get((a, b)) == weight, (a, b)
        if weight is None:
            assert lower == max(bound + 1, least), (a, b)
        else:
            assert lower == weight


@pytest.mark.slow
@settings(max_examples=10, deadline=None, derandomize=True)
@given(SEEDS)
def test_weights_are_those_of_explicit_search(seed: int) -> None:
    case = drawn(seed)
    builder = GraphBuilder(
        Questions(problem_of(case.system, case.goals, case.final, "allow"), choose("z3"), Limits()), BOUND
    )
    for _ in range(BOUND + 1):
        builder.extend()
    graph = builder.graph()
    reference = Explicit(case.system)
    for goal in case.goals:
        assert (goal.name in graph.unsatisfiable) == (not reference.triggers(goal))
    check_weights(case, graph, reference, reference.states, BOUND, "allow")


@pytest.mark.slow
@settings(max_examples=3, deadline=None, derandomize=True)
@given(SEEDS, st.booleans())
def test_weights_are_the_same_in_jumps_and_after_simulation(seed: int, simulate: bool) -> None:
    case = random_case(seed, longest=1) if simulate else drawn(seed)
    builder = GraphBuilder(
        Questions(problem_of(case.system, case.goals, case.final, "allow"), choose("z3"), Limits()), BOUND
    )
    if simulate:
        simulated = RandomRuns(problem_of(case.system, case.goals, case.final, "allow"), Limits())
        assert all(run.length >= 0 for run in simulated.runs())
        builder.observe(simulated.upper)
    for to in (seed % 3, BOUND):
        builder.extend(to)
    check_weights(case, builder.graph(), Explicit(case.system), Explicit(case.system).states, BOUND, "allow")
