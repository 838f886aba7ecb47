"""Work that engines count: the same for the same questions, no more than a question may take, growing with it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from float_systems import integrator
from pysat.solvers import Glucose4
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULT, And, BVAdd, BVMul, Equals, Ite

from bmc.engines import choose
from bmc.engines.protocol import CONFLICT, PROPAGATION, QUESTION, VARIABLE, WORK, Cost, Engine, Session, Status
from bmc.engines.sat import SatEngine
from bmc.engines.sat_encoding import solver, step
from bmc.errors import StepTooLarge
from bmc.formulas.unroll import at, framed
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType

BYTE = ValueType("uint8", 8)
ENGINES = ["sat", "z3"]


def counter() -> TransitionSystem:
    """Counts up to 40 while an input is above 9, else starts again."""
    symbol, key = BYTE.symbol("wk_count"), InputVariable("wk_key", BYTE, values=((0, 12),))
    on = Ite(BVULT(symbol, BV(40, 8)), BVAdd(symbol, BV(1, 8)), symbol)
    following = Ite(BVULT(BV(9, 8), key.symbol), on, BV(0, 8))
    return TransitionSystem("work", (StateVariable("wk_count", BYTE, BV(0, 8), following),), (key,))


def asked(engine: Engine, system: TransitionSystem) -> list[int]:
    """The work after each of some questions."""
    session = engine.session(system, at(system.init_formula, 0))
    found = []
    for steps, value in ((5, 5), (20, 20), (20, 21), (30, 7)):
        session.check([Equals(framed(system.state[0].symbol, steps), BV(value, 8))], steps)
        found.append(engine.cost.work)
    return found


@pytest.mark.parametrize("name", ENGINES)
def test_equal_questions_take_equal_work(name: str) -> None:
    system = counter()
    found = asked(choose(name), system)
    assert found == asked(choose(name), system)
    assert 0 < found[0] <= found[1] < found[3]


def test_trial_runs_count_too() -> None:
    """The sat engine answers by a trial run here: its solver has nothing to count."""
    system = integrator()
    works = []
    for _ in range(2):
        engine = SatEngine()
        session = engine.session(system, at(system.init_formula, 0))
        assert session.check([], 2).status is Status.SAT
        works.append(engine.cost.work)
    assert works[0] == works[1] > 0


def hard(engine: Engine) -> tuple[Session, FNode]:
    """Factors of the prime 2^61 - 1."""
    wide = ValueType("uint64", 64)
    x, y = wide.symbol("wk_x"), wide.symbol("wk_y")
    state = (StateVariable("wk_x", wide, None, x), StateVariable("wk_y", wide, None, y))
    limits = And(*(And(BVULT(BV(1, 64), s), BVULT(s, BV(1 << 31, 64))) for s in (framed(x, 0), framed(y, 0))))
    product = Equals(BVMul(framed(x, 0), framed(y, 0)), BV((1 << 61) - 1, 64))
    return engine.session(TransitionSystem("factors", state, ()), limits), product


@pytest.mark.parametrize("effort", [0.01, 0.3])
def test_a_question_takes_hardly_more_than_it_may(effort: float) -> None:
    engine = SatEngine()
    session, product = hard(engine)
    session.check([product], 0, effort=0)
    before = engine.cost.work
    assert session.check([product], 0, effort=effort).status is Status.UNKNOWN
    portion = QUESTION + solver.CONFLICTS * CONFLICT + solver.PROPAGATIONS * PROPAGATION
    assert effort * WORK <= engine.cost.work - before <= effort * WORK + 2 * portion


def test_a_question_counts_each_variable_of_a_large_formula() -> None:
    """Some 600 questions about 200,000 variables that decide nothing took ten seconds, and counted one twentieth."""
    cost = Cost()
    asked = solver.SatSolver(cost=lambda: cost)
    works = []
    for _ in range(2):
        before = cost.work
        assert asked.solve([], None, None)
        works.append(cost.work - before)
        asked.fresh(10_000)
    assert works == [pytest.approx(QUESTION, rel=0.01), pytest.approx(10_000 * VARIABLE, rel=0.01)]


class InPortions(Glucose4):  # type: ignore[misc]
    """Answers each question in the second portion of it."""

    begun = False

    def solve_limited(self, assumptions: Sequence[int] = (), expect_interrupt: bool = False) -> bool | None:
        self.begun = not self.begun
        return None if self.begun else super().solve_limited(assumptions, expect_interrupt)


@pytest.mark.parametrize("product", [251 * 241, 60_493])
def test_others_ask_the_same_session_in_the_middle_of_a_question(product: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither answer changes: the first number has two factors of eight bits, the second one, a prime, has none."""
    monkeypatch.setattr("pysat.solvers.Glucose4", InPortions)
    engine = SatEngine()
    word = ValueType("uint16", 16)
    x, y = word.symbol("wr_x"), word.symbol("wr_y")
    state = (StateVariable("wr_x", word, None, x), StateVariable("wr_y", word, None, y))
    small = And(*(And(BVULT(BV(1, 16), s), BVULT(s, BV(256, 16))) for s in (framed(x, 0), framed(y, 0))))
    session = engine.session(TransitionSystem("factors", state, ()), small)
    asked = [Equals(BVMul(framed(x, 0), framed(y, 0)), BV(product, 16)), BVULT(framed(x, 0), framed(y, 0))]
    others = []

    def rest() -> None:
        engine.cost.pause = lambda: None
        answer = session.check_any([(Equals(framed(x, 0), BV(7, 16)), 0)])
        others.append((answer.status, session.run().states[0]["wr_x"]))

    engine.cost.pause = rest
    answer = session.check_any([(And(asked), 0)])
    assert others == [(Status.SAT, 7)]
    assert answer.status is (Status.SAT if product == 251 * 241 else Status.UNSAT)
    if answer.status is Status.SAT:
        assert session.run().states[0] == {"wr_x": 241, "wr_y": 251}


@pytest.mark.parametrize("name", ENGINES[:2])
def test_without_effort_no_solver_is_asked(name: str) -> None:
    session, product = hard(choose(name))
    assert session.check([product], 0, effort=0).status is Status.UNKNOWN
    assert session.check([], 0, effort=0).status is Status.UNKNOWN


def test_costs_add_up() -> None:
    cost = Cost(queries=2, work=3 * WORK)
    cost.add(Cost(queries=1, work=WORK))
    assert (cost.queries, cost.work, cost.effort) == (3, 4 * WORK, 4.0)


def squares(count: int) -> TransitionSystem:
    """Each step squares a byte and adds an input, ``count`` times over."""
    symbol, key = BYTE.symbol("sq_value"), InputVariable("sq_key", BYTE)
    term = symbol
    for _ in range(count):
        term = BVAdd(BVMul(term, term), key.symbol)
    return TransitionSystem("squares", (StateVariable("sq_value", BYTE, BV(0, 8), term),), (key,))


def test_a_step_is_encoded_as_far_as_the_effort_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "LEAST", 0.1)
    system = squares(200)
    limited, free = SatEngine(), SatEngine()
    limited.cost.left = lambda: 0.5
    with pytest.raises(StepTooLarge, match=r"more than 3,333 gates") as caught:
        limited.session(system, at(system.init_formula, 0))
    assert "--effort" in str(caught.value)
    assert free.session(system, at(system.init_formula, 0)).check([], 1).status is Status.SAT
    assert free.cost.effort > 0.5
