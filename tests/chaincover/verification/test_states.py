"""Reachable states with one input of each class, against classes found otherwise, and systems with wide inputs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from command_line import MODELS
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULE, BVULT, FALSE, And, BVZExt, Implies, Ite, Not, Or, Symbol
from pysmt.typing import BVType
from random_systems import random_case
from random_terms import FLAGS, SYMBOLS, WIDTHS, flag, term

from bmc.evaluation.vectors import Program, bits_of, column
from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, FLOAT64, Format
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import framed
from bmc.system.ties import PREFIX, hold
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType, symbols_of
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.verification import states
from chaincover.verification.confirmation import confirm
from chaincover.verification.invariants import without_sure
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.marks import Marks
from chaincover.verification.search import Dominance, search
from chaincover.verification.setting import Setting, monitored_setting
from chaincover.verification.states import KNOWN, OpenValueRead, Table, known, tabulate
from chaincover.weights import INIT
from properties.goal import Goal

BYTE, WORD = ValueType("uint8", 8), ValueType("uint32", 32)


def seen(table: Table) -> set[tuple[int, ...]]:
    return {tuple(table.state(number).values()) for number in range(table.size)}


@pytest.mark.parametrize("seed", range(10))
def test_outcomes_in_states_of_one_kind_are_those_of_all_inputs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(seed, goals=3)
    setting = monitored_setting(Setting(case.system, case.goals, case.final), None)[0]
    clock = Clock(Limits())
    table = tabulate(setting.system, setting.formulas, clock)
    monkeypatch.setattr(states, "input_classes", lambda *arguments: None)
    other = tabulate(setting.system, setting.formulas, clock)
    assert table is not None
    assert other is not None
    assert seen(table) == seen(other)
    one, two = (Marks(found, setting, setting.names) for found in (table, other))
    assert search(one, setting.names, clock).length == search(two, setting.names, clock).length


def wide_system(limited: bool) -> Setting:
    """A level that an input of 32 bits below 1000 raises by one where it is above 700, or above ten times the level."""
    level, given = BYTE.symbol("ts_level"), WORD.symbol("ts_given")
    floor = BV(700, 32) if limited else level.BVZExt(24) * BV(10, 32)
    up = And(BVULT(floor, given), BVULT(level, BV(20, 8)))
    system = TransitionSystem(
        "wide",
        (StateVariable("ts_level", BYTE, BV(0, 8), Ite(up, level + BV(1, 8), level)),),
        (InputVariable("ts_given", WORD),),
        input_constraint=BVULE(given, BV(999, 32)),
    )
    now, then, first = framed(level, 0), framed(level, 1), framed(given, 0)
    goals = (
        Goal("top", now.Equals(BV(20, 8)), None, 0),
        Goal("stay", And(now.Equals(then), Not(now.Equals(BV(20, 8))), BVULT(BV(12, 32), first)), None, 1),
    )
    return Setting(system, goals, None)


@pytest.mark.parametrize("limited", [True, False])
def test_an_input_of_32_bits_under_an_assumption(limited: bool) -> None:
    """Compared with constants it has classes; compared with the state it has others in each state."""
    setting, clock = wide_system(limited), Clock(Limits())
    table = tabulate(setting.system, setting.formulas, clock)
    assert table is not None
    assert table.size == 21
    marks = Marks(table, setting, setting.names)
    found = search(marks, setting.names, clock)
    assert found.length == 21
    assert search(marks, setting.names, clock, 21).length is None
    assert marks.least((INIT, "top")) == 20
    # without staying above 12 by 13 or more: from level 2 on, where the floor moves with the level
    assert marks.least((INIT, "stay")) == (0 if limited else 2)


def test_more_classes_of_inputs_than_are_tried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 2^17 combinations of two inputs sets a flag: it is tried with the second half of all of them."""
    monkeypatch.setattr(states, "TRIED", 1 << 17)
    kinds = ValueType("left", 9), ValueType("right", 8)
    wanted, values = [kind.symbol(f"ts_{kind.name}_wanted") for kind in kinds], (300, 200)
    inputs = tuple(InputVariable(f"ts_{kind.name}_value", kind) for kind in kinds)
    hit = BOOLEAN.symbol("ts_both")
    both = And(*(var.symbol.Equals(symbol) for var, symbol in zip(inputs, wanted, strict=True)))
    fixed = (
        StateVariable(symbol.symbol_name(), kind, kind.constant(value), symbol)
        for symbol, kind, value in zip(wanted, kinds, values, strict=True)
    )
    system = TransitionSystem("wide", (*fixed, StateVariable("ts_both", BOOLEAN, FALSE(), Or(hit, both))), inputs)
    table = tabulate(system, [framed(hit, 0)], Clock(Limits()))
    assert table is not None
    assert table.inputs.size == 1 << 17 > states.BLOCK
    assert (table.size, table.steps) == (2, 2 << 17)
    (move,) = np.flatnonzero(table.source != table.target)
    assert tuple(table.inputs.choice(table.choice[move]).values()) == values


