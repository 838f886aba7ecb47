"""Classes of inputs against trying all values: one of each class, the first, and none that is told apart missing."""

from __future__ import annotations

from itertools import product

import pytest
from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Ite, Not, Or
from random_systems import random_case

from bmc.explicit.input_classes import InputTables, TooManyValues, combined_classes, input_tables, merged_classes
from bmc.explicit.rows import Rows
from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, pattern
from bmc.formulas.evaluate import compile_formulas
from bmc.system.transition import InputVariable, ValueType

BYTE, SIGNED, WIDE = ValueType("byte", 8), ValueType("signed", 8, signed=True), ValueType("wide", 32, signed=True)


def classes(variables: list[InputVariable], formulas: list[FNode], constraint: FNode | None = None) -> Rows:
    tables = tables_of(variables, formulas)
    found = combined_classes(tables, formulas, [] if constraint is None else [constraint])
    assert found is not None
    return found


def tables_of(variables: list[InputVariable], formulas: list[FNode]) -> InputTables:
    return next(step for step in input_tables(variables, formulas) if isinstance(step, InputTables))


def check_classes(variables: list[InputVariable], formulas: list[FNode], domain: list[list[int]], states: list) -> None:  # type: ignore[type-arg]
    """Each combination is seen in every state like exactly one listed, which comes no later."""
    names = [var.name for var in variables]
    test = compile_formulas(formulas)

    def seen(values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(test({**state, **dict(zip(names, values, strict=True))}) for state in states)

    firsts: dict[tuple[tuple[int, ...], ...], tuple[int, ...]] = {}
    for values in product(*domain):
        firsts.setdefault(seen(values), values)
    listed = [tuple(row[name] for name in names) for row in classes(variables, formulas)]
    assert set(listed) >= set(firsts.values())
    assert {seen(values) for values in listed} == set(firsts)


x, y, z = BYTE.symbol("ec_x"), BYTE.symbol("ec_y"), BYTE.symbol("ec_z")


def test_values_that_only_comparisons_see_are_few() -> None:
    current, flag = InputVariable("ec_x", BYTE), InputVariable("ec_y", BYTE, ((0, 1),))
    formulas = [And(BV(100, 8).BVULT(x), z.Equals(BV(1, 8))), Ite(x.BVZExt(8).BVULT(BV(186, 16)), z + y, z)]
    found = classes([current, flag], formulas)
    assert [tuple(row.values()) for row in found] == [(0, 0), (0, 1), (101, 0), (101, 1), (186, 0), (186, 1)]
    states = [{"ec_z": value} for value in range(0, 256, 5)] + [{"ec_z": 1}]
    check_classes([current, flag], formulas, [list(range(256)), [0, 1]], states)


def test_negative_values_come_last() -> None:
    signed = SIGNED.symbol("ec_s")
    var = InputVariable("ec_s", SIGNED, ((-100, 100),))
    found = classes([var], [Ite(signed.BVSLT(BV(246, 8)), z, z + signed.BVUDiv(BV(64, 8)))])
    assert [row["ec_s"] for row in found] == [0, 64, 156, 192, 246]


def test_a_wide_input_is_split_by_the_constants_it_is_compared_with() -> None:
    wide = WIDE.symbol("ec_w")
    var = InputVariable("ec_w", WIDE, ((-1000, 1_000_000),))
    formulas = [And(BV(5000, 32).BVSLE(wide), z.Equals(BV(1, 8))), Ite(wide.Equals(BV(77, 32)), z, z + BV(1, 8))]
    formulas.append(And(wide.BVSLT(BV(0, 32)), z.Equals(BV(2, 8))))
    assert [row["ec_w"] for row in classes([var], formulas)] == [0, 77, 5000, (1 << 32) - 1000]
    with pytest.raises(TooManyValues, match="the input 'ec_w' has 1001001 values"):
        tables_of([var], [wide + z.BVZExt(24)])


def test_a_float_input_is_split_by_comparisons() -> None:
    kind = ValueType("float", 32, floating=True)
    value, level = kind.symbol("ec_f"), kind.symbol("ec_l")
    limit = BV(pattern(20.5, FLOAT32), 32)
    formulas = [And(compare.less(value, limit, FLOAT32), z.Equals(BV(1, 8)))]
    found = classes([InputVariable("ec_f", kind)], formulas)
    assert [row["ec_f"] for row in found] == [0, pattern(20.5, FLOAT32)]
    with pytest.raises(TooManyValues, match="'ec_f'"):
        tables_of([InputVariable("ec_f", kind)], [arithmetic.add(value, level, FLOAT32)])


def test_inputs_that_only_count_together() -> None:
    both = [InputVariable("ec_x", BYTE), InputVariable("ec_y", BYTE)]
    formulas = [And((x + y).BVULT(BV(10, 8)), z.Equals(BV(1, 8)))]
    found = classes([InputVariable(var.name, BYTE, ((0, 200),)) for var in both], formulas)
    assert [tuple(row.values()) for row in found] == [(0, 0), (0, 10)]


def test_combinations_that_are_never_allowed_are_left_out() -> None:
    flags = [InputVariable(name, BYTE, ((0, 1),)) for name in ("ec_x", "ec_y")]
    exclusive = Not(And(x.Equals(BV(1, 8)), y.Equals(BV(1, 8))))
    found = classes(flags, [x + z, y + z], exclusive)
    assert [tuple(row.values()) for row in found] == [(0, 0), (0, 1), (1, 0)]
    assert len(classes(flags, [x + z, y + z], Not(TRUE()))) == 4, "at least some are left"


def merged(variables: list[InputVariable], formulas: list[FNode]) -> Rows:
    """The classes where combinations are merged group by group."""
    return next(step for step in merged_classes(tables_of(variables, formulas), formulas) if isinstance(step, Rows))


def test_combinations_are_merged_where_the_same_is_left_of_them_in_every_state() -> None:
    """Of eight independent conditions the step asks for any: 256 combinations, two of which are told apart."""
    names = [f"ec_m{number}" for number in range(8)]
    variables = [InputVariable(name, BYTE) for name in names]
    any_large = Or(BV(100, 8).BVULT(BYTE.symbol(name)) for name in names)
    formulas = [TRUE(), Ite(And(any_large, z.BVULT(BV(9, 8))), z + BV(1, 8), BV(0, 8))]
    found = merged(variables, formulas)
    assert [sum(row.values()) for row in found] == [0, 101]


@seeds(40)
def test_merged_classes_do_all_that_inputs_can_do(seed: int) -> None:
    """In every state the same steps and parts of goals as all combinations of inputs, by trying all."""
    system = random_case(seed).system
    inputs = [InputVariable(f"ec_large_{name}", BYTE) for name in "uvw"]
    large = [BV(7, 8).BVULT(var.symbol) for var in inputs]
    choice = Ite(And(large[0], Not(large[1])), BV(1, 2), Ite(large[2], BV(2, 2), BV(0, 2)))
    variables = [*system.inputs, *inputs]
    formulas = [And(system.input_constraint, system.defined)]
    formulas += [var.next + choice if var.type.bits == 2 else var.next for var in system.state]
    step = compile_formulas(formulas)
    given = [[*range(1 << max(1, var.type.bits))] for var in system.inputs] + [[3, 200]] * 3
    every = [dict(zip([var.name for var in variables], values, strict=True)) for values in product(*given)]
    for state in product(*([*range(1 << max(1, var.type.bits))] for var in system.state)):
        here = dict(zip([var.name for var in system.state], state, strict=True))
        steps = {tuple(step({**here, **values})) for values in every}
        found = {tuple(step({**here, **row})) for row in merged(variables, formulas)}
        assert {after for after in steps if after[0]} == {after for after in found if after[0]}
