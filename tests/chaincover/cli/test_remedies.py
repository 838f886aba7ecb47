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


def write_project(folder: Path, files: dict[str, str], **parts: str) -> None:
    """Write these files and a project for them."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    sources = ", ".join(f'"{name}"' for name in files if name.endswith(".c"))
    given = {"sources": "", "functions": "", "ranges": "", **parts}
    (folder / "chaincover.toml").write_text(PROJECT.format(files=sources, **given))


def check(folder: Path, files: dict[str, str], **parts: str) -> str:
    """The message of ``check`` for a project of these files."""
    write_project(folder, files, **parts)
    ended = chaincover("check", folder, "--compare", 0)
    assert ended.code == 3, ended.out
    return ended.err


def test_a_dash_in_a_range(tmp_path: Path) -> None:
    told = check(tmp_path, {"c.c": PLAIN}, ranges='a = "0-100"')
    assert "'0-100' is a difference, not a range" in told
    assert 'write "0..100" for the values from 0 to 100' in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('"0..300"', "300 does not fit 'a' (unsigned char: 0..255)"),
        ("[0, 300]", "300 does not fit 'a' (unsigned char: 0..255)"),
        ('"9..0"', "the range of 'a' is empty"),
    ],
)
@pytest.mark.parametrize("key", ["a", '"a"', '"?"'])
def test_a_range_that_cannot_be_is_told_with_its_line(text: str, told: str, key: str, tmp_path: Path) -> None:
    """Also where the name stands in other tables."""
    source = "static int m;\nvoid init(void) { m = 0; }\nvoid compute(unsigned char a) { m = a; }\n"
    functions = "[interface]\ninput = ['a']\n[constraints]\nassume = ['a > 0']"
    message = check(tmp_path, {"c.c": source}, functions=functions, ranges=f"{key} = {text}")
    line = 1 + (tmp_path / "chaincover.toml").read_text().splitlines().index(f"{key} = {text}")
    assert f"chaincover.toml:{line}:1: {told}" in message


def test_a_range_of_an_unknown_variable_is_told_with_its_line(tmp_path: Path) -> None:
    """Also where the text stands in other places."""
    told = check(tmp_path, {"c.c": PLAIN}, functions="[constraints]\nassume = ['b > 0', 'b < 3']", ranges='b = "0..3"')
    line = 1 + (tmp_path / "chaincover.toml").read_text().splitlines().index('b = "0..3"')
    assert f"chaincover.toml:{line}:1: unknown variable 'b'" in told


@pytest.mark.parametrize(("name", "role"), [("m", "state"), ("lamp", "output")])
def test_a_dwell_time_of_what_is_no_input(name: str, role: str, tmp_path: Path) -> None:
    source = "static int m; int lamp;\nvoid init(void) { m = 0; }\nvoid compute(int a) { m += a; lamp = m > 3; }\n"
    told = check(tmp_path, {"c.c": source}, ranges=f"[constraints]\ndwell = {{ {name} = 3 }}")
    assert f"'{name}' is {role}: only an input has a dwell time" in told


def test_a_dwell_time_of_nothing(tmp_path: Path) -> None:
    assert "unknown input 'x'" in check(tmp_path, {"c.c": PLAIN}, ranges="[constraints]\ndwell = { x = 3 }")


def test_a_program_without_inputs(tmp_path: Path) -> None:
    """Told first, with what may be an input; it is no error."""
    source = "static int m, limit = 3;\nvoid init(void) { m = 0; }\nvoid compute(void) { m = m < limit ? m + 1 : 0; }\n"
    write_project(tmp_path, {"c.c": source})
    ended = chaincover("check", tmp_path, "--compare", 0)
    head, first, advice, *_ = ended.out.splitlines()
    assert ended.code == 0
    assert head.endswith("1 problem, told first")
    assert first == "no input: the program has one run only, and no chain can choose anything"
    assert "list in interface.input what the environment sets before a step, such as limit, which the step" in advice


def test_a_criterion_without_its_variable() -> None:
    told = chaincover("check", MODELS / "cruise", "--cover", "transitions()").err
    assert "write transitions(x) with the name of a variable, such as s->mode" in told


def test_a_variable_that_is_set_to_constants_only_is_proposed(tmp_path: Path) -> None:
    """Not the counter, whose values are many; the named criterion is read."""
    step = "if (a == 1) m = 2; else if (a == 2 && n > 4) m = 7; n = n < 9 ? n + 1 : 9;"
    text = f"static int m, n;\nvoid init(void) {{ m = n = 0; }}\nvoid compute(int a) {{ {step} }}\n"
    write_project(tmp_path, {"c.c": text})
    told = chaincover("check", tmp_path, "--compare", 0, "--cover", "transitions()").err
    assert "write transitions(x) with the name of a variable, such as m\n" in told
    out = chaincover("check", tmp_path, "--compare", 0, "--cover", "transitions(m)").out
    assert "transitions(m): 4 goals: all can be reached" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("0,1,0", "0,300,0"), "300 does not fit 'set' (unsigned char: 0..255)"),
        (("0,1,0", "0,yes,0"), "'yes' is no value of 'set' (unsigned char)"),
        (("0,1,0\n1,", "0,1,0\n0,"), "the step 0 follows 1 step"),
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
        ("struct s { int m; }\nvoid init(void) { }\nvoid compute(int a) { }\n", "end of line 1"),
        ("struct s {\n  int m; /* } */\n}\nint m;\nvoid init(void) { }\nvoid compute(int a) { }\n", "end of line 3"),
        ("enum e { A, B }\n\nstatic int m;\nvoid init(void) { }\nvoid compute(int a) { }\n", "end of line 1"),
        ("typedef enum { A } e\nstatic int m;\nvoid init(void) { }\nvoid compute(int a) { }\n", "end of line 1"),
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
        "struct s { uint8_T m; };\nvoid init(void) { }\nvoid compute(int a) { }\n",
        "typedef struct {\n  int k;\n  const uint8_T *m[3];\n} s;\nvoid init(void) { }\nvoid compute(int a) { }\n",
        "static int m;\nvoid init(void) { }\nvoid compute(const uint8_T *a) { m = a[0]; }\n",
        "static int m;\nvoid init(void) { }\nvoid compute(int a) { m = (uint8_T)a; }\n",
        "uint8_T f(int a);\nvoid init(void) { }\nvoid compute(int a) { }\n",
    ],
)
def test_an_unknown_type(text: str, tmp_path: Path) -> None:
    assert "'uint8_T' may be a type that nothing defines" in check(tmp_path, {"c.c": text})


def test_a_syntax_error_that_is_neither(tmp_path: Path) -> None:
    told = check(tmp_path, {"c.c": "static int m;\nvoid init(void) { m = ; }\nvoid compute(int a) { m = a; }\n"})
    assert "c.c:2:23: C syntax error: Invalid expression" in told
    assert "may be" not in told


def test_a_declared_name_is_no_unknown_type(tmp_path: Path) -> None:
    told = check(tmp_path, {"c.c": "static int m;\nvoid init(void) { m = (m) m; }\nvoid compute(int a) { m = a; }\n"})
    assert "c.c:2:27: C syntax error" in told
    assert "may be" not in told


def test_a_listed_function_without_prototype(tmp_path: Path) -> None:
    text = "static int m;\nvoid init(void) { m = 0; }\nvoid compute(char *a) { m = get_x(a); }\n"
    told = check(tmp_path, {"c.c": text}, functions='output = ["get_*"]')
    assert "c.c:3:29: the function 'get_x' is called but not defined" in told
    assert "declare it in a header that the file includes, as in 'int get_x(char *);'\n" in told


def test_what_to_declare_follows_from_the_call(tmp_path: Path) -> None:
    """The declarations are written as told: then the project is read."""
    text = """typedef struct { int level; } tank;
