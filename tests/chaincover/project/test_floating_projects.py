"""Floating inputs and state in a project: ranges, constraints, properties (text and C functions), coverage goals."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import fresh_environment, own_environment, read  # noqa: F401
from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location
from bmc.floats.format import FLOAT32, FLOAT64, Format, pattern
from bmc.formulas.evaluate import compile_formulas
from bmc.models.c.controller.model import CModel
from bmc.system.transition import symbols_of
from chaincover.project.c_maker import read_condition_function, read_property_function
from chaincover.project.project_file import read_project
from properties.coverage import CoverageCriterion, generate_goals
from properties.text import PropertyText, read_condition, read_property

INF, NAN = float("inf"), float("nan")
SPEED = "double y; float z; void step(double u, float v) { y = u; z = v; }"
PLACE = Location("chaincover.toml", 7)


def raw(value: float, form: Format = FLOAT64) -> int:
    return pattern(value, form)


RANGES: dict[str, tuple[str | tuple[str, ...], list[float], list[float]]] = {
    "interval": ("0.0..100.0", [0.0, -0.0, 5e-324, 0.1, 100.0], [-5e-324, 100.00000000000001, INF, NAN, -1.0]),
    "across zero": ("-1.5..inf", [-1.5, -0.0, 0.0, 1e308, INF], [-1.5000000000000002, -INF, NAN]),
    "below zero": ("-2.0..-0.5", [-2.0, -0.5, -1.0], [-0.0, 0.0, -0.4, 1.0, -3.0, NAN]),
    "of whole numbers": ("0..9", [0.0, 0.5, 9.0], [9.5, -1.0]),
    "all numbers": ("-inf..inf", [INF, -INF, 0.0, -0.0, 1.0], [NAN]),
    "list": (("0.0", "1.5"), [0.0, 1.5], [-0.0, 1.0, 0.75, NAN]),
    "list with more": (("0.0..1.0", "nan", "7"), [0.5, NAN, 7.0, -0.0], [1.5, INF]),
    "one number": ("2.5", [2.5], [2.0, 0.0]),
    "names": (("LOW", "HIGH"), [0.1, 20.0], [0.0, 10.0]),
    "expressions": ("-HIGH..2*HIGH", [-20.0, 40.0, 0.0], [-20.5, 41.0]),
}


@pytest.mark.parametrize("name", RANGES)
def test_range_of_an_input(name: str, tmp_path: Path) -> None:
    text, inside, outside = RANGES[name]
    model = read(tmp_path, "#define LOW 0.1\nenum { HIGH = 20 };\n" + SPEED, ranges={"u": text})
    holds = compile_formulas([model.system.input_constraint])
    for values, expected in ((inside, True), (outside, False)):
        for value in values:
            assert holds({"u": raw(value), "v": 0})[0] == expected, value
    listed = model.system.inputs[0].values
    assert list(listed) == sorted(listed)
    assert all(any(low <= raw(value) <= high for low, high in listed) for value in inside)


def test_a_range_is_rounded_once_to_the_type_of_the_variable(tmp_path: Path) -> None:
    halfway = "1.000000298023223876953125000001"
    model = read(tmp_path, SPEED, ranges={"v": ("0.1", halfway)})
    assert model.system.inputs[1].values == tuple((r, r) for r in (raw(0.1, FLOAT32), 0x3F800003))


def test_without_a_range_an_input_has_every_value_but_one_nan(tmp_path: Path) -> None:
    model = read(tmp_path, SPEED)
    holds = compile_formulas([model.system.input_constraint])
    for value in (0.0, -0.0, INF, -INF, NAN, 1e-320):
        assert holds({"u": raw(value), "v": raw(value, FLOAT32)})[0]
    assert not holds({"u": FLOAT64.nan + 1, "v": 0})[0]
    assert not holds({"u": 0, "v": FLOAT32.nan | FLOAT32.sign})[0]


REFUSED_RANGES = {
    "empty": ("2.0..1.0", "the range of 'v' is empty"),
    "nan as a bound": ("nan..1.0", "the range of 'v' is empty"),
    "too large": ("0.0..1e39", "1e39 does not fit 'v' (float)"),
    "too large expression": ("0.0..1e30*1e30", "does not fit 'v' (float)"),
    "no number": ("0.0..width", "unknown name 'width'"),
    "not constant": ("0.0..u", "'u' is no constant number"),
}


@pytest.mark.parametrize("name", REFUSED_RANGES)
def test_refused_range(name: str, tmp_path: Path) -> None:
    text, message = REFUSED_RANGES[name]
    with pytest.raises(InputRefused) as caught:
        read(tmp_path, SPEED, ranges={"v": text}, where=PLACE)
    assert message in caught.value.message
    assert caught.value.where == PLACE


def test_a_project_file_has_floating_values(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("void compute(double u, float v) { (void)u; (void)v; }")
    file = tmp_path / "chaincover.toml"
    file.write_text('[sources]\nfiles = ["c.c"]\n[ranges]\nu = [0.0, 1.5, 1e-7, -2, nan]\nv = "0.0..1.0"\n')
    assert read_project(str(file)).config.ranges == {"u": ("0.0", "1.5", "1e-07", "-2", "nan"), "v": "0.0..1.0"}


def test_exclusive_inputs_may_be_floating(tmp_path: Path) -> None:
    model = read(tmp_path, SPEED, exactly_one=(("u", "v"),))
    holds = compile_formulas([model.system.input_constraint])
    assert holds({"u": raw(-0.0), "v": raw(0.1, FLOAT32)})[0]
    assert holds({"u": raw(NAN), "v": 0})[0]
    assert not holds({"u": raw(-0.0), "v": 0})[0]
    assert not holds({"u": raw(1.0), "v": raw(1.0, FLOAT32)})[0]


def truth(formula: FNode, **values: int) -> bool:
    """A formula's truth for values of variables, of all steps alike; other variables are 0."""
    steps = [symbol.symbol_name().partition("@")[0] for symbol in symbols_of(formula)]
    known = {symbol.symbol_name(): values.get(name, 0) for symbol, name in zip(symbols_of(formula), steps, strict=True)}
    return bool(compile_formulas([formula])(known)[0])


