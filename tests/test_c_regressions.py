"""Misreadings of real code, each reduced to a small program of our own: what the program means is written out."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read  # noqa: F401
from pysmt.shortcuts import SBV

from bmc.engines.protocol import Status
from bmc.engines.z3 import Z3Engine
from bmc.simulate import Simulator
from bmc.unroll import at

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


DIVIDING = """
signed char place; float level;
void init(void) { place = 0; level = 0.0f; }
void step(float more, signed char by)
{
  place = (signed char)((place + 1) % 6);
  if (by > 0) { level = level + more * 0.5f; place = (signed char)(place / by); }
}
"""


def test_divisions_beside_floats_are_searched(tmp_path: Path) -> None:
    """z3 turns circuits of floats into gates at once, where divisions need a rewriting of their own first."""
    model = read(tmp_path, DIVIDING, init=("init",), ranges={"more": "0..10", "by": "0..3"})
    session = Z3Engine().session(model.system, at(model.system.init_formula, 0), ())
    place = next(var for var in model.system.state if var.name == "place").type.symbol("place")
    reached = [n for n in range(-6, 6) if session.check([at(place, 3).Equals(SBV(n, 8))], 3).status is Status.SAT]
    assert reached == [0, 1, 2, 3]
