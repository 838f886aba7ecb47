"""Idioms of programs by hand and by generators: the model equals the compiled original, faults are told."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read, refusal, traps  # noqa: F401

from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.source.options import Options

pytestmark = pytest.mark.needs_compiler

HEAD = (
    "struct base { int ev; short k; }; struct mid { struct base b; unsigned char m; }; struct derived { struct mid m; int x; }; "
    "struct other { struct base b; char c; }; struct derived d, e, row[4]; struct other o; int r; "
)
INHERITANCE = {
    "up and down": HEAD
    + "static void f(struct base *p) { ((struct derived *)p)->x += p->ev & 7; ((struct mid *)p)->m++; } "
    "void step(unsigned char a, short v) { struct base *p = a & 1 ? (struct base *)&d : &e.m.b; p->ev = v; f(p); "
    "r = ((struct derived *)p)->x & 255; d.x &= 1023; e.x &= 1023; }",
    "a member that tells the type": HEAD
    + "void step(unsigned char a, int v) { struct base *p = a & 1 ? (struct base *)&d : &o.b; "
    "p->k = a & 1; p->ev = v; if (p->k) ((struct derived *)p)->x = v; else ((struct other *)p)->c = v; r = p->ev; }",
    "as state and in tables": HEAD + "static struct base *now = &d.m.b; static struct derived *both[2] = {&d, &e}; "
    "void step(unsigned char a, int v) { if (a & 1) now = (struct base *)both[(a >> 1) & 1]; now->ev = v; "
    "((struct derived *)now)->x = a; r = (struct derived *)now == &d; if (a & 8) both[1] = (struct derived *)now; }",
    "through functions": HEAD
    + "typedef void fn(struct base *, int); static void one(struct base *p, int v) { ((struct mid *)p)->m = v; } "
    "static void two(struct base *p, int v) { ((struct derived *)p)->x = v; } static fn *const t[2] = {one, two}; static fn *h = one; "
    "void step(unsigned char a, int v) { h((struct base *)&d, v); h = t[a & 1]; t[a >> 7]((struct base *)&e, a); }",
    "elements of an array": HEAD
    + "void step(unsigned char a, int v) { struct base *p = (struct base *)&row[a & 3]; p->ev = v; "
    "struct derived *q = (struct derived *)p; if ((a & 3) < 3) q++; q->m.m = 3; q[0].x = a; r = q - row; }",
    "unions": "struct p { int a; short b; }; union u { struct p p; unsigned w; unsigned char c[8]; }; struct t { union u u; int k; } t; "
    "union u u; int r; void step(unsigned char a, int v) { struct p *p = (struct p *)&u; p->a = v; p->b = 1; union u *q = (union u *)p; "
    "q->c[5] = a; t.u.w = v; r = *(unsigned *)&t; ((struct t *)&t.u.p)->k = v; }",
    "scalars and elements": "struct p { int a; short b; } p; static float f[2][3]; int r; void step(unsigned char a, int v) { "
    "*(int *)&p = v; r = ((struct p *)&p.a)->b; p.b = a; float (*w)[3] = f; r += *(float *)w > 1; f[0][0] = a; }",
    "void between": HEAD
    + "static void f(void *p, int v) { struct mid *m = p; m->m = v; struct base *b = p; b->ev = v; } "
    "void step(unsigned char a, int v) { f(a & 1 ? (void *)&d : (void *)&e, v); r = ((struct base *)(void *)&d)->ev; }",
    "distance in bytes": "static int t[8]; int r; void step(unsigned char a) { r = (char *)&t[a & 7] - (char *)t; t[a & 3] = r; }",
}
ARGUMENTS = "#include <stdarg.h>\n#include <stdio.h>\nint r; unsigned u; double d; void trace(const char *text, ...);\n"
SUM = ARGUMENTS + (
    "static int sum(int n, ...) { va_list l; va_start(l, n); int s = 0; for (int k = 0; k < n; k++) s += va_arg(l, int); "
    "va_end(l); return s; } static int last(int n, ...) { va_list l; va_start(l, n); int s = 0; while (n-- > 0) s = va_arg(l, int); "
    "va_end(l); return s; } static int taking(int n, va_list l) { int s = 0; while (n--) s += va_arg(l, int); return s; } "
)
VARIADIC = {
    "a number of arguments": SUM
    + "void step(unsigned char a, short b) { r = sum(3, a, b, 7) + sum(0) + sum(1, (char)b); }",
    "a number that is not constant": SUM + "void step(unsigned char a, short b) { r = sum(a & 3, a, b); }",
    "through a pointer": SUM
    + "int (*p)(int, ...) = sum; void step(unsigned char a, short b) { r = p(2, a, b); p = a & 1 ? sum : last; }",
    "all types": ARGUMENTS
    + "struct p { int a; char c; }; static void f(const char *form, ...) { va_list l; va_start(l, form); for (; *form; form++) "
    "switch (*form) { case 'i': r = va_arg(l, int); break; case 'd': d = va_arg(l, double); break; case 'u': u = va_arg(l, unsigned); break; "
    "case 's': { struct p q = va_arg(l, struct p); r += q.c; break; } case 'p': *va_arg(l, int *) = 3; break; case 'l': r ^= (int)va_arg(l, long); } "
    'va_end(l); } void step(unsigned char a, short b, float x, long y) { struct p q = {a, b}; int z; f("id", a, x); f("spul", q, &z, b, y); r ^= z; }',
    "a copy": ARGUMENTS
    + "static int f(int n, ...) { va_list l, m; va_start(l, n); int s = va_arg(l, int); va_copy(m, l); s += va_arg(m, int) * 2; "
    "va_end(m); s += va_arg(l, int) * 4; va_end(l); return s; } void step(char a, char b) { r = f(2, a, b); }",
    "passed on": SUM
    + "static int f(int n, ...) { va_list l; va_start(l, n); int s = taking(n, l); va_end(l); return s; } "
    "void step(char a, char b) { r = f(2, a, b); }",
    "passed on by address": ARGUMENTS
    + "static int taking(int n, va_list *l) { int s = 0; while (n--) s += va_arg(*l, int); return s; } "
    "static int f(int n, ...) { va_list l; va_start(l, n); int s = taking(1, &l) - va_arg(l, int); va_end(l); return s; } "
    "void step(char a, char b) { r = f(2, a, b); }".replace(
        "int s = taking(1, &l) - va_arg(l, int)", "int s = taking(1, &l); s -= va_arg(l, int)"
    ),
    "traces": ARGUMENTS
    + "static void own(const char *text, ...) { va_list l; va_start(l, text); vprintf(text, l); va_end(l); } "
    'void step(unsigned char a) { r = a; trace("%d %s\\n", a, "text"); if (0) own("%d", a); if (0) fprintf(stderr, "%d", r); (void)trace("."); }',
    "texts that nothing reads": ARGUMENTS + "void step(unsigned char a) { char text[40], few[4]; "
    'sprintf(text, "%d: %s %5.2u%c%%", a, "xx", 3u, a); snprintf(few, sizeof few, "%f", a * 0.5); trace("x"); r = a; }',
}
BLOCKS = (
    "#include <string.h>\nstruct p { int a; short b; unsigned char c; } p, q = {1, 2, 3}; static struct p y, z; int r; "
    "static const struct p k = {1, 2, 3}; unsigned char b[8], c[12] = {1, 2, 3, 4}; int w[4], v[4] = {1, -2, 3, -4}; double d[2], e[2] = {1, 2.5}; "
)
SIZES = {
    "bytes": BLOCKS
    + "void step(unsigned char n, unsigned char x) { if (n > 7) n = 7; memcpy(b, c, n); c[0] = x; memset(c + 2, x, n & 3); "
    "r = memcmp(b, c, n & 7) != 0; memmove(c + 1, c, n); }",
    "whole numbers": BLOCKS
    + "void step(unsigned char n, int x) { n &= 3; memcpy(w, v, n * sizeof(int)); v[n] = x; memset(w, 0, n * sizeof *w); "
    "memcpy(d, e, (n & 1) * sizeof(double)); }",
    "parts of numbers": BLOCKS
    + "void step(unsigned char n, int x) { memcpy(w, v, n & 15); v[n & 3] = x; memset(&p, n, n & 7); memcpy(&q, &w[1], n & 7); }",
    "parts of a double": BLOCKS + "void step(unsigned char n, float x) { d[0] = x; memcpy(d, e, n & 15); }",
    "several objects": BLOCKS + "void step(unsigned char n, unsigned char x) { unsigned char *t = x & 1 ? b : c + 3; "
    "memcpy(t, x & 2 ? c + 8 : (unsigned char *)w, n & 3); r = t[1]; w[0] = x; }",
    "blocks that may overlap": BLOCKS
    + "void step(unsigned char n, unsigned char x) { memcpy(c + 2, c, n & 3); c[0] = x; }",
    "a size out of range": BLOCKS + "void step(unsigned char n, unsigned char x) { memcpy(b, c, n & 15); c[0] = x; }",
    "padding of static objects": BLOCKS
    + "void step(unsigned char n) { r = memcmp(&y, &z, sizeof y) != 0; r += ((unsigned char *)&k)[n % 8]; }",
    "extern in a block": "int r; static int g(void) { extern int there; extern short *two; return there + *two; } int there = 3; short w; short *two = &w; "
    "void step(short a) { extern int there; there ^= a & 7; w = a; r = g() & 255; }",
}
FEATURES = INHERITANCE | VARIADIC | SIZES


@pytest.mark.slow
@pytest.mark.parametrize("name", FEATURES)
def test_idiom_agrees(name: str, tmp_path: Path) -> None:
    found = agreement(read(tmp_path, FEATURES[name]), pairs=200)
    assert found.steps > 20
    assert not found.differences, found.differences[0]
    assert not found.traps, found.traps[0]


MACHINE = (
    "struct m; typedef void fn(struct m *, int); struct m { fn *st; int n; }; struct d { struct m m; int led; }; static struct d g; "
    "static void off(struct d *, int); static void on(struct d *me, int e) { me->led = e; me->m.n++; me->m.n &= 7; "
    "if (e & 1) me->m.st = (fn *)off; } static void off(struct d *me, int e) { me->led = -1; if (e & 2) me->m.st = (fn *)on; } "
    "void init(void) { g.m.st = (fn *)off; } static void run(struct m *me, int e) { me->st(me, e); } "
    "int r; void step(int e) { run((struct m *)&g, e); r = g.led; }"
)


def test_functions_of_a_derived_struct_are_called_by_the_users_word(tmp_path: Path) -> None:
    model = read(tmp_path, MACHINE, init=("init",), bases=True)
    found = agreement(model, pairs=200)
    assert found.steps > 190
    assert not found.differences, found.differences[0]
    assert any("functions.bases): off, on" in each for each in model.assumed)


def test_without_that_word_they_are_undefined(tmp_path: Path) -> None:
    model = read(tmp_path, MACHINE, init=("init",))
    assert {each.name for each in model.system.undefined_behaviour} == {
        "call of a function of another type than the pointer's, which functions.bases = true reads"
    }
    assert not [each for each in model.assumed if "bases" in each]


def test_other_types_stay_undefined_with_that_word(tmp_path: Path) -> None:
    text = (
        "struct a { int x; } g; struct b { int x; }; typedef void fn(struct a *); static void f(struct b *p) { p->x = 1; } "
        "void step(int e) { fn *p = e ? (fn *)f : 0; p(&g); }"
    )
    names = {each.name for each in read(tmp_path, text, bases=True).system.undefined_behaviour}
    assert "call of a function of another type than the pointer's" in names


def test_long_double_as_double_by_the_users_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled original is built with the same option."""
    file = tmp_path / "program.c"
    file.write_text(
        "#include <float.h>\nlong double l; double d; int r; void step(double x, int a) { l = x * 2.0L + a; d = l; "
        "r = (int)(l > 3.5L) + sizeof(long double) + (LDBL_MAX > 1e300L) + LDBL_DIG + "
        "_Generic(l, double: 1, long double: 2, default: 3); }"
    )
    options = Options(["-mlong-double-64"], str(tmp_path), None)
    config = SourceConfig(
        "program", (str(file),), step="step", dialect=options.dialect, options={str(file): options.of_file}
    )
    fresh_environment()
    model = read_c(config)
    found = agreement(model, pairs=200)
    assert found.steps == 200
    assert not found.differences, found.differences[0]
    assert "long double is computed as double (-mlong-double-64)" in model.assumed


