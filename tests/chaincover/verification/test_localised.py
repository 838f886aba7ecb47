"""Bounds of smaller systems, proved again where all inputs together have too many combinations to be tried."""

from __future__ import annotations

import pytest
from pysmt.shortcuts import BV, FALSE, TRUE, And, Iff, Ite, Or

from bmc.formulas.unroll import at
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import Certificate, Part
from chaincover.verification.checks import Checks, Listener
from chaincover.verification.confirmation import no_original
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.localised import localised_setting
from chaincover.verification.report import HOLDS, WRONG
from chaincover.verification.setting import Setting, Statement
from chaincover.verification.states import prepared
from properties.goal import Goal

BYTE = ValueType("uint8", 8)
PLACES, TURNS = 24, 60
STEPS = PLACES * TURNS
"""A goal is so many steps away: each turn goes through all places."""


def turning() -> Setting:
    """A wheel goes on by one place in each step, and counts its turns; at each place it reads another one of some
    latches, which inputs set and reset, and begins to count anew where this is off."""
    place, turns = BYTE.symbol("tl_place"), BYTE.symbol("tl_turns")
    latches = [BOOLEAN.symbol(f"tl_latch{number}") for number in range(PLACES)]
    keys = [BOOLEAN.symbol(f"tl_key{number}") for number in range(PLACES)]
    on = Or(And(place.Equals(BV(number, 8)), latch) for number, latch in enumerate(latches))
    last = place.Equals(BV(PLACES - 1, 8))
    counted = Ite(And(last, turns.BVULT(BV(TURNS, 8))), turns + BV(1, 8), turns)
    state = (
        StateVariable("tl_place", BYTE, BV(0, 8), Ite(last, BV(0, 8), place + BV(1, 8))),
        StateVariable("tl_turns", BYTE, BV(0, 8), Ite(on, counted, BV(0, 8))),
        *(
            StateVariable(latch.symbol_name(), BOOLEAN, FALSE(), Iff(latch, key))
            for latch, key in zip(latches, keys, strict=True)
        ),
    )
    inputs = tuple(InputVariable(key.symbol_name(), BOOLEAN) for key in keys)
    goal = Goal("turned", at(turns.Equals(BV(TURNS, 8)), 0), None, 0)
    return Setting(TransitionSystem("wheel", state, inputs), (goal,), None)


@pytest.mark.parametrize(("lower", "verdict"), [(STEPS - 1, HOLDS), (STEPS, HOLDS), (STEPS + 1, WRONG)])
def test_a_bound_one_step_too_high_is_refused(lower: int, verdict: str) -> None:
    """With all latches free there are 2^48 combinations of inputs, of which two make a difference in each state."""
    setting = turning()
    proof = Certificate(setting.names, setting.end, setting.overlap, lower, exhausted=1)
    part, clock = Part(("tl_place", "tl_turns"), "true", proof), Clock(Limits())
    small = localised_setting(setting, part, TRUE(), clock)
    assert isinstance(small, Setting)
    assert prepared(small.system, small.formulas, clock).classes is None
    whole = Certificate(setting.names, setting.end, setting.overlap, lower, part=part)
    checks = Checks(Statement(setting, no_original, whole, ()), clock, Listener())
    assert checks.localised(part).verdict == verdict
