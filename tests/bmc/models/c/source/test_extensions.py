"""What compilers add to C: pragmas, attributes and keywords in all places, read over, read exactly, or refused."""

# ruff: noqa: E501 (C programs in tables)

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import fresh_environment, own_environment, refusal  # noqa: F401
from command_line import chaincover, write_files

PROJECT = '[sources]\nfiles = ["x.c"]\n{more}[functions]\nstep = "step"\ninit = []\n'
LOOP = '{ int i; _Pragma( "loopbound min 0 max 64" ) for (i = 0; i < 4; i++) n += a & 1; n &= 7; }'
READ = {
    "_Pragma between type and name": 'int n; void _Pragma ( "entrypoint" ) step(int a) { n = a; }',
    "_Pragma before a loop": f"int n; void step(int a) {LOOP}",
    "_Pragma in an expression": 'int n; void step(int a) { n = _Pragma("x") a; }',
    "_Pragma in a struct": 'struct S { int a; _Pragma("y") int b; } s; void step(int a) { s.a = a; s.b = 1; }',
    "_Pragma in a macro": "#define DO(x) _Pragma(#x)\nint n; DO(omp parallel) void step(int a) { DO(z) n = a; }",
    "#pragma in a struct": "struct S { int a;\n#pragma x\nint b; } s; void step(int a) { s.a = a; s.b = 1; }",
    "#pragma before else": "int n; void step(int a) { if (a)\n#pragma x\nn = 1; else\n#pragma y\nn = 2; }",
    "#pragma between parameters": "int n; void step(int a\n#pragma z\n, int b) { n = a ^ b; }",
    "#pragma after typedef": "typedef\n#pragma q\nint T; T n; void step(T a) { n = a; }",
    "pack": "#pragma pack(push, 1)\ntypedef struct { char a; int b; } T;\n#pragma pack(pop)\n"
    "T t; void step(int a) { t.b = a; t.a = sizeof t; }",
    "_Pragma pack": '_Pragma("pack(push, 1)")\ntypedef struct { char a; int b; } T;\n_Pragma("pack(pop)")\n'
    "T t; void step(int a) { t.b = a; t.a = sizeof t; }",
    "_Pragma pack by macros": "#define BEGIN(n) DO(pack(push, n))\n#define END DO(pack(pop))\n#define DO(x) _Pragma(#x)\n"
    "BEGIN(2) typedef struct { char a; int b; } T; END T t; void step(int a) { t.b = a; t.a = sizeof t; }",
    "attribute before a function": "int n; __attribute__((noinline)) void step(int a) { n = a; }",
    "attribute after the type": "int n; void __attribute__((noinline)) step(int a) { n = a; }",
    "attribute after the parameters": "int n; void step(int a) __attribute__((hot)); void step(int a) { n = a; }",
    "attribute of a parameter": "int n; void step(int a __attribute__((unused)), __attribute__((unused)) int b) { n = a; }",
    "attribute of a pointer": "int n; void step(int *__attribute__((nonnull)) a) { n = *a; }",
    "attribute of a variable": 'int n __attribute__((section(".x"), used)) = 3; void step(int a) { n = a; }',
    "attribute of a typedef": "typedef int T __attribute__((may_alias)); T n; void step(int a) { n = a; }",
    "attribute of a local": "int n; void step(int a) { int x __attribute__((unused)) = 2, y; y = a; n = x ^ y; }",
    "attribute as a statement": "int n; void step(int a) { switch (a) { case 1: n = 1; "
    "__attribute__((fallthrough)); default: n += 2; } n &= 15; }",
    "attribute of an enumerator": "typedef enum { A __attribute__((unused)), B } E; E e; void step(int a) { e = a ? A : B; }",
    "packed struct": "struct __attribute__((packed)) S { char a; int b; } s; void step(int a) { s.b = a; s.a = sizeof s; }",
    "expected branches": "int n; void step(int a) { if (__builtin_expect(a > 3, 0)) n = 1; else n = 2; }",
    "optimisation": '#pragma GCC optimize ("O2")\nint n; __attribute__((optimize("O1"))) void step(int a) { n = a; }',
    "unreached assembly": 'int n; void f(void) { __asm__("nop"); } void step(int a) { n = a; }',
}


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", READ)
def test_read_like_the_compiler_reads_it(name: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"x.c": READ[name], "p.toml": PROJECT.format(more="")})
    checked = chaincover("check", "p.toml", "--compare", "100", cwd=tmp_path)
    assert (checked.code, checked.err) == (0, "")
    assert "equal on 50 steps along random runs and 50 from random states" in checked.out


