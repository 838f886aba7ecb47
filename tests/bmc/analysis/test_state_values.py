"""Values that the state never leaves, and all that is found without a list of states: true, and inductive together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import chaincover, write_files
from enumeration import reachable_states
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import random_machine
from problems import problem_of
from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, And, Ite, Or
from random_systems import random_case
from stated_facts import stated

from benchmarks.checks.short_runs import short_runs
from bmc.analysis import state_values as state_values_module
from bmc.analysis.state_values import every_step, state_values, values_of
from bmc.analysis.values import Evaluation
from bmc.analysis.widening import Ends
from bmc.engines import choose
from bmc.errors import LimitReached
from bmc.floats.operations import Program
from bmc.formulas.evaluate import compile_formulas, post_order
from bmc.formulas.unroll import at
from bmc.formulas.value_sets import BOTH, NEVER, Ranges, contains, whole
from bmc.invariants.candidates import self_found, value_facts, within
from bmc.invariants.induction import Prover, inductive
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, Condition, InputVariable, StateVariable, TransitionSystem, ValueType
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


@settings(max_examples=5, deadline=None, derandomize=True)
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


@pytest.mark.slow
@settings(max_examples=4, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.sampled_from(["allow", "forbid"]))
def test_the_search_without_a_list_agrees_with_the_explicit_optimum(seed: int, overlap: str) -> None:
    if seed % 2:
        system, goals, final = random_machine(seed)
    else:
        case = random_case(seed, goals=3, longest=2)
        system, goals, final = case.system, case.goals, case.final
    result = generate(problem_of(system, goals, final), Options(engine="sat", overlap=overlap, bound=5, effort=0.1))
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
typedef struct { double mode; float level; float free; float mean; float sum; int count; } S;
static S s;
void init(void) { s.mode = 0.0; s.level = 20.0f; s.free = 0.0f; s.mean = 0.0f; s.sum = 0.0f; s.count = 0; }
void step(int up, float by) {
    if (up && s.mode < 2.0) s.mode = s.mode + 1.0; else if (!up) s.mode = 0.0;
    s.level = s.level + by;
    if (s.level > 99.5f) s.level = 99.5f;
    if (s.level < -1.0f) s.level = -1.0f;
    s.free = s.free * by;
    s.mean = 0.75f * s.mean + 0.25f * by;
    if (up) {
        s.sum += by;
        if (s.sum > 40.0f) s.sum = 40.0f; else if (s.sum < -30.0f) s.sum = -30.0f;
    }
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
    found = chaincover("check", ".", "--json", "--compare", "0", "--effort", "0.05", cwd=tmp_path).json[
        "found_invariants"
    ]
    texts = {fact["text"]: fact for fact in found}
    assert texts["s.mode == 0.0 || s.mode == 1.0 || s.mode == 2.0"]["proved_by"] in ("intervals", "enumeration")
    assert texts["-1.0 <= s.level && s.level <= 99.5"]["proved_by"] == "intervals"
    assert texts["-2.5 <= s.mean && s.mean <= 2.5"]["proved_by"] == "intervals"
    assert texts["-30.0 <= s.sum && s.sum <= 40.0"]["proved_by"] == "intervals"
    assert texts["-3 <= s.count && s.count <= 9"]["kind"] == "values"
    assert texts["-3 <= s.count && s.count <= 9"]["variables"] == [{"name": "s.count", "file": "c.c"}]


@pytest.mark.evidence
@short_runs()
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
    limits = ("--engine", "sat")
    outcome = chaincover("generate", ".", "--json", *limits, "-o", "out", cwd=tmp_path)
    assert [goal["verdict"] for goal in outcome.json["goals"]] == ["covered", "unreachable", "unreachable"]
    assert outcome.json["goals"][1]["detail"].endswith("together with the constraints and the proved invariants")
    assert outcome.json["bounds"]["minimal"]
    again = chaincover("verify", ".", "out/chain.json", "--json", cwd=tmp_path)
    lines = {line["check"]: line["verdict"] for line in again.json["checks"]}
    assert (lines["invariants"], lines["goals not covered"]) == ("holds", "holds")


@pytest.mark.slow
def test_a_mode_that_counts_up_to_a_limit_has_its_values_without_a_list(tmp_path: Path) -> None:
    project = PROJECT.replace("by = [-2.5, 2.5]\n", "").replace("s.count == 4", "s.count == 4 && s.level > 30.0f")
    write_files(tmp_path, {"c.c": FLOATS, "chaincover.toml": project})
    found = chaincover("check", ".", "--json", "--compare", "0", "--effort", "0.05", cwd=tmp_path).json[
        "found_invariants"
    ]
    texts = {fact["text"]: fact for fact in found}
    assert texts["s.mode == 0.0 || s.mode == 1.0 || s.mode == 2.0"]["proved_by"] == "intervals"


def test_it_ends_when_told_to() -> None:
    system = random_case(3).system
    assert value_facts(system, lambda: True) == ()

    def over() -> None:
        raise LimitReached("over")

    assert self_found(system, [], Prover(choose("sat"), over)) == ()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SEEDS)
def test_every_reachable_state_lies_in_the_sets(seed: int) -> None:
    system = random_case(seed).system
    sets = state_values(system)
    assert sets is not None
    reference = Explicit(system)
    for state in reference.reachable():
        for name, raw in zip(reference.state_names, state, strict=True):
            assert any(low <= raw <= high for low, high in sets[name]), (name, raw)
    assert set(Simulator(system).initial()) == set(sets)


@pytest.mark.parametrize("seed", range(50))
def test_no_reachable_state_leaves_its_ranges(seed: int) -> None:
    system = random_case(seed).system
    sets = state_values(every_step(system))
    assert sets is not None
    states = reachable_states(system, [at(v.symbol, 0) for v in system.state], 10_000_000)
    assert states is not None
    for var in system.state:
        assert all(contains(sets[var.name], state[var.name]) for state in states)
    holds = compile_formulas([fact.formula for fact in within(system, sets)])
    assert all(all(holds(state)) for state in states)


WIDE = ValueType("int", 32, signed=True)
n, index, step = WIDE.symbol("sr_n"), WIDE.symbol("sr_index"), WIDE.symbol("sr_step")
push = BOOLEAN.symbol("sr_push")


def ranges_of(following: FNode, symbol: FNode, start: int = 0, *, low: int = -5, high: int = 5) -> Ranges:
    """The range of one variable, with the inputs ``push`` and ``step`` from ``low`` to ``high``."""
    system = TransitionSystem(
        "one",
        (StateVariable(symbol.symbol_name(), WIDE, WIDE.constant(start), following),),
        (InputVariable("sr_push", BOOLEAN), InputVariable("sr_step", WIDE, ((low, high),))),
    )
    found = state_values(system)
    assert found is not None
    return found[symbol.symbol_name()]


def number(value: int) -> FNode:
    return WIDE.constant(value)


def test_an_index_that_wraps_by_remainder_stays_below_it() -> None:
    turned = (index + number(1)).BVSRem(number(3))
    assert ranges_of(Ite(push, turned, index), index) == ((0, 2),)


def test_a_counter_stays_below_the_bound_that_its_condition_names() -> None:
    assert ranges_of(Ite(And(push, n.BVSLT(number(1000))), n + number(1), n), n) == ((0, 1000),)


def test_a_saturated_sum_stays_within_its_limits() -> None:
    added = n + step
    limited = Ite(added.BVSLT(number(-70)), number(-70), Ite(number(90).BVSLT(added), number(90), added))
    assert ranges_of(limited, n) == ((0, 90), ((1 << 32) - 70, (1 << 32) - 1))


def test_a_counter_without_a_bound_has_no_range() -> None:
    assert ranges_of(Ite(push, n + number(1), n), n) == whole(32)


def test_a_formula_that_no_state_in_the_ranges_meets_is_false() -> None:
    turned = (index + number(1)).BVSRem(number(3))
    system = TransitionSystem("one", (StateVariable("sr_index", WIDE, number(0), turned),), ())
    sets = state_values(every_step(system))
    assert sets is not None
    out, inside = values_of([number(3).BVULE(index), index.Equals(number(1))], system, sets)
    assert out == NEVER
    assert inside == BOTH


def test_every_step_of_a_ring_is_covered_by_simulation() -> None:
    """The range is not only sound: both ends are reached."""
    turned = (index + number(1)).BVSRem(number(3))
    system = TransitionSystem("one", (StateVariable("sr_index", WIDE, number(0), turned),), ())
    run = Simulator(system).run({"sr_index": 0}, [{}] * 3)
    assert {state["sr_index"] for state in run.states} == {0, 1, 2}


def test_it_ends_when_there_is_no_time() -> None:
    system = TransitionSystem("one", (StateVariable("sr_n", WIDE, number(0), n + number(1)),), ())
    assert state_values(system, lambda: True) is None


def counters(names: Sequence[str], following: Callable[[Sequence[FNode]], Sequence[FNode]]) -> TransitionSystem:
    """Whole numbers that begin at 0."""
    symbols = [WIDE.symbol(name) for name in names]
    nexts = following(symbols)
    state = [StateVariable(name, WIDE, number(0), after) for name, after in zip(names, nexts, strict=True)]
    return TransitionSystem("counters", tuple(state), (InputVariable("sr_push", BOOLEAN),))


def sets_in(system: TransitionSystem) -> Mapping[str, Ranges]:
    found = state_values(system)
    assert found is not None
    return found


def test_a_set_is_widened_by_how_often_it_has_grown_itself() -> None:
    """Each counter begins when the one before it is at its end, long after the first one; all depend on each other."""

    def following(symbols: Sequence[FNode]) -> Sequence[FNode]:
        restart = symbols[-1].Equals(number(5))
        before = [push, *(symbol.Equals(number(5)) for symbol in symbols[:-1])]
        begun = zip(symbols, before, strict=True)
        counted = [Ite(And(may, each.BVSLT(number(5))), each + number(1), each) for each, may in begun]
        return [Ite(restart, number(0), each) for each in counted]

    names = [f"sr_n{place}" for place in range(10)]
    assert sets_in(counters(names, following)) == dict.fromkeys(names, ((0, 5),))


def test_a_counter_in_steps_of_five_ends_where_its_steps_end() -> None:
    """Behind a constant that concerns it a set grows by a step again: nothing is widened beyond that."""
    down = Ite(number(50).BVSLT(n), n - number(5), n)
    moved = Ite(push, Ite(n.BVSLT(number(300)), n + number(5), n), down)
    assert ranges_of(moved, n, 200) == ((46, 304),)


def test_a_mode_with_many_values_keeps_to_those_that_it_is_set_to() -> None:
    moved = n
    for mode in range(40):
        moved = Ite(And(push, n.Equals(number(mode))), number(mode + 1), moved)
    ((low, high),) = ranges_of(moved, n)
    assert low == 0
    assert high <= 41


def test_constants_that_only_decide_when_a_variable_is_set_do_not_concern_it() -> None:
    """The one counter's values are not among the other's ends, nor does it take longer for them."""

    def following(symbols: Sequence[FNode]) -> Sequence[FNode]:
        fast, slow = symbols
        at_constants = Or(slow.Equals(number(at)) for at in range(7, 900, 3))
        fast_next = Ite(And(at_constants, fast.BVSLT(number(1000))), fast + number(1), fast)
        return [
            fast_next,
            Ite(fast.BVSLT(number(900)), Ite(slow.BVSLT(number(900)), slow + number(1), slow), number(0)),
        ]

    system = counters(["sr_fast", "sr_slow"], following)
    program = Program([*(var.next for var in system.state), *(var.symbol for var in system.state)])
    ends = Ends(program, range(len(program.instructions)), system.state, Evaluation(program, {}).found)
    concerned = {value for value in ends.of(system.state[0], False) if abs(value) < 1 << 30}
    assert {1000, 899, 901} <= concerned
    assert not concerned & {7, 10, 301}


@pytest.mark.parametrize("seed", range(30))
def test_sets_hold_when_there_is_no_work_left(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_values_module, "MOST_EVALUATED", seed % 5 * 30)
    monkeypatch.setattr(state_values_module, "_KNOWN", {})
    system = random_case(seed).system
    sets = sets_in(system)
    reference = Explicit(system)
    for state in reference.reachable():
        for name, raw in zip(reference.state_names, state, strict=True):
            assert contains(sets[name], raw)


@pytest.mark.parametrize("seed", range(30))
def test_the_sets_of_a_part_are_those_of_the_whole(seed: int) -> None:
    """Each follows from what the variable depends on, whatever else there is."""
    system = every_step(random_case(seed).system)
    sets = sets_in(system)
    for var in system.state:
        part = replace(system, state=system.cone([var.symbol]))
        assert sets_in(part) == {each.name: sets[each.name] for each in part.state}


def test_work_grows_as_the_program_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many charts that listen to each other: four times as many sets are computed, with some to spare."""
    computed = 0
    again = Evaluation.again

    def counted(self: Evaluation, places: Sequence[int], box: Mapping[str, Ranges]) -> int:
        nonlocal computed
        found = again(self, places, box)
        computed += found
        return found

    def following(symbols: Sequence[FNode]) -> Sequence[FNode]:
        modes, times = symbols[::2], symbols[1::2]
        found = []
        for place, (mode, time) in enumerate(zip(modes, times, strict=True)):
            up = modes[(7 * place + 3) % len(modes)]
            least = number(3 + place)  # the charts have no constants in common
            counted = Ite(time.BVSLT(least), time + number(1), time)
            later = Ite(up.Equals(number(2)), number(2), number(1))
            moved = Ite(time.Equals(least), Ite(mode.Equals(number(1)), later, Ite(push, number(1), number(0))), mode)
            found += [moved, Ite(moved.Equals(mode), counted, number(0))]
        return found

    monkeypatch.setattr(Evaluation, "again", counted)
    work = []
    for charts in (20, 80):
        names = [f"sr_{kind}_{charts}_{place}" for place in range(charts) for kind in ("mode", "time")]
        computed = 0
        sets = sets_in(counters(names, following))
        assert all(sets[name] == ((0, 3 + place // 2),) for place, name in enumerate(names) if "time" in name)
        work.append(computed)
    assert work[1] < 5 * work[0]


@pytest.mark.parametrize("seed", range(20))
def test_sets_of_formulas_known_from_a_step_are_those_computed_anew(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    system = every_step(random_case(seed).system)
    asked = [node for node in post_order([var.next for var in system.state]) if node.is_ite() or node.is_bv_ult()]
    sets = sets_in(system)
    known = values_of(asked, system, sets)
    monkeypatch.setattr(state_values_module, "_KNOWN", {})
    assert values_of(asked, system, sets) == known


def test_no_step_at_all_leaves_the_start_values() -> None:
    system = TransitionSystem("one", (StateVariable("sr_n", WIDE, number(0), n + number(1)),), ())
    for stuck in (replace(system, input_constraint=FALSE()), replace(system, defined=number(1).BVSLT(n))):
        assert sets_in(stuck)["sr_n"] == ((0, 0),)
