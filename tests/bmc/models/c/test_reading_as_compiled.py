"""Code in which a quiet misreading is near: read as the compiler reads it."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read  # noqa: F401

from bmc.errors import Location
from bmc.floats.format import FLOAT32, pattern
from bmc.native.original import compiled
from bmc.system.simulation import Simulator

pytestmark = pytest.mark.needs_compiler

PROGRAMS = {
    "a union behind the initialisers": "struct { int a; union { int x; float f; } u; int b; } s = {7}; int r; void step(int x) { r = s.b + s.a * x; }",
    "a union beside designators": "struct { int a; union { int x; float f; } u; int b; } s = {.b = 3, .a = 7}; int r; void step(int x) { r = s.b + s.a * x; }",
    "a union set to zero": "struct { int a; union { int x; float f; } u; int b; } s = {.u = {0}, .a = 7}, t[2] = {{0}, {0}}; int r; void step(int x) { r = s.b + s.a * x + t[1].b; }",
    "an unnamed bit-field takes no initialiser": "struct { int a; unsigned : 3; int b; } s = {1, 2}; int r; void step(int x) { r = s.b + s.a * x; }",
    "a bit-field at the end of inner braces": "struct { int a; struct { int c; unsigned f : 3; } i[2]; int b; } s = {1, {{2}, {3}}, 4}; int r; void step(int x) { r = s.b + s.i[1].c * x; }",
    "a bit-field in an automatic struct": "struct S { int a; unsigned f : 3; int b; }; int r; void step(int x) { struct S s = {x, .b = 4}, z = {0}; r = s.a + s.b + z.b; }",
    "an initialiser in braces replaces an earlier one": "struct { int a, b; } t[2] = {[0] = {1, 2}, [0] = {.b = 3}}; int r; void step(int x) { struct { int a, b; } u[1] = {[0] = {x, 2}, [0] = {.b = x}}; r = t[0].a + t[0].b * x + u[0].a + u[0].b; }",
    "an initialiser replaces one element": "struct { int a, b; } t[2] = {{1, 2}, {3, 4}, [0].b = 9}; int r; void step(int x) { r = t[0].a + t[0].b * x + t[1].a; }",
    "sizeof does not evaluate": "int r; int n; void step(unsigned char k) { r = sizeof(k++) + k; r += sizeof(n = 3) * (n + 1); n = k; }",
    "both ends of a choice are not evaluated": "int r; void step(unsigned char k) { r = (1 ? k : (k = 3)) + 2; }",
    "what is never reached": "int r; void step(unsigned char x) { switch (x & 3) { case 0: r = 5; break; case 1: r = 6; break; case 2: r = 7; break; case 3: r = 8; break; default: __builtin_unreachable(); } }",
    "a volatile object is read back": "volatile unsigned char port; struct { volatile int reg; int n; } dev; int r; void step(unsigned char x) { port = x; r = port + 1; dev.reg = x; dev.n = dev.reg; if (x > 3) { port = 0; } }",
    "a barrier for the compiler": 'int r; void step(int x) { if (x > 3) __asm__ volatile("":::"memory"); else r = 1; __asm__ __volatile__ ("" "" : : : "memory", "cc"); r += x & 3; asm(""); __asm__ volatile ("" ::: "memory"); }',
    "volatile behind a pointer": "int r; void step(const volatile unsigned char *in, volatile int *out) { *out = *in; r = *out; }",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_is_read_as_compiled(name: str, tmp_path: Path) -> None:
    model = read(tmp_path, PROGRAMS[name])
    start = Simulator(model.system).initial()
    with compiled(model.native) as original:
        (after_init,) = original.run([])
    known = [v for v in after_init if v in start and start.get(f"{v}#defined", 1)]
    assert {v: start[v] for v in known} == {v: after_init[v] for v in known}
    found = agreement(model, pairs=100)
    assert found.steps > 20
    assert not found.differences, found.differences[0]


def test_a_step_that_reaches_the_unreachable_is_undefined(tmp_path: Path) -> None:
    text = "int r; void step(int x) {\n if (x > 5)\n __builtin_unreachable();\n r = x; }"
    model = read(tmp_path, text)
    assert [(s.name, s.where.line) for s in model.system.undefined_behaviour if s.where] == [
        ("__builtin_unreachable is reached", 3)
    ]
    simulator = Simulator(model.system)
    allowed = [simulator.allowed(simulator.initial(), {"x": x}) for x in (5, 6)]
    assert allowed == [True, False]


VOLATILE: dict[str, tuple[dict[str, object], dict[str, str], int]] = {
    "an input": ({"input": ("port",)}, {"port": "input"}, 7),
    "state": ({"state": ("port",)}, {"port": "state"}, 3),
}


@pytest.mark.parametrize("name", VOLATILE)
def test_what_the_project_says_of_a_volatile_object(name: str, tmp_path: Path) -> None:
    """Read before it is written: as an input it has any value, as state what it had."""
    config, roles, expected = VOLATILE[name]
    text = "volatile int port = 3; int r; void step(void) { r = port; port = 5; }"
    model = read(tmp_path, text, **config)  # type: ignore[arg-type]
    assert roles.items() <= {v.name: v.role for v in model.variables}.items()
    simulator = Simulator(model.system)
    inputs = {v.name: 7 for v in model.system.inputs}
    assert simulator.step(simulator.initial(), inputs)["r"] == expected


def test_init_may_read_volatile_state(tmp_path: Path) -> None:
    text = "volatile int port = 3; int r; void init(void) { r = port; } void step(int x) { r += x; }"
    model = read(tmp_path, text, state=("port",))
    assert Simulator(model.system).initial()["r"] == 3


VALUES = {
    "the least": ("signed char", "-128", 0x80),
    "a whole number with a point": ("short", "12.0", 12),
    "a pattern of all ones": ("unsigned", "0xFFFFFFFF", 0xFFFFFFFF),
    "rounded once": ("float", "1.0000000596046447753906250000001", 0x3F800001),
    "infinite": ("float", "-inf", FLOAT32.infinity | FLOAT32.sign),
    "a C constant": ("float", "1.5f * 2", pattern(3, FLOAT32)),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_stored_as_it_is_given(name: str, tmp_path: Path) -> None:
    ctype, text, raw = VALUES[name]
    code = f"extern {ctype} k; int r; void step(int x) {{ r = k > x; }}"
    model = read(tmp_path, code, values={"k": text}, where=Location("chaincover.toml", 3))
    assert Simulator(model.system).initial()["k"] == raw
    assert not agreement(model, pairs=20).differences


def test_what_nothing_ever_sets_is_noted(tmp_path: Path) -> None:
    """The step writes one field of its input struct, so that the others are taken for state."""
    text = "struct In { int speed, ack; }; int r; void step(struct In *i) { r = i->speed; i->ack = 1; }"
    notes = "\n".join(read(tmp_path, text).notes)
    assert "'i->speed' is set neither by init nor by the step" in notes
    assert "neither" not in "\n".join(read(tmp_path, text, chosen=("i->speed",)).notes)
    assert not read(tmp_path, text, input=("i->speed",)).notes
