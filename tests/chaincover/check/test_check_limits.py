"""``check`` within a time, and after an interrupt; the sampling and the walks that keep it quick on large models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import MODELS, chaincover, write_files
from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import Not
from random_systems import random_case
from small_programs import program, project

from bmc.analysis import constants
from bmc.engines import choose
from bmc.engines.protocol import Engine, Session
from bmc.engines.z3 import Z3Engine
from bmc.formulas.unroll import at, at_each, framed, shift
from bmc.native.differential import Sampler
from bmc.system.transition import (
    Condition,
    InputVariable,
    StateVariable,
    TransitionSystem,
    Valuation,
    ValueType,
    equal,
    symbols_of,
)
from chaincover.check import analysis, found_invariants
from chaincover.check.analysis import analyse
from chaincover.check.goal_facts import UNKNOWN, VacuitySearch, find_facts
from chaincover.check.undefined_behaviour import UndefinedBehaviourSearch
from chaincover.cli import options
from chaincover.graph.enumerated import enumerate_within, enumerated_within, enumeration_of
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.problem import Problem, Questions
from chaincover.project.load import load
from chaincover.project.project_file import read_project

INT = ValueType("int", 32, signed=True)
FUNCTIONS = '[functions]\ninit = "init"\nstep = "compute"\n'
SQUARES = (
    "if (i->a > 1000000 && s->m * s->m % 1000003 == 77 && s->m > 10000 && s->m < 40000) s->n = 1 / (s->m - 31337);"
)
COUNTING = "if (i->b) s->n = s->n < 5 ? s->n + 1 : 0;"
GOAL = '[[property]]\nid = "up"\ntext = "cover(n == 1)"\n'


def folder(place: Path, body: str, more: str = "") -> Path:
    write_files(place, {"c.c": program(body), "chaincover.toml": project(FUNCTIONS + more)})
    return place


@pytest.mark.slow
def test_what_the_time_does_not_suffice_for_is_undecided_and_never_impossible(tmp_path: Path) -> None:
    place = folder(tmp_path, SQUARES + " s->m += i->b;", GOAL)
    outcome = chaincover(
        "check", place, "--compare", "0", "--time-limit", "0.000001", "--json", CHAINCOVER_NO_NATIVE="1"
    )
    assert outcome.json["undefined_behaviour"]
    assert all(one["undecided"] and one["steps_from_init"] is None for one in outcome.json["undefined_behaviour"])
    assert outcome.json["unsatisfiable"] == []
    shown = chaincover("check", place, "--compare", "0", "--time-limit", "0.000001", CHAINCOVER_NO_NATIVE="1").out
    assert "not decided within the time whether it can happen" in shown
    assert "none possible" not in shown


def test_sigterm_leaves_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def terminated(*given: object) -> None:
        raise KeyboardInterrupt("terminated")

    monkeypatch.setattr(UndefinedBehaviourSearch, "run", terminated)
    outcome = chaincover("check", folder(tmp_path, "s->m++;", GOAL), "--compare", "0", CHAINCOVER_NO_NATIVE="1")
    assert outcome.code == 143
    assert "1 problem, told first; stopped by SIGTERM: what is not told was not looked at" in outcome.out


@pytest.mark.parametrize("stage", [UndefinedBehaviourSearch, VacuitySearch])
def test_an_interrupt_leaves_what_is_known(tmp_path: Path, stage: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stage, "run", interrupted)
    place = folder(tmp_path, "if (i->b) s->n = 1 / s->m; s->m++;", GOAL)
    outcome = chaincover("check", place, "--compare", "0", "--json", CHAINCOVER_NO_NATIVE="1")
    assert outcome.code == 130
    assert outcome.json["interrupted"] == "interrupt"
    assert [one["undecided"] for one in outcome.json["undefined_behaviour"]] == [True, True]
    assert outcome.json["undecided"] == (["up"] if stage is VacuitySearch else [])
    shown = chaincover("check", place, "--compare", "0", CHAINCOVER_NO_NATIVE="1")
    assert shown.code == 130
    assert "interrupted: what is not told was not looked at" in shown.out
    assert "s->n" in shown.out


def test_a_goal_that_enumerated_states_decide_is_not_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the solver was not asked: that these goals can start, or never do, is known of every state."""
    monkeypatch.setattr(VacuitySearch, "run", lambda *given: None)
    never = '[[property]]\nid = "never"\ntext = "cover(n == 7)"\n'
    outcome = chaincover(
        "check", folder(tmp_path, COUNTING, GOAL + never), "--compare", "0", "--json", CHAINCOVER_NO_NATIVE="1"
    )
    assert outcome.json["goal_facts"]["reachable_states"] == 6
    assert outcome.json["undecided"] == outcome.json["unsatisfiable"] == []
    assert outcome.code == 0


