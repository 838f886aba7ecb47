"""Formulas on whole columns against the definition of each operator, one value at a time."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import (
    And,
    Implies,
    Ite,
    Or,
    Symbol,
)
from pysmt.typing import BVType
from random_terms import FLAGS, SYMBOLS, WIDTHS, flag, term

from bmc.floats.arithmetic import add, divide, multiply
from bmc.floats.compare import less
from bmc.floats.format import FLOAT32, FLOAT64, Format
from bmc.formulas.evaluate import compile_formulas
from chaincover.verify.vectors import Knowing, Vectors, column


def check(formulas: list[FNode], rows: list[dict[str, int]], widths: dict[str, int]) -> None:
    columns = {name: column([row[name] for row in rows], width) for name, width in widths.items()}
    found = [np.broadcast_to(part, (len(rows),)).tolist() for part in Vectors(formulas)(columns)]
    compute = compile_formulas(formulas)
    for number, row in enumerate(rows):
        assert tuple(int(part[number]) for part in found) == compute(row)


def patterns(rng: random.Random, width: int, special: tuple[int, ...] = ()) -> int:
    top = (1 << max(width, 1)) - 1
    return rng.choice((0, 1, top, (top + 1) // 2, *special, *(rng.randint(0, top) for _ in range(4))))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 40))
def test_words_and_flags(seed: int) -> None:
    rng = random.Random(seed)
    formulas = [flag(rng, 3), term(rng, rng.choice(WIDTHS), 3)]
    widths = {symbol.symbol_name(): width for width in WIDTHS for symbol in SYMBOLS[width]}
    widths |= {symbol.symbol_name(): 0 for symbol in FLAGS}
    check(formulas, [{name: patterns(rng, width) for name, width in widths.items()} for _ in range(4)], widths)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 40), st.sampled_from((FLOAT32, FLOAT64)))
def test_floating_operations_are_those_of_the_circuits(seed: int, form: Format) -> None:
    rng = random.Random(seed)
    x, y = (Symbol(f"vec_float{form.bits}_{n}", BVType(form.bits)) for n in range(2))
    formulas = [add(x, y, form), multiply(x, y, form), divide(x, y, form), less(x, y, form)]
    special = (form.sign, form.infinity, form.nan, form.infinity - 1)
    names = [x.symbol_name(), y.symbol_name()]
    rows = [{name: patterns(rng, form.bits, special) for name in names} for _ in range(4)]
    canonical = [
        {name: form.nan if raw & ~form.sign > form.infinity else raw for name, raw in row.items()} for row in rows
    ]
    check(formulas, canonical, dict.fromkeys(names, form.bits))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1 << 40))
def test_what_is_told_to_be_known_does_not_depend_on_what_is_not(seed: int) -> None:
    rng = random.Random(seed)
    formulas = [flag(rng, 4), flag(rng, 3), Ite(flag(rng, 2), term(rng, 8, 1), term(rng, 8, 1))]
    widths = {symbol.symbol_name(): width for width in WIDTHS for symbol in SYMBOLS[width]}
    widths |= {symbol.symbol_name(): 0 for symbol in FLAGS}
    hidden = rng.choice(FLAGS).symbol_name()
    rows = [{**{name: patterns(rng, width) for name, width in widths.items()}, hidden: 0} for _ in range(4)]
    columns = {name: column([row[name] for row in rows], width) for name, width in widths.items()}
    found = Knowing(formulas)(columns, {hidden: np.zeros(4, bool)})
    compute = compile_formulas(formulas)
    for place, row in enumerate(rows):
        one, other = compute(row), compute({**row, hidden: 1})
        for number, (values, sure) in enumerate(found):
            if np.broadcast_to(sure, (4,))[place]:
                assert one[number] == other[number] == int(np.broadcast_to(values, (4,))[place])


def test_a_condition_or_one_part_may_decide() -> None:
    one, other = FLAGS
    formulas = [And(one, other), Or(one, other), Implies(other, one), Ite(other, one, other), Ite(one, other, other)]
    names = one.symbol_name(), other.symbol_name()
    columns = {names[0]: column([0, 0], 0), names[1]: column([0, 1], 0)}
    found = Knowing(formulas)(columns, {names[0]: np.zeros(2, bool)})
    assert [np.broadcast_to(sure, (2,)).tolist() for _, sure in found] == [
        [True, False],
        [False, True],
        [True, False],
        [True, False],
        [True, True],
    ]