UNDEFINED = {
    "a negative size": (BLOCKS + "void step(int n) { if (n > 3) memcpy(b, c, -7); }", "index out of range: memcpy"),
    "a size beyond an object": (
        BLOCKS + "void step(unsigned char n) { memcpy(b, c, n); }",
        "index out of range: memcpy",
    ),
    "blocks that overlap": (
        BLOCKS + "void step(unsigned char n) { memcpy(c + 2, c, n & 3); }",
        "memcpy between bytes that overlap",
    ),
    "past the last argument": (
        SUM + "void step(unsigned char a) { r = sum(a & 3, 1, 2); }",
        "va_arg past the last argument",
    ),
    "an argument of another type": (
        SUM + "void step(unsigned char a) { r = a ? sum(1, 3) : sum(1, 5l); }",
        "va_arg of another type",
    ),
    "a type that is promoted": (
        ARGUMENTS
        + "static int f(int n, ...) { va_list l; va_start(l, n); int s = n ? va_arg(l, char) : 0; va_end(l); return s; } "
        "void step(unsigned char a, char b) { r = f(a & 1, b); }",
        "va_arg of another type",
    ),
    "after va_end": (
        ARGUMENTS + "static int f(int n, ...) { va_list l; va_start(l, n); va_end(l); return n ? va_arg(l, int) : 0; } "
        "void step(unsigned char a) { r = f(a & 1, 2); }",
        "uninitialised read",
    ),
    "another derived struct": (
        HEAD
        + "void step(unsigned char a, int v) { struct base *p = a & 1 ? (struct base *)&d : &o.b; ((struct derived *)p)->x = v; }",
        "access to a struct base as struct derived",
    ),
    "past the end": (
        HEAD + "void step(unsigned char a) { struct base *p = (struct base *)(row + (a & 4)); p->ev = 3; }",
        "access past the end of an array",
    ),
    "the end and another object": (
        HEAD + "void step(unsigned char a) { r = (struct base *)(row + (a & 4)) == (struct base *)&d; }",
        "pointer past the end compared",
    ),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_undefined_in_some_steps(name: str, tmp_path: Path) -> None:
    text, kind = UNDEFINED[name]
    model = read(tmp_path, text)
    assert any(kind in each.name for each in model.system.undefined_behaviour)


REFUSED = {
    "padding before a change": (
        BLOCKS + "void step(int n) { r = memcmp(&y, &z, sizeof y) != 0; z.a = n; }",
        "that nothing has set, such as padding",
    ),
    "padding after a change": (BLOCKS + "void step(int n) { z.a = n; r = memcmp(&y, &z, sizeof y) != 0; }", "that nothing has set, such as padding"),
    "a list that a function has taken from": (
        SUM + "static int f(int n, ...) { va_list l; va_start(l, n); int s = taking(1, l); s += va_arg(l, int); va_end(l); return s; } "
        "void step(char a, char b) { r = f(2, a, b); }",
        "to which it was passed, has taken arguments",
    ),
    "two arguments in no order": (
        ARGUMENTS + "static int f(int n, ...) { va_list l; va_start(l, n); int s = va_arg(l, int) - va_arg(l, int); va_end(l); return s; } "
        "void step(char a) { r = f(2, a, 1); }",
        "in no given order",
    ),
    "a function that may fill": (ARGUMENTS + 'void step(char a) { trace("%n", &r); }', "might change what its argument 2 points to"),
    "a text that is read": (ARGUMENTS + 'void step(char a) { char t[20]; sprintf(t, "%d", a); r = t[0]; }', "use of the text"),
    "a text that may not fit": (ARGUMENTS + 'void step(char a) { char t[4]; sprintf(t, "%d", a); }', "which has fewer"),
    "a text that is kept": (ARGUMENTS + 'char t[40]; void step(char a) { sprintf(t, "%d", a); }', "no array of a block"),
    "a length of a text": (ARGUMENTS + 'void step(char a) { char t[40]; r = sprintf(t, "%d", a); }', "whose value is used"),
    "no derived struct": (HEAD + "struct base z; void step(int v) { struct base *p = &z; ((struct derived *)p)->x = v; }", "another type than its own"),
    "a struct with alike members": (
        HEAD + "struct alike { int ev; short k; }; void step(int v) { if (v & 1) ((struct alike *)&d)->ev = v; }",
        "another type than its own",
    ),
    "bases in a row": (HEAD + "void step(int v) { struct base *p = (struct base *)row; p++; p->ev = v; }", "no array"),
    "steps of another size": (
        "static short t[8]; int r; void step(unsigned char a) { short *p = (short *)((int *)t + 1); r = *p; t[a & 7] = a; }",
        "moves through the bytes of another object",
    ),
    "bytes of elements": (
        "static int t[8]; int r; void step(unsigned char a) { char *p = (char *)t; p += 4; r = *(int *)p; t[a & 7] = a; }",
        "another type than its own",
    ),
    "distance in other elements": (
        "static int t[8]; int r; void step(unsigned char a) { r = (short *)&t[a & 7] - (short *)t; }",
        "difference of pointers into an object of another type",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    text, reason = REFUSED[name]
    assert reason in refusal(tmp_path, text).message
