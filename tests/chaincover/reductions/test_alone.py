"""Goals sought one by one: far ones are found, and their distances bound the chains through all goals."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chain_checks import check_run
from drawn_seeds import seeds
from enumerated import one_step
from locks import DEPTH, FLAG, TIME, lock_and_mixer_problem, searched
from problems import problem_of
from pysmt.shortcuts import And, Ite

from benchmarks.checks.generated.reference import UNREACHABLE, Reference
from benchmarks.checks.generated.systems import generated_case
from bmc.formulas.unroll import at
from bmc.system.transition import StateVariable
from chaincover.limits import EffortUsedUp
from chaincover.reductions.smaller_search import SmallerSearch
from chaincover.stages import Rounds
from properties.goal import Goal


@pytest.mark.evidence
def test_a_far_goal_on_few_states_is_found_among_goals_on_many_and_bounds_the_chain() -> None:
    problem = lock_and_mixer_problem()
    by_runs = searched(problem, "simulate").known.chain
    assert by_runs is not None
    assert by_runs.goals == {"stirred"}
    known = searched(problem, "simulate", "each goal alone").known
    assert known.chain is not None
    check_run(problem.system, problem.goals, problem.final, problem.overlap, known.chain.run)
    assert known.lower == DEPTH <= known.chain.length


@pytest.mark.parametrize("units", [0.3, 0.6])
def test_the_search_for_single_goals_ends_with_the_effort(units: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where that is used up within one of them."""
    begun: list[float] = []

    def counted_search(search: SmallerSearch, most: float) -> object:
        begun.append(most)
        assert len(begun) < 20, "one search after the other, without a look at the effort"
        return go_on(search, most)

    go_on = SmallerSearch.go_on
    monkeypatch.setattr(SmallerSearch, "go_on", counted_search)
    board = searched(lock_and_mixer_problem(), "each goal alone", units=units)
    assert begun
    assert board.limits.used_up
    assert board.limits.spent < units + 1


def test_a_search_whose_whole_has_no_effort_left_is_not_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of the run around it ends its turn; what was found by then is told, and that there is more to do."""

    def used_up(rounds: Rounds) -> bool:
        raise EffortUsedUp("the effort was used up")

    board = searched(lock_and_mixer_problem(), units=30.0)
    search = SmallerSearch(board, board.problem.of(["open"]))
    monkeypatch.setattr(Rounds, "go_on", used_up)
    found = search.go_on(20.0)
    search.end()
    assert found is not None
    assert (found.chain, search.uncoverable, search.finished) == (None, {}, False)


@pytest.mark.evidence
def test_goals_that_the_first_run_leaves_behind_are_sought_from_its_end() -> None:
    """The lock counts down again only after it has been open, and the other far goal is to see that."""
    problem = lock_and_mixer_problem()
    open_once, count = FLAG.symbol("alone_once"), TIME.symbol("alone_count")
    fully = Ite(count.Equals(TIME.constant(DEPTH)), FLAG.constant(1), open_once)
    system = replace(
        problem.system,
        state=(*problem.system.state, StateVariable("alone_once", FLAG, FLAG.constant(0), fully)),
    )
    half = And(count.Equals(TIME.constant(DEPTH // 2)), open_once.Equals(FLAG.constant(1)))
    whole = replace(problem, system=system, goals=(*problem.goals, Goal("half", at(half, 0), None, 0)))
    known = searched(whole, "simulate", "each goal alone").known
    assert known.chain is not None
    check_run(whole.system, whole.goals, whole.final, whole.overlap, known.chain.run)
    assert known.lower >= DEPTH + 1 + DEPTH // 2


@pytest.mark.evidence
@seeds(20)
def test_distances_of_single_goals_never_exceed_the_shortest_chain(seed: int) -> None:
    for overlap in ("allow", "forbid"):
        made = generated_case(seed, states=16, goals=4, longest=3)
        case = one_step((made.system, made.goals, made.final), overlap)
        known = searched(problem_of(*case), "each goal alone", units=3.0).known
        answer = Reference(made.system, made.goals, made.final, overlap).answer()
        never = {name for name, verdict in answer.verdicts.items() if verdict == UNREACHABLE}
        assert {name for name, reason in known.uncoverable.items() if reason.status == UNREACHABLE} <= never
        assert not never & known.seen.keys()
        targets = sum(1 << n for n, goal in enumerate(made.goals) if goal.name in known.targets)
        assert known.lower <= answer.least.get(targets, known.lower)
