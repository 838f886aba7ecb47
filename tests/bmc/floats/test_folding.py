"""Constants, choices between constants, and comparisons with constants stay small."""

from __future__ import annotations

from collections.abc import Iterator

import pysmt.operators as op
import pytest
from c_support import own_environment  # noqa: F401
from float_cases import BINARY, COMPARISONS, UNARY, Circuit, circuit, operand
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BOOL, Symbol

from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, FLOAT64, Format, canonical, number, pattern
from bmc.floats.operations import CONSTANTS, Program
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import choose, constant

VALUES = (0.0, 1.0, -2.5, 4.0, 1e300, -0.0)


def known(value: float, form: Format = FLOAT64) -> FNode:
    return constant(pattern(value, form), form.bits)


def flag(name: str) -> FNode:
    return Symbol(f"flag_{name}", BOOL)


def chosen(*values: FNode) -> FNode:
    """The values, each if the flags before it are false."""
    result = values[-1]
    for index, value in reversed(list(enumerate(values[:-1]))):
        result = choose(flag(str(index)), value, result)
    return result


def operators(*terms: FNode) -> Iterator[int]:
    seen: set[FNode] = set()
    stack = list(terms)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node.node_type()
            stack += node.args()


CHOICE = {op.ITE, op.SYMBOL, op.BV_CONSTANT, op.BOOL_CONSTANT, op.NOT, op.AND, op.OR}


@pytest.mark.parametrize("name", [*BINARY, *COMPARISONS])
def test_choices_between_constants_stay_choices(name: str) -> None:
    build = (BINARY | COMPARISONS)[name]
    mode, factor = chosen(*map(known, VALUES[:4])), known(3.0)
    for result in (build(mode, factor, FLOAT64), build(factor, mode, FLOAT64), build(mode, mode, FLOAT64)):
        assert set(operators(result)) <= CHOICE


@pytest.mark.parametrize("name", list(UNARY))
def test_unary_operations_on_choices_stay_choices(name: str) -> None:
    assert set(operators(UNARY[name](chosen(*map(known, VALUES)), FLOAT64))) <= CHOICE


def test_conversions_of_choices_stay_choices() -> None:
    mode = chosen(*map(known, VALUES[:4]))
    as_integer, defined = arithmetic.to_int(mode, FLOAT64, 8, True)
    assert set(operators(as_integer, defined)) <= CHOICE
    assert set(operators(arithmetic.resize(mode, FLOAT64, FLOAT32))) <= CHOICE
    assert set(operators(arithmetic.from_int(as_integer, True, FLOAT32))) <= CHOICE


def test_a_flag_kept_in_a_double_is_the_flag() -> None:
    stored = arithmetic.from_int(choose(flag("on"), constant(1, 8), constant(0, 8)), False, FLOAT64)
    assert compare.equal(stored, known(1.0), FLOAT64) is flag("on")
    assert compare.less(known(0.5), stored, FLOAT64) is flag("on")
    assert arithmetic.to_int(stored, FLOAT64, 32, True)[1].is_true()


def test_equality_with_a_constant_is_that_of_patterns() -> None:
    x = operand("x", 64)
    result = compare.equal(x, known(2.0), FLOAT64)
    assert result.is_equals()
    assert set(result.args()) == {x, known(2.0)}
    assert compare.equal(x, constant(FLOAT64.nan, 64), FLOAT64).is_false()


def test_an_order_against_a_constant_compares_patterns() -> None:
    x = operand("x", 32)
    allowed = {op.BV_ULT, op.BV_ULE, op.BV_CONSTANT, op.SYMBOL, op.AND, op.OR, op.EQUALS, op.BV_EXTRACT}
    for value in (*VALUES[:5], float("inf"), float("-inf")):
        for build in (compare.less, compare.less_equal):
            for result in (build(x, known(value, FLOAT32), FLOAT32), build(known(value, FLOAT32), x, FLOAT32)):
                found = list(operators(result))
                assert set(found) <= allowed | {op.BOOL_CONSTANT}
                assert sum(kind in (op.BV_ULT, op.BV_ULE) for kind in found) <= 3


