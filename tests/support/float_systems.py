"""A system that integrates a floating input, and which values it reaches."""

from __future__ import annotations

from itertools import product

from pysmt.shortcuts import (
    BV,
    Or,
)

from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, pattern
from bmc.formulas.terms import choose, constant
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType

FLOAT, DOUBLE = ValueType("float", 32, floating=True), ValueType("double", 64, floating=True)


VALUES = tuple(sorted(pattern(value, FLOAT32) for value in (-1.5, 0.25, 2.0)))


STEPS = 4


def known(value: float, form=FLOAT32):
    return constant(pattern(value, form), form.bits)


def integrator() -> TransitionSystem:
    """x += u, kept between -2 and 5; the input's sign must not be that of x beyond 4."""
    x, u = FLOAT.symbol("gs_x"), FLOAT.symbol("gs_u")
    total = arithmetic.add(x, u, FLOAT32)
    low, high = known(-2.0), known(5.0)
    total = choose(compare.less(total, low, FLOAT32), low, total)
    total = choose(compare.less(high, total, FLOAT32), high, total)
    allowed = Or([u.Equals(BV(value, 32)) for value in VALUES])
    calm = Or(compare.less(x, known(4.0), FLOAT32), compare.less(u, known(0.0), FLOAT32))
    return TransitionSystem(
        "integrator",
        (StateVariable("gs_x", FLOAT, BV(0, 32), total),),
        (InputVariable("gs_u", FLOAT, tuple((value, value) for value in VALUES)),),
        input_constraint=allowed,
        defined=calm,
    )


def reached(system: TransitionSystem) -> list[set[int]]:
    """The values of x after each number of steps, by trying all inputs."""
    simulator = Simulator(system)
    levels = [{0}]
    for _ in range(STEPS):
        after = set()
        for x, u in product(levels[-1], VALUES):
            if simulator.allowed({"gs_x": x}, {"gs_u": u}):
                after.add(simulator.step({"gs_x": x}, {"gs_u": u})["gs_x"])
        levels.append(after)
    return levels


QUESTIONS = [
    *(lambda x, v=v: compare.equal(x, known(v), FLOAT32) for v in (0.25, 0.5, 4.5, 5.0, -1.5, -2.0, 3.0)),
    lambda x: compare.less(known(4.5), x, FLOAT32),
    lambda x: compare.less(x, known(-2.0), FLOAT32),
    lambda x: compare.is_nan(x, FLOAT32),
]
