"""``generate`` on programs in which no step is possible from some depth on: the guilty line, and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover, write_files
from small_programs import program, project

from chaincover.cli import generate

FUNCTIONS = '[functions]\ninit = "init"\nstep = "compute"\n'
UNSET = "int old; s->m = i->a;\n  if (s->n == 3) s->n = old; else s->n++;"
"""In the fourth step a local is read that nothing sets: line 9 of the program, column 25."""


def folder(place: Path, body: str, goal: str) -> Path:
    text = f'[[property]]\nid = "far"\ntext = "{goal}"\n'
    write_files(place, {"c.c": program(body), "chaincover.toml": project(FUNCTIONS + text)})
    return place


@pytest.mark.parametrize("engine", ["auto", "sat"])
def test_the_line_that_rules_out_every_further_step_comes_first(tmp_path: Path, engine: str) -> None:
    place = folder(tmp_path, UNSET, "cover(s->n == 7)")
    given = ("--engine", engine, "--bound", "12", "-o", tmp_path / "out")
    outcome = chaincover("generate", place, *given)
    first, following = outcome.out.splitlines()[:2]
    assert outcome.code == 4
    assert "c.c:9:25: no run has more than 3 step(s)" in first
    assert "uninitialised read" in first
    assert following.strip() == "next: give the variable a value on every path that leads to that place"
    told = chaincover("generate", place, *given, "--json")
    assert told.code == 4
    assert told.json["dead_end"]["steps"] == 3
    assert told.json["dead_end"]["where"].endswith("c.c:9:25")


def test_what_the_goals_do_not_depend_on_may_be_to_blame(tmp_path: Path) -> None:
    """The read is of a variable that no goal names."""
    place = folder(tmp_path, "int old; if (s->n == 2) s->m = old; s->n++;", "cover(s->n == 90)")
    outcome = chaincover("generate", place, "--bound", "12", "-o", tmp_path / "out")
    assert outcome.code == 4
    assert "c.c:8:34: no run has more than 2 step(s)" in outcome.out.splitlines()[0]


def test_several_chains_are_none_where_no_step_is_possible(tmp_path: Path) -> None:
    place = folder(tmp_path, UNSET, "cover(s->n == 7)")
    outcome = chaincover("generate", place, "--several", "--bound", "12", "-o", tmp_path / "out")
    assert outcome.code == 4
    assert "c.c:9:25: no run has more than 3 step(s)" in outcome.out.splitlines()[0]
    told = chaincover("generate", place, "--several", "--bound", "12", "-o", tmp_path / "out", "--json")
    assert (told.code, told.json["dead_end"]["steps"]) == (4, 3)


def test_no_more_than_its_effort_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no question is answered within its effort nothing is said."""
    monkeypatch.setattr(generate, "DEAD_END_QUESTION", 0)
    place = folder(tmp_path, UNSET, "cover(s->n == 7)")
    outcome = chaincover("generate", place, "--bound", "12", "-o", tmp_path / "out", "--json")
    assert outcome.code == 4
    assert "dead_end" not in outcome.json


def test_a_goal_that_nothing_covers_is_no_dead_end(tmp_path: Path) -> None:
    place = folder(tmp_path, "if (s->n < 3) s->n++;", "cover(s->n == 7)")
    outcome = chaincover("generate", place, "-o", tmp_path / "out", "--json")
    assert outcome.code == 4
    assert "dead_end" not in outcome.json


def test_a_covered_goal_is_the_answer_whatever_comes_later(tmp_path: Path) -> None:
    place = folder(tmp_path, UNSET, "cover(s->n == 2)")
    outcome = chaincover("generate", place, "-o", tmp_path / "out", "--json")
    assert outcome.code == 0
    assert "dead_end" not in outcome.json
