"""Floating values as users see and write them: numbers in JSON and CSV, texts read as C reads them, ranges."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from native_programs import needs_compiler
from pysmt.shortcuts import BV, TRUE

from bmc.errors import InputRefused, Location
from bmc.floats.format import FLOAT32, FLOAT64, FORMATS, Format, _reads_as, canonical, nearest, number, pattern, read
from bmc.floats.ranges import between, every, show_ranges, values_in
from bmc.formulas.value_sets import contains
from bmc.native.original import find_compiler
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.chain import Chain, Hit
from chaincover.formats.chain_file import SCHEMA, chain_csv, read_stimulus, start_record
from chaincover.formats.output import to_json
from chaincover.formats.rows import ChainRows
from chaincover.project.values import parse_value, shown
from chaincover.project.values import show_ranges as show_ranges_of
from properties.goal import Goal

FLOAT, DOUBLE = ValueType("float", 32, floating=True), ValueType("double", 64, floating=True)
WORD = ValueType("int16", 16, signed=True)
TYPES = {32: FLOAT, 64: DOUBLE}
HERE = Location("here.csv", 3, 2)
PATTERNS = st.one_of(
    st.tuples(st.just(FLOAT), st.integers(0, 2**32 - 1)), st.tuples(st.just(DOUBLE), st.integers(0, 2**64 - 1))
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(PATTERNS)
@example((FLOAT, FLOAT32.sign))
@example((DOUBLE, FLOAT64.sign))
@example((DOUBLE, FLOAT64.sign | FLOAT64.infinity))
@example((FLOAT, FLOAT32.nan | FLOAT32.sign | 5))
@example((FLOAT, 1))
@example((FLOAT, FLOAT32.infinity - 1))
def test_json_and_csv_hold_every_value_exactly(case: tuple[ValueType, int]) -> None:
    vtype, raw = case
    raw = canonical(raw, FORMATS[vtype.bits])
    var = InputVariable("x", vtype)
    value = shown([var], {"x": raw})["x"]
    text = json.dumps(value, allow_nan=False)
    again = json.loads(text)
    assert parse_value(str(again), vtype, HERE) == raw
    assert json.dumps(again) == text
    table = io.StringIO()
    csv.writer(table).writerow([value])
    cell = next(csv.reader(io.StringIO(table.getvalue())))[0]
    assert parse_value(cell, vtype, HERE) == raw
    assert vtype.show(raw) == cell


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, FLOAT32.infinity - 1), st.sampled_from((0, FLOAT32.sign)))
@example(pattern(16777216.0, FLOAT32), 0)
@example(pattern(16777218.0, FLOAT32), 0)
@example(FLOAT32.infinity - 1, FLOAT32.sign)
@example(0x00800000, 0)
@example(0x007FFFFF, 0)
def test_a_float_is_shown_by_the_fewest_digits_that_exact_arithmetic_reads_back(size: int, sign: int) -> None:
    value = number(size | sign, FLOAT32)
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    first = next(text for text in texts if nearest(Fraction(text), FLOAT32) | sign == size | sign)
    assert FLOAT.show(size | sign) == repr(float(first))


def test_exact_arithmetic_is_for_numbers_that_a_wider_float_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """For every value of a long chain it took most of the time for writing it."""
    exactly = []

    def counted(value: Fraction, form: Format) -> int:
        exactly.append(value)
        return nearest(value, form)

    monkeypatch.setattr("bmc.floats.format.nearest", counted)
    for tenths in range(1, 1000):
        assert FLOAT.show(pattern(tenths / 10, FLOAT32)) == repr(tenths / 10)
    assert FLOAT.show(1) == "1e-45"
    assert exactly == []
    halves = 2.0**24 + 1, 2.0**-150, 3 * 2.0**-150
    assert [_reads_as(repr(half), 0, FLOAT32) for half in halves] == [False, True, False]
    assert exactly == [Fraction(repr(half)) for half in halves]


def test_what_is_shown_is_short_and_json() -> None:
    variables = [InputVariable(name, FLOAT) for name in "abcdef"] + [StateVariable("g", WORD, None, BV(0, 16))]
    numbers = [0.1, -0.0, 16777216.0, float("nan"), float("-inf"), 1e-45]
    values = {name: pattern(value, FLOAT32) for name, value in zip("abcdef", numbers, strict=True)} | {"g": 0xFFFF}
    assert json.dumps(shown(variables, values), allow_nan=False) == (
        '{"a": 0.1, "b": -0.0, "c": 16777216.0, "d": "nan", "e": "-inf", "f": 1e-45, "g": -1}'
    )
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"gap": float("inf")})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12.5", 12.5),
        (" -7 ", -7.0),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("1e-3", 0.001),
        ("2E+2", 200.0),
        ("0x1.8p3", 12.0),
        ("-0X.8P-1", -0.25),
        ("0x10", 16.0),
        ("inf", float("inf")),
        ("-Infinity", float("-inf")),
        ("true", 1.0),
        ("0", 0.0),
        ("-0.0", -0.0),
        ("1e-400", 0.0),
        ("-1e-999999999", -0.0),
        ("0e999999999", 0.0),
    ],
)
def test_numbers_are_read(text: str, value: float) -> None:
    assert parse_value(text, DOUBLE, HERE) == pattern(value, FLOAT64)
    assert parse_value(text, FLOAT, HERE) == pattern(value, FLOAT32)


def test_every_nan_is_read_as_the_canonical_one() -> None:
    assert {parse_value(text, DOUBLE, HERE) for text in ("nan", "NaN", "-nan")} == {FLOAT64.nan}


@pytest.mark.parametrize("text", ["", ".", "1.2.3", "0x", "1e", "1,5", "12.5f", "1_000", "off", "0b1", "--1", "1 2"])
def test_what_is_no_number_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(InputRefused) as refused:
        parse_value(text, DOUBLE, HERE)
    assert refused.value.where == HERE
    assert f"'{text}' is no value of type double" in refused.value.message


def test_what_is_too_large_is_refused() -> None:
    assert parse_value("3.4e38", FLOAT, HERE) == pattern(3.4e38, FLOAT32)
    for text, vtype in (("3.5e38", FLOAT), ("-1e400", DOUBLE), ("1e999999999", DOUBLE), ("0x1p1024", DOUBLE)):
        with pytest.raises(InputRefused, match="too large"):
            parse_value(text, vtype, HERE)


NEAR_MIDDLES = [
    "1.00000017881393432617187499",  # reads wrongly by way of a double
    "1.00000017881393432617187500",
    "1.00000017881393432617187501",
    "7.0064923216240853546186479164495806564013097093825788587853e-46",  # half the least float, rounded to even
    "7.0064923216240853546186479164495806564013097093825788587854e-46",
    "340282356779733642752073958517274837056",
    "2.47032822920623272088284396434110686182e-324",
    "9007199254740993",
    "0x1.0000010000000000001p0",
]


@needs_compiler
def test_numbers_are_read_as_the_compiler_reads_them(tmp_path: Path) -> None:
    """The same texts as C constants, those of the narrower type with the suffix f."""
    texts = [*NEAR_MIDDLES, *_random_numbers(150)]
    rows = [f"  f = {_constant(text)}f; d = {_constant(text)}; show(f, d);" for text in texts]
    (tmp_path / "read.c").write_text(
        "#include <stdio.h>\n#include <string.h>\n"
        "static void show(float f, double d) { unsigned a; unsigned long long b; memcpy(&a, &f, 4); memcpy(&b, &d, 8);"
        ' printf("%x %llx\\n", a, b); }\nint main(void) {\n  float f; double d;\n' + "\n".join(rows) + "\n}\n"
    )
    subprocess.run([find_compiler(), "-w", "-o", tmp_path / "read", tmp_path / "read.c"], check=True)  # type: ignore[list-item]
    printed = subprocess.run([tmp_path / "read"], capture_output=True, text=True, check=True).stdout
    for text, row in zip(texts, printed.splitlines(), strict=True):
        single, double = (int(word, 16) for word in row.split())
        assert read(text, FLOAT64) == double, text
        assert read(text, FLOAT32) == single, text


def _random_numbers(count: int) -> list[str]:
    """Middles between neighbours of the narrower format and a little beside them, as long decimals."""
    texts = []
    for n in range(count):
        raw = (n * 2654435761) % FLOAT32.infinity
        low, high = (Fraction(number(r, FLOAT32)) for r in (min(raw, FLOAT32.infinity - 2), raw + 1))
        middle = (low + high) / 2 + (0, 1, -1)[n % 3] * (high - low) / 2**40
        texts.append(f"{_digits(middle)}")
    return texts


def _digits(value: Fraction) -> str:
    """50 significant digits of a number, cut off."""
    exponent = 0
    while value >= 10:
        value, exponent = value / 10, exponent + 1
    while value < 1:
        value, exponent = value * 10, exponent - 1
    digits = str(int(value * 10**50))
    return f"{digits[0]}.{digits[1:]}e{exponent}"


def _constant(text: str) -> str:
    return text if any(mark in text for mark in ".ep") else f"{text}.0"


@given(FINITE, FINITE, FINITE)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_ranges_hold_the_numbers_between_their_bounds(low: float, high: float, value: float) -> None:
    ranges = between(pattern(low, FLOAT64), pattern(high, FLOAT64), FLOAT64)
    assert contains(ranges, pattern(value, FLOAT64)) == (low <= value <= high)
    assert not contains(ranges, FLOAT64.nan)
    assert contains(ranges, FLOAT64.sign) == (low <= 0 <= high)
    assert contains(every(FLOAT64), pattern(value, FLOAT64))
    for part in ranges:
        assert values_in([part], FLOAT64) == (part,)


def test_pieces_lie_on_one_side_of_zero_and_have_one_nan() -> None:
    assert values_in([(0, 2**32 - 1)], FLOAT32) == every(FLOAT32)
    inside_nans = (FLOAT32.infinity + 1, FLOAT32.infinity + 2)
    assert values_in([inside_nans], FLOAT32) == ()


def raw(*values: float) -> list[int]:
    return [pattern(value, FLOAT32) for value in values]


@pytest.mark.parametrize(
    ("ranges", "text"),
    [
        (every(FLOAT32), "-inf..inf, nan"),
        (between(*raw(0.0, 100.0), FLOAT32), "0.0..100.0"),
        (((0, pattern(100.0, FLOAT32)),), "0.0..100.0"),
        (((FLOAT32.sign, pattern(-5.0, FLOAT32)),), "-5.0..-0.0"),
        (between(*raw(-5.0, 0.1), FLOAT32), "-5.0..0.1"),
        (between(*raw(-5.0, -0.1), FLOAT32), "-5.0..-0.1"),
        (between(*raw(0.0, 0.0), FLOAT32), "0.0"),
        (tuple((r, r) for r in raw(0.0, 20.5, -3.0)), "-3.0, 0.0, 20.5"),
        (tuple((r, r) for r in (FLOAT32.nan, FLOAT32.sign)), "-0.0, nan"),
        (((0, 2**32 - 1),), "-inf..inf, nan"),
    ],
)
def test_ranges_are_shown_as_numbers(ranges: tuple[tuple[int, int], ...], text: str) -> None:
    assert show_ranges(ranges, FLOAT32) == text
    assert show_ranges_of(ranges, FLOAT) == text


def test_ranges_of_whole_numbers_are_shown_as_before() -> None:
    assert show_ranges_of([(-3, -1), (7, 7)], WORD) == "-3..-1, 7"


# chains in files


def a_chain() -> tuple[TransitionSystem, Chain]:
    """A chain of states, outputs and inputs in both formats, with every kind of value."""
    last, chosen = DOUBLE.symbol("cv_last"), FLOAT.symbol("cv_chosen")
    system = TransitionSystem(
        "values",
        (
            StateVariable("cv_last", DOUBLE, BV(0, 64), DOUBLE.symbol("cv_x")),
            StateVariable("cv_chosen", FLOAT, None, chosen),
            StateVariable("cv_out", DOUBLE, BV(0, 64), last, "output"),
        ),
        (InputVariable("cv_x", DOUBLE, every(FLOAT64)), InputVariable("cv_y", FLOAT, every(FLOAT32))),
        chosen=("cv_chosen",),
    )
    xs = [0.1, -0.0, 5e-324, float("nan"), float("inf"), 1e23, -123456.789]
    ys = [0.1, 1e-45, -0.0, float("nan"), float("-inf"), 16777216.0, 3.4028235e38]
    inputs = [{"cv_x": pattern(x, FLOAT64), "cv_y": pattern(y, FLOAT32)} for x, y in zip(xs, ys, strict=True)]
    states = [{"cv_last": 0, "cv_chosen": pattern(0.3, FLOAT32), "cv_out": 0}]
    for values in inputs:
        states.append({**states[-1], "cv_last": values["cv_x"], "cv_out": states[-1]["cv_last"]})
    return system, Chain(Run(tuple(states), tuple(inputs)), ("g",), (Hit("g", 1, None),))


GOALS = (Goal("g", TRUE(), None, 0),)


def as_document(system: TransitionSystem, chain: Chain) -> dict[str, object]:
    body = {"hits": [], "initial": start_record(system, chain), "steps": ChainRows(system, chain, GOALS)}
    return {"schema": SCHEMA, "settings": {"final": None}, "goals": [], "chain": body}


def test_chains_are_written_and_read_back_bit_for_bit(tmp_path: Path) -> None:
    system, chain = a_chain()
    (tmp_path / "chain.json").write_text(to_json(as_document(system, chain)))
    made = SimpleNamespace(system=system, goals=GOALS, settings=SimpleNamespace(period=None), value_names={})
    (tmp_path / "chain.csv").write_text(chain_csv(made, chain))
    from_json = read_stimulus(str(tmp_path), system)
    from_csv = read_stimulus(str(tmp_path / "chain.csv"), system)
    for stimulus in (from_json, from_csv):
        assert stimulus.inputs == chain.run.inputs
        assert stimulus.initial == {"cv_chosen": pattern(0.3, FLOAT32)}
    assert from_json.states == chain.run.states[1:]


def test_a_bad_number_in_a_table_has_its_place(tmp_path: Path) -> None:
    system, _ = a_chain()
    (tmp_path / "inputs.csv").write_text("cv_x,cv_y\n1.5,2\n0.5,high\n")
    with pytest.raises(InputRefused) as refused:
        read_stimulus(str(tmp_path / "inputs.csv"), system)
    assert refused.value.where == Location(str(tmp_path / "inputs.csv"), 3, 2)
