"""Names and orders that are easily misread: block-scope declarations, initialiser lists, string literals."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal  # noqa: F401

from bmc.native.original import compiled
from bmc.system.simulation import Simulator

NAMES = 'static const char *const nm[2] = { "one", "two" }; static const char *const alone = "six";'
PROGRAMS = {
    "extern looks past a local": "int g = 5; int r; void step(int x) { int g = 9; g += x & 1; { extern int g; r = g; } }",
    "extern looks past a parameter": "int g = 5; int r; static int pick(int g) { { extern int g; g ^= 1; r = g; } return g; } void step(int x) { int p = pick(x); r += p & 7; }",
    "extern at the start of the function": "int g = 5; int r; void step(int x) { extern int g; g ^= x; r = g; }",
    "extern in a loop": "int g = 5; int r; void step(int x) { r = 0; for (int k = 0; k < 3; k++) { int g = k; r += g & x; { extern int g; r += g; } } }",
    "extern before the first case": "int g = 5; int r; void step(unsigned char x) { int g = 9; switch (x & 1) { extern int g; case 0: r = g; break; default: r = g + 1; } r += g; }",
    "statics before the first case and after a break": "int r, n; void step(unsigned char x) { switch (x & 3) { static const int t[2] = {3, 4}; static int count = 5; case 0: r = t[0]; count++; break; case 1: r = t[1] + count; break; static const int u[2] = {7, 8}; case 2: r = u[1]; n = count; break; default: r = u[0] + t[x >> 7]; } }",
    "an array's length is left out": "int g[3] = {1, 2, 3}; int r; void step(unsigned char x) { int g = x; { extern int g[]; r = g[2]; } r ^= g; }",
    "a function looks past a local": "int g(void) { return 4; } int r; void step(int x) { int g = x; { int g(void); r = g(); } r ^= g; }",
    "effects in a list, each alone": "int r; static int up(int *p) { *p += 1; return *p; } void step(int x) { int k = x & 7, m = x & 3, c = 2; int a[4] = { k++, up(&m), c, c }; r = a[0] + a[1] * a[2] + a[3] + k + m; }",
    "an element with effects of its own": "int r; void step(int x) { int k = x & 7; struct { int a, b; } s = { .b = (k++, k + 1), .a = x }; r = s.a ^ s.b ^ k; }",
    "a list in a list": "int r; void step(int x) { int k = x & 7, m = 1; struct { int a[2]; int b; } s = { { k++, m }, x }; r = s.a[0] ^ s.a[1] ^ s.b ^ k; }",
    "a function with lists of its own": "int r; static int two(int x) { int k = x & 3; int a[2] = { k, k }; return a[0] + a[1]; } void step(int x) { int a[2] = { two(x), two(x + (x < 9)) }; r = a[0] ^ a[1]; }",
    "a function with a table, in a list and a sum": "int r; static int at(int k) { static const int t[2] = {3, 5}; return t[k & 1]; } void step(int x) { int a[2] = { at(x), at(1) }; r = a[0] ^ a[1]; r += at(x) + at(0); }",
    "strings in a table": NAMES
    + " int r; void step(unsigned char x) { const char *n = nm[x & 1]; r = n[1] + alone[x & 3]; }",
    "strings in a table of the function": "int r; void step(unsigned char x) { "
    + NAMES
    + " const char *n = nm[x & 1]; r = n[1] + alone[x & 3]; }",
    "strings in a struct": 'struct E { const char *name; int code; }; static const struct E t[2] = { { "ab", 3 }, { "c", 4 } }; int r; void step(unsigned char x) { const struct E *e = &t[x & 1]; r = e->name[0] + e->code; }',
}


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_is_read_as_compiled(name: str, tmp_path: Path) -> None:
    model = read(tmp_path, PROGRAMS[name])
    with compiled(model.native) as original:
        (after_init,) = original.run([])
    start = Simulator(model.system).initial()
    assert {v: start[v] for v in after_init if v in start} == {v: after_init[v] for v in after_init if v in start}
    found = agreement(model, pairs=60)
    assert found.steps > 20
    assert not found.differences, found.differences[0]


def test_extern_means_the_object_of_the_file(tmp_path: Path) -> None:
    simulator = Simulator(read(tmp_path, PROGRAMS["extern looks past a local"]).system)
    assert [simulator.step(simulator.initial(), {"x": x})["r"] for x in (0, 1)] == [5, 5]


def test_a_string_in_a_table_has_its_bytes(tmp_path: Path) -> None:
    simulator = Simulator(read(tmp_path, PROGRAMS["strings in a table"]).system)
    read_as = [simulator.step(simulator.initial(), {"x": x})["r"] for x in range(4)]
    assert read_as == [ord("n") + ord("s"), ord("w") + ord("i"), ord("n") + ord("x"), ord("w")]


NO_ORDER = "is changed and used in one initialiser list in no given order"
HELP = "int r; static int up(int *p) { *p += 1; return *p; } static int get(void) { static int n; return n++; }"
REFUSED = {
    "designators": ("int a[2] = { [1] = k++,\n [0] = k }; r = a[0];", 4, f"'k' {NO_ORDER}"),
    "read behind a change": ("int a[2] = { k++,\n k }; r = a[0];", 4, f"'k' {NO_ORDER}"),
    "read before a change": ("int a[2] = { k,\n k++ }; r = a[0];", 4, f"'k' {NO_ORDER}"),
    "changed by calls": ("int a[2] = { up(&k),\n up(&k) }; r = a[0];", 4, f"'k' {NO_ORDER}"),
    "static in a function": ("int a[2] = { get(),\n get() }; r = a[0];", 4, f"'get::n' {NO_ORDER}"),
    "in inner braces": ("struct { int a[2], b; } s = { { 1, k },\n k++ }; r = s.b;", 4, f"'k' {NO_ORDER}"),
    "in a compound literal": ("r = ((struct { int a, b; }) { k++,\n k }).b;", 4, f"'k' {NO_ORDER}"),
    "reads itself": ("int a[2] = { [1] = 3, [0] = a[1] }; r = a[0];", 3, "'a[1]' is read in its own initialiser list"),
    "another type": (
        "int b = k;\n { extern short r; k = r; }",
        4,
        "'r' is declared as short here, and as something else",
    ),
    "no such object": (
        "int b = k;\n { extern int b; r = b; }",
        4,
        "'b' is declared extern, but no source file defines it",
    ),
    "twice in a block": ("int r = 3;\n extern int r; k = r;", 4, "'r' is declared twice in one block"),
    "an object as a function": ("int b = k;\n { int r(void); k = r(); }", 4, "as something else at file scope"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_order_or_no_object_is_refused(name: str, tmp_path: Path) -> None:
    body, line, message = REFUSED[name]
    error = refusal(tmp_path, f"{HELP}\nvoid step(int x) {{ int k = x & 7;\n{body} }}")
    assert message in str(error)
    assert error.where is not None
    assert error.where.line == line
