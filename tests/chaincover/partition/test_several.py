"""Several chains: partitions, learned conflicts, and the fewest against an explicit search."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, chaincover, fresh_names
from drawn_seeds import seeds
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from listeners import Told
from machines import Case
from problems import problem_of
from pysmt.shortcuts import BV, BVULE, And, BVZExt, Equals, Ite, Or

from benchmarks.checks.generated.reference import COVERABLE, Reference
from benchmarks.checks.generated.systems import generated_case
from bmc import ending
from bmc.errors import LimitReached
from bmc.formulas.unroll import at
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover import limits, pipeline
from chaincover.chain import COVERED, NOT_WITHIN_BOUND, UNDECIDED, UNREACHABLE, Bounds, Verdict
from chaincover.options import Options
from chaincover.partition import joint_flow, several
from chaincover.partition.best import SHARED
from chaincover.partition.conflicts import classes_without, pairs_apart
from chaincover.partition.several import generate_several
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.reductions import slicing
from chaincover.result import ChainResult, Conflict
from chaincover.stages import Stage
from chaincover.weights import ReachGraph
from properties.goal import Goal

NIBBLE = ValueType("nibble", 4)
place, choice = NIBBLE.symbol("sv_place"), NIBBLE.symbol("sv_choice")


def tree(edges: dict[int, tuple[int, ...]]) -> TransitionSystem:
    """From each place the choice leads to one of the places that ``edges`` names (the first for any other choice)."""
    after = place
    for source, targets in edges.items():
        step = BV(targets[0], 4)
        for number, target in enumerate(targets[1:], 1):
            step = Ite(Equals(choice, BV(number, 4)), BV(target, 4), step)
        after = Ite(Equals(place, BV(source, 4)), step, after)
    return TransitionSystem(
        "tree",
        (StateVariable("sv_place", NIBBLE, BV(0, 4), after),),
        (InputVariable("sv_choice", NIBBLE, ((0, 3),)),),
        input_constraint=BVULE(choice, BV(3, 4)),
    )


def at_places(name: str, *values: int) -> Goal:
    return Goal(name, at(Or([Equals(place, BV(v, 4)) for v in values]), 0), None, 0)


def covered_by(result) -> list[set[str]]:
    return [{hit.goal for hit in part.chain.hits} for part in result.results]


def by_searches_alone(
    monkeypatch: pytest.MonkeyPatch, without: Sequence[str] = ("joint_flow", "sets_of_goals")
) -> None:
    """Neither the covering flow of several chains nor the sets of goals that one run covers are of any help."""
    for name in without:
        monkeypatch.setattr(several, name, lambda *given: None)
    if without:
        monkeypatch.setattr(joint_flow, "MOST_ARCS", -1)


def test_three_goals_that_fit_pairwise_but_not_together() -> None:
    """Three branches cover {a,b}, {b,c} and {a,c}: no pair is in conflict, yet two chains are needed."""
    system = tree({0: (1, 2, 3), 1: (11,), 2: (12,), 3: (13,)})
    goals = [at_places("a", 1, 13), at_places("b", 11, 2), at_places("c", 12, 3)]
    result = generate_several(Problem(system, tuple(goals), None), Options(bound=6))
    assert len(result.results) == 2
    assert result.number_minimal_within_k
    assert [v.status for v in result.verdicts] == [COVERED] * 3
    assert [set(c.goals) for c in result.conflicts] == [{"a", "b", "c"}]
    assert set.union(*covered_by(result)) == {"a", "b", "c"}


def test_a_goal_whose_share_of_the_limits_is_too_small_is_no_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for classes without conflicts would have no end."""
    system = tree({0: (1, 2, 3), 1: (1,), 2: (2,), 3: (3,)})
    goals = tuple(at_places(name, value) for name, value in (("a", 1), ("b", 2), ("c", 3)))
    asked: list[tuple[str, ...]] = []

    def limited(problem: Problem, options: Options, listener: Told, stages: Sequence[Stage] = ()) -> ChainResult:
        asked.append(problem.names)
        result = pipeline.generate(problem, options, listener, stages)
        again = asked.count(problem.names) > 1
        return replace(result, chain=None, stopped_by="time limit") if again else result

    monkeypatch.setattr(several, "generate", limited)
    by_searches_alone(monkeypatch)
    monkeypatch.setattr(several, "pairs_apart", lambda *given: [])
    result = generate_several(Problem(system, goals, None), Options(bound=6))
    assert ("c",) in asked[asked.index(("a", "b")) :]
    assert len(result.results) == 3
    assert not result.number_minimal_within_k
    with pytest.raises(ValueError, match="no class can hold"):
        classes_without(["a", "b"], [["a"]])


