"""Monitors against the goals that they are made of, on drawn runs: by the unrolled formulas, and by all ways to place
goals so that no two share steps."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import pytest
from enumerated import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import FALSE, TRUE, And, Or, Symbol
from pysmt.typing import BVType

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, framed
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType
from properties.goal import Goal
from properties.monitor import Monitor
from properties.one_step import MONITOR, OneStep, in_one_step

BYTE = ValueType("byte", 8)
VALUES = Symbol("steps_v", BVType(8))


def byte_system() -> TransitionSystem:
    """The state is what the input was a step before."""
    state = StateVariable("steps_x", BYTE, BYTE.constant(0), VALUES)
    return TransitionSystem("byte", (state,), (InputVariable("steps_v", BYTE, ((0, 3),)),), TRUE(), TRUE())


def run_of(system: TransitionSystem, draw: random.Random, steps: int) -> Run:
    """A run of up to so many steps under inputs that are drawn."""
    simulator = Simulator(system)
    states, inputs = [simulator.initial()], []
    while len(inputs) < steps:
        for _ in range(50):
            values = {var.name: draw.randrange(1 << max(1, var.type.bits)) for var in system.inputs}
            if simulator.allowed(states[-1], values):
                break
        else:
            break
        inputs.append(values)
        states.append(simulator.step(states[-1], values))
    return Run(tuple(states), tuple(inputs))


@settings(max_examples=24, deadline=None)
@given(st.integers(0, 1 << 20))
def test_a_goal_holds_in_its_last_step_where_its_formula_does(seed: int) -> None:
    system, goals, _ = drawn(seed, longest=4)
    made = in_one_step(system, goals, forbid=False)
    if made is None:
        assert all(goal.length <= 1 for goal in goals)
        return
    run = run_of(system, random.Random(seed), 30)
    simulator = Simulator(made.system)
    whole = simulator.run(simulator.initial({v.name: run.states[0][v.name] for v in system.state}), run.inputs)
    expected, found = Monitor(goals).covered(run), Monitor(made.goals).covered(whole)
    assert max(goal.length for goal in made.goals) <= 1
    for goal in goals:
        earlier = made.earlier.get(goal.name, 0)
        assert [step - earlier for step in found[goal.name]] == expected[goal.name], goal


def test_goals_that_begin_alike_share_what_is_remembered() -> None:
    x = [framed(Symbol("steps_x", BVType(8)), step) for step in range(4)]

    def goal(name: str, *values: int) -> Goal:
        return Goal(name, And([x[n].Equals(BYTE.constant(v)) for n, v in enumerate(values)]), None, len(values) - 1)

    alike = in_one_step(byte_system(), [goal("a", 1, 2, 3, 0), goal("b", 1, 2, 3, 1)], forbid=False)
    unlike = in_one_step(byte_system(), [goal("a", 1, 2, 3, 0), goal("b", 2, 2, 3, 1)], forbid=False)
    assert alike is not None
    assert unlike is not None
    assert (len(alike.made), len(unlike.made)) == (2, 4)


def test_the_steps_after_an_antecedent_belong_to_the_goal() -> None:
    goal = Goal("late", framed(VALUES, 0).Equals(BYTE.constant(2)), None, 7)
    made = in_one_step(byte_system(), [goal], forbid=False)
    assert made is not None
    inputs = [{"steps_v": int(step == 1) * 2} for step in range(9)]
    run = Simulator(made.system).run(Simulator(made.system).initial(), inputs)
    assert Monitor(made.goals).covered(run) == {"late": [7]}
    assert Monitor([goal]).covered(run) == {"late": [1]}


def test_what_is_one_step_long_stays_as_it_is() -> None:
    state = Goal("state", framed(Symbol("steps_x", BVType(8)), 0).Equals(BYTE.constant(1)), None, 0)
    step = Goal("step", framed(VALUES, 0).Equals(BYTE.constant(1)), None, 1)
    assert in_one_step(byte_system(), [state, step], forbid=False) is None
    assert in_one_step(byte_system(), [state], forbid=True) is None


def in_a_row(name: str, values: Sequence[int]) -> Goal:
    """These inputs one after the other."""
    return Goal(
        name, And([framed(VALUES, n).Equals(BYTE.constant(v)) for n, v in enumerate(values)]), None, len(values)
    )


@pytest.mark.parametrize("seed", range(12))
def test_long_goals_hold_in_their_last_step(seed: int) -> None:
    """Goals of up to six steps with a part for every step, or for some of them."""
    draw = random.Random(seed)
    goals = [in_a_row(f"row {length}", [draw.randrange(2) for _ in range(length)]) for length in range(2, 7)]
    some = [framed(VALUES, n).Equals(BYTE.constant(draw.randrange(2))) for n in draw.sample(range(6), 3)]
    far = And([framed(VALUES, step).Equals(BYTE.constant(draw.randrange(2))) for step in (2, 9)])
    goals = draw.sample([*goals, Goal("some", And(some), None, draw.choice((6, 8))), Goal("far", far, None, 11)], 7)
    made = in_one_step(byte_system(), goals, forbid=False)
    assert made is not None
    simulator = Simulator(made.system)
    inputs = [{"steps_v": draw.randrange(2)} for _ in range(200)]
    run = simulator.run(simulator.initial(), inputs)
    expected, found = Monitor(goals).covered(run), Monitor(made.goals).covered(run)
    assert sum(map(len, expected.values())) > 50
    for goal in goals:
        assert [step - made.earlier[goal.name] for step in found[goal.name]] == expected[goal.name], goal


@pytest.mark.parametrize("forbid", [False, True])
def test_what_need_not_be_changed_is_left_as_it_is(forbid: bool) -> None:
    """A goal of one step beside one of three keeps its consequent, unless it must not share steps."""
    step = Goal("step", framed(VALUES, 0).Equals(BYTE.constant(1)), framed(VALUES, 0).Equals(BYTE.constant(1)), 1)
    made = in_one_step(byte_system(), [step, in_a_row("long", (1, 2, 3))], forbid)
    assert made is not None
    assert (made.goals[0] is step) == (not forbid)
    assert ("step" in made.earlier) == forbid


def test_a_pick_has_a_number_for_each_goal_and_for_none() -> None:
    """None is needed only where goals of several steps may have to let another one pass."""
    for lengths, values in (((1, 1, 1), (1, 3)), ((1, 2), (0, 2)), ((3,), (0, 1))):
        goals = [Goal(f"g{number}", TRUE(), None, length) for number, length in enumerate(lengths)]
        made = in_one_step(byte_system(), goals, forbid=True)
        assert made is not None
        pick = made.system.inputs[-1]
        assert pick.values == (values,)


def test_a_goal_of_no_step_ends_where_it_begins() -> None:
    """Also where it is changed, for it must not hold amid another."""
    state = Goal("state", framed(Symbol("steps_x", BVType(8)), 0).Equals(BYTE.constant(1)), None, 0)
    made = in_one_step(byte_system(), [state, Goal("long", TRUE(), None, 3)], forbid=True)
    assert made is not None
    assert made.earlier == {"state": 0, "long": 2}
    assert [goal.length for goal in made.goals] == [0, 1]


def disjoint(goals: Sequence[Goal], covered: dict[str, list[int]]) -> bool:
    """Whether all ``goals`` can be credited at steps of their own; one of no step not amid another."""

    def share(a: tuple[Goal, int], b: tuple[Goal, int]) -> bool:
        (one, first), (other, second) = a, b
        return second < first + one.length and first < second + other.length

    ways = product(*([(goal, step) for step in covered[goal.name]] for goal in goals))
    return any(not any(share(a, b) for a, b in combinations(way, 2)) for way in ways)


def choices(made: OneStep) -> Iterator[dict[str, int]]:
    """All values of the inputs of monitors."""
    own = [var for var in made.system.inputs if var.name.startswith(MONITOR)]
    ranges = [range(var.values[0][1] + 1) if var.values else range(2) for var in own]
    yield from (dict(zip([var.name for var in own], values, strict=True)) for values in product(*ranges))


def met_together(made: OneStep, run: Run) -> set[frozenset[str]]:
    """All sets of goals that ``run`` covers for some inputs of the monitors."""
    simulator = Simulator(made.system)
    on_state = [goal for goal in made.goals if goal.length == 0]
    on_step = [goal for goal in made.goals if goal.length == 1]
    at_state = compile_formulas([goal.antecedent for goal in on_state])
    in_step = compile_formulas([goal.antecedent for goal in on_step])

    def named(state: dict[str, int]) -> frozenset[str]:
        values = at_state({f"{name}@0": value for name, value in state.items()})
        return frozenset(goal.name for goal, value in zip(on_state, values, strict=True) if value)

    begun = dict(simulator.initial(run.states[0]))
    here = {(tuple(begun.items()), named(begun))}
    for inputs in run.inputs:
        after = set()
        for items, goals in here:
            state = dict(items)
            for chosen in choices(made):
                then = dict(simulator.step(state, {**inputs, **chosen}))
                frame = {f"{n}@0": v for n, v in {**state, **inputs, **chosen}.items()}
                values = in_step({**frame, **{f"{n}@1": v for n, v in then.items()}})
                new = {goal.name for goal, value in zip(on_step, values, strict=True) if value}
                after.add((tuple(then.items()), goals | new | named(then)))
        here = after
    return {goals for _, goals in here}


def small_case(seed: int) -> tuple[list[Goal], Run]:
    draw = random.Random(seed)
    x = [framed(Symbol("steps_x", BVType(8)), step) for step in range(4)]
    goals = []
    for number in range(3 + seed % 2):
        length = draw.randint(0, 3)
        own = draw.randint(0, length)
        parts = [
            Or([x[step].Equals(BYTE.constant(v)) for v in draw.sample(range(3), draw.randint(1, 2))])
            for step in range(own + 1)
        ]
        goals.append(Goal(f"g{number}", And(parts), None, length))
    system = byte_system()
    simulator = Simulator(system)
    return goals, simulator.run(simulator.initial(), [{"steps_v": draw.randrange(3)} for _ in range(5)])


@pytest.mark.parametrize("seed", range(40))
def test_goals_count_together_where_they_share_no_steps(seed: int) -> None:
    goals, run = small_case(seed)
    made = in_one_step(byte_system(), goals, forbid=True)
    if made is None:
        assert not any(goal.length for goal in goals)
        return
    found, covered = met_together(made, run), Monitor(goals).covered(run)
    for number in range(1, len(goals) + 1):
        for some in combinations(goals, number):
            names = {goal.name for goal in some}
            assert any(names <= each for each in found) == disjoint(some, covered), (names, goals, run)


@pytest.mark.parametrize("forbid", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_changed_goals_alone_make_the_same(seed: int, forbid: bool) -> None:
    """A certificate names these goals only, and what is made of them has to be what it says; some never hold."""
    goals, draw = small_case(seed)[0], random.Random(seed)
    never = [Goal(f"never {length}", FALSE(), None, length) for length in draw.sample(range(3), 2)]
    goals = draw.sample([*goals, *never], 5)
    made = in_one_step(byte_system(), goals, forbid)
    named = [goal for goal in goals if made is not None and goal.name in made.earlier]
    again = in_one_step(byte_system(), named, forbid)
    if made is None or not named:
        assert again is None
        return
    assert again is not None
    assert [goal for goal in made.goals if goal.name in made.earlier] == list(again.goals)
    assert (made.system, made.made) == (again.system, again.made)


@pytest.mark.parametrize("lengths", [(1,), (1, 0), (2, 0), (2, 1)])
def test_goals_that_never_hold_make_no_pick(lengths: tuple[int, ...]) -> None:
    goals = [Goal(f"never {number}", FALSE(), None, length) for number, length in enumerate(lengths)]
    made = in_one_step(byte_system(), goals, forbid=True)
    assert made is not None
    assert made.system.inputs == byte_system().inputs
    assert all(goal.antecedent.is_false() and goal.length <= 1 for goal in made.goals)


def test_inputs_of_monitors_change_no_run() -> None:
    goals = [Goal("a", at(VALUES.Equals(BYTE.constant(1)), 0), None, 2), Goal("b", TRUE(), None, 1)]
    made = in_one_step(byte_system(), [*goals, Goal("c", TRUE(), None, 0)], forbid=True)
    assert made is not None
    assert len([var for var in made.system.inputs if var.name.startswith(MONITOR)]) == 2
    assert made.system.input_constraint is byte_system().input_constraint
