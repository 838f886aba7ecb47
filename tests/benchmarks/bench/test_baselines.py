"""The baselines on small controllers: what they cover, counted again, and how long their test cases are."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest
from command_line import MODELS, chaincover, fresh_names
from small_programs import program, project

from benchmarks.bench.tools import greedy, outcome, per_goal, random_runs
from benchmarks.bench.tools.baseline import Baseline, Case, counted
from benchmarks.bench.tools.protocol import CRASHED, FINISHED, TIME_OUT, Outcome, Task
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import unframed
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, symbols_of
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.subject import Subject
from properties.goal import Goal

TWO_WAYS = program("if (s->m == 0) s->m = i->b ? 1 : 2; else if (s->n < 3) s->n++;")
"""The first input decides for ever: the goals ``left`` and ``right`` need a chain each."""
TWO_GOALS = (
    '[ranges]\n"i->b" = [0, 1]\n"i->a" = [0]\n'
    '[[property]]\ntext = "left: cover(m == 1 && n == 2)"\n'
    '[[property]]\ntext = "right: cover(m == 2 && n == 1)"\n'
    '[[property]]\ntext = "twice: cover(m == 2 && X(m == 2 && n == 3))"\n'
)


@pytest.fixture
def two_ways(tmp_path: Path) -> Path:
    folder = tmp_path / "two_ways"
    folder.mkdir()
    (folder / "c.c").write_text(TWO_WAYS)
    (folder / "chaincover.toml").write_text(project(TWO_GOALS))
    return folder


def ran(command: click.Command, where: Path, out: Path, *arguments: str) -> Outcome:
    """What the command of a baseline writes for a project."""
    with fresh_names():
        command.main([str(where), *arguments, "-o", str(out)], standalone_mode=False)
    (found,) = outcome.read(out, 0)
    return found


def runs_in(subject: Subject, folder: Path, found: Outcome) -> Iterator[Run]:
    """The runs of the written tables, simulated."""
    simulator = Simulator(subject.system)
    for file in found.files:
        rows = [row for row in csv.DictReader((folder / file).open()) if row["step"] != "end"]
        inputs = [{var.name: int(row[var.name]) for var in subject.system.inputs} for row in rows]
        run = simulator.run(simulator.initial(), inputs)
        assert all(simulator.allowed(s, i) for s, i in zip(run.states, run.inputs, strict=False))
        yield run


def holds_from(goal: Goal, run: Run, step: int) -> bool:
    values = {}
    for symbol in symbols_of(goal.antecedent):
        name, frame = unframed(symbol)
        place = run.states[step + frame] if name in run.states[0] else run.inputs[step + frame]
        values[symbol.symbol_name()] = place[name]
    return bool(compile_formulas([goal.antecedent])(values)[0])


def covered_again(subject: Subject, run: Run) -> set[str]:
    """The goals that a run covers, counted by another way than the replay does."""
    return {
        goal.name
        for goal in subject.goals
        if any(holds_from(goal, run, step) for step in range(run.length - goal.length + 1))
    }


def shortest_with(subject: Subject, goal: Goal) -> int | None:
    """The least length of a run that covers a goal of at most one step and ends in final: breadth first."""
    assert goal.length <= 1
    simulator, names = Simulator(subject.system), [var.name for var in subject.system.inputs]
    spans = [[n for low, high in var.values for n in range(low, high + 1)] for var in subject.system.inputs]
    final = None if subject.final is None else compile_formulas([subject.final])
    start = simulator.initial()
    layer = {(tuple(start.items()), goal.length == 0 and holds_from(goal, Run((start,), ()), 0))}
    seen = set(layer)
    for length in range(60):
        if any(done and (final is None or final(dict(state))[0]) for state, done in layer):
            return length
        following = set()
        for (state, done), values in product(layer, product(*spans)):
            here, given = dict(state), dict(zip(names, values, strict=True))
            if simulator.allowed(here, given):
                run = simulator.run(here, [given])
                hit = any(holds_from(goal, run, step) for step in range(2 - goal.length))
                following.add((tuple(run.states[1].items()), done or hit))
        layer = following - seen
        seen |= layer
    return None


def read_controller(where: Path) -> Subject:
    return load(read_project(str(where)))


BASELINES: list[tuple[click.Command, tuple[str, ...]]] = [
    (random_runs.main, ("--runs", "400", "--steps", "24")),
    (random_runs.main, ("--runs", "400", "--inputs", "held", "--selection", "greedy")),
    (per_goal.main, ()),
    (per_goal.main, ("--reduce", "true")),
    (greedy.main, ()),
]


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("number", range(len(BASELINES)))
def test_coverage_is_what_another_count_finds_and_replay_reads_every_table(
    number: int, two_ways: Path, tmp_path: Path
) -> None:
    command, arguments = BASELINES[number]
    for place in (MODELS / "latch", two_ways):
        out = tmp_path / f"out-{place.name}"
        found = ran(command, place, out, *arguments)
        with fresh_names():
            subject = read_controller(place)
            runs = list(runs_in(subject, out, found))
            counts = [covered_again(subject, run) for run in runs]
            ends = compile_formulas([subject.final])(runs[0].states[-1])[0] if subject.final else 1
        assert found.status == FINISHED
        assert ends == 1
        assert set().union(*counts) == {name for name, word in found.verdicts.items() if word == "covered"}
        assert set(found.verdicts) == {goal.name for goal in subject.goals}
        assert all(word == "covered" for word in found.verdicts.values())
        assert (found.chains, found.length) == (len(runs), sum(run.length for run in runs))
        assert found.lower is None
        assert not found.minimal
        for file, own in zip(found.files, counts, strict=True):
            told = chaincover("replay", place, out / file, "--json").json
            assert {goal["name"] for goal in told["goals"] if goal["covered_at"] is not None} == own


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", ["latch", "cruise"])
def test_a_test_per_goal_is_as_short_as_an_exhaustive_search_finds(name: str, tmp_path: Path) -> None:
    with fresh_names():
        subject = read_controller(MODELS / name)
        lengths = {goal.name: shortest_with(subject, goal) for goal in subject.goals}
    for goal, length in lengths.items():
        found = ran(per_goal.main, MODELS / name, tmp_path / goal, "--goal", goal)
        assert (found.chains, found.length) == (1, length), goal
        assert (found.K, found.fewest, found.minimal) == (length, True, False)


@pytest.mark.needs_compiler
def test_reduced_tests_cover_the_same_in_no_more_steps(tmp_path: Path) -> None:
    whole = ran(per_goal.main, MODELS / "cruise", tmp_path / "whole")
    some = ran(per_goal.main, MODELS / "cruise", tmp_path / "some", "--reduce", "true")
    assert whole.verdicts == some.verdicts
    assert some.chains is not None
    assert whole.chains is not None
    assert some.length is not None
    assert whole.length is not None
    assert (some.chains, some.length) <= (whole.chains, whole.length)


@pytest.mark.needs_compiler
def test_random_runs_are_the_same_for_one_seed(tmp_path: Path) -> None:
    def tables(folder: Path, seed: str) -> list[str]:
        arguments = ("--runs", "60", "--steps", "16", "--inputs", "held", "--seed", seed)
        found = ran(random_runs.main, MODELS / "cruise", folder, *arguments)
        return [(folder / file).read_text() for file in found.files]

    first = tables(tmp_path / "a", "1")
    assert first
    assert first == tables(tmp_path / "b", "1")
    assert any(tables(tmp_path / f"c{seed}", seed) != first for seed in ("2", "3", "4"))


@pytest.mark.needs_compiler
def test_one_test_case_of_random_runs_covers_what_one_can(two_ways: Path, tmp_path: Path) -> None:
    found = ran(random_runs.main, two_ways, tmp_path / "out", "--runs", "50", "--several", "false")
    assert found.chains == 1
    assert [name for name, word in found.verdicts.items() if word == "covered"] == ["right", "twice"]
    assert found.verdicts["left"] == "undecided"
    assert not found.fewest


@pytest.mark.needs_compiler
def test_the_greedy_chain_resets_only_where_it_must(two_ways: Path, tmp_path: Path) -> None:
    several = ran(greedy.main, two_ways, tmp_path / "several", "--K", "8")
    assert (several.chains, several.length) == (2, 7)  # to the right for two goals in four steps, to the left in three
    one = ran(greedy.main, two_ways, tmp_path / "one", "--K", "8", "--several", "false")
    assert (one.chains, [*one.verdicts.values()].count("covered")) == (1, 2)


@pytest.mark.needs_compiler
def test_the_greedy_way_goes_back_where_it_has_lost_the_end(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(program("if (s->n == 0 && i->a) s->n = 1; else if (s->n == 0 && i->b) s->m = 1;"))
    goals = '[[property]]\ntext = "trap: cover(n == 1)"\n[[property]]\ntext = "fine: cover(m == 1)"\n'
    ranges = '[ranges]\n"i->b" = [0, 1]\n"i->a" = [0, 1]\n[final]\ncondition = "n == 0"\n'
    (tmp_path / "chaincover.toml").write_text(project(ranges + goals))
    found = ran(greedy.main, tmp_path, tmp_path / "out", "--K", "6")
    assert found.verdicts == {"trap": "undecided", "fine": "covered"}
    assert (found.chains, found.length) == (1, 1)


@pytest.mark.needs_compiler
def test_a_goal_that_nothing_reaches_ends_the_search_where_the_states_are_few(tmp_path: Path) -> None:
    never = ("--property", "never: cover(q == 1 && changes == 0)")
    found = ran(per_goal.main, MODELS / "latch", tmp_path, *never)
    assert (found.status, found.K, found.verdicts["never"]) == (FINISHED, 31, "undecided")


@pytest.mark.needs_compiler
def test_the_time_limit_leaves_what_there_is(tmp_path: Path) -> None:
    never = ("--property", "never: cover(q == 1 && changes == 0)")
    found = ran(per_goal.main, MODELS / "latch", tmp_path, *never, "--seconds", "1.5", "--K", "100000")
    assert found.status == TIME_OUT
    assert found.verdicts["never"] == "undecided"
    assert [*found.verdicts.values()].count("covered") == 5


SETTINGS: list[tuple[Baseline, click.Command, dict[str, Any]]] = [
    (
        random_runs.RandomRuns(),
        random_runs.main,
        {"inputs": "held", "runs": 5, "steps": 3, "several": False, "selection": "greedy"},
    ),
    (per_goal.PerGoal(), per_goal.main, {"reduce": True, "engine": "sat", "K": 5}),
    (greedy.Greedy(), greedy.main, {"several": False, "engine": "sat", "K": 5}),
]


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_every_setting_is_an_option_of_the_command(number: int, tmp_path: Path) -> None:
    tool, command, settings = SETTINGS[number]
    assert settings.keys() == tool.settings
    task = Task(MODELS / "latch", ("--goal", "sets"), settings, 7, 30.0, 1000)
    words = list(tool.command(task, tmp_path))
    assert words[1:3] == ["-m", type(tool).__module__]
    given = command.make_context(tool.name, words[3:]).params
    expected = {"most" if name == "K" else name: value for name, value in settings.items()}
    expected |= {"path": str(MODELS / "latch"), "select": ("sets",)}
    expected |= {"seed": 7, "seconds": 30.0, "output": str(tmp_path)}
    assert {name: given[name] for name in expected} == expected


def test_an_outcome_is_read_as_it_was_written(tmp_path: Path) -> None:
    whole = Outcome(
        FINISHED, chains=2, length=9, K=4, verdicts={"a": "covered"}, stages={"read": 0.5}, files=("x", "y")
    )
    outcome.write(whole, tmp_path)
    assert outcome.read(tmp_path, 0) == (whole,)
    (killed,) = outcome.read(tmp_path, -9)
    assert (killed.status, killed.length) == (TIME_OUT, 9)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"status": "finished", "colour": 1}', "{}"])
def test_a_process_without_an_outcome_has_crashed(text: str, tmp_path: Path) -> None:
    (tmp_path / "outcome.json").write_text(text)
    (found,) = outcome.read(tmp_path, 1)
    assert found.status == CRASHED
    assert (found.chains, found.length, found.verdicts) == (None, None, {})


def test_a_project_that_cannot_be_read_is_told_without_a_traceback(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "chaincover.toml").write_text("[sources]\nfiles = ['no.c']\n")
    with pytest.raises(SystemExit) as ended, fresh_names():
        greedy.main.main([str(tmp_path), "-o", str(tmp_path / "out")])
    assert ended.value.code == 3
    assert "no.c" in capsys.readouterr().err
    (found,) = outcome.read(tmp_path / "out", 3)
    assert found.status == CRASHED


@pytest.mark.needs_compiler
def test_test_cases_that_the_replay_refuses_do_not_count() -> None:
    with fresh_names():
        subject = read_controller(MODELS / "latch")
        fine = Case([{"set": 1, "reset": 0}, {"set": 0, "reset": 1}], {})
        refused = Case([{"set": 7, "reset": 0}, {"set": 0, "reset": 1}], {})
        unfinished = Case([{"set": 1, "reset": 0}], {})
        idle = Case([{"set": 0, "reset": 0}], {})
        found = counted(subject, [refused, fine, unfinished, idle])
        assert counted(subject, [fine]).replayed == "original"
    assert found.covered == {"sets": "test-1.csv", "resets": "test-1.csv"}
    assert (len(found.tests), found.length, found.replayed) == (1, 2, "disagrees")
    assert [text.partition(":")[0] for text in found.lost] == [f"test {n} does not count" for n in (1, 3, 4)]
    assert "set is 7" in found.lost[0]
