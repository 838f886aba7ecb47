"""The one chain that covers most goals against all chains; largest classes and least conflicts against all sets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import pytest
from command_line import MODELS
from drawn_seeds import seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from listeners import Told
from machines import Case, Machine
from paper_examples import trap
from problems import problem_of
from pysmt.shortcuts import And

from benchmarks.checks.generated.reference import COVERABLE, Reference
from benchmarks.checks.generated.systems import generated_case
from benchmarks.checks.short_runs import short_runs
from bmc import ending
from bmc.formulas.unroll import at
from chaincover.certificate import NoRun
from chaincover.chain import COVERED, EXCLUDED, NO_WAY_TO_FINAL, UNDECIDED, UNREACHABLE, Verdict
from chaincover.options import Options
from chaincover.partition import maximum_coverage
from chaincover.partition.conflicts import LARGEST, conflicts_of, largest_class
from chaincover.partition.coverable_sets import Cover
from chaincover.partition.maximum_coverage import generate_all_or_most, generate_most
from chaincover.pipeline import generate
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.result import ChainResult
from properties.goal import Goal

LARGE = Options(engine="sat", effort=0.01)
"""As for a system with too many states to enumerate them."""


def branches(*ways: tuple[str, ...], way_back: bool = False) -> Machine:
    """From u the first choice leads along the first way, and so on; its last place is for good, or leads back to u."""
    choices = [f"c{n}" for n in range(len(ways))]
    places = list(dict.fromkeys(["u", *(place for way in ways for place in way)]))
    steps = [("u", choice, way[0]) for choice, way in zip(choices, ways, strict=True)]
    steps += [(a, "c0", b) for way in ways for a, b in pairwise(way)]
    steps += [(way[-1], "c0", "u") for way in ways] if way_back else []
    return Machine(f"branches {ways} {way_back}", places, choices, steps)


def in_places(machine: Machine, name: str, *places: str) -> Goal:
    return Goal(name, at(machine.at_any(*places), 0), None, 0)


def statuses(result: ChainResult) -> dict[str, str]:
    return {verdict.goal: verdict.status for verdict in result.verdicts}


def three_branches() -> Case:
    """Goals a, b and c fit in pairs but not together, d lies at the end of the branch with a and b."""
    machine = branches(("p1", "p2", "p3"), ("q1", "q2"), ("r1", "r2"))
    goals = [in_places(machine, "a", "p1", "r2"), in_places(machine, "b", "p2", "q1")]
    goals += [in_places(machine, "c", "q2", "r1"), in_places(machine, "d", "p3")]
    return machine.system(), tuple(goals), None


@pytest.mark.slow
@pytest.mark.parametrize("options", [Options(), LARGE])
@short_runs()
def test_the_branch_with_most_goals_is_taken(options: Options) -> None:
    result = generate_most(problem_of(*three_branches()), options)
    proved = options.engine == "auto"
    left_out = EXCLUDED if proved else UNDECIDED
    assert statuses(result) == {"a": COVERED, "b": COVERED, "c": left_out, "d": COVERED}
    assert result.chain is not None
    assert result.chain.length == 3
    assert result.certificate is not None
    assert result.certificate.most == (NoRun(("a", "b", "c", "d"), 4) if proved else None)
    how = "no chain covers more than 3 of them: all 8 reachable states were searched"
    assert (how in result.verdicts[2].detail) == proved


@pytest.mark.parametrize("options", [Options(), LARGE])
def test_all_goals_where_one_chain_suffices(options: Options) -> None:
    machine = branches(("p", "q"), ("r",), way_back=True)
    goals = [in_places(machine, name, name) for name in "pqr"]
    result = generate_most(problem_of(machine.system(), goals, machine.at_any("u")), options)
    assert set(statuses(result).values()) == {COVERED}
    assert result.chain is not None
    assert result.chain.length == 5


@pytest.mark.evidence
@pytest.mark.parametrize("options", [Options(), replace(LARGE, effort=0.2)])
def test_goals_that_no_chain_covers_keep_their_verdict(options: Options) -> None:
    """x lies beyond a place of no return, z nowhere; of the rest as many as possible."""
    machine = branches(("p", "f"), ("q", "s", "f"), ("x",))
    goals = [in_places(machine, name, name) for name in "pqsx"]
    goals.append(Goal("z", at(And(machine.at_any("p"), machine.at_any("q")), 0), None, 0))
    result = generate_most(problem_of(machine.system(), goals, machine.at_any("f")), options)
    found = statuses(result)
    assert found.pop("x") in (NO_WAY_TO_FINAL, *(() if options.engine == "auto" else (EXCLUDED, UNDECIDED)))
    left_out = EXCLUDED if options.engine == "auto" else UNDECIDED
    assert found == {"p": left_out, "q": COVERED, "s": COVERED, "z": UNREACHABLE}
    assert result.chain is not None
    assert result.chain.length == 3


def test_a_bound_that_no_distance_exceeds_changes_nothing() -> None:
    """Between two goals a shortest chain meets no state twice: with a larger K the same stages do the same work."""
    problem = problem_of(*three_branches())
    free, bounded = generate_all_or_most(problem, Options()), generate_all_or_most(problem, Options(bound=9))
    assert free.no_chain == bounded.no_chain != ""
    assert statuses(free) == statuses(bounded)
    assert free.certificate == bounded.certificate
    stages = [cost.stage for cost in free.answered.profile]
    assert "product search" in stages
    assert [cost.stage for cost in bounded.answered.profile] == stages


def most_by_reference(case: Case, overlap: str) -> tuple[int, int, set[str]]:
    """The greatest number of goals of one chain, the least length of such a chain, and the coverable goals."""
    answer = Reference(*case, overlap).answer()
    number = max((mask.bit_count() for mask in answer.least), default=0)
    length = min((n for mask, n in answer.least.items() if mask.bit_count() == number), default=0)
    return number, length, {goal for goal, verdict in answer.verdicts.items() if verdict == COVERABLE}


def excluding(seed: int) -> Case:
    """A generated system where one chain is not enough."""
    made = generated_case(seed, states=16, goals=5, longest=1)
    return made.system, made.goals, made.final


@pytest.mark.evidence
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", [12, 43, 48, 56, 74, 76, 94])
@pytest.mark.parametrize("find", [generate_most, generate_all_or_most])
def test_as_many_goals_as_the_reference_in_as_few_steps(
    find: Callable[..., ChainResult], seed: int, overlap: str
) -> None:
    case = excluding(seed)
    number, length, coverable = most_by_reference(case, overlap)
    assert number < len(coverable)
    result = find(problem_of(*case), Options(overlap=overlap))
    assert result.bounds.minimal
    covered = {goal for goal, status in statuses(result).items() if status == COVERED}
    assert result.chain is not None
    assert (len(covered), result.chain.length) == (number, length)
    assert covered <= coverable
    assert {goal for goal, status in statuses(result).items() if status == EXCLUDED} >= coverable - covered
    assert list(statuses(result)) == [goal.name for goal in case[1]]
    credited = {hit.goal: hit.step for hit in result.chain.hits}
    assert not Reference(*case, overlap).faults(result.chain.run.inputs, result.chain.run.states, credited)


@pytest.mark.evidence
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(5)
def test_whatever_is_claimed_of_the_number_is_true(seed: int, overlap: str) -> None:
    """With and without enumerated states, at hardly any effort too: no chain covers more where that is said."""
    case = excluding(seed)
    number, length, coverable = most_by_reference(case, overlap)
    tiny = [(generate_all_or_most, Options(effort=effort)) for effort in (0.0002, 0.0005, 0.001, 0.003)]
    more = [Options(effort=0.1), Options(effort=0.002), LARGE, Options(effort=0.1, bound=6)]
    for find, options in (*tiny, *((generate_most, options) for options in more)):
        result = find(problem_of(*case), replace(options, overlap=overlap))
        covered = {goal for goal, status in statuses(result).items() if status == COVERED}
        assert covered <= coverable
        assert options.bound or len(covered) == number or UNDECIDED in statuses(result).values()
        assert covered <= coverable
        assert len(covered) <= number
        claim = None if result.certificate is None else result.certificate.most
        assert claim is None or {*claim.goals} >= coverable
        assert claim is None or claim.number == number == len(covered)
        if result.chain is not None and len(covered) == number:
            assert result.bounds.lower <= result.chain.length
            assert result.chain.length >= length
        if any("no chain covers more than" in v.detail for v in result.verdicts):
            assert len(covered) == number
        if options == Options(effort=0.1) and covered and coverable - covered:
            assert claim is not None
            assert result.chain is not None
            assert result.chain.length == length


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", [48, 56])
def test_large_systems_give_as_many_goals(seed: int, overlap: str) -> None:
    case = excluding(seed)
    number, _, coverable = most_by_reference(case, overlap)
    result = generate_most(problem_of(*case), Options(bound=8, overlap=overlap, engine="sat", effort=0.1))
    covered = {goal for goal, status in statuses(result).items() if status == COVERED}
    assert len(covered) == number < len(coverable)
    assert covered <= coverable


@pytest.mark.parametrize(
    ("find", "options"),
    [
        (generate_most, Options(effort=0.0016)),
        (generate_all_or_most, Options(effort=0.0007)),
        (generate_most, Options(effort=0.002, bound=2)),
        (generate_all_or_most, Options(effort=0.002, bound=2)),
    ],
)
def test_goals_are_undecided_where_the_effort_does_not_give_the_number(
    find: Callable[..., ChainResult], options: Options
) -> None:
    """17 of the 22 goals fit into one chain."""
    result = find(load(read_project(MODELS / "charger")).problem, options)
    found = statuses(result)
    assert result.used_up
    assert 0 < [*found.values()].count(COVERED) < 17
    assert {*found.values()} == {COVERED, UNDECIDED}
    for verdict in result.verdicts:
        assert verdict.status == COVERED or "reachable: a test of its own has" in verdict.detail


def test_no_run_is_said_to_cover_a_goal_together_with_others_that_the_chain_leaves_out() -> None:
    result = generate_all_or_most(load(read_project(MODELS / "charger")).problem, Options())
    left_out = [verdict for verdict in result.verdicts if verdict.status != COVERED]
    assert len(left_out) == 5
    assert {verdict.status for verdict in left_out} == {EXCLUDED}
    for verdict in left_out:
        others = verdict.detail.partition("no run covers it together with ")[2].partition(";")[0]
        assert others
        assert not any(name in re.split(", | and ", others) for name in {verdict.goal for verdict in left_out})
        assert verdict.goal in result.tests


def test_a_number_within_a_bound_needs_no_further_search() -> None:
    """All pairs of goals that exclude each other within K = 2 are known from the graph."""
    options = Options(engine="sat", bound=2, effort=0.06)
    result = generate_all_or_most(load(read_project(MODELS / "charger")).problem, options)
    left_out = [verdict for verdict in result.verdicts if verdict.status != COVERED]
    assert [verdict.status for verdict in left_out] == [EXCLUDED] * 5
    how = "no chain covers more than 17 of them: the others exclude each other within K = 2"
    assert all(verdict.detail.startswith(how) for verdict in left_out)
    assert result.certificate is not None
    assert result.certificate.most is None, "nothing is proved for runs of any length"


@pytest.mark.slow
@short_runs()
def test_no_chain_at_all() -> None:
    for options in (Options(), LARGE):
        result = generate_most(problem_of(*trap(way_out=False)), options)
        assert result.chain is None
        assert COVERED not in statuses(result).values()


@pytest.mark.slow
@short_runs()
def test_a_stop_in_the_first_search_gives_what_there_is() -> None:
    result = generate_most(problem_of(*three_branches()), replace(LARGE, effort=0.1), Told("exact graph:", "graph:"))
    assert result.stopped_by == "interrupt"
    assert EXCLUDED not in statuses(result).values()


@pytest.mark.evidence
def test_an_interrupt_between_two_searches_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first search is made to find no chain; after the second one an interrupt comes where one is allowed."""
    searches: list[ChainResult] = []

    def searched(*asked: Any) -> ChainResult:
        searches.append(generate(*asked))
        if len(searches) == 1:
            verdicts = tuple(Verdict(verdict.goal, UNDECIDED) for verdict in searches[0].verdicts)
            return replace(searches[0], chain=None, verdicts=verdicts, used_up=False)
        ending.call_off("interrupt")
        ending.check()
        return searches[-1]

    monkeypatch.setattr(maximum_coverage, "generate", searched)
    try:
        result = generate_most(problem_of(*three_branches()), LARGE)
    finally:
        ending.begin()
    assert len(searches) == 2
    assert result.chain is not None


