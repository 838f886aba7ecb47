"""The compiled search over states and goals covered, against brute force and the search on enumerated states."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chain_checks import check_run
from enumerated import drawn, problem_of, searched
from explicit import Explicit, least_apart
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from machines import Case, ring
from pysmt.shortcuts import FALSE, Ite, Not

from bmc.explicit import covering, layers
from bmc.explicit.covering import CoveringSearch
from bmc.explicit.layers import NotInLayers, OutOfMemory
from bmc.explicit.layers_in_c import CompiledLayers
from bmc.formulas.unroll import at
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.graph.layered import LayeredGoals
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.reductions.monitors import plain_run
from properties.goal import Goal

pytestmark = pytest.mark.needs_compiler

SEEDS = st.integers(0, 10_000)
OVERLAPS = st.sampled_from(["allow", "forbid"])
MEMORY = 1 << 30
TIME = ValueType("time", 8)


def search_of(problem: Problem, memory: int = MEMORY) -> tuple[LayeredGoals, CoveringSearch]:
    layered = LayeredGoals(problem, Limits(), lambda text: None, memory)
    layered.reach()
    search = layered.covering()
    assert search is not None
    return layered, search


def to_its_end(search: CoveringSearch, portion: float) -> list[int]:
    """The lower bounds that it told."""
    bounds = [0]
    while not search.finished:
        search.advance(portion)
        bounds.append(search.lower)
    return bounds


@settings(max_examples=8, deadline=None)
@given(SEEDS, OVERLAPS)
def test_the_shortest_run_is_that_of_brute_force(seed: int, overlap: str) -> None:
    """In portions of the least work: the lower bound never falls, nor passes the length."""
    case = drawn(seed, longest=2)
    problem, _ = searched(case, overlap)
    try:
        layered, search = search_of(problem)
    except NotInLayers:  # a start that is left open
        assume(False)
    bounds, expected = to_its_end(search, 1.0), expected_length(case, overlap)
    assert bounds == sorted(bounds)
    assert (None if search.found is None else len(search.found)) == expected
    if expected is not None:
        assert search.found is not None
        assert bounds[-1] == expected
        check_run(*case, overlap, plain_run(layered.run_of(search.found), problem_of(case)))


@pytest.mark.parametrize("seed", range(12))
def test_steps_to_come_for_sets_of_goals_change_no_length(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are found as soon as there is a pair: with each goal that there is, and as if that took no work."""
    monkeypatch.setattr(covering, "ARROW", 0.0)
    case = drawn(seed, longest=2)
    problem, _ = searched(case)
    _, search = search_of(problem)
    bounds, expected = to_its_end(search, 1.0), expected_length(case, "allow")
    assert bounds == sorted(bounds)
    assert (None if search.found is None else len(search.found)) == expected
    assert expected is None or bounds[-1] == expected


def test_goals_far_apart_have_the_steps_to_come_for_both_as_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two timers that never run at the same time: the bound is the sum, not the later one, before any search."""
    monkeypatch.setattr(covering, "ARROW", 0.0)
    first, second = (TIME.symbol(f"apart_{name}") for name in ("first", "second"))
    which = BOOLEAN.symbol("apart_which")
    state = tuple(
        StateVariable(own.symbol_name(), TIME, TIME.constant(0), Ite(runs, own + TIME.constant(1), TIME.constant(0)))
        for own, runs in ((first, which), (second, Not(which)))
    )
    system = TransitionSystem("apart", state, (InputVariable("apart_which", BOOLEAN),))
    goals = tuple(Goal(own.symbol_name(), at(own.Equals(TIME.constant(100)), 0), None, 0) for own in (first, second))
    _, search = search_of(Problem(system, goals, None))
    to_its_end(search, 1.0)
    assert search.found is not None
    assert len(search.found) == 200
    assert search.pairs < 3 * 200  # all pairs of a timer and the goals covered are some 30,000


def expected_length(case: Case, overlap: str) -> int | None:
    system, goals, final = case
    if overlap == "forbid":
        return least_apart(Explicit(system), goals, final)
    return Explicit(system).least_chain(goals, final, 40 * 2 ** len(goals))


@pytest.mark.parametrize("seed", [1, 3, 5, 7])
def test_states_that_are_numbered_have_the_same_runs_as_states_in_a_table(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, _ = searched(drawn(seed, longest=2))
    lengths = list[int | None]()
    for bits in (layers.DENSE_BITS, -1):
        monkeypatch.setattr(layers, "DENSE_BITS", bits)
        _, search = search_of(problem)
        to_its_end(search, 1e9)
        lengths.append(None if search.found is None else len(search.found))
    assert lengths[0] == lengths[1]


@pytest.mark.parametrize("goals", [63, 64, 65, 200])
def test_more_goals_than_a_word_has_bits(goals: int) -> None:
    problem = problem_of(ring(30, goals))
    layered, search = search_of(problem)
    to_its_end(search, 1e9)
    assert search.found is not None
    # a goal of a step at the last place needs one more
    assert len(search.found) == 29 + any(n % 2 and (n * 7 + n // 30) % 30 == 29 for n in range(goals))
    check_run(*ring(30, goals), "allow", layered.run_of(search.found))


def test_states_that_nothing_tells_apart_are_searched_as_one() -> None:
    """A goal asks whether the last choice was 2. To remember which one it was makes more states, and no more pairs."""
    system, goals, _ = ring(12, 8)
    choice = system.inputs[0]
    values = choice.type.symbol(choice.name), choice.type.constant(2), choice.type.constant(0)
    found = []
    for kind, after, start in ((BOOLEAN, values[0].Equals(values[1]), FALSE()), (choice.type, values[0], values[2])):
        last = StateVariable(f"last {kind.name}", kind, start, after)
        symbol = kind.symbol(last.name)
        asked = Goal("after 2", at(symbol if kind is BOOLEAN else symbol.Equals(values[1]), 0), None, 0)
        remembering = replace(system, state=(*system.state, last))
        layered, search = search_of(Problem(remembering, (*goals, asked), None))
        to_its_end(search, 1e9)
        assert search.found is not None
        check_run(remembering, (*goals, asked), None, "allow", layered.run_of(search.found))
        found.append((layered.states, search.pairs, len(search.found)))
    whether, which = found
    assert which[0] > whether[0]
    assert which[1:] == whether[1:]


def test_portions_are_as_large_after_other_searches_of_the_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is asked once for each goal, and a few times more, whatever the layers have searched before."""
    layered, search = search_of(problem_of(ring(30, 8)))
    layered.run_along(("g0",), lambda run: ())  # meets one state
    asked, ask = list[str](), CompiledLayers.covering

    def counted(layers: CompiledLayers, what: str, *numbers: int) -> list[str]:
        asked.append(what)
        return ask(layers, what, *numbers)

    monkeypatch.setattr(CompiledLayers, "covering", counted)
    to_its_end(search, 30_000.0)
    assert search.found is not None
    assert asked.count("cover") <= 3


@pytest.mark.parametrize("known", [30, 31])
def test_only_shorter_runs_than_a_known_one_are_sought(known: int) -> None:
    _, search = search_of(problem_of(ring(30, 63)))
    search.below = known
    to_its_end(search, 1e9)
    assert search.lower == 30
    assert (search.found is None) == (known == 30)


def test_memory_that_is_used_up_is_told() -> None:
    """The layers go on without what the search took."""
    layered, search = search_of(searched(ring(30, 40), "forbid")[0], memory=1 << 17)
    with pytest.raises(OutOfMemory):
        to_its_end(search, 1e5)
    assert search.found is None
    assert not search.finished
    assert layered.graph().weights
