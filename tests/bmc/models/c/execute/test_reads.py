"""Reads of volatile objects that leave no trace in the outcome, '->' where no pointer stands, and hints about init."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import own_environment, read, refusal  # noqa: F401

from bmc.errors import InputRefused, Location
from bmc.system.simulation import Simulator
from properties.text import PropertyText, read_property

READ_FIRST = {
    "twice, and compared": "static volatile unsigned q; int r; void step(int x) {\n unsigned a = q, b = q; r = (a == b) ? x : -1; q = x; }",
    "compared with itself": "volatile int q; int r; void step(int x) {\n r = q == q; q = x; }",
    "a bare read": "volatile int q; void step(int x) {\n q; q = x; }",
    "a read that is cast to void": "volatile int q; void step(int x) {\n (void)q; q = x; }",
    "multiplied by zero": "volatile int q; int r; void step(int x) {\n r = 0 * (q & 1); q = x; }",
    "after a write on one path": "volatile int q; int r; void step(int x) { if (x > 3) q = x;\n r = q == q; q = 1; }",
    "on the path without the write": "volatile int q; void step(int x) { if (x > 3) q = x; else {\n q; } q = 1; }",
    "in a called function": "volatile int q; static int f(void) {\n return q ^ q; } int r; void step(int x) { r = f(); q = x; }",
    "an element": "volatile int q[2]; int r; void step(int x) {\n r = q[x & 1] - q[x & 1]; q[0] = q[1] = x; }",
    "a member": "struct { volatile int q; } d; int r; void step(int x) {\n r = d.q == d.q; d.q = x; }",
    "through a pointer": "void step(volatile int *q, int x) {\n *q; *q = x; }",
    "through a pointer to a plain object": "int q; int r; void step(int x) { volatile int *p = &q;\n r = *p; q = x; }",
}

WRITTEN_FIRST = {
    "straight": "volatile int q; int r; void step(int x) { q = x; r = q == q; }",
    "on both paths": "volatile int q; int r; void step(int x) { if (x > 3) q = 1; else q = 2; r = q; }",
    "on the same path": "volatile int q; int r; void step(int x) { if (x > 3) q = 1; r = 0; if (x > 3) r = q; }",
    "read on a path that is never taken": "volatile int q; int r; void step(int x) { if (0) r = q; q = x; }",
    "not evaluated": "volatile int q; int r; void step(int x) { r = sizeof(q); q = x; }",
    "address alone": "volatile int q; int r; void step(int x) { volatile int *p = &q; *p = x; r = *p; }",
}


@pytest.mark.parametrize("name", READ_FIRST)
def test_a_volatile_object_that_is_read_first_is_refused(name: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, READ_FIRST[name])
    assert "the volatile object" in error.message
    assert "is read before the step writes it" in error.message or "the step never writes it" in error.message
    assert f"{tmp_path / 'program.c'}:2:" in error.message


@pytest.mark.parametrize("name", READ_FIRST)
def test_as_state_or_input_it_may_be_read_first(name: str, tmp_path: Path) -> None:
    listed = {"a member": "d.q", "through a pointer": "*q"}.get(name, "q")
    roles = {v.name: v.role for v in read(tmp_path, READ_FIRST[name], state=(listed,)).variables}
    assert roles.get(listed, roles.get(f"{listed}[0]")) == "state"
    if "q[2]" not in READ_FIRST[name]:
        roles = {v.name: v.role for v in read(tmp_path, READ_FIRST[name], input=(listed,)).variables}
        assert roles[listed] == "input"


@pytest.mark.parametrize("name", WRITTEN_FIRST)
def test_a_volatile_object_that_is_written_first_is_read_back(name: str, tmp_path: Path) -> None:
    assert any(v.name == "q" for v in read(tmp_path, WRITTEN_FIRST[name]).variables)


@pytest.mark.parametrize("access", ["q == q", "(q, 1)", "q - q"])
def test_init_may_not_read_a_volatile_object_either(access: str, tmp_path: Path) -> None:
    text = f"volatile int q; int r; void init(void) {{ r = {access}; q = 1; }} void step(int x) {{ q = x; r += x; }}"
    assert "init reads the volatile object 'q' before writing it" in refusal(tmp_path, text).message


PROGRAM = (
    "typedef struct { int c; } I; typedef struct { int o, p; } S; enum { OFF, ON };"
    "void init(S *s) { s->o = 0; s->p = 0; } void step(const I *i, S *s) { s->p = s->o; s->o = i->c; }"
)


@pytest.mark.parametrize(
    "text",
    [
        "cover(o == 3 -> c == 2)",
        "cover(X(o == 3 -> c == 2))",
        "G((o==3 -> c==2) -> X(p==1))",
        "G(o == 3 -> (c == 2 -> X(p == 1)))",
        "cover(o == ON -> c == 2)",
        "cover(o == 3 -> X(c == 2))",
        "cover((o == 3) -> !(c == 2))",
        "cover(o == 3 => c == 2)",
    ],
)
def test_an_implication_inside_of_a_condition_is_refused(text: str, tmp_path: Path) -> None:
    model = read(tmp_path, PROGRAM)
    with pytest.raises(InputRefused, match=r"an implication may only stand at the top of G\(\.\.\.\)") as caught:
        read_property(model, PropertyText(text, Location("here", 7)), "a")
    assert caught.value.where == Location("here", 7)


@pytest.mark.parametrize("text", ["G(s->o == 3 -> X(s->p == 3))", "cover(X(s->o == 3))", "G(i->c == ON -> X(o == ON))"])
def test_member_access_and_the_implication_at_the_top_are_read(text: str, tmp_path: Path) -> None:
    assert read_property(read(tmp_path, PROGRAM), PropertyText(text, Location("here", 7)), "a").length in (1, 2)


@pytest.mark.parametrize("access", ["3->c", "x->c", "v.c->c"])
def test_an_arrow_behind_something_else_than_a_pointer_is_refused(access: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, f"struct V {{ int c; }} v; int r;\nvoid step(int x) {{\n r = {access}; }}")
    assert "'->' needs a pointer to a struct" in error.message
    assert error.where is not None
    assert error.where.line == 3


@pytest.mark.parametrize(
    ("body", "kind"),
    [("s->o = i->c;", "uninitialised read"), ("int *p = 0; s->o = *p;", "null or unset pointer")],
)
def test_undefined_reads_of_init_point_to_a_setup_function(body: str, kind: str, tmp_path: Path) -> None:
    text = (
        "typedef struct { int c; } I; typedef struct { int o; } S;"
        f"void init(I *i, S *s) {{ {body} }} void step(I *i, S *s) {{ s->o = i->c; }}"
    )
    error = refusal(tmp_path, text)
    assert error.message == f"init has undefined behaviour: {kind}"
    assert "can be set by a function that is listed before it in [functions] init" in error.hint


def test_a_setup_function_sets_what_init_reads(tmp_path: Path) -> None:
    text = (
        "typedef struct { int c; } I; typedef struct { int o; } S; void mine(I *i) { i->c = 4; }"
        "void init(I *i, S *s) { s->o = i->c; } void step(I *i, S *s) { s->o += i->c; }"
    )
    model = read(tmp_path, text, init=("mine", "init"))
    assert Simulator(model.system).initial()["s->o"] == 4
