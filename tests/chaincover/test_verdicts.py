"""What a verdict says is not more than what is known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from boards import run_by
from machines import fork
from problems import problem_of

from chaincover.chain import (
    COVERED,
    EXCLUDED,
    NO_WAY_TO_FINAL,
    NOT_WITHIN_BOUND,
    UNDECIDED,
    UNREACHABLE,
    Verdict,
)
from chaincover.known import FailedRepair, Known, Reason
from chaincover.minimality.goal_verdicts import judge_goals
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.replaying.judge import Judge
from chaincover.verdicts import AFTER_A_WRAP, never_by_induction, next_step
from chaincover.weights import END, FINAL, Edge, ReachGraph
from properties.goal import Goal


def graph(*edges: Edge, goals: str = "ab", end: str = FINAL) -> ReachGraph:
    """Every edge with weight 1, K = 3."""
    ones = dict.fromkeys(edges, 1)
    return ReachGraph(tuple(goals), end, ones, ones, (), (), 3, 0, 0.0)


def named(names: str, end: str = FINAL) -> Problem:
    """A problem with these goals; which they are makes no difference here."""
    system, goals, final = fork(stuck=False)
    return problem_of(system, tuple(replace(goals[0], name=name) for name in names), final if end == FINAL else None)


def told(
    found: ReachGraph, stopped_by: str = "", options: Options | None = None, used_up: bool = False, **known: object
) -> list[tuple[str, str]]:
    what = replace(Known(named("".join(found.goals), found.end), graph=found), **known)  # type: ignore[arg-type]
    verdicts = judge_goals(what, options or Options(), stopped_by, used_up)
    return [(verdict.status, verdict.detail) for verdict in verdicts]


WAYS = (("init", "a"), ("init", "b"), ("a", "final"), ("b", "final"))
"""No way between a and b."""


def test_only_an_edge_from_init_says_that_a_goal_is_reached() -> None:
    """a has one. The way to b leads through a, perhaps from states of a that no run reaches."""
    assert told(graph(("init", "a"), ("a", "b"))) == [
        (NO_WAY_TO_FINAL, "reached, but no way to the final condition found within K = 3"),
        (NO_WAY_TO_FINAL, "may be reached, but no way to the final condition found within K = 3"),
    ]


def test_what_was_not_found_is_so_within_the_bound() -> None:
    """Without a chain none of the two is left out for the other."""
    detail = "no chain with it was found; no run within K = 3 per goal covers it together with"
    assert told(graph(*WAYS)) == [(UNDECIDED, f"{detail} {other}") for other in "ba"]
    assert told(graph(("init", "a"), ("a", "final")))[1] == (NOT_WITHIN_BOUND, "not reached from init within K = 3")


@pytest.mark.parametrize(("stopped_by", "used_up"), [("interrupt", False), ("", True)])
def test_what_ended_early_leaves_goals_undecided(stopped_by: str, used_up: bool) -> None:
    by = stopped_by or "the effort"
    assert told(graph(("init", "a"), ("a", "final")), stopped_by, used_up=used_up) == [
        (UNDECIDED, f"stopped by {by}"),
        (UNDECIDED, f"stopped by {by}; not reached from init within K = 3 so far"),
    ]


def test_a_path_of_the_graph_is_no_run() -> None:
    edges = [("init", "a"), ("a", "b"), ("b", END)]
    assert told(graph(*edges, end=END)) == [(UNDECIDED, "the solver gave up before a chain was found within K = 3")] * 2
    detail = "the graph has a covering path, but no inputs with K = 7 join a -> b"
    assert told(graph(*edges, end=END), failed=FailedRepair(("a", "b"), 7)) == [(NOT_WITHIN_BOUND, detail)] * 2


def test_proofs_come_before_what_the_graph_tells() -> None:
    uncoverable = {"a": Reason(UNREACHABLE, "a proof")}
    assert told(graph(*WAYS), uncoverable=uncoverable)[0] == (UNREACHABLE, "a proof")
    apart = told(graph(*WAYS), no_chain="all 9 states were searched")
    assert [status for status, _ in apart] == [UNDECIDED] * 2
    assert all(detail.endswith(": all 9 states were searched") for _, detail in apart)


def test_a_goal_that_another_one_implies_has_its_verdict() -> None:
    found = told(graph(*WAYS), represented={"b": "a"}, uncoverable={"a": Reason(UNREACHABLE, "a proof")})
    assert found[1] == (UNREACHABLE, "as a, which implies it: a proof")


def test_a_limit_on_the_length_is_named() -> None:
    found = told(graph(*WAYS), options=Options(max_length=4))
    assert found == [(NOT_WITHIN_BOUND, "no chain of at most 4 steps covers all goals: none was found")] * 2


def test_a_goal_that_was_reached_names_its_own_test() -> None:
    """Whatever stands in the way of a chain: it is reachable."""
    system, goals, final = fork(stuck=True)
    problem = problem_of(system, goals, final)
    seen = {"near": run_by(system, 0)}
    test = "reachable: a test of its own has 1 step"
    for changes, status in (
        ({}, UNDECIDED),
        ({"no_chain": "a proof"}, UNDECIDED),
        ({"chain": Judge(problem).chain(run_by(system, 1, 1, 0))}, UNDECIDED),
        ({"chain": Judge(problem).chain(run_by(system, 1, 1, 0)), "no_chain": "a proof"}, EXCLUDED),
    ):
        known = replace(Known(problem, seen=seen), **changes)  # type: ignore[arg-type]
        verdicts = {verdict.goal: verdict for verdict in judge_goals(known, Options(), "", False)}
        assert verdicts["near"].status == status
        assert test in verdicts["near"].detail
    stopped = {v.goal: v for v in judge_goals(Known(problem, seen=seen), Options(), "interrupt", False)}
    assert stopped["near"].detail == f"{test}; the search was stopped by interrupt before a chain with it was found"


def test_covered_goals_have_their_steps() -> None:
    system, goals, final = fork(stuck=False)
    problem = problem_of(system, (*goals, Goal("never", goals[0].antecedent.Iff(goals[1].antecedent), None, 99)), final)
    known = Known(problem, chain=Judge(problem).chain(run_by(system, 0, 1, 1, 1, 0)))
    verdicts = judge_goals(known, Options(), "", False)
    assert [(v.status, v.step) for v in verdicts[:2]] == [(COVERED, 4), (COVERED, 1)]
    assert verdicts[2].status in (UNDECIDED, NOT_WITHIN_BOUND)


@pytest.mark.parametrize("first", [True, False])
def test_a_represented_goal_is_told_its_own_test(first: bool) -> None:
    system, _, _ = fork(stuck=False)
    near, far = run_by(system, 0), run_by(system, 0, 0)
    seen = {"b": near, **({"a": far} if first else {})}
    (_, of_a), (_, of_b) = told(graph(*WAYS), stopped_by="time limit", represented={"b": "a"}, seen=seen)
    assert ("a test of its own has 2 steps" in of_a) is first
    assert of_b.startswith("as a, which implies it: ")
    assert of_b.count("a test of its own has 1 step") == of_b.count("a test of its own") == 1


@pytest.mark.parametrize(("stopped_by", "used_up"), [("interrupt", False), ("terminated", False), ("", True)])
def test_advice_is_more_effort_only_where_the_effort_ended_the_run(stopped_by: str, used_up: bool) -> None:
    known = Known(named("a"), graph=graph(goals="a"))
    (verdict,) = judge_goals(known, Options(), stopped_by, used_up)
    assert verdict.status == UNDECIDED
    assert ("--effort" in next_step(verdict, False, Options())) == used_up


def test_a_formula_that_excludes_every_state_is_not_said_to_be_proved_over_no_steps() -> None:
    assert never_by_induction(0) == "no run covers it: no state allows it"
    assert never_by_induction(1) == "no run covers it: proved by induction over 1 step"


def test_more_effort_is_no_advice_where_a_counter_would_have_to_wrap_around() -> None:
    beyond = Verdict("a", NOT_WITHIN_BOUND, detail=f"no run of up to 9 steps covers it; {AFTER_A_WRAP}")
    assert "--effort" not in next_step(beyond, False, Options())
    assert "--effort" in next_step(replace(beyond, detail="K is bound"), False, Options())


def test_a_larger_k_is_the_advice_where_nothing_but_the_k_that_was_given_is_in_the_way() -> None:
    kept_apart = Verdict("a", UNDECIDED, detail="no run within K = 1 per goal covers it together with b")
    advice = next_step(kept_apart, False, Options(bound=1, effort=None))
    assert "a larger -K than 1" in advice
    assert "--effort" not in advice
    for other in (
        replace(kept_apart, detail=f"stopped by the effort; {kept_apart.detail}"),
        replace(kept_apart, detail=f"the solver gave up; {kept_apart.detail}"),
    ):
        assert "--effort" in next_step(other, False, Options(bound=1))
    assert "--effort" in next_step(kept_apart, False, Options(bound=2))
    assert "--effort" in next_step(replace(kept_apart, detail="no run within K = 10 per goal"), False, Options(bound=1))
