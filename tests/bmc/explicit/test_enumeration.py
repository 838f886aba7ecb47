"""Enumerated states against plain searches, on random systems; portions of work, and limits."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import pytest
from enumerated_systems import check_graph, placed, random_system
from enumeration import enumerated
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import Case, random_machine
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Iff, Ite, Not
from random_systems import random_case

from bmc.engines.sat import LeastInputs
from bmc.errors import LimitReached
from bmc.explicit.enumeration import Enumeration
from bmc.explicit.state_graph import StateGraph
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.ties import hold
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation, ValueType

BYTE = ValueType("byte", 8)
x, z = BYTE.symbol("ec_x"), BYTE.symbol("ec_z")
PLENTY = 1_000_000_000


def made(seed: int) -> Case:
    if seed % 2:
        return random_machine(seed)
    case = random_case(seed, goals=4, longest=2)
    return case.system, case.goals, case.final


def check_steps(system: TransitionSystem, graph: StateGraph) -> None:
    """The states are those that a plain search meets, each once, and the steps those that it makes with the inputs."""
    simulator, names = Simulator(system), list(graph.states.columns)
    states = [tuple(row.values()) for row in graph.states]
    number = {state: place for place, state in enumerate(states)}
    assert len(number) == len(states)
    start = simulator.initial()
    todo, met = [start], {tuple(start[name] for name in names)}
    assert [states[place] for place in graph.starts] == list(met)
    while todo:
        state = todo.pop()
        expected = []
        for choice, values in enumerate(graph.inputs):
            if simulator.allowed(state, values):
                after = simulator.step(state, values)
                key = tuple(after[name] for name in names)
                expected.append((choice, number[key]))
                if key not in met:
                    met.add(key)
                    todo.append(after)
        assert list(graph.steps[number[tuple(state[name] for name in names)]]) == expected
    assert met == set(states)


@pytest.mark.parametrize("block", [1 << 15, 3])
@pytest.mark.parametrize("seed", range(25))
def test_states_and_steps_are_those_of_a_plain_search(seed: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bmc.explicit.enumeration.BLOCK", block)
    monkeypatch.setattr("bmc.explicit.steps.BLOCK", block)
    system, goals, _ = made(seed)
    if seed % 5 == 4:
        system = hold(system, 2)
    graph = enumerated(system, [goal.antecedent for goal in goals], PLENTY)
    assert graph is not None
    check_steps(system, graph)
    assert graph.steps.total == sum(map(len, graph.steps))


def only_the_solver(patch: pytest.MonkeyPatch) -> None:
    """The inputs of every state are found by the solver."""
    patch.setattr("bmc.explicit.steps.ByCases.cheaper", lambda self, work_each: True)
    patch.setattr("bmc.explicit.steps._Splits.steps", lambda self, columns, open_at, count: iter(()))


@pytest.mark.parametrize("way", ["every input", "by splitting", "by the solver"])
@pytest.mark.slow
@given(seed=st.integers(0, 1 << 30), open_values=st.booleans())
@settings(max_examples=8, deadline=None, derandomize=True)
def test_nothing_that_can_be_told_apart_is_missing(way: str, seed: int, open_values: bool) -> None:
    """Under every input, and for every start value; where inputs are tried all in all states, or found in each."""
    system, formulas = random_system(seed, open_values)
    with pytest.MonkeyPatch.context() as patch:
        if way == "by splitting":
            patch.setattr("bmc.explicit.steps.ByCases.cheaper", lambda self, work_each: True)
        if way == "by the solver":
            only_the_solver(patch)
        graph = enumerated(system, placed(formulas), PLENTY, solving=LeastInputs if way == "by the solver" else None)
    assert graph is not None
    check_graph(system, formulas, graph)


@pytest.mark.slow
@given(seed=st.integers(0, 1 << 30), apart=st.booleans())
@settings(max_examples=10, deadline=None, derandomize=True)
def test_what_is_told_of_two_steps_does_not_depend_on_open_values(seed: int, apart: bool) -> None:
    """Conditions at two steps, as those of a goal, and terms that read both steps."""
    system, _ = random_system(seed, open_values=True)
    _, (first, second, *_) = next(found for n in range(1000) if len((found := random_system(seed + n, True))[1]) == 2)
    inputs = {var.name for var in system.inputs}
    read = [symbol for symbol in second.get_free_variables() if symbol.symbol_name() in inputs]
    later = second.substitute({s: TRUE() if s.get_type().is_bool_type() else BV(1, 2) for s in read})
    join = And if apart else Iff
    formula = join(at(first, 0), at(later, 1))
    graph = enumerated(system, [formula], PLENTY)
    assert graph is not None
    check_graph(system, [], graph, [formula])


@given(seed=st.integers(0, 1 << 30), portion=st.integers(50_000, 5_000_000))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_portions_of_work_make_no_difference(seed: int, portion: int) -> None:
    system, formulas = random_system(seed, open_values=True)
    at_once, in_parts = (Enumeration(system, placed(formulas)) for _ in range(2))
    at_once.advance(PLENTY)
    portions = 0
    while not in_parts.done:
        assert in_parts.graph is None
        assert in_parts.reason is not None
        in_parts.advance(portion)
        portions += 1
        assert in_parts.counted == max(portions * portion, in_parts.work)
    assert (portions - 1) * portion <= in_parts.work == at_once.work
    one, other = at_once.graph, in_parts.graph
    assert one is not None
    assert other is not None
    assert (one.states, one.starts, one.inputs, one.steps) == (other.states, other.starts, other.inputs, other.steps)
    assert in_parts.states == len(one.states)
    assert in_parts.reason is None


def test_goals_at_different_steps_see_different_values() -> None:
    """x at two steps is two values; comparing them sees every value."""
    var = InputVariable("ec_x", BYTE)
    system = TransitionSystem("two", (StateVariable("ec_z", BYTE, BV(0, 8), z),), (var,))
    same = enumerated(system, [at(x, 0).Equals(at(x, 1))], PLENTY)
    apart = enumerated(system, [And(at(x.BVULT(BV(7, 8)), 0), at(BV(99, 8).BVULT(x), 1))], PLENTY)
    assert same is not None
    assert apart is not None
    assert len(same.inputs) == 256
    assert [row["ec_x"] for row in apart.inputs] == [0, 7, 100]


LONG = ValueType("long", 16)


def timer_system(least: int) -> tuple[TransitionSystem, FNode]:
    """A timer counts to ``least``, then a wave of up to 1,024 values starts; and the wave."""
    time, wave = LONG.symbol("ec_time"), LONG.symbol("ec_wave")
    waiting = time.BVULT(BV(least, 16))
    following = Ite(waiting, BV(0, 16), wave + x.BVZExt(8) * BV(3, 16) & BV(0x3FF, 16))
    state = (
        StateVariable("ec_time", LONG, BV(0, 16), Ite(waiting, time + BV(1, 16), time)),
        StateVariable("ec_wave", LONG, BV(0, 16), following),
    )
    return TransitionSystem("timer", state, (InputVariable("ec_x", BYTE),)), wave


@pytest.mark.slow
def test_a_timer_before_many_states() -> None:
    """Steps are made ahead while only the timer counts; no state that it does not come to is among the result."""
    system, wave = timer_system(300)
    graph = enumerated(system, [at(wave.Equals(BV(9, 16)), 0)], PLENTY)
    assert graph is not None
    assert len(graph.states) == 300 + 1024
    check_steps(system, graph)


def test_a_solver_is_asked_once_about_states_that_differ_by_a_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    only_the_solver(monkeypatch)
    asked: list[Valuation] = []

    class Noting(LeastInputs):
        def of(self, state: Valuation) -> Iterator[int | Valuation]:
            asked.append(state)
            return super().of(state)

    time, mode = BYTE.symbol("ec_clock"), BYTE.symbol("ec_mode")
    late = time.Equals(BV(200, 8))
    ends = And(late, (x + z).Equals(BV(7, 8)), x.BVULT(z))
    system = TransitionSystem(
        "timer",
        (
            StateVariable("ec_clock", BYTE, BV(0, 8), Ite(late, time, time + BV(1, 8))),
            StateVariable("ec_mode", BYTE, BV(0, 8), Ite(ends, BV(1, 8), mode)),
        ),
        (InputVariable("ec_x", BYTE), InputVariable("ec_z", BYTE)),
    )
    graph = enumerated(system, [at(mode.Equals(BV(1, 8)), 0)], PLENTY, solving=Noting)
    assert graph is not None
    assert len(graph.states) == 202
    assert [state["ec_clock"] for state in asked] == [0, 200, 200]
    used = {tuple(graph.inputs[choice].values()) for steps in graph.steps for choice, _ in steps}
    assert used == {(0, 0), (0, 7)}


def test_what_a_solver_is_asked_about_is_sought_when_it_has_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a step of thousands of lines that takes longer than to find the first states."""
    sought: list[FNode] = []

    def noted(roots: list[FNode], system: TransitionSystem) -> list[FNode]:
        sought.extend(roots)
        return []

    monkeypatch.setattr("bmc.explicit.steps._over_states", noted)
    system = TransitionSystem("small", (StateVariable("ec_x", BYTE, BV(0, 8), z),), (InputVariable("ec_z", BYTE),))
    enumeration = Enumeration(system, [at(x.Equals(BV(1, 8)), 0)], solving=LeastInputs)
    while not enumeration.states:
        enumeration.advance(1)
    assert not sought


