"""Monitors that certificates speak of: those of all goals, as the properties ask, or the file is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import write_files
from long_goals import GOALS as LONG_GOALS
from long_goals import PROGRAM
from pysmt.shortcuts import FALSE, And, Symbol
from verify_documents import Document, generated, texts, verdicts, verify, wrong

from bmc.formulas.unroll import framed
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import Certificate, PathFact, monitor_texts
from chaincover.verification.report import HOLDS, WRONG
from chaincover.verification.setting import Setting, monitored_setting
from chaincover.weights import INIT
from properties.goal import Goal
from properties.one_step import in_one_step

GOALS = {**LONG_GOALS, "again": "G(a && X(a) && X(X(a)) -> X(X(n <= 3)))"}
"""``again`` asks for the same as ``up``."""
LENGTHS = {"allow": 3, "forbid": 9}


def none(document: Document) -> None:
    document["certificate"]["monitors"] = {}


def another(document: Document) -> None:
    document["certificate"]["monitors"]["rest"] = "true"


def unknown(document: Document) -> None:
    document["certificate"]["monitors"]["none"] = "true"


def one_missing(document: Document) -> None:
    del document["certificate"]["monitors"]["rest"]


@pytest.mark.parametrize("overlap", LENGTHS)
def test_what_is_said_of_monitors_is_that_of_the_goals(overlap: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": PROGRAM})
    options = [text for name, goal in GOALS.items() for text in ("--property", f"{name}: {goal}")]
    document = generated(tmp_path, tmp_path / "c.c", *options, "--overlap", overlap, "--no-native")
    assert document["bounds"]["length"] == document["bounds"]["lower"] == LENGTHS[overlap]
    outcome = verify(document, tmp_path, tmp_path / "c.c", "--no-native")
    found = verdicts(outcome)
    assert (found["monitors"], found["lower bound"], wrong(outcome)) == ("holds", "holds", set())
    true = document["certificate"]["monitors"]
    changes: list[Callable[[Document], None]] = [none, another, unknown, one_missing]
    for change in changes:
        document["certificate"]["monitors"] = dict(true)
        change(document)
        outcome = verify(document, tmp_path, tmp_path / "c.c", "--no-native")
        assert "monitors" in wrong(outcome), change
        assert "not as goals ask" in texts(outcome, "monitors")
    document["certificate"] = None
    outcome = verify(document, tmp_path, tmp_path / "c.c", "--no-native")
    found = verdicts(outcome)
    assert (found["lower bound"], found["all runs"], wrong(outcome)) == ("not re-proved", "holds", set())


KIND = ValueType("_Bool", 0)
HERE, GIVEN = Symbol("mo_here"), Symbol("mo_given")
SYSTEM = TransitionSystem("one", (StateVariable("mo_here", KIND, FALSE(), GIVEN),), (InputVariable("mo_given", KIND),))


def goal(name: str, *steps: int) -> Goal:
    """The input is on in each of ``steps``."""
    return Goal(name, And([framed(GIVEN, step) for step in steps]), None, max(steps) + 1)


def proof(setting: Setting, *named: str) -> Certificate:
    """With the monitors of the goals ``named`` alone, and a bound on one edge to each goal."""
    made = in_one_step(setting.system, [setting.by_name[name] for name in named], setting.forbid)
    edges = tuple(PathFact((INIT, name), 0) for name in setting.names)
    nothing = Certificate(setting.names, setting.end, "allow", edges=edges)
    return nothing if made is None else replace(nothing, monitors=monitor_texts(made))


def test_goals_that_ask_for_the_same_have_one_monitor() -> None:
    setting = Setting(SYSTEM, (goal("one", 0, 1), goal("same", 0, 1), goal("short", 0)), None)
    changed, line = monitored_setting(setting, proof(setting, "one"))
    assert line is not None
    assert line.verdict == HOLDS
    assert [each.length for each in changed.goals] == [1, 1, 1]
    assert changed.by_name["same"].antecedent == changed.by_name["one"].antecedent
    assert changed.by_name["short"] == setting.by_name["short"]


@pytest.mark.parametrize(("overlap", "left"), [("allow", "two"), ("forbid", "two"), ("forbid", "short")])
def test_each_goal_that_needs_a_monitor_has_one(overlap: str, left: str) -> None:
    """The monitors of the others are right, and not all that are needed."""
    setting = Setting(SYSTEM, (goal("one", 0, 1), goal("two", 0, 1, 2), goal("short", 0)), None, overlap)
    every = [name for name in setting.names if overlap == "forbid" or name != "short"]
    for named, verdict in ((every, HOLDS), ([name for name in every if name != left], WRONG), ([], WRONG)):
        changed, line = monitored_setting(setting, proof(setting, *named))
        assert line is not None
        assert line.verdict == verdict
        assert f"{left}: none is told" in line.details or verdict == HOLDS
        assert [each.length for each in changed.goals] == [1, 1, 1]
        assert changed.overlap == "allow"
    changed, line = monitored_setting(setting, None)
    assert line is None
    assert [each.length for each in changed.goals] == [1, 1, 1]
