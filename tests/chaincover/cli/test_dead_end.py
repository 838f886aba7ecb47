"""``generate`` on programs in which no step is possible from some depth on: the guilty line, and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover, write_files
from small_programs import program, project

from chaincover.check import undefined_behaviour

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
    assert "c.c:9:25: no run has more than 3 steps" in first
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
    assert "c.c:8:34: no run has more than 2 steps" in outcome.out.splitlines()[0]


def test_several_chains_are_none_where_no_step_is_possible(tmp_path: Path) -> None:
    place = folder(tmp_path, UNSET, "cover(s->n == 7)")
    outcome = chaincover("generate", place, "--several", "--bound", "12", "-o", tmp_path / "out")
    assert outcome.code == 4
    assert "c.c:9:25: no run has more than 3 steps" in outcome.out.splitlines()[0]
    told = chaincover("generate", place, "--several", "--bound", "12", "-o", tmp_path / "out", "--json")
    assert (told.code, told.json["dead_end"]["steps"]) == (4, 3)


def test_no_more_than_its_effort_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no question is answered within its effort nothing is said."""
    monkeypatch.setattr(undefined_behaviour, "BRIEF", 0)
    place = folder(tmp_path, UNSET, "cover(s->n == 7)")
    outcome = chaincover("generate", place, "--bound", "12", "-o", tmp_path / "out", "--json")
    assert outcome.code == 4
    assert "dead_end" not in outcome.json


