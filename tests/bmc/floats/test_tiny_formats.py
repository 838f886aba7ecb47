"""Every pair of operands of small formats, against exact rational numbers and a table of the format's values."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import pytest
from float_cases import BINARY, CLASSES, COMPARISONS, UNARY, Circuit, circuit, operand

from bmc.floats import arithmetic, compare
from bmc.floats.format import Format, exact, is_nan, nearest, number, pattern
from bmc.floats.operations import Kind, computing
from bmc.formulas.terms import constant

FORMS = (Format(8, 3, 4), Format(7, 4, 2))
"""One in which roots can be subnormal, one with more exponent than fraction."""
FINE = Format(9, 3, 5)
"""One that has no numbers so large that they have no fraction."""


def _name(form: Format) -> str:
    return f"e{form.exponent}f{form.fraction}"


each_format = pytest.mark.parametrize("form", FORMS, ids=_name)
each_format_and_fine = pytest.mark.parametrize("form", [*FORMS, FINE], ids=_name)


class Table:
    """A format as the list of its non-negative finite values; position is pattern."""

    def __init__(self, form: Format) -> None:
        self.form = form
        self.values = [self._value(raw) for raw in range(form.infinity)]
        self.all = [raw for raw in range(1 << form.bits) if not is_nan(raw, form)] + [form.nan]

    def _value(self, raw: int) -> Fraction:
        field, fraction = divmod(raw, 1 << self.form.fraction)
        unit = Fraction(2) ** (1 - self.form.bias - self.form.fraction)
        return unit * fraction if field == 0 else unit * (fraction + (1 << self.form.fraction)) * 2 ** (field - 1)

    def negative(self, raw: int) -> bool:
        return raw >= self.form.sign

    def magnitude(self, raw: int) -> Fraction | None:
        """None: infinite."""
        raw &= self.form.sign - 1
        return None if raw == self.form.infinity else self.values[raw]

    def value(self, raw: int) -> Fraction:
        size = self.magnitude(raw)
        assert size is not None
        return -size if self.negative(raw) else size

    def ordinal(self, raw: int) -> Fraction:
        """The value, infinities as large numbers."""
        size = self.magnitude(raw)
        return (-1 if self.negative(raw) else 1) * (2 * self.values[-1] if size is None else size)

    def signed(self, negative: bool, raw: int) -> int:
        return raw | (self.form.sign if negative else 0)

    @cache  # noqa: B019
    def nearest_size(self, size: Fraction) -> int:
        """The pattern nearest to ``size`` >= 0; one step above the largest finite number counts as infinite."""
        index = bisect_left(self.values, size)
        if index == len(self.values):
            step = self.values[-1] - self.values[-2]
            return index if size - self.values[-1] >= step / 2 else index - 1
        if self.values[index] == size:
            return index
        low, high = size - self.values[index - 1], self.values[index] - size
        if low == high:
            return index if index % 2 == 0 else index - 1
        return index if high < low else index - 1

    def nearest(self, value: Fraction, negative_zero: bool = False) -> int:
        return self.signed(value < 0 or (value == 0 and negative_zero), self.nearest_size(abs(value)))

    def root(self, value: Fraction) -> int:
        """Roots of formats are never half-way between two numbers."""
        index = max(index for index, v in enumerate(self.values) if v * v <= value)
        if self.values[index] ** 2 == value:
            return index
        middle = (self.values[index] + self.values[index + 1]) / 2
        return index if value < middle * middle else index + 1


@cache
def table(form: Format) -> Table:
    return Table(form)


def expected_binary(name: str, t: Table, a: int, b: int) -> int:
    """What C gives: ``name`` is one of add, subtract, multiply, divide, remainder."""
    form, nan = t.form, t.form.nan
    if is_nan(a, form) or is_nan(b, form):
        return nan
    if name == "subtract":
        name, b = "add", b ^ form.sign
    sign, x, y = t.negative(a) != t.negative(b), t.magnitude(a), t.magnitude(b)
    if name == "add":
        if x is None or y is None:
            return nan if x is None and y is None and sign else a if x is None else b
        return t.nearest(t.value(a) + t.value(b), t.negative(a) and t.negative(b))
    if name == "multiply":
        if x is None or y is None:
            return nan if x == 0 or y == 0 else t.signed(sign, form.infinity)
        return t.nearest((-1 if sign else 1) * x * y, sign)
    if name == "divide":
        if x is None or y == 0:
            return nan if (x is None and y is None) or (x == 0 and y == 0) else t.signed(sign, form.infinity)
        return t.signed(sign, 0) if y is None else t.nearest((-1 if sign else 1) * x / y, sign)
    assert name == "remainder"
    if x is None or y == 0:
        return nan
    if y is None:
        return a
    rest = x - y * math.floor(x / y)
    assert t.values[t.nearest_size(rest)] == rest
    return t.signed(t.negative(a), t.nearest_size(rest))


@pytest.mark.slow
@pytest.mark.parametrize("form", [pytest.param(FORMS[0], marks=pytest.mark.evidence), FORMS[1]], ids=_name)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "remainder"])
def test_arithmetic_of_all_pairs(name: str, form: Format) -> None:
    a, b, t = operand("a", form.bits), operand("b", form.bits), table(form)
    run = circuit([BINARY[name](a, b, form)], a, b)
    wrong = [(x, y) for x in t.all for y in t.all if run(x, y)[0] != expected_binary(name, t, x, y)]
    assert not wrong


@each_format
def test_remainder_by_every_constant(form: Format) -> None:
    a, t = operand("a", form.bits), table(form)
    divisors = t.all[:: 1 if form.bits < 8 else 5]
    run = circuit([arithmetic.remainder(a, constant(y, form.bits), form) for y in divisors], a)
    for x in t.all:
        assert run(x) == tuple(expected_binary("remainder", t, x, y) for y in divisors)


@each_format
def test_product_with_every_constant_on_either_side(form: Format) -> None:
    a, t = operand("a", form.bits), table(form)
    for y in t.all[:: 1 if form.bits < 8 else 5]:
        known = constant(y, form.bits)
        run = circuit([arithmetic.multiply(a, known, form), arithmetic.multiply(known, a, form)], a)
        for x in t.all:
            assert run(x) == (expected_binary("multiply", t, x, y),) * 2, (x, y)


def expected_comparisons(t: Table, a: int, b: int) -> tuple[bool, ...]:
    if is_nan(a, t.form) or is_nan(b, t.form):
        return False, False, False, True
    x, y = t.ordinal(a), t.ordinal(b)
    return x == y, x < y, x <= y, False


@each_format
def test_comparisons_of_all_pairs(form: Format) -> None:
    a, b, t = operand("a", form.bits), operand("b", form.bits), table(form)
    run = circuit([build(a, b, form) for build in COMPARISONS.values()], a, b)
    for x in t.all:
        for y in t.all:
            assert run(x, y) == expected_comparisons(t, x, y), (x, y)


def test_comparisons_with_every_constant_on_either_side() -> None:
    form = FORMS[0]
    a, t = operand("a", form.bits), table(form)
    for y in (*range(0, 1 << form.bits, 3), form.sign, form.infinity, form.infinity | form.sign):
        known = constant(y, form.bits)
        right = circuit([build(a, known, form) for build in COMPARISONS.values()], a)
        left = circuit([build(known, a, form) for build in COMPARISONS.values()], a)
        for x in t.all:
            assert right(x) == expected_comparisons(t, x, y), (x, y)
            assert left(x) == expected_comparisons(t, y, x), (y, x)


@each_format
def test_lesser_and_greater_of_all_pairs(form: Format) -> None:
    a, b, t = operand("a", form.bits), operand("b", form.bits), table(form)
    terms = [BINARY[name](a, b, form) for name in ("fmin", "fmax", "copysign")]
    run = circuit([*terms, compare.zeros_differ(a, b, form)], a, b)
    for x in t.all:
        for y in t.all:
            lesser, greater, signed, differ = run(x, y)
            assert differ == ({x, y} == {0, form.sign})
            if is_nan(x, form) or is_nan(y, form):
                assert lesser == greater == (y if is_nan(x, form) else x)
            else:
                assert lesser == (x if expected_comparisons(t, x, y)[1] else y)
                assert greater == (x if expected_comparisons(t, y, x)[1] else y)
            minus = t.negative(y) and not is_nan(y, form)
            assert signed == (form.nan if is_nan(x, form) else t.signed(minus, x & (form.sign - 1)))


def _half_away(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2)) if value >= 0 else math.ceil(value - Fraction(1, 2))


WHOLE: dict[str, Callable[[Fraction], int]] = {
    "floor": math.floor,
    "ceiling": math.ceil,
    "truncate": math.trunc,
    "round_half_away": _half_away,
    "round_half_even": round,
}


def expected_unary(name: str, t: Table, a: int) -> int:
    form = t.form
    if is_nan(a, form):
        return form.nan
    size = t.magnitude(a)
    if name == "negate":
        return a ^ form.sign
    if name == "absolute":
        return a & (form.sign - 1)
    if name == "square_root":
        if size == 0:
            return a
        return form.nan if t.negative(a) else a if size is None else t.root(size)
    return a if size is None else t.signed(t.negative(a), t.nearest_size(abs(Fraction(WHOLE[name](t.value(a))))))


@each_format_and_fine
def test_unary_operations_of_all_patterns(form: Format) -> None:
    a, t = operand("a", form.bits), table(form)
    run = circuit([build(a, form) for build in UNARY.values()], a)
    for x in range(1 << form.bits):
        assert run(x) == tuple(expected_unary(name, t, x) for name in UNARY), x


@each_format_and_fine
def test_classes_of_all_patterns(form: Format) -> None:
    a = operand("a", form.bits)
    run = circuit([build(a, form) for build in CLASSES.values()], a)
    for x in range(1 << form.bits):
        size = x & (form.sign - 1)
        assert run(x) == (size > form.infinity, size == form.infinity, size == 0, x != size)


@each_format_and_fine
@pytest.mark.parametrize("signed", [False, True])
def test_integers_to_floats(form: Format, signed: bool) -> None:
    t = table(form)
    for bits in (1, 3, form.fraction + 1, 8, 10):
        a = operand("i", bits)
        run = circuit([arithmetic.from_int(a, signed, form)], a)
        for raw in range(1 << bits):
            value = raw - (1 << bits) if signed and raw >> (bits - 1) else raw
            assert run(raw) == (t.nearest(Fraction(value)),), (bits, value)


@each_format_and_fine
@pytest.mark.parametrize("signed", [False, True])
def test_floats_to_integers(form: Format, signed: bool) -> None:
    a, t = operand("a", form.bits), table(form)
    for bits in (1, 2, 3, form.fraction + 1, 8, 12):
        run = circuit(arithmetic.to_int(a, form, bits, signed), a)
        least, greatest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        for raw in range(1 << form.bits):
            found, defined = run(raw)
            finite = raw & (form.sign - 1) < form.infinity
            whole = math.trunc(t.value(raw)) if finite else 0
            assert defined == (finite and least <= whole <= greatest), (bits, raw)
            assert not defined or found == whole % (1 << bits), (bits, raw)


@pytest.mark.parametrize("other", [Format(6, 3, 2), Format(7, 4, 2), Format(11, 4, 6), Format(10, 3, 6)], ids=_name)
@each_format_and_fine
def test_from_one_format_to_another(form: Format, other: Format) -> None:
    a, t, there = operand("a", form.bits), table(form), table(other)
    run = circuit([arithmetic.resize(a, form, other)], a)
    for raw in t.all if form == other else range(1 << form.bits):
        size = t.magnitude(raw) if not is_nan(raw, form) else None
        expected = other.infinity if size is None else there.nearest_size(size)
        expected = other.nan if is_nan(raw, form) else there.signed(t.negative(raw), expected)
        assert run(raw) == (expected,), raw


@each_format_and_fine
def test_patterns_and_numbers(form: Format) -> None:
    t = table(form)
    for raw in range(form.infinity):
        assert exact(raw, form) == t.values[raw]
        assert exact(raw | form.sign, form) == -t.values[raw]
        assert nearest(t.values[raw], form) == raw
        assert number(raw, form) == t.values[raw]
    for raw in t.all:
        assert pattern(number(raw, form), form) == raw
    step = t.values[1] / 8
    for count in range(0, 2000, 7):
        assert nearest(-step * count, form) & (form.sign - 1) == t.nearest_size(step * count)
    assert nearest(10**6, form) == form.infinity


SMALLEST = Format(6, 3, 2)


def _of_order(name: str, factor: int | None = None) -> Circuit:
    """What order says of an operation on one or two words and of a last one, which stands for the result."""
    form = SMALLEST
    a, b, result = (operand(letter, form.bits) for letter in "abr")
    second = b if factor is None else constant(factor, form.bits)
    every = ((0, (1 << form.bits) - 1),)
    facts = compare.facts_of_order(Kind(name, form).on((a, second)), result, [every, every])
    return circuit(facts, a, *([b] if factor is None else []), result)


@pytest.mark.parametrize("name", ["add", "subtract"])
def test_order_of_sums(name: str) -> None:
    """What order says of sums is so for all pairs of patterns, and not so for many if the exponent is a wrong one."""
    facts, compute = _of_order(name), computing(Kind(name, SMALLEST))
    patterns = range(1 << SMALLEST.bits)
    found = {(a, b): compute((a, b)) for a in patterns for b in patterns}
    assert all(all(facts(*pair, result)) for pair, result in found.items())
    wrong = 1 << SMALLEST.fraction
    assert sum(not all(facts(*pair, result ^ wrong)) for pair, result in found.items()) > len(found) // 8


def test_order_of_products_by_constants() -> None:
    """What order says of products by a constant is so for all patterns, and not so for many of a wrong exponent."""
    compute = computing(Kind("multiply", SMALLEST))
    patterns = range(1 << SMALLEST.bits)
    wrong, refuted = 1 << SMALLEST.fraction, 0
    for factor in patterns:
        facts = _of_order("multiply", factor)
        found = {a: compute((a, factor)) for a in patterns}
        assert all(all(facts(a, result)) for a, result in found.items())
        refuted += sum(not all(facts(a, result ^ wrong)) for a, result in found.items())
    assert refuted > len(patterns) ** 2 // 8
