"""Engine portfolio: the answers of its parts, whoever gives them; turns, limits, costs. What auto chooses, and why."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from engine_cases import cases, holds_on
from float_systems import integrator
from pysmt.fnode import FNode
from pysmt.shortcuts import (
    BV,
    BVAdd,
    BVMul,
    BVSExt,
    BVUDiv,
    BVURem,
    BVXor,
    BVZExt,
    Equals,
    Ite,
    NotEquals,
    Symbol,
)
from pysmt.typing import BVType

from bmc.engines import choose, described, listen, reason
from bmc.engines.auto import AutoEngine, hardness, varying_bits
from bmc.engines.portfolio import PortfolioEngine
from bmc.engines.protocol import CONFLICT, Answer, Cost, Group, GroupSession, Placed, Session, Status
from bmc.engines.sat import SatEngine
from bmc.engines.sat_encoding import solver
from bmc.engines.z3 import Z3Engine
from bmc.errors import MemoryLimitReached
from bmc.formulas.unroll import at, framed, shift
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from properties.goal import Goal

WIDE, WORD = ValueType("uint16", 16), ValueType("uint32", 32)


def wide(symbol: FNode) -> FNode:
    return BVZExt(symbol, 16)


def channels(name: str) -> TransitionSystem:
    """``fault`` is set where two ways to compute the same sum of products disagree, which they never do."""
    level, gain, trim = (InputVariable(f"{name}_{part}", WIDE) for part in ("level", "gain", "trim"))
    a, b, c = (wide(var.symbol) for var in (level, gain, trim))
    first, second = BVAdd(BVMul(a, b), BVMul(c, b)), BVMul(b, BVAdd(a, c))
    fault = StateVariable(f"{name}_fault", ValueType("uint8", 8), BV(0, 8), BV(0, 8))
    following = Ite(NotEquals(first, second), BV(1, 8), fault.symbol)
    return TransitionSystem(name, (replace(fault, next=following),), (level, gain, trim))


def never(system: TransitionSystem, step: int) -> FNode:
    return Equals(framed(system.state[0].symbol, step), BV(1, 8))


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit of sat's effort is a hundred conflicts at most."""
    monkeypatch.setattr(solver, "WORK", 100 * CONFLICT)


@pytest.fixture
def weak(monkeypatch: pytest.MonkeyPatch) -> None:
    """sat gives up on whatever is not decided at once."""
    monkeypatch.setattr(solver, "CONFLICTS", 1)
    monkeypatch.setattr(solver, "PROPAGATIONS", 1)
    monkeypatch.setattr(solver, "WORK", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("weak")
@pytest.mark.parametrize("number", range(0, 20, 2))
def test_answers_are_those_of_z3_whoever_gives_them(number: int) -> None:
    system, goals, final = cases()[number]
    rng = random.Random(number)
    targets = [*goals, *([] if final is None else [Goal("end", at(final, 0), None, 0)])]
    asked = [target.antecedent for target in targets]
    ours, theirs = PortfolioEngine(), Z3Engine()
    for source in [Goal("init", at(system.init_formula, 0), None, 0), *goals]:
        session, reference = (e.session(system, source.antecedent, asked) for e in (ours, theirs))
        assert isinstance(session, GroupSession)
        assert isinstance(reference, GroupSession)
        for _ in range(6):
            chosen = [(target, rng.randint(0, 4)) for target in rng.choices(targets, k=rng.randint(1, 3))]
            steps = max([source.length, *(d + target.length for target, d in chosen)])
            formulas = [shift(target.antecedent, d) for target, d in chosen]
            answer = session.check(formulas, steps)
            assert answer.status is reference.check(formulas, steps).status
            if answer.status is Status.SAT:
                assert holds_on(session, system, [source.antecedent, *formulas])
            else:
                assert reference.check(answer.core, steps).status is Status.UNSAT
            alternatives = [(shift(target.antecedent, d), d + target.length) for target, d in chosen]
            assert session.check_any(alternatives).status is reference.check_any(alternatives).status
            groups = [Group(source.antecedent, (Placed(target.antecedent, d, steps),)) for target, d in chosen]
            status = session.check_groups(groups).status
            assert status is reference.check_groups(groups).status
            if status is Status.SAT:
                assert session.run().length >= 0


@pytest.mark.usefixtures("brief")
def test_what_gates_do_not_show_words_do() -> None:
    """sat alone does not get far within this effort; z3 sees that both sums are one."""
    system = channels("two_ways")
    source, asked = at(system.init_formula, 0), [never(system, 1)]
    assert SatEngine().session(system, source).check(asked, 1, effort=1).status is Status.UNKNOWN
    engine = PortfolioEngine()
    session = engine.session(system, source)
    answer = session.check(asked, 1, effort=3)
    assert answer == Answer(Status.UNSAT, tuple(asked))
    assert engine.cost.queries == 2
    with pytest.raises(RuntimeError, match="not satisfiable"):
        session.run()


class Scripted(SatEngine):
    """Notes which efforts it is given, and answers UNKNOWN ``refusals`` times; then as sat. ``broken``: no memory."""

    def __init__(self, name: str, log: list[tuple[str, int | None]], refusals: int, broken: bool = False) -> None:
        super().__init__()
        self.name, self.log, self.refusals, self.broken = name, log, refusals, broken

    def solver_session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode]) -> Session:
        session = super().solver_session(system, source, goals)
        asked = session.check

        def check(
            formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
        ) -> Answer:
            self.log.append((self.name, effort))
            if self.broken:
                raise MemoryLimitReached("no memory", hint="none")
            self.refusals -= 1
            return Answer(Status.UNKNOWN) if self.refusals >= 0 else asked(formulas, steps, time_limit, effort)

        session.check = check  # type: ignore[method-assign]
        return session