def test_combinations_are_tried_where_telling_them_apart_takes_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 32 values is remembered and compared with the next one: in no state two of them do the same."""
    kind = ValueType("level", 5)
    before, now, rises = kind.symbol("ts_before"), kind.symbol("ts_now"), BOOLEAN.symbol("ts_rises")
    system = TransitionSystem(
        "levels",
        (
            StateVariable("ts_before", kind, kind.constant(0), now),
            StateVariable("ts_rises", BOOLEAN, FALSE(), BVULT(before, now)),
        ),
        (InputVariable("ts_now", kind),),
    )
    monkeypatch.setattr(states, "TRIED", 8)
    table = tabulate(system, [framed(rises, 0)], Clock(Limits(explored=64 * 32)))
    assert table is not None
    assert (table.size, table.steps) == (63, 63 * 32), "no value rises to 0"


@pytest.mark.parametrize("bits", [3, 20])
def test_a_held_input_that_matters_in_a_later_tick_only_has_all_its_values(bits: int) -> None:
    """Nothing tells its values apart in the first tick of a held step, but all keep theirs for the second one."""
    kind = ValueType("word", bits)
    late, hit, value = BOOLEAN.symbol("th_late"), BOOLEAN.symbol("th_hit"), kind.symbol(f"th_in:{bits}")
    wanted = kind.symbol(f"th_wanted:{bits}")
    free = TransitionSystem(
        "late",
        (
            StateVariable(f"th_wanted:{bits}", kind, BV(7, bits), wanted),
            StateVariable("th_late", BOOLEAN, FALSE(), Not(late)),
            StateVariable("th_hit", BOOLEAN, FALSE(), Or(hit, And(late, value.Equals(wanted)))),
        ),
        (InputVariable(f"th_in:{bits}", kind),),
    )
    table = tabulate(hold(free, 2), [framed(hit, 0)], Clock(Limits()))
    assert (table is None) == (bits == 20), "too many values to be told apart one by one"
    assert table is None or table.columns["th_hit"].any()


@pytest.mark.parametrize("seed", range(12))
def test_held_inputs_have_classes_of_their_own(seed: int) -> None:
    """Without what is kept, the states are those of all values of the inputs."""
    case = random_case(seed)
    system = hold(case.system, 2 + seed % 2)
    formulas = [goal.antecedent for goal in case.goals]
    table = tabulate(system, formulas, Clock(Limits()))
    plain = tabulate(system, [*formulas, *(framed(var.symbol, 0) for var in system.state)], Clock(Limits()))
    assert table is not None
    assert plain is not None
    names = [name for name in table.columns if not name.startswith(PREFIX)]

    def told(found: Table) -> set[tuple[int, ...]]:
        return {tuple(found.state(number)[name] for name in names) for number in range(found.size)}

    assert told(table) == told(plain)
    assert table.size <= plain.size


def test_a_monitor_s_choice_leaves_a_held_input_as_it_is() -> None:
    """A free input beside it decides when the held one is seen: both are not told apart together."""
    held, seen, hit = BOOLEAN.symbol("tp_held"), BOOLEAN.symbol("tp_seen"), BOOLEAN.symbol("tp_hit")
    late = BOOLEAN.symbol("tp_late")
    free = TransitionSystem(
        "seen later",
        (
            StateVariable("tp_late", BOOLEAN, FALSE(), Not(late)),
            StateVariable("tp_hit", BOOLEAN, FALSE(), Or(hit, And(held, seen))),
        ),
        (InputVariable("tp_held", BOOLEAN),),
    )
    system = hold(free, 2)
    system = replace(system, inputs=(*system.inputs, InputVariable("tp_seen", BOOLEAN)))
    table = tabulate(system, [And(framed(hit, 0), framed(late, 0))], Clock(Limits()))
    assert table is not None
    first = table.on_moves(And(held, Not(seen), Not(late)))
    assert first.any(), "the input is on in a first tick, and is seen in the second one only"


def test_start_values_that_no_first_step_reads_are_not_told_apart() -> None:
    first, kept = BYTE.symbol("ts_first"), BYTE.symbol("ts_kept")
    given = BYTE.symbol("ts_in")
    begun = first.Equals(BV(1, 8))
    system = TransitionSystem(
        "open",
        (
            StateVariable("ts_first", BYTE, BV(1, 8), BV(0, 8)),
            StateVariable("ts_kept", BYTE, None, Ite(begun, given, kept)),
        ),
        (InputVariable("ts_in", BYTE, ((0, 3),)),),
    )
    later = framed(first, 0).Equals(BV(0, 8))
    table = tabulate(system, [later], Clock(Limits()))
    assert table is not None
    assert table.size == 2
    read = tabulate(system, [And(later, framed(kept, 0).Equals(BV(3, 8)))], Clock(Limits()))
    assert read is not None
    assert (len(read.starts), read.size) == (2, 2 + 4), "the goal asks whether the start value is 3"
    read = tabulate(system, [And(later, (framed(kept, 0) + framed(first, 0)).Equals(BV(3, 8)))], Clock(Limits()))
    assert read is not None
    assert (len(read.starts), read.size) == (256, 256 + 4), "the goal calculates with the start value"


def memory(kept_long: bool = False) -> tuple[TransitionSystem, FNode, FNode]:
    """A memory of 16 bits that init leaves open: the first step sets it, or (``kept_long``) the first with an input.

    What is told with it is a sum, which tells all of its values apart.
    """
    word = ValueType("uint16", 16)
    first, kept, given = BYTE.symbol("tm_first"), word.symbol("tm_kept"), BYTE.symbol("tm_in")
    sets = given.Equals(BV(1, 8)) if kept_long else first.Equals(BV(1, 8))
    system = TransitionSystem(
        "memory",
        (
            StateVariable("tm_first", BYTE, BV(1, 8), BV(0, 8)),
            StateVariable("tm_kept", word, None, Ite(sets, BVZExt(given, 8), kept)),
        ),
        (InputVariable("tm_in", BYTE, ((0, 3),)),),
    )
    return system, first, kept


def summed(first: FNode, kept: FNode) -> FNode:
    """The value of the memory, as long as the first variable is 0."""
    return kept + BVZExt(first, 8)


def test_a_start_value_of_too_many_stays_open_until_it_is_set() -> None:
    system, first, kept = memory()
    three = summed(framed(first, 0), framed(kept, 0)).Equals(BV(3, 16))
    goal = Goal("three", And(framed(first, 0).Equals(BV(0, 8)), three), None, 0)
    setting = Setting(system, (goal,), None)
    table = tabulate(system, setting.formulas, Clock(Limits()))
    assert table is not None
    assert (table.size, [*table.open_at]) == (1 + 4, ["tm_kept"])
    marks = Marks(table, setting, setting.names)
    assert marks.least((INIT, "three")) == 1


def test_a_later_step_of_a_goal_reads_what_is_set_by_then() -> None:
    system, first, kept = memory()
    goal = Goal("then", And(framed(first, 0).Equals(BV(1, 8)), framed(kept, 1).Equals(BV(3, 16))), None, 1)
    setting = Setting(system, (goal,), None)
    table = tabulate(system, setting.formulas, Clock(Limits()))
    assert table is not None
    marks = Marks(table, setting, setting.names)
    assert np.flatnonzero(marks.begins("then")).tolist() == [*table.starts]


@pytest.mark.parametrize("kept_long", [False, True])
def test_nothing_is_said_of_a_goal_that_reads_an_open_value(kept_long: bool) -> None:
    system, first, kept = memory(kept_long)
    antecedent = summed(framed(first, 0), framed(kept, 0)).Equals(BV(3, 16))
    if kept_long:
        antecedent = And(framed(first, 0).Equals(BV(0, 8)), antecedent)
    setting = Setting(system, (Goal("three", antecedent, None, 0),), None)
    table = tabulate(system, setting.formulas, Clock(Limits()))
    assert table is not None
    with pytest.raises(OpenValueRead):
        Marks(table, setting, setting.names)


def test_no_table_where_an_open_value_decides_whether_a_step_is_allowed() -> None:
    system, first, kept = memory()
    asked = replace(system, defined=Not(summed(first, kept).Equals(BV(7, 16))))
    assert tabulate(asked, [framed(first, 0).Equals(BV(0, 8))], Clock(Limits())) is None


@pytest.mark.slow
def test_a_timer_of_a_thousand_steps() -> None:
    """Distances and a sub-path of more steps than any question to a solver is unrolled for."""
    word = ValueType("uint16", 16)
    timer, run = word.symbol("ts_timer"), BYTE.symbol("ts_run")
    on = And(Not(run.Equals(BV(0, 8))), BVULT(timer, BV(1200, 16)))
    system = TransitionSystem(
        "timer",
        (StateVariable("ts_timer", word, BV(0, 16), Ite(on, timer + BV(1, 16), BV(0, 16))),),
        (InputVariable("ts_run", BYTE, ((0, 1),)),),
    )
    goals = tuple(
        Goal(name, framed(timer, 0).Equals(BV(at, 16)), None, 0) for name, at in (("late", 1200), ("half", 600))
    )
    setting, clock = Setting(system, goals, timer.Equals(BV(0, 16))), Clock(Limits())
    table = tabulate(system, setting.formulas, clock)
    assert table is not None
    assert (table.size, table.steps) == (1201, 2402)
    marks = Marks(table, setting, setting.names)
    assert marks.least((INIT, "late")) == 1200
    assert marks.least((INIT, "half", "late", "final")) == 1201
    assert marks.witness((INIT, "half", "late", "final")).length == 1201
    assert search(marks, setting.names, clock, 1201).complete
    assert search(marks, setting.names, clock, 1202).length == 1201


@pytest.mark.needs_compiler
def test_each_step_that_the_original_takes_otherwise_is_told() -> None:
    """One step of the table leads to another state than the program's: both states are told, and nothing else."""
    subject = load(read_project(str(MODELS / "pump")))
    setting = Setting(subject.system, subject.goals, subject.final)
    table = tabulate(setting.system, setting.formulas, Clock(Limits()))
    assert table is not None
    assert confirm(table, subject.model.original, Clock(Limits())).differences == ()
    target = table.target.copy()
    target[-1] = table.source[-1] if target[-1] != table.source[-1] else table.starts[0]
    found = confirm(replace(table, target=target), subject.model.original, Clock(Limits())).differences
    (said,) = {text.split(" '")[0] for text in found}
    assert said.startswith("from ")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("block", [1, 30, 1 << 14])
