"""The exact search in portions, with many goals, within limits; partial results; held inputs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from boards import board_of
from chain_checks import check_run
from enumerated import drawn, exhaust, graph_of, held, least_run, made, problem_of, searched
from explicit import Explicit, least_apart
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import Case, Machine, ring

from bmc.errors import LimitReached
from bmc.formulas.unroll import at
from chaincover.graph import goal_product
from chaincover.limits import PER_UNIT
from chaincover.minimality.product import ShortestRun, search_product
from chaincover.partition.coverable_sets import CoverableSets
from chaincover.reductions.monitors import plain_run
from properties.goal import Goal

SEEDS = st.integers(0, 10_000)
OVERLAPS = st.sampled_from(["allow", "forbid"])


def expected_length(case: Case, overlap: str) -> int | None:
    system, goals, final = case
    if overlap == "forbid":
        return least_apart(Explicit(system), goals, final)
    return Explicit(system).least_chain(goals, final, 40 * 2 ** len(goals))


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(SEEDS, OVERLAPS)
def test_the_shortest_run_is_that_of_brute_force(seed: int, overlap: str) -> None:
    """In portions of the least work: the lower bound never falls, nor passes the length."""
    case = drawn(seed, longest=2)
    search, expected, bounds = (
        ShortestRun(*searched(case, overlap)),
        expected_length(case, overlap),
        [0],
    )
    while search.advance(1):
        bounds.append(search.lower)
    assert bounds == sorted(bounds)
    assert search.finished
    assert (None if search.found is None else search.found.length) == expected
    if expected is not None:
        assert search.found is not None
        assert bounds[-1] <= search.lower == expected
        check_run(*case, overlap, plain_run(search.run_to(search.found), problem_of(case)))


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(SEEDS, OVERLAPS)
def test_only_shorter_runs_than_a_known_one_are_sought(seed: int, overlap: str) -> None:
    case = drawn(seed, longest=2)
    expected = expected_length(case, overlap)
    if expected is None:
        return
    for known in (expected, expected + 1):
        search = ShortestRun(*searched(case, overlap))
        search.shorter_than = known
        search.advance(10**9)
        assert search.finished
        assert search.lower == expected
        assert (search.found is None) == (known == expected)


@settings(max_examples=10, deadline=None)
@given(SEEDS, OVERLAPS, st.integers(0, 60))
def test_what_is_found_so_far_is_true(seed: int, overlap: str, portions: int) -> None:
    """Each set that a partial search has is covered by its run, and is among those of the whole search."""
    case = drawn(seed)
    whole = {(cover.goals, cover.length) for cover in exhaust(*case, overlap).covers}
    search = CoverableSets(*searched(case, overlap))
    for _ in range(portions):
        search.advance(1)
    for found in search.found:
        chosen = [goal for number, goal in enumerate(case[1]) if found.covered >> number & 1]
        assert (frozenset(goal.name for goal in chosen), found.length) in whole
        check_run(case[0], chosen, case[2], overlap, plain_run(search.run_to(found), problem_of(case)))
    if search.finished:
        assert len(search.found) == len(whole)


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", range(0, 12, 3))
def test_both_searches_agree_with_held_inputs(seed: int, overlap: str) -> None:
    system, goals, final = held(drawn(seed), 2 + seed % 2)
    one, everything = least_run(system, goals, final, overlap), exhaust(system, goals, final, overlap)
    other = everything.least([goal.name for goal in goals])
    assert (one.run and one.run.length) == (other and other.length)
    if one.run is not None:
        check_run(system, goals, final, overlap, one.run)


@pytest.mark.parametrize("goals", [30, 63, 64, 65, 200])
def test_more_goals_than_a_word_has_bits(goals: int) -> None:
    """All goals of a place are covered there, so that the way to the last place is the shortest run."""
    system, many, final = ring(30, goals)
    least = least_run(system, many, final)
    assert least.run is not None
    check_run(system, many, final, "allow", least.run)
    # a goal of a step at the last place needs one more
    assert least.run.length == 29 + any(n % 2 and (n * 7 + n // 30) % 30 == 29 for n in range(goals))


@pytest.mark.slow
def test_many_goals_come_to_a_partial_result_at_a_limit() -> None:
    """22 goals on 9 states, where every subset may be covered: what is found in the work allowed is told, and true."""
    names = [f"p{n}" for n in range(9)]
    steps = [(a, f"to{n}", b) for a in names for n, b in enumerate(names[:7])]
    machine = Machine("free", names, [f"to{n}" for n in range(7)], [*steps, ("p0", "to6", "p7"), ("p7", "to6", "p8")])
    goals = tuple(
        Goal(f"g{n}", at(machine.at_any(names[n % 9]) & machine.chosen(f"to{n % 7}"), 0), None, 1) for n in range(22)
    )
    case = machine.system(), goals, None
    search = CoverableSets(problem_of(case), graph_of(*case))
    assert search.advance(200_000)
    assert not search.finished
    assert search.best is not None
    assert search.best.covered.bit_count() >= 3
    for found in (search.best, *search.found[-20:]):
        chosen = [goal for number, goal in enumerate(goals) if found.covered >> number & 1]
        check_run(case[0], chosen, None, "allow", search.run_to(found))


def test_memory_that_is_used_up_is_told() -> None:
    case = ring(30, 40)
    search = ShortestRun(*searched(case, "forbid"), memory=20_000)
    assert not search.advance(10**9)
    assert not search.finished
    assert search.found is None
    assert "memory" in search.given_up
    assert search.lower > 0


def test_a_product_that_is_too_large_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goal_product, "MOST_ARROWS", 3)
    case = ring(30, 4)
    search = ShortestRun(problem_of(case), graph_of(*case))
    assert not search.advance(10**9)
    assert not search.finished
    assert search.given_up == "the 30 states take too much memory with the distances to 4 goals"


@pytest.mark.parametrize("kind", [ShortestRun, CoverableSets])
def test_a_search_goes_on_after_the_caller_stopped_it(kind: type[ShortestRun] | type[CoverableSets]) -> None:
    """Wherever ``check`` raises, also while the search is prepared, the next call leads to the same end."""
    case = made(4)
    whole = kind(problem_of(case), graph_of(*case))
    whole.advance(10**9)
    for stop in range(12):
        count = iter(range(1000))

        def check(last: int = stop, count: object = count) -> None:
            if next(count) == last:  # type: ignore[call-overload]
                raise LimitReached("enough")

        search = kind(problem_of(case), graph_of(*case), check)
        try:
            search.advance(10**9)
        except LimitReached:
            assert not search.finished
            search.advance(10**9)
        assert search.finished
        assert search.best == whole.best


def test_what_is_made_before_the_search_counts_as_it_is_made() -> None:
    """The steps for each goal, once for all who ask for that product; the distances to each goal's ends each time."""
    case = made(3, longest=1)
    problem, graph = problem_of(case), graph_of(*case)
    first, again = list[int](), list[int]()
    search = ShortestRun(problem, graph, count=first.append)
    search.advance(1)
    assert first[0] == graph.steps.total * len(problem.goals)
    ShortestRun(problem, graph, count=again.append).advance(1)
    assert again == first[1:]
    assert sum(again) > len(problem.goals)


def test_the_product_search_counts_what_it_does() -> None:
    """Its first turn is over once the product is made, if that takes so much."""
    case = made(3, longest=1)
    graph, (board, _) = graph_of(*case), board_of(case)
    board.tell(enumerated=graph, graph=replace(board.known.graph, depth=0))
    spent = list[float]()
    board.limits.pause_after(0.0, lambda: spent.append(board.limits.spent))
    search_product(board)
    steps = graph.steps.total * len(board.problem.goals)
    assert spent[0] == 0
    assert any(units >= steps / PER_UNIT.steps for units in spent)
    assert board.limits.spent >= (steps + len(board.problem.goals) * len(graph.states)) / PER_UNIT.steps
