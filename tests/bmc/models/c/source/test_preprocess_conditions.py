"""Conditions of the preprocessor take the branches that the compiler takes."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read, refusal  # noqa: F401

from bmc.errors import UnsupportedConstruct
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.source.compiler_macros import PREDEFINED, predefined
from bmc.models.c.source.types import DATA_MODELS
from bmc.native.build import compiler_words
from bmc.native.original import compiled
from bmc.system.simulation import Simulator

TESTED = [
    *(
        "__GNUC__",
        "__linux__",
        "__unix__",
        "linux",
        "__x86_64__",
        "__amd64",
        "__LP64__",
        "__SIZEOF_LONG__",
        "__INT_MAX__",
    ),
    *(
        "__BYTE_ORDER__",
        "__ORDER_LITTLE_ENDIAN__",
        "__CHAR_BIT__",
        "__SIZE_TYPE__",
        "__STDC_VERSION__",
        "__STDC_HOSTED__",
    ),
    *("__OPTIMIZE__", "__SSE2__", "__PIC__", "__ELF__", "__INT64_C", "__FLT_MAX__", "__DBL_MAX__", "__CHAR_UNSIGNED__"),
    *(
        "_WIN32",
        "__arm__",
        "__clang__",
        "_MSC_VER",
        "__PCPP__",
        "__cplusplus",
        "__STRICT_ANSI__",
        "__USER_LABEL_PREFIX__",
    ),
]
VALUES = [
    *(
        "__SIZEOF_SHORT__",
        "__SIZEOF_POINTER__",
        "__SIZEOF_SIZE_T__",
        "__LONG_MAX__",
        "__LONG_LONG_WIDTH__",
        "__SCHAR_MAX__",
    ),
    *("__UINT32_MAX__", "__INT_FAST16_WIDTH__", "__UINTPTR_MAX__", "__INTMAX_C(3)", "__UINT8_C(255)", "__UINT64_C(5)"),
    *("__PTRDIFF_MAX__", "__SIZE_MAX__", "__STDC_VERSION__", "__CHAR_BIT__", "__BYTE_ORDER__", "__ORDER_BIG_ENDIAN__"),
    *(
        "sizeof(__SIZE_TYPE__)",
        "sizeof(__WCHAR_TYPE__)",
        "(__GNUC__ >= 4)",
        "sizeof __DBL_MAX__",
        "(__DBL_MAX__ > 1e308)",
    ),
]
PROGRAMS = {
    "macros that are tested": "unsigned long long r; void step(int x) { r = x & 1;\n"
    + "".join(f"r *= 2;\n#ifdef {name}\nr++;\n#endif\n" for name in TESTED)
    + "}",
    "macros with values": "".join(f"unsigned long long v{n};" for n in range(len(VALUES)))
    + "void step(int x) {"
    + "".join(f"v{n} = {name} + (x & 1);\n" for n, name in enumerate(VALUES))
    + "}",
    "conditions on sizes": "#if __SIZEOF_LONG__ == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && __INT_MAX__ > 32767\nint r = 1;\n"
    "#else\nint r = 2;\n#endif\nvoid step(int x) { r = (r ^ x) & 7; }",
    "a vendor's header": "#if defined(__GNUC__)\n#define INLINE static __inline__ __attribute__((always_inline))\n#define UNUSED __attribute__((unused))\n"
    "#define LIMIT 100\n#else\n#define INLINE static\n#define UNUSED\n#define LIMIT 50\n#endif\n"
    "int r; INLINE int low(int v, int other UNUSED) { return v > LIMIT ? LIMIT : v; } void step(signed char x) { r = low(x, 0); }",
    "characters": "#if '\\377' < 0\nint a = 1;\n#else\nint a = 2;\n#endif\n#if '\\xff' == -1 && L'\\377' == 255 && '\\e' == 27 && '\\0' == 0 && '\\'' == 39\n"
    "int b = 1;\n#else\nint b = 2;\n#endif\n#if 'A' == 65 && '\"' == 34 && '\\\\' == 92 && '\\1' + 1 == 2\nint c = 1;\n#else\nint c = 2;\n#endif\n"
    "int r; void step(int x) { r = a + b + c + (x & 1); }",
    "variable arguments as text": "#define VA(fmt, ...) (fmt + sizeof(#__VA_ARGS__))\n#define ALL(...) sizeof #__VA_ARGS__\n#define CALL(f, ...) f(1, ##__VA_ARGS__)\n#define CALL1(a, ...) a, ##__VA_ARGS__\n"
    "static int one(int a) { return a; } static int two(int a, int b) { return a * 10 + b; }\n"
    "int r, s, t; void step(int x) { r = VA(0, a,b) + VA(0,  a , b ) * 10 + VA(0, ) * 100 + VA(0) * 1000;\n"
    "s = ALL( a ) + 10 * ALL(a, b) + 100 * ALL(); int given[] = {CALL1(0, )}; t = CALL(one) + CALL(two, 3 ) + sizeof given + (x & 1); }",
    "lines of calls": "#define B(x) __LINE__\n#define ID(x) x\n#define HERE ID(__LINE__)\n#define TEXT(x) #x\nint r, s, t; void step(int x) {\n"
    "r = B(\n\n1\n) + 100 * ID(\n B(\n1\n)) + 10000 * ID(\n HERE); s = B\n (1); s = s * 100 + HERE + ID(\n__LINE__ * 10000);\n"
    "t = sizeof TEXT(__LINE__) + (x & 1); }",
    "#line": "#define NEXT 7\n#define ID(x) x\nint r, s, t, u; const char f[] = __FILE__;\n#line 100\nvoid step(int x) { r = __LINE__ * 1000 + ID(\n__LINE__);\n"
    '#if 1\n#line 200 "other\\"s.c" // renamed\n#else\n#line 5\n#endif\nr += __LINE__; s = sizeof __FILE__ * 1000 + sizeof __BASE_FILE__ + f[9] + __FILE__[5];\n'
    "#line NEXT\nt = __LINE__ * 100 + sizeof __FILE__;\n#if __LINE__ == 8\nu = 1;\n#endif\nu += x & 2; }",
    "what is said of places": "#if !defined __LINE__ || !defined __FILE__ || !defined __COUNTER__ || !defined __BASE_FILE__ || !defined __INCLUDE_LEVEL__ "
    "|| !defined __TIMESTAMP__ || !defined __DATE__ || !defined __TIME__\n#error all are macros\n#endif\n#ifdef __COUNTER__\nint r = __COUNTER__;\n#endif\n"
    "int s = __COUNTER__ * 10 + __INCLUDE_LEVEL__; const char f[] = __FILE__ __BASE_FILE__ __TIMESTAMP__ __DATE__; int t;\n"
    "void step(int x) { r += x & 1; t = 0; for (int i = 0; i < (int)sizeof f; i++) t = (t * 3 + f[i]) & 0xffffff; }",
    "offsetof": "#include <stddef.h>\n#ifndef offsetof\n#error a macro\n#endif\nstruct s { char c; int n; }; int r = offsetof(struct s, n);\n"
    "void step(int x) { r += __builtin_offsetof(struct s, n) + (x & 1); r &= 63; }",
}


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_is_read_as_compiled(name: str, tmp_path: Path) -> None:
    model = read(tmp_path, PROGRAMS[name])
    start = Simulator(model.system).initial()
    with compiled(model.native) as original:
        (after_init,) = original.run([])
    assert {v: start[v] for v in after_init if v in start} == {v: after_init[v] for v in after_init if v in start}
    found = agreement(model, pairs=100)
    assert found.steps > 20
    assert not found.differences, found.differences[0]


@pytest.mark.needs_compiler
def test_headers_have_the_names_and_levels_that_the_compiler_gives_them(tmp_path: Path) -> None:
    """Beside the file that includes them, through `..`, on the include path; what includes goes on as before."""
    hashed = "(sizeof __FILE__ * 1000 + __FILE__[sizeof __FILE__ - 2] + __INCLUDE_LEVEL__ * 7 + sizeof __BASE_FILE__)"
    files = {
        "src/program.c": '#include "a.h"\n#include "../inc/b.h"\n#include <c.h>\n#include "sub/./d.h"\n'
        f"int p = {hashed}, r; void step(int x) {{ r = a + b + c + d + e + p + (x & 1); }}",
        "src/a.h": f"#pragma once\nstatic const int a = {hashed} + __LINE__;\n",
        "inc/b.h": f'#include "deep/e.h"\n#line 70 "b"\nstatic const int b = {hashed} + __LINE__;\n',
        "inc/deep/e.h": f"static const int e = {hashed};\n",
        "path/c.h": f"static const int c = {hashed};\n",
        "src/sub/d.h": f'#include "../a.h"\nstatic const int d = {hashed};\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    fresh_environment()
    include = (str(tmp_path / "src/../path"),)
    model = read_c(SourceConfig("program", (str(tmp_path / "src/program.c"),), include, step="step"))
    found = agreement(model, pairs=20)
    assert found.steps > 10
    assert not found.differences, found.differences[0]


SIZES = {
    "lp64": ("8, 8, 4, 2", "1"),
    "ilp32": ("4, 4, 4, 2", "0"),
    "llp64": ("4, 8, 4, 2", "0"),
    "ip16": ("4, 2, 2, 2", "0"),
}


@pytest.mark.parametrize("target", SIZES)
def test_size_macros_follow_the_word_sizes(target: str, tmp_path: Path) -> None:
    sizes, linux = SIZES[target]
    text = (
        f"const int sizes[] = {{{sizes}}}; int r;\n#if !defined __GNUC__ || (defined __linux__) != {linux}\n#error platform\n#endif\n"
        "#if __LONG_WIDTH__ != 8 * __SIZEOF_LONG__ || __INT_WIDTH__ != 8 * __SIZEOF_INT__ || __SIZE_WIDTH__ != 8 * __SIZEOF_SIZE_T__\n#error widths\n#endif\n"
        '_Static_assert(sizeof(long) == __SIZEOF_LONG__ && sizeof(void *) == __SIZEOF_POINTER__, "");\n'
        '_Static_assert(sizeof(int) == __SIZEOF_INT__ && sizeof(__INT32_TYPE__) == 4 && sizeof(__PTRDIFF_TYPE__) == __SIZEOF_POINTER__, "");\n'
        "void step(int x) { r = (__SIZEOF_LONG__ != sizes[0]) + (__SIZEOF_POINTER__ != sizes[1]) + (__SIZEOF_INT__ != sizes[2])"
        " + (__SIZEOF_SHORT__ != sizes[3]) + (__LONG_MAX__ != (long)(~0UL >> 1)) + (__INT_MAX__ != (int)(~0U >> 1)); }"
    )
    model = read(tmp_path, text, target=target)
    simulator = Simulator(model.system)
    assert simulator.step(simulator.initial(), {v.name: 0 for v in model.system.inputs})["r"] == 0


@pytest.mark.parametrize("target", DATA_MODELS)
def test_no_macro_is_predefined_twice(target: str) -> None:
    names = [name for name, _ in predefined(DATA_MODELS[target])]
    assert len(names) == len(set(names))


ANSWERED = [
    *("#ifdef __has_include", "#if defined(__has_attribute)", "#ifdef __has_builtin", "#ifndef __has_feature"),
    *("#if __has_attribute(unused) && __has_attribute(__always_inline__)", "#if !__has_attribute(overloadable)"),
    *("#if __has_builtin(__builtin_expect)", "#if !__has_builtin(__builtin_arm_get_fpscr) && 1"),
]


@pytest.mark.parametrize("test", ANSWERED)
def test_what_the_compiler_has_is_answered_as_gcc_does(test: str, tmp_path: Path) -> None:
    text = f"{test}\nint r; void step(int x) {{ r = x; }}\n#else\n#error not that\n#endif"
    assert read(tmp_path, text).system.state


@pytest.mark.needs_compiler
def test_the_answers_are_those_of_gcc(tmp_path: Path) -> None:
    told = (PREDEFINED / "gcc_has.txt").read_text().splitlines()
    lines = [f"#if {line.split()[0]}\n1\n#else\n0\n#endif" for line in told]
    command = [*compiler_words(), "-E", "-P", "-"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    assert done.stdout.split() == [line.split()[1] for line in told]


NEWLIB = """
#include <stddef.h>
#define __need_size_t
#define __need_wint_t
#include <stddef.h>
#if __has_attribute(__argument_with_type_tag__) || !__has_attribute(__alloc_size__)
#error not gcc
#endif
typedef __builtin_va_list __va_list;
typedef struct { int count; union { wint_t whole; unsigned char bytes[4]; } value; } mbstate;
typedef __va_list va_list;
#include <stdarg.h>
mbstate s; int r;
void step(int x) { s.value.whole = x; r = s.value.whole > 5; }
"""


@pytest.mark.needs_compiler
@pytest.mark.parametrize("target", ["lp64", "ilp32"])
def test_headers_of_another_library_have_what_gcc_defines_for_them(target: str, tmp_path: Path) -> None:
    """``<sys/_types.h>`` and ``<sys/cdefs.h>`` of newlib, which ``<errno.h>`` and ``<wchar.h>`` include there."""
    assert not agreement(read(tmp_path, NEWLIB, target=target), pairs=50).differences


HAS = [
    *("#if __has_include(<stdio.h>)", "#if __has_attribute(of_ours)", "#if __has_builtin(__builtin_of_ours)"),
    *("#if 1 && !HAS", '#if 0\n#elif __has_include("a.h")', "#if __has_c_attribute(nodiscard)", "#if __has_attribute"),
]


@pytest.mark.parametrize("test", HAS)
def test_what_the_compiler_has_is_not_guessed(test: str, tmp_path: Path) -> None:
    text = f"#define HAS __has_include(<stdio.h>)\n{test}\n#endif\nint r; void step(int x) {{ r = x; }}"
    error = refusal(tmp_path, text)
    assert isinstance(error, UnsupportedConstruct)
    assert error.where is not None
    assert error.where.line == text[: text.index("\n#endif")].count("\n") + 1
    assert "unsupported test of '__has_" in str(error)
    assert "set with -D" in error.hint