def test_what_has_nothing_new_is_left_out(seed: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers of random nodes, so many pairs compared at once, against one after the other."""
    monkeypatch.setattr("chaincover.verification.search.BLOCK", block)
    source = np.random.default_rng(seed)
    known, slow = Dominance(5, 2), dict[int, list[tuple[int, ...]]]()
    for _ in range(6):
        state = np.sort(source.integers(0, 5, 40))
        bits = source.integers(0, 1 << 5, (40, 2)).astype(np.uint64)
        expected = []
        for number, (here, row) in enumerate(zip(state.tolist(), bits.tolist(), strict=True)):
            earlier = slow.setdefault(here, [])
            if all(any(a & ~b for a, b in zip(row, other, strict=True)) for other in earlier):
                earlier.append(tuple(row))
                expected.append(number)
        assert known.fresh(state, bits).tolist() == expected


@pytest.mark.parametrize("limit", [4, 3])
def test_what_is_defined_on_every_step_needs_no_states(limit: int) -> None:
    """An index goes from 0 to 3 and again: below 4 it always is, and below 3 the runs end with the fourth step."""
    index, level, given = (BYTE.symbol(f"ts_{name}") for name in ("index", "raised", "up"))
    system = TransitionSystem(
        "indexed",
        (
            StateVariable("ts_index", BYTE, BV(0, 8), (index + BV(1, 8)) & BV(3, 8)),
            StateVariable("ts_raised", BYTE, BV(0, 8), level + given),
        ),
        (InputVariable("ts_up", BYTE, ((0, 1),)),),
        input_constraint=BVULE(given, BV(1, 8)),
        defined=And(BVULT(index, BV(limit, 8)), BVULT(level, BV(9, 8))),
    )
    clock, formulas = Clock(Limits()), [framed(level, 0).Equals(BV(3, 8))]
    table = tabulate(without_sure(system, formulas, clock), formulas, clock)
    assert table is not None
    assert ("ts_index" in table.columns) == (limit == 3)
    assert table.columns["ts_raised"].max() == (9 if limit == 4 else 3)


# where values are known


def known_values(formulas: list[FNode], values: dict[str, list[int]], marks: dict[str, list[bool]]) -> list[list[bool]]:
    """For each formula whether its value is known in each row: ``marks`` tell which symbols' values are."""
    symbols = {s.symbol_name(): s for formula in formulas for s in symbols_of(formula)}
    columns = {name: column(values[name], bits_of(symbol)) for name, symbol in symbols.items()}
    columns |= {KNOWN + name: np.array(mark) for name, mark in marks.items()}
    size = len(next(iter(values.values())))
    found = Program(known(formulas, marks.keys()))(columns)
    return [np.broadcast_to(part, (size,)).tolist() for part in found]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1 << 40))
