"""Conditions on a step to be defined that no run can break: left out, and no others."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from c_support import fresh_environment, own_environment, read  # noqa: F401
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVSLT, TRUE, And, BVConcat, Iff, Ite, Not
from random_systems import random_case

from bmc.analysis.slice import live_state, slice_system, without_impossible
from bmc.engines import choose
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.invariants.candidates import without_proved
from bmc.invariants.induction import Prover
from bmc.system.simulation import Simulator
from bmc.system.transition import StateVariable, TransitionSystem, ValueType, conjunction, conjuncts
from chaincover.verification import invariants
from chaincover.verification.invariants import without_sure
from chaincover.verification.limits import Clock, Limits

PROGRAM = """
#include <stdint.h>
static uint8_t mode; static int32_t x, y; static uint32_t bits; static uint8_t table[256]; static int64_t wide;
void init(void) {{ mode = 0; x = {first}; y = 0; bits = 0; wide = 0; }}
void step(int16_t given, uint8_t by, uint8_t go) {{ if (go & 1) mode = (uint8_t)((mode + 1) & 3); {code} }}
"""

NEVER = {
    "a sum between guards": "if (by > 3 && x < 100000) x += by; else if (x > -1000) x -= go;",
    "a counter up and down": "if (go) { if (x < 30000) x++; } else if (x > -20) x -= 3;",
    "a sum with limits": "x += given * 3; if (x > 1000000) x = 1000000; if (x < -1000000) x = -1000000;",
    "a filter that divides": "x += (given * 256 - x) / 16;",
    "a filter that shifts": "x = x + ((given - x) >> 3);",
    "a weighted mean": "x = (3 * x + given) / 4;",
    "a limited rate": "{ int32_t d = given - x; if (d > 5) d = 5; if (d < -5) d = -5; x += d; }",
    "a control loop": "x += given - y; if (x > 500000) x = 500000; else if (x < -500000) x = -500000; "
    "y = given * 2 + x / 16; if (y > 32767) y = 32767; else if (y < -32768) y = -32768;",
    "a counter of errors": "if (given > 50) { x += 2; if (x >= 60) { x = 60; y++; if (y > 255) y = 255; } } "
    "else if (x > 0) x--;",
    "64 bits": "if (wide < 5000000000LL) wide += by; else wide = 0;",
    "an index that follows": "x += (by - x) / 4; table[x] = by;",
    "a shift that follows": "x += ((by & 31) - x) / 2; bits ^= 1u << x;",
    "a divisor that follows": "x += (by % 90 + 1 - x) / 2; y = given / x;",
}

MAY_BE = {
    "a sum without a limit": "x += by;",
    "a limit that is too high": "if (x < 2147483600) x += by;",
    "a limit that only one way keeps": "if (go && x < 1000) x += by; else if (!go) x += 2;",
    "an index one too far": "x += (by + 4 - x) / 4; table[x] = by;",
    "a shift one too far": "x += ((by & 31) + 2 - x) / 2; bits ^= 1u << x;",
    "a divisor that gets to zero": "x += (by % 90 - x) >> 1; y = given / x;",
}


LONG = {
    *("64 bits", "a control loop", "a filter that shifts", "a shift that follows", "a counter up and down"),
    *("a counter of errors", "an index that follows", "a divisor that follows"),
    *("a weighted mean", "a shift one too far", "a limit that is too high", "an index one too far"),
    "a sum between guards",
}
"""Those that take longest, or that another one resembles: these are evidence."""


def live(folder: Path, code: str) -> frozenset[str]:
    """The state that a search for modes of a program with ``code`` depends on, once all is left out that is proved."""
    first = 1 if "divisor" in code or "/ x" in code else 0
    system = read(folder, PROGRAM.format(code=code, first=first), step="step", init=("init",)).system
    mode = [var.symbol for var in system.state if var.name == "mode"]
    part = slice_system(without_impossible(system, mode), mode)
    small = without_proved(part, mode, Prover(choose("sat"), effort=1.0))
    other = without_sure(system, [at(mode[0], 0)], Clock(replace(Limits(), explored=0)))
    assert live_state(other, mode) == live_state(small, mode)
    return live_state(small, mode)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.evidence) if kind in LONG else kind for kind in NEVER]
)
def test_what_is_never_undefined_keeps_no_variable(kind: str, tmp_path: Path) -> None:
    assert live(tmp_path, NEVER[kind]) == {"mode"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.evidence) if kind in LONG else kind for kind in MAY_BE]
)
def test_what_may_be_undefined_stays(kind: str, tmp_path: Path) -> None:
    assert "x" in live(tmp_path, MAY_BE[kind])


SMALL = ValueType("int4", 4, signed=True)


def summed(seed: int) -> tuple[TransitionSystem, list[FNode]]:
    """A random system, with a sum of four bits that guards of its own limit, well or badly, and what is looked at."""
    rng = random.Random(seed)
    system = random_case(seed).system
    total, push = SMALL.symbol("td_sum"), system.inputs[0].symbol
    other = BVConcat(BV(0, 2), next(var.symbol for var in system.state if var.type.bits == 2))
    terms, defined = [], [system.defined]
    for sign in (1, -1):
        by = rng.choice([BV(rng.randint(1, 3), 4), other])
        most = BV(sign * rng.randint(3, 7) % 16, 4)
        guard = BVSLT(total, most) if sign > 0 else BVSLT(most, total)
        after = total + by if sign > 0 else total - by
        wraps = BVSLT(after, total) if sign > 0 else BVSLT(total, after)
        defined.append(Not(And(Iff(push, TRUE() if sign > 0 else Not(TRUE())), guard, wraps)))
        terms.append(Ite(guard, after, total))
    following = Ite(push, *terms)
    state = (*system.state, StateVariable("td_sum", SMALL, BV(0, 4), following))
    return replace(system, state=state, defined=conjunction(defined)), [var.symbol for var in system.state]


def all_inputs(system: TransitionSystem) -> list[dict[str, int]]:
    names = [var.name for var in system.inputs]
    return [dict(zip(names, each, strict=True)) for each in product((0, 1), repeat=len(names))]


def reachable(system: TransitionSystem) -> list[dict[str, int]]:
    """Every state that a run of ``system`` gets to, one step after the other."""
    simulator = Simulator(system)
    todo = [dict(simulator.initial())]
    seen = {tuple(todo[0].items()): todo[0]}
    while todo:
        state = todo.pop()
        for given in all_inputs(system):
            after = dict(simulator.step(state, given)) if simulator.allowed(state, given) else state
            if tuple(after.items()) not in seen:
                seen[tuple(after.items())] = after
                todo.append(after)
    return [*seen.values()]


@pytest.mark.slow
def test_no_reachable_step_becomes_allowed_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh_environment()
    monkeypatch.setattr(invariants, "CHECKED", 0)  # bounds, not a table of all steps
    left_out = {"search": 0, "verify": 0}
    may_fail = 0
    for seed in range(15):
        system, observed = summed(seed)
        found = {
            "search": without_proved(system, observed, Prover(choose("sat"), effort=1.0)),
            "verify": without_sure(system, [at(symbol, 0) for symbol in observed], Clock(Limits())),
        }
        states, inputs = reachable(system), all_inputs(system)
        allowed = compile_formulas([system.input_constraint])
        for who, small in found.items():
            left_out[who] += len(conjuncts(system.defined)) - len(conjuncts(small.defined))
            both = compile_formulas([system.defined, small.defined])
            for values in ({**state, **given} for state in states for given in inputs):
                one, other = both(values)
                assert one == other or not allowed(values)[0], (seed, who, values)
        whole = compile_formulas([system.defined])
        may_fail += any(not whole({**s, **i})[0] for s in states for i in inputs if allowed({**s, **i})[0])
    assert left_out["search"] > 7
    assert left_out["verify"] > 7
    assert may_fail > 2
