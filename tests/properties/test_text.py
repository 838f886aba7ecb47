"""Text properties: what they mean on a run, how long they are, what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import fresh_names

from bmc.errors import InputRefused, Location
from bmc.system.transition import Run
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.subject import Subject
from properties.goal import Goal
from properties.monitor import Monitor

SOURCE = """\
#define LIMIT 3
#define BUSY(x) ((x)->mode == ON)
typedef enum { OFF, ON = 4, DIS } t_mode;
const int fixed = 7;
typedef struct { _Bool b; int a; } t_in;
typedef struct { t_mode mode; int n; unsigned char u; signed char tab[3]; } t_st;
void init(t_st *s) { s->mode = OFF; s->n = 0; s->u = 0; s->tab[0] = s->tab[1] = s->tab[2] = 0; }
void compute(t_in *i, t_st *s) {
  s->mode = s->mode == ON ? DIS : ON;
  s->n = i->b ? i->a : LIMIT;
  s->u = (unsigned char)s->n;
  s->tab[1] = 1;
}
"""

# mode, n, u, tab; the program need not be able to do this
STATES = [
    (0, 0, 255, (7, 8, 0)),
    (4, 1, 255, (7, 8, 0)),
    (4, 2, 3, (7, 8, 255)),
    (5, 5, 3, (7, 8, 255)),
    (0, -1, 0, (0, 0, 0)),
]
INPUTS = [(1, 0), (0, 3), (1, 3), (1, 9)]
RUN = Run(
    tuple(
        {"s->mode": mode, "s->n": n % 2**32, "s->u": u, **{f"s->tab[{k}]": v for k, v in enumerate(tab)}}
        for mode, n, u, tab in STATES
    ),
    tuple({"i->b": b, "i->a": a} for b, a in INPUTS),
)

COVERS = [
    # property, J, steps of the run at which it is covered
    ("cover(mode == ON)", 0, [1, 2]),
    ("cover(mode == OFF);", 0, [0, 4]),
    ("cover(mode == OFF && X(mode == ON))", 1, [0]),
    ("cover(b)", 1, [0, 2, 3]),
    ("cover(b && X(X(b)))", 3, [0]),
    ("cover(X(n) - n == 1)", 1, [0, 1]),
    ("cover(X(n) == n + 1 && X(b))", 2, [1]),
    ("cover(X(X(n)) == 2 + n)", 2, [0]),
    ("cover(X(n + a) == 4)", 2, [0]),
    ("cover(X((n == 2) || X(n == 5)))", 2, [1]),
    ("cover(n > LIMIT)", 0, [3]),
    ("cover(BUSY(s))", 0, [1, 2]),
    ("cover(u + 1 == 256)", 0, [0, 1]),
    ("cover((unsigned char)(u + 1) == 0)", 0, [0, 1]),
    ("cover(n < 0)", 0, [4]),
    ("cover(n < 0u)", 0, []),
    ("cover(u > n)", 0, [0, 1, 2, 4]),
    ("cover(tab[2] < 0)", 0, [2, 3]),
    ("cover(s->tab[n] == 8)", 0, [1]),
    ("cover(10 / n == 5)", 0, [2]),
    ("cover(n != 0 && 10 / n > 4)", 0, [1, 2]),
    ("cover(n == 0 || 10 / n == 2)", 0, [0, 3]),
    ("cover(b ? n == 0 : n == 1)", 1, [0, 1]),
    ("cover(s->mode == DIS && i->b)", 1, [3]),
    ("cover(mode == 'A' - 60)", 0, [3]),
    ("cover(n == 0x5 && true && !false)", 0, [3]),
    # what is folded away counts for J as it is written
    ("cover(X(X(LIMIT == 3)))", 2, [0, 1, 2]),
    ("cover(X(X(fixed == 7)) && n == 1)", 2, [1]),
    ("cover(LIMIT == 3 || X(b))", 2, [0, 1, 2]),
    ("cover(n == 1 || !(0 && X(X(n)) > a))", 2, [0, 1, 2]),
    ("cover(X(b || true))", 2, [0, 1, 2]),
    ("cover(X(n * 0 == 0))", 1, [0, 1, 2, 3]),
    ("cover(X(sizeof i->a == 4) && -n == -2)", 1, [2]),
    ("cover(X(1 || *(&i->a)))", 2, [0, 1, 2]),
    ("cover(X(b && 0) == 0 && X(s->tab[i->a & 0]) == 7)", 2, [0, 1, 2]),
]

IMPLICATIONS = [
    # property, J, steps at which it is covered and whether the consequent then holds
    ("G(mode == ON -> n < 2)", 0, {1: True, 2: False}),
    ("G(mode == ON && b -> X(mode == DIS))", 1, {2: True}),
    ("G(b -> X(X(n > 0)))", 2, {0: True, 2: False}),
    ("G(n==1->X(n==2))", 1, {1: True}),
    ("G(n == 1 => X(n == 2))", 1, {1: True}),
    ("G(n == 1 ⇒ X(n == 2))", 1, {1: True}),
    ("G(n == 1 → X(n == 2))", 1, {1: True}),
    ("G(s->n -> s->u)", 0, {1: True, 2: True, 3: True, 4: False}),
    ("G(s->n->s->u)", 0, {1: True, 2: True, 3: True, 4: False}),
    ("G(b->s->n == 0)", 1, {0: True, 2: False, 3: False}),
    ("G(i->b->s->n == 0)", 1, {0: True, 2: False, 3: False}),
    ("G(s->tab[1] == 8 -> n >= 0)", 0, {0: True, 1: True, 2: True, 3: True}),
    ("G(n == 5 -> X(s->mode == OFF))", 1, {3: True}),
    ("G(n == 0 -> 10 / n == 1)", 0, {0: False}),
    ("G(n == 0 -> 10 / n != 3)", 0, {0: False}),
    ("G(n == 0 -> 10 / n == -1 || 10 % n == 10)", 0, {0: False}),
    ("G(n == 1 -> X(X(fixed == 7)))", 2, {1: True}),
]


def read(folder: Path, *texts: str, toml: str = "", before: str = "") -> Subject:
    (folder / "c.c").write_text(before + SOURCE)
    if toml:
        (folder / "chaincover.toml").write_text(toml)
    return load(read_project(str(folder / ("chaincover.toml" if toml else "c.c"))), texts)


@pytest.fixture(scope="module")
def goals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Goal]:
    """All properties above, by their text."""
    texts = [text for text, *_ in [*COVERS, *IMPLICATIONS]]
    with fresh_names():
        found = read(tmp_path_factory.mktemp("text"), *texts).goals
        yield dict(zip(texts, found, strict=True))


@pytest.mark.parametrize(("text", "length", "steps"), COVERS, ids=[c[0] for c in COVERS])
def test_where_a_condition_is_covered(goals: dict[str, Goal], text: str, length: int, steps: list[int]) -> None:
    goal = goals[text]
    assert goal.length == length
    assert goal.consequent is None
    assert Monitor([goal]).covered(RUN)[goal.name] == steps


@pytest.mark.parametrize(("text", "length", "held"), IMPLICATIONS, ids=[i[0] for i in IMPLICATIONS])
def test_whether_a_consequent_holds(goals: dict[str, Goal], text: str, length: int, held: dict[int, bool]) -> None:
    goal = goals[text]
    monitor = Monitor([goal])
    assert goal.length == length
    steps = monitor.covered(RUN)[goal.name]
    assert {step: monitor.judge(RUN, goal.name, step) for step in steps} == held


def test_names_and_places(tmp_path: Path) -> None:
    toml = """\
