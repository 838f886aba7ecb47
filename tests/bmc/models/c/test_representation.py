"""Bit-fields, unions, alignment and bytes of objects: the model equals the compiled original, and layouts are gcc's."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, sanitizing_compiler  # noqa: F401

from benchmarks.checks.layouts import compare

pytestmark = pytest.mark.needs_compiler


@pytest.fixture(scope="module", autouse=True)
def traps() -> Iterator[None]:
    """The compiler traps undefined behaviour where it can."""
    with pytest.MonkeyPatch.context() as patch:
        command = sanitizing_compiler()
        if command is not None:
            patch.setenv("CC", command)
        yield


FEATURES = {
    "a pointer that walks through bytes": "struct S { unsigned short a; unsigned char b, c; int d[2]; } s; unsigned r; "
    "static unsigned crc(const void *data, unsigned n) { const unsigned char *p = data; unsigned c = 1; while (n--) c = (c << 1) ^ *p++; return c; } "
    "void step(int a) { s.a = a; s.d[1] = a * 3u; r = crc(&s, sizeof s) + crc(&s.d[1], 4); }",
    "a pointer that walks back and writes": "unsigned w; int r; void step(unsigned char a) { unsigned char *p = (unsigned char *)&w, *e = p + sizeof w; "
    "r = 0; while (e > p) { --e; *e = a + (unsigned char)(e - p); } p += a & 3; r = *p; if (p != (unsigned char *)&w) r += p[-1]; }",
    "a pointer past the bytes": "struct { int x; char y; } __attribute__((packed)) s; int r; void step(unsigned char a) { s.x = a; char *p = (char *)&s; "
    "p += a & 7; r = p - (char *)&s; if (p < (char *)&s + sizeof s) r += *p; }",
    "an index from a pointer that has moved": "struct { unsigned short a[3]; struct { int x; unsigned char y; } e[2]; } s; unsigned w = 0x01020304; int r; "
    "void step(unsigned char a) { const unsigned char *p = (const unsigned char *)&w + 2; r = p[1] * 3 + p[-1] - p[-2]; if (a & 1) p++; r += p[-(a & 1)]; "
    "unsigned char *q = (unsigned char *)&s.e[1]; q++; q[0] = a; q[1] = a + 1; q[-1] = 3; signed char *v = (signed char *)s.a; v += a & 3; v[1] = a; v[2] ^= 5; "
    "r += s.a[1] + v[2]; char *c = (char *)&w, *e = &c[sizeof w]; while (c != e) r = r % 9999 * 3 + *c++; r += c[-1]; w += a * 0x01050301u; }",
    "strings in the bytes of an object": "#include <string.h>\nstruct f { unsigned char id; char name[5]; unsigned short crc; } g, h; int t[3]; int r; "
    "void step(unsigned char a) { char *p = (char *)&g; p += 1; if (a & 1) g.name[a >> 1 & 3] = a | 1; r = strlen(p); char *q = (char *)&h; q++; "
    "if (a & 2) strcpy(q, (a & 4) ? \"abc\" : \"x\"); else strncpy(q + 1, p, 4); r = r * 2 + (strcmp(q, \"abc\") == 0); r = r * 2 + (strncmp(p, h.name, 3) < 0); "
    "t[0] = a * 0x10101; t[1] = a; unsigned char *z = memchr(t, 0, sizeof t); r = r * 16 + strlen((char *)t) + (z - (unsigned char *)t) + z[1]; }",
    "bytes of inputs become numbers": "#include <string.h>\nstruct I { unsigned char b[4], n; }; static struct { unsigned char id; unsigned short len; unsigned crc; } rx; unsigned r; "
    "void step(const struct I *i) { unsigned char *p = (unsigned char *)&rx + 2; for (int k = 0; k < 2; k++) *p++ = i->b[k]; r = rx.len; "
    "memcpy(&rx.len, i->b + 2, 2); r = r * 7 + rx.len; memcpy(&rx.crc, i->b, i->n & 3); r ^= rx.crc; }",
    "bit-fields": "struct S { unsigned a : 3; int b : 5; _Bool c : 1; unsigned : 2; unsigned d : 30; enum { A, B, C } e : 2; } s, t[2]; "
    "int r; void step(int a, unsigned char b) { s.a = a; s.b = b; s.c = b & 2; s.d++; s.e = b & 3; t[b & 1] = s; "
    "r = s.a - s.b - t[0].e + (s.a - 5 < 0); }",
    "a bit-field that int holds is promoted to int": "struct { unsigned a : 31, b : 32; } s; int r; void step(unsigned a) "
    "{ s.a = a; s.b = a; r = (s.a - s.a - 1 < 0) + 2 * (s.b - s.b - 1u > 0) + 4 * (~s.a < 0) + 8 * (-1 < s.b); }",
    "a bit-field wider than int keeps its width": "struct { unsigned long long a : 40; long long b : 35; } s; int r; unsigned long u; "
    "void step(unsigned long a, unsigned char b) { s.a = a; s.b = a >> 3; u = (s.a << 8) + s.a * 3; r = s.b < 0; u ^= s.a + b; u += s.b; }",
    "plain bit-fields are signed": "struct { int a : 1; char b : 3; } s; int r; void step(int a) { s.a = a; s.b = a; r = s.a * 10 + s.b; }",
    "steps and compound assignments of bit-fields": "struct { unsigned a : 2; _Bool b : 1, c : 1; signed n : 7; } s; int r; "
    "void step(unsigned char a) { r = s.a++ + --s.b; s.c ^= 1; s.n = a; s.n >>= 1; s.n |= 3; r += s.c *= a; r += ++s.a; }",
    "the value of an assignment to a bit-field": "struct { unsigned a : 3; signed b : 3; } s; int r; void step(int a) "
    "{ r = (s.a = a) * 10 + (s.b = a); }",
    "initialisers of bit-fields": "struct S { int k; unsigned f : 3; int : 4; int b : 5; }; "
    "struct S g = {1, 9, -3}, h[2] = {1, 2, 3, [1].b = -1}; int r; "
    "void step(int a) { struct S l = {a, .b = 2, .f = a}; r = l.f + l.b + g.b + g.f + h[1].b + h[0].b; g = l; }",
    "straddling, zero width, packed": "struct P { char c; int a : 27, b : 9; short : 0; char d : 3; } p; "
    "struct __attribute__((packed)) Q { char c; int a : 27, b : 9; long long e : 40; } q;\n#pragma pack(2)\n"
    "struct R { char c; int a : 27, b : 9; long x; } w;\n#pragma pack()\n int r; void step(int a) { p.a = q.b = w.a = a; "
    "p.b = q.a = w.b = a >> 7; q.e = w.x = a; r = sizeof p + 100 * sizeof q + 10000 * sizeof w; }",
    "a packing that is none": "#pragma pack(3)\nstruct P { char c; int x; } p;\n int r; void step(int a) { p.x = a; r = sizeof p; }",
    "aligned and packed": "struct Q { char c; int x __attribute__((aligned(16))); } __attribute__((packed)) q; "
    "typedef struct { char c; } __attribute__((aligned(8))) W; struct __attribute__((packed, aligned(4))) E { char c; int x; } e; "
    "struct F { char c; int x __attribute__((packed)), y; } f; typedef int wide __attribute__((aligned(32))); struct { char c; wide x; } v; "
    "W w[2]; struct S { char c; _Alignas(8) char d; char g __attribute__((aligned(4))), h; } s; int r; "
    "void step(int a) { q.x = e.x = f.x = f.y = v.x = a; w[1].c = s.d = s.h = a; "
    "r = sizeof q + 40 * sizeof w + 1600 * sizeof s + 64000 * sizeof e + sizeof f * 1024000 + sizeof v; }",
    "attributes in all places": "struct __attribute__((packed)) __attribute__((aligned(4))) A { char c; int x; };\n"
    "typedef struct { char c; long x; } __attribute__((packed)) __attribute__((aligned(16))) B;\n"
    "typedef struct { char c; int x; } C __attribute__((aligned(64)));\n"
    "typedef struct { char c; int x; } D __attribute__((packed));\n"
    "struct E { char c; C m; union { char u; short v; } __attribute__((packed)) w; int __attribute__((aligned(16))) p, q; char r __attribute__ ((__aligned__ (sizeof(int) * 2))), s; };\n"
    "struct F { char c; __attribute__((packed)) int y; __attribute__((aligned(8))) char z; };\n"
    "static int after __attribute__((aligned(32))) = 3;\n"
    "struct G { char c; char t[3] __attribute__((aligned(4))); char d; } __attribute__((__packed__)) gg;\n"
    "typedef int arr[4] __attribute__((aligned(16)));\n"
    "struct H { char c; arr a; enum { K1, K2 } e __attribute__((aligned(8))); void (*f)(int, int); char last; };\n"
    "unsigned r; void step(int a) { r = sizeof(struct A); r = r * 31 + sizeof(B); r = r * 31 + sizeof(C); r = r * 31 + sizeof(D); r = (r * 31u + sizeof(struct E)); r = (r * 31u + sizeof(struct F)); r = (r * 31u + sizeof gg + sizeof(struct G)); r = (r * 31u + sizeof(struct H)); r ^= __builtin_offsetof(struct E, q) + 64 * __builtin_offsetof(struct E, s) + 4096 * __builtin_offsetof(struct H, last) + after * a; }\n",
    "a union of a word, its bits and its bytes": "union U { unsigned w; struct { unsigned a : 3, b : 7; } bits; unsigned char raw[4]; } u; "
    "int r; void step(unsigned a, unsigned char b) { if (b & 1) u.w = a; else u.bits.b = a; u.raw[b & 3] = b; r = u.w + u.bits.a; }",
    "unnamed unions": "struct S { int k; union { unsigned short h; struct { unsigned char lo, hi; }; }; } s; int r; "
    "void step(unsigned short a) { s.h = a; r = s.lo * 2 + s.hi; s.k = r; }",
    "a float and its bits": "union U { float f; unsigned w; } u; union D { double d; unsigned lo[2]; } d; unsigned r; "
    "void step(float a, unsigned char b) { u.f = a; r = u.w; u.w ^= (unsigned)b << 20; if (u.f > 1.0f) r++; d.d = a; r += d.lo[1]; }",
    "a bool that shares its byte": "union { _Bool q; unsigned char c; } u; int r; void step(unsigned char a) { u.c = a; r = 0; "
    "if (a < 2) r = u.q + 1; }",
    "initialisers of unions": "union U { int i; unsigned char c[4]; } v = {.c = {1, 2, 3, 4}}, w = {7}, x[2] = {1, 2}; "
    "struct { int k; union U u; int z; } s = {1, {2}, 3}, t = {1, 2, 3}, o = {.u.c = {5, 6}, .z = 9}; int r; "
    "void step(int a) { union U l = {a}, m = {.c[1] = a}; r = l.c[1] + m.c[1] + m.c[0] + v.i + w.c[0] + x[1].i + s.z + t.z + t.u.i + o.z + o.u.i; }",
    "the last of two members is initialised": "union { unsigned w; unsigned char b; } u = {.w = 0x1234, .b = 5}; int r; void step(int a) { r = u.w + a; }",
    "unions are passed and returned": "union U { unsigned w; unsigned char b[4]; }; static union U f(unsigned a) { union U u; u.w = a; return u; } "
    "static unsigned g(union U u) { return u.b[1]; } int r; void step(unsigned a) { r = g(f(a)) + f(a).b[3]; "
    "union U v = f(3), *p = &v; p->b[2] = a; r ^= p->w; }",
    "inputs in bit-fields and unions": "union U { unsigned w; unsigned char b[4]; }; struct I { unsigned a : 4, b : 12; union U u; _Bool f : 1; }; "
    "int r; void step(const struct I *i) { r = i->a * i->b + i->u.w + i->f; }",
    "copies between types": "#include <string.h>\nunsigned t[4]; unsigned short u[8]; int r; float f; void step(unsigned a, unsigned char b, float g) "
    "{ t[b & 3] = a; memcpy(u, t, sizeof t); memmove(&t[1], &u[1], 6); memcpy(&f, &a, 4); unsigned x; memcpy(&x, &g, 4); r = u[b & 7] + x; }",
    "bytes of a table at any place": "#include <string.h>\nunsigned char t[8]; unsigned short r; void step(unsigned char i, unsigned char a) "
    "{ t[a & 7] = a; memcpy(&r, &t[i & 7], 2); }",
    "filled bytes": "#include <string.h>\nstruct { unsigned a : 3, b : 11; unsigned short c; float f; } s; int r; "
    "void step(unsigned char a, unsigned char b) { memset(&s, a, sizeof s); if (b & 1) memset(&s.c, b, 1); r = s.b; }",
    "bytes compared": "#include <string.h>\nstruct { unsigned short a, b; } s, t; unsigned char k[4]; int r; void step(unsigned a, unsigned char b) "
    "{ s.a = a; t.a = b; r = !memcmp(&s, &t, sizeof s); if (memcmp(k, &s, 4) != 0) r += 2; memcpy(k, &s, 4); }",
    "access as characters": "struct S { unsigned short a; unsigned b; } s; float f; int r; void step(unsigned a, float g, unsigned char i) "
    "{ s.b = a; unsigned char *p = (unsigned char *)&s; r = p[4] + p[4 + (i & 3)]; f = g; const unsigned char *q = (const unsigned char *)&f; "
    "r += q[3]; p[5] = i; *(signed char *)&s = i; }",
}  # fmt: skip


@pytest.mark.parametrize("name", FEATURES)
def test_model_equals_the_original(name: str, tmp_path: Path) -> None:
    found = agreement(read(tmp_path, FEATURES[name]), pairs=200)
    assert found.steps > 20
    assert not found.differences, found.differences[0]
    assert not found.traps


UNDEFINED = {
    "padding": (
        "struct { char c; int i; } s; int r; void step(int a) { s.i = a; r = ((char *)&s)[1]; }",
        "uninitialised read",
    ),
    "bytes that the smaller member leaves": (
        "int r; void step(int a) { union { unsigned char b; int i; } u = {a}; r = u.i; }",
        "uninitialised read",
    ),
    "one byte past the end": (
        "int x; int r; void step(int a) { r = ((unsigned char *)&x)[4]; }",
        "index out of range",
    ),
    "an index past the end from a pointer that has moved": (
        "int x; int r; void step(int a) { unsigned char *p = (unsigned char *)&x; p += 3; r = p[1]; }",
        "index out of range",
    ),
    "a string without an end in the bytes of an object": (
        "#include <string.h>\nstruct { char c; int i; } __attribute__((packed)) s; int r; void step(int a) { s.i = a; s.c = 1; r = strlen((char *)&s + 1); }",
        "a string without an end is read",
    ),
    "a copy past the end": (
        "#include <string.h>\nint t[4]; int r; void step(int a) { memcpy(t, &t[2], 12); r = t[0]; }",
        "index out of range: memcpy of 12 bytes",
    ),
    "a copy that overlaps": (
        "#include <string.h>\nint t[4]; int r; void step(int a) { memcpy(t, &t[1], 6); }",
        "that overlap",
    ),
    "a dead union": (
        "int r; void step(int a) { unsigned char *p; { union { int i; unsigned char b[4]; } u; u.i = a; p = u.b; } r = *p; }",
        "use of an object after its lifetime",
    ),
    "a _Bool of 2": (
        "union { _Bool q; unsigned char c; } u; int r; void step(int a) { u.c = 2; r = u.q; }",
        "a _Bool that is neither 0 nor 1",
    ),
    "bytes that nothing has set": (
        "#include <string.h>\nint r; void step(int a) { int x; memcpy(&r, &x, 4); unsigned char b[4]; memcpy(&x, b, 4); r = x; }",
        "uninitialised read",
    ),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_undefined_behaviour_is_found_in_its_step(name: str, tmp_path: Path) -> None:
    """Either it happens in each step, so that reading ends with it, or it is among what a step may do."""
    text, kind = UNDEFINED[name]
    kinds = [found.name for found in read(tmp_path, text).system.undefined_behaviour]
    assert any(kind in each for each in kinds), kinds


def test_members_show_the_state(tmp_path: Path) -> None:
    """A bit of the word that no bit-field has is named by the narrowest member that has it."""
    text = """
    typedef union { unsigned short w; struct { unsigned short mode : 2, count : 5; } b; } reg;
    struct { reg r; unsigned flag : 1; } s;
    void step(unsigned char a) { s.r.b.count += a; s.flag = a; }
    """
    model = read(tmp_path, text)
    shown = {variable.name: variable.ctype.bits for variable in model.variables}
    assert shown == {"a": 8, "s.r.b.mode": 2, "s.r.b.count": 5, "s.r.w[7:15]": 9, "s.flag": 1}


def test_layouts_are_those_of_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of what ``python -m benchmarks layouts`` compares, which takes ilp32 too."""
    monkeypatch.delenv("CC", raising=False)
    assert compare(range(100), "lp64", tmp_path) == []
