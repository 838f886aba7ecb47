"""States in a normal form: a run and the run of the normal forms look alike, and what can be told apart stays apart."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Equals, Ite, Not, Or

from bmc.engines import choose
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, framed
from bmc.invariants import normal_form as module
from bmc.invariants.induction import Prover
from bmc.invariants.normal_form import in_normal_form, normal_form
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType

CLOCK, MODE = ValueType("clock", 32), ValueType("mode", 2)
now, since, mode, press = (
    kind.symbol(f"nf_{name}")
    for kind, name in zip((CLOCK, CLOCK, MODE, BOOLEAN), ("now", "since", "mode", "press"), strict=True)
)
OFF, ON, LATE = (BV(value, 2) for value in range(3))
AGE = 40


def light(reads_always: bool = False) -> TransitionSystem:
    """Pressed, it is on for ``AGE`` steps, and then late until it is pressed; off, nobody asks how long it has been."""
    after = now + BV(1, 32)
    over = (after - since).BVUGE(BV(AGE, 32))
    goes_on = Ite(And(Equals(mode, ON), over), LATE, mode)
    if reads_always:
        goes_on = Ite(over, LATE, mode)
    return TransitionSystem(
        "light",
        (
            StateVariable("nf_now", CLOCK, BV(0, 32), after),
            StateVariable("nf_since", CLOCK, BV(0, 32), Ite(press, after, since)),
            StateVariable("nf_mode", MODE, OFF, Ite(press, Ite(Equals(mode, LATE), OFF, ON), goes_on)),
        ),
        (InputVariable("nf_press", BOOLEAN),),
    )


OLD = at(And(Equals(mode, ON), Equals(now - since, BV(AGE - 1, 32)), Not(press)), 0)
LATER = And(at(Equals(mode, ON), 0), at(Equals(mode, LATE), 1))


def form_of(system: TransitionSystem, *seen: FNode) -> dict[str, FNode]:
    return dict(normal_form(system, seen, Prover(choose("sat"))).terms)


def reached(system: TransitionSystem) -> int:
    """The number of reachable states; 10,000 if there are more."""
    simulator = Simulator(system)
    start = tuple(simulator.initial().values())
    names, met, todo = [var.name for var in system.state], {start}, [start]
    while todo and len(met) < 10_000:
        state = dict(zip(names, todo.pop(), strict=True))
        for pressed in (0, 1):
            after = tuple(simulator.step(state, {"nf_press": pressed}).values())
            if after not in met:
                met.add(after)
                todo.append(after)
    return len(met)


def test_times_are_told_from_their_clock_and_only_where_they_are_read() -> None:
    system = light()
    form = form_of(system, OLD, LATER)
    assert form.keys() == {"nf_now", "nf_since"}
    assert reached(system) > 9_000
    assert reached(in_normal_form(system, form)) <= 2 * AGE


def test_a_run_in_normal_form_looks_as_the_run_does() -> None:
    system, random = light(), Random(1)
    form = form_of(system, OLD, LATER)
    small = in_normal_form(system, form)
    inputs = [{"nf_press": int(random.random() < 0.03)} for _ in range(2000)]
    one, other = (Simulator(each).run(Simulator(each).initial(), inputs) for each in (system, small))
    normal = compile_formulas([form.get(var.name, var.symbol) for var in system.state])
    look = compile_formulas([OLD, LATER])
    names = [var.name for var in system.state]
    seen = []
    for step in range(len(inputs) - 1):
        assert dict(zip(names, normal(one.states[step]), strict=True)) == dict(other.states[step])
        pair = []
        for run in (one, other):
            values = {f"{name}@{k}": v for k in (0, 1) for name, v in run.states[step + k].items()}
            pair.append(look({**values, "nf_press@0": inputs[step]["nf_press"]}))
        assert pair[0] == pair[1]
        seen.append(pair[0])
    assert any(any(values) for values in seen)


@pytest.mark.parametrize(
    "seen",
    [
        [at(Equals(now, BV(77, 32)), 0)],
        [OLD, Or(at(Equals(since, BV(3, 32)), 0), framed(press, 1))],
        [OLD, And(framed(press, 0), at(Equals(since, BV(3, 32)), 1))],
    ],
)
def test_a_clock_that_is_read_itself_has_no_normal_form(seen: list[FNode]) -> None:
    assert form_of(light(), *seen) == {}


def test_a_time_is_kept_in_every_mode_in_which_it_is_read() -> None:
    form = form_of(light(reads_always=True), OLD)
    value = compile_formulas([form["nf_since"]])
    kept = [mode for mode in range(4) if value({"nf_now": 9, "nf_since": 5, "nf_mode": mode})[0]]
    assert {0, 1} <= {*kept}  # late it stays, whatever the time


def test_nothing_is_said_where_the_solver_gives_up() -> None:
    assert not normal_form(light(), [OLD], Prover(choose("sat"), effort=0.0)).terms


def test_how_large_a_step_may_be_depends_on_the_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """No size is too large by itself: times are told from their clock, but only a larger effort tells where they are
    read."""
    monkeypatch.setattr(module, "NODES", 8)
    system = light()
    little, more, all_of_it = (
        normal_form(system, [OLD, LATER], Prover(choose("sat"), effort=effort)).terms for effort in (1.0, 100.0, None)
    )
    assert reached(in_normal_form(system, little)) > 9_000
    assert more == all_of_it
    assert reached(in_normal_form(system, more)) <= 2 * AGE


def test_a_state_without_a_next_one_is_told_from_its_normal_form_too() -> None:
    """A run may end where no step is allowed: what is read there is seen."""
    system = light()
    dead = replace(system, defined=Not(Equals(mode, LATE)))
    ended = at(And(Equals(mode, LATE), Equals(since, BV(7, 32))), 0)
    form = form_of(dead, ended)
    value = compile_formulas([form.get("nf_since", since)])
    assert value({"nf_now": 50, "nf_since": 7, "nf_mode": 2}) == (7,)


def test_no_runs_are_made_where_no_variable_can_take_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*given: object) -> None:
        raise AssertionError("runs of a system that has few values")

    monkeypatch.setattr(module, "Batch", none)
    wide = ValueType("wide", 32)
    few = wide.symbol("nf_few")
    following = Ite(press, BV(0, 32), Ite(few.BVULT(BV(3, 32)), few + BV(1, 32), BV(3, 32)))
    state = StateVariable("nf_few", wide, BV(0, 32), following)
    system = TransitionSystem("few", (state,), (InputVariable("nf_press", BOOLEAN),))
    assert form_of(system, at(Equals(few, BV(3, 32)), 0)) == {}
