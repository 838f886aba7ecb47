"""The bundled suites: what they name is there, and every project can be read."""

from __future__ import annotations

import glob
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, fresh_names

from benchmarks.families.members import member
from chaincover.project.load import load
from chaincover.project.project_file import read_project

BENCHMARKS = MODELS.parent
SUITES = sorted((BENCHMARKS / "suites").glob("*.toml"))
FAMILIES = sorted((BENCHMARKS / "families" / "controllers").iterdir())
REAL = BENCHMARKS / "real"


@cache
def tables(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def matching(suite: Path, pattern: str) -> list[Path]:
    """The project files that a pattern of ``suite`` names."""
    return sorted(Path(hit).resolve() for hit in glob.glob(str(suite.parent / pattern)))


def projects(suite: Path, models: dict[str, Any]) -> list[Path]:
    return [hit for pattern in listed(models["projects"]) for hit in matching(suite, pattern)]


def test_the_suites_of_the_documentation_are_there() -> None:
    assert {suite.stem for suite in SUITES} == {"families", "models", "orderings", "paper", "paper-originals", "real"}


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.stem)
def test_every_pattern_names_projects(suite: Path) -> None:
    """No pattern is idle, and none takes a file for a project that is none."""
    for models in tables(suite)["models"]:
        for pattern in listed(models["projects"]):
            hits = matching(suite, pattern)
            assert hits, pattern
            assert all({"sources", "functions"} <= tables(hit).keys() for hit in hits), pattern


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.stem)
def test_every_pin_is_for_a_project_of_the_suite(suite: Path) -> None:
    for models in tables(suite)["models"]:
        if "rows" in models:
            rows = suite.parent / models["rows"]
            pinned = [(rows.parent / row["project"]).resolve() for row in tables(rows)["row"]]
            assert sorted(pinned) == sorted(projects(suite, models))


@pytest.mark.slow
def test_every_project_is_read() -> None:
    """Those of real programs need not be: their sources may not be in place."""
    own = {project for suite in SUITES for models in tables(suite)["models"] for project in projects(suite, models)}
    for project in sorted(own):
        if REAL not in project.parents:
            with fresh_names():
                assert load(read_project(str(project))).goals, project


def test_all_rows_of_the_paper_are_in_its_suite() -> None:
    suite = BENCHMARKS / "suites" / "paper.toml"
    assert len(projects(suite, tables(suite)["models"][0])) == 18


def test_every_source_of_others_is_told_with_its_digest() -> None:
    sources = tables(REAL / "sources.toml")["source"]
    assert all(source.keys() == {"file", "sha256", "obtain"} for source in sources)
    assert all(len(bytes.fromhex(source["sha256"])) == 32 and " at commit " in source["obtain"] for source in sources)
    told = {source["file"] for source in sources}
    assert len(told) == len(sources)
    suite = BENCHMARKS / "suites" / "real.toml"
    for models in tables(suite)["models"]:
        for project in projects(suite, models):
            needed = {f"{project.parent.name}/{file}" for file in tables(project)["sources"]["files"]}
            assert {file for file in needed if "/source/" in file} <= told, project


@pytest.mark.parametrize("folder", FAMILIES, ids=lambda folder: folder.name)
def test_a_controller_of_a_family_is_what_is_written_for_its_name(folder: Path, tmp_path: Path) -> None:
    written = member(folder.name).write(tmp_path)
    assert sorted(file.name for file in folder.iterdir()) == sorted(file.name for file in written.iterdir())
    assert all((folder / file.name).read_text() == file.read_text() for file in written.iterdir())
