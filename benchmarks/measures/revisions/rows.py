"""What is run with both revisions: the rows of the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import FOLDER
from benchmarks.checks.exhaustive.controllers import CONTROLLERS

CRITERIA = ("branches()", "mcdc()")
NAMES = {"branches()": "branch:*", "mcdc()": "mcdc:*"}
"""How the goals of each criterion are called."""

GENERATED_ALONE = tuple(("--cover", each, "--goal", NAMES[each], "--several") for each in CRITERIA)

REAL: dict[str, tuple[tuple[str, ...], ...]] = {
    "cruise1": (("--final", "none"), *GENERATED_ALONE),
    "alarm1": (
        ("--several",),
        ("--most",),
        ("--exclude", "init_open"),
        ("--exclude", "init_arming"),
        *GENERATED_ALONE,
    ),
    "alarm1_original": (("--several",), ("--most",)),
    "radiator": GENERATED_ALONE,
    "bldc": (("--goal", "opened", "--goal", "voltage", "--goal", "closed"),),
    "powerwindow/chart": (
        ("--final", "is_Logic == powerwindow_powerwindow_control_IN_Neutral"),
        ("--goal", "init_up", "--goal", "up", "--goal", "init_down", "--goal", "sense_end"),
        ("--exclude", "*down", "--exclude", "auto_up", "--exclude", "pinch"),
        ("--hold", "10"),
        ("--hold", "10", "--final", "is_Logic == powerwindow_powerwindow_control_IN_Neutral"),
    ),
}
"""Further questions to real programs, those of ``docs/development/real-inputs.md``."""


@dataclass(frozen=True, slots=True)
class Row:
    """A project, and the options of ``generate`` that say what is asked for: they are the same in both revisions."""

    name: str
    project: Path
    options: tuple[str, ...] = ()


def rows(models: Path, real: Path) -> Iterator[Row]:
    """All rows; real programs as far as their sources are in place."""
    for folder in projects(models):
        yield from bundled(folder, "")
    for file in sorted((FOLDER / "paper").glob("*/*.toml")):
        yield Row(f"paper {file.stem}", file, ("--several",))
    for folder in projects(FOLDER / "floats" / "controllers"):
        yield from bundled(folder, "float ")
    for folder in sorted(real.iterdir()) if real.is_dir() else ():
        if (folder / "source").is_dir():
            yield from unbundled(folder)


def projects(folder: Path) -> list[Path]:
    """The folders with a project file of the usual name, sorted."""
    return sorted(place.parent for place in folder.glob("*/chaincover.toml"))


def project_files(folder: Path) -> list[Path]:
    """All project files of ``folder``."""
    return sorted(file for file in folder.glob("*.toml") if file.name != "expected.toml")


def bundled(folder: Path, kind: str) -> Iterator[Row]:
    """A model with its own goals, in each of its projects, by one chain and by several, and with those of criteria.

    The models that ``python -m benchmarks exhaustive`` knows are made for the goals that they have.
    """
    for file in project_files(folder):
        name = kind + folder.name + ("" if file.stem == "chaincover" else f" {file.name}")
        yield Row(name, file)
        yield Row(f"{name} --several", file, ("--several",))
    for criterion in CRITERIA if folder.name not in CONTROLLERS else ():
        yield Row(f"{kind}{folder.name} {criterion}", folder / "chaincover.toml", ("--cover", criterion))


def unbundled(folder: Path) -> Iterator[Row]:
    """A real program with its own goals, and with the further questions to it."""
    for file in project_files(folder):
        plain = folder.name if file.stem == "chaincover" else f"{folder.name}/{file.stem}"
        for options in ((), *REAL.get(plain, ())):
            yield Row(" ".join([f"real {plain}", *options]), file, options)
