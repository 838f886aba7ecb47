"""What gcc adds to C, _Generic, strings and calls without prototypes: the model equals the compiled original."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read, traps  # noqa: F401

from benchmarks.checks.fuzz.agreement import Agreement
from bmc.formulas.evaluate import compile_formulas
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from bmc.native.differential import Sampler

MAX = "#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })\n"
STRINGS = "#include <string.h>\n"

KERNEL = r"""
#include <stddef.h>
#include <stdint.h>
#define min(x, y) ({ typeof(x) _min1 = (x); typeof(y) _min2 = (y); (void) (&_min1 == &_min2); _min1 < _min2 ? _min1 : _min2; })
#define max_t(type, x, y) ({ type __max1 = (x); type __max2 = (y); __max1 > __max2 ? __max1 : __max2; })
#define clamp(val, lo, hi) min((typeof(val))max_t(typeof(val), val, lo), hi)
#define swap(a, b) do { typeof(a) __tmp = (a); (a) = (b); (b) = __tmp; } while (0)
#define __same_type(a, b) __builtin_types_compatible_p(typeof(a), typeof(b))
#define likely(x) __builtin_expect(!!(x), 1)
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, val) do { *(volatile typeof(x) *)&(x) = (val); } while (0)
#define __bf_shf(x) (__builtin_ffsll(x) - 1)
#define FIELD_GET(mask, reg) ({ (typeof(mask))(((reg) & (mask)) >> __bf_shf(mask)); })
#define FIELD_PREP(mask, val) ({ ((typeof(mask))(val) << __bf_shf(mask)) & (mask); })
#define round_up(x, y) ((((x)-1) | ((__typeof__(x))((y)-1)))+1)
#define abs_(x) __abs_choose_expr(x, long long, __abs_choose_expr(x, long, __abs_choose_expr(x, int, __abs_choose_expr(x, short, __builtin_choose_expr(__builtin_types_compatible_p(typeof(x), char), (char)({ signed char __x = (x); __x<0?-__x:__x; }), ((void)0))))))
#define __abs_choose_expr(x, type, other) __builtin_choose_expr(__builtin_types_compatible_p(typeof(x), signed type) || __builtin_types_compatible_p(typeof(x), unsigned type), ({ signed type __x = (x); __x < 0 ? -__x : __x; }), other)
static float rf(float x) { return x * 2; } static double rd(double x) { return x + 1; } static int ri(int x) { return x ^ 3; }
#define R(x) _Generic((x), float: rf, double: rd, default: ri)(x)
#define ABS_GEN(x) _Generic((x), long: labs, default: abs)(x)
int abs(int); long labs(long);
struct T { int a; struct { short b[3]; } c; } t;
#define member_size(T, m) sizeof(((T *)0)->m)
#define member(T, m) typeof(((T *)0)->m)
int r; uint32_t reg; int p, q; double d;
void step(int a, short b, unsigned char c, float x, long l) {
  r = min(a, 5) + clamp(b, -3, 9) + max_t(long, c, b);
  p = a; q = b; swap(p, q); reg = FIELD_PREP(0xF0u, c) | FIELD_GET(0x3Cu, reg + c); if (likely(a > 3)) r++;
  WRITE_ONCE(t.a, b); r += READ_ONCE(t.a) + round_up(c, 8) + __same_type(a, r) + member_size(struct T, c.b[1]);
  member(struct T, c.b) z = {1, c, 3}; t.c.b[0] = z[1]; d = R(x) + R(2.0 * x) + R(a & 7); if (b > -9) r += abs_(b); r += ABS_GEN(b) & 3; r += ABS_GEN(l % 1000);
  r &= 0xffff;
}
"""
"""Macros as the Linux kernel has them."""

FEATURES = {
    "selection of pointers to const": "#define KIND(x) _Generic((x), const short *: 1, short *: 2, default: 3)\n"
    "static const short table[2] = {4, 5}; struct st { const short *p; short own[3]; } s; const struct st *v = &s; int r; "
    "void step(unsigned char a) { r = KIND(&table[0]) + 4 * KIND(table) + 16 * KIND(s.p) + 64 * KIND(s.own) "
    "+ 256 * KIND(&s.own[a & 1]) + 16384 * KIND(v->own) + 65536 * KIND((short *)s.p); }",
    "macros of a kernel": KERNEL,
    "_Generic selects a function": "static float f(float x) { return x * 2; } static double g(double x) { return x + 1; } "
    "static int h(int x) { return x ^ 3; }\n#define R(x) _Generic((x), float: f, double: g, default: h)(x)\n"
    "double d; int r; void step(float a, unsigned char b) { d = R(a) + R(2.0 * a); r = R(b) + __builtin_choose_expr(1, h, g)(b); R(b); }",
    "statement expressions, one in the other": f"{MAX}int r; unsigned char q; void step(int a, short b) "
    "{ r = MAX(a & 7, MAX(b, 3)) + MAX(MAX(q, b & 15), 2); q = r; }",
    "loops and branches in a statement expression": "int r; void step(unsigned char a) { r = 1 + ({ int s = 0; "
    "for (int i = 0; i < 5; i++) { if (i == (a & 3)) continue; if (i > a) break; s += i; } if (a & 64) s = -s; s; }) * 2; }",
    "a switch and jumps in a statement expression": "int r; void step(unsigned char a) { r = ({ int s = 3; switch (a & 3) "
    "{ case 1: s = 4; break; case 2: s++; default: s *= 2; } if (a > 99) goto out; s += 100; out: s++; s; }); }",
    "a statement expression as condition": "int q, r; void step(unsigned char a, unsigned char b) { r = 0; "
    "while (({ int t = a + r; t < 9 && r < 4; })) r++; if (b && ({ r += b; r > 20; })) r = 1; q = b ? ({ r ^= 5; r; }) : 7; }",
    "statement expressions of structs, pointers and arrays": "struct P { int x; short y[2]; } p; int t[4]; int r; "
    "void step(int a) { p = ({ struct P n = {a, {1, a}}; n; }); r = ({ p; }).y[1] + *({ t; }) + ({ &t[a & 3]; })[0]; "
    "*({ &t[a & 1]; }) = 3; ({ r ^= 1; }); ({ if (a > 5) r = 2; }); }",
    "a statement that may return is a block": "int r; int f(int a) { ({ if (a > 3) return 7; }); return a; } "
    "void step(int a) { r = f(a); }",
    "a statement expression where no run comes": "int r; void step(unsigned char a) { if (a > 3) { if (a > 3) r = 1; else "
    "r = ({ int y = 5; if (y) goto g; y = 3; g: y ^= a; y; }); } }",
    "typeof in every place": "struct P { int x; char y; } p; int t[3]; const int k = 3; int r; typedef typeof(p.y) letter; "
    "typeof(t) u; static typeof(k) *q = &k; int f(typeof(k) a, __typeof__(t[0]) b) { return a * 2 - b; } "
    "typeof(int *) g(void) { return &t[1]; } void step(short a, unsigned char b) { typeof(a) c = a + b; letter l = c; "
    "const __typeof(l + 1) m = (typeof(b))(a + 300); typeof(u) v = {1, 2, m}; struct { typeof(int[2]) w; } s = {{a & 7, b}}; "
    "r = sizeof(typeof(a + 1L)) + sizeof(typeof(v)) + l + m + v[2] + s.w[0] + (c & 3) + *q + f(b, 2) + *g(); u[1] = r; }",
    "typeof evaluates nothing": "int r, n; int f(void) { n++; while (n) ; return 1; } void step(int a) { typeof(f()) x = a; "
    "typeof(n++) y = 2; typeof(({ long z = f(); z; })) w = y; r = x ^ y ^ sizeof w; }",
    "__auto_type": "int t[3]; double d; int r; void step(unsigned char a, double x) { __auto_type b = a; __auto_type p = &t[a & 1]; "
    "const __auto_type c = a + 1; __auto_type y = x; *p = c; b += 200; r = b + sizeof c + sizeof b; d = y; __auto_type q = t; r += q[1] & 3; }",
    "a condition with its middle left out": "int r, n; static int f(int v) { n++; return v; } void step(unsigned char a, signed char b) "
    "{ r = f(a) ?: b; r += (a & 3 ?: b) + (a > 3 && b ?: 7) + (long)(0 ?: b) + (5 ?: f(b)); int *p = a ? &r : 0; r ^= *(p ?: &n); n &= 255; }",
    "_Generic": "#define KIND(x) _Generic((x), char: 1, signed char: 2, unsigned char: 3, int: 4, unsigned: 5, long: 6, float: 7, "
    "double: 8, char *: 9, const char *: 10, struct P *: 11, default: 12)\n"
    'struct P { int a; } p; char c, t[3]; const char *const s = "a"; enum E { A, B } e; int r; void step(signed char a, unsigned char b, long d, float f) '
    "{ r = KIND(c); r = r * 13 + KIND(a); r = r * 13 + KIND(b); r = r * 13 + KIND(a + b); r = r * 13 + KIND(d * 2u); r &= 0xffff; "
    "r = r * 13 + KIND(f); r = r * 13 + KIND(t); r &= 0xffff; r = r * 13 + KIND(s); r = r * 13 + KIND(&p); r = r * 13 + KIND(e); r = r * 13 + KIND(A); r &= 0xffff; "
    'r += _Generic(a, default: 3, signed char: ({ int x = a; x; })) + KIND("x") + KIND(f * 2.0) + KIND((short)a); }',
    "_Static_assert": '_Static_assert(sizeof(int) == 4, "int"); _Static_assert(1); struct S { int a; _Static_assert(sizeof(long) >= 4, ""); '
    'int b; } s; int r; void step(int a) { _Static_assert(_Generic(a, int: 1, default: 0), ""); s.b = a; for (;;) { _Static_assert(1, ""); break; } r = s.b; }',
    "counting bits": "int r, s; void step(unsigned a, long b) { r = __builtin_popcount(a) + __builtin_parity(a) * 64 + __builtin_ffs(a) * 128; "
    "s = __builtin_popcountl(b) + __builtin_parityll(b) * 128 + __builtin_ffsl(b) * 256 + __builtin_clrsb(a) * 65536 + __builtin_clrsbl(b) * 0x400000; "
    "if (a) r += __builtin_clz(a) * 8192 + __builtin_ctz(a) * 262144; if (b) s ^= __builtin_clzl(b) + __builtin_ctzll(b) * 64; }",
    "swapping bytes": "unsigned long r; int s; void step(unsigned long a, int b) { r = __builtin_bswap64(a) ^ __builtin_bswap32(b); "
    "s = __builtin_bswap16(b) + sizeof __builtin_bswap16(1); }",
    "overflow": "int r; signed char c; unsigned short u; long l; void step(int a, unsigned b, long d, signed char e) "
    "{ r = __builtin_add_overflow(a, d, &c) + 2 * __builtin_mul_overflow(a, b, &l) + 4 * __builtin_sub_overflow(e, b, &u); "
    "int i = 0; unsigned v; r += 8 * __builtin_sadd_overflow(a, d, &i) + 16 * __builtin_usub_overflow(b, a, &v); long long m; r += 32 * __builtin_smulll_overflow(d, e, &m); "
    "r += 64 * __builtin_mul_overflow_p(a, e, (short)0) + 128 * __builtin_add_overflow_p(d, d, a); r ^= i ^ v ^ m; }",
    "selection by types and constants": "int r; void step(short a) { r = __builtin_types_compatible_p(int, signed) + 2 * __builtin_types_compatible_p(char, signed char) "
    "+ 4 * __builtin_types_compatible_p(typeof(a), const short) + 8 * __builtin_types_compatible_p(int *, const int *) + 16 * __builtin_types_compatible_p(int[], int[3]) "
    "+ 32 * __builtin_types_compatible_p(long, long long) + 64 * sizeof __builtin_choose_expr(1, a, a + 1) + 512 * __builtin_choose_expr(sizeof a == 3, a / 0, a & 3) "
    "+ 2048 * __builtin_constant_p(3 + sizeof a) + 4096 * __builtin_constant_p(*&a); }",
    "built-in copies of the library": "#include <string.h>\nstruct P { int a; short b[3]; } g, h; int r; void step(short v) { g.b[1] = v; "
    "__builtin_memcpy(&h, &g, sizeof g); r = h.b[1]; __builtin_memset(&g, 0, sizeof g); if (v > -9) r += __builtin_abs(v); __builtin_prefetch(&g); "
    'struct P *p = __builtin_assume_aligned(&h, 4); r ^= p->b[1]; r += __builtin_strlen("abc") + __builtin_expect_with_probability(v & 1, 1, 0.9); }',
    "abs and div": "#include <stdlib.h>\nint r; long long s; void step(int a, int b, long c, long long d) { r = abs(a); s = labs(c) ^ llabs(d); "
    "div_t q = div(a, b); r ^= q.quot ^ q.rem; s ^= ldiv(c, 7).rem ^ lldiv(d, c).quot; }",
    "designated ranges": "int t[9] = {[2 ... 5] = 7, 3, [0 ... 1] = 1, [4] = 9}; struct P { int x; int y[3]; } p[] = {[1 ... 2].y[0 ... 1] = 4, [3] = {5}}; int r; "
    "void step(unsigned char a) { unsigned char u[6] = {[1 ... 3] = a, 2}; char m[2][2] = {[0 ... 1] = {[0 ... 1] = 3}}; r = t[a % 9] + u[a % 6] + m[1][a & 1] + p[a & 3].y[1] + sizeof p + p[3].x; }",
    "case ranges": "int r; void step(signed char a, unsigned b) { switch (a) { case -128 ... -100: r = 1; break; case 1 ... 9: r = 2; case 10: r++; break; "
    "case 5 + 6 ... 0x20: r = 4; break; case 99 ... 98: r = 5; break; default: r = 6; } switch (b) { case 0 ... 5: r *= 3; break; case 0xFFFFFFF0 ... 0xFFFFFFFF: r = 0; } }",
    "index before the array": 'int t[4], r; void step(unsigned char a) { (a & 3)[t] = a; int *p = t; r = 1[t] + 2[p]; r += 1["abc"]; }',
    "wide enumerations": "enum W { A = 0x180000000, B = 7 } w; enum N { C = -0x90000000, D } n; enum U { E = 0x80000000, F = E + 1 }; int r; "
    "void step(unsigned char a) { w = a & 1 ? A : B; n = a & 2 ? C : D; r = sizeof w + sizeof A + sizeof B + (E > 0) + (n < 0) + 8 * (w > 9) + (int)(F & 3) + 16 * sizeof n + sizeof(enum U); }",
    "old-style definitions": "double d; int r; static int f(a, b, c, p, x) char a; unsigned short b; int *p; float x; { *p = a + b; d = x; return c; } "
    "int none() { return 3; } void step(int a, unsigned short b, double y) { int z; r = f(a, b, (int)b - 9, &z, y); r ^= z; r += none(); }",
    "calls without a prototype": "int r; int nop(); void step(int a, short b) { r = later(b, 7) & 1023; r += nop(a & 7, 'c'); extern unsigned u(); r += u(3) + u((int)(b & 255)); "
    "int w(double); r += w(b); } int later(int q, int s) { return q ^ s; } int nop(int a, int b) { return a * b; } unsigned u(unsigned q) { return q / 3; } int w(double q) { return q / 2; }",
    "lengths of strings": f'{STRINGS}char s[6] = "ab"; int r; void step(unsigned char k, char c) {{ s[k % 5] = c; r = strlen(s) + strlen("four") * 8 + strlen(&s[k & 1]) * 64; '
    'const char *p = k > 99 ? s : "long text"; r += strlen(p) << 10; }',
    "comparisons of strings": f'{STRINGS}char s[4] = "ab"; int r; void step(unsigned char k, char c) {{ s[k % 3] = c; r = strcmp(s, "ab") < 0; r += 2 * (strcmp("ab", s) >= 0); '
    'if (!strcmp(s, "b")) r += 4; r += strncmp(s, "abc", k & 3) ? 8 : 0; while (strcmp(s, "") != 0) s[0] = 0; r += 16 * (0 == strncmp(s, "xy", 0)); }',
    "copies of strings": f"{STRINGS}char d[5], e[8] = \".....\"; int r; void step(unsigned char k, char c) {{ char t[3] = {{c, 0}}; strcpy(d, t); d[1] = k & 1 ? 'x' : 0; d[2] = 0; "
    'strncpy(e, d, k & 7); e[7] = 0; r = strlen(strcpy(d, "hey")) + (strncpy(e, t, 2) == e); }',
    "searches in memory": f"{STRINGS}unsigned char s[5] = {{1, 2, 3}}; int r; void step(unsigned char k, unsigned char v) {{ s[k % 5] = v; unsigned char *p = memchr(s, v & 7, 5); "
    "if (p) { r = *p; *p = 9; } else r = -1; r += memchr(s, 256 + 9, k % 6) == 0; }",
}


def agrees(found: Agreement) -> None:
    assert found.steps > 20
    assert not found.differences, found.differences[0]
    assert not found.traps, found.traps[0]


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", FEATURES)
def test_feature_agrees(name: str, tmp_path: Path) -> None:
    agrees(agreement(read(tmp_path, FEATURES[name]), pairs=200))


@pytest.mark.parametrize(("target", "zeros", "kind"), [("lp64", 63, 2), ("ilp32", 31, 1)])
def test_types_are_those_of_the_target(target: str, zeros: int, kind: int, tmp_path: Path) -> None:
    text = (
        "enum W { A = 0x180000000 }; int r, s, t; void step(long a) { r = __builtin_clzl(a | 1); "
        "s = _Generic(a + 1u, unsigned long: 1, long: 2); t = __builtin_types_compatible_p(long, int) + sizeof(enum W); }"
    )
    simulator = Sampler(read(tmp_path, text, target=target).system, 0).simulator
    assert simulator.step(simulator.initial(), {"a": 0}) == {"r": zeros, "s": kind, "t": 8}


@pytest.mark.needs_compiler
def test_a_function_of_another_file_is_called_without_a_declaration(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int r; void step(int a, short b) { r = mix(a & 255, b); }\n")
    (tmp_path / "b.c").write_text("int mix(int a, int b) { return a * 3 + b; }\n")
    fresh_environment()
    model = read_c(SourceConfig("program", tuple(str(tmp_path / name) for name in ("a.c", "b.c")), step="step"))
    assert [note for note in model.notes if "mix" in note] == [
        f"'mix' is called without a declaration, as int mix() ({tmp_path / 'a.c'}:1:40)"
    ]
    agrees(agreement(model, pairs=100))


FAULTS = {
    "clz of 0": ("void step(unsigned a) { r = __builtin_clz(a); }", "__builtin_clz of 0", 0, 1),
    "ctz of 0": ("void step(unsigned long a) { r = __builtin_ctzl(a); }", "__builtin_ctz of 0", 0, 1 << 40),
    "abs of the least value": ("void step(int a) { r = abs(a); }", "signed overflow in abs", -(2**31), -(2**31) + 1),
    "llabs of the least value": ("void step(long a) { r = llabs(a); }", "signed overflow in abs", -(2**63), -1),
    "div by 0": ("void step(int a) { r = div(7, a).quot; }", "division by zero in '/'", 0, 3),
    "div that overflows": ("void step(int a) { r = div(a, -1).quot; }", "signed overflow in '/'", -(2**31), 3),
    "trap": ("void step(int a) { if (a == 3) __builtin_trap(); r = a; }", "'__builtin_trap' is reached", 3, 4),
    "abort": ("void step(int a) { if (a == 3) abort(); r = a; }", "'abort' is reached", 3, 4),
    "strlen without end": (
        "void step(char a) { char t[2] = {'x', a}; r = strlen(t); }", "a string without an end is read", 5, 0
    ),
    "strcmp without end": (
        "void step(char a) { char t[2] = {'x', a}; r = strcmp(t, \"xyz\") < 0; }", "a string without an end is read", 121, 5
    ),
    "strncmp of what is not set": (
        "void step(unsigned char a) { char t[4]; t[0] = 'a'; r = strncmp(t, \"aa\", a) < 0; }", "uninitialised read", 2, 1
    ),
    "strcpy of too much": (
        "void step(char a) { char t[2]; char s[3] = {'x', a, 0}; strcpy(t, s); r = t[0]; }",
        "strcpy reaches beyond the end of an array", 5, 0,
    ),
    "strncpy of too much": (
        "void step(unsigned char a) { char t[2]; strncpy(t, \"\", a); r = 1; }",
        "strncpy reaches beyond the end of an array", 3, 2,
    ),
    "memchr of too much": (
        "void step(unsigned char a) { char t[2] = {1, 2}; r = memchr(t, 3, a) == 0; }",
        "memchr reaches beyond the end of an array", 3, 2,
    ),
    "an argument of another sign": (
        "unsigned f(); void step(int a) { r = f(a); } unsigned f(unsigned x) { return x; }",
        "an argument without a prototype has another sign than its parameter", -1, 1,
    ),
    "a string read after its block": (
        "void step(int a) { char *p = ({ char t[2] = {0}; a > 3 ? t : (char *)\"\"; }); r = p[0]; }",
        "use of an object after its lifetime", 4, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_exactly_the_faulty_step_is_undefined(name: str, tmp_path: Path) -> None:
    text, kind, faulty, good = FAULTS[name]
    model = read(tmp_path, f"#include <stdlib.h>\n{STRINGS}int r; {text}")
    places = model.system.undefined_behaviour
    check = compile_formulas([place.formula for place in places])
    state = Sampler(model.system, 0).simulator.initial()
    (size,) = (variable.type.bits for variable in model.system.inputs)
    found = [
        {place.name for place, holds in zip(places, check({**state, "a": value % (1 << size)}), strict=True) if holds}
        for value in (faulty, good)
    ]
    assert kind in found[0]
    assert not found[1]


def test_a_function_that_the_project_describes_is_none_of_the_library(tmp_path: Path) -> None:
    text = "void abort(void); int r; void step(int a) { if (a > 3) abort(); r = a; }"
    assert [place.name for place in read(tmp_path, text).system.undefined_behaviour] == ["'abort' is reached"]
    assert not read(tmp_path, text, output_functions=("abort",)).system.undefined_behaviour
