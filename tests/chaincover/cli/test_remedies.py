"""What a user gets wrong in the first hour, and what the message says about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import MODELS, chaincover, write_files

PROJECT = """\
[sources]
files = [{files}]
{sources}
[functions]
init = ["init"]
step = "compute"
{functions}
[ranges]
{ranges}
"""
PLAIN = "static int m;\nvoid init(void) { m = 0; }\nvoid compute(int a) { m = a; }\n"


def check(folder: Path, files: dict[str, str], **parts: str) -> str:
    """The message of ``check`` for a project of these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    sources = ", ".join(f'"{name}"' for name in files if name.endswith(".c"))
    given = {"sources": "", "functions": "", "ranges": "", **parts}
    (folder / "chaincover.toml").write_text(PROJECT.format(files=sources, **given))
    ended = chaincover("check", folder, "--compare", 0)
    assert ended.code == 3, ended.out
    return ended.err


def test_a_dash_in_a_range(tmp_path: Path) -> None:
    told = check(tmp_path, {"c.c": PLAIN}, ranges='a = "0-100"')
    assert "'0-100' is a difference, not a range" in told
    assert 'write "0..100" for the values from 0 to 100' in told


def test_a_criterion_without_its_variable() -> None:
    told = chaincover("check", MODELS / "cruise", "--cover", "transitions()").err
    assert "write transitions(x) with the name of a variable, such as s->mode" in told


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("0,1,0", "0,300,0"), "300 does not fit 'set' (unsigned char: 0..255)"),
        (("0,1,0", "0,yes,0"), "'yes' is no value of 'set' (unsigned char)"),
        ((",", ";"), "the columns are separated by ';'"),
        ((",", "\t"), "the columns are separated by tabs"),
    ],
)
def test_a_table_of_inputs(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    table = "step,set,reset\n0,1,0\n1,0,1\n"
    (tmp_path / "in.csv").write_text(table.replace(*change))
    ended = chaincover("replay", MODELS / "latch", tmp_path / "in.csv")
    assert ended.code == 3
    assert message in ended.err


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("static int m;\nvoid init(void) { }\nvoid compute(int a) {\n  m = a\n\n  m++;\n}\n", "end of line 4"),
        ("static int m;\nvoid init(void) { }\nvoid compute(int a) {\n  m++ /* x */\n  m = a;\n}\n", "end of line 4"),
        ("static int m\nvoid init(void) { }\nvoid compute(int a) { m = a; }\n", "end of line 1"),
        ("static int m;\nvoid init(void) { }\nvoid compute(int a) { if (a) m = 1 else m = 2; }\n", "before 'else'"),
        ("static int m;\nvoid init(void) { }\nvoid compute(int a) { m = a }\n", "before '}'"),
    ],
)
def test_a_missing_semicolon(text: str, remedy: str, tmp_path: Path) -> None:
    assert f"a ';' may be missing {'at the ' if 'end' in remedy else ''}{remedy}" in check(tmp_path, {"c.c": text})


@pytest.mark.parametrize(
    "text",
    [
        "static uint8_T m;\nvoid init(void) { }\nvoid compute(int a) { m = a; }\n",
        "static int m;\nvoid init(void) { }\nvoid compute(uint8_T a) { m = a; }\n",
        "static int m;\nvoid init(void) { }\nvoid compute(int a) { uint8_T b = a; m = b; }\n",
    ],
)
def test_an_unknown_type(text: str, tmp_path: Path) -> None:
    assert "'uint8_T' may be a type that nothing defines" in check(tmp_path, {"c.c": text})


def test_a_syntax_error_that_is_neither(tmp_path: Path) -> None:
    told = check(tmp_path, {"c.c": "static int m;\nvoid init(void) { m = ; }\nvoid compute(int a) { m = a; }\n"})
    assert "c.c:2:23: C syntax error: Invalid expression" in told
    assert "may be" not in told


def test_a_listed_function_without_prototype(tmp_path: Path) -> None:
    text = "static int m;\nvoid init(void) { m = 0; }\nvoid compute(int a) { m = get_x() + a; }\n"
    told = check(tmp_path, {"c.c": text}, functions='input = ["get_*"]')
    assert "c.c:3:27: the function 'get_x' is called but not defined" in told
    assert "declare it, as in 'int get_x(void);'" in told


def test_a_function_that_two_files_define(tmp_path: Path) -> None:
    told = check(tmp_path, {"c.c": PLAIN, "more.c": "int x;\nvoid init(void) { x = 0; }\n"})
    assert "more.c:2:6: function 'init' is defined twice, here and in " in told
    assert "c.c:2:6\n" in told


