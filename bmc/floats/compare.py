"""Classifying and comparing IEEE-754 numbers, their signs, and the lesser and greater of two, as bit-vector terms.

Numbers are bit-vector terms of ``form.bits`` bits that hold raw patterns; every NaN result is ``form.nan``. A
comparison with a constant is at most two comparisons of unsigned patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE

from bmc.floats.format import Format
from bmc.floats.format import is_nan as is_nan_pattern
from bmc.floats.operations import Kind, Operation, apply, computing, folded, truth
from bmc.floats.ranges import values_in
from bmc.formulas import words
from bmc.formulas.terms import both, choose, constant, either, equals, implies
from bmc.formulas.terms import negate as no
from bmc.formulas.value_sets import Ranges

Before = Callable[[FNode, FNode], FNode]


def magnitude(a: FNode, form: Format) -> FNode:
    """The pattern without its sign bit."""
    return words.extract(a, form.bits - 2, 0)


def is_nan(a: FNode, form: Format) -> FNode:
    """Whether ``a`` is a NaN, canonical or not."""

    def build(x: FNode) -> FNode:
        return words.less(constant(form.infinity, form.bits - 1), magnitude(x, form))

    return folded((a,), lambda raw: truth(is_nan_pattern(raw[0], form)), build)


def is_infinite(a: FNode, form: Format) -> FNode:
    """Whether ``a`` is an infinity of either sign."""
    return _magnitude_is(a, form.infinity, form)


def is_zero(a: FNode, form: Format) -> FNode:
    """Whether ``a`` is a zero of either sign."""
    return _magnitude_is(a, 0, form)


def is_negative(a: FNode, form: Format) -> FNode:
    """Whether the sign bit is set."""
    return folded((a,), lambda raw: truth(bool(raw[0] & form.sign)), lambda x: words.is_set(x, form.bits - 1))


def unordered(a: FNode, b: FNode, form: Format) -> FNode:
    """Whether one of the two is a NaN."""
    return either(is_nan(a, form), is_nan(b, form))


def equal(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``==``: zeros are equal, a NaN is equal to nothing."""

    def build(x: FNode, y: FNode) -> FNode:
        if x.is_constant():
            x, y = y, x
        if y.is_constant():
            raw = int(y.constant_value())
            if is_nan_pattern(raw, form):
                return FALSE()
            return equals(x, y) if raw & ~form.sign else is_zero(x, form)
        if x is y:
            return no(is_nan(x, form))
        zeros = both(is_zero(x, form), is_zero(y, form))
        return either(both(equals(x, y), no(is_nan(x, form))), zeros)

    return apply(Kind("equal", form), (a, b), build)


