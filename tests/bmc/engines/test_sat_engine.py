"""Engine sat against z3 and against its own promises: answers, runs, cores, shared solvers, limits."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import pytest
from cruise import ON, cruise
from engine_cases import cases, holds_on
from float_systems import QUESTIONS, STEPS, integrator, known, reached
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVUGT, BVULT, TRUE, And, BVAdd, BVMul, BVUDiv, Equals, Not, Or, Symbol
from pysmt.typing import BOOL

from bmc import footprint
from bmc.engines import choose
from bmc.engines.protocol import Session, Status
from bmc.engines.sat import SatEngine
from bmc.engines.sat_encoding import solver
from bmc.engines.sat_encoding.step import NONE, SEVERAL, FramedParts
from bmc.engines.z3 import Z3Engine
from bmc.errors import MemoryLimitReached
from bmc.floats import compare
from bmc.floats.format import FLOAT32
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, framed, shift
from bmc.system.transition import Condition, InputVariable, StateVariable, TransitionSystem, ValueType, conjunction
from properties.goal import Goal

BYTE = ValueType("uint8", 8)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(7))
def test_answers_are_those_of_z3(number: int) -> None:
    """All sources, targets and distances of random systems; runs are replayed, cores are impossible for z3 too."""
    system, goals, final = cases()[number]
    rng = random.Random(number)
    ends = [] if final is None else [Goal("end", at(final, 0), None, 0)]
    targets = [*goals, *ends]
    asked = [target.antecedent for target in targets]
    ours, theirs = SatEngine(), Z3Engine()
    for source in [Goal("init", at(system.init_formula, 0), None, 0), *goals]:
        given = asked if rng.random() < 0.7 else []
        session, reference = (e.session(system, source.antecedent, given) for e in (ours, theirs))
        for _ in range(12):
            chosen = [(target, rng.randint(0, 4)) for target in rng.choices(targets, k=rng.randint(1, 3))]
            steps = max([source.length, *(d + target.length for target, d in chosen)]) + rng.randint(0, 1)
            formulas = [shift(target.antecedent, d) for target, d in chosen]
            formulas = [Or(formulas)] if rng.random() < 0.3 else formulas
            answer = session.check(formulas, steps)
            assert answer.status is reference.check(formulas, steps).status
            if answer.status is Status.SAT:
                assert holds_on(session, system, [source.antecedent, *formulas])
            else:
                assert set(answer.core) <= set(formulas)
                assert reference.check(answer.core, steps).status is Status.UNSAT
            alternatives = [(shift(target.antecedent, d), d + target.length) for target, d in chosen]
            assert session.check_any(alternatives).status is reference.check_any(alternatives).status


@pytest.mark.parametrize("constraint", ["inputs", "state"])
def test_longer_questions_do_not_restrict_shorter_ones(constraint: str) -> None:
    """Where only inputs are restricted, every state has a valid step; else runs may end where there is none."""
    kind = ValueType("uint8", 3)
    x, u = kind.symbol("sl_x"), kind.symbol("sl_u")
    allowed = {"inputs": BVULT(u, BV(3, 3)), "state": And(BVULT(u, BV(3, 3)), BVULT(x, BV(5, 3)))}[constraint]
    system = TransitionSystem(
        "ends",
        (StateVariable("sl_x", kind, BV(0, 3), BVAdd(x, u)),),
        (InputVariable("sl_u", kind, ((0, 2),)),),
        input_constraint=allowed,
    )
    session = SatEngine().session(system, at(system.init_formula, 0))
    levels = [{0}]
    for _ in range(6):
        here = [value for value in levels[-1] if constraint == "inputs" or value < 5]
        levels.append({(value + by) % 8 for value in here for by in range(3)})
    for steps in (6, 0, 1, 2, 3, 4, 5, 6):
        for value in range(8):
            status = session.check([at(Equals(x, BV(value, 3)), steps)], steps).status
            assert status is (Status.SAT if value in levels[steps] else Status.UNSAT), (steps, value)


def test_float_questions_are_answered_by_the_solver_alone() -> None:
    system = integrator()
    levels = reached(system)
    x = system.state[0].symbol
    session = SatEngine(trials=False).session(system, at(system.init_formula, 0))
    for steps in range(STEPS + 1):
        for question in QUESTIONS:
            formula = question(x)
            holds = any(compile_formulas([formula])({"gs_x": value})[0] for value in levels[steps])
            answer = session.check([at(formula, steps)], steps)
            assert answer.status is (Status.SAT if holds else Status.UNSAT), (steps, formula)
            if holds:
                assert holds_on(session, system, [at(formula, steps)])
    low, high = at(compare.less(x, known(0.0), FLOAT32), 2), at(compare.less(known(0.5), x, FLOAT32), 3)
    assert session.check([low, high], 3).status is Status.SAT
    assert holds_on(session, system, [low, high])


def test_floats_are_tried_first_and_that_can_be_switched_off() -> None:
    assert SatEngine().tries(integrator())
    assert not SatEngine(trials=False).tries(integrator())


def test_sessions_that_share_a_solver_do_not_restrict_each_other() -> None:
    engine, system = SatEngine(), cruise()
    goals = [at(ON, 0)]
    start = engine.session(system, at(system.init_formula, 0), goals)
    on = engine.session(system, at(ON, 0), goals)
    never = engine.session(system, And(at(ON, 0), Not(at(ON, 0))), goals)
    assert start.check([at(ON, 0)], 0).status is Status.UNSAT
    assert on.check([at(ON, 0)], 0).status is Status.SAT
    assert never.check([], 3).status is Status.UNSAT
    assert never.check([], 3).core == ()
    run = on.run()
    assert start.check([at(ON, 4)], 4).status is Status.SAT
    assert on.run() == run
    assert holds_on(start, system, [at(system.init_formula, 0), at(ON, 4)])


def test_the_same_questions_give_the_same_runs() -> None:
    system = cruise()

    def runs() -> list[object]:
        session = SatEngine().session(system, at(system.init_formula, 0))
        found = []
        for steps in range(2, 7):
            if session.check([at(ON, steps)], steps).status is Status.SAT:
                found.append(session.run())
        return found

    assert runs() == runs()
    assert runs()


def counter() -> TransitionSystem:
    """Two counters; the second adds the first, and is not needed for it."""
    one, two = BYTE.symbol("se_one"), BYTE.symbol("se_two")
    more = ValueType("bit", 1).symbol("se_more")
    return TransitionSystem(
        "counters",
        (
            StateVariable("se_one", BYTE, BV(0, 8), one + BV(1, 8)),
            StateVariable("se_two", BYTE, BV(0, 8), two + one),
        ),
        (InputVariable("se_more", ValueType("bit", 1)),),
        defined=more.Equals(BV(1, 1)),
        invariants=(Condition("low", BVULT(one, BV(6, 8)), proved=True),),
    )


def test_variables_that_are_asked_for_late_are_encoded_at_all_steps() -> None:
    system = counter()
    one, two = (var.symbol for var in system.state)
    session = SatEngine().session(system, at(one.Equals(BV(0, 8)), 0))
    assert session.check([at(one.Equals(BV(4, 8)), 4)], 4).status is Status.SAT
    late = [at(two.Equals(BV(7, 8)), 0), at(two.Equals(BV(13, 8)), 4)]
    assert session.check(late, 4).status is Status.SAT
    assert holds_on(session, system, late)
    assert session.check([late[0], at(two.Equals(BV(12, 8)), 4)], 4).status is Status.UNSAT
    assert session.check([], 5).status is Status.SAT
    assert session.check([], 6).status is Status.UNSAT  # the invariant is taken as proved


def test_formulas_over_several_steps_and_free_symbols() -> None:
    system = counter()
    two = system.state[1].symbol
    session = SatEngine().session(system, TRUE())
    grown = Equals(framed(two, 3), framed(two, 1) + BV(3, 8))
    free = Symbol("se_free@0", BOOL)
    assert session.check([grown, free], 3).status is Status.SAT
    assert holds_on(session, system, [grown])
    assert session.check([free, Not(free)], 0).core == (free, Not(free))
    assert session.check([grown, at(system.state[0].symbol.Equals(BV(2, 8)), 1)], 3).status is Status.UNSAT


def factors(x: FNode, y: FNode, number: int) -> FNode:
    parts = [And(BVUGT(v, BV(1, 64)), BVULT(v, BV(1 << 32, 64))) for v in (x, y)]
    return at(And(*parts, Equals(BVMul(x, y), BV(number, 64))), 0)


def hard_session(memory: int | None = None) -> tuple[Session, FNode]:
    """A session with a query that takes long: factors of the prime 2^61 - 1."""
    wide = ValueType("uint64", 64)
    x, y = wide.symbol("sh_x"), wide.symbol("sh_y")
    state = (StateVariable("sh_x", wide, None, x), StateVariable("sh_y", wide, None, y))
    system = TransitionSystem("factors", state, ())
    return SatEngine(memory).session(system, conjunction([])), factors(x, y, (1 << 61) - 1)


def test_limits_give_unknown_and_leave_the_session_usable() -> None:
    session, hard = hard_session()
    assert session.check([hard], 0, time_limit=0.05).status is Status.UNKNOWN
    assert session.check([hard], 0, time_limit=0).status is Status.UNKNOWN
    assert session.check([hard], 0, effort=1).status is Status.UNKNOWN
    assert session.check([hard], 0, effort=0).status is Status.UNKNOWN
    assert session.check([], 0).status is Status.SAT


def test_an_interrupt_inside_the_solver_reaches_python(monkeypatch: pytest.MonkeyPatch) -> None:
    session, hard = hard_session()
    asked: list[int] = []

    def interrupt(self: solver.SatSolver) -> None:
        asked.append(1)
        if len(asked) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(solver.SatSolver, "check_memory", interrupt)
    with pytest.raises(KeyboardInterrupt):
        session.check([hard], 0, effort=1000)
    assert session.check([], 0).status is Status.SAT


def test_the_memory_limit_is_an_error_of_its_own() -> None:
    session, hard = hard_session(memory=footprint.taken() // footprint.MB + 400)
    assert session.check([], 0).status is Status.SAT
    session, hard = hard_session(memory=1)
    with pytest.raises(MemoryLimitReached, match="memory limit of 1 MB"):
        session.check([hard], 0)


def test_parts_that_speak_of_one_step_are_told_apart() -> None:
    x, y = BYTE.symbol("sm_x"), BYTE.symbol("sm_y")
    early, late = BVULT(x + y, BV(3, 8)), Equals(BVUDiv(x, y), BV(2, 8))
    mixed = Equals(framed(x, 2) + BV(1, 8), framed(x, 3))
    framed_parts = FramedParts()
    whole = And(at(early, 1), Or(at(late, 4), Not(mixed)))
    assert framed_parts.of(at(early, 7)) == (7, early)
    assert framed_parts.of(whole) == (SEVERAL, whole)
    assert framed_parts.of(TRUE()) == (NONE, TRUE())
    assert set(framed_parts.parts(whole)) == {(1, early), (4, late), (2, x + BV(1, 8)), (3, x)}


def test_the_engine_has_a_name_and_a_version() -> None:
    assert choose("sat").name == "sat"
    assert "glucose" in SatEngine().version


def test_a_solver_that_lives_until_the_end_goes_quietly() -> None:
    code = "import sys; from bmc.engines.sat_encoding.solver import SatSolver; sys.kept = [SatSolver()]"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_solver_is_freed_once_though_a_signal_comes_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the freeing and the note of it: python-sat's destructor would free it once more, and crash."""
    freed: list[str] = []

    class Native:
        """A solver as those of python-sat."""

        noted = False

        def add_clause(self, clause: list[int]) -> None:
            """Nothing is kept."""

        def delete(self) -> None:
            if not self.noted:
                freed.append("freed")
                if len(freed) == 1:
                    raise KeyboardInterrupt
                self.noted = True

        def __del__(self) -> None:
            self.delete()

    monkeypatch.setattr(sys, "unraisablehook", lambda lost: None)
    made = solver.SatSolver(library=Native)
    del made
    assert freed == ["freed"]
