"""Controllers with hard arithmetic: who decides what, and that nothing undecided is ever called impossible."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import chaincover, fresh_names

from benchmarks.measures.hard.run import CONTROLLERS, GRAPH, Question, answered, facts, questions
from benchmarks.measures.hard.table import OPEN, Result, summary, table
from bmc.engines import choose
from bmc.engines.protocol import CONFLICT
from bmc.engines.sat_encoding import solver

NAMES = sorted(path.name for path in CONTROLLERS.iterdir() if path.is_dir())
NOT_HARD = ["checksum", "lcg"]
"""Their products are by constants."""

AT_ONCE = ("--query-limit", "0.001", "--effort", "0.02")
"""Each question gets one portion of the SAT solver's work, which is repeatable, and no more."""


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A portion of the SAT solver's work is short."""
    monkeypatch.setattr(solver, "CONFLICTS", 10)


@pytest.fixture(autouse=True)
def own_names() -> Iterator[None]:
    """Controllers give one name to variables of different types."""
    with fresh_names():
        yield


def of(name: str) -> Path:
    return CONTROLLERS / name


def verdicts(document: dict[str, Any]) -> dict[str, str]:
    return {goal["name"]: goal["verdict"] for goal in document["goals"]}


@pytest.mark.parametrize("name", NAMES)
def test_auto_chooses_by_the_facts(name: str) -> None:
    with_engine = facts(name)
    assert with_engine.endswith("auto: sat" if name in NOT_HARD else "auto: portfolio"), with_engine


def test_what_is_called_never_is_never() -> None:
    assert all(268435399 % factor for factor in range(2, 16385)), "no product of two numbers above 1"
    assert 16385**2 > 268435399
    squares = {x * x for x in range(174)}
    assert not any(30003 - square in squares for square in squares)
    assert all(product % 65521 for product in itertools.chain(range(1, 65521, 257), range(2, 258)))
    assert 8 * 9001 > 65535, "a quotient of 7 leaves no rest above 9000"


@pytest.mark.parametrize("asked", [Question("area", "prime", 2), Question("area", "square", 4)], ids=str)
def test_engines_agree_on_single_questions(asked: Question) -> None:
    answers = {name: answered(asked, choose(name)) for name in ("sat", "z3", "portfolio", "auto")}
    assert set(answers.values()) == {"sat" if asked.goal == "square" else "unsat"}, answers


def test_every_goal_is_asked_about_anywhere_and_from_the_start() -> None:
    found = [question.name for question in questions("factor", (2,), 3)]
    own = [f"{goal} {where}" for goal in ("small", "large", "never") for where in ("anywhere", "in 2")]
    assert found == [*own, "graph to K = 3"]
    weights = json.loads(answered(Question("area", GRAPH, 0), choose("sat")))
    assert weights == sorted([goal, "end", 0] for goal in ("large", "prime", "square"))


def test_tables_tell_ratios_and_who_is_alone() -> None:
    rows = [
        ("a in 2", [Result("x", "sat", 1.0), Result("y", "sat", 4.0)]),
        ("b in 2", [Result("x", OPEN, 6.0), Result("y", "unsat", 0.5)]),
        ("c in 2", [Result("x", "unsat", 1.0), Result("y", "sat", 1.0)]),
        ("graph", [Result("x", '[["a", "b", 1], ["b", "a", 0]]', 2.0), Result("y", OPEN, 6.0)]),
    ]
    lines = table(rows).splitlines()
    assert lines[2] == "| a in 2 | sat | 1.00 (1.0) | 4.00 (4.0) |"
    assert lines[3] == "| b in 2 | unsat | > 6 | 0.50 (1.0) |"
    assert lines[4].startswith("| c in 2 | different |")
    assert lines[5].startswith("| graph | 2 edges |")
    told = summary([results for _, results in rows]).splitlines()
    assert told[2:] == ["| x | 3 of 4 | 1 | 2.0 |", "| y | 3 of 4 | 1 | 5.0 |"]


@pytest.mark.evidence
@pytest.mark.usefixtures("hasty")
def test_what_a_limit_leaves_open_is_undecided(tmp_path: Path) -> None:
    """The prime has no factors, but that takes more than one portion; both other goals are found."""
    given = ("-K", "2", *AT_ONCE, "--effort", "0.05", "--engine", "sat", "-o", tmp_path / "out")
    outcome = chaincover("generate", of("factor"), *given)
    assert outcome.code == 5, outcome
    assert "--query-limit" in outcome.out
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    found = verdicts(document)
    assert found["never"] == "undecided"
    assert set(found.values()) <= {"covered", "undecided"}
    assert {"from": "init", "to": "never"} in document["graph"]["unknown"]
    assert not any(edge["to"] == "never" for edge in document["graph"]["edges"])
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["engine"]["name"] == "sat"


@pytest.mark.evidence
def test_what_enumerated_states_decide_is_decided(tmp_path: Path) -> None:
    """Three states, whose steps a solver finds: the prime's factors are asked for once, not for each distance."""
    outcome = chaincover("generate", of("factor"), "-K", "2", "--effort", "0.08", "-o", tmp_path / "out")
    assert outcome.code == 4, outcome
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    assert verdicts(document) == {"small": "covered", "large": "covered", "never": "unreachable"}
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["engine"]["name"] == "portfolio"
    assert "1 product of variables (up to 16 x 16 bits)" in run["engine"]["why"]


@pytest.mark.evidence
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("how", ["--several", "--most"])
def test_sets_of_chains_leave_it_undecided_too(tmp_path: Path, how: str) -> None:
    outcome = chaincover("generate", of("factor"), "-K", "1", *AT_ONCE, how, "--json", "-o", tmp_path)
    assert outcome.code == 5, outcome
    goals = outcome.json["goals"] if how == "--most" else outcome.json["verdicts"]
    assert {goal.get("name", goal.get("goal")): goal["verdict"] for goal in goals}["never"] == "undecided"


@pytest.mark.evidence
@pytest.mark.usefixtures("hasty")
def test_a_graph_with_open_questions_is_no_graph_without_a_path() -> None:
    outcome = chaincover("graph", of("factor"), "-K", "2", *AT_ONCE)
    assert outcome.code == 5
    assert {"from": "init", "to": "never"} in outcome.json["unknown"]


@pytest.mark.slow
def test_turns_decide_what_sat_alone_leaves_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That a product of a sum is a sum of products takes sat for ever, and z3 no time.

    No limit is given: the patience of the portfolio does.
    """
    monkeypatch.setattr(solver, "WORK", 2000 * CONFLICT)
    given = ("--goal", "distributed", "-K", "1", "--json", "-o", tmp_path)
    outcome = chaincover("generate", of("lockstep"), *given, "--engine", "portfolio")
    assert verdicts(outcome.json) == {"distributed": "unreachable"}
    assert outcome.code == 4
    monkeypatch.setattr(solver, "WORK", 1)
    outcome = chaincover("generate", of("lockstep"), *given, *AT_ONCE, "--engine", "sat")
    assert verdicts(outcome.json) == {"distributed": "undecided"}
    assert outcome.code == 5
