"""Weights from the list of states against those that the solver finds under the invariant of reachable states."""

from __future__ import annotations

from math import inf

import pytest
from machines import Case, random_machine
from random_systems import random_case

from benchmarks.generated.systems import generated_case
from bmc.engines import choose as choose_engine
from bmc.system.hold import boundary, hold
from chaincover.check.trigger_states import trigger_states
from chaincover.graph.enumerated import ListedGraphBuilder
from chaincover.graph.explored import Reachable
from chaincover.graph.reachability import GraphBuilder
from chaincover.weights import ReachGraph
from properties.goal import Goal

FARTHEST = 9
"""The solver is asked for distances up to this one."""


def made(seed: int) -> Case:
    if seed % 3 == 0:
        case = random_case(seed, goals=4, longest=3)
        return case.system, case.goals, case.final
    if seed % 3 == 1:
        return random_machine(seed)
    drawn = generated_case(seed, states=16, goals=4, longest=2)
    return drawn.system, drawn.goals, drawn.final


def listed(case: Case, overlap: str, limit: int | None = None) -> ReachGraph:
    system, goals, final = case
    graph = Reachable(system, goals, final, 100_000).graph
    assert graph is not None
    builder = ListedGraphBuilder(system, graph, goals, final, overlap, limit=limit)
    assert not builder.complete
    builder.extend()
    assert builder.complete
    return builder.graph()


def asked(case: Case, overlap: str) -> ReachGraph:
    system, goals, final = case
    proved = Reachable(system, goals, final, 100_000).system
    builder = GraphBuilder(proved, goals, final, choose_engine("z3"), overlap)
    for _ in range(FARTHEST + 1):
        builder.extend()
    return builder.graph()


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", range(30))
def test_weights_are_those_of_the_solver(seed: int, overlap: str) -> None:
    case = made(seed)
    found, expected = listed(case, overlap), asked(case, overlap)
    assert found.unsatisfiable == expected.unsatisfiable
    assert found.lower.keys() == expected.lower.keys()
    for edge, lower in expected.lower.items():
        if edge in expected.weights:
            assert found.weights[edge] == found.lower[edge] == expected.weights[edge], edge
        else:
            assert lower > FARTHEST
            assert found.weights.get(edge, inf) > FARTHEST, edge
            assert edge in found.weights or found.lower[edge] > max(found.weights.values()), edge


@pytest.mark.parametrize("seed", range(0, 30, 3))
def test_weights_of_held_systems(seed: int) -> None:
    system, goals, final = made(seed)
    held = hold(system, 2)
    case = held, goals, boundary(held, final)
    found, expected = listed(case, "allow"), asked(case, "allow")
    for edge, weight in expected.weights.items():
        assert found.weights[edge] == weight, edge
    assert all(found.weights.get(edge, inf) > FARTHEST for edge in found.lower if edge not in expected.weights)


def test_weights_above_the_limit_are_only_lower_bounds() -> None:
    case = made(2)
    whole, limited = listed(case, "allow"), listed(case, "allow", limit=1)
    assert max(whole.weights.values()) > 1
    assert limited.weights == {edge: weight for edge, weight in whole.weights.items() if weight <= 1}
    assert limited.lower == whole.lower


def test_no_goals_leave_the_way_from_init_to_the_end() -> None:
    system, _, final = made(0)
    none: tuple[Goal, ...] = ()
    for end in (final, None):
        found, expected = listed((system, none, end), "allow"), asked((system, none, end), "allow")
        assert found.weights == expected.weights


@pytest.mark.parametrize("seed", range(0, 60, 2))
def test_the_states_where_goals_start_are_found_in_arrays_too(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    system, goals, final = made(seed)
    graph = Reachable(system, goals, final, 100_000).graph
    assert graph is not None
    for goal in goals:
        expected = trigger_states(graph, goal)
        with monkeypatch.context() as changed:
            changed.setattr("chaincover.check.trigger_states.ONE_BY_ONE", 0)
            assert trigger_states(graph, goal) == expected
