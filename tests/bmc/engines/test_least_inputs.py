"""Inputs that the solver gives one after the other, against all 65,536 values of two bytes."""

from __future__ import annotations

import random

import numpy as np
from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, BVMul, BVZExt, Ite, Not, Or

from bmc.engines.sat import LeastInputs
from bmc.evaluation.vectors import Program
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation, ValueType

BYTE, MODE = ValueType("byte", 8), ValueType("mode", 2)
x, y, mode = BYTE.symbol("li_x"), BYTE.symbol("li_y"), MODE.symbol("li_mode")


def condition(rng: random.Random, depth: int = 1) -> FNode:
    """A weighted sum of both bytes that wraps, or one of 9 bits that does not, compared with a constant; or several."""
    if depth and rng.random() < 0.5:
        left, right = condition(rng, 0), condition(rng, 0)
        return rng.choice([And(left, right), Or(left, Not(right)), Ite(mode.Equals(BV(1, 2)), left, right)])
    if rng.random() < 0.3:
        return (BVZExt(x, 1) + BVZExt(y, 1)).BVULT(BV(rng.randrange(512), 9))
    total = BVMul(BV(rng.randrange(8), 8), x) + BVMul(BV(rng.randrange(256), 8), y)
    bound = BV(rng.randrange(256), 8)
    return rng.choice([total.Equals(bound), total.BVULT(bound), bound.BVSLT(total)])


def drawn(seed: int) -> tuple[TransitionSystem, list[FNode]]:
    """A system of four states, and what is to be told apart in a step."""
    rng = random.Random(seed)
    following = mode
    for number in range(4):
        following = Ite(condition(rng), BV(number, 2), following)
    system = TransitionSystem(
        "sums",
        (StateVariable("li_mode", MODE, BV(0, 2), following),),
        (InputVariable("li_x", BYTE), InputVariable("li_y", BYTE)),
        input_constraint=condition(rng),
    )
    return system, [following, *(condition(rng) for _ in range(rng.randrange(3)))]


@seeds(10)
def test_they_are_the_first_ones_of_each_outcome(seed: int) -> None:
    system, terms = drawn(seed)
    solver = LeastInputs(system, terms)
    program = Program([system.input_constraint, *terms])
    first, second = np.divmod(np.arange(1 << 16), 256)
    pairs = {"li_x": first.astype(np.uint8), "li_y": second.astype(np.uint8)}
    for number in range(4):
        columns = program({**pairs, "li_mode": np.array([number], np.uint8)})
        allowed, *outcome = (np.broadcast_to(values, first.shape).astype(np.int64) for values in columns)
        places = np.flatnonzero(allowed)
        together = sum(values << 4 * place for place, values in enumerate(outcome))
        _, least = np.unique(together[places], return_index=True)
        expected: list[Valuation] = [
            {"li_x": int(first[place]), "li_y": int(second[place])} for place in places[np.sort(least)]
        ]
        found = [step for step in solver.of({"li_mode": number}) if not isinstance(step, int)]
        assert sorted(found, key=lambda row: tuple(row.values())) == expected
