"""Goals that no run covers, proved again without a list of states: against all runs of small systems."""

from __future__ import annotations

from dataclasses import replace

import pytest
from command_line import MODELS
from held_runs import MOST, HeldRuns
from pysmt.shortcuts import FALSE, TRUE, And
from random_systems import random_case

from bmc.engines import choose
from bmc.engines.protocol import Status
from bmc.invariants.candidates import self_found
from bmc.invariants.induction import Prover
from bmc.system.ties import boundary, hold
from bmc.system.transition import conjunction
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.verification.invariants import Assumed
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.report import HOLDS, OPEN, WRONG
from chaincover.verification.setting import Setting
from chaincover.verification.unrolling import Unrolling
from chaincover.verification.verdicts import never
from properties.goal import violation


@pytest.mark.slow
@pytest.mark.parametrize("ticks", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_verdicts_agree_with_all_runs(seed: int, ticks: int) -> None:
    case = random_case(seed, goals=3, longest=2)
    system = hold(case.system, ticks)
    names = {goal.name: goal for goal in case.goals}
    setting = Setting(system, case.goals, boundary(system, None))
    facts = self_found(system, [goal.antecedent for goal in case.goals], Prover(choose("sat")))
    for always in (TRUE(), conjunction(fact.formula for fact in facts)):
        for name in names:
            verdict, why = never(setting, name, Assumed(TRUE(), always, True), Clock(Limits()))
            least = HeldRuns(case.system, [names[name]], ticks).least(None, [name], MOST)
            if verdict == HOLDS:
                assert least is None, why
            elif ticks == 1:  # a run may end within a held step here, and not there
                assert (verdict == WRONG) == (least is not None) or verdict == OPEN, why


def test_no_time_is_no_proof() -> None:
    case = random_case(1)
    setting = Setting(case.system, case.goals, None)
    impossible = replace(case.goals[0], name="impossible", antecedent=FALSE(), length=0)
    setting = replace(setting, goals=(*setting.goals, impossible))
    known = Assumed(TRUE(), TRUE(), True)
    assert never(setting, "impossible", known, Clock(Limits())) == (HOLDS, "no state allows it")
    verdict, _ = never(setting, case.goals[0].name, known, Clock(Limits(seconds=0.0)))
    assert verdict == OPEN


def test_sums_that_are_the_same_are_too_hard_as_clauses_only() -> None:
    """Sums of up to seven bytes that wrap, in a property and in the program: with so little effort words prove it."""
    subject = load(read_project(str(MODELS / "crane")))
    system, inputs = subject.system, {var.name for var in subject.system.inputs}
    violated = violation(next(goal for goal in subject.goals if goal.name == "tested"), inputs)
    setting, clock = Setting(system, (violated,), None), Clock(Limits(question=0.1))
    clauses = Unrolling(system, setting.formulas, TRUE(), TRUE(), clock)
    asked = And(violated.antecedent, clauses.valid(violated.length))
    assert clauses.ask(asked, violated.length).status is Status.UNKNOWN
    assert never(setting, violated.name, Assumed(TRUE(), TRUE(), True), clock) == (HOLDS, "no state allows it")
