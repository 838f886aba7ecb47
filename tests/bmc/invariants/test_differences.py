"""Counters told by their differences: exact, or up to the first step at which one may wrap around."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVSGE, BVUGE, BVUGT, And, BVExtract, BVZExt, Equals, Ite

from benchmarks.checks.clocks.compare import followed
from benchmarks.checks.clocks.programs import drawn
from bmc.engines import choose
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.invariants import differences as module
from bmc.invariants.differences import Form, steps_within
from bmc.invariants.induction import Prover
from bmc.invariants.normal_form import normal_form
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType

GO = BOOLEAN.symbol("differ_go")
ON = BOOLEAN.symbol("differ_on")
SEEN = [at(ON, 0)]


def system(bits: int, on: FNode, last: FNode, step: int = 100, signed: bool = False) -> TransitionSystem:
    """A clock that rises by ``step``, a time ``last``, and a lamp that is ``on``."""
    kind = ValueType("clock", bits, signed)
    now = kind.symbol(f"differ_now{bits}")
    before = kind.symbol(f"differ_last{bits}")
    sums = (BVSGE(each.BVAdd(BV(2 * step, bits)), each) for each in (now, before))
    fine = And(*sums) if signed else None
    state = (
        StateVariable(now.symbol_name(), kind, BV(0, bits), now.BVAdd(BV(step, bits))),
        StateVariable(f"differ_last{bits}", kind, BV(0, bits), last),
        StateVariable("differ_on", BOOLEAN, BOOLEAN.constant(0), on),
    )
    made = TransitionSystem("differ", state, (InputVariable("differ_go", BOOLEAN),))
    return made if fine is None else TransitionSystem("differ", state, made.inputs, defined=fine)


def clock(bits: int) -> tuple[FNode, FNode]:
    """The clock after a step, and the time that was taken."""
    kind = ValueType("clock", bits)
    return kind.symbol(f"differ_now{bits}").BVAdd(BV(100, bits)), kind.symbol(f"differ_last{bits}")


def form_of(made: TransitionSystem, least: int | None = None) -> Form:
    return normal_form(made, SEEN, Prover(choose("sat"), effort=1.0), least)


def image(form: Form, state: Mapping[str, int]) -> dict[str, int]:
    return dict(zip(form.terms, compile_formulas([*form.terms.values()])(state), strict=True))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_a_difference_in_the_counters_width_is_right_across_a_wrap(bits: int) -> None:
    later, last = clock(bits)
    due = BVUGE(later - last, BV(120, bits))
    form = form_of(system(bits, due, Ite(And(due, GO), later, last)))
    assert (len(form.terms), form.rises, form.sure) == (2, {}, None)
    assert form.holds.is_true()
    top = (1 << bits) - 1
    names = f"differ_now{bits}", f"differ_last{bits}"
    assert image(form, dict(zip(names, (20, top), strict=True))) == dict(zip(names, (0, top - 20), strict=True))


def test_times_that_keep_pace_are_right_across_a_wrap_too() -> None:
    """``now >= last + 100`` with ``last += 100``: both wrap around in the same step."""
    later, last = clock(32)
    due = BVUGE(later, last + BV(100, 32))
    form = form_of(system(32, due, Ite(due, last + BV(100, 32), last)))
    assert (form.rises, form.sure) == ({}, None)
    assert not form.holds.is_true()


@pytest.mark.parametrize(("bits", "steps"), [(16, 651), (32, 42_949_668)])
def test_an_absolute_comparison_is_one_of_differences_until_a_wrap(bits: int, steps: int) -> None:
    later, last = clock(bits)
    due = And(BVUGE(later, last + BV(250, bits)), GO)
    made = system(bits, due, Ite(due, later, last))
    assert not form_of(made).terms
    form = form_of(made, least=1)
    assert steps_within(made, form.rises) == form.sure
    assert form.sure is not None
    assert abs(form.sure - steps) <= 8
    assert not form_of(made, least=form.sure + 1).terms, "fewer steps than asked for"


def test_promoted_narrow_clocks_are_no_wider_ones() -> None:
    """``uint8_t``: ``last + 100`` is an ``int``, never met again after the wrap, so the form ends with the second
    step."""
    now, last = (ValueType("clock", 8).symbol(f"differ_{name}8") for name in ("now", "last"))
    wide = BVZExt(BVExtract(BVZExt(now, 24) + BV(10, 32), 0, 7), 24)
    due = BVSGE(wide, BVZExt(last, 24) + BV(10, 32))
    made = system(8, due, Ite(due, last + BV(10, 8), last), step=10)
    form = form_of(made)
    assert not form.terms
    form = form_of(made, least=1)
    assert form.sure is not None
    assert form.sure <= 24
    assert [*followed(made, SEEN, form)] == []


@pytest.mark.slow
def test_no_run_goes_on_after_a_signed_overflow() -> None:
    kind = ValueType("clock", 32, signed=True)
    now, last = (kind.symbol(f"differ_{name}32") for name in ("now", "last"))
    due = And(BVSGE(now + BV(100, 32), last + BV(150, 32)), GO)
    form = form_of(system(32, due, Ite(due, now, last), signed=True), least=1)
    assert form.terms
    assert form.rises == {}, "what no run of images does no run does, however long it is"
    assert form.sure is not None, "but runs of images go on for longer"


def test_what_was_long_ago_is_alike() -> None:
    later, last = clock(32)
    due = BVUGT(later - last, BV(1000, 32))
    form = form_of(system(32, due, Ite(GO, later, last)), least=1)
    kept = {
        lag: image(form, {"differ_now32": 50_000, "differ_last32": 50_000 - lag})["differ_last32"]
        for lag in (0, 100, 900, 901, 2_000, 40_000)
    }
    assert len({kept[0], kept[100], kept[900], kept[901]}) == 4
    assert kept[901] == kept[2_000] == kept[40_000]


@pytest.mark.parametrize("reads", [Equals, BVUGE])
def test_a_counter_that_is_compared_with_a_constant_is_kept(reads: object) -> None:
    later, last = clock(32)
    due = reads(later, BV(5_000, 32))  # type: ignore[operator]
    made = system(32, due, Ite(BVUGE(later - last, BV(300, 32)), later, last))
    assert not form_of(made).terms
    assert not form_of(made, least=1).terms


def test_no_question_is_asked_where_no_two_counters_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*given: object) -> None:
        raise AssertionError("a question")

    monkeypatch.setattr(module, "some_values", asked)
    monkeypatch.setattr(module, "against", asked)
    last = clock(32)[1]
    made = system(32, Equals(last, BV(3, 32)), Ite(GO, BV(0, 32), last + BV(1, 32)))
    assert [*module.differences(made, SEEN, Prover(choose("sat")), 1)] == []


@pytest.mark.slow
@seeds(4)
def test_a_run_and_the_run_of_its_images_look_alike(seed: int) -> None:
    """Of 8 bits, along all runs, wraps and all; ``python -m benchmarks clocks`` follows thousands."""
    problem = drawn(seed)
    seen = [*(goal.antecedent for goal in problem.goals), *([] if problem.final is None else [at(problem.final, 0)])]
    for least in (None, 1):
        form = normal_form(problem.system, seen, Prover(choose("sat"), effort=1.0), least)
        if form.terms:
            assert [*followed(problem.system, seen, form)] == []
