"""Queries about floating-point systems: bounds, trial runs and the solver, against all runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import pytest
import z3
from float_systems import DOUBLE, FLOAT, QUESTIONS, STEPS, integrator, known, reached
from pysmt.shortcuts import (
    BV,
    BVSLE,
    BVSLT,
    BVULE,
    BVULT,
    TRUE,
    And,
    BVAdd,
    BVAnd,
    BVAShr,
    BVConcat,
    BVExtract,
    BVLShl,
    BVLShr,
    BVMul,
    BVNeg,
    BVNot,
    BVOr,
    BVRol,
    BVSDiv,
    BVSExt,
    BVSRem,
    BVSub,
    BVUDiv,
    BVURem,
    BVXor,
    BVZExt,
    Equals,
    Iff,
    Ite,
    Not,
    Symbol,
)
from pysmt.typing import BOOL, BVType

from bmc.engines.guessing import PATIENCE, GuessingSession, Sampling
from bmc.engines.protocol import Answer, Session, Status
from bmc.engines.z3 import Gates, Words, Z3Engine
from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, FLOAT64, pattern
from bmc.formulas.unroll import at, framed
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem


def test_answers_are_those_of_all_runs() -> None:
    system = integrator()
    levels = reached(system)
    session = Z3Engine().session(system, at(system.init_formula, 0))
    assert isinstance(session, GuessingSession)
    x = FLOAT.symbol("gs_x")
    answers = set()
    for steps, question in product(range(STEPS + 1), QUESTIONS):
        formula = question(x)
        holds = {v for v in levels[steps] if formula.substitute({x: BV(v, 32)}).simplify().is_true()}
        answer = session.check([at(formula, steps)], steps)
        assert answer.status is (Status.SAT if holds else Status.UNSAT), (steps, formula)
        answers.add(answer.status)
        if holds:
            run = session.run()
            assert run.states[0] == {"gs_x": 0}
            assert run.states[steps]["gs_x"] in holds
    assert answers == {Status.SAT, Status.UNSAT}


def test_the_solver_alone_says_the_same() -> None:
    system = integrator()
    both = [Z3Engine(trials=trials).session(system, at(system.init_formula, 0)) for trials in (True, False)]
    assert not isinstance(both[1], GuessingSession)
    for steps, question in product((1, 2), QUESTIONS):
        formula = at(question(FLOAT.symbol("gs_x")), steps)
        tried, solved = (session.check([formula], steps).status for session in both)
        assert tried is solved


class Never:
    """A solver that is not to be asked."""

    def check(
        self, formulas: Sequence, steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        raise AssertionError("asked")

    def run(self):
        raise AssertionError("asked")


class GivesUp(Never):
    """A solver that gives up, and counts."""

    asked = 0

    def check(
        self, formulas: Sequence, steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        self.asked += 1
        return Answer(Status.UNKNOWN)


def guessing(system: TransitionSystem, solver: Session, source=None) -> GuessingSession:
    source = at(system.init_formula, 0) if source is None else source
    return GuessingSession(system, source, [], Sampling(system, Simulator(system)), lambda: solver)


def between_0_and_1():
    x = FLOAT.symbol("gs_x")
    return at(And(compare.less(known(0.0), x, FLOAT32), compare.less(x, known(1.0), FLOAT32)), 0)


def unchanged(step: int):
    """x is the same before and after a step: never, below the limit of 5, but neither bounds nor trials show it."""
    x = FLOAT.symbol("gs_x")
    return compare.equal(framed(x, step), framed(x, step + 1), FLOAT32)


def test_bounds_need_no_solver() -> None:
    session = guessing(integrator(), Never())
    x = FLOAT.symbol("gs_x")
    above = at(compare.less(known(5.0), x, FLOAT32), 3)
    assert session.check([above], 3) == Answer(Status.UNSAT, (above,))
    far = at(compare.less(known(4.0), x, FLOAT32), 1)
    assert session.check([far], 3) == Answer(Status.UNSAT, (far,))


def test_trial_runs_find_what_the_solver_gave_up_on() -> None:
    session = guessing(integrator(), GivesUp())
    x = FLOAT.symbol("gs_x")
    assert session.check([at(compare.less(known(3.5), x, FLOAT32), 2)], 3).status is Status.SAT
    assert session.run().length == 3


def test_a_start_in_the_middle_is_found() -> None:
    """From any state above 3 down to -2 in four steps."""
    x = FLOAT.symbol("gs_x")
    session = guessing(integrator(), GivesUp(), at(compare.less(known(3.0), x, FLOAT32), 0))
    assert session.check([at(compare.equal(x, known(-2.0), FLOAT32), 4)], 4).status is Status.SAT
    run = session.run()
    assert compare.less(known(3.0), BV(run.states[0]["gs_x"], 32), FLOAT32).is_true()
    assert run.states[4]["gs_x"] == pattern(-2.0, FLOAT32)


def test_the_formulas_of_a_core_are_impossible_together() -> None:
    x = FLOAT.symbol("gs_x")
    session = guessing(integrator(), Never())
    small = at(compare.less(x, known(0.0), FLOAT32), 1)
    large = at(compare.less(known(3.0), x, FLOAT32), 2)
    assert session.check([small, large], 2) == Answer(Status.UNSAT, (small, large))


def test_without_effort_the_solver_is_not_asked() -> None:
    session = guessing(integrator(), Never(), between_0_and_1())
    assert session.check([unchanged(0)], 2, effort=0).status is Status.UNKNOWN
    assert session.check([], 2, time_limit=0.0).status is Status.UNKNOWN


def test_a_solver_that_gives_up_is_asked_no_longer_questions() -> None:
    solver = GivesUp()
    session = guessing(integrator(), solver, between_0_and_1())
    asked = [0]
    for steps in (*[2] * PATIENCE, 2, 3, 4, 1):
        assert session.check([unchanged(0)], steps).status is Status.UNKNOWN
        asked.append(solver.asked)
    assert [more > less for less, more in pairwise(asked)] == [*[True] * PATIENCE, False, False, False, True]


def test_a_formula_beyond_the_steps_is_refused() -> None:
    session = guessing(integrator(), Never())
    with pytest.raises(ValueError, match="2 steps in a query over 1"):
        session.check([at(compare.equal(FLOAT.symbol("gs_x"), known(0.0), FLOAT32), 2)], 1)
    with pytest.raises(RuntimeError):
        session.run()


def test_remainders_that_no_solver_ends_are_left_undecided() -> None:
    """fmod of two doubles: a run that is tried is found, what is not found stays open at once."""
    a, b = DOUBLE.symbol("gs_a"), DOUBLE.symbol("gs_b")
    rest = DOUBLE.symbol("gs_rest")
    step = StateVariable("gs_rest", DOUBLE, BV(0, 64), arithmetic.remainder(a, b, FLOAT64))
    inputs = tuple(InputVariable(name, DOUBLE, ((0, FLOAT64.infinity - 1),)) for name in ("gs_a", "gs_b"))
    system = TransitionSystem("rest", (step,), inputs)
    session = Z3Engine().session(system, at(system.init_formula, 0))
    one = at(compare.less(known(0.0, FLOAT64), rest, FLOAT64), 1)
    assert session.check([one], 1).status is Status.SAT
    never = at(And(compare.less(known(2.5, FLOAT64), rest, FLOAT64), compare.equal(a, b, FLOAT64)), 0)
    odd = at(compare.equal(rest, known(2.0**-1000, FLOAT64), FLOAT64), 1)
    assert session.check([odd], 1).status is Status.UNKNOWN
    assert session.check([never], 1).status is Status.UNSAT


def _every_operator():
    x, y, p = Symbol("ge_x", BVType(5)), Symbol("ge_y", BVType(5)), Symbol("ge_p", BOOL)
    words = [op(x, y) for op in (BVAdd, BVSub, BVMul, BVAnd, BVOr, BVXor, BVUDiv, BVURem, BVSDiv, BVSRem)]
    words += [op(x, y) for op in (BVLShl, BVLShr, BVAShr)] + [BVNot(x), BVNeg(y), BVRol(x, 2), Ite(p, x, y)]
    words += [BVExtract(BVConcat(x, y), 3, 7), BVExtract(BVSExt(x, 3), 2, 6), BVExtract(BVZExt(y, 3), 1, 5)]
    tests = [op(word, y) for word in words for op in (Equals, BVULT)]
    return [*tests, BVULE(x, y), BVSLT(x, y), BVSLE(x, y), Not(p), Iff(p, BVULT(x, y)), And(p, Equals(x, y)), TRUE()]


def test_gates_mean_what_words_mean() -> None:
    context = z3.Context()
    words, gates = Words(context), Gates(context)
    solver = z3.Solver(ctx=context)
    for name in ("ge_x", "ge_y"):
        symbol = Symbol(name, BVType(5))
        for index, bit in enumerate(gates.parts(symbol)):
            solver.add(bit == (z3.Extract(index, index, words.term(symbol)) == 1))
    for formula in _every_operator():
        assert solver.check(gates.term(formula) != words.term(formula)) == z3.unsat, formula
    assert solver.check(words.term(Equals(Symbol("ge_x", BVType(5)), BV(19, 5)))) == z3.sat
    assert gates.value(Symbol("ge_x", BVType(5)), solver.model()) == 19
    assert words.value(Symbol("ge_x", BVType(5)), solver.model()) == 19
