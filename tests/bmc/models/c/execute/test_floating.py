"""One small program for each floating-point feature of the supported C: the model equals the compiled original."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, traps  # noqa: F401

pytestmark = pytest.mark.needs_compiler

FEATURES = {
    "stored and copied": "double d; float f; void step(double a, float b) { d = a; f = b; }",
    "arithmetic of doubles": "double s, t, p, q; void step(double a, double b) { s = a + b; t = a - b; p = a * b; q = a / b; }",
    "arithmetic of floats": "float s, t, p, q; void step(float a, float b) { s = a + b; t = a - b; p = a * b; q = a / b; }",
    "float arithmetic has no excess precision": "float r; double d; void step(float a, float b, float c) { r = a * b + c; d = a * b; d += a * (double)b; }",
    "comparisons": "int r; void step(double a, double b, float c, float d) { r = (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) "
    "+ 16 * (a == b) + 32 * (a != b) + 64 * (c < d) + 128 * (c >= d) + 256 * (c == a) + 512 * (a != a); }",
    "comparisons with constants": "int r; void step(double a, float b) { r = (a < 0.0) + 2 * (a <= -0.0) + 4 * (0.1 > a) + 8 * (a >= 1e300) "
    "+ 16 * (b == 0.1f) + 32 * (b == 0.1) + 64 * (b < 100) + 128 * (a == 2.0) + 256 * (b > -1.5f); }",
    "truth": "int r; void step(double a, float b, int c) { r = !a + 2 * !!b; if (a) r += 4; if (a && b) r += 8; if (a || c) r += 16; "
    "r += b ? 32 : 0; while (b) { r += 64; break; } r += c && !a ? 128 : 0; }",
    "integers to floats": "float f, g, h, k; double d, e; void step(int a, long b, unsigned long c, unsigned char e8, _Bool q) "
    "{ f = a; g = b; h = c; d = b; e = c; k = e8 + q; d += e8; }",
    "long to float is rounded once": "float f; void step(long a) { f = a | 0x4000000000000001; }",
    "floats to integers": "int i; unsigned u; long l; signed char c; short s; void step(double a, float b) "
    "{ if (a > -100.0 && a < 100.0) { i = a; c = a; s = (short)a; l = (long)a; } if (b >= 0 && b < 4e9f) u = b; }",
    "floats to unsigned long": "unsigned long u; void step(double a) { if (a > -1.0 && a < 18446744073709551616.0) u = a; }",
    "floats to _Bool": "_Bool p, q; void step(double a, float b) { p = a; q = (_Bool)(b * 0.5f); }",
    "floats to an enumeration": "enum E { OFF, ON = 3 }; enum E e; void step(double a) { if (a >= 0 && a < 9) e = (enum E)a; }",
    "between the two widths": "float f; double d; void step(double a, float b) { f = a; d = b; d += (float)(a * 2); }",
    "narrowing overflows to infinity": "float f; void step(double a) { f = a * 1e300; }",
    "mixed operands": "double d; float f; void step(int a, float b, long c) { d = a / b + c; f = a * b; f -= c; d = d * 0 + (a + 0.5) / 2; }",
    "conditional of mixed types": "double d; float f; void step(int a, float b, _Bool c) { d = c ? a : b; f = c ? 1 : 0.25f; d += c ? b : 2.5; }",
    "unary": "double d, e; float f; void step(double a, float b) { d = -a; e = +a; f = -b + -0.0f; }",
    "zero has two signs": "double d; int r; void step(double a) { d = a * 0.0; r = (1.0 / d > 0) + 2 * (d == 0) + 4 * (-0.0 == 0.0) + 8 * (1 / -0.0 < 0); }",
    "division by zero": "double d; float f; void step(double a, int b) { d = a / 0.0; f = 1.0f / b; }",
    "increments": "double d; float f, g; void step(double a, unsigned char n) { d = a; d++; ++d; f = n; g = f--; g += --f; }",
    "compound assignment": "int i; float f; double d; unsigned char c; void step(unsigned char a, float b) "
    "{ i = a; i += 0.5; i *= 1.5; f = b; f += 0.1; f *= a; d -= f; d /= 3; c = a / 4; c += 2.75; c -= 0.5f; }",
    "assignment yields the stored value": "double d; float f; void step(double a) { d = f = a; d -= a; }",
    "literals": "double d; float f; void step(_Bool a) { d = a ? 1.e3 : .5e-3; d += 0x1.8p3 + 0xAp-2 + 1E2; f = 0.1f; f += 16777217.0f; "
    "d *= 1e-310 + 123456789012345678901234567890.0; f += 0x.8p1F; }",
    "literals are rounded once": "float f, g; double d; void step(_Bool a) { f = 1.00000017881393432617187499f; g = 1.000000298023223876953125000001f; "
    "d = 9007199254740993.0; if (a) f = 7.038531e-26f; }",
    "large and tiny literals": "double d, e; float f, g; void step(_Bool a) { d = 1e400; e = 1e-400; f = 1e39f; g = 1e-46f; if (a) d = 4.9e-324; }",
    "structs": "struct P { float x; double y[2]; int n; } g, h; static struct P f(struct P p) { p.x += p.y[1]; return p; } "
    "void step(float a, double b, _Bool c) { g.x = a; g.y[c] = b; h = g; g = f(h); }",
    "arrays with a variable index": "double t[5]; float r; void step(unsigned char a, double b) { t[a % 5] = b; r = t[(a + 1) % 5]; }",
    "const tables": "static const double t[] = {0.5, -1, 1e3, [4] = .1}; static const float u[2][2] = {{1, 2.5f}, {0.1, -3}}; double d; "
    "void step(unsigned char a) { d = t[a % 5] + u[a & 1][a >> 1 & 1]; }",
    "static initialisers": "double d = 1.5 * 2, e = 1; float f = 0.1, z; const double k = 1.0 / 3; static float t[3] = {1, -2.5}; double *const p = &d; "
    "int i = (int)2.9, n = 3 > 2.5; void step(_Bool a) { if (a) *p += k + t[1]; e = f + i + n; z = t[2]; }",
    "automatic initialisers": "double d; void step(double a, int n) { float f[3] = {a, n}; struct { double x; float y; } s = {.y = n, .x = a}; double u[2] = {0}; "
    "d = f[0] + f[1] + f[2] + s.x + s.y + u[1]; }",
    "compound literals": "double d; void step(double a) { d = (double[]){1.5, a}[1] + (struct { float x; }){a}.x; }",
    "memset and memcpy": "#include <string.h>\nstruct P { double x; float t[3]; } g, h; double a[2], b[2]; void step(double v, _Bool c) "
    "{ g.x = v; g.t[1] = v; memcpy(&h, &g, sizeof h); memcpy(a, b, sizeof a); b[c] = v; if (c) { memset(&g, 0, sizeof g); memset(b, 0, sizeof b); } }",
    "pointers": "double d, e; float f; static void set(double *p, double v) { *p = v; } static float twice(const float *p) { return *p * 2; } "
    "void step(double a, float b, _Bool c) { double *p = c ? &d : &e; *p += a; set(&e, *p); f = twice(&b); }",
    "parameters and results": "double d; float f; static float half(float x) { return x / 2; } static int whole(double x) { return x > 1000 || x < -1000 || x != x ? 0 : x; } "
    "static double wide(int n, float y) { return n + y; } void step(double a, float b) { f = half(a); d = wide(whole(a), half(b)); }",
    "result of the step": "float step(float a, double b) { return a + b; }",
    "pointer parameters of the step": "void step(const double *u, float *y, const float x[2]) { *y = *u + x[1]; }",
    "volatile, const and typedefs": "typedef double real_T; typedef real_T signal; typedef float real32_T; volatile real_T v; const volatile signal k = 2.5; real32_T r; "
    "void step(const real_T a, register real32_T b) { v = a + k; r = (real32_T)v + b; }",
    "constant loops": "double d; void step(double a) { d = 0; for (int i = 0; i < (int)2.0; i++) d += a; for (double x = 0; x < 0.5; x += 0.1) d += x; "
    "for (float y = 3; y; y--) d++; int t[(int)3.5] = {0}; d += sizeof t; }",
    "uninitialised on some paths": "double d; void step(double a, _Bool c) { double x; if (c) x = a; if (a > 3 || !c) d = x; }",
    "static locals": "double r; static double sum(double x) { static double s = 0.5; static float n; n += 1; s += x; return s / n; } void step(double a) { r = sum(a); }",
    "switch on a converted float": "int r; void step(double m) { if (m >= 0 && m < 100) switch ((int)m) { case 1: r = 5; break; case 2: r = 7; break; default: r = 0; } }",
    "sizes": "#include <stddef.h>\nstruct S { char c; double d; float f; char e; } s; int r; void step(double a) { r = sizeof s + offsetof(struct S, f) + sizeof(float) "
    "+ sizeof(a + 1) + sizeof(1.0f * 1) + _Alignof(double); s.d = a; }",
    "comma and short circuit effects": "double d; int r; void step(double a, double b) { r = a > 1 && (d = b) > 2 || (d += 1, d < 0); }",
    "float.h": "#include <float.h>\ndouble d; float f; int r; void step(_Bool a) { d = a ? DBL_MAX : DBL_MIN; d *= DBL_EPSILON; f = a ? FLT_MAX : FLT_MIN; f *= FLT_EPSILON; "
    "d += DBL_TRUE_MIN; f -= FLT_TRUE_MIN; r = DBL_DIG + FLT_DIG * 100 + FLT_RADIX + DBL_MANT_DIG + FLT_MAX_EXP + DBL_MIN_10_EXP + FLT_EVAL_METHOD; }",
    "nothing is contracted": "#pragma STDC FP_CONTRACT ON\ndouble d; void step(double a, double b, double c) { d = a * b + c; }",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FEATURES)
def test_feature_agrees(name: str, tmp_path: Path) -> None:
    found = agreement(read(tmp_path, FEATURES[name]), pairs=100)
    assert found.steps > 20
    assert not found.differences, found.differences[0]
    assert not found.traps
