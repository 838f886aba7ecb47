"""A timer that counts while its input is on."""

from __future__ import annotations

from pysmt.shortcuts import TRUE, Ite

from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType

FLAG, TIME = ValueType("flag", 1), ValueType("time", 7)


def timer() -> TransitionSystem:
    """Counts the steps in a row in which the input is on."""
    on, count = FLAG.symbol("timer_on"), TIME.symbol("timer_count")
    counted = Ite(count.BVULT(TIME.constant(100)), count + TIME.constant(1), count)
    state = StateVariable(
        "timer_count", TIME, TIME.constant(0), Ite(on.Equals(FLAG.constant(1)), counted, TIME.constant(0))
    )
    return TransitionSystem("timer", (state,), (InputVariable("timer_on", FLAG, ((0, 1),)),), TRUE())
