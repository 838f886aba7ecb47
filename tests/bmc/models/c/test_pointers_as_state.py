"""Pointers to functions, and pointers that the step changes: the model equals the compiled original."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

import json
from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read, refusal  # noqa: F401
from command_line import chaincover

from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.models.c.controller.reading import SourceConfig
from bmc.system.simulation import Simulator
from bmc.system.transition import ValueType

FEATURES = {
    "a const table": "unsigned char s; static int a(int x) { return x > 5; } static int b(int x) { return x != 3; } "
    "static int (*const t[2])(int) = {a, b}; void step(unsigned char i) { s = t[s & 1](i); }",
    "effects are joined": "int r, n; static int a(int x) { n = (n + 1) & 7; return x + n; } static int b(int x) { n = 0; return -x; } "
    "static int (*const t[])(int) = {a, b, &a}; void step(unsigned char i) { r = t[i % 3](i); r += (*t[i & 1])(1); }",
    "operations chosen once": "typedef int h(int); struct ops { h *f; int (*g)(int, int); }; static int f1(int a) { return a; } "
    "int f2(int a) { return -a; } static int g1(int a, int b) { return a ^ b; } static const struct ops x = {f1, g1}, "
    "y = {.f = &f2, .g = g1}; static const struct ops *cur; int r; void init(void) { cur = &y; } "
    "static int use(h *f, int v) { return f ? (*f)(v) : (**cur->f)(v); } void step(unsigned char i) { h *p = i & 1 ? f1 : f2; "
    "if (i == 9) p = 0; r = p == f1 ? 7 : p == &f2; r += use(p, i) + use(*f1, i) + cur->g(i, 3) + use((h *)(i & 4 ? (h *)0 : f1), 1); }",
    "operations changed": "struct ops { int (*f)(int); int k; }; static int f1(int a) { return a + 1; } static int f2(int a) { return a ^ 5; } "
    "static struct ops o = {f1, 3}; static const struct ops other = {f2, 4}; int r; "
    "void step(unsigned char i) { if (i > 9) o = other; else if (i == 7) o.f = f1; r = o.f(i) + o.k; }",
    "a handler for the next step": "int r; static void idle(void); static void busy(void); static void (*h)(void) = idle; "
    "static unsigned char in; static void idle(void) { if (in > 3) h = busy; r = 1; } "
    "static void busy(void) { r = 2; if (in == 0) h = idle; if (in == 9) h = 0; } void step(unsigned char i) { in = i; if (h) h(); }",
    "callbacks registered in init": "typedef void (*cb)(int); static cb cbs[3]; static int count, r; static void add(cb f) { cbs[count++] = f; } "
    "static void one(int a) { r += a; } static void two(int a) { r ^= a; } void init(void) { add(one); add(two); } "
    "void step(unsigned char a) { for (int k = 0; k < count; k++) cbs[k](a); r &= 1023; }",
    "a table that changes": "static int f1(int a) { return a; } static int f2(int a) { return a + 1; } static int (*t[3])(int) = {f1, f2}; "
    "unsigned char k; int r; void step(unsigned char i, unsigned char j) { if (i & 1) { int (*x)(int) = t[i % 3]; t[i % 3] = t[j % 3]; "
    "t[j % 3] = x; } r = t[k % 3] == f1 ? 3 : t[k % 3](i); k = i; }",
    "struct results": "struct p { int a; short b; }; struct p g; static struct p u(int a) { struct p x = {a, 1}; return x; } "
    "static struct p v(int a) { struct p x = {.b = 3}; x.a = -a; return x; } void step(unsigned char i) { g = (i & 1 ? u : v)(i); }",
    "no recursion": "int r; static int (*p)(int); static int last(int a) { return a; } static int first(int a) { p = last; return p(a) + 1; } "
    "static int again(int a) { return p == again ? a : p(a); } void step(unsigned char a) { p = a & 1 ? first : again; r = p(a); }",
    "a result that nobody uses": "int g, r; static int f(int a) { g = a; if (a > 3) return 1; } static int h(int a) { g = a & 1; } "
    "static int (*const t[])(int) = {f, h}; void step(unsigned char a) { t[a & 1](a); r = g; }",
    "pointers to rows and elements": "struct row { int a, b; }; static const struct row rows[3] = {{1, 2}, {3, 4}, {5, 6}}; int m[2][2]; "
    "static const struct row *p = rows; static int *cell; static int (*line)[2] = m; int r; void step(unsigned char e) { r = p->a + (*line)[e & 1]; "
    "p = &rows[e % 3]; line = &m[e & 1]; if (cell) (*cell)++; cell = &m[e & 1][e >> 7]; *cell &= 3; if (p == &rows[1]) r = p->b; }",
    "a pointer to a pointer": "int a, b; int *p = &a; int **q = &p; int *u = &b; void step(unsigned char e) { **q = e; if (e & 1) *q = &b; "
    "else p = &a; q = e & 2 ? &u : &p; if (e > 200) u = &a; }",
    "a static local": "int r; static int *f(int k) { static int t[2]; return &t[k]; } void step(unsigned char e) { static int *p; if (p) r = *p; "
    "p = f(e & 1); *p = e; }",
    "an object whose life is over": "int r; static int *p; void step(unsigned char e) { int x = 3; p = &r; if (e & 1) p = &x; r = *p & 7; if (e & 2) p = 0; }",
    "set by the step alone": "struct s { int (*f)(int); int *q; int n; }; static int f(int a) { return a & 3; } "
    "void init(struct s *s) { s->n = 0; } void step(struct s *s, unsigned char e) { if (s->n) s->n = s->f(e) + (s->q == &s->n); "
    "else if (e > 100) { s->f = f; s->q = &s->n; s->n = 1; } }",
    "a walk to a mark": "struct row { unsigned char st; short v; }; static const struct row tab[] = {{1, 5}, {4, 7}, {9, -3}, {255, 0}}; int r; "
    "void step(unsigned char a) { const struct row *p; r = 0; for (p = tab; p->st != 255; p++) if (p->st == a) { r = p->v; break; } r += p - tab; }",
    "a walk both ways": "int t[4], r; void step(unsigned char a, unsigned char b, signed char c) { int *p = t, *e = t + 4; while (p < e) *p++ = a; "
    "p = &t[a & 3]; r = *p; p--; p++; if (b & 1) p += c; else if (b & 2) p -= b >> 4; r += p - t; "
    "r += 2 * (p == e) + 4 * (e > p) + (b & 3)[t] + 1[t]; if (b & 4) r += *p & 7; }",
    "a ring": "static unsigned char buf[5]; static unsigned char *w = buf, *rd = &buf[0]; int n; void step(unsigned char a) { "
    "if (a & 1) { *w++ = a; if (w == buf + 5) w = buf; } if (rd != w) { n = *rd; if (++rd >= &buf[5]) rd = buf; } }",
    "a walk along a text": 'static const char *s = "hello"; int r; void step(unsigned char a) { const char *p = s; while (*p && *p != a) ++p; r = p - s; }',
    "rows": "int m[2][3]; int r; void step(unsigned char a) { int (*l)[3] = m; l++; (*l)[a % 3] = a; r = l - m; int *q = *l + 1; "
    "r += q[1] & q[-1] & *(1 + q); q = &m[0][2]; q++; r += (q == &m[1][0]); if (a == 77) r = *q; }",
    "two arrays": "int a1[2], a2[2]; int r; void step(unsigned char a) { int *p = a & 1 ? a1 : a2; int *q = a & 2 ? a1 + 1 : a2; r = 0; if (a & 4) r = p < q; "
    "if (a & 8) r = p - q; p += a & 3; if (a & 16) r = *p; if (a & 32) r += p == q; }",
    "a walk that only arrays bound": "static unsigned char t[30]; int r; static const unsigned char *end, *p = t; void step(unsigned char a) { "
    "const unsigned char *q = t, *e = &t[3]; r = 0; while (p != e) { p++; r++; } p = &t[a & 3]; if (!end) end = t + 5; while (q != end) r += *q++; "
    "if (a < 30) { end = &t[a]; t[a] = a; } }",
    "set to nothing that lives": "struct s { int *p; int n; }; void step(struct s *s, unsigned char a) { int x; if (a & 1) s->p = &x; s->n = a; }",
    "in packed structs": "struct __attribute__((packed)) s { char c; void (*h)(void); } s; int r; static void a(void) { r = 1; } "
    "static void b(void) { r = 2; } void step(unsigned char e) { if (s.h) s.h(); s.h = e & 1 ? a : e & 2 ? b : 0; }",
}


@pytest.mark.needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("name", FEATURES)
def test_feature_agrees(name: str, tmp_path: Path) -> None:
    found = agreement(read(tmp_path, FEATURES[name]), pairs=300)
    assert found.steps > 60
    assert not found.differences, found.differences[0]
    assert not found.traps, found.traps[0]


def kind_of(model: CModel, name: str) -> ValueType:
    """The type of a state variable."""
    return next(var.type for var in model.system.state if var.name == name)


def labels(model: CModel, name: str) -> list[str]:
    """What a pointer may point to."""
    return [label for label, _ in kind_of(model, name).labels]


def test_a_pointer_s_values_have_the_names_of_what_it_points_to(tmp_path: Path) -> None:
    model = read(tmp_path, FEATURES["a handler for the next step"])
    assert labels(model, "h") == ["idle", "busy", "NULL"]
    model = read(tmp_path, FEATURES["pointers to rows and elements"])
    assert labels(model, "p") == ["&rows[0]", "&rows[1]", "&rows[2]"]
    assert sorted(labels(model, "cell")) == ["&m[0][0]", "&m[0][1]", "&m[1][0]", "&m[1][1]", "NULL"]
    assert labels(model, "line") == ["&m[0]", "&m[1]"]
    assert kind_of(model, "line").name == "int[2] *"


def test_a_pointer_that_the_step_leaves_alone_is_no_state(tmp_path: Path) -> None:
    assert "cur" not in read(tmp_path, FEATURES["operations chosen once"]).names


UNDEFINED = {
    "NULL": ("int (*p)(int) = a == 3 ? 0 : f; r = p(a);", "null or unset pointer"),
    "unset": ("int (*p)(int); if (a != 3) p = f; r = p(a);", "uninitialised read"),
    "another type": ("int (*p)(int) = a == 3 ? (int (*)(int))g : f; r = p(a);", "call of a function of another type than the pointer's"),
    "too many arguments": ("int (*p)(int) = a == 3 ? (int (*)(int))n : f; r = p(a);", "call of a function of another type than the pointer's"),
    "past the end": ("int t[2] = {1, 2}; int *p = t; p += a; r = p - t; if (a == 3) p--; r = p[-1];", "pointer moved out of its array"),
    "read at the end": ("int t[3] = {1, 2, 4}; int *p = t + a; r = *p;", "access past the end of an array"),
    "set at the end": ("int t[3] = {1}; *(&t[a]) = 5; r = t[0];", "access past the end of an array"),
    "before the start": ("int t[4] = {1}; int *p = &t[2]; p -= a; r = p - t;", "pointer moved out of its array"),
    "a difference": ("int t[4], u[2], *p = a == 3 ? u : t + 1; r = p - t;", "difference of pointers into two arrays"),
    "an order": ("int t[4], u[2], *p = a == 3 ? u : t + 1; r = p > t;", "order of pointers into two objects"),
    "what lies behind": ("int t[3], u[2]; r = t + a == u;", "pointer past the end compared with one to another object"),
    "null that moves": ("int t[2], *p = a == 3 ? 0 : t; p++; r = p - t;", "pointer moved out of its array"),
    "dangling": ("static int *q = &s; int x = 1; r = *q; q = &s; if (a == 3) q = &x;", "uninitialised read"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDEFINED)
def test_exactly_the_undefined_steps_are_excluded(name: str, tmp_path: Path) -> None:
    """Input 3 is undefined: at once, or (dangling) in the step after it."""
    body, kind = UNDEFINED[name]
    head = "int r, s; static int f(int a) { return a; } static long g(int a) { return a; } static int n(void) { return 1; }"
    model = read(tmp_path, f"{head}\nvoid step(unsigned char a) {{ {body} }}")
    simulator = Simulator(model.system)
    state = simulator.initial()
    assert simulator.allowed(state, {"a": 2})
    if name == "dangling":
        assert simulator.allowed(state, {"a": 3})
        assert not simulator.allowed(simulator.step(state, {"a": 3}), {"a": 2})
    else:
        assert not simulator.allowed(state, {"a": 3})
    assert kind in {each.name for each in model.system.undefined_behaviour}


REFUSED = {
    "a function without a body": ("int f(int a); void step(int a) {\n int (*p)(int) = f; r = p(a); }", "address of the function 'f', which is not defined", 2),
    "no function": ("void step(int a) {\n r = a(3); }", "what is called is no function", 2),
    "a pointer to data": ("void step(int *a) {\n r = a(3); }", "what is called is no function", 2),
    "no types of parameters": ("static int f(int a) { return a; } static int (*p)() = f; void step(int a) {\n r = p(a); }", "without parameter types", 2),
    "data through a function's address": ("static int f(int a) { return a; } void step(int a) {\n r = *(int *)f; }", "another type than its own", 2),
    "a string without a name": ("static const char *p; void\nstep(int a) { p = a ? \"on\" : \"off\"; r = p[0]; }", "to a string constant", 2),
    "a volatile pointer": ("static int k;\nstatic int *volatile p; void step(int a) { p = a ? &k : &r; }", "the volatile pointer 'p' is changed by the step", 2),
    "two types at one address": ("struct s { int a; } s; static void *p; void\nstep(int a) { if (a > 0) p = &s; else if (a) p = &s.a; r = p != 0; }", "pointer 'p' to both", 2),
    "a place where another object may lie": ("static int t[3], u[2];\nstatic int *p = u; void\nstep(unsigned char a) { p = a < 4 ? t + a : u; }", "pointer 'p' past the end (&t[3]) or to another object", 3),
    "too much to point to": ("static int t[300];\nstatic int *p; void step(unsigned short a) { p = &t[a % 300]; }", "'p' may point to more than 200 objects", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    text, message, line = REFUSED[name]
    error = refusal(tmp_path, f"int r; {text}")
    assert message in error.message
    assert error.where is not None
    assert error.where.line == line


@pytest.mark.needs_compiler
def test_functions_of_one_name_in_two_files(tmp_path: Path) -> None:
    """Each pointer of the compiled original is told by its address, however the functions are called."""
    texts = {
        "h.h": "typedef int (*fn)(int); extern fn now; extern const fn other;\n",
        "a.c": '#include "h.h"\nstatic int own(int v) { return v + 1; }\nfn now = own;\nint r;\n'
        "void step(unsigned char a) { if (a & 1) now = other; else if (a & 2) now = own; r = now(a); }\n",
        "b.c": '#include "h.h"\nstatic int own(int v) { return v ^ 5; }\nconst fn other = own;\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    fresh_environment()
    model = read_c(SourceConfig("program", tuple(str(tmp_path / name) for name in ("a.c", "b.c")), step="step"))
    assert labels(model, "now") == ["a.c::own", "b.c::own"]
    found = agreement(model, pairs=200)
    assert found.steps == 200
    assert not found.differences


PROJECT = """name = "m"
[sources]
files = ["m.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["i->*"]
[ranges]
"i->go" = [0, 1]
"i->stop" = [0, 1]
"c->handler" = ["idle", "busy"]
[coverage]
criteria = ["states(handler)"]
[[property]]
id = "starts"
text = "G(c->handler == idle && i->go -> X(handler == &busy))"
[[property]]
id = "done"
text = "cover(c->handler == done && c->where == &n[1])"
"""
PROGRAM = """typedef struct { unsigned char go, stop; } in_t;
typedef struct ctx ctx_t;
struct ctx { void (*handler)(ctx_t *, const in_t *); int *where; };
static int n[2];
static void idle(ctx_t *c, const in_t *i); static void busy(ctx_t *c, const in_t *i);
static void done(ctx_t *c, const in_t *i) { (void)i; c->where = n; c->handler = idle; }
static void idle(ctx_t *c, const in_t *i) { if (i->go) c->handler = busy; }
static void busy(ctx_t *c, const in_t *i) { if (i->stop) { c->handler = done; c->where = &n[1]; } }
void init(ctx_t *c) { c->handler = idle; c->where = n; }
void step(ctx_t *c, const in_t *i) { c->handler(c, i); }
"""


@pytest.mark.needs_compiler
def test_properties_ranges_and_results_name_what_is_pointed_to(tmp_path: Path) -> None:
    (tmp_path / "m.c").write_text(PROGRAM)
    (tmp_path / "chaincover.toml").write_text(PROJECT)
    ended = chaincover("generate", tmp_path, "-o", tmp_path / "out")
    assert ended.code == 0, ended.err
    assert "one chain of 2 steps covers all 4 goals (minimal, proved)" in ended.out
    goals = [goal["name"] for goal in json.loads((tmp_path / "out" / "chain.json").read_text())["goals"]]
    assert goals[2:] == ["states(handler)=idle", "states(handler)=busy"]
    rows = (tmp_path / "out" / "chain.csv").read_text().splitlines()
    assert "c->handler,c->where" in rows[0]
    assert "busy,&n[0]" in rows[1]
    assert "done,&n[1]" in rows[2]
    assert chaincover("verify", tmp_path, tmp_path / "out").code == 0


def test_a_handler_in_a_table_is_no_property(tmp_path: Path) -> None:
    """Functions called like properties that only pointers reach."""
    text = "int n; static void p_up(void) { n = 1; } static void (*const t[])(void) = {p_up}; void compute(int a) { t[0](); }"
    (tmp_path / "c.c").write_text(text)
    ended = chaincover(
        "generate", tmp_path / "c.c", "--property", "cover(n == 1)", "--no-native", "-o", tmp_path / "out"
    )
    assert ended.code == 0, ended.err


@pytest.mark.needs_compiler
def test_the_tester_chooses_where_a_pointer_starts(tmp_path: Path) -> None:
    """Among what its range names."""
    text = PROGRAM.replace("c->handler = idle; c->where = n; }\nvoid step", "c->where = n; }\nvoid step")
    (tmp_path / "m.c").write_text(text)
    chosen = 'chosen = ["c->handler"]\n[ranges]\n'
    project = PROJECT.replace("[ranges]\n", chosen).replace('["idle", "busy"]', '["done", "busy"]')
    (tmp_path / "chaincover.toml").write_text(project)
    ended = chaincover("generate", tmp_path, "--goal", "states*", "-o", tmp_path / "out")
    assert "one chain of 1 step covers all 2 goals" in ended.out, ended.err
    assert (tmp_path / "out" / "chain.csv").read_text().splitlines()[1].startswith("init,,,busy,&n[0]")
    assert chaincover("verify", tmp_path, tmp_path / "out").code == 0


@pytest.mark.needs_compiler
def test_a_pointer_to_a_function_is_an_input(tmp_path: Path) -> None:
    """It takes the values that its range names."""
    (tmp_path / "m.c").write_text(
        "typedef struct { int (*cb)(int); } in_t; static int up(int a) { return a + 1; } static int down(int a) { return a - 1; }\n"
        "int n; void step(const in_t *i) { if (i->cb && n < 5 && n > -5) n = i->cb(n); }\n"
    )
    project = PROJECT[: PROJECT.index("init")] + 'step = "step"\n[interface]\ninput = ["i->*"]\n[ranges]\n'
    (tmp_path / "chaincover.toml").write_text(project + '"i->cb" = ["up", "down", "NULL"]\n')
    ended = chaincover("generate", tmp_path, "--property", "cover(n == 2 && X(n == 1))", "-o", tmp_path / "out")
    assert ended.code == 0, ended.err
    rows = (tmp_path / "out" / "chain.csv").read_text().splitlines()
    assert [row.split(",")[1] for row in rows[:4]] == ["i->cb", "up", "up", "down"]
    assert chaincover("verify", tmp_path, tmp_path / "out").code == 0


def test_a_range_of_a_pointer_names_what_it_does_not_point_to(tmp_path: Path) -> None:
    (tmp_path / "m.c").write_text(PROGRAM)
    (tmp_path / "chaincover.toml").write_text(PROJECT.replace('"idle", "busy"]', '"idle", "gone"]'))
    ended = chaincover("check", tmp_path, "--compare", 0)
    assert ended.code != 0
    assert "'c->handler' does not point to 'gone'" in ended.err
    assert "it points to one of these: idle, busy, done" in ended.err


@pytest.mark.needs_compiler
def test_a_pointer_that_is_only_copied_onto_itself(tmp_path: Path) -> None:
    """It points nowhere, so that it is no state: the steps that read it are undefined."""
    text = (
        "struct b { int a; }; typedef struct { struct b *who; int x; } t; void init(t *s) { s->x = 0; } "
        "void step(t *s, int i) { if (i & 1) s->who = s->who; s->x = i; }"
    )
    found = agreement(read(tmp_path, text, init=("init",)), pairs=100)
    assert found.undefined > 20
    assert found.steps > 20
    assert not found.differences
