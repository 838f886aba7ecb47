"""Intervals of values through floating operations, words and comparisons, against the values of single operands."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from float_cases import BINARY, COMPARISONS, UNARY
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULE, BVULT, And, BVExtract, BVZExt, Equals, Ite, Not, Or, Symbol
from pysmt.typing import BOOL, BVType

from bmc.evaluation.intervals import Interval, keys_of, patterns_of
from bmc.evaluation.programs import Machine, compared_so
from bmc.evaluation.vectors import WORD, bits_of, column
from bmc.evaluation.vectors import Program as Columns
from bmc.floats import arithmetic
from bmc.floats.format import FLOAT32, FLOAT64, FORMATS, Format, canonical, pattern
from bmc.floats.operations import Program
from bmc.system.transition import symbols_of

KNOWN = {
    **{name: BINARY[name] for name in ("add", "subtract", "multiply", "divide", "remainder", "fmin", "fmax")},
    **COMPARISONS,
    **UNARY,
}
ROWS = 150
TRIES = 6
Draw = Callable[[random.Random], tuple[int, int]]


def key(raw: int, bits: int) -> int:
    return int(keys_of(np.array([raw], np.uint64), bits)[0])


def raw_of(value: int, bits: int) -> int:
    return int(patterns_of(np.array([value], np.int64), bits)[0])


def numbers(form: Format) -> Draw:
    """The keys of an interval: around zero, ones and borders of the format, of few or very many values."""
    plain = [0.0, 1.0, -1.0, 0.1, 7.5, 360.0, -360.0, 1e6, 1e-30]
    edges = [
        *(pattern(value, form) for value in plain),
        1,
        form.sign,
        form.infinity,
        form.nan,
        form.sign | form.infinity,
    ]

    def draw(source: random.Random) -> tuple[int, int]:
        begin = key(source.choice(edges), form.bits) + source.choice((0, 0, -1, 1, -1000))
        if source.random() < 0.4:
            ends = begin, begin + source.choice((0, 0, 1, 2, 5000, 1 << form.fraction))
        else:
            ends = begin, key(source.choice(edges), form.bits)
        low, high = max(min(ends), -form.sign), min(max(ends), key(form.nan, form.bits))
        return min(low, high), max(low, high)

    return draw


def words(bits: int) -> Draw:
    def draw(source: random.Random) -> tuple[int, int]:
        ends = source.randrange(1 << bits), source.randrange(1 << bits)
        return (min(ends), max(ends)) if source.random() < 0.7 else (ends[0], ends[0])

    return draw


def check(term: FNode, draws: dict[FNode, tuple[Draw, Format | None]], seed: str) -> None:
    """Draw intervals of the symbols and values in these: the term's value lies in its interval, and what a comparison
    says of its operands holds for theirs."""
    source = random.Random(seed)
    formats = {s.symbol_name(): form for s, (_, form) in draws.items() if form is not None}
    machine, program = Machine([term], formats), Program([term])
    rows = {symbol: [draw(source) for _ in range(ROWS)] for symbol, (draw, _) in draws.items()}
    given = {
        machine.symbols[symbol.symbol_name()]: Interval(*np.array(ends, np.int64).T)
        for symbol, ends in rows.items()
        if symbol.symbol_name() in machine.symbols
    }
    found, possible = machine.run(given, {}, {}, ROWS)
    assert possible.all()
    place = machine.results[0]
    rest = {holds: compared_so(machine, place, holds, found) for holds in (False, True) if machine.is_atom(place)}
    for row in range(ROWS):
        for _ in range(TRIES):
            symbols = {}
            for symbol, ends in rows.items():
                low, high = ends[row]
                form, value = draws[symbol][1], source.choice((low, high, source.randint(low, high)))
                raw = value if form is None else canonical(raw_of(value, form.bits), form)
                symbols[symbol.symbol_name()] = raw
                if form is not None and not low <= key(raw, form.bits) <= high:
                    break  # another NaN than the one that stands for all
            else:
                values = program.run(symbols)
                held = [_kept(machine, p, raw) for p, raw in enumerate(values)]
                assert found[place].low[row] <= held[place] <= found[place].high[row], symbols
                for at, kept in rest.get(bool(held[place]), {}).items() if rest else ():
                    assert kept.low[row] <= held[at] <= kept.high[row], symbols


def _kept(machine: Machine, place: int, raw: int) -> int:
    form = machine.floating[place]
    return int(raw) if form is None else key(raw, form.bits)


@pytest.mark.parametrize("form", [FLOAT32, FLOAT64], ids=["float", "double"])
@pytest.mark.parametrize("name", KNOWN)
def test_the_value_lies_in_the_interval(name: str, form: Format) -> None:
    names = ("a", "b") if name in BINARY or name in COMPARISONS else ("a",)
    operands = [Symbol(f"iv_{own}{form.bits}", BVType(form.bits)) for own in names]
    term = KNOWN[name](*operands, form)
    check(term, {operand: (numbers(form), form) for operand in operands}, name)


@pytest.mark.parametrize("signed", [False, True])
def test_conversions(signed: bool) -> None:
    integer, number = Symbol("iv_i", BVType(16)), Symbol("iv_x", BVType(32))
    double = Symbol("iv_d", BVType(64))
    check(arithmetic.from_int(integer, signed, FLOAT32), {integer: (words(16), None)}, "from")
    check(arithmetic.resize(number, FLOAT32, FLOAT64), {number: (numbers(FLOAT32), FLOAT32)}, "wider")
    check(arithmetic.resize(double, FLOAT64, FLOAT32), {double: (numbers(FLOAT64), FLOAT64)}, "narrower")

    def small(source: random.Random) -> tuple[int, int]:
        ends = sorted(key(pattern(source.uniform(-100, 100), FLOAT32), 32) for _ in range(2))
        return ends[0], ends[1]

    value, _ = arithmetic.to_int(number, FLOAT32, 16, True)
    check(value, {number: (small, FLOAT32)}, "to")


def test_remainders_stay_in_order_within_a_turn() -> None:
    """400 to 410 degrees are 40 to 50, not anything from 0 to 360."""
    angle = Symbol("iv_angle", BVType(32))
    machine = Machine([arithmetic.remainder(angle, BV(pattern(360.0, FLOAT32), 32), FLOAT32)], {"iv_angle": FLOAT32})
    ends = [np.array([pattern(value, FLOAT32)], np.int64) for value in (400.0, 410.0)]
    found = machine.run({machine.symbols["iv_angle"]: Interval(*ends)}, {}, {}, 1)[0][machine.results[0]]
    assert (int(found.low[0]), int(found.high[0])) == (pattern(40.0, FLOAT32), pattern(50.0, FLOAT32))


BYTE, NUMBER = Symbol("iv_byte", BVType(8)), Symbol("iv_number", BVType(32))
TRUTH = Symbol("iv_truth", BOOL)


def terms(depth: int) -> st.SearchStrategy[FNode]:
    """Words of 8 bits: a byte, its parts, the exponent of a number, chosen and added."""
    leaf = st.one_of(
        st.just(BYTE),
        st.just(BVExtract(NUMBER, 23, 30)),
        st.builds(lambda value: BV(value, 8), st.integers(0, 255)),
    )
    if not depth:
        return leaf
    below = terms(depth - 1)
    return st.one_of(
        leaf,
        st.builds(lambda a, b: a + b, below, below),
        st.builds(lambda a, b: a - b, below, below),
        st.builds(lambda a, b: a * b, below, below),
        st.builds(lambda c, a, b: Ite(c, a, b), conditions(depth - 1), below, below),
        st.builds(lambda a: BVExtract(BVZExt(a, 4), 2, 9), below),
    )


def conditions(depth: int) -> st.SearchStrategy[FNode]:
    words_below, number = terms(depth), st.builds(lambda value: BV(value, 32), st.integers(0, (1 << 32) - 1))
    atoms = st.one_of(
        st.just(TRUTH),
        st.builds(BVULT, words_below, words_below),
        st.builds(BVULE, words_below, words_below),
        st.builds(Equals, words_below, words_below),
        st.builds(lambda c: BVULT(NUMBER, c), number),
        st.builds(lambda c: BVULE(c, NUMBER), number),
        st.builds(lambda c: Equals(NUMBER, c), number),
        st.just(Equals(BVExtract(NUMBER, 0, 30), BV(0, 31))),
    )
    if not depth:
        return atoms
    below = conditions(depth - 1)
    return st.one_of(
        atoms,
        st.builds(Not, below),
        st.builds(And, below, below),
        st.builds(Or, below, below),
        st.builds(lambda a, b: a.Implies(b), below, below),
        st.builds(lambda a, b: a.Iff(b), below, below),
    )


@settings(max_examples=10, deadline=None)
@given(term=st.one_of(terms(2), conditions(2)), seed=st.integers(0, 1000))
def test_words_and_conditions(term: FNode, seed: int) -> None:
    draws = {BYTE: (words(8), None), NUMBER: (numbers(FLOAT32), FLOAT32), TRUTH: (words(1), None)}
    check(term, draws, str(seed))


# random programs, every value of them


POINTS = 2000
"""Points that are drawn inside each box."""
BOXES = 6
INTEGER = Symbol("iv_integer", BVType(16))


def random_number(source: random.Random, form: Format, depth: int) -> FNode:
    """A floating term over two numbers, a word and constants."""
    if not depth:
        special = (0.0, -0.0, 1.0, -2.5, 100.0, math.inf, 1e-44)
        symbols = [Symbol(f"iv_random{n}_{form.bits}", BVType(form.bits)) for n in range(2)]
        return source.choice([*symbols, *symbols, BV(pattern(source.choice(special), form), form.bits)])
    name = source.choice([*KNOWN, "choice", "integer", "resize"])
    if name == "choice":
        either = [random_number(source, form, depth - 1) for _ in range(2)]
        return Ite(random_condition(source, form, depth - 1), *either)
    if name == "integer":
        return arithmetic.from_int(random_word(source, form, depth - 1), source.random() < 0.5, form)
    if name == "resize":
        other = FLOAT64 if form == FLOAT32 else FLOAT32
        return arithmetic.resize(random_number(source, other, depth - 1), other, form)
    if name in COMPARISONS:
        return random_number(source, form, depth - 1)
    operands = [random_number(source, form, depth - 1) for _ in range(1 if name in UNARY else 2)]
    return KNOWN[name](*operands, form)


def random_condition(source: random.Random, form: Format, depth: int) -> FNode:
    """A comparison of two numbers or words, or two of them together."""
    kind = source.randrange(4)
    if kind == 0 and depth:
        parts = [random_condition(source, form, depth - 1) for _ in range(2)]
        return source.choice([And, Or])(*parts)
    if kind == 1:
        words_below = [random_word(source, form, depth and depth - 1) for _ in range(2)]
        return source.choice([BVULT, BVULE, Equals])(*words_below)
    below = [random_number(source, form, depth and depth - 1) for _ in range(2)]
    return KNOWN[source.choice(list(COMPARISONS))](*below, form)


def random_word(source: random.Random, form: Format, depth: int) -> FNode:
    """A term of 16 bits."""
    kind = source.randrange(5) if depth else 0
    if kind == 1:
        return arithmetic.to_int(random_number(source, form, depth - 1), form, 16, source.random() < 0.5)[0]
    if kind > 1:
        below = [random_word(source, form, depth - 1) for _ in range(2)]
        build = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: Ite(BVULT(a, b), b, a)][kind - 2]
        return build(*below)
    return source.choice([INTEGER, INTEGER, BV(source.choice((0, 1, 1000, 0xFFFF)), 16)])


def points(source: random.Random, low: int, high: int, form: Format | None) -> np.ndarray[Any, Any]:
    """Values from ``low`` to ``high``: the ends, those next to them, those around zero and any; of NaNs the one."""
    near = [low, low + 1, high - 1, high, -2, -1, 0, 1, 2]
    drawn = [source.choice(near) if source.random() < 0.3 else source.randint(low, high) for _ in range(POINTS)]
    if form is not None:
        drawn = [form.nan if value > form.infinity or value < ~form.infinity else value for value in drawn]
    return np.array([value if low <= value <= high else source.choice((low, high)) for value in drawn], np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("form", [FLOAT32, FLOAT64], ids=["float", "double"])
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 1 << 40))
def test_every_value_of_a_random_program_lies_in_its_interval(form: Format, seed: int) -> None:
    """For all points of some boxes; also where a comparison is assumed to come out as it does at the point."""
    source = random.Random(seed)
    formulas = [random_number(source, form, 3), random_condition(source, form, 3), random_word(source, form, 2)]
    symbols = list(dict.fromkeys(s for formula in formulas for s in symbols_of(formula)))
    forms = {s.symbol_name(): None if s == INTEGER else FORMATS[bits_of(s)] for s in symbols}
    machine = Machine(formulas, {name: own for name, own in forms.items() if own is not None})
    exact = Columns([instruction.node for instruction in machine.instructions])
    atoms = [place for place in range(len(machine.instructions)) if machine.is_atom(place)]
    for _ in range(BOXES):
        box: dict[int, Interval] = {}
        columns: dict[str, np.ndarray[Any, Any]] = {}
        for symbol in symbols:
            name, own = symbol.symbol_name(), forms[symbol.symbol_name()]
            low, high = (words(16) if own is None else numbers(own))(source)
            box[machine.symbols[name]] = Interval(np.array([low]), np.array([high]))
            drawn = points(source, low, high, own)
            columns[name] = column(drawn if own is None else patterns_of(drawn, own.bits), bits_of(symbol))
        held = [_held(machine, place, values) for place, values in enumerate(exact(columns))]
        found, possible = machine.run(box, {}, {}, 1)
        assert possible.all()
        assert _outside(found, held, np.ones(POINTS, bool)) == []
        for place, holds in product(source.sample(atoms, min(3, len(atoms))), (False, True)):
            here = np.broadcast_to(held[place] == holds, (POINTS,))
            kept = compared_so(machine, place, holds, found)
            less, possible = machine.run(box, {place: np.array([int(holds)])}, kept, 1)
            assert possible.all() or not here.any()
            assert _outside(less, held, here) == []


def _held(machine: Machine, place: int, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Exact values as they are kept at a place; those of more than 64 bits are not."""
    form = machine.floating[place]
    if machine.bits[place] > WORD:
        return np.zeros(1, np.int64)
    return keys_of(values, form.bits) if form is not None else values.astype(np.uint64).view(np.int64)


def _outside(found: Sequence[Interval], held: Sequence[np.ndarray[Any, Any]], where: np.ndarray[Any, Any]) -> list[int]:
    """The places at which some point's value, of those marked, does not lie in the interval."""
    fits = [(values >= ends.low) & (values <= ends.high) for ends, values in zip(found, held, strict=True)]
    return [place for place, fit in enumerate(fits) if not (fit | ~where).all()]
