"""The normal form that a certificate speaks of is proved again, or nothing rests on it."""

from __future__ import annotations

import pytest
from command_line import MODELS, fresh_names
from pysmt.shortcuts import Ite

from bmc.formulas.unroll import at
from bmc.system.transition import Condition, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import Certificate, Validity
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.normal_form import normal_setting, parts
from chaincover.verification.report import HOLDS, OPEN, UNCLAIMED, WRONG
from chaincover.verification.setting import Setting
from properties.goal import Goal

SINCE = "(ite (= |l->mode| #b00000000) #x00000000 (bvsub |l->since| |l->now|))"
CLOCK = {"l->now": "#x00000000"}


def judged(forms: dict[str, str], **limits: float) -> tuple[str, Setting, Setting]:
    """The verdict on ``forms`` as the normal form of stairlight; the setting as it is, and in normal form."""
    with fresh_names():
        subject = load(read_project(str(MODELS / "stairlight")))
        setting = Setting(subject.system, subject.goals, subject.final, "allow")
        proof = Certificate((), "final", "allow", normal_form=forms)
        found, _, line = normal_setting(setting, proof, Clock(Limits(**limits)))
        return line.verdict, setting, found


def test_what_is_proved_is_put_in() -> None:
    verdict, _, found = judged({**CLOCK, "l->since": SINCE})
    assert verdict == HOLDS
    assert found.system.variable("l->now").init is not None


@pytest.mark.parametrize(
    "forms",
    [
        CLOCK,
        {"l->since": "#x00000000"},
        {**CLOCK, "l->since": SINCE.replace("#b00000000", "#b00000001")},
        {**CLOCK, "l->since": "(bvadd |l->since| |l->now|)"},
        {**CLOCK, "l->since": "l->mode"},
        {**CLOCK, "l->since": "(bvsub |l->since|"},
        {"nobody": "#x00000000"},
    ],
)
def test_what_is_not_true_is_wrong_and_changes_nothing(forms: dict[str, str]) -> None:
    verdict, setting, found = judged(forms)
    assert (verdict, found) == (WRONG, setting)


def test_nothing_rests_on_what_the_solver_does_not_finish() -> None:
    verdict, setting, found = judged({**CLOCK, "l->since": SINCE}, question=1e-9)
    assert (verdict, found) == (OPEN, setting)
    assert judged({})[0] == UNCLAIMED


@pytest.mark.parametrize(("name", "verdict"), [("tn_known", HOLDS), ("tn_open", WRONG)])
def test_a_variable_with_an_open_start_value_limits_no_steps(name: str, verdict: str) -> None:
    """It may begin with any value, so no number of steps keeps it below another one."""
    byte = ValueType("uint8", 8)
    zero, (known, opened) = byte.constant(0), (byte.symbol(f"tn_{part}") for part in ("known", "open"))
    variables = (
        StateVariable("tn_still", byte, zero, zero),
        StateVariable("tn_known", byte, zero, known + byte.constant(1)),
        StateVariable("tn_open", byte, None, opened + byte.constant(1)),
    )
    setting = Setting(TransitionSystem("open", variables, ()), (), None)
    validity = Validity("true", {name: (9, 1)}, 9)
    proof = Certificate((), setting.end, "allow", normal_form={"tn_still": "#x00"}, validity=validity)
    line = normal_setting(setting, proof, Clock(Limits()))[2]
    assert line.verdict == verdict
    assert verdict == HOLDS or f"'{name}' may wrap around at once" in line.text


def test_what_has_to_hold_at_one_step_is_one_part() -> None:
    with fresh_names():
        subject = load(read_project(str(MODELS / "stairlight")))
        first, second = subject.goals[:2]
        both = first.antecedent.And(at(subject.final, 1)).And(second.antecedent)
        found = list(parts(both))
        assert sorted(step for step, _ in found) == [0, 1]


def test_what_only_an_invariant_of_the_program_reads_may_be_told_apart() -> None:
    """The lamp tells how long it was idle, and no step or goal reads the lamp."""
    byte = ValueType("uint8", 8)
    idle, lamp, mode = (byte.symbol(f"tn_{part}") for part in ("idle", "lamp", "mode"))
    zero, one = byte.constant(0), byte.constant(1)
    variables = (
        StateVariable("tn_idle", byte, zero, idle + one),
        StateVariable("tn_lamp", byte, zero, Ite(idle.BVULT(byte.constant(5)), one, zero)),
        StateVariable("tn_mode", byte, zero, one - mode),
    )
    bound = Condition("tn_lamp <= 1", lamp.BVULE(one), proved=True)
    system = TransitionSystem("lamp", variables, (), invariants=(bound,))
    setting = Setting(system, (Goal("on", at(mode.Equals(one), 0), None, 0),), None)
    proof = Certificate(("on",), "end", "allow", normal_form={"tn_idle": "#x00"})
    assert normal_setting(setting, proof, Clock(Limits()))[2].verdict == HOLDS
