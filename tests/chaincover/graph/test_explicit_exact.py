"""Exact searches in arrays against the search node by node, and least inputs against those that the solver finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chain_checks import check_run
from machines import Case, random_machine
from random_systems import random_case

from benchmarks.generated.systems import generated_case
from bmc.engines import choose as choose_engine
from bmc.explicit.state_graph import StateGraph
from bmc.system.hold import boundary, hold
from chaincover.budget import Budget
from chaincover.concretise.canonical import canonicalise
from chaincover.concretise.check_path import Concretizer
from chaincover.concretise.enumerated_inputs import least_inputs
from chaincover.graph import enumerated_exact as explicit_exact
from chaincover.graph import exhaustive
from chaincover.graph.enumerated_cover import DENSE_CELLS
from chaincover.graph.explored import Reachable
from chaincover.replay.simulated import Checker
from chaincover.weights import END, FINAL
from properties.goal import Goal
from properties.monitor import Monitor

LIMIT = 1_000_000


def made(seed: int) -> Case:
    if seed % 3 == 0:
        case = random_case(seed, goals=4, longest=3)
        return case.system, case.goals, case.final
    if seed % 3 == 1:
        return random_machine(seed)
    drawn = generated_case(seed, states=16, goals=5, longest=2)
    return drawn.system, drawn.goals, drawn.final


def held(case: Case, ticks: int) -> Case:
    system = hold(case[0], ticks)
    return system, case[1], boundary(system, case[2])


def graph_of(case: Case) -> StateGraph:
    graph = Reachable(*case, 100_000).graph
    assert graph is not None
    return graph


def check_same(case: Case, overlap: str) -> None:
    """The same sets of goals in the same least lengths, with runs that show them."""
    system, goals, final = case
    graph = graph_of(case)
    slow = exhaustive.exhaust(system, goals, final, overlap)
    fast = explicit_exact.exhaust(system, graph, goals, final, overlap, LIMIT)
    assert slow is not None
    assert fast is not None
    assert sorted((c.length, sorted(c.goals)) for c in fast.covers) == sorted(
        (c.length, sorted(c.goals)) for c in slow.covers
    )
    for cover, run in zip(fast.covers, fast.runs, strict=True):
        chosen = [goal for goal in goals if goal.name in cover.goals]
        assert run.length == cover.length
        check_run(system, chosen, final, overlap, run)
    one = exhaustive.least_run(system, goals, final, overlap)
    other = explicit_exact.least_run(system, graph, goals, final, overlap, LIMIT)
    assert one is not None
    assert other is not None
    assert (one.run is None) == (other.run is None)
    if one.run is not None and other.run is not None:
        assert one.run.length == other.run.length
        check_run(system, goals, final, overlap, other.run)


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", range(60))
def test_the_same_answers_as_node_by_node(seed: int, overlap: str) -> None:
    check_same(made(seed), overlap)


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", range(0, 30, 2))
def test_the_same_answers_with_held_inputs(seed: int, overlap: str) -> None:
    check_same(held(made(seed), 2 + seed % 2), overlap)


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", range(0, 30, 2))
def test_the_same_answers_where_nodes_are_kept_one_by_one(
    seed: int, overlap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert DENSE_CELLS > 0
    monkeypatch.setattr("chaincover.graph.enumerated_cover.DENSE_CELLS", 0)
    check_same(made(seed), overlap)


def test_a_limit_on_nodes_gives_no_answer() -> None:
    case = made(5)
    graph = graph_of(case)
    assert explicit_exact.exhaust(case[0], graph, case[1], case[2], "allow", 3) is None
    assert explicit_exact.least_run(case[0], graph, case[1], None, "allow", 3) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(45))
def test_least_inputs_are_those_of_the_solver(seed: int) -> None:
    case = made(seed) if seed % 2 else held(made(seed), 2)
    system, goals, final = case
    graph = graph_of(case)
    found = explicit_exact.exhaust(system, graph, goals, final, "allow", LIMIT)
    assert found is not None
    if not found.covers:
        return
    best = int(np.argmax([len(cover.goals) for cover in found.covers]))
    chosen: dict[str, Goal] = {goal.name: goal for goal in goals if goal.name in found.covers[best].goals}
    run = found.runs[best]
    first = {name: steps[0] for name, steps in Monitor(list(chosen.values())).covered(run).items()}
    credited = dict(sorted(first.items(), key=lambda it: it[1]))
    plan = Checker(system, goals, final).plan(run, credited, END if final is None else FINAL)
    tools = Concretizer(system, list(chosen.values()), final, choose_engine("z3"), Budget())
    least = least_inputs(system, graph, chosen, final, plan)
    assert least == canonicalise(tools, plan, run)


@pytest.mark.parametrize("seed", range(0, 15, 3))
def test_least_open_start_values(seed: int) -> None:
    system, goals, final = made(seed)
    opened = replace(system, state=tuple(replace(var, init=None) for var in system.state))
    graph = graph_of((opened, goals, final))
    found = explicit_exact.exhaust(opened, graph, goals, final, "allow", LIMIT)
    assert found is not None
    for cover, run in list(zip(found.covers, found.runs, strict=True))[:2]:
        chosen = {goal.name: goal for goal in goals if goal.name in cover.goals}
        first = {name: steps[0] for name, steps in Monitor(list(chosen.values())).covered(run).items()}
        credited = dict(sorted(first.items(), key=lambda it: it[1]))
        plan = Checker(opened, goals, final).plan(run, credited, END if final is None else FINAL)
        tools = Concretizer(opened, list(chosen.values()), final, choose_engine("z3"), Budget())
        assert least_inputs(opened, graph, chosen, final, plan) == canonicalise(tools, plan, run)
