"""Inputs mode by mode: those of a state's mode do all that any inputs can do there, and their numbers add up."""

from __future__ import annotations

from itertools import pairwise, product

from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Ite, Symbol
from random_systems import random_case

from bmc.explicit.layers import LayeredSystem, Watched
from bmc.explicit.layers_in_arrays import modes_of
from bmc.explicit.modes import FEW, Modes, modes
from bmc.explicit.scope import Scope
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType

MODE, COUNT = ValueType("mode", 3), ValueType("count", 2)


def sequence(guards: int) -> TransitionSystem:
    """A machine of eight modes; each is left when all buttons of its own are pressed, and counts them else."""
    mode, count = MODE.symbol("seq_mode"), COUNT.symbol("seq_count")
    names = [f"seq_{number}_{button}" for number in range(8) for button in range(guards)]
    after: FNode = mode
    counted: FNode = BV(0, 2)
    for number in range(8):
        own = [Symbol(f"seq_{number}_{button}") for button in range(guards)]
        here = mode.Equals(BV(number, 3))
        after = Ite(And(here, *own), mode + BV(1, 3), after)
        counted = Ite(And(here, own[0]), count + BV(1, 2), counted)
    state = (StateVariable("seq_mode", MODE, BV(0, 3), after), StateVariable("seq_count", COUNT, BV(0, 2), counted))
    return TransitionSystem("sequence", state, tuple(InputVariable(name, BOOLEAN) for name in names))


def test_inputs_of_modes_add_up_where_those_of_all_states_multiply() -> None:
    """Three things to tell apart in each of eight modes: 24 inputs, and not 3 to the power of 8."""
    made = LayeredSystem(sequence(2), [Watched(at(MODE.symbol("seq_mode").Equals(BV(7, 3)), 0), False)])
    found = modes_of(made)
    assert [name for name, _ in found.values] == ["seq_mode"]
    assert [*found.begins] == [*range(0, 8 * 2 + 1, 2)]


def test_few_inputs_are_tried_whatever_the_mode() -> None:
    goal = Watched(at(MODE.symbol("seq_mode").Equals(BV(7, 3)), 0), False)
    few = sequence(1)
    assert 2 ** len(few.inputs) <= FEW
    assert modes_of(LayeredSystem(few, [goal])).values == ()


@seeds(40)
def test_inputs_of_a_mode_do_all_that_inputs_can_do_in_it(seed: int) -> None:
    """In every state the same steps and parts of goals as all combinations of inputs, by trying all."""
    case = random_case(seed)
    system, scope = case.system, Scope(case.system, [goal.antecedent for goal in case.goals])
    step = compile_formulas(scope.roots)
    values = {var.name: [*range(1 << max(1, var.type.bits))] for var in (*scope.system.state, *scope.system.inputs)}
    inputs = [
        dict(zip([v.name for v in scope.system.inputs], each, strict=True))
        for each in product(*(values[v.name] for v in scope.system.inputs))
    ]
    domains = [(var.name, values[var.name]) for var in scope.system.state]
    found = next(each for each in modes(scope, domains) if isinstance(each, Modes))
    numbers = {chosen: number for number, chosen in enumerate(product(*(raw for _, raw in found.values)))}
    assert len(found.begins) == len(numbers) + 1
    for state in product(*(values[var.name] for var in scope.system.state)):
        here = dict(zip([var.name for var in scope.system.state], state, strict=True))
        begin, end = [*pairwise(found.begins)][numbers[tuple(here[name] for name, _ in found.values)]]
        every = {tuple(step({**here, **each})) for each in inputs}
        some = {tuple(step({**here, **each})) for each in found.rows[begin:end]}
        assert {after for after in every if after[0]} == {after for after in some if after[0]}, system.name