def test_a_choice_with_one_variable_builds_one_circuit() -> None:
    x, factor = operand("x", 64), known(0.3)
    mixed = chosen(known(1.0), known(2.0), x)
    alone, result = arithmetic.multiply(x, factor, FLOAT64), arithmetic.multiply(mixed, factor, FLOAT64)
    assert list(operators(result)).count(op.BV_MUL) == list(operators(alone)).count(op.BV_MUL) == 1
    run = circuit([result], x, flag("0"), flag("1"))
    assert [number(run(pattern(5.0, FLOAT64), *flags)[0], FLOAT64) for flags in ((0, 0), (0, 1), (1, 0))] == [
        5.0 * 0.3,
        2.0 * 0.3,
        0.3,
    ]


def test_more_constants_than_the_limit_are_an_operand_like_any_other() -> None:
    few = chosen(*(known(float(value)) for value in range(CONSTANTS)))
    many = chosen(*(known(float(value)) for value in range(CONSTANTS + 1)))
    assert op.BV_ADD not in operators(arithmetic.round_half_even(few, FLOAT64))
    result = arithmetic.round_half_even(many, FLOAT64)
    assert op.BV_ADD in operators(result)
    run = compile_formulas([result])
    flags = {f"flag_{index}": index == 7 for index in range(CONSTANTS)}
    assert number(run(flags)[0], FLOAT64) == 7.0


choices = st.lists(st.floats(width=32), min_size=1, max_size=20)


@settings(max_examples=60, deadline=None)
@given(choices, choices, st.lists(st.booleans(), min_size=40, max_size=40), st.sampled_from([*BINARY, *COMPARISONS]))
def test_choices_mean_what_they_choose(a: list[float], b: list[float], flags: list[bool], name: str) -> None:
    """Nested choices of many sizes, on both sides, with shared and with separate conditions."""
    build = (BINARY | COMPARISONS)[name]
    terms = []
    for values, first in ((a, 0), (b, 5)):
        term = known(values[-1], FLOAT32)
        for index, value in enumerate(values[:-1]):
            term = choose(flag(str(first + index)), known(value, FLOAT32), term)
        terms.append(term)
    run = compile_formulas([*terms, build(*terms, FLOAT32)])
    left, right, result = run({f"flag_{index}": value for index, value in enumerate(flags)})
    expected = build(constant(left, 32), constant(right, 32), FLOAT32)
    assert result == canonical(int(expected.constant_value()), FLOAT32)


CIRCUITS: dict[str, Circuit] = {}
"""By operation, built when first asked for."""


@settings(max_examples=200, deadline=None)
@given(st.floats(), st.floats(), st.sampled_from([*BINARY, *COMPARISONS, *UNARY]))
def test_circuits_give_what_folding_gives(a: float, b: float, name: str) -> None:
    build = (BINARY | COMPARISONS | UNARY)[name]
    count = 1 if name in UNARY else 2
    if name not in CIRCUITS:
        operands = [operand("a", 64), operand("b", 64)][:count]
        CIRCUITS[name] = circuit([build(*operands, FLOAT64)], *operands)
    raw = [pattern(a, FLOAT64), pattern(b, FLOAT64)][:count]
    expected = build(*(constant(value, 64) for value in raw), FLOAT64)
    assert CIRCUITS[name](*raw) == (int(expected.constant_value()),)


@pytest.mark.parametrize("name", ["remainder", "absolute", "floor"])
def test_what_a_term_computes_is_not_lost_in_the_next_operation(name: str) -> None:
    """A choice that an operation makes for NaN is not one between constants, into which the next would be folded."""
    x, turn = operand("lost", 64), known(360.0)
    inner = BINARY[name](x, turn, FLOAT64) if name in BINARY else UNARY[name](x, FLOAT64)
    program = Program([arithmetic.add(inner, turn, FLOAT64)])
    names = [instruction.floating.name for instruction in program.instructions if instruction.floating is not None]
    assert names == [name, "add"]
    assert len(program.instructions) <= 4
