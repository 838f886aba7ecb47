"""The floating-point operations, each as a circuit and as a C expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Not

from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, FLOAT64, Format, pattern
from bmc.formulas.terms import constant


@dataclass(frozen=True, slots=True)
class CType:
    """``form``: of a floating type; else an integer."""

    name: str
    bits: int
    signed: bool = False
    form: Format | None = None


FLOAT = CType("float", 32, form=FLOAT32)
DOUBLE = CType("double", 64, form=FLOAT64)
TRUTH = CType("_Bool", 1)
INTEGERS = tuple(CType(f"{'' if s else 'u'}int{bits}_t", bits, s) for bits in (8, 16, 32, 64) for s in (True, False))


@dataclass(frozen=True, slots=True)
class Operation:
    """``terms``: from operands to the result and whether it is defined. ``expression``: in C, of ``a`` and ``b``."""

    name: str
    operands: tuple[CType, ...]
    result: CType
    expression: str
    terms: Callable[..., tuple[FNode, FNode]]


Named = dict[str, tuple[Callable[..., FNode], str]]

UNARY: Named = {
    "negate": (compare.negate, "-a"),
    "fabs": (compare.absolute, "fabs{}(a)"),
    "sqrt": (arithmetic.square_root, "sqrt{}(a)"),
    "floor": (arithmetic.floor, "floor{}(a)"),
    "ceil": (arithmetic.ceiling, "ceil{}(a)"),
    "trunc": (arithmetic.truncate, "trunc{}(a)"),
    "round": (arithmetic.round_half_away, "round{}(a)"),
    "rint": (arithmetic.round_half_even, "rint{}(a)"),
}
BINARY: Named = {
    "add": (arithmetic.add, "a + b"),
    "subtract": (arithmetic.subtract, "a - b"),
    "multiply": (arithmetic.multiply, "a * b"),
    "divide": (arithmetic.divide, "a / b"),
    "fmod": (arithmetic.remainder, "fmod{}(a, b)"),
    "fmin": (compare.fmin, "fmin{}(a, b)"),
    "fmax": (compare.fmax, "fmax{}(a, b)"),
    "copysign": (compare.copysign, "copysign{}(a, b != b ? 1 : b)"),
}
COMPARISONS: Named = {
    "equal": (compare.equal, "a == b"),
    "less": (compare.less, "a < b"),
    "less_equal": (compare.less_equal, "a <= b"),
    "unordered": (compare.unordered, "a != a || b != b"),
}
CLASSES: Named = {
    "isnan": (compare.is_nan, "isnan(a)"),
    "isinf": (compare.is_infinite, "isinf(a)"),
    "zero": (compare.is_zero, "a == 0"),
    "signbit": (compare.is_negative, "signbit(a)"),
}
DIVISORS = (1.0, 2.0, 360.0, 4294967296.0, 0.1, 6.25, 1e-40, 1e30)
"""Divisors of ``fmod`` that are constants."""


def operations() -> Iterator[Operation]:
    """All operations on both formats."""
    for kind in (FLOAT, DOUBLE):
        assert kind.form is not None
        suffix = "f" if kind is FLOAT else ""
        for name, (build, expression) in (UNARY | CLASSES).items():
            result = TRUTH if name in CLASSES else kind
            yield _defined(name, (kind,), result, expression.format(suffix), build, kind.form)
        for name, (build, expression) in (BINARY | COMPARISONS).items():
            result = TRUTH if name in COMPARISONS else kind
            yield _defined(name, (kind, kind), result, expression.format(suffix), build, kind.form)
        for divisor in DIVISORS:
            yield _by_constant(kind, divisor, suffix)
        for integer in INTEGERS:
            yield _from_integer(integer, kind)
            yield _to_integer(kind, integer)
    yield _resized(FLOAT, DOUBLE)
    yield _resized(DOUBLE, FLOAT)


def _defined(
    name: str, operands: tuple[CType, ...], result: CType, expression: str, build: Callable[..., FNode], form: Format
) -> Operation:
    def terms(*found: FNode) -> tuple[FNode, FNode]:
        settled = (
            Not(compare.zeros_differ(found[0], found[-1], form)) if build in (compare.fmin, compare.fmax) else TRUE()
        )
        return build(*found, form), settled.simplify()

    return Operation(name, operands, result, expression, terms)


def _by_constant(kind: CType, divisor: float, suffix: str) -> Operation:
    form = kind.form
    assert form is not None
    known = arithmetic.resize(constant(pattern(divisor, FLOAT64), 64), FLOAT64, form)
    expression = f"fmod{suffix}(a, ({kind.name}){divisor!r})"
    name = f"fmod_{DIVISORS.index(divisor)}"
    return Operation(name, (kind,), kind, expression, lambda a: (arithmetic.remainder(a, known, form), TRUE()))


def _from_integer(integer: CType, kind: CType) -> Operation:
    form = kind.form
    assert form is not None
    name = f"from_{integer.name}"
    return Operation(name, (integer,), kind, "a", lambda a: (arithmetic.from_int(a, integer.signed, form), TRUE()))


def _to_integer(kind: CType, integer: CType) -> Operation:
    form = kind.form
    assert form is not None
    expression = f"({integer.name})a"
    terms = lambda a: arithmetic.to_int(a, form, integer.bits, integer.signed)  # noqa: E731
    return Operation(f"to_{integer.name}", (kind,), integer, expression, terms)


def _resized(kind: CType, other: CType) -> Operation:
    form, to_form = kind.form, other.form
    assert form is not None
    assert to_form is not None
    terms = lambda a: (arithmetic.resize(a, form, to_form), TRUE())  # noqa: E731
    return Operation(f"to_{other.name}", (kind,), other, f"({other.name})a", terms)
