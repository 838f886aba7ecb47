"""Facts about a state: the name tells the formula, and both tell what C does."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import TRUE
from stated_facts import stated

from bmc.analysis.spans import patterns_of, spans_of
from bmc.floats.format import FLOAT32, canonical, number, pattern
from bmc.formulas.evaluate import compile_formulas
from bmc.invariants.candidates import among, implied, is_value, no_more, same, values_told
from bmc.system.transition import BOOLEAN, StateVariable, ValueType

SIGNED, UNSIGNED = ValueType("i4", 4, signed=True), ValueType("u4", 4)
FLOAT = ValueType("float", 32, floating=True)
COLOUR = ValueType("colour", 4, labels=(("RED", 2), ("GREEN", 3)))


def variable(name: str, kind: ValueType) -> StateVariable:
    return StateVariable(f"sf_{kind.name}_{name}", kind, None, kind.symbol(f"sf_{kind.name}_{name}"))


def holds(formula, **values: int) -> bool:
    return bool(compile_formulas([formula])(values)[0])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from([SIGNED, UNSIGNED, COLOUR, BOOLEAN]), st.sets(st.integers(0, 15), min_size=1))
def test_a_set_of_values_is_told_by_formula_and_name(kind: ValueType, raws: set[int]) -> None:
    var = variable("x", kind)
    size = 1 << max(kind.bits, 1)
    raws = {raw % size for raw in raws}
    spans = spans_of(var, [(raw, raw) for raw in raws])
    fact = among(var, spans)
    for raw in range(size):
        assert holds(fact.formula, **{var.name: raw}) == (raw in raws)
    assert {raw for low, high in patterns_of(var, spans) for raw in range(low, high + 1)} == raws
    if fact.formula == TRUE():
        assert raws == set(range(size))
        return
    assert stated(fact.name, {var.name: var}) == fact
    assert values_told(fact.name, {var.name: var}) == (var, spans)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 2.5, -1e30, 3e38, math.inf, -math.inf, math.nan, 1e-45]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sets(st.sampled_from(range(len(SPECIAL))), min_size=1), st.sampled_from([(0.5, 3.0), (-2.0, 2.0), None]))
def test_a_set_of_floating_values_is_told_as_c_compares_them(
    chosen: set[int], ends: tuple[float, float] | None
) -> None:
    var = variable("x", FLOAT)
    raws = [pattern(SPECIAL[index], FLOAT32) for index in sorted(chosen)]
    ranges = [(raw, raw) for raw in raws]
    if ends is not None:
        ranges += patterns_of(var, [(pattern(ends[0], FLOAT32), pattern(ends[1], FLOAT32))])
    fact = among(var, spans_of(var, ranges))
    values = [number(raw, FLOAT32) for raw in raws]
    for other in [*(pattern(value, FLOAT32) for value in SPECIAL), FLOAT32.sign | FLOAT32.nan]:
        value = number(other, FLOAT32)
        inside = any(value == v or (math.isnan(value) and math.isnan(v)) for v in values)
        inside = inside or (ends is not None and ends[0] <= value <= ends[1])
        assert holds(fact.formula, **{var.name: other}) == inside, (fact.name, value)
    assert canonical(FLOAT32.sign | FLOAT32.nan, FLOAT32) == FLOAT32.nan
    assert stated(fact.name, {var.name: var}) == fact


def test_names_are_c() -> None:
    x, y, colour, f = variable("x", SIGNED), variable("y", SIGNED), variable("c", COLOUR), variable("f", FLOAT)
    known = {var.name: var for var in (x, y, colour, f)}
    half, infinity = pattern(0.5, FLOAT32), FLOAT32.infinity
    facts = {
        "-3 <= sf_i4_x && sf_i4_x <= 5": among(x, [(-3, 5)]),
        "sf_i4_x <= 5": among(x, [(-8, 5)]),
        "sf_i4_x >= -3": among(x, [(-3, 7)]),
        "sf_i4_x == -3 || 1 <= sf_i4_x && sf_i4_x <= 5": among(x, [(-3, -3), (1, 5)]),
        "sf_colour_c == RED": is_value(colour, 2),
        "sf_i4_x == sf_i4_y": same(x, y),
        "sf_i4_x <= sf_i4_y": no_more(x, y),
        "sf_colour_c == GREEN => sf_i4_x == -1": implied(is_value(colour, 3), is_value(x, 15)),
        "sf_float_f == 0.5 || isnan(sf_float_f)": among(f, [(half, half), (FLOAT32.nan, FLOAT32.nan)]),
        "!isnan(sf_float_f)": among(f, [(FLOAT32.sign | infinity, infinity)]),
        "sf_float_f >= 0.5": among(f, [(half, infinity)]),
    }
    for name, fact in facts.items():
        assert fact is not None
        assert fact.name == name
        assert stated(name, known) == fact
    assert (same(x, colour), no_more(f, f), no_more(x, colour)) == (None, None, None)


@pytest.mark.parametrize(
    "name",
    [
        *("", "sf_i4_x", "sf_i4_x == RED", "sf_i4_x = 3", "nobody == 3", "sf_i4_x == 3 => ", "sf_i4_x <= 7"),
        *("5 <= sf_i4_x", "sf_i4_x == 3 || sf_i4_y == 2", "sf_i4_x == 3 ||", "isnan(sf_i4_x)"),
    ],
)
def test_other_texts_are_the_name_of_nothing(name: str) -> None:
    x, y = variable("x", SIGNED), variable("y", SIGNED)
    assert stated(name, {x.name: x, y.name: y}) is None
