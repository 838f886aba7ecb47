"""Held inputs against a plain search over whole held steps; what holding leaves as it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, islice, product

import pytest
from command_line import MODELS, fresh_names
from drawn_seeds import seeds
from enumerated import exhaust, least_run
from enumeration import enumerated, reachable_states
from explicit import State
from held_runs import MOST, HeldRuns, Reached
from pysmt.shortcuts import BV, And, Ite, Not
from random_systems import RandomCase, random_case

from bmc.explicit.state_graph import StateGraph
from bmc.formulas.unroll import framed
from bmc.system.constraints import unconstrained
from bmc.system.simulation import Simulator
from bmc.system.ties import MOST_TICKS, PHASE, boundary, hold
from bmc.system.transition import BOOLEAN, InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.chain import NO_WAY_TO_FINAL
from chaincover.options import Options
from chaincover.partition.several import generate_several
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from properties.goal import Goal
from properties.monitor import Monitor


def free_states(graph: StateGraph) -> set[int]:
    """The numbers of the states in which inputs may change."""
    return {number for number, state in enumerate(graph.states) if not state[PHASE]}


def check(case: RandomCase, ticks: int, overlap: str, run: Run) -> None:
    """``run`` is one of the free system's, holds its inputs, and ends with a held step."""
    simulator = Simulator(case.system)
    again = simulator.run(simulator.initial(), run.inputs)
    assert all(simulator.allowed(s, i) for s, i in zip(again.states, again.inputs, strict=False))
    assert [{name: state[name] for name in again.states[0]} for state in run.states] == list(again.states)
    assert run.length % ticks == 0
    assert all(run.inputs[step] == run.inputs[step - step % ticks] for step in range(run.length))
    covered = Monitor(case.goals).covered(again)
    if overlap == "allow":
        assert all(covered[goal.name] for goal in case.goals)


def length(run: Run | None) -> int | None:
    return None if run is None else run.length


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("ticks", [2, 3, 5])
@seeds(5)
def test_the_exact_search_finds_the_least_held_run(seed: int, ticks: int, overlap: str) -> None:
    case = random_case(seed, goals=3, longest=2 if overlap == "forbid" else 3)
    plain = HeldRuns(case.system, case.goals, ticks, overlap == "forbid")
    system = hold(case.system, ticks)
    for final in dict.fromkeys((case.final, None)):
        expected = plain.least_of_all(final)
        end = boundary(system, final)
        least = least_run(system, case.goals, end, overlap)
        everything = exhaust(system, case.goals, end, overlap)
        assert length(least.run) == expected
        assert length(everything.least([goal.name for goal in case.goals])) == expected
        for goal in case.goals:
            assert length(everything.least([goal.name])) == plain.least(final, [goal.name], MOST)
        if least.run is not None:
            check(case, ticks, overlap, least.run)


@pytest.mark.slow
@pytest.mark.parametrize("explore", [100_000, 0])
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(4)
def test_the_pipeline_finds_the_least_held_run(seed: int, overlap: str, explore: int) -> None:
    """By the exact search, and (nothing explored) by the solver alone."""
    case = random_case(seed, goals=3, longest=2)
    ticks = 2 + seed % 2
    expected = HeldRuns(case.system, case.goals, ticks, overlap == "forbid").least_of_all(case.final)
    system = hold(case.system, ticks)
    options = Options(overlap=overlap, bound=24)
    result = generate(Problem(system, tuple(case.goals), boundary(system, case.final)), options)
    assert result.bounds.lower <= (result.bounds.lower if expected is None else expected)
    if result.complete:
        assert result.chain is not None
        assert expected is not None
        check(case, ticks, overlap, result.chain.run)
        assert expected <= result.chain.length
        if explore or result.bounds.minimal:
            assert result.chain.length == expected == result.bounds.lower
    elif explore:
        assert expected is None


@seeds(5)
def test_several_chains_each_hold_their_inputs(seed: int) -> None:
    """As few as it takes, of least total length, by all sets of goals that one held run covers."""
    case = random_case(seed, goals=3, longest=2)
    plain = HeldRuns(case.system, case.goals, 2)
    names = [goal.name for goal in case.goals if plain.least(case.final, [goal.name], MOST) is not None]
    sets = [chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size)]
    steps = {frozenset(chosen): plain.least(case.final, chosen, MOST) for chosen in sets}
    system = hold(case.system, 2)
    found = generate_several(Problem(system, tuple(case.goals), boundary(system, case.final)), Options(bound=12))
    assert sorted({hit.goal for part in found.results for hit in part.chain.hits}) == sorted(names)
    ways = [
        (len(classes), sum(steps[c] for c in classes))
        for number in range(1, len(names) + 1)
        for classes in combinations([c for c, length in steps.items() if length is not None], number)
        if frozenset().union(*classes) == frozenset(names)
    ]
    assert (len(found.results), found.length if found.results else 0) == min(ways, default=(0, 0))
    for part in found.results:
        assert part.chain.length % 2 == 0
        own = replace(case, goals=tuple(g for g in case.goals if g.name in part.chain.order))
        check(own, 2, "allow", part.chain.run)