REFUSED = {
    "packed enumeration": (
        "int n;\ntypedef enum { A, B } __attribute__((packed)) E;\nvoid step(int a) { n = sizeof(E); }",
        2,
    ),
    "packed tagged enumeration": ("int n;\nenum E { A } __attribute__((packed)) e;\nvoid step(int a) { n = a; }", 2),
    "packed before the tag": ("int n;\nenum __attribute__((packed)) E { A } e;\nvoid step(int a) { n = a; }", 2),
    "_Pragma pack inside": (
        'int n;\nstruct S { char c; _Pragma("pack(1)") int b; } s;\nvoid step(int a) { n = a; }',
        2,
    ),
    "macros pushed": ('#define N 1\n#pragma push_macro("N")\nint n; void step(int a) { n = a; }', 2),
    "macros popped": ('int n;\nvoid step(int a) { _Pragma("pop_macro(\\"N\\")") n = a; }', 2),
    "byte order": ("int n;\n\n#pragma scalar_storage_order big-endian\nvoid step(int a) { n = a; }", 3),
    "inexact floats": ('int n;\n#pragma GCC optimize ("fast-math")\nvoid step(int a) { n = a; }', 2),
    "inexact floats by attribute": (
        'int n;\n__attribute__((optimize("unsafe-math-optimizations"))) void step(int a) { n = a; }',
        2,
    ),
    "assembly": ('int n; void step(int a) {\n asm("nop"); n = a; }', 2),
    "assembly in a block": ("int n; void step(int a) {\n __asm { nop }\n n = a; }", 2),
    "far": ("int n;\nint __far m; void step(int a) { n = a; }", 2),
    "interrupt": ("int n;\nvoid interrupt isr(void) { } void step(int a) { n = a; }", 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_its_line(name: str, tmp_path: Path) -> None:
    code, line = REFUSED[name]
    error = refusal(tmp_path, code)
    assert error.where is not None
    assert error.where.line == line


KEYWORDS = {
    "__far": ("int n; int __far m; void step(int a) { m = n = a; }", "__far"),
    "near": ("int near n; void step(int a) { n = a; }", "near"),
    "interrupt": ("int n; void interrupt isr(void) { n = 7; } void step(int a) { n = a; }", "interrupt"),
    "__declspec": ("__declspec(dllexport) int n; void step(int a) { n = a; }", "__declspec(x)"),
    "__at": ("int n; unsigned char PORT __at(0x20); void step(int a) { n = a; }", "__at(x)"),
    "__forceinline": (
        "static __forceinline int f(int a) { return a; } int n; void step(int a) { n = f(a); }",
        "__forceinline",
    ),
}


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", KEYWORDS)
def test_a_keyword_is_defined_away_as_the_message_says(name: str, tmp_path: Path) -> None:
    code, define = KEYWORDS[name]
    write_files(tmp_path, {"x.c": code, "p.toml": PROJECT.format(more="")})
    refused = chaincover("check", "p.toml", cwd=tmp_path)
    assert refused.code == 3
    setting = f'defines = {{ "{define}" = "" }}'
    assert setting in refused.err
    write_files(tmp_path, {"p.toml": PROJECT.format(more=setting + "\n")})
    checked = chaincover("check", "p.toml", "--compare", "40", cwd=tmp_path)
    assert (checked.code, checked.err) == (0, "")