def test_a_run_of_little_effort_spends_a_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the effort for whatever comes after the search, and a twelfth of a unit at most."""
    given: list[float | None] = []
    monkeypatch.setattr(
        undefined_behaviour, "find_dead_end", lambda _system, _engine, limits, _longest: given.append(limits.effort)
    )
    place = folder(tmp_path, UNSET, "cover(s->n == 7)")
    for effort in ("0.02", "4", "none"):
        chaincover("generate", place, "--bound", "12", "--effort", effort, "-o", tmp_path / "out")
    assert given == [0.02 / 4, 1 / 12, 1 / 12]


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


OPEN_HEAD = """\
#include <assert.h>
void __CPROVER_assume(int condition);
typedef struct { int a; _Bool b; } t_in;
typedef struct { int n; int m; int x; } t_st;
void init(t_st *s) { s->n = 0; s->m = 0; }
"""


def open_read(place: Path, first: int, goals: str) -> Path:
    """A program that reads ``s->x``, which nothing sets, once ``s->n`` is ``first``: line 8, from column 33 on."""
    body = f"s->n++; if (s->n >= {first}) s->m = s->x > 5;"
    write_files(place, {"c.c": program(body, head=OPEN_HEAD), "chaincover.toml": project(FUNCTIONS + goals)})
    return place


NEAR_AND_FAR = """\
[[property]]
id = "near"
text = "cover(s->n == 1)"
[[property]]
id = "far"
text = "cover(s->n == 60)"
"""


@pytest.mark.parametrize("mode", [(), ("--several",), ("--most",), ("--engine", "sat", "--bound", "8")])
def test_a_goal_behind_the_dead_end_is_explained_by_it_though_another_is_covered(
    tmp_path: Path, mode: tuple[str, ...]
) -> None:
    place = open_read(tmp_path, 3, NEAR_AND_FAR)
    outcome = chaincover("generate", place, *mode, "-o", tmp_path / "out")
    first, following = outcome.out.splitlines()[:2]
    assert outcome.code == 4
    assert "c.c:8:33: no run has more than 2 steps" in first
    assert "uninitialised read" in first
    assert "init leaves s->x open" in following
    assert "interface.chosen" in following
    assert "covered" in outcome.out
    assert "correct the antecedent" not in outcome.out
    told = chaincover("generate", place, *mode, "-o", tmp_path / "out", "--json")
    assert told.json["dead_end"]["steps"] == 2


@pytest.mark.parametrize("mode", [(), ("--engine", "sat", "--bound", "8")])
def test_a_dead_end_far_away_is_named_too(tmp_path: Path, mode: tuple[str, ...]) -> None:
    place = open_read(tmp_path, 45, NEAR_AND_FAR)
    outcome = chaincover("generate", place, *mode, "-o", tmp_path / "out")
    assert outcome.code == 4
    assert "c.c:8:34: no run has more than 44 steps" in outcome.out.splitlines()[0]


def test_a_generated_goal_behind_the_dead_end_does_not_count_as_missed(tmp_path: Path) -> None:
    near = NEAR_AND_FAR.split("[[property]]")[1]
    place = open_read(tmp_path, 3, "[[property]]" + near)
    outcome = chaincover("generate", place, "--cover", "branches()", "-o", tmp_path / "out")
    assert outcome.code == 0
    assert "no run has more than 2 steps" in outcome.out.splitlines()[0]
    assert "let runs go on after 2 steps first" in outcome.out


def test_where_runs_go_on_the_advice_is_about_the_goal(tmp_path: Path) -> None:
    text = NEAR_AND_FAR.replace("60", "7")
    write_files(tmp_path, {"c.c": program("if (s->n < 3) s->n++;"), "chaincover.toml": project(FUNCTIONS + text)})
    outcome = chaincover("generate", tmp_path, "-o", tmp_path / "out")
    assert outcome.code == 4
    assert "no run has more than" not in outcome.out
    assert "correct the antecedent" in outcome.out


def test_check_names_the_line_after_which_no_run_goes_on(tmp_path: Path) -> None:
    place = open_read(tmp_path, 45, NEAR_AND_FAR)
    outcome = chaincover("check", place, "--compare", "0")
    assert "c.c:8:34: no run has more than 44 steps" in outcome.out
    assert "not found within the first steps" not in outcome.out, "it is met after 44 steps, as told"
    assert "init leaves s->x open" in outcome.out
    assert "correct the antecedent" not in outcome.out


def test_check_tells_the_dead_end_as_data(tmp_path: Path) -> None:
    """Here a random run is asked first how far runs get, for no states are enumerated."""
    place = open_read(tmp_path, 3, NEAR_AND_FAR)
    told = chaincover("check", place, "--compare", "0", "--engine", "sat", "--json")
    assert told.json["dead_end"]["steps"] == 2
    assert told.json["dead_end"]["unset"] == ["s->x"]


@pytest.mark.parametrize("steps", [5, 2])
def test_runs_that_end_by_an_assumption_are_no_problem_unless_a_goal_is_lost(tmp_path: Path, steps: int) -> None:
    """``far`` takes three steps."""
    place = folder(tmp_path, f"__CPROVER_assume(s->n < {steps}); s->n++;", "cover(s->n == 3)")
    lines = chaincover("check", place, "--compare", "0").out.splitlines()
    message = f"no run has more than {steps} steps: then every allowed input breaks an assumption"
    (place_of,) = [number for number, line in enumerate(lines) if message in line]
    if steps > 3:
        assert ": nothing wrong found" in lines[0]
        assert lines[place_of].startswith("runs end, and no goal is lost by it: ")
        assert any(line.startswith("final: ") for line in lines[:place_of])
    else:
        assert place_of == 1
        assert lines[2] == "  next: look at the ranges, constraints and assumptions"


READS_OPEN = """\
typedef struct { unsigned char go; } t_input;
typedef struct { unsigned char noise; unsigned n; unsigned char m; } t_state;
void init(t_state *s) { s->n = 0; s->m = 0; }
_Bool assumption(t_input *i, t_state *s) { return s->n != 3 || i->go != s->noise; }
void compute(t_input *i, t_state *s) {
  if (s->n < 9) s->n++;
  if (s->n == 5) s->m = 1; else if (s->m == 1 && i->go && s->n > 7) s->m = 2;
}
"""


@pytest.mark.parametrize("goal", [("--cover", "transitions(m, 0..2)"), ("--property", "g: cover(s->n == 2)")])
def test_an_assumption_that_reads_what_nobody_sets_is_told_first(goal: tuple[str, str], tmp_path: Path) -> None:
    """It was told that every input breaks an assumption, and that no goal is lost by it, where all six were."""
    write_files(tmp_path, {"c.c": READS_OPEN})
    lines = chaincover("check", "c.c", *goal, "--compare", "0", cwd=tmp_path).out.splitlines()
    first = "no run has more than 3 steps: then every allowed input meets undefined behaviour: uninitialised read in"
    assert lines[1] == f"{first} an assumption"
    assert lines[2].startswith("  next: init leaves s->noise open: list it in interface.input")
    told = chaincover("generate", "c.c", *goal, "--json", cwd=tmp_path).json
    if "dead_end" in told:
        assert told["dead_end"]["undefined"] == [{"kind": "uninitialised read", "where": None}]
        assert told["dead_end"]["unset"] == ["s->noise"]


@pytest.mark.parametrize(
    ("states", "told"),
    [
        ("0..2", "runs end, and no goal is lost by it: {}"),
        ("0..4", "runs end: {}; that may be why 2 generated goals cannot be reached"),
        ("3..4", "c.c:8:3: {}"),
    ],
)
def test_no_goal_is_lost_where_runs_end_if_each_is_reached(states: str, told: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": program("__CPROVER_assume(s->n < 2); s->n++;")})
    criterion = ("--cover", f"states(n, {states})")
    lines = chaincover("check", "c.c", *criterion, "--compare", "0", cwd=tmp_path).out.splitlines()
    message = "no run has more than 2 steps: then every allowed input breaks an assumption: the one at c.c:8:3"
    assert told.format(message) in lines
    assert lines[0].startswith("c: nothing wrong found") == (states != "3..4")