NAMES = tuple("abcde")
SETS = st.lists(st.sets(st.sampled_from(NAMES), min_size=1, max_size=3), max_size=7)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(SETS)
def test_the_largest_class_against_all_sets(conflicts: list[set[str]]) -> None:
    found = largest_class(NAMES, [sorted(c) for c in conflicts])
    fitting = [
        names
        for size in range(len(NAMES), -1, -1)
        for names in combinations(NAMES, size)
        if not any(c <= set(names) for c in conflicts)
    ]
    assert found is not None
    assert tuple(found) == fitting[0], "the first in the order of the goals among the largest"


def test_the_first_of_the_largest_classes_has_the_earliest_goals() -> None:
    assert largest_class(NAMES, ["ab", "ac", "bd"]) == ["a", "d", "e"]


def test_conflicts_with_goals_that_are_left_out_do_not_count() -> None:
    assert largest_class("bc", ["ab", "ac"]) == ["b", "c"]
    assert largest_class("bcd", ["ab", "cd"]) == ["b", "c"]
    assert largest_class("", ["ab"]) == []


@settings(max_examples=50, deadline=None, derandomize=True)
@given(SETS)
def test_conflicts_are_the_least_sets_that_fit_in_no_chain(covers: list[set[str]]) -> None:
    """Every goal fits alone, as for the goals that conflicts are sought for."""
    fitting = [frozenset(c) for c in [*covers, *({name} for name in NAMES)]]
    found = conflicts_of([Cover(c, 1) for c in fitting], NAMES, "at all: all 9 reachable states", True, True)
    sets = {frozenset(names) for size in range(1, LARGEST + 1) for names in combinations(NAMES, size)}
    apart = {names for names in sets if not any(names <= c for c in fitting)}
    assert {frozenset(c.goals) for c in found} == {names for names in apart if not any(o < names for o in apart)}
    assert all(c.at_all and "all 9 reachable states" in c.reason for c in found)


@pytest.mark.slow
@pytest.mark.parametrize("options", [Options(), LARGE])
@short_runs()
def test_a_goal_whose_way_out_leads_over_another_one_does_not_hide_that_one(options: Options) -> None:
    """From v a step leads to g1, from g2 one to the end: the graph has a way from v over g, but no run goes it."""
    steps = [("u", "a", "v"), ("v", "a", "g1"), ("u", "b", "g2"), ("g2", "a", "x")]
    machine = Machine("hidden", ["u", "v", "g1", "g2", "x"], ["a", "b"], steps)
    goals = [in_places(machine, "v", "v"), in_places(machine, "g", "g1", "g2")]
    result = generate_most(problem_of(machine.system(), goals, machine.at_any("x")), options)
    assert statuses(result) == {"v": NO_WAY_TO_FINAL if options.engine == "auto" else UNDECIDED, "g": COVERED}
    assert result.chain is not None
    assert result.chain.length == 2
