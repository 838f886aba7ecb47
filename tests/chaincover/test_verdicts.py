"""What a verdict says is not more than what the graph shows."""

from __future__ import annotations

import pytest

from bmc.engines.protocol import Status
from chaincover.chain import EXCLUDED, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED
from chaincover.concretise.check_path import Attempt
from chaincover.verdicts import NoChain, judge
from chaincover.weights import END, FINAL, Edge, ReachGraph


def graph(*edges: Edge, goals: str = "ab", unsatisfiable: tuple[str, ...] = (), end: str = FINAL) -> ReachGraph:
    """Every edge with weight 1, K = 3."""
    ones = dict.fromkeys(edges, 1)
    return ReachGraph(tuple(goals), end, ones, ones, (), unsatisfiable, 3, 0, 0.0)


def told(found: ReachGraph, attempt: Attempt | None = None) -> list[tuple[str, str]]:
    why = NoChain(attempt, 7, {}, "", frozenset(), "")
    return [(verdict.status, verdict.detail) for verdict in judge(found, None, why, "")]


def test_only_an_edge_from_init_says_that_a_goal_is_reached() -> None:
    """a has one. The way to b leads through a, perhaps from states of a that no run reaches."""
    assert told(graph(("init", "a"), ("a", "b"))) == [
        (NO_WAY_TO_FINAL, "reached, but no way to the final condition found within K = 3"),
        (NO_WAY_TO_FINAL, "may be reached, but no way to the final condition found within K = 3"),
    ]


def test_what_was_not_found_is_so_within_the_bound() -> None:
    ways = [("init", "a"), ("init", "b"), ("a", "final"), ("b", "final")]
    assert told(graph(*ways)) == [
        (EXCLUDED, f"no run within K = 3 per goal covers it together with {other}") for other in "ba"
    ]
    assert told(graph(("init", "a"), ("a", "final")))[1] == (NOT_WITHIN_BOUND, "not reached from init within K = 3")


def test_a_goal_that_others_keep_out_is_so_within_the_bound() -> None:
    """a and b have no way to each other; from both there is one to d, and on to c."""
    ways = [("init", g) for g in "abc"] + [(g, "final") for g in "abc"]
    found = told(graph(*ways, ("d", "final"), ("init", "d"), ("a", "d"), ("b", "d"), ("d", "c"), goals="abcd"))
    assert (
        found[2:]
        == [(EXCLUDED, "no chain was made, because within K = 3 per goal not all goals fit into one: a, b")] * 2
    )


@pytest.mark.parametrize(
    ("attempt", "status", "detail"),
    [
        (None, UNDECIDED, "no order of the goals was tried"),
        (Status.UNKNOWN, UNDECIDED, "the solver gave up on the inputs for the covering path"),
        (
            Status.UNSAT,
            NOT_WITHIN_BOUND,
            "the graph has a covering path, but no inputs with K = 7 join a -> b in its order",
        ),
    ],
)
def test_a_path_of_the_graph_is_no_run(attempt: Status | None, status: str, detail: str) -> None:
    edges = [("init", "a"), ("a", "b"), ("b", END)]
    tried = None if attempt is None else Attempt(attempt, None, ("a", "b"))
    assert told(graph(*edges, end=END), tried) == [(status, detail)] * 2