MODES = """
#define CRUISE 2.0
typedef double real_T; typedef float real32_T;
struct { real_T mode; real32_T speed; } DW; struct { real32_T pedal; } U; real_T level;
#include <assert.h>
void __CPROVER_assume(int c);
void step(void) {
  if (DW.mode == 1.0 && U.pedal > 0.5F) { DW.mode = CRUISE; DW.speed = U.pedal * 100.0F; }
  else if (DW.mode == CRUISE && (U.pedal <= 0.0F || DW.speed < 10.0F)) { DW.mode = 1.0; DW.speed = 0; }
  else if (DW.mode == 0.0) { DW.mode = 1.0; }
  level += U.pedal;
}
void p_1(void) { __CPROVER_assume(DW.mode == CRUISE && U.pedal < -0.5F); step(); assert(DW.mode < 1.5); }
int p_fast(void) { return DW.speed >= 12.5; }
"""


@pytest.fixture
def modes(tmp_path: Path) -> CModel:
    return read(tmp_path, MODES, input=("U.pedal",))


def test_properties_as_text(modes: CModel) -> None:
    goal = read_property(modes, PropertyText("p: G(speed >= 12.5 && mode == 2.0 -> X(mode >= CRUISE))", PLACE), "p1")
    speed = {name: raw(number, FLOAT32) for name, number in (("below", 12.49), ("at", 12.5), ("nan", NAN))}
    for word, mode, expected in (("below", 2.0, False), ("at", 2.0, True), ("at", 2.5, False), ("nan", 2.0, False)):
        assert truth(goal.antecedent, **{"DW.speed": speed[word], "DW.mode": raw(mode)}) == expected
    assert goal.consequent is not None
    assert truth(goal.consequent, **{"DW.mode": raw(7.0)})
    assert not truth(goal.consequent, **{"DW.mode": raw(1.9)})


