"""What lies outside the supported C is refused with file, line and name, but only where it can be reached."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import fresh_environment, own_environment, read, refusal  # noqa: F401

from bmc.errors import ChainCoverError, InputRefused, UnsupportedConstruct
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.execute import statements

UNSUPPORTED = {
    "address behind a number": (
        "int x; void step(int a) { int *p = &x;\n r = &p[1] - p; }",
        "pointer past an object that is no array",
        2,
    ),
    "pointer through the halves of a number": (
        "unsigned x; void step(int a) { x = a;\n r = *((short *)&x + 1); }",
        "moves through the bytes of another object",
        2,
    ),
    "goto into a block": ("void step(int a) {\n goto x; { x: r = 1; } }", "goto into a block", 2),
    "goto without an end": ("void step(int a) {\n x: r++; goto x; }", "loop without a constant bound", 2),
    "union": ("union U { int a; char *b; } u; void step(int a) {\n u.a = a; }", "union with an address", 2),
    "unnamed union": ("struct S { union { int a; int *b; }; } s; void step(int a) {\n s.a = a; }", "union with", 2),
    "copy of a union": ("struct S { union { int *a; } u; } s, t; void step(int a) {\n s = t; }", "union with", 2),
    "union with a long double": ("union { long double d; int i; } u; void step(int a) {\n u.i = a; }", "union", 2),
    "copy of bytes half set": (
        "#include <string.h>\nlong t; void step(int a) { struct { char c; int i; } s; s.c = 1; s.i = a;\n memcpy(&t, &s, 8); }",
        "of which only some are set",
        3,
    ),
    "byte of an unset number": (
        "void step(int a) { int x;\n *(char *)&x = a; r = x; }",
        "a change of some bytes of 'x' that may not all be set",
        2,
    ),
    "bytes of a state that may be unset": (
        "struct S { unsigned char b[2]; unsigned short n; };\nvoid step(struct S *s, int a) {\n *(unsigned char *)&s->n = s->b[0]; r = s->n; s->b[1] = a; }",
        "a change of some bytes of 's' that may not all be set",
        3,
    ),
    "assignment of overlapping structs": (
        "struct A { int x, y; }; union { struct { int k; struct A a; } b; struct A a; } u; void step(int a) {\n u.b.a = u.a; }",
        "assignment between members of 'u' that overlap",
        2,
    ),
    "bytes of an address": (
        "#include <string.h>\nint *p = &r; char b[8]; void step(int a) {\n memcpy(b, &p, 8); }",
        "the bytes of an address (in 'p')",
        3,
    ),
    "memcmp of padding": (
        "#include <string.h>\nvoid step(int a) { struct { char c; int i; } s = {1, a}, t = {2, a};\n r = !memcmp(&s, &t, 8); }",
        "memcmp of bytes that nothing has set, such as padding",
        3,
    ),
    "memcmp as a number": (
        "#include <string.h>\nint t, u; void step(int a) {\n r = memcmp(&u, &t, 4); }",
        "'memcmp' used as a number",
        3,
    ),
    "pack inside a struct": (
        "struct S { char c;\n#pragma pack(1)\n int x; } s; void step(int a) {\n s.x = a; }",
        "#pragma pack in a struct",
        2,
    ),
    "recursion without an end": ("int f(int a) {\n return f(a); } void step(int a) { r = f(a); }", "calls nested", 2),
    "endless loop": ("void step(int a) {\n for (;;) { if (a > 3) break; } }", "this loop never ends", 2),
    "endless loop without exit": ("void step(int a) {\n for (;;) { r ^= 1; } }", "this loop never ends", 2),
    "variable-length array": ("void step(int a) {\n int t[a]; r = t[0]; }", "array of variable length", 2),
    "arithmetic on void": ("void step(int a) {\n void *p = &r; p++; }", "pointer arithmetic", 2),
    "past an object that is no array": ("void step(int a) {\n int *p = &r; p += a; }", "pointer arithmetic", 2),
    "pointer to integer": ("void step(int a) {\n r = (long)&r; }", "conversion of a pointer to an integer", 2),
    "integer to pointer": (
        "void step(int a) {\n r = *(int *)(long)(a + 0x4000); }",
        "conversion of an integer to a pointer",
        2,
    ),
    "inline assembly": ('void step(int a) {\n __asm__ volatile ("nop" : : "r"(a) : "memory"); }', "inline assembly", 2),
    "assembly without a text that yields a value": (
        'void step(int a) {\n __asm__ ("" : "=r"(r) : "r"(a)); }',
        "inline assembly",
        2,
    ),
    "malloc": ("#include <stdlib.h>\nvoid step(int a) { int *p =\n malloc(4); }", "'malloc' is called", 3),
    "missing definition": ("int f(int a); void step(int a) {\n r = f(a); }", "'f' is called but not defined", 2),
    "undeclared function": ("void step(int a) {\n r = f(a); }", "'f' is called but not defined", 2),
    "setjmp": ("#include <setjmp.h>\njmp_buf b; void step(int a) {\n r = setjmp(b); }", "'setjmp' is called", 3),
    "memcpy of parts that overlap": (
        "#include <string.h>\nint t[4]; void step(int a) {\n memcpy(t, &t[1], 8); }",
        "that overlap",
        3,
    ),
    "goto into a loop": (
        "void step(int a) {\n if (a) goto in; while (r < 3) { in: r++; } }",
        "goto",
        2,
    ),
    "type punning": ("void step(int a) {\n r = *(short *)&a; }", "another type than its own", 2),
    "struct punning": (
        "struct A { int x; } p; struct B { int x; }; void step(int a) {\n ((struct B *)&p)->x = a; }",
        "another type than its own",
        2,
    ),
    "case inside a block": ("void step(int a) { switch (a) { case 0: break; {\n case 1: r = 1; } } }", "case label", 2),
    "case inside a loop": (
        "void step(int a) { switch (a) { case 0: while (r) {\n case 1: r = 0; } } }",
        "case label",
        2,
    ),
    "order of operands": ("void step(int a) {\n r = a++ + a; }", "no given order", 2),
    "order of arguments": ("int f(int x, int y) { return x; } void step(int a) {\n r = f(a, a++); }", "no given", 2),
    "assignment to what a call changes": (
        "int f(void) { r = 3; return 1; } void step(int a) {\n r += f(); }",
        "no given order",
        2,
    ),
    "wide character": ("void step(int a) {\n r = L'a'; }", "character constant L'a'", 2),
    "several characters": ("void step(int a) {\n r = 'ab'; }", "character constant 'ab'", 2),
    "wide string": ('void step(int a) {\n r = sizeof L"a"; }', "wide string", 2),
    "large constant": ("void step(int a) {\n r = 0x1FFFFFFFFFFFFFFFF > 0; }", "too large", 2),
    "128-bit integer": ("__int128 x; void step(int a) {\n x = a; }", "__int128", 1),
    "aligned pointer": (
        "int k; struct S { int *__attribute__((aligned(16))) x; } s; void step(int a) {\n r = 1; }",
        "attribute 'aligned' of this form",
        1,
    ),
    "mode attribute": ("int k;\ntypedef int word __attribute__((mode(TI))); void step(int a) { r = 1; }", "mode", 2),
}

EVERYWHERE = ("assembly outside", "mode attribute", "aligned pointer")
"""What the parser cannot attach to anything that could be unreachable."""


def with_result(text: str) -> str:
    """``text`` with a global ``r`` in its first line of C."""
    return text.replace("\n", "\nint r; ", 1) if text.startswith("#include") else "int r; " + text


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_construct(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop is followed for fewer rounds than usual."""
    monkeypatch.setattr(statements, "CONSTANT_LOOP_LIMIT", 3000)
    text, construct, line = UNSUPPORTED[name]
    error = refusal(tmp_path, with_result(text))
    assert isinstance(error, UnsupportedConstruct), error
    assert construct in error.message
    assert error.where is not None
    assert error.where.file.endswith("program.c")
    assert error.where.line == line