def test_a_start_value_that_a_step_reads_is_enumerated() -> None:
    """The first step moves the open value to where it is read: it has 8 values, the other one stays open."""
    small = ValueType("small", 3)
    count = small.symbol("ec_count")
    moved, unread, first = small.symbol("ec_moved"), small.symbol("ec_unread"), ValueType("flag", 0).symbol("ec_first")
    state = (
        StateVariable("ec_first", ValueType("flag", 0), ValueType("flag", 0).constant(1), first.And(Not(first))),
        StateVariable("ec_moved", small, None, moved),
        StateVariable("ec_unread", small, None, Ite(first, BV(1, 3), unread)),
        StateVariable("ec_count", small, BV(0, 3), moved),
    )
    system = TransitionSystem("moved", state, ())
    formulas = [And(Not(first), count.Equals(BV(1, 3)), unread.Equals(BV(1, 3)))]
    graph = enumerated(system, placed(formulas), PLENTY)
    assert graph is not None
    assert len(graph.starts) == 8
    assert set(graph.states.open) == {"ec_unread"}
    check_graph(system, formulas, graph)


def test_what_keeps_growing_is_told() -> None:
    system, wave = timer_system(60_000)
    found = Enumeration(system, [at(wave.Equals(BV(9, 16)), 0)])
    found.advance(2_000_000)
    assert not found.done
    assert found.reason is not None
    assert "'ec_time' has taken" in found.reason


