"""The parts of a comparison of orderings: distributions, orders of goals, its exit code."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ordering_problems import problem

from bmc.system.transition import TransitionSystem
from chaincover.chain import Bounds, Verdict
from chaincover.comparison import Along, Asked, Comparison, Final, OtherOrders, Row, Trial, exit_code, in_order
from chaincover.graph.reachability import CoveringGraph
from chaincover.orderings import choose
from chaincover.orderings.protocol import OrderingResult
from chaincover.problem import Problem
from chaincover.report.console_compare import spread
from chaincover.weights import ReachGraph


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7], (7, 7, 7, 7, 7)),
        ([36, 62], (36, 42.5, 49, 55.5, 62)),
        ([62, 36, 36, 66, 56], (36, 36, 56, 62, 66)),
        ([1, 2, 3, 4], (1, 1.75, 2.5, 3.25, 4)),
    ],
)
def test_quartiles_lie_between_the_values(values: list[int], expected: tuple[float, ...]) -> None:
    found = spread(values)
    assert found is not None
    assert (found.least, found.first, found.median, found.third, found.greatest) == expected


def test_no_values_have_no_quartiles() -> None:
    assert spread([]) is None


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 7), st.integers(1, 50))
def test_the_cost_of_a_shortest_order_does_not_depend_on_the_order_of_the_goals(
    seed: int, count: int, other: int
) -> None:
    told = problem(seed, count, 0.8)
    permuted = replace(told, nodes=in_order(told.nodes, other))
    first, second = (choose("exact").solve(asked) for asked in (told, permuted))
    assert (first.cost, first.proved, bool(first.path)) == (second.cost, second.proved, bool(second.path))
    assert sorted(second.path) == sorted(first.path)


def test_orders_of_goals_are_permutations_that_the_seed_decides() -> None:
    goals = tuple("abcdef")
    assert in_order(goals, 0) == goals
    orders = [in_order(goals, seed) for seed in range(1, 6)]
    assert {tuple(sorted(order)) for order in orders} == {goals}
    assert len({*orders}) == 5
    assert orders == [in_order(goals, seed) for seed in range(1, 6)]


def test_exit_code_is_the_worst_of_the_rows() -> None:
    system = TransitionSystem("s", (), ())
    asked = Problem(system, (), None)
    graph = ReachGraph(("a",), "end", {}, {}, (), (), 1, 1, 0.5)
    answer = OrderingResult(("init", "a", "end"), 1, 1, True, 0.25, "exact")
    covered = Final(1, Bounds(1, 1, ""), (Verdict("a", "covered", 0),))
    excluded = replace(covered, verdicts=(Verdict("a", "excluded"),))
    undecided = replace(covered, verdicts=(Verdict("a", "undecided"),))
    good = Row("exact", (Trial(0, answer, Along(1)),), OtherOrders(1), OtherOrders(1), covered)
    no_chain = replace(good, trials=(Trial(0, answer, Along(None, note="no inputs")),))
    limited = replace(good, trials=(Trial(0, answer, Along(None, note="time limit", undecided=True)),))
    whole = Comparison(Asked(("exact",)), CoveringGraph(graph), graph, True, (good,), Bounds(1, 1, ""), False)
    cases = [
        ((good,), 0),
        ((good, no_chain, Row("tsp", final=covered, note="skipped: elkai is not installed")), 0),
        ((good, replace(good, final=excluded)), 4),
        ((good, replace(good, final=Final(note="no such library"))), 4),
        ((good, limited), 5),
        ((good, replace(good, final=undecided), replace(good, final=excluded)), 5),
        ((), 4),
    ]
    for rows, code in cases:
        assert exit_code(asked, replace(whole, rows=rows)) == code
    assert exit_code(asked, replace(whole, stopped_by="time limit")) == 5
    assert exit_code(asked, replace(whole, stopped_by="terminated")) == 143
    given_up = replace(graph, unknown=(("init", "a"),))
    without_path = Row("exact", final=covered)
    pathless = replace(whole, path=False, rows=(without_path,))
    assert exit_code(asked, pathless) == 0
    assert exit_code(asked, replace(pathless, graph=given_up)) == 5
    assert exit_code(asked, replace(pathless, found=CoveringGraph(graph, used_up=True))) == 5
