"""Floating state, inputs, arguments and results of the compiled original, and comparing a model with it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_programs import Write, interface, needs_compiler, static, whole, writer
from pysmt.shortcuts import BV, Ite

from bmc.errors import InputRefused
from bmc.floats.compare import less
from bmc.floats.format import FLOAT32, FLOAT64, FORMATS, canonical, is_nan, number, pattern
from bmc.floats.ranges import between, every, values_in
from bmc.floats.values import FloatSamples, constants_in
from bmc.formulas.terms import constant
from bmc.formulas.value_sets import Ranges, contains
from bmc.native.differential import Sampler, compare
from bmc.native.original import compiled
from bmc.system.original import Argument, Call, Cell, MemoryObject, NativeInterface
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType

FLOAT, DOUBLE = ValueType("float", 32, floating=True), ValueType("double", 64, floating=True)
INT = ValueType("int", 32, signed=True)
NANS = [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0xFFFFFFFFFFFFFFFF]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def floating(obj: MemoryObject, variable: str = "") -> Cell:
    return replace(whole(obj, variable), floating=True)


def by_value(name: str, size: int) -> Argument:
    return Argument("value", name, size=size, floating=True)


def gains(write: Write) -> NativeInterface:
    """``step(x, y)`` keeps both, returns x as a float; init takes a float and a double constant."""
    sources = write(
        a="""
        static double kept; static float narrow, set; static double far;
        void init(float a, double b) { set = a; far = b; }
        float step(double x, float y) { kept = x; narrow = y; return (float)x; }"""
    )
    objects = [static("kept", sources[0], 8), *(static(name, sources[0]) for name in ("narrow", "set"))]
    objects += [static("far", sources[0], 8), MemoryObject("x", "argument", 8), MemoryObject("y", "argument", 4)]
    objects += [MemoryObject("ret", "return", 4)]
    constants = [(4, pattern(0.1, FLOAT32)), (8, pattern(-1e300, FLOAT64))]
    init = Call("init", tuple(Argument("constant", size=size, number=raw, floating=True) for size, raw in constants))
    step = Call("step", (by_value("x", 8), by_value("y", 4)), "ret", floating=True)
    return interface(sources, objects, [floating(obj) for obj in objects], step, (init,))


@needs_compiler
def test_values_pass_bit_for_bit(write: Write) -> None:
    numbers = [0.1, -0.0, 5e-324, 1e23, float("inf"), float("-inf"), 3.5e38, -1e-46, 16777217.0]
    inputs = [{"x": pattern(n, FLOAT64), "y": pattern(n, FLOAT32)} for n in numbers]
    with compiled(gains(write)) as program:
        first, *states = program.run(inputs)
    assert (first["set"], first["far"]) == (pattern(0.1, FLOAT32), pattern(-1e300, FLOAT64))
    for values, state in zip(inputs, states, strict=True):
        assert (state["kept"], state["narrow"]) == (values["x"], values["y"])
        assert state["ret"] == pattern(number(values["x"], FLOAT64), FLOAT32)


@needs_compiler
def test_every_nan_is_read_as_the_canonical_one(write: Write) -> None:
    sources = write(
        a="""
        static double x, y, invalid; static unsigned long long bits;
        void step(void) { y = x; invalid = x - x; bits = *(unsigned long long *)&x; }"""
    )
    objects = {name: static(name, sources[0], 8) for name in ("x", "y", "invalid", "bits")}
    cells = [floating(objects[name]) for name in ("x", "y", "invalid")] + [whole(objects["bits"])]
    with compiled(interface(sources, list(objects.values()), cells, Call("step"))) as program:
        states = program.run([{"x": raw} for raw in (*NANS, FLOAT64.infinity)])[1:]
        image = program.steps([({"y": 1}, {"x": NANS[1]})])
    assert {state["y"] for state in states[:-1]} == {state["invalid"] for state in states} == {FLOAT64.nan}
    assert [state["bits"] for state in states[:-1]] == NANS
    assert states[-1]["y"] == FLOAT64.infinity
    assert image == [{"y": FLOAT64.nan, "invalid": FLOAT64.nan, "bits": NANS[1]}]


@needs_compiler
def test_a_type_that_is_not_floating_in_the_original_is_refused(write: Write) -> None:
    sources = write(a="int n; void step(int a) { n = a; }")
    objects = [static("n", sources[0]), MemoryObject("a", "argument", 4)]
    native = interface(sources, objects, [whole(obj) for obj in objects], Call("step", (by_value("a", 4),)))
    with pytest.raises(InputRefused, match="argument 1 of 'step' is floating in the model"), compiled(native):
        pass


# comparing


def thermostat(limit: float = 12.5) -> TransitionSystem:
    """``above`` counts the steps with a temperature over a limit, ``last`` keeps the temperature."""
    x, above = DOUBLE.symbol("fv_x"), INT.symbol("fv_above")
    over = less(constant(pattern(limit, FLOAT64), 64), x, FLOAT64)
    return TransitionSystem(
        "thermostat",
        (
            StateVariable("fv_above", INT, BV(0, 32), Ite(over, above + BV(1, 32), above)),
            StateVariable("fv_last", DOUBLE, BV(0, 64), x),
        ),
        (InputVariable("fv_x", DOUBLE, every(FLOAT64)),),
    )


@needs_compiler
@pytest.mark.parametrize(("limit", "equal"), [(12.5, True), (12.500000000000002, False), (12.0, False)])
def test_a_wrong_limit_is_found_by_comparing(write: Write, limit: float, equal: bool) -> None:
    sources = write(
        a="""
        static int above; static double last;
        void step(double x) { if (x > 12.5) above++; last = x; }"""
    )
    above, last = static("above", sources[0]), static("last", sources[0], 8)
    x = MemoryObject("x", "argument", 8)
    cells = [whole(above, "fv_above"), floating(last, "fv_last"), floating(x, "fv_x")]
    native = interface(sources, [above, last, x], cells, Call("step", (by_value("x", 8),)))
    with compiled(native) as original:
        found = compare(thermostat(limit), original, 600)
    assert (not found.differences) == equal
    assert {difference.variable for difference in found.differences} <= {"fv_above"}
    assert found.run_steps + found.state_steps == 600


# sampling


BOUNDS = st.floats(allow_nan=False, width=32)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from([FLOAT32, FLOAT64]),
    st.lists(st.tuples(BOUNDS, BOUNDS), min_size=1, max_size=3),
    st.booleans(),
    st.integers(0, 99),
)
def test_samples_lie_in_the_allowed_ranges(form, bounds, with_nan: bool, seed: int) -> None:
    ranges: Ranges = ((form.nan, form.nan),) if with_nan else ()
    for low, high in bounds:
        ranges += between(pattern(min(low, high), form), pattern(max(low, high), form), form)
    samples = FloatSamples(form, (pattern(12.5, form),), random.Random(seed))
    for _ in range(100):
        raw = samples.draw(ranges)
        assert contains(ranges, raw)
        assert canonical(raw, form) == raw


def test_few_values_all_come_up() -> None:
    ranges = tuple((raw, raw) for raw in (0, pattern(20.5, FLOAT64), pattern(-3.0, FLOAT64), FLOAT64.nan))
    samples = FloatSamples(FLOAT64, (), random.Random(1))
    assert {samples.draw(ranges) for _ in range(200)} == {low for low, _ in ranges}


@pytest.mark.parametrize("form", [FLOAT32, FLOAT64])
def test_samples_are_mixed(form) -> None:
    near = (pattern(37.5, form),)
    samples = FloatSamples(form, near, random.Random(3))
    drawn = [samples.draw(every(form)) for _ in range(4000)]
    for raw in (0, form.sign, form.nan, form.infinity, form.sign | form.infinity, near[0], near[0] - 1, near[0] + 1):
        assert drawn.count(raw) >= 20, raw
    numbers = [number(raw, form) for raw in drawn if not is_nan(raw, form)]
    assert sum(value == int(value) for value in numbers if abs(value) < 100) > 400
    assert sum(abs(value) < 1000 and value != int(value) for value in numbers if abs(value) < 1e9) > 400
    assert sum(1e9 < abs(value) < float("inf") for value in numbers) > 40
    assert sum(0 < abs(value) < 1e-6 for value in numbers) > 40
    assert sum(value < 0 for value in numbers) > 600
    assert drawn == [FloatSamples(form, near, source).draw(every(form)) for source in [random.Random(3)] for _ in drawn]


def test_numbers_are_spread_within_bounds() -> None:
    ranges = between(pattern(5000.0, FLOAT64), pattern(9000.0, FLOAT64), FLOAT64)
    samples = FloatSamples(FLOAT64, (), random.Random(5))
    numbers = [number(samples.draw(ranges), FLOAT64) for _ in range(1000)]
    for low in range(5000, 9000, 500):
        assert sum(low <= value < low + 500 for value in numbers) > 50


def test_constants_of_the_program_are_found() -> None:
    system = thermostat(37.5)
    assert constants_in((var.next for var in system.state), FLOAT64) == (pattern(37.5, FLOAT64),)
    assert constants_in([BV(1000, 64).BVAdd(BV(2**63 - 1, 64))], FLOAT64) == ()


def test_states_are_drawn_between_their_bounds() -> None:
    system = thermostat()
    last = replace(system.state[1], low=pattern(-2.0, FLOAT64), high=pattern(3.0, FLOAT64))
    sampler = Sampler(replace(system, state=(system.state[0], last)), 0)
    numbers = [number(sampler.any_pair()[0]["fv_last"], FLOAT64) for _ in range(300)]
    assert all(-2 <= value <= 3 for value in numbers)
    assert min(numbers) < -1 < 2 < max(numbers)
    free = Sampler(system, 0)
    drawn = {free.any_pair()[0]["fv_last"] for _ in range(300)}
    assert {FLOAT64.nan, FLOAT64.infinity} < drawn
    assert all(values_in([(raw, raw)], FORMATS[64]) for raw in drawn)


def test_whole_numbers_are_drawn_as_before() -> None:
    """Results of a seed stay what they were before there were floating values."""
    symbol = INT.symbol("fv_n")
    inputs = (InputVariable("fv_n", INT, ((-5, 5), (1000, 2000))), InputVariable("fv_free", ValueType("byte", 8)))
    sampler = Sampler(TransitionSystem("whole", (StateVariable("fv_s", INT, BV(0, 32), symbol),), inputs), 7)
    drawn = [(*state.values(), *inputs.values()) for state, inputs in (sampler.any_pair() for _ in range(3))]
    assert drawn == [(4294967294, 1074, 187), (3069605324, 1, 35), (11, 1000, 31)]
