"""Constant and live state variables, against brute force on small systems."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest
from drawn_seeds import seeds
from live_systems import CONSTANT, DEAD, padded_case, start_states
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, BVExtract, BVSExt, BVZExt, Iff, Implies, Ite, Not, Or, Symbol
from pysmt.typing import BVType
from random_systems import random_case

from bmc.analysis.constants import constant_state, put_in
from bmc.analysis.slice import live_among, live_state, read_symbols
from bmc.formulas import evaluate
from bmc.formulas.evaluate import compile_formulas
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType, symbols_of
from chaincover.reductions.slicing import plain_symbols

BYTE = ValueType("byte", 8)
A, B, C, P, Q = (Symbol(f"lv_{n}", BVType(8)) for n in "abcpq")
X, Y, Z = (Symbol(f"lv_{n}") for n in "xyz")


def system_of(*rows: tuple[str, int | None, object], inputs: tuple[InputVariable, ...] = ()) -> TransitionSystem:
    """Byte variables by name, start value (None: open) and next state."""
    state = tuple(StateVariable(n, BYTE, None if v is None else BV(v, 8), term) for n, v, term in rows)
    return TransitionSystem("live", state, inputs)


@seeds(20)
def test_what_is_constant_has_its_start_value_in_every_reachable_state(seed: int) -> None:
    system = padded_case(seed).system
    found = constant_state(system)
    assert found.keys() >= set(CONSTANT)
    simulator = Simulator(system)
    rng = random.Random(seed)
    for opened in range(2):
        state = simulator.initial({"lx_flag": opened})
        for _ in range(100):
            assert {name: state[name] for name in found} == found
            state = simulator.step(state, {v.name: rng.randint(0, 1) for v in system.inputs})


def test_constants_are_found_together_or_not_at_all() -> None:
    both = [("lv_a", 3, B), ("lv_b", 3, A), ("lv_c", 4, Ite(A.Equals(B), C, P)), ("lv_p", 5, C)]
    assert constant_state(system_of(*both)) == {"lv_a": 3, "lv_b": 3, "lv_c": 4}
    assert constant_state(system_of(("lv_a", 3, B), ("lv_b", 4, A), ("lv_c", 9, C))) == {"lv_c": 9}
    assert constant_state(system_of(("lv_a", 0, B & A), ("lv_b", None, B))) == {"lv_a": 0}


def test_an_input_of_one_value_counts_as_that_value() -> None:
    rows = [("lv_a", 7, P), ("lv_b", 7, Q)]
    inputs = (InputVariable("lv_p", BYTE, ((7, 7),)), InputVariable("lv_q", BYTE, ((7, 8),)))
    assert constant_state(system_of(*rows, inputs=inputs)) == {"lv_a": 7}
    signed = InputVariable("lv_p", ValueType("s", 8, signed=True), ((-1, -1),))
    assert constant_state(system_of(("lv_a", 255, P), inputs=(signed,))) == {"lv_a": 255}


@seeds(30)
def test_putting_values_in_gives_the_same_values(seed: int) -> None:
    system = random_case(seed).system
    rng = random.Random(seed)
    formulas = [*(v.next for v in system.state), system.input_constraint, system.defined]
    symbols = {s.symbol_name(): s for f in formulas for s in symbols_of(f)}
    sizes = {name: s.get_type().width if s.get_type().is_bv_type() else 1 for name, s in symbols.items()}
    valuation = {name: rng.randrange(1 << bits) for name, bits in sizes.items()}
    known = {name: value for name, value in valuation.items() if rng.random() < 0.5}
    folded = put_in(formulas, known)
    assert compile_formulas(formulas)(valuation) == compile_formulas(folded)(valuation)
    assert not {s.symbol_name() for f in folded for s in symbols_of(f)} & known.keys()
    assert all(f.is_constant() for f in put_in(formulas, valuation))


def test_all_operators_fold() -> None:
    terms = [A + B, A - B, A * B, A & B, A | B, A ^ B, ~A, -A, A << B, A >> B, A.BVUDiv(B), A.BVURem(B), A.BVSDiv(B)]
    terms += [A.BVSRem(B), A.BVAShr(B), A.BVConcat(B), BVExtract(A, 1, 3), BVZExt(A, 8), BVSExt(A, 8), A.BVRol(3)]
    terms += [A.BVULT(B), A.BVSLT(B), A.BVULE(B), A.BVSLE(B), A.Equals(B), Ite(A.Equals(B), A, B), A.BVComp(B)]
    conds = [And(X, Y, Z), Or(X, Y, Z), Not(X), Iff(X, Y), Implies(X, Y)]
    for a, b in product((0, 1, 7, 128, 255), repeat=2):
        values = {"lv_a": a, "lv_b": b, "lv_x": a & 1, "lv_y": b & 1, "lv_z": a >> 7}
        folded = put_in([*terms, *conds], values)
        assert [int(f.constant_value()) for f in folded] == list(compile_formulas([*terms, *conds])(values))


def read(*formulas: object) -> set[str]:
    return {s.symbol_name()[3:] for s in read_symbols(formulas)}


def test_a_local_set_before_it_is_used_is_not_read() -> None:
    local = Ite(X, A, B)
    assert read(Ite(X, local + BV(1, 8), C)) == {"x", "a", "c"}
    assert read(Ite(Not(X), local + BV(1, 8), C)) == {"x", "b", "c"}
    assert read(Ite(And(X, Y), local + local, C)) == {"x", "y", "a", "c"}
    assert read(Ite(Or(X, Y), local + BV(1, 8), C)) == {"x", "y", "a", "b", "c"}
    assert read(Ite(Or(X, Y), C, local + BV(1, 8))) == {"x", "y", "b", "c"}
    assert read(Or(Not(X), local.Equals(C))) == {"x", "a", "c"}
    assert read(And(X, local.Equals(C))) == {"x", "a", "c"}
    assert read(Implies(X, local.Equals(C))) == {"x", "a", "c"}
    assert read(Ite(X, local + BV(1, 8), C), local) == {"x", "a", "b", "c"}


def test_cases_of_one_switch_exclude_each_other() -> None:
    one, two = P.Equals(BV(1, 8)), BV(2, 8).Equals(P)
    local = Ite(one, A, B)
    assert read(Ite(two, local * C, Q)) == {"p", "b", "c", "q"}
    assert read(Ite(one, local * C, Q)) == {"p", "a", "c", "q"}
    assert read(Ite(two, Q, local * C)) == {"p", "a", "b", "c", "q"}


def choice(cases: list[int], other: FNode) -> FNode:
    """C in these cases of P."""
    for number in cases:
        other = Ite(P.Equals(BV(number, 8)), C, other)
    return other


@pytest.mark.parametrize(
    ("shown", "modes", "live"),
    [
        (choice([0, 1, 2, 3], A), 4, {"lv_p"}),
        (choice([0, 1, 2, 3], A), 5, {"lv_p", "lv_a"}),
        (choice([0, 1, 3], A), 4, {"lv_p", "lv_a"}),
        (choice([2, 3, 9, 1], choice([0], A)), 4, {"lv_p"}),
        (Ite(P.BVULE(BV(3, 8)), C, A), 4, {"lv_p"}),
        (Ite(P.BVULE(BV(3, 8)), C, A), 5, {"lv_p", "lv_a"}),
        (choice([7], choice([9], A) + P), 4, {"lv_p", "lv_a"}),
        (Ite(P.Equals(BV(9, 8)), A, P), 4, {"lv_p"}),
        (Ite(BVZExt(P, 8).Equals(BV(9, 16)), A, P), 4, {"lv_p"}),
        (Ite(Q.Equals(BV(1, 8)), C, Ite(Q.Equals(BV(2, 8)), B, A)), 4, {"lv_b"}),
        (Ite(Q.Equals(BV(1, 8)), C, Ite(Q.Equals(BV(3, 8)), B, A)), 4, {"lv_a"}),
    ],
)
def test_a_choice_of_all_values_that_a_mode_or_an_input_can_have_is_complete(
    shown: FNode, modes: int, live: set[str]
) -> None:
    """The mode P counts from 0 and begins again after ``modes`` steps; the input Q is 1 or 2."""
    following = Ite(P.BVULT(BV(modes - 1, 8)), P + BV(1, 8), BV(0, 8))
    inputs = (InputVariable("lv_c", BYTE), InputVariable("lv_q", BYTE, ((1, 2),)))
    system = system_of(("lv_p", 0, following), ("lv_a", 0, C), ("lv_b", 0, C), inputs=inputs)
    assert live_state(system, [shown]) == live


@seeds(30)
def test_what_is_not_read_makes_no_difference(seed: int) -> None:
    case = padded_case(seed)
    symbols = [v.symbol for v in (*case.system.state, *case.system.inputs)]
    rng = random.Random(seed)
    for term in (*(v.next for v in case.system.state), case.system.defined):
        unread = {s.symbol_name() for s in symbols} - {s.symbol_name() for s in read_symbols([term])}
        value = compile_formulas([term])
        for _ in range(30):
            first = {s.symbol_name(): rng.randrange(4 if s.get_type().is_bv_type(2) else 2) for s in symbols}
            other = {name: rng.randrange(2) if name in unread else known for name, known in first.items()}
            assert value(first) == value(other)


@seeds(20)
def test_states_that_differ_in_dead_variables_only_look_alike_for_ever(seed: int) -> None:
    """All input sequences of up to 4 allowed steps from states of a run; constants have their values."""
    case = padded_case(seed)
    system, rng = case.system, random.Random(seed)
    observed = plain_symbols([goal.antecedent for goal in case.goals]) + ([case.final] if case.final else [])
    live = live_state(system, observed)
    assert not live & {*CONSTANT, *DEAD}
    names = {s.symbol_name() for f in observed for s in symbols_of(f)}
    constant = constant_state(system)
    simulator = Simulator(system)
    choices = [
        dict(zip([v.name for v in system.inputs], values, strict=True))
        for values in product((0, 1), repeat=len(system.inputs))
    ]
    reached = simulator.initial({v.name: rng.randrange(2) for v in system.state if v.init is None})
    for noise in start_states(system, rng, 6):
        first = reached
        pairs = [(first, {n: value if n in live else noise[n] for n, value in first.items()} | constant)]
        allowed = [i for i in choices if simulator.allowed(reached, i)]
        reached = simulator.step(reached, rng.choice(allowed)) if allowed else reached
        for _ in range(4):
            for one, two in pairs:
                assert {n: one[n] for n in names if n in one} == {n: two[n] for n in names if n in two}
                assert [simulator.allowed(one, i) for i in choices] == [simulator.allowed(two, i) for i in choices]
            pairs = [(one, two, i) for one, two in pairs for i in choices if simulator.allowed(one, i)]
            pairs = [(simulator.step(one, i), simulator.step(two, i)) for one, two, i in pairs]


def test_a_chain_of_reads_is_followed_to_its_end() -> None:
    names = [f"lv_shift{n}" for n in range(300)]
    symbols = [Symbol(name, BVType(8)) for name in names]
    following = dict(zip(names, [*symbols[1:], symbols[-1]], strict=True))
    assert live_among(following, [symbols[0]]) == frozenset(names)
    assert live_among(following, [symbols[250]]) == frozenset(names[250:])
    assert live_among(following, []) == frozenset()


def test_beyond_the_effort_every_symbol_counts_as_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bmc.analysis.slice.REPEATED", 0)
    following = {"lv_a": Ite(X, Ite(X, A, B) + BV(1, 8), A), "lv_b": C, "lv_c": C}
    assert live_among(following, [A]) == {"lv_a", "lv_b", "lv_c"}
    monkeypatch.undo()
    assert live_among(following, [A]) == {"lv_a"}


def test_validity_is_always_observed() -> None:
    held = system_of(("lv_a", 0, A + BV(1, 8)), ("lv_b", 0, A))
    assert live_state(held, []) == frozenset()
    checked = TransitionSystem("live", held.state, (), defined=B.BVULT(BV(9, 8)))
    assert live_state(checked, []) == {"lv_a", "lv_b"}
    constrained = TransitionSystem("live", held.state, (), input_constraint=A.BVULT(BV(9, 8)))
    assert live_state(constrained, []) == {"lv_a"}
    assert live_state(TransitionSystem("live", held.state, (), defined=Or(TRUE(), FALSE())), [B]) == {"lv_a", "lv_b"}


def test_a_boolean_variable_can_be_constant() -> None:
    flag = StateVariable("lv_x", BOOLEAN, TRUE(), Or(X, Y))
    other = StateVariable("lv_y", BOOLEAN, FALSE(), And(Y, Z))
    assert constant_state(TransitionSystem("live", (flag, other), ())) == {"lv_x": 1, "lv_y": 0}


def nodes_visited(entries: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many nodes are walked over to see what a table read at another table's entry makes live."""
    word, mode = ValueType("word", 16), Symbol("lt_mode", BVType(16))
    given, out = Symbol("lt_given", BVType(16)), Symbol("lt_out", BVType(16))
    term = given
    for turn in range(2):
        index, term = term, BV(turn, 16)
        for entry in range(entries):
            term = Ite(index.Equals(BV(entry, 16)), BV(entry * 7 % 1000, 16), term)
    state = (
        StateVariable("lt_mode", word, BV(0, 16), Ite(out.Equals(BV(3, 16)), BV(1, 16), mode)),
        StateVariable("lt_out", word, BV(0, 16), term),
        StateVariable("lt_shown", word, BV(0, 16), mode),
    )
    system = TransitionSystem("tables", state, (InputVariable("lt_given", word),))
    visited = 0
    orders = evaluate._new_order

    def counting(formulas: Sequence[FNode], met: set[int]) -> list[FNode]:
        nonlocal visited
        order = orders(formulas, met)
        visited += len(order)
        return order

    monkeypatch.setattr(evaluate, "_new_order", counting)
    assert live_state(system, [mode.Equals(BV(1, 16))]) == {"lt_mode", "lt_out"}
    monkeypatch.undo()
    return visited


def test_twice_as_large_a_table_is_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    assert nodes_visited(400, monkeypatch) < 3 * nodes_visited(200, monkeypatch)
