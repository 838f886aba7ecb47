"""Floating-point operations by name, for tests and their references: each as a circuit, evaluated in bulk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import Symbol
from pysmt.typing import BVType

from bmc.floats import arithmetic, compare
from bmc.formulas.evaluate import compile_formulas

Build = Callable[..., FNode]

BINARY: dict[str, Build] = {
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "divide": arithmetic.divide,
    "remainder": arithmetic.remainder,
    "fmin": compare.fmin,
    "fmax": compare.fmax,
    "copysign": compare.copysign,
}
COMPARISONS: dict[str, Build] = {
    "equal": compare.equal,
    "less": compare.less,
    "less_equal": compare.less_equal,
    "unordered": compare.unordered,
}
UNARY: dict[str, Build] = {
    "negate": compare.negate,
    "absolute": compare.absolute,
    "square_root": arithmetic.square_root,
    "floor": arithmetic.floor,
    "ceiling": arithmetic.ceiling,
    "truncate": arithmetic.truncate,
    "round_half_away": arithmetic.round_half_away,
    "round_half_even": arithmetic.round_half_even,
}
CLASSES: dict[str, Build] = {
    "is_nan": compare.is_nan,
    "is_infinite": compare.is_infinite,
    "is_zero": compare.is_zero,
    "is_negative": compare.is_negative,
}

Circuit = Callable[..., tuple[int, ...]]


def operand(name: str, bits: int) -> FNode:
    return Symbol(f"{name}_{bits}", BVType(bits))


def circuit(terms: Sequence[FNode], *operands: FNode) -> Circuit:
    """A function from the raw values of ``operands`` to those of ``terms``."""
    function = compile_formulas(terms)
    names = [symbol.symbol_name() for symbol in operands]
    return lambda *raw: function(dict(zip(names, raw, strict=True)))
