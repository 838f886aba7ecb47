"""Variables that never have their start value again, against brute force; verdicts that name them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover, write_files
from drawn_seeds import seeds
from enumeration import enumerated
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Ite, Not
from random_systems import random_case

from bmc.analysis.state_values import latches
from bmc.formulas.unroll import at
from bmc.system.transition import BOOLEAN, InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.chain import COVERED, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, Verdict
from chaincover.reductions.slicing import explained, latched_values

BYTE = ValueType("byte", 8)
push = BOOLEAN.symbol("lt_push")
a, b = BYTE.symbol("lt_a"), BYTE.symbol("lt_b")


def one(start: int, following: FNode) -> TransitionSystem:
    """``lt_a`` beside a counter ``lt_b`` that turns from 3 back to 0."""
    turned = Ite(b.BVULT(BV(3, 8)), b + BV(1, 8), BV(0, 8))
    state = (StateVariable("lt_a", BYTE, BV(start, 8), following), StateVariable("lt_b", BYTE, BV(0, 8), turned))
    return TransitionSystem("one", state, (InputVariable("lt_push", BOOLEAN),))


@pytest.mark.parametrize(
    ("start", "following", "found"),
    [
        (1, BV(0, 8), {"lt_a": True}),
        (0, Ite(a.Equals(BV(0, 8)), BV(1, 8), a), {"lt_a": True}),
        (0, Ite(push, BV(7, 8), a), {"lt_a": False}),
        (0, Ite(And(a.Equals(BV(0, 8)), push), Ite(push, BV(2, 8), BV(0, 8)), a), {"lt_a": False}),
        (5, Ite(push, a, b), {"lt_a": False}),
        (2, Ite(push, a, b), {}),
        (0, Ite(push, BV(7, 8), BV(0, 8)), {}),
        (0, a, {}),
        (255, a, {}),
        (255, Ite(push, BV(254, 8), a), {"lt_a": False}),
        (0, a + BV(1, 8), {}),
    ],
)
def test_what_sets_a_flag_for_good_is_found(start: int, following: FNode, found: dict[str, bool]) -> None:
    assert latches(one(start, following), {"lt_a", "lt_b"}) == found
    assert latches(one(start, following), {"lt_b"}) == {}


def test_a_boolean_and_a_start_value_that_init_leaves_open() -> None:
    flag, other = BOOLEAN.symbol("lt_flag"), BOOLEAN.symbol("lt_open")
    state = (
        StateVariable("lt_flag", BOOLEAN, BOOLEAN.constant(1), And(flag, Not(push))),
        StateVariable("lt_open", BOOLEAN, None, And(other, Not(push))),
    )
    system = TransitionSystem("flags", state, (InputVariable("lt_push", BOOLEAN),))
    assert latches(system, {"lt_flag", "lt_open"}) == {"lt_flag": False}


@seeds(24)
def test_no_run_brings_a_latch_back(seed: int) -> None:
    system = random_case(seed).system
    found = latches(system, {v.name for v in system.state})
    graph = enumerated(system, [at(v.symbol, 0) for v in system.state], 10_000_000)
    assert graph is not None
    for name, at_once in found.items():
        start = graph.states[graph.starts[0]][name]
        left = {number for number, state in enumerate(graph.states) if state[name] != start}
        assert all(after in left for number in left for _, after in graph.steps[number])
        assert not at_once or all(after in left for _, after in graph.steps[graph.starts[0]])


def test_random_systems_have_latches_of_both_kinds() -> None:
    cases = (random_case(seed).system for seed in range(120))
    found = [value for system in cases for value in latches(system, {v.name for v in system.state}).values()]
    assert {*found} == {True, False}


def test_only_what_the_first_step_loses_explains_what_was_not_found() -> None:
    statuses = (NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, COVERED)
    verdicts = tuple(Verdict(f"g{n}", status, detail="why") for n, status in enumerate(statuses))
    told = explained(verdicts, lambda: {"x": False, "y": True})
    assert told[0].detail.startswith("why; once changed, x, y never have the values after init again: ")
    assert [v.detail[:34] for v in told[1:3]] == ["why; once changed, y never has the"] * 2
    assert told[3] == verdicts[3]
    assert explained(verdicts, dict) == verdicts


def test_a_test_that_changes_a_latch_says_why_no_chain_takes_it_along() -> None:
    verdicts = (Verdict("met", UNDECIDED, detail="why"), Verdict("unmet", UNDECIDED, detail="why"))
    test = Run(({"x": 0, "y": 5}, {"x": 3, "y": 5}), ({},))
    told = explained(verdicts, lambda: {"x": False, "y": False}, {"met": test})
    assert told[0].detail.startswith("why; the test changes x, which never has the value after init again: ")
    assert told[1] == verdicts[1]


def test_what_is_asked_for_as_an_integer_of_c_is_seen() -> None:
    """A byte is compared as an ``int``; ``< 1`` asks for the start value as well."""
    system = one(0, Ite(push, BV(7, 8), a))
    wide = a.BVZExt(24)
    assert latched_values(system, wide.Equals(BV(0, 32))) == {"lt_a": False}
    assert latched_values(system, And(wide.BVSLT(BV(1, 32)), b.Equals(BV(0, 8)))) == {"lt_a": False}
    assert latched_values(system, wide.BVSLT(BV(8, 32))) == {}


def test_only_what_the_final_condition_asks_for_is_named() -> None:
    system = one(0, Ite(push, BV(7, 8), a))
    start = a.Equals(BV(0, 8))
    assert latched_values(system, And(start, b.Equals(BV(0, 8)))) == {"lt_a": False}
    assert latched_values(system, a.Equals(BV(7, 8))) == latched_values(system, None) == {}


CHART = """\
typedef unsigned char uint8_T;
typedef struct { uint8_T first; uint8_T is_active_c1_lamp; uint8_T is_c1_lamp; } DW;
DW dw;
uint8_T push;
void lamp_initialize(void) { dw.first = 1; dw.is_active_c1_lamp = 0; dw.is_c1_lamp = 0; }
void lamp_step(void)
{
  if (dw.is_active_c1_lamp == 0U) { dw.is_active_c1_lamp = 1U; dw.is_c1_lamp = 0U; }
  else if (dw.is_c1_lamp == 0) { if (push && !dw.first) dw.is_c1_lamp = 1; }
  else { dw.is_c1_lamp = 0; }
  dw.first = 0;
}
"""
PROJECT = """\
[sources]
files = ["lamp.c"]
[functions]
init = ["lamp_initialize"]
step = "lamp_step"
[interface]
input = ["push"]
state = ["dw.*"]
{ignore}
[ranges]
push = [0, 1]
[final]
condition = "init"
[[property]]
text = "lit: cover(is_c1_lamp == 1)"
"""
NAMED = "once changed, dw.first, dw.is_active_c1_lamp never have the values after init again"


@pytest.mark.parametrize("options", [(), ("--engine", "sat", "--bound", 6), ("--most",)])
def test_flags_that_the_first_step_sets_are_named_where_no_chain_gets_back_to_init(
    options: tuple[object, ...], tmp_path: Path
) -> None:
    write_files(tmp_path, {"lamp.c": CHART, "chaincover.toml": PROJECT.format(ignore="")})
    given = ("generate", ".", "--json", "-o", "out", *options)
    outcome = chaincover(*given, cwd=tmp_path)
    assert outcome.code == 4
    goal = outcome.json["goals"][0]
    assert (goal["verdict"], NAMED in goal["detail"]) == (NO_WAY_TO_FINAL, True)
    assert "interface.ignore" in goal["detail"]
    assert chaincover(*given, "--final", "none", cwd=tmp_path).code == 0
    ignore = 'ignore = ["dw.first", "dw.is_active_c1_lamp"]'
    write_files(tmp_path, {"chaincover.toml": PROJECT.replace('state = ["dw.*"]\n', "").format(ignore=ignore)})
    assert chaincover(*given, cwd=tmp_path).json["bounds"]["length"] == 3


def test_several_names_them_too(tmp_path: Path) -> None:
    write_files(tmp_path, {"lamp.c": CHART, "chaincover.toml": PROJECT.format(ignore="")})
    outcome = chaincover("generate", ".", "--several", "-o", "out", cwd=tmp_path)
    assert outcome.code == 4
    assert NAMED in " ".join(outcome.out.split())


def test_check_names_them_before_any_search(tmp_path: Path) -> None:
    write_files(tmp_path, {"lamp.c": CHART, "chaincover.toml": PROJECT.format(ignore="")})
    out = chaincover("check", ".", "--compare", 0, cwd=tmp_path).out
    text = "no chain that changes dw.first, dw.is_active_c1_lamp can end: it never has the value after init again"
    assert text in " ".join(out.split())
    found = chaincover("check", ".", "--compare", 0, "--json", cwd=tmp_path).json["liveness"]
    assert found["never_as_after_init_again"] == ["dw.first", "dw.is_active_c1_lamp"]
    unbound = chaincover("check", ".", "--compare", 0, "--final", "none", cwd=tmp_path).out
    assert "the value after init again" not in unbound