@seeds(20)
def test_all_states_are_listed_with_only_the_held_input_tried(seed: int) -> None:
    """The states and steps that an explorer finds which tries every one of the graph's inputs in every tick."""
    case = random_case(seed, goals=2)
    system = hold(case.system, 3)
    formulas = [goal.antecedent for goal in case.goals]
    graph = enumerated(system, formulas, 10_000_000)
    listed = reachable_states(system, formulas, 10_000_000)
    assert graph is not None
    assert listed is not None
    names, plain = list(graph.states[0]), Reached(system)
    tried = [tuple(values[name] for name in plain.input_names) for values in graph.inputs]
    plain.inputs = [i for i in plain.inputs if i in tried]

    def told(state: State) -> State:
        return tuple(value for name, value in zip(plain.state_names, state, strict=True) if name in names)

    expected, seen, todo = set(), {plain.init}, [plain.init]
    while todo:
        state = todo.pop()
        for values, after in plain.following[state].items():
            expected.add((told(state), values, told(after)))
            if after not in seen:
                seen.add(after)
                todo.append(after)
    found = {
        (tuple(state.values()), tuple(graph.inputs[i][name] for name in plain.input_names), tuple(after.values()))
        for state, steps in zip(graph.states, graph.steps, strict=True)
        for i, after in ((i, graph.states[after]) for i, after in steps)
    }
    assert found == expected
    assert {tuple(state.values()) for state in graph.states} == {told(state) for state in seen}
    assert {tuple(state[name] for name in listed[0]) for state in graph.states} == {tuple(s.values()) for s in listed}
    assert all(len(steps) <= 1 for n, steps in enumerate(graph.steps) if n not in free_states(graph))


def test_held_steps_are_enumerated_tick_by_tick() -> None:
    """8 states in which the inputs are free; between them one state for each tick and kept input."""
    kind = ValueType("three_bits", 3)
    place, push = kind.symbol("hl_place"), BOOLEAN.symbol("hl_push")
    moved = Ite(push, place + BV(1, 3), place)
    free = TransitionSystem(
        "ring", (StateVariable("hl_place", kind, BV(0, 3), moved),), (InputVariable("hl_push", BOOLEAN),)
    )
    graph = enumerated(hold(free, 3), [framed(place, 0).Equals(BV(1, 3))], 10_000_000)
    assert graph is not None
    assert len(free_states(graph)) == 8
    assert len(graph.states) == 8 + 8 * 2 * 2


def test_holding_for_one_step_changes_nothing() -> None:
    system = random_case(1).system
    assert hold(system, 1) is system
    assert boundary(system, None) is None
    for ticks in (0, MOST_TICKS + 1):
        with pytest.raises(ValueError, match="held"):
            hold(system, ticks)
    with pytest.raises(ValueError, match="twice"):
        hold(hold(system, 2), 2)


@seeds(13)
def test_without_what_is_remembered_the_system_is_what_was_held(seed: int) -> None:
    case = random_case(seed)
    free = unconstrained(hold(case.system, 4))
    assert (free.state, free.inputs) == (case.system.state, case.system.inputs)
    ours, theirs = Reached(free), Reached(case.system)
    for state in islice(product(*(range(var.type.greatest + 1) for var in case.system.state)), 40):
        assert ours.following[state] == theirs.following[state]


def test_a_goal_within_a_held_step_that_cannot_be_ended_is_reached_but_has_no_way_to_an_end() -> None:
    """The counter may not pass 3, and 3 is met in the middle of a held step of 2 ticks that begins at 2."""
    kind = ValueType("three_bits", 3)
    count, go = kind.symbol("hd_count"), BOOLEAN.symbol("hd_go")
    free = TransitionSystem(
        "dead end",
        (StateVariable("hd_count", kind, BV(2, 3), Ite(go, count + BV(1, 3), count)),),
        (InputVariable("hd_go", BOOLEAN),),
        defined=Not(And(go, count.Equals(BV(3, 3)))),
    )
    goal = Goal("three", framed(count, 0).Equals(BV(3, 3)), None, 0)
    system = hold(free, 2)
    result = generate(Problem(system, (goal,), boundary(system, None)), Options(bound=8))
    assert [v.status for v in result.verdicts] == [NO_WAY_TO_FINAL]
    assert result.verdicts[0].detail.startswith("reached")


def test_the_window_and_its_timers() -> None:
    """The bundled model, by the search over whole held steps of the free system."""
    with fresh_names():
        project = read_project(str(MODELS / "window"))
        names = ("inrush", "retracted", "auto_down_stops")
        held, free = load(replace(project, hold=3), select=names), load(project, select=names)
        least = least_run(held.system, held.goals, held.final)
        expected = HeldRuns(free.system, free.goals, 3).least_of_all(free.final)
        assert length(least.run) == expected is not None
