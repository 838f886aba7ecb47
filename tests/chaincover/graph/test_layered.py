"""Distances in layers of packed states: compiled, in arrays, and those of the enumerated states."""

from __future__ import annotations

from dataclasses import replace

import pytest
from enumerated import graph_of, held, made, problem_of
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import Case
from pysmt.shortcuts import BV, Ite, Not, Or

from bmc.explicit import layers, modes
from bmc.explicit.layers import NotInLayers
from bmc.explicit.modes import FEW
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.graph import layered
from chaincover.graph.enumerated import enumerated_graph
from chaincover.graph.layered import LayeredGoals
from chaincover.known import Known
from chaincover.limits import PER_UNIT, Limits
from chaincover.minimality.goal_verdicts import judge_goals
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.replaying.judge import Judge
from chaincover.result import LayersNeed
from chaincover.weights import INIT, ReachGraph
from properties.goal import Goal

DRAWN = settings(max_examples=40, deadline=None, derandomize=True)


def drawn_case(seed: int, hold: int = 1) -> Case:
    """A case whose goals take one step at most and whose start values are known."""
    case = made(seed, longest=1)
    goals = tuple(goal for goal in case[1] if goal.length <= 1)
    return held((case[0], goals, case[2]), hold) if hold > 1 else (case[0], goals, case[2])


def searched(case: Case, overlap: str) -> LayeredGoals:
    return LayeredGoals(problem_of(case, overlap), Limits(), lambda _: None)


def check_distances(case: Case, overlap: str) -> None:
    found = searched(case, overlap).graph()
    expected = enumerated_graph(problem_of(case, overlap), graph_of(*case), Limits())
    assert found.lower == expected.lower
    assert replace(found, lower={}, seconds=0.0) == replace(expected, lower={}, seconds=0.0)


def answers(case: Case, overlap: str) -> tuple[ReachGraph, object, float]:
    """The graph, a run along the goals in their order, and the work that both took."""
    problem, limits = problem_of(case, overlap), Limits()
    found = LayeredGoals(problem, limits, lambda _: None)
    graph = replace(found.graph(), seconds=0.0)
    run = found.run_along([*graph.possible.goals, problem.end], Judge(problem).first_steps)
    found.close()
    return graph, run, limits.spent


@pytest.mark.slow
@given(seed=st.integers(0, 1 << 20), hold=st.sampled_from([1, 1, 2]), few=st.sampled_from([0, FEW]))
@DRAWN
def test_distances_are_those_of_the_enumerated_states(seed: int, hold: int, few: int) -> None:
    """Also where inputs are tried mode by mode, as they are where there are more than a few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAINCOVER_NO_NATIVE", "1")
        patch.setattr(modes, "FEW", few)
        check_distances(drawn_case(seed, hold), "allow")


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("few", [0, FEW])
@pytest.mark.parametrize("dense", [0, 30])
@pytest.mark.parametrize("seed", range(2))
def test_compiled_searches_answer_as_those_in_arrays(
    seed: int, dense: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same graph and run, whether states have places in tables of bits or are numbered, and whether inputs are
    tried mode by mode; arrays count more work."""
    monkeypatch.setattr(layers, "DENSE_BITS", dense)
    monkeypatch.setattr(modes, "FEW", few)
    case = drawn_case(41 * seed + dense, hold=1 + seed % 2)
    compiled = answers(case, "allow")
    monkeypatch.setenv("CHAINCOVER_NO_NATIVE", "1")
    in_arrays = answers(case, "allow")
    assert compiled[:2] == in_arrays[:2]
    assert compiled[2] < in_arrays[2]


@pytest.mark.needs_compiler
def test_with_a_compiler_that_makes_nothing_layers_are_searched_in_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, said = problem_of(ring(8)), list[str]()
    expected = LayeredGoals(problem, Limits(), said.append).graph().weights
    assert not any("without a compiled program" in line for line in said)
    monkeypatch.setenv("CC", "true")
    assert LayeredGoals(problem, Limits(), said.append).graph().weights == expected
    text = "layers are searched without a compiled program: the C compiler makes no program of our own text"
    assert any(line.startswith(text) for line in said)


