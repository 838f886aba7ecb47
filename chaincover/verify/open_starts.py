"""Whether the chain does what it claims whatever the values are that init leaves open."""

from __future__ import annotations

from collections.abc import Mapping

from pysmt.shortcuts import TRUE, And, Not

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed
from bmc.formulas.unroll import at, framed, shift
from bmc.system.run import Run
from bmc.system.transition import equal
from chaincover.formats.chain_file import Stimulus
from chaincover.project.values import shown
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line
from chaincover.verify.setting import Setting
from chaincover.verify.unrolling import Unrolling

CHECK = "open start values"


def open_starts(setting: Setting, stimulus: Stimulus, relies: bool, clock: Clock) -> Line | None:
    """Ask for start values with which a step is not allowed, a goal is missed or the end is; None if none are open.

    ``relies``: the document says that the chain may depend on them. Values that the tester chooses are given.
    """
    system = setting.system
    names = [var.name for var in system.state if var.init is None and var.name not in system.chosen]
    if not names:
        return None
    said = f"init leaves {', '.join(names)} open"
    if relies:
        return Line(CHECK, UNCLAIMED, f"{said}; the chain is said to rely on these")
    steps = len(stimulus.inputs)
    unrolling = Unrolling(system, setting.formulas, system.init_formula, TRUE(), clock)
    given = [
        equal(framed(var.symbol, step), var.type.constant(values[var.name]))
        for step, values in enumerate(stimulus.inputs)
        for var in system.inputs
    ]
    given += [
        equal(framed(var.symbol, 0), var.type.constant(stimulus.initial[var.name]))
        for var in system.state
        if var.name in stimulus.initial
    ]
    claimed = {goal: step for goal, step in stimulus.claimed.items() if goal in setting.goals}
    wanted = [shift(setting.goals[goal].antecedent, step) for goal, step in claimed.items()]
    if setting.final is not None:
        wanted.append(at(setting.final, steps))
    found = unrolling.ask(And(*given, Not(And(unrolling.valid(steps), *wanted))), steps)
    if found.status is Status.UNSAT:
        return Line(CHECK, HOLDS, f"{said}; the chain does what it claims for all their values")
    if found.status is Status.UNKNOWN or found.run is None:
        return Line(CHECK, OPEN, f"{said}; the solver did not finish")
    if _fine(setting, found.run, claimed):
        raise CheckDisagreed("the start values that the solver found for a failing chain do not fail it when simulated")
    failing = shown([var for var in system.state if var.name in names], found.run.states[0])
    values = ", ".join(f"{name}={value}" for name, value in failing.items())
    return Line(CHECK, WRONG, f"{said}; the chain fails for some of their values", (values,))


def _fine(setting: Setting, run: Run, claimed: Mapping[str, int]) -> bool:
    """Whether ``run`` does all that the chain claims."""
    covered = setting.covered(run)
    reached = all(step in covered[goal] for goal, step in claimed.items())
    return reached and setting.sound(run) == run.length and setting.ends_well(run, run.length)
