"""Checks that a run is a chain: one of the system's, from init, over all goals, to the end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

from explicit import Explicit
from machines import Case
from pysmt.fnode import FNode

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem
from properties.goal import Goal
from properties.monitor import Monitor


def check_chain(case: Case, run: Run, overlap: str) -> None:
    system, goals, final = case
    simulator = Simulator(system)
    assert run.states[0] == simulator.initial({v.name: run.states[0][v.name] for v in system.state if v.init is None})
    assert simulator.run(run.states[0], run.inputs) == run
    assert all(simulator.allowed(s, i) for s, i in zip(run.states, run.inputs, strict=False))
    covered = Monitor(goals).covered(run)
    assert all(covered.values())
    if overlap == "forbid":
        assert disjoint(goals, [covered[goal.name] for goal in goals])
    if final is not None:
        assert Explicit(system).holds(at(final, 0), [tuple(run.states[-1].values())], [])


def check_run(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, overlap: str, run: Run) -> None:
    """``run`` is one of the system's, covers ``goals`` and ends in ``final``."""
    simulator = Simulator(system)
    opened = {v.name: run.states[0][v.name] for v in system.state if v.init is None}
    assert run == simulator.run(simulator.initial(opened), run.inputs)
    assert all(simulator.allowed(s, i) for s, i in zip(run.states, run.inputs, strict=False))
    assert all(values.keys() == {v.name for v in system.inputs} for values in run.inputs)
    assert final is None or compile_formulas([final])(run.states[-1])[0]
    positions = Monitor(goals).covered(run)
    assert all(positions[goal.name] for goal in goals)
    if overlap == "forbid":
        assert disjoint(goals, [positions[goal.name] for goal in goals])


def disjoint(goals: Sequence[Goal], positions: Sequence[Sequence[int]]) -> bool:
    """Whether each goal can be credited at one of its positions so that no two share a step."""
    for chosen in product(*positions):
        spans = sorted((k, k + goal.length) for k, goal in zip(chosen, goals, strict=True))
        if all(end <= start for (_, end), (start, _) in pairwise(spans)):
            return True
    return False