def asked_of(parts: list[SatEngine], effort: float | None, patience: int | None = None, times: int = 1) -> list[Status]:
    byte = ValueType("uint8", 8)
    system = TransitionSystem("scripted", (StateVariable("scripted", byte, BV(0, 8), BV(1, 8)),), ())
    session = PortfolioEngine(parts=parts, patience=patience).session(system, at(system.init_formula, 0))
    return [session.check([], 1, effort=effort).status for _ in range(times)]


def test_effort_grows_from_round_to_round_and_is_shared_out() -> None:
    log: list[tuple[str, int | None]] = []
    assert asked_of([Scripted("a", log, 99), Scripted("b", log, 99)], 9) == [Status.UNKNOWN]
    assert log == [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3)]
    log.clear()
    assert asked_of([Scripted("a", log, 3), Scripted("b", log, 99)], None) == [Status.SAT]
    assert log == [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 4), ("b", 4), ("a", 8)]
    log.clear()
    assert asked_of([Scripted("a", log, 0)], 0) == [Status.UNKNOWN]


def test_who_answered_what_was_given_up_has_the_first_turn() -> None:
    log: list[tuple[str, int | None]] = []
    assert asked_of([Scripted("a", log, 1), Scripted("b", log, 0)], None, times=3) == [Status.SAT] * 3
    assert [name for name, _ in log] == ["a", "b", "b", "b"]
    log.clear()
    asked_of([Scripted("a", log, 2), Scripted("b", log, 1)], None, times=2)
    assert [name for name, _ in log] == ["a", "b", "a", "b", "b"]


def test_long_questions_are_told_of() -> None:
    told: list[str] = []
    system = cases()[0][0]
    engine = PortfolioEngine(parts=[Scripted("a", [], 99), Scripted("b", [], 99)])
    listen(engine, told.append)
    session = engine.session(system, at(system.init_formula, 0))
    session.check([], 1, effort=2)
    assert told == []
    session.check([], 1, effort=5)
    texts = [f"a hard question, {name} goes on with it ({n} units of effort)" for name, n in (("a", 2), ("b", 1))]
    assert told == texts


def test_patience_shrinks_with_every_question_given_up_but_not_for_callers_who_say() -> None:
    log: list[tuple[str, int | None]] = []
    parts: list[SatEngine] = [Scripted("a", log, 99)]
    assert asked_of(parts, None, patience=4, times=4) == [Status.UNKNOWN] * 4
    assert [effort for _, effort in log] == [1, 2, 1, 1, 1, 1, 1][: len(log)]
    assert sum(effort or 0 for _, effort in log) == 4 + 2 + 1 + 1
    log.clear()
    assert asked_of([Scripted("a", log, 99)], 7, patience=1) == [Status.UNKNOWN]
    assert sum(effort or 0 for _, effort in log) == 7


