"""One small program for each feature of the supported C: the model equals the compiled original."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read, traps  # noqa: F401

from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig

pytestmark = pytest.mark.needs_compiler

FEATURES = {
    "goto out of loops": "int r; void step(unsigned char a, unsigned char b) { for (int k = 0; k < 4; k++) "
    "{ for (int j = 0; j < 3; j++) { if (k * j == a) goto out; r += b; } r ^= k; } r = 7; out: r &= 255; }",
    "goto to one end": "int r; int f(int a) { int e = 0; if (a < 0) { e = 1; goto end; } if (a > 99) { e = 2; goto end; } "
    "r = a; end: return e; } void step(signed char a) { int t = f(a); r += t * 3; if (r > 5) goto out; r++; out: r %= 1000; }",
    "goto over labels": "int r; void step(unsigned char a) { switch (a & 7) { case 1: goto one; case 2: goto two; "
    "case 3: goto three; default: r = 9; } one: two: r = 1; three: r += 2; if (a & 8) goto done; r *= 2; done:; }",
    "goto over a declaration": "int r; void step(unsigned char a) { if (a & 1) goto past; int x = a; static int n = 4; "
    "r += x; n++; past: x = 3; r += x + n; r &= 1023; n &= 15; }",
    "goto back": "int r; void step(unsigned char a) { int n = 0; again: r += n; if (n++ < (a & 7)) goto again; r &= 255; }",
    "goto back by two ways": "int r; void step(unsigned char a, unsigned char b) { int n = 0, m = 0; outer: m++; inner: n++; "
    "if (n < (a & 3)) goto inner; if (m < (b & 3)) { n = 0; goto outer; } r = n * 16 + m; }",
    "goto in a loop's body": "int r; void step(unsigned char a) { for (int k = 0; k < 5; k++) { int d = 0; "
    "if ((a >> k) & 1) goto next; d = k; if (k == 3) goto out; next: r += d; } r++; out: r &= 127; }",
    "promotion": "int r; unsigned char c; void step(unsigned char a, unsigned char b) { r = a - b; c = a + b; "
    "r += (unsigned char)((unsigned char)(a + b) + c); }",
    "mixed signs": "int r; void step(int a, unsigned b, short c, unsigned long d) "
    "{ r = (a < b) + 2 * (c < b) + 4 * (a < d) + 8 * (c == d) + 16 * ((unsigned char)a == (signed char)a); }",
    "signed remainder is not unsigned": "int r; void step(int a) { r = (unsigned)(a % 7) < 7u; }",
    "unsigned remainder as signed": "int r; void step(int a) { r = (int)((unsigned)a % 7u) > 0; }",
    "truncation": "signed char r; _Bool q; short s; void step(long a) { r = a; q = a; s = (short)a; q += 3; }",
    "bool": "_Bool q; int r; void step(int a, _Bool b) { q = a & 6; r = b + q; q--; r += q; q = b << 3; }",
    "bool conversion of wide values": "_Bool q; void step(unsigned long a) { q = (_Bool)(a & 0xFF00000000); }",
    "integer constants": "unsigned long r; long s; void step(int a) { r = 0xFFFFFFFF + 1; s = -2147483648; "
    "r += 4294967295 > -1; r += 0x80000000 > -1; s += 017 + '\\x80' + '\\'' + 0b11; r ^= 1ull << 40; }",
    "shifts": "int r; unsigned u; void step(int a, unsigned b, unsigned char c) { r = a >> (c & 31); u = b << (c & 31); "
    "u ^= b >> (c % 32u); r ^= 1 << (c & 15); if (c < 40) u += b >> c; }",
    "shifts of negatives": "int r; long s; short t; enum { N = -3 << 2 }; void step(int a, short b, unsigned char c) { r = a << (c & 31); "
    "s = (long)a << (c & 63); s += (int)b << 7; t <<= c & 7; r ^= (1 << 31) ^ N; t ^= b; }",
    "division": "int r, s; void step(int a, int b) { r = a / b; s = a % b; }",
    "comma and conditional": "int r; unsigned u; void step(int a, unsigned b) { r = (a++, b > 3 ? a : -1) > 0; "
    "u = a ? b : -1; }",
    "short circuit effects": "int r, n; static int f(int v) { n++; return v; } "
    "void step(unsigned char a, unsigned char b) { r = f(a > 5) && f(b > 7) || f(a == b); n &= 255; }",
    "increments": "unsigned char c; short s; int r; void step(int a) { r = c++; r += ++s & 3; s--; r -= --c; }",
    "compound assignment": "unsigned char c; int r; unsigned long u; void step(int a, unsigned char b) "
    "{ c += a; c <<= 2; c /= b | 1; r = c *= 3; u -= b; u %= 1000; c |= u; r ^= a; r >>= 3; }",
    "switch": "int r; void step(int a, unsigned char b) { switch (a) { case 0: r = 1; case 1: r += 2; break; "
    "case -3: switch (b) { case 1: r = 9; break; default: r = 8; case 7: r++; } break; default: r = 3; case 4:; } }",
    "switch without default": "int r; void step(unsigned char a) { r = 0; switch (a & 3) { case 1: r = 5; break; "
    "case 2: if (a > 9) break; r = 7; } }",
    "switch on long": "int r; void step(long a) { switch (a) { case 0x100000000: r = 1; break; case 0: r = 2; } }",
    "switch of a char on its promoted value": "int r; void step(unsigned char a) { switch (a) { case 256: r = 1; break; "
    "case -1: r = 3; break; case 255: r = 2; } }",
    "default first": "int r; void step(int a) { switch (a) { default: r = 1; case 3: r += 2; break; case 4: r = 0; } }",
    "continue in switch in loop": "int r; void step(unsigned char a) { r = 0; for (int k = 0; k < 5; k++) "
    "{ switch (a + k) { case 3: continue; case 4: break; default: r += k; } r += 10; } }",
    "return in loop": "int r; static int f(int a) { for (int k = 0; k < 6; k++) { if (k == a) return k * 3; "
    "if (a > 10) break; } return -1; } void step(unsigned char a) { r = f(a); }",
    "loops": "int r; void step(unsigned char a) { int k = 0; r = 0; while (k < 4) { k++; if (a == k) continue; r += k; } "
    "do { r++; } while (r < 3); for (;;) { if (++k > 8) break; } r += k; }",
    "open loop with a bound": "int r; void step(unsigned char a) { r = 0; while (a > 0 && r < 9) { a >>= 1; r++; } }",
    "nested structs": "struct A { unsigned char x; struct B { short y[2]; } b; }; struct A s[2], t; int r; "
    "void step(unsigned char a, short v) { s[a & 1].b.y[a >> 7] = v; t = s[a & 1]; r = t.b.y[1]; s[1] = s[0]; }",
    "unnamed members": "struct A { int k; struct { int x; struct { char y; }; }; }; struct A s; int r; "
    "void step(int a) { s.x = a; s.y = s.x; struct A t = {.y = 3}; r = t.y + s.y; }",
    "two-dimensional arrays": "int m[2][3]; int r; void step(unsigned char a, int v) { m[a & 1][a % 3] = v; "
    "r = m[1][2] ^ m[0][a % 3]; int (*row)[3] = &m[1]; r ^= (*row)[1]; }",
    "index out of range": "int t[70]; int r; void step(signed char a, unsigned char b) { r = t[a]; t[b] = a; }",
    "inner index out of range": "int m[2][90]; int r; void step(unsigned char b) { r = m[0][b]; }",
    "const tables": "static const short t[] = {3, -4, [5] = 70, 8}; enum { N = sizeof t / sizeof t[0] }; int r; "
    "void step(unsigned char a) { r = t[a % N] + N; }",
    "strings": 'static const char t[] = "ab\\n\\x41" "z"; char u[3] = "xyz"; int r; void step(unsigned char a) '
    '{ r = t[a % sizeof t] + u[a % 3] + sizeof "four" + "pq"[a & 1]; }',
    "adjacent strings": 'static const char t[] = "\\x1" "2" "a"; int r; void step(unsigned char a) { r = t[a & 3] + sizeof t; }',
    "initialisers": "struct P { int a, b[2]; char c; }; struct P g = {1, {2, 3}, 4}, h = {1, 2, 3, 4}, "
    "k[2] = {[1].b[1] = 7, 8, [0] = {9}}; int r; void step(int a) { struct P l = {a, .c = 2}; int z[3] = {1}; "
    "r = g.c + h.b[1] + k[1].b[1] + k[1].c + k[0].a + l.b[0] + l.c + z[2]; }",
    "compound literals": "struct P { int a; short b; } g; int r; static int f(const struct P *p) { return p->b; } "
    "void step(short v) { g = (struct P){.b = v}; r = f(&(struct P){1, v}) + ((int[]){4, 5, 6})[v & 1]; }",
    "pointers": "struct P { int a; short b; } g, h; int r; static void set(int *p, int v) { *p = v; } "
    "void step(int a, short v) { struct P *p = a > 3 ? &g : &h; p->b = v; set(&p->a, a); int *q = &h.a; *q ^= 5; "
    "r = (p == &g) + 2 * (q == &p->a) + 4 * ((void *)p == (void *)&g.a); }",
    "pointer into an array": "int t[8]; int r; static int f(int p[3], unsigned char k) { p[k & 1] = 7; return p[2]; } "
    "void step(unsigned char a) { int *p = &t[2]; p[a & 3]++; t[a & 7] &= 15; r = f(&t[4], a) + p[-1]; }",
    "struct parameters and results": "struct P { int a; short b; } g; int r; static struct P f(struct P p, int v) "
    "{ p.b = v; p.a ^= v; return p; } void step(int a) { g = f(g, a); r = f(g, 3).b + f(f(g, 1), 2).a; }",
    "memset and memcpy": "#include <string.h>\nstruct P { int a; short b[3]; } g, h; unsigned short t[4]; int r; "
    "void step(short v) { g.b[1] = v; memcpy(&h, &g, sizeof g); memset(t, 0xA5, sizeof t); t[2] += v; "
    "memset(&g, 0, sizeof(struct P)); memmove(g.b, h.b, sizeof h.b); }",
    "static locals": "int r; static int f(void) { static int n = 3; static unsigned char m; return n++ + ++m; } "
    "void step(_Bool a) { static unsigned char k; if (a) { static unsigned char k = 7; k++; r = k; } else r = ++k; "
    "if (r == 9) r += f() & 15; }",
    "one byte at the start of the memory for statics": "static unsigned char n; int step(void) { return ++n; }",
    "array of variable length only in a prototype": "int f(int n, int t[n]); int f(int n, int t[n]) { return t[0]; } int r; "
    "void step(int a) { r = f(1, &a); }",
    "uninitialised struct members": "struct P { int a, b; } g; void step(int a) { struct P p; p.a = a; g = p; if (a & 1) g.b = 0; "
    "if (a & 1) g.a = g.b; }",
    "block scope types": "int r; static int f(int a) { struct P { int a; }; enum { K = 3 }; typedef struct P T; T q; "
    "q.a = a + K; return q.a; } void step(unsigned char a) { r = f(a) + f(a / 2); }",
    "shadowing": "int x, r; void step(int a) { int x = a & 7; { int x = 5; r = x; } for (int x = 0; x < 2; x++) r += x; "
    "r += x; }",
    "enums": "enum E { A = -1, B, C = 'c' }; typedef enum { P, Q = 9 } F; enum E e; F f; int r; "
    "void step(int a, F q) { e = a < 0 ? A : C; f = q; r = (e < 0) + 2 * (f > -1) + sizeof e; }",
    "uninitialised on some paths": "int r; void step(int a, int b) { int x; if (a > 3) x = b; if (a > 5 || b == 2) r = x; }",
    "uninitialised past a label": "int r; void step(unsigned char a) { switch (a & 1) { case 0:; int x = 5; "
    "case 1: r = x; } }",
    "missing return": "int r; static int f(int a) { if (a > 3) return 1; } void step(int a) { f(a); if (a > 0) r = f(a); }",
    "sizeof": "struct P { char a; long b; short c; } p; int r; void step(int a) { int t[5]; char *q = 0; "
    "r = sizeof t + sizeof(struct P) + sizeof p.c + sizeof(a + 1L) + sizeof 'c' + sizeof(char[7]) + sizeof q + "
    "_Alignof(long) + (a > 0 ? sizeof(char) : -1); }",
    "offsetof": "#include <stddef.h>\nstruct P { char a; struct { long x; short y[3]; } b; }; int r; "
    "void step(int a) { r = offsetof(struct P, b.y[2]); }",
    "packed": "#include <stdint.h>\ntypedef struct __attribute__((packed)) { char a; int b; short c; } P; "
    "typedef struct { char a; int b; } __attribute__((__packed__)) Q; P p; Q q; int r; "
    "void step(int a, P *io) { p.b = a; q.b = a; io->b ^= a; r = sizeof p + 10 * sizeof q; }",
    "pragma pack": "#pragma pack(push, 2)\nstruct P { char a; int b; } p;\n#pragma pack(pop)\nstruct Q { char a; int b; } q;"
    " int r; void step(int a) { p.b = a; q.b = a; r = sizeof p + 100 * sizeof q; }",
    "read over": "__extension__ typedef long long big; static __inline__ __attribute__((always_inline)) int "
    'f(int * __restrict p) { return *p; } int r __attribute__((unused, section(".data"))); _Pragma("once") big b; '
    "struct P { int a __attribute__((deprecated)); } p; const __volatile__ int v = 3; extern int r; "
    'void __attribute__((noinline)) step(int a) { _Pragma("loop") r = f(&a) + v; p.a = r;\n#pragma weird stuff\nb = a; }',
    "const by typedef": "typedef const int ci; ci k = 3; static const struct { int a; } t = {4}; int r; "
    "void step(int a) { r = k + t.a; }",
    "static initialisers": "int z[3]; int *const p = &z[1]; const int k = 5 * 3 - (2 << 1); unsigned char c = 300; "
    "long l = -1; unsigned u = -1; _Bool b = 7; int r; void step(int a) { *p = a; r = z[1] ^ k ^ c ^ u; b = l; }",
    "tentative definitions": "int x; extern int x; int x = 4; int t[]; int t[2]; int r; void step(int a) { r = x + t[1]; "
    "t[1] = a; x = 3; }",
    "abs": "#include <stdlib.h>\nint r; long s; void step(int a, long b) { r = abs(a); s = labs(b); }",
    "long arithmetic": "long r; unsigned long u; void step(long a, long b, unsigned c) { r = a + b; u = a * 3u + c; "
    "r -= (int)c; u /= c | 1u; }",
    "char arithmetic": "char c; signed char s; int r; void step(char a, signed char b) { c = a * b; s = -a; r = ~a + !b; "
    "r ^= a << 1 > b; }",
    "conditional types": "long r; void step(int a, unsigned b, _Bool c) { r = c ? a : b; r += (c ? (char)a : (short)b) < 0; "
    "r ^= (1 ? a : b) < 0; }",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FEATURES)
def test_feature_agrees(name: str, tmp_path: Path) -> None:
    found = agreement(read(tmp_path, FEATURES[name]), pairs=300)
    assert found.steps > 20
    assert not found.differences, found.differences[0]
    assert not found.traps, found.traps[0]


UNDEFINED = {
    "addition": "int r; void step(int a, int b) { r = a + b; }",
    "subtraction": "long r; void step(long a, long b) { r = a - b; }",
    "multiplication": "int r; void step(int a, int b) { r = a * b; }",
    "promoted multiplication": "unsigned r; void step(unsigned short a, unsigned short b) { r = a * b; }",
    "negation": "int r; void step(int a) { r = -a; }",
    "increment": "int r; void step(int a) { r = a; r++; }",
    "compound": "int r; void step(int a) { r = 2; r *= a; }",
    "division": "int r; void step(int a, int b) { r = a / b; }",
    "remainder": "int r; void step(int a, int b) { r = a % b; }",
    "shift amount": "unsigned r; void step(unsigned a, int b) { r = a >> b; }",
    "index": "int t[3]; int r; void step(int a) { r = t[a]; }",
    "row": "int t[3][2]; int r; void step(unsigned char a) { t[a][1] = 3; }",
    "column": "int t[3][2]; int r; void step(unsigned char a) { t[1][a] = 3; }",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNDEFINED)
def test_exactly_the_undefined_steps_trap(name: str, tmp_path: Path) -> None:
    found = agreement(read(tmp_path, UNDEFINED[name]), pairs=200, undefined=6)
    assert not found.differences
    assert not found.traps
    assert found.undefined > 2
    assert found.trapped == found.tried > 2


def test_several_files(tmp_path: Path) -> None:
    """Shared headers, tentative definitions, statics of one name in two files, types matched between units."""
    texts = {
        "types.h": "#ifndef T_H\n#define T_H\n#include \"deep/more.h\"\ntypedef struct { int a; t_more m; } t_s;\n"
        "enum mode { OFF, ON };\nextern t_s shared;\nextern int count;\nint helper(t_s *s, enum mode m);\n#endif\n",
        "deep/more.h": "#include \"sibling.h\"\ntypedef struct more { short x; SIB y; } t_more;\n",
        "deep/sibling.h": "#define SIB unsigned char\n",
        "a.c": '#include "types.h"\nstatic int hidden = 1;\nint count;\nt_s shared;\nstatic int own(int v) { return v + 1; }\n'
        "void step(int a, unsigned char b) { shared.m.y = b; hidden += b; "
        "shared.a = helper(&shared, b > 9 ? ON : OFF); count = own(b); hidden &= 255; }\n",
        "b.c": '#include "types.h"\nstatic int hidden = 2;\nint count;\nstatic int own(int v) { return v ^ 5; }\n'
        "int helper(t_s *s, enum mode m) { hidden = own(hidden & 63); s->m.x += m; return hidden + count % 7; }\n",
    }  # fmt: skip
    (tmp_path / "deep").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    fresh_environment()
    files = tuple(str(tmp_path / name) for name in ("a.c", "b.c"))
    model = read_c(SourceConfig("program", files, step="step"))
    assert {"a.c::hidden", "b.c::hidden", "shared.m.x", "count"} <= set(model.names)
    found = agreement(model, pairs=200)
    assert found.steps > 100
    assert not found.differences, found.differences[0]
    assert not found.traps


def test_loops_that_their_variables_bound(tmp_path: Path) -> None:
    """No constant bounds these loops, but no value keeps them going: the solver sees where they end."""
    text = """
    struct { unsigned sum; unsigned short halved; unsigned char n; } s;
    void step(unsigned char n, unsigned short m) {
      unsigned f = 1;
      for (unsigned char k = n & 31; k > 1; k--) { f = f * 3u + k; if (f > 100000u) f = 100000u; }
      s.sum = f;
      while (m > 20) { m = m / 2; s.halved++; }
      do { s.n++; } while (s.n < 20);
    }
    """
    found = agreement(read(tmp_path, text), pairs=200)
    assert found.steps == 200
    assert not found.differences


def test_runs_of_array_elements_are_copied_and_cleared(tmp_path: Path) -> None:
    text = """
    #include <string.h>
    struct pair { unsigned char a; double b; };
    static short t[6] = {1, 2, 3, 4, 5, 6}; static double d[4]; static double line[8]; static struct pair p[3]; short s[2][3];
    void step(int n, double x) {
      short two[2] = {7, 8};
      t[0] = (short)n; d[1] = x; p[0].a = (unsigned char)n;
      memcpy(&t[2], two, 2 * sizeof(short));
      memcpy(&line[3], &d[0], 3U * sizeof(double));
      memmove(&t[1], &t[0], 4 * sizeof(short));
      memcpy(line, d, sizeof(d));
      memcpy(&p[1], &p[0], 2 * sizeof(struct pair) - sizeof(struct pair));
      memset(&line[6], 0, 2 * sizeof line[0]);
      memcpy(&s[1][1], &t[4], 2 * sizeof(short));
      memcpy(s[n & 1], &t[3], 3 * sizeof(short));
    }
    """
    found = agreement(read(tmp_path, text), pairs=200)
    assert found.steps == 200
    assert not found.differences
