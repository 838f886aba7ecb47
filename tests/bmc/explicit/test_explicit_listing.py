"""Lists of states against a plain breadth-first search, numbers, classes of inputs, and the limits."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from machines import Case, random_machine
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Ite, Not
from random_systems import random_case

from bmc.errors import LimitReached
from bmc.explicit import listing
from bmc.explicit.explore import state_graph
from bmc.explicit.input_classes import input_classes
from bmc.explicit.numbering import Numbering
from bmc.explicit.paths import Arrows
from bmc.explicit.rows import Layout, Rows, Steps
from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, pattern
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.hold import hold
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation, ValueType, symbols_of
from chaincover.graph.explored import Reachable

BYTE, SIGNED, WIDE = ValueType("byte", 8), ValueType("signed", 8, signed=True), ValueType("wide", 32, signed=True)


def made(seed: int) -> Case:
    if seed % 2:
        return random_machine(seed)
    case = random_case(seed, goals=4, longest=2)
    return case.system, case.goals, case.final


def plain_search(system: TransitionSystem, names: list[str], inputs: list[Valuation]) -> tuple[list[Valuation], list]:  # type: ignore[type-arg]
    """The states in the order in which they come, told on ``names``, and the steps of each."""
    simulator, numbers = Simulator(system), dict[tuple[int, ...], int]()
    states: list[Valuation] = []

    def number(state: Valuation) -> int:
        key = tuple(state[name] for name in names)
        if key not in numbers:
            numbers[key] = len(states)
            states.append(state)
        return numbers[key]

    number(simulator.initial())
    steps: list[tuple[tuple[int, int], ...]] = []
    while len(steps) < len(states):
        state = states[len(steps)]
        tried = [(n, values) for n, values in enumerate(inputs) if simulator.allowed(state, values)]
        steps.append(tuple((n, number(simulator.step(state, values))) for n, values in tried))
    return [{name: state[name] for name in names} for state in states], steps


@pytest.mark.parametrize("way", ["one by one", "in blocks", "in small blocks"])
@pytest.mark.parametrize("seed", range(40))
def test_states_and_steps_are_numbered_as_by_a_plain_search(
    seed: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way != "one by one":
        monkeypatch.setattr(listing, "few_steps", lambda system: 0)
    if way == "in small blocks":
        monkeypatch.setattr(listing, "BLOCK", 3)
    system, goals, _ = made(seed)
    if seed % 5 == 4:
        system = hold(system, 2)
    graph = state_graph(system, [goal.antecedent for goal in goals], 100_000)
    assert graph is not None
    states, steps = plain_search(system, list(graph.states[0]), list(graph.inputs))
    assert graph.states == states
    assert graph.steps == steps
    assert graph.starts == (0,)
    assert graph.steps.total == sum(map(len, steps))


def test_keys_get_numbers_in_the_order_in_which_they_come() -> None:
    rng = np.random.default_rng(3)
    for width in (1, 2, 3):
        table, known = Numbering(width), dict[tuple[int, ...], int]()
        for _ in range(20):
            keys = [rng.integers(0, 40, 500).astype(np.uint64) << np.uint64(40) for _ in range(width)]
            rows = list(zip(*(column.tolist() for column in keys), strict=True))
            expected = [known.setdefault(row, len(known)) for row in rows]
            assert table.add(keys).tolist() == expected
            assert table.find(keys).tolist() == expected
        assert list(zip(*(column.tolist() for column in table.words), strict=True)) == list(known)
        missing = [np.array([1], np.uint64)] * width
        assert table.find(missing).tolist() == [-1]


def test_variables_are_packed_and_unpacked() -> None:
    widths = [0, 3, 64, 8, 33, 31, 1, 64, 12]
    layout = Layout([(f"v{n}", bits) for n, bits in enumerate(widths)])
    rng = random.Random(1)
    rows = {f"v{n}": [rng.randrange(1 << max(bits, 1)) for _ in range(20)] for n, bits in enumerate(widths)}
    words = layout.pack([np.array(values, np.uint64) for values in rows.values()])
    assert {name: [int(v) for v in column.tolist()] for name, column in layout.columns(words).items()} == rows


def test_rows_and_steps_read_like_tuples() -> None:
    rows = Rows({"a": np.array([3, 1], np.uint8), "b": np.array([True, False])}, 2)
    assert list(rows) == [{"a": 3, "b": 1}, {"a": 1, "b": 0}] == [rows[0], rows[1]] == list(rows[:])
    assert rows[-1] == {"a": 1, "b": 0}
    with pytest.raises(IndexError):
        rows[2]
    steps = Steps(np.array([0, 2, 2, 3]), np.array([0, 1, 4]), np.array([1, 2, 0]))
    assert list(steps) == [((0, 1), (1, 2)), (), ((4, 0),)] == [steps[0], steps[1], steps[-1]] == steps[:]
    with pytest.raises(IndexError):
        steps[3]


def test_distances_and_arrows_backward() -> None:
    arrows = Arrows(np.array([0, 2, 3, 3, 4]), np.array([1, 2, 2, 0]))
    assert arrows.distances(np.array([0])).tolist() == [0, 1, 1, -1]
    back = arrows.backward()
    assert back.distances(np.array([2])).tolist() == [1, 1, 0, 2]
    assert [back.ends[back.of(np.array([node]))[0]].tolist() for node in range(4)] == [[3], [0], [0, 1], []]


def classes(variables: list[InputVariable], formulas: list[FNode], constraint: FNode | None = None) -> Rows:
    places = {s: (s.symbol_name(), -1) for formula in formulas for s in symbols_of(formula)}
    found = input_classes(variables, formulas, places, [] if constraint is None else [constraint], 1 << 20)
    assert found is not None
    return found


def check_classes(variables: list[InputVariable], formulas: list[FNode], domain: list[list[int]], states: list) -> None:  # type: ignore[type-arg]
    """Each combination is seen in every state like exactly one listed, which comes no later."""
    names = [var.name for var in variables]
    test = compile_formulas(formulas)

    def seen(values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(test({**state, **dict(zip(names, values, strict=True))}) for state in states)

    firsts: dict[tuple[tuple[int, ...], ...], tuple[int, ...]] = {}
    for values in product(*domain):
        firsts.setdefault(seen(values), values)
    listed = [tuple(row[name] for name in names) for row in classes(variables, formulas)]
    assert set(listed) >= set(firsts.values())
    assert {seen(values) for values in listed} == set(firsts)


x, y, z = BYTE.symbol("ec_x"), BYTE.symbol("ec_y"), BYTE.symbol("ec_z")


def test_values_that_only_comparisons_see_are_few() -> None:
    current, flag = InputVariable("ec_x", BYTE), InputVariable("ec_y", BYTE, ((0, 1),))
    formulas = [And(BV(100, 8).BVULT(x), z.Equals(BV(1, 8))), Ite(x.BVZExt(8).BVULT(BV(186, 16)), z + y, z)]
    found = classes([current, flag], formulas)
    assert [tuple(row.values()) for row in found] == [(0, 0), (0, 1), (101, 0), (101, 1), (186, 0), (186, 1)]
    states = [{"ec_z": value} for value in range(0, 256, 5)] + [{"ec_z": 1}]
    check_classes([current, flag], formulas, [list(range(256)), [0, 1]], states)


def test_negative_values_come_last() -> None:
    signed = SIGNED.symbol("ec_s")
    var = InputVariable("ec_s", SIGNED, ((-100, 100),))
    found = classes([var], [Ite(signed.BVSLT(BV(246, 8)), z, z + signed.BVUDiv(BV(64, 8)))])
    assert [row["ec_s"] for row in found] == [0, 64, 156, 192, 246]


def test_a_wide_input_is_split_by_the_constants_it_is_compared_with() -> None:
    wide = WIDE.symbol("ec_w")
    var = InputVariable("ec_w", WIDE, ((-1000, 1_000_000),))
    formulas = [And(BV(5000, 32).BVSLE(wide), z.Equals(BV(1, 8))), Ite(wide.Equals(BV(77, 32)), z, z + BV(1, 8))]
    formulas.append(And(wide.BVSLT(BV(0, 32)), z.Equals(BV(2, 8))))
    assert [row["ec_w"] for row in classes([var], formulas)] == [0, 77, 5000, (1 << 32) - 1000]
    places = {s: (s.symbol_name(), -1) for s in (wide, z)}
    assert input_classes([var], [wide + z.BVZExt(24)], places, [], 1000) is None, "every value counts"


def test_a_float_input_is_split_by_comparisons() -> None:
    kind = ValueType("float", 32, floating=True)
    value, level = kind.symbol("ec_f"), kind.symbol("ec_l")
    limit = BV(pattern(20.5, FLOAT32), 32)
    formulas = [And(compare.less(value, limit, FLOAT32), z.Equals(BV(1, 8)))]
    found = classes([InputVariable("ec_f", kind)], formulas)
    assert [row["ec_f"] for row in found] == [0, pattern(20.5, FLOAT32)]
    places = {s: (s.symbol_name(), -1) for s in (value, level)}
    summed = arithmetic.add(value, level, FLOAT32)
    assert input_classes([InputVariable("ec_f", kind)], [summed], places, [], 1000) is None


def test_inputs_that_only_count_together() -> None:
    both = [InputVariable("ec_x", BYTE), InputVariable("ec_y", BYTE)]
    formulas = [And((x + y).BVULT(BV(10, 8)), z.Equals(BV(1, 8)))]
    found = classes([InputVariable(var.name, BYTE, ((0, 200),)) for var in both], formulas)
    assert [tuple(row.values()) for row in found] == [(0, 0), (0, 10)]


def test_combinations_that_are_never_allowed_are_left_out() -> None:
    flags = [InputVariable(name, BYTE, ((0, 1),)) for name in ("ec_x", "ec_y")]
    exclusive = Not(And(x.Equals(BV(1, 8)), y.Equals(BV(1, 8))))
    found = classes(flags, [x + z, y + z], exclusive)
    assert [tuple(row.values()) for row in found] == [(0, 0), (0, 1), (1, 0)]
    assert len(classes(flags, [x + z, y + z], Not(TRUE()))) == 4, "at least some are left"


def test_goals_at_different_steps_see_different_values() -> None:
    """x at two steps is two values; comparing them sees every value."""
    var = InputVariable("ec_x", BYTE)
    system = TransitionSystem("two", (StateVariable("ec_z", BYTE, BV(0, 8), z),), (var,))
    same = state_graph(system, [at(x, 0).Equals(at(x, 1))], 1_000_000)
    apart = state_graph(system, [And(at(x.BVULT(BV(7, 8)), 0), at(BV(99, 8).BVULT(x), 1))], 1_000_000)
    assert same is not None
    assert apart is not None
    assert len(same.inputs) == 256
    assert [row["ec_x"] for row in apart.inputs] == [0, 7, 100]


def test_more_memory_than_allowed_gives_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    system = TransitionSystem(
        "counter", (StateVariable("ec_z", BYTE, BV(0, 8), z + x),), (InputVariable("ec_x", BYTE, ((0, 1),)),)
    )
    assert state_graph(system, [at(z.Equals(BV(3, 8)), 0)], 100_000) is not None
    monkeypatch.setattr("bmc.explicit.explore.LISTED_BYTES", 1000)
    assert state_graph(system, [at(z.Equals(BV(3, 8)), 0)], 100_000) is None


@pytest.mark.slow
def test_a_timer_among_many_states_is_listed_both_ways() -> None:
    """Blocks while the frontier is wide, steps one by one while only the timer counts."""
    long = ValueType("long", 16)
    time, wave = long.symbol("ec_time"), long.symbol("ec_wave")
    waiting = time.BVULT(BV(3000, 16))
    following = Ite(waiting, BV(0, 16), wave + x.BVZExt(8) * BV(3, 16) & BV(0x3FF, 16))
    state = (
        StateVariable("ec_time", long, BV(0, 16), Ite(waiting, time + BV(1, 16), time)),
        StateVariable("ec_wave", long, BV(0, 16), following),
    )
    system = TransitionSystem("timer", state, (InputVariable("ec_x", BYTE),))
    graph = state_graph(system, [at(wave.Equals(BV(9, 16)), 0)], 10_000_000)
    assert graph is not None
    states, steps = plain_search(system, list(graph.states[0]), list(graph.inputs))
    assert graph.states == states
    assert graph.steps == steps
    assert len(states) == 3000 + 1024


def test_a_listing_ends_when_its_time_is_over() -> None:
    case = random_case(3)
    calls: list[int] = []

    def over() -> None:
        calls.append(1)
        raise LimitReached("the time limit of 1 s was reached")

    formulas = [goal.antecedent for goal in case.goals]
    with pytest.raises(LimitReached):
        state_graph(case.system, formulas, 1000, over)
    reachable = Reachable(case.system, case.goals, case.final, 1000, over)
    assert reachable.graph is None
    assert reachable.graph is None
    assert len(calls) == 2
