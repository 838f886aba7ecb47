"""Progress of goals that choose numbers by what several slots say: it ends where the antecedent holds."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULT, And, BVAdd, Equals, Ite, Not, Symbol
from pysmt.typing import BVType

from bmc.formulas.evaluate import compile_formulas
from properties.goal import Goal
from properties.progression import MOST_CHOICES, Progression

BITS = 3
VALUES = range(1 << BITS)
FRAMES = [Symbol(f"{name}@{step}", BVType(BITS)) for name in ("s", "i") for step in (0, 1)][:3]
"""The state at steps 0 and 1, and the input at step 0."""


def goal(antecedent: FNode) -> Goal:
    return Goal("g", antecedent, None, 1)


def relations(numbers: st.SearchStrategy[FNode]) -> st.SearchStrategy[FNode]:
    return st.builds(lambda kind, a, b: kind(a, b), st.sampled_from([BVULT, Equals]), numbers, numbers)


atoms = st.sampled_from([*FRAMES, *(BV(value, BITS) for value in (0, 2, 5))])
numbers = st.recursive(
    atoms,
    lambda below: st.one_of(st.builds(BVAdd, below, below), st.builds(Ite, relations(below).map(Not), below, below)),
    max_leaves=12,
)
antecedents = st.one_of(relations(numbers), st.builds(And, relations(numbers), relations(numbers)))


def completes(progression: Progression, frames: dict[str, int]) -> bool:
    """Whether the goal that begins in the first state of ``frames`` is completed a step later."""
    state, given_input, after = ({key[:-2]: value} for key, value in frames.items())
    begun = progression.begin(0, progression.state_class(state))
    assert not begun.completed
    moved = progression.advance(begun.pending, progression.input_class(given_input), progression.state_class(after))
    return bool(moved.completed)


@settings(max_examples=80)
@given(antecedents)
def test_a_goal_is_completed_where_its_antecedent_holds(antecedent: FNode) -> None:
    progression, holds = Progression([goal(antecedent)], {"i"}), compile_formulas([antecedent])
    for state, given_input, after in product(VALUES, VALUES, VALUES):
        frames = {"s@0": state, "i@0": given_input, "s@1": after}
        assert completes(progression, frames) == bool(holds(frames)[0])


COUNTER, MOVE = Symbol("counter@0", BVType(8)), Symbol("move@0", BVType(8))
UP, DOWN = Equals(MOVE, BV(1, 8)), Equals(MOVE, BV(2, 8))
MOVED = Ite(UP, BVAdd(COUNTER, BV(1, 8)), Ite(DOWN, BVAdd(COUNTER, BV(255, 8)), COUNTER))
"""A counter that an input moves up or down."""


def test_a_counter_that_an_input_moves_tells_few_states_apart() -> None:
    progression = Progression([goal(BVULT(MOVED, BV(100, 8)))], {"move"})
    classes = {progression.state_class({"counter": value}) for value in range(256)}
    assert len(classes) == 6  # 0, 1 to 98, 99, 100, 101 to 254, 255
    for state in classes:
        progression.begin(0, state)
    assert len(progression.progress) <= 6


def test_relations_that_choices_do_not_resolve_are_left_as_they_are() -> None:
    """The counter is moved by the number that is given."""
    antecedent = BVULT(Ite(UP, BVAdd(COUNTER, MOVE), COUNTER), BV(100, 8))
    progression, holds = Progression([goal(antecedent)], {"move"}), compile_formulas([antecedent])
    assert len({progression.state_class({"counter": value}) for value in range(256)}) == 256
    for state, move in product(range(0, 256, 50), range(4)):
        frames = {"counter@0": state, "move@0": move, "counter@1": 0}
        assert completes(progression, frames) == bool(holds(frames)[0])


def test_choices_beyond_the_most_are_left_in_their_relations() -> None:
    chosen = MOVED
    for place in range(MOST_CHOICES):
        chosen = Ite(Equals(MOVE, BV(place % 16, 8)), BVAdd(chosen, BV(place % 3, 8)), chosen)
    antecedent = BVULT(BVAdd(chosen, chosen), BV(70, 8))
    progression, holds = Progression([goal(antecedent)], {"move"}), compile_formulas([antecedent])
    for state, move in product(range(0, 256, 50), range(18)):
        frames = {"counter@0": state, "move@0": move, "counter@1": 0}
        assert completes(progression, frames) == bool(holds(frames)[0])
