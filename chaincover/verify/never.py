"""Whether no run covers a goal: invariants proved again, and k-induction, where states are too many to list."""

from __future__ import annotations

from pysmt.shortcuts import TRUE, And, Not

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed
from bmc.formulas.unroll import shift
from bmc.system.run import Run
from chaincover.verify.invariants import Assumed
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, WRONG, told_inputs
from chaincover.verify.setting import Setting
from chaincover.verify.unrolling import Unrolling

INDUCTION = 8
"""The largest k of a proof by k-induction, as where it was claimed."""


def never(setting: Setting, name: str, known: Assumed, clock: Clock) -> tuple[str, str]:
    """HOLDS if no run covers the goal ``name`` (whatever comes after), WRONG with a run that does, else OPEN; and why.

    ``known`` is true of every state that can be reached.
    """
    goal = setting.goals[name]
    first = Unrolling(setting.system, setting.formulas, setting.system.init_formula, TRUE(), clock)
    anywhere = Unrolling(setting.system, setting.formulas, known.start, known.always, clock)
    for k in range(INDUCTION + 1):
        steps, here = k + goal.length, shift(goal.antecedent, k)
        before = [Not(shift(goal.antecedent, step)) for step in range(k)]
        answer = anywhere.ask(And(*before, here, anywhere.valid(steps)), steps)
        if answer.status is Status.UNSAT:
            how = f"by induction over {k} step(s)" if k else "no state allows it"
            return HOLDS, f"{how}{' together with the invariants' if not known.always.is_true() else ''}"
        covered = first.ask(And(here, first.valid(steps)), steps)
        if covered.status is Status.SAT and covered.run is not None:
            return WRONG, f"a run does so: {told_inputs(setting.system, _sound(setting, name, covered.run, k).inputs)}"
        if Status.UNKNOWN in (answer.status, covered.status):
            return OPEN, "too many states to look at all runs, and the solver did not finish"
    return OPEN, "too many states to look at all runs, and no induction proves it"


def _sound(setting: Setting, name: str, run: Run, step: int) -> Run:
    """``run``, which covers the goal ``name`` from ``step`` on; CheckDisagreed if it does not when simulated."""
    fine = setting.starts_in_init(run) and setting.sound(run) == run.length and step in setting.covered(run)[name]
    if not fine:
        raise CheckDisagreed(f"the solver's run does not cover '{name}' when simulated")
    return run