[sources]
files = ["c.c"]

[[property]]
text = "G(b -> X(n == a))"

[[property]]
id = "given"
text = "written: cover(n == 1)"
requirement = "REQ-7"
description = "one is reached"

[[property]]
text = "written : cover(n == 2)"
"""
    with fresh_names():
        texts = "cover(n == 3)", "last-one: cover(n)", "x.y: cover(n)", "a=1: cover(n == 1)"
        subject = read(tmp_path, *texts, toml=toml)
    found = {goal.name: goal for goal in subject.goals}
    assert list(found) == ["p1", "given", "written", "p4", "last-one", "x.y", "a=1"]
    assert found["given"].requirement == "REQ-7"
    assert found["given"].description == "one is reached"
    place = str(tmp_path / "chaincover.toml")
    assert [found[name].where for name in ("p1", "given", "written")] == [Location(place, n) for n in (5, 9, 14)]
    assert found["p4"].where == Location("--property 1")
    assert found["given"].text == "cover(n == 1)"


def test_names_that_c_has_none_for(tmp_path: Path) -> None:
    """A static local of one of several functions, and the step's result; a short name where it is not ambiguous."""
    source = """\
static int f(int a) { static int ticks = 5; static int only, n; n = only = a; return ticks += a > 0; }
static int g(int a) { static int ticks[2], n; return n = ticks[1] += a; }
int compute(int a) { return f(a) / 2 + g(a); }
"""
    (tmp_path / "c.c").write_text(source)
    texts = ["G(f::ticks == 6 && a > 0 -> X(return == 3 && g::ticks[1] == 1))", "cover(only == 2 && !return)"]
    with fresh_names():
        subject = load(read_project(str(tmp_path / "c.c")), texts, "f::ticks > 6")
        found = [sorted(s.symbol_name() for s in g.antecedent.get_free_variables()) for g in subject.goals]
        with pytest.raises(InputRefused, match=r"--property 1: unknown name 'x' in 'f::ticks == x'"):
            load(read_project(str(tmp_path / "c.c")), ["cover(f::ticks == x)"])
        with pytest.raises(InputRefused, match=r"cannot read the expression 'f::ticks =='"):
            load(read_project(str(tmp_path / "c.c")), ["cover(f::ticks == )"])
        with pytest.raises(InputRefused, match=r"the name 'n' is ambiguous: f::n, g::n"):
            load(read_project(str(tmp_path / "c.c")), ["cover(n == 1)"])
    assert found == [["a@0", "f::ticks@0"], ["f::only@0", "return#defined@0", "return@0"]]
    assert [goal.length for goal in subject.goals] == [1, 0]


