"""One combination of inputs for each outcome of a step, against all combinations in all states."""

from __future__ import annotations

import random
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULT, FALSE, And, Ite, Or
from random_terms import FLAGS, SYMBOLS, flag, term

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType, conjunction
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.outcomes import Outcomes
from chaincover.verification.states import prepared, tabulate

TYPES = {0: BOOLEAN, 3: ValueType("small", 3), 8: ValueType("uint8", 8)}
PAIRS = {0: FLAGS, 3: SYMBOLS[3], 8: SYMBOLS[8]}
"""By width a symbol of the state, and one of the inputs."""
FEW = range(4)
"""The values of words that are looked at."""


def drawn(seed: int) -> tuple[TransitionSystem, FNode]:
    """A system in which inputs are calculated with, compared with each other and with the state; and a goal."""
    rng = random.Random(seed)
    nexts = {width: term(rng, width, 2, (3, 8)) if width else flag(rng, 2, (3, 8)) for width in PAIRS}
    init = {0: FALSE(), 3: BV(0, 3), 8: BV(0, 8)}
    state = (StateVariable(PAIRS[width][0].symbol_name(), TYPES[width], init[width], nexts[width]) for width in PAIRS)
    inputs = (InputVariable(PAIRS[width][1].symbol_name(), TYPES[width], ((0, 3),) if width else ()) for width in PAIRS)
    allowed, defined = (Or(flag(rng, 2, (3, 8)), flag(rng, 2, (3, 8))) for _ in range(2))
    return TransitionSystem("drawn", tuple(state), tuple(inputs), allowed, defined), flag(rng, 2, (3, 8))


def values(place: int) -> list[dict[str, int]]:
    """All combinations of values of the symbols of the state (0), or of the inputs (1)."""
    ranges = [FEW if width else range(2) for width in PAIRS]
    return [
        {pair[place].symbol_name(): value for pair, value in zip(PAIRS.values(), row, strict=True)}
        for row in product(*ranges)
    ]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1 << 40))
def test_each_combination_does_in_each_state_what_a_choice_does(seed: int) -> None:
    system, goal = drawn(seed)
    outcomes = Outcomes(system, [at(goal, 0)], Clock(Limits()))
    allowed = conjunction([system.input_constraint, system.defined])
    look = compile_formulas([allowed, *(var.next for var in system.state), goal])
    for state in values(0):
        choices = outcomes.of(state)
        assert choices is not None
        every = {look({**state, **inputs}) for inputs in values(1)}
        chosen = {look({**state, **outcomes.choices[number]}) for number in choices}
        assert {outcome for outcome in every if outcome[0]} == {outcome for outcome in chosen if outcome[0]}


def test_two_words_compared_beside_the_state_are_told_apart_together() -> None:
    """Each of them alone has 2^32 values: a solver finds one pair for each way in which the comparison may turn out."""
    word = ValueType("uint32", 32)
    level, one, other = word.symbol("to_level"), word.symbol("to_one"), word.symbol("to_other")
    up = And(BVULT(other + level, one), BVULT(level, BV(20, 32)))
    system = TransitionSystem(
        "compared",
        (StateVariable("to_level", word, BV(0, 32), Ite(up, level + BV(1, 32), level)),),
        (InputVariable("to_one", word), InputVariable("to_other", word)),
    )
    outcomes = Outcomes(system, [], Clock(Limits()))
    after = compile_formulas([system.state[0].next])
    for state in ({"to_level": 7}, {"to_level": 20}):
        choices = outcomes.of(state)
        assert choices is not None
        found = sorted(after({**state, **outcomes.choices[number]})[0] for number in choices)
        assert found == ([7, 8] if state["to_level"] == 7 else [20])


def test_inputs_that_a_state_does_not_read_are_not_told_apart_there() -> None:
    """A lock with a key for each place: 2^24 combinations of keys have two outcomes in each state."""
    place, keys = TYPES[8].symbol("to_place"), [BOOLEAN.symbol(f"to_key{number}") for number in range(24)]
    turned = Or(And(place.Equals(BV(number, 8)), key) for number, key in enumerate(keys))
    system = TransitionSystem(
        "lock",
        (StateVariable("to_place", TYPES[8], BV(0, 8), Ite(turned, place + BV(1, 8), BV(0, 8))),),
        tuple(InputVariable(key.symbol_name(), BOOLEAN) for key in keys),
    )
    read = [at(place, 0).Equals(BV(24, 8))]
    assert prepared(system, read, Clock(Limits())).classes is None
    table = tabulate(system, read, Clock(Limits()))
    assert table is not None
    assert (table.size, table.steps) == (25, 2 * 24 + 1)
    assert table.inputs.size == 1 + 24, "no key, and each one alone"