def test_a_condition_on_a_floating_variable(modes: CModel) -> None:
    for text, value, expected in (
        ("speed", 0.1, True),
        ("speed", -0.0, False),
        ("!speed", NAN, False),
        ("(int)speed == 3", 3.9, True),
        ("(int)speed == 3", 1e20, False),
        ("speed * 2 > 1e3 || speed != speed", NAN, True),
    ):
        assert truth(read_condition(modes, text, PLACE), **{"DW.speed": raw(value, FLOAT32)}) == expected, (text, value)


def test_properties_as_functions(modes: CModel) -> None:
    goal = read_property_function(modes, "p_1")
    assert truth(goal.antecedent, **{"DW.mode": raw(2.0), "U.pedal": raw(-1.0, FLOAT32)})
    assert not truth(goal.antecedent, **{"DW.mode": raw(2.0), "U.pedal": raw(0.0, FLOAT32)})
    fast = read_condition_function(modes, "p_fast").formula
    assert truth(fast, **{"DW.speed": raw(20.0, FLOAT32)})
    assert not truth(fast, **{"DW.speed": raw(NAN, FLOAT32)})


def test_a_property_with_scalar_floating_parameters(tmp_path: Path) -> None:
    text = (
        "#include <assert.h>\nvoid __CPROVER_assume(int c); double y; void step(double u, float v) { y = u + v; }\n"
        "void p_1(double u, float v) { __CPROVER_assume(u > 1.5 && v == 2); step(u, v); assert(y > 3.5); }"
    )
    goal = read_property_function(read(tmp_path, text), "p_1")
    assert truth(goal.antecedent, u=raw(2.0), v=raw(2.0, FLOAT32))
    assert not truth(goal.antecedent, u=raw(1.5), v=raw(2.0, FLOAT32))


def goals(model: CModel, text: str) -> dict[str, FNode]:
    return {g.name: g.antecedent for g in generate_goals(model, [CoverageCriterion(text, PLACE)])}


def test_goals_of_code_through_floating_comparisons(modes: CModel) -> None:
    assert len(goals(modes, "branches()")) == 6
    assert len(goals(modes, "mcdc()")) == len(goals(modes, "conditions()")) == 12
    taken = goals(modes, "branches()")["branch:8:3=true"]
    assert truth(taken, **{"DW.mode": raw(1.0), "U.pedal": raw(0.75, FLOAT32)})
    assert not truth(taken, **{"DW.mode": raw(1.0), "U.pedal": raw(0.5, FLOAT32)})


def test_states_of_a_floating_mode(tmp_path: Path) -> None:
    model = read(tmp_path, MODES, input=("U.pedal",), ranges={"DW.mode": ("0.0", "1", "CRUISE", "nan")})
    found = goals(model, "states(mode)")
    assert list(found) == ["states(mode)=0.0", "states(mode)=1.0", "states(mode)=CRUISE", "states(mode)=nan"]
    assert truth(found["states(mode)=0.0"], **{"DW.mode": raw(-0.0)})
    assert truth(found["states(mode)=CRUISE"], **{"DW.mode": raw(2.0)})
    assert truth(found["states(mode)=nan"], **{"DW.mode": FLOAT64.nan})
    assert not truth(found["states(mode)=1.0"], **{"DW.mode": raw(2.0)})
    assert list(goals(model, "states(mode, {0.0, -0.0, 2})")) == ["states(mode)=0.0", "states(mode)=2.0"]
    assert len(goals(model, "transitions(mode, {0, 1, 2.5})")) == 6


def test_the_values_of_a_floating_mode_are_found_out_and_no_range_of_them_is_read(modes: CModel) -> None:
    assert {"states(mode)=0.0", "states(mode)=2.0"} <= {*goals(modes, "states(mode)")}
    with pytest.raises(InputRefused) as caught:
        goals(modes, "states(mode, 0.0..5.0)")
    assert "states(DW.mode, {0.0, 1.0, 2.5})" in str(caught.value)
    assert caught.value.where == PLACE
