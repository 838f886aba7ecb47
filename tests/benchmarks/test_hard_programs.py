"""Programs that are hard for the search: the driver beside them, and the table of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest
from command_line import fresh_names
from small_programs import program, project

from benchmarks.bench.tools.baseline import Case, counted
from benchmarks.measures.hard.beside import PROGRAMS, Beside, first_chain, programs, table
from benchmarks.measures.hard.driver import constants, constrained_inputs, driver
from benchmarks.measures.hard.yardstick import by_hand, ours
from benchmarks.measures.revisions.table import Process
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.subject import Subject

ROW = Beside("gate", {"a": 7, "b": 12}, 20, 0.1, {"a": "covered", "b": "covered"}, 0.5, 9, 4, False, 3.0, 90.0, 5)


@pytest.fixture(autouse=True)
def own_names() -> Iterator[None]:
    """Controllers give one name to variables of different types."""
    with fresh_names():
        yield


def read(name: str) -> Subject:
    return load(read_project(str(PROGRAMS / name)))


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", ["clock_millis", "pump"])
def test_what_the_driver_meets_the_replay_of_its_run_covers(name: str, tmp_path: Path) -> None:
    """A clock that a constraint moves on, and a filter with deadlines and a final condition."""
    subject = read(name)
    made = driver(subject, tmp_path)
    driven = made.drive(steps=8192)
    assert len(driven.met) >= 4
    for run in {met.run for met in driven.met.values()}:
        mine = {goal: met.steps for goal, met in driven.met.items() if met.run == run}
        result = counted(subject, [Case(made.run(run)[: max(mine.values())], {})])
        assert not result.lost
        assert result.replayed == "original"
        assert set(mine) <= set(result.covered)


@pytest.mark.needs_compiler
def test_equal_seeds_meet_equal_goals_and_other_seeds_other_runs(tmp_path: Path) -> None:
    made = driver(read("two_cards"), tmp_path)
    assert made.drive(steps=50_000).met == made.drive(steps=50_000).met
    assert made.run(0) == made.run(0) != made.run(0, seed=2)


@pytest.mark.needs_compiler
def test_a_run_ends_where_c_leaves_the_step_undefined(tmp_path: Path) -> None:
    """The counter overflows after two steps: nothing is met beyond, and the next run begins from the start."""
    (tmp_path / "c.c").write_text(program("s->n += 1000000000;"))
    goals = "".join(f'[[property]]\ntext = "cover(s->n {goal})"\n' for goal in ("== 2000000000", "< 0"))
    (tmp_path / "chaincover.toml").write_text(project(goals))
    made = driver(load(read_project(str(tmp_path))), tmp_path / "driver")
    driven = made.drive(steps=5000)
    assert [met.steps for met in driven.met.values()] == [2]
    assert driven.runs > 500


@pytest.mark.evidence
def test_every_program_is_read_and_has_goals() -> None:
    for name in programs([]):
        with fresh_names():
            assert len(read(name).goals) >= 4, name


def test_inputs_of_constraints_are_drawn_by_their_numbers() -> None:
    subject = read("clock_millis")
    assert constrained_inputs(subject) == {"i->millis"}
    assert constants(subject) == [1, 100]


def test_a_program_fails_by_goals_that_only_the_driver_met_and_by_a_late_chain() -> None:
    assert ROW.faults == []
    assert replace(ROW, first=2.1).faults == ["first chain after 2.1 s"]
    assert replace(ROW, verdicts={"a": "covered", "b": "undecided"}).faults == ["the driver met b"]
    assert replace(ROW, verdicts={"a": "covered", "b": "excluded"}).faults == []
    assert replace(ROW, verdicts={"a": "covered", "b": "unreachable"}).faults == [
        "WRONG: b is unreachable, and the driver met it"
    ]
    assert replace(ROW, code=-6).faults == ["ended by signal 6"]
    none = replace(ROW, verdicts={"a": "undecided", "b": "undecided"}, first=None, length=None)
    assert none.faults == ["the driver met a, b", "no chain"]
    assert replace(none, met={}).faults == []


def test_the_first_chain_is_counted_from_the_end_of_reading() -> None:
    lines = [
        (0.9, "   0.8 s  requirements: 0 of 6 goals; no chain yet"),
        (1.7, "   1.6 s  simulate: 3 of 6 goals in 40 steps, no lower bound yet"),
        (1.9, "   1.8 s  simulate: 4 of 6 goals in 1 step, no lower bound yet"),
    ]
    process = Process(0, 4.0, 4.0, 80, False, lines)
    assert first_chain(process, {"read": 0.5, "search": 3.0}) == 1.1
    assert first_chain(replace(process, progress=lines[:1]), {"read": 0.5, "search": 3.0}) == 3.0


def test_the_table_has_a_line_for_each_program() -> None:
    assert [*table([ROW])][2] == "| gate | 2 | 2 | 12 | 2 | 0.5 s | 9 | >= 4 | 3.0 | 90 |  |"


def test_programs_are_chosen_by_name() -> None:
    assert programs(["clock"]) == ["clock"]
    assert {"elevator5", "gate", "total_32"} <= set(programs([]))
    with pytest.raises(click.UsageError, match="no program is called 'clok'"):
        programs(["clok"])


@pytest.mark.evidence
@pytest.mark.needs_compiler
def test_the_search_by_hand_finds_the_same_length_with_more_pairs() -> None:
    hand, own = by_hand()(), ours()()
    assert hand.length == own.length == 211
    assert own.pairs < hand.pairs
