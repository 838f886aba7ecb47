"""Conditions of the preprocessor take the branches that the compiler takes."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal  # noqa: F401

from bmc.c.source.preprocess import predefined
from bmc.c.source.types import DATA_MODELS
from bmc.errors import UnsupportedConstruct
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


@pytest.mark.parametrize("test", ["#ifdef __has_include", "#if defined(__has_attribute)", "#ifndef __has_builtin"])
def test_what_the_compiler_has_is_not_guessed(test: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, f"int r;\n{test}\n#endif\nvoid step(int x) {{ r = x; }}")
    assert isinstance(error, UnsupportedConstruct)
    assert error.where is not None
    assert error.where.line == 2
    assert "__has_" in str(error)
