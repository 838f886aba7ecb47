"""Formulas over arrays, and by the compiled interpreter, against the same formulas value by value: operators, widths,
shapes, floating operations."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Bool, BVComp, Iff, Implies, Ite, Not, Or, Symbol
from pysmt.typing import BOOL, BVType
from random_terms import FLAGS, SYMBOLS, flag, term
from random_terms import WIDTHS as TERM_WIDTHS

from benchmarks.checks.floats.operations import Operation, operations
from benchmarks.checks.floats.patterns import float_patterns, integer_patterns, related
from bmc.evaluation.vectors import (
    WORD,
    Column,
    Columns,
    Program,
    bits_of,
    column,
    node_count,
    vector_operation,
    walk,
)
from bmc.explicit.columns_in_c import Interpreted, interpreter
from bmc.floats.arithmetic import add, divide, multiply
from bmc.floats.compare import less
from bmc.floats.format import FLOAT32, FLOAT64, Format, canonical
from bmc.floats.operations import operation_of
from bmc.formulas.evaluate import compile_formulas

WIDTHS = [1, 2, 3, 5, 8, 12, 16, 31, 32, 33, 63, 64, 65, 100, 128]


def every_operator(a: FNode, b: FNode, c: FNode, width: int) -> list[FNode]:
    binary = [
        *(a + b, a - b, a * b, a & b, a | b, a ^ b, a.BVUDiv(b), a.BVURem(b), a.BVSDiv(b), a.BVSRem(b)),
        *(a.BVLShl(b), a.BVLShr(b), a.BVAShr(b), a.BVConcat(b), BVComp(a, b), Ite(c, a, b), a + a + b),
        *(a.BVULT(b), a.BVULE(b), a.BVSLT(b), a.BVSLE(b), a.Equals(b), And(c, a.Equals(b)), Or(c, a.BVULT(b))),
    ]
    high = width - 1
    unary = [~a, -a, a.BVRol(1 % width), a.BVRor(high), a.BVZExt(1), a.BVSExt(1), a.BVZExt(70), a.BVSExt(70)]
    cut = [a.BVExtract(0, high // 2), a.BVExtract(high // 2, high), a.BVExtract(high, high), a.BVExtract(0, high)]
    with_constants = [a + BV(1, width), a.BVUDiv(BV(0, width)), a.BVLShl(BV(high, width)), BV(high, width).BVLShr(a)]
    logic = [Not(c), Implies(c, a.Equals(b)), Iff(c, a.BVULT(b)), Ite(c, a.Equals(b), a.BVULT(b)), Bool(True)]
    return [*binary, *unary, *cut, *with_constants, *logic]


def interesting(width: int, rng: random.Random, count: int) -> list[int]:
    top = 1 << width
    fixed = [0, 1, 2, width - 1, width, width + 1, top - 1, top // 2, top // 2 - 1, top // 2 + 1]
    return [value % top for value in fixed] + [rng.randrange(top) for _ in range(count)]


def check(formulas: list[FNode], values: dict[str, tuple[list[int], int]]) -> None:
    """``values``: raw values and bits by name, all of one length."""
    slow = compile_formulas(formulas)
    found = Program(formulas)({name: column(raw, bits) for name, (raw, bits) in values.items()})
    count = len(next(iter(values.values()))[0])
    for row in range(count):
        expected = slow({name: raw[row] for name, (raw, _) in values.items()})
        for formula, result, right in zip(formulas, found, expected, strict=True):
            assert int(np.broadcast_to(result, (count,))[row]) == right, (formula, row)
    check_interpreted(formulas, {name: column(raw, bits) for name, (raw, bits) in values.items()}, found)


def check_interpreted(formulas: list[FNode], columns: Columns, found: tuple[Column, ...]) -> None:
    """Those of ``formulas`` that the interpreter knows have the columns ``found`` there, too."""
    library, count = interpreter(), len(next(iter(columns.values())))
    known = [place for place, formula in enumerate(formulas) if is_interpreted(formula)]
    if library is None or not known:
        return
    results = Interpreted([formulas[place] for place in known], library)(columns)
    for place, result in zip(known, results, strict=True):
        assert (result.dtype, result.shape) == (found[place].dtype, (count,)), formulas[place]
        assert np.array_equal(result, np.broadcast_to(found[place], (count,))), formulas[place]


def is_interpreted(formula: FNode) -> bool:
    nodes = walk([formula])
    turns = any(node.is_bv_rol() or node.is_bv_ror() for node in nodes)
    return not turns and all(bits_of(node) <= WORD for node in nodes)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_operator_at_every_kind_of_width(width: int) -> None:
    a, b = (Symbol(f"ev_{name}{width}", BVType(width)) for name in "ab")
    c = Symbol("ev_c", BOOL)
    rng = random.Random(width)
    known = interesting(width, rng, 6)
    rows = list(product(known, known, (0, 1)))
    names = [(a.symbol_name(), width), (b.symbol_name(), width), ("ev_c", 0)]
    values = {name: ([row[place] for row in rows], bits) for place, (name, bits) in enumerate(names)}
    check(every_operator(a, b, c, width), values)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_small_widths_exhaustively(width: int) -> None:
    a, b = (Symbol(f"ev_{name}{width}", BVType(width)) for name in "ab")
    rows = list(product(range(1 << width), range(1 << width), (0, 1)))
    names = [(a.symbol_name(), width), (b.symbol_name(), width), ("ev_c", 0)]
    values = {name: ([row[place] for row in rows], bits) for place, (name, bits) in enumerate(names)}
    check(every_operator(a, b, Symbol("ev_c", BOOL), width), values)


def random_term(rng: random.Random, symbols: list[FNode], width: int, depth: int) -> FNode:
    if depth == 0:
        return rng.choice([*symbols, BV(rng.randrange(1 << width), width)])
    left, right = (random_term(rng, symbols, width, depth - 1) for _ in range(2))
    found: list[Any] = [f for f in every_operator(left, right, left.BVULT(right), width) if not f.is_constant()]
    term = rng.choice([f for f in found if f.get_type() == BVType(width)])
    assert isinstance(term, FNode)
    return term


@pytest.mark.parametrize("seed", range(8))
def test_nested_terms(seed: int) -> None:
    rng = random.Random(seed)
    width = rng.choice(WIDTHS)
    symbols = [Symbol(f"ev_{name}{width}", BVType(width)) for name in "ab"]
    formulas = [random_term(rng, symbols, width, 4) for _ in range(4)]
    rows = [[rng.choice(interesting(width, rng, 5)) for _ in symbols] for _ in range(30)]
    check(formulas, {s.symbol_name(): ([row[p] for row in rows], width) for p, s in enumerate(symbols)})


def patterns(rng: random.Random, width: int, special: tuple[int, ...] = ()) -> int:
    top = (1 << max(width, 1)) - 1
    return rng.choice((0, 1, top, (top + 1) // 2, *special, *(rng.randint(0, top) for _ in range(4))))


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 1 << 40))
def test_terms_of_words_of_all_widths_and_flags(seed: int) -> None:
    rng = random.Random(seed)
    formulas = [flag(rng, 3), term(rng, rng.choice(TERM_WIDTHS), 3)]
    widths = {symbol.symbol_name(): width for width in TERM_WIDTHS for symbol in SYMBOLS[width]}
    widths |= {symbol.symbol_name(): 0 for symbol in FLAGS}
    check(formulas, {name: ([patterns(rng, width) for _ in range(4)], width) for name, width in widths.items()})


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 40), st.sampled_from((FLOAT32, FLOAT64)))
def test_arithmetic_is_that_of_the_circuits(seed: int, form: Format) -> None:
    rng = random.Random(seed)
    x, y = (Symbol(f"vec_float{form.bits}_{n}", BVType(form.bits)) for n in range(2))
    formulas = [add(x, y, form), multiply(x, y, form), divide(x, y, form), less(x, y, form)]
    special = (form.sign, form.infinity, form.nan, form.infinity - 1)
    rows = {s: [canonical(patterns(rng, form.bits, special), form) for _ in range(4)] for s in (x, y)}
    check(formulas, {symbol.symbol_name(): (values, form.bits) for symbol, values in rows.items()})


def test_columns_are_broadcast() -> None:
    """States down, inputs across: what depends on one of them keeps its shape."""
    a, b = Symbol("ev_a8", BVType(8)), Symbol("ev_b8", BVType(8))
    states, inputs = column(range(0, 256, 5), 8)[:, None], column(range(0, 256, 7), 8)[None, :]
    only, both, none = Program([a + BV(200, 8), a * b, BV(7, 8)])({"ev_a8": states, "ev_b8": inputs})
    assert (only.shape, none.shape) == (states.shape, (1,))
    assert both.tolist() == [[x * y % 256 for y in range(0, 256, 7)] for x in range(0, 256, 5)]


def test_shared_terms_are_counted_once() -> None:
    a = Symbol("ev_a8", BVType(8))
    shared = a * a
    assert node_count([shared + shared, shared]) == 2


OPERATIONS = list(operations())
NAMES = [f"{operation.name}-{operation.operands[0].name}-{operation.result.name}" for operation in OPERATIONS]


def hard_operands(operation: Operation, count: int) -> list[list[int]]:
    chance = np.random.default_rng(7)
    first = operation.operands[0]
    if first.form is None:
        return [integer_patterns(first.bits, count, chance).tolist()]
    found = [float_patterns(first.form, count, chance)]
    for kind in operation.operands[1:]:
        assert kind.form is not None
        found.append(related(found[0], kind.form, chance))
    return [words.tolist() for words in found]


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_floating_operations_are_those_of_the_circuits(operation: Operation) -> None:
    kinds = operation.operands
    symbols = [Symbol(f"ev_{n}{k.bits}", BVType(k.bits)) for n, k in zip("ab", kinds, strict=False)]
    values = hard_operands(operation, 400)
    raw = {s.symbol_name(): (v, k.bits) for s, v, k in zip(symbols, values, kinds, strict=True)}
    check(list(operation.terms(*symbols)), raw)


def test_floating_operations_take_no_circuit() -> None:
    found = [
        operation.terms(
            *(Symbol(f"ev_{n}{k.bits}", BVType(k.bits)) for n, k in zip("ab", operation.operands, strict=False))
        )[0]
        for operation in OPERATIONS
        if operation.name in ("add", "multiply", "divide")
    ]
    known = [operation_of(term) for term in found]
    assert all(one is not None and vector_operation(one) is not None for one in known)
    assert node_count(found) == len(set(found))
