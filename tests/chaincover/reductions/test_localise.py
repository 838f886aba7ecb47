"""Bounds by smaller systems: below every chain, near the shortest one where little matters, and proved again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import fresh_names
from drawn_seeds import seeds
from enumerated import one_step
from locks import DEPTH, FLAG, TIME, WIDE, lock_and_mixer_problem, searched
from problems import problem_of
from pysmt.shortcuts import And, Ite, Not, Symbol
from pysmt.typing import BVType

from benchmarks.checks.generated.reference import Reference
from benchmarks.checks.generated.systems import generated_case
from bmc.errors import NoOriginal
from bmc.formulas.evaluate import names_in
from bmc.formulas.unroll import at
from bmc.system.transition import InputVariable, StateVariable, ValueType
from chaincover import load, save, verify
from chaincover.options import Options
from chaincover.pipeline import STAGES, generate
from chaincover.problem import Problem
from chaincover.reductions.localise import LOCALISED, localised, values_kept
from chaincover.verification.localised import localised_original
from chaincover.verification.report import HOLDS, OPEN, WRONG
from properties.goal import Goal

BYTE = ValueType("byte", 8)


def test_other_variables_become_inputs_and_goals_that_read_them_are_left_out() -> None:
    problem = lock_and_mixer_problem()
    mixed = problem.system.variable("alone_mixed").symbol
    ends = replace(problem, final=mixed.Equals(mixed))
    small = localised(ends, {"alone_count"})
    assert [var.name for var in small.system.state] == ["alone_count"]
    assert {var.name for var in small.system.inputs} >= {"alone_key", "alone_mix", "alone_before", "alone_mixed"}
    assert small.names == ("open",)
    assert small.final is None, "it reads what is no state there"


def test_a_condition_on_a_step_that_reads_others_is_left_out() -> None:
    problem = lock_and_mixer_problem()
    count, mixed = (problem.system.variable(name).symbol for name in ("alone_count", "alone_mixed"))
    own, other = count.Equals(count), mixed.Equals(count.BVZExt(10))
    system = replace(problem.system, defined=And(own, other))
    assert localised(replace(problem, system=system), {"alone_count"}).system.defined is own


@pytest.mark.slow
@seeds(25)
def test_no_bound_exceeds_the_shortest_chain_whatever_is_visible(seed: int) -> None:
    """Of the goals that are left, an independent search knows the shortest chain of the whole system."""
    made = generated_case(seed, states=16, goals=4, longest=2)
    problem = problem_of(*one_step((made.system, made.goals, made.final), "allow"))
    answer = Reference(made.system, made.goals, made.final, "allow").answer()
    names = [var.name for var in problem.system.state]
    for number in range(1, 1 << min(len(names), 3)):
        small = localised(problem, {name for place, name in enumerate(names) if number >> place % 3 & 1})
        if not small.goals:
            continue
        result = generate(small, Options(effort=0.05))
        goals = sum(1 << place for place, goal in enumerate(made.goals) if goal.name in small.names)
        exact = min((least for done, least in answer.least.items() if done & goals == goals), default=None)
        if exact is not None:
            assert not result.no_chain
            assert result.bounds.lower <= exact


@pytest.mark.slow
@seeds(8)
def test_the_bound_of_the_stage_never_exceeds_the_shortest_chain(seed: int) -> None:
    for overlap in ("allow", "forbid"):
        made = generated_case(seed, states=16, goals=4, longest=3)
        case = one_step((made.system, made.goals, made.final), overlap)
        known = searched(problem_of(*case), "localise", units=1.0).known
        answer = Reference(made.system, made.goals, made.final, overlap).answer()
        targets = sum(1 << n for n, goal in enumerate(made.goals) if goal.name in known.targets)
        assert known.lower <= answer.least.get(targets, known.lower)


def gated() -> Problem:
    """The lock counts only in every third step, by a counter that the goal does not name."""
    problem = lock_and_mixer_problem()
    phase, zero = FLAG.symbol("gated_phase"), FLAG.constant(0)
    count = problem.system.variable("alone_count")
    assert isinstance(count, StateVariable)
    slow = replace(count, next=Ite(phase.Equals(zero), count.next, count.symbol))
    turned = StateVariable("gated_phase", FLAG, zero, phase.BVXor(FLAG.constant(1)))
    others = tuple(var for var in problem.system.state if var is not count)
    return replace(problem, system=replace(problem.system, state=(*others, slow, turned)))


def test_a_far_goal_beside_many_states_bounds_the_chain() -> None:
    known = searched(lock_and_mixer_problem(), "localise", units=1.0).known
    assert (known.lower, known.proof.basis) == (DEPTH, LOCALISED)
    assert known.proof.part is not None
    assert "alone_mixed" not in known.proof.part.visible


def test_what_a_chain_of_the_smaller_system_lacks_becomes_visible() -> None:
    """With the count alone the lock opens after ``DEPTH`` steps; in the program each count takes two of them."""
    board = searched(gated(), "localise", units=6.0)
    assert board.known.proof.part is not None
    assert "gated_phase" in board.known.proof.part.visible
    assert board.known.lower == 2 * DEPTH - 1
    assert board.known.seen["open"].length == 2 * DEPTH - 1, "it is followed in the program by then"


@contextmanager
def crashing(kept: bool) -> Iterator[Any]:
    """An original that must not take a step."""
    yield SimpleNamespace(steps=lambda pairs, time_limit: pytest.fail("the step is undefined"))


def test_steps_that_are_undefined_in_the_program_are_not_taken_on_the_original() -> None:
    """The smaller system has them, for what they divide by, say, may have any value there."""
    whole = lock_and_mixer_problem().system
    mixed = whole.variable("alone_mixed").symbol
    whole = replace(whole, defined=Not(mixed.Equals(WIDE.constant(0))))
    small = localised(replace(lock_and_mixer_problem(), system=whole), {"alone_before", "alone_count"}).system
    inputs = {var.name: 0 for var in whole.inputs} | {"alone_mixed": 0}
    with localised_original(crashing, whole, small)(False) as original, pytest.raises(NoOriginal, match="undefined"):
        original.steps([({"alone_before": 0, "alone_count": 5}, inputs)])


def two_locks() -> Problem:
    """A key turns one of two locks, each 20 times, and only while a bit of 40 that are mixed is set."""
    problem = lock_and_mixer_problem()
    key, mix = (problem.system.variable(name).symbol for name in ("alone_key", "alone_mix"))
    wide, bits = ValueType("wide", 40), Symbol("locks_bits", BVType(40))
    mixed = bits * wide.constant(5) + Ite(mix.Equals(FLAG.constant(1)), wide.constant(7919), wide.constant(3))
    state, goals = [StateVariable("locks_bits", wide, wide.constant(0), mixed)], []
    for number in (0, 1):
        count = BYTE.symbol(f"locks_{number}")
        turns = And(bits.BVExtract(7, 7).Equals(FLAG.constant(1)), key.Equals(FLAG.constant(number)))
        after = Ite(And(turns, count.BVULT(BYTE.constant(20))), count + BYTE.constant(1), count)
        state.append(StateVariable(f"locks_{number}", BYTE, BYTE.constant(0), after))
        goals.append(Goal(f"open_{number}", at(count.Equals(BYTE.constant(20)), 0), None, 0))
    return replace(problem, system=replace(problem.system, state=tuple(state)), goals=tuple(goals))


@pytest.mark.slow
def test_sets_of_variables_that_were_searched_are_joined() -> None:
    """Each lock by itself takes 20 steps, and what it lacks in the program is too much to search; both take 40."""
    known = searched(two_locks(), "localise", units=3.0).known
    assert known.proof.part is not None
    assert known.proof.part.visible == ("locks_0", "locks_1")
    assert known.lower == 40


def test_goals_that_compare_inputs_are_left_as_comparisons_that_may_turn_out_either_way() -> None:
    problem = lock_and_mixer_problem()
    key, mix = (problem.system.variable(name).symbol for name in ("alone_key", "alone_mix"))
    count = problem.system.variable("alone_count").symbol
    both = Goal("both", at(And(key.Equals(mix), count.Equals(TIME.constant(1))), 0), None, 1)
    small = localised(replace(problem, goals=(both,)), {"alone_count"})
    assert names_in([small.goals[0].antecedent]) == {"comparison#1@0", "alone_count@0"}
    assert "comparison#1" in {var.name for var in small.system.inputs}


def test_other_variables_have_the_values_that_the_system_keeps() -> None:
    """A bit that is set by nothing stays what it is, whatever else is free."""
    problem = gated()
    values = And(values_kept(problem.system), FLAG.symbol("gated_phase").Equals(FLAG.constant(0)))
    phase = localised(problem, {"alone_count"}, values).system.variable("gated_phase")
    assert isinstance(phase, InputVariable)
    assert phase.values == ((0, 0),)


PROGRAM = {
    "door.c": """\
