"""The paper's cruise controller by hand: Fig. 2's state machine, exactly one of five inputs in every step."""

from __future__ import annotations

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, ExactlyOne, Iff, Ite, Not, Or

from bmc.formulas.unroll import at
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from properties.goal import Goal

MODE = ValueType("t_mode", 2, labels=(("OFF", 0), ("ON", 1), ("DIS", 2)))
SPEED = ValueType("speed", 2)

mode, speed, enable = MODE.symbol("cc_mode"), SPEED.symbol("cc_speed"), BOOLEAN.symbol("cc_enable")
gas, brake, acc, dec, button = INPUTS = tuple(
    BOOLEAN.symbol(f"cc_{name}") for name in ("gas", "brake", "acc", "dec", "button")
)
OFF, ON, DIS = (mode.Equals(BV(value, 2)) for value in range(3))


def at_speed(value: int) -> FNode:
    return speed.Equals(BV(value, 2))


INIT = And(OFF, at_speed(0), Not(enable))


def _next_mode(fixed: bool) -> FNode:
    """Fig. 1's switch; ``fixed``: as in Fig. 2, the button leaves ON and DIS to OFF."""
    away = And(button, TRUE() if fixed else FALSE())
    from_on = Ite(away, BV(0, 2), Ite(Or(gas, brake), BV(2, 2), mode))
    resumes = Or(And(at_speed(2), Or(dec, brake)), And(at_speed(0), Or(acc, gas)))
    from_dis = Ite(away, BV(0, 2), Ite(resumes, BV(1, 2), mode))
    starts = Or(
        And(at_speed(0), enable, Or(gas, acc)),
        And(at_speed(1), button),
        And(at_speed(2), enable, Or(brake, dec)),
    )
    from_off = Ite(starts, BV(1, 2), mode)
    return Ite(ON, from_on, Ite(DIS, from_dis, Ite(OFF, from_off, mode)))


def _next_speed() -> FNode:
    up = Ite(And(Or(gas, And(Not(ON), acc)), speed < 2), speed + 1, speed)
    return Ite(And(Or(brake, And(Not(ON), dec)), up > 0), up - 1, up)


def cruise(fixed: bool = True) -> TransitionSystem:
    """The controller; with ``fixed`` false, the one of Fig. 1 as printed."""
    return TransitionSystem(
        name="cruise",
        state=(
            StateVariable("cc_mode", MODE, BV(0, 2), _next_mode(fixed)),
            StateVariable("cc_speed", SPEED, BV(0, 2), _next_speed()),
            StateVariable("cc_enable", BOOLEAN, FALSE(), Iff(enable, Not(button))),
        ),
        inputs=tuple(InputVariable(symbol.symbol_name(), BOOLEAN) for symbol in INPUTS),
        input_constraint=ExactlyOne(INPUTS),
    )


def prop(name: str, antecedent: FNode, consequent: FNode | None = None) -> Goal:
    """A one-step property: ``consequent`` is judged after the step."""
    return Goal(name, at(antecedent, 0), None if consequent is None else at(consequent, 1), 1)


PROPERTIES = (
    prop("p1", And(ON, at_speed(1), dec), at_speed(1)),
    prop("p2", And(DIS, at_speed(2), dec), ON),
    prop("p3", And(ON, brake), DIS),
    prop("p4", And(OFF, at_speed(2), Not(enable), button), enable),
)


def _change(name: str, before: tuple[int, int, bool], after: tuple[int, int, bool]) -> Goal:
    return Goal(name, And(at(_is(before), 0), at(_is(after), 1)), None, 1)


def _is(state: tuple[int, int, bool]) -> FNode:
    return And(mode.Equals(BV(state[0], 2)), at_speed(state[1]), enable if state[2] else Not(enable))


def transitions(changes: list[tuple[tuple[int, int, bool], tuple[int, int, bool]]]) -> list[Goal]:
    """One goal per pair of state and next state."""
    return [_change(f"t{number:02}", *change) for number, change in enumerate(changes, 1)]
