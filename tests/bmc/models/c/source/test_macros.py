"""Macros are expanded as C11 and gcc expand them, token by token."""

# ruff: noqa: E501 (macro texts in tables)
from __future__ import annotations

import random
from pathlib import Path

import pytest
from drawn_seeds import seeds

from benchmarks.checks.fuzz.examine import FAULTS, examine
from benchmarks.checks.fuzz.macros import MACROS, TOKEN, by_compiler
from bmc.errors import InputRefused
from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.types import DATA_MODELS


def expanded(folder: Path, text: str) -> list[str]:
    """The tokens of a text after preprocessing."""
    (folder / "c.c").write_text(text)
    result = preprocess(str(folder / "c.c"), Given(), DATA_MODELS["lp64"]).text
    return TOKEN.findall("\n".join(row for row in result.splitlines() if not row.startswith("#line")))


THIRD = """#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
"""
FOURTH = """#define str(s) # s
#define xstr(s) str(s)
#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", x ## s, x ## t)
#define INCFILE(n) vers ## n
#define glue(a, b) a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW "hello"
#define LOW LOW ", world"
"""
SEVENTH = """#define debug(...) fprintf(stderr, __VA_ARGS__)
#define showlist(...) puts(#__VA_ARGS__)
#define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))
"""
OPTION = (
    "#define F(a, ...) f(a __VA_OPT__(,) __VA_ARGS__)\n#define E\n#define G(X, ...) f(0, X __VA_OPT__(,) __VA_ARGS__)\n"
)
EXAMPLES = {
    "rescanning": (
        f"{THIRD}f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);",
        "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);"
        "f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);",
    ),
    "pasting and text of arguments": (
        f"{THIRD}p() i[q()] = {{ q(1), r(2,3), r(4,), r(,5), r(,) }};\nchar c[2][6] = {{ str(hello), str() }};",
        'int i[] = { 1, 23, 4, 5, }; char c[2][6] = { "hello", "" };',
    ),
    "texts": (
        f'{FOURTH}debug(1, 2);\nfputs(str(strncmp("abc\\0d", "abc", \'\\4\') == 0) str(: @\\n), s);\n'
        'xstr(INCFILE(2).h) glue(HIGH, LOW); xglue(HIGH, LOW)',
        'printf("x" "1" "= %d, x" "2" "= %s", x1, x2);'
        'fputs("strncmp(\\"abc\\\\0d\\", \\"abc\\", \'\\\\4\') == 0" ": @\\n", s); "vers2.h" "hello"; "hello" ", world"',
    ),
    "a pasted ##": (
        "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
        "#define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);",
        'char p[] = "x ## y";',
    ),
    "empty arguments": (
        "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };",
        "int j[] = { 123, 45, 67, 89, 10, 11, 12, };",
    ),
    "variable arguments": (
        f"{SEVENTH}debug(\"X = %d\\n\", x); showlist(The first, second, and third items.); report(x>y, \"%d\", x, y);",
        'fprintf(stderr, "X = %d\\n", x); puts("The first, second, and third items."); ((x>y)?puts("x>y"): printf("%d", x, y));',
    ),
    "__VA_OPT__": (
        f"{OPTION}F(a, b, c) F() F(E) G(a, b) G(a, ) G(a) G(,)",
        "f(a , b, c) f() f() f(0, a , b) f(0, a) f(0, a) f(0,)",
    ),
    "a macro of the other's name": ("#define a b\n#define b a\na b a", "a b a"),
    "pasting without parameters": ("#define one x ## 1\n#define two one ## 1\none two", "x1 one1"),
}  # fmt: skip
"""C11 6.10.3.5, examples 3 to 5 and 7; C2x 6.10.4.1 for __VA_OPT__; and what fuzzing has found."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_expanded_as_the_standard_says(name: str, tmp_path: Path) -> None:
    text, expected = EXAMPLES[name]
    assert expanded(tmp_path, text) == TOKEN.findall(expected)


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_expanded_as_by_the_compiler(name: str, tmp_path: Path) -> None:
    ours = expanded(tmp_path, EXAMPLES[name][0])
    assert ours == by_compiler(tmp_path / "c.c")


@pytest.mark.needs_compiler
@seeds(40)
def test_a_drawn_text_is_expanded_as_by_the_compiler(seed: int) -> None:
    data = MACROS.draw(random.Random(seed))
    row = examine(MACROS, data)
    assert row.outcome not in FAULTS, f"{row.detail}\n{data['text']}"


REFUSED = {
    "paste": ("#define A(x) x ## +\nint y = A(1);", 2, "pasted with ## are no token"),
    "too many": ("#define A(x) x\n\nint y = A(1, 2);", 3, "takes 1 argument"),
    "too few": ("#define A(x, y) x\nint y = A(1);", 2, "takes 2 argument"),
    "no end": ("#define A(x) x\nint y = A(1;\n\n", 2, "the arguments of the macro 'A' do not end"),
    "hash": ("#define A(x) # y", 1, "'#' is not followed by a parameter"),
    "ends": ("int q;\n#define A(x) x ##", 2, "'##' stands at an end"),
    "parameter twice": ("#define A(x, x) 1", 1, "'x' cannot be a parameter"),
    "name": ("#define defined 1", 1, "cannot be a macro's name"),
    "include among arguments": ('#define A(x) x\nint y = A(\n#include "c.c"\n1);', 3, "among the arguments"),
    "comment": ("int a;\n/* b\n", 2, "a comment that does not end"),
    "else twice": ("#if 1\n#else\n#else\n#endif", 3, "#else after #else"),
    "endif alone": ("int x;\n#endif", 2, "#endif without #if"),
    "no endif": ("int x;\n#if 1\nint y;", 2, "does not end with #endif"),
    "operator": ("#if 1 2\n#endif", 1, "where an operator is expected"),
    "text": ('#if "a"\n#endif', 1, "is no value"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    text, line, message = REFUSED[name]
    with pytest.raises(InputRefused, match=message) as caught:
        expanded(tmp_path, text)
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_columns_are_kept_behind_macros_and_comments(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("#define LONG_NAME 1\n#define TYPE int\n  TYPE a = LONG_NAME, /* c */ b;\n")
    text = preprocess(str(tmp_path / "c.c"), Given(), DATA_MODELS["lp64"]).text
    assert text.splitlines()[-1] == "  int  a = 1        ,         b;"


def test_directives_among_arguments_are_followed(tmp_path: Path) -> None:
    text = "#define ALL(...) [__VA_ARGS__]\n#define K 2\nALL(1,\n#if K == 2\n2,\n#else\n3,\n#endif\n#undef K\n4, K)"
    assert expanded(tmp_path, text) == TOKEN.findall("[1, 2, 4, K]")


def test_include_next_takes_the_header_of_a_later_folder(tmp_path: Path) -> None:
    for folder, text in (("one", "#include_next <h.h>\nint one;\n"), ("two", "int two;\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "h.h").write_text(text)
    (tmp_path / "c.c").write_text("#include <h.h>\n")
    given = Given(include=(str(tmp_path / "one"), str(tmp_path / "two")))
    text = preprocess(str(tmp_path / "c.c"), given, DATA_MODELS["lp64"]).text
    assert [row for row in text.splitlines() if row.startswith("int")] == ["int two;", "int one;"]
