"""Misreadings of real code, each reduced to a small program of our own: what the program means is written out."""

from __future__ import annotations

from math import factorial
from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read, refusal  # noqa: F401

from bmc.system.simulation import Simulator

pytestmark = pytest.mark.needs_compiler

OWN_POINTERS = """
unsigned char seen;
void watch_initialize(unsigned char *first, unsigned char *second)
{ *first = 1; *second = 0; seen = *first + 2 * *second; }
void watch_step(unsigned char on) { if (on) { seen = 0; } }
"""
"""Both pointers are the init's own, and of one type: they are two objects."""

BY_VALUE = """
unsigned char seen;
void watch_initialize(unsigned char *plus, unsigned char *minus, int *out)
{ *plus = 2; *minus = 1; seen = *plus - *minus; *out = 0; }
void watch_step(unsigned char plus, unsigned char minus, int *out) { seen += plus - minus; *out = seen; }
"""
"""The init takes the addresses of what the step takes by value, under the same names."""

CROSSED = """
unsigned char seen;
void watch_initialize(int *other, int *out) { *other = 5; *out = 7; seen = *other == 5; }
void watch_step(unsigned char on, int *out) { *out += on; }
"""
"""The first pointer is of the type that the second one, named like the step's, has."""


@pytest.mark.parametrize("code", [OWN_POINTERS, BY_VALUE, CROSSED])
def test_no_two_pointers_of_an_init_share_an_object(code: str, tmp_path: Path) -> None:
    model = read(tmp_path, code, step="watch_step", init=("watch_initialize",))
    simulator = Simulator(model.system)
    assert simulator.initial({})["seen"] == 1
    found = agreement(model, pairs=40)
    assert found.steps > 10
    assert not found.differences


INSTANCE = """
typedef void *Rte_Instance;
unsigned short Rte_IRead_Run_Level(Rte_Instance self);
void Rte_IWrite_Run_Valve(Rte_Instance self, unsigned char open);
void Run(Rte_Instance self) { Rte_IWrite_Run_Valve(self, Rte_IRead_Run_Level(self) > 500); }
"""


def test_the_handle_of_an_instance_moves_nothing(tmp_path: Path) -> None:
    """A component that may be instantiated several times gets its instance and passes it on with every call."""
    model = read(tmp_path, INSTANCE, step="Run")
    assert [var.name for var in model.system.inputs] == ["Rte_IRead_Run_Level"]
    assert model.system.state[0].name == "Rte_IWrite_Run_Valve"
    found = agreement(model, pairs=40)
    assert found.steps > 10
    assert not found.differences


COUNTED = "unsigned long r; void step(unsigned n) { r = 1; for (int k = 1; k <= (int)n; k++) { r = r * (unsigned)k; } }"


def test_a_range_of_an_input_bounds_a_loop(tmp_path: Path) -> None:
    """The type alone would let it run for ever."""
    assert list(read(tmp_path, COUNTED).assumed) == ["the loop at program.c:1:49 ends within 16 turns"]
    assert not read(tmp_path, COUNTED, ranges={"n": "0..12"}).assumed  # not said to be one
    model = read(tmp_path, COUNTED, input=("n",), ranges={"n": "0..12"})
    simulator = Simulator(model.system)
    results = [simulator.step(simulator.initial({}), {"n": n})["r"] for n in range(13)]
    assert results == [factorial(n) for n in range(13)]
    assert not simulator.allowed(simulator.initial({}), {"n": 13})
    assert not agreement(model, pairs=40).differences


def test_a_tag_in_a_file_scope_initialiser(tmp_path: Path) -> None:
    """It adds names to the scope that is gone through."""
    text = "static int n = sizeof(enum { A, B }); int r; void step(int a) { r = n + (a > 0); }"
    assert not agreement(read(tmp_path, text), pairs=20).differences


def test_a_latched_field_is_an_output(tmp_path: Path) -> None:
    """Where it keeps its value it is not read: the outside sees it, so that a state like init has it as init has."""
    text = """
    struct { int lamp; int n; } s;
    void step(_Bool x, _Bool y) { if (x) s.lamp = 1; if (y) s.lamp = 0; s.n = x + y; }
    """
    roles = {v.name: v.role for v in read(tmp_path, text).variables}
    assert roles["s.lamp"] == roles["s.n"] == "output"