def test_a_goal_that_only_the_solver_finds_is_not_called_unsatisfiable(tmp_path: Path) -> None:
    more = '[[property]]\nid = "rare"\ntext = "cover(i->a == 123456789)"\n'
    more += '[[property]]\nid = "never"\ntext = "cover(i->a == 1 && i->a == 2)"\n'
    place = folder(tmp_path, "s->n = i->a;", more)
    outcome = chaincover("check", place, "--compare", "0", "--json", CHAINCOVER_NO_NATIVE="1")
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


@pytest.mark.needs_compiler
def test_a_comparison_that_found_no_defined_step_is_not_told_as_equality(tmp_path: Path) -> None:
    body = "int z; if (i->a % 1000003 == 77 && i->a > 1000000000) s->n = 1; else s->n = z;"
    outcome = chaincover("check", folder(tmp_path, body, GOAL), "--compare", "40")
    assert outcome.code == 5
    assert "NOTHING COMPARED, no step that was tried is defined" in outcome.out
    assert "equal on" not in outcome.out


@pytest.mark.slow
def test_the_limits_hold_for_the_invariants_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[float | None, ...]] = []

    class Noted(Limits):
        def __init__(
            self, seconds: float | None = None, query_limit: float | None = None, effort: float | None = None
        ) -> None:
            made.append((seconds, query_limit, effort))
            super().__init__(seconds, query_limit, effort)

    monkeypatch.setattr(options, "Limits", Noted)
    given = ("--query-limit", "3", "--effort", "0.005", "--bound", "0")
    assert chaincover("generate", MODELS / "cruise", *given, "-q", "-o", tmp_path).code == 4
    assert made == [(None, 3.0, 0.005)]


@pytest.mark.parametrize("most", [Limits(0.0), Limits(effort=1e-9).share(0.5)])
def test_facts_without_time_or_effort_are_undecided(most: Limits) -> None:
    """With the states at hand as without them."""
    case = random_case(5, goals=3, longest=2)
    problem = Problem(case.system, tuple(case.goals), case.final)
    graph = enumerated_within(problem, Limits())
    assert graph is not None
    most.spend(1.0)
    for known in (graph, None):
        found = find_facts(Questions(problem, Z3Engine(), most), known)
        assert {t.kind for t in found.triggers} == {UNKNOWN}
        assert not found.sharing
        assert found.sharing_undecided
        assert found.implied == ()
    assert enumerate_within(enumeration_of(problem), most) is None


class Asked(Z3Engine):
    """Counts the sessions that are made."""

    sessions = 0

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        self.sessions += 1
        return super().session(system, source, goals)


def test_no_question_is_prepared_after_the_limits_are_over() -> None:
    case = random_case(5, goals=3, longest=2)
    named = tuple(
        Condition(f"s{number}", var.next) for number, var in enumerate(case.system.state) if not var.type.bits
    )
    system = replace(case.system, undefined_behaviour=named)
    assert named
    engine, over = Asked(), Limits(0.0)
    search = UndefinedBehaviourSearch(system, engine)
    search.run(over)
    assert all(one.undecided for one in search.found())
    find_facts(Questions(Problem(system, tuple(case.goals), case.final), engine, over), None)
    VacuitySearch(system, case.goals, engine).run(over)
    assert engine.sessions == 0


def test_the_engine_is_that_of_generate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[str] = []

    def noted(name: str, memory: int | None = None) -> Engine:
        chosen.append(name)
        return choose(name, memory)

    monkeypatch.setattr(analysis, "choose_engine", noted)
    place = folder(tmp_path, COUNTING, GOAL)
    listed = chaincover("check", place, "--compare", "0", "--json").json["goal_facts"]
    assert listed["reachable_states"] == 6
    assert listed["states_not_enumerated"] is None
    asked = chaincover("check", place, "--compare", "0", "--engine", "sat", "--json").json["goal_facts"]
    assert asked["reachable_states"] is None
    assert (
        asked["states_not_enumerated"]
        == "The engine sat answers all questions itself; --engine auto enumerates states."
    )
    assert chosen == ["auto", "sat"]


