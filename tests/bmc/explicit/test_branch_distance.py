"""Branch distance: 0 exactly where a condition holds, less where a comparison or a mode is nearer to it."""

from __future__ import annotations

import numpy as np
from drawn_seeds import seeds
from pysmt.shortcuts import BV, BVULT, And, Bool, Equals, Not, Or, Symbol
from pysmt.typing import BOOL, BVType
from random_systems import random_case

from bmc.evaluation.vectors import Program
from bmc.explicit.batch import Batch
from bmc.explicit.branch_distance import FAR, BranchDistance, ModeGraph

MODE, LEVEL, GO = Symbol("bd_mode", BVType(8)), Symbol("bd_level", BVType(16)), Symbol("bd_go", BOOL)
TOLD = {"bd_mode": "bd_mode", "bd_level": "bd_level"}


@seeds(30)
def test_a_distance_is_0_exactly_where_a_condition_on_the_state_holds(seed: int) -> None:
    case = random_case(seed)
    batch, modes = Batch(case.system, seed=seed), ModeGraph()
    runs = batch.draw(batch.initial(), 16, 12)
    for name, values in runs.states.items():
        modes.distance(name, 0, values)
        modes.learn(name, values)
    states = {name: values.ravel() for name, values in runs.states.items()}
    count = 16 * 13
    every = [var.next for var in case.system.state if not var.type.bits] + [case.system.defined]
    conditions = [c for each in every for c in (each, Not(each))]
    known = [c for c in conditions if all(s.symbol_name() in states for s in c.get_free_variables())]
    told = {name: name for name in states}
    measured = BranchDistance(known, told, modes)(states, count)
    for condition, distances in zip(known, measured, strict=True):
        (holds,) = Program([condition])(states)
        assert ((distances == 0) == np.broadcast_to(holds, (count,))).all()


def measured(formula, modes: ModeGraph | None = None, **columns) -> list[float]:
    arrays = {f"bd_{name}": np.array(values) for name, values in columns.items()}
    count = len(next(iter(arrays.values())))
    (found,) = BranchDistance([formula], TOLD, modes or ModeGraph())(arrays, count)
    return found.tolist()


def test_a_comparison_is_the_nearer_the_less_its_sides_are_apart() -> None:
    level = np.array([0, 90, 99, 100, 101, 500], np.uint16)
    far, near, last, holds, *beyond = measured(Not(BVULT(LEVEL, BV(100, 16))), level=level)
    assert far > near > last > holds == 0
    assert beyond == [0, 0]
    assert measured(Equals(LEVEL, BV(100, 16)), level=level)[3] == 0
    both = measured(And(Equals(LEVEL, BV(100, 16)), Equals(LEVEL, BV(99, 16))), level=level)
    either = measured(Or(Equals(LEVEL, BV(100, 16)), Equals(LEVEL, BV(99, 16))), level=level)
    assert min(both) > 0
    assert either[2:4] == [0, 0]


def test_a_mode_is_as_far_as_the_steps_that_runs_have_shown() -> None:
    modes, shown = ModeGraph(), np.array([[0, 7], [3, 7], [9, 0]], np.uint8)
    assert modes.distance("bd_mode", 9, shown) is None, "from now on it is asked for"
    modes.learn("bd_mode", shown)
    assert measured(Equals(MODE, BV(9, 8)), modes, mode=np.array([0, 3, 9, 7, 5], np.uint8)) == [2, 1, 0, 3, FAR]


def test_a_counter_is_no_mode() -> None:
    modes, shown = ModeGraph(), np.arange(200, dtype=np.uint16)[:, None]
    assert modes.distance("bd_level", 199, shown) is None
    modes.learn("bd_level", shown)
    far, near = measured(Equals(LEVEL, BV(199, 16)), modes, level=np.array([0, 198], np.uint16))
    assert near < far < 1


def test_what_the_state_does_not_tell_counts_as_fulfilled() -> None:
    level = np.array([1, 2], np.uint16)
    assert measured(And(GO, Equals(LEVEL, BV(2, 16))), level=level)[1] == 0
    assert measured(Not(GO), level=level) == [0, 0]
    assert measured(And(GO, Bool(False)), level=level) == [1, 1]
