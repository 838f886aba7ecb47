"""Of a program that cannot be read, all that init and step are refused for is told at once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from c_support import own_environment  # noqa: F401
from command_line import chaincover

from bmc.errors import InputRefused, SeveralRefused
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig

DECLARED = """typedef union { int i; int *p; } u_t;
static u_t u; static int total;
int plus(int x);
static int (*handler)(int) = plus;
static int many(int n, ...) { return n; }
"""
STATEMENTS = {
    '__asm__("nop");': "unsupported C construct: inline assembly 'nop'",
    "total = handler(in);": "unsupported C construct: address of the function 'plus', which is not defined",
    "u.i = in;": "unsupported C construct: union with an address or a long double among its members",
    "__builtin_va_end(in);": "a va_list is needed here",
    "total = missing(in);": "the function 'missing' is called but not defined",
    "total = unknown;": "unknown name 'unknown'",
    "while (1) total ^= in;": "this loop never ends: nothing in it leaves it",
}


def refused(folder: Path, text: str) -> list[tuple[int, str]]:
    """The line and the message of each thing that a program is refused for."""
    (folder / "c.c").write_text(text)
    with pytest.raises(InputRefused) as caught:
        read_c(SourceConfig("c", (str(folder / "c.c"),)))
    errors = caught.value.errors if isinstance(caught.value, SeveralRefused) else (caught.value,)
    return [(each.where.line if each.where else 0, each.message) for each in errors]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_is_wrong_alone_is_told_as_it_ever_was(statement: str, tmp_path: Path) -> None:
    text = f"{DECLARED}void compute(int in) {{\n{statement}\n}}\n"
    assert [message for _, message in refused(tmp_path, text)] == [STATEMENTS[statement]]


@pytest.mark.parametrize("seed", range(20))
def test_all_that_is_wrong_is_told_wherever_it_stands(seed: int, tmp_path: Path) -> None:
    """In init, in functions that step calls, in branches, loops and cases."""
    draw = random.Random(seed)
    chosen = draw.sample(list(STATEMENTS), 4)
    frames = ("{}", "if (in > 1) {{ {} }}", "for (int k = 0; k < 2; k++) {{ {} }}", "switch (in) {{ case 2: {} }}")
    body = [draw.choice(frames).format(each) for each in chosen]
    in_init = draw.choice([each for each in chosen if "while" not in each])  # which a constant ends
    text = (
        f"{DECLARED}static void first(int in) {{\n{body[0]}\n}}\nvoid init(void) {{ int in = 3;\n{in_init}\n}}\n"
        f"void compute(int in) {{\nfirst(in);\n{body[2]}\n{body[3]}\n{body[1]}\n}}\n"
    )
    assert {message for _, message in refused(tmp_path, text)} == {STATEMENTS[each] for each in chosen}


def test_headers_types_and_definitions_are_listed_with_the_rest(tmp_path: Path) -> None:
    text = (
        '#include "gone.h"\n#error no board\nstatic PORT *port;\nstatic LEVEL level(void) { return 1; }\n'
        "static int odd(int x) { return ({ return x; 1; }); }\nvoid init(void) { port->on = 1; }\n"
        "void compute(int in) { LEVEL l = level(); port->off = odd(in) + l; goto end; { end: ; } }\n"
    )
    told = refused(tmp_path, text)
    assert told == [
        (1, "header 'gone.h' not found"),
        (2, "#error no board"),
        (3, "unknown type 'PORT'"),
        (4, "unknown type 'LEVEL'"),
        (5, "unsupported C construct: return out of a statement expression"),
        (7, "unsupported C construct: goto into a block, where the label 'end' is"),
    ], "nothing is told of names whose types were guessed"


def test_what_is_said_several_times_is_told_once_with_its_places(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(f"{DECLARED}void compute(int in) {{\nu.i = in;\nif (in) u.i = 1;\n}}\n")
    told = chaincover("check", "c.c", cwd=tmp_path)
    assert told.code == 3
    assert told.stderr.splitlines()[-3:-1] == [
        "error: c.c:7:1: unsupported C construct: union with an address or a long double among its members",
        "  also at c.c:8:9",
    ]


def test_a_guess_serves_the_list_alone(tmp_path: Path) -> None:
    """What is not reached may be wrong; where something is, nothing is generated."""
    (tmp_path / "c.c").write_text("static T t;\nvoid compute(int in) { (void)in; }\n")
    refused_program = chaincover("generate", "c.c", "--property", "x: cover(1)", "-o", "out", cwd=tmp_path)
    assert refused_program.code == 3
    assert not (tmp_path / "out").exists()


def test_init_recognises_a_program_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(
        '#include "gone.h"\nvoid init(void) {}\nvoid compute(int in) { goto end; { end: ; } }\n'
    )
    assert chaincover("init", "c.c", cwd=tmp_path).code == 0
    written = (tmp_path / "chaincover.toml").read_text()
    assert 'step = "compute"' in written
    assert "# not read yet: 2 things are wrong:\n#   c.c:1: header 'gone.h' not found\n#     next" in written
    assert "#   c.c:3:24: unsupported C construct: goto into a block" in written


def test_a_keyword_of_another_compiler_is_told_as_that(tmp_path: Path) -> None:
    declared = "typedef unsigned u16;\nextern __prog__ u16 a;\nextern __prog__ int b;\nint n;\n"
    code = f"{declared}void step(int x) {{ n = a + b; }}\n"
    told = told_of(tmp_path, code)
    assert "unknown word '__prog__' before a type" in told
    assert 'defines = { "__prog__" = "" }' in told
    assert "previously declared" not in told  # which came of guessing a type
    assert "unknown type" not in told


def test_a_type_of_the_standard_library_names_its_header(tmp_path: Path) -> None:
    told = told_of(tmp_path, "uint8_t n;\nvoid step(bool x) { n = x; }\n")
    assert "unknown type 'uint8_t'\n    next: include <stdint.h>, or the header that does" in told
    assert "next: include <stdbool.h>" in told


def test_what_may_be_a_macro_of_a_missing_header_is_not_told(tmp_path: Path) -> None:
    code = '#include "gone.h"\nDECLARE_THING(x)\nDECLARE(void, y) /* z */ other\nint n;\nvoid step(int x) { n = x; }\n'
    told = told_of(tmp_path, code)
    assert "header 'gone.h' not found" in told
    assert "C syntax error" not in told
    assert "'oid'" not in told


def told_of(folder: Path, text: str) -> str:
    """The list of what a program is refused for, as the command line tells it."""
    (folder / "c.c").write_text(text)
    with pytest.raises(InputRefused) as caught:
        read_c(SourceConfig("c", (str(folder / "c.c"),), step="step"))
    return str(caught.value)
