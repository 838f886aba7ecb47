"""A long step is cut by what its variables can hold once random runs have been made, not before."""

from __future__ import annotations

import pytest
from boards import board_of
from machines import Case
from pysmt.shortcuts import BV, Ite, Not

from bmc.analysis import slice as of_values
from bmc.formulas.unroll import at
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.reductions import slicing
from chaincover.reductions.slicing import first_slice, to_normal_form
from properties.goal import Goal

INT = ValueType("int", 32, signed=True)
N, MODE, PUSH = INT.symbol("ls_n"), BOOLEAN.symbol("ls_mode"), BOOLEAN.symbol("ls_push")


def masked_counter() -> Case:
    """A mode, beside a counter that may not overflow, and never does."""
    state = (
        StateVariable("ls_mode", BOOLEAN, BOOLEAN.constant(0), Ite(PUSH, Not(MODE), MODE)),
        StateVariable("ls_n", INT, BV(0, 32), (N + BV(1, 32)) & BV(0xFFFF, 32)),
    )
    system = TransitionSystem(
        "masked counter", state, (InputVariable("ls_push", BOOLEAN),), defined=Not(N.Equals(BV(0x7FFFFFFF, 32)))
    )
    return system, [Goal("on", at(MODE, 0), None, 0)], Not(MODE)


def names(problem: Problem) -> list[str]:
    return [var.name for var in problem.system.state]


def test_a_long_step_is_cut_later_and_has_the_same_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    board, _ = board_of(masked_counter(), Options())
    problem = board.known.problem
    usual = generate(problem).chain
    assert names(first_slice(problem).problem) == ["ls_mode"]

    monkeypatch.setattr(slicing, "MOST_AT_FIRST", 0)
    assert names(first_slice(problem).problem) == ["ls_mode", "ls_n"]
    to_normal_form(board)
    assert names(board.known.problem) == ["ls_mode"]
    found = generate(problem).chain
    assert usual is not None
    assert found is not None
    assert (found.length, {*found.goals}) == (usual.length, {*usual.goals}) == (2, {"on"})
    assert {*found.run.states[-1]} == {"ls_mode", "ls_n"}


def test_nothing_is_spent_on_values_that_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slicing, "MOST_AT_FIRST", 0)
    monkeypatch.setattr(of_values, "MOST_NODES", 0)
    monkeypatch.setattr(slicing, "analysed", None)
    board, _ = board_of(masked_counter(), Options())
    to_normal_form(board)
    assert names(board.known.problem)[0] == "ls_mode"
