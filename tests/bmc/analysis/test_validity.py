"""Undefined behaviour that proved ranges exclude makes no state live."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover, write_files
from drawn_seeds import seeds
from enumeration import enumerated
from live_systems import padded_case
from pysmt.shortcuts import BV, And, Ite, Not
from random_systems import random_case

from bmc.analysis import slice as slicing
from bmc.analysis.slice import live_state, without_impossible
from bmc.formulas.unroll import at
from bmc.system.simulation import compile_formulas
from bmc.system.ties import hold
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType, conjunction

INT = ValueType("int", 32, signed=True)
n, wild, push = INT.symbol("vd_n"), INT.symbol("vd_wild"), BOOLEAN.symbol("vd_push")
MODE = BOOLEAN.symbol("vd_mode")
TOP = BV(0x7FFFFFFF, 32)


def counters() -> TransitionSystem:
    """A mode, a masked counter, and one that can overflow; a step may not overflow either."""
    one = BV(1, 32)
    state = (
        StateVariable("vd_mode", BOOLEAN, BOOLEAN.constant(0), push),
        StateVariable("vd_n", INT, BV(0, 32), (n + one) & BV(0xFFFF, 32)),
        StateVariable("vd_wild", INT, BV(0, 32), Ite(push, wild + one, wild)),
    )
    defined = And(Not(n.Equals(TOP)), Not(And(push, wild.Equals(TOP))))
    return TransitionSystem("counters", state, (InputVariable("vd_push", BOOLEAN),), defined=defined)


def test_an_overflow_out_of_the_ranges_makes_nothing_live() -> None:
    system = counters()
    assert live_state(system, [MODE]) == {"vd_mode", "vd_n", "vd_wild"}
    left = without_impossible(system, [MODE])
    assert live_state(left, [MODE]) == {"vd_mode", "vd_wild"}
    assert left.defined == Not(And(push, wild.Equals(TOP)))
    assert without_impossible(system, [MODE, n, wild]) is system
    assert without_impossible(left, [MODE]).defined == left.defined
    assert without_impossible(hold(system, 3), [MODE]).defined == left.defined


def test_conditions_of_a_large_step_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at all of its values would hold back the first search."""
    system = counters()
    monkeypatch.setattr(slicing, "MOST_NODES", 5)
    assert without_impossible(system, [MODE]).defined == system.defined


@seeds(12)
def test_no_reachable_step_becomes_allowed_or_refused(seed: int) -> None:
    case = padded_case(seed) if seed % 2 else random_case(seed)
    system, extra = case.system, counters()
    system = TransitionSystem(
        "mixed",
        (*system.state, *extra.state[1:2]),
        (*system.inputs, *extra.inputs),
        system.input_constraint,
        conjunction([system.defined, *(Not(n.Equals(BV(value, 32))) for value in (2, 70_000, 0x80000000))]),
    )
    observed = [v.symbol for v in system.state[:2]]
    left = without_impossible(system, observed)
    states = enumerated(case.system, [at(v.symbol, 0) for v in case.system.state], 10_000_000)
    assert states is not None
    holds = compile_formulas([system.defined, left.defined])
    for state in states.states:
        for count in range(4):
            for values in states.inputs:
                both = holds({**state, **values, "vd_n": count, "vd_push": 0})
                assert both[0] == both[1]
    dropped = holds({**states.states[0], **states.inputs[0], "vd_n": 70_000, "vd_push": 0})
    assert dropped[0] == 0
    assert "vd_n" in live_state(left, observed)


CODE = """\
static int calls; static unsigned char mode;
int press;
void init(void) { mode = 0; calls = 0; }
void step(void) { calls = (calls + 1) & 0xffff; if (press && mode < 3) mode++; else mode = 0; }
"""
PROJECT = """\
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["press"]
[ranges]
press = "0..1"
[final]
condition = "init"
[[property]]
text = "p: cover(mode == 3)"
"""


def test_a_masked_counter_does_not_keep_a_chain_from_init(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": CODE, "chaincover.toml": PROJECT})
    found = chaincover("check", ".", "--compare", 0, "--json", cwd=tmp_path).json["liveness"]
    assert (found["live"], found["dead"], found["compared_with_init"]) == (["mode"], ["calls"], ["mode"])
    assert (found["live_only_for_validity"], found["dead_read_by_dead"]) == ([], ["calls"])
    assert found["goals_depend_on"] == {"state": ["mode"], "inputs": ["press"]}
    outcome = chaincover("generate", ".", "--json", "-o", "out", cwd=tmp_path).json
    assert (outcome["bounds"]["length"], outcome["bounds"]["minimal"]) == (4, True)
    assert outcome["chain"]["steps"][-1]["state"]["calls"] == 4


@pytest.mark.slow
def test_an_overflow_that_can_happen_still_counts(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": CODE.replace("(calls + 1) & 0xffff", "calls + 1"), "chaincover.toml": PROJECT})
    found = chaincover("check", ".", "--compare", 0, "--effort", 0.01, "--json", cwd=tmp_path).json["liveness"]
    assert (found["live_only_for_validity"], found["compared_with_init"]) == (["calls"], ["calls", "mode"])
