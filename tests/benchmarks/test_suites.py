"""The bundled suites: what they name is there, and every project can be read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, fresh_names

from benchmarks.bench.plan import plan
from benchmarks.bench.suite import read_suite
from benchmarks.measures.families.members import member
from chaincover.project.load import load
from chaincover.project.project_file import read_project

BENCHMARKS = MODELS.parent
SUITES = sorted((BENCHMARKS / "suites").glob("*.toml"))
FAMILIES = sorted((BENCHMARKS / "families" / "controllers").iterdir())
REAL = BENCHMARKS / "real"


def tables(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def test_the_suites_of_the_documentation_are_there() -> None:
    assert {suite.stem for suite in SUITES} == {
        "families",
        "models",
        "orderings",
        "paper",
        "paper-originals",
        "paper-quick",
        "real",
        "users",
    }


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.stem)
def test_a_suite_is_read_and_planned(suite: Path) -> None:
    """Every pattern names projects, every tool knows its settings, and what is missing are sources of others."""
    read = read_suite(suite.stem)
    runs = plan(read)
    assert len(runs) == len(read.models) * len(read.configurations)
    assert all(REAL in run.model.project.parents for run in runs if run.code.missing)


@pytest.mark.parametrize(
    ("suite", "rows"),
    [("paper", "paper/rows.toml"), ("orderings", "paper/rows.toml"), ("paper-originals", "real/rows.toml")],
)
def test_every_row_that_is_pinned_is_in_the_suite(suite: str, rows: str) -> None:
    pinned = [model.name for model in read_suite(suite).models if model.pin is not None]
    assert pinned == [row["name"] for row in tables(BENCHMARKS / rows)["row"]]


def test_branches_and_mcdc_are_asked_of_all_programs() -> None:
    """Of each folder with programs of ours one project at least, in one suite or another."""
    read = [model for suite in SUITES for model in read_suite(suite.stem).models]
    for criterion in ("branches()", "mcdc()"):
        asked = {model.project.parent for model in read if criterion in model.selection}
        assert {model.project.parent for model in read} == asked, criterion


@pytest.mark.evidence
def test_every_project_is_read() -> None:
    """Those of real programs need not be: their sources may not be in place."""
    own = {model.project for suite in SUITES for model in read_suite(suite.stem).models}
    for project in sorted(own):
        if REAL not in project.parents:
            with fresh_names():
                assert load(read_project(str(project))).goals, project


def test_every_source_of_others_is_told_with_its_digest() -> None:
    sources = tables(REAL / "sources.toml")["source"]
    assert all(source.keys() == {"file", "sha256", "obtain"} for source in sources)
    assert all(len(bytes.fromhex(source["sha256"])) == 32 and " at commit " in source["obtain"] for source in sources)
    told = {source["file"] for source in sources}
    assert len(told) == len(sources)
    for project in {model.project for model in read_suite("real").models}:
        needed = {f"{project.parent.name}/{file}" for file in tables(project)["sources"]["files"]}
        assert {file for file in needed if "/source/" in file} <= told, project


@pytest.mark.parametrize("folder", FAMILIES, ids=lambda folder: folder.name)
def test_a_controller_of_a_family_is_what_is_written_for_its_name(folder: Path, tmp_path: Path) -> None:
    written = member(folder.name).write(tmp_path)
    assert sorted(file.name for file in folder.iterdir()) == sorted(file.name for file in written.iterdir())
    assert all((folder / file.name).read_text() == file.read_text() for file in written.iterdir())
