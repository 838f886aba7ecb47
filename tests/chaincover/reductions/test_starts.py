"""Start values that nothing can tell apart."""

from __future__ import annotations

from pathlib import Path

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULT, TRUE, Ite, Not

from bmc.formulas.unroll import at
from bmc.models.c.source.survey import apart
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover import load
from chaincover.options import Options
from chaincover.pipeline import STAGES, generate
from chaincover.problem import Problem
from chaincover.reductions.starts import few_starts
from properties.goal import Goal

BYTE = ValueType("uint8_t", 8)
GO = BOOLEAN.symbol("fs_go")
MOTOR, SPEED = BYTE.symbol("fs_motor"), BYTE.symbol("fs_speed")


def starts_of(motor_next: FNode, *asked: FNode, allowed: FNode | None = None) -> tuple[tuple[int, int], ...]:
    """The start values of the motor that are left, where goals ask for these framed conditions."""
    system = TransitionSystem(
        "motor",
        (StateVariable("fs_motor", BYTE, None, motor_next), StateVariable("fs_speed", BYTE, BV(0, 8), SPEED)),
        (InputVariable("fs_go", BOOLEAN),),
        input_constraint=TRUE() if allowed is None else allowed,
    )
    goals = tuple(Goal(f"g{number}", goal, None, 1) for number, goal in enumerate(asked))
    return few_starts(Problem(system, goals, None)).problem.system.state[0].starts


PROGRAM = """\
typedef struct { unsigned char level; unsigned short mixed; } St;
void init(St *s) { s->level = 0; s->mixed = 1; }
unsigned char compute(St *s, unsigned char up) {
  s->level = up ? (s->level < 9 ? s->level + 1 : 9) : 0;
  s->mixed = (unsigned short)(s->mixed * 5 + up);
  return s->level > 4 ? 2 : 0;
}
"""
PROJECT = """\
[sources]
files = ["c.c"]
[interface]
input = ["up"]
state = ["s->*"]
output = ["return"]
[functions]
init = ["init"]
step = "compute"
[[property]]
id = "high"
text = "cover(return == 2 && s->level == 9 && s->mixed < 4)"
"""
WRITTEN = Ite(GO, BV(2, 8), BV(0, 8))


def test_a_value_of_each_class_that_goals_tell_apart_is_left() -> None:
    assert starts_of(WRITTEN, at(MOTOR.Equals(BV(2, 8)) & GO, 0)) == ((0, 0), (2, 2))
    both = at(MOTOR.Equals(BV(2, 8)), 0), at(BVULT(MOTOR, BV(2, 8)), 1)
    assert starts_of(WRITTEN, *both) == ((0, 0), (2, 2), (3, 3))


def test_a_value_that_nothing_reads_is_the_start_value() -> None:
    system = TransitionSystem(
        "motor", (StateVariable("fs_motor", BYTE, None, WRITTEN),), (InputVariable("fs_go", BOOLEAN),)
    )
    asked = Goal("later", at(MOTOR.Equals(BV(2, 8)), 1), None, 1)
    reduced = few_starts(Problem(system, (asked,), None)).problem.system.state[0]
    assert (reduced.init, reduced.starts) == (None, ((0, 0), (2, 2))), "a goal may be asked of the first state too"
    reduced = few_starts(Problem(system, (Goal("go", at(GO, 0), None, 1),), None)).problem.system.state[0]
    assert reduced.init is BV(0, 8)


def test_what_need_not_hold_of_other_start_values_is_not_told(tmp_path: Path) -> None:
    """In all states that are searched the output is 0 or 2; the caller may begin with 200."""
    (tmp_path / "c.toml").write_text(PROJECT)
    (tmp_path / "c.c").write_text(PROGRAM)
    stages = [stage for stage in STAGES if stage.name in ("simulate", "invariants")]
    with apart():
        found = generate(load(tmp_path / "c.toml").problem, Options(effort=0.3), stages=stages)
    assert found.certificate is not None
    assert "s->level <= 9" in found.certificate.invariants
    assert not any("return" in name for name in (*found.invariants, *found.certificate.formulas))


def test_an_output_that_is_kept_keeps_its_class() -> None:
    kept = Ite(GO, BV(2, 8), Ite(SPEED.Equals(BV(1, 8)), BV(9, 8), MOTOR))
    assert starts_of(kept, at(MOTOR.Equals(BV(2, 8)), 0)) == ((0, 0), (2, 2))


def test_a_step_that_calculates_with_the_value_tells_all_values_apart() -> None:
    assert len(starts_of(MOTOR + BV(1, 8), at(MOTOR.Equals(BV(2, 8)), 0))) == 256
    assert len(starts_of(WRITTEN, at(MOTOR, 0).Equals(at(SPEED, 1)))) == 256


def test_what_an_assumption_reads_is_told_apart() -> None:
    asked = at(MOTOR.Equals(BV(2, 8)), 0)
    assert starts_of(WRITTEN, asked, allowed=Not(MOTOR.Equals(BV(7, 8)))) == ((0, 0), (2, 2), (7, 7))