static int m; static tank t; static unsigned char row[2];
void init(void) { m = 0; }
void compute(int a) { Rte_Read_In_Tank(&t); Rte_Read_In_Row(row); m = Rte_IRead_In_x() + t.level + a + row[1]; }
"""
    told = check(tmp_path, {"c.c": text})
    assert "as in 'int Rte_Read_In_Tank(tank *);'\n" in told
    declared = "int Rte_Read_In_Tank(tank *);\n"
    told = check(tmp_path, {"c.c": text.replace("static int m;", f"{declared}static int m;")})
    assert "as in 'int Rte_Read_In_Row(unsigned char data[2]);'\n" in told
    declared += "int Rte_Read_In_Row(unsigned char data[2]);\n"
    (tmp_path / "c.c").write_text(text.replace("static int m;", f"{declared}static int m;"))
    assert chaincover("check", tmp_path, "--compare", 0).code == 0


def test_what_to_declare_has_all_arguments_of_the_call(tmp_path: Path) -> None:
    """That of ``get_y``, which nothing declares either, is an int, as it was in C."""
    text = "static int m;\nvoid init(void) { m = 0; }\nvoid compute(int a) { put_x(a, get_y(), 2L); m = 1; }\n"
    told = check(tmp_path, {"c.c": text}, functions='output = ["put_*"]\ninput = ["get_*"]')
    assert "as in 'int put_x(int, int, long);'\n" in told


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


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("state", "'state0', 'state1' and 38 more are"),
        ("state_with_a_name_that_has_no_room", "40 variables are"),
    ],
)
def test_ranges_that_restrict_nothing_are_one_line(name: str, told: str, tmp_path: Path) -> None:
    """However many there are: the first names, and how many more."""
    names = [f"{name}{number}" for number in range(40)]
    source = "".join(f"static unsigned char {name};\n" for name in names) + "void init(void) { }\n"
    source += f"void compute(int a) {{ {' '.join(f'{name} = a & 1;' for name in names)} }}\n"
    write_project(tmp_path, {"c.c": source}, ranges="\n".join(f'{name} = "0..1"' for name in names))
    lines = chaincover("check", tmp_path, "--compare", 0).out.splitlines()
    (line,) = [line for line in lines if line.startswith("note: ")]
    assert line == f"note: {told} set by the program: a range restricts nothing, but gives states() the values"
    assert len(line) <= 120


BIT_FIELD = "struct s {\n  unsigned a : 1;\n  unsigned b : 3;\n};\n"
USE = (
    "static struct s m;\nvoid init(void) { m.a = 0; m.b = 0; }\n"
    "void compute(_Bool x) { m.a = x; if (m.b < 5) m.b++; }\n"
)


@pytest.mark.needs_compiler
def test_a_bit_field(tmp_path: Path) -> None:
    """It is state like any other, and the compiled original is replayed with it."""
    write_project(tmp_path, {"c.c": BIT_FIELD + USE})
    ended = chaincover("generate", tmp_path, "--property", "G(b == 2 && a -> X(b == 3))", "-o", tmp_path / "out")
    assert ended.code == 0, ended.err
    assert "replay on the compiled original" in ended.out


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
