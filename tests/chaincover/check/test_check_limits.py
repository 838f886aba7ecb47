"""``check`` within a time, and after an interrupt; the sampling and the walks that keep it quick on large models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import MODELS, chaincover, write_files
from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import Not
from random_systems import random_case
from small_programs import program, project

from bmc.formulas.unroll import at, at_each, framed, shift
from bmc.native.differential import Sampler
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType, equal, symbols_of
from chaincover.budget import Budget
from chaincover.check import analysis
from chaincover.check.suspects import SuspectSearch
from chaincover.check.vacuity import VacuitySearch

INT = ValueType("int", 32, signed=True)
FUNCTIONS = '[functions]\ninit = "init"\nstep = "compute"\n'
SQUARES = (
    "if (i->a > 1000000 && s->m * s->m % 1000003 == 77 && s->m > 10000 && s->m < 40000) s->n = 1 / (s->m - 31337);"
)
GOAL = '[[property]]\nid = "up"\ntext = "cover(n == 1)"\n'


def folder(place: Path, body: str, more: str = "") -> Path:
    write_files(place, {"c.c": program(body), "chaincover.toml": project(FUNCTIONS + more)})
    return place


@pytest.mark.slow
def test_what_the_time_does_not_suffice_for_is_undecided_and_never_impossible(tmp_path: Path) -> None:
    place = folder(tmp_path, SQUARES + " s->m += i->b;", GOAL)
    outcome = chaincover("check", place, "--compare", "0", "--time-limit", "0.000001", "--json", CHAINCOVER_NO_CC="1")
    assert outcome.json["suspects"]
    assert all(one["undecided"] and one["steps_from_init"] is None for one in outcome.json["suspects"])
    assert outcome.json["unsatisfiable"] == []
    shown = chaincover("check", place, "--compare", "0", "--time-limit", "0.000001", CHAINCOVER_NO_CC="1").out
    assert "not decided within the time whether it can happen" in shown
    assert "none possible" not in shown


@pytest.mark.parametrize("stage", [SuspectSearch, VacuitySearch])
def test_an_interrupt_leaves_what_is_known(tmp_path: Path, stage: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stage, "run", interrupted)
    place = folder(tmp_path, "if (i->b) s->n = 1 / s->m; s->m++;", GOAL)
    outcome = chaincover("check", place, "--compare", "0", "--json", CHAINCOVER_NO_CC="1")
    assert outcome.code == 130
    assert outcome.json["interrupted"]
    assert [one["undecided"] for one in outcome.json["suspects"]] == [True, True]
    assert outcome.json["undecided"] == (["up"] if stage is VacuitySearch else [])
    shown = chaincover("check", place, "--compare", "0", CHAINCOVER_NO_CC="1")
    assert shown.code == 130
    assert "interrupted: what is not told was not looked at" in shown.out
    assert "s->n" in shown.out


def test_a_goal_that_only_the_solver_finds_is_not_called_unsatisfiable(tmp_path: Path) -> None:
    more = '[[property]]\nid = "rare"\ntext = "cover(i->a == 123456789)"\n'
    more += '[[property]]\nid = "never"\ntext = "cover(i->a == 1 && i->a == 2)"\n'
    place = folder(tmp_path, "s->n = i->a;", more)
    outcome = chaincover("check", place, "--compare", "0", "--json", CHAINCOVER_NO_CC="1")
    assert outcome.json["unsatisfiable"] == ["never"]
    assert outcome.json["undecided"] == []


def test_random_states_are_found_where_few_allow_a_defined_step() -> None:
    """The step is defined only where eight numbers are small, which hardly any random state is."""
    numbers = [INT.symbol(f"cl_{number}") for number in range(8)]
    go = INT.symbol("cl_go")
    state = tuple(StateVariable(n.symbol_name(), INT, INT.constant(0), (n + go) & INT.constant(3)) for n in numbers)
    system = TransitionSystem("narrow", state, (InputVariable("cl_go", INT, ((0, 9),)),))
    defined = system.defined
    for n in numbers:
        defined = defined.And(n.BVULE(INT.constant(20)))
    system = replace(system, defined=defined)
    sampler = Sampler(system, seed=1)
    pairs = list(sampler.pairs(50))
    assert len(pairs) == 50
    assert all(sampler.simulator.allowed(*pair) for pair in pairs)
    assert any(state["cl_0"] > 3 for state, _ in pairs), "not only states that runs reach"


@seeds(20)
def test_placing_formulas_is_substitution(seed: int) -> None:
    case = random_case(seed)
    formulas = [v.next for v in case.system.state] + [case.system.input_constraint]

    def placed(formula: FNode, step: int) -> FNode:
        return formula.substitute({s: framed(s, step) for s in formula.get_free_variables()})

    assert at_each(formulas, 7) == [placed(formula, 7) for formula in formulas]
    assert [shift(at(formula, 2), 3) for formula in formulas] == [placed(formula, 5) for formula in formulas]


@seeds(20)
def test_a_cone_is_closed_and_least(seed: int) -> None:
    """The least set that holds what is asked and what the next states of its members name, one variable at a time."""
    system = random_case(seed).system
    asked = [Not(equal(system.state[0].symbol, system.state[0].type.constant(1)))]
    names = {s.symbol_name() for f in (*asked, system.input_constraint, system.defined) for s in f.get_free_variables()}
    for _ in system.state:
        for var in system.state:
            if var.name in names:
                names |= {s.symbol_name() for s in var.next.get_free_variables()}
    assert [v.name for v in system.cone(asked)] == [v.name for v in system.state if v.name in names]
    assert symbols_of(system.defined) == sorted(system.defined.get_free_variables(), key=lambda s: s.symbol_name())


def test_a_comparison_that_found_no_defined_step_is_not_told_as_equality(tmp_path: Path) -> None:
    body = "int z; if (i->a % 1000003 == 77 && i->a > 1000000000) s->n = 1; else s->n = z;"
    outcome = chaincover("check", folder(tmp_path, body, GOAL), "--compare", "40")
    assert outcome.code == 5
    assert "NOTHING COMPARED, no step that was tried is defined" in outcome.out
    assert "equal on" not in outcome.out


def test_the_query_limit_holds_for_the_invariants_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[float | None, float | None]] = []

    class Noted(Budget):
        def __init__(self, seconds: float | None = None, query_limit: float | None = None) -> None:
            made.append((seconds, query_limit))
            super().__init__(seconds, query_limit)

    monkeypatch.setattr(analysis, "Budget", Noted)
    assert chaincover(
        "generate", MODELS / "cruise", "--query-limit", "3", "--bound", "0", "--explore", "0", "-q", "-o", tmp_path
    ).code in (4, 5)
    assert made == [(None, 3.0)]