@pytest.mark.parametrize(
    "own",
    [
        "#define X(m) (m)",
        "#define X(a, b) a##b",
        "#define X ,",
        "#define NEXT X",
        "typedef int X;",
        "int X(int m) { return m; }",
        "enum { X = 1 };",
        "int X[2];",
    ],
)
def test_operators_mean_the_same_whatever_the_program_calls_like_them(tmp_path: Path, own: str) -> None:
    texts = ["cover(n == 1 && X(n == 2))", "G(BUSY(s) && X (X(n)) == 2 -> X(n == 1))", "G(n -> X(BUSY(s)))"]
    with fresh_names():
        plain = read(tmp_path, *texts).goals
        given = read(tmp_path, *texts, before=f"{own}\n").goals
    assert [(g.antecedent, g.consequent, g.length) for g in given] == [
        (g.antecedent, g.consequent, g.length) for g in plain
    ]


@pytest.mark.parametrize(
    ("own", "text", "meaning"),
    [
        ("#define X(m) ((m) == 2)", "cover(`X`(n))", "cover(n == 2)"),
        ("#define X(m) ((m) == 2)", "cover(X(`X`(n)))", "cover(X(n == 2))"),
        ("static int X(int m) { return m == 2; }", "G(`X`(n) -> `X`(u))", "G(n == 2 -> u == 2)"),
        ("static int X(int m) { return m == 2; }", "cover((X)(n))", "cover(n == 2)"),
        ("#define X 2", "cover(X == n && (X) == n && X(n == X))", "cover(n == 2 && X(n == 2))"),
        ("typedef unsigned char X;", "cover((X)(n) == 2)", "cover((unsigned char)n == 2)"),
        ("#define X 2", "G(s->n->`X` == u)", "G(s->n -> 2 == u)"),
    ],
)
def test_what_the_program_calls_like_an_operator_is_its_own_in_backquotes_and_elsewhere(
    tmp_path: Path, own: str, text: str, meaning: str
) -> None:
    with fresh_names():
        (given,) = read(tmp_path, text, before=f"{own}\n").goals
        (plain,) = read(tmp_path, meaning, before=f"{own}\n").goals
    assert (given.antecedent, given.consequent, given.length) == (plain.antecedent, plain.consequent, plain.length)


def test_parentheses_in_constants_and_comments_do_not_count(tmp_path: Path) -> None:
    pairs = [
        ("cover(n == ')' /* :-) */)", "cover(n == 41)"),
        ("G(n == '(' && /* -> */ n -> u == '\\'') ;", "G(n == 40 && n -> u == 39)"),
        ("cover(n == 1 // one)\n)", "cover(n == 1)"),
        ("/* (a */ cover /**/ (b)", "cover(b)"),
    ]
    with fresh_names():
        found = read(tmp_path, *(text for pair in pairs for text in pair)).goals
    for given, plain in zip(found[::2], found[1::2], strict=True):
        assert (given.antecedent, given.consequent) == (plain.antecedent, plain.consequent)


def test_the_message_about_an_operator_has_its_name_and_what_to_write_for_the_programs_own(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match=r"X takes one condition in 'X\(n, 2\)'") as caught:
        read(tmp_path, "cover(X(n, 2))", before="#define X(a, b) ((a) == (b))\n")
    assert "`X`(...)" in caught.value.hint
