"""What sessions promise: horizons, invariants, cores, widening, limits, complete runs."""

from __future__ import annotations

import os
import signal
import threading

import pytest
import z3
from cruise import DIS, INIT, INPUTS, OFF, ON, at_speed, cruise, enable, speed
from pysmt.shortcuts import (
    BV,
    BVUGT,
    BVULT,
    FALSE,
    TRUE,
    And,
    BVMul,
    BVSDiv,
    BVSRem,
    BVUDiv,
    BVURem,
    Equals,
    Not,
    Or,
    Symbol,
)
from pysmt.typing import BVType

from bmc.engines import choose
from bmc.engines.protocol import Status
from bmc.engines.z3 import Gates, Words, Z3Engine
from bmc.errors import UsageError
from bmc.formulas.unroll import at, framed
from bmc.invariants.induction import Prover, prove
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, Condition, InputVariable, StateVariable, TransitionSystem, ValueType

BYTE = ValueType("uint8", 8)
count, other = BYTE.symbol("ze_count"), BYTE.symbol("ze_other")
go = BOOLEAN.symbol("ze_go")


def counter(**changes) -> TransitionSystem:
    """Counts up while ``go``; the step is only defined below 3."""
    system = TransitionSystem(
        "counter",
        (
            StateVariable("ze_count", BYTE, BV(0, 8), count + 1),
            StateVariable("ze_other", BYTE, BV(9, 8), other - 1),
        ),
        (InputVariable("ze_go", BOOLEAN),),
        input_constraint=go,
        defined=BVULT(count, BV(3, 8)),
    )
    return TransitionSystem(**{**{f: getattr(system, f) for f in system.__dataclass_fields__}, **changes})


def session(system: TransitionSystem, source=None, goals=()):
    return Z3Engine().session(system, at(system.init_formula, 0) if source is None else source, goals)


def test_steps_beyond_the_horizon_do_not_restrict() -> None:
    s = session(counter())
    assert s.check([], 3).status is Status.SAT
    assert s.check([], 4).status is Status.UNSAT
    assert s.check([at(count, 3).Equals(BV(3, 8))], 3).status is Status.SAT
    assert s.run().states[3]["ze_count"] == 3


def test_the_run_has_all_variables_even_outside_the_cone() -> None:
    s = session(counter(), source=at(count, 0).Equals(BV(1, 8)))
    assert s.check([], 2).status is Status.SAT
    run = s.run()
    assert run.states == (
        {"ze_count": 1, "ze_other": 9},
        {"ze_count": 2, "ze_other": 8},
        {"ze_count": 3, "ze_other": 7},
    )
    assert run.inputs == ({"ze_go": 1}, {"ze_go": 1})


def test_formulas_that_leave_the_cone_extend_the_encoding() -> None:
    s = session(counter())
    assert s.check([], 3).status is Status.SAT
    assert s.check([at(other, 2).Equals(BV(6, 8))], 3).status is Status.UNSAT
    assert s.check([at(other, 3).Equals(BV(6, 8))], 3).status is Status.SAT
    assert s.run().states[3]["ze_other"] == 6


def test_cores_name_the_guilty_formulas() -> None:
    s = session(cruise())
    guilty = [at(ON, 0), at(enable, 1)]
    harmless = [framed(INPUTS[0], 1), at(at_speed(0), 1)]
    answer = s.check([harmless[0], guilty[0], harmless[1]], 2)
    assert answer.status is Status.UNSAT
    assert answer.core == (guilty[0],)
    assert s.check(harmless, 2).status is Status.SAT
    button = framed(INPUTS[4], 0)
    answer = s.check([Not(button), harmless[0], guilty[1]], 2)
    assert set(answer.core) == {Not(button), guilty[1]}


def test_disjunctions_are_asked_as_a_whole() -> None:
    s = session(cruise())
    parts = [at(ON, 1), at(at_speed(2), 1), at(enable, 1)]
    assert s.check([Or(parts)], 1).status is Status.SAT
    assert s.run().states[1]["cc_enable"] == 1
    assert s.check([Or(parts[:2])], 1).status is Status.UNSAT
    assert s.check([Or(parts)], 1).status is Status.SAT


def test_a_source_may_span_several_steps() -> None:
    source = And(at(INIT, 0), framed(INPUTS[0], 0), framed(INPUTS[0], 1))
    s = session(cruise(), source)
    assert s.check([], 0).status is Status.SAT
    assert s.run().length == 2
    assert s.run().states[2]["cc_speed"] == 2