def test_why_states_are_not_enumerated_and_what_would_change_that(tmp_path: Path) -> None:
    """Told with its remedy: a state that takes every value of a wide input, and one that grows as time is given."""
    more = '[[property]]\nid = "up"\ntext = "cover(s->m == s->n + 5)"\n'
    step = "s->n = s->m ^ i->a; s->m = s->n + i->a * 3;"
    wide = chaincover("check", folder(tmp_path, step, more), "--compare", "0", "--effort", "0.2").out
    line = wide.splitlines().index(next(line for line in wide.splitlines() if "cannot be enumerated" in line))
    assert wide.splitlines()[line].startswith("slow: ")
    assert "the input 'i->a' has 4294967296 values that can be told apart" in wide.splitlines()[line]
    assert wide.splitlines()[line + 1].startswith("  next: give them a range, or state an assumption")
    given = ("--compare", "0", "--effort", "0.00001")
    grows = chaincover("check", folder(tmp_path, "s->n++; if (i->b) s->m++;", more), *given).out
    assert "slow: The states of " in grows
    assert "not all enumerated" in grows
    assert "  next: give more --effort or --time-limit, or " in grows


def test_goals_that_are_not_decided_are_no_all_clear_and_are_named(tmp_path: Path) -> None:
    """In the first line, in the table of goals, and where that has no room on a line of its own."""
    goals = {"near": "cover(s->n == 1)", "far": "cover(s->n == 50000 && s->m == 40000)"}
    more = "".join(f"[[property]]\nid = '{name}'\ntext = '{text}'\n" for name, text in goals.items())
    place = folder(tmp_path, "s->n++; if (i->b) s->m++;", more)
    lines = chaincover("check", place, "--compare", "0", "--effort", "0.03").out.splitlines()
    assert lines[0].endswith(": nothing wrong found; 1 of 2 goals is not decided")
    table = lines.index("goal  steps  reached    property")
    assert [line.split()[:3] for line in lines[table + 1 : table + 3]] == [
        ["near", "0", "yes"],
        ["far", "0", "undecided"],
    ]
    cover = ("--cover", "states(n, 0..40)")
    lines = chaincover("check", place, "--compare", "0", "--effort", "0.03", *cover).out.splitlines()
    assert not any(line.startswith("goal ") for line in lines)
    (named,) = [line for line in lines if line.startswith("goals that are not decided: ")]
    assert "far" in named
    assert lines[-1].startswith("-v tells all: every goal, ")


def test_a_program_for_other_word_sizes_is_read_and_not_compared(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": program(COUNTING)})
    (tmp_path / "chaincover.toml").write_text(
        project(FUNCTIONS + GOAL).replace("[sources]", '[sources]\ntarget = "ip16"')
    )
    outcome = chaincover("check", tmp_path)
    assert outcome.code == 0
    assert "comparison with the compiled original: left out: " in outcome.out
    assert "word sizes ip16" in outcome.out
    told = chaincover("check", tmp_path, "--json").json
    assert told["compared"] is None
    assert "word sizes ip16" in told["not_compared"]


def test_a_chain_for_other_word_sizes_is_replayed_on_the_model(tmp_path: Path) -> None:
    """It is found, proved and told like any other; only the compiled original does not confirm it."""
    write_files(tmp_path, {"c.c": program(COUNTING)})
    (tmp_path / "chaincover.toml").write_text(
        project(FUNCTIONS + GOAL).replace("[sources]", '[sources]\ntarget = "ip16"')
    )
    made = chaincover("generate", tmp_path, "-o", tmp_path / "out")
    assert made.code == 0, made.err
    assert "replay on the model: " in made.out
    assert "note: replayed on the model: the replay needs a compiler for the word sizes ip16" in made.out
    checked = chaincover("verify", tmp_path, tmp_path / "out" / "chain.json")
    assert checked.code == 6
    assert "the model only (the replay needs a compiler for the word sizes ip16" in checked.out


def test_the_constants_of_a_system_are_sought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They cost as much as anything that has no limit of its own."""
    subject = load(read_project(str(MODELS / "seat")))
    following, sought = {var.next for var in subject.system.state}, 0

    class Counted(constants._Spread):
        def __init__(self, formulas: Sequence[FNode], values: Valuation) -> None:
            nonlocal sought
            sought += following == {*formulas}
            super().__init__(formulas, values)

    monkeypatch.setattr(constants, "_Spread", Counted)
    analyse(subject, Options(effort=1e-6), compare_steps=0)
    assert sought <= 1


def test_nothing_is_begun_once_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("value analysis has no limit within a round")

    monkeypatch.setattr(found_invariants, "value_facts", never)
    found = analyse(load(read_project(str(MODELS / "seat"))), Options(time_limit=1e-9), compare_steps=0)
    assert not found.found
    assert found.undecided
