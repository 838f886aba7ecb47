"""The functions and macros of <math.h> that are read, NaNs and infinities, and conversions that are undefined."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal, sanitizing_compiler  # noqa: F401

from bmc.floats.format import FLOAT32, FLOAT64, pattern
from bmc.native.differential import Sampler
from bmc.native.original import OriginalCrashed, compiled
from bmc.system.simulation import Simulator

pytestmark = pytest.mark.needs_compiler

MATH = {
    "to whole numbers": "double f, c, t, r, n, i; void step(double a) { f = floor(a); c = ceil(a); t = trunc(a); r = round(a); n = nearbyint(a); i = rint(a); }",
    "to whole floats": "float f, c, t, r, n, i; void step(float a) { f = floorf(a); c = ceilf(a); t = truncf(a); r = roundf(a); n = nearbyintf(a); i = rintf(a); }",
    "ties": "double r, e; float s, t; void step(signed char n) { double x = n / 2.0; r = round(x); e = rint(x); s = roundf(x); t = rintf(x); }",
    "float argument of a double function": "double d; float f; void step(float a, int n) { d = floor(a) + fabs(n) + round(0.5f); f = floorf(a * 1.5) + fabsf(n); }",
    "signs": "double a1, a2; float a3, a4; void step(double x, double y, float u, float v) { a1 = fabs(x); a3 = fabsf(u); if (!isnan(y) && !isnan(v)) { a2 = copysign(x, y); a4 = copysignf(u, v); } }",
    "least and greatest": "double l, g; float m, n; void step(double x, double y, float u, float v) { l = fmin(x, y); g = fmax(x, y); m = fminf(u, v); n = fmaxf(u, v); }",
    "square root": "double d; float f; void step(double x, float u) { d = sqrt(x); f = sqrtf(u); }",
    "remainder": "float f; void step(short a, unsigned char b) { f = fmodf(a / 8.0f, b / 4.0f); }",
    "remainder of doubles": "double d; void step(short a, signed char b) { d = fmod(a * 0.1, b * 0.3); }",
    "positive difference": "double d; float f; void step(double x, double y, float u) { d = fdim(x, y); f = fdimf(u, 1.5f); }",
    "to long": "long a, b; long long c, d; void step(double x, float u) { if (x > -1e6 && x < 1e6 && u < 1e6f && u > -1e6f) { a = lround(x); b = lrintf(u); c = llroundf(u); d = llrint(x); } }",
    "kinds": "int n, i, f, m; void step(double x, float u) { n = isnan(x) + 2 * isnan(u); i = isinf(x) + 3 * isinf(u); f = isfinite(x) + 2 * isfinite(u); m = isnormal(x) + 2 * isnormal(u); }",
    "sign bit": "int s, t, u; void step(double x, float y) { if (!isnan(x) && !isnan(y)) { s = signbit(x) ? 3 : 4; t = !signbit(y); u = (signbit(-2.5) != 0) + !!signbit(-1.0f) + (0 == signbit(0.0f)) + (signbit((float)-1.0) && signbit(-2.0f * 1.0f)) + (signbit(-INFINITY) || signbit(x)); } }",
    "orders": "int r; void step(double x, double y, float u) { r = isgreater(x, y) + 2 * isless(x, u) + 4 * isgreaterequal(y, u) + 8 * islessequal(x, y) + 16 * islessgreater(x, u) + 32 * isunordered(x, u) + 64 * isless(u, 3); }",
    "numbers": 'double i, n, h; float f, g; void step(_Bool a) { i = a ? INFINITY : -INFINITY; n = a ? NAN : nan(""); h = a ? HUGE_VAL : M_PI; f = a ? nanf("1") : HUGE_VALF; g = -NAN; }',
    "static numbers": "double i = INFINITY, m = -HUGE_VAL; float n = NAN; static const double t[] = {NAN, -INFINITY, M_PI_2}; int r; double d; void step(unsigned char a) { r = isnan(n) + isinf(i) + (m < 0); d = t[a % 3]; if (a > 9) i = 1, n = 2, m = 3; }",
    "NaNs": "double d, e; float f; int r; void step(double a, float b) { d = 0.0 / 0.0 + a; e = a - a; f = -b * 0; r = (d == d) + 2 * (e != e) + 4 * (d < 1) + 8 * !(d >= 1) + 16 * !d + 32 * (d ? 1 : 0); f = (float)d + b; }",
    "builtins": "double d; int r; void step(double a) { d = __builtin_fabs(a) + __builtin_floor(a); r = __builtin_isnan(a) + 2 * __builtin_isfinite(a); if (a < 0) d = __builtin_inf(); }",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MATH)
def test_function_agrees(name: str, tmp_path: Path) -> None:
    found = agreement(read(tmp_path, "#include <math.h>\n" + MATH[name]), pairs=200)
    assert found.steps > 100
    assert not found.differences, found.differences[0]


BINARY = ("fmin", "fmax", "fmod", "fdim", "copysign")
SPECIAL = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.0, -2.5, 2.0**-149, 1e308)


def test_every_pair_of_special_numbers(tmp_path: Path) -> None:
    text = "#include <math.h>\n" + " ".join(f"double {name}_; float {name}f_;" for name in BINARY)
    body = " ".join(f"{name}_ = {name}(x, y); {name}f_ = {name}f(x, y);" for name in BINARY)
    model = read(tmp_path, f"{text} void step(double x, double y) {{ {body} }}")
    simulator = Simulator(model.system)
    state = simulator.initial()
    values = itertools.product([pattern(value, FLOAT64) for value in SPECIAL], repeat=2)
    pairs = [(state, {"x": x, "y": y}) for x, y in values]
    defined = [pair for pair in pairs if simulator.allowed(*pair)]
    undefined = len(SPECIAL) - 1 + 2
    assert len(pairs) - len(defined) == undefined, "a NaN lends its sign to a number, fmin of 0.0 and -0.0"
    with compiled(model.native) as original:
        for pair, after in zip(defined, original.steps(defined), strict=True):
            assert simulator.step(*pair) == after, pair[1]


CONVERSIONS = {
    "double to int": ("int r; void step(double a) { r = a; }", "double out of the range of int in a conversion"),
    "double to unsigned": ("unsigned r; void step(double a) { r = (unsigned)a; }", "range of unsigned int"),
    "double to long": ("long r; void step(double a) { r = a; }", "double out of the range of long"),
    "double to unsigned long": ("unsigned long r; void step(double a) { r = a; }", "range of unsigned long"),
    "float to long": ("long r; void step(float a) { r = a; }", "float out of the range of long"),
    "float to signed char": ("signed char r; void step(float a) { r = (signed char)a; }", "range of signed char"),
    "double to unsigned short": ("unsigned short r; void step(double a) { r = a; }", "range of unsigned short"),
    "compound": ("unsigned char r; void step(double a) { r = 7; r += a; }", "range of unsigned char"),
    "parameter": ("static int f(int x) { return x; } int r; void step(double a) { r = f(a); }", "range of int"),
    "result": ("static short f(double x) { return x; } int r; void step(double a) { r = f(a); }", "range of short"),
    "named type": (
        "typedef float real32_T; typedef int int32_T; int32_T r; void step(real32_T a) { r = (int32_T)a; }",
        "real32_T out of the range of int32_T",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONVERSIONS)
def test_exactly_the_conversions_out_of_range_trap(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = sanitizing_compiler()
    if command is None:
        pytest.skip("needs a C compiler that traps")
    monkeypatch.setenv("CC", f"{command} -fsanitize=float-cast-overflow")
    text, kind = CONVERSIONS[name]
    model = read(tmp_path, text)
    assert [kind in undefined.name for undefined in model.system.undefined_behaviour] == [True]
    simulator = Simulator(model.system)
    (given,) = model.system.inputs
    form = FLOAT64 if given.type.bits == 64 else FLOAT32
    edges = [sign * edge + shift for edge in (0, 128, 256, 32768, 65536) for sign in (-1, 1) for shift in (-1, -0.5, 0)]
    edges += [sign * 2.0**power for power in (31, 32, 63, 64) for sign in (-1, 1)]
    raws = [pattern(number, form) for number in (*edges, float("inf"))]
    raws = [form.nan, *dict.fromkeys(near for raw in raws for near in (raw, raw + 1, max(raw - 1, 0)))]
    state = simulator.initial()
    pairs = [(state, {given.name: raw}) for raw in raws if raw <= form.infinity or form.sign <= raw]
    defined = [pair for pair in pairs if simulator.allowed(*pair)]
    outside = [pair for pair in pairs if not simulator.allowed(*pair)]
    with compiled(model.native) as original:
        for pair, after in zip(defined, original.steps(defined), strict=True):
            assert simulator.step(*pair) == after
        for pair in random.Random(0).sample(outside, 3):
            with pytest.raises(OriginalCrashed):
                original.steps([pair])


def test_the_sign_of_a_nan_is_not_observed(tmp_path: Path) -> None:
    text = "#include <math.h>\nint r; double d; void step(double a, double b) {\n r = !signbit(a);\n d = copysign(2.0, b); }"
    model = read(tmp_path, text)
    found = [(s.name, s.where.line, s.where.column) for s in model.system.undefined_behaviour if s.where is not None]
    assert found == [("the sign of a NaN is observed", 3, 7), ("the sign of a NaN is observed", 4, 6)]
    sampler = Sampler(model.system, 0)
    state, inputs = sampler.any_pair()
    assert not sampler.simulator.allowed(state, {**inputs, "a": FLOAT64.nan})
    assert not sampler.simulator.allowed(state, {**inputs, "b": FLOAT64.nan})


def test_own_definition_of_a_library_function_is_used(tmp_path: Path) -> None:
    """By the model, and by the compiled original even where the argument is a constant."""
    text = (
        "#include <math.h>\nstatic const double t[] = {0, 0.7, 1, 0.7, 0};\n"
        "double sin(double x) { int n = (int)floor(x); return t[n] + (x - n) * (t[n + 1] - t[n]); }\n"
        "double r, k; void step(double a) { if (a >= 0 && a < 4) r = sin(a); k = sin(0.5); }"
    )
    model = read(tmp_path, text)
    found = agreement(model, pairs=200)
    assert not found.differences, found.differences[0]
    simulator = Simulator(model.system)
    assert simulator.step(simulator.initial(), {"a": 0})["k"] == pattern(0.35, FLOAT64)


def test_a_function_whose_results_are_not_read_is_refused(tmp_path: Path) -> None:
    for name in ("fma", "frexp", "ldexpf", "remainder"):
        error = refusal(tmp_path, f"#include <math.h>\ndouble r; void step(double a) {{\n r = {name}(a, 2); }}")
        assert f"'{name}' of <math.h>" in error.message
        assert f"define '{name}' in a source file" in error.hint
        assert error.where is not None
        assert (error.where.line, error.where.column) == (3, 6)
