"""The graph from enumerated states against brute force, and against the solver under the invariant that they make."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from math import inf

import pytest
from enumerated import graph_of, held, made, problem_of, strengthened
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import Case

from bmc.engines import choose as choose_engine
from bmc.errors import LimitReached
from chaincover.graph.enumerated import enumerated_graph
from chaincover.graph.enumerated_goals import trigger_states
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.problem import Questions
from chaincover.weights import ReachGraph
from properties.goal import Goal

FARTHEST = 9
"""The solver is asked for distances up to this one."""


def by_states(case: Case) -> ReachGraph:
    return enumerated_graph(problem_of(case), graph_of(*case), Limits())


def asked(case: Case) -> ReachGraph:
    system, goals, final = case
    proved = strengthened(system, goals, final)
    problem = problem_of((proved, goals, final))
    builder = GraphBuilder(Questions(problem, choose_engine("z3"), Limits()))
    for _ in range(FARTHEST + 1):
        builder.extend()
    return builder.graph()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_weights_are_those_of_the_solver(seed: int) -> None:
    case = made(seed)
    found, expected = by_states(case), asked(case)
    assert found.unsatisfiable == expected.unsatisfiable
    assert found.lower.keys() == expected.lower.keys()
    for edge, lower in expected.lower.items():
        if edge in expected.weights:
            assert found.weights[edge] == found.lower[edge] == expected.weights[edge], edge
        else:
            assert lower > FARTHEST
            assert found.weights.get(edge, inf) > FARTHEST, edge
            assert edge in found.weights or found.lower[edge] > max(found.weights.values()), edge


@pytest.mark.parametrize("seed", range(0, 12, 3))
def test_weights_of_held_systems(seed: int) -> None:
    case = held(made(seed), 2)
    found, expected = by_states(case), asked(case)
    for edge, weight in expected.weights.items():
        assert found.weights[edge] == weight, edge
    assert all(found.weights.get(edge, inf) > FARTHEST for edge in found.lower if edge not in expected.weights)


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_weights_are_those_of_all_runs(seed: int) -> None:
    """Every run from a reachable state, by brute force."""
    system, goals, _ = case = made(seed)
    found, explicit = by_states(case), Explicit(system)
    starts = explicit.reachable()
    for a, b in permutations([goal for goal in goals if goal.name not in found.unsatisfiable], 2):
        expected = explicit.weight(a, b, starts, FARTHEST, 0)
        known = found.weights.get((a.name, b.name), inf)
        assert (known if known <= FARTHEST else None) == expected, (a.name, b.name)


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_the_states_in_which_goals_start_are_those_of_all_runs(seed: int) -> None:
    system, goals, _ = made(seed, longest=2)
    explicit = Explicit(system)
    for goal in goals:
        graph = graph_of(system, [goal], None)
        found = trigger_states(graph, system, goal)
        assert found is not None
        expected = explicit.triggers(goal) & set(explicit.reachable())
        names = [explicit.state_names.index(name) for name in graph.states.columns]
        assert {tuple(graph.states[state].values()) for state in found} == {
            tuple(state[place] for place in names) for state in expected
        }


def test_two_hundred_goals_have_their_exact_graph() -> None:
    """More goals than a word has bits; each is that of its copy among few."""
    case = made(3)
    system, goals, final = case
    copies = tuple(replace(goal, name=f"{goal.name} {n}") for n in range(200 // len(goals) + 1) for goal in goals)
    many, few = by_states((system, copies, final)), by_states(case)
    assert len(copies) >= 200
    for (a, b), weight in many.weights.items():
        one, other = a.rsplit(" ", 1)[0], b.rsplit(" ", 1)[0]
        if one != other:
            assert weight == few.weights[one, other]
    assert {a for a, _ in many.weights} >= {f"{goal.name} 7" for goal in goals if goal.name not in few.unsatisfiable}


def test_the_limits_are_asked_and_the_work_is_counted_goal_by_goal() -> None:
    case, limits, asked = made(2), Limits(), list[float]()
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(limits, "check", lambda: asked.append(limits.spent))
        enumerated_graph(problem_of(case), graph_of(*case), limits)
    assert len({*asked}) > 5
    assert asked == sorted(asked)


def test_a_time_limit_ends_it() -> None:
    with pytest.raises(LimitReached):
        enumerated_graph(problem_of(made(2)), graph_of(*made(2)), Limits(0.0))


def test_no_goals_leave_the_way_from_init_to_the_end() -> None:
    system, _, final = made(0)
    none: tuple[Goal, ...] = ()
    for end in (final, None):
        found, expected = by_states((system, none, end)), asked((system, none, end))
        assert found.weights == expected.weights