def test_the_rest_is_what_known_states_take_that_lack_their_steps() -> None:
    """Where states follow one by one it is what a few of them take, however many are still to come; none in the end."""
    system, wave = timer_system(3_000)
    found = Enumeration(system, [at(wave.Equals(BV(9, 16)), 0)])
    assert found.rest == inf
    for _ in range(5):
        found.advance(2_000_000)
        assert 0 < found.rest < found.work
    while not found.done:
        found.advance(PLENTY)
    assert found.rest == 0


def test_inputs_that_no_table_holds_are_told() -> None:
    wide = ValueType("wide", 32)
    place, given_value = wide.symbol("ec_place"), wide.symbol("ec_given")
    state = (StateVariable("ec_place", wide, BV(0, 32), place + given_value),)
    system = TransitionSystem("adder", state, (InputVariable("ec_given", wide),))
    found = Enumeration(system, [at(place.Equals(BV(3, 32)), 0)])
    found.advance(PLENTY)
    assert found.done
    assert found.graph is None
    expected = (
        "The states of adder cannot be enumerated: the input 'ec_given' has 4294967296 values that can be told apart."
    )
    assert found.obstacle == expected == found.reason


def test_open_values_that_are_read_and_too_many_are_told() -> None:
    wide = ValueType("wide", 32)
    place = wide.symbol("ec_place")
    system = TransitionSystem("open", (StateVariable("ec_place", wide, None, place),), ())
    found = Enumeration(system, [at(place.Equals(BV(3, 32)), 0)])
    found.advance(PLENTY)
    assert found.obstacle == (
        "The states of open cannot be enumerated: init leaves 'ec_place' open, which makes 4294967296 start states, "
        "and their values are read."
    )


def test_more_memory_than_allowed_is_told() -> None:
    system, wave = timer_system(60_000)
    found = Enumeration(system, [at(wave.Equals(BV(9, 16)), 0)], memory=1 << 20)
    found.advance(PLENTY)
    assert found.obstacle == "The states of timer and the steps between them take more than 1 MB."
    assert found.graph is None


def test_an_enumeration_ends_when_its_time_is_over() -> None:
    case = random_case(3)
    calls: list[int] = []

    def over() -> None:
        calls.append(1)
        raise LimitReached("the time limit of 1 s was reached")

    formulas = [goal.antecedent for goal in case.goals]
    with pytest.raises(LimitReached):
        enumerated(case.system, formulas, 1000, over)
    assert len(calls) == 1
