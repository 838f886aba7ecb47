"""Steps that C leaves undefined are excluded, those beside them are not; what is volatile through a pointer counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal  # noqa: F401

from bmc.system.simulation import Simulator

INT, LONG = -(1 << 31), -(1 << 63)


def allowed(folder: Path, text: str, **inputs: int) -> bool:
    """Whether the first step under ``inputs`` is defined."""
    model = read(folder, text)
    simulator = Simulator(model.system)
    raw = {var.name: inputs[var.name] % (1 << max(var.type.bits, 1)) for var in model.system.inputs}
    return simulator.allowed(simulator.initial(), raw)


@pytest.mark.parametrize("op", ["/", "%", "/=", "%="])
@pytest.mark.parametrize(
    ("ctype", "a", "b", "defined"),
    [
        ("int", INT, -1, False),
        ("int", INT + 1, -1, True),
        ("int", INT, 1, True),
        ("int", INT, -2, True),
        ("int", 5, 0, False),
        ("long long", LONG, -1, False),
        ("long long", LONG, 1, True),
        ("short", -(1 << 15), -1, True),
        ("unsigned", 1 << 31, (1 << 32) - 1, True),
    ],
)
def test_the_least_number_divided_by_minus_one(
    tmp_path: Path, op: str, ctype: str, a: int, b: int, defined: bool
) -> None:
    work = f"{ctype} q = a; q {op} b; r = q;" if "=" in op else f"r = a {op} b;"
    assert allowed(tmp_path, f"long long r; void step({ctype} a, {ctype} b) {{ {work} }}", a=a, b=b) is defined


@pytest.mark.parametrize(
    ("point", "index", "defined"),
    [
        ("int *p = &x;", 0, True),
        ("int *p = &x;", 1, False),
        ("int *p = &x;", -1, False),
        ("int *p = &s.b;", 0, True),
        ("int *p = &s.b;", -1, False),
        ("int *p = i > 5 ? &x : &t[1];", 1, True),
        ("int *p = i > 5 ? &x : &t[1];", -1, True),
        ("int *p = i > 5 ? &x : &t[1];", 2, False),
        ("int *p = i > 5 ? &x : &t[1];", 6, False),
    ],
)
@pytest.mark.parametrize("access", ["r = p[i];", "p[i] = 2;"])
def test_beyond_what_a_pointer_points_to(tmp_path: Path, point: str, index: int, defined: bool, access: str) -> None:
    text = f"int x, t[3], r; struct {{ int a, b, c; }} s; void step(int i) {{ {point} {access} }}"
    assert allowed(tmp_path, text, i=index) is defined


@pytest.mark.parametrize(
    "work",
    [
        "volatile int *p = &x; r = *p;",
        "volatile int *p = &x; r = p[0];",
        "int *q = &x; r = *(volatile int *)q;",
        "const volatile struct s *p = &y; r = p->a;",
    ],
)
def test_what_is_accessed_as_volatile_is_volatile_though_declared_plain(tmp_path: Path, work: str) -> None:
    """Its value comes from outside: the project must say what it is, unless the step has written it before."""
    text = f"int x, r; struct s {{ int a; }} y; void step(int i) {{ {{written}} {work} x = i; }}"
    error = refusal(tmp_path, text.replace("{written}", ""))
    assert "is read before the step writes it" in error.message or "and the step never writes it" in error.message
    read(tmp_path, text.replace("{written}", "x = i; y.a = i;"))
    plain = text.replace("{written}", "").replace("volatile ", "")
    read(tmp_path, plain)


@pytest.mark.parametrize(
    ("work", "defined"),
    [
        ("for (int k = 0; k < 2; k++) { t.out[k] = s.in[k]; }", True),
        ("for (int k = 0; k < 2; k++) { t.out[k] = s.in[k]; } r = t.out[0];", True),
        ("for (int k = 0; k < 2; k++) { t.out[k] = s.in[k]; } r = t.out[1];", False),
        ("t.out[i] = s.in[1]; r = t.out[0];", False),
        ("t.out[i + 1] = s.in[1]; r = t.out[0];", True),
        ("unsigned char *p = &t.out[1]; *p = *&s.in[1];", True),
        ("t.b = s.in[1];", False),
        ("t.n = s.in[1];", False),
        ("t.out[0] = s.in[1] + 0;", False),
        ("if ((t.out[0] = s.in[1])) { r = 1; }", False),
        ("t.out[0] = t.out[1] = s.in[1];", False),
        ("t.n = s.n;", False),
        ("char u; t.out[0] = *&u;", True),
        ("char u; t.out[0] = u;", False),
        ("char u; char *p = &u; t.out[0] = *p;", True),
        ("char u; char *p = &u; t.out[0] = p[0];", True),
        ("char u; char *p = &u; t.out[0] = u;", True),
        ("char u; char *p = &u; t.out[0] = u; *p = 1; r = t.out[0];", False),
        ("char u; char *p = &u; r = *p;", False),
        ("int u; int *p = &u; t.n = *p;", False),
        ("char u; char *p = &u; char v = *p;", False),
        ("char u; t.out[0] = same(&u);", False),
        ("enum { E = 3 }; t.out[0] = E; r = t.out[0];", True),
        ("t.out[0] += s.in[1];", False),
    ],
)
def test_characters_may_be_copied_though_unset_but_not_used(tmp_path: Path, work: str, defined: bool) -> None:
    text = f"""struct {{ unsigned char out[2]; _Bool b; int n; }} t; int r; static char same(char *p) {{ return *p; }}
    void step(int i) {{ struct {{ char in[2]; int n; }} s; s.in[0] = 7; t.out[0] = t.out[1] = 3; {work} }}"""
    assert allowed(tmp_path, text, i=0) is defined


@pytest.mark.needs_compiler
def test_copies_of_unset_characters_are_those_of_the_original(tmp_path: Path) -> None:
    text = """struct P { char head, data[3]; }; struct P last, before; int r;
    static void set(char *p, int i) { if (i & 1) *p = (char)i; }
    static void fill(struct P *p, int i) { p->head = (char)i; if (i & 1) p->data[i & 2] = (char)(i >> 2); }
    void step(int i) {
      struct P p; fill(&p, i);
      before = last;
      last.head = p.head;
      for (int k = 0; k < 3; k++) last.data[k] = p.data[k];
      char one, two; char *q = &one; set(q, i); two = *q; last.head = one;
      r = i & 1 ? last.data[i & 2] + last.head + two : 0;
    }"""
    found = agreement(read(tmp_path, text), pairs=60)
    assert found.steps == 60
    assert not found.differences, found.differences[0]
