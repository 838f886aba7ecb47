"""Comparisons of choices taken apart: equal for all values, and then about one variable each."""

from __future__ import annotations

import random
from itertools import product

from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import And, Ite, Not, Or, Symbol
from pysmt.typing import BOOL, BVType
from random_systems import random_case

from bmc.floats.compare import less
from bmc.floats.format import FLOAT32
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.lifting import BRANCHES, lifted, with_free_comparisons
from bmc.formulas.unroll import at
from bmc.system.transition import ValueType

BYTE = ValueType("byte", 3)
CASE, COUNT, OTHER = Symbol("lift_case", BOOL), Symbol("lift_count", BVType(3)), Symbol("lift_other", BVType(3))
VALUES = [
    {"lift_case": case, "lift_count": count, "lift_other": other}
    for case, count, other in product((0, 1), range(8), range(8))
]


def same(one: FNode, other: FNode) -> bool:
    """Whether both are equal for all values of the three variables."""
    both = compile_formulas([one, other])
    return all(len({bool(value) for value in both(values)}) == 1 for values in VALUES)


def test_what_is_set_back_or_counted_is_compared_in_each_branch() -> None:
    one = BYTE.constant(1)
    after = Ite(CASE, BYTE.constant(0), COUNT + one)
    found = lifted([BYTE.constant(4).BVULE(after)])[0]
    assert found is And(Not(CASE), BYTE.constant(4).BVULE(COUNT + one))
    assert same(found, BYTE.constant(4).BVULE(after))


def test_choices_below_operations_and_on_both_sides_are_taken_apart() -> None:
    wide = Ite(CASE, COUNT, BYTE.constant(5)).BVZExt(1) + BYTE.constant(1).BVZExt(1)
    low = Ite(COUNT.BVULT(OTHER), OTHER, BYTE.constant(2)).BVZExt(1)
    asked = wide.BVULT(low)
    found = lifted([asked])[0]
    assert same(found, asked)
    assert not any(side.is_ite() for side in _sides(found))


def _sides(formula: FNode) -> list[FNode]:
    """The sides of all comparisons in ``formula``, without the operations around them."""
    found, todo = list[FNode](), [formula]
    while todo:
        node = todo.pop()
        if node.is_bv_ult() or node.is_equals():
            found += node.args()
        todo += node.args()
    return [side.arg(0) if side.is_bv_zext() or side.is_bv_add() else side for side in found]


def test_a_comparison_of_too_many_branches_stays_as_it_is() -> None:
    table = BYTE.constant(0)
    for number in range(BRANCHES + 1):
        table = Ite(Symbol(f"lift_{number}", BOOL), COUNT + Symbol(f"lift_term_{number}", BVType(3)), table)
    asked = table.Equals(OTHER)
    assert lifted([asked])[0] is asked


@seeds(60)
def test_lifted_formulas_are_equal(seed: int) -> None:
    """Next-state functions of random systems, with all comparisons of their choices, for values drawn at random."""
    system = random_case(seed).system
    formulas = [var.next for var in system.state]
    rng = random.Random(seed)
    before, after = compile_formulas(formulas), compile_formulas(lifted(formulas))
    bits = {var.name: max(1, var.type.bits) for var in (*system.state, *system.inputs)}
    for _ in range(64):
        values = {name: rng.getrandbits(width) for name, width in bits.items()}
        assert [*before(values)] == [*after(values)]


def test_comparisons_of_inputs_and_of_what_is_hidden_become_symbols_and_no_others_do() -> None:
    """A comparison of two inputs, and one of a hidden variable with the state; not one of the state with an input, nor
    of one variable with a constant. Goals have the same symbols as steps."""
    alone, state = COUNT.BVULT(BYTE.constant(3)), Symbol("lift_state", BVType(3))
    kept, mixed = state.BVULT(COUNT), state.BVULT(OTHER)
    formula = Or(And(COUNT.BVULT(OTHER), alone), kept, And(mixed, CASE))
    goal = And(at(COUNT.BVULT(OTHER), 0), at(kept, 1))
    (found,), (asked,), names = with_free_comparisons([formula], [goal], ["lift_case", "lift_count"], ["lift_other"])
    first, second = (Symbol(name) for name in names)
    assert found is Or(And(first, alone), kept, And(second, CASE))
    assert asked is And(at(first, 0), at(kept, 1))


def test_a_comparison_of_floating_numbers_is_one_comparison() -> None:
    """Not those of the circuit that it is calculated by."""
    single = ValueType("float", 32, floating=True)
    one, other = single.symbol("lift_one"), single.symbol("lift_two")
    (found,), _, names = with_free_comparisons([less(one, other, FLOAT32)], [], ["lift_one", "lift_two"], [])
    assert [found] == [Symbol(name) for name in names]