def test_a_header_in_a_folder_beside(tmp_path: Path) -> None:
    files = {"src/c.c": f'#include "types.h"\n{PLAIN}', "inc/types.h": "typedef unsigned char u8;\n"}
    told = check(tmp_path, files)
    assert "header 'types.h' not found" in told
    assert f"such as {tmp_path / 'inc'}" in told or "/inc, or put" in told


def test_a_range_that_restricts_nothing(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(PLAIN)
    (tmp_path / "chaincover.toml").write_text(
        PROJECT.format(files='"c.c"', sources="", functions="", ranges='m = "0..3"')
    )
    told = chaincover("check", tmp_path, "--compare", 0).out
    assert "note: 'm' is set by the program: a range restricts nothing, but gives states() the values" in told


def test_a_bit_field(tmp_path: Path) -> None:
    """The way out that is told works: model and compiled original read the other header."""
    header = "struct s { unsigned a : 1; unsigned b : 3; };\n"
    source = (
        '#include "s.h"\nstatic struct s m;\nvoid init(void) { m.a = 0; m.b = 0; }\n'
        "void compute(_Bool x) { m.a = x; if (m.b < 5) m.b++; }\n"
    )
    told = check(tmp_path, {"src/c.c": source, "inc/s.h": header}, sources='include = ["inc"]')
    assert "bit-field 'a'" in told
    assert "write a plain member such as 'unsigned char a;' in a copy of its header, first on sources.include" in told
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "s.h").write_text("struct s { unsigned char a; unsigned char b; };\n")
    project = (tmp_path / "chaincover.toml").read_text()
    (tmp_path / "chaincover.toml").write_text(project.replace('["inc"]', '["plain", "inc"]'))
    ended = chaincover("generate", tmp_path, "--property", "G(b == 2 && a -> X(b == 3))", "-o", tmp_path / "out")
    assert ended.code == 0, ended.err


def test_a_call_through_a_pointer(tmp_path: Path) -> None:
    text = (
        "static int m; static int f(int x) { return x; } static int (*p)(int) = f;\n"
        "void init(void) { m = 0; }\nvoid compute(int a) { m = p(a); }\n"
    )
    told = check(tmp_path, {"c.c": text})
    assert "c.c:3:27: unsupported C construct: call through a function pointer" in told
    assert "call the functions by name there, chosen by a switch" in told


PROJECTS = ("a.toml", "a.c", "p")
SWAPPED = [
    *((command, first, last) for command in ("replay", "verify") for first in ("o", "i.csv") for last in PROJECTS),
    ("replay", "o", "o"),
    ("replay", "i.csv", "i.csv"),
]


@pytest.mark.parametrize(("command", "first", "last"), SWAPPED)
def test_a_chain_named_before_the_project(command: str, first: str, last: str, tmp_path: Path) -> None:
    files = {"a.toml": "", "a.c": PLAIN, "i.csv": "a\n1\n", "p/chaincover.toml": "", "o/chain.json": "{}"}
    write_files(tmp_path, files)
    ended = chaincover(command, first, last, cwd=tmp_path)
    assert ended.code == 3
    said = f"error: {last}: this is {'a project, not a chain' if last in PROJECTS else 'neither'}"
    folder = "error: o: there is no chaincover.toml in this folder"
    error, remedy = ended.err.splitlines()[-2:]
    assert error.startswith(folder if last == "o" else said)
    assert remedy == "  next: name the project first, then the chain"


@pytest.mark.parametrize(("chosen", "noted"), [("s->m", True), ("s->n", False), ("s->*", False)])
def test_a_chosen_start_that_init_sets(chosen: str, noted: bool, tmp_path: Path) -> None:
    """A pattern that selects something that is left open has its effect."""
    code = "struct s { int m, n; };\nvoid init(struct s *s) { s->m = 0; }\n"
    code += "void compute(struct s *s, int a) { if (a) s->m = s->n; }\n"
    project = PROJECT.format(files='"c.c"', sources="", functions=f'[interface]\nchosen = ["{chosen}"]', ranges="")
    write_files(tmp_path, {"c.c": code, "chaincover.toml": project})
    shown = chaincover("check", ".", "--compare", 0, cwd=tmp_path)
    assert shown.code == 0, shown.err
    note = f"note: '{chosen}' is set by init: interface.chosen leaves the tester nothing to choose there"
    assert (note in " ".join(shown.out.split())) == noted
    assert shown.out.count("chosen by the tester") == (not noted)