def ring(bits: int) -> Case:
    """A word of ``bits`` bits that is turned by one place in a pushed step; a small counter counts the other steps."""
    word, small = ValueType(f"word{bits}", bits), ValueType("small", 3)
    turned, count = word.symbol(f"la_word{bits}"), small.symbol("la_count")
    push, start = BOOLEAN.symbol("la_push"), 5
    system = TransitionSystem(
        "ring",
        (
            StateVariable(f"la_word{bits}", word, BV(start, bits), Ite(push, turned.BVRol(1), turned)),
            StateVariable("la_count", small, BV(0, 3), Ite(push, count, count + BV(1, 3))),
        ),
        (InputVariable("la_push", BOOLEAN),),
        input_constraint=push.Or(Not(count.Equals(BV(6, 3)))),
    )
    half = turned.Equals(BV(start << (bits // 2), bits))
    goals = [
        Goal("half", at(half, 0), None, 0),
        Goal("third", at(count.Equals(BV(3, 3)).And(push), 0), None, 1),
        Goal("never", at(count.Equals(BV(7, 3)), 0), None, 0),
    ]
    return system, tuple(goals), turned.Equals(BV(start, bits))


@pytest.mark.slow
@pytest.mark.parametrize("bits", [5, 34, 61, 64])
def test_states_of_all_widths(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 30 bits have places in tables, up to 64 a word, more two words."""
    compiled = answers(ring(bits), "allow")
    half, back = bits // 2, bits - bits // 2
    there = {("init", "half"): half, ("init", "third"): 3, ("half", "third"): 0, ("third", "half"): 0}
    assert compiled[0].weights == {**there, ("half", "final"): back, ("third", "final"): 1}
    assert compiled[0].unsatisfiable == ("never",)
    monkeypatch.setenv("CHAINCOVER_NO_NATIVE", "1")
    assert compiled[:2] == answers(ring(bits), "allow")[:2]


def test_more_states_than_a_float_counts_could_there_be_by_their_values() -> None:
    """In a program of 10,000 lines with 1,028 modes of two bits: the search ended by an OverflowError."""
    system, goals, _ = ring(64)
    word = ValueType("word", 64)
    beside = [word.symbol(f"la_beside{n}") for n in range(17)]
    turned = [StateVariable(one.symbol_name(), word, BV(5, 64), one.BVRol(1)) for one in beside]
    differ = Goal("differ", at(Or(Not(one.Equals(beside[0])) for one in beside), 0), None, 0)
    wide = replace(system, state=(*system.state, *turned))
    found = searched((wide, (*goals, differ), None), "allow").graph()
    narrow = searched((system, goals, None), "allow").graph()
    assert found.lower[INIT, "third"] == narrow.lower[INIT, "third"]


def opened(case: Case) -> Case:
    """The case where init leaves the first variable open."""
    system = case[0]
    return replace(system, state=(replace(system.state[0], init=None), *system.state[1:])), *case[1:]


@pytest.mark.parametrize("compiler", ["0", "1"])
def test_searches_begin_in_each_start_state(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances are those of the enumerated states, and a run starts where its first leg does."""
    monkeypatch.setenv("CHAINCOVER_NO_NATIVE", compiler)
    for seed in range(6):
        case = opened(drawn_case(100 + seed))
        check_distances(case, "allow")
        graph, run, _ = answers(case, "allow")
        assert run is None or Judge(problem_of(case, "allow")).first_steps(run).keys() >= {*graph.possible.goals}


@pytest.mark.needs_compiler
def test_the_covering_search_begins_in_each_start_state() -> None:
    """Its run is as short as the shortest one from any start value."""
    system, goals, final = opened(ring(6))
    problem = Problem(system, goals[:2], final)
    found = LayeredGoals(problem, Limits(), lambda _: None)
    found.reach()
    search = found.covering()
    assert search is not None
    while not search.finished:
        search.advance(1e9)
    assert search.found is not None
    lengths = {}
    for value in range(1 << 6):
        begun = replace(system, state=(replace(system.state[0], init=BV(value, 6)), *system.state[1:]))
        lengths[value] = generate(replace(problem, system=begun)).bounds.length
    assert len(search.found) == search.lower == min(length for length in lengths.values() if length is not None)
    run = found.run_of(search.found, search.start)
    assert Judge(problem).first_steps(run).keys() == {"half", "third"}


def test_too_many_start_values_are_refused() -> None:
    with pytest.raises(NotInLayers, match="init leaves 'la_word34' open, which makes 17179869184 start states"):
        searched(opened(ring(34)), "allow")


@pytest.mark.parametrize("compiler", ["0", "1"])
def test_memory_that_does_not_suffice_is_told(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAINCOVER_NO_NATIVE", compiler)
    word = ValueType("word", 60)
    count, add = word.symbol("lb_count"), ValueType("add", 60).symbol("lb_add")
    system = TransitionSystem(
        "growing",
        (StateVariable("lb_count", word, BV(0, 60), (count << 2) + add),),
        (InputVariable("lb_add", ValueType("add", 60), ((0, 3),)),),
    )
    goal = Goal("far", at(count.Equals(BV(9, 60)), 0), None, 0)
    found = LayeredGoals(Problem(system, (goal,), None), Limits(), lambda _: None, memory=1 << 20)
    with pytest.raises(NotInLayers, match=r"states and more, of 60 bits each, take more than 1 MB"):
        found.graph()


class OverTurn(Exception):
    """A turn was over."""


@pytest.mark.parametrize("compiler", ["0", "1"])
def test_a_turn_ends_in_time_without_a_limit_of_the_effort(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """2^60 states, one in each layer, are not searched at once, neither compiled nor in arrays."""
    monkeypatch.setenv("CHAINCOVER_NO_NATIVE", compiler)
    word = ValueType("word", 60)
    count = word.symbol("lc_count")
    system = TransitionSystem("clock", (StateVariable("lc_count", word, BV(0, 60), count + BV(1, 60)),), ())
    limits, goal = Limits(), Goal("far", at(count.Equals(BV(1 << 59, 60)), 0), None, 0)
    found = LayeredGoals(Problem(system, (goal,), None), limits, lambda _: None, memory=1 << 28)

    def pause() -> None:
        raise OverTurn

    limits.pause_after(0.01, pause)
    with pytest.raises(OverTurn):
        found.graph()
    found.close()
    assert limits.spent < 0.01 + 2 * layered.PORTION


def test_what_more_states_take_than_the_effort_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the effort that is named the same search is not told to be too large."""
    monkeypatch.setattr(layered, "WORK", 50)
    case = ring(5)
    problem, told = problem_of(case, "allow"), list[LayersNeed | None]()
    LayeredGoals(problem, Limits(effort=0.1), lambda _: None).graph(told.append)
    up_to, exact = told
    assert up_to is not None
    assert exact is not None
    assert (up_to.exact, exact.exact) == (False, True)
    assert exact.states <= up_to.states <= 1 << 8
    verdicts = judge_goals(Known(problem, layers=exact), Options(), "", True)
    said = f"{exact.states} states in layers take about 0 MB and more effort: give --effort {exact.effort:g}"
    assert {verdict.detail for verdict in verdicts} == {f"stopped by the effort; {said}"}
    for effort in (exact.effort, None):
        LayeredGoals(problem, Limits(effort=effort), lambda _: None).graph(told.append)
        assert told[-1] is None


def test_states_that_take_more_memory_than_a_search_may_have_ask_for_no_effort() -> None:
    need = LayersNeed(1 << 33, False, 40, 50_000, 8192)
    assert not need.possible
    assert str(need).endswith(" states in layers take about 50000 MB, more than the 8192 that a search may have")


def test_a_run_is_judged_once_after_each_part_and_that_counts() -> None:
    """Judged before each goal of the path, a run of 25,000 steps took seconds that no unit stood for."""
    case = made(5, longest=1)
    problem, limits = problem_of(case, "allow"), Limits()
    found, judge = LayeredGoals(problem, limits, lambda _: None), Judge(problem)
    path = [*found.graph().possible.goals, problem.end]
    judged: list[int] = []
    counted: list[float] = []

    def covers(run: Run) -> dict[str, int]:
        judged.append(run.length)
        counted.append(limits.spent)
        return judge.first_steps(run)

    found.run_along(path, covers)
    found.close()
    each = Simulator(problem.system).size / PER_UNIT.simulated
    assert len(judged) > 1
    assert len({*judged}) == len(judged)
    assert limits.spent - counted[0] >= sum(judged) * each
