"""Inputs that the input constraint ties to the state, against the steps that it allows."""

from __future__ import annotations

import random
from itertools import islice

from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, Ite, Not, Or
from random_systems import random_case

from bmc.formulas.evaluate import compile_formulas
from bmc.native.differential import Sampler
from bmc.system.constraints import Dwell, constrained
from bmc.system.ties import PHASE, at_known_steps, hold, tie_of, tied_values, ties
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType

KIND = ValueType("three_bits", 3)
a, b = KIND.symbol("ti_a"), BOOLEAN.symbol("ti_b")
s, t = KIND.symbol("ti_s"), BOOLEAN.symbol("ti_t")
INPUTS = {a, b}


def system(constraint: FNode | None = None) -> TransitionSystem:
    state = (StateVariable("ti_s", KIND, BV(0, 3), a), StateVariable("ti_t", BOOLEAN, FALSE(), Not(t)))
    return TransitionSystem(
        "tied", state, (InputVariable("ti_a", KIND), InputVariable("ti_b", BOOLEAN)), constraint or TRUE()
    )


def test_what_is_a_tie() -> None:
    found = tie_of(Or(t, a.Equals(s)), INPUTS)
    assert found is not None
    assert (found.free, found.name, found.value) == (t, "ti_a", s)
    always = tie_of(s.Equals(a), INPUTS)
    assert always is not None
    assert (always.free, always.value) == (FALSE(), s)
    either = tie_of(Or(t, s.Equals(BV(3, 3)), b.Iff(t)), INPUTS)
    assert either is not None
    assert (either.name, either.value) == ("ti_b", t)


def test_what_is_no_tie() -> None:
    """The condition, or the value, reads an input; the value is a constant; or it need not be equal."""
    for part in (
        Or(b, a.Equals(s)),
        Or(t, a.Equals(Ite(b, s, BV(0, 3)))),
        Or(t, a.Equals(BV(3, 3))),
        Or(t, Not(a.Equals(s))),
        Or(t, And(a.Equals(s), b)),
        Or(t, s.Equals(BV(1, 3))),
        a.BVULE(s),
    ):
        assert tie_of(part, INPUTS) is None


@seeds(30)
def test_no_step_is_allowed_with_other_values_than_those_tied(seed: int) -> None:
    """Of drawn systems with held inputs or a dwell time, and of any inputs and any states."""
    case = random_case(seed)
    name = case.system.inputs[0].name
    tied = hold(case.system, 2 + seed % 3) if seed % 2 else constrained(case.system, [Dwell(name, 3)])
    assert {tie.name for tie in ties(tied)} == ({var.name for var in case.system.inputs} if seed % 2 else {name})
    found, allowed = tied_values(ties(tied)), compile_formulas([tied.input_constraint])
    sampler, choose, met = Sampler(tied, seed), random.Random(seed), list[bool]()
    for _ in range(300):
        state, inputs = sampler.any_pair()
        values = found(state)
        inputs = {**inputs, **(values if choose.random() < 0.5 else {})}
        if allowed({**state, **inputs})[0]:
            met.append(bool(values))
            assert inputs == {**inputs, **values}
    assert any(met) or not met


@seeds(6)
def test_a_held_run_is_drawn_at_the_first_attempt(seed: int) -> None:
    held = hold(random_case(seed).system, 3)
    found = tied_values(ties(held))
    for inputs in islice(Sampler(held, seed).runs(30), 3):
        run = Sampler(held, seed).simulator.run(Sampler(held, seed).simulator.initial(), inputs)
        assert all(bool(found(state)) == bool(state[PHASE]) for state in run.states[:-1])
        assert all({**own, **found(state)} == own for state, own in zip(run.states, run.inputs, strict=False))


def test_at_which_steps_an_input_is_tied_is_known_unless_inputs_decide() -> None:
    assert all(at_known_steps(hold(system(), 4), tie) for tie in ties(hold(system(), 4)))
    for free, known in ((t, True), (FALSE(), True), (s.Equals(BV(1, 3)), False)):
        (tie,) = ties(system(Or(free, b.Iff(t))))
        assert at_known_steps(system(), tie) == known
    (dwell,) = ties(constrained(system(), [Dwell("ti_b", 3)]))
    assert not at_known_steps(constrained(system(), [Dwell("ti_b", 3)]), dwell)
