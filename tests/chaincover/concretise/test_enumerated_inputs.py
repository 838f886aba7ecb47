"""The least inputs from enumerated states against those that the solver finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from enumerated import exhaust, graph_of, held, made

from bmc.engines import choose as choose_engine
from chaincover.budget import Budget
from chaincover.concretise.canonical import canonicalise
from chaincover.concretise.check_path import Concretizer
from chaincover.concretise.enumerated_inputs import least_inputs
from chaincover.replay.simulated import Checker
from chaincover.weights import END, FINAL
from properties.goal import Goal
from properties.monitor import Monitor


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(45))
def test_least_inputs_are_those_of_the_solver(seed: int) -> None:
    case = made(seed) if seed % 2 else held(made(seed), 2)
    system, goals, final = case
    graph = graph_of(*case)
    found = exhaust(system, goals, final)
    if not found.covers:
        return
    best = int(np.argmax([len(cover.goals) for cover in found.covers]))
    chosen: dict[str, Goal] = {goal.name: goal for goal in goals if goal.name in found.covers[best].goals}
    run = found.runs[best]
    first = {name: steps[0] for name, steps in Monitor(list(chosen.values())).covered(run).items()}
    credited = dict(sorted(first.items(), key=lambda it: it[1]))
    plan = Checker(system, goals, final).plan(run, credited, END if final is None else FINAL)
    tools = Concretizer(system, list(chosen.values()), final, choose_engine("z3"), Budget())
    least = least_inputs(system, graph, chosen, final, plan)
    assert least == canonicalise(tools, plan, run)


@pytest.mark.parametrize("seed", range(0, 15, 3))
def test_least_open_start_values(seed: int) -> None:
    system, goals, final = made(seed)
    opened = replace(system, state=tuple(replace(var, init=None) for var in system.state))
    graph = graph_of(opened, goals, final)
    found = exhaust(opened, goals, final)
    for cover, run in list(zip(found.covers, found.runs, strict=True))[:2]:
        chosen = {goal.name: goal for goal in goals if goal.name in cover.goals}
        first = {name: steps[0] for name, steps in Monitor(list(chosen.values())).covered(run).items()}
        credited = dict(sorted(first.items(), key=lambda it: it[1]))
        plan = Checker(opened, goals, final).plan(run, credited, END if final is None else FINAL)
        tools = Concretizer(opened, list(chosen.values()), final, choose_engine("z3"), Budget())
        assert least_inputs(opened, graph, chosen, final, plan) == canonicalise(tools, plan, run)
