"""The runner of checks and measures: each of its commands is there, and the page of evidence lists them all."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner
from command_line import ROOT

from benchmarks.__main__ import CHECKS, MEASURES, main, table

PAGE = (ROOT / "docs" / "development" / "evidence.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*CHECKS, *MEASURES])
def test_each_command_has_help_of_its_own(name: str) -> None:
    done = CliRunner().invoke(main, [name, "--help"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"Usage: main {name}")
    assert len(done.output.splitlines()) > 3


def test_help_lists_checks_and_measures_without_loading_any() -> None:
    done = CliRunner().invoke(main, [])
    listed = re.findall(r"^  ([a-z-]+) ", done.output.partition("Checks:")[2], flags=re.M)
    assert listed == [*CHECKS, *MEASURES]


def test_a_command_that_there_is_not_is_refused() -> None:
    done = CliRunner().invoke(main, ["acelerated"])
    assert done.exit_code == 2
    assert "No such command 'acelerated'" in done.output


def test_the_page_of_evidence_has_all_commands_and_all_suites() -> None:
    assert table() in PAGE
    suites = sorted(file.stem for file in (ROOT / "benchmarks" / "suites").glob("*.toml"))
    assert sorted(re.findall(r"^\| `([a-z-]+)` ", PAGE.partition("chaincover bench ...")[2], flags=re.M)) == suites
