"""Values that the state never leaves, and all that is found without a list of states: true, and inductive together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import chaincover, write_files
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import random_machine
from random_systems import random_case

from bmc.analysis.state_sets import state_sets, value_facts
from bmc.engines import choose
from bmc.errors import LimitReached
from bmc.formulas.evaluate import compile_formulas
from bmc.invariants.candidates import self_found
from bmc.invariants.facts import stated
from bmc.invariants.induction import Prover, inductive
from bmc.system.simulation import Simulator
from bmc.system.transition import Condition, TransitionSystem
from chaincover.pipeline import Options, generate

SEEDS = st.integers(0, 10**9)


def check_everywhere(system: TransitionSystem, facts: tuple[Condition, ...]) -> None:
    """In every reachable state each of ``facts`` holds."""
    reference = Explicit(system)
    holds = compile_formulas([fact.formula for fact in facts])
    for state in reference.reachable():
        values = dict(zip(reference.state_names, state, strict=True))
        broken = [fact.name for fact, held in zip(facts, holds(values), strict=True) if not held]
        assert not broken, broken


@settings(max_examples=12, deadline=None, derandomize=True)
@given(SEEDS)
def test_what_is_found_by_itself_holds_everywhere_and_is_inductive(seed: int) -> None:
    case = random_case(seed)
    system = case.system
    engine = choose("sat")
    facts = self_found(system, [goal.antecedent for goal in case.goals], Prover(engine))
    check_everywhere(system, facts)
    again = inductive(replace(system, invariants=()), facts, Prover(engine))
    assert [fact.name for fact in again] == [fact.name for fact in facts]
    known = {var.name: var for var in system.state}
    assert [stated(fact.name, known) for fact in facts] == [replace(fact, proved=False) for fact in facts]


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.sampled_from(["allow", "forbid"]))
def test_the_search_without_a_list_agrees_with_the_explicit_optimum(seed: int, overlap: str) -> None:
    if seed % 2:
        system, goals, final = random_machine(seed)
    else:
        case = random_case(seed, goals=3, longest=2)
        system, goals, final = case.system, case.goals, case.final
    result = generate(
        system, goals, final, Options(explore=0, exhaust=0, overlap=overlap, bound=5, rounds=5, improve=1)
    )
    check_everywhere(system, tuple(f for name in result.invariants if (f := named(system, name)) is not None))
    reference = Explicit(system)
    reached = reference.reachable()
    for verdict in result.verdicts:
        if verdict.status == "unreachable":
            goal = next(goal for goal in goals if goal.name == verdict.goal)
            assert not reference.triggers(goal) & set(reached), verdict
    if result.chain is None or len(result.chain.order) < len(goals) or overlap == "forbid":
        return
    least = reference.least_chain(goals, final, result.chain.length)
    assert least is not None
    assert result.bounds.lower <= least <= result.chain.length


def named(system: TransitionSystem, name: str) -> Condition | None:
    return stated(name, {var.name: var for var in system.state})


FLOATS = """
typedef struct { double mode; float level; float free; int count; } S;
static S s;
void init(void) { s.mode = 0.0; s.level = 20.0f; s.free = 0.0f; s.count = 0; }
void step(int up, float by) {
    if (up && s.mode < 2.0) s.mode = s.mode + 1.0; else if (!up) s.mode = 0.0;
    s.level = s.level + by;
    if (s.level > 99.5f) s.level = 99.5f;
    if (s.level < -1.0f) s.level = -1.0f;
    s.free = s.free * by;
    if (s.mode > 1.5) { if (s.count < 9) s.count++; } else s.count = -3;
}
"""
PROJECT = """
name = "floats"
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["up", "by"]
state = ["s.*"]
[ranges]
up = [0, 1]
by = [-2.5, 2.5]
[[property]]
id = "top"
text = "cover(s.mode == 2.0 && s.count == 4)"
"""


def test_modes_and_limits_kept_in_floating_variables_are_told_by_check(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": FLOATS, "chaincover.toml": PROJECT})
    found = chaincover("check", ".", "--json", "--compare", "0", cwd=tmp_path).json["found_invariants"]
    texts = {fact["text"]: fact for fact in found}
    assert texts["s.mode == 0.0 || s.mode == 1.0 || s.mode == 2.0"]["proved_by"] in ("intervals", "listing")
    assert texts["-1.0 <= s.level && s.level <= 99.5"]["proved_by"] == "intervals"
    assert texts["-3 <= s.count && s.count <= 9"]["kind"] == "values"
    assert texts["-3 <= s.count && s.count <= 9"]["variables"] == [{"name": "s.count", "file": "c.c"}]


@pytest.mark.slow
def test_a_goal_between_the_values_of_a_floating_mode_is_unreachable_at_once(tmp_path: Path) -> None:
    """No trial runs are spent on it: the values that interval analysis gives the mode exclude it."""
    more = """
[[property]]
id = "between"
text = "cover(s.mode == 1.5 && s.level > 20.0f)"
[[property]]
id = "beyond"
text = "cover(s.mode == 2.5)"
"""
    project = PROJECT.replace("by = [-2.5, 2.5]\n", "")
    write_files(tmp_path, {"c.c": FLOATS, "chaincover.toml": project + more})
    limits = ("--improve", "1", "--explore", "0", "--exhaust", "0")
    outcome = chaincover("generate", ".", "--json", "--no-cache", *limits, "-o", "out", cwd=tmp_path)
    assert [goal["verdict"] for goal in outcome.json["goals"]] == ["covered", "unreachable", "unreachable"]
    assert outcome.json["goals"][1]["detail"].endswith("together with the constraints and the proved invariants")
    assert outcome.json["bounds"]["minimal"]
    again = chaincover("verify", ".", "out/chain.json", "--json", cwd=tmp_path)
    lines = {line["check"]: line["verdict"] for line in again.json["checks"]}
    assert (lines["invariants"], lines["goals not covered"]) == ("holds", "holds")


def test_a_mode_that_counts_up_to_a_limit_has_its_values_without_a_list(tmp_path: Path) -> None:
    project = PROJECT.replace("by = [-2.5, 2.5]\n", "").replace("s.count == 4", "s.count == 4 && s.level > 30.0f")
    write_files(tmp_path, {"c.c": FLOATS, "chaincover.toml": project})
    found = chaincover("check", ".", "--json", "--compare", "0", cwd=tmp_path).json["found_invariants"]
    texts = {fact["text"]: fact for fact in found}
    assert texts["s.mode == 0.0 || s.mode == 1.0 || s.mode == 2.0"]["proved_by"] == "intervals"


def test_it_ends_when_told_to() -> None:
    system = random_case(3).system
    assert value_facts(system, lambda: True) == ()
    everything = {var.name: ((0, (1 << max(var.type.bits, 1)) - 1),) for var in system.state}
    assert state_sets(system, everything, lambda: True) is None

    def over() -> None:
        raise LimitReached("over")

    assert self_found(system, [], Prover(choose("sat"), over)) == ()


@settings(max_examples=12, deadline=None, derandomize=True)
@given(SEEDS)
def test_sets_hold_along_random_runs(seed: int) -> None:
    """The analysis for systems with floating variables, on others."""
    system = random_case(seed).system
    everything = {var.name: ((0, (1 << max(var.type.bits, 1)) - 1),) for var in system.state}
    sets = state_sets(system, everything)
    assert sets is not None
    reference = Explicit(system)
    for state in reference.reachable():
        for name, raw in zip(reference.state_names, state, strict=True):
            assert any(low <= raw <= high for low, high in sets[name]), (name, raw)
    assert set(Simulator(system).initial()) == set(sets)
