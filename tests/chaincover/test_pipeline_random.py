"""Weights, bounds and chains against an explicit-state search on random small systems."""

from __future__ import annotations

import pytest
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from random_systems import RandomCase, random_case

from bmc.engines import choose
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.questions import Questions
from chaincover.runs.random import Simulated
from chaincover.weights import FINAL, INIT
from properties.goal import Goal

SEEDS = st.integers(0, 10**9)
BOUND = 4


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
@settings(max_examples=60, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from(["allow", "forbid"]))
def test_weights_are_those_of_explicit_search(seed: int, overlap: str) -> None:
    case = random_case(seed)
    builder = GraphBuilder(
        Questions(Problem(case.system, tuple(case.goals), case.final, overlap), choose("z3"), Limits()), BOUND
    )
    for _ in range(BOUND + 1):
        builder.extend()
    graph = builder.graph()
    reference = Explicit(case.system)
    for goal in case.goals:
        assert (goal.name in graph.unsatisfiable) == (not reference.triggers(goal))
    check_weights(case, graph, reference, reference.states, BOUND, overlap)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from(["allow", "forbid"]), st.booleans())
def test_weights_are_the_same_in_jumps_and_after_simulation(seed: int, overlap: str, simulate: bool) -> None:
    case = random_case(seed)
    builder = GraphBuilder(
        Questions(Problem(case.system, tuple(case.goals), case.final, overlap), choose("z3"), Limits()), BOUND
    )
    if simulate:
        simulated = Simulated(case.system, case.goals, case.final, overlap, Limits())
        simulated.chain()
        builder.observe(simulated.upper)
    for to in (seed % 3, BOUND):
        builder.extend(to)
    check_weights(case, builder.graph(), Explicit(case.system), Explicit(case.system).states, BOUND, overlap)


@pytest.mark.slow
@settings(max_examples=80, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from([0, 100_000]), st.sampled_from([0, 5]))
def test_chains_and_bounds_agree_with_explicit_search(seed: int, explore: int, improve: int) -> None:
    case = random_case(seed, goals=3, longest=2)
    result = generate(Problem(case.system, tuple(case.goals), case.final), Options(bound=6))
    reference = Explicit(case.system)
    if explore and result.chain is None:
        check_weights(case, result.graph, reference, reference.reachable(), result.depth, "allow")
    left_out = {v.goal for v in result.verdicts if v.status == "unreachable"}
    for goal in left_out:
        assert reference.least_chain([g for g in case.goals if g.name == goal], None, 20) is None
    exact = [v for v in result.verdicts if "reachable states were searched" in v.detail]
    proved = {v.goal for v in exact if v.status != "excluded"}
    for goal in proved:
        assert reference.least_chain([g for g in case.goals if g.name == goal], case.final, 20) is None
    covered = {v.goal for v in result.verdicts if v.status == "covered"}
    wanted = [g for g in case.goals if (g.name in covered if result.chain else g.name not in left_out)]
    optimum = reference.least_chain(wanted, case.final, 20)
    if optimum is not None and (result.chain is not None or not proved):
        assert result.bounds.lower <= optimum
    if result.chain is None:
        assert not any(v.status == "covered" for v in result.verdicts)
        return
    chain = result.chain
    assert optimum is not None
    assert chain.length >= optimum
    assert not result.bounds.minimal or chain.length == optimum
    assert not improve or result.bounds.minimal
    check_chain(case, reference, wanted, chain)


def check_chain(case: RandomCase, reference: Explicit, wanted, chain) -> None:
    simulator = Simulator(case.system)
    run = simulator.run(simulator.initial(), chain.run.inputs)
    assert run == chain.run
    states = [tuple(s[n] for n in reference.state_names) for s in run.states]
    inputs = [tuple(i[n] for n in reference.input_names) for i in run.inputs]
    assert all(simulator.allowed(s, i) for s, i in zip(run.states, run.inputs, strict=False))
    assert sorted(hit.goal for hit in chain.hits) == sorted(goal.name for goal in wanted)
    by_name = {goal.name: goal for goal in wanted}
    for hit in chain.hits:
        goal = by_name[hit.goal]
        assert hit.step + goal.length <= run.length
        assert reference.holds(goal.antecedent, states[hit.step :], inputs[hit.step :])
        if goal.consequent is not None:
            assert hit.consequent_held == reference.holds(goal.consequent, states[hit.step :], inputs[hit.step :])
    if case.final is not None:
        assert reference.holds(at(case.final, 0), states[-1:], [])
