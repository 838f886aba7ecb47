"""Loops and recursion that only the reachable states bound: how far they are read, and what is said of the rest."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal  # noqa: F401

from bmc.formulas.evaluate import compile_formulas
from bmc.models.c.execute import turns
from bmc.system.simulation import Simulator

BOUNDED = {
    "a ring that is drained": "unsigned char q[8], head, tail; int total; void step(unsigned char push, unsigned char v, "
    "unsigned char drain) { unsigned char n = (tail + 1) % 8; if (push && n != head) { q[tail] = v; tail = n; } "
    "if (drain) while (head != tail) { total = (total + q[head]) & 1023; head = (head + 1) % 8; } }",
    "a queue whose handlers put more": "unsigned char q[4], head, tail, mode; static void put(unsigned char e) { "
    "unsigned char n = (tail + 1) & 3; if (n != head) { q[tail] = e; tail = n; } } void step(unsigned char e) { put(e & 1); "
    "while (head != tail) { unsigned char x = q[head]; head = (head + 1) & 3; if (x == 1) put(2); else if (x == 2) mode ^= 1; } }",
    "a number of elements in the state": "struct { unsigned char n; int v[6]; } s; int sum; void step(unsigned char a) { "
    "if (s.n < 6) s.v[s.n++] = a; else s.n = 0; sum = 0; for (int k = 0; k < s.n; k++) sum += s.v[k]; }",
    "down to a limit in the state": "unsigned char n, limit = 2; void step(unsigned char a) { if (a < 5) limit = a; "
    "if (n < 20) n++; while (n > limit) n--; }",
    "a search up to an end mark": "struct { unsigned char key, value; } t[5] = {{3, 1}, {5, 2}, {255, 0}}; unsigned char used = 2, r; "
    "void step(unsigned char a) { int k = 0; while (t[k].key != 255 && t[k].key < a) k++; r = t[k].value; "
    "if (used < 4 && a > t[used - 1].key && a < 255) { t[used].key = a; used++; t[used].key = 255; } }",
    "a jump backwards": "unsigned char left; int r; void step(unsigned char a) { if (left < 9) left += a & 1; "
    "again: if (left > 0 && a > 7) { left--; r = (r + 1) & 63; goto again; } }",
    "a chart that calls itself with an event": "int mode, seen; static void event(int e) { switch (mode) { case 0: if (e == 1) "
    "{ mode = 1; event(2); } break; case 1: mode = e == 2 ? 2 : 0; event(3); break; default: if (e == 5) mode = 0; } "
    "seen = (seen + 1) & 63; } void step(unsigned char e) { event(e); }",
    "recursion down to 0": "unsigned char k; int r; static int sum(int n) { int own = n; return n > 0 ? own + sum(n - 1) : 0; } "
    "void step(unsigned char a) { if (a > 99) k = (k + 1) % 7; r = sum(k); }",
    "two functions that call each other": "unsigned char k, r; int odd(int n); int even(int n) { return n ? odd(n - 1) : 1; } "
    "int odd(int n) { return n ? even(n - 1) : 0; } void step(unsigned char a) { if (a < 10) k = a; r = even(k); }",
    "a loop without an end where no run comes to": "unsigned char mode; void step(unsigned char a) { switch (mode) { "
    "case 0: mode = a & 1; break; case 1: mode = 0; break; default: for (;;) mode ^= 1; } }",
}
"""Programs of which no step is left out."""


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", BOUNDED)
def test_loops_that_reachable_states_bound_are_read_as_they_are(name: str, tmp_path: Path) -> None:
    model = read(tmp_path, BOUNDED[name])
    assert list(model.assumed) == []
    found = agreement(model, 200)
    assert found.steps >= 80, "hardly any step is defined in the model"
    assert not found.differences
    assert not found.traps


LIMITED = {
    "a loop": (
        "int r; void step(int n) { for (r = 0; n > 0; n--) r ^= n; }",
        16,
        "the loop at program.c:1:27 ends within 16 turns",
    ),
    "recursion": (
        "int r; static int f(int n) { return n > 0 ? f(n - 1) : 7; } void step(int n) { r = f(n); }",
        15,
        "'f' calls itself at most 16 deep (at program.c:1:45)",
    ),
}
"""With the greatest input that the limit allows, and what every result rests on."""


@pytest.mark.parametrize("name", LIMITED)
def test_steps_above_the_limit_alone_are_excluded_and_said_so(name: str, tmp_path: Path) -> None:
    text, most, sentence = LIMITED[name]
    model = read(tmp_path, text)
    assert list(model.assumed) == [sentence]
    defined = compile_formulas([model.system.defined])
    values = {"n": 0, **{var.name: 0 for var in model.system.state}}
    allowed = [number for number in range(100) if defined({**values, "n": number})[0]]
    assert allowed == list(range(most + 1))
    assert len([c for c in model.system.undefined_behaviour if "more than 16" in c.name]) == 1


ENDLESS = {
    "nothing leaves it": (
        "int r; void step(int a) {\n if (a == 3)\n  while (1) r ^= 1; }",
        3,
        "nothing in it leaves it",
    ),
    "nothing changes": (
        "int r, on; void step(int a) {\n if (a > 5) on = 1;\n while (on) ; }",
        3,
        "an iteration changes nothing",
    ),
    "the state comes back": (
        "unsigned char r; void step(unsigned char a) {\n r = a & 7; while (r != 5) r = (r + 2) & 7; }",
        2,
        "its state comes back",
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_step_that_never_ends_is_refused_with_the_place_of_its_loop(name: str, tmp_path: Path) -> None:
    text, line, why = ENDLESS[name]
    error = refusal(tmp_path, text)
    assert error.message.startswith("this loop never ends: ")
    assert why in error.message
    assert error.where is not None
    assert error.where.line == line


def test_init_and_what_no_state_bounds_there_are_refused(tmp_path: Path) -> None:
    text = "int r; static int f(int n) { return n > 0 ?\n f(n - 1) : 7; } int p(int n) { return f(n); } void step(int n) { r = n; }"
    model = read(tmp_path, text + " void init(void) { r = f(40); }")
    assert str(model.system.variable("r").init) == "7_32"  # type: ignore[union-attr]


def test_a_discarded_call_reads_no_result_though_its_argument_runs_statements(tmp_path: Path) -> None:
    text = (
        "unsigned char r; static void k(void) { r++; } static int h(int a) { k(); return a; }\n"
        "static int f(int a) { if (a > 3) return 1; r++; } void step(unsigned char a) { f(h(a)); }"
    )
    assert not read(tmp_path, text).system.undefined_behaviour


def test_a_walk_along_null_pointers_is_left_out_of_the_step(tmp_path: Path) -> None:
    """Nothing ends the loop but the null pointer at the end of the list, which is undefined."""
    text = (
        "static const struct node { const struct node *up; int v; } a = {0, 1}, b = {&a, 2}, c = {&b, 30};\n"
        "int r; void step(unsigned char x) { const struct node *p = x & 1 ? &b : &c; r = 0;\n"
        "if (x < 4) while (p->v < 10) { r++; p = p->up; } }"
    )
    model = read(tmp_path, text)
    simulator = Simulator(model.system)
    start = simulator.initial()
    assert [simulator.allowed(start, {"x": x}) for x in (0, 1, 2, 3, 5)] == [True, False, True, False, True]
    assert model.assumed == []


COSTS = {
    "a queue": BOUNDED["a queue whose handlers put more"],
    "a constant bound": "int t[9], r; void step(unsigned char a) { r = 9; for (int k = 0; k < 9; k++) { if (t[k] == a) { r = k; break; } } t[a % 9] = a; }",
}


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", COSTS)
def test_a_loop_that_gets_its_limit_early_is_read_as_any_other(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one whose turns take many statements."""
    monkeypatch.setattr(turns, "COSTLY", 0)
    model = read(tmp_path, COSTS[name])
    assert model.assumed == []
    found = agreement(model, pairs=100)
    assert (found.steps > 20, found.differences) == (True, [])