def test_the_total_length_is_bounded_although_a_goal_implies_another_one() -> None:
    """Without enumerated states only the goals that no other one implies are in the graph."""
    system = tree({0: (1, 2), 1: (1,), 2: (3,), 3: (3,)})
    goals = (at_places("one", 1), at_places("wide", 1, 4), at_places("three", 3))
    result = generate_several(Problem(system, goals, None), Options(engine="sat", bound=3))
    assert sorted(map(sorted, covered_by(result))) == [["one", "wide"], ["three"]]
    assert (result.bounds, result.number_minimal_within_k) == (Bounds(3, 3, SHARED), True)


@pytest.mark.parametrize(("at_all", "undecided"), [(True, False), (False, False), (False, True)])
def test_fewest_is_claimed_as_far_as_the_conflicts_go(
    at_all: bool, undecided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all runs, within K, or, where the solver gave up on a pair, not at all. Two branches, so two chains."""
    system = tree({0: (1, 2), 1: (1,), 2: (2,)})
    goals = at_places("a", 1), at_places("b", 2)
    by_searches_alone(monkeypatch)
    monkeypatch.setattr(several, "pairs_apart", lambda *given: [Conflict(("a", "b"), "", at_all, undecided)])
    result = generate_several(Problem(system, goals, None), Options(bound=6))
    assert len(result.results) == 2
    assert (result.number_minimal_within_k, result.number_minimal) == (not undecided, at_all)


@pytest.mark.parametrize("status", [UNDECIDED, NOT_WITHIN_BOUND])
def test_fewest_is_not_claimed_at_all_while_a_goal_is_left_open(status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two goals exclude each other; a third one may be in no chain, or ask for one more."""
    system = tree({0: (1, 2, 3), 1: (1,), 2: (2,), 3: (3,)})
    goals = tuple(at_places(name, value) for name, value in (("a", 1), ("b", 2), ("open", 3)))

    def leaves_open(problem: Problem, options: Options, listener: Told, stages: Sequence[Stage] = ()) -> ChainResult:
        decided = [name for name in problem.names if name != "open"]
        result = pipeline.generate(problem.of(decided or ["open"]), options, listener, stages)
        return result if decided else replace(result, chain=None, verdicts=(Verdict("open", status),))

    monkeypatch.setattr(several, "generate", leaves_open)
    by_searches_alone(monkeypatch)
    monkeypatch.setattr(several, "pairs_apart", lambda *given: [Conflict(("a", "b"), "", True, False)])
    result = generate_several(Problem(system, goals, None), Options(bound=6))
    assert len(result.results) == 2
    assert [verdict.status for verdict in result.verdicts] == [COVERED, COVERED, status]
    assert (result.number_minimal_within_k, result.number_minimal) == (status != UNDECIDED, False)


def test_a_conflict_that_a_chain_disproves_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """``a`` and ``b`` are on one branch; then what keeps the third goal apart is a conflict of all."""
    system = tree({0: (1, 2), 1: (3,), 2: (2,), 3: (3,)})
    goals = at_places("a", 1), at_places("b", 3), at_places("c", 2)
    wrong = Conflict(("a", "b"), "after a no run reaches b, within K = 1", False)
    by_searches_alone(monkeypatch)
    monkeypatch.setattr(several, "pairs_apart", lambda *given: [wrong])
    result = generate_several(Problem(system, goals, None))
    assert sorted(map(sorted, covered_by(result))) == [["a", "b"], ["c"]]
    assert [set(c.goals) for c in result.conflicts] == [{"a", "b", "c"}]


def test_nothing_is_said_of_pairs_before_a_distance_is_decided() -> None:
    """Goals of different states share no step; that no run leads from one to the other is another thing."""
    system = tree({0: (1,), 1: (2,), 2: (2,)})
    result = pipeline.generate(Problem(system, (at_places("a", 1), at_places("b", 2)), None), Options(bound=6))
    for depth, apart in ((0, []), (1, [("a", "b")])):
        graph = ReachGraph(("a", "b"), "end", {}, {}, (), (), depth, 0, 0.0)
        told = replace(result, graph=graph, answered=replace(result.answered, exact=False))
        for exact in (False, True) if depth else (False,):
            told = replace(told, answered=replace(told.answered, exact=exact))
            found = pairs_apart(told, ("a", "b"))
            assert [(conflict.goals, conflict.at_all) for conflict in found] == [(pair, exact) for pair in apart]


def test_one_chain_where_one_suffices() -> None:
    result = generate_several(Problem(tree({0: (1,), 1: (2,)}), (at_places("a", 1), at_places("b", 2)), None))
    assert len(result.results) == 1
    assert result.conflicts == ()


def test_goals_that_no_chain_covers_are_set_aside_with_their_verdict() -> None:
    system = tree({0: (1, 2), 1: (1,), 2: (2,)})
    goals = [at_places("a", 1), at_places("b", 2), at_places("never", 9)]
    result = generate_several(Problem(system, tuple(goals), None), Options(bound=4))
    assert [v.status for v in result.verdicts] == [COVERED, COVERED, "unreachable"]
    assert [v.detail for v in result.verdicts[:2]] == ["chain 1", "chain 2"]
    assert "after a no run reaches b, nor after b a run reaches a" in result.conflicts[0].reason


def test_a_final_condition_that_some_goals_cannot_reach() -> None:
    system = tree({0: (1, 2), 1: (0,), 2: (2,)})
    goals = [at_places("a", 1), at_places("trap", 2)]
    result = generate_several(Problem(system, tuple(goals), Equals(place, BV(0, 4))), Options(bound=4))
    assert [v.status for v in result.verdicts] == [COVERED, "no-way-to-final"]
    assert len(result.results) == 1


def test_there_are_as_few_classes_as_the_conflicts_allow() -> None:
    goals = [f"g{n}" for n in range(6)]
    wheel = [("g0", f"g{n}") for n in range(1, 6)] + [(f"g{n}", f"g{n % 5 + 1}") for n in range(1, 6)]
    assert len(classes_without(goals, wheel)) == 4
    assert classes_without(goals, []) == [goals]
    assert len(classes_without(goals[:3], [("g0", "g1", "g2")])) == 2


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(st.sets(st.integers(0, 4), min_size=2, max_size=3), max_size=6))
def test_classes_against_all_assignments(conflicts: list[set[int]]) -> None:
    goals = [f"g{n}" for n in range(5)]
    sets = [tuple(f"g{n}" for n in sorted(c)) for c in conflicts]
    found = classes_without(goals, sets)
    assert found is not None
    assert sorted(g for part in found for g in part) == goals
    assert not any(set(c) <= set(part) for c in sets for part in found)
    if len(found) > 1:
        assert not _colourable(goals, sets, len(found) - 1)