def test_a_part_without_memory_is_left_out() -> None:
    log: list[tuple[str, int | None]] = []
    broken = [Scripted("a", log, 0, broken=True), Scripted("b", log, 2)]
    assert asked_of([*broken], None, times=2) == [Status.SAT, Status.SAT]
    assert [name for name, _ in log] == ["a", "b", "b", "b", "b"]
    with pytest.raises(MemoryLimitReached):
        asked_of([Scripted("a", log, 0, broken=True), Scripted("b", log, 0, broken=True)], None)


@pytest.mark.parametrize("limit", [0.0, -1.0])
def test_no_time_is_no_answer(limit: float) -> None:
    system = cases()[0][0]
    session = PortfolioEngine().session(system, at(system.init_formula, 0))
    assert session.check([], 1, time_limit=limit).status is Status.UNKNOWN
    assert session.check([], 1).status is Status.SAT


@pytest.mark.usefixtures("brief")
def test_costs_of_all_parts_are_counted_together() -> None:
    engine, cost = PortfolioEngine(), Cost()
    engine.cost = cost
    system = channels("costly")
    engine.session(system, at(system.init_formula, 0)).check([never(system, 1)], 1, effort=3)
    assert cost.queries == 2
    assert cost.sessions >= cost.solving > 0
    assert all(part.cost is cost for part in engine.parts)


@pytest.mark.usefixtures("brief")
def test_auto_takes_turns_only_where_it_is_hard() -> None:
    engine = choose("auto")
    plain = cases()[0][0]
    assert described(engine, plain) == ("sat", SatEngine.version)
    assert reason(engine) == (
        "no wide product or division of variables; sat is the fastest on all but the smallest systems"
    )
    system = channels("hard")
    engine.cost = cost = Cost()
    session = engine.session(system, at(system.init_formula, 0))
    assert described(engine, system)[0] == "portfolio"
    names = [part.name for part in PortfolioEngine().parts]
    assert reason(engine) == f"3 products of variables (up to 16 x 17 bits): {', '.join(names)} take turns"
    assert session.check([never(system, 1)], 1).status is Status.UNSAT
    assert cost.queries == 2
    assert described(engine, plain)[0] == "portfolio", "what was used stays told"
    assert isinstance(engine, AutoEngine)
    assert engine.chosen(plain).name == "sat"
    assert reason(choose("z3")) == "asked for"
    assert described(choose("portfolio"), system) != described(engine, system), "their kept graphs differ"


def test_auto_leaves_floats_to_trial_runs_and_sat() -> None:
    engine = choose("auto")
    assert engine.tries(integrator())
    assert described(engine, integrator())[0] == "sat"
    assert "floating-point" in reason(engine)


def step_of(term: FNode) -> TransitionSystem:
    var = StateVariable("of_term", WORD, BV(0, 32), term)
    return TransitionSystem("of_term", (var,), ())


def test_facts_name_what_is_hard() -> None:
    a, b, small = Symbol("fact_a", BVType(32)), Symbol("fact_b", BVType(32)), Symbol("fact_s", BVType(8))
    found = hardness(step_of(BVXor(BVMul(a, b), BVURem(a, BVUDiv(a, b)))))
    assert (found.products, found.divisions) == (((32, 32),), ((32, 32), (32, 32)))
    assert str(found) == "1 product of variables (up to 32 x 32 bits) and 2 divisions of variables (up to 32 x 32 bits)"
    for easy in (BVMul(a, BV(1103515245, 32)), BVMul(BVZExt(small, 24), BVSExt(small, 24)), BVUDiv(a, BV(10, 32))):
        assert not hardness(step_of(easy)).hard


def test_varying_bits_are_no_fewer_than_the_values_need() -> None:
    s, t = Symbol("vary_s", BVType(4)), Symbol("vary_t", BVType(6))
    term = BVAdd(Ite(Equals(s, BV(3, 4)), BVZExt(s, 12), BV(0, 16)), BVSExt(t, 10))
    assert varying_bits(term) == 7
    assert varying_bits(BV(7, 16)) == 0
    assert varying_bits(BVMul(term, term)) == 16
    deep = term
    for _ in range(2000):
        deep = BVAdd(deep, term)
    assert varying_bits(deep) <= 16
