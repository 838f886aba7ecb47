"""Kinds of states: inputs that are told apart in none of them do the same in each, by trying all."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import pytest
from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Ite, Not
from random_systems import random_case

from bmc.explicit.kinds import kinds
from bmc.explicit.layers import LayeredSystem, NotInLayers, Watched
from bmc.explicit.layers_in_c import CompiledLayers
from bmc.explicit.scope import Scope
from bmc.formulas.evaluate import compile_formulas, names_in
from bmc.formulas.unroll import at
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType

TIME, WORD, MODE = ValueType("time", 12), ValueType("word", 8), ValueType("mode", 4)


def parts_over(terms: list[FNode], names: set[str]) -> list[FNode]:
    """The largest parts of ``terms`` over ``names`` alone."""
    found, todo = [], [*terms]
    for node in todo:
        read = names_in([node])
        if read and read <= names:
            found.append(node)
        elif read & names:
            todo += node.args()
    return found


@seeds(40)
def test_inputs_that_no_term_tells_apart_do_the_same_in_all_states_of_a_kind(seed: int) -> None:
    case = random_case(seed)
    scope = Scope(case.system, [goal.antecedent for goal in case.goals])
    system, (first, *others) = scope.system, scope.roots
    states = {var.symbol for var in system.state}
    allowed, picked = kinds(first, others, states)
    step, whether, tell = compile_formulas([first, *others]), compile_formulas([allowed]), compile_formulas(picked)
    told = compile_formulas(parts_over([allowed, *picked], {symbol.symbol_name() for symbol in states}))
    values = {var.name: [*range(1 << max(1, var.type.bits))] for var in (*system.state, *system.inputs)}
    does = defaultdict[tuple[int, ...], list[dict[tuple[int, ...], set[tuple[int, ...]]]]](list)
    for here in product(*(values[var.name] for var in system.state)):
        state = dict(zip((var.name for var in system.state), here, strict=True))
        classes = defaultdict[tuple[int, ...], set[tuple[int, ...]]](set)
        for own in product(*(values[var.name] for var in system.inputs)):
            both = {**state, **dict(zip((var.name for var in system.inputs), own, strict=True))}
            after = tuple(step(both))
            assert next(iter(whether(both))) == after[0]
            if after[0]:
                classes[tuple(tell(both))].add(after)
        assert all(len(each) == 1 for each in classes.values())
        does[tuple(told(state))].append(dict(classes))
    for same in does.values():
        assert all(classes.keys() == same[0].keys() for classes in same)


def timer(limit: int) -> TransitionSystem:
    """A button runs a timer and sets it back when it is let go; a level and a key do something at the limit alone."""
    time, done = TIME.symbol("kind_time"), MODE.symbol("kind_done")
    button, level, key = BOOLEAN.symbol("kind_button"), WORD.symbol("kind_level"), WORD.symbol("kind_key")
    late = time.Equals(TIME.constant(limit))
    ran = Ite(And(button, Not(late)), time + TIME.constant(1), Ite(button, time, TIME.constant(0)))
    opened = Ite(And(late, level.BVULT(WORD.constant(17)), key.Equals(WORD.constant(99))), MODE.constant(1), done)
    state = (
        StateVariable("kind_time", TIME, TIME.constant(0), ran),
        StateVariable("kind_done", MODE, MODE.constant(0), opened),
    )
    inputs = (
        InputVariable("kind_button", BOOLEAN),
        InputVariable("kind_level", WORD),
        InputVariable("kind_key", WORD),
    )
    return TransitionSystem("timer", state, inputs)


def reached(system: TransitionSystem, watched: Watched) -> CompiledLayers:
    search = CompiledLayers(LayeredSystem(system, [watched]), 1 << 28, soon=True)
    search.from_starts()
    while not search.go(1e6):
        pass
    return search


@pytest.mark.needs_compiler
def test_a_timer_has_one_kind_but_where_something_is_decided() -> None:
    """In 1,000 states two inputs are tried, the button down or up, and where the time is over two more."""
    done = MODE.symbol("kind_done").Equals(MODE.constant(1))
    search = reached(timer(1000), Watched(at(done, 0), False))
    assert search.states == 2 * 1001
    assert len(search.inputs()["kind_button"]) == 4
    one = next(number for number in range(4) if search.input(number)["kind_key"] == 99)
    assert search.input(one)["kind_level"] < 17
    search.close()


@pytest.mark.needs_compiler
def test_inputs_of_which_few_matter_at_a_time_are_tried_though_they_have_too_many_combinations() -> None:
    """Ten words of which each is read in one mode: 2 to the power of 80 combinations, and ten modes to go through."""
    mode = MODE.symbol("kinds_mode")
    words = [WORD.symbol(f"kinds_{number}") for number in range(10)]
    after: FNode = mode
    for number, word in enumerate(words):
        passed = And(mode.Equals(BV(number, 4)), word.Equals(WORD.constant(7 * number)))
        after = Ite(passed, mode + BV(1, 4), after)
    inputs = tuple(InputVariable(word.symbol_name(), WORD) for word in words)
    system = TransitionSystem("ten words", (StateVariable("kinds_mode", MODE, BV(0, 4), after),), inputs)
    search = reached(system, Watched(at(mode.Equals(BV(10, 4)), 0), False))
    assert (search.states, search.first()) == (11, [10])
    search.close()


@pytest.mark.needs_compiler
def test_an_input_that_is_remembered_is_tried_with_all_its_values() -> None:
    given = TIME.symbol("kept_given")
    kept = StateVariable("kept_state", TIME, TIME.constant(0), given)
    system = TransitionSystem("kept", (kept,), (InputVariable("kept_given", TIME),))
    search = reached(system, Watched(at(kept.symbol.Equals(TIME.constant(4095)), 0), False))
    assert (search.states, len(search.inputs()["kept_given"])) == (4096, 4096)
    search.close()


@pytest.mark.needs_compiler
def test_states_may_have_any_number_of_words() -> None:
    """A value of 60 bits goes through three words."""
    wide, far = ValueType("wide", 60), (1 << 60) - 3
    first, second, third = (wide.symbol(f"wide_{name}") for name in ("first", "second", "third"))
    given = BOOLEAN.symbol("wide_given")
    nexts = {first: Ite(given, wide.constant(far), wide.constant(0)), second: first, third: second}
    state = tuple(StateVariable(each.symbol_name(), wide, wide.constant(0), after) for each, after in nexts.items())
    system = TransitionSystem("wide", state, (InputVariable("wide_given", BOOLEAN),))
    arrived = And(third.Equals(wide.constant(far)), first.Equals(wide.constant(0)))
    search = reached(system, Watched(at(arrived, 0), False))
    assert (search.states, search.first()) == (8, [3])
    search.from_state(None, 0)
    while not search.go(1e6):
        pass
    way = next(each for each in search.way(0, 1e6) if each is not None)
    assert [search.input(number)["wide_given"] for number in way.inputs] in ([1, 0, 0], [1, 1, 0])
    search.close()


@pytest.mark.needs_compiler
def test_inputs_of_which_all_matter_at_once_are_refused() -> None:
    """Three words are added to a sum: 2 to the power of 24 combinations do something each."""
    total = ValueType("total", 24)
    words = [WORD.symbol(f"total_{number}") for number in range(3)]
    shifted = [word.BVZExt(16) * total.constant(1 << (8 * n)) for n, word in enumerate(words)]
    after = total.symbol("total_sum") ^ (shifted[0] | shifted[1] | shifted[2])
    state = (StateVariable("total_sum", total, total.constant(0), after),)
    inputs = tuple(InputVariable(word.symbol_name(), WORD) for word in words)
    seen = Watched(at(total.symbol("total_sum").Equals(total.constant(5)), 0), False)
    with pytest.raises(NotInLayers, match="too many combinations that do something else"):
        reached(TransitionSystem("total", state, inputs), seen)
