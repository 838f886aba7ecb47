"""Algorithm 5: splitting, covering walks, collapsing; Examples 3 and 4; random systems against explicit search."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chain_tasks import (
    TSP,
    DoubtfulEngine,
    check_against_explicit_search,
    extended,
    task,
    with_reachable_states,
)
from enumerated import one_step
from machines import random_machine
from paper_examples import DETOUR, WEIGHTS, endless, figure_5, three_to_four, trap
from random_systems import random_case

from bmc.engines.protocol import Status
from chaincover.chain import Plan
from chaincover.concretise.refine import collapsed, covering_order, covering_walk, goals_of, refined, refined_chain
from chaincover.concretise.repair import concretise
from chaincover.limits import Limits
from chaincover.orderings.exact import ExactOrdering
from chaincover.weights import ReachGraph

K = DETOUR + 2


def graph(goals: str, weights: dict[tuple[str, str], int]) -> ReachGraph:
    return ReachGraph(tuple(goals), "end", weights, weights, (), (), 0, 0, 0.0)


def nothing() -> None:
    return


def test_example_3_repair_fails_along_the_shortest_path() -> None:
    wanted = extended(task(figure_5(), TSP, K))
    assert wanted.builder.graph().weights == WEIGHTS
    plan = Plan(("init", "p1", "p2", "final"), (0, 1, 2))
    _, attempt = concretise(wanted.questions, plan, K, print)
    assert attempt.status is Status.UNSAT
    assert attempt.failed == ("init", "p1", "p2")


@pytest.mark.parametrize("ordering", [TSP, "local", "exact"])
def test_example_4_refinement_finds_the_other_order(ordering: str) -> None:
    said: list[str] = []
    wanted = replace(task(figure_5(), ordering, K), progress=said.append)
    found = refined_chain(wanted)
    assert found.infeasible == (("init", "p1", "p2"),)
    assert found.plan == Plan(("init", "p2", "p1", "final"), (2, 2, 2))
    assert found.run is not None
    assert found.run.length == 6
    assert found.tried == 2
    assert "refine: init -> p1 without the edge to p2" in said
    assert check_against_explicit_search(figure_5(), wanted, found)


def test_example_4_collapsing_removes_the_edge_from_init_to_p1() -> None:
    wanted = extended(task(figure_5(), TSP, K))
    whole = wanted.builder.graph()
    abstraction = refined(whole, [("init", "p1", "p2")])
    assert abstraction.groups == {"p1": (("init", "p1"), ("p1",)), "p2": (("p2",),)}
    cover = covering_walk(abstraction, nothing)
    assert cover is not None
    assert set(cover) == {("init",), ("p1",), ("p2",), ("final",)}
    problem = collapsed(whole, abstraction, cover)
    assert problem.weights["init", "p1"] == 4
    assert {edge: w for edge, w in problem.weights.items() if edge in WEIGHTS and edge != ("init", "p1")} == {
        edge: w for edge, w in WEIGHTS.items() if edge != ("init", "p1")
    }
    assert ExactOrdering().solve(problem).path == ("init", "p2", "p1", "final")


def test_figure_6_the_split_rules_out_one_way_through_a_vertex() -> None:
    edges = {(a, b): 1 for a in ("init", "1", "2", "v") for b in ("1", "2", "v", "3", "4") if a != b}
    abstraction = refined(graph("12v34", edges), [("1", "v", "4")])
    assert abstraction.groups["v"] == (("v",), ("1", "v"))
    into = {v: {a[-1] for a, b in abstraction.weights if b == v} for v in abstraction.groups["v"]}
    out = {v: {b[-1] for a, b in abstraction.weights if a == v} for v in abstraction.groups["v"]}
    assert into == {("v",): {"init", "2"}, ("1", "v"): {"1"}}
    assert out == {("v",): {"1", "2", "3", "4"}, ("1", "v"): {"1", "2", "3"}}


def test_walks_of_the_abstraction_are_those_without_an_infeasible_sub_path() -> None:
    names = ("a", "b", "c")
    edges = {(x, y): 1 for x in ("init", *names) for y in (*names, "end") if x != y}
    excluded = [("init", "a", "b"), ("a", "b", "c"), ("b", "a", "b", "a"), ("c", "end"), ("a", "c", "a", "b", "end")]
    abstraction = refined(graph("abc", edges), excluded)

    def walks(length: int) -> list[tuple[str, ...]]:
        found = [("init",)]
        for _ in range(length):
            found = [(*walk, y) for walk in found for x, y in edges if x == walk[-1]]
        return found

    def refused(walk: tuple[str, ...]) -> bool:
        return any(walk[i : i + len(e)] == e for e in excluded for i in range(len(walk)))

    steps = [((("init",),), ("init",))]
    for length in range(1, 7):
        steps = [((*walk, b), b) for walk, here in steps for a, b in abstraction.weights if a == here]
        allowed = sorted(walk for walk in walks(length) if not refused(walk))
        assert sorted(goals_of(walk) for walk, _ in steps) == allowed


def test_a_covering_walk_needs_one_vertex_of_each_group() -> None:
    edges = {("init", "a"): 1, ("init", "b"): 1, ("a", "b"): 1, ("b", "a"): 1, ("a", "end"): 1, ("b", "end"): 1}
    whole = graph("ab", edges)
    cover = covering_walk(refined(whole, [("init", "a", "b")]), nothing)
    assert cover is not None
    assert goals_of(cover) == ("init", "b", "a", "end")
    both = refined(whole, [("init", "a", "b"), ("init", "b", "a")])
    assert covering_walk(both, nothing) is None
    assert covering_order(both, nothing) is None


def test_walks_may_come_back_where_orders_may_not() -> None:
    edges = {("init", "h"): 1, ("h", "a"): 1, ("a", "h"): 1, ("h", "b"): 1, ("b", "end"): 1}
    abstraction = refined(graph("hab", edges), [])
    cover = covering_walk(abstraction, nothing)
    assert cover is not None
    assert goals_of(abstraction.walk(cover)) == ("init", "h", "a", "h", "b", "end")
    assert covering_order(abstraction, nothing) is None


@pytest.mark.parametrize("case", [three_to_four(), trap()])
def test_repair_or_free_positions_suffice(case) -> None:
    wanted = task(case, TSP, 4)
    found = refined_chain(wanted)
    assert found.infeasible == ()
    check_against_explicit_search(case, wanted, found)
    assert found.run is not None
    assert found.run.length == {"three to four": 4, "trap": 3}[case[0].name]


def test_walks_without_end_are_given_up_and_the_graph_extended_before_giving_up() -> None:
    wanted = task(endless(), TSP, 1)
    found = refined_chain(wanted)
    assert found.status is Status.UNSAT
    assert ("init", "a", "v", "b") in found.infeasible
    assert max(len(part) for part in found.infeasible) > 5
    check_against_explicit_search(endless(), wanted, found)
    wanted = task(endless(), TSP, 2)
    found = refined_chain(wanted)
    assert found.plan is not None
    assert found.plan.path == ("init", "b", "a", "v", "end")


def test_what_is_not_decided_is_never_called_impossible() -> None:
    wanted = task(endless(), TSP, 1)
    doubtful = replace(wanted.questions, engine=DoubtfulEngine(), limits=Limits(effort=1))
    found = refined_chain(replace(wanted, questions=doubtful))
    assert found.status is Status.UNKNOWN
    assert found.gave_up
    assert found.infeasible == ()


def test_no_chain() -> None:
    case = trap(way_out=False)
    wanted = task(case, TSP, 4)
    found = refined_chain(wanted)
    assert found.status is Status.UNSAT
    assert found.infeasible == (("init", "v", "final"),)
    check_against_explicit_search(case, wanted, found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 63, 5])
@pytest.mark.parametrize("reachable", [False, True])
def test_random_machines_against_explicit_search(seed: int, reachable: bool) -> None:
    case = one_step(random_machine(seed))
    wanted = task(with_reachable_states(case) if reachable else case, TSP, [2, 4, 12][seed % 7 % 3], "allow")
    learned = check_against_explicit_search(case, wanted, refined_chain(wanted))
    assert learned or reachable or seed == 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [16, 96, 170, 12, 21])
def test_random_systems_against_explicit_search(seed: int) -> None:
    made = random_case(seed, longest=2)
    case = one_step((made.system, made.goals, made.final))
    wanted = task(case, TSP, 2 + seed % 3, "allow")
    check_against_explicit_search(case, wanted, refined_chain(wanted))
