"""Operations by host arithmetic and on sets of numbers, against the circuits."""

from __future__ import annotations

import random
from itertools import product

import pytest
from float_cases import BINARY, COMPARISONS, UNARY, circuit, operand
from pysmt.shortcuts import Symbol
from pysmt.typing import BVType

from bmc.floats import arithmetic
from bmc.floats.format import FLOAT32, FLOAT64, Format
from bmc.floats.operations import beyond_solvers, computing, has_arithmetic, operation_of
from bmc.floats.ranges import applied, compared_so
from bmc.formulas.terms import constant
from bmc.formulas.value_sets import PIECES, Ranges, contains, united, values

TINY = Format(6, 3, 2)
KNOWN = {
    **{name: BINARY[name] for name in ("add", "subtract", "multiply", "divide", "remainder", "fmin", "fmax")},
    **{name: COMPARISONS[name] for name in ("equal", "less", "less_equal")},
    **UNARY,
}


def _term(name: str, form: Format):
    names = ("a", "b") if name in BINARY or name in COMPARISONS else ("a",)
    operands = [operand(f"sets_{name}", form.bits) for name in names]
    term = KNOWN[name](*operands, form)
    return term, operands


@pytest.mark.parametrize("name", KNOWN)
def test_host_arithmetic_is_what_the_circuit_computes(name: str) -> None:
    """All operands of a small format, NaNs with payloads too."""
    term, operands = _term(name, TINY)
    compute, run = computing(operation_of(term)), circuit([term], *operands)
    for raw in product(range(1 << TINY.bits), repeat=len(operands)):
        assert compute(raw) == run(*raw)[0], raw


@pytest.mark.parametrize("form", [FLOAT32, FLOAT64], ids=["float", "double"])
@pytest.mark.parametrize("name", KNOWN)
def test_host_arithmetic_on_the_formats_of_c(name: str, form: Format) -> None:
    source = random.Random(name)
    term, operands = _term(name, form)
    compute, run = computing(operation_of(term)), circuit([term], *operands)
    edges = [0, 1, form.sign, form.infinity, form.nan, form.infinity - 1, form.bias << form.fraction]
    near = [(form.bias + shift << form.fraction) + step for shift in (-3, 0, 4, 20) for step in (-1, 0, 1, 12345)]
    for _ in range(150):
        kinds = (source.choice(edges), source.choice(near), source.getrandbits(form.bits))
        raw = [source.choice(kinds) ^ source.choice((0, form.sign)) for _ in operands]
        assert compute(raw) == run(*raw)[0], raw


def _conversions():
    integer = Symbol("sets_i", BVType(5))
    number = operand("sets_x", TINY.bits)
    wide = Format(8, 4, 3)
    yield "signed", arithmetic.from_int(integer, True, TINY), integer
    yield "unsigned", arithmetic.from_int(integer, False, TINY), integer
    yield "wider", arithmetic.resize(number, TINY, wide), number
    yield "narrower", arithmetic.resize(operand("sets_w", 8), wide, TINY), operand("sets_w", 8)
    yield "to signed", arithmetic.to_int(number, TINY, 6, True)[0], number


@pytest.mark.parametrize(("term", "symbol"), [case[1:] for case in _conversions()], ids=[c[0] for c in _conversions()])
def test_conversions(term, symbol) -> None:
    operation = operation_of(term)
    compute, run = computing(operation), circuit([term], symbol)
    raws = range(1 << symbol.bv_width())
    if operation.name == "to_int":
        raws = [raw for raw in raws if raw & ~TINY.sign < TINY.infinity]
    for raw in raws:
        assert compute([raw]) == run(raw)[0], raw
    source = random.Random(1)
    for _ in range(200):
        ranges = _ranges(source, symbol.bv_width())
        found = applied(operation, [ranges])
        for raw in values(ranges, 1 << symbol.bv_width()) or ():
            assert contains(found, run(raw)[0]), (ranges, raw)


def _ranges(source: random.Random, bits: int) -> Ranges:
    pieces = []
    for _ in range(source.randint(1, 3)):
        low = source.randrange(1 << bits)
        pieces.append((low, min(low + source.choice((0, 1, 5, 20)), (1 << bits) - 1)))
    return united(pieces)


@pytest.mark.parametrize("name", KNOWN)
def test_sets_hold_every_result(name: str) -> None:
    term, operands = _term(name, TINY)
    operation, run = operation_of(term), circuit([term], *operands)
    everything = {raw: run(*raw)[0] for raw in product(range(1 << TINY.bits), repeat=len(operands))}
    source = random.Random(name)
    narrower = 0
    for _ in range(150):
        sets = [_ranges(source, TINY.bits) for _ in operands]
        found = applied(operation, sets)
        members = [values(ranges, 1 << TINY.bits) or [] for ranges in sets]
        for raw in product(*members):
            assert contains(found, everything[raw]), (sets, raw, found)
        narrower += found != ((0, 1),) and sum(high - low + 1 for low, high in found) < 1 << TINY.bits
    assert narrower > 20


def test_sums_of_intervals_of_doubles() -> None:
    """20 + 0.1 * (0..25) stays between 20 and 22.5."""
    from bmc.floats.format import pattern
    from bmc.floats.ranges import between

    a, b = operand("sets_a", 64), operand("sets_b", 64)
    times = operation_of(KNOWN["multiply"](a, b, FLOAT64))
    plus = operation_of(KNOWN["add"](a, b, FLOAT64))
    point = lambda x: between(pattern(x, FLOAT64), pattern(x, FLOAT64), FLOAT64)  # noqa: E731
    heat = applied(times, [point(0.1), between(pattern(0.0, FLOAT64), pattern(25.0, FLOAT64), FLOAT64)])
    assert applied(plus, [point(20.0), heat]) == between(pattern(20.0, FLOAT64), pattern(22.5, FLOAT64), FLOAT64)


def test_many_pieces_are_joined() -> None:
    found = united((raw, raw) for raw in range(0, 100, 5))
    assert len(found) == PIECES
    assert all(contains(found, raw) for raw in range(0, 100, 5))


def test_only_arithmetic_counts_as_heavy() -> None:
    a, b = operand("sets_a", 64), operand("sets_b", 64)
    total, test = KNOWN["add"](a, b, FLOAT64), KNOWN["less"](a, constant(5, 64), FLOAT64)
    assert has_arithmetic([total])
    assert not has_arithmetic([test])
    assert beyond_solvers([KNOWN["remainder"](a, b, FLOAT64)])
    assert not beyond_solvers([total, KNOWN["remainder"](a, constant(FLOAT64.bias << 52, 64), FLOAT64)])


def test_an_operand_passed_through_is_not_taken_for_an_operation() -> None:
    a = operand("sets_a", 32)
    assert operation_of(a) is None
    assert arithmetic.resize(a, FLOAT32, FLOAT32) is a


@pytest.mark.slow
@pytest.mark.parametrize("name", ["equal", "less", "less_equal"])
def test_comparisons_leave_what_they_may_hold_for(name: str) -> None:
    compute = computing(operation_of(_term(name, TINY)[0]))
    source = random.Random(name)
    smaller = 0
    for _ in range(200):
        left, right = (_ranges(source, TINY.bits) for _ in range(2))
        for holds in (False, True):
            first, second = compared_so(name, holds, left, right, TINY)
            smaller += (first, second) != (left, right)
            for x, y in product(values(left, 64) or (), values(right, 64) or ()):
                if bool(compute([x, y])) == holds:
                    assert contains(first, x), (left, right, holds, x, y)
                    assert contains(second, y), (left, right, holds, x, y)
    assert smaller > 50