def less(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``<``: false if one is a NaN."""

    def build(x: FNode, y: FNode) -> FNode:
        if x.is_constant():
            return _above(y, int(x.constant_value()), form)
        if y.is_constant():
            return _below(x, int(y.constant_value()), form)
        nonzero = no(both(is_zero(x, form), is_zero(y, form)))
        return both(no(unordered(x, y, form)), _ordered(x, y, nonzero, words.less, form))

    return apply(Kind("less", form), (a, b), build)


def less_equal(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``<=``: false if one is a NaN."""

    def build(x: FNode, y: FNode) -> FNode:
        if x.is_constant():
            return either(_above(y, int(x.constant_value()), form), equal(x, y, form))
        if y.is_constant():
            return either(_below(x, int(y.constant_value()), form), equal(x, y, form))
        zeros = both(is_zero(x, form), is_zero(y, form))
        return both(no(unordered(x, y, form)), either(zeros, _ordered(x, y, TRUE(), words.less_equal, form)))

    return apply(Kind("less_equal", form), (a, b), build)


def fmin(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``fmin``: a NaN counts as missing. Of zeros the second, as glibc does, but see ``zeros_differ``."""
    return _selected(a, b, lambda x, y: less(x, y, form), Kind("fmin", form))


def fmax(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``fmax``: a NaN counts as missing. Of zeros the second, as glibc does, but see ``zeros_differ``."""
    return _selected(a, b, lambda x, y: less(y, x, form), Kind("fmax", form))


def zeros_differ(a: FNode, b: FNode, form: Format) -> FNode:
    """Whether the two are zeros of different signs: which of them ``fmin`` and ``fmax`` give, C leaves open.

    glibc on x86-64 gives the second, but gcc swaps the arguments as it likes: for two globals it gives the first, for a
    constant and another the constant, for two constants the minus zero is the minimum.
    """
    zeros = both(is_zero(a, form), is_zero(b, form))
    return both(zeros, no(equals(a, b)))


def negate(a: FNode, form: Format) -> FNode:
    """C's unary minus."""
    return apply(Kind("negate", form), (a,), lambda x: _with_sign(x, no(is_negative(x, form)), form))


def absolute(a: FNode, form: Format) -> FNode:
    """C's ``fabs``."""
    return apply(Kind("absolute", form), (a,), lambda x: _with_sign(x, FALSE(), form))


def copysign(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``copysign``: ``a`` with the sign of ``b``, a NaN's sign being plus."""

    def build(x: FNode, y: FNode) -> FNode:
        return _with_sign(x, both(is_negative(y, form), no(is_nan(y, form))), form)

    return folded((a, b), lambda raw: build(*(constant(r, form.bits) for r in raw)), build)


BINADES = 16
"""Powers of two, below the largest number that a factor can be, at which a product by a constant is compared."""


def facts_of_order(operation: Operation, result: FNode, operands: Sequence[Ranges]) -> list[FNode]:
    """What the order of numbers says of ``result``, which is that of ``operation``: formulas that always hold.

    Rounding keeps the order. So a sum of two numbers of one sign is no nearer to zero than either, one of two signs no
    farther than the farther of them, and where a factor is no less than a power of two, its product by a constant is no
    less than that of the power. The circuit implies all of it, but a SAT solver has to search for it in the digits.
    The values of the operands lie in the sets ``operands``, which tell where such facts are of use.
    """
    if operation.name in ("add", "subtract"):
        return _sum_in_order(operation, result)
    constants = [operand for operand in operation.operands if operand.is_constant()]
    if operation.name == "multiply" and len(constants) == 1:
        return _product_in_order(operation, result, operands)
    return []


def _sum_in_order(operation: Operation, result: FNode) -> list[FNode]:
    form, (a, b) = operation.form, operation.operands
    turned = no(is_negative(b, form)) if operation.name == "subtract" else is_negative(b, form)
    opposite = no(equals(words.bit(is_negative(a, form)), words.bit(turned)))
    x, y, size = (magnitude(term, form) for term in (a, b, result))
    nan, a_farther = is_nan(result, form), words.less_equal(y, x)
    outward = both(words.less_equal(x, size), words.less_equal(y, size))
    return [
        either(nan, either(opposite, outward)),
        either(nan, implies(both(opposite, a_farther), words.less_equal(size, x))),
        either(nan, implies(both(opposite, no(a_farther)), words.less_equal(size, y))),
    ]


def _product_in_order(operation: Operation, result: FNode, operands: Sequence[Ranges]) -> list[FNode]:
    form, compute = operation.form, computing(operation)
    pairs = zip(operation.operands, operands, strict=True)
    factor, values = next(pair for pair in pairs if not pair[0].is_constant())
    sizes = [high & ~form.sign for _, high in values_in(values, form)]
    x, size, bits = magnitude(factor, form), magnitude(result, form), form.bits - 1

    def product(raw: int) -> int:
        """The magnitude of the product where the factor's is ``raw``."""
        operands = [int(o.constant_value()) if o.is_constant() else raw for o in operation.operands]
        return compute(operands) & ~form.sign

    found = []
    top = max((size for size in sizes if size <= form.infinity), default=0) >> form.fraction
    for exponent in range(max(1, top - BINADES + 1), top + 1):
        power = exponent << form.fraction
        least, most = product(power), product(power - 1)
        if max(least, most) < form.infinity:
            reached = words.less_equal(constant(power, bits), x)
            found.append(implies(reached, words.less_equal(constant(least, bits), size)))
            found.append(either(reached, words.less_equal(size, constant(most, bits))))
    return found


def _magnitude_is(a: FNode, raw: int, form: Format) -> FNode:
    expected = constant(raw, form.bits - 1)
    return folded(
        (a,),
        lambda found: truth(found[0] & ~form.sign == raw),
        lambda x: equals(magnitude(x, form), expected),
    )


def _below(x: FNode, raw: int, form: Format) -> FNode:
    """Whether ``x`` is less than the number of a pattern: the patterns from ``raw`` down to minus infinity."""
    lowest = constant(form.sign | form.infinity, form.bits)
    if is_nan_pattern(raw, form) or raw == form.sign | form.infinity:
        return FALSE()
    if raw & form.sign or raw == 0:
        return both(words.less(constant(raw | form.sign, form.bits), x), words.less_equal(x, lowest))
    negatives = both(words.less_equal(constant(form.sign, form.bits), x), words.less_equal(x, lowest))
    return either(words.less(x, constant(raw, form.bits)), negatives)


def _above(x: FNode, raw: int, form: Format) -> FNode:
    """Whether ``x`` is greater than the number of a pattern: the patterns from ``raw`` up to infinity."""
    highest = constant(form.infinity, form.bits)
    if is_nan_pattern(raw, form) or raw == form.infinity:
        return FALSE()
    if not raw & ~form.sign or not raw & form.sign:
        return both(words.less(constant(raw & ~form.sign, form.bits), x), words.less_equal(x, highest))
    negatives = both(words.less_equal(constant(form.sign, form.bits), x), words.less(x, constant(raw, form.bits)))
    return either(words.less_equal(x, highest), negatives)


def _ordered(x: FNode, y: FNode, opposite: FNode, compare: Before, form: Format) -> FNode:
    """``x`` before ``y`` where neither is a NaN; ``opposite``: where only ``x`` has a minus sign."""
    negative = choose(is_negative(y, form), compare(y, x), opposite)
    return choose(is_negative(x, form), negative, both(no(is_negative(y, form)), compare(x, y)))


def _selected(a: FNode, b: FNode, before: Before, kind: Kind) -> FNode:
    """``a`` where ``before(a, b)`` or ``b`` is a NaN, else ``b``."""
    form = kind.form

    def build(x: FNode, y: FNode) -> FNode:
        if x is y:
            return choose(is_nan(x, form), constant(form.nan, form.bits), x)
        second = choose(is_nan(y, form), constant(form.nan, form.bits), y)
        return choose(either(both(is_nan(y, form), no(is_nan(x, form))), before(x, y)), x, second)

    return apply(kind, (a, b), build)


def _with_sign(a: FNode, negative: FNode, form: Format) -> FNode:
    """``a`` with another sign; a NaN is canonical."""
    signed = words.join(words.bit(negative), magnitude(a, form))
    return choose(is_nan(a, form), constant(form.nan, form.bits), signed)
