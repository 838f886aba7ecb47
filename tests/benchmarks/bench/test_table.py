"""What a row says besides its outcome: sums, the suite's own figures, and how it differs from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import write_files

from benchmarks.bench.plan import Run, plan
from benchmarks.bench.row import from_line, to_line
from benchmarks.bench.suite import read_suite
from benchmarks.bench.table import Ended, of_model, rows_of
from benchmarks.bench.tools.protocol import Outcome

PINS = """\
[[row]]
name = "M"
project = "m/chaincover.toml"
properties = 3
chains = {chains}
length = 9
lower = 8
states = 40
long_goals = 2
bits = ["3b", "1b"]
printed.lkh = [1, 7, 0.5]
"""
VERDICTS = {"a": "covered", "b": "no-way-to-final", "c": "excluded"}
FOUND = Outcome("finished", chains=1, length=9, lower=8, verdicts=VERDICTS, long_goals=2)


def run_of(folder: Path, settings: str, chains: int = 1, models: str = "") -> Run:
    suite = f'[[models]]\nprojects = "m"\nrows = "rows.toml"\n{models}[[configurations]]\nname = "c"\n{settings}'
    project = {"m/chaincover.toml": '[sources]\nfiles = ["m.c"]\n', "m/m.c": ""}
    write_files(folder, {**project, "rows.toml": PINS.format(chains=chains), "s.toml": suite})
    (run,) = plan(read_suite(str(folder / "s.toml")))
    return run


def test_a_row_has_the_sums_of_its_verdicts_and_the_suites_figures(tmp_path: Path) -> None:
    run = run_of(tmp_path, 'tool = "chaincover"\nseed = 4\neffort = 2\n')
    (row,) = rows_of("s", run, Ended((FOUND,), 4, 1.5, 1.25, 99.0, "h"))
    assert (row.goals, row.covered, row.impossible, row.undecided) == (3, 1, 1, 1)
    assert (row.model, row.family, row.project, row.seed) == ("M", "m", "m/chaincover.toml", 4)
    assert (row.bits, row.printed, row.states) == (("3b", "1b"), {"lkh": [1, 7, 0.5]}, 40)
    assert (row.seconds, row.processor_seconds, row.megabytes, row.host, row.exit_code) == (1.5, 1.25, 99.0, "h", 4)
    assert (row.log, row.deviates) == (f"runs/{row.id}/log.txt", "")
    assert from_line(to_line(row)).printed == {"lkh": [1, 7, 0.5]}


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "longer": ({"length": 10}, "length 10 where 9 is pinned"),
    "bound and chains": ({"lower": 7, "chains": 2}, "chains 2 where 1 is pinned; lower 7 where 8 is pinned"),
    "no chain": ({"length": None, "lower": None, "chains": None}, "chains none where 1 is pinned; length none"),
    "states": ({"states": 41}, "states 41 where 40 is pinned"),
    "goals": ({"verdicts": {"a": "covered"}}, "properties 1 where 3 is pinned"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_row_that_differs_from_what_is_pinned(case: str, tmp_path: Path) -> None:
    change, told = CASES[case]
    run = run_of(tmp_path, 'tool = "chaincover"\nseveral = true\n')
    (row,) = rows_of("s", run, Ended((replace(FOUND, **change),), 0))
    assert row.deviates.startswith(told)


@pytest.mark.parametrize(
    ("settings", "chains", "held"),
    [
        ('tool = "chaincover"\nseveral = true\neffort = "none"\n', 1, True),
        ('tool = "chaincover"\nordering = "auto"\noverlap = "allow"\n', 1, True),
        ('tool = "chaincover"\n', 2, False),
        ('tool = "chaincover"\nseveral = true\n', 2, True),
        ('tool = "chaincover"\nordering = "tsp"\n', 1, False),
        ('tool = "chaincover"\nK = 3\n', 1, False),
    ],
)
def test_default_settings_alone_are_held_to_it(settings: str, chains: int, held: bool, tmp_path: Path) -> None:
    run = run_of(tmp_path, settings, chains)
    (row,) = rows_of("s", run, Ended((replace(FOUND, chains=chains, length=10),), 0))
    assert row.deviates == ("length 10 where 9 is pinned" if held else "")


def test_what_is_pinned_holds_for_the_projects_own_goals(tmp_path: Path) -> None:
    run = run_of(tmp_path, 'tool = "chaincover"\n', models='cover = ["branches()"]\n')
    (row,) = rows_of("s", run, Ended((replace(FOUND, length=10),), 0))
    assert (row.model, row.deviates, row.bits, row.printed) == ("M branches()", "", (), {})


def test_a_run_without_verdicts_has_the_goals_of_its_model(tmp_path: Path) -> None:
    run = run_of(tmp_path, 'tool = "chaincover"\n', models='cover = ["branches()"]\n')
    (row,) = rows_of("s", run, Ended((Outcome("crashed"),), 70))
    assert (row.goals, row.undecided) == (0, 0)
    row = of_model(row, run.model, 12)
    assert (row.goals, row.covered, row.undecided) == (12, 0, 12)