def test_only_proved_invariants_strengthen() -> None:
    low = Condition("low", BVULT(count, BV(2, 8)))
    proved = Condition("low", low.formula, proved=True)
    high = at(count, 0).Equals(BV(2, 8))
    assert session(counter(invariants=(low,)), source=high).check([], 0).status is Status.SAT
    assert session(counter(invariants=(proved,)), source=high).check([], 0).status is Status.UNSAT
    assert session(counter(invariants=(proved,)), source=TRUE()).check([], 2).status is Status.UNSAT


def test_inductive_invariants_are_proved_together() -> None:
    system = cruise()
    enabled = Condition("ON only when enabled", ON.Implies(enable))
    helpers = [
        Condition("DIS only when enabled", DIS.Implies(enable)),
        Condition("OFF at speed 1 only when not enabled", And(OFF, at_speed(1)).Implies(Not(enable))),
    ]
    wrong = [Condition("speed below 2", BVULT(speed, BV(2, 2))), Condition("never", FALSE())]
    assert not prove(system, [enabled], Prover(Z3Engine()))[0].proved
    done = prove(system, [wrong[0], enabled, *helpers, wrong[1]], Prover(Z3Engine()))
    assert [c.proved for c in done] == [False, True, True, True, False]
    assert [c.name for c in done] == [wrong[0].name, enabled.name, *(h.name for h in helpers), wrong[1].name]
    given = [Condition(h.name, h.formula, proved=True) for h in helpers]
    assert all(c.proved for c in prove(system, [enabled, *given], Prover(Z3Engine())))


def test_a_query_beyond_its_steps_is_an_error_and_a_failed_query_has_no_run() -> None:
    s = session(cruise())
    with pytest.raises(ValueError, match="2 steps in a query over 1"):
        s.check([framed(INPUTS[0], 1)], 1)
    assert s.check([at(ON, 0)], 0).status is Status.UNSAT
    with pytest.raises(RuntimeError):
        s.run()


def hard_session():
    """A session with a query that z3 does not answer in seconds: factors of the prime 2^61 - 1."""
    number = ValueType("uint64", 64)
    x, y = number.symbol("ze_x"), number.symbol("ze_y")
    system = TransitionSystem(
        "factors", (StateVariable("ze_x", number, None, x), StateVariable("ze_y", number, None, y)), ()
    )
    parts = [And(BVUGT(v, BV(1, 64)), BVULT(v, BV(1 << 32, 64))) for v in (x, y)]
    return session(system), at(And(*parts, Equals(BVMul(x, y), BV((1 << 61) - 1, 64))), 0)


def test_unknown_is_kept_apart_and_leaves_the_session_usable() -> None:
    s, hard = hard_session()
    assert s.check([hard], 0, time_limit=0.1).status is Status.UNKNOWN
    assert s.check([hard], 0, time_limit=0).status is Status.UNKNOWN
    assert s.check([], 0).status is Status.SAT


def test_an_interrupt_inside_z3_reaches_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is sent a little after the last that Python does before z3 begins."""
    s, hard = hard_session()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    limit = s._limit
    monkeypatch.setattr(s, "_limit", lambda *given: (limit(*given), timer.start()))
    with pytest.raises(KeyboardInterrupt):
        s.check([hard], 0, time_limit=20)
    timer.join()


def test_runs_are_those_of_the_simulator() -> None:
    s = session(cruise())
    assert s.check([at(And(ON, at_speed(1)), 4)], 4).status is Status.SAT
    run = s.run()
    assert run == Simulator(cruise()).run(run.states[0], run.inputs)


def test_unknown_engines_are_refused() -> None:
    assert choose("z3").name == "z3"
    with pytest.raises(UsageError, match="no engine is called 'z4'"):
        choose("z4")


@pytest.mark.parametrize("operation", [BVSDiv, BVSRem, BVUDiv, BVURem])
def test_divisions_become_gates(operation) -> None:
    """z3's rewriting into gates takes no division as it stands; a divisor of 0 is defined by SMT-LIB."""
    left, right, result = (Symbol(f"ze_{name}", BVType(3)) for name in ("left", "right", "result"))
    context = z3.Context()
    gates, words = Gates(context), Words(context)
    formula = operation(left, right).Equals(result)
    pairs = [
        (bit, z3.Extract(index, index, words.term(symbol)) == 1)
        for symbol in (left, right, result)
        for index, bit in enumerate(gates.parts(symbol))
    ]
    solver = z3.Solver(ctx=context)
    solver.add(z3.substitute(gates.term(formula), *pairs) != words.term(formula))
    assert solver.check() == z3.unsat
