"""Preprocessing: macros, conditions, headers, and the places that messages name after them."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

import re
from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read, refusal  # noqa: F401

from bmc.errors import ChainCoverError
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.source.headers import STANDARD_HEADERS

PROGRAMS = {
    "function-like macros": "#define TO_BOOL(x) ((x) ? 1 : 0)\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
    "int r; void step(int a, int b) { r = TO_BOOL(MAX(a, b) > 3); }",
    "stringification and pasting": "#define TEXT(x) #x\n#define GLUE(a, b) a ## b\n#define NAME(n) GLUE(v_, n)\n"
    'int NAME(one); int r; void step(int a) { v_one = a; r = sizeof TEXT(a + "b") + GLUE(1, 2); }',
    "lines": "int r;\n#define HERE __LINE__\nvoid step(int a) { r = __LINE__ +\n HERE; }",
    "conditions": "#define A 3\n#if defined(A) && A * 2 - 1 == 5 && !defined B\nint r = 1;\n#elif 1\nint r = 2;\n#else\n"
    "#error no\n#endif\n#ifndef A\n#error no\n#endif\n#if (A > 2 ? 0 : 1) || 0x10 != 16 || -1 > 0\n#error no\n#endif\n"
    "#if 'a' != 97 || ~0 != -1 || 7 / 2 != 3 || (1 << 4) != 16\n#error no\n#endif\nvoid step(int a) { r += a & 1; r &= 7; }",
    "nested conditions": '#if 0\n#if 1\n#error no\n#else\n#include "nowhere.h"\n#endif\n#elif 1\nint r;\n#endif\n'
    "#ifdef NOT\n ' unbalanced in skipped text\n#endif\nvoid step(int a) { r = a; }",
    "macros over several lines": "#define SET(x, v) \\\n  do { \\\n    (x) = (v); \\\n  } while (0)\nint r;\n"
    "void step(int a) { if (a > 1) SET(r,\n a); else SET(r, 2); }",
    "undef and redefinition": "#define K 1\nenum { A = K };\n#undef K\n#define K 2\nint r; void step(int a) { r = A + 10 * K; }",
    "variadic macros": "#define CALL(f, ...) f(__VA_ARGS__)\nint r; static int add(int a, int b) { return (a & 7) + b; } "
    "void step(int a) { r = CALL(add, a, 2); }",
    "recursive names": "#define r r\n#define step(x) step(x)\nint r; void step(int a) { r = a; }",
    "recursive names in arguments": "#define SAME(x) (x)\n#define BOTH(x, y) x + SAME(y)\nint r; static int cut(int v) { return v & 7; }\n"
    "#define cut(v) BOTH(SAME(cut(v)), SAME(SAME(r)))\n#define r SAME(r)\nvoid step(int a) { r = cut(a) + SAME(cut)(a); }",
    "comments": "int r; /* a\n b */ void step(int a) // c \\\n still c\n{ r = a /**/ & 3; /* \" */ r += '\"' /* ' */; }",
    "limits": "#include <limits.h>\n#include <stdint.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
    "#if INT_MAX != 2147483647 || UINT32_MAX != 0xFFFFFFFF || SIZE_MAX < UINT_MAX || CHAR_MIN >= 0\n#error no\n#endif\n"
    "bool q = true; unsigned long r; long m; void step(uint8_t a, int64_t b) { r = UINT64_MAX - a + (SCHAR_MIN < 0); "
    "m = b == INT64_MIN ? LONG_MAX : INT32_MIN; r ^= sizeof(size_t) + sizeof(intptr_t) + sizeof(uint_fast16_t); "
    "q = NULL == 0 && INTPTR_MAX > UINT16_MAX + INT8_MAX; }",
}


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_agrees(name: str, tmp_path: Path) -> None:
    found = agreement(read(tmp_path, PROGRAMS[name]), pairs=100)
    assert found.steps > 40
    assert not found.differences, found.differences[0]


PLACES = {
    "after a macro over lines": ("#define SET(x, v) \\\n (x) = \\\n (v)\nint r;\nvoid step(int a) {\n SET(r,\n a);\n goto x; { x:; } }", 8),
    "after a call over lines": ("#define F(x, y) (x)\nint r;\nvoid step(int a) {\n r = F(\n a,\n 2);\n goto x; { x:; } }", 7),
    "after skipped lines": ("#if 0\n\n\n\n\n\n\n\n\n\n\n\n#endif\nint r; void step(int a) {\n goto x; { x:; } }", 15),
    "after a comment": ("/* a\n b\n c */ int r; // \\\n d\nvoid step(int a) {\n goto x; { x:; } }", 6),
    "after many blank lines": ("int r;" + "\n" * 40 + "void step(int a) { goto x; { x:; } }", 41),
    "after a header": ("#include <stdint.h>\nint r; void step(int a) {\n goto x; { x:; } }", 3),
    "after a pragma": ("#pragma once\n#pragma x \\\n y\nint r; void step(int a) {\n goto x; { x:; } }", 5),
    "after an attribute over lines": (
        "int r __attribute__((\n unused));\nvoid step(int a) {\n goto x; { x:; } }",
        4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_line_of_a_message(name: str, tmp_path: Path) -> None:
    text, line = PLACES[name]
    error = refusal(tmp_path, text)
    assert "goto" in error.message
    assert error.where is not None
    assert error.where.line == line


def test_column_of_a_message(tmp_path: Path) -> None:
    error = refusal(tmp_path, "int r __attribute__((unused)); void step(int a) { goto x; { x:; } }")
    assert error.where is not None
    assert (error.where.line, error.where.column) == (1, 51)


def files(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_error_in_a_header_names_the_header(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            "a.c": '#include "sub/h.h"\nint r; void step(int a) { r = f(a); }\n',
            "sub/h.h": '#include "g.h"\n\nstatic int f(int a) {\n goto x; { x: return 1; } }\n',
            "sub/g.h": "typedef int own;\n",
        },
    )
    fresh_environment()
    with pytest.raises(ChainCoverError) as caught:
        read_c(SourceConfig("p", (str(tmp_path / "a.c"),), step="step"))
    assert caught.value.where is not None
    assert caught.value.where.file.endswith("h.h")
    assert caught.value.where.line == 4


def test_missing_header_of_a_header(tmp_path: Path) -> None:
    files(tmp_path, {"a.c": '#include "h.h"\nvoid step(int a) { }\n', "h.h": "\n\n#include <vendor.h>\n"})
    with pytest.raises(ChainCoverError) as caught:
        read_c(SourceConfig("p", (str(tmp_path / "a.c"),), step="step"))
    assert "'vendor.h' not found" in caught.value.message
    assert caught.value.where is not None
    assert caught.value.where.file.endswith("h.h")
    assert caught.value.where.line == 3


@pytest.mark.needs_compiler
def test_include_folders_and_defines(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            "a.c": "#include <conf.h>\n#include MORE\nint r; void step(int a) { r = LIMIT + EXTRA; }\n",
            "inc/conf.h": '#define MORE "more.h"\n#ifndef LIMIT\n#define LIMIT 5\n#endif\n',
            "inc/more.h": "#define EXTRA 100\n",
        },
    )
    fresh_environment()
    config = SourceConfig("p", (str(tmp_path / "a.c"),), (str(tmp_path / "inc"),), (("LIMIT", "7"),), step="step")
    model = read_c(config)
    assert str(model.system.state[0].next.constant_value()) == "107"
    assert not agreement(model, 20).differences


@pytest.mark.parametrize("name", ['a"b.c', "it's.c", "a\\\\b.c", '"".c', "a b#é.c"])
@pytest.mark.needs_compiler
def test_quotes_in_file_names(tmp_path: Path, name: str) -> None:
    file, header = tmp_path / name, tmp_path / f"{name}.h"
    header.write_text("\n" * 20 + "static int two(void) { return 2; }\n")
    lines = '#include "it.h"\nint r; void step(int a) { r = a > two() ? sizeof __FILE__ : 0; }\n'
    file.write_text(lines if '"' in name else lines.replace("it.h", f"{name}.h"))
    (tmp_path / "it.h").write_text(header.read_text())
    fresh_environment()
    found = agreement(read_c(SourceConfig("program", (str(file),), step="step")), pairs=30)
    assert found.steps == 30
    assert not found.differences
    file.write_text("int r;\nvoid step(int a) { goto x; { x:; } }\n")
    with pytest.raises(ChainCoverError) as caught:
        read_c(SourceConfig("program", (str(file),), step="step"))
    assert (caught.value.where.file, caught.value.where.line) == (str(file), 2)


@pytest.mark.needs_compiler
def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_bytes(b'\xef\xbb\xbf#include "h.h"\nvoid step(int a) { r = a; }\n')
    (tmp_path / "h.h").write_bytes(b"\xef\xbb\xbfint r;\n")
    fresh_environment()
    found = agreement(read_c(SourceConfig("program", (str(tmp_path / "program.c"),), step="step")), pairs=20)
    assert found.steps == 20
    assert not found.differences


@pytest.mark.needs_compiler
def test_the_types_of_sys_types_are_those_of_the_compiler(tmp_path: Path) -> None:
    names = re.findall(r"\b(\w+);", (STANDARD_HEADERS / "sys" / "types.h").read_text())
    assert len(names) > 30
    uses = "\n".join(
        f"r = r * 3 + sizeof({n}) * 2 + ((({n})-1 < ({n})0) ? 1 : 0);"
        for n in names
        if n[-7:] != "timer_t" and n != "caddr_t"
    )
    text = f"#include <sys/types.h>\n#include <time.h>\n#include <stdint.h>\nunsigned r; void step(int a) {{ r = a;\n{uses}\n}}"
    found = agreement(read(tmp_path, text), pairs=20)
    assert found.steps == 20
    assert not found.differences