def _colourable(goals: list[str], sets: list[tuple[str, ...]], colours: int) -> bool:
    for number in range(colours ** len(goals)):
        colour = {g: number // colours**i % colours for i, g in enumerate(goals)}
        if not any(len({colour[g] for g in c}) == 1 for c in sets):
            return True
    return False


@st.composite
def one_way_cases(draw) -> tuple[TransitionSystem, list[Goal], object]:
    """Places 0 to 7 with edges that lead onwards, up to five goals of several places, perhaps a final place."""
    edges = {
        source: tuple(draw(st.lists(st.integers(min(source + 1, 7), 7), min_size=1, max_size=3))) for source in range(8)
    }
    places = st.lists(st.integers(1, 8), min_size=1, max_size=2)
    goals = [at_places(f"g{n}", *draw(places)) for n in range(draw(st.integers(3, 5)))]
    final = draw(st.sampled_from([None, None, Or(Equals(place, BV(6, 4)), Equals(place, BV(7, 4)))]))
    return tree(edges), goals, final


def fewest_explicit(explicit: Explicit, goals: list[Goal], final: object) -> tuple[int, set[str]]:
    """The least number of chains for all goals that some chain covers, and the names of these."""

    def feasible(part: tuple[Goal, ...]) -> bool:
        return explicit.least_chain(part, final, 24) is not None

    alone = [goal for goal in goals if feasible((goal,))]
    names = {goal.name for goal in alone}
    parts = [p for size in range(1, len(alone) + 1) for p in combinations(alone, size) if feasible(p)]
    together = [{goal.name for goal in part} for part in parts]
    for number in range(len(alone) + 1):
        if any(set().union(*chosen) >= names for chosen in combinations(together, number)):
            return number, names
    raise AssertionError("every goal alone is feasible")


@pytest.mark.slow
@settings(max_examples=14, deadline=None, derandomize=True)
@given(one_way_cases())
def test_number_of_chains_equals_an_explicit_search(case) -> None:
    system, goals, final = case
    needed, names = fewest_explicit(Explicit(system), goals, final)
    result = generate_several(Problem(system, tuple(goals), final))
    assert {v.goal for v in result.verdicts if v.status == COVERED} == names
    assert len(result.results) == needed
    assert result.number_minimal_within_k
    assert result.number_minimal


@pytest.mark.evidence
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(2)
def test_whatever_is_claimed_of_several_chains_is_true(seed: int, overlap: str) -> None:
    """With and without enumerated states, at hardly any effort too: nothing is claimed that is not so."""
    made = generated_case(seed, states=16, goals=5, longest=1)
    reference = Reference(made.system, made.goals, made.final, overlap)
    answer = reference.answer()
    coverable = {goal for goal, verdict in answer.verdicts.items() if verdict == COVERABLE}
    exact = Options(effort=0.2)
    for options in (exact, Options(effort=0.002), Options(effort=0.01, engine="sat"), Options(effort=0.1, bound=6)):
        result = generate_several(problem_of(made.system, made.goals, made.final), replace(options, overlap=overlap))
        statuses = {v.goal: v.status for v in result.verdicts}
        covered = {goal for goal, status in statuses.items() if status == COVERED}
        assert covered == {name for names in covered_by(result) for name in names}
        assert covered <= coverable
        assert not {goal for goal, status in statuses.items() if status == UNREACHABLE} & coverable
        for part in result.results:
            credited = {hit.goal: hit.step for hit in part.chain.hits}
            assert not reference.faults(part.chain.run.inputs, part.chain.run.states, credited)
            assert part.bounds.lower <= part.chain.length
        for conflict in result.conflicts:
            mask = sum(1 << n for n, goal in enumerate(made.goals) if goal.name in conflict.goals)
            assert not conflict.at_all or not any(mask & ~covers == 0 for covers in answer.least)
        if covered == coverable and len(result.results) == answer.chains:
            assert result.bounds.lower <= answer.total <= result.length
        if result.number_minimal_within_k and result.number_minimal:
            assert (covered, len(result.results)) == (coverable, answer.chains)
        if options is exact:
            assert (covered, len(result.results), result.length) == (coverable, answer.chains, answer.total)
            assert result.bounds.lower == result.length
            assert result.number_minimal_within_k
            assert result.number_minimal


def test_a_chain_left_over_from_a_search_for_more_goals_has_its_own_bound() -> None:
    """The search for one chain leaves one of the two shortest, but bounds only chains through all goals."""
    case = generated_case(245, 64, 7)
    found = generate_several(Problem(case.system, tuple(case.goals), case.final))
    assert sorted((result.bounds.lower, result.bounds.length) for result in found.results) == [(6, 6), (11, 11)]
    assert found.bounds.minimal


def test_little_effort_gives_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for a chain; the runs that it took to find it are the others."""
    by_searches_alone(monkeypatch)
    result = generate_several(problem_of(*paths_of_their_own(6)), Options(effort=0.003))
    assert {v.status for v in result.verdicts} == {COVERED}
    assert {v.goal for v in result.verdicts} == {name for names in covered_by(result) for name in names}
    assert len(result.results) == 6
    assert result.used_up
    assert not result.number_minimal_within_k
    assert result.stopped_by == "", "effort is no limit"


class Looks:
    """A clock on which a second passes with every look at it."""

    def __init__(self) -> None:
        self.now = 0

    def monotonic(self) -> float:
        self.now += 1
        return float(self.now)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("without", "outcomes"),
    [((), 2), (("joint_flow",), 3), pytest.param(("joint_flow", "sets_of_goals"), 4, marks=pytest.mark.evidence)],
)
def test_a_time_limit_gives_what_there_is(
    without: Sequence[str], outcomes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the time is over: it is named if, and only if, it kept something from being decided."""
    found = []
    by_searches_alone(monkeypatch, without)
    case = paths_of_their_own(6)
    for seconds in (1, *range(60, 330, 90), 100_000):
        monkeypatch.setattr(limits, "time", Looks())
        result = generate_several(problem_of(*case), Options(time_limit=seconds))
        covered = [v.status for v in result.verdicts].count(COVERED)
        assert [v.status for v in result.verdicts].count(UNDECIDED) == 6 - covered
        assert sum(map(len, covered_by(result))) == covered
        settled = covered == 6 and result.number_minimal_within_k and result.bounds.minimal
        assert result.stopped_by == ("" if settled else "time limit"), seconds
        found.append((covered, settled))
    assert found[0] == (0, False)
    assert found[-1] == (6, True)
    assert len({*found}) >= outcomes, "with the flow, or the sets, all chains are found at once"


def test_a_limit_that_ends_the_listing_of_all_sets_of_goals_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the sets, and with conflicts that prove nothing, the number of chains stays open."""

    def over(*given: object) -> None:
        raise LimitReached("over")

    by_searches_alone(monkeypatch)
    monkeypatch.setattr(several, "sets_of_goals", over)
    monkeypatch.setattr(several, "classes_without", lambda *given: None)
    result = generate_several(problem_of(*paths_of_their_own(3)), Options())
    assert len(result.results) == 3
    assert not result.number_minimal_within_k
    assert result.stopped_by == "time limit"


@pytest.mark.parametrize(("wide", "first"), [(False, [False]), (True, [True])])
def test_the_states_are_listed_before_further_chains_only_where_the_first_search_could(
    wide: bool, first: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a sum of 40 bits listing goes on until the effort is used up: most of what is left would go into it again,
    in vain."""
    asked, listed = [], several.sets_of_goals

    def noted(*given: Any) -> object:
        asked.append(given[-1])
        return listed(*given)

    by_searches_alone(monkeypatch)
    monkeypatch.setattr(several, "sets_of_goals", noted)
    system, goals, final = paths_of_their_own(3)
    if wide:
        kind = ValueType("sum", 40)
        total = kind.symbol("sv_sum")
        summed = total + kind.constant(1) + BVZExt(choice, 36)
        beside = StateVariable("sv_sum", kind, kind.constant(0), summed)
        far = at(And(Equals(place, BV(9, 4)), total.BVUGT(kind.constant(10**9))), 0)
        system = replace(system, state=(*system.state, beside))
        goals = (*goals, Goal("far", far, None, 0))
    result = generate_several(problem_of(system, goals, final), Options(effort=0.01))
    assert len(result.results) == 3
    assert asked[:1] == first


def paths_of_their_own(number: int) -> Case:
    """Each goal lies on a branch of its own."""
    system = tree({0: (1, 2, 3), 1: (4, 5), 2: (6, 7), 3: (8, 9), **{n: (n,) for n in range(4, 10)}})
    return system, tuple(at_places(f"g{n}", n) for n in range(4, 4 + number)), None


def test_an_interrupt_keeps_the_chains_so_far_and_the_runs_in_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    by_searches_alone(monkeypatch)
    told = Told("partition: 3 chain(s)")
    result = generate_several(problem_of(*paths_of_their_own(6)), Options(), told)
    assert result.stopped_by == "interrupt"
    assert len(result.results) == 6
    assert {v.status for v in result.verdicts} == {COVERED}
    assert not result.number_minimal_within_k
    numbers = [len(each.results) for each in told.results]
    assert numbers == sorted(numbers)
    assert {*numbers} >= {1, 2, 3}


@pytest.fixture(params=["interrupt", "time limit"])
def called_off_after_a_search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The run is called off once a search for a chain has ended, and interrupted from then on where that is allowed.

    No search has a run in hand besides its chain, from which that could be made again.
    """
    by_searches_alone(monkeypatch)
    searches: list[str] = []

    def searched(*asked: Any) -> ChainResult:
        found = replace(generate(*asked), tests={})
        searches.append(found.stopped_by)
        ending.call_off(request.param)
        ending.check()
        return found

    def interrupted_before(missed: Any, result: ChainResult, names: Any) -> None:
        ending.check()
        give_up(missed, result, names)

    give_up = several.Missed.give_up
    monkeypatch.setattr(several, "generate", searched)
    monkeypatch.setattr(several.Missed, "give_up", interrupted_before)
    yield searches
    ending.begin()


def test_an_interrupt_between_two_searches_loses_nothing(called_off_after_a_search: list[str]) -> None:
    result = generate_several(problem_of(*paths_of_their_own(3)), Options())
    assert called_off_after_a_search[0] == "", "the first one has come to its end"
    assert len(result.results) >= 1
    assert COVERED in {verdict.status for verdict in result.verdicts}


def test_what_the_first_search_has_found_is_told_before_it_ends() -> None:
    told = Told("partition:")
    result = generate_several(problem_of(*paths_of_their_own(3)), Options(), told)
    before = next(each for each in told.results if each.results)
    assert len(before.results) == 1
    assert [v.status for v in before.verdicts].count(COVERED) == 1
    assert not before.number_minimal
    assert result.results == told.results[-1].results


def test_goals_that_the_same_runs_cover_are_in_one_chain() -> None:
    system, goals, final = paths_of_their_own(3)
    twins = tuple(replace(goal, name=f"{goal.name} again") for goal in goals)
    result = generate_several(problem_of(system, (*goals, *twins), final))
    assert {frozenset(names) for names in covered_by(result)} == {
        frozenset({goal.name, twin.name}) for goal, twin in zip(goals, twins, strict=True)
    }
    assert result.number_minimal
    assert result.bounds.minimal


@pytest.mark.slow
def test_many_goals_over_few_states() -> None:
    """22 goals, which earlier were too many for a proof of the number."""
    said = tomllib.loads((MODELS / "charger" / "expected.toml").read_text())["run"][0]
    with fresh_names():
        subject = load(read_project(str(MODELS / "charger")))
        result = generate_several(subject.problem, Options(effort=0.3))
    assert {v.goal for v in result.verdicts if v.status == COVERED} == {*said["covered"]}
    assert (len(result.results), result.length) == (said["chains"], said["length"])
    assert result.number_minimal
    assert result.bounds.minimal


def test_greatest_lengths_count_for_the_number() -> None:
    """One chain of 2 steps covers both goals; of a step each, two are needed."""
    goals = at_places("a", 1), at_places("b", 2)
    system = tree({0: (1, 2), 1: (2,), 2: (1,)})
    together = generate_several(problem_of(system, goals, None))
    assert (len(together.results), together.length) == (1, 2)
    apart = generate_several(problem_of(system, goals, None), Options(max_length=1))
    assert (len(apart.results), apart.length) == (2, 2)
    assert apart.number_minimal_within_k
    assert not apart.number_minimal
    assert not any(conflict.at_all for conflict in apart.conflicts)


@pytest.mark.slow
def test_command_writes_each_chain_and_a_summary(tmp_path) -> None:
    fig1 = MODELS / "cruise_fig1"
    outcome = chaincover("generate", str(fig1), "--several", "-o", "out", cwd=tmp_path)
    assert outcome.code == 4
    assert "1 chain, 6 steps in all (minimal, proved), covers 1 of 4 goals" in outcome.out
    summary = json.loads((tmp_path / "out" / "chains.json").read_text())
    assert [c["goals"] for c in summary["chains"]] == [["p_4"]]
    assert [v["verdict"] for v in summary["verdicts"]] == [*["no-way-to-final"] * 3, "covered"]
    again = chaincover("replay", str(fig1), "out/chain-1.json", "--goal", "p_4", cwd=tmp_path)
    assert again.code == 0


@pytest.mark.slow
@pytest.mark.parametrize("effort", ["0.0012", pytest.param("0.0015", marks=pytest.mark.evidence)])
def test_runs_in_hand_become_chains_where_the_effort_ends(tmp_path: Path, effort: str) -> None:
    charger = str(MODELS / "charger")
    outcome = chaincover("generate", charger, "--several", "--effort", effort, "--no-replay", "-o", "out", cwd=tmp_path)
    assert outcome.code == 0
    assert "more of it (--effort) might settle: " in outcome.out
    summary = json.loads((tmp_path / "out" / "chains.json").read_text())
    assert summary["effort_used_up"]
    assert {verdict["verdict"] for verdict in summary["verdicts"]} == {COVERED}
    assert summary["lower"] <= 39 <= summary["length"]
    assert not summary["number_minimal"] or len(summary["chains"]) == 6


def test_the_one_chain_of_a_partial_result_tells_of_the_goals_what_the_summary_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where no run in hand may end where it does, and the effort ends before the states are known."""
    by_searches_alone(monkeypatch)
    monkeypatch.setattr(several.RunsInHand, "best", lambda *given: None)
    monkeypatch.setattr(slicing, "AT_ONCE", 0)
    found = generate_several(load(read_project(MODELS / "charger")).problem, Options(effort=0.003))
    (chain,) = found.results
    assert found.used_up
    assert chain.used_up
    assert {verdict.status for verdict in chain.verdicts} == {COVERED, UNDECIDED}
    left_out = [verdict for verdict in chain.verdicts if verdict.status == UNDECIDED]
    assert left_out == [verdict for verdict in found.verdicts if verdict.status == UNDECIDED]
    assert {*found.tests} >= {verdict.goal for verdict in left_out}
    assert all("reachable: a test of its own has" in verdict.detail for verdict in left_out)