REFUSED = {
    "missing header": ('\n#include "nowhere.h"\nvoid step(int a) {}', "'nowhere.h' not found", 2),
    "#error": ("#if 1\n#error wrong target\n#endif\nvoid step(int a) {}", "#error wrong target", 2),
    "syntax error": ("void step(int a) {\n r = ; }", "C syntax error", 2),
    "missing operand": ("void step(int a) {\n r = a ? 3 : ; }", "C syntax error", 2),
    "unbalanced braces": ("void step(int a) {\n if (a) { r = 1; }", "C syntax error", 0),
    "two definitions": ("int f(void) { return 0; }\nint f(void) { return 1; } void step(int a) {}", "defined twice", 2),
    "two mains": ("int main(void) { return 0; }\nint main(void) { return 1; } void step(int a) {}", "defined twice", 2),
    "two initialisers": ("int k = 1;\nint k = 2; void step(int a) {}", "initialised twice", 2),
    "two types of one object": ("extern char k;\nint k; void step(int a) {}", "declared as int here and as char", 2),
    "struct twice": ("struct S { int a; };\nstruct S { int b; }; void step(int a) {}", "defined twice", 2),
    "double case": ("void step(int a) { switch (a) { case 1: break;\n case 1u: r = 2; } }", "two equal case labels", 2),
    "double default": (
        "void step(int a) { switch (a) { default: break;\n default: r = 2; } }",
        "two default labels",
        2,
    ),
    "case without switch": ("void step(int a) {\n case 1: r = 2; }", "case label outside", 2),
    "case with a variable": ("void step(int a) { switch (a) {\n case r: r = 2; } }", "integer constant is needed", 2),
    "break outside": ("void step(int a) {\n break; }", "outside of a loop", 2),
    "unknown name": ("void step(int a) {\n r = q; }", "unknown name 'q'", 2),
    "no such member": ("struct S { int a; } s; void step(int a) {\n r = s.b; }", "no member 'b'", 2),
    "incomplete type": ("struct S; struct S *s; void step(int a) {\n r = s->b; }", "never defined", 2),
    "bytes of a const object": (
        "#include <string.h>\nconst int k = 1; void step(int a) {\n memset((void *)&k, a, 2); }",
        "memset changes the const object 'k'",
        3,
    ),
    "address of a bit-field": (
        "struct { int a : 3; } s; void step(int a) {\n int *p = (void *)&s.a; }",
        "no address",
        2,
    ),
    "size of a bit-field": ("struct { int a : 3; } s; void step(int a) {\n r = sizeof s.a; }", "of a bit-field", 2),
    "too wide a bit-field": ("\nstruct { int a : 33; } s; void step(int a) { s.a = 1; }", "has 33 bits", 2),
    "bit-field of a float": ("\nstruct { float a : 3; } s; void step(int a) { s.a = 1; }", "is no integer", 2),
    "alignment that is no power": (
        "\nstruct { int a __attribute__((aligned(3))); } s; void step(int a) { s.a = 1; }",
        "an alignment of 3 bytes",
        2,
    ),
    "size of an incomplete type": ("struct S; void step(int a) {\n r = sizeof(struct S); }", "never defined", 2),
    "const assigned": ("static const int t[2] = {1, 2}; void step(int a) {\n t[a & 1] = 3; }", "const object 't'", 2),
    "const through a pointer": ("const int k = 1; void step(int a) {\n *(int *)&k = 3; }", "const object 'k'", 2),
    "too many initialisers": ("int t[2] =\n {1, 2, 3}; void step(int a) { r = t[0]; }", "too many", 2),
    "designator outside": ("int t[2] =\n {[2] = 3}; void step(int a) { r = t[0]; }", "which is not there", 2),
    "initialiser that is no constant": ("int k; int q =\n k; void step(int a) { r = q; }", "no constant", 2),
    "extern without definition": ("\nextern int k; void step(int a) { r = k; }", "no source file defines it", 2),
    "extern table": ("\nextern const int k[2]; void step(int a) { r = k[1]; }", "no source file defines it", 2),
    "static assertion": ('\n_Static_assert(sizeof(long) == 4, "long"); void step(int a) {}', "static assertion", 2),
    "wrong number of arguments": ("int f(int x) { return x; } void step(int a) {\n r = f(a, a); }", "1 argument", 2),
    "void used": ("void f(void) {} void step(int a) {\n r = f(); }", "void value", 2),
    "struct as a number": ("struct S { int a; } s; void step(int a) {\n r = s + 1; }", "scalar value", 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_input(name: str, tmp_path: Path) -> None:
    text, message, line = REFUSED[name]
    error = refusal(tmp_path, with_result(text))
    assert isinstance(error, InputRefused)
    assert message in error.message
    assert error.where is not None
    assert error.where.file.endswith("program.c")
    assert error.where.line == line or not line


@pytest.mark.parametrize("name", [n for n in UNSUPPORTED if n not in EVERYWHERE])
def test_unreachable_code_is_not_refused(name: str, tmp_path: Path) -> None:
    text = UNSUPPORTED[name][0].replace("step(", "unused(")
    assert read(tmp_path, with_result(text) + "\nvoid step(int a) { r = a; }").names[0] == "a"


def test_unreachable_objects_are_not_refused(tmp_path: Path) -> None:
    text = """
    double gains[] = {1.5, 2.5e3}; union { int a; char *f; } u = {3}; static int f(void) { return 1; }
    int (*table[])(void) = {f}; struct { unsigned a : 3; } bits = {5}; _Complex double z; int q = (int)1.5;
    typedef struct { union { int x; char y[4]; }; double d; } mixed; mixed m; extern int elsewhere;
    int unused(int n, int t[n]) { return elsewhere + t[0]; }
    int r; void step(int a) { r = a; }
    """
    assert read(tmp_path, text).names == ["a", "r"]


def test_unsupported_code_in_a_property_function_is_refused_later(tmp_path: Path) -> None:
    """A function named as a root is not run when the controller is read, but its globals belong to the model."""
    text = "int r, k; void step(int a) { r = a; } void p(void) { k = 1; }"
    fresh_environment()
    (tmp_path / "p.c").write_text(text)
    model = read_c(SourceConfig("p", (str(tmp_path / "p.c"),), step="step"), ["p"])
    assert set(model.names) == {"a", "r", "k"}


def test_extern_input_needs_no_definition(tmp_path: Path) -> None:
    model = read(tmp_path, "extern volatile unsigned char PORT; int r; void step(void) { r = PORT; }", input=("PORT",))
    assert [v.name for v in model.inputs] == ["PORT"]


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ChainCoverError) as caught:
        read_c(SourceConfig("p", (str(tmp_path / "none.c"),), step="step"))
    assert "cannot read the source file" in str(caught.value)


def test_a_struct_by_value_is_refused_with_the_step_that_is_read(tmp_path: Path) -> None:
    """The lines of the hint are C that makes the same of objects."""
    text = (
        "typedef struct { int a; char b; } in_t; struct out { int y; };\n"
        "struct out step(in_t in, int k) { struct out o = {in.a + k}; return o; }\n"
    )
    error = refusal(tmp_path, text)
    keys, _, code = error.hint.partition(": in_t in;")
    assert keys.endswith('functions.step = "tick" and interface.input = ["in.*", "k"]')
    model = read(tmp_path, f"{text}in_t in;{code}", step="tick", input=("in.*", "k"))
    assert [(each.name, each.role) for each in model.variables] == [
        ("in.a", "input"),
        ("in.b", "input"),
        ("k", "input"),
        ("result.y", "output"),
    ]
    (note,) = (
        each for each in read(tmp_path, text.replace("in_t in, ", "").replace("in.a + ", "")).notes if "ignored" in each
    )
    assert note.endswith("int k; struct out result; void tick(void) { result = step(k); }")