def test_what_is_known_does_not_depend_on_what_is_not(seed: int) -> None:
    rng = random.Random(seed)
    formulas = [flag(rng, 4), flag(rng, 3), Ite(flag(rng, 2), term(rng, 8, 1), term(rng, 8, 1))]
    widths = {symbol.symbol_name(): width for width in WIDTHS for symbol in SYMBOLS[width]}
    widths |= {symbol.symbol_name(): 0 for symbol in FLAGS}
    hidden = rng.choice(FLAGS).symbol_name()
    rows = [{name: rng.choice((0, 1, rng.getrandbits(max(w, 1)))) % (1 << max(w, 1)) for name, w in widths.items()}]
    rows = [{**rows[0], hidden: 0}, {**rows[0], hidden: 0}]
    found = known_values(formulas, {n: [row[n] for row in rows] for n in widths}, {hidden: [False, True]})
    compute = compile_formulas(formulas)
    one, other = compute(rows[0]), compute({**rows[0], hidden: 1})
    for number, (unknown, surely) in enumerate(found):
        assert surely, "the symbol is known in the second row"
        assert not unknown or one[number] == other[number]


def test_a_condition_or_one_part_may_decide() -> None:
    one, other = FLAGS
    formulas = [And(one, other), Or(one, other), Implies(other, one), Ite(other, one, other), Ite(one, other, other)]
    values = {one.symbol_name(): [0, 0], other.symbol_name(): [0, 1]}
    found = known_values(formulas, values, {one.symbol_name(): [False, False]})
    assert found == [[True, False], [False, True], [True, False], [True, False], [True, True]]


@pytest.mark.parametrize("form", [FLOAT32, FLOAT64], ids=["float", "double"])
@pytest.mark.parametrize("operation", [compare.less, compare.less_equal, compare.equal, arithmetic.add])
def test_a_floating_operation_is_known_where_both_operands_are(
    operation: Callable[[FNode, FNode, Format], FNode], form: Format
) -> None:
    """Its circuit is a conjunction or a choice, of other terms than its operands: the pattern 0 decides nothing."""
    x, y = (Symbol(f"known_{name}{form.bits}", BVType(form.bits)) for name in "xy")
    values = {x.symbol_name(): [0, 0, 0], y.symbol_name(): [0, 1, 0]}
    found = known_values([operation(x, y, form)], values, {x.symbol_name(): [False, False, True]})
    assert found == [[False, False, True]]