typedef struct { unsigned char key; unsigned short noise; } In;
typedef struct { unsigned short count; unsigned char phase, by; unsigned int mixed, other; } St;
void init(St *s) { s->count = 0; s->phase = 0; s->by = 1; s->mixed = 1; s->other = 7; } /* by never changes */
void compute(In *i, St *s) {
  s->phase = s->phase == 2 ? 0 : s->phase + 1;
  if (i->key == 0) s->count = 0;
  else if (s->phase == 0 && s->count < 300) s->count += s->by;
  s->mixed = s->mixed * 1664525u + i->noise;
  s->other = s->other * 22695477u + s->mixed;
}
""",
    "chaincover.toml": """\
[sources]
files = ["door.c"]
[[property]]
id = "open"
text = "cover(count == 300)"
[[property]]
id = "odd"
text = "cover((other & 7) == 3)"
""",
}


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project, and beside it the file of a result whose bound is one of a smaller system."""
    folder = tmp_path_factory.mktemp("door")
    for name, text in PROGRAM.items():
        (folder / name).write_text(text)
    with fresh_names():
        subject = load(folder)
        stages = [stage for stage in STAGES if stage.name in ("simulate", "localise")]
        save(subject, generate(subject.problem, Options(effort=0.08), stages=stages), folder)
    return folder


def verified(door: Path, proof: dict[str, Any]) -> str:
    """What ``verify`` says of the smaller system where the certificate is ``proof``."""
    whole = json.loads((door / "chain.json").read_text())
    whole["certificate"] = proof
    place = door / "changed" / "chain.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(whole))
    with fresh_names():
        lines = verify(door, place).lines
    return next(line.verdict for line in lines if line.check == "smaller system")


def changed(door: Path, **facts: Any) -> dict[str, Any]:
    """The certificate with other ``facts`` in the claim about the smaller system."""
    proof: dict[str, Any] = json.loads((door / "chain.json").read_text())["certificate"]
    claim = next(claim for claim in proof["claims"] if "visible" in claim)
    for name, value in facts.items():
        if name in ("visible", "values"):
            claim[name] = value
        else:
            claim["proof"][name] = value
            for own in (each for each in claim["proof"]["claims"] if "searched" in each):
                own.update({"before": value} if name == "lower" else {name: value} if name in own else {})
    return proof


def test_the_proof_is_made_again_on_the_smaller_system(door: Path) -> None:
    proof = changed(door)
    claim = next(claim for claim in proof["claims"] if "visible" in claim)
    assert (claim["visible"], proof["lower"]) == (["s->count", "s->phase"], 900)
    assert verified(door, proof) == HOLDS


@pytest.mark.parametrize(
    ("facts", "verdicts"),
    [
        ({"visible": ["s->count"]}, {WRONG}),
        ({"visible": ["s->phase"]}, {WRONG}),
        ({"visible": ["s->count", "s->phase", "s->speed"]}, {WRONG}),
        ({"visible": ["s->count", "s->phase", "s->mixed"]}, {HOLDS, OPEN}),
        ({"lower": 901}, {WRONG}),
        ({"lower": 899}, {HOLDS}),
        ({"goals": ["odd"]}, {WRONG}),
        ({"goals": ["open", "odd"]}, {WRONG}),
        ({"goals": ["open", "open"]}, {WRONG}),
        ({"end": "final"}, {WRONG}),
        ({"values": "false"}, {HOLDS}),
        ({"values": "(= |s->mixed| (_ bv1 32))"}, {HOLDS}),
        ({"values": "no formula"}, {HOLDS}),
    ],
)
def test_a_forged_smaller_system_proves_no_more(door: Path, facts: dict[str, Any], verdicts: set[str]) -> None:
    """With fewer variables the bound is lower; with more the same is true, though it may be too much to search. Values
    that are not kept are not used."""
    assert verified(door, changed(door, **facts)) in verdicts
